/* agent.yaml as a struct. The table in config.c is the one place that says which options there are. */
#ifndef HIWAT_AGENT_CONFIG_H
#define HIWAT_AGENT_CONFIG_H

#include "conf.h"
#include "recording_conf.h"

struct buf;
struct diag;
struct sampler_config;

#define AGENT_CONFIG_DEFAULT HIWAT_SYSCONFDIR "/agent.yaml"

struct agent_config {
	struct conf_list collectors;
	char *ca_file, *cert_file, *key_file; /* NULL: the system's authorities, no certificate */
	char *token_file;
	char *name; /* NULL: the system's host name */
	struct conf_map labels;
	char *state_dir;
	uint64_t interval_ms;
	uint64_t spool_max_bytes, spool_min_free_bytes;
	struct recording_config record;
	uint64_t timeout_ms;
	bool compress;
	int log_level;                                                                 /* enum log_level */
	char *unbound_control_socket;                                                  /* NULL: the usual places are tried */
	char *unbound_control_address, *unbound_control_keys;                          /* the same */
	char *bind_statistics_url, *rndc, *rndc_config, *named_checkconf, *named_conf; /* NULL: not asked */
	char *dnsmasq_address;                                                         /* NULL: 127.0.0.1 is tried */
	struct conf_list dns_forwarders;
	int64_t dns_budget_percent;
	struct conf_list samplers_disabled;
};

extern const struct conf_schema agent_schema;

/*
 * Loads and checks what no single option can tell: TLS files that belong together, labels' names, samplers' names. All
 * complaints are in diag. path NULL: AGENT_CONFIG_DEFAULT, and the defaults alone when that file does not exist.
 * HIWAT_E_CONFIG, HIWAT_E_SYS, HIWAT_E_NOMEM.
 */
int agent_config_load(const char *path, struct agent_config *out, struct diag *diag);
void agent_config_free(struct agent_config *c);

/* What samplers take from the configuration; borrowed from c. The rest of *out stays as it is. */
void agent_config_sampler(const struct agent_config *c, struct sampler_config *out);

/* The URL of an http:// collector may be plain since it is of this host. */
bool agent_config_is_plain(const char *url);

#endif
