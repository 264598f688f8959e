#include "conf_value.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "buf.h"
#include "diag.h"
#include "err.h"
#include "scan.h"
#include "units.h"
#include "yaml_tree.h"

#define WORDS_MAX 400 /* bytes of a list of allowed words in a complaint */

bool
conf_is_collection(const struct conf_option *o)
{
	return o->type == CONF_LIST || o->type == CONF_MAP || o->type == CONF_ITEMS;
}

static void
put_bound(const struct conf_option *o, struct buf *b, int64_t bound)
{
	if (o->type == CONF_SIZE)
		units_put_size(b, (uint64_t)bound);
	else if (o->type == CONF_DURATION)
		units_put_duration(b, (uint64_t)bound);
	else
		buf_printf(b, "%" PRId64, bound);
}

void
conf_value_range(const struct conf_option *o, char *out, size_t size)
{
	struct buf b;

	buf_init(&b, size - 1);
	if (o->max == 0 && o->min != 0) {
		buf_puts(&b, "at least ");
		put_bound(o, &b, o->min);
	} else {
		put_bound(o, &b, o->min);
		buf_puts(&b, " to ");
		put_bound(o, &b, o->max);
	}
	snprintf(out, size, "%s", buf_str(&b));
	buf_fini(&b);
}

static bool
in_range(const struct conf_option *o, double v)
{
	if (o->min == 0 && o->max == 0)
		return true;
	return v >= (double)o->min && ((o->max == 0 && o->min > 0) || v <= (double)o->max);
}

/* What the option takes, for complaints. */
static void
put_allowed(const struct conf_option *o, struct buf *b)
{
	static const char *const forms[] = {
		[CONF_STRING] = "a text",
		[CONF_PATH] = "an absolute path",
		[CONF_BOOL] = "true, false",
		[CONF_INTEGER] = "a whole number",
		[CONF_NUMBER] = "a number",
		[CONF_SIZE] = UNITS_SIZE_FORM,
		[CONF_DURATION] = UNITS_DURATION_FORM,
		[CONF_ENUM] = "",
		[CONF_LIST] = "a text",
		[CONF_MAP] = "a text",
		[CONF_ITEMS] = "",
	};
	char range[64];

	buf_puts(b, forms[o->type]);
	for (size_t i = 0; o->type == CONF_ENUM && o->words[i] != NULL; i++)
		buf_printf(b, "%s%s", i > 0 ? ", " : "", o->words[i]);
	if (!conf_is_collection(o) && (o->min != 0 || o->max != 0)) {
		conf_value_range(o, range, sizeof(range));
		buf_printf(b, ", %s", range);
	}
}

static void
complain(const struct conf_option *o, const struct yaml_node *node, struct diag *diag, const char *what)
{
	struct buf allowed;

	buf_init(&allowed, WORDS_MAX);
	put_allowed(o, &allowed);
	yaml_complain(diag, node, "%s: %s; allowed: %s", o->key, what, buf_str(&allowed));
	buf_fini(&allowed);
}

/* NULL, or what is wrong with the text. */
static const char *
check_text(const struct conf_option *o, const char *text)
{
	if (o->type == CONF_PATH && text[0] != '/')
		return "not an absolute path";
	return o->check != NULL ? o->check(text) : NULL;
}

/* A number of any kind from its text; NULL, or what is wrong. */
static const char *
parse_number(const struct conf_option *o, struct text t, void *member)
{
	uint64_t u;
	int64_t i;
	double v;
	int err;

	switch (o->type) {
	case CONF_INTEGER:
		err = text_i64(&t, &i);
		if (err == 0 && t.n == 0 && in_range(o, (double)i)) {
			*(int64_t *)member = i;
			return NULL;
		}
		return err == 0 && t.n > 0  ? "not a whole number"
		    : err == HIWAT_E_FORMAT ? "not a whole number"
					    : "out of range";
	case CONF_NUMBER:
		err = text_double(&t, &v);
		if (err == 0 && t.n == 0 && in_range(o, v)) {
			*(double *)member = v;
			return NULL;
		}
		return err == 0 && t.n > 0 ? "not a number" : err == HIWAT_E_FORMAT ? "not a number" : "out of range";
	case CONF_SIZE:
		err = units_parse_size(t, &u);
		break;
	default:
		err = units_parse_duration(t, &u);
		break;
	}
	if (err == HIWAT_E_FORMAT)
		return o->type == CONF_SIZE ? "not a size" : "not a duration";
	if (err != 0 || u > INT64_MAX || !in_range(o, (double)u))
		return "out of range";
	*(uint64_t *)member = u;
	return NULL;
}

/* Any single value from its text; NULL, or what is wrong. *err is HIWAT_E_NOMEM when memory ran out. */
static const char *
parse_value(const struct conf_option *o, const char *text, bool quoted, void *member, int *err)
{
	const char *wrong;

	switch (o->type) {
	case CONF_STRING:
	case CONF_PATH:
		wrong = check_text(o, text);
		if (wrong != NULL)
			return wrong;
		*(char **)member = strdup(text);
		if (*(char **)member == NULL)
			*err = HIWAT_E_NOMEM;
		return NULL;
	case CONF_BOOL:
		if (quoted || (strcmp(text, "true") != 0 && strcmp(text, "false") != 0))
			return "neither true nor false";
		*(bool *)member = text[0] == 't';
		return NULL;
	case CONF_ENUM:
		for (int i = 0; o->words[i] != NULL; i++) {
			if (strcmp(text, o->words[i]) == 0) {
				*(int *)member = i;
				return NULL;
			}
		}
		return "not a known word";
	default:
		return parse_number(o, text_of(text), member);
	}
}

int
conf_value_read(const struct conf_option *o, const struct yaml_node *node, struct diag *diag, void *member)
{
	int err = HIWAT_OK;

	if (node->kind != YAML_SCALAR || yaml_is_null(node)) {
		char what[32];
		snprintf(what, sizeof(what), "is %s", yaml_is_null(node) ? "empty" : yaml_kind_text(node));
		complain(o, node, diag, what);
		return HIWAT_E_CONFIG;
	}
	const char *wrong = parse_value(o, node->text, node->quoted, member, &err);
	if (wrong != NULL) {
		char what[300];
		snprintf(what, sizeof(what), "\"%.100s\" is %s", node->text, wrong);
		complain(o, node, diag, what);
		return HIWAT_E_CONFIG;
	}
	return err;
}

int
conf_value_text(const struct conf_option *o, const struct yaml_node *node, struct diag *diag, char **out)
{
	const char *wrong = check_text(o, node->text);

	if (wrong != NULL) {
		yaml_complain(diag, node, "%s: \"%.100s\" is %s", o->key, node->text, wrong);
		return HIWAT_E_CONFIG;
	}
	char *copy = strdup(node->text);
	if (copy == NULL)
		return HIWAT_E_NOMEM;
	*out = copy;
	return HIWAT_OK;
}

/* The next of texts between commas. */
static bool
next_item(struct text *rest, struct text *item)
{
	if (rest->n == 0)
		return false;
	if (!text_until(rest, ',', item)) {
		*item = *rest;
		rest->n = 0;
	}
	*item = text_trim(*item);
	return true;
}

static size_t
count_items(const char *value)
{
	size_t n = 1;

	for (const char *p = value; *p != '\0'; p++)
		n += *p == ',';
	return n;
}

/* A default of texts is written as "a, b": no YAML, since no item of a default needs quotes. */
static int
default_list(const char *value, struct conf_list *list)
{
	struct text rest = text_of(value), item;

	list->items = calloc(count_items(value), sizeof(*list->items));
	if (list->items == NULL)
		return HIWAT_E_NOMEM;
	while (next_item(&rest, &item)) {
		list->items[list->n] = strndup(item.p, item.n);
		if (list->items[list->n] == NULL)
			return HIWAT_E_NOMEM;
		list->n++;
	}
	return HIWAT_OK;
}

/* One of names to texts as "{a: b, c: d}"; a name may stand in single quotes. */
static int
default_map(const char *value, struct conf_map *map)
{
	struct text rest = text_of(value), item, name;

	map->pairs = calloc(count_items(value), sizeof(*map->pairs));
	if (map->pairs == NULL)
		return HIWAT_E_NOMEM;
	text_skip(&rest, "{");
	rest.n -= text_ends(rest, "}");
	while (next_item(&rest, &item)) {
		if (!text_until(&item, ':', &name))
			return HIWAT_E_CONFIG;
		if (text_skip(&name, "'"))
			name.n--;
		item = text_trim(item);
		struct conf_pair *pair = &map->pairs[map->n++];
		pair->name = strndup(name.p, name.n);
		pair->value = strndup(item.p, item.n);
		if (pair->name == NULL || pair->value == NULL)
			return HIWAT_E_NOMEM;
	}
	return HIWAT_OK;
}

int
conf_value_default(const struct conf_option *o, void *member)
{
	int err = HIWAT_OK;

	if (o->type == CONF_LIST)
		return default_list(o->value, member);
	if (o->type == CONF_MAP)
		return default_map(o->value, member);
	if (conf_is_collection(o) || parse_value(o, o->value, false, member, &err) != NULL)
		return HIWAT_E_CONFIG;
	return err;
}
