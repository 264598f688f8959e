#include "unit.h"

#include <string.h>

#include "arena.h"
#include "err.h"
#include "parsed.h"
#include "pfctl.h"

#define STATUS "Status: Enabled for 1 days 02:03:04              Debug: err\n\n"
#define TABLE \
	"State Table                          Total             Rate\n" \
	"  current entries                       12               \n" \
	"  searches                             300            1.0/s\n" \
	"  inserts                               20            0.0/s\n" \
	"  removals                               8            0.0/s\n"
#define COUNTERS \
	"Counters\n" \
	"  match                                 40            0.1/s\n" \
	"  memory                                 5            0.0/s\n"
#define ZEROS \
	"State Table                          Total             Rate\n" \
	"  current entries                        0\n" \
	"  searches                               0\n" \
	"  inserts                                0\n" \
	"  removals                               0\n" \
	"Counters\n" \
	"  match                                  0\n" \
	"  memory                                 0\n"
#define LIMITS3 \
	"states        hard limit    10000\n" \
	"src-nodes     hard limit    10000\n" \
	"frags         hard limit     5000\n"
#define UNKNOWN(kind) "hiwat_parse_unknown_lines_total{source=\"pfctl-" kind "\"}"

/* Expected: lines that must be there, "!series" for those that must not. */
static const struct {
	const char *name;
	parse_fn *parse;
	const char *text;
	int err;
	const char *expected;
} rows[] = {
	/* ------------------------------------------------------------------------------------------------------ info */
	{ "plain", pfctl_info_parse, STATUS TABLE COUNTERS, 0,
	    "hiwat_pf_enabled 1\nhiwat_pf_running_seconds 93784\nhiwat_pf_states 12\nhiwat_pf_state_searches_total 300\n"
	    "hiwat_pf_counter_total{counter=\"memory\"} 5\n!hiwat_pf_source_nodes\n!" UNKNOWN("info") "\n" },
	{ "the heading decides what a row means", pfctl_info_parse,
	    STATUS "Hostid:   0x8ec2f1a3\nChecksum: 0x00112233445566778899aabbccddeeff\n\n" TABLE
		   "  half-open tcp                          3                 \n"
		   "Source Tracking Table\n"
		   "  current entries                        7               \n"
		   "  searches                              31            0.0/s\n"
		   "  inserts                               32            0.0/s\n"
		   "  removals                              33            0.0/s\n"
		   "Fragments\n"
		   "  current entries                        9               \n"
		   "  searches                              41            0.0/s\n"
		   "  inserts                               42            0.0/s\n"
		   "  removals                              43            0.0/s\n" COUNTERS "Limit Counters\n"
		   "  max states per rule                   51            0.0/s\n"
		   "  overload flush states                 52            0.0/s\n"
		   "Adaptive Syncookies Watermarks\n"
		   "  start                              25000 states\n"
		   "  end                                12500 states\n",
	    0,
	    "hiwat_pf_states 12\nhiwat_pf_half_open_states 3\nhiwat_pf_state_removals_total 8\nhiwat_pf_source_nodes 7\n"
	    "hiwat_pf_source_node_searches_total 31\nhiwat_pf_source_node_inserts_total 32\n"
	    "hiwat_pf_source_node_removals_total 33\nhiwat_pf_fragments 9\n"
	    "hiwat_pf_limit_counter_total{counter=\"max states per rule\"} 51\n"
	    "hiwat_pf_limit_counter_total{counter=\"overload flush states\"} 52\n"
	    "!hiwat_pf_counter_total{counter=\"start\"}\n!" UNKNOWN("info") "\n" },
	{ "rows of an interface are no counters; CRLF", pfctl_info_parse,
	    "Status: Enabled for 0 days 00:00:09           Debug: Urgent\r\n\r\n"
	    "Interface Stats for em0               IPv4             IPv6\r\n"
	    "  Bytes In                            1000               20\r\n"
	    "  Packets In\r\n"
	    "    Passed                              10                1\r\n"
	    "    Blocked                              2                0\r\n\r\n"
	    "State Table                          Total             Rate\r\n"
	    "  current entries                        4               \r\n"
	    "Counters\r\n"
	    "  fragment                               6            0.6/s\r\n",
	    0,
	    "hiwat_pf_running_seconds 9\nhiwat_pf_states 4\nhiwat_pf_counter_total{counter=\"fragment\"} 6\n"
	    "!hiwat_pf_fragments\n!hiwat_pf_counter_total{counter=\"Passed\"}\n!" UNKNOWN("info") "\n" },
	{ "blanks collapsed, a prompt in front, no last newline", pfctl_info_parse,
	    "fw# pfctl -s info\nfw# Status: Enabled for 0 days 01:00:00 Debug: err\nState Table Total Rate\n"
	    "current entries 3\nsearches 30 0.1/s\nCounters\nmatch 2 0.0/s\nsynproxy 1 0.0",
	    0,
	    "hiwat_pf_states 3\nhiwat_pf_running_seconds 3600\nhiwat_pf_counter_total{counter=\"match\"} 2\n"
	    "hiwat_pf_counter_total{counter=\"synproxy\"} 1\n" },
	{ "disabled", pfctl_info_parse, "Status: Disabled                              Debug: Urgent\n\n" ZEROS, 0,
	    "hiwat_pf_enabled 0\nhiwat_pf_states 0\nhiwat_pf_counter_total{counter=\"match\"} "
	    "0\n!hiwat_pf_running_seconds\n" },
	{ "disabled for a while is not running", pfctl_info_parse,
	    "Status: Disabled for 0 days 00:10:00          Debug: Urgent\n\n" ZEROS, 0,
	    "hiwat_pf_enabled 0\n!hiwat_pf_running_seconds\n" },
	{ "disabled and without lists", pfctl_info_parse,
	    "Status: Disabled                              Debug: None\n\n"
	    "State Table                          Total             Rate\n"
	    "  current entries                        0\nCounters\n",
	    HIWAT_E_IMPLAUSIBLE, "" },
	{ "the clock went back", pfctl_info_parse,
	    "Status: Enabled for 49709 days 21:12:40       Debug: Urgent\n\n" TABLE COUNTERS, 0,
	    "hiwat_pf_enabled 1\nhiwat_pf_states 12\n!hiwat_pf_running_seconds\n" },
	{ "OpenBSD 3.0", pfctl_info_parse,
	    "Status: Enabled  Time: 1026000100  Since: 1026000000  Debug: None\n"
	    "Bytes In IPv4: 1024        Bytes Out: 2048      \n"
	    "         IPv6: 0           Bytes Out: 0         \n"
	    "Inbound Packets IPv4:  Passed: 7           Dropped: 3         \n"
	    "States: 5\n"
	    "pf Counters\n"
	    "searches                  80      \n"
	    "inserts                   10      \n"
	    "removals                  5       \n"
	    "Counters\n"
	    "match                     9       \n"
	    "short                     0       \n",
	    0,
	    "hiwat_pf_running_seconds 100\nhiwat_pf_states 5\nhiwat_pf_state_searches_total 80\n"
	    "hiwat_pf_counter_total{counter=\"match\"} 9\n!" UNKNOWN("info") "\n" },
	{ "a counter of the future", pfctl_info_parse,
	    STATUS TABLE COUNTERS "  frob-limit                            77            0.0/s\n", 0,
	    "hiwat_pf_counter_total{counter=\"frob-limit\"} 77\n" },
	{ "a section of the future is not the state table", pfctl_info_parse,
	    STATUS TABLE "Frob Table\n  current entries                      999               \n" COUNTERS, 0,
	    "hiwat_pf_states 12\nhiwat_pf_counter_total{counter=\"match\"} 40\n" },
	{ "half a number", pfctl_info_parse, STATUS TABLE "Counters\n  match                           4", 0,
	    "hiwat_pf_state_removals_total 8\n!hiwat_pf_counter_total{counter=\"match\"}\n" },
	{ "a whole number, though the text ends with it", pfctl_info_parse,
	    STATUS TABLE "Counters\n  match                                 40", 0,
	    "hiwat_pf_counter_total{counter=\"match\"} 40\n" },
	{ "half a time", pfctl_info_parse, "Status: Enabled for 12 days 03:04:0", 0,
	    "hiwat_pf_enabled 1\n!hiwat_pf_running_seconds\n" },
	{ "a whole time", pfctl_info_parse, "Status: Enabled for 0 days 00:00:07", 0, "hiwat_pf_running_seconds 7\n" },
	{ "too large a number", pfctl_info_parse,
	    STATUS TABLE "Counters\n  match               99999999999999999999            0.0/s\n", 0,
	    "!hiwat_pf_counter_total{counter=\"match\"}\n" UNKNOWN("info") " 1\n" },
	{ "the last of two", pfctl_info_parse,
	    STATUS TABLE COUNTERS "Status: Enabled for 2 days 00:00:00\nState Table  Total  Rate\n  current entries  99\n"
				  "  searches  1  1.0/s\n  inserts  1  1.0/s\n  removals  1  1.0/s\n" COUNTERS,
	    0, "hiwat_pf_states 99\nhiwat_pf_running_seconds 172800\n" },
	{ "the last complete one", pfctl_info_parse,
	    STATUS TABLE COUNTERS
	    "Status: Enabled for 2 days 00:00:00\n\nState Table                          Total             Rate\n"
	    "  current entries                       99               \n  sear",
	    0, "hiwat_pf_states 12\nhiwat_pf_running_seconds 93784\n" },
	{ "pfctl -s all", pfctl_info_parse,
	    "FILTER RULES:\npass in all flags S/SA keep state\n\nINFO:\n" STATUS TABLE COUNTERS
	    "\nTIMEOUTS:\ntcp.first                   120s\n\nLIMITS:\nstates        hard limit    10000\n",
	    0, "hiwat_pf_states 12\n!hiwat_pf_counter_total{counter=\"states hard limit\"}\n!" UNKNOWN("info") "\n" },
	{ "not root", pfctl_info_parse, "pfctl: /dev/pf: Permission denied\n", HIWAT_E_DENIED, "" },
	{ "not root, in securelevel words", pfctl_info_parse,
	    "No ALTQ support in kernel\npfctl: DIOCGETSTATUS: Operation not permitted\n", HIWAT_E_DENIED, "" },
	{ "below zero is zero", pfctl_info_parse,
	    STATUS "State Table                          Total             Rate\n"
		   "  current entries                       -3               \n"
		   "  searches            18446744073709551609            1.0/s\n"
		   "  inserts                               20           -1.0/s\n" COUNTERS,
	    0,
	    "hiwat_pf_states 0\nhiwat_pf_state_searches_total 18446744073709551609\nhiwat_pf_state_inserts_total "
	    "20\n!" UNKNOWN("info") "\n" },
	{ "without its first line", pfctl_info_parse,
	    TABLE "  half-open tcp                          3                 \n" COUNTERS, 0,
	    "hiwat_pf_states 12\nhiwat_pf_half_open_states 3\nhiwat_pf_counter_total{counter=\"memory\"} 5\n"
	    "!hiwat_pf_enabled\n!hiwat_pf_running_seconds\n!" UNKNOWN("info") "\n" },
	{ "two dumps without their first lines", pfctl_info_parse, ZEROS TABLE COUNTERS, 0,
	    "hiwat_pf_states 12\nhiwat_pf_counter_total{counter=\"memory\"} 5\n!" UNKNOWN("info") "\n" },
	{ "a heading alone", pfctl_info_parse, "Counters\nState Table\n", HIWAT_E_NODATA, "" },
	{ "no pf", pfctl_info_parse, "pfctl: /dev/pf: No such file or directory", HIWAT_E_MISSING, "" },
	{ "something else", pfctl_info_parse, "40/60/100/9000 mbuf clusters in use\n", HIWAT_E_NODATA, "" },
	/* ---------------------------------------------------------------------------------------------------- memory */
	{ "limits", pfctl_memory_parse, LIMITS3 "tables        unlimited\ntable-entries hard limit 123456789\n", 0,
	    "hiwat_pf_limit{pool=\"frags\"} 5000\nhiwat_pf_limit{pool=\"table-entries\"} 123456789\n"
	    "!hiwat_pf_limit{pool=\"tables\"}\n!" UNKNOWN("memory") "\n" },
	{ "half a limit", pfctl_memory_parse, LIMITS3 "table-entries hard limit   2000", 0,
	    "hiwat_pf_limit{pool=\"frags\"} 5000\n!hiwat_pf_limit{pool=\"table-entries\"}\n" },
	{ "a whole limit at the very end", pfctl_memory_parse, LIMITS3 "table-entries hard limit   200000", 0,
	    "hiwat_pf_limit{pool=\"table-entries\"} 200000\n" },
	{ "blanks collapsed, prompts, CRLF", pfctl_memory_parse,
	    "root@fw:~ # pfctl -sm\r\nroot@fw:~ # states hard limit 10000\r\nsrc-nodes hard limit 20000\r\nfrobs\r\nfrags "
	    "hard limit 300",
	    0,
	    "hiwat_pf_limit{pool=\"states\"} 10000\nhiwat_pf_limit{pool=\"src-nodes\"} 20000\n"
	    "hiwat_pf_limit{pool=\"frags\"} 300\n" UNKNOWN("memory") " 1\n" },
	{ "the last complete list", pfctl_memory_parse,
	    LIMITS3 "states        hard limit    20000\nsrc-nodes     hard limit    2", 0,
	    "hiwat_pf_limit{pool=\"states\"} 10000\n" },
	{ "the last list", pfctl_memory_parse,
	    LIMITS3
	    "states        hard limit    20000\nsrc-nodes     hard limit    20000\nfrags         hard limit     6000\n",
	    0, "hiwat_pf_limit{pool=\"states\"} 20000\nhiwat_pf_limit{pool=\"frags\"} 6000\n" },
	{ "a limit that is none", pfctl_memory_parse,
	    "states        hard limit 4294967295\nfrags         hard limit        0\n", 0,
	    "!hiwat_pf_limit{pool=\"states\"}\n!hiwat_pf_limit{pool=\"frags\"}\n" },
	{ "tabs for blanks", pfctl_memory_parse,
	    "states\thard limit\t10000\nsrc-nodes\tunlimited\nfrags\thard limit\t5000\n", 0,
	    "hiwat_pf_limit{pool=\"states\"} 10000\nhiwat_pf_limit{pool=\"frags\"} "
	    "5000\n!hiwat_pf_limit{pool=\"src-nodes\"}\n" },
	{ "limits denied", pfctl_memory_parse, "pfctl: /dev/pf: Permission denied", HIWAT_E_DENIED, "" },
	{ "no limits", pfctl_memory_parse, "tcp.first                   120s\n", HIWAT_E_NODATA, "" },
	/* -------------------------------------------------------------------------------------------------- timeouts */
	{ "seconds and states", pfctl_timeouts_parse,
	    "tcp.first                   120s\nsctp.first                   60s\nfrag                         60s\ninterval "
	    " 10s\n"
	    "adaptive.start            60000 states\nadaptive.end             120000 states\nsrc.track                     "
	    "0s\n",
	    0,
	    "hiwat_pf_timeout_seconds{timeout=\"tcp.first\"} 120\nhiwat_pf_timeout_seconds{timeout=\"sctp.first\"} 60\n"
	    "hiwat_pf_timeout_seconds{timeout=\"frag\"} 60\nhiwat_pf_timeout_seconds{timeout=\"src.track\"} 0\n"
	    "hiwat_pf_adaptive_start_states 60000\nhiwat_pf_adaptive_end_states 120000\n"
	    "!hiwat_pf_timeout_seconds{timeout=\"adaptive.start\"}\n!" UNKNOWN("timeouts") "\n" },
	{ "adaptive timeouts are off", pfctl_timeouts_parse,
	    "tcp.first  120s\nadaptive.start                0 states\nadaptive.end                  0 states\n", 0,
	    "hiwat_pf_timeout_seconds{timeout=\"tcp.first\"} "
	    "120\n!hiwat_pf_adaptive_start_states\n!hiwat_pf_adaptive_end_states\n" },
	{ "cut before the unit", pfctl_timeouts_parse, "tcp.first  120s\ntcp.opening  3", 0,
	    "hiwat_pf_timeout_seconds{timeout=\"tcp.first\"} 120\n!hiwat_pf_timeout_seconds{timeout=\"tcp.opening\"}\n" },
	{ "cut in the unit", pfctl_timeouts_parse, "tcp.first  120s\nadaptive.start  6000 sta", 0,
	    "hiwat_pf_adaptive_start_states 6000\n" },
	{ "uptimes are no timeouts", pfctl_timeouts_parse, "took 120s\nsleep 3s\n", HIWAT_E_NODATA, "" },
	/* ----------------------------------------------------------------------------------------------------- rules */
	{ "overloads", pfctl_rules_parse,
	    "block drop in log quick from <bad_hosts> to any\n"
	    "@3 pass in on em0 proto tcp from any to any port = ssh flags S/SA keep state (source-track rule, "
	    "max-src-conn 15, max-src-conn-rate 5/3, overload <bad_hosts> flush global, src.track 3)\n"
	    "  [ Evaluations: 10        Packets: 20        Bytes: 30          States: 4     ]\n"
	    "pass in proto tcp label \"USER_RULE: overload <nobody>\" keep state (overload <bad_hosts>)\n"
	    "pass out all no state # overload <comment>\n"
	    "    flags S/SA keep state (max-src-conn 9, overload <web abusers> flush)\n",
	    0,
	    "hiwat_pf_overload_table{table=\"bad_hosts\"} 1\nhiwat_pf_overload_table{table=\"web abusers\"} 1\n"
	    "!hiwat_pf_overload_table{table=\"nobody\"}\n!hiwat_pf_overload_table{table=\"comment\"}\n!" UNKNOWN(
		"rules") "\n" },
	{ "half a name", pfctl_rules_parse, "pass in keep state (max-src-conn 5, overload <bad_ho", 0,
	    "!hiwat_pf_overload_table{table=\"bad_ho\"}\n" },
	{ "broken before the name", pfctl_rules_parse,
	    "pass in all flags S/SA keep state (max-src-conn 5, overload\n<mailed> flush)\n"
	    "pass in keep state (overload \\\n    <configured> flush)\npass in keep state (overload\n# <not> this\n<nor> "
	    "this\n",
	    0,
	    "hiwat_pf_overload_table{table=\"mailed\"} 1\nhiwat_pf_overload_table{table=\"configured\"} 1\n"
	    "!hiwat_pf_overload_table{table=\"not\"}\n!hiwat_pf_overload_table{table=\"nor\"}\n" },
	{ "no rules", pfctl_rules_parse, "Status: Disabled\n", HIWAT_E_NODATA, "" },
	/* ---------------------------------------------------------------------------------------------------- tables */
	{ "tables with details", pfctl_tables_parse,
	    "-pa-r--\tbad_hosts\n"
	    "\tAddresses:   12\n"
	    "\tCleared:     Tue Jan  5 10:00:00 2021\n"
	    "\tReferences:  [ Anchors: 0                  Rules: 2                  ]\n"
	    "\tEvaluations: [ NoMatch: 100                Match: 5                  ]\n"
	    "\tIn/Block:    [ Packets: 1                  Bytes: 64                 ]\n"
	    "\tOut/XPass:   [ Packets: 0                  Bytes: 0                  ]\n"
	    "c-a-r-C\tlan\trelayd/web\n"
	    "\tAddresses:   0\n"
	    "--a----\tcut\n"
	    "\tAddresses:   3",
	    0,
	    "hiwat_pf_table_entries{table=\"bad_hosts\"} 12\nhiwat_pf_table_entries{table=\"lan@relayd/web\"} 0\n"
	    "!hiwat_pf_table_entries{table=\"cut\"}\n!" UNKNOWN("tables") "\n" },
	{ "a list of addresses", pfctl_tables_parse,
	    "# pfctl -t bad_hosts -T show\n   10.0.0.1\n   10.1.0.0/16\n  !10.1.2.3\n   2001:db8::/32\n"
	    "# pfctl -t empty -T show\n# pfctl -T show -t other -v\n   192.0.2.1\n\tCleared:     Tue Jan  5 10:00:00 2021\n"
	    "\tIn/Block:    [ Packets: 0                  Bytes: 0                  ]\n",
	    0,
	    "hiwat_pf_table_entries{table=\"bad_hosts\"} 4\nhiwat_pf_table_entries{table=\"other\"} 1\n!" UNKNOWN(
		"tables") "\n" },
	{ "a list without a name", pfctl_tables_parse, "   10.0.0.1\n   10.0.0.2\n", 0,
	    "hiwat_pf_table_entries{table=\"\"} 2\n" },
	{ "names alone", pfctl_tables_parse, "bad_hosts\nlan\n", HIWAT_E_NODATA, "" },
};

START_TEST(row)
{
	struct buf out;

	buf_init(&out, 1 << 20);
	int err = parsed_by(rows[_i].parse, text_of(rows[_i].text), &out);
	ck_assert_msg(err == rows[_i].err, "%s: %s", rows[_i].name, err_text(err));
	const char *mismatch = parsed_mismatch(&out, rows[_i].expected);
	ck_assert_msg(mismatch == NULL, "%s: %s in\n%s", rows[_i].name, mismatch, buf_str(&out));
	buf_fini(&out);
}
END_TEST

static const char *const kinds[] = { "pfctl-info", "pfctl-memory", "pfctl-timeouts" };

START_TEST(any_cut_and_any_unknown_line)
{
	parsed_corpus_properties(kinds[_i]);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("pfctl");
	TCase *tc = tcase_create("pfctl");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, row, 0, ARRAY_LEN(rows));
	tcase_add_loop_test(tc, any_cut_and_any_unknown_line, 0, ARRAY_LEN(kinds));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
