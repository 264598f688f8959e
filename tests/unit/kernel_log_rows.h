/* Kernel logs as rows of a text and what it must count, in the short notation of kernel_log_told(). */
#ifndef HIWAT_TESTS_KERNEL_LOG_ROWS_H
#define HIWAT_TESTS_KERNEL_LOG_ROWS_H

#include "hiwat.pb-c.h"

struct kernel_log_row {
	const char *name, *text;
	const char *told; /* NULL: refused, as no kernel's log */
};

/*
 * All counts of a record, each ended by ";": T device operation n (timeouts), F device n (failures), R device n (resets),
 * S device age (stuck), I irq device n (storms), L resource n (limits), A kind n (answers held back), Q n (listen queue).
 * Drivers are not told. Static storage, good until the next call.
 */
const char *kernel_log_told(const Hiwat__Record *record);

/* Parses the row's text as a saved log and compares. */
void kernel_log_row_check(const struct kernel_log_row *row);

#endif
