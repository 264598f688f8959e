#include "config.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "arena.h"
#include "codec.h"
#include "diag.h"
#include "dns_address.h"
#include "err.h"
#include "sampler.h"
#include "scan.h"
#include "spool.h"
#include "utf8.h"
#include "yaml_tree.h"

static const char *const log_words[] = { "error", "warn", "info", "debug", NULL };

/* Samplers of any system, so that one file can serve a fleet. */
static const char *const sampler_words[] = {
	"conntrack",
	"disk",
	"dns",
	"dns_bind",
	"dns_named_conf",
	"dns_probe",
	"dns_resolved",
	"dns_rndc",
	"filesystems",
	"filesystems_remote",
	"interrupts",
	"kernel_log",
	"listen",
	"listen_queues",
	"mbuf",
	"net",
	"netstat",
	"pf",
	"pf_limits",
	"settings",
	"system",
	"tcp",
	"zones",
	"zpool",
	NULL,
};

/* The authority of a URL: host and port. */
static size_t
authority_length(const char *authority)
{
	return strcspn(authority, "/?#");
}

bool
agent_config_is_plain(const char *url)
{
	return strncmp(url, "http://", 7) == 0;
}

static bool
is_loopback(const char *authority)
{
	static const char *const hosts[] = { "127.0.0.1", "[::1]", "localhost" };

	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		size_t len = strlen(hosts[i]);
		if (strncmp(authority, hosts[i], len) == 0 && strchr(":/", authority[len]) != NULL)
			return true;
	}
	return false;
}

static const char *
check_collector(const char *url)
{
	bool is_plain = agent_config_is_plain(url);
	const char *authority = url + (is_plain ? 7 : 8);

	if (!is_plain && strncmp(url, "https://", 8) != 0)
		return "no URL of https://";
	for (const char *p = url; *p != '\0'; p++) {
		if ((unsigned char)*p <= ' ' || (unsigned char)*p >= 0x7f)
			return "no URL: it holds blanks or other characters that must be escaped";
	}
	if (strpbrk(url, "?#@") != NULL)
		return "no plain URL: neither user, query nor fragment can stand in it";
	if (authority_length(authority) == 0 || authority[0] == ':')
		return "a URL without a host";
	if (is_plain && !is_loopback(authority))
		return "a plain http URL, which only localhost, 127.0.0.1 and [::1] may have";
	return NULL;
}

/* named serves its statistics without TLS: what is read is of this host. A name would ask the resolver for its own address. */
static const char *
check_statistics_url(const char *url)
{
	char host[INET6_ADDRSTRLEN];
	struct in6_addr address;
	struct text rest = text_of(url), h;

	if (!text_skip(&rest, "http://"))
		return "no URL of http://";
	for (const char *p = url; *p != '\0'; p++) {
		if ((unsigned char)*p <= ' ' || (unsigned char)*p >= 0x7f || strchr("?#@", *p) != NULL)
			return "no plain URL: it holds blanks, a user, a query or a fragment";
	}
	bool is_six = text_skip(&rest, "[");
	h = (struct text){ rest.p, strcspn(rest.p, is_six ? "]" : ":/") };
	if (h.n < sizeof(host)) {
		memcpy(host, h.p, h.n);
		host[h.n] = '\0';
		if (inet_pton(is_six ? AF_INET6 : AF_INET, host, &address) == 1 ||
		    (!is_six && strcmp(host, "localhost") == 0))
			return NULL;
	}
	return "a URL without an IP address: localhost, 127.0.0.1, [::1] or another one of this host";
}

static const char *
check_dns_address(const char *text)
{
	struct dns_address address;

	return dns_address_parse(text, DNS_PORT, &address) ? NULL : "no IP address, with or without #port";
}

static const char *
check_label_text(const char *text)
{
	size_t len = strlen(text);

	if (len == 0 || len > CODEC_LABEL_MAX)
		return "empty or longer than 255 bytes";
	for (const unsigned char *p = (const unsigned char *)text; *p != '\0'; p += utf8_sequence(p)) {
		if (*p < 0x20 || *p == 0x7f || utf8_sequence(p) == 0)
			return "no text: it holds control characters";
	}
	return NULL;
}

#define AT(member) .offset = offsetof(struct agent_config, member)
static const struct conf_option options[] = {
	{ .key = "collectors",
	    .type = CONF_LIST,
	    AT(collectors),
	    .check = check_collector,
	    .max = 8,
	    .example = "[https://hiwat.example.org:9780]",
	    .help = "Where to send to, in order: the first one that works is used. Without any, samples are kept in the "
		    "spool." },
	{ .key = "tls.ca_file",
	    .type = CONF_PATH,
	    AT(ca_file),
	    .example = HIWAT_SYSCONFDIR "/ca.crt",
	    .help =
		"Authorities that may vouch for a collector, PEM. Default: those of the system, which take more memory." },
	{ .key = "tls.cert_file",
	    .type = CONF_PATH,
	    AT(cert_file),
	    .example = HIWAT_SYSCONFDIR "/agent.crt",
	    .help = "Certificate that says which host this is, PEM. Default: none." },
	{ .key = "tls.key_file",
	    .type = CONF_PATH,
	    AT(key_file),
	    .example = HIWAT_SYSCONFDIR "/agent.key",
	    .help = "Its private key, PEM without a passphrase." },
	{ .key = "token_file",
	    .type = CONF_PATH,
	    AT(token_file),
	    .example = HIWAT_SYSCONFDIR "/token",
	    .help = "File whose first line is a bearer token that says which host this is. It is read again after a "
		    "delivery that failed. hiwat-collector itself goes by certificates; this is for a proxy before it. "
		    "Default: none." },
	{ .key = "name",
	    .type = CONF_STRING,
	    AT(name),
	    .check = check_label_text,
	    .example = "db1.example.org",
	    .help = "Name that people know this host by. Default: the system's host name." },
	{ .key = "labels",
	    .type = CONF_MAP,
	    AT(labels),
	    .check = check_label_text,
	    .max = CODEC_HOST_LABELS_MAX,
	    .example = "{role: resolver, site: north}",
	    .help = "Labels of this host; rules can look at them, incidents carry them. Default: none." },
	{ .key = "state_dir",
	    .type = CONF_PATH,
	    AT(state_dir),
	    .value = "/var/lib/hiwat-agent",
	    .help = "Directory of the identity, the spool and the positions in logs. It belongs to one host alone." },
	{ .key = "interval",
	    .type = CONF_DURATION,
	    AT(interval_ms),
	    .value = "10s",
	    .min = 1000,
	    .max = 300000,
	    .help = "Time between samples. What changes seldom is sampled less often than this." },
	{ .key = "spool.max_bytes",
	    .type = CONF_SIZE,
	    AT(spool_max_bytes),
	    .value = "64MiB",
	    .min = SPOOL_BYTES_MIN,
	    .max = 64LL << 30,
	    .help = "Disk space for what no collector has yet. When it is full the oldest samples go." },
	{ .key = "spool.min_free_bytes",
	    .type = CONF_SIZE,
	    AT(spool_min_free_bytes),
	    .value = "128MiB",
	    .help = "Space that the spool leaves free on its file system, giving up its oldest samples for it." },
	RECORDING_CONF(offsetof(struct agent_config, record), "/var/lib/hiwat-agent/recording", "256MiB"),
	{ .key = "timeout",
	    .type = CONF_DURATION,
	    AT(timeout_ms),
	    .value = "20s",
	    .min = 1000,
	    .max = 300000,
	    .help = "Longest time for one delivery, connecting included." },
	{ .key = "compress",
	    .type = CONF_BOOL,
	    AT(compress),
	    .value = "false",
	    .help = "Send with zstd. A batch is small: this costs more CPU than the network gains, unless that is slow." },
	{ .key = "log_level",
	    .type = CONF_ENUM,
	    AT(log_level),
	    .words = log_words,
	    .value = "info",
	    .help = "Most detailed messages on standard error: error, warn, info or debug." },
	{ .key = "dns.unbound_control_socket",
	    .type = CONF_PATH,
	    AT(unbound_control_socket),
	    .example = "/run/unbound.ctl",
	    .help = "Socket that unbound listens on for unbound-control. Default: the usual places are tried." },
	{ .key = "dns.unbound_control_address",
	    .type = CONF_STRING,
	    AT(unbound_control_address),
	    .check = check_dns_address,
	    .example = "127.0.0.1#8953",
	    .help = "Control port of an unbound that listens on no socket, with #port if that is not 8953. Default: "
		    "127.0.0.1 is tried." },
	{ .key = "dns.unbound_control_keys",
	    .type = CONF_PATH,
	    AT(unbound_control_keys),
	    .example = "/etc/unbound",
	    .help = "Directory of unbound_server.pem, unbound_control.pem and unbound_control.key for that port. Default: "
		    "the usual places are tried." },
	{ .key = "dns.bind_statistics_url",
	    .type = CONF_STRING,
	    AT(bind_statistics_url),
	    .check = check_statistics_url,
	    .example = "http://127.0.0.1:8053/json/v1/server",
	    .help = "Where BIND serves its statistics as JSON: what statistics-channels in named.conf says. Default: BIND "
		    "is not "
		    "asked." },
	{ .key = "dns.rndc",
	    .type = CONF_PATH,
	    AT(rndc),
	    .example = "/usr/sbin/rndc",
	    .help = "Program that BIND is asked by for the clients that wait for recursion, and their limits. It needs a "
		    "key that "
		    "the agent's user may read, and that key can do anything with named. Default: it is not run." },
	{ .key = "dns.rndc_config",
	    .type = CONF_PATH,
	    AT(rndc_config),
	    .example = HIWAT_SYSCONFDIR "/rndc.conf",
	    .help = "File with that key. Default: rndc's own." },
	{ .key = "dns.named_checkconf",
	    .type = CONF_PATH,
	    AT(named_checkconf),
	    .example = "/usr/bin/named-checkconf",
	    .help = "Program that prints the settings of BIND, run once an hour. Default: it is not run." },
	{ .key = "dns.named_conf",
	    .type = CONF_PATH,
	    AT(named_conf),
	    .example = "/etc/bind/named.conf",
	    .help = "File that it reads. Default: named-checkconf's own." },
	{ .key = "dns.dnsmasq_address",
	    .type = CONF_STRING,
	    AT(dnsmasq_address),
	    .check = check_dns_address,
	    .example = "192.0.2.53",
	    .help =
		"Where dnsmasq is asked for its statistics, with #port if that is not 53. Default: 127.0.0.1 is tried." },
	{ .key = "dns.forwarders",
	    .type = CONF_LIST,
	    AT(dns_forwarders),
	    .check = check_dns_address,
	    .max = SAMPLER_FORWARDERS_MAX,
	    .example = "[192.0.2.1, '2001:db8::1', '192.0.2.2#5353']",
	    .help = "Servers that the resolver of this host forwards to: each is asked for localhost every 30 seconds. "
		    "dnsmasq tells "
		    "of its own and needs none here. Default: none." },
	{ .key = "dns.budget_percent",
	    .type = CONF_INTEGER,
	    AT(dns_budget_percent),
	    .value = "1",
	    .min = 1,
	    .max = 100,
	    .help = "Share of the time that a resolver may spend on telling its statistics: one that answers slowly is "
		    "asked less "
		    "often, every five minutes at least." },
	{ .key = "samplers.disabled",
	    .type = CONF_LIST,
	    AT(samplers_disabled),
	    .max = 32,
	    .example = "[]",
	    .help = "Samplers that never run, by the names that hiwat-agent once list prints. Default: none." },
	{ 0 },
};
#undef AT
const struct conf_schema agent_schema = { .size = sizeof(struct agent_config), .options = options };

static void
complain(struct diag *diag, const struct yaml_node *root, const char *key, const char *what)
{
	const struct yaml_node *node = conf_find(root, key);

	if (node != NULL)
		yaml_complain_key(diag, node, "%s: %s", key, what);
	else
		yaml_complain(diag, root, "%s: %s", key, what);
}

/* A name of a label as Prometheus has it. */
static bool
is_label_name(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");

	return n > 0 && n <= CODEC_LABEL_MAX && name[n] == '\0' && !(name[0] >= '0' && name[0] <= '9') &&
	    strncmp(name, "__", 2) != 0;
}

static bool
is_sampler(const char *name)
{
	for (size_t i = 0; sampler_words[i] != NULL; i++) {
		if (strcmp(sampler_words[i], name) == 0)
			return true;
	}
	for (const struct sampler *const *s = samplers; *s != NULL; s++) {
		if (strcmp((*s)->name, name) == 0)
			return true;
	}
	return false;
}

static void
check_together(const struct agent_config *c, const struct yaml_node *root, struct diag *diag)
{
	const struct yaml_node *labels = conf_find(root, "labels"), *disabled = conf_find(root, "samplers.disabled");

	if (c->key_file != NULL && c->cert_file == NULL)
		complain(diag, root, "tls.key_file", "it needs tls.cert_file beside it");
	if (c->cert_file != NULL && c->key_file == NULL)
		complain(diag, root, "tls.cert_file", "it needs tls.key_file beside it");
	if (c->unbound_control_socket != NULL && c->unbound_control_address != NULL)
		complain(diag, root, "dns.unbound_control_address",
		    "dns.unbound_control_socket names another way to unbound");
	if (c->unbound_control_socket != NULL && c->unbound_control_keys != NULL)
		complain(diag, root, "dns.unbound_control_keys", "dns.unbound_control_socket needs none");
	if (recording_config_problem(&c->record) != NULL)
		complain(diag, root, "record.file_bytes", recording_config_problem(&c->record));
	for (const struct yaml_node *n = labels != NULL ? labels->first : NULL; n != NULL; n = n->next) {
		if (!is_label_name(n->key))
			yaml_complain_key(diag, n,
			    "labels: \"%s\" is no name; allowed: letters, digits and _, first no digit, not "
			    "beginning with __",
			    n->key);
	}
	for (const struct yaml_node *n = disabled != NULL ? disabled->first : NULL; n != NULL; n = n->next) {
		if (n->kind == YAML_SCALAR && !is_sampler(n->text))
			yaml_complain(diag, n,
			    "samplers.disabled: no sampler \"%s\"; allowed: what hiwat-agent once list prints", n->text);
	}
}

int
agent_config_load(const char *path, struct agent_config *out, struct diag *diag)
{
	struct agent_config fresh;
	struct arena arena;
	struct yaml_node *root;
	unsigned before = diag->n;

	if (path == NULL) {
		path = AGENT_CONFIG_DEFAULT;
		if (access(path, F_OK) != 0)
			return conf_defaults(&agent_schema, out);
	}
	arena_init(&arena, YAML_ARENA_MAX);
	int err = yaml_tree_load(path, &arena, diag, &root);
	if (err == 0)
		err = conf_read(&agent_schema, root, diag, &fresh);
	if (err == 0) {
		check_together(&fresh, root, diag);
		if (diag->n > before)
			err = HIWAT_E_CONFIG;
		if (err == 0)
			*out = fresh;
		else
			agent_config_free(&fresh);
	}
	arena_fini(&arena);
	return err;
}

void
agent_config_sampler(const struct agent_config *c, struct sampler_config *out)
{
	out->unbound_control_socket = c->unbound_control_socket;
	out->unbound_control_address = c->unbound_control_address;
	out->unbound_control_keys = c->unbound_control_keys;
	out->bind_statistics_url = c->bind_statistics_url;
	out->rndc = c->rndc;
	out->rndc_config = c->rndc_config;
	out->named_checkconf = c->named_checkconf;
	out->named_conf = c->named_conf;
	out->dnsmasq_address = c->dnsmasq_address;
	out->dns_forwarders = c->dns_forwarders.items;
	out->n_dns_forwarders = c->dns_forwarders.n;
	out->dns_budget_percent = (unsigned)c->dns_budget_percent;
}

void
agent_config_free(struct agent_config *c)
{
	conf_free(&agent_schema, c);
}
