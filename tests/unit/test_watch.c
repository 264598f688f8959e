#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "arena.h"
#include "record.h"
#include "watch.h"

#define S 1000000000ull

static struct hosts *hosts;
static struct labels *labels;
static struct watch watch;
static char told[4096]; /* "rule+host " when it fires, "rule-host " when it is over; the fleet is F */

static void
note(void *arg, const struct watch_event *e)
{
	size_t n = strlen(told);

	(void)arg;
	if (e->host != NULL)
		snprintf(told + n, sizeof(told) - n, "%s%c%u ", e->rule, e->fires ? '+' : '-', e->host->index);
	else
		snprintf(told + n, sizeof(told) - n, "%s%cF%.0f ", e->rule, e->fires ? '+' : '-', e->value);
}

static void
make_hosts(unsigned n)
{
	hosts = hosts_new(100);
	labels = labels_new(1000);
	watch = (struct watch){ .silent_min_ms = 60000 };
	told[0] = '\0';
	for (unsigned i = 0; i < n; i++) {
		uint8_t uuid[16] = { (uint8_t)(i + 1) };
		struct host *h = hosts_add(hosts, uuid);
		ck_assert_ptr_nonnull(h);
		h->next_due_ms = 10000;
		h->last_mono_ns = 1000 * S;
	}
}

static void
end(void)
{
	hosts_free(hosts, NULL);
	labels_free(labels);
}

/* Seconds from..to, one round each; hosts from first_silent to last_silent say nothing, the others every ten seconds. */
static unsigned
pass(unsigned from, unsigned to, unsigned first_silent, unsigned last_silent)
{
	unsigned silent = 0;

	told[0] = '\0';
	for (unsigned t = from; t <= to; t++) {
		for (unsigned i = 0; i < hosts_count(hosts); i++) {
			struct host *h = hosts_at(hosts, i);
			if ((t + i) % 10 != 0 || (i >= first_silent && i <= last_silent))
				continue;
			h->last_mono_ns = t * S;
			watch_heard(h, false, note, NULL);
		}
		silent = watch_tick(&watch, hosts, labels, t * S, t * S, note, NULL);
	}
	return silent;
}

START_TEST(one_host)
{
	make_hosts(1);
	ck_assert_uint_eq(pass(1001, 1060, 0, 0), 0);
	ck_assert_str_eq(told, "");
	ck_assert_uint_eq(pass(1061, 1200, 0, 0), 1);
	ck_assert_str_eq(told, "host-silent+0 ");
	pass(1201, 1215, 99, 99);
	ck_assert_str_eq(told, "host-silent-0 ");
	end();
}
END_TEST

START_TEST(one_of_many)
{
	make_hosts(10);
	ck_assert_uint_eq(pass(1001, 1200, 3, 3), 1);
	ck_assert_str_eq(told, "host-silent+3 ");
	pass(1201, 1215, 99, 99);
	ck_assert_str_eq(told, "host-silent-3 ");
	end();
}
END_TEST

/* Six of ten at once: one alert. Five come back: it ends, and the one that stays away is told. */
START_TEST(many_at_once)
{
	make_hosts(10);
	ck_assert_uint_eq(pass(1001, 1300, 2, 7), 6);
	ck_assert_msg(strncmp(told, "fleet-silent+F", 14) == 0 && strchr(told, ' ')[1] == '\0', "%s", told);
	ck_assert_uint_eq(pass(1301, 1330, 7, 7), 1);
	ck_assert_ptr_nonnull(strstr(told, "fleet-silent-F"));
	ck_assert_ptr_nonnull(strstr(told, "host-silent+7 "));
	ck_assert_ptr_null(strstr(told, "host-silent-"));
	pass(1331, 1345, 99, 99);
	ck_assert_str_eq(told, "host-silent-7 ");
	end();
}
END_TEST

/* Four of four are few: each is told. */
START_TEST(small_fleet)
{
	make_hosts(4);
	ck_assert_uint_eq(pass(1001, 1200, 0, 3), 4);
	ck_assert_str_eq(told, "host-silent+0 host-silent+1 host-silent+2 host-silent+3 ");
	end();
}
END_TEST

/* One after the other is no fleet's silence. */
START_TEST(slow_decay)
{
	make_hosts(20);
	told[0] = '\0';
	for (unsigned i = 0; i < 8; i++) {
		pass(1001 + 100 * i, 1100 + 100 * i, 0, i);
		ck_assert_ptr_null(strstr(told, "fleet"));
	}
	ck_assert_str_eq(told, "host-silent+7 ");
	end();
}
END_TEST

START_TEST(clocks)
{
	make_hosts(2);
	struct host *h = hosts_at(hosts, 1);
	hosts_at(hosts, 0)->last_mono_ns = h->last_mono_ns = 5000 * S;
	host_note_clock(h, 5000 * S, 4969 * S);
	pass(5000, 5020, 99, 99);
	ck_assert_str_eq(told, "clock-skew+1 ");
	/* An hour later only the newer, better ones count: between 24 and 30 it stays. */
	hosts_at(hosts, 0)->last_mono_ns = h->last_mono_ns = 9000 * S;
	host_note_clock(h, 9000 * S, 8975 * S);
	pass(9000, 9020, 99, 99);
	ck_assert_str_eq(told, "");
	host_note_clock(h, 9020 * S, 9010 * S);
	pass(9021, 9041, 99, 99);
	ck_assert_str_eq(told, "clock-skew-1 ");
	end();
}
END_TEST

/* Told once, and over ten minutes after the last sign. */
START_TEST(duplicates)
{
	make_hosts(2);
	struct host *h = hosts_at(hosts, 1);
	told[0] = '\0';
	for (unsigned t = 1000; t < 1059; t++)
		watch_duplicate(h, t * S, note, NULL);
	ck_assert_str_eq(told, "host-duplicate+1 ");
	watch_duplicate(h, 1100 * S, note, NULL);
	hosts_at(hosts, 0)->last_mono_ns = h->last_mono_ns = 1100 * S;
	pass(1101, 1700, 99, 99);
	ck_assert_str_eq(told, "");
	pass(1701, 1702, 99, 99);
	ck_assert_str_eq(told, "host-duplicate-1 ");
	end();
}
END_TEST

static void
put_unknown(struct host *h, const char *source, uint64_t lines)
{
	struct arena a;
	Hiwat__Record r = HIWAT__RECORD__INIT;
	Hiwat__Sampler status = HIWAT__SAMPLER__INIT;
	Hiwat__SamplerVerdict ok = HIWAT__SAMPLER_VERDICT__INIT;
	char word[] = "ok", name[] = "mbuf";
	size_t index;

	arena_init(&a, 65536);
	ok.verdict = word;
	status.sampler = name;
	status.verdict = &ok;
	r.status = &status;
	ck_assert_int_eq(record_count_unknown(&a, &r, source, lines), 0);
	ck_assert_int_eq(track_put(&h->live, labels, &r, RECORD_DATA, 1, 1, &index), 0);
	arena_fini(&a);
}

START_TEST(formats)
{
	make_hosts(3);
	for (unsigned i = 0; i < 3; i++)
		put_unknown(hosts_at(hosts, i), "netstat-m", 4);
	pass(1001, 1130, 99, 99);
	ck_assert_str_eq(told, "");
	put_unknown(hosts_at(hosts, 0), "netstat-m", 5);
	put_unknown(hosts_at(hosts, 2), "netstat-m", 9);
	pass(1131, 1300, 99, 99);
	ck_assert_str_eq(told, "format-drift+F2 ");
	pass(1301, 2000, 99, 99);
	ck_assert_str_eq(told, "format-drift-F0 ");
	put_unknown(hosts_at(hosts, 1), "kernel-log-lost", 9);
	pass(2001, 2200, 99, 99);
	ck_assert_str_eq(told, "");
	end();
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("watch");
	TCase *tc = tcase_create("watch");

	tcase_add_test(tc, one_host);
	tcase_add_test(tc, one_of_many);
	tcase_add_test(tc, many_at_once);
	tcase_add_test(tc, small_fleet);
	tcase_add_test(tc, slow_decay);
	tcase_add_test(tc, clocks);
	tcase_add_test(tc, duplicates);
	tcase_add_test(tc, formats);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
