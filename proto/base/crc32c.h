#ifndef HIWAT_BASE_CRC32C_H
#define HIWAT_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/*
 * CRC-32C (Castagnoli; RFC 3720 appendix B.4). crc: 0, or the value of what came before, so that parts can be summed.
 * Uses the processor's instruction where there is one.
 */
uint32_t crc32c(uint32_t crc, const void *data, size_t len);
/* The same by table alone. For tests. */
uint32_t crc32c_portable(uint32_t crc, const void *data, size_t len);

#endif
