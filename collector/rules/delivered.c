#include "delivered.h"

#include "buf.h"
#include "catalogue.h"
#include "set.h"

struct walk {
	const struct delivered *d;
	struct buf *missing;
};

const struct delivered *
delivered_find(const struct rule_set *set, const char *os)
{
	for (uint32_t i = 0; i < set->n_delivered; i++) {
		if (strcmp(set->delivered[i].os, os) == 0)
			return &set->delivered[i];
	}
	return NULL;
}

/* What the agent says of itself, and of resolvers, is the same on all systems. */
static bool
is_everywhere(const char *metric)
{
	static const char *const prefixes[] = { "hiwat_sampler_", "hiwat_agent_", "hiwat_dns_", "hiwat_parse_" };

	for (unsigned i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (strncmp(metric, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	}
	return false;
}

/* The series as the list writes it, metric{label="value"}; the metric alone when the rule asks for no such label. */
static void
put_series(const struct node *n, struct buf *out)
{
	const char *metric = catalogue_metrics[n->metric].name;
	bool is_named = strcmp(metric, "hiwat_sysctl") == 0 || strcmp(metric, "hiwat_setting_text") == 0;
	const char *label = is_named ? "name" : strncmp(metric, "hiwat_sockets", 13) == 0 ? "state" : NULL;

	buf_puts(out, metric);
	for (unsigned i = 0; label != NULL && i < n->n_matchers; i++) {
		if (strcmp(n->matchers[i].label, label) == 0 && n->matchers[i].kind == MATCH_EQ)
			buf_printf(out, "{%s=\"%s\"}", label, n->matchers[i].value);
	}
}

static bool
has_series(const struct delivered *d, const char *key)
{
	size_t len = strlen(key);

	for (uint32_t i = 0; i < d->n_series; i++) {
		const char *s = d->series[i];
		if (strncmp(s, key, len) == 0 && (s[len] == '\0' || s[len] == '{'))
			return true;
	}
	return false;
}

static bool
feeds(struct walk *w, const struct node *n)
{
	struct buf key;

	if (n == NULL)
		return true;
	switch (n->op) {
	case NODE_ABSENT:
		return true;
	case NODE_TEXT:
		return n->kind != FACT_OS || n->matchers[0].kind != MATCH_EQ || strcmp(n->matchers[0].value, w->d->os) == 0;
	case NODE_OR: {
		size_t before = w->missing->len;
		if (!feeds(w, n->a) && !feeds(w, n->b))
			return false;
		if (w->missing->len > before) {
			w->missing->len = before;
			w->missing->data[before] = '\0';
		}
		return true;
	}
	case NODE_UNLESS:
		return feeds(w, n->a);
	case NODE_SERIES:
		break;
	default: {
		/* Both sides are asked, so that all that is missing is named. */
		bool has_a = feeds(w, n->a), has_b = feeds(w, n->b);
		return has_a && has_b;
	}
	}
	buf_init(&key, 512);
	put_series(n, &key);
	bool found = is_everywhere(buf_str(&key)) || has_series(w->d, buf_str(&key));
	if (!found && strstr(buf_str(w->missing), buf_str(&key)) == NULL)
		buf_printf(w->missing, "%s%s", w->missing->len > 0 ? ", " : "", buf_str(&key));
	buf_fini(&key);
	return found;
}

bool
delivered_feeds(const struct rule_set *set, const struct delivered *d, const struct rule *rule, struct buf *missing)
{
	const struct rule_full *r = &set->rules[rule->index];
	struct walk w = { d, missing };

	for (unsigned i = 0; i < r->n_levels; i++) {
		if (feeds(&w, r->levels[i].fire))
			return true;
	}
	return r->n_levels == 0;
}
