/* A hash of meanings that is the same in every process, for state kept over restarts. Not for tables that strangers fill. */
#ifndef HIWAT_COLLECTOR_HASH_H
#define HIWAT_COLLECTOR_HASH_H

#include <stdint.h>

#define HASH_SEED 0x9e3779b97f4a7c15ULL

static inline uint64_t
hash_u64(uint64_t h, uint64_t v)
{
	/* The finalizer of SplitMix64 over the sum. */
	h = (h ^ v) + HASH_SEED;
	h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9ULL;
	h = (h ^ h >> 27) * 0x94d049bb133111ebULL;
	return h ^ h >> 31;
}

static inline uint64_t
hash_string(uint64_t h, const char *s)
{
	uint64_t word = 0;
	unsigned n = 0;

	for (; *s != '\0'; s++) {
		word = word << 8 | (unsigned char)*s;
		if (++n % 8 == 0) {
			h = hash_u64(h, word);
			word = 0;
		}
	}
	return hash_u64(hash_u64(h, word), n);
}

#endif
