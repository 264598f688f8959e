#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "buf.h"
#include "config.h"
#include "diag.h"
#include "err.h"
#include "identity.h"
#include "keep.h"
#include "sampler.h"
#include "scan.h"

static char dir[64], path[128];
static struct diag diag;
static struct agent_config config;

static void
setup(void)
{
	snprintf(dir, sizeof(dir), "/tmp/hiwat-config-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/agent.yaml", dir);
	diag_init(&diag);
	config = (struct agent_config){ 0 };
}

static void
remove_file(const char *name)
{
	char file[300];

	snprintf(file, sizeof(file), "%s/%s", dir, name);
	unlink(file);
	rmdir(file);
}

static void
teardown(void)
{
	static const char *const files[] = { "agent.yaml", "state/uuid", "state/boot", "state", "etc/machine-id",
		"etc/hostid", "etc", "proc/sys/kernel/random/boot_id", "proc/sys/kernel/random", "proc/sys/kernel",
		"proc/sys", "proc" };

	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		remove_file(files[i]);
	ck_assert_int_eq(rmdir(dir), 0);
	agent_config_free(&config);
	diag_fini(&diag);
}

static void
put(const char *sub, const char *name, const char *text)
{
	char where[300];

	snprintf(where, sizeof(where), "%s/%s", dir, sub);
	mkdir(where, 0755);
	ck_assert_int_eq(keep_write(where, name, text_of(text)), 0);
}

static int
load(const char *text)
{
	put(".", "agent.yaml", text);
	return agent_config_load(path, &config, &diag);
}

START_TEST(config_takes_a_control_port)
{
	ck_assert_int_eq(load("dns: {unbound_control_address: '::1#8954', unbound_control_keys: /k}\n"), 0);
	struct sampler_config sampler = SAMPLER_DEFAULTS;
	agent_config_sampler(&config, &sampler);
	ck_assert_str_eq(sampler.unbound_control_address, "::1#8954");
	ck_assert_str_eq(sampler.unbound_control_keys, "/k");
}
END_TEST

START_TEST(config_takes_all)
{
	ck_assert_int_eq(
	    load("collectors: [https://a:9780, 'http://127.0.0.1:1', 'http://[::1]/x']\n"
		 "tls: {ca_file: /ca, cert_file: /c, key_file: /k}\ntoken_file: /t\nname: n\n"
		 "labels: {role: dns}\nstate_dir: /s\ninterval: 1s\nspool: {max_bytes: 1MiB, min_free_bytes: 0}\n"
		 "timeout: 5s\ncompress: true\nlog_level: debug\ndns: {unbound_control_socket: /u,\n"
		 "  bind_statistics_url: 'http://[::1]:8053/json', rndc: /r, rndc_config: /rc, named_checkconf: /n,\n"
		 "  named_conf: /nc, budget_percent: 5, dnsmasq_address: 192.0.2.1, forwarders: ['::1#5']}\n"
		 "samplers: {disabled: [disk, pf]}\n"),
	    0);
	ck_assert_uint_eq(config.collectors.n, 3);
	ck_assert_str_eq(config.ca_file, "/ca");
	ck_assert_str_eq(config.key_file, "/k");
	ck_assert_str_eq(config.labels.pairs[0].value, "dns");
	ck_assert(config.interval_ms == 1000 && config.spool_max_bytes == 1 << 20 && config.spool_min_free_bytes == 0);
	ck_assert(config.compress && config.log_level == 3);
	ck_assert_str_eq(config.samplers_disabled.items[1], "pf");
	struct sampler_config sampler = SAMPLER_DEFAULTS;
	agent_config_sampler(&config, &sampler);
	ck_assert_str_eq(sampler.proc_dir, "/proc");
	ck_assert_str_eq(sampler.unbound_control_socket, "/u");
	ck_assert_str_eq(sampler.bind_statistics_url, "http://[::1]:8053/json");
	ck_assert_str_eq(sampler.rndc, "/r");
	ck_assert_str_eq(sampler.rndc_config, "/rc");
	ck_assert_str_eq(sampler.named_checkconf, "/n");
	ck_assert_str_eq(sampler.named_conf, "/nc");
	ck_assert_uint_eq(sampler.dns_budget_percent, 5);
	ck_assert_str_eq(sampler.dnsmasq_address, "192.0.2.1");
	ck_assert_uint_eq(sampler.n_dns_forwarders, 1);
	ck_assert_str_eq(sampler.dns_forwarders[0], "::1#5");
}
END_TEST

static const struct {
	const char *text, *complaint;
} wrong_rows[] = {
	{ "collectors: [http://a]", ":1:14: collectors: \"http://a\" is a plain http URL" },
	{ "collectors: [http://localhost.example.org]", ":1:14: collectors: \"http://localhost.example.org\" is a plain" },
	{ "collectors: [http://127.0.0.1.example.org/]", ":1:14: collectors: \"http://127.0.0.1.example.org/\" is a plain" },
	{ "collectors: [ftp://a]", ":1:14: collectors: \"ftp://a\" is no URL of https://" },
	{ "collectors: ['https://u:p@a']", ":1:14: collectors: \"https://u:p@a\" is no plain URL" },
	{ "collectors: ['https://a b']", ":1:14: collectors: \"https://a b\" is no URL: it holds blanks" },
	{ "collectors: ['https://']", ":1:14: collectors: \"https://\" is a URL without a host" },
	{ "collectors: https://a", ":1:13: collectors is text; allowed: a list of texts" },
	{ "tls: {cert_file: /c}", ":1:7: tls.cert_file: it needs tls.key_file beside it" },
	{ "tls: {key_file: /k}", ":1:7: tls.key_file: it needs tls.cert_file beside it" },
	{ "dns: {unbound_control_socket: /u, unbound_control_address: 127.0.0.1}",
	    ":1:35: dns.unbound_control_address: dns.unbound_control_socket names another way" },
	{ "dns: {unbound_control_socket: /u, unbound_control_keys: /k}", ":1:35: dns.unbound_control_keys: " },
	{ "dns: {unbound_control_address: localhost}",
	    ":1:32: dns.unbound_control_address: \"localhost\" is no IP address" },
	{ "labels: {1a: x}", ":1:10: labels: \"1a\" is no name" },
	{ "labels: {__a: x}", ":1:10: labels: \"__a\" is no name" },
	{ "labels: {a: ''}", ":1:13: labels: \"\" is empty or longer than 255 bytes" },
	{ "labels: {a: \"x\\ty\"}", ":1:13: labels: \"x y\" is no text: it holds control characters" },
	{ "samplers: {disabled: [disc]}", ":1:23: samplers.disabled: no sampler \"disc\"" },
	{ "dns: {bind_statistics_url: 'https://127.0.0.1/'}",
	    ":1:28: dns.bind_statistics_url: \"https://127.0.0.1/\" is no URL of" },
	{ "dns: {bind_statistics_url: 'http://ns.example.org/'}",
	    ":1:28: dns.bind_statistics_url: \"http://ns.example.org/\" is a URL without an IP address" },
	{ "dns: {bind_statistics_url: 'http://[::1/'}",
	    ":1:28: dns.bind_statistics_url: \"http://[::1/\" is a URL without" },
	{ "dns: {bind_statistics_url: 'http://127.0.0.1/?a'}",
	    ":1:28: dns.bind_statistics_url: \"http://127.0.0.1/?a\" is no plain" },
	{ "dns: {dnsmasq_address: localhost}", ":1:24: dns.dnsmasq_address: \"localhost\" is no IP address" },
	{ "dns: {forwarders: ['192.0.2.1#65536']}", ":1:20: dns.forwarders: \"192.0.2.1#65536\" is no IP address" },
	{ "dns: {forwarders: ['192.0.2.1#']}", ":1:20: dns.forwarders: \"192.0.2.1#\" is no IP address" },
	{ "dns: {forwarders: ['192.0.2']}", ":1:20: dns.forwarders: \"192.0.2\" is no IP address" },
	{ "dns: {budget_percent: 0}", ":1:23: dns.budget_percent: \"0\" is out of range" },
	{ "interval: 500ms", ":1:11: interval: \"500ms\" is out of range" },
	{ "spool: {max_bytes: 1KiB}", ":1:20: spool.max_bytes: \"1KiB\" is out of range" },
	{ "token: x", ":1:1: unknown key \"token\"; allowed: token_file" },
};

START_TEST(config_complains)
{
	ck_assert_int_eq(load(wrong_rows[_i].text), HIWAT_E_CONFIG);
	ck_assert_uint_eq(diag.n, 1);
	const char *text = diag_text(&diag);
	ck_assert_msg(strncmp(text, path, strlen(path)) == 0 &&
		strncmp(text + strlen(path), wrong_rows[_i].complaint, strlen(wrong_rows[_i].complaint)) == 0,
	    "got: %s", text);
}
END_TEST

START_TEST(config_missing_file)
{
	ck_assert_int_eq(agent_config_load(path, &config, &diag), HIWAT_E_SYS);
	ck_assert_uint_eq(diag.n, 1);
}
END_TEST

/* The sample means the defaults; that it shows every option is tested where it is installed. */
START_TEST(config_sample_is_the_default)
{
	ck_assert_int_eq(agent_config_load(TEST_DATA "/../deploy/config/agent.yaml", &config, &diag), 0);
	ck_assert_str_eq(config.state_dir, "/var/lib/hiwat-agent");
	ck_assert(config.interval_ms == 10000 && config.spool_max_bytes == 64 << 20 && config.collectors.n == 0);
}
END_TEST

static struct identity
identify(uint64_t boot_ns, const char *name)
{
	static char state[100], proc[100];
	struct identity_options o = {
		.state_dir = state,
		.proc_dir = proc,
		.root = dir,
		.name = name,
		.wall_ns = 2000000000000,
		.boot_ns = boot_ns,
	};
	struct identity id;

	snprintf(state, sizeof(state), "%s/state", dir);
	snprintf(proc, sizeof(proc), "%s/proc", dir);
	identity_load(&o, &id);
	return id;
}

static void
put_boot_id(const char *text)
{
	put("proc", "x", "");
	remove_file("proc/x");
	put("proc/sys", "x", "");
	remove_file("proc/sys/x");
	put("proc/sys/kernel", "x", "");
	remove_file("proc/sys/kernel/x");
	put("proc/sys/kernel/random", "boot_id", text);
}

START_TEST(identity_lasts)
{
	put("etc", "machine-id", "0123456789abcdef0123456789abcdef\n");
	put_boot_id("00112233-4455-6677-8899-aabbccddeeff\n");
	struct identity a = identify(500000000000, NULL), b = identify(600000000000, "me");
	static const uint8_t boot_id[16] = { 0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd,
		0xee, 0xff };

	ck_assert_str_eq(a.problem, "");
	ck_assert_mem_eq(a.uuid, b.uuid, 16);
	ck_assert_uint_eq(a.uuid[6] >> 4, 4);
	ck_assert_mem_eq(a.boot_id, boot_id, 16);
	ck_assert_uint_eq(a.boot_time, 1500);
	ck_assert_str_eq(a.machine_id, "0123456789abcdef0123456789abcdef");
	ck_assert_str_eq(b.name, "me");
	ck_assert(a.name[0] != '\0' && a.os[0] != '\0' && a.release[0] != '\0' && a.arch[0] != '\0');
	/* A file that is not a UUID is replaced. */
	put("state", "uuid", "rubbish");
	struct identity c = identify(1, "x\ny\xff");
	ck_assert_mem_ne(a.uuid, c.uuid, 16);
	ck_assert_str_eq(c.problem, "");
	ck_assert_str_eq(c.name, "x?y?");
	struct identity d = identify(1, NULL);
	ck_assert_mem_eq(c.uuid, d.uuid, 16);
}
END_TEST

START_TEST(identity_without_state)
{
	put("etc", "hostid", "abc\n");
	put(".", "state", "a file where the directory should be");
	struct identity a = identify(1, NULL), b = identify(1, NULL);

	ck_assert(strstr(a.problem, "is made of its machine id") != NULL);
	ck_assert_mem_eq(a.uuid, b.uuid, 16);
	ck_assert_uint_eq(a.uuid[6] >> 4, 8);
	remove_file("etc/hostid");
	a = identify(1, NULL);
	b = identify(1, NULL);
	ck_assert(strstr(a.problem, "will change") != NULL);
	ck_assert_mem_ne(a.uuid, b.uuid, 16);
}
END_TEST

/* Without a boot id of the kernel: the time since boot going back is a new boot. */
START_TEST(identity_notes_uptime)
{
	struct identity a = identify(1000, NULL), b = identify(2000, NULL);

	ck_assert_mem_eq(a.boot_id, b.boot_id, 16);
	struct identity c = identify(1500, NULL);
	ck_assert_mem_ne(a.boot_id, c.boot_id, 16);
	char state[100];
	snprintf(state, sizeof(state), "%s/state", dir);
	struct identity_options o = { .state_dir = state, .proc_dir = "/nonexistent" };
	identity_note_uptime(&o, &c, 9000);
	struct identity d = identify(8999, NULL);
	ck_assert_mem_ne(c.boot_id, d.boot_id, 16);
}
END_TEST

static Suite *
make_suite(void)
{
	Suite *s = suite_create("config");
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, config_takes_all);
	tcase_add_test(tc, config_takes_a_control_port);
	tcase_add_loop_test(tc, config_complains, 0, ARRAY_LEN(wrong_rows));
	tcase_add_test(tc, config_missing_file);
	tcase_add_test(tc, config_sample_is_the_default);
	tcase_add_test(tc, identity_lasts);
	tcase_add_test(tc, identity_without_state);
	tcase_add_test(tc, identity_notes_uptime);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
