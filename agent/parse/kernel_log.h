/*
 * What a kernel log tells of disks, limits, interrupt storms and listen queues, as counts. One timed-out command counts
 * once, however many lines, retries and drivers tell of it. The same state serves a saved log, fed whole, and a live one,
 * fed as lines arrive and kept over restarts with save and load.
 *
 * A line is taken in any form in which kernel lines are kept: bare, with a dmesg stamp, from syslog (BSD, RFC 5424, ISO),
 * journalctl -k, or a raw /dev/kmsg record with its continuation lines. The text decides. Lines of other programs are
 * skipped. Lines of the kernel that nothing here knows are normal, nearly all lines of a log are such, so that they are
 * no "unknown lines".
 *
 * Memory is fixed: see the table sizes in kernel_log_state.h and what happens when one is full.
 */
#ifndef HIWAT_AGENT_KERNEL_LOG_H
#define HIWAT_AGENT_KERNEL_LOG_H

#include <stdint.h>

#include "parse.h"

struct arena;
struct buf;
struct kernel_log;

#define KERNEL_LOG_NO_TIME INT64_MIN
#define KERNEL_LOG_SAVE_MAX (256u * 1024) /* bytes of a saved state at most */

/* Empty state on the heap; NULL when memory is out. */
struct kernel_log *kernel_log_new(void);
void kernel_log_free(struct kernel_log *kl);

/*
 * Takes whole lines, each ended by a newline or the end of the text; one read(2) of /dev/kmsg is such a text. time_s is
 * when they were written, in seconds of any clock that never steps back; KERNEL_LOG_NO_TIME takes it from the stamps of
 * the lines, where they have any (/dev/kmsg: seconds since boot). Never fails: what cannot be read is skipped.
 * Records of /dev/kmsg with a sequence below kernel_log_position() are skipped, so that a log may be read again from its
 * start after a restart.
 */
void kernel_log_feed(struct kernel_log *kl, struct text lines, int64_t time_s);

/* The /dev/kmsg sequence that comes after the last one fed; 0 before the first. Part of what is saved. */
uint64_t kernel_log_position(const struct kernel_log *kl);
void kernel_log_set_position(struct kernel_log *kl, uint64_t sequence);

/* How a record is made of the state. */
enum kernel_log_use {
	KERNEL_LOG_LIVE, /* more lines will come: what waits for a line that completes it is counted when it is a minute old */
	KERNEL_LOG_SAVED /* the text is complete: all is counted now, and the listen overflows are given as well */
};

/*
 * Adds the counts so far to the record: storage.disks, interrupt.storms, net.limit_reports, net.response_limits, net.listen.
 * Numbers that are 0 stay absent. now_s is on the clock of the lines; KERNEL_LOG_NO_TIME: the time of the last line.
 * A stuck command's age is gone 120 s after its last line. HIWAT_E_NOMEM when the arena is at its ceiling.
 */
int kernel_log_emit(struct kernel_log *kl, enum kernel_log_use use, int64_t now_s, struct arena *arena, Hiwat__Record *out);

/* Appends the whole state, at most KERNEL_LOG_SAVE_MAX bytes. HIWAT_E_NOMEM when the buffer is at its ceiling. */
int kernel_log_save(const struct kernel_log *kl, struct buf *out);
/*
 * Replaces the state by a saved one. HIWAT_E_VERSION: made by a build with another format. HIWAT_E_CORRUPT: damaged. The
 * state is untouched on failure.
 */
int kernel_log_load(struct kernel_log *kl, const void *data, size_t len);

/* The kinds kernel-log, dmesg and journalctl-k: a saved log. A last line without newline may be cut and is not counted. */
parse_fn kernel_log_parse;
int kernel_log_recognise(struct text text);

#endif
