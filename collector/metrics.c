/* The collector's own numbers, and those of all hosts, as Prometheus text. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "notify.h"
#include "pipeline.h"
#include "record_queue.h"
#include "store.h"
#include "web.h"

static void
head(struct buf *out, const char *name, const char *type, const char *help)
{
	buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void
number(struct buf *out, const char *name, const char *type, const char *help, double value)
{
	head(out, name, type, help);
	buf_puts(out, name);
	buf_putc(out, ' ');
	buf_put_double(out, value);
	buf_putc(out, '\n');
}

/* Bytes of this process in memory; 0 where the system does not tell. */
static double
resident_bytes(void)
{
	unsigned long long pages = 0, ignored;
	FILE *f = fopen("/proc/self/statm", "re");

	if (f == NULL)
		return 0;
	if (fscanf(f, "%llu %llu", &ignored, &pages) != 2)
		pages = 0;
	fclose(f);
	return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static void
write_routes(struct web *w, struct buf *out)
{
	static const struct {
		const char *name, *type, *help;
	} rows[] = {
		{ "hiwat_collector_notifications_delivered_total", "counter", "Notifications that a receiver accepted" },
		{ "hiwat_collector_notification_failures_total", "counter", "Tries that failed" },
		{ "hiwat_collector_notifications_expired_total", "counter", "Notifications given up" },
		{ "hiwat_collector_route_failing", "gauge", "1 while the route's last try failed" },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (w->n_routes > 0)
			head(out, rows[i].name, rows[i].type, rows[i].help);
		for (unsigned r = 0; r < w->n_routes; r++) {
			struct route_stats s;
			notifier_stats(w->notifier, r, &s);
			const double values[] = { (double)s.delivered, (double)s.failed, (double)s.expired, s.failing };
			struct sample_label label = { "route", w->routes[r].name };
			series_write(out, rows[i].name, &label, 1);
			buf_putc(out, ' ');
			buf_put_double(out, values[i]);
			buf_putc(out, '\n');
		}
	}
}

struct firing {
	struct buf *out;
};

static void
write_firing(void *arg, const struct incident *i)
{
	struct firing *f = arg;

	if (i->status != INCIDENT_OPEN)
		return;
	for (size_t n = 0; n < i->n_lines; n++) {
		if (i->lines[n].status != RULE_FIRING)
			continue;
		struct sample_label labels[] = {
			{ "host", i->host_name },
			{ "level", rule_level_word(i->lines[n].level) },
			{ "object", i->object },
			{ "rule", i->lines[n].rule_id },
		};
		series_write(f->out, "hiwat_alert_firing", labels, 4);
		buf_puts(f->out, " 1\n");
	}
}

static void
write_alerts(void *arg, struct pipeline *p)
{
	struct firing f = { arg };

	head(f.out, "hiwat_alert_firing", "gauge", "1 while the alert fires");
	alerts_each(pipeline_alerts(p), write_firing, &f);
}

static void
write_recording(struct record_queue *q, struct buf *out)
{
	struct recorder_counts c;

	if (q == NULL)
		return;
	record_queue_count(q, &c);
	number(out, "hiwat_collector_recorded_batches_total", "counter", "Batches recorded", (double)c.batches);
	number(out, "hiwat_collector_recorded_bytes_total", "counter", "Bytes recorded", (double)c.bytes);
	number(out, "hiwat_collector_recording_lost_batches_total", "counter", "Batches that could not be recorded",
	    (double)c.lost);
	number(out, "hiwat_collector_recording_removed_files_total", "counter", "Files of the recording that made room",
	    (double)c.removed);
}

void
metrics_write(struct web *w, struct buf *out)
{
	struct pipeline_stats p;
	struct records_stats r = records_stats();
	size_t waiting = 0;
	uint64_t oldest = 0, now = clock_wall_ns();
	const char *why = NULL;

	pipeline_stats(w->pipeline, &p);
	head(out, "hiwat_collector_info", "gauge", "Version of the collector");
	buf_puts(out, "hiwat_collector_info{version=\"" HIWAT_VERSION "\"} 1\n");
	number(out, "hiwat_collector_start_time_seconds", "gauge", "Unix time of the start",
	    (double)w->started_wall_ns / 1e9);
	number(out, "hiwat_collector_resident_bytes", "gauge", "Memory of the collector", resident_bytes());
	number(out, "hiwat_collector_cpu_seconds_total", "counter", "CPU time of the collector",
	    (double)clock_cpu_ns() / 1e9);
	number(out, "hiwat_collector_hosts", "gauge", "Hosts known", p.hosts);
	number(out, "hiwat_collector_silent_hosts", "gauge", "Hosts from which nothing is heard", p.silent_hosts);
	number(out, "hiwat_collector_rules", "gauge", "Rules loaded", (double)p.rules);
	number(out, "hiwat_collector_label_sets", "gauge", "Label sets held, shared by all hosts", p.label_sets);
	number(out, "hiwat_collector_host_state_bytes", "gauge", "Memory of values and rule state of all hosts",
	    (double)p.host_bytes);
	number(out, "hiwat_collector_requests_total", "counter", "Requests of agents", (double)r.requests);
	number(out, "hiwat_collector_refused_total", "counter", "Batches refused", (double)r.refused);
	number(out, "hiwat_collector_received_bytes_total", "counter", "Bytes of batches received", (double)r.bytes);
	number(out, "hiwat_collector_batches_total", "counter", "Batches taken", (double)p.batches);
	number(out, "hiwat_collector_late_batches_total", "counter", "Batches of backlog among them", (double)p.late);
	number(out, "hiwat_collector_duplicate_batches_total", "counter", "Batches that had arrived before",
	    (double)p.duplicates);
	number(out, "hiwat_collector_values_total", "counter", "Numbers taken", (double)p.values);
	write_recording(w->record, out);
	number(out, "hiwat_collector_decode_seconds_total", "counter", "CPU time spent decoding", (double)r.decode_ns / 1e9);
	number(out, "hiwat_collector_pipeline_seconds_total", "counter", "CPU time spent on values, rules and incidents",
	    (double)p.rules_ns / 1e9);
	number(out, "hiwat_collector_snapshots_total", "counter", "Snapshots written", (double)p.snapshots);
	number(out, "hiwat_collector_snapshot_failures_total", "counter", "Snapshots that failed",
	    (double)p.snapshot_failures);
	number(out, "hiwat_collector_snapshot_time_seconds", "gauge", "Unix time of the last snapshot",
	    (double)p.snapshot_wall_ns / 1e9);
	if (w->ingest != NULL)
		number(out, "hiwat_collector_connections", "gauge", "Connections of agents", http_connections(w->ingest));
	number(out, "hiwat_collector_store_up", "gauge", "1 while incidents can be written", store_healthy(w->store, &why));
	if (store_outbox_stats(w->store, now, &waiting, &oldest) == 0) {
		number(out, "hiwat_collector_outbox_waiting", "gauge", "Notifications not yet delivered", (double)waiting);
		number(out, "hiwat_collector_outbox_oldest_seconds", "gauge", "Age of the oldest of them",
		    oldest != 0 && oldest < now ? (double)(now - oldest) / 1e9 : 0);
	}
	write_routes(w, out);
	pipeline_read(w->pipeline, write_alerts, out);
}

/* One number of one host, to be printed among the others of its metric. */
struct entry {
	unsigned metric, host;
	uint32_t labels;
	double value;
};

struct entries {
	struct entry *list;
	size_t n, capacity;
	struct buf *out;
	bool *replaced; /* by host: a younger one has the same name */
};

struct named {
	const char *name;
	unsigned index;
};

static int
compare_names(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order != 0 ? order : x->index < y->index ? -1 : x->index > y->index;
}

/*
 * A host that was installed anew leaves its old self behind under the same name. The youngest has the name alone, the others
 * are told apart by host_id: a series must not be there twice.
 */
static bool
find_replaced(struct entries *e, struct hosts *hosts)
{
	unsigned n = hosts_count(hosts);
	struct named *list = calloc(n + 1, sizeof(*list));

	e->replaced = calloc(n + 1, sizeof(*e->replaced));
	if (list == NULL || e->replaced == NULL) {
		free(list);
		return false;
	}
	for (unsigned i = 0; i < n; i++)
		list[i] = (struct named){ hosts_at(hosts, i)->name, i };
	qsort(list, n, sizeof(*list), compare_names);
	for (unsigned i = 0; i + 1 < n; i++)
		e->replaced[list[i].index] = strcmp(list[i].name, list[i + 1].name) == 0;
	free(list);
	return true;
}

static bool
add_entry(struct entries *e, const struct series_key *s, double value, unsigned host)
{
	if (e->n == e->capacity) {
		size_t capacity = e->capacity == 0 ? 1024 : e->capacity * 2;
		struct entry *bigger = realloc(e->list, capacity * sizeof(*bigger));
		if (bigger == NULL)
			return false;
		e->list = bigger;
		e->capacity = capacity;
	}
	e->list[e->n++] = (struct entry){ s->metric, host, s->labels, value };
	return true;
}

static int
compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->metric != y->metric)
		return x->metric < y->metric ? -1 : 1;
	return x->host < y->host ? -1 : x->host > y->host;
}

static void
write_host_series(struct entries *e, const struct entry *entry, const struct host *h, const struct labels *labels)
{
	struct sample_label all[CATALOGUE_LABELS_MAX + 2];
	unsigned n, at = 0;
	const struct sample_label *own = labels_get(labels, entry->labels, &n);

	/* host comes in where the alphabet wants it; a label of that name of the series' own has the say. */
	bool placed = labels_value(labels, entry->labels, "host") != NULL;
	for (unsigned i = 0; i < n && i < CATALOGUE_LABELS_MAX; i++) {
		if (!placed && strcmp(own[i].name, "host") > 0) {
			all[at++] = (struct sample_label){ "host", h->name };
			placed = true;
		}
		all[at++] = own[i];
	}
	if (!placed)
		all[at++] = (struct sample_label){ "host", h->name };
	if (e->replaced[h->index])
		all[at++] = (struct sample_label){ "host_id", h->id };
	series_write(e->out, catalogue_metrics[entry->metric].name, all, at);
	buf_putc(e->out, ' ');
	buf_put_double(e->out, entry->value);
	buf_putc(e->out, '\n');
}

/* What no record holds: headroom, time to exhaustion, when the host last spoke. */
static void
write_derived(struct entries *e, struct pipeline *p)
{
	struct hosts *hosts = pipeline_hosts(p);

	for (int pass = 0; pass < 2; pass++) {
		const char *name = pass == 0 ? "hiwat_headroom_ratio" : "hiwat_exhaustion_seconds";
		head(e->out, name, "gauge", catalogue_metrics[catalogue_find(name, strlen(name))].help);
		for (unsigned i = 0; i < hosts_count(hosts); i++) {
			struct host *h = hosts_at(hosts, i);
			for (size_t r = 0; r < h->resources.n; r++) {
				const struct resource *row = &h->resources.rows[r];
				double v = pass == 0 ? resource_headroom(row) : resource_exhaustion(row);
				if (isnan(v))
					continue;
				struct sample_label all[CATALOGUE_LABELS_MAX + 3] = { { "host", h->name },
					{ "resource", row->name } };
				unsigned n;
				const struct sample_label *own = labels_get(pipeline_labels(p), row->labels, &n);
				if (n > 0)
					memcpy(all + 2, own, n * sizeof(all[0]));
				n += 2;
				if (e->replaced[i])
					all[n++] = (struct sample_label){ "host_id", h->id };
				series_write(e->out, name, all, n);
				buf_putc(e->out, ' ');
				buf_put_double(e->out, v);
				buf_putc(e->out, '\n');
			}
		}
	}
	head(e->out, "hiwat_host_last_seen_time_seconds", "gauge", "Unix time at which the host last spoke");
	for (unsigned i = 0; i < hosts_count(hosts); i++) {
		struct sample_label all[2] = { { "host", hosts_at(hosts, i)->name }, { "host_id", hosts_at(hosts, i)->id } };
		series_write(e->out, "hiwat_host_last_seen_time_seconds", all, e->replaced[i] ? 2 : 1);
		buf_putc(e->out, ' ');
		buf_put_double(e->out, (double)hosts_at(hosts, i)->last_wall_ns / 1e9);
		buf_putc(e->out, '\n');
	}
}

static void
write_hosts(void *arg, struct pipeline *p)
{
	struct entries *e = arg;
	struct hosts *hosts = pipeline_hosts(p);

	if (!find_replaced(e, hosts)) {
		e->out->failed = true;
		return;
	}
	for (unsigned i = 0; i < hosts_count(hosts); i++) {
		const struct track *t = &hosts_at(hosts, i)->live;
		for (size_t s = 0; s < t->n_sets; s++) {
			/* Values of a sampler that fails are not known, so they are not shown. */
			const struct sample_set *set = &t->sets[s];
			for (uint32_t v = 0; set->verdict == VERDICT_OK && v < set->n_values; v++) {
				if (!add_entry(e, &set->series->series[v], set->values[v], i)) {
					e->out->failed = true;
					return;
				}
			}
		}
	}
	if (e->n > 0)
		qsort(e->list, e->n, sizeof(e->list[0]), compare_entries);
	for (size_t i = 0; i < e->n; i++) {
		const struct metric *m = &catalogue_metrics[e->list[i].metric];
		if (i == 0 || e->list[i].metric != e->list[i - 1].metric)
			head(e->out, m->name, m->is_counter ? "counter" : "gauge", m->help);
		write_host_series(e, &e->list[i], hosts_at(hosts, e->list[i].host), pipeline_labels(p));
	}
	write_derived(e, p);
}

void
metrics_write_hosts(struct web *w, struct buf *out)
{
	struct entries e = { .out = out };

	pipeline_read(w->pipeline, write_hosts, &e);
	free(e.list);
	free(e.replaced);
}
