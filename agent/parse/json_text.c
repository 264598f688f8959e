#include "json_text.h"

#include <string.h>

static bool
has_member(const json_t *object, const char *const *members)
{
	for (; *members != NULL; members++) {
		if (json_object_get(object, *members) != NULL)
			return true;
	}
	return false;
}

json_t *
json_text_last(struct text text, const char *const *members, bool *found)
{
	json_t *last = NULL;
	bool at_start = true; /* of a line, blanks aside */
	unsigned failures = 0;

	*found = false;
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		if (c != '{' || !at_start) {
			at_start = c == '\n' || (at_start && (c == ' ' || c == '\t' || c == '\r'));
			continue;
		}
		json_error_t error;
		json_t *object = json_loadb(text.p + i, text.n - i, JSON_DISABLE_EOF_CHECK, &error);
		at_start = false;
		if (object == NULL) {
			/* Each brace inside a broken object would be tried: a text of them would take its square in time. */
			*found = true;
			if (++failures == 16)
				break;
			continue;
		}
		if (json_is_object(object) && has_member(object, members)) {
			json_decref(last);
			last = object;
		} else {
			json_decref(object);
		}
		if (error.position > 0)
			i += (size_t)error.position - 1;
	}
	return last;
}

bool
json_text_u64(const json_t *value, uint64_t *number)
{
	if (json_is_integer(value) && json_integer_value(value) >= 0) {
		*number = (uint64_t)json_integer_value(value);
		return true;
	}
	if (json_is_string(value))
		return text_is_u64(text_of(json_string_value(value)), number);
	if (!json_is_real(value))
		return false;
	double d = json_real_value(value);
	if (!(d >= 0 && d < 18446744073709551616.0) || d != (double)(uint64_t)d)
		return false;
	*number = (uint64_t)d;
	return true;
}

bool
json_text_has(struct text text, const char *quoted_member)
{
	const char *brace = text.n > 0 ? memchr(text.p, '{', text.n < 1024 ? text.n : 1024) : NULL;

	if (brace == NULL)
		return false;
	struct text object = { brace, text.n - (size_t)(brace - text.p) };
	if (object.n > 8192)
		object.n = 8192;
	return text_find(object, quoted_member) > 0;
}
