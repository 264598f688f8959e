#include "sysctl.h"

#include "arena.h"
#include "err.h"
#include "refuse.h"
#include "record_row.h"
#include "sysctl_names.h"
#include "sysctl_time.h"

#define NUMBERS_MAX 16 /* of one list */

struct state {
	const struct parse_input *in;
	struct arena *arena;
	Hiwat__Record *out;
	struct record_index settings;
	struct text facts[FACTS]; /* values as printed, n == 0: none; borrowed from the text */
	double numbers[NUMBERS_MAX];
	bool is_ours;
};

static bool
is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
	    c == '-' || c == '%';
}

/* "name: value", "name=value", "name = value"; a name has a dot. */
static bool
split_line(struct text line, struct text *name, struct text *value)
{
	size_t n = 0;
	bool has_dot = false;

	while (n < line.n && is_name_char(line.p[n])) {
		has_dot |= line.p[n] == '.';
		n++;
	}
	*name = (struct text){ line.p, n };
	*value = (struct text){ line.p + n, line.n - n };
	text_skip_blanks(value);
	if (!has_dot || (!text_skip(value, ":") && !text_skip(value, "=")))
		return false;
	*value = text_trim(*value);
	return true;
}

static int
add_setting(struct state *s, struct text name, const char *place, double value)
{
	Hiwat__Settings *settings = RECORD_ONE(s->arena, s->out, settings, settings);

	if (settings == NULL)
		return HIWAT_E_NOMEM;
	Hiwat__Sysctl *row = RECORD_INDEX_ROW(&s->settings, settings, sysctls, sysctl, name, text_of(place));
	if (row == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(row, value, value);
	return HIWAT_OK;
}

static int
take_setting(struct state *s, struct text name, struct text value)
{
	static const char *const places[] = { "0", "1", "2", "3", "4", "5", "6", "7" };
	size_t n = sysctl_numbers(value, true, s->numbers, NUMBERS_MAX);

	if (n == 1)
		return add_setting(s, name, "", s->numbers[0]);
	for (size_t i = 0; i < n && i < sizeof(places) / sizeof(places[0]); i++) {
		if (add_setting(s, name, places[i], s->numbers[i]) != HIWAT_OK)
			return HIWAT_E_NOMEM;
	}
	return HIWAT_OK;
}

/* Of several dumps the last one counts. */
static int
add_word(struct state *s, struct text name, struct text value)
{
	Hiwat__Settings *settings = RECORD_ONE(s->arena, s->out, settings, settings);
	Hiwat__SettingText *row = NULL;

	for (size_t i = 0; settings != NULL && i < settings->n_texts; i++) {
		if (text_eq(name, settings->texts[i]->name))
			row = settings->texts[i];
	}
	if (settings == NULL || (row == NULL && (row = RECORD_ADD(s->arena, settings, texts, setting_text)) == NULL) ||
	    (row->name = record_label(s->arena, name)) == NULL || (row->value = record_label(s->arena, value)) == NULL)
		return HIWAT_E_NOMEM;
	return HIWAT_OK;
}

static int
take_line(struct state *s, struct text line)
{
	struct text name, value;

	if (!split_line(line, &name, &value))
		return HIWAT_OK;
	const struct sysctl_name *known = sysctl_name_find(name);
	if (known == NULL)
		return HIWAT_OK;
	s->is_ours |= known->fact != FACT_WORD;
	if (known->fact == FACT_WORD)
		return value.n > 0 ? add_word(s, name, value) : HIWAT_OK;
	if (known->fact != FACT_NONE)
		s->facts[known->fact] = value;
	return known->is_setting ? take_setting(s, name, value) : HIWAT_OK;
}

/* -------------------------------------------------------------------------------- what values are besides settings */

static bool
fact(const struct state *s, enum sysctl_fact f, uint64_t *value)
{
	return s->facts[f].n > 0 && text_is_u64(s->facts[f], value);
}

/* Sets a field of a message from a fact, making the message only then. */
#define FACT_TO(s, f, parent, member, type, field) \
	do { \
		uint64_t fact_value; \
		if (fact((s), (f), &fact_value)) { \
			if (RECORD_ONE((s)->arena, (parent), member, type) == NULL) \
				return HIWAT_E_NOMEM; \
			RECORD_SET((parent)->member, field, fact_value); \
		} \
	} while (0)

static int
write_system(struct state *s)
{
	Hiwat__System *system = RECORD_ONE(s->arena, s->out, system, system);

	if (system == NULL)
		return HIWAT_E_NOMEM;
	FACT_TO(s, FACT_FILES_OPEN, system, files, files, open);
	FACT_TO(s, FACT_FILES_LIMIT, system, files, files, limit);
	FACT_TO(s, FACT_VNODES, system, vnodes, vnodes, value);
	FACT_TO(s, FACT_VNODES_FREE, system, vnodes, vnodes, free);
	FACT_TO(s, FACT_VNODES_LIMIT, system, vnodes, vnodes, limit);
	FACT_TO(s, FACT_PROCESSES, system, processes, processes, value);
	FACT_TO(s, FACT_PROCESSES_LIMIT, system, processes, processes, limit);
	FACT_TO(s, FACT_SWAP_LIMIT, system, swap, swap, bytes_limit);
	/* Linux: allocated, of them free, and the most; the most may be no limit at all. */
	if (sysctl_numbers(s->facts[FACT_FILE_NR], true, s->numbers, NUMBERS_MAX) == 3 && s->numbers[0] >= s->numbers[1] &&
	    s->numbers[1] >= 0) {
		Hiwat__Files *files = RECORD_ONE(s->arena, system, files, files);
		if (files == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(files, open, (uint64_t)(s->numbers[0] - s->numbers[1]));
		if (s->numbers[2] >= 0 && s->numbers[2] < 9e18)
			RECORD_SET(files, limit, (uint64_t)s->numbers[2]);
	}
	return HIWAT_OK;
}

static int
write_sockets(struct state *s, Hiwat__Net *net)
{
	static const struct {
		const char *protocol, *state;
		enum sysctl_fact value, limit;
	} rows[] = {
		{ "all", "used", FACT_SOCKETS, FACT_SOCKETS_LIMIT },
		{ "tcp", "orphan", FACT_NONE, FACT_ORPHANS_LIMIT },
		{ "tcp", "tw", FACT_NONE, FACT_TIME_WAIT_LIMIT },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t value, limit;
		bool has_value = fact(s, rows[i].value, &value), has_limit = fact(s, rows[i].limit, &limit);
		if (!has_value && !has_limit)
			continue;
		Hiwat__Sockets *row = RECORD_ADD(s->arena, net, sockets, sockets);
		if (row == NULL || (row->protocol = record_label(s->arena, text_of(rows[i].protocol))) == NULL ||
		    (row->state = record_label(s->arena, text_of(rows[i].state))) == NULL)
			return HIWAT_E_NOMEM;
		if (has_value)
			RECORD_SET(row, value, value);
		if (has_limit)
			RECORD_SET(row, limit, limit);
	}
	return HIWAT_OK;
}

static int
write_socket_memory(struct state *s, Hiwat__Net *net, enum sysctl_fact f, const char *protocol)
{
	static const char *const thresholds[] = { "low", "pressure", "high" };
	double page_size = s->in->page_size > 0 ? (double)s->in->page_size : 4096;

	if (sysctl_numbers(s->facts[f], true, s->numbers, NUMBERS_MAX) != 3)
		return HIWAT_OK;
	Hiwat__SocketMemory *memory = RECORD_ADD(s->arena, net, socket_memory, socket_memory);
	if (memory == NULL || (memory->protocol = record_label(s->arena, text_of(protocol))) == NULL)
		return HIWAT_E_NOMEM;
	for (unsigned i = 0; i < 3; i++) {
		Hiwat__SocketMemoryLimit *limit = RECORD_ADD(s->arena, memory, limits, socket_memory_limit);
		if (limit == NULL || (limit->threshold = record_label(s->arena, text_of(thresholds[i]))) == NULL)
			return HIWAT_E_NOMEM;
		if (s->numbers[i] >= 0 && s->numbers[i] * page_size < 9e18)
			RECORD_SET(limit, bytes, (uint64_t)(s->numbers[i] * page_size));
	}
	return HIWAT_OK;
}

static int
write_drops(struct state *s, Hiwat__Net *net)
{
	static const struct {
		const char *queue;
		enum sysctl_fact fact;
	} rows[] = { { "ip", FACT_IP_DROPS }, { "ip6", FACT_IP6_DROPS } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t drops;
		if (!fact(s, rows[i].fact, &drops))
			continue;
		Hiwat__NetisrDropsByQueue *row = RECORD_ADD(s->arena, net, netisr_drops, netisr_drops_by_queue);
		if (row == NULL || (row->queue = record_label(s->arena, text_of(rows[i].queue))) == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(row, total, drops);
	}
	return HIWAT_OK;
}

/* FreeBSD's states in the order of netinet/tcp_fsm.h. */
static int
write_tcp_states(struct state *s, Hiwat__Net *net)
{
	static const char *const states[] = { "closed", "listen", "syn_sent", "syn_received", "established", "close_wait",
		"fin_wait_1", "closing", "last_ack", "fin_wait_2", "time_wait" };
	const size_t n = sizeof(states) / sizeof(states[0]);

	if (sysctl_numbers(s->facts[FACT_TCP_STATES], true, s->numbers, NUMBERS_MAX) != n)
		return HIWAT_OK;
	for (size_t i = 0; i < n; i++) {
		Hiwat__TcpConnections *row = RECORD_ADD(s->arena, net, tcp_connections, tcp_connections);
		if (row == NULL || (row->state = record_label(s->arena, text_of(states[i]))) == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(row, value, s->numbers[i] > 0 ? (uint64_t)s->numbers[i] : 0);
	}
	return HIWAT_OK;
}

static int
write_net(struct state *s)
{
	Hiwat__Net *net = RECORD_ONE(s->arena, s->out, net, net);
	uint64_t first, last;

	if (net == NULL || write_sockets(s, net) != HIWAT_OK ||
	    write_socket_memory(s, net, FACT_TCP_MEM, "tcp") != HIWAT_OK ||
	    write_socket_memory(s, net, FACT_UDP_MEM, "udp") != HIWAT_OK || write_drops(s, net) != HIWAT_OK ||
	    write_tcp_states(s, net) != HIWAT_OK)
		return HIWAT_E_NOMEM;
	FACT_TO(s, FACT_SYNCACHE, net, syncache, syncache, entries);
	bool has_range = fact(s, FACT_PORT_FIRST, &first) && fact(s, FACT_PORT_LAST, &last);
	if (!has_range && sysctl_numbers(s->facts[FACT_PORT_RANGE], true, s->numbers, NUMBERS_MAX) == 2) {
		has_range = s->numbers[0] >= 0 && s->numbers[1] <= 65535;
		first = has_range ? (uint64_t)s->numbers[0] : 0;
		last = has_range && s->numbers[1] >= 0 ? (uint64_t)s->numbers[1] : 0;
	}
	/* Some systems take first above last, too: the range is the same. */
	if (has_range && first <= 65535 && last <= 65535) {
		Hiwat__Ports *ports = RECORD_ONE(s->arena, net, ports, ports);
		if (ports == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(ports, limit, (first > last ? first - last : last - first) + 1);
	}
	return HIWAT_OK;
}

static int
write_conntrack(struct state *s)
{
	Hiwat__Conntrack *conntrack = RECORD_ONE(s->arena, s->out, conntrack, conntrack);
	uint64_t v;

	if (conntrack == NULL)
		return HIWAT_E_NOMEM;
	if (fact(s, FACT_CONNTRACK, &v))
		RECORD_SET(conntrack, entries, v);
	if (fact(s, FACT_CONNTRACK_LIMIT, &v) && v > 0)
		RECORD_SET(conntrack, limit, v);
	if (fact(s, FACT_CONNTRACK_BUCKETS, &v))
		RECORD_SET(conntrack, buckets, v);
	return HIWAT_OK;
}

/* ------------------------------------------------------------------------------------------------- machine and time */

static int
write_machine(struct state *s)
{
	Hiwat__Settings *settings = RECORD_ONE(s->arena, s->out, settings, settings);
	double hertz, boot;
	uint64_t v;

	if (settings == NULL)
		return HIWAT_E_NOMEM;
	FACT_TO(s, FACT_MEMORY, settings, memory, memory, bytes);
	FACT_TO(s, FACT_MEMORY_64, settings, memory, memory, bytes);
	FACT_TO(s, FACT_CPUS, settings, cpu, cpu, count);
	FACT_TO(s, FACT_CPUS_ONLINE, settings, cpu, cpu, count);
	bool has_hertz = fact(s, FACT_CPU_TSC_HERTZ, &v) || fact(s, FACT_CPU_HERTZ, &v);
	hertz = has_hertz ? (double)v : 0;
	if (fact(s, FACT_CPU_MEGAHERTZ, &v))
		hertz = (double)v * 1e6;
	if (hertz > 0) {
		Hiwat__Cpu *cpu = RECORD_ONE(s->arena, settings, cpu, cpu);
		if (cpu == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(cpu, hertz, hertz);
	}
	if (sysctl_boot_time(s->facts[FACT_BOOT_TIME], s->in->tz_seconds, &boot)) {
		Hiwat__Boot *row = RECORD_ONE(s->arena, settings, boot, boot);
		if (row == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(row, time_seconds, boot);
	}
	return HIWAT_OK;
}

int
sysctl_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	struct state s = { .in = in, .arena = arena, .out = out };
	struct text rest = in->text, line;
	bool cut;
	int err = HIWAT_OK;

	record_index_init(&s.settings, arena);
	while (err == HIWAT_OK && text_line(&rest, &line, &cut)) {
		if (!cut)
			err = take_line(&s, line);
	}
	if (err == HIWAT_OK && !s.is_ours)
		return refuse(in->text, "sysctl -a", why);
	if (err == HIWAT_OK &&
	    (write_system(&s) != HIWAT_OK || write_net(&s) != HIWAT_OK || write_conntrack(&s) != HIWAT_OK ||
		write_machine(&s) != HIWAT_OK || sysctl_write_cpu_times(s.facts, in, arena, out) != HIWAT_OK))
		err = HIWAT_E_NOMEM;
	return err == HIWAT_OK ? err : parse_fail(why, err, "too large");
}

int
sysctl_recognise(struct text text)
{
	struct text line, name, value;
	unsigned n = 0, n_lines = 0;

	text.n = text.n < RECOGNISE_MAX ? text.n : RECOGNISE_MAX;
	while (text_line(&text, &line, NULL)) {
		n_lines++;
		n += split_line(line, &name, &value) &&
		    (text_starts(name, "kern.") || text_starts(name, "hw.") || text_starts(name, "net.") ||
			text_starts(name, "vm.") || text_starts(name, "vfs.") || text_starts(name, "kernel.") ||
			text_starts(name, "fs.") || text_starts(name, "dev.") || text_starts(name, "abi.") ||
			text_starts(name, "debug."));
	}
	return n > 0 && n * 2 >= n_lines ? 85 : 0;
}
