/*
 * Conditions as PromQL, by their meaning. Rows of one host are told apart from those of others by labels that no rule
 * names (host, and whatever labels Prometheus adds): so all joins are written with ignoring() and all sums with without(),
 * naming the labels of the metrics, which the catalogue knows.
 */
#include "export_promql.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "buf.h"
#include "catalogue.h"
#include "value.h"

void
promql_fail(struct promql *p, const char *fmt, ...)
{
	va_list ap;

	if (p->why[0] != '\0')
		return;
	va_start(ap, fmt);
	vsnprintf(p->why, sizeof(p->why), fmt, ap);
	va_end(ap);
}

static bool
is_logical(const struct node *n)
{
	return n->op == NODE_AND || n->op == NODE_OR || n->op == NODE_UNLESS;
}

bool
promql_is_number(const struct node *n)
{
	if (n->op == NODE_CONST || n->op == NODE_PARAM)
		return true;
	return ((n->op >= NODE_NEG && n->op <= NODE_MOD) || n->op == NODE_CALL) && promql_is_number(n->a) &&
	    (n->b == NULL || promql_is_number(n->b));
}

double
promql_number(const struct promql *p, const struct node *n)
{
	struct host_view view = { .name = p->host, .os = "", .release = "" };

	if (n->op == NODE_CONST)
		return n->number;
	if (n->op == NODE_PARAM)
		return override_value(p->set, &view, n->param, n->number);
	return value_compute(n->op, n->kind, promql_number(p, n->a), n->b != NULL ? promql_number(p, n->b) : 0);
}

void
promql_put_string(struct promql *p, const char *text)
{
	buf_putc(p->out, '"');
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			buf_putc(p->out, '\\');
		/* In annotations the expression is a format. */
		if (*text == '%' && p->row != NULL)
			buf_putc(p->out, '%');
		buf_putc(p->out, *text);
	}
	buf_putc(p->out, '"');
}

static void
put_row_label(struct promql *p, const char *label, bool first)
{
	buf_printf(p->out, "%s%s=%%q", first ? "" : ",", label);
	buf_printf(p->args, " $labels.%s", label);
}

void
promql_put_series(struct promql *p, int metric, const struct matcher *matchers, unsigned n_matchers)
{
	static const char *const signs[] = { [MATCH_EQ] = "=", [MATCH_NE] = "!=", [MATCH_RE] = "=~", [MATCH_NOT_RE] = "!~" };
	const struct metric *m = &catalogue_metrics[metric];
	bool braces = n_matchers > 0 || *p->hosts != '\0' || p->row != NULL;

	buf_printf(p->out, "%s%s", m->name, braces ? "{" : "");
	for (unsigned i = 0; i < n_matchers; i++) {
		buf_printf(p->out, "%s%s%s", i > 0 ? "," : "", matchers[i].label, signs[matchers[i].kind]);
		promql_put_string(p, matchers[i].value);
	}
	if (*p->hosts != '\0')
		buf_printf(p->out, "%s%s", n_matchers > 0 ? "," : "", p->hosts);
	if (p->row != NULL) {
		put_row_label(p, "host", n_matchers == 0 && *p->hosts == '\0');
		for (unsigned i = 0; i < m->n_labels; i++) {
			bool pinned = !label_names_have(p->row, m->labels[i]);
			for (unsigned k = 0; k < n_matchers; k++)
				pinned =
				    pinned || (matchers[k].kind == MATCH_EQ && strcmp(matchers[k].label, m->labels[i]) == 0);
			if (!pinned)
				put_row_label(p, m->labels[i], false);
		}
	}
	if (braces)
		buf_putc(p->out, '}');
}

void
promql_put_selector(struct promql *p, const struct node *n)
{
	promql_put_series(p, n->metric, n->matchers, n->n_matchers);
}

void
promql_put_names(struct promql *p, const char *word, const struct label_names *l)
{
	buf_printf(p->out, "%s (", word);
	for (unsigned i = 0; i < l->n; i++)
		buf_printf(p->out, "%s%s", i > 0 ? ", " : "", l->names[i]);
	buf_putc(p->out, ')');
}

void
promql_put_duration(struct buf *out, uint64_t ns)
{
	static const struct {
		uint64_t seconds;
		char unit;
	} units[] = { { 86400, 'd' }, { 3600, 'h' }, { 60, 'm' }, { 1, 's' } };
	uint64_t seconds = ns / 1000000000;

	for (unsigned i = 0; i < 4; i++) {
		if (seconds % units[i].seconds == 0 && (seconds > 0 || i == 3)) {
			buf_printf(out, "%llu%c", (unsigned long long)(seconds / units[i].seconds), units[i].unit);
			return;
		}
	}
}

static void
put_aggregate(struct promql *p, const struct node *n)
{
	static const char *const
	    words[] = { [AGGREGATE_SUM] = "sum", [AGGREGATE_AVG] = "avg", [AGGREGATE_MAX] = "max", [AGGREGATE_MIN] = "min" };
	struct label_names all, dropped = { 0 };
	char word[16];

	if (n->kind == AGGREGATE_COUNT || (n->kind == AGGREGATE_AVG && n->a->is_condition)) {
		promql_fail(p, "count() of nothing is 0, in PromQL it is nothing");
		return;
	}
	label_names_of(n->a, &all);
	for (unsigned i = 0; i < all.n; i++) {
		if (!label_list_has(&n->labels, all.names[i]))
			label_names_add(&dropped, all.names[i]);
	}
	snprintf(word, sizeof(word), "%s without", words[n->kind]);
	promql_put_names(p, word, &dropped);
	buf_puts(p->out, " (");
	promql_put(p, n->a, BINDS_OR);
	buf_putc(p->out, ')');
}

static void
put_call(struct promql *p, const struct node *n, enum promql_binding needed)
{
	static const char *const words[] = { [CALL_ABS] = "abs(",
		[CALL_CEIL] = "ceil(",
		[CALL_FLOOR] = "floor(",
		[CALL_MIN] = "clamp_max(",
		[CALL_MAX] = "clamp_min(" };

	if (n->kind == CALL_POW2UP) {
		/* Of numbers of things; below 1 the engine's has the number itself. */
		buf_puts(p->out, needed > BINDS_SIGN ? "(2 ^ ceil(log2(" : "2 ^ ceil(log2(");
		promql_put(p, n->a, BINDS_OR);
		buf_puts(p->out, needed > BINDS_SIGN ? ")))" : "))");
		return;
	}
	if (n->b != NULL && !promql_is_number(n->b)) {
		promql_fail(p, "min() and max() of two series");
		return;
	}
	buf_puts(p->out, words[n->kind]);
	promql_put(p, n->a, BINDS_OR);
	if (n->b != NULL) {
		buf_puts(p->out, ", ");
		promql_put(p, n->b, BINDS_OR);
	}
	buf_putc(p->out, ')');
}

/* A fact of the host, as a series that is there where it is one. */
static void
put_fact(struct promql *p, const struct node *n)
{
	static const char *const names[] = { [FACT_OS] = "os", [FACT_RELEASE] = "release", [FACT_HOST] = "host" };
	struct matcher m = *n->matchers;

	if (n->kind == FACT_LABEL) {
		promql_fail(p, "series have no label '%s' of the host", m.label);
		return;
	}
	m.label = names[n->kind];
	promql_put_series(p, catalogue_find("hiwat_agent_info", strlen("hiwat_agent_info")), &m, 1);
}

/* on () and ignoring () and the side that has many rows. */
static void
put_join(struct promql *p, const struct node *n, const struct node *x, const struct node *y)
{
	struct label_names left, right, ignored = { 0 };
	bool right_alone, left_alone;

	label_names_of(x, &left);
	label_names_of(y, &right);
	left_alone = left.n == 0;
	right_alone = right.n == 0;
	if (n->join == JOIN_EQUAL) {
		if (n->op == NODE_UNLESS && left_alone && !right_alone)
			promql_fail(p, "unless of one row with many");
		if (n->op != NODE_OR && right_alone)
			label_names_add_all(&ignored, &left);
		else if (left_alone && !is_logical(n))
			label_names_add_all(&ignored, &right);
	} else {
		for (unsigned i = 0; i < left.n + right.n; i++) {
			const char *name = i < left.n ? left.names[i] : right.names[i - left.n];
			if (label_list_has(&n->labels, name) == (n->join == JOIN_IGNORING))
				label_names_add(&ignored, name);
		}
	}
	if (x->has_series && !y->has_series) {
		const struct metric *info =
		    &catalogue_metrics[catalogue_find("hiwat_agent_info", strlen("hiwat_agent_info"))];
		label_names_add_all(&ignored, &left);
		for (unsigned i = 0; i < info->n_labels; i++)
			label_names_add(&ignored, info->labels[i]);
	}
	if (ignored.n == 0)
		return;
	promql_put_names(p, " ignoring", &ignored);
	if (is_logical(n))
		return;
	bool many_right = node_has_rows_of_right(n);
	const struct node *one = many_right ? x : y;
	for (unsigned i = 0; i < ignored.n; i++) {
		if (node_is_free(one, ignored.names[i]))
			promql_fail(p, "several rows on the side that must have one (%s)", ignored.names[i]);
	}
	buf_puts(p->out, many_right ? " group_right ()" : " group_left ()");
}

static void
put_binary(struct promql *p, const struct node *n, enum promql_binding needed)
{
	static const struct {
		const char *sign;
		enum promql_binding binding;
	} operators[] = {
		[NODE_ADD] = { "+", BINDS_SUM },
		[NODE_SUB] = { "-", BINDS_SUM },
		[NODE_MUL] = { "*", BINDS_PRODUCT },
		[NODE_DIV] = { "/", BINDS_PRODUCT },
		[NODE_MOD] = { "%", BINDS_PRODUCT },
		[NODE_EQ] = { "==", BINDS_COMPARISON },
		[NODE_NE] = { "!=", BINDS_COMPARISON },
		[NODE_LT] = { "<", BINDS_COMPARISON },
		[NODE_LE] = { "<=", BINDS_COMPARISON },
		[NODE_GT] = { ">", BINDS_COMPARISON },
		[NODE_GE] = { ">=", BINDS_COMPARISON },
		[NODE_AND] = { "and", BINDS_AND },
		[NODE_OR] = { "or", BINDS_OR },
		[NODE_UNLESS] = { "unless", BINDS_AND },
	};
	enum promql_binding binding = operators[n->op].binding;
	bool swaps = n->op == NODE_AND && !n->a->has_series && n->b->has_series, parens = needed > binding;
	const struct node *x = swaps ? n->b : n->a, *y = swaps ? n->a : n->b;
	bool is_plain = promql_is_number(x) || promql_is_number(y);

	if (n->op != NODE_AND && is_logical(n) && !x->has_series)
		promql_fail(p, "a condition on the host alone");
	buf_puts(p->out, parens ? "(" : "");
	promql_put(p, x, binding);
	buf_printf(p->out, " %s%s", operators[n->op].sign, n->op == NODE_MOD && p->row != NULL ? "%" : "");
	if (!is_plain)
		put_join(p, n, x, y);
	buf_putc(p->out, ' ');
	if ((n->op == NODE_DIV || n->op == NODE_MOD) && !promql_is_number(y)) {
		/* A quotient by 0 has no value; PromQL's is infinite. */
		buf_putc(p->out, '(');
		promql_put(p, y, BINDS_COMPARISON + 1);
		buf_puts(p->out, " != 0)");
	} else {
		if ((n->op == NODE_DIV || n->op == NODE_MOD) && promql_number(p, y) == 0)
			promql_fail(p, "a division by 0");
		promql_put(p, y, (enum promql_binding)(binding + 1));
	}
	buf_puts(p->out, parens ? ")" : "");
}

void
promql_put(struct promql *p, const struct node *n, enum promql_binding needed)
{
	struct label_names l;

	if (p->why[0] != '\0')
		return;
	if (promql_is_number(n)) {
		buf_printf(p->out, "%.12g", promql_number(p, n));
		return;
	}
	switch (n->op) {
	case NODE_SERIES:
		if (n->is_bare) {
			label_names_of(&(struct node){ .op = NODE_SERIES, .metric = n->metric }, &l);
			promql_put_names(p, "max without", &l);
			buf_puts(p->out, " (");
		}
		promql_put_selector(p, n);
		buf_puts(p->out, n->is_bare ? ")" : "");
		break;
	case NODE_WINDOW:
		promql_put_window(p, n, needed);
		break;
	case NODE_NEG:
		buf_putc(p->out, '-');
		promql_put(p, n->a, BINDS_ALL);
		break;
	case NODE_AGGREGATE:
		put_aggregate(p, n);
		break;
	case NODE_CALL:
		put_call(p, n, needed);
		break;
	case NODE_TIME_TO:
		promql_put(p, n->b, needed);
		break;
	case NODE_AGE:
		buf_puts(p->out, needed > BINDS_SUM ? "(time() - " : "time() - ");
		promql_put(p, n->a, BINDS_PRODUCT);
		buf_puts(p->out, needed > BINDS_SUM ? ")" : "");
		break;
	case NODE_ABSENT:
		promql_fail(p, "absent() asks for what a host could deliver, which no series tells");
		break;
	case NODE_TEXT:
		put_fact(p, n);
		break;
	default:
		put_binary(p, n, needed);
	}
}
