/*
 * What the collector itself knows of its hosts, judged once a second: who is silent, whether many fell silent together,
 * who speaks for two, whose clock is off, which release prints lines that nobody reads. Knows no rules: it names them.
 */
#ifndef HIWAT_COLLECTOR_WATCH_H
#define HIWAT_COLLECTOR_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "hosts.h"

#define WATCH_RELEASES_MAX 32 /* releases that drift at once */

struct watch_event {
	const char *rule;  /* host-silent, fleet-silent, host-duplicate, clock-skew or format-drift */
	struct host *host; /* NULL: the fleet as a whole */
	uint32_t object;   /* label set that tells incidents of the rule apart */
	bool fires;        /* else it is over */
	double value;      /* seconds or hosts, as the rule's summary says */
};

typedef void watch_emit(void *arg, const struct watch_event *event);

/* Zero-initialise, set silent_min_ms. */
struct watch {
	uint64_t silent_min_ms; /* silent after three of a host's intervals, but not before this */
	bool fleet_silent;
	unsigned ticks;
	struct {
		uint32_t object; /* {os, release} */
		bool firing;
		unsigned hosts; /* counted anew in each round */
	} releases[WATCH_RELEASES_MAX];
	unsigned n_releases;
};

/* One round; returns the number of silent hosts. labels: where the objects of fleet incidents are interned. */
unsigned watch_tick(struct watch *w, struct hosts *hosts, struct labels *labels, uint64_t mono_ns, uint64_t wall_ns,
    watch_emit *emit, void *arg);
/* The host spoke. was_told: its silence is an open incident. */
void watch_heard(struct host *h, bool was_told, watch_emit *emit, void *arg);
/* Two agents were noticed under the host's uuid; it is over ten minutes after the last time. */
void watch_duplicate(struct host *h, uint64_t mono_ns, watch_emit *emit, void *arg);
/* Marks the label sets in use. */
void watch_mark(const struct watch *w, struct labels *labels);

#endif
