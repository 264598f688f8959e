#include "crc32c.h"

#include <string.h>

/* The polynomial 0x82f63b78 (reflected) over four bits: small enough to stay in the cache of a program that rarely asks. */
static const uint32_t table[16] = {
	0x00000000,
	0x105ec76f,
	0x20bd8ede,
	0x30e349b1,
	0x417b1dbc,
	0x5125dad3,
	0x61c69362,
	0x7198540d,
	0x82f63b78,
	0x92a8fc17,
	0xa24bb5a6,
	0xb21572c9,
	0xc38d26c4,
	0xd3d3e1ab,
	0xe330a81a,
	0xf36e6f75,
};

uint32_t
crc32c_portable(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;

	crc = ~crc;
	for (; len > 0; len--, p++) {
		crc ^= *p;
		crc = crc >> 4 ^ table[crc & 15];
		crc = crc >> 4 ^ table[crc & 15];
	}
	return ~crc;
}

#if defined(__x86_64__)
#include <nmmintrin.h>

__attribute__((target("sse4.2,crc32"))) static uint32_t
crc32c_sse42(uint32_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;
	uint64_t wide = ~crc, word;

	for (; len >= sizeof(word); len -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		wide = _mm_crc32_u64(wide, word);
	}
	crc = (uint32_t)wide;
	for (; len > 0; len--, p++)
		crc = _mm_crc32_u8(crc, *p);
	return ~crc;
}

uint32_t
crc32c(uint32_t crc, const void *data, size_t len)
{
	return __builtin_cpu_supports("sse4.2") ? crc32c_sse42(crc, data, len) : crc32c_portable(crc, data, len);
}
#else
uint32_t
crc32c(uint32_t crc, const void *data, size_t len)
{
	return crc32c_portable(crc, data, len);
}
#endif
