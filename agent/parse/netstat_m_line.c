#include "netstat_m_line.h"

#include <string.h>

#include "err.h"

#define ROWS(table) (sizeof(table) / sizeof((table)[0]))
#define T(literal) \
	{ \
		literal, sizeof(literal) - 1 \
	}

/* Lines that are known and say nothing that is kept. */
static const struct text ignored_labels[] = {
	T("sendfile syscalls"),
	T("sendfile syscalls completed without I/O request"),
	T("pages read by sendfile as part of a request"),
	T("pages were valid at time of a sendfile request"),
	T("pages were valid and substituted to bogus page"),
	T("pages were requested for read ahead by applications"),
	T("pages were read ahead by sendfile"),
	T("times sendfile encountered an already busy page"),
	T("defrag mbuf allocation"),
	T("prepend mbuf allocation"),
	T("pullup mbuf allocation"),
	T("pullup memory copy"),
	T("pulldown mbuf allocation"),
	T("pulldown memory copy"),
	T("KB returned to the system"),
	T("interface pages allocated"),
	T("of mbuf map consumed"),
	T("of cluster map consumed"),
};

/* Types that a line without its newline may end in; a longer name could begin with any other word. */
static const struct text type_names[] = {
	T("data"),
	T("oob data"),
	T("ancillary data"),
	T("packet headers"),
	T("packet tags"),
	T("caches"),
	T("socket names and addresses"),
	T("socket options"),
	T("fragment reassembly queue headers"),
};

static const struct {
	struct text size; /* as printed between "mbuf" and "clusters" */
	enum mbuf_row row;
	uint64_t item_bytes;
} sized_pools[] = {
	{ T("2048 byte"), MBUF_MCL2K, 2048 },
	{ T("2112 byte"), MBUF_MCL2K2, 2112 },
	{ T("4096 byte"), MBUF_MCL4K, 4096 },
	{ T("8192 byte"), MBUF_MCL8K, 8192 },
	{ T("9216 byte"), MBUF_MCL9K, 9216 },
	{ T("12288 byte"), MBUF_MCL12K, 12288 },
	{ T("16384 byte"), MBUF_MCL16K, 16384 },
	{ T("65536 byte"), MBUF_MCL64K, 65536 },
	{ T("2KB"), MBUF_CLUSTER, 2048 }, /* macOS */
	{ T("4KB"), MBUF_JUMBO_PAGE, 4096 },
	{ T("16KB"), MBUF_JUMBO_16K, 16384 },
};

static bool
is_in(struct text t, const struct text *table, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (text_same(t, table[i]))
			return true;
	}
	return false;
}

static bool
skip_char(struct text *t, char c)
{
	if (t->n == 0 || *t->p != c)
		return false;
	t->p++;
	t->n--;
	return true;
}

static bool
drop_end(struct text *t, struct text suffix)
{
	if (t->n < suffix.n || memcmp(t->p + t->n - suffix.n, suffix.p, suffix.n) != 0)
		return false;
	t->n -= suffix.n;
	*t = text_trim(*t);
	return true;
}

/* A number as the systems print it: a difference may have gone below zero and then counts as none. */
static bool
take_number(struct text *t, uint64_t *value)
{
	bool negative = skip_char(t, '-');

	if (text_u64(t, value) != HIWAT_OK)
		return false;
	if (negative)
		*value = 0;
	return true;
}

/* "1/2/3 label (a/b/c):" taken apart. False when it has no such form. */
bool
netstat_m_split(struct text t, struct statement *st)
{
	st->n = 0;
	st->is_kilo = st->has_names = false;
	do {
		if (st->n == STATEMENT_NUMBERS_MAX || !take_number(&t, &st->values[st->n]))
			return false;
		st->n++;
		if (skip_char(&t, 'K'))
			st->is_kilo = true;
	} while (skip_char(&t, '/'));
	if (!skip_char(&t, '%') && (t.n == 0 || (*t.p != ' ' && *t.p != '\t')))
		return false;
	t = text_trim(t);
	if (t.n > 0 && t.p[t.n - 1] == ':')
		t.n--;
	st->label = t;
	if (t.n > 0 && t.p[t.n - 1] == ')') {
		size_t open = t.n - 1;
		while (open > 0 && t.p[open] != '(')
			open--;
		if (t.p[open] != '(')
			return false;
		st->names = (struct text){ t.p + open + 1, t.n - open - 2 };
		st->has_names = true;
		st->label = text_trim((struct text){ t.p, open });
	}
	return true;
}

static bool
column_of(struct text name, enum mbuf_column *column)
{
	static const struct {
		struct text name;
		enum mbuf_column column;
	} columns[] = {
		{ T("current"), MBUF_IN_USE },
		{ T("cache"), MBUF_CACHED },
		{ T("total"), MBUF_ALLOCATED },
		{ T("max"), MBUF_LIMIT },
		{ T("peak"), MBUF_PEAK },
		{ T("in use"), MBUF_IN_USE },
		{ T("in pool"), MBUF_ALLOCATED },
	};

	for (size_t i = 0; i < ROWS(columns); i++) {
		if (text_same(name, columns[i].name)) {
			*column = columns[i].column;
			return true;
		}
	}
	return false;
}

/*
 * The columns of a line by its names; false unless each number has one. MBUF_COLUMNS stands for a name of a newer system,
 * which a line put together cannot be told from a broken one of an old.
 */
static bool
columns_of(const struct statement *st, enum mbuf_column *columns)
{
	struct text rest = st->names, name;
	bool is_any_known = false;

	if (!st->has_names)
		return false;
	for (unsigned i = 0; i < st->n; i++) {
		bool more = text_until(&rest, '/', &name);
		bool is_known = column_of(text_trim(more ? name : rest), &columns[i]);
		if (more != (i + 1 < st->n) || (!is_known && st->joined))
			return false;
		if (!is_known)
			columns[i] = MBUF_COLUMNS;
		is_any_known |= is_known;
	}
	return is_any_known;
}

/* As columns_of(), but without names the oldest systems and macOS print "in use" or "in use/allocated". */
static bool
pool_columns_of(const struct statement *st, enum mbuf_row row, enum mbuf_column *columns)
{
	bool is_nameless = row == MBUF_MBUF || row == MBUF_CLUSTER || row == MBUF_JUMBO_PAGE || row == MBUF_JUMBO_16K;

	if (columns_of(st, columns))
		return true;
	columns[0] = MBUF_IN_USE;
	columns[1] = MBUF_ALLOCATED;
	/* A cut line may have lost its names. */
	return is_nameless && !st->has_names && (st->n == 1 || (st->n == 2 && !st->cut));
}

bool
netstat_m_take_columns(const struct statement *st, enum mbuf_row row, struct mbuf_dump *d)
{
	enum mbuf_column columns[STATEMENT_NUMBERS_MAX];

	if (!pool_columns_of(st, row, columns))
		return false;
	for (unsigned i = 0; i < st->n; i++) {
		if (columns[i] != MBUF_COLUMNS)
			mbuf_dump_set(d, row, columns[i], st->values[i]);
	}
	return true;
}

bool
netstat_m_begins(const struct statement *st)
{
	enum mbuf_column columns[STATEMENT_NUMBERS_MAX];

	return (text_same(st->label, TEXT("mbufs in use")) || text_same(st->label, TEXT("mbuf in use"))) &&
	    pool_columns_of(st, MBUF_MBUF, columns);
}

static enum mbuf_row
jumbo_row(const struct mbuf_dump *d, uint64_t kilobytes, bool is_page_size)
{
	/* Junos says "page size" of all three; a first 16k one is of a machine with such pages. */
	if (kilobytes == 9)
		return MBUF_JUMBO_9K;
	if (kilobytes == 16 && (!is_page_size || d->has[MBUF_JUMBO_PAGE] != 0))
		return MBUF_JUMBO_16K;
	return MBUF_JUMBO_PAGE;
}

/* "... in use": subject is what stands before it. */
static bool
take_pool(struct mbuf_dump *d, struct text subject, const struct statement *st)
{
	enum mbuf_row row = MBUF_ROWS;
	uint64_t item_bytes = 0, kilobytes;
	struct text t = subject;

	if (text_same(subject, TEXT("mbufs")) || text_same(subject, TEXT("mbuf"))) {
		row = MBUF_MBUF;
	} else if (text_same(subject, TEXT("mbuf clusters")) || text_same(subject, TEXT("mapped pages"))) {
		row = MBUF_CLUSTER;
	} else if (text_same(subject, TEXT("mbuf+clusters out of packet secondary zone"))) {
		row = MBUF_PACKET;
	} else if (text_same(subject, TEXT("sfbufs"))) {
		row = MBUF_SFBUFS;
	} else if (text_same(subject, TEXT("mbuf jumbo clusters"))) {
		row = MBUF_JUMBO;
	} else if (text_same(subject, TEXT("mbuf cluster pages"))) {
		row = MBUF_CLUSTER_PAGE;
	} else if (drop_end(&t, TEXT("jumbo clusters"))) {
		bool is_page_size = drop_end(&t, TEXT("(page size)"));
		if (text_u64(&t, &kilobytes) != HIWAT_OK || !text_same(t, TEXT("k")) || kilobytes == 0 || kilobytes > 1024)
			return false;
		row = jumbo_row(d, kilobytes, is_page_size);
		item_bytes = kilobytes * 1024;
	} else if (text_skip(&t, "mbuf ") && drop_end(&t, TEXT("clusters"))) {
		for (size_t i = 0; i < ROWS(sized_pools) && row == MBUF_ROWS; i++) {
			if (text_same(t, sized_pools[i].size)) {
				row = sized_pools[i].row;
				item_bytes = sized_pools[i].item_bytes;
			}
		}
	}
	if (row == MBUF_ROWS || !netstat_m_take_columns(st, row, d))
		return false;
	if (item_bytes != 0)
		mbuf_dump_set(d, row, MBUF_ITEM_BYTES, item_bytes);
	return true;
}

/* "requests for WHAT denied" or "delayed": names of several numbers are pools, the first jumbo one is any page size. */
static bool
take_requests(struct mbuf_dump *d, struct text what, enum mbuf_column column, const struct statement *st)
{
	static const struct {
		const char *what, *names;
		enum mbuf_row rows[3];
	} triples[] = {
		{ "mbufs", "mbufs/clusters/mbuf+clusters", { MBUF_MBUF, MBUF_CLUSTER, MBUF_PACKET } },
		{ "jumbo clusters", "k/9k/16k", { MBUF_JUMBO_PAGE, MBUF_JUMBO_9K, MBUF_JUMBO_16K } },
	};

	for (size_t i = 0; i < ROWS(triples); i++) {
		if (!text_eq(what, triples[i].what))
			continue;
		if (st->n != 3 || !st->has_names || !text_ends(st->names, triples[i].names))
			return false;
		for (unsigned j = 0; j < 3; j++)
			mbuf_dump_set(d, triples[i].rows[j], column, st->values[j]);
		return true;
	}
	if (st->n != 1 || st->has_names)
		return false;
	if (text_same(what, TEXT("memory")))
		mbuf_dump_set(d, MBUF_ANY, column, st->values[0]);
	else if (text_same(what, TEXT("sfbufs")))
		mbuf_dump_set(d, MBUF_SFBUFS, column, st->values[0]);
	else
		return false;
	return true;
}

/* "NN% in use", "NN% of mb_map in use", "approx. NN.N% in use" */
static bool
take_ratio(struct mbuf_dump *d, struct text names)
{
	double percent;

	text_skip(&names, "approx. ");
	if (text_double(&names, &percent) != HIWAT_OK || percent < 0 || !text_skip(&names, "%") ||
	    !text_ends(names, "in use"))
		return false;
	d->ratio = percent / 100;
	d->has_ratio = true;
	return true;
}

static bool
take_memory(struct mbuf_dump *d, const struct statement *st)
{
	enum mbuf_column columns[STATEMENT_NUMBERS_MAX];
	struct text label = st->label;
	bool is_kilo = st->is_kilo;
	uint64_t bytes[STATEMENT_NUMBERS_MAX];

	if (text_skip(&label, "Kbytes ") || text_skip(&label, "KBytes ") || text_skip(&label, "KB "))
		is_kilo = true;
	else if (!text_skip(&label, "bytes "))
		return false;
	if (!text_same(label, TEXT("allocated to network")) && !text_same(label, TEXT("of wired memory reserved")))
		return false;
	for (unsigned i = 0; i < st->n; i++) {
		/* Nearly 2^64 is below zero, whatever its unit. */
		uint64_t v = st->values[i] > INT64_MAX ? 0 : st->values[i];
		if (is_kilo && v > UINT64_MAX >> 10)
			return false;
		bytes[i] = is_kilo ? v << 10 : v;
	}
	if (st->n == 1) {
		if (st->has_names && !take_ratio(d, st->names))
			return false;
		mbuf_dump_set(d, MBUF_BYTES, MBUF_ALLOCATED, bytes[0]);
		return true;
	}
	if (!columns_of(st, columns))
		return false;
	/* OpenBSD's (current/peak/max) is what the pools hold; FreeBSD's (current/cache/total) tells used from held. */
	bool is_held = st->n == 3 && columns[1] == MBUF_PEAK;
	for (unsigned i = 0; i < st->n; i++) {
		if (columns[i] != MBUF_COLUMNS)
			mbuf_dump_set(d, MBUF_BYTES, is_held && i == 0 ? MBUF_ALLOCATED : columns[i], bytes[i]);
	}
	return true;
}

static bool
take_type(struct mbuf_dump *d, const struct statement *st)
{
	struct text type = st->label;

	if (st->n != 1 || st->has_names)
		return false;
	if (!text_skip(&type, "mbufs allocated to ") && !text_skip(&type, "mbuf allocated to ") &&
	    !text_skip(&type, "mbufs and mbuf clusters allocated to "))
		return false;
	type = text_trim(type);
	bool is_whole = !st->cut || text_ends(type, ">") || is_in(type, type_names, ROWS(type_names));
	if (type.n == 0 || st->joined || !is_whole)
		return false;
	return mbuf_dump_add_type(d, type, st->values[0]);
}

/* "requests for WHAT denied" or "delayed" */
static bool
take_request(struct mbuf_dump *d, struct text t, const struct statement *st)
{
	enum mbuf_column column = MBUF_DENIED;

	if (st->n == 1 && text_same(t, TEXT("I/O initiated by sendfile"))) {
		d->sendfile_io = st->values[0] > INT64_MAX ? 0 : st->values[0];
		d->has_sendfile_io = true;
		return true;
	}
	if (!drop_end(&t, TEXT(" denied"))) {
		if (!drop_end(&t, TEXT(" delayed")))
			return false;
		column = MBUF_DELAYED;
	}
	return take_requests(d, t, column, st);
}

bool
netstat_m_take(const struct statement *st, struct mbuf_dump *d)
{
	struct text t = st->label;

	if (drop_end(&t, TEXT(" in use")))
		return take_pool(d, t, st);
	if (text_skip(&t, "requests for ") || text_skip(&t, "request for "))
		return take_request(d, t, st);
	if (is_in(t, ignored_labels, ROWS(ignored_labels)))
		return true;
	bool is_drain =
	    text_same(t, TEXT("calls to protocol drain routines")) || text_same(t, TEXT("calls to drain routines"));
	if (is_drain && st->n == 1) {
		d->drain_calls = st->values[0] > INT64_MAX ? 0 : st->values[0];
		d->has_drain_calls = true;
		return true;
	}
	return take_type(d, st) || take_memory(d, st);
}
