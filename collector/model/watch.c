#include "watch.h"

#include <math.h>
#include <string.h>

#include "clock.h"

#define FLEET_HOSTS_MIN 5                 /* fewer are told one by one */
#define FLEET_SHARE 5                     /* a fifth of the fleet */
#define DUPLICATE_NS (600 * NSEC_PER_SEC) /* over after ten minutes without another sign of the second agent */
#define DUPLICATE_AGAIN_NS (60 * NSEC_PER_SEC)
#define CLOCK_ROUNDS 10 /* rounds between two looks at the clocks */
#define CLOCK_SKEW_S 30.0
#define CLOCK_CLEAR_S 24.0 /* four fifths of the threshold */
#define DRIFT_ROUNDS 60
#define DRIFT_NS (600 * NSEC_PER_SEC) /* over after ten minutes without another line */

static bool
is_overdue(const struct watch *w, const struct host *h, uint64_t mono_ns)
{
	uint64_t allowed_ms = 3ull * h->next_due_ms;

	if (allowed_ms < w->silent_min_ms)
		allowed_ms = w->silent_min_ms;
	return mono_ns > h->last_mono_ns && mono_ns - h->last_mono_ns > allowed_ms * NSEC_PER_MSEC;
}

/* Hosts whose silence began within two of their intervals fell silent together. */
static bool
is_fresh(const struct host *h, uint64_t mono_ns)
{
	return h->overdue_mono_ns != 0 && mono_ns - h->overdue_mono_ns <= 2 * h->next_due_ms * NSEC_PER_MSEC;
}

static bool
is_fleet(unsigned n, unsigned n_hosts)
{
	return n >= FLEET_HOSTS_MIN && (uint64_t)n * FLEET_SHARE >= n_hosts;
}

static void
tell_silence(struct host *h, uint64_t mono_ns, watch_emit *emit, void *arg)
{
	struct watch_event e = { .rule = "host-silent",
		.host = h,
		.fires = true,
		.value = (double)(mono_ns - h->last_mono_ns) / 1e9 };

	emit(arg, &e);
}

static void
tell_fleet(bool fires, unsigned n, watch_emit *emit, void *arg)
{
	struct watch_event e = { .rule = "fleet-silent", .fires = fires, .value = n };

	emit(arg, &e);
}

static unsigned
judge_silence(struct watch *w, struct hosts *hosts, uint64_t mono_ns, watch_emit *emit, void *arg)
{
	unsigned n_hosts = hosts_count(hosts), fresh = 0, members = 0, silent = 0;

	for (unsigned i = 0; i < n_hosts; i++) {
		struct host *h = hosts_at(hosts, i);
		if (!is_overdue(w, h, mono_ns))
			h->overdue_mono_ns = 0;
		else if (h->overdue_mono_ns == 0)
			h->overdue_mono_ns = mono_ns;
		fresh += is_fresh(h, mono_ns);
		members += h->silent_in_fleet;
	}
	bool fleet = is_fleet(fresh, n_hosts) || (w->fleet_silent && is_fleet(members, n_hosts));
	if (fleet && !w->fleet_silent)
		tell_fleet(true, fresh, emit, arg);
	else if (!fleet && w->fleet_silent)
		tell_fleet(false, members, emit, arg);
	w->fleet_silent = fleet;
	for (unsigned i = 0; i < n_hosts; i++) {
		struct host *h = hosts_at(hosts, i);
		if (fleet && !h->silent && is_fresh(h, mono_ns)) {
			h->silent = h->silent_in_fleet = true;
		} else if (!fleet && h->silent_in_fleet) {
			/* The others are back. This one may follow within an interval, else it is told by itself. */
			h->silent = h->silent_in_fleet = false;
			h->overdue_mono_ns = mono_ns;
		} else if (h->overdue_mono_ns != 0 && !h->silent &&
		    (n_hosts < FLEET_HOSTS_MIN || mono_ns - h->overdue_mono_ns >= h->next_due_ms * NSEC_PER_MSEC)) {
			/* In a fleet one interval is waited, in case others follow. */
			h->silent = true;
			tell_silence(h, mono_ns, emit, arg);
		}
		silent += h->silent;
	}
	return silent;
}

static void
judge_clocks(struct hosts *hosts, uint64_t wall_ns, watch_emit *emit, void *arg)
{
	for (unsigned i = 0; i < hosts_count(hosts); i++) {
		struct host *h = hosts_at(hosts, i);
		int64_t offset_ns;
		if (!host_clock_offset(h, wall_ns, &offset_ns))
			continue;
		double off = fabs((double)offset_ns / 1e9);
		if (off > CLOCK_SKEW_S ? h->clock_skewed : off > CLOCK_CLEAR_S || !h->clock_skewed)
			continue;
		h->clock_skewed = !h->clock_skewed;
		struct watch_event e = { .rule = "clock-skew", .host = h, .fires = h->clock_skewed, .value = off };
		emit(arg, &e);
	}
}

static void
judge_duplicates(struct hosts *hosts, uint64_t mono_ns, watch_emit *emit, void *arg)
{
	for (unsigned i = 0; i < hosts_count(hosts); i++) {
		struct host *h = hosts_at(hosts, i);
		if (!h->duplicate || mono_ns - h->duplicate_mono_ns <= DUPLICATE_NS)
			continue;
		h->duplicate = false;
		struct watch_event e = { .rule = "host-duplicate", .host = h };
		emit(arg, &e);
	}
}

/* Lines that the parsers of this host's agent did not know; what the kernel overwrote is no new shape. */
static double
unknown_lines(const struct host *h, const struct labels *labels, int metric)
{
	double sum = 0;

	for (size_t s = 0; s < h->live.n_sets; s++) {
		const struct sample_set *set = &h->live.sets[s];
		for (uint32_t v = 0; v < set->n_values; v++) {
			const struct series_key *series = &set->series->series[v];
			if (series->metric != metric)
				continue;
			const char *source = labels_value(labels, series->labels, "source");
			if (source == NULL || strcmp(source, "kernel-log-lost") != 0)
				sum += set->values[v];
		}
	}
	return sum;
}

static void
count_release(struct watch *w, uint32_t object)
{
	for (unsigned i = 0; i < w->n_releases; i++) {
		if (w->releases[i].object == object) {
			w->releases[i].hosts++;
			return;
		}
	}
	if (w->n_releases < WATCH_RELEASES_MAX) {
		w->releases[w->n_releases].object = object;
		w->releases[w->n_releases].firing = false;
		w->releases[w->n_releases++].hosts = 1;
	}
}

static void
judge_formats(struct watch *w, struct hosts *hosts, struct labels *labels, uint64_t mono_ns, watch_emit *emit, void *arg)
{
	int metric = catalogue_find("hiwat_parse_unknown_lines_total", strlen("hiwat_parse_unknown_lines_total"));

	for (unsigned i = 0; i < w->n_releases; i++)
		w->releases[i].hosts = 0;
	for (unsigned i = 0; i < hosts_count(hosts); i++) {
		struct host *h = hosts_at(hosts, i);
		double lines = unknown_lines(h, labels, metric);
		if (h->n_drift_rounds > 0 && lines > h->unknown_lines)
			h->drift_mono_ns = mono_ns;
		if (h->live.n_sets > 0 && h->n_drift_rounds < 2)
			h->n_drift_rounds++;
		h->unknown_lines = lines;
		if (h->drift_mono_ns == 0 || mono_ns - h->drift_mono_ns > DRIFT_NS)
			continue;
		struct sample_label release[] = { { "os", h->os }, { "release", h->release } };
		uint32_t object = labels_intern(labels, release, 2);
		if (object != LABELS_FULL)
			count_release(w, object);
	}
	unsigned kept = 0;
	for (unsigned i = 0; i < w->n_releases; i++) {
		bool fires = w->releases[i].hosts > 0;
		if (fires != w->releases[i].firing) {
			struct watch_event e = { .rule = "format-drift",
				.object = w->releases[i].object,
				.fires = fires,
				.value = w->releases[i].hosts };
			emit(arg, &e);
		}
		w->releases[i].firing = fires;
		if (fires)
			w->releases[kept++] = w->releases[i];
	}
	w->n_releases = kept;
}

unsigned
watch_tick(struct watch *w, struct hosts *hosts, struct labels *labels, uint64_t mono_ns, uint64_t wall_ns, watch_emit *emit,
    void *arg)
{
	unsigned silent = judge_silence(w, hosts, mono_ns, emit, arg);

	if (w->ticks % CLOCK_ROUNDS == 0)
		judge_clocks(hosts, wall_ns, emit, arg);
	judge_duplicates(hosts, mono_ns, emit, arg);
	if (w->ticks % DRIFT_ROUNDS == 0)
		judge_formats(w, hosts, labels, mono_ns, emit, arg);
	w->ticks++;
	return silent;
}

void
watch_heard(struct host *h, bool was_told, watch_emit *emit, void *arg)
{
	bool told = was_told || (h->silent && !h->silent_in_fleet);

	h->silent = h->silent_in_fleet = false;
	h->overdue_mono_ns = 0;
	if (told) {
		struct watch_event e = { .rule = "host-silent", .host = h };
		emit(arg, &e);
	}
}

void
watch_duplicate(struct host *h, uint64_t mono_ns, watch_emit *emit, void *arg)
{
	/* Said again now and then, in case the store was lost; not with each batch. */
	if (h->duplicate && mono_ns - h->duplicate_mono_ns < DUPLICATE_AGAIN_NS)
		return;
	h->duplicate = true;
	h->duplicate_mono_ns = mono_ns;
	struct watch_event e = { .rule = "host-duplicate", .host = h, .fires = true };
	emit(arg, &e);
}

void
watch_mark(const struct watch *w, struct labels *labels)
{
	for (unsigned i = 0; i < w->n_releases; i++)
		labels_mark(labels, w->releases[i].object);
}
