/*
 * Recursive descent, loosest operators first: or; and, unless; comparisons; + -; * / %; unary minus. The first mistake of
 * an expression ends it; a rule file goes on with the next one.
 */
#include "parse.h"

#include <stdarg.h>
#include <stdio.h>

#include "arena.h"
#include "catalogue.h"
#include "diag.h"
#include "err.h"

struct node *
parser_fail(struct parser *p, size_t at, const char *fmt, ...)
{
	char message[512];
	unsigned line = p->place->line, column = p->place->column;
	va_list ap;

	if (p->err != HIWAT_OK)
		return NULL;
	for (size_t i = 0; i < at; i++) {
		column++;
		if (p->text[i] == '\n') {
			line++;
			column = p->place->indent + 1;
		}
	}
	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	diag_add(p->diag, p->place->file, line, column, "%s", message);
	p->err = HIWAT_E_CONFIG;
	return NULL;
}

struct node *
parser_expected(struct parser *p, const char *what)
{
	const struct token *t = &p->token;

	if (t->kind == TOKEN_ERROR)
		return parser_fail(p, t->at, "%s", t->message);
	if (t->kind == TOKEN_END)
		return parser_fail(p, t->at, "%s was expected, not the end of the expression", what);
	return parser_fail(p, t->at, "%s was expected, not '%.*s'", what, (int)(t->len < 60 ? t->len : 60), p->text + t->at);
}

void
parser_advance(struct parser *p)
{
	p->token = lex_next(p->text, p->len, &p->at);
}

static bool
token_is(const struct parser *p, enum token_kind kind, const char *word)
{
	return p->token.kind == kind && p->token.len == strlen(word) &&
	    memcmp(p->text + p->token.at, word, p->token.len) == 0;
}

bool
parser_is_sign(const struct parser *p, const char *sign)
{
	return token_is(p, TOKEN_SIGN, sign);
}

bool
parser_is_word(const struct parser *p, const char *word)
{
	return token_is(p, TOKEN_NAME, word);
}

bool
parser_skip(struct parser *p, const char *sign)
{
	if (!parser_is_sign(p, sign))
		return false;
	parser_advance(p);
	return true;
}

bool
parser_need(struct parser *p, const char *sign)
{
	char what[8];

	if (parser_skip(p, sign))
		return true;
	snprintf(what, sizeof(what), "'%s'", sign);
	parser_expected(p, what);
	return false;
}

const char *
parser_string(struct parser *p, const char *what)
{
	if (p->token.kind != TOKEN_STRING) {
		parser_expected(p, what);
		return NULL;
	}
	char *s = arena_alloc(p->nodes->arena, lex_unquote(p->text, &p->token, NULL) + 1);
	if (s == NULL) {
		p->err = HIWAT_E_NOMEM;
		return NULL;
	}
	lex_unquote(p->text, &p->token, s);
	parser_advance(p);
	return s;
}

bool
parser_labels(struct parser *p, struct label_list *list)
{
	list->n = 0;
	if (!parser_need(p, "("))
		return false;
	while (!parser_skip(p, ")")) {
		if (list->n > 0 && !parser_need(p, ","))
			return false;
		if (p->token.kind != TOKEN_NAME) {
			parser_expected(p, "a label's name");
			return false;
		}
		if (list->n == EXPR_LABELS_MAX) {
			parser_fail(p, p->token.at, "more than %d labels", EXPR_LABELS_MAX);
			return false;
		}
		char *name = arena_strndup(p->nodes->arena, p->text + p->token.at, p->token.len);
		if (name == NULL) {
			p->err = HIWAT_E_NOMEM;
			return false;
		}
		unsigned i = list->n++;
		for (; i > 0 && strcmp(list->names[i - 1], name) > 0; i--)
			list->names[i] = list->names[i - 1];
		list->names[i] = name;
		parser_advance(p);
	}
	return true;
}

struct node *
parser_make(struct parser *p, const struct node *proto)
{
	struct node *n = p->err == HIWAT_OK ? node_make(p->nodes, proto) : NULL;

	if (n == NULL && p->err == HIWAT_OK)
		p->err = HIWAT_E_NOMEM;
	return n;
}

bool
node_has_label(const struct node *n, const char *label)
{
	if (n->op == NODE_SERIES && !n->is_bare) {
		const struct metric *m = &catalogue_metrics[n->metric];
		for (unsigned i = 0; i < m->n_labels; i++) {
			if (strcmp(m->labels[i], label) == 0)
				return true;
		}
		return false;
	}
	if (n->op == NODE_AGGREGATE) {
		for (unsigned i = 0; i < n->labels.n; i++) {
			if (strcmp(n->labels.names[i], label) == 0)
				return true;
		}
		return false;
	}
	return (n->a != NULL && node_has_label(n->a, label)) || (n->b != NULL && node_has_label(n->b, label));
}

struct operator
{
	const char *sign;
	enum node_op op;
	bool is_word;
};

static const struct operator or_operators[] = { { "or", NODE_OR, true }, { 0 } };
static const struct operator and_operators[] = { { "and", NODE_AND, true }, { "unless", NODE_UNLESS, true }, { 0 } };
static const struct operator comparisons[] = { { "==", NODE_EQ, false }, { "!=", NODE_NE, false }, { "<=", NODE_LE, false },
	{ ">=", NODE_GE, false }, { "<", NODE_LT, false }, { ">", NODE_GT, false }, { 0 } };
static const struct operator sums[] = { { "+", NODE_ADD, false }, { "-", NODE_SUB, false }, { 0 } };
static const struct operator products[] = { { "*", NODE_MUL, false }, { "/", NODE_DIV, false }, { "%", NODE_MOD, false },
	{ 0 } };

static const struct operator* const levels[] = { or_operators, and_operators, comparisons, sums, products };

static const struct operator* find_operator(const struct parser *p, const struct operator* table)
{
	for (; table->sign != NULL; table++) {
		if (token_is(p, table->is_word ? TOKEN_NAME : TOKEN_SIGN, table->sign))
			return table;
	}
	return NULL;
}

static struct node *
parse_unary(struct parser *p)
{
	size_t at = p->token.at;

	if (!parser_skip(p, "-"))
		return parse_primary(p);
	if (++p->depth > EXPR_DEPTH_MAX)
		return parser_fail(p, at, "nested too deeply");
	struct node *a = parse_unary(p);
	p->depth--;
	return a == NULL ? NULL : parser_make(p, &(struct node){ .op = NODE_NEG, .a = a });
}

/* on (...) or ignoring (...) behind an operator. */
static bool
parse_join(struct parser *p, struct node *proto)
{
	if (parser_is_word(p, "on"))
		proto->join = JOIN_ON;
	else if (parser_is_word(p, "ignoring"))
		proto->join = JOIN_IGNORING;
	else
		return true;
	parser_advance(p);
	return parser_labels(p, &proto->labels);
}

static struct node *
parse_level(struct parser *p, unsigned level)
{
	if (level == sizeof(levels) / sizeof(levels[0]))
		return parse_unary(p);
	struct node *a = parse_level(p, level + 1);
	const struct operator* o;
	unsigned chain = 0;
	while (a != NULL && (o = find_operator(p, levels[level])) != NULL) {
		struct node proto = { .op = o->op, .a = a };
		size_t at = p->token.at;
		if (levels[level] == comparisons && chain > 0)
			return parser_fail(p, at, "comparisons cannot be chained: join them with 'and'");
		/* Trees lean to the left: a long chain is as deep as nested parentheses. */
		if (++chain > EXPR_DEPTH_MAX)
			return parser_fail(p, at, "more than %d operands in a row", EXPR_DEPTH_MAX);
		parser_advance(p);
		if (!parse_join(p, &proto))
			return NULL;
		for (unsigned i = 0; i < proto.labels.n; i++) {
			if (proto.join == JOIN_ON && !node_has_label(a, proto.labels.names[i]))
				return parser_fail(p, at, "the left side has no label '%s'", proto.labels.names[i]);
		}
		proto.b = parse_level(p, level + 1);
		if (proto.b == NULL)
			return NULL;
		/* Or also joins plain values: of two sources, the first that is there. */
		bool are_plain = o->op == NODE_OR && !proto.a->is_condition && !proto.b->is_condition;
		if (o->is_word && !are_plain && !(proto.a->is_condition && proto.b->is_condition))
			return parser_fail(p, at, "'%s' joins conditions: a comparison was expected on both sides", o->sign);
		a = parser_make(p, &proto);
	}
	return a;
}

struct node *
parse_expr(struct parser *p)
{
	if (++p->depth > EXPR_DEPTH_MAX)
		return parser_fail(p, p->token.at, "nested too deeply");
	struct node *n = parse_level(p, 0);
	p->depth--;
	return n;
}

int
expr_parse(struct node_table *t, const struct expr_names *names, const char *text, size_t len,
    const struct expr_place *place, struct diag *diag, struct node **out)
{
	struct parser p = { .nodes = t, .names = names, .text = text, .len = len, .place = place, .diag = diag };

	if (len > EXPR_BYTES_MAX) {
		parser_fail(&p, 0, "longer than %d bytes", EXPR_BYTES_MAX);
		return p.err;
	}
	parser_advance(&p);
	struct node *n = parse_expr(&p);
	if (n != NULL && p.token.kind != TOKEN_END)
		parser_expected(&p, "an operator");
	if (n == NULL && p.err == HIWAT_OK)
		p.err = HIWAT_E_NOMEM;
	if (p.err == HIWAT_OK)
		*out = n;
	return p.err;
}
