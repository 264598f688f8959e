/* Holds the two decoders against each other, for tests and fuzzing. */
#ifndef HIWAT_TESTS_INTAKE_CHECK_H
#define HIWAT_TESTS_INTAKE_CHECK_H

#include <stddef.h>
#include <stdint.h>

struct intake;

/*
 * What intake_decode() makes of these bytes is what batch_decode() does: accepted or refused, the same envelope, the same
 * numbers in the same order; records of one skeleton have the same series. NULL, or what differs. *n_known: records that were
 * not unpacked; may be NULL.
 */
const char *intake_differs(struct intake *in, const uint8_t *data, size_t len, unsigned *n_known);
/* Forgets the series that skeletons stood for. */
void intake_check_reset(void);

#endif
