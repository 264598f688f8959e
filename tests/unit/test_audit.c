#include "unit.h"

#include <stdio.h>
#include <string.h>

#include "audit.h"
#include "buf.h"
#include "err.h"
#include "rule_host.h"
#include "sysctl_names.h"

#define RULES_DIR TEST_DATA "/../collector/rules.d"

static struct rule_set *rules;
static struct rule_host host;
static struct buf out, errors;

static void
load(const char *text)
{
	buf_init(&errors, 100000);
	int err = text != NULL ? rule_set_parse("t.yaml", text, strlen(text), &rules, &errors)
			       : rule_set_load(RULES_DIR, &rules, &errors);
	ck_assert_msg(err == HIWAT_OK, "%s", buf_str(&errors));
	buf_init(&out, 100000);
}

static void
teardown(void)
{
	rule_host_fini(&host);
	rule_set_free(rules);
	buf_fini(&out);
	buf_fini(&errors);
}

static void
add_finding(void *arg, const struct audit_finding *f)
{
	(void)arg;
	buf_printf(&out, "%s: ", f->profile->id);
	audit_put(f, &out);
	buf_putc(&out, '\n');
}

/* values: "name=number ..." of sysctls, name.0 and so on of lists; "metric{...}=number" of anything else. */
static void
put_values(const char *values)
{
	char copy[4000];
	size_t set = rule_host_begin(&host, "settings");

	snprintf(copy, sizeof(copy), "%s", values);
	for (char *save, *word = strtok_r(copy, " ", &save); word != NULL; word = strtok_r(NULL, " ", &save)) {
		char series[300], *equals = strrchr(word, '=');
		ck_assert_ptr_nonnull(equals);
		*equals = '\0';
		char *at = strchr(word, '@');
		if (strncmp(word, "hiwat_", 6) == 0)
			snprintf(series, sizeof(series), "%s", word);
		else if (at != NULL)
			snprintf(series, sizeof(series), "hiwat_sysctl{index=\"%s\",name=\"%.*s\"}", at + 1,
			    (int)(at - word), word);
		else
			snprintf(series, sizeof(series), "hiwat_sysctl{index=\"\",name=\"%s\"}", word);
		double v = 0;
		ck_assert_int_eq(sscanf(equals + 1, "%lf", &v), 1);
		ck_assert_msg(rule_host_put(&host, set, series, v), "%s", series);
	}
}

#define SYSCTL_CONF ", and the same line in /etc/sysctl.conf"
#define LOADER_CONF " in /boot/loader.conf, then reboot"
#define DNS(name) "hiwat_dns_setting{name=\"" name "\",server=\"bind\"}"

static const struct {
	const char *name, *os, *release, *profiles, *values;
	unsigned compared;
	const char *expected;
} rows[] = {
	{ "a floor is met by one less than a power of two, and by more", "freebsd", "12.1-RELEASE", "server",
	    "net.inet.tcp.sendspace=65535 net.inet.tcp.recvspace=65536 net.inet.udp.recvspace=99999", 3,
	    "server: hw.ata.wc no longer exists as a setting to make (gone since FreeBSD 10.0: ATA disks belong to CAM; see "
	    "kern.cam.ada.write_cache)\n"
	    "server: kern.maxusers no longer exists as a setting to make (automatic since FreeBSD 4.5: the kernel sizes "
	    "itself "
	    "by its memory, and 0 or nothing in loader.conf is right)\n" },
	{ "a floor missed by two", "freebsd", "12.1-RELEASE", "gigabit", "net.inet.tcp.sendspace=65534", 1,
	    "gigabit: net.inet.tcp.sendspace is 65534, GIGABIT says at least 65536: sysctl "
	    "net.inet.tcp.sendspace=65536" SYSCTL_CONF "\n" },
	{ "the strictest speaks, whatever their order", "freebsd", "9.3", "gigabit nas 10g",
	    "kern.ipc.maxsockbuf=200000 kern.ipc.nmbclusters=25600", 2,
	    "nas: kern.ipc.maxsockbuf is 200000, FREENAS says at least 16777216: sysctl "
	    "kern.ipc.maxsockbuf=16777216" SYSCTL_CONF "\n"
	    "10g: kern.ipc.nmbclusters is 25600, X520 says at least 262144: sysctl kern.ipc.nmbclusters=262144" SYSCTL_CONF
	    " (at most 512 MiB of memory)\n"
	    "nas: hw.ata.to no longer exists as a setting to make (gone since FreeBSD 9.0: ATA disks belong to CAM, whose "
	    "default "
	    "is 30 s; see kern.cam.ada.default_timeout)\n"
	    "nas: net.inet.tcp.inflight.enable no longer exists as a setting to make (gone since FreeBSD 9.0: congestion "
	    "control "
	    "modules took the place of the inflight limit)\n" },
	{ "an old release sets it at boot", "freebsd", "4.11-STABLE", "gigabit", "kern.ipc.nmbclusters=1024", 1,
	    "gigabit: kern.ipc.nmbclusters is 1024, GIGABIT says at least 32768: kern.ipc.nmbclusters=\"32768\"" LOADER_CONF
	    " (at most 64 MiB of memory)\n" },
	{ "time-outs are ceilings, switches equalities", "freebsd", "11.0", "flood",
	    "net.inet.tcp.msl=30000 net.inet.tcp.blackhole=1 net.inet.udp.blackhole=1 kern.ipc.somaxconn=65535", 4,
	    "flood: net.inet.tcp.msl is 30000, DOS says at most 7500: sysctl net.inet.tcp.msl=7500" SYSCTL_CONF "\n"
	    "flood: net.inet.tcp.blackhole is 1, DOS says 2: sysctl net.inet.tcp.blackhole=2" SYSCTL_CONF "\n" },
	{ "shorter than the ceiling is fine, 0 switches a limit off", "freebsd", "11.0", "flood",
	    "net.inet.tcp.msl=5000 net.inet.icmp.icmplim=0", 2,
	    "flood: net.inet.icmp.icmplim is 0, DOS says at most 50: sysctl net.inet.icmp.icmplim=50" SYSCTL_CONF "\n" },
	{ "a threshold of 0 is no low one", "freebsd", "14.0", "10g", "hw.intr_storm_threshold=0 kern.ipc.nmbjumbo9=48000",
	    2, "" },
	{ "what the release still has is no memory", "freebsd", "10.4", "router",
	    "net.inet.ip.fastforwarding=0 net.inet.ip.forwarding=1 kern.random.sys.harvest.ethernet=0 "
	    "kern.random.sys.harvest.interrupt=0",
	    4,
	    "router: net.inet.ip.fastforwarding is 0, FORWARD says 1: sysctl net.inet.ip.fastforwarding=1" SYSCTL_CONF
	    "\n" },
	{ "and what it has not is told as such", "freebsd", "11.4-RELEASE-p1", "router", "net.inet.ip.intr_queue_maxlen=256",
	    1,
	    "router: net.inet.ip.fastforwarding no longer exists as a setting to make (gone since FreeBSD 11.0: the fast "
	    "path became "
	    "the only one)\n"
	    "router: kern.random.sys.harvest.ethernet no longer exists as a setting to make (gone since FreeBSD 11.0: "
	    "sources of "
	    "entropy are bits of one mask; see kern.random.harvest.mask)\n"
	    "router: kern.random.sys.harvest.interrupt no longer exists as a setting to make (gone since FreeBSD 11.0: "
	    "sources of "
	    "entropy are bits of one mask; see kern.random.harvest.mask)\n"
	    "router: net.inet.ip.intr_queue_maxlen is 256, wanted is at least 2048, a figure of ours: sysctl "
	    "net.inet.ip.intr_queue_maxlen=2048" SYSCTL_CONF " (FORWARD raises it without a figure)\n" },
	{ "polling on one CPU only", "freebsd", "6.4", "router", "kern.polling.enable=0 kern.hz=100 hiwat_cpu_count=1", 2,
	    "router: kern.polling.enable is 0, TUNING and DOS says 1: sysctl kern.polling.enable=1" SYSCTL_CONF "\n"
	    "router: kern.hz is 100, TUNING and DOS says at least 1000: kern.hz=\"1000\"" LOADER_CONF "\n" },
	{ "not on two", "freebsd", "6.4", "router", "kern.polling.enable=0 kern.hz=100 hiwat_cpu_count=2", 0, "" },
	{ "a list, of which what is enough stays", "linux", "5.10.0-8-amd64", "gigabit",
	    "net.ipv4.tcp_mem@0=50000 net.ipv4.tcp_mem@1=500000 net.ipv4.tcp_mem@2=196607", 1,
	    "gigabit: net.ipv4.tcp_mem is 50000 500000 196607, GIGABIT says at least 98304 131072 196608: sysctl -w "
	    "net.ipv4.tcp_mem=\"98304 500000 196607\", and the same line in /etc/sysctl.d (at most 768 MiB of memory)\n" },
	{ "the host's own sizing, when it calls for more", "freebsd", "12.1", "mail",
	    "kern.ipc.nmbclusters=25600 kern.ipc.maxsockets=25600 hiwat_tcp_connections{state=\"established\"}=2000", 2,
	    "mail: kern.ipc.nmbclusters is 25600, TUNING says at least 32768: sysctl kern.ipc.nmbclusters=32768" SYSCTL_CONF
	    " (at most 64 MiB of memory)\n"
	    "mail: kern.ipc.maxsockets is 25600, TUNING says at least 32768: sysctl kern.ipc.maxsockets=32768" SYSCTL_CONF
	    "\n" },
	{ "a resolver: what is not said is at its standard", "linux", "6.1", "resolver",
	    DNS("recursive-clients") "=2000 " DNS("max-cache-size") "=102400 " DNS("max-ncache-ttl") "=60", 5,
	    "resolver: recursive-clients is 2000, RECURSIVE says at least 1000000: in named.conf, options: "
	    "recursive-clients "
	    "1000000; then rndc reconfig (at most 19.1 GiB of memory)\n"
	    "resolver: max-cache-ttl is 604800, RECURSIVE says at most 60: in named.conf, options: max-cache-ttl 60; then "
	    "rndc "
	    "reconfig\n"
	    "resolver: cleaning-interval no longer exists as a setting to make (gone since BIND 9.15: expired records leave "
	    "the "
	    "cache one by one, since 9.5 already)\n"
	    "resolver: version is not set, RECURSIVE says a text of your own: in named.conf, options: version \"none\"; "
	    "then rndc "
	    "reconfig\n"
	    "resolver: max-cache-size is 102400 (RECURSIVE sets 100K, but BIND takes no less than 2 MB: no advice)\n" },
	{ "a resolver whose version is hidden", "linux", "6.1", "resolver",
	    DNS("recursive-clients") "=1000000 " DNS("max-cache-ttl") "=60 " DNS("max-ncache-ttl") "=60 " DNS(
		"cleaning-interval") "=1 hiwat_setting_text{name=\"version\",value=\"none\"}=1",
	    6, "" },
	{ "another system's profile says nothing", "openbsd", "7.3", "gigabit server", "net.inet.ip.forwarding=0", 0, "" },
	{ "a system of its own", "openbsd", "7.3", "router", "net.inet.ip.forwarding=0", 1,
	    "router: net.inet.ip.forwarding is 0, BRIDGE says 1: sysctl net.inet.ip.forwarding=1" SYSCTL_CONF "\n" },
	{ "an exported registry of before Vista", "windows", "5.2", "flood", "TcpTimedWaitDelay=240", 1,
	    "flood: TcpTimedWaitDelay is 240, wanted is at most 30, a figure of ours: reg add "
	    "HKLM\\SYSTEM\\CurrentControlSet\\Services\\Tcpip\\Parameters /v TcpTimedWaitDelay /t REG_DWORD /d 30, then "
	    "reboot (the "
	    "counterpart of net.inet.tcp.msl)\n" },
	{ "no settings, no audit", "freebsd", "12.1", "server nas", "hiwat_cpu_count=2", 0, "" },
};

START_TEST(one_host)
{
	load(NULL);
	rule_host_init(&host, rules, rows[_i].os);
	host.view.release = rows[_i].release;
	put_values(rows[_i].values);
	unsigned compared = audit_run(rules, &host.view, rows[_i].profiles, add_finding, NULL);
	ck_assert_str_eq(buf_str(&out), rows[_i].expected);
	ck_assert_uint_eq(compared, rows[_i].compared);
}
END_TEST

/* Which profiles a host has by itself: by its role, and by the speed of its links. */
static const struct {
	const char *role;
	const char *values;
	const char *expected; /* profile that speaks about kern.ipc.nmbclusters, or about the test's own setting */
} role_rows[] = {
	{ "mail", "a.a=1", "two" },
	{ "none", "a.a=1", "" },
	{ "none", "a.a=1 hiwat_netif_speed_bits{interface=\"em0\"}=100000000", "" },
	{ "none",
	    "a.a=1 hiwat_netif_speed_bits{interface=\"em0\"}=100000000 hiwat_netif_speed_bits{interface=\"em1\"}=1000000000",
	    "one" },
	{ "mail", "a.a=1 hiwat_netif_speed_bits{interface=\"em0\"}=1000000000", "two" },
	{ "both", "a.a=1", "three" },
};

START_TEST(roles)
{
	static const char text[] =
	    "profiles:\n"
	    "- {id: one, os: freebsd, doc: D, link_bits: 1000000000, settings: [{name: a.a, floor: 10}]}\n"
	    "- {id: three, os: freebsd, doc: D, settings: [{name: a.a, floor: 30}]}\n"
	    "- {id: two, os: freebsd, doc: D, settings: [{name: a.a, floor: 20}]}\n";
	struct sample_label label = { "role", role_rows[_i].role };
	const char *unknown = NULL;

	load(text);
	rule_host_init(&host, rules, "freebsd");
	host.view.host_labels = &label;
	host.view.n_host_labels = 1;
	put_values(role_rows[_i].values);
	ck_assert_int_eq(rule_set_profiles(rules, "*", "one", &unknown), HIWAT_OK);
	ck_assert_int_eq(rule_set_profiles(rules, "mail", "two", &unknown), HIWAT_OK);
	ck_assert_int_eq(rule_set_profiles(rules, "both", "two three", &unknown), HIWAT_OK);
	ck_assert_int_eq(rule_set_profiles(rules, "x", "two four", &unknown), HIWAT_E_MISSING);
	ck_assert_str_eq(unknown, "four");
	audit_run(rules, &host.view, "", add_finding, NULL);
	ck_assert_int_eq(strncmp(buf_str(&out), role_rows[_i].expected, strlen(role_rows[_i].expected)), 0);
	ck_assert_int_eq(out.len > 0, role_rows[_i].expected[0] != '\0');
}
END_TEST

START_TEST(overrides)
{
	static const struct rule_override given[] = {
		{ "nas/kern.ipc.somaxconn", "value", 4096, NULL, NULL },
		{ "nas/kern.ipc.somaxconn", "value", 100, "", "host2" },
		{ "nas/kern.coredump", NULL, 0, "role", "nas" },
	};
	struct sample_label label = { "role", "nas" };

	load(NULL);
	rule_host_init(&host, rules, "freebsd");
	host.view.release = "12.1";
	host.view.host_labels = &label;
	host.view.n_host_labels = 1;
	put_values("kern.ipc.somaxconn=128 kern.coredump=1");
	for (size_t i = 0; i < ARRAY_LEN(given); i++)
		ck_assert_int_eq(rule_set_override(rules, &given[i]), HIWAT_OK);
	ck_assert_int_eq(rule_set_override(rules, &(struct rule_override){ "nas/kern.ipc.somaxconn", "x", 1, NULL, NULL }),
	    HIWAT_E_MISSING);
	ck_assert_int_eq(rule_set_override(rules, &(struct rule_override){ "nas/x", NULL, 1, NULL, NULL }), HIWAT_E_MISSING);
	audit_run(rules, &host.view, "nas", add_finding, NULL);
	ck_assert_ptr_nonnull(strstr(buf_str(&out), "kern.ipc.somaxconn is 128, FREENAS says at least 4096"));
	ck_assert_ptr_null(strstr(buf_str(&out), "coredump"));
	buf_reset(&out);
	host.view.name = "host2";
	audit_run(rules, &host.view, "nas", add_finding, NULL);
	ck_assert_ptr_null(strstr(buf_str(&out), "somaxconn"));
}
END_TEST

static const struct {
	const char *text, *complaint;
} bad_rows[] = {
	{ "settings: 1\n", "t.yaml:1:11: a list of settings was expected" },
	{ "settings:\n- {os: freebsd}\n", "t.yaml:2:3: 'name' is missing" },
	{ "settings:\n- {os: freebsd, name: a.b, hwo: loader}\n", "t.yaml:2:28: unknown key 'hwo'; allowed: os, name, how" },
	{ "settings:\n- {os: freebsd, name: a.b, how: boot}\n",
	    "t.yaml:2:33: sysctl, loader or an absolute path was expected" },
	{ "settings:\n- {os: freebsd, name: a.b, removed: soon, why: x}\n",
	    "t.yaml:2:37: a release such as 9.2 was expected" },
	{ "settings:\n- {os: freebsd, name: a.b, removed: '9'}\n", "t.yaml:2:3: 'why' must say what came instead" },
	{ "settings:\n- {os: x, name: a}\n- {os: x, name: a}\n", "t.yaml:3:3: a second entry for a of x" },
	{ "settings:\n- {os: x, name: a, before: '8'}\n", "t.yaml:2:3: 'before' and 'how_before' go together" },
	{ "profiles:\n- {id: a, os: x, settings: []}\n", "t.yaml:2:3: 'doc' is missing" },
	{ "profiles:\n- {id: a, os: x, doc: d, settings: [{name: a}]}\n",
	    "t.yaml:2:37: one of floor, ceiling, equals, given and" },
	{ "profiles:\n- {id: a, os: x, doc: d, settings: [{name: a, floor: 1, equals: 1}]}\n", "t.yaml:2:37: one of floor" },
	{ "profiles:\n- {id: a, os: x, doc: d, settings: [{name: a, floor: much}]}\n",
	    "t.yaml:2:54: floor: a number was expected" },
	{ "profiles:\n- {id: a, os: x, doc: d, settings: [{name: a, floor: [1, 2, 3, 4]}]}\n", "up to 3 numbers" },
	{ "profiles:\n- {id: a, os: x, doc: d, settings: [{name: a, floor: 1}, {name: a, floor: 1}]}\n",
	    "t.yaml:2:58: a second row for a" },
	{ "profiles:\n- {id: a, os: x, doc: d, settings: []}\n- {id: a, os: x, doc: d, settings: []}\n",
	    "t.yaml:3:3: a second profile a for x" },
	{ "profiles:\n- {id: A, os: x, doc: d, settings: []}\n", "t.yaml:2:8: an id of a-z, 0-9 and -" },
};

START_TEST(mistakes)
{
	struct rule_set *set = NULL;

	buf_init(&errors, 100000);
	ck_assert_int_eq(rule_set_parse("t.yaml", bad_rows[_i].text, strlen(bad_rows[_i].text), &set, &errors),
	    HIWAT_E_CONFIG);
	ck_assert_msg(strstr(buf_str(&errors), bad_rows[_i].complaint) != NULL, "%s", buf_str(&errors));
	buf_fini(&errors);
}
END_TEST

static const struct {
	const char *a, *b;
	int order;
} release_rows[] = {
	{ "9.3-RELEASE-p5", "9.2", 1 },
	{ "9.3", "10.0", -1 },
	{ "10.0-RELEASE", "10.0", 0 },
	{ "10", "10.0", 0 },
	{ "5.10.0-8-amd64", "4.7", 1 },
	{ "3.10.0-1160.el7", "4.7", -1 },
	{ "2.6.32", "2.6.20", 1 },
	{ "", "99", 1 },
	{ "7.3", "", -1 },
	{ "", "", 0 },
};

START_TEST(releases)
{
	int order = release_compare(release_rows[_i].a, release_rows[_i].b);

	if (release_rows[_i].order == 0 && strchr(release_rows[_i].a, '-') != NULL)
		ck_assert_int_ge(order, 0);
	else
		ck_assert_int_eq(order, release_rows[_i].order);
}
END_TEST

static bool
file_names(const char *path, const char *name)
{
	char line[512], quoted[200];
	bool found = false;
	FILE *f = fopen(path, "r");

	ck_assert_msg(f != NULL, "%s", path);
	snprintf(quoted, sizeof(quoted), "\"%s\"", name);
	while (!found && fgets(line, sizeof(line), f) != NULL)
		found = strstr(line, quoted) != NULL;
	fclose(f);
	return found;
}

/* Whatever a profile or an entry names is read by the agent, live and from a saved output: else nothing would be compared. */
START_TEST(settings_are_delivered)
{
	load(NULL);
	rule_host_init(&host, rules, "freebsd");
	for (size_t i = 0; i < profile_count(rules); i++) {
		const struct profile *p = profile_get(rules, i);
		bool is_linux = strcmp(p->os, "linux") == 0, is_bsd = strstr(p->os, "bsd") != NULL;
		for (uint32_t r = 0; r < p->n_rows && (is_linux || is_bsd); r++) {
			const char *name = p->rows[r].name;
			ck_assert_msg(sysctl_name_find(text_of(name)) != NULL, "parse does not know %s", name);
			ck_assert_msg(file_names(is_linux ? TEST_DATA "/../agent/samplers/settings_linux.c"
							  : TEST_DATA "/../agent/samplers/settings_bsd.c",
					  name),
			    "no sampler reads %s", name);
		}
	}
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("audit");
	TCase *tc = tcase_create("audit"), *plain = tcase_create("plain");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_add_loop_test(tc, one_host, 0, ARRAY_LEN(rows));
	tcase_add_loop_test(tc, roles, 0, ARRAY_LEN(role_rows));
	tcase_add_test(tc, overrides);
	tcase_add_test(tc, settings_are_delivered);
	tcase_add_loop_test(plain, mistakes, 0, ARRAY_LEN(bad_rows));
	tcase_add_loop_test(plain, releases, 0, ARRAY_LEN(release_rows));
	suite_add_tcase(s, tc);
	suite_add_tcase(s, plain);
	return s;
}

UNIT_MAIN(suite)
