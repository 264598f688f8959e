#include "proc_sockets.h"

#include <string.h>

#include "err.h"

#define WORD_DIGITS ((size_t)8)

/* 8 or 32 digits of address, a colon, 4 digits of port. */
static bool
read_local(struct text local, struct local_socket *s)
{
	struct text address, port = local;
	uint64_t number;

	if (!text_until(&port, ':', &address) || (address.n != WORD_DIGITS && address.n != 4 * WORD_DIGITS))
		return false;
	*s = (struct local_socket){ .is_six = address.n > WORD_DIGITS };
	for (size_t i = 0; i < address.n / WORD_DIGITS; i++) {
		struct text word = { address.p + i * WORD_DIGITS, WORD_DIGITS };
		if (text_hex(&word, &number) != HIWAT_OK || word.n != 0)
			return false;
		uint32_t value = (uint32_t)number;
		memcpy(s->address + i * sizeof(value), &value, sizeof(value));
	}
	if (text_hex(&port, &number) != HIWAT_OK || port.n != 0 || number > UINT16_MAX)
		return false;
	s->port = (uint16_t)number;
	return true;
}

bool
proc_sockets_next(struct text *rest, struct local_socket *socket)
{
	struct text line, slot, local;
	struct local_socket s;

	while (text_line(rest, &line, NULL)) {
		if (text_word(&line, &slot) && text_ends(slot, ":") && text_word(&line, &local) && read_local(local, &s)) {
			*socket = s;
			return true;
		}
	}
	return false;
}
