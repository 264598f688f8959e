/* hiwat-collector ledger: which batches a running collector has received. */
#include "cmd.h"

#include <getopt.h>
#include <stdio.h>

#include "client.h"

const char cmd_ledger_usage[] =
    "usage: hiwat-collector ledger [-u URL]\n"
    "Asks a running collector, host by host, up to which batch all have arrived (RECEIVED), up to which they would survive\n"
    "a crash (DURABLE), how many gaps are open, and how many batches came, came twice, or will never come (LOST).\n"
    "\n"
    "  -u URL    the collector's web side (" CLIENT_URL_DEFAULT ")\n"
    "\n"
    "exit status: 0 ok, 2 wrong usage, 3 the collector did not answer.\n";

int
cmd_ledger(int argc, char **argv)
{
	const char *base = CLIENT_URL_DEFAULT;
	size_t i;
	json_t *host;
	int c;

	while ((c = getopt(argc, argv, "u:")) != -1) {
		if (c != 'u')
			return cmd_usage_error(argv[0], "see the message above");
		base = optarg;
	}
	if (optind < argc)
		return cmd_usage_error(argv[0], "unexpected argument '%s'", argv[optind]);
	struct client *client = client_new(argv[0], base);
	json_t *answer = client != NULL ? client_get(client, "/api/v1/ledger") : NULL;
	if (answer != NULL)
		printf("%-24s %-16s %12s %12s %6s %12s %10s %8s\n", "HOST", "STREAM", "RECEIVED", "DURABLE", "GAPS",
		    "BATCHES", "DUPLICATES", "LOST");
	json_array_foreach (json_object_get(answer, "hosts"), i, host) {
		printf("%-24.24s %-16s %12.0f %12.0f %6.0f %12.0f %10.0f %8.0f\n", client_text(host, "name"),
		    client_text(host, "stream"), client_number(host, "received"), client_number(host, "durable"),
		    client_number(host, "gaps"), client_number(host, "batches"), client_number(host, "duplicates"),
		    client_number(host, "lost"));
	}
	int status = answer != NULL ? cmd_finish_output(argv[0]) : CMD_UNUSABLE;
	json_decref(answer);
	client_free(client);
	return status;
}
