/* Times that sysctl prints: since when the system runs and what its CPUs did. */
#ifndef HIWAT_AGENT_SYSCTL_TIME_H
#define HIWAT_AGENT_SYSCTL_TIME_H

#include "parse.h"

/*
 * kern.boottime as Unix time: "{ sec = 1700000000, usec = 5 } Tue Nov 14 ...", "1700000000" or a date as of ctime(3), which is
 * local time, tz_seconds east of UTC.
 */
bool sysctl_boot_time(struct text value, int tz_seconds, double *seconds);

/*
 * out->interrupt->{cpu,cores} from kern.cp_time and kern.cp_times: five numbers for a CPU, OpenBSD 6.4 and later six, in
 * ticks of stathz as in kern.clockrate; without that in->hz. facts: as of enum sysctl_fact. 0 or HIWAT_E_NOMEM.
 */
int sysctl_write_cpu_times(const struct text *facts, const struct parse_input *in, struct arena *arena, Hiwat__Record *out);

/*
 * The numbers of a list, at most max, between blanks and commas. Other words, as in NetBSD's "user = 5", are skipped, or make
 * the list none: 0.
 */
size_t sysctl_numbers(struct text value, bool only_numbers, double *numbers, size_t max);

#endif
