/*
 * A host's state as bytes for the collector's own snapshot on the same machine, and over a change of rules. Rules are
 * known by id and meaning, windows by the meaning of their expression, samplers by name.
 */
#include <stdlib.h>

#include "buf.h"
#include "err.h"
#include "hash.h"
#include "state.h"

#define MAGIC 0x32535748u /* HWS2; other byte orders read another number */
#define TEXT_MAX 4096

struct reader {
	const char *p;
	size_t n;
	bool failed;
};

static void
put(struct buf *out, const void *data, size_t len)
{
	buf_add(out, data, len);
}

static void
put_u32(struct buf *out, uint32_t v)
{
	put(out, &v, sizeof(v));
}

static void
put_u64(struct buf *out, uint64_t v)
{
	put(out, &v, sizeof(v));
}

static void
put_text(struct buf *out, const char *s)
{
	put_u32(out, (uint32_t)strlen(s));
	buf_puts(out, s);
}

static void
put_labels(struct buf *out, const struct labels *labels, uint32_t set)
{
	unsigned n;
	const struct sample_label *l = labels_get(labels, set, &n);

	put_u32(out, n);
	for (unsigned i = 0; i < n; i++) {
		put_text(out, l[i].name);
		put_text(out, l[i].value);
	}
}

static void
get(struct reader *r, void *data, size_t len)
{
	if (r->failed || r->n < len) {
		r->failed = true;
		memset(data, 0, len);
		return;
	}
	memcpy(data, r->p, len);
	r->p += len;
	r->n -= len;
}

static uint32_t
get_u32(struct reader *r)
{
	uint32_t v;

	get(r, &v, sizeof(v));
	return v;
}

static uint64_t
get_u64(struct reader *r)
{
	uint64_t v;

	get(r, &v, sizeof(v));
	return v;
}

/* A text with a NUL behind it in room; NULL on failure. */
static char *
get_text(struct reader *r, char *room, size_t *used)
{
	uint32_t len = get_u32(r);
	char *s = room + *used;

	if (r->failed || len >= TEXT_MAX - *used || len > r->n) {
		r->failed = true;
		return NULL;
	}
	get(r, s, len);
	s[len] = '\0';
	*used += len + 1;
	return s;
}

static uint32_t
get_labels(struct reader *r, struct labels *labels)
{
	struct sample_label l[CATALOGUE_LABELS_MAX];
	char room[TEXT_MAX];
	size_t used = 0;
	uint32_t n = get_u32(r);

	if (n > CATALOGUE_LABELS_MAX)
		r->failed = true;
	for (uint32_t i = 0; i < n && !r->failed; i++) {
		l[i].name = get_text(r, room, &used);
		l[i].value = get_text(r, room, &used);
	}
	uint32_t set = r->failed ? LABELS_EMPTY : labels_intern(labels, l, n);
	return set == LABELS_FULL ? LABELS_EMPTY : set;
}

static void
put_window(const struct rule_state *st, const struct labels *labels, uint32_t node, uint32_t set, const struct window *w,
    struct buf *out)
{
	const struct node *n = st->set->nodes.nodes[node];
	size_t size = n->shape->size;

	put_u64(out, n->hash);
	put_labels(out, labels, set);
	put_u32(out, (uint32_t)size);
	put(out, w, size);
}

int
rule_state_save(const struct rule_set *set, const struct rule_state *st, const struct labels *labels, struct buf *out)
{
	uint32_t planned = st->plan != NULL ? st->plan->n_windows : 0;

	put_u32(out, MAGIC);
	put_u32(out, st->n_sets);
	for (uint32_t i = 0; i < st->n_sets; i++) {
		put_u64(out, st->sets[i].name_hash);
		put_u64(out, st->sets[i].last_ns);
		put_u64(out, st->sets[i].good_ns);
		put_u32(out, st->sets[i].is_bad);
	}
	put_u32(out, planned + st->n_kept);
	for (uint32_t i = 0; i < planned; i++) {
		const struct plan_window *w = &st->plan->windows[i];
		union any_window any;
		state_get_window(st, w, &any.w);
		put_window(st, labels, w->node, w->labels, &any.w, out);
	}
	for (uint32_t i = 0; i < st->n_kept; i++)
		put_window(st, labels, st->kept[i].node, st->kept[i].labels, st->kept[i].window, out);
	put_u32(out, st->n_live);
	for (uint32_t i = 0; i < st->n_live; i++) {
		const struct live *l = &st->live[i];
		const struct rule_full *r = &set->rules[l->rule];
		const double values[] = { l->value, l->threshold, l->used, l->limit, l->eta };
		put_text(out, r->pub.id);
		put_u64(out, r->meaning);
		put_labels(out, labels, l->labels);
		put_labels(out, labels, l->object);
		put_u32(out, l->on);
		put_u32(out, l->is_gone);
		put_u64(out, l->source);
		put(out, l->true_ns, sizeof(l->true_ns));
		put(out, l->false_ns, sizeof(l->false_ns));
		put(out, values, sizeof(values));
	}
	return buf_ok(out) ? HIWAT_OK : HIWAT_E_NOMEM;
}

static const struct node *
find_node(const struct rule_set *set, uint64_t hash)
{
	const struct node *n = set->nodes.buckets[hash % (sizeof(set->nodes.buckets) / sizeof(set->nodes.buckets[0]))];

	while (n != NULL && n->hash != hash)
		n = n->next;
	return n;
}

static uint64_t
newest_record(const struct rule_state *st)
{
	uint64_t newest = 0;

	for (uint32_t i = 0; i < st->n_sets; i++) {
		if (st->sets[i].last_ns > newest)
			newest = st->sets[i].last_ns;
	}
	return newest;
}

static int
load_sets(struct rule_state *st, struct reader *r)
{
	uint32_t n = get_u32(r);

	if (r->failed || n > r->n / 28)
		return HIWAT_E_CORRUPT;
	st->sets = calloc(n > 0 ? n : 1, sizeof(*st->sets));
	if (st->sets == NULL)
		return HIWAT_E_NOMEM;
	st->n_sets = n;
	for (uint32_t i = 0; i < n; i++) {
		st->sets[i].name_hash = get_u64(r);
		st->sets[i].last_ns = get_u64(r);
		st->sets[i].good_ns = get_u64(r);
		st->sets[i].is_bad = get_u32(r) != 0;
	}
	return r->failed ? HIWAT_E_CORRUPT : HIWAT_OK;
}

static int
load_windows(struct rule_state *st, struct labels *labels, struct reader *r)
{
	uint32_t count = get_u32(r);
	uint64_t now = newest_record(st);

	for (uint32_t i = 0; i < count && !r->failed; i++) {
		const struct node *n = find_node(st->set, get_u64(r));
		uint32_t set = get_labels(r, labels), size = get_u32(r);
		if (r->failed || size > r->n)
			return HIWAT_E_CORRUPT;
		if (n != NULL && n->op == NODE_WINDOW && size == n->shape->size) {
			struct window *w = malloc(size);
			if (w == NULL)
				return HIWAT_E_NOMEM;
			memcpy(w, r->p, size);
			if (!window_is_sane(w, n->shape)) {
				free(w);
				return HIWAT_E_CORRUPT;
			}
			if (state_keep(st, n->index, set, now, w) != HIWAT_OK)
				return HIWAT_E_NOMEM;
		}
		r->p += size;
		r->n -= size;
	}
	return r->failed ? HIWAT_E_CORRUPT : HIWAT_OK;
}

static int
load_live(struct rule_state *st, struct labels *labels, struct reader *r)
{
	uint32_t count = get_u32(r);

	for (uint32_t i = 0; i < count && !r->failed; i++) {
		char room[TEXT_MAX];
		size_t used = 0;
		double values[5];
		const char *id = get_text(r, room, &used);
		const struct rule *rule = id != NULL ? rule_set_find(st->set, id) : NULL;
		uint64_t meaning = get_u64(r);
		struct live l = { .row = NO_ROW };
		l.labels = get_labels(r, labels);
		l.object = get_labels(r, labels);
		l.on = (uint8_t)get_u32(r);
		l.is_gone = get_u32(r) != 0;
		l.source = get_u64(r);
		get(r, l.true_ns, sizeof(l.true_ns));
		get(r, l.false_ns, sizeof(l.false_ns));
		get(r, values, sizeof(values));
		if (r->failed || rule == NULL || rule_full_of(rule)->meaning != meaning)
			continue;
		struct live *slot = state_add_orphan(st);
		if (slot == NULL)
			return HIWAT_E_NOMEM;
		l.rule = (uint16_t)rule->index;
		l.on &= (uint8_t)((1u << rule_full_of(rule)->n_levels) - 1);
		l.value = values[0];
		l.threshold = values[1];
		l.used = values[2];
		l.limit = values[3];
		l.eta = values[4];
		*slot = l;
	}
	return r->failed || r->n != 0 ? HIWAT_E_CORRUPT : HIWAT_OK;
}

int
rule_state_load(const struct rule_set *set, struct rule_state *st, struct labels *labels, const void *data, size_t len)
{
	struct reader r = { data, len, false };
	struct rule_state *fresh = rule_state_new();
	int err = HIWAT_E_CORRUPT;

	if (fresh == NULL)
		return HIWAT_E_NOMEM;
	fresh->set = set;
	if (get_u32(&r) == MAGIC)
		err = load_sets(fresh, &r);
	if (err == HIWAT_OK)
		err = load_windows(fresh, labels, &r);
	if (err == HIWAT_OK)
		err = load_live(fresh, labels, &r);
	if (err == HIWAT_OK) {
		struct rule_state old = *st;
		*st = *fresh;
		*fresh = old;
	}
	rule_state_free(fresh);
	return err;
}

int
rule_state_migrate(const struct rule_set *from, struct rule_set *to, struct rule_state *st)
{
	uint32_t n = 0;

	if (st->set == NULL)
		return HIWAT_OK;
	int err = state_unbind(st, newest_record(st));
	for (uint32_t i = 0; i < st->n_kept; i++) {
		struct kept *k = &st->kept[i];
		const struct node *old = from->nodes.nodes[k->node], *new = find_node(to, old->hash);
		if (new == NULL) {
			free(k->window);
			continue;
		}
		k->node = new->index;
		st->kept[n++] = *k;
	}
	st->n_kept = n;
	for (uint32_t i = st->n_live; i-- > 0;) {
		struct live *l = &st->live[i];
		const struct rule_full *old = &from->rules[l->rule];
		const struct rule *new = rule_set_find(to, old->pub.id);
		if (new == NULL || rule_full_of(new)->meaning != old->meaning)
			state_remove_live(st, l);
		else
			l->rule = (uint16_t) new->index;
	}
	/* A window that only the new rules have must not take the first value it sees for growth. */
	for (uint32_t i = 0; i < st->n_sets; i++)
		st->sets[i].delivered = false;
	st->set = to;
	return err;
}
