/* Operands: numbers, series with their matchers, the rule's figures, functions, facts of the host. */
#include "parse.h"

#include <stdio.h>
#include <stdlib.h>

#include "arena.h"
#include "catalogue.h"
#include "err.h"

#define MATCHERS_MAX EXPR_LABELS_MAX
#define PATTERN_MAX 200
#define PATTERN_PLUSES_MAX 4
#define WINDOW_MIN_NS 1000000000ULL
#define WINDOW_MAX_NS (8 * 86400 * 1000000000ULL)

/*
 * Patterns for labels need no {}, no back references and few +: each makes the C library copy what stands before it, so
 * that a short pattern of many could take all memory.
 */
static bool
is_plain_pattern(const char *s)
{
	unsigned pluses = 0;

	if (strlen(s) > PATTERN_MAX)
		return false;
	for (; *s != '\0'; s++) {
		if (*s == '{' || (*s == '+' && ++pluses > PATTERN_PLUSES_MAX) || (*s == '\\' && s[1] >= '0' && s[1] <= '9'))
			return false;
		if (*s == '\\' && s[1] != '\0')
			s++;
	}
	return true;
}

/* The regular expression is anchored at both ends. */
static regex_t *
compile_regex(struct parser *p, size_t at, const char *pattern)
{
	char why[200];
	size_t len = strlen(pattern);
	char *anchored = arena_alloc(p->nodes->arena, len + 5);
	regex_t *re = arena_alloc(p->nodes->arena, sizeof(*re));
	regex_t **slot =
	    re == NULL ? NULL : arena_grow(p->nodes->arena, (void **)&p->nodes->regexes, p->nodes->n_regexes, sizeof(*slot));

	if (anchored == NULL || slot == NULL) {
		p->err = HIWAT_E_NOMEM;
		return NULL;
	}
	if (!is_plain_pattern(pattern)) {
		parser_fail(p, at,
		    "a pattern of at most %d bytes without {}, back references and more than %d + was expected", PATTERN_MAX,
		    PATTERN_PLUSES_MAX);
		return NULL;
	}
	memcpy(anchored, "^(", 2);
	memcpy(anchored + 2, pattern, len);
	memcpy(anchored + 2 + len, ")$", 3);
	int err = regcomp(re, anchored, REG_EXTENDED | REG_NOSUB);
	if (err != 0) {
		regerror(err, re, why, sizeof(why));
		parser_fail(p, at, "a POSIX extended regular expression was expected: %s", why);
		return NULL;
	}
	*slot = re;
	p->nodes->n_regexes++;
	return re;
}

/* = "text" and its kin. */
static bool
parse_match(struct parser *p, struct matcher *m)
{
	size_t at;

	if (parser_skip(p, "=") || parser_skip(p, "==")) {
		m->kind = MATCH_EQ;
	} else if (parser_skip(p, "!=")) {
		m->kind = MATCH_NE;
	} else if (parser_skip(p, "=~")) {
		m->kind = MATCH_RE;
	} else if (parser_skip(p, "!~")) {
		m->kind = MATCH_NOT_RE;
	} else {
		parser_expected(p, "=, !=, =~ or !~");
		return false;
	}
	at = p->token.at;
	m->value = parser_string(p, "a text in quotes");
	if (m->value == NULL)
		return false;
	if (m->kind == MATCH_RE || m->kind == MATCH_NOT_RE)
		m->re = compile_regex(p, at, m->value);
	return p->err == HIWAT_OK;
}

static bool
metric_has_label(const struct metric *m, const char *name, size_t len)
{
	for (unsigned i = 0; i < m->n_labels; i++) {
		if (strlen(m->labels[i]) == len && memcmp(m->labels[i], name, len) == 0)
			return true;
	}
	return false;
}

static struct node *
parse_series(struct parser *p, int metric)
{
	const struct metric *m = &catalogue_metrics[metric];
	struct matcher matchers[MATCHERS_MAX];
	struct node proto = { .op = NODE_SERIES, .metric = metric };

	parser_advance(p);
	if (parser_skip(p, "{")) {
		while (!parser_skip(p, "}")) {
			if (proto.n_matchers > 0 && !parser_need(p, ","))
				return NULL;
			if (p->token.kind != TOKEN_NAME)
				return parser_expected(p, "a label's name or '}'");
			if (!metric_has_label(m, p->text + p->token.at, p->token.len))
				return parser_fail(p, p->token.at, "%s has no label '%.*s'", m->name,
				    (int)(p->token.len < 60 ? p->token.len : 60), p->text + p->token.at);
			if (proto.n_matchers == MATCHERS_MAX)
				return parser_fail(p, p->token.at, "more than %d matchers", MATCHERS_MAX);
			struct matcher *mt = &matchers[proto.n_matchers++];
			*mt =
			    (struct matcher){ .label = arena_strndup(p->nodes->arena, p->text + p->token.at, p->token.len) };
			parser_advance(p);
			if (mt->label == NULL)
				p->err = HIWAT_E_NOMEM;
			if (p->err != HIWAT_OK || !parse_match(p, mt))
				return NULL;
		}
	}
	if (proto.n_matchers > 0) {
		proto.matchers = arena_calloc(p->nodes->arena, proto.n_matchers, sizeof(matchers[0]));
		if (proto.matchers == NULL) {
			p->err = HIWAT_E_NOMEM;
			return NULL;
		}
		memcpy(proto.matchers, matchers, proto.n_matchers * sizeof(matchers[0]));
	}
	return parser_make(p, &proto);
}

enum function_kind {
	FUNCTION_WINDOW,    /* f(x[5m]) */
	FUNCTION_SERIES,    /* f(x) over time without a window */
	FUNCTION_AGGREGATE, /* f by (label) (x) */
	FUNCTION_ONE,
	FUNCTION_TIME_TO, /* f(x[15m], limit) */
	FUNCTION_AGE,
	FUNCTION_ABSENT,
	FUNCTION_SETTING,
	FUNCTION_FACT,
};

static const struct function {
	const char *name;
	enum function_kind kind;
	int window, aggregate, call; /* what it stands for where it has more than one form, else -1 */
	enum { WANTS_ANY, WANTS_COUNTER, WANTS_GAUGE } wants;
} functions[] = {
	{ "rate", FUNCTION_WINDOW, WINDOW_RATE, -1, -1, WANTS_COUNTER },
	{ "increase", FUNCTION_WINDOW, WINDOW_INCREASE, -1, -1, WANTS_COUNTER },
	{ "active", FUNCTION_WINDOW, WINDOW_ACTIVE, -1, -1, WANTS_COUNTER },
	{ "delta", FUNCTION_WINDOW, WINDOW_DELTA, -1, -1, WANTS_GAUGE },
	{ "changes", FUNCTION_WINDOW, WINDOW_CHANGES, -1, -1, WANTS_ANY },
	{ "trend", FUNCTION_WINDOW, WINDOW_TREND, -1, -1, WANTS_GAUGE },
	{ "time_to", FUNCTION_TIME_TO, WINDOW_TREND, -1, -1, WANTS_GAUGE },
	{ "grows", FUNCTION_SERIES, WINDOW_GROWS, -1, -1, WANTS_COUNTER },
	{ "avg", FUNCTION_AGGREGATE, WINDOW_AVG, AGGREGATE_AVG, -1, WANTS_GAUGE },
	{ "max", FUNCTION_AGGREGATE, WINDOW_MAX, AGGREGATE_MAX, CALL_MAX, WANTS_GAUGE },
	{ "min", FUNCTION_AGGREGATE, WINDOW_MIN, AGGREGATE_MIN, CALL_MIN, WANTS_GAUGE },
	{ "sum", FUNCTION_AGGREGATE, -1, AGGREGATE_SUM, -1, WANTS_ANY },
	{ "count", FUNCTION_AGGREGATE, -1, AGGREGATE_COUNT, -1, WANTS_ANY },
	{ "abs", FUNCTION_ONE, -1, -1, CALL_ABS, WANTS_ANY },
	{ "ceil", FUNCTION_ONE, -1, -1, CALL_CEIL, WANTS_ANY },
	{ "floor", FUNCTION_ONE, -1, -1, CALL_FLOOR, WANTS_ANY },
	{ "pow2up", FUNCTION_ONE, -1, -1, CALL_POW2UP, WANTS_ANY },
	{ "age", FUNCTION_AGE, -1, -1, -1, WANTS_GAUGE },
	{ "absent", FUNCTION_ABSENT, -1, -1, -1, WANTS_ANY },
	{ "setting", FUNCTION_SETTING, -1, -1, -1, WANTS_ANY },
	{ "label", FUNCTION_FACT, FACT_LABEL, -1, -1, WANTS_ANY },
	{ "os", FUNCTION_FACT, FACT_OS, -1, -1, WANTS_ANY },
	{ "release", FUNCTION_FACT, FACT_RELEASE, -1, -1, WANTS_ANY },
	{ "host", FUNCTION_FACT, FACT_HOST, -1, -1, WANTS_ANY },
};

static struct node *
make_window(struct parser *p, const struct function *f, size_t at, struct node *a, int kind, uint64_t ns)
{
	if (!a->has_series)
		return parser_fail(p, at, "%s() works on series: a metric was expected", f->name);
	if (f->wants == WANTS_COUNTER && !a->is_counter)
		return parser_fail(p, at, "%s() works on counters, this is a gauge: delta() was expected", f->name);
	if (f->wants == WANTS_GAUGE && a->is_counter)
		return parser_fail(p, at, "%s() works on gauges, this is a counter: rate() or increase() was expected",
		    f->name);
	return parser_make(p, &(struct node){ .op = NODE_WINDOW, .kind = (uint8_t)kind, .a = a, .window_ns = ns });
}

/* "[" duration "]" */
static bool
parse_range(struct parser *p, uint64_t *ns)
{
	parser_advance(p);
	if (p->token.kind != TOKEN_DURATION) {
		parser_expected(p, "a duration such as 5m");
		return false;
	}
	if (p->token.ns < WINDOW_MIN_NS || p->token.ns > WINDOW_MAX_NS) {
		parser_fail(p, p->token.at, "a duration from 1s to 8d was expected");
		return false;
	}
	*ns = p->token.ns;
	parser_advance(p);
	return parser_need(p, "]");
}

static struct node *
parse_over_time(struct parser *p, const struct function *f, size_t at)
{
	uint64_t ns = 0;
	int kind = f->window;
	struct node *limit = NULL, *a = parse_expr(p);

	if (a == NULL)
		return NULL;
	if (f->kind != FUNCTION_SERIES && parser_is_sign(p, "[")) {
		if (!parse_range(p, &ns))
			return NULL;
	} else if (kind == WINDOW_RATE) {
		kind = WINDOW_RATE_LAST;
	} else if (f->kind != FUNCTION_SERIES) {
		return parser_expected(p, "'[' and a duration");
	}
	if (f->kind == FUNCTION_TIME_TO) {
		if (!parser_need(p, ","))
			return NULL;
		limit = parse_expr(p);
		if (limit == NULL)
			return NULL;
	}
	if (!parser_need(p, ")"))
		return NULL;
	struct node *w = make_window(p, f, at, a, kind, ns);
	if (w == NULL || limit == NULL)
		return w;
	/* The distance to the limit over the trend. */
	struct node *way = node_binary(p->nodes, NODE_SUB, limit, a);
	return way == NULL ? NULL : parser_make(p, &(struct node){ .op = NODE_TIME_TO, .a = way, .b = w });
}

static struct node *
parse_aggregate(struct parser *p, const struct function *f, size_t at)
{
	struct node proto = { .op = NODE_AGGREGATE, .kind = (uint8_t)f->aggregate };
	bool by = parser_is_word(p, "by");
	uint64_t ns;

	if (by) {
		parser_advance(p);
		if (!parser_labels(p, &proto.labels))
			return NULL;
	}
	if (!parser_need(p, "("))
		return NULL;
	proto.a = parse_expr(p);
	if (proto.a == NULL)
		return NULL;
	if (!by && f->window >= 0 && parser_is_sign(p, "[")) {
		if (!parse_range(p, &ns) || !parser_need(p, ")"))
			return NULL;
		return make_window(p, f, at, proto.a, f->window, ns);
	}
	if (!by && f->call >= 0 && parser_skip(p, ",")) {
		struct node *b = parse_expr(p);
		if (b == NULL || !parser_need(p, ")"))
			return NULL;
		return parser_make(p, &(struct node){ .op = NODE_CALL, .kind = (uint8_t)f->call, .a = proto.a, .b = b });
	}
	if (!parser_need(p, ")"))
		return NULL;
	if (!proto.a->has_series)
		return parser_fail(p, at, "%s() works on series: a metric was expected", f->name);
	for (unsigned i = 0; i < proto.labels.n; i++) {
		if (!node_has_label(proto.a, proto.labels.names[i]))
			return parser_fail(p, at, "what %s() adds up has no label '%s'", f->name, proto.labels.names[i]);
	}
	return parser_make(p, &proto);
}

/* setting("kern.ipc.somaxconn") or setting("net.ipv4.tcp_mem", 2): a series without its labels. */
static struct node *
parse_setting(struct parser *p)
{
	struct matcher *m = arena_calloc(p->nodes->arena, 2, sizeof(*m));
	char *index = arena_alloc(p->nodes->arena, 16);
	int metric = catalogue_find("hiwat_sysctl", strlen("hiwat_sysctl"));

	if (m == NULL || index == NULL) {
		p->err = HIWAT_E_NOMEM;
		return NULL;
	}
	m[0] = (struct matcher){ .label = "name", .value = parser_string(p, "a setting's name in quotes") };
	m[1] = (struct matcher){ .label = "index", .value = index };
	if (m[0].value == NULL)
		return NULL;
	if (parser_skip(p, ",")) {
		if (p->token.kind != TOKEN_NUMBER || p->token.number < 0 || p->token.number > 99)
			return parser_expected(p, "a place in a list, 0 to 99,");
		snprintf(index, 16, "%d", (int)p->token.number);
		parser_advance(p);
	}
	if (!parser_need(p, ")"))
		return NULL;
	return parser_make(p,
	    &(struct node){ .op = NODE_SERIES, .metric = metric, .is_bare = true, .n_matchers = 2, .matchers = m });
}

/* label("role") = "mail", os() =~ "freebsd|dragonfly" */
static struct node *
parse_fact(struct parser *p, const struct function *f)
{
	struct node proto = { .op = NODE_TEXT, .kind = (uint8_t)f->window, .n_matchers = 1 };

	proto.matchers = arena_calloc(p->nodes->arena, 1, sizeof(*proto.matchers));
	if (proto.matchers == NULL) {
		p->err = HIWAT_E_NOMEM;
		return NULL;
	}
	proto.matchers->label = "";
	if (f->window == FACT_LABEL)
		proto.matchers->label = parser_string(p, "a label's name in quotes");
	if (proto.matchers->label == NULL || !parser_need(p, ")") || !parse_match(p, proto.matchers))
		return NULL;
	return parser_make(p, &proto);
}

static struct node *
parse_call(struct parser *p, const struct function *f)
{
	size_t at = p->token.at;
	struct node *a;

	parser_advance(p);
	if (f->kind == FUNCTION_AGGREGATE)
		return parse_aggregate(p, f, at);
	if (!parser_need(p, "("))
		return NULL;
	switch (f->kind) {
	case FUNCTION_WINDOW:
	case FUNCTION_SERIES:
	case FUNCTION_TIME_TO:
		return parse_over_time(p, f, at);
	case FUNCTION_SETTING:
		return parse_setting(p);
	case FUNCTION_FACT:
		return parse_fact(p, f);
	default:
		break;
	}
	size_t inside = p->token.at;
	a = parse_expr(p);
	if (a == NULL || !parser_need(p, ")"))
		return NULL;
	if (f->kind == FUNCTION_ABSENT) {
		if (a->op != NODE_SERIES)
			return parser_fail(p, inside, "a metric was expected");
		struct node proto = *a;
		proto.op = NODE_ABSENT;
		proto.is_counter = proto.is_ratio = false;
		return parser_make(p, &proto);
	}
	if (f->kind == FUNCTION_AGE)
		return parser_make(p, &(struct node){ .op = NODE_AGE, .a = a });
	return parser_make(p, &(struct node){ .op = NODE_CALL, .kind = (uint8_t)f->call, .a = a });
}

static struct node *
parse_name(struct parser *p)
{
	const char *name = p->text + p->token.at;
	size_t len = p->token.len;

	for (unsigned i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		if (strlen(functions[i].name) == len && memcmp(functions[i].name, name, len) == 0)
			return parse_call(p, &functions[i]);
	}
	int metric = catalogue_find(name, len);
	if (metric >= 0)
		return parse_series(p, metric);
	if (p->names->expr != NULL && parser_is_word(p, "expr")) {
		parser_advance(p);
		return p->names->expr;
	}
	for (uint32_t i = p->names->first_param; i < p->names->first_param + p->names->n_params; i++) {
		const struct param *param = &p->names->params->params[i];
		if (strlen(param->name) == len && memcmp(param->name, name, len) == 0) {
			parser_advance(p);
			return parser_make(p,
			    &(struct node){ .op = NODE_PARAM, .param = i, .param_key = param->key, .number = param->value });
		}
	}
	return parser_fail(p, p->token.at,
	    "unknown name '%.*s': a metric, a function or one of the rule's params was expected", (int)(len < 80 ? len : 80),
	    name);
}

struct node *
parse_primary(struct parser *p)
{
	struct node *n;

	switch (p->token.kind) {
	case TOKEN_NUMBER:
	case TOKEN_DURATION:
		n = parser_make(p, &(struct node){ .op = NODE_CONST, .number = p->token.number });
		parser_advance(p);
		return n;
	case TOKEN_NAME:
		return parse_name(p);
	default:
		break;
	}
	if (!parser_skip(p, "("))
		return parser_expected(p, "a number, a metric or a function");
	n = parse_expr(p);
	return n != NULL && parser_need(p, ")") ? n : NULL;
}
