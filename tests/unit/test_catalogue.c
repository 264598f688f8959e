#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "arena.h"
#include "buf.h"
#include "catalogue.h"
#include "err.h"
#include "record.h"

/* tests/catalogue.txt is the contract: every metric of it exists and none else, with exactly its labels. */
START_TEST(is_the_contract)
{
	FILE *f = fopen(TEST_DATA "/catalogue.txt", "r");
	char line[512];
	unsigned n = 0;

	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f) != NULL) {
		if (line[0] == '#')
			continue;
		line[strcspn(line, "\n")] = '\0';
		size_t name_len = strcspn(line, " ");
		int id = catalogue_find(line, name_len);
		ck_assert_msg(id >= 0, "%s is not in hiwat.proto", line);
		const struct metric *m = &catalogue_metrics[id];
		char labels[256] = "";
		for (unsigned i = 0; i < m->n_labels; i++) {
			strcat(labels, i == 0 ? " " : ",");
			strcat(labels, m->labels[i]);
		}
		ck_assert_str_eq(labels, line + name_len);
		n++;
	}
	fclose(f);
	for (unsigned i = 0; i < catalogue_n_metrics && n != catalogue_n_metrics; i++)
		fprintf(stderr, "%s\n", catalogue_metrics[i].name);
	ck_assert_uint_eq(n, catalogue_n_metrics);
}
END_TEST

START_TEST(is_sorted_and_documented)
{
	for (unsigned i = 0; i < catalogue_n_metrics; i++) {
		const struct metric *m = &catalogue_metrics[i];
		ck_assert(i == 0 || strcmp(catalogue_metrics[i - 1].name, m->name) < 0);
		ck_assert_int_eq(catalogue_find(m->name, strlen(m->name)), (int)i);
		ck_assert_uint_ge(strlen(m->help), 8);
		ck_assert_ptr_null(strchr(m->help, '\n'));
		size_t len = strlen(m->name);
		ck_assert_int_eq(m->is_counter, strcmp(m->name + len - 6, "_total") == 0);
	}
	ck_assert_int_eq(catalogue_find("hiwat_mbuf", 10), -1);
	ck_assert_int_eq(catalogue_find("hiwat_mbuf_pool_in_use2", 23), -1);
	ck_assert_int_eq(catalogue_find("", 0), -1);
}
END_TEST

START_TEST(units)
{
	static const char *const rows[][2] = {
		{ "hiwat_cpu_seconds_total", "seconds" },
		{ "hiwat_mbuf_bytes_in_use", "" },
		{ "hiwat_dns_cache_limit_bytes", "bytes" },
		{ "hiwat_headroom_ratio", "ratio" },
		{ "hiwat_mbuf_pool_in_use", "" },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int id = catalogue_find(rows[i][0], strlen(rows[i][0]));
		ck_assert_int_ge(id, 0);
		ck_assert_str_eq(catalogue_metrics[id].unit, rows[i][1]);
	}
}
END_TEST

START_TEST(record_to_text)
{
	struct arena a;
	struct buf out;
	Hiwat__Record r = HIWAT__RECORD__INIT;
	const Hiwat__Record *records[] = { &r };

	arena_init(&a, 100000);
	buf_init(&out, 100000);
	Hiwat__Mbuf *mbuf = RECORD_ONE(&a, &r, mbuf, mbuf);
	for (int i = 0; i < 2; i++) {
		Hiwat__MbufPool *p = RECORD_ADD(&a, mbuf, pools, mbuf_pool);
		p->pool = record_label(&a, text_of(i == 0 ? " cluster\r" : "a\"b\\c\xff"));
		RECORD_SET(p, in_use, UINT64_MAX);
		if (i == 0)
			RECORD_SET(p, limit, 9);
	}
	RECORD_SET(mbuf, memory_used_ratio, 0.5);
	Hiwat__Storage *storage = RECORD_ONE(&a, &r, storage, storage);
	Hiwat__Disk *disk = RECORD_ADD(&a, storage, disks, disk);
	disk->device = record_label(&a, text_of("ad4"));
	Hiwat__DiskTimeoutsByOperation *t = RECORD_ADD(&a, disk, timeouts, disk_timeouts_by_operation);
	t->operation = record_label(&a, text_of(""));
	RECORD_SET(t, total, 2);
	Hiwat__DiskDriver *driver = RECORD_ADD(&a, disk, drivers, disk_driver);
	driver->driver = record_label(&a, text_of("ata"));
	ck_assert_int_eq(record_count_unknown(&a, &r, "x", 1), HIWAT_OK);
	ck_assert_int_eq(record_count_unknown(&a, &r, "x", 2), HIWAT_OK);
	ck_assert_int_eq(record_write_text(&out, records, 1), HIWAT_OK);
	ck_assert_str_eq(buf_str(&out),
	    "# HELP hiwat_disk_driver The driver that speaks for a device\n"
	    "# TYPE hiwat_disk_driver gauge\n"
	    "hiwat_disk_driver{device=\"ad4\",driver=\"ata\"} 1\n"
	    "# HELP hiwat_disk_timeouts_total Commands that timed out; one command counts once, however often it is "
	    "retried\n"
	    "# TYPE hiwat_disk_timeouts_total counter\n"
	    "hiwat_disk_timeouts_total{device=\"ad4\",operation=\"\"} 2\n"
	    "# HELP hiwat_mbuf_memory_used_ratio Share of the network's memory that is in use, as the system prints it\n"
	    "# TYPE hiwat_mbuf_memory_used_ratio gauge\n"
	    "hiwat_mbuf_memory_used_ratio 0.5\n"
	    "# HELP hiwat_mbuf_pool_in_use Items in use now\n"
	    "# TYPE hiwat_mbuf_pool_in_use gauge\n"
	    "hiwat_mbuf_pool_in_use{pool=\"cluster\"} 18446744073709551615\n"
	    "hiwat_mbuf_pool_in_use{pool=\"a\\\"b\\\\c?\"} 18446744073709551615\n"
	    "# HELP hiwat_mbuf_pool_limit Hard limit of items\n"
	    "# TYPE hiwat_mbuf_pool_limit gauge\n"
	    "hiwat_mbuf_pool_limit{pool=\"cluster\"} 9\n"
	    "# HELP hiwat_parse_unknown_lines_total Lines that no known shape matched\n"
	    "# TYPE hiwat_parse_unknown_lines_total counter\n"
	    "hiwat_parse_unknown_lines_total{source=\"x\"} 3\n");
	buf_fini(&out);
	arena_fini(&a);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("catalogue");
	TCase *tc = tcase_create("catalogue");

	tcase_add_test(tc, is_the_contract);
	tcase_add_test(tc, is_sorted_and_documented);
	tcase_add_test(tc, units);
	tcase_add_test(tc, record_to_text);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
