/* The tables of the kernel log's reader that count: devices, commands, limits, kinds. */
#include "kernel_log_state.h"

#include <string.h>

uint64_t
kl_hash(struct text t)
{
	uint64_t h = 0xcbf29ce484222325;

	for (size_t i = 0; i < t.n; i++)
		h = (h ^ (unsigned char)t.p[i]) * 0x100000001b3;
	return h;
}

uint64_t
kl_mix(uint64_t a, uint64_t b)
{
	uint64_t x = (a ^ (b + 0x9e3779b97f4a7c15 + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccd;

	return x ^ x >> 33;
}

void
kl_copy(char *to, size_t size, struct text from)
{
	from = text_trim(from);
	if (from.n > size - 1)
		from = text_trim((struct text){ from.p, size - 1 });
	for (size_t i = 0; i < from.n; i++)
		to[i] = from.p[i] >= ' ' && from.p[i] <= '~' ? from.p[i] : '?';
	memset(to + from.n, 0, size - from.n);
}

/* What a full table counts new names under. */
static const struct text other = { "other", 5 };

static struct kl_device *
device(struct kernel_log *k, struct text name)
{
	struct kl_device *d = k->devices;
	char kept[KL_NAME];

	kl_copy(kept, sizeof(kept), name);
	while (d < k->devices + k->n_devices && memcmp(d->name, kept, sizeof(kept)) != 0)
		d++;
	if (d < k->devices + k->n_devices)
		return d;
	if (k->n_devices < KL_DEVICES)
		k->n_devices++;
	else if (!text_same(name, other))
		return device(k, other);
	if (d->name[0] == '\0') {
		memcpy(d->name, kept, sizeof(kept));
		d->credit_time = KERNEL_LOG_NO_TIME;
	}
	return d;
}

static struct kl_device *
device_with_driver(struct kernel_log *k, struct text name, struct text driver)
{
	struct kl_device *d = device(k, name);

	if (driver.n > 0 && d != &k->devices[KL_DEVICES])
		kl_copy(d->driver, sizeof(d->driver), driver);
	return d;
}

/* The row of an operation on a device, made where there is room. */
static struct kl_operation *
operation(struct kernel_log *k, uint32_t device_index, struct text name)
{
	char kept[KL_TEXT];

	kl_copy(kept, sizeof(kept), name);
	for (uint32_t i = 0; i < k->n_operations; i++) {
		struct kl_operation *o = &k->operations[i];
		if (o->device == device_index && memcmp(o->name, kept, sizeof(kept)) == 0)
			return o;
	}
	if (k->n_operations == KL_OPERATIONS)
		return NULL;
	struct kl_operation *o = &k->operations[k->n_operations++];
	o->device = device_index;
	memcpy(o->name, kept, sizeof(kept));
	return o;
}

static void
count_timeout(struct kernel_log *k, const struct kl_told *told)
{
	uint32_t d = (uint32_t)(device_with_driver(k, told->device, told->driver) - k->devices);

	struct kl_operation *o = operation(k, d, told->operation);
	if (o == NULL)
		o = operation(k, (uint32_t)(device(k, other) - k->devices), other);
	if (o == NULL) { /* the first to find no room, not even for this pair */
		o = &k->operations[KL_OPERATIONS];
		o->device = (uint32_t)(device(k, other) - k->devices);
		kl_copy(o->name, sizeof(o->name), other);
	}
	o->timeouts += k->times;
}

/* Whether something heard of at this time may still be going on. A clock that went back by more is another boot's. */
static bool
is_recent(const struct kernel_log *k, int64_t time, int gap_s)
{
	if (time == KERNEL_LOG_NO_TIME || k->time == KERNEL_LOG_NO_TIME)
		return true;
	return k->time >= time ? k->time - time <= gap_s : time - k->time <= KL_BACK_S;
}

uint64_t
kl_place(char class, uint64_t lba)
{
	return kl_mix((unsigned char)class, lba) | 1;
}

uint64_t
kl_key(const struct kl_told *told)
{
	uint64_t key = kl_hash(told->device);

	if (!told->any_operation)
		key = kl_mix(key, kl_hash(told->operation));
	return kl_mix(kl_mix(key, told->id), told->has_lba ? told->lba : 0) | 1;
}

static uint8_t
tag_of(uint64_t hash)
{
	return (uint8_t)(hash >> 56) | 1;
}

int
kl_find(const struct kernel_log *k, uint64_t key, int gap_s)
{
	const uint8_t *tags = k->command_tags, *at = tags, *end = tags + KL_COMMANDS;

	while (at < end && (at = memchr(at, tag_of(key), (size_t)(end - at))) != NULL) {
		int i = (int)(at++ - tags);
		if (k->command_keys[i] == key && is_recent(k, k->commands[i].time, gap_s))
			return i;
	}
	return -1;
}

int
kl_find_newest(const struct kernel_log *k, struct text device_name, struct text operation)
{
	uint32_t d = (uint32_t)kl_hash(device_name), o = (uint32_t)kl_hash(operation);
	int best = -1;

	for (int i = 0; i < KL_COMMANDS; i++) {
		const struct kl_command *c = &k->commands[i];
		if (k->command_keys[i] == 0 || c->device != d || (operation.n > 0 && c->operation != o) ||
		    !is_recent(k, c->time, KL_RETRY_GAP_S))
			continue;
		if (best < 0 || c->line > k->commands[best].line)
			best = i;
	}
	return best;
}

/* A command at this place that a driver of another device told of. */
static int
find_place(const struct kernel_log *k, uint64_t place, uint32_t device_hash)
{
	const uint8_t *tags = k->place_tags, *at = tags, *end = tags + KL_COMMANDS;

	while (at < end && (at = memchr(at, tag_of(place), (size_t)(end - at))) != NULL) {
		int i = (int)(at++ - tags);
		const struct kl_command *c = &k->commands[i];
		if (c->place == place && c->device != device_hash && is_recent(k, c->time, KL_RETRY_GAP_S))
			return i;
	}
	return -1;
}

/* An open command of the device whose LBA begins with these digits. */
static int
find_prefix(const struct kernel_log *k, const struct kl_told *told)
{
	uint32_t d = (uint32_t)kl_hash(told->device), o = (uint32_t)kl_hash(told->operation);

	for (int i = 0; i < KL_COMMANDS; i++) {
		const struct kl_command *c = &k->commands[i];
		uint64_t number = c->number;
		if (k->command_keys[i] == 0 || c->device != d || c->operation != o || !c->has_number)
			continue;
		while (number > told->lba)
			number /= 10;
		if (number == told->lba)
			return i;
	}
	return -1;
}

uint64_t
kl_timeout(struct kernel_log *k, const struct kl_told *told)
{
	int gap_s = told->gap_s != 0 ? told->gap_s : KL_RETRY_GAP_S;
	uint64_t key = kl_key(told), place = told->has_lba ? kl_place(told->class, told->lba) : 0;
	uint32_t device_hash = (uint32_t)kl_hash(told->device);
	int slot = kl_find(k, key, gap_s), retries = told->retries;

	if (slot >= 0) {
		const struct kl_command *c = &k->commands[slot];
		bool is_new = (retries >= 0 && c->retries >= 0 && retries >= c->retries) || told->phase < c->phase;
		if (is_new)
			count_timeout(k, told);
		else if (retries < 0)
			retries = c->retries;
	} else {
		if (told->is_prefix)
			slot = find_prefix(k, told);
		else if (told->cross && place != 0)
			slot = find_place(k, place, device_hash);
		if (slot >= 0) {
			k->commands[slot].line = k->line;
			k->commands[slot].time = k->time;
			return k->command_keys[slot];
		}
		count_timeout(k, told);
		slot = (int)k->next_command;
		k->next_command = (k->next_command + 1) % KL_COMMANDS;
		k->command_keys[slot] = key;
		k->command_tags[slot] = tag_of(key);
	}
	k->place_tags[slot] = told->cross && place != 0 ? tag_of(place) : 0;
	k->commands[slot] = (struct kl_command){
		.place = place,
		.number = told->lba,
		.line = k->line,
		.time = k->time,
		.device = device_hash,
		.operation = (uint32_t)kl_hash(told->operation),
		.retries = retries,
		.has_number = told->has_lba,
		.cross = told->cross,
		.phase = told->phase,
	};
	return key;
}

void
kl_retries(struct kernel_log *k, uint64_t key, int retries, const struct kl_told *told)
{
	int slot = kl_find(k, key, KL_RETRY_GAP_S);

	if (slot < 0)
		return;
	struct kl_command *c = &k->commands[slot];
	if (told != NULL && c->retries >= 0 && retries >= c->retries)
		count_timeout(k, told);
	c->retries = retries;
}

void
kl_close_slot(struct kernel_log *k, int slot)
{
	if (slot < 0)
		return;
	k->command_keys[slot] = 0;
	k->command_tags[slot] = k->place_tags[slot] = 0;
}

void
kl_close(struct kernel_log *k, uint64_t key)
{
	kl_close_slot(k, kl_find(k, key, KL_RETRY_GAP_S));
}

bool
kl_is_at(const struct kl_command *c, uint64_t sector)
{
	return c->has_number && (c->number == sector || (sector % 8 == 0 && c->number == sector / 8));
}

void
kl_close_place(struct kernel_log *k, uint64_t lba)
{
	for (int i = 0; i < KL_COMMANDS; i++) {
		if (k->command_keys[i] != 0 && k->commands[i].cross && kl_is_at(&k->commands[i], lba))
			kl_close_slot(k, i);
	}
}

void
kl_failure(struct kernel_log *k, struct text name, struct text driver)
{
	struct kl_device *d = device_with_driver(k, name, driver);

	d->failures += k->times;
	if (!is_recent(k, d->credit_time, KL_SETTLE_S))
		d->credits = 0;
	d->credits += k->times;
	d->credit_time = k->time;
}

void
kl_failure_above(struct kernel_log *k, struct text name)
{
	struct kl_device *d = device(k, name);

	if (!is_recent(k, d->credit_time, KL_SETTLE_S))
		d->credits = 0;
	uint64_t known = d->credits < k->times ? d->credits : k->times;
	d->credits -= known;
	d->failures += k->times - known;
}

void
kl_reset(struct kernel_log *k, struct text name, struct text driver)
{
	device_with_driver(k, name, driver)->resets += k->times;
}

/* Whether a command behind a known pointer is another: younger, or begun after the last word on the one before. */
static bool
is_another(const struct kernel_log *k, const struct kl_stuck *s, uint64_t age)
{
	if (age < s->age)
		return true;
	if (k->times > 1 || k->time == KERNEL_LOG_NO_TIME || s->time == KERNEL_LOG_NO_TIME)
		return false;
	int64_t passed = k->time - s->time;
	return passed < -KL_BACK_S || (passed > KL_STUCK_SLACK_S && (uint64_t)(passed - KL_STUCK_SLACK_S) > age);
}

void
kl_stuck(struct kernel_log *k, struct text name, struct text driver, uint64_t id, uint64_t age)
{
	struct kl_stuck *s = NULL, *oldest = &k->stuck[0];
	char kept[KL_NAME];

	kl_copy(kept, sizeof(kept), name);
	for (int i = 0; i < KL_STUCK; i++) {
		struct kl_stuck *at = &k->stuck[i];
		if (at->id == id && memcmp(at->device, kept, sizeof(kept)) == 0)
			s = at;
		if (at->line < oldest->line) /* a free one has 0 */
			oldest = at;
	}
	if (s == NULL || is_another(k, s, age))
		count_timeout(k, &(struct kl_told){ .device = name, .driver = driver });
	else if (driver.n > 0)
		device_with_driver(k, name, driver);
	if (s == NULL) {
		s = oldest;
		s->id = id;
		memcpy(s->device, kept, sizeof(kept));
	}
	s->age = age;
	s->line = k->line;
	s->time = k->time;
}

static const char *const limit_names[KL_LIMITS] = {
	[KL_LIMIT_MBUF] = "mbuf",
	[KL_LIMIT_CLUSTER] = "cluster",
	[KL_LIMIT_JUMBO_PAGE] = "jumbo_page",
	[KL_LIMIT_JUMBO_9K] = "jumbo_9k",
	[KL_LIMIT_JUMBO_16K] = "jumbo_16k",
	[KL_LIMIT_PF_STATES] = "pf_states",
	[KL_LIMIT_PF_SOURCE_NODES] = "pf_source_nodes",
	[KL_LIMIT_PF_FRAGMENTS] = "pf_fragments",
	[KL_LIMIT_CONNTRACK] = "conntrack",
	[KL_LIMIT_TCP_MEMORY] = "tcp_memory",
	[KL_LIMIT_ORPHANS] = "orphans",
	[KL_LIMIT_TIME_WAIT] = "time_wait",
	[KL_LIMIT_FILES] = "files",
	[KL_LIMIT_PROCESSES] = "processes",
	[KL_LIMIT_SOCKETS] = "sockets",
};

const char *
kl_limit_name(enum kl_limit which)
{
	return limit_names[which];
}

void
kl_limit(struct kernel_log *k, enum kl_limit which)
{
	k->limits[which] += k->times;
}

void
kl_response(struct kernel_log *k, struct text kind)
{
	struct kl_kind *row = k->kinds;
	char kept[KL_TEXT];

	kl_copy(kept, sizeof(kept), kind);
	while (row < k->kinds + k->n_kinds && memcmp(row->name, kept, sizeof(kept)) != 0)
		row++;
	if (row == k->kinds + k->n_kinds) {
		if (k->n_kinds < KL_KINDS)
			k->n_kinds++;
		else if (!text_same(kind, other)) {
			kl_response(k, other);
			return;
		}
		memcpy(row->name, kept, sizeof(kept));
	}
	row->total += k->times;
}

void
kl_storm(struct kernel_log *k, struct text irq, struct text name)
{
	struct kl_storm *s = k->storms, *end = k->storms + k->n_storms, wanted;

	kl_copy(wanted.irq, sizeof(wanted.irq), irq);
	kl_copy(wanted.device, sizeof(wanted.device), name);
	while (s < end &&
	    (memcmp(s->irq, wanted.irq, sizeof(wanted.irq)) != 0 ||
		memcmp(s->device, wanted.device, sizeof(wanted.device)) != 0))
		s++;
	if (s == end) {
		if (k->n_storms < KL_STORMS)
			k->n_storms++;
		else if (irq.n > 0 || !text_same(name, other)) {
			kl_storm(k, TEXT(""), other);
			return;
		}
		memcpy(s->irq, wanted.irq, sizeof(wanted.irq));
		memcpy(s->device, wanted.device, sizeof(wanted.device));
	}
	s->total += k->times;
}
