/*
 * pfctl -s rules, and pf.conf(5), which it prints alike: which tables do rules overload addresses into? All else in a rule
 * is passed over.
 */
#include "pfctl.h"

#include "arena.h"
#include "err.h"
#include "record_row.h"

#define TABLES_MAX 4096

/* First words of what pfctl -s rules and pf.conf hold. */
static const char *const rule_words[] = {
	"pass",
	"block",
	"match",
	"scrub",
	"no",
	"nat",
	"rdr",
	"binat",
	"anchor",
	"nat-anchor",
	"rdr-anchor",
	"binat-anchor",
	"scrub-anchor",
	"ether",
	"antispoof",
	"load",
	"table",
	"set",
	"queue",
	"altq",
	"include",
	"dummynet-anchor",
};

static bool
is_rule(struct text line)
{
	struct text word;

	if (!text_word(&line, &word))
		return false;
	if (text_starts(word, "@") && !text_word(&line, &word)) /* the number that -vv prints */
		return false;
	for (size_t i = 0; i < sizeof(rule_words) / sizeof(rule_words[0]); i++) {
		if (text_eq(word, rule_words[i]))
			return true;
	}
	return text_starts(word, "scrub") || text_starts(word, "action(");
}

/* What -v prints below a rule, the braces of an inline anchor, macros and comments of pf.conf. */
static bool
is_known(struct text line)
{
	line = text_trim(line);
	return text_starts(line, "[") || text_starts(line, "#") || text_starts(line, "}") || text_find(line, "=") > 0;
}

static int
add_table(struct arena *arena, Hiwat__Pf *pf, struct text name)
{
	if (pf->n_overload_tables == TABLES_MAX)
		return HIWAT_OK;
	return RECORD_ROW(arena, pf, overload_tables, pf_overload_table, name) != NULL ? HIWAT_OK : HIWAT_E_NOMEM;
}

/*
 * Every "overload <NAME>" outside quotes and comments; a name counts when its '>' is there. *is_open: the last line ended
 * between the word and the name, as mailers, terminals and the backslash of pf.conf break it.
 */
static int
read_overloads(struct arena *arena, Hiwat__Pf *pf, struct text line, bool *is_open, bool *found)
{
	bool quoted = false, was_open = *is_open;

	*is_open = false;
	line = text_trim(line);
	for (; line.n > 0; line.p++, line.n--, was_open = false) {
		if (*line.p == '"')
			quoted = !quoted;
		if (quoted)
			continue;
		if (*line.p == '#')
			return HIWAT_OK;
		struct text t = line, name;
		if (!was_open && !text_skip(&t, "overload"))
			continue;
		text_skip_blanks(&t);
		*is_open = t.n == 0 || text_eq(t, "\\");
		if (!text_skip(&t, "<") || !text_until(&t, '>', &name))
			continue;
		name = text_trim(name);
		if (name.n == 0)
			continue;
		*found = true;
		int err = add_table(arena, pf, name);
		if (err != HIWAT_OK)
			return err;
	}
	return HIWAT_OK;
}

int
pfctl_rules_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	struct text rest = in->text, line;
	uint64_t n_rules = 0, n_unknown = 0;
	bool is_open = false, cut;

	Hiwat__Pf *pf = RECORD_ONE(arena, out, pf, pf);
	if (pf == NULL)
		return HIWAT_E_NOMEM;
	while (text_line(&rest, &line, &cut)) {
		bool found = false;
		if (pfctl_is_chatter(line) || pfctl_is_border(line))
			continue;
		int err = read_overloads(arena, pf, line, &is_open, &found);
		if (err != HIWAT_OK)
			return err;
		if (found || is_rule(line))
			n_rules++;
		else if (!is_known(line) && !cut)
			n_unknown++;
	}
	if (n_rules == 0)
		return pfctl_refuse(in->text, "pfctl -s rules", why);
	return n_unknown > 0 ? record_count_unknown(arena, out, "pfctl-rules", n_unknown) : HIWAT_OK;
}

int
pfctl_rules_recognise(struct text text)
{
	struct text rest = pfctl_head(text), line;
	unsigned n_rules = 0, n_lines = 0;

	while (text_line(&rest, &line, NULL)) {
		if (pfctl_is_chatter(line) || pfctl_is_border(line) || is_known(line))
			continue;
		n_lines++;
		n_rules += is_rule(line);
	}
	return n_rules > 0 && n_rules * 2 > n_lines ? 60 : 0;
}
