/* collector.yaml as a struct. The table in config.c is the one place that says which options there are. */
#ifndef HIWAT_COLLECTOR_CONFIG_H
#define HIWAT_COLLECTOR_CONFIG_H

#include "conf.h"
#include "recording_conf.h"

struct buf;

#define COLLECTOR_CONFIG_DEFAULT HIWAT_SYSCONFDIR "/collector.yaml"
#define COLLECTOR_RULES_DEFAULT HIWAT_DATADIR "/rules.d"

struct listener_config {
	char *address;
	int64_t port;
	char *cert_file, *key_file, *client_ca_file;
};

struct route_config {
	char *name, *url, *secret_file, *ca_file, *user, *from;
	struct conf_list urls, to, command, match, hours;
	char *time_zone;
	int sink;      /* index into config_sink_words */
	int min_level; /* index into config_level_words */
	bool updates, starttls;
	uint64_t timeout_ms, expire_ms, repeat_ms;
};

/* One entry of overrides: figures of a rule, or that it is off, for all hosts, those with a label, or one. */
struct override_config {
	char *rule, *host, *label; /* label: "name=value" */
	struct conf_map set;
	bool off;
};

struct collector_config {
	struct listener_config ingest, web;
	int64_t ingest_threads, connections_max, connections_per_address;
	uint64_t body_total_max;
	char *state_dir, *rules_dir, *tokens_file, *pagerduty_secret_file, *public_url, *time_zone;
	int64_t hosts_max, series_max;
	uint64_t snapshot_interval_ms, silent_min_ms;
	struct recording_config record;
	struct conf_items routes;    /* struct route_config */
	struct conf_items overrides; /* struct override_config */
	struct conf_map profiles;    /* role to the profiles of the audit, words with blanks between */
	int log_level;               /* enum log_level */
};

extern const struct conf_schema collector_schema;
extern const char *const config_sink_words[];
extern const char *const config_level_words[];

/*
 * Loads and checks what no single option can tell: TLS files that belong together, an open port without TLS, two routes of
 * one name. All complaints are in diag. HIWAT_E_CONFIG, HIWAT_E_SYS, HIWAT_E_NOMEM.
 */
int collector_config_load(const char *path, struct collector_config *out, struct diag *diag);
void collector_config_free(struct collector_config *c);

/* 127.0.0.0/8 or ::1. */
bool config_is_loopback(const char *address);

struct judge_config;
struct rule_set;

/* What the judge takes from the configuration. */
struct judge_config collector_config_judge(const struct collector_config *c);

/*
 * Loads the rules that the configuration names and applies its overrides. *errors has a line for each mistake.
 * HIWAT_E_CONFIG, HIWAT_E_SYS, HIWAT_E_NOMEM.
 */
int collector_config_rules(const struct collector_config *c, struct rule_set **rules, struct buf *errors);

/* Gives the rule set the profiles that roles use when no configuration says otherwise. */
int collector_config_default_profiles(struct rule_set *rules);

#endif
