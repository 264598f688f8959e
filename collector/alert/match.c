#include "match.h"

#include <jansson.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "incident.h"
#include "rule.h"

#define NAME_MAX_BYTES 128
#define VALUE_MAX_BYTES 1024

enum term_op { TERM_EQ, TERM_NE, TERM_RE, TERM_NOT_RE };

struct term {
	char *name, *value; /* name is the start of the allocation, value lies in it */
	enum term_op op;
	regex_t re; /* of TERM_RE and TERM_NOT_RE */
};

struct match {
	size_t n;
	struct term terms[];
};

/* Splits "name=value" without copying. NULL, or what is wrong. */
static const char *
split(const char *text, size_t *name_len, enum term_op *op, const char **value)
{
	static const char what[] = "NAME=TEXT, NAME!=TEXT, NAME=~PATTERN or NAME!~PATTERN";
	size_t n = strcspn(text, "=!");

	if (n == 0 || n > NAME_MAX_BYTES || strcspn(text, " \t{}\"'") < n)
		return what;
	const char *p = text + n;
	*name_len = n;
	if (p[0] == '=' && p[1] == '~')
		*op = TERM_RE;
	else if (p[0] == '=')
		*op = TERM_EQ;
	else if (p[0] == '!' && p[1] == '=')
		*op = TERM_NE;
	else if (p[0] == '!' && p[1] == '~')
		*op = TERM_NOT_RE;
	else
		return what;
	*value = p + (*op == TERM_EQ ? 1 : 2);
	return strlen(*value) <= VALUE_MAX_BYTES ? NULL : "a text or pattern of at most 1024 bytes";
}

/* The pattern matches the whole text only. */
static int
compile(regex_t *re, const char *pattern)
{
	char whole[VALUE_MAX_BYTES + 8];
	char *end = stpcpy(whole, "^(");

	end = stpcpy(end, pattern);
	memcpy(end, ")$", 3);
	return regcomp(re, whole, REG_EXTENDED | REG_NOSUB);
}

static bool
is_pattern(enum term_op op)
{
	return op == TERM_RE || op == TERM_NOT_RE;
}

const char *
match_check(const char *text)
{
	enum term_op op;
	const char *value;
	size_t n;
	regex_t re;
	const char *why = split(text, &n, &op, &value);

	if (why != NULL || !is_pattern(op))
		return why;
	if (compile(&re, value) != 0)
		return "a valid extended regular expression behind ~";
	regfree(&re);
	return NULL;
}

static int
term_init(struct term *t, const char *text)
{
	const char *value;
	size_t n;

	if (split(text, &n, &t->op, &value) != NULL)
		return HIWAT_E_CONFIG;
	char *name = strdup(text);
	if (name == NULL)
		return HIWAT_E_NOMEM;
	name[n] = '\0';
	t->value = name + (value - text);
	if (is_pattern(t->op) && compile(&t->re, t->value) != 0) {
		free(name);
		return HIWAT_E_CONFIG;
	}
	t->name = name;
	return 0;
}

int
match_new(const char *const *texts, size_t n, struct match **match)
{
	if (n > MATCH_TERMS_MAX)
		return HIWAT_E_CONFIG;
	struct match *m = calloc(1, sizeof(*m) + n * sizeof(m->terms[0]));
	if (m == NULL)
		return HIWAT_E_NOMEM;
	for (; m->n < n; m->n++) {
		int err = term_init(&m->terms[m->n], texts[m->n]);
		if (err != 0) {
			match_free(m);
			return err;
		}
	}
	*match = m;
	return 0;
}

void
match_free(struct match *match)
{
	if (match == NULL)
		return;
	for (size_t k = 0; k < match->n; k++) {
		if (is_pattern(match->terms[k].op))
			regfree(&match->terms[k].re);
		free(match->terms[k].name);
	}
	free(match);
}

/* Without the negation. */
static bool
fits(const struct term *t, const char *text)
{
	return is_pattern(t->op) ? regexec(&t->re, text, 0, NULL, 0) == 0 : strcmp(t->value, text) == 0;
}

static bool
is_negated(const struct term *t)
{
	return t->op == TERM_NE || t->op == TERM_NOT_RE;
}

/* An incident whose labels were read once. */
struct subject {
	const struct incident *i;
	json_t *object, *host;
};

static bool
fits_a_rule(const struct term *t, const struct incident *i)
{
	bool holds = false;

	for (size_t k = 0; k < i->n_lines; k++)
		holds = holds || i->lines[k].status != RULE_OK;
	for (size_t k = 0; k < i->n_lines; k++)
		if ((!holds || i->lines[k].status != RULE_OK) && fits(t, i->lines[k].rule_id))
			return true;
	return false;
}

static const char *
lookup(const void *arg, const char *name)
{
	const struct subject *s = arg;

	if (strcmp(name, "cause") == 0)
		return s->i->cause;
	if (strcmp(name, "level") == 0)
		return rule_level_word(s->i->level);
	if (strcmp(name, "host") == 0)
		return s->i->host_name;
	if (strcmp(name, "os") == 0)
		return s->i->host_os;
	if (strcmp(name, "release") == 0)
		return s->i->host_release;
	const char *label = json_string_value(json_object_get(s->object, name));
	return label != NULL ? label : json_string_value(json_object_get(s->host, name));
}

static bool
term_holds(const struct term *t, match_lookup *find, const void *arg)
{
	const char *text = find(arg, t->name);

	return fits(t, text != NULL ? text : "") != is_negated(t);
}

bool
match_names(const struct match *match, match_lookup *find, const void *arg)
{
	for (size_t k = 0; match != NULL && k < match->n; k++)
		if (!term_holds(&match->terms[k], find, arg))
			return false;
	return true;
}

bool
match_incident(const struct match *match, const struct incident *i)
{
	if (match == NULL || match->n == 0)
		return true;
	struct subject s = { .i = i,
		.object = json_loads(i->labels_json, 0, NULL),
		.host = json_loads(i->host_labels_json, 0, NULL) };
	bool all = true;

	for (size_t k = 0; all && k < match->n; k++) {
		const struct term *t = &match->terms[k];
		all = strcmp(t->name, "rule") == 0 ? fits_a_rule(t, i) != is_negated(t) : term_holds(t, lookup, &s);
	}
	json_decref(s.object);
	json_decref(s.host);
	return all;
}
