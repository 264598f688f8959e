#include "config.h"

#include <stdio.h>
#include <string.h>

#include "alert.h"
#include "arena.h"
#include "audit.h"
#include "diag.h"
#include "err.h"
#include "hours.h"
#include "judge.h"
#include "match.h"
#include "notify.h"
#include "rule.h"
#include "scan.h"
#include "yaml_tree.h"

const char *const config_sink_words[] = { "webhook", "command", "alertmanager", "pagerduty", "slack", "email", NULL };
const char *const config_level_words[] = { "warning", "critical", NULL };
#define PUBLIC_URL_MAX 500
#define URLS_MAX 16
#define RECIPIENTS_MAX 32

static const char *const log_words[] = { "error", "warn", "info", "debug", NULL };

static const char *
check_route_name(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_");

	return n > 0 && n <= 64 && text[n] == '\0' ? NULL : "a name of a-z, 0-9, - and _, at most 64 characters";
}

static const char *
check_url(const char *text)
{
	return strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0 ? NULL : "a URL of http:// or https://";
}

/* A path is put behind it. */
static const char *
check_public_url(const char *text)
{
	size_t n = strlen(text);

	return check_url(text) == NULL && n <= PUBLIC_URL_MAX && text[n - 1] != '/' && strcspn(text, "?#|<> \t") == n
	    ? NULL
	    : "a URL of http:// or https:// of at most 500 bytes, without a query and a slash at its end";
}

static const char *
check_route_url(const char *text)
{
	return strncmp(text, "smtp://", 7) == 0 || strncmp(text, "smtps://", 8) == 0 || check_url(text) == NULL
	    ? NULL
	    : "a URL of http:// or https://, for mail of smtp:// or smtps://";
}

/* One address as it stands in an envelope and a header: nothing that would have to be quoted. */
static const char *
check_address(const char *text)
{
	const char *at = strchr(text, '@');
	size_t n = strlen(text);

	for (const char *c = text; *c != '\0'; c++)
		if (*c <= ' ' || *c == '\x7f' || strchr("<>()[],;:\\\"", *c) != NULL)
			at = NULL;
	return at != NULL && at != text && at[1] != '\0' && strchr(at + 1, '@') == NULL && n <= 254
	    ? NULL
	    : "an address such as ops@example.org";
}

#define ROUTE(member) .offset = offsetof(struct route_config, member)

static const struct conf_option route_options[] = {
	{ .key = "name",
	    .type = CONF_STRING,
	    ROUTE(name),
	    .required = true,
	    .check = check_route_name,
	    .example = "pager",
	    .help = "Name of the route, in logs and metrics; notifications that wait belong to it." },
	{ .key = "sink",
	    .type = CONF_ENUM,
	    ROUTE(sink),
	    .words = config_sink_words,
	    .value = "webhook",
	    .help = "How to deliver." },
	{ .key = "url",
	    .type = CONF_STRING,
	    ROUTE(url),
	    .check = check_route_url,
	    .example = "https://pager.example.org/hook",
	    .help =
		"Where a webhook posts to, or an Alertmanager is, without /api/v2; of pagerduty another address than its "
		"default, https://events.pagerduty.com/v2/enqueue; of email the server, smtp://host:587 or smtps://host." },
	{ .key = "urls",
	    .type = CONF_LIST,
	    ROUTE(urls),
	    .max = URLS_MAX,
	    .check = check_url,
	    .example = "['http://am1.example.org:9093', 'http://am2.example.org:9093']",
	    .help = "All members of a cluster of Alertmanagers, without /api/v2; url when there is one." },
	{ .key = "from",
	    .type = CONF_STRING,
	    ROUTE(from),
	    .check = check_address,
	    .example = "hiwat@example.org",
	    .help = "Sender of mail." },
	{ .key = "to",
	    .type = CONF_LIST,
	    ROUTE(to),
	    .max = RECIPIENTS_MAX,
	    .check = check_address,
	    .example = "[ops@example.org]",
	    .help = "Recipients of mail." },
	{ .key = "user",
	    .type = CONF_STRING,
	    ROUTE(user),
	    .example = "hiwat",
	    .help = "User at the mail server; the password is in secret_file." },
	{ .key = "starttls",
	    .type = CONF_BOOL,
	    ROUTE(starttls),
	    .value = "true",
	    .help = "Require TLS of the mail server; false only on a loopback address." },
	{ .key = "secret_file",
	    .type = CONF_PATH,
	    ROUTE(secret_file),
	    .example = HIWAT_SYSCONFDIR "/pager.secret",
	    .help =
		"File with the secret: the key that a webhook signs with (without it nothing is signed), the routing key of "
		"pagerduty, the address of a Slack webhook, the password of email's user." },
	{ .key = "ca_file",
	    .type = CONF_PATH,
	    ROUTE(ca_file),
	    .example = "/etc/ssl/certs/ca-certificates.crt",
	    .help = "Authorities that the receiver's certificate is checked against; the system's when absent." },
	{ .key = "command",
	    .type = CONF_LIST,
	    ROUTE(command),
	    .example = "[/usr/local/bin/page, --urgent]",
	    .help = "Program and arguments of the sink command; the incident comes on its standard input." },
	{ .key = "min_level",
	    .type = CONF_ENUM,
	    ROUTE(min_level),
	    .words = config_level_words,
	    .value = "warning",
	    .help = "Lowest level of incidents that go this way." },
	{ .key = "match",
	    .type = CONF_LIST,
	    ROUTE(match),
	    .max = MATCH_TERMS_MAX,
	    .check = match_check,
	    .example = "[role=mail, 'rule!~mbuf-undersized.*']",
	    .help =
		"Conditions that an incident must meet, all of them, to go this way: NAME=TEXT, NAME!=TEXT, NAME=~PATTERN, "
		"NAME!~PATTERN. A name is rule, cause, level, host, os, release or a label." },
	{ .key = "hours",
	    .type = CONF_LIST,
	    ROUTE(hours),
	    .max = HOURS_MAX,
	    .check = hours_check,
	    .example = "['mon-fri 08:00-18:00', sat]",
	    .help =
		"When it is open; always when absent. What is still open when they begin is told then. Ends are told at any "
		"hour." },
	{ .key = "time_zone",
	    .type = CONF_STRING,
	    ROUTE(time_zone),
	    .check = zone_check,
	    .example = "Europe/Berlin",
	    .help = "Zone of the hours; that of the collector when absent." },
	{ .key = "updates",
	    .type = CONF_BOOL,
	    ROUTE(updates),
	    .value = "false",
	    .help = "Tell also what changes in between: a level that fell, blindness, an acknowledgement." },
	{ .key = "timeout",
	    .type = CONF_DURATION,
	    ROUTE(timeout_ms),
	    .value = "10s",
	    .min = 100,
	    .max = 300000,
	    .help = "Longest time for one try." },
	{ .key = "expire",
	    .type = CONF_DURATION,
	    ROUTE(expire_ms),
	    .value = "24h",
	    .min = 60000,
	    .help = "How long a notification is tried before it is given up." },
	{ .key = "repeat",
	    .type = CONF_DURATION,
	    ROUTE(repeat_ms),
	    .value = "4h",
	    .min = 60000,
	    .help = "How often an incident that nobody took over is told again; an Alertmanager is told each minute." },
	{ 0 },
};
static const struct conf_schema route_schema = { sizeof(struct route_config), route_options };

static const char *
check_label(const char *text)
{
	const char *equals = strchr(text, '=');

	return equals != NULL && equals != text && equals[1] != '\0' ? NULL : "NAME=VALUE";
}

static const char *
check_number(const char *text)
{
	double v;

	return text_is_double(text_of(text), &v) ? NULL : "a number";
}

#define OVERRIDE(member) .offset = offsetof(struct override_config, member)

static const struct conf_option override_options[] = {
	{ .key = "rule",
	    .type = CONF_STRING,
	    OVERRIDE(rule),
	    .required = true,
	    .example = "listen-overflow",
	    .help = "Id of the rule." },
	{ .key = "set",
	    .type = CONF_MAP,
	    OVERRIDE(set),
	    .check = check_number,
	    .example = "{per_second: 200}",
	    .help = "Its figures: a level whose threshold it is, or one of its params, as rules explain shows them." },
	{ .key = "off", .type = CONF_BOOL, OVERRIDE(off), .value = "false", .help = "The rule does not apply." },
	{ .key = "host",
	    .type = CONF_STRING,
	    OVERRIDE(host),
	    .example = "db1.example.org",
	    .help = "Only for the host of this name." },
	{ .key = "label",
	    .type = CONF_STRING,
	    OVERRIDE(label),
	    .check = check_label,
	    .example = "role=web",
	    .help = "Only for hosts with this label." },
	{ 0 },
};
static const struct conf_schema override_schema = { sizeof(struct override_config), override_options };

#define OPTION(member) .offset = offsetof(struct collector_config, member)

static const struct conf_option options[] = {
	{ .key = "ingest.address",
	    .type = CONF_STRING,
	    OPTION(ingest.address),
	    .value = "127.0.0.1",
	    .help = "Address on which agents are heard. Any other than a loopback address needs TLS." },
	{ .key = "ingest.port",
	    .type = CONF_INTEGER,
	    OPTION(ingest.port),
	    .value = "9780",
	    .min = 0,
	    .max = 65535,
	    .help = "Port on which agents are heard." },
	{ .key = "ingest.cert_file",
	    .type = CONF_PATH,
	    OPTION(ingest.cert_file),
	    .example = HIWAT_SYSCONFDIR "/collector.crt",
	    .help = "Certificate that agents see, PEM, the chain included." },
	{ .key = "ingest.key_file",
	    .type = CONF_PATH,
	    OPTION(ingest.key_file),
	    .example = HIWAT_SYSCONFDIR "/collector.key",
	    .help = "Its private key." },
	{ .key = "ingest.client_ca_file",
	    .type = CONF_PATH,
	    OPTION(ingest.client_ca_file),
	    .example = HIWAT_SYSCONFDIR "/ca.crt",
	    .help = "Authority that signs the agents' certificates. An agent needs one, and may only speak for the host "
		    "that its certificate names (subjectAltName DNS)." },
	{ .key = "ingest.threads",
	    .type = CONF_INTEGER,
	    OPTION(ingest_threads),
	    .value = "2",
	    .min = 1,
	    .max = 64,
	    .help = "Threads that receive and decode." },
	{ .key = "ingest.connections_max",
	    .type = CONF_INTEGER,
	    OPTION(connections_max),
	    .value = "10000",
	    .min = 8,
	    .max = 1000000,
	    .help = "Connections at once; the system's limit of open files must allow them." },
	{ .key = "ingest.connections_per_address",
	    .type = CONF_INTEGER,
	    OPTION(connections_per_address),
	    .value = "0",
	    .min = 0,
	    .max = 1000000,
	    .help = "Connections at once from one address; 0 for no limit of its own." },
	{ .key = "ingest.body_total_max",
	    .type = CONF_SIZE,
	    OPTION(body_total_max),
	    .value = "64MiB",
	    .min = 1 << 20,
	    .help = "Memory for batches being received; above it agents are told to come back later." },
	{ .key = "web.address",
	    .type = CONF_STRING,
	    OPTION(web.address),
	    .value = "127.0.0.1",
	    .help = "Address of metrics, health and API." },
	{ .key = "web.port",
	    .type = CONF_INTEGER,
	    OPTION(web.port),
	    .value = "9781",
	    .min = 0,
	    .max = 65535,
	    .help = "Port of metrics, health and API." },
	{ .key = "web.cert_file",
	    .type = CONF_PATH,
	    OPTION(web.cert_file),
	    .example = HIWAT_SYSCONFDIR "/web.crt",
	    .help = "Certificate of the web side; plain HTTP when absent." },
	{ .key = "web.key_file",
	    .type = CONF_PATH,
	    OPTION(web.key_file),
	    .example = HIWAT_SYSCONFDIR "/web.key",
	    .help = "Its private key." },
	{ .key = "web.client_ca_file",
	    .type = CONF_PATH,
	    OPTION(web.client_ca_file),
	    .example = HIWAT_SYSCONFDIR "/admins.crt",
	    .help = "Authority that signs the certificates of those who may look; everybody may when absent." },
	{ .key = "web.tokens_file",
	    .type = CONF_PATH,
	    OPTION(tokens_file),
	    .example = HIWAT_SYSCONFDIR "/tokens",
	    .help = "Tokens of those who may change something, a line each: NAME ROLE TOKEN. Role silence may acknowledge, "
		    "close "
		    "and silence, admin may all. The collector makes one of its own: admin.token in state_dir." },
	{ .key = "web.pagerduty_secret_file",
	    .type = CONF_PATH,
	    OPTION(pagerduty_secret_file),
	    .example = HIWAT_SYSCONFDIR "/pagerduty.secret",
	    .help =
		"Secret of a PagerDuty V3 webhook to /api/v1/pagerduty: who takes an incident over there has taken it over "
		"here. Nothing is heard of PagerDuty when absent." },
	{ .key = "web.public_url",
	    .type = CONF_STRING,
	    OPTION(public_url),
	    .check = check_public_url,
	    .example = "https://hiwat.example.org",
	    .help = "The web side as people reach it; notifications then link to their incident." },
	{ .key = "state_dir",
	    .type = CONF_PATH,
	    OPTION(state_dir),
	    .value = "/var/lib/hiwat-collector",
	    .help = "Directory of the incident store and the snapshot." },
	{ .key = "rules_dir",
	    .type = CONF_PATH,
	    OPTION(rules_dir),
	    .value = COLLECTOR_RULES_DEFAULT,
	    .help = "Directory of the rules, or one file." },
	{ .key = "hosts_max",
	    .type = CONF_INTEGER,
	    OPTION(hosts_max),
	    .value = "100000",
	    .min = 1,
	    .max = 10000000,
	    .help = "Hosts that this collector takes; more are refused." },
	{ .key = "series_max",
	    .type = CONF_INTEGER,
	    OPTION(series_max),
	    .value = "4000000",
	    .min = 1000,
	    .max = 1000000000,
	    .help = "Different label sets over all hosts; series beyond are not stored." },
	{ .key = "snapshot_interval",
	    .type = CONF_DURATION,
	    OPTION(snapshot_interval_ms),
	    .value = "30s",
	    .min = 1000,
	    .max = 3600000,
	    .help = "How often the state of hosts and rules is written; agents keep batches until then." },
	{ .key = "silent_after",
	    .type = CONF_DURATION,
	    OPTION(silent_min_ms),
	    .value = "60s",
	    .min = 1000,
	    .help = "A host is silent after three of its intervals, but not before this." },
	{ .key = "time_zone",
	    .type = CONF_STRING,
	    OPTION(time_zone),
	    .check = zone_check,
	    .example = "Europe/Berlin",
	    .help = "Zone of hours, of silences and of routes that name none; the system's when absent." },
	RECORDING_CONF(offsetof(struct collector_config, record), "/var/lib/hiwat-collector/recording", "8GiB"),
	{ .key = "routes",
	    .type = CONF_ITEMS,
	    OPTION(routes),
	    .items = &route_schema,
	    .min = 0,
	    .max = ALERT_ROUTES_MAX,
	    .help = "Ways out for notifications. Every incident takes every route whose level it reaches and whose "
		    "conditions it "
		    "meets." },
	{ .key = "overrides",
	    .type = CONF_ITEMS,
	    OPTION(overrides),
	    .items = &override_schema,
	    .min = 0,
	    .max = 10000,
	    .help = "Figures of rules that are set otherwise here. What is nearer to a host wins: its name, a label, all "
		    "hosts." },
	{ .key = "profiles",
	    .type = CONF_MAP,
	    OPTION(profiles),
	    .value = "{'*': gigabit 10g, mail: mail server, file: file server, web: web server, server: server, nas: nas, "
		     "router: router}",
	    .help =
		"Profiles of the settings audit by the label role of hosts, '*' for every host. gigabit and 10g are only "
		"for hosts with such a link; flood and resolver are used by those that ask for them." },
	{ .key = "log_level",
	    .type = CONF_ENUM,
	    OPTION(log_level),
	    .words = log_words,
	    .value = "info",
	    .help = "Most detailed messages that are logged." },
	{ 0 },
};
const struct conf_schema collector_schema = { sizeof(struct collector_config), options };

bool
config_is_loopback(const char *address)
{
	return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

static void
complain(struct diag *diag, const struct yaml_node *root, const char *key, const char *what)
{
	struct yaml_node *node = conf_find(root, key);

	yaml_complain(diag, node != NULL ? node : root, "%s: %s", key, what);
}

static void
check_listener(const struct listener_config *l, const char *name, const struct yaml_node *root, struct diag *diag)
{
	char key[64] = "";

	strncat(key, name, 20);
	strncat(key, ".cert_file", 20);
	if ((l->cert_file == NULL) != (l->key_file == NULL))
		complain(diag, root, key, "cert_file and key_file go together");
	else if (l->cert_file == NULL && l->client_ca_file != NULL)
		complain(diag, root, key, "client_ca_file needs cert_file and key_file");
}

/* That a route has what its sink needs, and nothing that it would not heed. */
static void
check_sink(const struct route_config *route, const struct yaml_node *node, struct diag *diag)
{
	const struct sink *sink = sink_find(config_sink_words[route->sink]);
	const struct {
		unsigned bit;
		const char *key;
		bool given;
	} options_of_sinks[] = {
		{ SINK_URL, "a url", route->url != NULL },
		{ SINK_URLS, "urls", route->urls.n > 0 },
		{ SINK_SECRET_FILE, "a secret_file", route->secret_file != NULL },
		{ SINK_CA_FILE, "a ca_file", route->ca_file != NULL },
		{ SINK_COMMAND, "a command", route->command.n > 0 },
		{ SINK_MAIL, "a from", route->from != NULL },
		{ SINK_MAIL, "a to", route->to.n > 0 },
		{ SINK_USER, "a user", route->user != NULL },
	};

	bool is_mail = (sink->takes & SINK_MAIL) != 0;
	if (route->url != NULL && is_mail == (check_url(route->url) == NULL))
		yaml_complain(diag, node, "route %s: the sink %s needs a URL of %s", route->name, sink->name,
		    is_mail ? "smtp:// or smtps://" : "http:// or https://");
	if (is_mail && (route->user == NULL) != (route->secret_file == NULL))
		yaml_complain(diag, node, "route %s: user and secret_file, the file of its password, go together",
		    route->name);
	if ((sink->takes & SINK_URLS) != 0 && (route->url == NULL) == (route->urls.n == 0))
		yaml_complain(diag, node, "route %s: the sink %s needs a url, or urls when there are several", route->name,
		    sink->name);
	for (size_t i = 0; i < sizeof(options_of_sinks) / sizeof(options_of_sinks[0]); i++) {
		bool given = options_of_sinks[i].given;
		const char *key = options_of_sinks[i].key;

		if (!given && (sink->needs & options_of_sinks[i].bit) != 0)
			yaml_complain(diag, node, "route %s: the sink %s needs %s", route->name, sink->name, key);
		if (given && (sink->takes & options_of_sinks[i].bit) == 0)
			yaml_complain(diag, node, "route %s: the sink %s has no use for %s", route->name, sink->name, key);
	}
}

static void
check_routes(const struct collector_config *c, const struct yaml_node *root, struct diag *diag)
{
	const struct route_config *routes = c->routes.items;
	struct yaml_node *list = conf_find(root, "routes");
	const struct yaml_node *node = list != NULL ? list->first : NULL;

	for (size_t i = 0; i < c->routes.n; i++) {
		for (size_t j = 0; j < i; j++) {
			if (strcmp(routes[i].name, routes[j].name) == 0)
				yaml_complain(diag, node, "a second route named %s", routes[i].name);
		}
		check_sink(&routes[i], node, diag);
		node = node != NULL ? node->next : NULL;
	}
}

static void
check_overrides(const struct collector_config *c, const struct yaml_node *root, struct diag *diag)
{
	const struct override_config *o = c->overrides.items;
	struct yaml_node *list = conf_find(root, "overrides");
	const struct yaml_node *node = list != NULL ? list->first : NULL;

	for (size_t i = 0; i < c->overrides.n; i++) {
		if (o[i].host != NULL && o[i].label != NULL)
			yaml_complain(diag, node, "an override is for a host or for a label, not for both");
		if (o[i].off == (o[i].set.n > 0))
			yaml_complain(diag, node, "an override sets figures or says off: true, one of both");
		node = node != NULL ? node->next : NULL;
	}
}

int
collector_config_load(const char *path, struct collector_config *out, struct diag *diag)
{
	struct collector_config c;
	struct yaml_node *root = NULL;
	struct arena arena;
	unsigned before = diag->n;

	arena_init(&arena, YAML_ARENA_MAX);
	int err = yaml_tree_load(path, &arena, diag, &root);
	if (err == HIWAT_OK)
		err = conf_read(&collector_schema, root, diag, &c);
	if (err != HIWAT_OK)
		goto out;
	check_listener(&c.ingest, "ingest", root, diag);
	check_listener(&c.web, "web", root, diag);
	if (!config_is_loopback(c.ingest.address) && (c.ingest.cert_file == NULL || c.ingest.client_ca_file == NULL))
		complain(diag, root, "ingest.address",
		    "an address that others reach needs cert_file, key_file and client_ca_file");
	if (!config_is_loopback(c.web.address) && c.web.cert_file == NULL && c.tokens_file != NULL)
		complain(diag, root, "web.tokens_file",
		    "tokens over plain HTTP could be overheard: cert_file and key_file are needed");
	if (recording_config_problem(&c.record) != NULL)
		complain(diag, root, "record.file_bytes", recording_config_problem(&c.record));
	if (!config_is_loopback(c.web.address) && c.web.cert_file == NULL && c.pagerduty_secret_file != NULL)
		complain(diag, root, "web.pagerduty_secret_file",
		    "what is overheard of plain HTTP could be sent again: cert_file and key_file are needed");
	check_routes(&c, root, diag);
	check_overrides(&c, root, diag);
	if (diag->n != before) {
		conf_free(&collector_schema, &c);
		err = HIWAT_E_CONFIG;
		goto out;
	}
	*out = c;
out:
	arena_fini(&arena);
	return err;
}

void
collector_config_free(struct collector_config *c)
{
	conf_free(&collector_schema, c);
}

static bool
rule_or_row(const struct rule_set *rules, const char *id)
{
	return rule_set_find(rules, id) != NULL || profile_row_find(rules, id, 0, NULL) != NULL;
}

struct judge_config
collector_config_judge(const struct collector_config *c)
{
	return (struct judge_config){
		.hosts_max = (unsigned)c->hosts_max,
		.series_max = (unsigned)c->series_max,
		.silent_min_ms = c->silent_min_ms,
	};
}

static int
apply_override(const struct override_config *o, struct rule_set *rules, struct buf *errors)
{
	char label[256] = "";
	const char *equals = o->label != NULL ? strchr(o->label, '=') : NULL;
	struct rule_override r = { .rule = o->rule };
	int err = HIWAT_OK;

	if (equals != NULL) {
		snprintf(label, sizeof(label), "%.*s", (int)(equals - o->label), o->label);
		r.label = label;
		r.text = equals + 1;
	} else if (o->host != NULL) {
		r.label = "";
		r.text = o->host;
	}
	if (o->off)
		err = rule_set_override(rules, &r);
	if (err == HIWAT_E_MISSING)
		buf_printf(errors, "overrides: there is no rule %s\n", o->rule);
	for (size_t i = 0; i < o->set.n; i++) {
		r.param = o->set.pairs[i].name;
		text_is_double(text_of(o->set.pairs[i].value), &r.value);
		int one = rule_set_override(rules, &r);
		if (one == HIWAT_E_MISSING)
			buf_printf(errors, "overrides: rule %s %s %s\n", o->rule,
			    !rule_or_row(rules, o->rule) ? "does not exist, nor its" : "has no figure", r.param);
		err = one != HIWAT_OK ? one : err;
	}
	return err;
}

static int
apply_profiles(const struct conf_map *profiles, struct rule_set *rules, struct buf *errors)
{
	int err = HIWAT_OK;

	for (size_t i = 0; i < profiles->n; i++) {
		const char *unknown = "";
		int one = rule_set_profiles(rules, profiles->pairs[i].name, profiles->pairs[i].value, &unknown);
		if (one == HIWAT_E_MISSING)
			buf_printf(errors, "profiles.%s: there is no profile %.*s; rules list prints all\n",
			    profiles->pairs[i].name, (int)strcspn(unknown, " "), unknown);
		err = one != HIWAT_OK ? one : err;
	}
	return err;
}

int
collector_config_default_profiles(struct rule_set *rules)
{
	struct collector_config c;
	struct buf errors;

	if (conf_defaults(&collector_schema, &c) != HIWAT_OK)
		return HIWAT_E_NOMEM;
	buf_init(&errors, 4096);
	/* Rules of one's own need no profiles. */
	int err = profile_count(rules) > 0 ? apply_profiles(&c.profiles, rules, &errors) : HIWAT_OK;
	buf_fini(&errors);
	collector_config_free(&c);
	return err == HIWAT_E_MISSING ? HIWAT_OK : err;
}

int
collector_config_rules(const struct collector_config *c, struct rule_set **out, struct buf *errors)
{
	struct rule_set *rules = NULL;
	const struct override_config *o = c->overrides.items;
	int err = rule_set_load(c->rules_dir, &rules, errors);

	if (err != HIWAT_OK)
		return err;
	for (size_t i = 0; i < c->overrides.n; i++) {
		int one = apply_override(&o[i], rules, errors);
		if (one != HIWAT_OK)
			err = one == HIWAT_E_MISSING ? HIWAT_E_CONFIG : one;
	}
	int one = profile_count(rules) > 0 ? apply_profiles(&c->profiles, rules, errors) : HIWAT_OK;
	if (one != HIWAT_OK)
		err = one == HIWAT_E_MISSING ? HIWAT_E_CONFIG : one;
	if (err != HIWAT_OK) {
		rule_set_free(rules);
		return err;
	}
	*out = rules;
	return HIWAT_OK;
}
