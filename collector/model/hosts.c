#include "hosts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"

#define CLOCK_SLOT_NS (300ull * 1000000000ull)

struct hosts {
	struct host **list;
	unsigned n, capacity, max;
	unsigned *slots; /* open addressing over uuids; index + 1, 0 when empty */
	unsigned n_slots;
};

static uint32_t
hash_uuid(const uint8_t uuid[16])
{
	uint32_t h = 2166136261u;

	for (int i = 0; i < 16; i++)
		h = (h ^ uuid[i]) * 16777619u;
	return h;
}

struct hosts *
hosts_new(unsigned max_hosts)
{
	struct hosts *hosts = calloc(1, sizeof(*hosts));

	if (hosts != NULL)
		hosts->max = max_hosts < (1u << 28) ? max_hosts : 1u << 28;
	return hosts;
}

static void
track_fini(struct track *t, void (*free_rules)(struct rule_state *))
{
	track_clear(t);
	if (t->rules != NULL && free_rules != NULL)
		free_rules(t->rules);
}

void
hosts_free(struct hosts *hosts, void (*free_rules)(struct rule_state *))
{
	if (hosts == NULL)
		return;
	for (unsigned i = 0; i < hosts->n; i++) {
		struct host *h = hosts->list[i];
		track_fini(&h->live, free_rules);
		track_fini(&h->late, free_rules);
		resources_fini(&h->resources);
		free(h->name);
		free(h->os);
		free(h->release);
		free(h->agent_version);
		free(h->machine_id);
		free(h->identity);
		free(h->labels);
		free(h);
	}
	free(hosts->list);
	free(hosts->slots);
	free(hosts);
}

unsigned
hosts_count(const struct hosts *hosts)
{
	return hosts->n;
}

struct host *
hosts_at(struct hosts *hosts, unsigned index)
{
	return hosts->list[index];
}

struct host *
hosts_find(struct hosts *hosts, const uint8_t uuid[16])
{
	if (hosts->n_slots == 0)
		return NULL;
	for (unsigned i = hash_uuid(uuid) & (hosts->n_slots - 1); hosts->slots[i] != 0; i = (i + 1) & (hosts->n_slots - 1)) {
		struct host *h = hosts->list[hosts->slots[i] - 1];
		if (memcmp(h->uuid, uuid, 16) == 0)
			return h;
	}
	return NULL;
}

struct host *
hosts_find_text(struct hosts *hosts, const char *id_or_name)
{
	for (unsigned i = 0; i < hosts->n; i++) {
		struct host *h = hosts->list[i];
		if (strcmp(h->id, id_or_name) == 0 || strcmp(h->name, id_or_name) == 0)
			return h;
	}
	return NULL;
}

static void
place(struct hosts *hosts, unsigned index)
{
	unsigned i = hash_uuid(hosts->list[index]->uuid) & (hosts->n_slots - 1);

	while (hosts->slots[i] != 0)
		i = (i + 1) & (hosts->n_slots - 1);
	hosts->slots[i] = index + 1;
}

static bool
make_room(struct hosts *hosts)
{
	if (hosts->n < hosts->capacity)
		return true;
	unsigned capacity = hosts->capacity == 0 ? 64 : hosts->capacity * 2;
	struct host **list = realloc(hosts->list, capacity * sizeof(struct host *));
	if (list == NULL)
		return false;
	hosts->list = list;
	unsigned *slots = calloc((size_t)capacity * 2, sizeof(*slots));
	if (slots == NULL)
		return false;
	free(hosts->slots);
	hosts->slots = slots;
	hosts->n_slots = capacity * 2;
	hosts->capacity = capacity;
	for (unsigned i = 0; i < hosts->n; i++)
		place(hosts, i);
	return true;
}

struct host *
hosts_add(struct hosts *hosts, const uint8_t uuid[16])
{
	if (hosts->n == hosts->max || !make_room(hosts))
		return NULL;
	struct host *h = calloc(1, sizeof(*h));
	if (h == NULL)
		return NULL;
	memcpy(h->uuid, uuid, 16);
	snprintf(h->id, sizeof(h->id), "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", uuid[0],
	    uuid[1], uuid[2], uuid[3], uuid[4], uuid[5], uuid[6], uuid[7], uuid[8], uuid[9], uuid[10], uuid[11], uuid[12],
	    uuid[13], uuid[14], uuid[15]);
	h->name = strdup(h->id);
	h->os = strdup("");
	h->release = strdup("");
	h->agent_version = strdup("");
	h->machine_id = strdup("");
	h->identity = strdup("");
	h->index = hosts->n;
	if (h->name == NULL || h->os == NULL || h->release == NULL || h->agent_version == NULL || h->machine_id == NULL ||
	    h->identity == NULL) {
		free(h->name);
		free(h->os);
		free(h->release);
		free(h->agent_version);
		free(h->machine_id);
		free(h->identity);
		free(h);
		return NULL;
	}
	hosts->list[hosts->n++] = h;
	place(hosts, h->index);
	return h;
}

/* Replaces *field by value unless it is the same or absent. */
static int
set_text(char **field, const char *value)
{
	if (value == NULL || strcmp(*field, value) == 0)
		return HIWAT_OK;
	char *copy = strdup(value);
	if (copy == NULL)
		return HIWAT_E_NOMEM;
	free(*field);
	*field = copy;
	return HIWAT_OK;
}

static bool
same_host_labels(const struct host *h, const Hiwat__Host *m)
{
	if (h->n_labels != m->n_labels)
		return false;
	for (unsigned i = 0; i < h->n_labels; i++) {
		if (strcmp(h->labels[i].name, m->labels[i]->name) != 0 ||
		    strcmp(h->labels[i].value, m->labels[i]->value) != 0)
			return false;
	}
	return true;
}

/* Labels and their strings in one allocation. */
static int
set_labels(struct host *h, const Hiwat__Host *m)
{
	size_t size = (m->n_labels + 1) * sizeof(h->labels[0]);

	if (same_host_labels(h, m))
		return HIWAT_OK;
	for (size_t i = 0; i < m->n_labels; i++)
		size += strlen(m->labels[i]->name) + strlen(m->labels[i]->value) + 2;
	struct sample_label *labels = malloc(size);
	if (labels == NULL)
		return HIWAT_E_NOMEM;
	char *at = (char *)(labels + m->n_labels + 1);
	for (size_t i = 0; i < m->n_labels; i++) {
		size_t len = strlen(m->labels[i]->name) + 1;
		labels[i].name = memcpy(at, m->labels[i]->name, len);
		at += len;
		len = strlen(m->labels[i]->value) + 1;
		labels[i].value = memcpy(at, m->labels[i]->value, len);
		at += len;
	}
	free(h->labels);
	h->labels = labels;
	h->n_labels = (unsigned)m->n_labels;
	return HIWAT_OK;
}

int
host_describe(struct host *h, const Hiwat__Host *m)
{
	int err = set_labels(h, m);

	if (err == HIWAT_OK)
		err = set_text(&h->name, m->name);
	if (err == HIWAT_OK)
		err = set_text(&h->os, m->os);
	if (err == HIWAT_OK)
		err = set_text(&h->release, m->release);
	if (err == HIWAT_OK)
		err = set_text(&h->agent_version, m->agent_version);
	if (err == HIWAT_OK)
		err = set_text(&h->machine_id, m->machine_id);
	if (m->has_boot_time)
		h->boot_time = m->boot_time;
	return err;
}

bool
host_note_batch(struct host *h, uint64_t sequence, uint64_t wall_ns)
{
	size_t i = sequence % HOST_RECENT;

	if (h->recent[i].sequence == sequence && h->recent[i].wall_ns != wall_ns)
		return false;
	h->recent[i].sequence = sequence;
	h->recent[i].wall_ns = wall_ns;
	return true;
}

struct host_view
host_view_of(const struct host *h, const struct track *t, const struct labels *labels)
{
	return (struct host_view){
		.labels = labels,
		.name = h->name,
		.os = h->os,
		.release = h->release,
		.host_labels = h->labels,
		.n_host_labels = h->n_labels,
		.boot_time = h->boot_time,
		.n_sets = t->n_sets,
		.sets = t->sets,
	};
}

void
host_note_clock(struct host *h, uint64_t received_ns, uint64_t sent_ns)
{
	uint64_t slot = received_ns / CLOCK_SLOT_NS;
	unsigned i = (unsigned)(slot % CLOCK_SLOTS);
	int64_t difference = (int64_t)(received_ns - sent_ns);

	if (h->clock_slot[i] != slot || difference < h->clock_min_ns[i]) {
		h->clock_slot[i] = slot;
		h->clock_min_ns[i] = difference;
	}
}

bool
host_clock_offset(const struct host *h, uint64_t now_ns, int64_t *offset_ns)
{
	uint64_t slot = now_ns / CLOCK_SLOT_NS;
	bool known = false;

	for (unsigned i = 0; i < CLOCK_SLOTS; i++) {
		if (h->clock_slot[i] == 0 || h->clock_slot[i] + CLOCK_SLOTS <= slot)
			continue;
		if (!known || h->clock_min_ns[i] < *offset_ns)
			*offset_ns = h->clock_min_ns[i];
		known = true;
	}
	return known;
}
