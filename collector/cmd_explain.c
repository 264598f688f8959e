/* hiwat-collector explain: all that is known of an incident, for whoever was woken by it. */
#include "cmd.h"

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "card.h"
#include "client.h"

#define WIDTH 12 /* of the names at the left */

const char cmd_explain_usage[] =
    "usage: hiwat-collector explain [-u URL] KEY|HOST\n"
    "Asks a running collector for an incident, or for all that are open on a host, and prints what is wrong, since when,\n"
    "value, limit and threshold, the time that is left, where the figure comes from, why it matters and what to do.\n"
    "\n"
    "  -u URL    the collector's web side (" CLIENT_URL_DEFAULT ")\n"
    "\n"
    "exit status: 0 ok, 1 there is no such incident, 2 wrong usage, 3 the collector did not answer.\n";

static bool
is_given(const json_t *o, const char *key)
{
	const char *text = client_text(o, key);

	return text[0] != '\0' && strcmp(text, "-") != 0;
}

static void
row(const char *name, const char *text)
{
	printf("  %-*s %s\n", WIDTH, name, text);
}

static void
text_row(const char *name, const json_t *o, const char *key)
{
	if (is_given(o, key))
		row(name, client_text(o, key));
}

static void
card_row_printed(void *arg, const char *name, const char *text)
{
	(void)arg;
	row(name, text);
}

static void
print_line(const json_t *line, bool speaks)
{
	const char *status = client_text(line, "status");

	printf("\n%s%s, %s since %s%s\n", speaks ? "" : "also ", client_text(line, "rule"),
	    strcmp(status, "firing") == 0 ? client_text(line, "level") : status, client_text(line, "since"),
	    json_is_true(json_object_get(line, "gone")) ? ", its object is gone" : "");
	card_line(line, card_row_printed, NULL);
}

static void
print_incident(const json_t *incident)
{
	const json_t *host = json_object_get(incident, "host"), *lines = json_object_get(incident, "lines");
	size_t i;
	json_t *line;

	printf("%s on %s: %s\n", client_text(incident, "level"), client_text(host, "name"),
	    client_text(incident, "summary"));
	row("incident", client_text(incident, "key"));
	printf("  %-*s %s since %s%s%s%s\n", WIDTH, "status", client_text(incident, "status"),
	    client_text(incident, "opened"), json_is_true(json_object_get(incident, "flapping")) ? ", flapping" : "",
	    json_is_true(json_object_get(incident, "object_gone")) ? ", its object is gone" : "",
	    json_object_get(incident, "silenced_by") != NULL ? ", silenced" : "");
	text_row("blind since", incident, "blind_since");
	text_row("ended", incident, "resolved");
	text_row(json_is_true(json_object_get(incident, "acknowledged")) ? "taken over" : "by", incident, "by");
	printf("  %-*s %s %s\n", WIDTH, "system", client_text(host, "os"), client_text(host, "release"));
	json_array_foreach (lines, i, line)
		print_line(line, i == 0);
}

/* All that are open on the host. */
static int
explain_host(struct client *client, const char *name)
{
	json_t *answer = client_get(client, "/api/v1/alerts"), *incident;
	size_t i, n = 0;

	if (answer == NULL)
		return CMD_UNUSABLE;
	json_array_foreach (json_object_get(answer, "alerts"), i, incident) {
		const json_t *host = json_object_get(incident, "host");
		if (strcmp(client_text(incident, "status"), "open") != 0 ||
		    (strcmp(client_text(host, "name"), name) != 0 && strcmp(client_text(host, "uuid"), name) != 0))
			continue;
		if (n++ > 0)
			putchar('\n');
		print_incident(incident);
	}
	json_decref(answer);
	if (n == 0)
		fprintf(stderr, "hiwat-collector explain: no incident of this key, and none open on a host %s\n", name);
	return n > 0 ? 0 : 1;
}

int
cmd_explain(int argc, char **argv)
{
	const char *base = CLIENT_URL_DEFAULT;
	char path[128];
	int c, status;

	while ((c = getopt(argc, argv, "u:")) != -1) {
		if (c != 'u')
			return cmd_usage_error(argv[0], "see the message above");
		base = optarg;
	}
	if (optind + 1 != argc)
		return cmd_usage_error(argv[0], "the key of an incident or the name of a host is needed");
	const char *what = argv[optind];
	struct client *client = client_new(argv[0], base);
	if (client == NULL)
		return CMD_UNUSABLE;
	if (strlen(what) == 32 && strspn(what, "0123456789abcdef") == 32) {
		snprintf(path, sizeof(path), "/api/v1/alerts/%s", what);
		json_t *incident = client_get(client, path);
		if (incident != NULL)
			print_incident(incident);
		status = incident != NULL ? 0 : client_status(client) == 404 ? 1 : CMD_UNUSABLE;
		json_decref(incident);
	} else {
		status = explain_host(client, what);
	}
	client_free(client);
	return status != 0 ? status : cmd_finish_output(argv[0]);
}
