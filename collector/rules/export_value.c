/* Figures in templates, as PromQL that asks for them: see export_text.c. */
#include <stdio.h>

#include "buf.h"
#include "catalogue.h"
#include "export_text.h"

void
text_advance(struct text_run *t)
{
	t->token = lex_next(t->text, t->inside_end, &t->at);
}

bool
text_skip_word(struct text_run *t, const char *word)
{
	bool same = (t->token.kind == TOKEN_NAME || t->token.kind == TOKEN_SIGN) && t->token.len == strlen(word) &&
	    memcmp(t->text + t->token.at, word, t->token.len) == 0;

	if (same)
		text_advance(t);
	return same;
}

static void
set_unknown(struct text_value *v)
{
	*v = (struct text_value){ .kind = TEXT_NUMBER, .is_unknown = true };
}

static void
set_known(struct text_value *v, double number)
{
	*v = (struct text_value){ .kind = TEXT_NUMBER, .is_known = true, .number = number };
	snprintf(v->text, sizeof(v->text), "%.12g", number);
}

/* A scalar made of two others; how: with @ and # where they go, in this order. */
static void
combine(struct text_value *v, const char *how, const struct text_value *a, const struct text_value *b)
{
	struct text_value r = { .kind = TEXT_NUMBER, .is_unknown = a->is_unknown || (b != NULL && b->is_unknown) };
	int n;

	n = 0;
	for (; *how != '\0' && n < QUERY_MAX - 1; how++) {
		if (*how == '@' || *how == '#') {
			const char *part = *how == '@' || b == NULL ? a->text : b->text;
			n += snprintf(r.text + n, (size_t)(QUERY_MAX - n), "%s", part);
		} else {
			r.text[n++] = *how;
		}
	}
	int m = snprintf(r.args, sizeof(r.args), "%s%s", a->args, b != NULL ? b->args : "");
	r.is_unknown = r.is_unknown || n >= QUERY_MAX - 1 || m >= ARGS_MAX;
	*v = r;
}

static void
start_promql(const struct text_run *t, struct promql *p, struct buf *out, struct buf *args)
{
	buf_init(out, QUERY_MAX - 20);
	buf_init(args, ARGS_MAX - 1);
	*p = (struct promql){ .set = t->rule->set, .out = out, .args = args, .host = "", .hosts = "", .row = t->labels };
	buf_puts(out, "scalar(max(");
}

static void
finish_promql(struct promql *p, struct text_value *v)
{
	buf_puts(p->out, "))");
	if (p->why[0] != '\0' || !buf_ok(p->out) || !buf_ok(p->args)) {
		set_unknown(v);
	} else {
		*v = (struct text_value){ .kind = TEXT_NUMBER, .is_alone = true };
		snprintf(v->text, sizeof(v->text), "%s", buf_str(p->out));
		snprintf(v->args, sizeof(v->args), "%s", buf_str(p->args));
	}
	buf_fini(p->out);
	buf_fini(p->args);
}

static bool
has_overrides_by_host(const struct rule_full *r)
{
	for (uint32_t i = 0; i < r->set->n_overrides; i++) {
		if (r->set->overrides[i].rule == r->pub.index && r->set->overrides[i].label != NULL)
			return true;
	}
	return false;
}

/* The value of an expression on the alert's row. */
static void
set_node(const struct text_run *t, const struct node *n, struct text_value *v)
{
	struct promql p = { .set = t->rule->set, .host = "" };
	struct buf out, args;

	set_unknown(v);
	if (n == NULL)
		return;
	if (promql_is_number(n)) {
		if (!has_overrides_by_host(t->rule))
			set_known(v, promql_number(&p, n));
		return;
	}
	start_promql(t, &p, &out, &args);
	promql_put(&p, n, BINDS_OR);
	finish_promql(&p, v);
}

static void
set_series(const struct text_run *t, const char *metric, const struct matcher *matchers, unsigned n, struct text_value *v)
{
	struct promql p;
	struct buf out, args;
	int id = catalogue_find(metric, strlen(metric));

	set_unknown(v);
	if (id < 0)
		return;
	start_promql(t, &p, &out, &args);
	promql_put_series(&p, id, matchers, n);
	finish_promql(&p, v);
}

static void
set_setting(struct text_run *t, const char *name, struct text_value *v)
{
	char place[16] = "";

	if (t->token.kind == TOKEN_NUMBER) {
		snprintf(place, sizeof(place), "%d", (int)t->token.number);
		text_advance(t);
	}
	const struct matcher m[] = { { .label = "name", .value = name }, { .label = "index", .value = place } };
	set_series(t, "hiwat_sysctl", m, 2, v);
}

static void
set_text(struct text_value *v, enum text_kind kind, const char *text)
{
	*v = (struct text_value){ .kind = kind };
	snprintf(v->text, sizeof(v->text), "%s", text);
}

static void parse_factor(struct text_run *t, struct text_value *v);

/* A function of one text. */
static void
parse_named(struct text_run *t, const char *name, struct text_value *v)
{
	struct text_value arg;
	struct matcher none = { 0 };

	parse_factor(t, &arg);
	if (strcmp(name, "label") == 0) {
		if (label_names_have(t->labels, arg.text))
			set_text(v, TEXT_LABEL, arg.text);
		else
			set_text(v, TEXT_CONSTANT, "");
	} else if (strcmp(name, "setting") == 0) {
		set_setting(t, arg.text, v);
	} else if (strcmp(name, "metric") == 0) {
		set_series(t, arg.text, &none, 0, v);
	} else if (strcmp(name, "param") == 0 && !has_overrides_by_host(t->rule)) {
		struct promql p = { .set = t->rule->set, .host = "" };
		const struct rule_full *r = t->rule;
		set_unknown(v);
		for (uint32_t i = r->first_param; i < r->first_param + r->n_params; i++) {
			const struct param *q = &r->set->params.params[i];
			const struct node n = { .op = NODE_PARAM, .param = i, .number = q->value };
			if (strcmp(q->name, arg.text) == 0)
				set_known(v, promql_number(&p, &n));
		}
	} else {
		set_unknown(v);
	}
}

/* A function of one or two numbers. */
static void
parse_numeric(struct text_run *t, const char *name, struct text_value *v)
{
	struct text_value a, b;

	parse_factor(t, &a);
	*v = a;
	if (strcmp(name, "bytes") == 0)
		v->format = FORMAT_BYTES;
	else if (strcmp(name, "percent") == 0)
		v->format = FORMAT_PERCENT;
	else if (strcmp(name, "duration") == 0)
		v->format = FORMAT_DURATION;
	else if (strcmp(name, "pow2up") == 0)
		combine(v, "scalar(2 ^ ceil(log2(vector(@))))", &a, NULL);
	else if (strcmp(name, "ceil") == 0)
		combine(v, "scalar(ceil(vector(@)))", &a, NULL);
	if (strcmp(name, "max") == 0 || strcmp(name, "min") == 0) {
		/* Of what is known. */
		bool is_max = name[1] == 'a';
		parse_factor(t, &b);
		if (a.is_unknown || b.is_unknown)
			*v = a.is_unknown ? b : a;
		else
			combine(v,
			    is_max ? "scalar(max(label_replace(vector(@), \"a\", \"b\", \"\", \"\") or vector(#)))"
				   : "scalar(min(label_replace(vector(@), \"a\", \"b\", \"\", \"\") or vector(#)))",
			    &a, &b);
	}
}

static void
parse_name(struct text_run *t, struct text_value *v)
{
	char name[32];
	const struct rule_full *r = t->rule;

	snprintf(name, sizeof(name), "%.*s", (int)t->token.len, t->text + t->token.at);
	text_advance(t);
	if ((strcmp(name, "value") == 0 || strcmp(name, "ratio") == 0) && *r->pub.builtin == '\0') {
		*v = (struct text_value){ .kind = TEXT_NUMBER, .is_value = true, .text = "%v", .args = " $value" };
		v->format = *name == 'r' ? FORMAT_PERCENT : FORMAT_PLAIN;
	} else if (strcmp(name, "threshold") == 0) {
		set_node(t, t->level->threshold, v);
	} else if (strcmp(name, "used") == 0 || strcmp(name, "limit") == 0) {
		set_node(t, *name == 'u' ? r->used : r->limit, v);
	} else if (strcmp(name, "level") == 0) {
		set_text(v, TEXT_CONSTANT, rule_level_word(t->level->level));
	} else if (strcmp(name, "rule") == 0) {
		set_text(v, TEXT_CONSTANT, r->pub.id);
	} else if (strcmp(name, "host") == 0) {
		set_text(v, TEXT_LABEL, "host");
	} else if (strcmp(name, "os") == 0) {
		set_text(v, TEXT_OS, "");
	} else if (strcmp(name, "label") == 0 || strcmp(name, "setting") == 0 || strcmp(name, "metric") == 0 ||
	    strcmp(name, "param") == 0 || strcmp(name, "host_label") == 0) {
		parse_named(t, name, v);
	} else if (strcmp(name, "value") == 0 || strcmp(name, "ratio") == 0 || strcmp(name, "eta") == 0 ||
	    strcmp(name, "release") == 0) {
		set_unknown(v);
	} else if (strcmp(name, "set") == 0) {
		/* The command depends on system and release: no query tells it. */
		struct text_value ignored;
		parse_factor(t, &ignored);
		parse_factor(t, &ignored);
		set_unknown(v);
	} else {
		parse_numeric(t, name, v);
	}
}

static void
parse_factor(struct text_run *t, struct text_value *v)
{
	set_unknown(v);
	if (t->token.kind == TOKEN_NUMBER || t->token.kind == TOKEN_DURATION) {
		set_known(v, t->token.number);
		text_advance(t);
	} else if (t->token.kind == TOKEN_STRING) {
		set_text(v, TEXT_CONSTANT, "");
		if (lex_unquote(t->text, &t->token, NULL) < sizeof(v->text))
			lex_unquote(t->text, &t->token, v->text);
		text_advance(t);
	} else if (t->token.kind == TOKEN_NAME) {
		parse_name(t, v);
	} else if (text_skip_word(t, "(")) {
		text_parse_sum(t, v);
		text_skip_word(t, ")");
	} else {
		text_advance(t);
	}
}

static void
apply(struct text_value *v, const char *how, const struct text_value *w)
{
	struct text_value r;

	combine(&r, how, v, w);
	*v = r;
}

static void
parse_product(struct text_run *t, struct text_value *v)
{
	struct text_value w;
	bool times;

	parse_factor(t, v);
	while ((times = text_skip_word(t, "*")) || text_skip_word(t, "/")) {
		parse_factor(t, &w);
		apply(v, times ? "(@ * #)" : "(@ / #)", &w);
	}
}

void
text_parse_sum(struct text_run *t, struct text_value *v)
{
	struct text_value w;
	bool plus;

	parse_product(t, v);
	while ((plus = text_skip_word(t, "+")) || text_skip_word(t, "-")) {
		parse_product(t, &w);
		apply(v, plus ? "(@ + #)" : "(@ - #)", &w);
	}
}
