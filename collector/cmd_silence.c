/* hiwat-collector silence: silences of a running collector. */
#include "cmd.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client.h"
#include "clock.h"
#include "doc.h"
#include "err.h"
#include "scan.h"
#include "units.h"

const char cmd_silence_usage[] =
    "usage: hiwat-collector silence [-u URL] [-t FILE] add [--for DURATION | --until TIME] [--from TIME]\n"
    "           [--hours HOURS ...] [--by NAME] --comment TEXT NAME=VALUE ...\n"
    "       hiwat-collector silence [-u URL] list [-a]\n"
    "       hiwat-collector silence [-u URL] [-t FILE] expire ID ...\n"
    "What a silence matches is not told while it is in force; what still holds afterwards is told then. Conditions are\n"
    "NAME=TEXT, NAME!=TEXT, NAME=~PATTERN or NAME!~PATTERN on rule, cause, level, host, os, release or a label; all must\n"
    "hold. list prints those that have not ended.\n"
    "\n"
    "  -u URL          the collector's web side (" CLIENT_URL_DEFAULT ")\n"
    "  -t FILE         file with a token (" CLIENT_TOKEN_DEFAULT ")\n"
    "  -a              also those that ended within the last day\n"
    "  --for DURATION  how long, such as 2h; one hour when neither this nor --until is given\n"
    "  --until TIME    until when: YYYY-MM-DDTHH:MM:SSZ\n"
    "  --from TIME     from when; now when not given\n"
    "  --hours HOURS   in force within these only, week after week, such as 'sun 02:00-04:00'\n"
    "  --by NAME       who silences; the name of the user when not given\n"
    "  --comment TEXT  why\n"
    "\n"
    "exit status: 0 ok, 1 refused, 2 wrong usage, 3 the collector did not answer.\n";

struct options {
	const char *base, *token_file, *length, *until, *from, *by, *comment;
	json_t *hours;
	bool all;
};

static int
add(struct client *client, const struct options *o, int n, char **terms)
{
	uint64_t begins_ns = clock_wall_ns(), ends_ns, ms = 3600000;
	json_t *match = json_array();

	if (o->comment == NULL || n == 0)
		return cmd_usage_error("silence", "add needs --comment and at least one condition");
	if (o->from != NULL && !doc_parse_time(o->from, &begins_ns))
		return cmd_usage_error("silence", "--from %s: wanted YYYY-MM-DDTHH:MM:SSZ", o->from);
	if (o->until != NULL && o->length != NULL)
		return cmd_usage_error("silence", "--for or --until, one of both");
	if (o->length != NULL && units_parse_duration(text_of(o->length), &ms) != HIWAT_OK)
		return cmd_usage_error("silence", "--for %s: wanted " UNITS_DURATION_FORM, o->length);
	if (o->until != NULL && !doc_parse_time(o->until, &ends_ns))
		return cmd_usage_error("silence", "--until %s: wanted YYYY-MM-DDTHH:MM:SSZ", o->until);
	if (o->until == NULL && ms > (INT64_MAX - begins_ns) / NSEC_PER_MSEC)
		return cmd_usage_error("silence", "--for %s: too long", o->length);
	if (o->until == NULL)
		ends_ns = begins_ns + ms * NSEC_PER_MSEC;
	for (int k = 0; k < n; k++)
		json_array_append_new(match, json_string(terms[k]));
	json_t *body = json_pack("{s:o, s:O, s:s, s:I}", "match", match, "hours", o->hours, "comment", o->comment,
	    "ends_unix", (json_int_t)(ends_ns / NSEC_PER_SEC));
	const char *by = o->by != NULL ? o->by : getlogin();
	if (by != NULL)
		json_object_set_new(body, "by", json_string(by));
	if (o->from != NULL)
		json_object_set_new(body, "begins_unix", json_integer((json_int_t)(begins_ns / NSEC_PER_SEC)));
	int status = 0;
	json_t *answer = client_send(client, "POST", "/api/v1/silences", body, o->token_file, &status);
	if (answer != NULL)
		printf("%s until %s\n", client_text(answer, "id"), client_text(answer, "ends"));
	json_decref(answer);
	json_decref(body);
	return status;
}

static void
print_texts(const json_t *list)
{
	size_t k;
	json_t *text;

	json_array_foreach (list, k, text) {
		json_t *one = json_pack("{s:O}", "text", text);
		printf(" %s", client_text(one, "text"));
		json_decref(one);
	}
}

static int
list(struct client *client, const struct options *o)
{
	json_t *answer = client_get(client, "/api/v1/silences");
	json_t *silence;
	size_t k;

	if (answer == NULL)
		return CMD_UNUSABLE;
	json_array_foreach (json_object_get(answer, "silences"), k, silence) {
		if (!o->all && strcmp(client_text(silence, "status"), "ended") == 0)
			continue;
		printf("%s  %-7s %s to %s ", client_text(silence, "id"), client_text(silence, "status"),
		    client_text(silence, "begins"), client_text(silence, "ends"));
		print_texts(json_object_get(silence, "hours"));
		print_texts(json_object_get(silence, "match"));
		if (json_object_get(silence, "host_uuid") != NULL)
			printf(" host_uuid=%s", client_text(silence, "host_uuid"));
		printf("  %s: %s\n", client_text(silence, "by"), client_text(silence, "comment"));
	}
	json_decref(answer);
	return 0;
}

static int
expire(struct client *client, const struct options *o, int n, char **ids)
{
	int worst = 0;

	if (n == 0)
		return cmd_usage_error("silence", "expire needs the ids of silences; list prints them");
	for (int k = 0; k < n; k++) {
		char path[128];
		int status = 0;

		if (strspn(ids[k], "0123456789abcdef") != strlen(ids[k]) || strlen(ids[k]) > 64)
			return cmd_usage_error("silence", "'%s' is no id of a silence", ids[k]);
		snprintf(path, sizeof(path), "/api/v1/silences/%s", ids[k]);
		json_decref(client_send(client, "DELETE", path, NULL, o->token_file, &status));
		worst = status > worst ? status : worst;
	}
	return worst;
}

static int
run(const struct options *o, int n, char **rest)
{
	const char *what = n > 0 ? rest[0] : "";
	struct client *client = client_new("silence", o->base);
	int status;

	if (client == NULL)
		return CMD_UNUSABLE;
	if (strcmp(what, "add") == 0)
		status = add(client, o, n - 1, rest + 1);
	else if (strcmp(what, "list") == 0 && n == 1)
		status = list(client, o);
	else if (strcmp(what, "expire") == 0)
		status = expire(client, o, n - 1, rest + 1);
	else
		status = cmd_usage_error("silence", "what to do: add, list or expire");
	client_free(client);
	return status != 0 ? status : cmd_finish_output("silence");
}

int
cmd_silence(int argc, char **argv)
{
	enum { FOR = 256, UNTIL, FROM, HOURS, BY, COMMENT };
	static const struct option long_options[] = {
		{ "for", required_argument, NULL, FOR },
		{ "until", required_argument, NULL, UNTIL },
		{ "from", required_argument, NULL, FROM },
		{ "hours", required_argument, NULL, HOURS },
		{ "by", required_argument, NULL, BY },
		{ "comment", required_argument, NULL, COMMENT },
		{ 0 },
	};
	struct options o = { .base = CLIENT_URL_DEFAULT, .token_file = CLIENT_TOKEN_DEFAULT, .hours = json_array() };
	int c, status = 0;

	while (status == 0 && (c = getopt_long(argc, argv, "u:t:a", long_options, NULL)) != -1) {
		switch (c) {
		case 'u':
			o.base = optarg;
			break;
		case 't':
			o.token_file = optarg;
			break;
		case 'a':
			o.all = true;
			break;
		case FOR:
			o.length = optarg;
			break;
		case UNTIL:
			o.until = optarg;
			break;
		case FROM:
			o.from = optarg;
			break;
		case HOURS:
			json_array_append_new(o.hours, json_string(optarg));
			break;
		case BY:
			o.by = optarg;
			break;
		case COMMENT:
			o.comment = optarg;
			break;
		default:
			status = cmd_usage_error(argv[0], "see the message above");
		}
	}
	if (status == 0)
		status = run(&o, argc - optind, argv + optind);
	json_decref(o.hours);
	return status;
}
