#include "load.h"

#include <stddef.h>
#include <stdlib.h>

#include "buf.h"
#include "catalogue.h"
#include "diag.h"
#include "err.h"
#include "hash.h"
#include "scan.h"
#include "units.h"
#include "yaml_tree.h"

#define TEMPLATE_MAX 8192

const char *const level_keys[RULE_LEVELS] = { "advice", "warning", "critical" };

static const struct text_key {
	const char *key;
	size_t offset;
	bool is_template;
} text_keys[] = {
	{ "id", offsetof(struct rule, id), false },
	{ "cause", offsetof(struct rule, cause), false },
	{ "doc", offsetof(struct rule, doc), false },
	{ "threshold_source", offsetof(struct rule, threshold_source), false },
	{ "reason", offsetof(struct rule, reason), false },
	{ "summary", offsetof(struct rule, summary), true },
	{ "description", offsetof(struct rule, description), true },
	{ "remedy", offsetof(struct rule, remedy), true },
	{ "builtin", offsetof(struct rule, builtin), false },
};
#define N_TEXT_KEYS (sizeof(text_keys) / sizeof(text_keys[0]))

#define OTHER_KEYS \
	"params, expr, compare, advice, warning, critical, for, hold, clear, by, used, limit, eta, since_boot, level, " \
	"remedy_of"

static const char **
text_field(struct rule *r, size_t offset)
{
	return (const char **)(void *)((char *)r + offset);
}

const char *
load_copy(struct loading *ld, const char *s, size_t len)
{
	const char *c = arena_strndup(&ld->set->arena, s, len);

	if (c == NULL)
		ld->is_out_of_memory = true;
	return c != NULL ? c : "";
}

static bool
is_scalar(struct loading *ld, const struct yaml_node *n)
{
	if (n->kind == YAML_SCALAR)
		return true;
	yaml_complain(ld->diag, n, "a text was expected, not %s", yaml_kind_text(n));
	return false;
}

/* A remedy per system becomes one template that asks for the system. */
static void
load_remedy(struct draft *d, const struct yaml_node *n)
{
	struct buf out;
	const struct yaml_node *any = yaml_get(n, "any");
	unsigned written = 0;

	buf_init(&out, TEMPLATE_MAX);
	for (const struct yaml_node *os = n->first; os != NULL; os = os->next) {
		if (!is_scalar(d->ld, os) || os == any)
			continue;
		buf_printf(&out, "{{%s os = \"%s\"}}", written++ == 0 ? "if" : "elif", os->key);
		buf_add(&out, os->text, text_trim((struct text){ os->text, os->len }).n);
	}
	if (any != NULL && any->kind == YAML_SCALAR) {
		if (written > 0)
			buf_puts(&out, "{{else}}");
		buf_add(&out, any->text, any->len);
	}
	if (written > 0)
		buf_puts(&out, "{{end}}");
	if (!buf_ok(&out))
		yaml_complain(d->ld->diag, n, "longer than %d bytes", TEMPLATE_MAX);
	d->rule.pub.remedy = load_copy(d->ld, buf_str(&out), out.len);
	buf_fini(&out);
}

/* The remedy of a rule before this one. */
static void
load_remedy_of(struct draft *d, const struct yaml_node *n)
{
	const struct rule *other = n->kind == YAML_SCALAR ? rule_set_find(d->ld->set, n->text) : NULL;

	if (other == NULL)
		yaml_complain(d->ld->diag, n, "the id of a rule before this one was expected");
	else
		d->rule.pub.remedy = other->remedy;
}

static bool
load_text_key(struct draft *d, const struct yaml_node *n)
{
	for (unsigned i = 0; i < N_TEXT_KEYS; i++) {
		if (strcmp(n->key, text_keys[i].key) != 0)
			continue;
		if (n->kind == YAML_MAPPING && strcmp(n->key, "remedy") == 0) {
			load_remedy(d, n);
			return true;
		}
		if (!is_scalar(d->ld, n))
			return true;
		if (n->len > TEMPLATE_MAX)
			yaml_complain(d->ld->diag, n, "longer than %d bytes", TEMPLATE_MAX);
		struct text t = { n->text, n->len };
		while (t.n > 0 && (t.p[t.n - 1] == '\n' || t.p[t.n - 1] == ' '))
			t.n--;
		*text_field(&d->rule.pub, text_keys[i].offset) = load_copy(d->ld, t.p, t.n);
		return true;
	}
	return false;
}

bool
load_param(struct loading *ld, const char *id, const char *name, double value)
{
	struct rule_set *set = ld->set;
	struct param *p = arena_grow(&set->arena, (void **)&set->params.params, set->params.n, sizeof(*p));

	if (p == NULL) {
		ld->is_out_of_memory = true;
		return false;
	}
	uint64_t bits;
	memcpy(&bits, &value, sizeof(bits));
	*p = (struct param){ name, value, hash_u64(hash_string(hash_string(HASH_SEED, id), name), bits) };
	set->params.n++;
	return true;
}

void
add_param(struct draft *d, const char *name, double value)
{
	d->rule.n_params += load_param(d->ld, d->rule.pub.id, name, value);
}

struct node *
load_expr(struct draft *d, const struct yaml_node *n)
{
	struct loading *ld = d->ld;
	struct expr_place place = load_place(ld, n);
	struct node *out = NULL;

	if (!is_scalar(ld, n))
		return NULL;
	const struct expr_names names = { &ld->set->params, d->rule.first_param, d->rule.n_params, d->expr };
	int err = expr_parse(&ld->set->nodes, &names, n->text, n->len, &place, ld->diag, &out);
	if (err == HIWAT_E_NOMEM)
		ld->is_out_of_memory = true;
	return err == HIWAT_OK ? out : NULL;
}

/* A number, a duration or a size. */
static struct node *
load_number(struct draft *d, const struct yaml_node *n)
{
	struct node *node = load_expr(d, n);

	if (node != NULL && (node->op != NODE_CONST || isnan(node->number))) {
		yaml_complain(d->ld->diag, n, "a number was expected");
		return NULL;
	}
	return node;
}

static void
load_params(struct draft *d, const struct yaml_node *n)
{
	if (n->kind != YAML_MAPPING) {
		yaml_complain(d->ld->diag, n, "names with numbers were expected, not %s", yaml_kind_text(n));
		return;
	}
	for (const struct yaml_node *p = n->first; p != NULL; p = p->next) {
		struct text name = text_of(p->key);
		for (size_t i = 0; i < name.n; i++) {
			if (strchr("abcdefghijklmnopqrstuvwxyz0123456789_", name.p[i]) == NULL ||
			    (i == 0 && name.p[0] <= '9'))
				yaml_complain_key(d->ld->diag, p, "a name of a-z, 0-9 and _ was expected");
		}
		for (unsigned l = 0; l < RULE_LEVELS; l++) {
			if (strcmp(p->key, level_keys[l]) == 0)
				yaml_complain_key(d->ld->diag, p, "'%s' is the name of a level's threshold", p->key);
		}
		struct node *value = load_number(d, p);
		if (value != NULL)
			add_param(d, load_copy(d->ld, p->key, name.n), value->number);
	}
}

void
load_duration(struct draft *d, const struct yaml_node *n, uint64_t *ns)
{
	uint64_t ms;

	if (n == NULL || !is_scalar(d->ld, n))
		return;
	if (units_parse_duration((struct text){ n->text, n->len }, &ms) != HIWAT_OK || ms > UINT64_MAX / 1000000)
		yaml_complain(d->ld->diag, n, UNITS_DURATION_FORM " was expected");
	else
		*ns = ms * 1000000;
}

static void
load_by(struct draft *d, const struct yaml_node *n)
{
	struct label_list *by = &d->rule.by;

	d->rule.has_by = true;
	if (n->kind != YAML_SEQUENCE) {
		yaml_complain(d->ld->diag, n, "a list of labels was expected, not %s", yaml_kind_text(n));
		return;
	}
	for (const struct yaml_node *l = n->first; l != NULL; l = l->next) {
		if (!is_scalar(d->ld, l))
			continue;
		bool known = false;
		for (unsigned m = 0; m < catalogue_n_metrics && !known; m++)
			for (unsigned i = 0; i < catalogue_metrics[m].n_labels && !known; i++)
				known = strcmp(catalogue_metrics[m].labels[i], l->text) == 0;
		if (!known)
			yaml_complain(d->ld->diag, l, "no metric has a label '%s'", l->text);
		else if (by->n == EXPR_LABELS_MAX)
			yaml_complain(d->ld->diag, l, "more than %d labels", EXPR_LABELS_MAX);
		else
			by->names[by->n++] = load_copy(d->ld, l->text, l->len);
	}
}

static bool
load_bool(struct draft *d, const struct yaml_node *n)
{
	if (n->kind != YAML_SCALAR || (strcmp(n->text, "true") != 0 && strcmp(n->text, "false") != 0))
		yaml_complain(d->ld->diag, n, "true or false was expected");
	else
		return strcmp(n->text, "true") == 0;
	return false;
}

static void
load_compare(struct draft *d, const struct yaml_node *n)
{
	static const struct {
		const char *sign;
		enum node_op op;
	} signs[] = { { ">=", NODE_GE }, { ">", NODE_GT }, { "<=", NODE_LE }, { "<", NODE_LT } };

	for (unsigned i = 0; n->kind == YAML_SCALAR && i < 4; i++) {
		if (strcmp(n->text, signs[i].sign) == 0) {
			d->compare = signs[i].op;
			return;
		}
	}
	yaml_complain(d->ld->diag, n, "\">=\", \">\", \"<=\" or \"<\" was expected");
}

static void
load_builtin_level(struct draft *d, const struct yaml_node *n)
{
	for (unsigned l = 0; n->kind == YAML_SCALAR && l < RULE_LEVELS; l++) {
		if (strcmp(n->text, level_keys[l]) == 0) {
			d->builtin_level = (enum rule_level)(l + 1);
			return;
		}
	}
	yaml_complain(d->ld->diag, n, "advice, warning or critical was expected");
}

static void
load_keys(struct draft *d)
{
	struct diag *diag = d->ld->diag;
	const struct yaml_node *params = yaml_get(d->node, "params"), *expr = yaml_get(d->node, "expr");

	/* Whatever their order in the file: texts, then figures, then what is made of them. */
	for (const struct yaml_node *n = d->node->first; n != NULL; n = n->next) {
		if (load_text_key(d, n) || n == params || n == expr)
			continue;
		bool is_level = false;
		for (unsigned l = 0; l < RULE_LEVELS; l++) {
			if (strcmp(n->key, level_keys[l]) == 0) {
				d->given[l] = n;
				is_level = true;
			}
		}
		if (is_level)
			continue;
		if (strcmp(n->key, "for") == 0)
			d->for_node = n;
		else if (strcmp(n->key, "hold") == 0)
			d->hold_node = n;
		else if (strcmp(n->key, "clear") == 0)
			d->clear_node = n;
		else if (strcmp(n->key, "compare") == 0)
			load_compare(d, n);
		else if (strcmp(n->key, "by") == 0)
			load_by(d, n);
		else if (strcmp(n->key, "since_boot") == 0)
			d->since_boot = load_bool(d, n);
		else if (strcmp(n->key, "level") == 0)
			load_builtin_level(d, n);
		else if (strcmp(n->key, "remedy_of") == 0)
			load_remedy_of(d, n);
		else if (strcmp(n->key, "used") != 0 && strcmp(n->key, "limit") != 0 && strcmp(n->key, "eta") != 0)
			yaml_complain_key(diag, n,
			    "unknown key '%s'; allowed: id, cause, doc, threshold_source, reason, summary, "
			    "description, remedy, builtin, " OTHER_KEYS,
			    n->key);
	}
	if (params != NULL)
		load_params(d, params);
	if (expr != NULL)
		d->expr = load_expr(d, expr);
}

/* Use and limit of a quotient are its two sides, unless the rule says otherwise. */
static void
load_amounts(struct draft *d)
{
	static const char *const keys[] = { "used", "limit", "eta" };
	struct rule_full *r = &d->rule;
	struct node **fields[] = { &r->used, &r->limit, &r->eta };

	for (unsigned l = 0; l < r->n_levels && r->used == NULL; l++) {
		struct node *v = r->levels[l].value;
		if (v->op == NODE_DIV && v->is_ratio) {
			r->used = v->a;
			r->limit = v->b;
		}
	}
	for (unsigned i = 0; i < 3; i++) {
		const struct yaml_node *n = yaml_get(d->node, keys[i]);
		struct node *expr = n != NULL ? load_expr(d, n) : NULL;
		if (expr != NULL)
			*fields[i] = expr;
	}
}

static void
check_texts(struct draft *d)
{
	static const char *const needed[] = { "id", "cause", "threshold_source", "reason", "summary" };
	struct rule *r = &d->rule.pub;
	struct diag *diag = d->ld->diag;
	char why[200];
	size_t at;

	for (unsigned i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		if (yaml_get(d->node, needed[i]) == NULL)
			yaml_complain(diag, d->node, "'%s' is missing", needed[i]);
	}
	if (strspn(r->id, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(r->id))
		yaml_complain(diag, yaml_get(d->node, "id"), "an id of a-z, 0-9 and - was expected");
	const struct rule *twin = rule_set_find(d->ld->set, r->id);
	if (twin != NULL && *r->id != '\0')
		yaml_complain(diag, yaml_get(d->node, "id"), "the id '%s' is taken by %s:%u", r->id, twin->file, twin->line);
	const struct yaml_node *source = yaml_get(d->node, "threshold_source");
	if (source != NULL && strcmp(r->threshold_source, "document") != 0 && strcmp(r->threshold_source, "ours") != 0)
		yaml_complain(diag, source, "document or ours was expected");
	if (source != NULL && strcmp(r->threshold_source, "document") == 0 && *r->doc == '\0')
		yaml_complain(diag, source, "'doc' must name the document");
	for (unsigned i = 0; i < N_TEXT_KEYS; i++) {
		const struct yaml_node *n = yaml_get(d->node, text_keys[i].key);
		if (strcmp(text_keys[i].key, "remedy") == 0 && n == NULL)
			n = yaml_get(d->node, "remedy_of");
		if (!text_keys[i].is_template || n == NULL)
			continue;
		if (template_check(&d->rule, *text_field(r, text_keys[i].offset), &at, why, sizeof(why)) != HIWAT_OK)
			yaml_complain(diag, n, "%s", why);
	}
}

static uint64_t
hash_meaning(const struct rule_full *r)
{
	uint64_t h = hash_string(HASH_SEED, r->pub.id);

	for (unsigned i = 0; i < r->n_levels; i++) {
		h = hash_u64(hash_u64(h, r->levels[i].level), r->levels[i].fire->hash);
		h = hash_u64(hash_u64(h, r->levels[i].stay->hash), r->levels[i].for_ns);
		h = hash_u64(h, r->levels[i].hold_ns);
	}
	h = hash_u64(h, r->has_by);
	for (unsigned i = 0; i < r->by.n; i++)
		h = hash_string(h, r->by.names[i]);
	return h;
}

void
load_rule(struct loading *ld, const struct yaml_node *node)
{
	struct draft d = { .ld = ld, .node = node, .compare = NODE_GE };
	struct rule_full *r = &d.rule;
	unsigned before = ld->diag->n;

	if (ld->is_out_of_memory || ld->is_full)
		return;
	if (node->kind != YAML_MAPPING) {
		yaml_complain(ld->diag, node, "a rule was expected, not %s", yaml_kind_text(node));
		return;
	}
	for (unsigned i = 0; i < N_TEXT_KEYS; i++)
		*text_field(&r->pub, text_keys[i].offset) = "";
	r->first_param = ld->set->params.n;
	r->pub.file = load_copy(ld, node->file, strlen(node->file));
	r->pub.line = node->line;
	r->pub.index = ld->set->n_rules;
	r->set = ld->set;
	load_keys(&d);
	for (unsigned l = 0; l < RULE_LEVELS; l++) {
		if (d.given[l] != NULL)
			load_level(&d, l);
	}
	load_amounts(&d);
	check_texts(&d);
	bool is_builtin = *r->pub.builtin != '\0';
	if (is_builtin && (d.builtin_level == RULE_LEVEL_NONE || r->n_levels > 0))
		yaml_complain(ld->diag, node, "a builtin rule has 'level' and no condition");
	if (!is_builtin && d.builtin_level != RULE_LEVEL_NONE)
		yaml_complain(ld->diag, node, "'level' is for builtin rules; others have advice, warning or critical");
	if (!is_builtin && ld->diag->n == before && r->n_levels == 0 && !ld->is_out_of_memory)
		yaml_complain(ld->diag, node, "advice, warning or critical with a condition is missing");
	if (ld->set->nodes.n == EXPR_NODES_MAX) {
		yaml_complain(ld->diag, node, "the rules up to here have more than %d operations", EXPR_NODES_MAX);
		ld->is_full = true;
		ld->is_out_of_memory = false;
	}
	if (ld->set->n_rules == RULES_MAX)
		yaml_complain(ld->diag, node, "more than %d rules", RULES_MAX);
	if (ld->diag->n != before || ld->is_out_of_memory)
		return;
	r->pub.worst = is_builtin ? d.builtin_level : r->levels[r->n_levels - 1].level;
	r->meaning = hash_meaning(r);
	struct rule_full *slot = arena_grow(&ld->set->arena, (void **)&ld->set->rules, ld->set->n_rules, sizeof(*slot));
	if (slot == NULL) {
		ld->is_out_of_memory = true;
		return;
	}
	*slot = *r;
	ld->set->n_rules++;
}
