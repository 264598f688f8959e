#include "err.h"

#include <stddef.h>

const char *
err_text(int err)
{
	static const char *const texts[] = { "ok",
#define X(name, text) text,
		HIWAT_ERR_MAP(X)
#undef X
	};
	if (err > 0 || err <= -(int)(sizeof(texts) / sizeof(texts[0])))
		return "unknown error";
	return texts[-err];
}
