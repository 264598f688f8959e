/*
 * Settings of kernels as data: which there are on which release, where they are set and what a unit of them costs. Remedies
 * and the audit take their commands from here.
 */
#ifndef HIWAT_COLLECTOR_SETTINGS_H
#define HIWAT_COLLECTOR_SETTINGS_H

#include <stddef.h>

struct buf;
struct rule_set;

#define SETTINGS_MAX 2000
#define SETTING_NUMBERS_MAX 3 /* of one setting: net.ipv4.tcp_mem has three */

/* One entry of a list "settings:". Strings are owned by the rule set, "" when not given. */
struct setting {
	const char *os, *name;
	const char *how;                 /* "sysctl", "loader", or the file that is written to */
	const char *before, *how_before; /* releases before this one are set that way instead */
	const char *since;               /* the first release that has it */
	const char *removed, *automatic; /* the first release without it, or that sets it by itself */
	const char *instead, *why;
	double unit_bytes; /* memory that one unit may take, 0 unknown */
	double standard;   /* what holds when a configuration does not say it, NAN unknown */
};

enum setting_state { SETTING_HERE, SETTING_NOT_YET, SETTING_REMOVED, SETTING_AUTOMATIC };

/* NULL when nothing is known of it. */
const struct setting *setting_find(const struct rule_set *set, const char *os, const char *name);
/* release: as the system prints it ("9.3-RELEASE-p5", "5.10.0-8-amd64"); "" is taken for the newest. */
enum setting_state setting_state(const struct setting *s, const char *release);

/*
 * Appends what sets the name to this value on this system, and what number units of it cost: "sysctl
 * kern.ipc.nmbclusters=65536, and the same line in /etc/sysctl.conf (at most 128 MiB of memory)". Names that no entry knows
 * are set at run time. number: NAN, nothing is said of memory.
 */
void setting_put_command(const struct rule_set *set, const char *os, const char *release, const char *name,
    const char *value, double number, struct buf *out);

/* "FreeBSD" for "freebsd"; the word itself when it is of no known system. */
const char *setting_os_title(const char *os);

/* Negative, 0 or positive: the older release first, by the numbers in front. */
int release_compare(const char *a, const char *b);

#endif
