/*
 * Templates of rules as templates of Prometheus. Templates were checked when the rules were loaded, so that a mistake here
 * can only be something that does not fit: it counts as not known, and what is not known is left out with its sentence.
 */
#include "export_text.h"

#include <stdarg.h>
#include <stdio.h>

#include "buf.h"

static void
put_value(struct text_run *t, const struct text_value *v)
{
	static const char *const pipes[] = { [FORMAT_PLAIN] = "printf \"%.0f\"",
		[FORMAT_BYTES] = "humanize1024",
		[FORMAT_PERCENT] = "humanizePercentage",
		[FORMAT_DURATION] = "humanizeDuration" };
	const char *unit = v->format == FORMAT_BYTES ? "B" : "", *pipe = pipes[v->format];
	const struct node *said = t->level->value;

	if (v->kind == TEXT_CONSTANT) {
		buf_puts(t->out, v->text);
	} else if (v->kind == TEXT_LABEL) {
		buf_printf(t->out, "{{ $labels.%s }}", v->text);
	} else if (v->is_unknown || v->kind == TEXT_OS) {
		buf_puts(t->out, "unknown");
	} else if (v->is_value) {
		/* Numbers of things are whole; increase() makes fractions of them. */
		bool is_whole = said != NULL &&
		    (said->op == NODE_SERIES || said->op == NODE_AGGREGATE ||
			(said->op == NODE_WINDOW && said->kind == WINDOW_GROWS));
		buf_printf(t->out, "{{ $value | %s }}%s", v->format == FORMAT_PLAIN && !is_whole ? "humanize" : pipe, unit);
	} else if (v->is_known && v->format == FORMAT_PLAIN) {
		buf_puts(t->out, v->text);
	} else if (v->is_alone) {
		/* Without an answer there is no number. */
		buf_printf(t->out,
		    "{{ with query (printf `%.*s`%s) }}{{ . | first | value | %s }}%s{{ else }}unknown{{ end }}",
		    (int)(strlen(v->text) - strlen("scalar()")), v->text + strlen("scalar("), v->args, pipe, unit);
	} else {
		buf_printf(t->out,
		    "{{ with query (printf `vector(%s) > -Inf`%s) }}{{ . | first | value | %s }}%s{{ else }}unknown{{ end "
		    "}}",
		    v->text, v->args, pipe, unit);
	}
}

static struct text_condition
settled(bool holds)
{
	return (struct text_condition){ .is_settled = true, .holds = holds };
}

/* One that does not fit does not hold. */
static struct text_condition __attribute__((format(printf, 1, 2))) asked(const char *fmt, ...)
{
	struct text_condition c = { 0 };
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(c.go, sizeof(c.go), fmt, ap);
	va_end(ap);
	return n >= 0 && (size_t)n < sizeof(c.go) ? c : settled(false);
}

static struct text_condition
compare_texts(const struct text_value *v, const struct text_value *w, bool equal)
{
	if (v->kind == TEXT_CONSTANT && w->kind == TEXT_CONSTANT)
		return settled((strcmp(v->text, w->text) == 0) == equal);
	if (v->kind == TEXT_OS)
		return asked("%squery (printf `hiwat_agent_info{os=\"%s\",host=%%q}` $labels.host)%s", equal ? "" : "not (",
		    w->text, equal ? "" : ")");
	return asked("%s $labels.%s \"%s\"", equal ? "eq" : "ne", v->text, w->text);
}

static struct text_condition
parse_comparison(struct text_run *t)
{
	static const char *const signs[] = { "=", "!=", "<=", "<", ">=", ">" };
	struct text_value v, w;
	unsigned sign = 0;

	text_parse_sum(t, &v);
	while (sign < 6 && !text_skip_word(t, signs[sign]))
		sign++;
	text_parse_sum(t, &w);
	if (sign == 6)
		return settled(false);
	if (v.kind != TEXT_NUMBER)
		return compare_texts(&v, &w, sign == 0);
	if (v.is_unknown || w.is_unknown)
		return settled(sign == 1);
	/* An answer means that it holds. */
	return asked("query (printf `vector(%s) %s %s`%s%s)", v.text, sign == 0 ? "==" : signs[sign], w.text, v.args,
	    w.args);
}

static struct text_condition
parse_condition(struct text_run *t)
{
	struct text_condition c = parse_comparison(t);

	for (;;) {
		bool is_and = text_skip_word(t, "and");
		if (!is_and && !text_skip_word(t, "or"))
			return c;
		struct text_condition d = parse_comparison(t);
		/* What is settled decides, or leaves the decision to the other. */
		if (c.is_settled)
			c = c.holds == is_and ? d : c;
		else if (d.is_settled)
			c = d.holds == is_and ? c : d;
		else
			c = asked("%s (%s) (%s)", is_and ? "and" : "or", c.go, d.go);
	}
}

/* Copies text up to the next {{ and stands inside it; false at the end. */
static bool
next_action(struct text_run *t)
{
	const char *rest = t->text + t->at, *open = strstr(rest, "{{"), *close = open != NULL ? strstr(open, "}}") : NULL;
	size_t n = close != NULL ? (size_t)(open - rest) : t->len - t->at;

	if (t->active)
		prose_copy(&t->prose, rest, n);
	t->at += n;
	if (close == NULL)
		return false;
	t->inside_end = (size_t)(close - t->text);
	t->at += 2;
	text_advance(t);
	return true;
}

static void
leave_action(struct text_run *t)
{
	t->at = t->inside_end + 2;
}

enum block_end { BLOCK_TEXT_END, BLOCK_ELIF, BLOCK_ELSE, BLOCK_END };

static enum block_end put_block(struct text_run *t);

/* One branch of an if that Prometheus decides: sentences begin and end in it. */
static enum block_end
put_branch(struct text_run *t, bool active)
{
	struct prose outer = t->prose;
	bool was_active = t->active;

	t->active = active;
	prose_begin(&t->prose, t->out, outer.keeps_unknown);
	enum block_end end = put_block(t);
	if (active)
		prose_end(&t->prose);
	t->active = was_active;
	t->prose = outer;
	return end;
}

/* Behind "if": what the alert's level settles is settled, the rest is Prometheus' to decide. */
static void
put_if(struct text_run *t)
{
	bool opened = false, done = !t->active;
	bool was_active = t->active;
	struct text_condition c = parse_condition(t);
	enum block_end end;

	do {
		leave_action(t);
		bool takes = !done && !(c.is_settled && !c.holds);
		if (takes && c.is_settled && !opened) {
			end = put_block(t);
		} else {
			if (takes && c.is_settled)
				buf_puts(t->out, "{{ else }}");
			else if (takes)
				buf_printf(t->out, "{{ %s %s }}", opened ? "else if" : "if", c.go);
			opened = opened || takes;
			end = put_branch(t, takes);
		}
		done = done || (takes && c.is_settled);
		if (end == BLOCK_ELIF)
			c = parse_condition(t);
		else if (end == BLOCK_ELSE)
			c = settled(true);
	} while (end == BLOCK_ELIF || end == BLOCK_ELSE);
	t->active = was_active;
	if (opened)
		buf_puts(t->out, "{{ end }}");
}

static enum block_end
put_block(struct text_run *t)
{
	while (next_action(t)) {
		struct text_value v;
		if (text_skip_word(t, "if")) {
			put_if(t);
			leave_action(t);
			continue;
		}
		if (text_skip_word(t, "elif"))
			return BLOCK_ELIF;
		if (text_skip_word(t, "else"))
			return BLOCK_ELSE;
		if (text_skip_word(t, "end"))
			return BLOCK_END;
		text_parse_sum(t, &v);
		if (t->active) {
			if (v.is_unknown)
				prose_unknown(&t->prose);
			put_value(t, &v);
		}
		leave_action(t);
	}
	return BLOCK_TEXT_END;
}

void
export_text(const struct rule_full *rule, const struct level *level, const struct label_names *labels, const char *text,
    struct buf *out)
{
	for (int keeps_unknown = 0; keeps_unknown <= 1; keeps_unknown++) {
		struct text_run t = {
			.rule = rule,
			.level = level,
			.labels = labels,
			.text = text,
			.len = strlen(text),
			.out = out,
			.active = true,
		};

		prose_begin(&t.prose, out, keeps_unknown != 0);
		put_block(&t);
		prose_end(&t.prose);
		if (out->len > 0 || *text == '\0')
			return;
		/* Nothing is left: then better with the gap than not at all. */
	}
}
