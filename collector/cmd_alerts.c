/* hiwat-collector alerts: the incidents of a running collector. */
#include "cmd.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client.h"

const char cmd_alerts_usage[] =
    "usage: hiwat-collector alerts [-u URL] [-a]\n"
    "       hiwat-collector alerts [-u URL] [-t FILE] [--by NAME] ack KEY ...\n"
    "       hiwat-collector alerts [-u URL] [-t FILE] [--by NAME] close KEY ...\n"
    "Asks a running collector for its open incidents and prints them, newest change first. ack takes incidents over: they "
    "are\n"
    "not told again until they become worse. close ends what nobody can see any more, an object that is gone or a sampler\n"
    "that is blind.\n"
    "\n"
    "  -u URL     the collector's web side (" CLIENT_URL_DEFAULT ")\n"
    "  -t FILE    file with a token (" CLIENT_TOKEN_DEFAULT ")\n"
    "  -a         also those that ended within the last day\n"
    "  --by NAME  who it is; the name of the user when not given\n"
    "\n"
    "exit status: 0 ok, 1 refused, 2 wrong usage, 3 the collector did not answer.\n";

static void
print_incidents(const json_t *list, bool all)
{
	size_t i;
	json_t *incident;

	json_array_foreach (list, i, incident) {
		const char *status = client_text(incident, "status");
		if (!all && strcmp(status, "open") != 0)
			continue;
		printf("%s  %s  %-8s %-8s %s: %s%s%s\n", client_text(incident, "key"), client_text(incident, "opened"),
		    status, client_text(incident, "level"), client_text(json_object_get(incident, "host"), "name"),
		    client_text(incident, "summary"),
		    json_is_true(json_object_get(incident, "acknowledged")) ? " (taken over)" : "",
		    json_object_get(incident, "silenced_by") != NULL ? " (silenced)" : "");
	}
}

static int
list(struct client *client, bool all)
{
	json_t *answer = client_get(client, "/api/v1/alerts");

	print_incidents(json_object_get(answer, "alerts"), all);
	int status = answer != NULL ? 0 : CMD_UNUSABLE;
	json_decref(answer);
	return status;
}

/* what: the last word of the path. */
static int
change(struct client *client, const char *what, const char *by, const char *token_file, int n, char **keys)
{
	int worst = 0;

	if (n == 0)
		return cmd_usage_error("alerts", "the keys of incidents are missing; alerts prints them");
	json_t *body = by != NULL ? json_pack("{s:s}", "by", by) : NULL;
	for (int k = 0; k < n; k++) {
		char path[128];
		int status = CMD_USAGE;

		if (strspn(keys[k], "0123456789abcdef") == 32 && strlen(keys[k]) == 32) {
			snprintf(path, sizeof(path), "/api/v1/alerts/%s/%s", keys[k], what);
			json_decref(client_send(client, "POST", path, body, token_file, &status));
		} else {
			cmd_usage_error("alerts", "'%s' is no key of an incident: 32 hexadecimal digits", keys[k]);
		}
		worst = status > worst ? status : worst;
	}
	json_decref(body);
	return worst;
}

int
cmd_alerts(int argc, char **argv)
{
	static const struct option long_options[] = { { "by", required_argument, NULL, 'b' }, { 0 } };
	const char *base = CLIENT_URL_DEFAULT, *token_file = CLIENT_TOKEN_DEFAULT, *by = getlogin();
	bool all = false;
	int c;

	while ((c = getopt_long(argc, argv, "u:t:a", long_options, NULL)) != -1) {
		switch (c) {
		case 'u':
			base = optarg;
			break;
		case 't':
			token_file = optarg;
			break;
		case 'b':
			by = optarg;
			break;
		case 'a':
			all = true;
			break;
		default:
			return cmd_usage_error(argv[0], "see the message above");
		}
	}
	const char *what = optind < argc ? argv[optind] : "list";
	struct client *client = client_new(argv[0], base);
	int status = CMD_UNUSABLE;
	if (client != NULL && optind == argc)
		status = list(client, all);
	else if (client != NULL && strcmp(what, "ack") == 0)
		status = change(client, "acknowledge", by, token_file, argc - optind - 1, argv + optind + 1);
	else if (client != NULL && strcmp(what, "close") == 0)
		status = change(client, "close", by, token_file, argc - optind - 1, argv + optind + 1);
	else if (client != NULL)
		status = cmd_usage_error(argv[0], "unexpected argument '%s'", what);
	client_free(client);
	return status != 0 ? status : cmd_finish_output(argv[0]);
}
