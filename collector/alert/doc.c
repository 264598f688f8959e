#include "doc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "incident.h"
#include "utf8.h"

static json_t *
text(const char *s)
{
	json_t *json = json_string(s);
	if (json != NULL)
		return json;
	char *clean = strdup(s);
	if (clean == NULL)
		return NULL;
	for (char *p = clean; *p != '\0';) {
		size_t len = utf8_sequence((const unsigned char *)p);

		if (len == 0)
			*p = '?';
		p += len == 0 ? 1 : len;
	}
	json = json_string(clean);
	free(clean);
	return json;
}

int
doc_put_text(json_t *o, const char *name, const char *s)
{
	return json_object_set_new(o, name, text(s));
}

int
doc_put_time(json_t *o, const char *name, uint64_t ns)
{
	char stamp[40], unix_name[40];
	struct tm tm;
	time_t seconds = (time_t)(ns / NSEC_PER_SEC);

	if (ns == 0 || gmtime_r(&seconds, &tm) == NULL)
		return 0;
	size_t len = strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(stamp + len, sizeof(stamp) - len, ".%03uZ", (unsigned)(ns % NSEC_PER_SEC / NSEC_PER_MSEC));
	snprintf(unix_name, sizeof(unix_name), "%s_unix", name);
	return json_object_set_new(o, name, json_string(stamp)) |
	    json_object_set_new(o, unix_name, json_integer((json_int_t)seconds));
}

int
doc_put_uuid(json_t *o, const char *name, const uint8_t u[16])
{
	char uuid[37];

	snprintf(uuid, sizeof(uuid), "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1],
	    u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
	return doc_put_text(o, name, uuid);
}

bool
doc_parse_uuid(const char *s, uint8_t uuid[16])
{
	char hex[33];
	size_t n = 0;

	if (s == NULL)
		return false;
	for (; *s != '\0'; s++) {
		if (*s == '-')
			continue;
		if (n == 32)
			return false;
		hex[n++] = *s;
	}
	hex[n] = '\0';
	return incident_key_parse(hex, uuid);
}

bool
doc_parse_time(const char *s, uint64_t *ns)
{
	struct tm tm = { 0 };
	const char *end = strptime(s, "%Y-%m-%dT%H:%M:%S", &tm);

	if (end != NULL && *end == '.')
		end += 1 + strspn(end + 1, "0123456789");
	if (end == NULL || strcmp(end, "Z") != 0)
		return false;
	time_t seconds = timegm(&tm);
	if (seconds <= 0 || (uint64_t)seconds > UINT64_MAX / NSEC_PER_SEC)
		return false;
	*ns = (uint64_t)seconds * NSEC_PER_SEC;
	return true;
}
