#include "preflight.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "codec.h"
#include "doc.h"
#include "err.h"
#include "incident_json.h"
#include "notify.h"
#include "routes.h"
#include "silences.h"

#define RENDERED_MAX (16u << 20)

/* What texts are filled with: plain, and what grows when it is quoted or counts otherwise in bytes than in characters. */
static const char *const fills[] = { "x", "\"", "\x01", "&", "\xf0\x9f\x94\xa5", "\xd7\x90" };
static const char *const events[] = { "trigger", "escalate", "update", "acknowledge", "repeat", "resolve", "was" };

/* At most n bytes of whole fills in place of *out. */
static bool
fill(char **out, const char *with, size_t n)
{
	size_t step = strlen(with), at = 0;
	char *text = malloc(n + 1);

	if (text == NULL)
		return false;
	for (; at + step <= n; at += step)
		memcpy(text + at, with, step);
	text[at] = '\0';
	free(*out);
	*out = text;
	return true;
}

static bool
fill_labels(char **out, const char *with, unsigned n)
{
	json_t *o = json_object();
	char *value = NULL, *text = NULL;
	char name[32];
	bool ok = fill(&value, with, CODEC_LABEL_MAX);

	for (unsigned i = 0; ok && i < n; i++) {
		snprintf(name, sizeof(name), "label-%u", i);
		ok = doc_put_text(o, name, value) == 0;
	}
	if (ok)
		text = json_dumps(o, JSON_COMPACT);
	free(value);
	json_decref(o);
	if (text == NULL)
		return false;
	free(*out);
	*out = text;
	return true;
}

static bool
fill_line(struct incident_line *line, const char *with)
{
	line->status = RULE_FIRING;
	line->since_ns = line->cleared_ns = UINT64_C(1796122800123456789);
	line->value = line->used = -1.2345678901234567e-300;
	line->threshold = line->limit = 1.2345678901234567e+300;
	line->seconds_to_limit = 1e9;
	line->gone = true;
	return fill(&line->summary, with, INCIDENT_SUMMARY_MAX) && fill(&line->description, with, INCIDENT_TEXT_MAX) &&
	    fill(&line->remedy, with, INCIDENT_TEXT_MAX) && fill(&line->doc, with, INCIDENT_TEXT_MAX) &&
	    fill(&line->threshold_source, with, INCIDENT_TEXT_MAX) && fill(&line->reason, with, INCIDENT_TEXT_MAX);
}

/* The largest incident. HIWAT_E_NOMEM; *i is to be freed in any case. */
static int
make_worst(struct incident *i, const char *with)
{
	char *labels = NULL;

	*i = (struct incident){
		.status = INCIDENT_OPEN,
		.level = RULE_LEVEL_CRITICAL,
		.worst_level = RULE_LEVEL_CRITICAL,
		.generation = UINT32_MAX,
		.reopened = UINT32_MAX,
		.acknowledged = true,
		.flapping = true,
		.object_gone = true,
	};
	memset(i->key, 'f', INCIDENT_KEY_LEN);
	memset(i->attached_to, 'f', INCIDENT_KEY_LEN);
	i->opened_ns = i->changed_ns = i->resolved_ns = i->blind_since_ns = UINT64_C(1796122800123456789);
	bool ok = fill(&i->host_name, with, CODEC_LABEL_MAX) && fill(&i->host_os, with, CODEC_LABEL_MAX) &&
	    fill(&i->host_release, with, CODEC_LABEL_MAX) &&
	    fill_labels(&i->host_labels_json, with, CODEC_HOST_LABELS_MAX) && fill(&i->cause, with, CODEC_LABEL_MAX) &&
	    fill(&i->object, with, INCIDENT_LABELS_MAX) && fill_labels(&i->labels_json, with, CATALOGUE_LABELS_MAX) &&
	    fill(&i->by, with, SILENCE_TEXT_MAX) && fill(&labels, with, INCIDENT_LABELS_MAX);
	for (unsigned n = 0; ok && n < INCIDENT_LINES_MAX; n++) {
		struct incident_line *line = NULL;
		char rule[32];

		snprintf(rule, sizeof(rule), "rule-%u", n);
		ok = incident_add_line(i, rule, labels, RULE_LEVEL_CRITICAL, &line) == 0 && fill_line(line, with);
	}
	free(labels);
	return ok ? 0 : HIWAT_E_NOMEM;
}

/* Whether the receiver of a route takes a notice. False after a line in errors. */
static bool
check_notice(const struct route *route, const struct notice *notice, struct buf *errors)
{
	const struct sink *sink = sink_find(route->sink);
	struct buf rendered, why;

	if (sink->render == NULL)
		return true;
	buf_init(&rendered, RENDERED_MAX);
	buf_init(&why, 1024);
	int err = sink->render(NULL, route, notice, &rendered);
	if (err == 0)
		err = buf_ok(&rendered) ? sink->validate(buf_str(&rendered), &why) : HIWAT_E_TOOBIG;
	if (err != 0)
		buf_printf(errors, "route %s: the sink %s cannot tell the largest incident (%s): %s\n", route->name,
		    sink->name, notice->event, why.len > 0 ? buf_str(&why) : err_text(err));
	buf_fini(&rendered);
	buf_fini(&why);
	return err == 0;
}

/* Each event of an incident by each route. */
static bool
check_events(const struct routes *routes, const struct incident *i, struct buf *errors)
{
	bool ok = true;

	for (size_t e = 0; e < sizeof(events) / sizeof(events[0]); e++) {
		struct notice notice = { .incident_key = i->key, .generation = i->generation, .event = events[e] };
		char *json = NULL;

		if (incident_write(i, events[e], &json) != 0) {
			buf_puts(errors, "routes: out of memory\n");
			return false;
		}
		notice.json = json;
		for (size_t k = 0; k < routes->n; k++)
			ok = check_notice(&routes->out[k], &notice, errors) && ok;
		free(json);
	}
	return ok;
}

bool
preflight_routes(const struct routes *routes, struct buf *errors)
{
	bool ok = true;

	for (size_t f = 0; ok && f < sizeof(fills) / sizeof(fills[0]); f++) {
		struct incident worst;

		ok = make_worst(&worst, fills[f]) == 0;
		if (ok)
			ok = check_events(routes, &worst, errors);
		else
			buf_puts(errors, "routes: out of memory\n");
		incident_fini(&worst);
	}
	return ok;
}
