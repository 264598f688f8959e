/* Numbers as kernels print them. */
#ifndef HIWAT_AGENT_PRINTED_H
#define HIWAT_AGENT_PRINTED_H

#include "scan.h"

/*
 * The whole word as a count. One below zero is a difference of counters that moved meanwhile, and counts as none, printed
 * signed or as 2^63 and more. False for any other word, and for more than 64 bits.
 */
bool printed_count(struct text word, uint64_t *count);

#endif
