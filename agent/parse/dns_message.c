#include "dns_message.h"

#include <string.h>

#define HEADER 12
#define LABEL_MAX 63
#define NAME_MAX_LEN 255
#define FLAG_ANSWER 0x80            /* QR, of the third byte */
#define FLAG_RECURSION_DESIRED 0x01 /* RD, of the third byte */
#define RCODE_MASK 0x0f             /* of the fourth byte */

size_t
dns_query_write(char out[DNS_QUERY_MAX], uint16_t id, const char *name)
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
	memcpy(out + at, "\0\0\1\0\1", 5); /* the root, A, IN */
	return at + 5;
}

_Bool
dns_answer_read(struct text answer, struct text query, unsigned *rcode)
{
	if (answer.n < HEADER || query.n <= HEADER || memcmp(answer.p, query.p, 2) != 0 ||
	    ((unsigned char)answer.p[2] & FLAG_ANSWER) == 0)
		return 0;
	/* Servers that refuse may send the header alone; letter case comes back as it was sent. */
	bool has_question = answer.p[4] != 0 || answer.p[5] != 0;
	if (has_question &&
	    (answer.n < query.n || memcmp(answer.p + HEADER, query.p + HEADER, query.n - HEADER) != 0))
		return 0;
	*rcode = (unsigned char)answer.p[3] & RCODE_MASK;
	return 1;
}
