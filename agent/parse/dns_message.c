#include "dns_message.h"

#include <string.h>

#define HEADER 12
#define LABEL_MAX 63
#define NAME_MAX_LEN 255
#define FLAG_ANSWER 0x80            /* QR, of the third byte */
#define FLAG_RECURSION_DESIRED 0x01 /* RD, of the third byte */
#define TYPE_TXT 16
#define CLASS_CHAOS 3
#define RCODE_MASK 0x0f /* of the fourth byte */

/* Header and name; the length, or 0. */
static size_t
write_name(char out[DNS_QUERY_MAX], uint16_t id, const char *name)
{
	size_t at = HEADER;
	struct text rest = text_of(name), label;

	if (rest.n == 0 || rest.n > NAME_MAX_LEN - 2)
		return 0;
	memset(out, 0, HEADER);
	out[0] = (char)(id >> 8);
	out[1] = (char)(id & 0xff);
	out[2] = FLAG_RECURSION_DESIRED;
	out[5] = 1; /* questions */
	for (bool more = true; more;) {
		more = text_until(&rest, '.', &label);
		if (!more)
			label = rest;
		if (label.n == 0 || label.n > LABEL_MAX)
			return 0;
		out[at++] = (char)label.n;
		for (size_t i = 0; i < label.n; i++)
			out[at++] = label.p[i];
	}
	out[at] = '\0';
	return at + 1;
}

size_t
dns_query_write(char out[DNS_QUERY_MAX], uint16_t id, const char *name)
{
	size_t at = write_name(out, id, name);

	if (at == 0)
		return 0;
	memcpy(out + at, "\0\1\0\1", 4); /* A, IN */
	return at + 4;
}

size_t
dns_query_write_chaos(char out[DNS_QUERY_MAX], uint16_t id, const char *name)
{
	/* TXT, CH; then a record of the root's name: OPT, the size in place of the class, no flags, no options. */
	static const char rest[] = "\0\20\0\3"
				   "\0\0\51\20\0\0\0\0\0\0\0";
	size_t at = write_name(out, id, name);

	if (at == 0)
		return 0;
	out[11] = 1; /* additional records */
	memcpy(out + at, rest, sizeof(rest) - 1);
	return at + sizeof(rest) - 1;
}

/* Where a name in the message ends, 0: beyond its end. A pointer ends it. */
static size_t
skip_name(struct text m, size_t at)
{
	while (at < m.n) {
		unsigned char n = (unsigned char)m.p[at];
		if (n == 0)
			return at + 1;
		if (n > LABEL_MAX)
			return at + 2 <= m.n ? at + 2 : 0;
		at += 1 + (size_t)n;
	}
	return 0;
}

static unsigned
number(struct text m, size_t at)
{
	return (unsigned)(unsigned char)m.p[at] << 8 | (unsigned char)m.p[at + 1];
}

_Bool
dns_answer_read(struct text answer, struct text query, unsigned *rcode)
{
	if (answer.n < HEADER || query.n <= HEADER || memcmp(answer.p, query.p, 2) != 0 ||
	    ((unsigned char)answer.p[2] & FLAG_ANSWER) == 0)
		return 0;
	/* Servers that refuse may send the header alone; letter case comes back as it was sent. */
	size_t end = skip_name(query, HEADER) + 4;
	if (number(answer, 4) != 0 &&
	    (end <= HEADER || answer.n < end || query.n < end ||
		memcmp(answer.p + HEADER, query.p + HEADER, end - HEADER) != 0))
		return 0;
	*rcode = (unsigned char)answer.p[3] & RCODE_MASK;
	return 1;
}

_Bool
dns_answer_chaos(struct text answer, struct text query, struct text *strings)
{
	unsigned rcode;

	if (!dns_answer_read(answer, query, &rcode) || rcode != 0 || number(answer, 4) != 1 || number(answer, 6) == 0)
		return 0;
	size_t at = skip_name(answer, skip_name(answer, HEADER) + 4);
	/* Type, class, time to live, length. */
	if (at == 0 || answer.n - at < 10 || number(answer, at) != TYPE_TXT || number(answer, at + 2) != CLASS_CHAOS ||
	    answer.n - at - 10 < number(answer, at + 8))
		return 0;
	*strings = (struct text){ answer.p + at + 10, number(answer, at + 8) };
	return 1;
}

_Bool
dns_string_next(struct text *strings, struct text *string)
{
	if (strings->n == 0 || strings->n - 1 < (size_t)(unsigned char)*strings->p)
		return 0;
	*string = (struct text){ strings->p + 1, (size_t)(unsigned char)*strings->p };
	strings->p += 1 + string->n;
	strings->n -= 1 + string->n;
	return 1;
}
