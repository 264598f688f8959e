/*
 * Templates: text with {{...}}. Inside stand small expressions on the event and its host, or if, elif, else and end. The
 * same code checks a template when it is loaded, visiting all branches, and expands it later.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "catalogue.h"
#include "err.h"
#include "lex.h"
#include "set.h"
#include "template.h"

#define NESTING_MAX 8

static void parse_sum(struct template *t, struct template_value *v);

void
template_fail(struct template *t, size_t at, const char *fmt, ...)
{
	va_list ap;

	if (t->err != HIWAT_OK)
		return;
	t->err = HIWAT_E_CONFIG;
	t->fail_at = at;
	va_start(ap, fmt);
	vsnprintf(t->why, sizeof(t->why), fmt, ap);
	va_end(ap);
}

static void
advance(struct template *t)
{
	t->token = lex_next(t->text, t->inside_end, &t->at);
	if (t->token.kind == TOKEN_ERROR)
		template_fail(t, t->token.at, "%s", t->token.message);
}

static bool
token_is(const struct template *t, const char *word)
{
	return (t->token.kind == TOKEN_NAME || t->token.kind == TOKEN_SIGN) && t->token.len == strlen(word) &&
	    memcmp(t->text + t->token.at, word, t->token.len) == 0;
}

static bool
skip(struct template *t, const char *word)
{
	if (!token_is(t, word))
		return false;
	advance(t);
	return true;
}

static void
parse_name(struct template *t, struct template_value *v)
{
	char name[32];

	if (t->token.len >= sizeof(name)) {
		template_fail(t, t->token.at, "unknown name");
		return;
	}
	memcpy(name, t->text + t->token.at, t->token.len);
	name[t->token.len] = '\0';
	const struct template_function *f = template_function(name);
	size_t at = t->token.at;
	if (f == NULL) {
		template_fail(t, at, "unknown name '%s'; allowed: " TEMPLATE_NAMES, name);
		return;
	}
	struct template_value args[2] = { 0 };
	unsigned n = 0;
	for (advance(t); n < f->args && t->err == HIWAT_OK; n++) {
		size_t arg_at = t->token.at;
		if (n + 1 == f->args && f->is_last_optional && t->token.kind != TOKEN_NUMBER)
			break;
		template_factor(t, &args[n]);
		bool wants_text = n == 0 && f->wants_text;
		/* A number that is not known may have become a word. */
		if (t->err == HIWAT_OK && t->event == NULL && args[n].is_text != wants_text)
			template_fail(t, arg_at, "%s wants %s", name, wants_text ? "a text in quotes" : "a number");
	}
	if (t->err == HIWAT_OK)
		f->call(t, at, f, args, n, v);
}

void
template_factor(struct template *t, struct template_value *v)
{
	size_t at = t->token.at;

	*v = (struct template_value){ 0 };
	if (++t->depth > NESTING_MAX * 4) {
		template_fail(t, at, "nested too deeply");
	} else if (t->token.kind == TOKEN_NUMBER || t->token.kind == TOKEN_DURATION) {
		v->number = t->token.number;
		advance(t);
	} else if (t->token.kind == TOKEN_STRING) {
		size_t n = lex_unquote(t->text, &t->token, NULL);
		v->is_text = true;
		if (n >= sizeof(v->text))
			template_fail(t, at, "the text is too long");
		else
			lex_unquote(t->text, &t->token, v->text);
		advance(t);
	} else if (t->token.kind == TOKEN_NAME) {
		parse_name(t, v);
	} else if (skip(t, "(")) {
		parse_sum(t, v);
		if (t->err == HIWAT_OK && !skip(t, ")"))
			template_fail(t, t->token.at, "')' was expected");
	} else {
		template_fail(t, at, "a name, a number or a text was expected");
	}
	t->depth--;
}

static void
apply(struct template *t, size_t at, char sign, struct template_value *v, const struct template_value *w)
{
	if (v->is_text || w->is_text) {
		template_fail(t, at, "'%c' works on numbers", sign);
		return;
	}
	if (sign == '+')
		v->number += w->number;
	else if (sign == '-')
		v->number -= w->number;
	else if (sign == '*')
		v->number *= w->number;
	else
		v->number = w->number != 0 ? v->number / w->number : NAN;
}

static void
parse_product(struct template *t, struct template_value *v)
{
	struct template_value w;

	template_factor(t, v);
	while (t->err == HIWAT_OK && (token_is(t, "*") || token_is(t, "/"))) {
		size_t at = t->token.at;
		advance(t);
		template_factor(t, &w);
		apply(t, at, t->text[at], v, &w);
	}
}

static void
parse_sum(struct template *t, struct template_value *v)
{
	struct template_value w;

	parse_product(t, v);
	while (t->err == HIWAT_OK && (token_is(t, "+") || token_is(t, "-"))) {
		size_t at = t->token.at;
		advance(t);
		parse_product(t, &w);
		apply(t, at, t->text[at], v, &w);
	}
}

static bool
parse_comparison(struct template *t)
{
	static const char *const signs[] = { "=", "!=", "<", "<=", ">", ">=" };
	struct template_value v, w;
	unsigned sign = 0;

	parse_sum(t, &v);
	while (sign < 6 && !token_is(t, signs[sign]))
		sign++;
	if (sign == 6)
		template_fail(t, t->token.at, "=, !=, <, <=, > or >= was expected");
	if (t->err != HIWAT_OK)
		return false;
	size_t at = t->token.at;
	advance(t);
	parse_sum(t, &w);
	if (t->err == HIWAT_OK && (v.is_text != w.is_text || (v.is_text && sign > 1)))
		template_fail(t, at, "a text is only = or != to another text");
	if (t->err != HIWAT_OK)
		return false;
	if (v.is_text)
		return (strcmp(v.text, w.text) == 0) == (sign == 0);
	switch (sign) {
	case 0:
		return v.number == w.number;
	case 1:
		return v.number != w.number;
	case 2:
		return v.number < w.number;
	case 3:
		return v.number <= w.number;
	case 4:
		return v.number > w.number;
	default:
		return v.number >= w.number;
	}
}

static bool
parse_condition(struct template *t)
{
	bool holds = parse_comparison(t);

	for (;;) {
		if (skip(t, "and"))
			holds = parse_comparison(t) && holds;
		else if (skip(t, "or"))
			holds = parse_comparison(t) || holds;
		else
			return holds;
		if (t->err != HIWAT_OK)
			return false;
	}
}

static void
need_end(struct template *t)
{
	if (t->err == HIWAT_OK && t->token.kind != TOKEN_END)
		template_fail(t, t->token.at, "'}}' was expected");
}

/* Copies text up to the next {{ and stands inside it; false at the end of the template. */
static bool
next_action(struct template *t, bool active)
{
	const char *rest = t->text + t->at, *open = strstr(rest, "{{");
	size_t n = open != NULL ? (size_t)(open - rest) : t->len - t->at;

	if (active && t->out != NULL)
		prose_copy(&t->prose, rest, n);
	t->at += n;
	if (open == NULL)
		return false;
	const char *close = strstr(open, "}}");
	if (close == NULL) {
		template_fail(t, t->at, "'{{' without '}}'");
		return false;
	}
	t->inside_end = (size_t)(close - t->text);
	t->at += 2;
	advance(t);
	return true;
}

/* Goes on behind the }}. */
static void
leave_action(struct template *t)
{
	need_end(t);
	t->at = t->inside_end + 2;
}

enum block_end { BLOCK_TEXT_END, BLOCK_ELIF, BLOCK_ELSE, BLOCK_END };

static enum block_end render_block(struct template *t, bool active, unsigned nesting);

/* Behind "if": branches up to its end. */
static void
render_if(struct template *t, bool active, unsigned nesting)
{
	size_t at = t->token.at;
	bool done = false, holds = parse_condition(t);
	enum block_end end;

	for (;;) {
		leave_action(t);
		if (t->err != HIWAT_OK)
			return;
		end = render_block(t, active && holds && !done, nesting + 1);
		done = done || holds;
		if (t->err != HIWAT_OK || end == BLOCK_END)
			return;
		if (end == BLOCK_TEXT_END) {
			template_fail(t, at, "'if' without 'end'");
			return;
		}
		holds = end == BLOCK_ELSE || parse_condition(t);
	}
}

static enum block_end
render_block(struct template *t, bool active, unsigned nesting)
{
	if (nesting > NESTING_MAX)
		template_fail(t, t->at, "'if' nested too deeply");
	while (t->err == HIWAT_OK && next_action(t, active)) {
		size_t at = t->token.at;
		if (t->err != HIWAT_OK)
			break;
		if (skip(t, "if")) {
			render_if(t, active, nesting);
			if (t->err == HIWAT_OK)
				leave_action(t);
			continue;
		}
		if (nesting > 0 && skip(t, "elif"))
			return BLOCK_ELIF;
		if (nesting > 0 && skip(t, "else"))
			return BLOCK_ELSE;
		if (nesting > 0 && skip(t, "end"))
			return BLOCK_END;
		if (token_is(t, "elif") || token_is(t, "else") || token_is(t, "end")) {
			template_fail(t, at, "no 'if' is open here");
			break;
		}
		struct template_value v;
		parse_sum(t, &v);
		if (t->err == HIWAT_OK && active && t->out != NULL) {
			bool unknown = v.is_text ? v.is_unknown : !isfinite(v.number);
			if (unknown)
				prose_unknown(&t->prose);
			template_put(t->out, &v);
		}
		leave_action(t);
	}
	return BLOCK_TEXT_END;
}

static void
run_template(struct template *t, const char *text)
{
	t->text = text;
	t->len = strlen(text);
	render_block(t, true, 0);
}

int
template_check(const struct rule_full *rule, const char *text, size_t *at, char *why, size_t why_size)
{
	struct template t = { .rule = rule };

	run_template(&t, text);
	if (t.err != HIWAT_OK) {
		*at = t.fail_at;
		snprintf(why, why_size, "%s (at '%.30s')", t.why, text + t.fail_at);
	}
	return t.err;
}

int
rule_render(const char *text, const struct rule_event *event, const struct host_view *view, struct buf *out)
{
	struct template t = { .rule = rule_full_of(event->rule), .event = event, .view = view, .out = out };
	size_t start = out->len;

	prose_begin(&t.prose, out, false);
	run_template(&t, text);
	prose_end(&t.prose);
	/* What stands on a line of its own in the rule's file, an else say, leaves a blank. */
	if (out->len > start && out->data[out->len - 1] == ' ')
		prose_cut(&t.prose, out->len);
	if (out->len > start && out->data[start] == ' ' && *text != ' ') {
		/* The first sentence was left out. */
		memmove(out->data + start, out->data + start + 1, out->len - start);
		out->len--;
	}
	if (t.err == HIWAT_OK && buf_ok(out) && out->len == start && *text != '\0') {
		/* Nothing is left: then better with the gap than not at all. */
		t = (struct template){ .rule = t.rule, .event = event, .view = view, .out = out };
		prose_begin(&t.prose, out, true);
		run_template(&t, text);
	}
	if (t.err != HIWAT_OK)
		return t.err;
	return buf_ok(out) ? HIWAT_OK : HIWAT_E_NOMEM;
}
