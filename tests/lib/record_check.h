/* What must hold for every record that a parser gives back, whatever the text was. */
#ifndef HIWAT_TESTS_RECORD_CHECK_H
#define HIWAT_TESTS_RECORD_CHECK_H

#include "hiwat.pb-c.h"

/*
 * Writes the record as text, counts its series and sends it through the codec. NULL when all is well, else a static
 * sentence: text cannot be written, a series appears twice (*series then names it, when series is not NULL; it is
 * malloced and owned by the caller), a collector would refuse it. A record of more than CODEC_SERIES_MAX numbers or whose
 * batch exceeds CODEC_BATCH_MAX is not held against the parser.
 */
const char *record_check(const Hiwat__Record *record, char **series);

#endif
