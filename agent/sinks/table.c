#include "sink.h"

#include <string.h>

extern const struct sink sink_https;

const struct sink *const sinks[] = { &sink_https, NULL };

const struct sink *
sink_find(const char *url)
{
	for (const struct sink *const *s = sinks; *s != NULL; s++) {
		for (const char *const *scheme = (*s)->schemes; *scheme != NULL; scheme++) {
			if (strncmp(url, *scheme, strlen(*scheme)) == 0)
				return *s;
		}
	}
	return NULL;
}
