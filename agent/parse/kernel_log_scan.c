/* Small scanners that the kernel log's drivers share. */
#include "kernel_log_state.h"

#include <string.h>

bool
kl_name(struct text *t, char separator, struct text *name)
{
	size_t n = 0;

	while (n < t->n && t->p[n] != separator) {
		char c = t->p[n];
		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
			c == '.' || c == '/'))
			return false;
		n++;
	}
	if (n == 0 || n >= t->n || n > 64)
		return false;
	*name = (struct text){ t->p, n };
	t->p += n + 1;
	t->n -= n + 1;
	return true;
}

struct text
kl_driver_of(struct text name)
{
	while (name.n > 0 && name.p[name.n - 1] >= '0' && name.p[name.n - 1] <= '9')
		name.n--;
	return name;
}

bool
kl_contains(struct text t, const char *needle)
{
	return memmem(t.p, t.n, needle, strlen(needle)) != NULL;
}

bool
kl_after(struct text *t, const char *needle)
{
	size_t n = strlen(needle);
	const char *hit = memmem(t->p, t->n, needle, n);

	if (hit == NULL)
		return false;
	t->n -= (size_t)(hit - t->p) + n;
	t->p = hit + n;
	return true;
}

bool
kl_skip_case(struct text *t, const char *prefix)
{
	size_t n = strlen(prefix);

	if (t->n < n)
		return false;
	for (size_t i = 0; i < n; i++) {
		char a = t->p[i], b = prefix[i];
		if (a >= 'A' && a <= 'Z')
			a = (char)(a - 'A' + 'a');
		if (b >= 'A' && b <= 'Z')
			b = (char)(b - 'A' + 'a');
		if (a != b)
			return false;
	}
	t->p += n;
	t->n -= n;
	return true;
}

char
kl_class(struct text operation)
{
	if (kl_skip_case(&operation, "read"))
		return 'r';
	if (kl_skip_case(&operation, "write"))
		return 'w';
	if (kl_skip_case(&operation, "flush") || kl_skip_case(&operation, "synchronize"))
		return 'f';
	return 0;
}

static int
hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

unsigned
kl_hex_bytes(struct text t, uint8_t *bytes, unsigned max)
{
	const char *p = t.p, *end = t.p + t.n;
	unsigned n = 0;

	while (n < max) {
		while (p < end && *p == ' ')
			p++;
		int high = p < end ? hex_digit(*p++) : -1, low = p < end ? hex_digit(*p) : -1;
		if (high < 0)
			break;
		if (low >= 0)
			p++;
		if (p < end && *p != ' ' && *p != '\r')
			break; /* a longer word, which is no byte */
		bytes[n++] = (uint8_t)(low >= 0 ? high << 4 | low : high);
	}
	return n;
}

bool
kl_cdb_lba(const uint8_t *cdb, unsigned n, uint64_t *lba)
{
	unsigned first, bytes;

	if (n < 6)
		return false;
	switch (cdb[0]) {
	case 0x08:
	case 0x0a: /* READ(6), WRITE(6) */
		*lba = (uint64_t)(cdb[1] & 0x1f) << 16 | (uint64_t)cdb[2] << 8 | cdb[3];
		return true;
	case 0x28:
	case 0x2a:
	case 0x2e:
	case 0x2f:
	case 0x35:
	case 0x41:
	case 0xa8:
	case 0xaa:
		first = 2, bytes = 4;
		break;
	case 0x88:
	case 0x8a:
	case 0x8e:
	case 0x8f:
	case 0x91:
	case 0x93:
		first = 2, bytes = 8;
		break;
	default:
		return false;
	}
	if (first + bytes > n)
		return false;
	*lba = 0;
	for (unsigned i = 0; i < bytes; i++)
		*lba = *lba << 8 | cdb[first + i];
	return true;
}
