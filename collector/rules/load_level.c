/* Levels of a rule: the condition, what keeps it from clearing, what is judged without history. */
#include "load.h"

#include "diag.h"
#include "yaml_tree.h"

#define HOLD_NS (60 * 1000000000ULL)        /* how long a level's clearing condition must be met */
#define HOLD_GROWS_NS (300 * 1000000000ULL) /* with the window of grows(): ten minutes without an increase */
#define LONG_FOR_NS (86400 * 1000000000ULL) /* a condition that must hold this long says nothing in a single sample */
#define RELAX_RATIO 0.05
#define RELAX_FACTOR 0.8

static struct node *
nearer(struct node_table *t, enum call call, struct node *a, struct node *b)
{
	struct node proto = { .op = NODE_CALL, .kind = call, .a = a, .b = b };

	return a != NULL && b != NULL ? node_make(t, &proto) : NULL;
}

/*
 * How far a value must come back before its level clears, unless the rule says it. A share comes back by 0.05, a small one
 * by no more than others do: below a threshold of 0.05 it would have to become negative.
 */
static struct node *
relax(struct node_table *t, const struct node *comparison)
{
	bool is_upper = comparison->op == NODE_GT || comparison->op == NODE_GE;
	struct node *b = comparison->b;
	bool is_share =
	    comparison->a->is_ratio && (b->op == NODE_CONST || b->op == NODE_PARAM) && b->number >= 0 && b->number <= 1;
	bool is_negative = (b->op == NODE_CONST || b->op == NODE_PARAM) && b->number < 0;

	if (comparison->op == NODE_EQ || comparison->op == NODE_NE)
		return b;
	struct node *scaled = node_binary(t, is_upper != is_negative ? NODE_MUL : NODE_DIV, b, node_const(t, RELAX_FACTOR));
	if (!is_share)
		return scaled;
	return nearer(t, is_upper ? CALL_MAX : CALL_MIN,
	    node_binary(t, is_upper ? NODE_SUB : NODE_ADD, b, node_const(t, RELAX_RATIO)), scaled);
}

/*
 * What a single sample can tell of windows: grows(x) is anything counted since boot, max(x[...]) is at least x, the others
 * stay.
 */
static struct node *
single(struct node_table *t, struct node *n, bool counts)
{
	if (n->op == NODE_WINDOW && n->kind == WINDOW_GROWS && counts)
		return node_binary(t, NODE_GT, n->a, node_const(t, 0));
	if (n->op == NODE_WINDOW && n->kind == WINDOW_MAX)
		return n->a;
	if (n->a == NULL || !n->has_history)
		return n;
	struct node proto = *n;
	proto.a = single(t, n->a, counts);
	proto.b = n->b != NULL ? single(t, n->b, counts) : NULL;
	return proto.a != NULL && (n->b == NULL || proto.b != NULL) ? node_make(t, &proto) : NULL;
}

/* Those sides of an "or" of conditions that need earlier values, or those that do not; none: NULL. */
static struct node *
sides(struct draft *d, struct node *n, bool with_history)
{
	if (!n->has_history)
		return with_history ? NULL : n;
	if (n->op != NODE_OR || !n->is_condition)
		return with_history ? n : NULL;
	struct node proto = *n;
	proto.a = sides(d, n->a, with_history);
	proto.b = sides(d, n->b, with_history);
	if (proto.a == NULL || proto.b == NULL)
		return proto.a != NULL ? proto.a : proto.b;
	struct node *both = node_make(&d->ld->set->nodes, &proto);
	d->ld->is_out_of_memory = d->ld->is_out_of_memory || both == NULL;
	return both;
}

/* What the check command makes of a level. */
static void
split_for_check(struct draft *d, struct level *l)
{
	struct node_table *t = &d->ld->set->nodes;
	struct node *now = single(t, l->fire, d->since_boot);

	if (now == NULL) {
		d->ld->is_out_of_memory = true;
		return;
	}
	if (d->since_boot || !now->has_history) {
		l->check = now;
		l->is_peak = !d->since_boot && now != l->fire;
	} else {
		struct node *later = sides(d, l->fire, true);
		l->check = sides(d, l->fire, false);
		l->wait = later != NULL ? single(t, later, true) : NULL;
	}
	if (l->for_ns >= LONG_FOR_NS) {
		l->wait = l->check;
		l->check = NULL;
	}
}

static void
finish_level(struct draft *d, struct level *l, const struct yaml_node *clear, const struct yaml_node *where)
{
	struct node_table *t = &d->ld->set->nodes;
	struct node *m = node_main(l->fire), *threshold = NULL;
	bool is_comparison = m != NULL && m->op >= NODE_EQ && m->op <= NODE_GE;

	if (!l->fire->is_condition || !l->fire->has_series) {
		yaml_complain(d->ld->diag, where, "a condition on a metric was expected: a comparison, grows() or absent()");
		return;
	}
	bool is_same = clear != NULL && clear->kind == YAML_SCALAR && strcmp(clear->text, "same") == 0;
	if (clear != NULL && !is_same && !is_comparison)
		yaml_complain(d->ld->diag, clear, "'clear' needs a comparison to apply to");
	if (is_comparison && !is_same)
		threshold = clear != NULL ? load_expr(d, clear) : relax(t, m);
	l->stay = threshold != NULL ? node_with_threshold(t, l->fire, threshold) : l->fire;
	split_for_check(d, l);
	l->value = node_value(t, l->fire);
	l->threshold = node_threshold(l->fire);
	if (l->hold_ns == UINT64_MAX)
		l->hold_ns = m != NULL && m->op == NODE_WINDOW && m->kind == WINDOW_GROWS ? HOLD_GROWS_NS : HOLD_NS;
	if (l->stay == NULL || l->value == NULL)
		d->ld->is_out_of_memory = true;
	else
		d->rule.levels[d->rule.n_levels++] = *l;
}

void
load_level(struct draft *d, unsigned index)
{
	const struct yaml_node *n = d->given[index], *condition = n, *clear = d->clear_node;
	struct node_table *t = &d->ld->set->nodes;
	struct level l = { .level = (enum rule_level)(index + 1), .hold_ns = UINT64_MAX };

	load_duration(d, d->for_node, &l.for_ns);
	load_duration(d, d->hold_node, &l.hold_ns);
	if (n->kind == YAML_MAPPING) {
		condition = NULL;
		for (const struct yaml_node *k = n->first; k != NULL; k = k->next) {
			if (strcmp(k->key, "when") == 0)
				condition = k;
			else if (strcmp(k->key, "clear") == 0)
				clear = k;
			else if (strcmp(k->key, "for") == 0)
				load_duration(d, k, &l.for_ns);
			else if (strcmp(k->key, "hold") == 0)
				load_duration(d, k, &l.hold_ns);
			else
				yaml_complain_key(d->ld->diag, k, "unknown key '%s'; allowed: when, for, hold, clear",
				    k->key);
		}
		if (condition == NULL) {
			yaml_complain(d->ld->diag, n, "'when' with a threshold or a condition is missing");
			return;
		}
	}
	struct node *node = load_expr(d, condition);
	if (node == NULL)
		return;
	l.fire = node;
	if (node->op == NODE_CONST) {
		if (d->expr == NULL) {
			yaml_complain(d->ld->diag, condition, "a threshold needs 'expr', which is compared with it");
			return;
		}
		add_param(d, level_keys[index], node->number);
		if (d->ld->is_out_of_memory)
			return;
		uint32_t param = d->ld->set->params.n - 1;
		struct node proto = { .op = NODE_PARAM,
			.param = param,
			.number = node->number,
			.param_key = d->ld->set->params.params[param].key };
		l.fire = node_binary(t, d->compare, d->expr, node_make(t, &proto));
		if (l.fire == NULL) {
			d->ld->is_out_of_memory = true;
			return;
		}
	}
	finish_level(d, &l, clear, condition);
}
