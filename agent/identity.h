/* Who this host is, and which of its lives this is. */
#ifndef HIWAT_AGENT_IDENTITY_H
#define HIWAT_AGENT_IDENTITY_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

#include "codec.h"
#include "conf.h"

struct identity_options {
	const char *state_dir; /* made when absent, its parent must exist */
	const char *proc_dir;  /* "/proc" */
	const char *root;      /* before /etc/machine-id and the like; "" except in tests */
	const char *name;      /* NULL: gethostname(2) */
	uint64_t wall_ns, boot_ns;
};

struct identity {
	/* Random, made at the first start and kept in state_dir/uuid. */
	uint8_t uuid[16];
	bool is_new; /* there was none */
	/*
	 * Linux: the kernel's own. Elsewhere a random one in state_dir/boot, made anew when the time since boot that is noted
	 * beside it lies ahead; identity_note_uptime() keeps that note fresh.
	 */
	uint8_t boot_id[16];
	uint64_t boot_time;  /* Unix seconds */
	char machine_id[64]; /* /etc/machine-id, else /var/lib/dbus/machine-id, else /etc/hostid; "" without any */
	char name[CODEC_LABEL_MAX + 1];
	char os[32]; /* lower case */
	char release[64];
	char arch[32];
	char problem[256]; /* why the identity will not last; "" when it will */
};

/*
 * Never fails: when the state directory cannot be used, the uuid follows from the machine id, or is random for want of
 * that, and problem says so.
 */
void identity_load(const struct identity_options *options, struct identity *out);
/* Only where the kernel has no boot id; to be called every few minutes. */
void identity_note_uptime(const struct identity_options *options, const struct identity *id, uint64_t boot_ns);
/* "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx" */
#define UUID_TEXT_BYTES 37
void uuid_format(const uint8_t uuid[16], char out[UUID_TEXT_BYTES]);

#endif
