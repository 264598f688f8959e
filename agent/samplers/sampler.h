/*
 * A sampler is data: a name, an interval and how to take one sample. Adding one is a file beside this one, a row in table.c
 * and, where the data is new, a message in hiwat.proto.
 */
#ifndef HIWAT_AGENT_SAMPLER_H
#define HIWAT_AGENT_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "hiwat.pb-c.h"

struct arena;
struct fetch_trace;

#define SAMPLER_FORWARDERS_MAX 4

/* What samplers need to know of the configuration and of the system; borrowed for the life of the sampler. */
struct sampler_config {
	const char *proc_dir;                 /* "/proc"; another directory in tests */
	const char *sys_dir;                  /* "/sys" */
	const char *kmsg_path;                /* "/dev/kmsg" */
	const char *messages_path;            /* "/var/log/messages"; NULL: none */
	const char *zfs_path;                 /* "/dev/zfs"; where it is absent there are no pools */
	const char *state_dir;                /* where positions and own counts are kept; NULL: nowhere, as in once */
	const char *unbound_control_socket;   /* NULL: the usual places are tried */
	const char *unbound_control_address;  /* as dns_address_parse() takes it; NULL: 127.0.0.1 is tried */
	const char *unbound_control_keys;     /* directory; NULL: the usual places are tried */
	const char *bind_statistics_url;      /* NULL here and below: not asked */
	const char *rndc, *named_checkconf;   /* programs */
	const char *rndc_config, *named_conf; /* their files; NULL: what they take by themselves */
	const char *dnsmasq_address;          /* NULL: 127.0.0.1 is tried */
	const char *resolved_socket;          /* NULL: systemd's own */
	char *const *dns_forwarders;
	size_t n_dns_forwarders;         /* at most SAMPLER_FORWARDERS_MAX */
	unsigned dns_budget_percent;     /* of the time, see is_paced; 0: 1 */
	uint16_t dns_port;               /* where the resolver of the host is asked; 0: 53 */
	const struct fetch_trace *trace; /* hears of every call that samplers make; NULL: nobody listens */
};

/* Where systems have it all. */
#define SAMPLER_DEFAULTS \
	{ \
		.proc_dir = "/proc", .sys_dir = "/sys", .kmsg_path = "/dev/kmsg", .messages_path = "/var/log/messages", \
		.zfs_path = "/dev/zfs" \
	}

struct sampler_now {
	uint64_t wall_ns, boot_ns;
};

/* Why a sample failed: a sentence for people that names the file, socket or command. */
struct sampler_reason {
	char text[256];
	bool is_note; /* of a sample that worked: that it was not taken from its first source, and why */
};

struct sampler {
	const char *name;
	const char *help;
	unsigned interval_ms;
	unsigned deadline_ms; /* a sample that takes longer counts as timeout */
	bool may_block;       /* fetched in a thread of its own, since its source can hang */
	bool is_paced;        /* with may_block: asks a program that has others to serve, and less often when it is slow */
	bool only_configured; /* with may_block: never runs unless is_configured() */
	/* Prepares *state (owned by the caller, given back to close). Never fails for a source that is absent or denied. */
	int (*open)(const struct sampler_config *config, void **state);
	/*
	 * One sample into *out, everything but out->status, in the arena. On failure what was filled is dropped and *why says
	 * which source failed. HIWAT_E_MISSING: the source does not exist on this host. HIWAT_E_DENIED: it may not be read.
	 * HIWAT_E_TIMEOUT, HIWAT_E_TRUNCATED, HIWAT_E_IMPLAUSIBLE, HIWAT_E_FORMAT, HIWAT_E_NODATA, HIWAT_E_SYS as named.
	 */
	int (*sample)(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out,
	    struct sampler_reason *why);
	void (*close)(void *state);
	/* Whether the configuration names the source, so that its absence is a failure from the start. NULL: never. */
	bool (*is_configured)(const struct sampler_config *config);
	const char *missing_hint; /* a sentence for doctor: what would make the source appear; NULL: nothing to say */
};

/* All samplers of this system, ended by NULL. */
extern const struct sampler *const samplers[];

#endif
