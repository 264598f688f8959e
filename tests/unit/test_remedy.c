/* What the pack says: which setting a remedy names on which release; templates that are left whole; figures with names. */
#include "unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "buf.h"
#include "err.h"
#include "rule_host.h"
#include "set.h"

static struct rule_set *rules;
static struct rule_host host;
static struct buf out;

static void
setup(void)
{
	struct buf errors;

	buf_init(&errors, 100000);
	buf_init(&out, 100000);
	ck_assert_msg(rule_set_load(TEST_DATA "/../collector/rules.d", &rules, &errors) == HIWAT_OK, "%s", buf_str(&errors));
	buf_fini(&errors);
	rule_host_init(&host, rules, "");
	size_t set = rule_host_begin(&host, "settings");
	static const char *const settings[] = { "kern.maxclusters", "kern.mbuf.nmbclusters", "net.core.somaxconn",
		"kern.ipc.somaxconn", "net.core.netdev_max_backlog" };
	for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
		char series[200];
		snprintf(series, sizeof(series), "hiwat_sysctl{index=\"\",name=\"%s\"}", settings[i]);
		ck_assert(rule_host_put(&host, set, series, 6144));
	}
	ck_assert(rule_host_put(&host, set, "hiwat_memory_bytes", 1 << 30));
	ck_assert(rule_host_put(&host, set, "hiwat_mbuf_sfbufs_limit", 1000));
}

static void
teardown(void)
{
	rule_host_fini(&host);
	rule_set_free(rules);
	buf_fini(&out);
}

static const char *
remedy(const char *id, const char *os, const char *release, const char *label, const char *value, double limit)
{
	struct sample_label labels = { label, value };
	const struct rule *rule = rule_set_find(rules, id);

	ck_assert_msg(rule != NULL, "no rule %s", id);
	host.view.os = os;
	host.view.release = release;
	struct rule_event e = { .rule = rule,
		.labels = label != NULL ? labels_intern(host.labels, &labels, 1) : LABELS_EMPTY,
		.status = RULE_FIRING,
		.level = rule->worst,
		.value = 0.9,
		.threshold = limit,
		.used = limit,
		.limit = limit,
		.seconds_to_limit = 60 };
	buf_reset(&out);
	ck_assert_int_eq(rule_render(rule->remedy, &e, &host.view, &out), HIWAT_OK);
	return buf_str(&out);
}

#define CONF ", and the same line in /etc/sysctl.conf"
#define BOOT " in /boot/loader.conf, then reboot"
#define LINUX_CONF ", and the same line in /etc/sysctl.d"
#define FIRST " Where the kernel refuses it at run time, kern.ipc.nmbufs has to be raised first."

/* Release, and what sets the limit there: at run time or before the kernel starts, and how much memory it may take. */
static const struct {
	const char *os, *release, *rule, *label, *value;
	double limit;
	const char *expected;
} rows[] = {
	{ "freebsd", "4.11-STABLE", "mbuf-pool-filling", "pool", "cluster", 1024,
	    "kern.ipc.nmbclusters=\"2048\"" BOOT " (at most 4 MiB of memory)." FIRST },
	{ "freebsd", "4.11", "mbuf-pool-filling", "pool", "mbuf", 4096,
	    "kern.ipc.nmbufs=\"8192\"" BOOT " (at most 2 MiB of memory)." FIRST },
	{ "freebsd", "4.11", "sockets-filling", NULL, NULL, 1000, "kern.ipc.maxsockets=\"2048\"" BOOT "." },
	{ "freebsd", "6.4", "mbuf-pool-filling", "pool", "cluster", 25600,
	    "kern.ipc.nmbclusters=\"65536\"" BOOT " (at most 128 MiB of memory)." FIRST },
	{ "freebsd", "7.2", "mbuf-pool-filling", "pool", "jumbo_9k", 6400,
	    "kern.ipc.nmbjumbo9=\"16384\"" BOOT " (at most 144 MiB of memory)." FIRST },
	{ "freebsd", "7.2", "mbuf-pool-filling", "pool", "cluster", 25600,
	    "sysctl kern.ipc.nmbclusters=65536" CONF " (at most 128 MiB of memory)." FIRST },
	{ "freebsd", "8.2-RELEASE", "mbuf-pool-filling", "pool", "jumbo_9k", 6400,
	    "sysctl kern.ipc.nmbjumbo9=16384" CONF " (at most 144 MiB of memory)." FIRST },
	{ "freebsd", "8.2", "sockets-filling", NULL, NULL, 25600, "sysctl kern.ipc.maxsockets=65536" CONF "." },
	{ "freebsd", "9.2-RELEASE-p3", "mbuf-pool-filling", "pool", "mbuf", 1000000,
	    "sysctl kern.ipc.nmbufs=2097152" CONF " (at most 512 MiB of memory)." FIRST },
	{ "freebsd", "10.4", "mbuf-pool-filling", "pool", "jumbo_page", 6400,
	    "sysctl kern.ipc.nmbjumbop=16384" CONF " (at most 64 MiB of memory)." FIRST },
	{ "freebsd", "12.1", "mbuf-pool-filling", "pool", "jumbo_16k", 3200,
	    "sysctl kern.ipc.nmbjumbo16=8192" CONF " (at most 128 MiB of memory)." FIRST },
	{ "freebsd", "14.0", "processes-filling", NULL, NULL, 6000,
	    "kern.maxproc=\"16384\"" BOOT "; ps axo user,comm | sort | uniq -c shows who made them." },
	{ "freebsd", "14.0", "vnodes-filling", NULL, NULL, 100000, "sysctl kern.maxvnodes=262144" CONF "." },
	{ "freebsd", "15.0", "files-filling", NULL, NULL, 100000,
	    "sysctl kern.maxfiles=262144" CONF "; fstat shows who holds them." },
	{ "freebsd", "15.0", "sfbufs-denied", NULL, NULL, NAN,
	    "kern.ipc.nsfbufs=\"2048\"" BOOT " (at most 8 MiB of memory)." },
	{ "freebsd", "8.4", "disk-timeout-short", "device", "ad4", NAN,
	    "hw.ata.to=\"15\"" BOOT ". sysctl kern.cam.ada.default_timeout=30" CONF
	    ", or kern.cam.da.default_timeout for SCSI disks." },
	{ "freebsd", "12.0", "disk-timeout-short", "device", "ada0", NAN,
	    "sysctl kern.cam.ada.default_timeout=30" CONF ", or kern.cam.da.default_timeout for SCSI disks." },
	{ "openbsd", "4.8", "mbuf-pool-filling", "pool", "mcl2k", 6144,
	    "sysctl kern.maxclusters=16384" CONF " (at most 32 MiB of memory)." },
	{ "openbsd", "5.5", "mbuf-pool-exhausted", "pool", "mcl4k", 6144,
	    "sysctl kern.maxclusters=16384" CONF " (at most 32 MiB of memory)." },
	{ "openbsd", "7.3", "mbuf-memory-filling", NULL, NULL, 1e9,
	    "sysctl kern.maxclusters=16384" CONF " (at most 32 MiB of memory)." },
	{ "openbsd", "7.3", "processes-filling", NULL, NULL, 1310, "sysctl kern.maxproc=4096" CONF "." },
	{ "netbsd", "9.2", "mbuf-pool-filling", "pool", "cluster", 65536,
	    "sysctl -w kern.mbuf.nmbclusters=131072" CONF " (at most 256 MiB of memory)." },
	{ "dragonfly", "5.8", "mbuf-pool-filling", "pool", "cluster", 10000,
	    "kern.ipc.nmbclusters=\"32768\"" BOOT " (at most 64 MiB of memory)." },
	{ "dragonfly", "5.8", "mbuf-pool-filling", "pool", "jumbo", 10000,
	    "kern.ipc.nmbjclusters=\"32768\"" BOOT " (at most 128 MiB of memory)." },
	{ "linux", "2.6.18", "conntrack-filling", NULL, NULL, 65536,
	    "sysctl -w net.ipv4.netfilter.ip_conntrack_max=131072" LINUX_CONF " (at most 40 MiB of memory)." },
	{ "linux", "2.6.32-754.el6", "conntrack-filling", NULL, NULL, 65536,
	    "sysctl -w net.netfilter.nf_conntrack_max=131072" LINUX_CONF " (at most 40 MiB of memory). echo 32768 > "
	    "/sys/module/nf_conntrack/parameters/hashsize (at most 256 KiB of memory)." },
	{ "linux", "3.10.0-1160.el7", "conntrack-filling", NULL, NULL, 65536,
	    "sysctl -w net.netfilter.nf_conntrack_max=131072" LINUX_CONF " (at most 40 MiB of memory). echo 32768 > "
	    "/sys/module/nf_conntrack/parameters/hashsize (at most 256 KiB of memory)." },
	{ "linux", "5.10.0-8-amd64", "conntrack-filling", NULL, NULL, 65536,
	    "sysctl -w net.netfilter.nf_conntrack_max=131072" LINUX_CONF " (at most 40 MiB of memory). sysctl -w "
	    "net.netfilter.nf_conntrack_buckets=32768" LINUX_CONF " (at most 256 KiB of memory)." },
	{ "linux", "6.1.0", "orphans-filling", NULL, NULL, 8192,
	    "sysctl -w net.ipv4.tcp_max_orphans=16384" LINUX_CONF " (at most 1 GiB of memory)." },
	{ "linux", "6.1.0", "files-filling", NULL, NULL, 100000,
	    "sysctl -w fs.file-max=262144" LINUX_CONF " (at most 256 MiB of memory); lsof shows who holds them." },
	{ "linux", "6.1.0", "listen-overflow", NULL, NULL, NAN,
	    "sysctl -w net.core.somaxconn=32768" LINUX_CONF
	    "; then restart the server with a backlog as long (ss -ltn shows it as "
	    "Send-Q)." },
};

START_TEST(release_names_its_setting)
{
	ck_assert_str_eq(remedy(rows[_i].rule, rows[_i].os, rows[_i].release, rows[_i].label, rows[_i].value,
			     rows[_i].limit),
	    rows[_i].expected);
}
END_TEST

static const struct {
	const char *os, *release;
} systems[] = { { "freebsd", "4.11" }, { "freebsd", "6.4" }, { "freebsd", "8.2" }, { "freebsd", "9.2" },
	{ "freebsd", "10.4" }, { "freebsd", "12.1" }, { "freebsd", "14.0" }, { "freebsd", "15.0" }, { "openbsd", "4.8" },
	{ "openbsd", "5.5" }, { "openbsd", "7.3" }, { "netbsd", "9.2" }, { "dragonfly", "5.8" }, { "linux", "2.6.32" },
	{ "linux", "3.10.0" }, { "linux", "5.10.0" }, { "linux", "6.1.0" }, { "", "" } };

/* Every text of every rule on every system, with numbers and without: nothing of a template is left over. */
START_TEST(texts_are_whole)
{
	const double numbers[] = { 1000, NAN };

	host.view.os = systems[_i].os;
	host.view.release = systems[_i].release;
	for (size_t i = 0; i < rule_set_count(rules); i++) {
		const struct rule *rule = rule_set_get(rules, i);
		const char *const texts[] = { rule->summary, rule->description, rule->remedy };
		for (size_t k = 0; k < 2 * ARRAY_LEN(texts); k++) {
			double v = numbers[k / ARRAY_LEN(texts)];
			struct rule_event e = { .rule = rule,
				.labels = LABELS_EMPTY,
				.status = RULE_FIRING,
				.level = rule->worst,
				.value = v,
				.threshold = v,
				.used = v,
				.limit = v,
				.seconds_to_limit = v };
			buf_reset(&out);
			ck_assert_int_eq(rule_render(texts[k % ARRAY_LEN(texts)], &e, &host.view, &out), HIWAT_OK);
			const char *text = buf_str(&out);
			ck_assert_msg(out.len > 0 && strstr(text, "{{") == NULL && strstr(text, "}}") == NULL &&
				strstr(text, "nan") == NULL && strstr(text, "inf ") == NULL,
			    "%s on %s %s: %s", rule->id, systems[_i].os, systems[_i].release, text);
		}
	}
}
END_TEST

/* Numbers that are no figure: none and one, bits of a byte, hertz of a MHz, bytes of a cluster, the window of mbuf-leak. */
static bool
is_factor(double v)
{
	static const double factors[] = { 0, 1, 8, 1000000, 2048, 6 * 3600 };

	for (size_t i = 0; i < ARRAY_LEN(factors); i++) {
		if (v == factors[i])
			return true;
	}
	return false;
}

static void
check_numbers(const struct rule *rule, const struct node *n)
{
	if (n == NULL)
		return;
	ck_assert_msg(n->op != NODE_CONST || is_factor(n->number), "%s: the figure %g has no name to override it by",
	    rule->id, n->number);
	check_numbers(rule, n->a);
	check_numbers(rule, n->b);
}

START_TEST(figures_have_names)
{
	for (size_t i = 0; i < rule_set_count(rules); i++) {
		const struct rule_full *r = &rules->rules[i];
		for (unsigned l = 0; l < r->n_levels; l++) {
			check_numbers(&r->pub, r->levels[l].fire);
			/* What is relaxed by the default is made of the threshold; what a rule gives itself is a name too. */
			const struct node *clear = node_threshold(r->levels[l].stay);
			ck_assert_msg(clear == NULL || clear->op != NODE_CONST || is_factor(clear->number), "%s: clear: %g",
			    r->pub.id, clear->number);
		}
		check_numbers(&r->pub, r->used);
		check_numbers(&r->pub, r->limit);
		check_numbers(&r->pub, r->eta);
	}
}
END_TEST

/* What refuses: a limit, or memory; what fills a pool: use, or caches. */
static const struct {
	const char *rule;
	double used, limit, in_use, cached; /* the last two of pool cluster */
	const char *part;
} reason_rows[] = {
	{ "pf-memory", 9900, 10000, NAN, NAN, "9900 states of 10000: the limit itself refuses" },
	{ "pf-memory", 4000, 10000, NAN, NAN,
	    "The limit of 10000 states is not reached, 4000 are there: the kernel has no memory" },
	{ "mbuf-denied", NAN, 1000, 990, 0, "The pool is at its limit" },
	{ "mbuf-denied", NAN, 1000, 100, 0, "Only 100 of 1000 are in use now" },
	{ "mbuf-pool-filling", 800, 1000, 100, 700, "Most of them, 700, are free items in caches" },
	{ "mbuf-pool-filling", 800, 1000, 700, 100, "Items held in caches count too" },
};

START_TEST(texts_tell_what_refuses)
{
	struct sample_label pool = { "pool", "cluster" };
	size_t set = rule_host_begin(&host, "mbuf");
	const struct rule *rule = rule_set_find(rules, reason_rows[_i].rule);
	struct rule_event e = { .rule = rule,
		.labels = labels_intern(host.labels, &pool, 1),
		.status = RULE_FIRING,
		.level = rule->worst,
		.used = reason_rows[_i].used,
		.limit = reason_rows[_i].limit,
		.seconds_to_limit = NAN };

	if (!isnan(reason_rows[_i].in_use)) {
		rule_host_put(&host, set, "hiwat_mbuf_pool_in_use{pool=\"cluster\"}", reason_rows[_i].in_use);
		rule_host_put(&host, set, "hiwat_mbuf_pool_cached{pool=\"cluster\"}", reason_rows[_i].cached);
	}
	ck_assert_int_eq(rule_render(rule->description, &e, &host.view, &out), HIWAT_OK);
	ck_assert_msg(strstr(buf_str(&out), reason_rows[_i].part) != NULL, "%s", buf_str(&out));
}
END_TEST

START_TEST(texts_tell_the_figure_in_force)
{
	const struct rule *rule = rule_set_find(rules, "pf-insert-surge");
	const struct rule_override o = { "pf-insert-surge", "times", 25, "", "host1" };
	struct rule_event e = { .rule = rule,
		.labels = LABELS_EMPTY,
		.status = RULE_FIRING,
		.level = rule->worst,
		.value = 600 };

	ck_assert_int_eq(rule_set_override(rules, &o), HIWAT_OK);
	ck_assert_int_eq(rule_render(rule->summary, &e, &host.view, &out), HIWAT_OK);
	ck_assert_str_eq(buf_str(&out), "600 new states a second, more than 25 times the usual");
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("remedy");
	TCase *tc = tcase_create("remedy");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, release_names_its_setting, 0, ARRAY_LEN(rows));
	tcase_add_loop_test(tc, texts_are_whole, 0, ARRAY_LEN(systems));
	tcase_add_test(tc, figures_have_names);
	tcase_add_loop_test(tc, texts_tell_what_refuses, 0, ARRAY_LEN(reason_rows));
	tcase_add_test(tc, texts_tell_the_figure_in_force);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
