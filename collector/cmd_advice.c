/* hiwat-collector advice: what a running collector would change on a host. */
#include "cmd.h"

#include <getopt.h>
#include <stdio.h>

#include "buf.h"
#include "client.h"
#include "err.h"

const char cmd_advice_usage[] = "usage: hiwat-collector advice [-u URL] HOST\n"
				"Asks a running collector for its advice on a host, by name or id: rules of level advice, "
				"and the audit of its settings.\n"
				"\n"
				"  -u URL    the collector's web side (" CLIENT_URL_DEFAULT ")\n"
				"\n"
				"exit status: 0 ok, 2 wrong usage, 3 the collector did not answer, or knows no such host.\n";

static void
print_advice(const json_t *answer)
{
	const json_t *o;
	size_t i;

	json_array_foreach (json_object_get(answer, "rules"), i, o) {
		printf("%s: %s\n", client_text(o, "rule"), client_text(o, "summary"));
		printf("    remedy: %s\n", client_text(o, "remedy"));
	}
	json_array_foreach (json_object_get(answer, "settings"), i, o)
		printf("%s: %s\n", client_text(o, "profile"), client_text(o, "text"));
	printf("%.0f settings compared\n", client_number(answer, "settings_compared"));
}

int
cmd_advice(int argc, char **argv)
{
	const char *base = CLIENT_URL_DEFAULT;
	struct buf path;
	int c;

	while ((c = getopt(argc, argv, "u:")) != -1) {
		if (c != 'u')
			return cmd_usage_error(argv[0], "see the message above");
		base = optarg;
	}
	if (argc - optind != 1)
		return cmd_usage_error(argv[0], "one host was expected");
	buf_init(&path, 4096);
	buf_printf(&path, "/api/v1/hosts/%s/advice", argv[optind]);
	struct client *client = client_new(argv[0], base);
	json_t *answer = client != NULL ? client_get(client, buf_str(&path)) : NULL;
	if (answer != NULL)
		print_advice(answer);
	int status = answer != NULL ? cmd_finish_output(argv[0]) : CMD_UNUSABLE;
	json_decref(answer);
	client_free(client);
	buf_fini(&path);
	return status;
}
