/* Reading recordings: a window over the file, in which frames are found without a system call each. */
#include "recording.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bytes.h"
#include "crc32c.h"
#include "err.h"
#include "recording_impl.h"

#define WINDOW_BYTES (2 * FRAME_LENGTH_MAX) /* any frame fits */

const struct frame_file recording_file = { { 'h', 'i', 'w', 'a', 't', 'r', 'e', 'c' }, 1 };

struct recording {
	int fd;
	uint64_t begin_ns;
	uint8_t *window;
	size_t at, len;  /* in the window */
	uint64_t offset; /* of the window in the file */
	bool at_end;     /* the window reaches the end of the file */
	uint64_t end, ordinal;
	struct recording_damage damage;
};

int
recording_open(const char *path, struct recording **out)
{
	struct recording *r = calloc(1, sizeof(*r));
	uint8_t header[FRAME_FILE_HEADER_BYTES];

	if (r == NULL)
		return HIWAT_E_NOMEM;
	r->window = malloc(WINDOW_BYTES);
	r->fd = r->window == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	int err = r->window == NULL ? HIWAT_E_NOMEM : r->fd < 0 ? HIWAT_E_SYS : read_at(r->fd, header, sizeof(header), 0);
	if (err == HIWAT_E_TRUNCATED)
		err = HIWAT_E_CORRUPT;
	if (err == HIWAT_OK)
		err = frame_file_decode(&recording_file, header, &r->begin_ns);
	if (err != HIWAT_OK) {
		int saved = errno;
		recording_close(r);
		errno = saved;
		return err;
	}
	r->offset = r->end = sizeof(header);
	*out = r;
	return HIWAT_OK;
}

void
recording_close(struct recording *r)
{
	if (r == NULL)
		return;
	if (r->fd >= 0)
		close(r->fd);
	free(r->window);
	free(r);
}

uint64_t
recording_begin_ns(const struct recording *r)
{
	return r->begin_ns;
}

void
recording_place(const struct recording *r, uint64_t *end, uint64_t *ordinal)
{
	*end = r->end;
	*ordinal = r->ordinal;
}

void
recording_damage(const struct recording *r, struct recording_damage *out)
{
	*out = r->damage;
}

/* Moves the window so that it begins where reading stands, and fills it. */
static int
fill(struct recording *r)
{
	memmove(r->window, r->window + r->at, r->len - r->at);
	r->offset += r->at;
	r->len -= r->at;
	r->at = 0;
	while (!r->at_end && r->len < WINDOW_BYTES) {
		ssize_t n = pread(r->fd, r->window + r->len, WINDOW_BYTES - r->len, (off_t)(r->offset + r->len));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return HIWAT_E_SYS;
		r->len += (size_t)n;
		r->at_end = n == 0;
	}
	return HIWAT_OK;
}

/* Whether so many bytes stand in the window. */
static bool
has(struct recording *r, size_t bytes, int *err)
{
	if (r->len - r->at < bytes && !r->at_end)
		*err = fill(r);
	return *err == HIWAT_OK && r->len - r->at >= bytes;
}

/* Passes over what is no frame, up to the next place that might be one. */
static int
skip_to_magic(struct recording *r)
{
	int err = HIWAT_OK;

	do {
		const uint8_t *from = r->window + r->at + 1;
		const uint8_t *hit = frame_search(from, r->len - r->at - 1);
		size_t passed = hit != NULL ? (size_t)(hit - from) + 1 : r->len - r->at;
		/* A magic may begin in the last bytes. */
		if (hit == NULL && !r->at_end)
			passed = passed > 4 ? passed - 4 : 0;
		r->at += passed;
		r->damage.bytes += passed;
		if (hit != NULL || r->at_end)
			return HIWAT_OK;
		err = fill(r);
	} while (err == HIWAT_OK);
	return err;
}

static bool
take_entry(struct recording *r, const struct frame_header *h, const uint8_t *content, struct recording_entry *entry)
{
	*entry = (struct recording_entry){ .type = h->length > 0 ? content[0] : 0, .wall_ns = h->stamp };
	switch (entry->type) {
	case RECORDING_BATCH:
		if (h->length < RECORDING_PREFIX_MAX)
			break;
		entry->sent_wall_ns = get_le64(content + 1);
		entry->oldest = get_le64(content + 9);
		entry->data = content + RECORDING_PREFIX_MAX;
		entry->len = h->length - RECORDING_PREFIX_MAX;
		return true;
	case RECORDING_TICK:
	case RECORDING_BEGIN:
		return true;
	}
	r->damage.others++;
	return false;
}

int
recording_next(struct recording *r, struct recording_entry *entry, bool *gap)
{
	struct frame_header h;
	int err = HIWAT_OK;

	*gap = false;
	for (;;) {
		if (!has(r, FRAME_HEADER_BYTES, &err))
			break;
		if (!frame_header_decode(r->window + r->at, &h)) {
			*gap = true;
			err = skip_to_magic(r);
			if (err != HIWAT_OK)
				return err;
			continue;
		}
		if (!has(r, FRAME_HEADER_BYTES + (size_t)h.length, &err))
			break;
		const uint8_t *content = r->window + r->at + FRAME_HEADER_BYTES;
		bool intact = crc32c(0, content, h.length) == h.crc;
		/* A file whose tail was lost and that went on counts anew from there. */
		if (h.ordinal > r->ordinal + 1) {
			*gap = true;
			r->damage.lost += h.ordinal - r->ordinal - 1;
		}
		r->ordinal = h.ordinal;
		r->at += FRAME_HEADER_BYTES + h.length;
		if (!intact) {
			*gap = true;
			r->damage.lost++;
			r->damage.bytes += FRAME_HEADER_BYTES + h.length;
			continue;
		}
		r->end = r->offset + r->at;
		if (take_entry(r, &h, content, entry))
			return HIWAT_OK;
	}
	if (err != HIWAT_OK)
		return err;
	r->damage.torn += r->len - r->at;
	r->at = r->len;
	return HIWAT_E_NODATA;
}
