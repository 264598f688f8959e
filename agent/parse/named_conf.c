/*
 * named-checkconf -p, or named.conf itself: statements "name value;" inside braces. Settings of "options" count, those of
 * "view" only where options are silent.
 */
#include <string.h>

#include "arena.h"
#include "dns.h"
#include "dns_record.h"
#include "err.h"

#define SETTINGS_MAX 256

/* Words and one of the characters { } ; with comments skipped. end: the text is over, or broke off inside a string. */
struct token {
	enum { TOKEN_WORD, TOKEN_MARK, TOKEN_END } type;
	struct text text;
	bool is_quoted;
};

static bool
is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static void
skip_comments(struct text *t)
{
	while (t->n > 0) {
		struct text line;
		long end;
		if (is_space(*t->p)) {
			t->p++;
			t->n--;
		} else if (*t->p == '#' || text_starts(*t, "//")) {
			text_line(t, &line, NULL);
		} else if (text_starts(*t, "/*")) {
			end = text_find(*t, "*/");
			size_t n = end < 0 ? t->n : (size_t)end + 2;
			t->p += n;
			t->n -= n;
		} else {
			return;
		}
	}
}

static struct token
next_token(struct text *t)
{
	size_t n = 0;

	skip_comments(t);
	if (t->n == 0)
		return (struct token){ .type = TOKEN_END };
	struct token token = { .type = TOKEN_WORD, .text = { t->p, 1 }, .is_quoted = *t->p == '"' };
	if (token.is_quoted) {
		for (n = 1; n < t->n && t->p[n] != '"'; n++)
			n += t->p[n] == '\\' && n + 1 < t->n;
		if (n >= t->n)
			token.type = TOKEN_END;
		else
			n++;
	} else if (strchr("{};", *t->p) != NULL) {
		token.type = TOKEN_MARK;
		n = 1;
	} else {
		while (n < t->n && !is_space(t->p[n]) && strchr("{};\"", t->p[n]) == NULL)
			n++;
	}
	token.text.n = n;
	t->p += n;
	t->n -= n;
	return token;
}

static bool
is_time(struct text name)
{
	return text_ends(name, "-ttl") || text_ends(name, "-interval") || text_ends(name, "-time") ||
	    text_ends(name, "-timeout") || text_ends(name, "-retry") || text_ends(name, "-period");
}

/* Seconds of a unit; ISO 8601 has M for months before the T and for minutes behind it. 0: no unit. */
static uint64_t
seconds_of(char unit, bool is_iso_date)
{
	switch (unit) {
	case 's':
	case 'S':
		return 1;
	case 'm':
	case 'M':
		return is_iso_date ? 30 * 86400 : 60;
	case 'h':
	case 'H':
		return 3600;
	case 'd':
	case 'D':
		return 86400;
	case 'w':
	case 'W':
		return 7 * 86400;
	case 'y':
	case 'Y':
		return is_iso_date ? 365 * 86400 : 0;
	default:
		return 0;
	}
}

/* 1w2d, 30m, PT1H, P1DT12H */
static bool
duration(struct text t, double *value)
{
	bool is_iso = text_skip(&t, "P"), is_date = is_iso;
	double sum = 0;

	if (t.n == 0)
		return false;
	while (t.n > 0) {
		uint64_t n, unit;
		if (is_date && text_skip(&t, "T"))
			is_date = false;
		if (text_u64(&t, &n) != HIWAT_OK || t.n == 0 || (unit = seconds_of(*t.p, is_date)) == 0)
			return false;
		sum += (double)n * (double)unit;
		t.p++;
		t.n--;
	}
	*value = sum;
	return true;
}

static bool
size(struct text t, double *value)
{
	static const char units[] = "kKmMgG";
	uint64_t n;

	if (text_u64(&t, &n) != HIWAT_OK || t.n != 1)
		return false;
	const char *unit = strchr(units, *t.p);
	if (unit == NULL || *t.p == '\0')
		return false;
	*value = (double)n * (double)(UINT64_C(1) << 10 * ((unit - units) / 2 + 1));
	return true;
}

static bool
number(struct text name, struct text value, double *d)
{
	uint64_t n;

	if (text_is_u64(value, &n)) {
		*d = (double)n;
		return true;
	}
	return is_time(name) ? duration(value, d) : size(value, d);
}

struct state {
	struct arena *arena;
	Hiwat__Dns *dns;
	bool from_view[SETTINGS_MAX]; /* set by a view; options overrule */
	bool has_options;
};

static int
set(struct state *s, struct text name, double value, bool in_view)
{
	size_t n = s->dns->n_settings;
	Hiwat__DnsSetting *row = n < SETTINGS_MAX ? dns_setting(s->arena, s->dns, name) : NULL;

	if (n == SETTINGS_MAX)
		return HIWAT_OK;
	if (row == NULL)
		return HIWAT_E_NOMEM;
	size_t i = 0;
	while (s->dns->settings[i] != row)
		i++;
	bool is_new = s->dns->n_settings > n;
	if (is_new || (!in_view && s->from_view[i])) {
		RECORD_SET(row, value, value);
		s->from_view[i] = in_view;
	} else if (in_view && s->from_view[i] && row->value != value) {
		/* Views that do not agree have no one value; the name stays taken. */
		row->has_value = 0;
	} else if (!in_view) {
		row->value = value;
	}
	return HIWAT_OK;
}

/* What named answers to those who ask for its version; a word, and the only one that the audit asks for. */
static int
set_version(struct arena *arena, Hiwat__Record *out, struct text value)
{
	Hiwat__Settings *settings = RECORD_ONE(arena, out, settings, settings);

	if (settings == NULL)
		return HIWAT_E_NOMEM;
	Hiwat__SettingText *row =
	    settings->n_texts > 0 ? settings->texts[0] : RECORD_ADD(arena, settings, texts, setting_text);
	if (text_starts(value, "\""))
		value = (struct text){ value.p + 1, value.n - 2 };
	if (row == NULL || (row->name = record_label(arena, TEXT("version"))) == NULL ||
	    (row->value = record_label(arena, value)) == NULL)
		return HIWAT_E_NOMEM;
	return HIWAT_OK;
}

int
named_conf_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	struct state s = { .arena = arena };
	struct token words[2] = { 0 };
	struct text rest = in->text, block = { 0 };
	size_t n_words = 0, depth = 0;

	if ((s.dns = dns_server(arena, out, "bind")) == NULL)
		return HIWAT_E_NOMEM;
	for (struct token t = next_token(&rest); t.type != TOKEN_END; t = next_token(&rest)) {
		if (t.type == TOKEN_WORD) {
			if (n_words < 2)
				words[n_words] = t;
			n_words++;
			continue;
		}
		bool in_options = text_eq(block, "options"), in_view = text_eq(block, "view");
		double value;
		if (text_eq(t.text, "{")) {
			if (depth == 0)
				block = n_words > 0 ? words[0].text : (struct text){ 0 };
			s.has_options |= depth == 0 && text_eq(block, "options");
			depth++;
		} else if (text_eq(t.text, "}")) {
			depth -= depth > 0;
		} else if (depth == 1 && n_words == 2 && (in_options || in_view) && !words[1].is_quoted &&
		    number(words[0].text, words[1].text, &value)) {
			int err = set(&s, words[0].text, value, in_view);
			if (err != HIWAT_OK)
				return err;
		} else if (depth == 1 && n_words == 2 && in_options && text_eq(words[0].text, "version")) {
			int err = set_version(arena, out, words[1].text);
			if (err != HIWAT_OK)
				return err;
		}
		n_words = 0;
	}
	if (!s.has_options && s.dns->n_settings == 0)
		return parse_fail(why, HIWAT_E_NODATA, "no options statement");
	return HIWAT_OK;
}

int
named_conf_recognise(struct text text)
{
	struct text line;

	for (int i = 0; i < 100 && text_line(&text, &line, NULL); i++) {
		line = text_trim(line);
		if (text_starts(line, "options {") || text_eq(line, "options"))
			return 70;
	}
	return 0;
}
