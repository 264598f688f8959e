/*
 * What the collector itself knows of its hosts: agents whose batches go through codec and pipeline at times of the case's
 * own, and fall silent, come back, have clocks that are off or a twin as the case says.
 */
#include "case.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "clock.h"
#include "codec.h"
#include "err.h"
#include "intake.h"
#include "log.h"
#include "pipeline.h"
#include "record.h"
#include "tally.h"

#define SILENT_MIN_MS 60000
#define SERIES_MAX 100000
#define BOOT_NS (1000 * NSEC_PER_SEC)
#define MONO_NS (100000 * NSEC_PER_SEC)
#define LINES_MAX 100

struct agent {
	bool silent, twin;
	double clock;
	uint64_t sequence, unknown_lines;
};

struct fleet {
	const struct rule_case *c;
	struct case_report *r;
	struct pipeline *pipeline;
	struct tally tally;
	struct arena arena;
	struct intake intake;
	struct agent agents[CASE_HOSTS_MAX];
	bool fired;
};

static bool
send(struct fleet *f, unsigned index, bool is_twin, double at)
{
	struct agent *a = &f->agents[index];
	uint8_t uuid[16] = { 7, (uint8_t)index }, boot_id[16] = { is_twin ? 2 : 1, (uint8_t)index };
	char name[24];
	Hiwat__Batch batch = HIWAT__BATCH__INIT;
	struct intake_batch *decoded = NULL;
	Hiwat__Host host = HIWAT__HOST__INIT;
	Hiwat__Record record = HIWAT__RECORD__INIT, *records[] = { &record };
	Hiwat__Sampler *status;
	Hiwat__Ack ack = HIWAT__ACK__INIT;
	struct buf wire;
	uint64_t wall = (uint64_t)((f->c->clock + at) * 1e9);
	const char *why = "out of memory";

	arena_reset(&f->arena);
	snprintf(name, sizeof(name), "host%u", index + 1);
	host.has_uuid = host.has_boot_id = 1;
	host.uuid = (ProtobufCBinaryData){ 16, uuid };
	host.boot_id = (ProtobufCBinaryData){ 16, boot_id };
	RECORD_SET(&host, stream, index + 1);
	host.name = name;
	host.os = (char *)(uintptr_t)f->c->os;
	host.release = (char *)(uintptr_t)f->c->release;
	RECORD_SET(&batch, version, CODEC_VERSION);
	batch.host = &host;
	/* A twin has a copy of the spool: it uses the same numbers. */
	RECORD_SET(&batch, sequence, is_twin ? a->sequence : ++a->sequence);
	RECORD_SET(&batch, wall_ns, (uint64_t)((f->c->clock + at + a->clock) * 1e9) + is_twin);
	RECORD_SET(&batch, boot_ns, BOOT_NS + (uint64_t)(at * 1e9));
	RECORD_SET(&batch, next_due_ms, (uint32_t)(f->c->every * 1000));
	batch.n_records = 1;
	batch.records = records;
	status = RECORD_ONE(&f->arena, &record, status, sampler);
	if (status == NULL)
		return false;
	status->sampler = (char *)(uintptr_t) "test";
	RECORD_SET(status, up, 1);
	Hiwat__SamplerVerdict *verdict = RECORD_ONE(&f->arena, status, verdict, sampler_verdict);
	if (verdict == NULL ||
	    (a->unknown_lines > 0 && record_count_unknown(&f->arena, &record, "test", a->unknown_lines) != HIWAT_OK))
		return false;
	verdict->verdict = (char *)(uintptr_t) "ok";
	struct arrival arrival = {
		.mono_ns = MONO_NS + (uint64_t)(at * 1e9),
		.wall_ns = wall,
		.sent_wall_ns = batch.wall_ns,
	};
	buf_init(&wire, CODEC_BATCH_MAX);
	int err = batch_encode(&batch, &wire);
	if (err == HIWAT_OK)
		err = intake_decode(&f->intake, (const uint8_t *)wire.data, wire.len, &decoded, &why);
	if (err == HIWAT_OK)
		err = pipeline_batch(f->pipeline, decoded, &arrival, &ack, &why);
	buf_fini(&wire);
	if (err != HIWAT_OK)
		case_fail(f->r, f->c->node, "a batch", "taken", why);
	return err == HIWAT_OK;
}

static void
happen(struct fleet *f, const struct case_event *e)
{
	for (unsigned i = e->first - 1; i < e->last; i++) {
		struct agent *a = &f->agents[i];
		if (e->silent >= 0)
			a->silent = e->silent;
		if (e->twin >= 0)
			a->twin = e->twin;
		if (e->has_clock)
			a->clock = e->clock;
		a->unknown_lines += e->unknown_lines;
	}
}

struct lines {
	const char *rule, *summary, *remedy;
	char *lines[LINES_MAX];
	unsigned n;
	bool has_summary, has_remedy;
};

static void
add_lines(void *arg, const struct incident *incident)
{
	struct lines *l = arg;

	for (size_t i = 0; i < incident->n_lines && incident->status == INCIDENT_OPEN; i++) {
		const struct incident_line *line = &incident->lines[i];
		struct buf b;
		if (strcmp(line->rule_id, l->rule) != 0 || line->status == RULE_OK || l->n == LINES_MAX)
			continue;
		buf_init(&b, 1000);
		buf_printf(&b, "%s %s%s%s%s", rule_level_word(line->level), incident->host_name,
		    incident->object[0] != '\0' ? " {" : "", incident->object, incident->object[0] != '\0' ? "}" : "");
		l->lines[l->n++] = strdup(buf_str(&b));
		buf_fini(&b);
		l->has_summary |= l->summary != NULL && strstr(line->summary, l->summary) != NULL;
		l->has_remedy |= l->remedy != NULL && strstr(line->remedy, l->remedy) != NULL;
	}
}

static int
compare_lines(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

static void
collect(void *arg, struct pipeline *p)
{
	alerts_each(pipeline_alerts(p), add_lines, arg);
}

static void
check(struct fleet *f, const struct case_expect *e)
{
	struct lines l = { .rule = f->c->rule, .summary = e->summary, .remedy = e->remedy };
	struct buf seen;

	if (e->has_incidents || e->pages >= 0) {
		tally_collect(&f->tally, (uint64_t)((f->c->clock + e->at) * 1e9));
		tally_check(&f->tally, pipeline_alerts(f->pipeline), f->r, e);
	}
	if (e->status == NULL)
		return;
	pipeline_read(f->pipeline, collect, &l);
	qsort(l.lines, l.n, sizeof(l.lines[0]), compare_lines);
	buf_init(&seen, 1 << 16);
	for (unsigned i = 0; i < l.n; i++) {
		buf_printf(&seen, "%s%s", i > 0 ? "; " : "", l.lines[i]);
		free(l.lines[i]);
	}
	case_check_status(f->r, e, buf_str(&seen), true, &f->fired);
	if (e->summary != NULL && !l.has_summary)
		case_fail(f->r, e->node, "summary", e->summary, "no line with it");
	if (e->remedy != NULL && !l.has_remedy)
		case_fail(f->r, e->node, "remedy", e->remedy, "no line with it");
	buf_fini(&seen);
}

static void
run(struct fleet *f)
{
	for (unsigned tick = 0; tick < f->c->n_ticks && f->r->failures == 0; tick++) {
		double at = tick * f->c->every;
		for (unsigned i = 0; i < f->c->n_events; i++) {
			if (fabs(f->c->events[i].at - at) < f->c->every / 2)
				happen(f, &f->c->events[i]);
		}
		for (unsigned i = 0; i < f->c->n_hosts; i++) {
			if (!f->agents[i].silent && send(f, i, false, at) && f->agents[i].twin)
				send(f, i, true, at);
		}
		/* The collector looks at its hosts once a second. */
		for (double s = 0; s < f->c->every; s++)
			pipeline_tick(f->pipeline, MONO_NS + (uint64_t)((at + s) * 1e9),
			    (uint64_t)((f->c->clock + at + s) * 1e9));
		for (unsigned i = 0; i < f->c->n_expects; i++) {
			if (fabs(f->c->expects[i].at - at) < 0.001)
				check(f, &f->c->expects[i]);
		}
	}
}

void
case_run_fleet(const struct rule_case *c, const char *rules_path, struct case_report *r)
{
	static struct fleet f;
	struct rule_set *rules = NULL;
	struct buf errors;
	char snapshot[100];

	memset(&f, 0, sizeof(f));
	f.c = c;
	f.r = r;
	buf_init(&errors, 1 << 20);
	if (rule_set_load(rules_path, &rules, &errors) != HIWAT_OK || !tally_open_store(&f.tally)) {
		case_fail(r, c->node, "several hosts", "rules, and room for temporary files", buf_str(&errors));
		rule_set_free(rules);
		buf_fini(&errors);
		return;
	}
	buf_fini(&errors);
	arena_init(&f.arena, CODEC_ARENA_MAX);
	intake_init(&f.intake, 1);
	snprintf(snapshot, sizeof(snapshot), "%s/snapshot", f.tally.dir);
	struct pipeline_config config = {
		.snapshot_path = snapshot,
		.judge = { .hosts_max = CASE_HOSTS_MAX, .series_max = SERIES_MAX, .silent_min_ms = SILENT_MIN_MS },
	};
	log_set_level(LOG_LEVEL_ERROR);
	f.pipeline = pipeline_new(&config, rules, f.tally.store, &tally_route, 1);
	if (f.pipeline != NULL)
		run(&f);
	else
		case_fail(r, c->node, "several hosts", "a pipeline", "none");
	pipeline_free(f.pipeline);
	tally_close(&f.tally);
	arena_fini(&f.arena);
	intake_fini(&f.intake);
}
