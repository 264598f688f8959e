#include "unit.h"

#include "err.h"
#include "parsed.h"
#include "zpool.h"

#define POOL(scan) \
	"  pool: tank\n state: ONLINE\n" scan "config:\n\n\tNAME        STATE     READ WRITE CKSUM\n" \
	"\ttank        ONLINE       0     0     0\n\t  sda       ONLINE       0     0     0\n\nerrors: No known data " \
	"errors\n"
#define RUNNING "hiwat_zpool_scrub_running{pool=\"tank\"} 1\n"
#define STOPPED "hiwat_zpool_scrub_running{pool=\"tank\"} 0\n"
#define IDLE STOPPED "!hiwat_zpool_scrub_progress_ratio{pool=\"tank\"}\n"
#define FINISHED(when) "hiwat_zpool_scrub_finished_time_seconds{pool=\"tank\"} " when "\n"
#define NEVER "!hiwat_zpool_scrub_finished_time_seconds{pool=\"tank\"}\n"
#define KNOWN "!hiwat_parse_unknown_lines_total{source=\"zpool-status\"}\n"
#define ERRORS(vdev, kind, n) "hiwat_zpool_vdev_errors_total{kind=\"" kind "\",pool=\"tank\",vdev=\"" vdev "\"} " n "\n"

static const struct parsed_row rows[] = {
	{ "never scrubbed", zpool_status_parse, POOL("  scan: none requested\n"), 0, IDLE NEVER KNOWN },
	{ "0.6", zpool_status_parse, POOL("  scan: scrub repaired 0 in 2h10m with 0 errors on Sun Feb 12 11:40:04 2023\n"),
	    0, IDLE FINISHED("1676202004") KNOWN },
	{ "0.8", zpool_status_parse,
	    POOL("  scan: scrub repaired 0B in 0 days 02:10:33 with 0 errors on Sun Mar  1 00:00:00 2020\n"), 0,
	    FINISHED("1583020800") },
	{ "2.x, above a day", zpool_status_parse,
	    POOL("  scan: scrub repaired 1.50M in 1 days 02:10:33 with 3 errors on Thu Feb 29 23:59:59 2024\n"), 0,
	    FINISHED("1709251199") },
	{ "thorough", zpool_status_parse,
	    POOL("  scan: thorough scrub repaired 0B in 02:10:33 with 0 errors on Sun Feb 12 11:40:04 2023\n"), 0,
	    FINISHED("1676202004") },
	{ "before version 28", zpool_status_parse,
	    POOL(" scrub: scrub completed after 0h0m with 0 errors on Tue Feb  2 13:08:42 2010\n"), 0,
	    IDLE FINISHED("1265116122") },
	{ "a date that breaks off", zpool_status_parse,
	    "  pool: tank\n state: ONLINE\n  scan: scrub repaired 0B in 02:10:33 with 0 errors on Sun Feb 12 11:40:04 20", 0,
	    IDLE NEVER },
	{ "a resilver is no scrub", zpool_status_parse,
	    POOL("  scan: resilvered 10.2G in 00:30:01 with 0 errors on Sun Feb 12 11:40:04 2023\n"), 0, IDLE NEVER },
	{ "canceled", zpool_status_parse, POOL("  scan: scrub canceled on Sun Feb 12 11:40:04 2023\n"), 0, IDLE NEVER },
	{ "stopped", zpool_status_parse,
	    POOL(" scrub: scrub stopped after 0h1m with 0 errors on Sun Feb 12 11:40:04 2023\n"), 0, IDLE NEVER },
	{ "running, 0.6", zpool_status_parse,
	    POOL("  scan: scrub in progress since Sun Feb 12 11:40:04 2023\n    1.2T scanned out of 4T at 100M/s, 8h1m to "
		 "go\n"
		 "    0 repaired, 30.25% done\n"),
	    0, RUNNING NEVER "hiwat_zpool_scrub_progress_ratio{pool=\"tank\"} 0.3025\n" KNOWN },
	{ "a locale with commas", zpool_status_parse,
	    POOL("  scan: scrub in progress since Thu Aug 17 10:25:48 2017\n    9,12T scanned out of 9,48T at 1,90M/s, "
		 "55h33m to go\n"
		 "    0 repaired, 96,25% done\n"),
	    0, RUNNING "hiwat_zpool_scrub_progress_ratio{pool=\"tank\"} 0.9625\n" },
	{ "running, 0.8", zpool_status_parse,
	    POOL("  scan: resilver in progress since Sun Feb 12 11:40:04 2023\n\t1.2T scanned at 1G/s, 900G issued at "
		 "700M/s, 4T total\n"
		 "\t0B repaired, 25.00% done, 0 days 01:02:03 to go\n"),
	    0, RUNNING "hiwat_zpool_scrub_progress_ratio{pool=\"tank\"} 0.25\n" KNOWN },
	{ "running, before version 28", zpool_status_parse,
	    POOL(" scrub: scrub in progress for 0h5m, 12.50% done, 0h20m to go\n"), 0,
	    RUNNING "hiwat_zpool_scrub_progress_ratio{pool=\"tank\"} 0.125\n" },
	{ "nan", zpool_status_parse,
	    POOL("  scan: scrub in progress since Sun Feb 12 11:40:04 2023\n\t0B / 0B scanned, 0B / 0B issued\n\t0B "
		 "repaired, -nan% done, no "
		 "estimated completion time\n"),
	    0, RUNNING "!hiwat_zpool_scrub_progress_ratio{pool=\"tank\"}\n" },
	{ "paused", zpool_status_parse,
	    POOL("  scan: scrub paused since Sun Feb 12 11:40:04 2023\n\tscrub started on Sun Feb 12 10:40:04 2023\n"
		 "\t1.2T / 4T scanned, 900G / 4T issued\n\t0B repaired, 25.00% done\n"),
	    0, STOPPED "hiwat_zpool_scrub_progress_ratio{pool=\"tank\"} 0.25\n" NEVER KNOWN },
	{ "a scrub's end and a rebuild", zpool_status_parse,
	    POOL("  scan: scrub repaired 0B in 00:00:01 with 0 errors on Sun Feb 12 11:40:04 2023\n"
		 "  scan: resilver (mirror-0) in progress since Sun Feb 12 11:50:04 2023\n\t1G scanned at 1G/s, 1G issued "
		 "1G/s, 4G total\n"
		 "\t1G resilvered, 25.00% done, 00:00:03 to go\n"),
	    0, RUNNING FINISHED("1676202004") "hiwat_zpool_scrub_progress_ratio{pool=\"tank\"} 0.25\n" },
	{ "counts with units, notes, names with blanks, slow column", zpool_status_parse,
	    "  pool: tank\n state: DEGRADED\nconfig:\n\n\tNAME                      STATE     READ WRITE CKSUM  SLOW\n"
	    "\ttank                      DEGRADED     0     0     0     -\n\t  mirror-0                DEGRADED     0     0 "
	    "    0     -\n"
	    "\t    12345678901234567890  UNAVAIL      3 1.50K    2M     0  was /dev/sdb1\n"
	    "\t    /tank files/a         FAULTED      1     2     3     0  too many errors\n"
	    "\t    sdc                   ONLINE       0     0     0     0  (resilvering)\n\nerrors: 12 data errors, use "
	    "'-v' for a list\n",
	    0,
	    ERRORS("12345678901234567890", "read", "3") ERRORS("12345678901234567890", "write",
		"1536") ERRORS("12345678901234567890", "checksum", "2097152") ERRORS("/tank files/a", "checksum",
		"3") "hiwat_zpool_online{pool=\"tank\",state=\"DEGRADED\"} 0\nhiwat_zpool_data_errors{pool=\"tank\"} 12\n"
		     "hiwat_zpool_log_devices{pool=\"tank\"} 0\nhiwat_zpool_log_unmirrored{pool=\"tank\"} 0\n" },
	{ "logs: a mirror and a single one; caches, spares", zpool_status_parse,
	    "  pool: tank\n state: ONLINE\nconfig:\n\n\tNAME        STATE     READ WRITE CKSUM\n\ttank        ONLINE       "
	    "0     0     0\n"
	    "\t  mirror-0  ONLINE       0     0     0\n\t    sda     ONLINE       0     0     0\n\t    sdb     ONLINE       "
	    "0     0     0\n"
	    "\tspecial\t\n\t  mirror-3  ONLINE       0     0     0\n\t    sdx     ONLINE       0     0     0\n"
	    "\tlogs\t\n\t  mirror-1  ONLINE       0     0     0\n\t    sdc     ONLINE       0     0     0\n\t    sdd     "
	    "ONLINE       0     0     0\n"
	    "\t  sde       ONLINE       0     0     5\n\tcache\n\t  sdf       ONLINE       0     0     0\n\tspares\n\t  sdg "
	    "      AVAIL   \n"
	    "\t  sdh       INUSE     currently in use\n\nerrors: No known data errors\n",
	    0,
	    "hiwat_zpool_log_devices{pool=\"tank\"} 3\nhiwat_zpool_log_unmirrored{pool=\"tank\"} 1\n" ERRORS("sde",
		"checksum", "5") ERRORS("sdf", "read",
		"0") "!hiwat_zpool_vdev_errors_total{kind=\"read\",pool=\"tank\",vdev=\"sdg\"}\n"
		     "!hiwat_zpool_vdev_errors_total{kind=\"read\",pool=\"tank\",vdev=\"logs\"}\n" KNOWN },
	{ "solaris: logs with counts, mirrors without numbers", zpool_status_parse,
	    "  pool: tank\n state: ONLINE\n scrub: none requested\nconfig:\n\n        NAME        STATE     READ WRITE "
	    "CKSUM\n"
	    "        tank        ONLINE       0     0     0\n          mirror    ONLINE       0     0     1\n"
	    "            c1t0d0  ONLINE       0     0     0\n          mirror    ONLINE       0     0     2\n"
	    "            c1t1d0  ONLINE       0     0     0\n        logs        ONLINE       0     0     0\n"
	    "          c2t0d0    ONLINE       0     0     0\n\nerrors: No known data errors\n",
	    0,
	    ERRORS("mirror", "checksum",
		"3") "hiwat_zpool_log_devices{pool=\"tank\"} 1\nhiwat_zpool_log_unmirrored{pool=\"tank\"} 1\n" },
	{ "files with errors", zpool_status_parse,
	    "  pool: tank\n state: ONLINE\nerrors: Permanent errors have been detected in the following files:\n\n"
	    "        /tank/a file\n        tank/fs:<0x2a>\n        <metadata>:<0x3d>\n        tank/fs@snap:/b\n\n  pool: "
	    "other\n state: FAULTED\n",
	    0,
	    "hiwat_zpool_data_errors{pool=\"tank\"} 4\n!hiwat_zpool_data_errors{pool=\"other\"}\n"
	    "hiwat_zpool_online{pool=\"other\",state=\"FAULTED\"} 0\n" },
	{ "files with errors that may not be listed, then a prompt", zpool_status_parse,
	    "  pool: tank\n state: ONLINE\nerrors: Permanent errors have been detected in the following "
	    "files:\n\nroot@nas:/home# ",
	    0, "!hiwat_zpool_data_errors{pool=\"tank\"}\n" },
	{ "solaris: files without blanks before, no last newline", zpool_status_parse,
	    "  pool: tank\n state: ONLINE\nerrors: Permanent errors have been detected in the following files: "
	    "\n\n/tank/a\n/tank/b",
	    0, "hiwat_zpool_data_errors{pool=\"tank\"} 2\n" },
	{ "errors unknown", zpool_status_parse,
	    "  pool: tank\n state: SUSPENDED\nerrors: List of errors unavailable: pool I/O is currently suspended\n", 0,
	    "hiwat_zpool_online{pool=\"tank\",state=\"SUSPENDED\"} 0\n!hiwat_zpool_data_errors{pool=\"tank\"}\n" },
	{ "names that are one after cleaning", zpool_status_parse,
	    "  pool: a\001\n state: ONLINE\nerrors: No known data errors\n  pool: a\002\n state: DEGRADED\nerrors: No known "
	    "data errors\n",
	    0, "hiwat_zpool_online{pool=\"a?\",state=\"DEGRADED\"} 0\n" },
	{ "-x: all", zpool_status_parse, "all pools are healthy\n", 0, KNOWN },
	{ "-x: one", zpool_status_parse, "pool 'tank' is healthy\n", 0,
	    "hiwat_zpool_online{pool=\"tank\",state=\"ONLINE\"} 1\n" },
	{ "no pools", zpool_status_parse, "no pools available\n", 0, KNOWN },
	{ "two outputs: the last", zpool_status_parse,
	    "  pool: a\n state: ONLINE\nerrors: No known data errors\n  pool: tank\n state: ONLINE\nerrors: No known data "
	    "errors\n"
	    "  pool: a\n state: DEGRADED\nerrors: 1 data errors, use '-v' for a list\n",
	    0,
	    "hiwat_zpool_online{pool=\"a\",state=\"DEGRADED\"} 0\nhiwat_zpool_data_errors{pool=\"a\"} 1\n"
	    "!hiwat_zpool_online{pool=\"tank\",state=\"ONLINE\"}\n" },
	{ "two outputs, the last breaks off", zpool_status_parse,
	    "  pool: a\n state: ONLINE\nerrors: No known data errors\n  pool: a\n state: DEGR", 0,
	    "hiwat_zpool_online{pool=\"a\",state=\"ONLINE\"} 1\n" },
	{ "a prompt, CRLF", zpool_status_parse,
	    "root@host:~ # zpool status\r\n  pool: tank\r\n state: ONLINE\r\nconfig:\r\n\r\n\tNAME  STATE  READ WRITE "
	    "CKSUM\r\n"
	    "\ttank  ONLINE  0  0  0\r\n\t  da0  ONLINE  1  2  3\r\n\r\nerrors: No known data errors\r\n",
	    0, ERRORS("da0", "write", "2") "hiwat_zpool_data_errors{pool=\"tank\"} 0\n" },
	{ "breaks off inside a row", zpool_status_parse,
	    "  pool: tank\n state: ONLINE\nconfig:\n\n\tNAME  STATE  READ WRITE CKSUM\n\ttank  ONLINE  0  0  0\n\t  da0  "
	    "ONLINE  1  2",
	    0, ERRORS("da0", "read", "1") "!hiwat_zpool_vdev_errors_total{kind=\"write\",pool=\"tank\",vdev=\"da0\"}\n" },
	{ "two outputs, the last breaks off in its last line", zpool_status_parse,
	    POOL("  scan: none requested\n") "\n  pool: tank\n state: ONLINE\nconfig:\n\n"
					     "\tNAME        STATE     READ WRITE CKSUM\n\ttank        ONLINE       0     0  "
					     "   9\n\nerrors: No kn",
	    0, ERRORS("tank", "checksum", "0") "hiwat_zpool_data_errors{pool=\"tank\"} 0\n" },
	{ "breaks off before the logs", zpool_status_parse,
	    "  pool: tank\n state: ONLINE\nconfig:\n\n\tNAME  STATE  READ WRITE CKSUM\n\ttank  ONLINE  0  0  0\n\t  da0  "
	    "ONL",
	    0, ERRORS("tank", "read", "0") "!hiwat_zpool_log_devices{pool=\"tank\"}\n" },
	{ "a blank line behind each line", zpool_status_parse,
	    "  pool: tank\n\n state: ONLINE\n\nconfig:\n\n\n\n\tNAME  STATE  READ WRITE CKSUM\n\n\ttank  ONLINE  0  0  0\n\n"
	    "\t  da0  ONLINE  0  0  2\n\n\tlogs\n\n\t  da1  ONLINE  0  0  0\n\n\n\nerrors: No known data errors\n",
	    0, ERRORS("da0", "checksum", "2") "hiwat_zpool_log_unmirrored{pool=\"tank\"} 1\n" KNOWN },
	{ "denied", zpool_status_parse, "Permission denied the ZFS utilities must be run as root.\n", HIWAT_E_DENIED, "" },
	{ "no ZFS", zpool_status_parse,
	    "The ZFS modules are not loaded.\nTry running '/sbin/modprobe zfs' as root to load them.\n", HIWAT_E_NODATA,
	    "" },
	{ "zpool list is another output", zpool_status_parse, "NAME   SIZE  ALLOC   FREE\ntank   1T  1G  1T\n",
	    HIWAT_E_NODATA, "" },
	{ "JSON", zpool_status_json_parse,
	    "{\"output_version\":{\"command\":\"zpool "
	    "status\"},\"pools\":{\"tank\":{\"name\":\"tank\",\"state\":\"DEGRADED\","
	    "\"scan_stats\":{\"function\":\"SCRUB\",\"state\":\"FINISHED\",\"end_time\":\"Sun Feb 12 11:40:04 "
	    "2023\",\"scrub_pause\":\"-\"},"
	    "\"vdevs\":{\"tank\":{\"name\":\"tank\",\"vdev_type\":\"root\",\"read_errors\":\"0\",\"write_errors\":\"0\","
	    "\"checksum_errors\":\"0\","
	    "\"vdevs\":{\"sda\":{\"name\":\"sda\",\"read_errors\":\"1.50K\",\"write_errors\":2,\"checksum_errors\":\"3\"}}}}"
	    ","
	    "\"logs\":{\"mirror-1\":{\"name\":\"mirror-1\",\"vdev_type\":\"mirror\",\"vdevs\":{\"sdb\":{\"name\":\"sdb\"},"
	    "\"sdc\":{\"name\":"
	    "\"sdc\"}}},\"sdd\":{\"name\":\"sdd\",\"vdev_type\":\"disk\"}},\"error_count\":\"2\"}}}\n",
	    0,
	    ERRORS("sda", "read", "1536") ERRORS("sda", "write", "2") ERRORS("sda", "checksum",
		"3") "hiwat_zpool_online{pool=\"tank\",state=\"DEGRADED\"} 0\nhiwat_zpool_data_errors{pool=\"tank\"} 2\n"
		     "hiwat_zpool_log_devices{pool=\"tank\"} 3\nhiwat_zpool_log_unmirrored{pool=\"tank\"} 1\n" IDLE FINISHED(
			 "1676202004") },
	{ "JSON, numbers, running", zpool_status_json_parse,
	    "{\"pools\":{\"tank\":{\"state\":\"ONLINE\",\"scan_stats\":{\"function\":\"SCRUB\",\"state\":\"SCANNING\",\"end_"
	    "time\":0,"
	    "\"to_examine\":1000,\"skipped\":200,\"issued\":200,\"scrub_pause\":0},\"error_count\":0}}}",
	    0,
	    RUNNING NEVER
	    "hiwat_zpool_scrub_progress_ratio{pool=\"tank\"} 0.25\nhiwat_zpool_data_errors{pool=\"tank\"} 0\n" },
	{ "JSON, date of an English locale", zpool_status_json_parse,
	    "{\"pools\":{\"tank\":{\"state\":\"ONLINE\",\"scan_stats\":{\"function\":\"SCRUB\",\"state\":\"FINISHED\","
	    "\"end_time\":\"Sun 12 Feb 2023 11:40:04 PM UTC\"}}}}",
	    0, IDLE FINISHED("1676245204") },
	{ "JSON, date of another language", zpool_status_json_parse,
	    "{\"pools\":{\"tank\":{\"state\":\"ONLINE\",\"scan_stats\":{\"function\":\"SCRUB\",\"state\":\"FINISHED\","
	    "\"end_time\":\"Mi 27. M\xc3\xa4r 17:22:17 CET 2024\"}}}}",
	    0, IDLE NEVER },
	{ "JSON, paused", zpool_status_json_parse,
	    "{\"pools\":{\"tank\":{\"state\":\"ONLINE\",\"scan_stats\":{\"function\":\"SCRUB\",\"state\":\"SCANNING\",\"to_"
	    "examine\":1000,"
	    "\"issued\":200,\"scrub_pause\":1676202004}}}}",
	    0, STOPPED "hiwat_zpool_scrub_progress_ratio{pool=\"tank\"} 0.2\n" NEVER },
	{ "JSON under the text's kind", zpool_status_parse,
	    "{\"pools\":{\"tank\":{\"state\":\"ONLINE\",\"vdevs\":{\"tank\":{\"vdevs\":{\"sdb\":{\"read_errors\":\"1\"}}}}}}"
	    "}",
	    0, ERRORS("sdb", "read", "1") },
	{ "JSON, flat: logs cannot be told apart", zpool_status_json_parse,
	    "{\"pools\":{\"tank\":{\"state\":\"ONLINE\",\"vdevs\":{\"tank\":{\"read_errors\":\"0\"},\"sdb\":{\"class\":"
	    "\"log\",\"read_errors\":"
	    "\"1\"}}}}}",
	    0,
	    ERRORS("sdb", "read",
		"1") "!hiwat_zpool_log_devices{pool=\"tank\"}\n!hiwat_zpool_log_unmirrored{pool=\"tank\"}\n" },
	{ "JSON without pools", zpool_status_json_parse, "{\"pools\":{}}", 0, "" },
	{ "JSON that breaks off", zpool_status_json_parse, "{\"pools\":{\"tank\":{\"state\":\"ONL", HIWAT_E_FORMAT, "" },
};

START_TEST(row)
{
	parsed_row_check(&rows[_i]);
}
END_TEST

START_TEST(any_cut_and_any_unknown_line)
{
	parsed_corpus_properties("zpool-status");
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("zpool");
	TCase *tc = tcase_create("zpool");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, row, 0, ARRAY_LEN(rows));
	tcase_add_test(tc, any_cut_and_any_unknown_line);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
