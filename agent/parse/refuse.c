#include "refuse.h"

#include "err.h"

int
refuse(struct text text, const char *command, struct parse_reason *why)
{
	if (text_trim(text).n == 0)
		return parse_fail(why, HIWAT_E_NODATA, "the text is empty");
	if (parse_looks_binary(text))
		return parse_fail(why, HIWAT_E_NODATA, "the text is binary, not output of %s", command);
	if (text.n > RECOGNISE_MAX)
		text.n = RECOGNISE_MAX;
	if (text_find(text, "ermission denied") >= 0 || text_find(text, "peration not permitted") >= 0)
		return parse_fail(why, HIWAT_E_DENIED, "%s was not permitted", command);
	return parse_fail(why, HIWAT_E_NODATA, "nothing in the text is output of %s", command);
}
