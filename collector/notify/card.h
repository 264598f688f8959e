/* The incident's document (incident_json.h) as text for people: what explain and the sinks for people share. */
#ifndef HIWAT_COLLECTOR_CARD_H
#define HIWAT_COLLECTOR_CARD_H

#include <jansson.h>
#include <stddef.h>

struct buf;
struct route;

/* A member of an object: "" or NaN when it is absent or of another type. Texts come from strangers: card_put(). */
const char *card_text(const json_t *o, const char *name);
double card_number(const json_t *o, const char *name);

/*
 * Appends s, valid UTF-8, with a blank for each control character and '?' for what turns the direction of the text around
 * it. max: characters, not bytes, that are written at most, at least 1; what is longer ends in an ellipsis.
 */
void card_put(struct buf *out, const char *s, size_t max);
/* Characters of valid UTF-8. */
size_t card_characters(const char *s);

/* Appends the address of an incident below the route's public_url; nothing when there is none. */
void card_put_link(struct buf *out, const struct route *route, const char *key);
/* Appends "full in 3h at the present trend"; nothing when nothing fills up. */
void card_put_time_left(struct buf *out, const json_t *line);

/* text is clean as card_put() makes it, and short: it belongs to a terminal or a mail as it is. */
typedef void card_row(void *arg, const char *name, const char *text);
/* What is known of one of the lines, in the order of reading: what, series, value, time left, cleared, more, why, ... */
void card_line(const json_t *line, card_row *row, void *arg);

#endif
