/* zpool status -j: pools by name, each with its state, its scan and trees of devices by class. */
#include "zpool.h"

#include "arena.h"
#include "err.h"
#include "json_text.h"
#include "record_row.h"
#include "zpool_value.h"

#define DEPTH_MAX 8 /* pool, mirror, replacing, spare, device; more is not zpool's */

/* A number, or a string of one as zpool writes it. */
static bool
number_of(const json_t *value, double *number)
{
	uint64_t n;

	if (json_text_u64(value, &n)) {
		*number = (double)n;
		return true;
	}
	return json_is_string(value) && zpool_number(text_of(json_string_value(value)), number);
}

static bool
is_string(const json_t *object, const char *member, const char *wanted)
{
	const char *s = json_string_value(json_object_get(object, member));

	return s != NULL && text_eq(text_of(s), wanted);
}

/* Errors of a device and of all inside it. */
static int
add_vdev(struct arena *arena, Hiwat__Zpool *pool, const char *key, json_t *vdev, unsigned depth, bool *has_logs)
{
	static const char *const members[] = { "read_errors", "write_errors", "checksum_errors" };
	const char *name = json_string_value(json_object_get(vdev, "name"));
	json_t *inner = json_object_get(vdev, "vdevs");
	uint64_t counts[3];
	size_t n = 0;
	double d;

	/* With --json-flat-vdevs the log devices are among the others, and nothing tells who is inside a mirror. */
	if (is_string(vdev, "class", "log"))
		*has_logs = true;
	while (n < 3 && number_of(json_object_get(vdev, members[n]), &d))
		counts[n++] = (uint64_t)(d + 0.5);
	int err = n > 0 ? zpool_add_errors(arena, pool, text_of(name != NULL ? name : key), counts, n) : HIWAT_OK;
	for (void *it = json_object_iter(inner); it != NULL && err == HIWAT_OK && depth < DEPTH_MAX;
	     it = json_object_iter_next(inner, it))
		err = add_vdev(arena, pool, json_object_iter_key(it), json_object_iter_value(it), depth + 1, has_logs);
	return err;
}

static int
add_class(struct arena *arena, Hiwat__Zpool *pool, json_t *vdevs, bool *has_logs)
{
	int err = HIWAT_OK;

	for (void *it = json_object_iter(vdevs); it != NULL && err == HIWAT_OK; it = json_object_iter_next(vdevs, it))
		err = add_vdev(arena, pool, json_object_iter_key(it), json_object_iter_value(it), 0, has_logs);
	return err;
}

static void
count_logs(Hiwat__Zpool *pool, json_t *logs)
{
	uint64_t devices = 0, unmirrored = 0;

	for (void *it = json_object_iter(logs); it != NULL; it = json_object_iter_next(logs, it)) {
		const json_t *vdev = json_object_iter_value(it);
		bool is_mirror =
		    is_string(vdev, "vdev_type", "mirror") || text_starts(text_of(json_object_iter_key(it)), "mirror-");
		devices += is_mirror ? json_object_size(json_object_get(vdev, "vdevs")) : 1;
		unmirrored += !is_mirror;
	}
	RECORD_SET(pool, log_devices, devices);
	RECORD_SET(pool, log_unmirrored, unmirrored);
}

/* Unix seconds as number, or the text of a date. */
static bool
time_of(const json_t *value, int tz_seconds, double *seconds)
{
	uint64_t n;

	if (json_text_u64(value, &n)) {
		*seconds = (double)n;
		return n > 0;
	}
	return json_is_string(value) && zpool_date(text_of(json_string_value(value)), tz_seconds, seconds);
}

static void
fill_scan(Hiwat__Zpool *pool, const json_t *scan, int tz_seconds)
{
	double seconds, issued, total, skipped = 0;
	const json_t *pause = json_object_get(scan, "scrub_pause");
	bool is_paused = time_of(pause, tz_seconds, &seconds);
	bool is_known = is_string(scan, "function", "SCRUB") || is_string(scan, "function", "RESILVER");
	bool is_running = is_known && is_string(scan, "state", "SCANNING") && !is_paused;

	RECORD_SET(pool, scrub_running, is_running);
	if (is_string(scan, "function", "SCRUB") && is_string(scan, "state", "FINISHED") &&
	    time_of(json_object_get(scan, "end_time"), tz_seconds, &seconds))
		RECORD_SET(pool, scrub_finished_time_seconds, seconds);
	if ((!is_running && !is_paused) || !number_of(json_object_get(scan, "issued"), &issued) ||
	    !number_of(json_object_get(scan, "to_examine"), &total))
		return;
	/* As the text reckons it; zero bytes are left out. */
	number_of(json_object_get(scan, "skipped"), &skipped);
	if (total > skipped)
		RECORD_SET(pool, scrub_progress_ratio, issued / (total - skipped));
}

static int
fill_pool(struct arena *arena, Hiwat__Zpool *pool, const json_t *object, int tz_seconds)
{
	static const char *const classes[] = { "vdevs", "dedup", "special", "logs", "l2cache" };
	const char *state = json_string_value(json_object_get(object, "state"));
	const json_t *scan = json_object_get(object, "scan_stats");
	json_t *logs = json_object_get(object, "logs");
	bool has_logs = false;
	double errors;
	int err = HIWAT_OK;

	if (state != NULL)
		err = zpool_set_state(arena, pool, text_of(state));
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]) && err == HIWAT_OK; i++)
		err = add_class(arena, pool, json_object_get(object, classes[i]), &has_logs);
	if (json_is_object(scan))
		fill_scan(pool, scan, tz_seconds);
	if (number_of(json_object_get(object, "error_count"), &errors))
		RECORD_SET(pool, data_errors, (uint64_t)(errors + 0.5));
	if (json_is_object(logs) || (json_is_object(json_object_get(object, "vdevs")) && !has_logs))
		count_logs(pool, logs);
	return err;
}

int
zpool_status_json_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	static const char *const members[] = { "pools", NULL };
	bool is_broken;
	json_t *root = json_text_last(in->text, members, &is_broken);
	json_t *pools = json_object_get(root, "pools");
	int err = HIWAT_OK;

	if (!json_is_object(pools)) {
		json_decref(root);
		return is_broken ? parse_fail(why, HIWAT_E_FORMAT, "JSON that is malformed or breaks off")
				 : parse_fail(why, HIWAT_E_NODATA, "no object of pools");
	}
	Hiwat__Storage *storage = RECORD_ONE(arena, out, storage, storage);
	if (storage == NULL)
		err = HIWAT_E_NOMEM;
	for (void *it = json_object_iter(pools); it != NULL && err == HIWAT_OK; it = json_object_iter_next(pools, it)) {
		const json_t *object = json_object_iter_value(it);
		const char *name = json_string_value(json_object_get(object, "name"));
		/* With --json-pool-key-guid the key is a number. */
		struct text label = text_of(name != NULL ? name : json_object_iter_key(it));
		if (RECORD_FIND(storage, zpools, zpool, label) != NULL)
			continue;
		Hiwat__Zpool *pool = RECORD_ROW(arena, storage, zpools, zpool, label);
		err = pool != NULL ? fill_pool(arena, pool, object, in->tz_seconds) : HIWAT_E_NOMEM;
	}
	json_decref(root);
	return err;
}

int
zpool_status_json_recognise(struct text text)
{
	return json_text_has(text, "\"pools\"") ? 80 : 0;
}
