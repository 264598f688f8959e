/* hiwat-agent maintenance: the collectors do not tell of this host for a while. */
#include "cmd.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "clock.h"
#include "config.h"
#include "diag.h"
#include "err.h"
#include "identity.h"
#include "scan.h"
#include "sink.h"
#include "units.h"

#define HOURS_MAX 8

const char cmd_maintenance_usage[] =
    "usage: hiwat-agent maintenance [-c FILE] DURATION REASON\n"
    "       hiwat-agent maintenance [-c FILE] end\n"
    "Asks the collectors to keep still about this host for at most 8 hours: what fires meanwhile is judged and shown, and "
    "told\n"
    "afterwards when it still holds. A new request takes the place of the one before; end ends it.\n"
    "\n"
    "  -c FILE   the configuration (" AGENT_CONFIG_DEFAULT ")\n"
    "\n"
    "exit status: 0 a collector agreed, 1 none did, 2 the configuration is not valid or wrong usage.\n";

/* A JSON string: what the collector cannot take is not sent. */
static void
put_string(struct buf *out, const char *s)
{
	buf_putc(out, '"');
	for (; *s != '\0'; s++) {
		if (*s == '"' || *s == '\\')
			buf_putc(out, '\\');
		buf_putc(out, (unsigned char)*s < 0x20 || *s == 0x7f ? ' ' : *s);
	}
	buf_putc(out, '"');
}

static void
write_request(struct buf *out, const struct agent_config *config, uint64_t ms, const char *reason)
{
	const struct identity_options options = {
		.state_dir = config->state_dir,
		.proc_dir = "/proc",
		.root = "",
		.name = config->name,
		.wall_ns = clock_wall_ns(),
		.boot_ns = clock_boot_ns(),
	};
	char uuid[UUID_TEXT_BYTES];
	struct identity id;

	identity_load(&options, &id);
	uuid_format(id.uuid, uuid);
	buf_printf(out, "{\"uuid\":\"%s\",\"seconds\":%" PRIu64 ",\"reason\":", uuid, ms / 1000);
	put_string(out, reason);
	buf_putc(out, '}');
}

/* Whether the collector agreed. */
static bool
ask(const struct agent_config *config, const char *url, const char *json)
{
	const struct sink_settings settings = {
		.ca_file = config->ca_file,
		.cert_file = config->cert_file,
		.key_file = config->key_file,
		.token_file = config->token_file,
		.timeout_ms = config->timeout_ms,
	};
	const struct sink *sink = sink_find(url);
	struct sink_reply reply = { .fate = SINK_FAILED, .why = "this way carries batches alone" };
	void *state = NULL;

	if (sink != NULL && sink->maintain != NULL && sink->open(&settings, &state) == HIWAT_OK) {
		sink->maintain(state, url, json, &reply);
		sink->close(state);
	}
	if (reply.fate == SINK_ACKNOWLEDGED)
		printf("%s: agreed\n", url);
	else
		fprintf(stderr, "hiwat-agent maintenance: %s: %s\n", url, reply.why);
	return reply.fate == SINK_ACKNOWLEDGED;
}

static int
run(const struct agent_config *config, uint64_t ms, const char *reason)
{
	struct buf request;
	int status = 1;

	if (config->collectors.n == 0) {
		fputs("hiwat-agent maintenance: the configuration names no collectors\n", stderr);
		return 1;
	}
	buf_init(&request, 8192);
	write_request(&request, config, ms, reason);
	/* Each: whichever holds the host later knows of it. */
	for (size_t i = 0; buf_ok(&request) && i < config->collectors.n; i++)
		if (ask(config, config->collectors.items[i], buf_str(&request)))
			status = 0;
	if (!buf_ok(&request))
		fputs("hiwat-agent maintenance: the reason is too long\n", stderr);
	buf_fini(&request);
	return status != 0 ? status : cmd_finish_output("maintenance");
}

int
cmd_maintenance(int argc, char **argv)
{
	const char *path = NULL;
	uint64_t ms = 0;
	struct diag diag;
	int at = 1;

	if (argc > 2 && strcmp(argv[1], "-c") == 0) {
		path = argv[2];
		at = 3;
	}
	bool is_end = argc == at + 1 && strcmp(argv[at], "end") == 0;
	if (!is_end && argc != at + 2)
		return cmd_usage_error(argv[0], "expected DURATION REASON, or end");
	if (!is_end &&
	    (units_parse_duration(text_of(argv[at]), &ms) != HIWAT_OK || ms < 1000 || ms > HOURS_MAX * 3600000ULL))
		return cmd_usage_error(argv[0], "'%s' is not " UNITS_DURATION_FORM " between 1s and %dh", argv[at],
		    HOURS_MAX);
	if (!is_end && argv[at + 1][0] == '\0')
		return cmd_usage_error(argv[0], "a reason is needed");
	struct agent_config *config = calloc(1, sizeof(*config));
	if (config == NULL)
		return 1;
	diag_init(&diag);
	int err = agent_config_load(path, config, &diag);
	if (err != HIWAT_OK)
		fputs(diag.n > 0 ? diag_text(&diag) : err_text(err), stderr);
	diag_fini(&diag);
	int status = CMD_USAGE;
	if (err == HIWAT_OK) {
		status = run(config, ms, is_end ? "" : argv[at + 1]);
		agent_config_free(config);
	}
	free(config);
	return status;
}
