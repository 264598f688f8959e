/* What people ask for: lists, acknowledgements, closing; and the comparison with the rules after a restart. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "internal.h"
#include "store.h"

static struct entry *
open_entry(const struct alerts *a, const char *key)
{
	uint8_t bytes[16];

	if (!incident_key_parse(key, bytes))
		return NULL;
	struct entry *e = (struct entry *)map_find(&a->incidents, bytes);
	return e != NULL && e->i.status == INCIDENT_OPEN ? e : NULL;
}

int
alerts_acknowledge(struct alerts *a, const char *key, const char *by, uint64_t wall_ns)
{
	struct entry *e = open_entry(a, key);

	if (e == NULL)
		return HIWAT_E_NODATA;
	if (!incident_set(&e->i.by, by))
		return HIWAT_E_NOMEM;
	e->i.acknowledged = e->acknowledge = e->dirty = true;
	e->i.changed_ns = wall_ns;
	return alerts_write(a, e->host, 0, false, 0, wall_ns);
}

int
alerts_give_back(struct alerts *a, const char *key, uint64_t wall_ns)
{
	struct entry *e = open_entry(a, key);

	if (e == NULL)
		return HIWAT_E_NODATA;
	e->i.by[0] = '\0';
	e->i.acknowledged = e->acknowledge = false;
	e->dirty = true;
	e->i.changed_ns = wall_ns;
	return alerts_write(a, e->host, 0, false, 0, wall_ns);
}

int
alerts_close(struct alerts *a, const char *key, const char *by, uint64_t wall_ns)
{
	struct entry *e = open_entry(a, key);

	if (e == NULL)
		return HIWAT_E_NODATA;
	if (!e->i.object_gone && e->i.blind_since_ns == 0)
		return HIWAT_E_REJECTED;
	if (!incident_set(&e->i.by, by))
		return HIWAT_E_NOMEM;
	entry_end(e, INCIDENT_RESOLVED, wall_ns);
	host_relabel(e->host);
	return alerts_write(a, e->host, 0, false, 0, wall_ns);
}

void
silences_forget(struct alerts *a, uint64_t wall_ns, uint64_t ended_ns)
{
	size_t kept = 0;

	for (size_t k = 0; k < a->n_silences; k++) {
		if (wall_ns >= a->silences[k]->ends_ns + ended_ns)
			silence_free(a->silences[k]);
		else
			a->silences[kept++] = a->silences[k];
	}
	if (kept != a->n_silences)
		a->conditions++; /* the others moved up */
	a->n_silences = kept;
}

bool
silences_keep(struct alerts *a, struct silence *s, uint64_t wall_ns)
{
	if (a->n_silences == SILENCES_MAX)
		silences_forget(a, wall_ns, 0);
	if (a->n_silences == SILENCES_MAX)
		return false;
	a->silences[a->n_silences++] = s;
	a->conditions++;
	return true;
}

static int
store_silence(struct alerts *a, const struct silence *s, uint64_t wall_ns)
{
	json_t *o = silence_to_json(s, wall_ns);
	char *json = o != NULL ? json_dumps(o, JSON_COMPACT) : NULL;
	struct store_silence row = { .json = json, .ends_ns = s->ends_ns };
	struct store_change change = { .silence = &row, .wall_ns = wall_ns };

	memcpy(row.id, s->id, sizeof(row.id));
	int err = json == NULL ? HIWAT_E_NOMEM : alerts_put(a, &change);
	json_decref(o);
	free(json);
	return err;
}

int
alerts_add_silence(struct alerts *a, struct silence *s, uint64_t wall_ns)
{
	int err = silences_keep(a, s, wall_ns) ? 0 : HIWAT_E_FULL;

	if (err != 0) {
		silence_free(s);
		return err;
	}
	err = store_silence(a, s, wall_ns);
	if (err != 0) {
		a->n_silences--; /* it is the last one */
		a->conditions++;
		silence_free(s);
	}
	return err;
}

int
alerts_end_silence(struct alerts *a, const char *id, uint64_t wall_ns, const struct silence **silence)
{
	for (size_t k = 0; k < a->n_silences; k++) {
		struct silence *s = a->silences[k];
		uint64_t begins_ns = s->begins_ns, ends_ns = s->ends_ns;

		if (strcmp(s->id, id) != 0)
			continue;
		if (wall_ns < ends_ns)
			s->ends_ns = wall_ns;
		if (begins_ns >= s->ends_ns)
			s->begins_ns = s->ends_ns - 1; /* it never began; what is stored is a silence still */
		int err = store_silence(a, s, wall_ns);
		if (err != 0) {
			s->begins_ns = begins_ns;
			s->ends_ns = ends_ns;
		}
		*silence = s;
		return err;
	}
	return HIWAT_E_NODATA;
}

void
alerts_each_silence(const struct alerts *a, void (*fn)(void *arg, const struct silence *s), void *arg)
{
	for (size_t k = a->n_silences; k > 0; k--)
		fn(arg, a->silences[k - 1]);
}

const struct zone *
alerts_zone(const struct alerts *a)
{
	return &a->zone;
}

const struct incident *
alerts_find(const struct alerts *a, const char *key)
{
	uint8_t bytes[16];

	if (!incident_key_parse(key, bytes))
		return NULL;
	const struct entry *e = (const struct entry *)map_find(&a->incidents, bytes);
	return e == NULL ? NULL : &e->i;
}

static int
newest_first(const void *x, const void *y)
{
	const struct incident *const *a = x, *const *b = y;

	if ((*a)->changed_ns != (*b)->changed_ns)
		return (*a)->changed_ns > (*b)->changed_ns ? -1 : 1;
	return strcmp((*a)->key, (*b)->key);
}

int
alerts_each(const struct alerts *a, void (*fn)(void *arg, const struct incident *i), void *arg)
{
	const struct incident **all = malloc((a->incidents.n + 1) * sizeof(*all));
	size_t n = 0;

	if (all == NULL)
		return HIWAT_E_NOMEM;
	for (const struct map_node *node = map_next(&a->incidents, NULL); node != NULL; node = map_next(&a->incidents, node))
		all[n++] = &((const struct entry *)node)->i;
	qsort(all, n, sizeof(*all), newest_first);
	for (size_t k = 0; k < n; k++)
		fn(arg, all[k]);
	free(all);
	return 0;
}

void
alerts_count(const struct alerts *a, size_t open[RULE_LEVEL_CRITICAL + 1])
{
	for (int level = 0; level <= RULE_LEVEL_CRITICAL; level++)
		open[level] = 0;
	for (const struct map_node *node = map_next(&a->incidents, NULL); node != NULL;
	     node = map_next(&a->incidents, node)) {
		const struct incident *i = &((const struct entry *)node)->i;

		if (i->status == INCIDENT_OPEN)
			open[i->level]++;
	}
}

/* What the rules hold true of one host: rule, object and series as one string each. */
struct truths {
	const struct labels *labels;
	char **names;
	size_t n, capacity;
	bool failed;
};

/* rule NUL object NUL labels would do; a newline, which series_write() escapes, can be compared as a string. */
static char *
truth_name(const char *rule, const char *object, const char *labels)
{
	size_t size = strlen(rule) + strlen(object) + strlen(labels) + 3;
	char *name = malloc(size);

	if (name != NULL) {
		char *end = stpcpy(name, rule);
		*end++ = '\n';
		end = stpcpy(end, object);
		*end++ = '\n';
		memcpy(end, labels, strlen(labels) + 1);
	}
	return name;
}

static void
note_truth(void *arg, const struct rule_event *event)
{
	struct truths *t = arg;
	char *object = labels_as_text(t->labels, event->object), *labels = labels_as_text(t->labels, event->labels);

	if (t->n == t->capacity && !t->failed) {
		size_t capacity = t->capacity == 0 ? 16 : t->capacity * 2;
		char **bigger = realloc(t->names, capacity * sizeof(*bigger));

		t->failed = bigger == NULL;
		if (bigger != NULL) {
			t->names = bigger;
			t->capacity = capacity;
		}
	}
	char *name = t->failed || object == NULL || labels == NULL ? NULL : truth_name(event->rule->id, object, labels);
	if (name != NULL)
		t->names[t->n++] = name;
	else
		t->failed = true;
	free(object);
	free(labels);
}

static int
compare_names(const void *x, const void *y)
{
	const char *const *a = x, *const *b = y;

	return strcmp(*a, *b);
}

/* Clears the lines that nothing upholds. False when memory is out. */
static bool
clear_untrue(struct entry *e, const struct rule_set *set, const struct truths *t, uint64_t wall_ns)
{
	bool changed = false;

	for (size_t k = 0; k < e->i.n_lines; k++) {
		struct incident_line *line = &e->i.lines[k];
		const struct rule *rule = rule_set_find(set, line->rule_id);

		if (line->status == RULE_OK || (rule != NULL && (rule->builtin[0] != '\0' || line->gone)))
			continue;
		char *name = truth_name(line->rule_id, e->i.object, line->labels);
		if (name == NULL)
			return false;
		bool holds = t->n > 0 && bsearch(&name, t->names, t->n, sizeof(*t->names), compare_names) != NULL;
		free(name);
		if (holds)
			continue;
		line->status = RULE_OK;
		line->blind_ns = 0;
		line->cleared_ns = wall_ns;
		changed = true;
	}
	if (changed)
		entry_settle(e, wall_ns);
	return true;
}

struct reopening {
	struct alerts *a;
	const struct alert_host *who;
	int err;
};

/* What fires has its line, also when the event that made it was among those that count as done. */
static void
hold_truth(void *arg, const struct rule_event *event)
{
	struct reopening *r = arg;

	if (event->status == RULE_FIRING && r->err == 0)
		r->err = alerts_live_event(r->a, r->who, event);
}

int
alerts_reconcile(struct alerts *a, const struct alert_host *who, const struct rule_set *set, const struct rule_state *state)
{
	struct alert_host_state *host = alerts_host(a, who->uuid);
	struct truths t = { .labels = who->view->labels };
	int err = 0;

	if (host == NULL)
		return HIWAT_E_NOMEM;
	rules_each(set, state, note_truth, &t);
	if (t.failed) {
		err = HIWAT_E_NOMEM;
		goto out;
	}
	if (t.n > 0)
		qsort(t.names, t.n, sizeof(*t.names), compare_names);
	for (struct entry *e = host->first; err == 0 && e != NULL; e = e->next_of_host)
		if (e->i.status == INCIDENT_OPEN && !clear_untrue(e, set, &t, who->wall_ns))
			err = HIWAT_E_NOMEM;
	host_relabel(host);
	if (err == 0) {
		struct reopening r = { .a = a, .who = who };

		rules_each(set, state, hold_truth, &r);
		err = r.err;
	}
	if (err == 0)
		err = alerts_write(a, host, 0, false, 0, who->wall_ns);
out:
	for (size_t k = 0; k < t.n; k++)
		free(t.names[k]);
	free(t.names);
	return err;
}
