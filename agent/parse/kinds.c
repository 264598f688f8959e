#include "parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "arena.h"
#include "dns.h"
#include "dnsmasq_log.h"
#include "err.h"
#include "kernel_log.h"
#include "netstat.h"
#include "pasted.h"
#include "pfctl.h"
#include "proc.h"
#include "quoted.h"
#include "registry.h"
#include "sysctl.h"

#include "vmstat.h"
#include "zpool.h"

const struct parse_kind parse_kinds[] = {
	{ "bind-json", "BIND's statistics channel, JSON", bind_json_parse, bind_json_recognise },
	{ "bind-stats", "BIND's named.stats, from rndc stats", bind_stats_parse, bind_stats_recognise },
	{ "dmesg", "kernel log: dmesg", kernel_log_parse, NULL },
	{ "dnsmasq-log", "dnsmasq's log with what it says on SIGUSR1", dnsmasq_log_parse, dnsmasq_log_recognise },
	{ "journalctl-k", "kernel log: journalctl -k", kernel_log_parse, NULL },
	{ "ifconfig", "interfaces of BSD and Linux: ifconfig, with -m", ifconfig_parse, ifconfig_recognise },
	{ "kernel-log", "kernel log in any form, as from syslog", kernel_log_parse, kernel_log_recognise },
	{ "named-conf", "named-checkconf -p", named_conf_parse, named_conf_recognise },
	{ "netstat-L", "accept queues: netstat -L", netstat_listen_parse, netstat_listen_recognise },
	{ "netstat-i", "interface counters: netstat -i", netstat_i_parse, netstat_i_recognise },
	{ "netstat-m", "BSD network buffers: netstat -m", netstat_m_parse, netstat_m_recognise },
	{ "netstat-m-json", "BSD network buffers: netstat --libxo json -m", netstat_m_json_parse, netstat_m_json_recognise },
	{ "netstat-s", "protocol counters: netstat -s", netstat_s_parse, netstat_s_recognise },
	{ "nf-conntrack-stat", "Linux /proc/net/stat/nf_conntrack", proc_nf_conntrack_stat_parse,
	    proc_nf_conntrack_stat_recognise },
	{ "pfctl-info", "pfctl -s info: states, searches, counters of the packet filter", pfctl_info_parse,
	    pfctl_info_recognise },
	{ "pfctl-memory", "pfctl -s memory: limits of the packet filter", pfctl_memory_parse, pfctl_memory_recognise },
	{ "pfctl-rules", "pfctl -s rules: tables that rules overload into", pfctl_rules_parse, pfctl_rules_recognise },
	{ "pfctl-tables", "pfctl -vvs Tables, pfctl -t NAME -T show: addresses in tables", pfctl_tables_parse,
	    pfctl_tables_recognise },
	{ "pfctl-timeouts", "pfctl -s timeouts: when states expire", pfctl_timeouts_parse, pfctl_timeouts_recognise },
	{ "proc-interrupts", "Linux /proc/interrupts", proc_interrupts_parse, proc_interrupts_recognise },
	{ "proc-net-netstat", "Linux /proc/net/netstat", proc_net_netstat_parse, proc_net_netstat_recognise },
	{ "proc-softirqs", "Linux /proc/softirqs", proc_softirqs_parse, proc_softirqs_recognise },
	{ "proc-stat", "Linux /proc/stat", proc_stat_parse, proc_stat_recognise },
	{ "registry", "exported Windows registry: numbers of Tcpip\\Parameters and other keys", registry_parse,
	    registry_recognise },
	{ "resolved-statistics", "resolvectl statistics, text or JSON", resolved_statistics_parse,
	    resolved_statistics_recognise },
	{ "rndc-status", "rndc status", rndc_status_parse, rndc_status_recognise },
	{ "sockstat", "Linux /proc/net/sockstat and sockstat6", proc_sockstat_parse, proc_sockstat_recognise },
	{ "softnet-stat", "Linux /proc/net/softnet_stat", proc_softnet_stat_parse, proc_softnet_stat_recognise },
	{ "sysctl", "kernel settings: sysctl -a", sysctl_parse, sysctl_recognise },
	{ "unbound-stats", "unbound-control stats_noreset", unbound_stats_parse, unbound_stats_recognise },
	{ "vmstat-i", "BSD interrupts: vmstat -i", vmstat_i_parse, vmstat_i_recognise },
	{ "vmstat-i-json", "BSD interrupts: vmstat --libxo json -i", vmstat_i_json_parse, vmstat_i_json_recognise },
	{ "vmstat-z", "FreeBSD kernel memory zones: vmstat -z", vmstat_z_parse, vmstat_z_recognise },
	{ "zpool-status", "zpool status", zpool_status_parse, zpool_status_recognise },
	{ "zpool-status-json", "zpool status -j", zpool_status_json_parse, zpool_status_json_recognise },
	{ 0 },
};

const struct parse_kind *
parse_kind_find(const char *name)
{
	for (const struct parse_kind *k = parse_kinds; k->name != NULL; k++) {
		if (strcmp(k->name, name) == 0)
			return k;
	}
	return NULL;
}

const struct parse_kind *
parse_recognise(struct text text)
{
	const struct parse_kind *best = NULL;
	int surest = 0;

	for (const struct parse_kind *k = parse_kinds; k->name != NULL; k++) {
		int sure = k->recognise != NULL ? k->recognise(text) : 0;
		if (sure > surest) {
			surest = sure;
			best = k;
		}
	}
	return best;
}

static const char *const os_words[] = { [PARSE_OS_FREEBSD] = "freebsd",
	[PARSE_OS_OPENBSD] = "openbsd",
	[PARSE_OS_NETBSD] = "netbsd",
	[PARSE_OS_DRAGONFLY] = "dragonfly",
	[PARSE_OS_LINUX] = "linux" };

bool
parse_os_of(const char *word, enum parse_os *os)
{
	for (size_t i = 0; i < sizeof(os_words) / sizeof(os_words[0]); i++) {
		if (os_words[i] != NULL && strcmp(word, os_words[i]) == 0) {
			*os = (enum parse_os)i;
			return true;
		}
	}
	return false;
}

const char *
parse_os_word(enum parse_os os)
{
	return os_words[os];
}

static size_t
put_utf8(char *out, uint32_t c)
{
	size_t n = 0;

	if (c < 0x80) {
		out[n++] = (char)c;
		return n;
	}
	if (c < 0x800) {
		out[n++] = (char)(0xc0 | c >> 6);
	} else {
		if (c < 0x10000) {
			out[n++] = (char)(0xe0 | c >> 12);
		} else {
			out[n++] = (char)(0xf0 | c >> 18);
			out[n++] = (char)(0x80 | (c >> 12 & 0x3f));
		}
		out[n++] = (char)(0x80 | (c >> 6 & 0x3f));
	}
	out[n++] = (char)(0x80 | (c & 0x3f));
	return n;
}

static uint32_t
utf16_unit(struct text t, size_t i, bool big_endian)
{
	unsigned char first = (unsigned char)t.p[2 * i], second = (unsigned char)t.p[2 * i + 1];

	return big_endian ? (uint32_t)first << 8 | second : (uint32_t)second << 8 | first;
}

static int
strip(struct arena *arena, struct text *text)
{
	int err = pasted_plain(arena, text);

	if (err == HIWAT_OK)
		err = quoted_strip(arena, text);
	return err == HIWAT_OK ? pasted_margin(arena, text) : err;
}

int
parse_decode(struct arena *arena, struct text *text)
{
	struct text t = *text;

	if (text_skip(&t, "\xef\xbb\xbf")) {
		*text = t;
		return strip(arena, text);
	}
	bool big_endian = text_skip(&t, "\xfe\xff");
	if (!big_endian && !text_skip(&t, "\xff\xfe"))
		return strip(arena, text);
	size_t units = t.n / 2, len = 0;
	char *out = arena_calloc(arena, units + 1, 3); /* a unit makes three bytes at most, a pair of units four */
	if (out == NULL)
		return HIWAT_E_NOMEM;
	for (size_t i = 0; i < units; i++) {
		uint32_t c = utf16_unit(t, i, big_endian);
		uint32_t low = c >= 0xd800 && c < 0xdc00 && i + 1 < units ? utf16_unit(t, i + 1, big_endian) : 0;
		if (low >= 0xdc00 && low < 0xe000) {
			c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
			i++;
		} else if (c >= 0xd800 && c < 0xe000) {
			c = '?';
		}
		len += put_utf8(out + len, c);
	}
	*text = (struct text){ out, len };
	return strip(arena, text);
}

bool
parse_looks_binary(struct text text)
{
	size_t n = text.n < 8192 ? text.n : 8192;

	return n > 0 && memchr(text.p, '\0', n) != NULL;
}

int
parse_fail(struct parse_reason *why, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why->text, sizeof(why->text), fmt, ap);
	va_end(ap);
	return err;
}
