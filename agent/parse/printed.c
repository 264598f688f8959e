#include "printed.h"

bool
printed_count(struct text word, uint64_t *count)
{
	bool negative = text_skip(&word, "-");
	uint64_t v;

	if (!text_is_u64(word, &v))
		return false;
	*count = negative || v > INT64_MAX ? 0 : v;
	return true;
}
