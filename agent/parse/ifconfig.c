/*
 * ifconfig: a block for each interface, its name and flags at the left margin, all else indented. Speed and duplex are those
 * in the parentheses of the media line, what was negotiated; without parentheses the medium is fixed.
 *
 * Of a fail-over group only the port that carries the traffic now is called active (lagg_port2req() of FreeBSD's
 * sys/net/if_lagg.c, trunk_port2req() of OpenBSD's if_trunk.c). The others wait, if their own blocks say that they are up
 * and have a carrier; where those are missing nobody knows how many ports are active.
 */
#include "netstat.h"

#include "arena.h"
#include "err.h"
#include "refuse.h"
#include "record_row.h"

/* A port of a fail-over group that is not called active. */
struct spare {
	struct spare *next;
	struct text name;
	Hiwat__LinkGroup *group;
	const Hiwat__LinkGroup *own; /* the group as an interface */
	uint64_t block;              /* in which it stands */
};

struct block {
	struct text name;
	bool has_mtu, has_media, is_autoselect, has_duplex, is_full, is_down, is_group, is_failover, in_supported;
	bool is_up, has_status;
	uint64_t mtu, speed, max_speed;
	uint64_t n_ports, n_active;
	struct spare *spares; /* in the arena */
};

struct state {
	struct arena *arena;
	Hiwat__Net *net;
	struct record_index interfaces, groups, known;
	/*
	 * No part of the record: a row of link_groups for each interface, with the number of its last block as ports and, where
	 * that tells, whether it could carry traffic as ports_active.
	 */
	Hiwat__Net *own;
	struct spare *spares;
	uint64_t n_blocks;
};

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* "NAME: flags=", or old Linux' "NAME  Link encap:". */
static bool
is_header(struct text line, struct text *name)
{
	struct text t = line;

	if (t.n == 0 || *t.p == ' ' || *t.p == '\t')
		return false;
	if (text_find(t, ": flags=") > 0) {
		size_t n = (size_t)text_find(t, ": flags=");
		*name = (struct text){ t.p, n };
		/* A prompt may stand before a first line; a name has no blanks. */
		return text_find(*name, " ") < 0;
	}
	return text_find(t, "Link encap:") > 0 && text_word(&t, name);
}

/* The number behind "mtu" or "MTU:". */
static void
take_mtu(struct block *b, struct text line)
{
	struct text word, value;

	while (text_word(&line, &word)) {
		if (text_skip(&word, "MTU:"))
			value = word;
		else if (!text_eq(word, "mtu") || !text_word(&line, &value))
			continue;
		b->has_mtu = text_is_u64(value, &b->mtu) && b->mtu > 0;
		return;
	}
}

/* Bits per second of "1000baseT", "10Gbase-LR", "2.5GBase-T", "OFDM/54Mbps"; 0 when the word names no speed. */
static uint64_t
speed_of(struct text word)
{
	while (word.n > 0) {
		double number;
		if (!is_digit(*word.p)) {
			word.p++;
			word.n--;
			continue;
		}
		struct text t = word;
		if (text_double(&t, &number) != HIWAT_OK || number > 1e6)
			return 0;
		double unit = text_skip(&t, "G") || text_skip(&t, "g") ? 1e9 : 1e6;
		if (text_starts(t, "base") || text_starts(t, "Base") || text_starts(t, "BASE") || text_starts(t, "Mbps") ||
		    (unit > 1e6 && text_starts(t, "bps")))
			return (uint64_t)(number * unit + 0.5);
		word = t;
	}
	return 0;
}

static uint64_t
speed_in(struct text t)
{
	struct text word;
	uint64_t speed = 0;

	while (speed == 0 && text_word(&t, &word))
		speed = speed_of(word);
	return speed;
}

static void
take_media(struct block *b, struct text t)
{
	struct text before, active = t;
	bool is_ethernet = text_starts(t, "Ethernet");

	if (text_until(&active, '(', &before))
		t = before;
	if (is_ethernet) {
		b->has_media = true;
		b->is_autoselect = text_find(t, "autoselect") >= 0;
	}
	b->speed = speed_in(active);
	bool is_full = text_find(active, "full-duplex") >= 0, is_half = text_find(active, "half-duplex") >= 0;
	b->has_duplex = is_full || is_half;
	b->is_full = is_full;
}

/* Whether one of the words between < and >, or behind the port's name, is the wanted one. */
static bool
has_flag(struct text t, const char *flag)
{
	struct text word;

	for (;;) {
		size_t n = 0;
		while (n < t.n && t.p[n] != '<' && t.p[n] != '>' && t.p[n] != ',' && t.p[n] != ' ')
			n++;
		word = (struct text){ t.p, n };
		if (text_eq(word, flag))
			return true;
		if (n == t.n)
			return false;
		t.p += n + 1;
		t.n -= n + 1;
	}
}

/* "laggport: em0 flags=5<MASTER,ACTIVE>", "trunkport em0 master,active" */
static int
take_port(struct block *b, struct text t, struct arena *arena)
{
	struct text name = TEXT("");

	b->is_group = true;
	b->n_ports++;
	if (has_flag(t, "ACTIVE") || has_flag(t, "active") || has_flag(t, "DISTRIBUTING") || has_flag(t, "distributing")) {
		b->n_active++;
		return HIWAT_OK;
	}
	struct spare *spare = arena_alloc(arena, sizeof(*spare));
	if (spare == NULL)
		return HIWAT_E_NOMEM;
	(void)text_word(&t, &name);
	*spare = (struct spare){ .next = b->spares, .name = name };
	b->spares = spare;
	return HIWAT_OK;
}

static int
take_line(struct block *b, struct text line, struct arena *arena)
{
	struct text t = text_trim(line);

	if (!b->has_mtu)
		take_mtu(b, t);
	if (text_starts(t, "supported media:")) {
		b->in_supported = true;
	} else if (b->in_supported && (text_skip(&t, "media ") || text_starts(t, "none") || text_starts(t, "autoselect"))) {
		uint64_t speed = speed_in(t);
		b->max_speed = speed > b->max_speed ? speed : b->max_speed;
	} else if (text_skip(&t, "media: ")) {
		take_media(b, t);
	} else if (text_skip(&t, "status: ")) {
		b->is_down = !text_eq(t, "active") && !text_eq(t, "associated") && !text_eq(t, "running");
		b->has_status = true;
	} else if (text_skip(&t, "laggport:") || text_skip(&t, "trunkport:") || text_skip(&t, "trunkport ") ||
	    text_skip(&t, "agrport:")) {
		return take_port(b, t, arena);
	} else if (text_skip(&t, "laggproto ") || text_skip(&t, "trunk: trunkproto ")) {
		b->is_group = true;
		b->is_failover = text_starts(t, "failover");
	}
	return HIWAT_OK;
}

static int
write_group(struct state *s, const struct block *b, const Hiwat__LinkGroup *own)
{
	Hiwat__LinkGroup *group = RECORD_INDEX_ROW(&s->groups, s->net, link_groups, link_group, b->name);

	if (group == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(group, ports, b->n_ports);
	RECORD_SET(group, ports_active, b->n_active);
	for (struct spare *spare = b->is_failover ? b->spares : NULL, *next; spare != NULL; spare = next) {
		next = spare->next;
		*spare = (struct spare){ .next = s->spares,
			.name = spare->name,
			.group = group,
			.own = own,
			.block = own->ports };
		s->spares = spare;
	}
	return HIWAT_OK;
}

static int
write_block(struct state *s, const struct block *b)
{
	Hiwat__Netif *netif = RECORD_INDEX_ROW(&s->interfaces, s->net, interfaces, netif, b->name);

	if (netif == NULL)
		return HIWAT_E_NOMEM;
	/* An interface that is told of again is as told last. */
	char *name = netif->interface;
	Hiwat__LinkGroup *own = RECORD_INDEX_ROW(&s->known, s->own, link_groups, link_group, b->name);
	if (own == NULL)
		return HIWAT_E_NOMEM;
	own->ports = ++s->n_blocks;
	own->has_ports_active = b->has_status;
	own->ports_active = b->is_up && !b->is_down;
	hiwat__netif__init(netif);
	netif->interface = name;
	if (b->has_mtu)
		RECORD_SET(netif, mtu_bytes, b->mtu);
	if (b->has_media)
		RECORD_SET(netif, autoselect, b->is_autoselect);
	if (b->speed > 0 && !b->is_down)
		RECORD_SET(netif, speed_bits, b->speed);
	if (b->has_duplex && !b->is_down)
		RECORD_SET(netif, full_duplex, b->is_full);
	if (b->max_speed > 0)
		RECORD_SET(netif, max_speed_bits, b->max_speed);
	return b->is_group ? write_group(s, b, own) : HIWAT_OK;
}

/*
 * Interfaces may come behind the group whose ports they are, so that spares are judged in the end. Of a group that is told
 * of again only the last block counts.
 */
static int
judge_spares(struct state *s)
{
	for (const struct spare *spare = s->spares; spare != NULL; spare = spare->next) {
		if (spare->block != spare->own->ports)
			continue;
		const Hiwat__LinkGroup *port = RECORD_INDEX_ROW(&s->known, s->own, link_groups, link_group, spare->name);
		if (port == NULL)
			return HIWAT_E_NOMEM;
		if (port->has_ports_active)
			spare->group->ports_active += port->ports_active;
		else
			spare->group->has_ports_active = 0;
	}
	return HIWAT_OK;
}

int
ifconfig_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	Hiwat__Net own = HIWAT__NET__INIT;
	struct state s = { .arena = arena, .net = RECORD_ONE(arena, out, net, net), .own = &own };
	struct text rest = in->text, line, name;
	struct block block = { 0 };
	bool cut;
	int err = s.net != NULL ? HIWAT_OK : HIWAT_E_NOMEM;

	record_index_init(&s.interfaces, arena);
	record_index_init(&s.groups, arena);
	record_index_init(&s.known, arena);
	while (err == HIWAT_OK && text_line(&rest, &line, &cut)) {
		/* Of a line that breaks off nothing is certain, nor how many ports a group would have had. */
		if (cut && !text_ends(line, ")") && !text_ends(line, ">")) {
			block.is_group = false;
			continue;
		}
		if (is_header(line, &name)) {
			if (block.name.n > 0)
				err = write_block(&s, &block);
			block = (struct block){ .name = name, .is_up = text_find(line, "<UP") > 0 };
		}
		if (err == HIWAT_OK && block.name.n > 0)
			err = take_line(&block, line, arena);
	}
	if (err == HIWAT_OK && block.name.n > 0)
		err = write_block(&s, &block);
	if (err == HIWAT_OK)
		err = judge_spares(&s);
	if (err != HIWAT_OK)
		return parse_fail(why, err, "too large");
	return s.net->n_interfaces > 0 ? HIWAT_OK : refuse(in->text, "ifconfig", why);
}

int
ifconfig_recognise(struct text text)
{
	struct text line, name;

	text.n = text.n < RECOGNISE_MAX ? text.n : RECOGNISE_MAX;
	while (text_line(&text, &line, NULL)) {
		if (is_header(line, &name))
			return 95;
	}
	return 0;
}
