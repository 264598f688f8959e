#include "ethtool_link.h"

#include "err.h"

enum { AT_AUTONEG = 11, AT_WORDS = 15 };

/*
 * enum ethtool_link_mode_bit_indices, by ranges of the same speed. Bits between them are no speeds (ports, pauses, error
 * correction). A mode that is newer than this table only makes the maximum smaller than it is.
 */
static const struct {
	uint16_t first, last;
	uint32_t mbits;
} modes[] = {
	{ 0, 1, 10 },
	{ 2, 3, 100 },
	{ 4, 5, 1000 },
	{ 12, 12, 10000 },
	{ 15, 15, 2500 },
	{ 17, 17, 1000 },
	{ 18, 20, 10000 },
	{ 21, 22, 20000 },
	{ 23, 26, 40000 },
	{ 27, 30, 56000 },
	{ 31, 33, 25000 },
	{ 34, 35, 50000 },
	{ 36, 39, 100000 },
	{ 40, 40, 50000 },
	{ 41, 41, 1000 },
	{ 42, 46, 10000 },
	{ 47, 47, 2500 },
	{ 48, 48, 5000 },
	{ 52, 56, 50000 },
	{ 57, 61, 100000 },
	{ 62, 66, 200000 },
	{ 67, 67, 100 },
	{ 68, 68, 1000 },
	{ 69, 73, 400000 },
	{ 75, 79, 100000 },
	{ 80, 84, 200000 },
	{ 85, 89, 400000 },
	{ 90, 91, 100 },
	{ 92, 92, 10 },
	{ 93, 98, 800000 },
	{ 99, 102, 10 },
	{ 103, 108, 200000 },
	{ 109, 114, 400000 },
};

static bool
has_bit(const char *bitmap, size_t n_words, unsigned bit)
{
	uint32_t word;

	if (bit / 32 >= n_words)
		return false;
	memcpy(&word, bitmap + (size_t)bit / 32 * sizeof(word), sizeof(word));
	return (word >> bit % 32 & 1) != 0;
}

int
ethtool_link_parse(struct text answer, struct ethtool_link *out)
{
	struct ethtool_link link = { 0 };

	if (answer.n < ETHTOOL_LINK_HEAD)
		return HIWAT_E_TRUNCATED;
	signed char n_words = (signed char)answer.p[AT_WORDS];
	if (n_words <= 0)
		return HIWAT_E_FORMAT;
	if (answer.n < ETHTOOL_LINK_HEAD + (size_t)n_words * 3 * sizeof(uint32_t))
		return HIWAT_E_TRUNCATED;
	const char *supported = answer.p + ETHTOOL_LINK_HEAD;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		for (unsigned bit = modes[i].first; bit <= modes[i].last; bit++) {
			if (has_bit(supported, (size_t)n_words, bit) && modes[i].mbits > link.max_speed_mbits)
				link.max_speed_mbits = modes[i].mbits;
		}
	}
	link.has_autonegotiation = link.max_speed_mbits > 0 && (unsigned char)answer.p[AT_AUTONEG] <= 1;
	link.is_autonegotiating = link.has_autonegotiation && answer.p[AT_AUTONEG] == 1;
	*out = link;
	return HIWAT_OK;
}
