#include "alert_fixture.h"

#include <glob.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

const struct rule rules[] = {
	{ .id = "filling",
	    .cause = "mbuf",
	    .doc = "X520",
	    .threshold_source = "ours",
	    .reason = "because",
	    .summary = "{{host}}: {{value}} of it",
	    .description = "d",
	    .remedy = "r",
	    .builtin = "",
	    .file = "" },
	{ .id = "exhausted",
	    .cause = "mbuf",
	    .doc = "TUNING7",
	    .threshold_source = "TUNING7",
	    .reason = "",
	    .summary = "full",
	    .description = "",
	    .remedy = "",
	    .builtin = "",
	    .file = "" },
	{ .id = "denied",
	    .cause = "mbuf",
	    .doc = "",
	    .threshold_source = "",
	    .reason = "",
	    .summary = "denied",
	    .description = "",
	    .remedy = "",
	    .builtin = "",
	    .file = "" },
	{ .id = "host-silent",
	    .cause = "host",
	    .doc = "",
	    .threshold_source = "",
	    .reason = "",
	    .summary = "silent",
	    .description = "",
	    .remedy = "",
	    .builtin = "silent",
	    .file = "" },
	{ .id = "pf-memory",
	    .cause = "pf",
	    .doc = "",
	    .threshold_source = "",
	    .reason = "",
	    .summary = "pf",
	    .description = "",
	    .remedy = "",
	    .builtin = "",
	    .file = "" },
};
const struct alert_route routes[ROUTES] = {
	{ .name = "all",
	    .min_level = RULE_LEVEL_WARNING,
	    .updates = true,
	    .repeat_ns = HOUR * NSEC_PER_SEC,
	    .expire_ns = DAY * NSEC_PER_SEC },
	{ .name = "page",
	    .min_level = RULE_LEVEL_CRITICAL,
	    .repeat_ns = 4ULL * HOUR * NSEC_PER_SEC,
	    .expire_ns = DAY * NSEC_PER_SEC },
};

static char dir[64];
char path[96];
struct store *store;
struct alerts *alerts;
struct labels *labels;
uint32_t pool;
uint64_t now_s;
struct buf told;
static unsigned last_generation[ROUTES];

void
open_all(void)
{
	char *moved = NULL;
	size_t unreadable = 99;

	ck_assert_int_eq(store_open(path, &store, &moved), 0);
	ck_assert_ptr_null(moved);
	alerts = alerts_new(store, routes, ROUTES, NULL, START + now_s * NSEC_PER_SEC, &unreadable);
	ck_assert_ptr_nonnull(alerts);
	ck_assert_uint_eq(unreadable, 0);
}

void
close_all(void)
{
	alerts_free(alerts);
	store_close(store);
}

void
alert_setup(void)
{
	static const struct sample_label label[] = { { "pool", "cluster" } };

	snprintf(dir, sizeof(dir), "%s/hiwat-alert-XXXXXX", getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/state.db", dir);
	labels = labels_new(100);
	pool = labels_intern(labels, label, 1);
	now_s = 0;
	last_generation[0] = last_generation[1] = 0;
	buf_init(&told, 1 << 16);
	open_all();
}

void
alert_teardown(void)
{
	char pattern[96];
	glob_t found;

	close_all();
	labels_free(labels);
	buf_fini(&told);
	snprintf(pattern, sizeof(pattern), "%s/*", dir);
	if (glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			unlink(found.gl_pathv[i]);
		globfree(&found);
	}
	rmdir(dir);
}

struct host_view
view(void)
{
	static const struct sample_label own[] = { { "role", "mail" }, { "site", "b\xff" } };

	return (struct host_view){ .labels = labels,
		.name = "mx1",
		.os = "FreeBSD",
		.release = "14.2",
		.host_labels = own,
		.n_host_labels = 2 };
}

void
event(unsigned rule, enum rule_status status, enum rule_level level, bool gone, bool late, uint64_t sequence)
{
	struct host_view v = view();
	struct alert_host host = {
		.uuid = { 1, 2, 3 },
		.view = &v,
		.stream = sequence != 0 ? 77 : 0,
		.sequence = sequence,
		.wall_ns = START + now_s * NSEC_PER_SEC,
		.boot_wall_ns = START - DAY * NSEC_PER_SEC,
		.late = late,
	};
	struct rule_event e = {
		.rule = &rules[rule],
		.labels = rule == SILENT || rule == PF ? LABELS_EMPTY : pool,
		.object = rule == SILENT || rule == PF ? LABELS_EMPTY : pool,
		.status = status,
		.level = level,
		.value = 0.9,
		.threshold = 0.75,
		.used = 36000,
		.limit = 48000,
		.seconds_to_limit = NAN,
		.since_boot_ns = (DAY + now_s) * NSEC_PER_SEC,
		.gone = gone,
	};
	ck_assert_int_eq(alerts_event(alerts, &host, &e), 0);
}

void
collect(void)
{
	ck_assert_int_eq(store_flush(store), 0);
	for (size_t r = 0; r < ROUTES; r++) {
		struct outbox_row *rows = NULL;
		size_t n = 1;

		while (n > 0) {
			ck_assert_int_eq(store_outbox_due(store, routes[r].name, START + (now_s + 1) * NSEC_PER_SEC, 9,
					     &rows, &n),
			    0);
			for (size_t i = 0; i < n; i++) {
				json_t *o = json_loads(rows[i].payload, 0, NULL);
				const char *event_word = json_string_value(json_object_get(o, "event"));

				ck_assert_ptr_nonnull(o);
				ck_assert_str_eq(event_word, rows[i].event);
				ck_assert_int_eq(json_integer_value(json_object_get(o, "generation")), rows[i].generation);
				ck_assert_str_eq(json_string_value(json_object_get(o, "key")), rows[i].incident_key);
				ck_assert_ptr_null(json_object_get(o, "state"));
				ck_assert_uint_eq(rows[i].expires_ns, rows[i].created_ns + DAY * NSEC_PER_SEC);
				buf_printf(&told, " %s:%s/%s", routes[r].name, event_word,
				    json_string_value(json_object_get(o, "level")));
				if (strcmp(json_string_value(json_object_get(o, "cause")), "mbuf") == 0) {
					ck_assert_uint_gt(rows[i].generation, last_generation[r]);
					last_generation[r] = rows[i].generation;
				}
				json_decref(o);
				ck_assert_int_eq(store_outbox_done(store, rows[i].id, START, NULL), 0);
			}
			store_outbox_free(rows, n);
			ck_assert_int_eq(store_flush(store), 0);
		}
	}
}

static void
find(void *arg, const struct incident *i)
{
	struct found *f = arg;

	f->n++;
	if (strcmp(i->cause, "mbuf") == 0)
		f->mbuf = i;
	else
		f->other = i;
}

struct found
incidents(void)
{
	struct found f = { 0 };

	ck_assert_int_eq(alerts_each(alerts, find, &f), 0);
	return f;
}
