/*
 * Counters as a kernel keeps them, made whole: 32 bits wide, one per CPU, some of them out of sight while their CPU is off
 * line. A row is a counter by name; its total is 64 bits wide, starts as the sum of what is first read and never steps back
 * as long as the state lives.
 */
#ifndef HIWAT_AGENT_LIVE_H
#define HIWAT_AGENT_LIVE_H

#include <stddef.h>
#include <stdint.h>

#include "scan.h"

struct live;

struct live_row {
	uint64_t total;
	uint64_t grown; /* since the reading before; 0 at the first, all of it for a row that comes later */
	/* For the caller, kept with the row and zero at first. */
	uint64_t shown;
	double pace;
	uint32_t flags;
};

/* NULL when memory is out. */
struct live *live_new(void);
void live_free(struct live *l);
/*
 * Begins a reading: rows are asked for in any order, fastest in that of the reading before. Rows that were not asked for
 * over a whole reading may be forgotten when room is needed.
 */
void live_begin(struct live *l);
/*
 * Takes the n numbers of a row, cpus[i] being the id of the CPU that raw[i] belongs to, and gives the row. It is valid until
 * the next call. A CPU that appears later than the first reading of the row counts from then on. NULL when memory is out or
 * there are more than LIVE_ROWS_MAX rows or LIVE_CPUS_MAX CPUs.
 */
struct live_row *live_add(struct live *l, struct text name, const uint32_t *cpus, const uint64_t *raw, size_t n);
/* The same for a number that is no CPU's. */
struct live_row *live_add_one(struct live *l, struct text name, uint64_t raw);
/*
 * The same for a number that wavers: when it steps back by up to slack the total waits for it, when by more it began anew
 * and goes on from there. No wrap is looked for.
 */
struct live_row *live_add_wavering(struct live *l, struct text name, uint64_t raw, uint64_t slack);
/* A row of this reading, found fastest in the order in which rows were added; NULL when there is none. */
struct live_row *live_find(struct live *l, struct text name);
/* The search begins at the first row again. */
void live_rewind(struct live *l);

#define LIVE_ROWS_MAX 16384
#define LIVE_CPUS_MAX 8192
#define LIVE_NAME_MAX 63 /* longer names are cut: they are all the same row */

/*
 * How much a counter grew: a smaller number is a wrap at 32 bits when that is the shorter way, else the counter began anew.
 */
uint64_t live_growth(uint64_t before, uint64_t now);

#endif
