/* hiwat-collector alerts: the incidents of a running collector. */
#include "cmd.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "client.h"

const char cmd_alerts_usage[] = "usage: hiwat-collector alerts [-u URL] [-a]\n"
				"Asks a running collector for its open incidents and prints them, newest change first.\n"
				"\n"
				"  -u URL    the collector's web side (" CLIENT_URL_DEFAULT ")\n"
				"  -a        also those that ended within the last day\n"
				"\n"
				"exit status: 0 ok, 2 wrong usage, 3 the collector did not answer.\n";

static void
print_incidents(const json_t *list, bool all)
{
	size_t i;
	json_t *incident;

	json_array_foreach (list, i, incident) {
		const char *status = client_text(incident, "status");
		if (!all && strcmp(status, "open") != 0)
			continue;
		printf("%s  %-8s %-8s %s: %s\n", client_text(incident, "opened"), status, client_text(incident, "level"),
		    client_text(json_object_get(incident, "host"), "name"), client_text(incident, "summary"));
	}
}

int
cmd_alerts(int argc, char **argv)
{
	const char *base = CLIENT_URL_DEFAULT;
	bool all = false;
	int c;

	while ((c = getopt(argc, argv, "u:a")) != -1) {
		switch (c) {
		case 'u':
			base = optarg;
			break;
		case 'a':
			all = true;
			break;
		default:
			return cmd_usage_error(argv[0], "see the message above");
		}
	}
	if (optind < argc)
		return cmd_usage_error(argv[0], "unexpected argument '%s'", argv[optind]);
	struct client *client = client_new(argv[0], base);
	json_t *answer = client != NULL ? client_get(client, "/api/v1/alerts") : NULL;
	print_incidents(json_object_get(answer, "alerts"), all);
	int status = answer != NULL ? cmd_finish_output(argv[0]) : CMD_UNUSABLE;
	json_decref(answer);
	client_free(client);
	return status;
}
