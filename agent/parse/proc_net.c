/* /proc/net/{netstat,sockstat,sockstat6,softnet_stat} and /proc/net/stat/nf_conntrack: the network's own counters. */
#include "proc.h"

#include "arena.h"
#include "err.h"
#include "last_dump.h"
#include "record_row.h"

/* ---------------------------------------------------------------------------------------------------- net/netstat */

/* TcpExt counters of queues and memory that ran out. */
static const char *const tcp_events[] = {
	"ListenDrops",
	"OfoPruned",
	"PFMemallocDrop",
	"PruneCalled",
	"RcvPruned",
	"SyncookiesFailed",
	"SyncookiesRecv",
	"TCPAbortOnMemory",
	"TCPBacklogDrop",
	"TCPMemoryPressures",
	"TCPMemoryPressuresChrono",
	"TCPOFODrop",
	"TCPRcvCollapsed",
	"TCPRcvQDrop",
	"TCPReqQFullDoCookies",
	"TCPReqQFullDrop",
	"TCPSynRetrans",
	"TCPTimeWaitOverflow",
	"TCPWqueueTooBig",
	"TCPZeroWindowDrop",
};

/* The other groups that net/netstat and net/snmp print. */
static const char *const other_groups[] = { "IpExt", "MPTcpExt", "Ip", "Icmp", "IcmpMsg", "Tcp", "Udp", "UdpLite" };

static bool
is_word_of(struct text t, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (text_eq(t, words[i]))
			return true;
	}
	return false;
}

#define IS_WORD_OF(t, words) is_word_of((t), (words), sizeof(words) / sizeof((words)[0]))

static bool
is_letter(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* The line's group, as "TcpExt" of "TcpExt: ..."; *line goes on behind the colon. */
static bool
group_of(struct text *line, struct text *group)
{
	return text_until(line, ':', group) && (*group = text_trim(*group)).n > 0;
}

/* A line of a group that names its numbers, not the one with the numbers. */
static bool
is_names(struct text line)
{
	line = text_trim(line);
	return line.n > 0 && is_letter(*line.p);
}

static int
tcp_value(struct arena *arena, Hiwat__Net *net, struct text name, uint64_t value)
{
	if (text_eq(name, "ListenOverflows")) {
		Hiwat__Listen *listen = RECORD_ONE(arena, net, listen, listen);
		if (listen == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(listen, overflows_total, value);
	} else if (text_eq(name, "SyncookiesSent")) {
		Hiwat__SynCookies *cookies = RECORD_ONE(arena, net, syn_cookies, syn_cookies);
		if (cookies == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(cookies, sent_total, value);
	} else if (IS_WORD_OF(name, tcp_events)) {
		Hiwat__TcpEvents *event = RECORD_ROW(arena, net, tcp_events, tcp_events, name);
		if (event == NULL)
			return HIWAT_E_NOMEM;
		if (!event->has_total)
			RECORD_SET(event, total, value);
	}
	return HIWAT_OK;
}

/*
 * Names and numbers belong together by their place. The line of names is the longer one and the first to be cut, by the
 * width of a terminal or an editor; numbers that are too few otherwise than at the end of the text have no explanation.
 */
static int
tcp_pair(struct arena *arena, Hiwat__Net *net, struct text names, struct text values, bool cut, uint64_t *unknown,
    struct parse_reason *why)
{
	struct text name, value, n = names, v = values;
	size_t n_names = 0, n_values = 0;

	while (text_word(&n, &name))
		n_names++;
	while (text_word(&v, &value))
		n_values++;
	if (n_values < n_names && !cut)
		return parse_fail(why, HIWAT_E_FORMAT, "TcpExt has %zu names and %zu numbers", n_names, n_values);
	/* The last word of a cut line may be half a name or half a number. */
	size_t n_pairs = n_names < n_values ? n_names : n_values;
	if (n_names != n_values) {
		n_pairs -= n_pairs > 0;
		++*unknown;
	}
	for (size_t i = 0; i < n_pairs && text_word(&names, &name) && text_word(&values, &value); i++) {
		uint64_t number;
		if (!text_is_u64(value, &number))
			continue;
		int err = tcp_value(arena, net, name, number);
		if (err != HIWAT_OK)
			return err;
	}
	return HIWAT_OK;
}

int
proc_net_netstat_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	struct text rest = in->text, line, group, names = { 0 }, pending = { 0 }, values = { 0 };
	uint64_t unknown = 0;
	bool cut, is_cut = false;

	/* The last pair that is whole; one at a cut end only when there is no other. */
	while (text_line(&rest, &line, &cut)) {
		if (text_trim(line).n == 0)
			continue;
		if (!group_of(&line, &group) || (!text_eq(group, "TcpExt") && !IS_WORD_OF(group, other_groups))) {
			unknown += !cut;
		} else if (text_eq(group, "TcpExt")) {
			if (is_names(line)) {
				pending = cut ? (struct text){ 0 } : line;
			} else if (pending.n > 0 && (!cut || values.n == 0)) {
				names = pending;
				values = line;
				is_cut = cut;
				pending.n = 0;
			}
		}
	}
	if (values.n == 0)
		return parse_fail(why, HIWAT_E_NODATA, "no pair of TcpExt lines");
	Hiwat__Net *net = RECORD_ONE(arena, out, net, net);
	if (net == NULL)
		return HIWAT_E_NOMEM;
	int err = tcp_pair(arena, net, names, values, is_cut, &unknown, why);
	if (err == HIWAT_OK && unknown > 0)
		err = record_count_unknown(arena, out, "proc-net-netstat", unknown);
	return err;
}

int
proc_net_netstat_recognise(struct text text)
{
	struct text line, group;

	for (int i = 0; i < 40 && text_line(&text, &line, NULL); i++) {
		if (group_of(&line, &group) && text_eq(group, "TcpExt") && is_names(line))
			return 95;
	}
	return 0;
}

/* --------------------------------------------------------------------------------------- net/sockstat, net/sockstat6 */

/* Rows by their names in the file; last is the word whose number ends a row as kernels since 2.6.25 print it. */
static const struct protocol {
	const char *name, *label, *last;
} protocols[] = {
	{ "sockets", "all", "used" },
	{ "TCP", "tcp", "mem" },
	{ "UDP", "udp", "mem" },
	{ "UDPLITE", "udplite", "inuse" },
	{ "RAW", "raw", "inuse" },
	{ "FRAG", "frag", "memory" },
	{ "TCP6", "tcp6", "inuse" },
	{ "UDP6", "udp6", "inuse" },
	{ "UDPLITE6", "udplite6", "inuse" },
	{ "RAW6", "raw6", "inuse" },
	{ "FRAG6", "frag6", "memory" },
};
#define N_PROTOCOLS (sizeof(protocols) / sizeof(protocols[0]))

static const char *const socket_states[] = { "inuse", "orphan", "tw", "alloc", "used" };

static const struct protocol *
protocol_of(struct text line, struct text *behind)
{
	struct text group;

	*behind = line;
	if (!group_of(behind, &group))
		return NULL;
	for (size_t i = 0; i < N_PROTOCOLS; i++) {
		if (text_eq(group, protocols[i].name))
			return &protocols[i];
	}
	return NULL;
}

static bool
begins_sockstat(struct text line)
{
	struct text behind;
	const struct protocol *p = protocol_of(line, &behind);

	return p != NULL && text_eq(text_of(p->label), "all");
}

static int
add_memory(struct arena *arena, Hiwat__Net *net, const char *label, uint64_t bytes)
{
	Hiwat__SocketMemory *m = RECORD_ROW(arena, net, socket_memory, socket_memory, text_of(label));

	if (m == NULL)
		return HIWAT_E_NOMEM;
	if (!m->has_bytes)
		RECORD_SET(m, bytes, bytes);
	return HIWAT_OK;
}

static int
add_sockets(struct arena *arena, Hiwat__Net *net, const char *label, struct text state, uint64_t value)
{
	Hiwat__Sockets *m = RECORD_ROW(arena, net, sockets, sockets, text_of(label), state);

	if (m == NULL)
		return HIWAT_E_NOMEM;
	if (!m->has_value)
		RECORD_SET(m, value, value);
	return HIWAT_OK;
}

/* Pairs of a word and a number up to the first that is none. False when there is no pair, or something behind them. */
static int
sockstat_row(struct arena *arena, Hiwat__Net *net, const struct protocol *p, struct text line, bool cut, uint64_t page_size,
    bool *is_known)
{
	struct text key, word;
	int err = HIWAT_OK;

	*is_known = false;
	while (err == HIWAT_OK && text_word(&line, &key)) {
		int64_t signed_value;
		if (!text_word(&line, &word) || text_i64(&word, &signed_value) != HIWAT_OK || word.n > 0) {
			*is_known = false;
			break;
		}
		/* Memory is summed without locks and may be below zero for a moment. */
		uint64_t value = signed_value > 0 ? (uint64_t)signed_value : 0;
		if (cut && line.n == 0 && !text_eq(key, p->last))
			break;
		*is_known = true;
		if (text_eq(key, "mem")) {
			if (value > UINT64_MAX / page_size)
				*is_known = false;
			else
				err = add_memory(arena, net, p->label, value * page_size);
		} else if (text_eq(key, "memory")) {
			err = add_memory(arena, net, p->label, value);
		} else if (IS_WORD_OF(key, socket_states)) {
			err = add_sockets(arena, net, p->label, key, value);
		}
	}
	return err;
}

int
proc_sockstat_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	struct text rest = last_dump(in->text, begins_sockstat), line, behind;
	uint64_t page_size = in->page_size > 0 ? in->page_size : 4096, unknown = 0;
	bool cut, seen[N_PROTOCOLS] = { false };

	/* sockstat6 has no "sockets" row. */
	if (rest.n == 0)
		rest = in->text;
	Hiwat__Net *net = RECORD_ONE(arena, out, net, net);
	if (net == NULL)
		return HIWAT_E_NOMEM;
	while (text_line(&rest, &line, &cut)) {
		const struct protocol *p = protocol_of(line, &behind);
		bool is_known = false;
		if (text_trim(line).n == 0)
			continue;
		if (p != NULL && !seen[p - protocols]) {
			size_t before = net->n_sockets + net->n_socket_memory;
			int err = sockstat_row(arena, net, p, behind, cut, page_size, &is_known);
			if (err != HIWAT_OK)
				return err;
			seen[p - protocols] = net->n_sockets + net->n_socket_memory > before;
		}
		unknown += !is_known && !cut;
	}
	if (net->n_sockets + net->n_socket_memory == 0)
		return parse_fail(why, HIWAT_E_NODATA, "no row of a protocol and its sockets");
	return unknown > 0 ? record_count_unknown(arena, out, "sockstat", unknown) : HIWAT_OK;
}

int
proc_sockstat_recognise(struct text text)
{
	struct text line, behind, word;

	for (int i = 0; i < 20 && text_line(&text, &line, NULL); i++) {
		const struct protocol *p = protocol_of(line, &behind);
		if (p != NULL && text_word(&behind, &word) && (text_eq(word, "inuse") || text_eq(word, "used")))
			return 95;
	}
	return 0;
}
