#ifndef HIWAT_BASE_UTF8_H
#define HIWAT_BASE_UTF8_H

#include <stddef.h>

/*
 * Length of the UTF-8 sequence (RFC 3629) at s, which ends in NUL; 0 when there is none: overlong forms, surrogates, code
 * points above U+10FFFF and stray bytes are none. A NUL is a sequence of one.
 */
size_t utf8_sequence(const unsigned char *s);

#endif
