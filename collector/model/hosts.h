/*
 * The hosts that speak to this collector: who they are, which batches have arrived, the newest values of each sampler. The
 * state of the rules hangs on each host but is of no interest here. Not thread-safe: the pipeline's lock guards it.
 */
#ifndef HIWAT_COLLECTOR_HOSTS_H
#define HIWAT_COLLECTOR_HOSTS_H

#include <stdbool.h>
#include <stdint.h>

#include "resources.h"
#include "view.h"

#define HOST_ID_LEN 36 /* the uuid as text, without the NUL */
#define STREAM_RANGES_MAX 16
#define HOST_RECENT 16     /* batches that are remembered, to know one that is sent again */
#define TRACK_SETS_MAX 128 /* two for each sampler: its numbers and its status */
#define CLOCK_SLOTS 12     /* of five minutes: the smallest (received - sent) of the last hour */

struct intake_record;
struct rule_state;

/* Which sequences of a host's stream have arrived: all up to contiguous, and some ranges above, in order, with gaps. */
struct stream {
	uint64_t id;
	uint64_t contiguous;
	uint64_t durable; /* what the last snapshot on disk holds */
	unsigned n_ranges;
	struct {
		uint64_t first, last;
	} ranges[STREAM_RANGES_MAX];
};

enum stream_arrival { STREAM_NEW, STREAM_DUPLICATE, STREAM_TOO_MANY_GAPS };

/* Notes that seq arrived, and that the numbers from first up to it were never used (first = seq: none). */
enum stream_arrival stream_receive(struct stream *s, uint64_t first, uint64_t seq);
/* The sender has nothing older than this: gaps below will never be filled. Returns how many batches were lost so. */
uint64_t stream_forget_below(struct stream *s, uint64_t oldest);

enum record_part { RECORD_DATA, RECORD_STATUS };

/* The values of one line of time: the live one, or the backlog's. */
struct track {
	/* Of which skeleton (intake.h) the sets of a sampler are, so that numbers alone can be put into them. */
	struct track_shape {
		uint64_t skeleton; /* 0: none */
		uint16_t sets[2];  /* by enum record_part */
	} * shapes;
	size_t n_shapes;
	struct sample_set *sets; /* with all in them owned */
	size_t n_sets;
	uint8_t boot_id[16];
	uint64_t boot_ns; /* of the newest batch */
	struct rule_state *rules;
};

struct host {
	uint8_t uuid[16];
	char id[HOST_ID_LEN + 1];
	char *name, *os, *release, *agent_version, *machine_id;
	char *identity; /* what the certificate or token named when the uuid was first seen; "" when none did */
	struct sample_label *labels;
	unsigned n_labels;
	uint64_t boot_time;
	struct stream stream;
	struct track live, late;
	struct resources resources; /* of the live track */
	/* What each tick looks at stands together: there are many hosts. */
	uint64_t last_mono_ns;    /* arrival of the last batch, the collector's monotonic clock */
	uint64_t overdue_mono_ns; /* since when a batch is overdue, 0: none is */
	uint32_t next_due_ms;
	bool silent, silent_in_fleet; /* nothing is heard; told as one of many */
	bool duplicate, clock_skewed;
	uint64_t duplicate_mono_ns;   /* when two agents under this uuid were last noticed */
	uint64_t last_wall_ns;        /* arrival of the last batch, Unix time */
	uint8_t previous_boot_id[16]; /* to notice two hosts under one uuid */
	struct {
		uint64_t sequence, wall_ns;
	} recent[HOST_RECENT]; /* by sequence modulo HOST_RECENT */
	double unknown_lines;  /* at the last look, see watch.c */
	unsigned n_drift_rounds;
	uint64_t drift_mono_ns; /* when that last grew, 0: never */
	bool reconcile;         /* its incidents are to be compared with its rules once all samplers spoke after: */
	uint64_t reconcile_boot_ns;
	uint64_t batches, duplicates, lost;
	int64_t clock_min_ns[CLOCK_SLOTS]; /* smallest (received - sent) of each slot */
	uint64_t clock_slot[CLOCK_SLOTS];  /* which five minutes the entry speaks of, 0: none */
	unsigned index;
};

struct hosts;

/* max_hosts: ceiling. */
struct hosts *hosts_new(unsigned max_hosts);
void hosts_free(struct hosts *hosts, void (*free_rules)(struct rule_state *));
unsigned hosts_count(const struct hosts *hosts);
struct host *hosts_at(struct hosts *hosts, unsigned index);
struct host *hosts_find(struct hosts *hosts, const uint8_t uuid[16]);
/* By id or by name; the first with that name. */
struct host *hosts_find_text(struct hosts *hosts, const char *id_or_name);
/* A new host, or NULL at the ceiling or when memory is out. */
struct host *hosts_add(struct hosts *hosts, const uint8_t uuid[16]);

/* Takes name, labels, boot time and so on from the message. HIWAT_E_NOMEM leaves the old ones. */
int host_describe(struct host *h, const Hiwat__Host *m);

/*
 * Puts a record's numbers into the set named sampler, made when new. With verdict other than ok the old values stay.
 * part: which half of the record, its numbers or its sampler's status. HIWAT_E_NOMEM when memory or label sets ran out:
 * the set then lacks what found no room. HIWAT_E_FULL: a sampler more than TRACK_SETS_MAX allows; nothing was put. *index is the set's place in track->sets.
 */
int track_put(struct track *t, struct labels *labels, const Hiwat__Record *record, enum record_part part, uint64_t boot_ns,
    uint64_t wall_ns, size_t *index);
/*
 * The same for both halves of a record of which only the numbers are known: NULL unless the last record of its sampler was
 * of the same skeleton. *shape says where they are; then track_put_values() fills one half.
 */
const struct track_shape *track_find_shape(const struct track *t, const struct intake_record *record);
void track_put_values(struct track *t, const struct track_shape *shape, const struct intake_record *record,
    enum record_part part, uint64_t boot_ns, uint64_t wall_ns);
/*
 * After track_put() of both halves: at which places, SIZE_MAX for a half that was not put, and the record's skeleton, 0 for
 * none or when some series found no room.
 */
void track_note_shape(struct track *t, const size_t sets[2], uint64_t skeleton);
/* Drops all values, not the rules' state. */
void track_clear(struct track *t);
void track_mark(const struct track *t, struct labels *labels);

/*
 * Notes a batch by its number and its time. False when the same number came with another time not long ago: an agent never
 * uses a number twice, so two agents have one state directory.
 */
bool host_note_batch(struct host *h, uint64_t sequence, uint64_t wall_ns);

/* The host as rules and API see it. */
struct host_view host_view_of(const struct host *h, const struct track *t, const struct labels *labels);

/* Clock: note one (received - sent); the smallest of the last hour is the offset. False when nothing is known. */
void host_note_clock(struct host *h, uint64_t received_ns, uint64_t sent_ns);
bool host_clock_offset(const struct host *h, uint64_t now_ns, int64_t *offset_ns);

#endif
