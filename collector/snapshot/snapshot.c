#include "snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arena.h"
#include "buf.h"
#include "codec.h"
#include "err.h"
#include "record.h"
#include "snapshot.pb-c.h"

#define MAGIC "hiwat-snapshot 1\n"
#define MAGIC_LEN (sizeof(MAGIC) - 1)
#define HASH_LEN 32
#define HOST_MAX (64u << 20) /* bytes of one host's state */

struct snapshot_writer {
	char *path, *path_new;
	FILE *file;
	gnutls_hash_hd_t hash;
	struct arena arena;
	struct buf packed, rules;
};

static bool
put(struct snapshot_writer *w, const void *data, size_t len)
{
	return gnutls_hash(w->hash, data, len) == 0 && fwrite(data, 1, len, w->file) == len;
}

static char *
path_with(const char *path, const char *suffix)
{
	size_t n = strlen(path), m = strlen(suffix);
	char *s = malloc(n + m + 1);

	if (s != NULL) {
		memcpy(s, path, n);
		memcpy(s + n, suffix, m + 1);
	}
	return s;
}

void
snapshot_abandon(struct snapshot_writer *w)
{
	if (w == NULL)
		return;
	int kept = errno;
	if (w->file != NULL)
		fclose(w->file);
	if (w->path_new != NULL)
		unlink(w->path_new);
	if (w->hash != NULL)
		gnutls_hash_deinit(w->hash, NULL);
	arena_fini(&w->arena);
	buf_fini(&w->packed);
	buf_fini(&w->rules);
	free(w->path);
	free(w->path_new);
	free(w);
	errno = kept;
}

int
snapshot_begin(const char *path, struct snapshot_writer **writer)
{
	int err = HIWAT_E_NOMEM;
	struct snapshot_writer *w = calloc(1, sizeof(*w));

	if (w == NULL)
		return err;
	arena_init(&w->arena, 2 * HOST_MAX);
	buf_init(&w->packed, HOST_MAX);
	buf_init(&w->rules, HOST_MAX);
	w->path = path_with(path, "");
	w->path_new = path_with(path, ".new");
	if (w->path == NULL || w->path_new == NULL || gnutls_hash_init(&w->hash, GNUTLS_DIG_SHA256) < 0)
		goto fail;
	err = HIWAT_E_SYS;
	int fd = open(w->path_new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		goto fail;
	w->file = fdopen(fd, "w");
	if (w->file == NULL) {
		close(fd);
		goto fail;
	}
	if (!put(w, MAGIC, MAGIC_LEN))
		goto fail;
	*writer = w;
	return HIWAT_OK;
fail:
	snapshot_abandon(w);
	return err;
}

static ProtobufCBinaryData
bytes_of(const void *data, size_t len)
{
	return (ProtobufCBinaryData){ len, (uint8_t *)(uintptr_t)data };
}

/* protobuf-c wants char * where it only reads. */
static char *
borrowed(const char *s)
{
	return (char *)(uintptr_t)s;
}

static int
save_series(struct arena *a, const struct series_value *v, const struct labels *labels, Snapshot__SetState *set)
{
	unsigned n;
	const struct sample_label *l = labels_get(labels, v->labels, &n);
	Snapshot__SeriesState *s = record_add(a, &set->n_series, (void *)&set->series, &snapshot__series_state__descriptor);

	if (s == NULL)
		return HIWAT_E_NOMEM;
	s->metric = borrowed(catalogue_metrics[v->metric].name);
	RECORD_SET(s, value, v->value);
	for (unsigned i = 0; i < n; i++) {
		Hiwat__Label *label = record_add(a, &s->n_labels, (void *)&s->labels, &hiwat__label__descriptor);
		if (label == NULL)
			return HIWAT_E_NOMEM;
		label->name = borrowed(l[i].name);
		label->value = borrowed(l[i].value);
	}
	return HIWAT_OK;
}

static int
save_track(struct snapshot_writer *w, const struct track *t, const struct rule_set *rules, const struct labels *labels,
    Snapshot__TrackState **out)
{
	Snapshot__TrackState *track = record_one(&w->arena, (void *)out, &snapshot__track_state__descriptor);

	if (track == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(track, boot_id, bytes_of(t->boot_id, 16));
	RECORD_SET(track, boot_ns, t->boot_ns);
	for (size_t i = 0; i < t->n_sets; i++) {
		const struct sample_set *from = &t->sets[i];
		Snapshot__SetState *set =
		    record_add(&w->arena, &track->n_sets, (void *)&track->sets, &snapshot__set_state__descriptor);
		if (set == NULL)
			return HIWAT_E_NOMEM;
		set->sampler = borrowed(from->sampler);
		set->reason = borrowed(from->reason);
		RECORD_SET(set, verdict, (uint32_t)from->verdict);
		RECORD_SET(set, boot_ns, from->boot_ns);
		RECORD_SET(set, wall_ns, from->wall_ns);
		RECORD_SET(set, good_boot_ns, from->good_boot_ns);
		for (uint32_t v = 0; v < from->n_values; v++) {
			struct series_value value = sample_value(from, v);
			if (save_series(&w->arena, &value, labels, set) != HIWAT_OK)
				return HIWAT_E_NOMEM;
		}
	}
	if (t->rules == NULL)
		return HIWAT_OK;
	buf_reset(&w->rules);
	int err = rule_state_save(rules, t->rules, labels, &w->rules);
	if (err != HIWAT_OK)
		return err;
	void *copy = arena_alloc(&w->arena, w->rules.len);
	if (copy == NULL)
		return HIWAT_E_NOMEM;
	if (w->rules.len > 0)
		memcpy(copy, w->rules.data, w->rules.len);
	RECORD_SET(track, rules, bytes_of(copy, w->rules.len));
	return HIWAT_OK;
}

static int
save_host(struct snapshot_writer *w, const struct host *h, Snapshot__HostState *s)
{
	struct arena *a = &w->arena;
	Hiwat__Host *m = record_one(a, (void *)&s->host, &hiwat__host__descriptor);

	if (m == NULL)
		return HIWAT_E_NOMEM;
	m->name = borrowed(h->name);
	m->os = borrowed(h->os);
	m->release = borrowed(h->release);
	m->agent_version = borrowed(h->agent_version);
	m->machine_id = borrowed(h->machine_id);
	RECORD_SET(m, boot_time, h->boot_time);
	for (unsigned i = 0; i < h->n_labels; i++) {
		Hiwat__Label *label = record_add(a, &m->n_labels, (void *)&m->labels, &hiwat__label__descriptor);
		if (label == NULL)
			return HIWAT_E_NOMEM;
		label->name = borrowed(h->labels[i].name);
		label->value = borrowed(h->labels[i].value);
	}
	RECORD_SET(s, uuid, bytes_of(h->uuid, 16));
	s->identity = borrowed(h->identity);
	RECORD_SET(s, stream, h->stream.id);
	RECORD_SET(s, contiguous, h->stream.contiguous);
	s->n_ranges = (size_t)h->stream.n_ranges * 2;
	s->ranges = arena_calloc(a, s->n_ranges + 1, sizeof(uint64_t));
	if (s->ranges == NULL)
		return HIWAT_E_NOMEM;
	for (unsigned i = 0; i < h->stream.n_ranges; i++) {
		s->ranges[2 * i] = h->stream.ranges[i].first;
		s->ranges[2 * i + 1] = h->stream.ranges[i].last;
	}
	RECORD_SET(s, last_wall_ns, h->last_wall_ns);
	RECORD_SET(s, next_due_ms, h->next_due_ms);
	RECORD_SET(s, silent, h->silent);
	RECORD_SET(s, batches, h->batches);
	RECORD_SET(s, duplicates, h->duplicates);
	RECORD_SET(s, lost, h->lost);
	RECORD_SET(s, previous_boot_id, bytes_of(h->previous_boot_id, 16));
	return HIWAT_OK;
}

int
snapshot_host(struct snapshot_writer *w, const struct host *h, const struct rule_set *rules, const struct labels *labels)
{
	Snapshot__HostState s = SNAPSHOT__HOST_STATE__INIT;

	arena_reset(&w->arena);
	buf_reset(&w->packed);
	int err = save_host(w, h, &s);
	if (err == HIWAT_OK)
		err = save_track(w, &h->live, rules, labels, &s.live);
	if (err == HIWAT_OK && h->late.rules != NULL)
		err = save_track(w, &h->late, rules, labels, &s.late);
	if (err != HIWAT_OK)
		return err;
	size_t size = snapshot__host_state__get_packed_size(&s);
	char *room = size <= UINT32_MAX ? buf_reserve(&w->packed, size) : NULL;
	if (room == NULL)
		return HIWAT_E_NOMEM;
	snapshot__host_state__pack(&s, (uint8_t *)room);
	uint8_t length[4] = { (uint8_t)size, (uint8_t)(size >> 8), (uint8_t)(size >> 16), (uint8_t)(size >> 24) };
	return put(w, length, sizeof(length)) && put(w, room, size) ? HIWAT_OK : HIWAT_E_SYS;
}

/* The rename is on disk only when the directory is. */
static int
sync_directory(const char *path)
{
	char *dir = path_with(path, "");
	int err = HIWAT_E_SYS;

	if (dir == NULL)
		return HIWAT_E_NOMEM;
	char *slash = strrchr(dir, '/');
	if (slash != NULL)
		*(slash == dir ? slash + 1 : slash) = '\0';
	int fd = open(slash != NULL ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && fsync(fd) == 0)
		err = HIWAT_OK;
	if (fd >= 0)
		close(fd);
	free(dir);
	return err;
}

int
snapshot_finish(struct snapshot_writer *w)
{
	uint8_t digest[HASH_LEN];
	int err = HIWAT_E_SYS;

	gnutls_hash_output(w->hash, digest);
	if (fwrite(digest, 1, HASH_LEN, w->file) == HASH_LEN && fflush(w->file) == 0 && fsync(fileno(w->file)) == 0 &&
	    rename(w->path_new, w->path) == 0) {
		free(w->path_new);
		w->path_new = NULL;
		err = sync_directory(w->path);
	}
	snapshot_abandon(w);
	return err;
}

struct loader {
	struct hosts *hosts;
	const struct rule_set *rules;
	struct labels *labels;
};

static int
load_set(struct loader *l, struct track *t, struct arena *a, const Snapshot__SetState *from)
{
	/* The values take the same way as a record's: an empty record makes the set, then its numbers are put in place. */
	Hiwat__Record record = HIWAT__RECORD__INIT;
	Hiwat__Sampler status = HIWAT__SAMPLER__INIT;
	Hiwat__SamplerVerdict verdict = HIWAT__SAMPLER_VERDICT__INIT;
	size_t index;

	verdict.verdict = borrowed("ok");
	status.sampler = from->sampler;
	status.verdict = &verdict;
	RECORD_SET(&status, reason, bytes_of(from->reason, strlen(from->reason)));
	record.status = &status;
	int err = track_put(t, l->labels, &record, RECORD_DATA, from->boot_ns, from->wall_ns, &index);
	if (err != HIWAT_OK)
		return err;
	struct series_value *values = arena_calloc(a, from->n_series + 1, sizeof(*values));
	if (values == NULL)
		return HIWAT_E_NOMEM;
	uint32_t n = 0;
	for (size_t i = 0; i < from->n_series; i++) {
		const Snapshot__SeriesState *s = from->series[i];
		struct sample_label *labels = arena_calloc(a, s->n_labels + 1, sizeof(*labels));
		int metric = s->metric != NULL ? catalogue_find(s->metric, strlen(s->metric)) : -1;
		if (labels == NULL || metric < 0)
			continue;
		unsigned n_labels = 0;
		for (size_t j = 0; j < s->n_labels; j++) {
			if (s->labels[j]->name != NULL && s->labels[j]->value != NULL)
				labels[n_labels++] = (struct sample_label){ s->labels[j]->name, s->labels[j]->value };
		}
		uint32_t set = labels_intern(l->labels, labels, n_labels);
		if (set != LABELS_FULL)
			values[n++] = (struct series_value){ .labels = set, .metric = (uint16_t)metric, .value = s->value };
	}
	err = sample_set_put(&t->sets[index], l->labels, values, n);
	t->sets[index].good_boot_ns = from->good_boot_ns;
	t->sets[index].verdict = from->verdict <= VERDICT_FAILED ? (enum verdict)from->verdict : VERDICT_FAILED;
	return err;
}

static int
load_track(struct loader *l, struct arena *a, const Snapshot__TrackState *from, struct track *t)
{
	if (from == NULL)
		return HIWAT_OK;
	if (from->has_boot_id && from->boot_id.len == 16)
		memcpy(t->boot_id, from->boot_id.data, 16);
	t->boot_ns = from->boot_ns;
	for (size_t i = 0; i < from->n_sets; i++) {
		if (from->sets[i]->sampler == NULL || from->sets[i]->reason == NULL)
			return HIWAT_E_CORRUPT;
		int err = load_set(l, t, a, from->sets[i]);
		if (err != HIWAT_OK)
			return err;
	}
	t->rules = rule_state_new();
	if (t->rules == NULL)
		return HIWAT_E_NOMEM;
	/* A state that cannot be read is an empty one: the rules begin anew. */
	if (from->has_rules)
		rule_state_load(l->rules, t->rules, l->labels, from->rules.data, from->rules.len);
	return HIWAT_OK;
}

static int
load_host(struct loader *l, struct arena *a, const Snapshot__HostState *s)
{
	if (!s->has_uuid || s->uuid.len != 16 || s->host == NULL || s->identity == NULL || s->n_ranges % 2 != 0 ||
	    s->n_ranges / 2 > STREAM_RANGES_MAX)
		return HIWAT_E_CORRUPT;
	for (size_t i = 0; i < s->host->n_labels; i++) {
		if (s->host->labels[i]->name == NULL || s->host->labels[i]->value == NULL)
			return HIWAT_E_CORRUPT;
	}
	struct host *h = hosts_add(l->hosts, s->uuid.data);
	if (h == NULL)
		return HIWAT_E_NOMEM;
	char *identity = strdup(s->identity);
	if (identity == NULL)
		return HIWAT_E_NOMEM;
	free(h->identity);
	h->identity = identity;
	h->stream.id = s->stream;
	h->stream.contiguous = h->stream.durable = s->contiguous;
	h->stream.n_ranges = (unsigned)(s->n_ranges / 2);
	for (unsigned i = 0; i < h->stream.n_ranges; i++) {
		h->stream.ranges[i].first = s->ranges[2 * i];
		h->stream.ranges[i].last = s->ranges[2 * i + 1];
	}
	h->last_wall_ns = s->last_wall_ns;
	h->next_due_ms = s->next_due_ms;
	h->silent = s->silent;
	h->batches = s->batches;
	h->duplicates = s->duplicates;
	h->lost = s->lost;
	if (s->has_previous_boot_id && s->previous_boot_id.len == 16)
		memcpy(h->previous_boot_id, s->previous_boot_id.data, 16);
	int err = host_describe(h, s->host);
	if (err == HIWAT_OK)
		err = load_track(l, a, s->live, &h->live);
	if (err == HIWAT_OK)
		err = load_track(l, a, s->late, &h->late);
	return err;
}

static int
load_hosts(struct loader *l, FILE *f, uint64_t left)
{
	struct arena a;
	uint8_t *data = NULL, length[4];
	size_t capacity = 0;
	int err = HIWAT_OK;

	arena_init(&a, (size_t)8 * HOST_MAX);
	while (err == HIWAT_OK && left > 0) {
		ProtobufCAllocator allocator = codec_allocator(&a);
		if (left < 4 || fread(length, 1, 4, f) != 4) {
			err = HIWAT_E_CORRUPT;
			break;
		}
		size_t size = (size_t)length[0] | (size_t)length[1] << 8 | (size_t)length[2] << 16 | (size_t)length[3] << 24;
		left -= 4;
		if (size > left || size > HOST_MAX) {
			err = HIWAT_E_CORRUPT;
			break;
		}
		if (size > capacity) {
			uint8_t *bigger = realloc(data, size);
			if (bigger == NULL) {
				err = HIWAT_E_NOMEM;
				break;
			}
			data = bigger;
			capacity = size;
		}
		if (fread(data, 1, size, f) != size) {
			err = HIWAT_E_CORRUPT;
			break;
		}
		left -= size;
		arena_reset(&a);
		Snapshot__HostState *s = snapshot__host_state__unpack(&allocator, size, data);
		err = s != NULL ? load_host(l, &a, s) : HIWAT_E_CORRUPT;
	}
	free(data);
	arena_fini(&a);
	return err;
}

/* True when the last bytes of the file are the digest of all before; *content is their number, less magic and digest. */
static bool
verify(FILE *f, uint64_t *content)
{
	uint8_t block[65536], digest[HASH_LEN], stored[HASH_LEN];
	gnutls_hash_hd_t hash;
	long size;

	if (fseek(f, 0, SEEK_END) != 0 || (size = ftell(f)) < (long)(MAGIC_LEN + HASH_LEN))
		return false;
	rewind(f);
	if (gnutls_hash_init(&hash, GNUTLS_DIG_SHA256) < 0)
		return false;
	uint64_t left = (uint64_t)size - HASH_LEN;
	bool ok = true;
	for (bool first = true; left > 0 && ok; first = false) {
		size_t n = left < sizeof(block) ? (size_t)left : sizeof(block);
		ok = fread(block, 1, n, f) == n && gnutls_hash(hash, block, n) == 0;
		if (ok && first)
			ok = memcmp(block, MAGIC, MAGIC_LEN) == 0;
		left -= n;
	}
	gnutls_hash_deinit(hash, digest);
	ok = ok && fread(stored, 1, HASH_LEN, f) == HASH_LEN && memcmp(stored, digest, HASH_LEN) == 0;
	*content = (uint64_t)size - HASH_LEN - MAGIC_LEN;
	return ok && fseek(f, (long)MAGIC_LEN, SEEK_SET) == 0;
}

int
snapshot_load(const char *path, struct hosts *hosts, const struct rule_set *rules, struct labels *labels)
{
	struct loader l = { hosts, rules, labels };
	uint64_t content;
	FILE *f = fopen(path, "re");

	if (f == NULL)
		return errno == ENOENT ? HIWAT_E_NODATA : HIWAT_E_SYS;
	int err = verify(f, &content) ? load_hosts(&l, f, content) : HIWAT_E_CORRUPT;
	fclose(f);
	if (err == HIWAT_E_CORRUPT) {
		char *aside = path_with(path, ".damaged");
		if (aside == NULL || rename(path, aside) != 0)
			err = HIWAT_E_SYS;
		free(aside);
	}
	return err;
}
