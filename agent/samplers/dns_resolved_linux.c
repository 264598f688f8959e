/*
 * systemd-resolved's cache, by its varlink socket for monitoring (systemd's src/resolve/resolved-varlink.c): DumpStatistics,
 * from version 254 on. Older ones do not know the method; some speak to root alone and close the connection to others.
 */
#include <stdlib.h>

#include "arena.h"
#include "dns.h"
#include "err.h"
#include "source.h"

#define SOCKET "/run/systemd/resolve/io.systemd.Resolve.Monitor"
#define ANSWER_MAX ((size_t)64 << 10)
#define DEADLINE_MS 3000

struct resolved {
	struct fetch fetch;
	const char *socket;
};

static void
resolved_close(void *state)
{
	struct resolved *r = state;

	fetch_fini(&r->fetch);
	free(r);
}

static int
resolved_open(const struct sampler_config *config, void **state)
{
	struct resolved *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return HIWAT_E_NOMEM;
	fetch_init(&r->fetch, config->trace, ANSWER_MAX);
	r->socket = config->resolved_socket != NULL ? config->resolved_socket : SOCKET;
	*state = r;
	return HIWAT_OK;
}

/* {"error":"org.varlink.service.MethodNotFound",...} */
static int
refusal(struct text answer, const char *socket, struct sampler_reason *why)
{
	if (answer.n == 0)
		return sampler_fail(why, HIWAT_E_DENIED, "%s: closed without an answer, as it is to others than root",
		    socket);
	if (text_find(answer, "\"error\"") < 0)
		return HIWAT_OK;
	if (text_find(answer, "MethodNotFound") >= 0 || text_find(answer, "InterfaceNotFound") >= 0)
		return sampler_fail(why, HIWAT_E_MISSING, "%s: this systemd-resolved tells no statistics", socket);
	if (text_find(answer, "PermissionDenied") >= 0 || text_find(answer, "AuthenticationRequired") >= 0)
		return sampler_fail(why, HIWAT_E_DENIED, "%s: permission denied", socket);
	return sampler_fail(why, HIWAT_E_REJECTED, "%s: %.*s", socket, (int)(answer.n < 150 ? answer.n : 150), answer.p);
}

static int
resolved_sample(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out,
    struct sampler_reason *why)
{
	static const char request[] = "{\"method\":\"io.systemd.Resolve.Monitor.DumpStatistics\"}"; /* the NUL ends it */
	struct resolved *r = state;
	struct parse_input in = { .os = PARSE_OS_UNKNOWN };
	struct parse_reason reason = { "" };

	(void)now;
	int err = fetch_unix_message(&r->fetch, r->socket, (struct text){ request, sizeof(request) }, DEADLINE_MS, &in.text);
	if (err != HIWAT_OK)
		return sampler_fail_fetch(why, err, &r->fetch);
	err = refusal(in.text, r->socket, why);
	if (err != HIWAT_OK)
		return err;
	err = resolved_statistics_parse(&in, arena, out, &reason);
	if (err != HIWAT_OK)
		return sampler_fail(why, err, "%s: %s", r->socket, reason.text[0] != '\0' ? reason.text : err_text(err));
	return HIWAT_OK;
}

const struct sampler sampler_dns_resolved = {
	.name = "dns_resolved",
	.help = "statistics of the resolver systemd-resolved",
	.interval_ms = 10000,
	.deadline_ms = DEADLINE_MS + 500,
	.may_block = true,
	.is_paced = true,
	.open = resolved_open,
	.sample = resolved_sample,
	.close = resolved_close,
};
