/*
 * netstat -s, of which few counters are of use: accept queues that overflowed, SYN cookies, the SYN cache, connections by
 * state. Labels repeat in other protocols and other tables, so only TCP's section counts. Zero lines are absent with -ss,
 * which says nothing: they stay absent here.
 */
#include "netstat.h"

#include <string.h>

#include "err.h"
#include "printed.h"
#include "refuse.h"

#define T(literal) \
	{ \
		literal, sizeof(literal) - 1 \
	}

enum counter { OVERFLOWS, COOKIES, ENTRIES, COUNTERS };

enum section { SECTION_NONE, SECTION_TCP, SECTION_STATES, SECTION_OTHER };

static const struct {
	const char *printed, *label;
} states[] = {
	{ "CLOSED", "closed" },
	{ "LISTEN", "listen" },
	{ "SYN_SENT", "syn_sent" },
	{ "SYN_RCVD", "syn_received" },
	{ "ESTABLISHED", "established" },
	{ "CLOSE_WAIT", "close_wait" },
	{ "FIN_WAIT_1", "fin_wait_1" },
	{ "CLOSING", "closing" },
	{ "LAST_ACK", "last_ack" },
	{ "FIN_WAIT_2", "fin_wait_2" },
	{ "TIME_WAIT", "time_wait" },
};

#define STATES (sizeof(states) / sizeof(states[0]))

/* One dump; bit 1 << index of has and has_state says what is there. */
struct dump {
	unsigned has, has_state;
	uint64_t values[COUNTERS], in_state[STATES];
};

static void
set(struct dump *d, enum counter c, uint64_t value)
{
	d->has |= 1u << c;
	d->values[c] = value;
}

static void
take_state(struct dump *d, struct text t, uint64_t value)
{
	if ((!text_skip(&t, "connections in ") && !text_skip(&t, "connection in ")) || !text_ends(t, " state"))
		return;
	t.n -= strlen(" state");
	for (unsigned i = 0; i < STATES; i++) {
		if (text_eq(t, states[i].printed)) {
			d->has_state |= 1u << i;
			d->in_state[i] = value;
		}
	}
}

static void
take_counter(struct dump *d, struct text t, uint64_t value)
{
	static const struct {
		struct text label;
		enum counter counter;
	} labels[] = {
		{ T("listen queue overflows"), OVERFLOWS },
		{ T("listen queue overflow"), OVERFLOWS },
		{ T("times the listen queue of a socket overflowed"), OVERFLOWS }, /* Linux */
		/* OpenBSD: the accept queue or the SYN cache was full. */
		{ T("SYN packets dropped due to queue or memory full"), OVERFLOWS },
		{ T("SYN packet dropped due to queue or memory full"), OVERFLOWS },
		{ T("cookies sent"), COOKIES },
		{ T("cookie sent"), COOKIES },
		{ T("SYN cookies sent"), COOKIES },
	};

	if (text_starts(t, "entries in current SYN cache") || text_starts(t, "entry in current SYN cache"))
		set(d, ENTRIES, value);
	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++) {
		if (text_same(t, labels[i].label))
			set(d, labels[i].counter, value);
	}
}

/* The section that a heading opens; SECTION_NONE when the line is none. */
static enum section
section_of(struct text line)
{
	struct text t = text_trim(line);

	if (t.n < 2 || t.p[t.n - 1] != ':' || (*t.p >= '0' && *t.p <= '9'))
		return SECTION_NONE;
	if (text_eq(t, "tcp:") || text_eq(t, "tcp6:") || text_eq(t, "TcpExt:"))
		return SECTION_TCP;
	if (text_eq(t, "TCP connection count by state:"))
		return SECTION_STATES;
	/* Headings inside a section are indented. */
	return *line.p == ' ' || *line.p == '\t' ? SECTION_NONE : SECTION_OTHER;
}

static int
write_record(const struct dump *d, struct arena *arena, Hiwat__Record *out)
{
	Hiwat__Net *net = RECORD_ONE(arena, out, net, net);

	if (net == NULL)
		return HIWAT_E_NOMEM;
	if (d->has & 1u << OVERFLOWS) {
		Hiwat__Listen *listen = RECORD_ONE(arena, net, listen, listen);
		if (listen == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(listen, overflows_total, d->values[OVERFLOWS]);
	}
	if (d->has & 1u << COOKIES) {
		Hiwat__SynCookies *cookies = RECORD_ONE(arena, net, syn_cookies, syn_cookies);
		if (cookies == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(cookies, sent_total, d->values[COOKIES]);
	}
	if (d->has & 1u << ENTRIES) {
		Hiwat__Syncache *cache = RECORD_ONE(arena, net, syncache, syncache);
		if (cache == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(cache, entries, d->values[ENTRIES]);
	}
	for (unsigned i = 0; i < STATES; i++) {
		if ((d->has_state & 1u << i) == 0)
			continue;
		Hiwat__TcpConnections *row = RECORD_ADD(arena, net, tcp_connections, tcp_connections);
		if (row == NULL || (row->state = record_label(arena, text_of(states[i].label))) == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(row, value, d->in_state[i]);
	}
	return HIWAT_OK;
}

int
netstat_s_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	struct text rest = in->text, line, word;
	struct dump dump = { 0 }, before = { 0 };
	enum section section = SECTION_NONE;
	uint64_t value;
	bool is_ours = false;

	while (text_line(&rest, &line, NULL)) {
		enum section opened = section_of(line);
		if (opened == SECTION_TCP && section != SECTION_NONE) {
			before = dump.has != 0 ? dump : before;
			dump = (struct dump){ 0 };
		}
		if (opened != SECTION_NONE) {
			section = opened;
			is_ours |= opened == SECTION_TCP;
			continue;
		}
		/* Without any heading the lines were picked from the output; the labels belong to TCP alone. */
		if (section == SECTION_OTHER || !text_word(&line, &word) || !printed_count(word, &value))
			continue;
		line = text_trim(line);
		if (section != SECTION_STATES)
			take_counter(&dump, line, value);
		if (section != SECTION_TCP)
			take_state(&dump, line, value);
	}
	/* Counters do not vanish within a boot: a dump that lacks one of the dump before breaks off. */
	if ((before.has & ~dump.has) != 0)
		dump = before;
	if (!is_ours && dump.has == 0 && dump.has_state == 0)
		return refuse(in->text, "netstat -s", why);
	if (dump.has == 0 && dump.has_state == 0)
		return parse_fail(why, HIWAT_E_NODATA, "netstat -s printed no counter of use");
	int err = write_record(&dump, arena, out);
	return err == HIWAT_OK ? err : parse_fail(why, err, "too large");
}

int
netstat_s_recognise(struct text text)
{
	struct text line;
	enum section section = SECTION_NONE;

	text.n = text.n < RECOGNISE_MAX ? text.n : RECOGNISE_MAX;
	while (text_line(&text, &line, NULL)) {
		if (section_of(line) != SECTION_NONE)
			section = section_of(line);
		else if (section == SECTION_TCP && (text_ends(line, "packets sent") || text_ends(line, "packet sent")))
			return 90;
	}
	return 0;
}
