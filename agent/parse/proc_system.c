/* Small files of /proc that tell of interfaces, disks, memory and limits. */
#include "proc.h"

#include <string.h>

#include "arena.h"
#include "err.h"
#include "record_row.h"

#define KIB 1024

/* Numbers up to max; HIWAT_E_FORMAT when a word is none. */
static int
read_numbers(struct text line, size_t max, uint64_t *numbers, size_t *n)
{
	struct text word;

	for (*n = 0; *n < max && text_word(&line, &word); (*n)++) {
		if (!text_is_u64(word, &numbers[*n]))
			return HIWAT_E_FORMAT;
	}
	return HIWAT_OK;
}

/* -------------------------------------------------------------------------------------------------------- net/dev */

/* Eight numbers of what came in, eight of what went out: bytes packets errs drop fifo ... */
#define NET_DEV_NUMBERS 16
#define NET_DEV_OUT 8

static int
net_dev_direction(struct arena *arena, Hiwat__Netif *netif, const char *direction, const uint64_t *numbers)
{
	Hiwat__NetifByDirection *m = RECORD_ROW(arena, netif, directions, netif_by_direction, text_of(direction));

	if (m == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(m, bytes_total, m->bytes_total + numbers[0]);
	RECORD_SET(m, packets_total, m->packets_total + numbers[1]);
	RECORD_SET(m, errors_total, m->errors_total + numbers[2]);
	RECORD_SET(m, drops_total, m->drops_total + numbers[3]);
	return HIWAT_OK;
}

int
proc_net_dev_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	struct text rest = in->text, line;
	uint64_t numbers[NET_DEV_NUMBERS], unknown = 0;
	bool cut, has_header = false;
	size_t n;
	struct record_index index;

	Hiwat__Net *net = RECORD_ONE(arena, out, net, net);
	if (net == NULL)
		return HIWAT_E_NOMEM;
	record_index_init(&index, arena);
	while (text_line(&rest, &line, &cut)) {
		if (text_find(line, "|") >= 0) {
			has_header = true;
			continue;
		}
		/* An alias like eth0:1 has a colon of its own; a number may follow the last one without a blank. */
		const char *colon = line.n > 0 ? memrchr(line.p, ':', line.n) : NULL;
		if (colon == NULL) {
			unknown += text_trim(line).n > 0;
			continue;
		}
		size_t at = (size_t)(colon - line.p);
		struct text name = { line.p, at }, values = { colon + 1, line.n - at - 1 };
		if (read_numbers(values, NET_DEV_NUMBERS, numbers, &n) != HIWAT_OK || n < NET_DEV_NUMBERS) {
			unknown += !cut;
			continue;
		}
		Hiwat__Netif *netif = RECORD_INDEX_ROW(&index, net, interfaces, netif, name);
		if (netif == NULL)
			return HIWAT_E_NOMEM;
		int err = net_dev_direction(arena, netif, "in", numbers);
		if (err == HIWAT_OK)
			err = net_dev_direction(arena, netif, "out", numbers + NET_DEV_OUT);
		if (err != HIWAT_OK)
			return err;
	}
	if (!has_header)
		return parse_fail(why, HIWAT_E_NODATA, "no header of receive and transmit columns");
	return unknown > 0 ? record_count_unknown(arena, out, "proc-net-dev", unknown) : HIWAT_OK;
}

/* ------------------------------------------------------------------------------------------------------ diskstats */

/* Behind major, minor and name: the numbers of Documentation/admin-guide/iostats.rst, by place. */
enum {
	DISK_READS = 0,
	DISK_WRITES = 4,
	DISK_IN_FLIGHT = 8,
	DISK_BUSY_MS = 9,
	DISK_NUMBERS = 11,  /* 2.6 */
	DISK_DISCARDS = 11, /* 4.18 */
	DISK_FLUSHES = 15,  /* 5.5 */
	DISK_NUMBERS_MAX = 17,
};

int
proc_diskstats_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	struct text rest = in->text, line, major, minor, name;
	uint64_t numbers[DISK_NUMBERS_MAX], ignored, unknown = 0;
	bool cut;
	size_t n;
	struct record_index index;

	Hiwat__Storage *storage = RECORD_ONE(arena, out, storage, storage);
	if (storage == NULL)
		return HIWAT_E_NOMEM;
	record_index_init(&index, arena);
	while (text_line(&rest, &line, &cut)) {
		if (text_trim(line).n == 0)
			continue;
		if (!text_word(&line, &major) || !text_is_u64(major, &ignored) || !text_word(&line, &minor) ||
		    !text_is_u64(minor, &ignored) || !text_word(&line, &name) ||
		    read_numbers(line, DISK_NUMBERS_MAX, numbers, &n) != HIWAT_OK || cut) {
			unknown += !cut;
			continue;
		}
		if (n < DISK_NUMBERS)
			continue;
		Hiwat__Disk *disk = RECORD_INDEX_ROW(&index, storage, disks, disk, name);
		if (disk == NULL)
			return HIWAT_E_NOMEM;
		uint64_t completed = numbers[DISK_READS] + numbers[DISK_WRITES];
		if (n > DISK_DISCARDS)
			completed += numbers[DISK_DISCARDS];
		if (n > DISK_FLUSHES)
			completed += numbers[DISK_FLUSHES];
		RECORD_SET(disk, completed_total, disk->completed_total + completed);
		RECORD_SET(disk, in_flight, disk->in_flight + numbers[DISK_IN_FLIGHT]);
		RECORD_SET(disk, busy_seconds_total, disk->busy_seconds_total + (double)numbers[DISK_BUSY_MS] / 1000);
	}
	if (storage->n_disks == 0 && in->text.n > 0)
		return parse_fail(why, HIWAT_E_NODATA, "no row of a block device");
	return unknown > 0 ? record_count_unknown(arena, out, "proc-diskstats", unknown) : HIWAT_OK;
}

/* -------------------------------------------------------------------------------------------------------- meminfo */

/* "Name:   123 kB" */
static bool
meminfo_line(struct text line, struct text *name, uint64_t *bytes)
{
	struct text number, unit;
	uint64_t kib;

	if (!text_until(&line, ':', name) || !text_word(&line, &number) || !text_is_u64(number, &kib) ||
	    kib > UINT64_MAX / KIB)
		return false;
	if (!text_word(&line, &unit) || !text_eq(unit, "kB"))
		return false;
	*bytes = kib * KIB;
	return true;
}

int
proc_meminfo_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	struct text rest = in->text, line, name;
	uint64_t bytes, memory = 0, swap = 0, swap_free = 0;
	bool has_memory = false, has_swap = false, has_free = false;

	while (text_line(&rest, &line, NULL)) {
		if (!meminfo_line(line, &name, &bytes))
			continue;
		if (text_eq(name, "MemTotal")) {
			memory = bytes;
			has_memory = true;
		} else if (text_eq(name, "SwapTotal")) {
			swap = bytes;
			has_swap = true;
		} else if (text_eq(name, "SwapFree")) {
			swap_free = bytes;
			has_free = true;
		}
	}
	if (!has_memory)
		return parse_fail(why, HIWAT_E_NODATA, "no MemTotal row");
	Hiwat__Settings *settings = RECORD_ONE(arena, out, settings, settings);
	Hiwat__Memory *m = settings != NULL ? RECORD_ONE(arena, settings, memory, memory) : NULL;
	if (m == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(m, bytes, memory);
	/* A host without swap has no swap that could run out. */
	if (!has_swap || !has_free || swap == 0)
		return HIWAT_OK;
	Hiwat__System *system = RECORD_ONE(arena, out, system, system);
	Hiwat__Swap *s = system != NULL ? RECORD_ONE(arena, system, swap, swap) : NULL;
	if (s == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(s, bytes_limit, swap);
	RECORD_SET(s, bytes_used, swap > swap_free ? swap - swap_free : 0);
	return HIWAT_OK;
}

/* ----------------------------------------------------------------------------------------- sys/fs/file-nr, loadavg */

int
proc_file_nr_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	struct text rest = in->text, line;
	uint64_t numbers[3];
	size_t n;

	/* allocated, free of these (always 0 since 2.6), limit */
	if (!text_line(&rest, &line, NULL) || read_numbers(line, 3, numbers, &n) != HIWAT_OK || n < 3)
		return parse_fail(why, HIWAT_E_NODATA, "not three numbers");
	Hiwat__System *system = RECORD_ONE(arena, out, system, system);
	Hiwat__Files *files = system != NULL ? RECORD_ONE(arena, system, files, files) : NULL;
	if (files == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(files, open, numbers[0] > numbers[1] ? numbers[0] - numbers[1] : 0);
	/* systemd raises fs.file-max to the largest long. */
	if (numbers[2] > 0 && numbers[2] < INT64_MAX)
		RECORD_SET(files, limit, numbers[2]);
	return HIWAT_OK;
}

int
proc_loadavg_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	struct text rest = in->text, line, word, running;
	uint64_t n_running, n_threads;
	double average;

	/* three averages, running/threads, last process id */
	if (!text_line(&rest, &line, NULL))
		return parse_fail(why, HIWAT_E_NODATA, "empty");
	for (int i = 0; i < 3; i++) {
		if (!text_word(&line, &word) || !text_is_double(word, &average))
			return parse_fail(why, HIWAT_E_NODATA, "not three load averages");
	}
	if (!text_word(&line, &word) || !text_until(&word, '/', &running) || !text_is_u64(running, &n_running) ||
	    !text_is_u64(word, &n_threads))
		return parse_fail(why, HIWAT_E_NODATA, "no running/threads behind the load averages");
	Hiwat__System *system = RECORD_ONE(arena, out, system, system);
	if (system == NULL)
		return HIWAT_E_NOMEM;
	Hiwat__RunQueue *queue = RECORD_ONE(arena, system, run_queue, run_queue);
	Hiwat__Processes *processes = RECORD_ONE(arena, system, processes, processes);
	if (queue == NULL || processes == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(queue, value, n_running);
	RECORD_SET(processes, value, n_threads);
	return HIWAT_OK;
}

/* --------------------------------------------------------------------------------------------------------- mounts */

static bool
is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* Blanks, tabs, newlines and backslashes are printed as \040 and the like. A copy with these resolved; NULL without memory. */
static const char *
unescape(struct arena *arena, struct text t)
{
	char *s = arena_strndup(arena, t.p, t.n);
	size_t n = 0;

	if (s == NULL)
		return NULL;
	for (size_t i = 0; i < t.n; i++) {
		unsigned code = 0;
		if (t.p[i] == '\\' && t.n - i >= 4 && is_octal(t.p[i + 1]) && is_octal(t.p[i + 2]) && is_octal(t.p[i + 3])) {
			code = (unsigned)(t.p[i + 1] - '0') << 6 | (unsigned)(t.p[i + 2] - '0') << 3 |
			    (unsigned)(t.p[i + 3] - '0');
		}
		if (code > 0 && code < 256) {
			s[n++] = (char)code;
			i += 3;
		} else {
			s[n++] = t.p[i];
		}
	}
	s[n] = '\0';
	return s;
}

int
proc_mounts_next(struct text *rest, struct arena *arena, struct proc_mount *mount)
{
	struct text line, device, where, type, options;
	bool cut;

	while (text_line(rest, &line, &cut)) {
		if (!text_word(&line, &device) || !text_word(&line, &where) || !text_word(&line, &type) ||
		    !text_word(&line, &options) || cut)
			continue;
		struct proc_mount m = { unescape(arena, device), unescape(arena, where), unescape(arena, type),
			unescape(arena, options) };
		if (m.device == NULL || m.mount == NULL || m.type == NULL || m.options == NULL)
			return HIWAT_E_NOMEM;
		*mount = m;
		return 1;
	}
	return 0;
}
