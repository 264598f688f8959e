/*
 * Silences: for a time, what they match is not told. It is judged, shown and stored as ever; the end of what was told before
 * is told; what still holds afterwards is told then. A silence with hours is in force within them only, week after week:
 * a maintenance window.
 *
 *   { "id", "match": ["role=mail", ...], "hours": ["sun 02:00-04:00"], "host_uuid", "by", "comment",
 *     "created", "begins", "ends": RFC 3339 in UTC, with _unix seconds beside them,
 *     "status": "active" | "pending" | "ended" }          pending: not begun, or not within its hours
 */
#ifndef HIWAT_COLLECTOR_SILENCES_H
#define HIWAT_COLLECTOR_SILENCES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct hours;
struct incident;
struct match;
struct zone;

#define SILENCES_MAX 256 /* that have not ended */
#define SILENCE_ID_LEN 16
#define SILENCE_TEXT_MAX 1024 /* bytes of by and of comment */

struct silence {
	char id[SILENCE_ID_LEN + 1];
	bool has_host; /* for one host alone, whatever its name */
	uint8_t host_uuid[16];
	char *by, *comment;
	json_t *match_texts, *hours_texts; /* arrays of strings */
	struct match *match;
	struct hours *hours;                     /* NULL: all the time */
	uint64_t created_ns, begins_ns, ends_ns; /* Unix time */
};

/*
 * From a request or the store; a request has no id, created or status. match must not be empty unless there is a
 * host_uuid, ends must lie after begins (now_ns by default) and after now; the store's may have ended. HIWAT_E_REJECTED
 * with a sentence in why, HIWAT_E_NOMEM. *silence is owned: silence_free().
 */
int silence_from_json(const json_t *o, const struct zone *zone, uint64_t now_ns, bool from_store, struct silence **silence,
    struct buf *why);
/* The caller's new reference; NULL when memory is out. */
json_t *silence_to_json(const struct silence *s, uint64_t now_ns);
void silence_free(struct silence *s);
/* Whether it is in force at this time. */
bool silence_is_active(const struct silence *s, uint64_t wall_ns);
/* Whether it is for this incident, at whatever time. */
bool silence_fits(const struct silence *s, const struct incident *i);

#endif
