/* The lists "settings:" and "profiles:" of a rule file: what is known of settings, and what documents say about them. */
#include <stddef.h>

#include "catalogue.h"
#include "diag.h"
#include "err.h"
#include "load.h"
#include "scan.h"
#include "yaml_tree.h"

#define WORDS_MAX 512

/* One key of a mapping and where its value goes. */
struct field {
	const char *key;
	enum { FIELD_TEXT, FIELD_NUMBER, FIELD_TRUE, FIELD_OTHER } kind;
	size_t offset;
	bool required;
};

static bool
read_field(struct loading *ld, const struct field *f, const struct yaml_node *n, char *out)
{
	double number;

	if (f->kind == FIELD_OTHER)
		return true;
	if (n->kind != YAML_SCALAR) {
		yaml_complain(ld->diag, n, "%s: a single value was expected, not %s", f->key, yaml_kind_text(n));
		return false;
	}
	switch (f->kind) {
	case FIELD_TEXT:
		*(const char **)(void *)(out + f->offset) = load_copy(ld, n->text, n->len);
		return true;
	case FIELD_NUMBER:
		if (text_is_double(text_of(n->text), &number)) {
			*(double *)(void *)(out + f->offset) = number;
			return true;
		}
		yaml_complain(ld->diag, n, "%s: a number was expected", f->key);
		return false;
	default:
		if (strcmp(n->text, "true") == 0) {
			*(bool *)(void *)(out + f->offset) = true;
			return true;
		}
		yaml_complain(ld->diag, n, "%s: true was expected; it is left out otherwise", f->key);
		return false;
	}
}

/* Reads a mapping; texts that are not given become "". False after complaints. */
static bool
read_fields(struct loading *ld, const struct yaml_node *node, const struct field *fields, size_t n_fields, void *out)
{
	char words[WORDS_MAX] = "";
	bool ok = node->kind == YAML_MAPPING;

	if (!ok)
		yaml_complain(ld->diag, node, "a mapping was expected, not %s", yaml_kind_text(node));
	for (size_t i = 0; i < n_fields; i++) {
		if (fields[i].kind == FIELD_TEXT)
			*(const char **)(void *)((char *)out + fields[i].offset) = "";
		if (ok && fields[i].required && yaml_get(node, fields[i].key) == NULL) {
			yaml_complain(ld->diag, node, "'%s' is missing", fields[i].key);
			ok = false;
		}
		strncat(words, i > 0 ? ", " : "", sizeof(words) - strlen(words) - 1);
		strncat(words, fields[i].key, sizeof(words) - strlen(words) - 1);
	}
	for (const struct yaml_node *n = node->kind == YAML_MAPPING ? node->first : NULL; n != NULL; n = n->next) {
		size_t i = 0;
		while (i < n_fields && strcmp(fields[i].key, n->key) != 0)
			i++;
		if (i == n_fields) {
			yaml_complain_key(ld->diag, n, "unknown key '%s'; allowed: %s", n->key, words);
			ok = false;
		} else if (!read_field(ld, &fields[i], n, out)) {
			ok = false;
		}
	}
	return ok;
}

static void
check_release(struct loading *ld, const struct yaml_node *n)
{
	if (n != NULL && n->kind == YAML_SCALAR && (n->text[0] < '0' || n->text[0] > '9'))
		yaml_complain(ld->diag, n, "a release such as 9.2 was expected");
}

void
load_setting(struct loading *ld, const struct yaml_node *node)
{
	static const struct field fields[] = {
		{ "os", FIELD_TEXT, offsetof(struct setting, os), true },
		{ "name", FIELD_TEXT, offsetof(struct setting, name), true },
		{ "how", FIELD_TEXT, offsetof(struct setting, how), false },
		{ "before", FIELD_TEXT, offsetof(struct setting, before), false },
		{ "how_before", FIELD_TEXT, offsetof(struct setting, how_before), false },
		{ "since", FIELD_TEXT, offsetof(struct setting, since), false },
		{ "removed", FIELD_TEXT, offsetof(struct setting, removed), false },
		{ "automatic", FIELD_TEXT, offsetof(struct setting, automatic), false },
		{ "instead", FIELD_TEXT, offsetof(struct setting, instead), false },
		{ "why", FIELD_TEXT, offsetof(struct setting, why), false },
		{ "unit_bytes", FIELD_NUMBER, offsetof(struct setting, unit_bytes), false },
		{ "standard", FIELD_NUMBER, offsetof(struct setting, standard), false },
	};
	static const char *const releases[] = { "before", "since", "removed", "automatic" };
	struct setting s = { .standard = NAN };
	struct rule_set *set = ld->set;

	if (!read_fields(ld, node, fields, sizeof(fields) / sizeof(fields[0]), &s))
		return;
	for (size_t i = 0; i < sizeof(releases) / sizeof(releases[0]); i++)
		check_release(ld, yaml_get(node, releases[i]));
	if (*s.how == '\0')
		s.how = "sysctl";
	if (strcmp(s.how, "sysctl") != 0 && strcmp(s.how, "loader") != 0 && *s.how != '/')
		yaml_complain(ld->diag, yaml_get(node, "how"), "sysctl, loader or an absolute path was expected");
	if ((*s.before == '\0') != (*s.how_before == '\0'))
		yaml_complain(ld->diag, node, "'before' and 'how_before' go together");
	if ((*s.removed != '\0' || *s.automatic != '\0') && *s.why == '\0')
		yaml_complain(ld->diag, node, "'why' must say what came instead");
	if (setting_find(set, s.os, s.name) != NULL)
		yaml_complain(ld->diag, node, "a second entry for %s of %s", s.name, s.os);
	struct setting *slot = set->n_settings < SETTINGS_MAX
	    ? arena_grow(&set->arena, (void **)&set->settings, set->n_settings, sizeof(*slot))
	    : NULL;
	if (slot == NULL) {
		ld->is_out_of_memory = true;
		return;
	}
	*slot = s;
	set->n_settings++;
}

void
load_delivered(struct loading *ld, const struct yaml_node *node)
{
	static const struct field fields[] = {
		{ "os", FIELD_TEXT, offsetof(struct delivered, os), true },
		{ "series", FIELD_OTHER, 0, true },
	};
	struct rule_set *set = ld->set;
	struct delivered d = { .n_series = 0 };

	if (!read_fields(ld, node, fields, sizeof(fields) / sizeof(fields[0]), &d))
		return;
	const struct yaml_node *series = yaml_get(node, "series");
	if (series->kind != YAML_SEQUENCE)
		yaml_complain(ld->diag, series, "a list of series was expected, not %s", yaml_kind_text(series));
	if (delivered_find(set, d.os) != NULL)
		yaml_complain(ld->diag, node, "a second entry for %s", d.os);
	for (const struct yaml_node *n = series->kind == YAML_SEQUENCE ? series->first : NULL; n != NULL; n = n->next) {
		const char **slot = arena_grow(&set->arena, (void **)&d.series, d.n_series, sizeof(*slot));
		if (n->kind != YAML_SCALAR || catalogue_find(n->text, strcspn(n->text, "{")) < 0)
			yaml_complain(ld->diag, n, "a metric was expected");
		if (slot == NULL) {
			ld->is_out_of_memory = true;
			return;
		}
		*slot = n->kind == YAML_SCALAR ? load_copy(ld, n->text, n->len) : "";
		d.n_series++;
	}
	struct delivered *slot = set->n_delivered < DELIVERED_MAX
	    ? arena_grow(&set->arena, (void **)&set->delivered, set->n_delivered, sizeof(*slot))
	    : NULL;
	if (slot == NULL) {
		ld->is_out_of_memory = true;
		return;
	}
	*slot = d;
	set->n_delivered++;
}

/* The numbers of a row become params, so that they can be overridden: value, or value_0 and so on. */
static void
load_numbers(struct loading *ld, const struct yaml_node *n, const char *id, struct profile_row *row)
{
	static const char *const places[SETTING_NUMBERS_MAX] = { "value_0", "value_1", "value_2" };
	const struct yaml_node *first = n->kind == YAML_SEQUENCE ? n->first : n;
	struct rule_set *set = ld->set;

	row->first_param = set->params.n;
	if (n->kind == YAML_MAPPING || n->count > SETTING_NUMBERS_MAX)
		yaml_complain(ld->diag, n, "%s: a number or up to %d numbers were expected", n->key, SETTING_NUMBERS_MAX);
	for (const struct yaml_node *v = first; v != NULL && row->n_params < SETTING_NUMBERS_MAX;
	     v = n->kind == YAML_SEQUENCE ? v->next : NULL) {
		double number;
		if (v->kind != YAML_SCALAR || !text_is_double(text_of(v->text), &number)) {
			yaml_complain(ld->diag, v, "%s: a number was expected", n->key);
			continue;
		}
		if (load_param(ld, id, n->kind == YAML_SEQUENCE ? places[row->n_params] : "value", number))
			row->n_params++;
	}
}

static void
load_row(struct loading *ld, const struct yaml_node *node, struct profile *p)
{
	static const struct field fields[] = {
		{ "name", FIELD_TEXT, offsetof(struct profile_row, name), true },
		{ "floor", FIELD_OTHER, 0, false },
		{ "ceiling", FIELD_OTHER, 0, false },
		{ "equals", FIELD_OTHER, 0, false },
		{ "given", FIELD_TRUE, offsetof(struct profile_row, is_given), false },
		{ "report", FIELD_TRUE, offsetof(struct profile_row, is_report), false },
		{ "per_connection", FIELD_NUMBER, offsetof(struct profile_row, per_connection), false },
		{ "cpus_max", FIELD_NUMBER, offsetof(struct profile_row, cpus_max), false },
		{ "beside", FIELD_TEXT, offsetof(struct profile_row, beside), false },
		{ "zero_is_none", FIELD_TRUE, offsetof(struct profile_row, zero_is_none), false },
		{ "ours", FIELD_TRUE, offsetof(struct profile_row, is_ours), false },
		{ "doc", FIELD_TEXT, offsetof(struct profile_row, doc), false },
		{ "why", FIELD_TEXT, offsetof(struct profile_row, why), false },
	};
	static const char *const needs[] = { "floor", "ceiling", "equals" };
	struct profile_row row = { .need = NEED_FLOOR };
	unsigned n_needs = 0;
	char id[256];

	if (!read_fields(ld, node, fields, sizeof(fields) / sizeof(fields[0]), &row))
		return;
	snprintf(id, sizeof(id), "%s/%s", p->id, row.name);
	row.id = load_copy(ld, id, strlen(id));
	if (*row.doc == '\0')
		row.doc = p->doc;
	for (unsigned i = 0; i < 3; i++) {
		const struct yaml_node *n = yaml_get(node, needs[i]);
		if (n == NULL)
			continue;
		n_needs++;
		row.need = (enum profile_need)i;
		load_numbers(ld, n, row.id, &row);
	}
	if (n_needs + row.is_given + row.is_report != 1)
		yaml_complain(ld->diag, node, "one of floor, ceiling, equals, given and report was expected");
	for (uint32_t i = 0; i < p->n_rows; i++) {
		if (strcmp(p->rows[i].name, row.name) == 0)
			yaml_complain(ld->diag, node, "a second row for %s", row.name);
	}
	struct profile_row *slot = arena_grow(&ld->set->arena, (void **)&p->rows, p->n_rows, sizeof(*slot));
	if (slot == NULL) {
		ld->is_out_of_memory = true;
		return;
	}
	*slot = row;
	p->n_rows++;
}

void
load_profile(struct loading *ld, const struct yaml_node *node)
{
	static const struct field fields[] = {
		{ "id", FIELD_TEXT, offsetof(struct profile, id), true },
		{ "os", FIELD_TEXT, offsetof(struct profile, os), true },
		{ "doc", FIELD_TEXT, offsetof(struct profile, doc), true },
		{ "link_bits", FIELD_NUMBER, offsetof(struct profile, link_bits), false },
		{ "settings", FIELD_OTHER, 0, true },
	};
	struct rule_set *set = ld->set;
	struct profile p = { .file = load_copy(ld, node->file, strlen(node->file)), .line = node->line };

	if (!read_fields(ld, node, fields, sizeof(fields) / sizeof(fields[0]), &p))
		return;
	if (strspn(p.id, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(p.id) || rule_set_find(set, p.id) != NULL)
		yaml_complain(ld->diag, yaml_get(node, "id"), "an id of a-z, 0-9 and - that no rule has was expected");
	for (uint32_t i = 0; i < set->n_profiles; i++) {
		if (strcmp(set->profiles[i].id, p.id) == 0 && strcmp(set->profiles[i].os, p.os) == 0)
			yaml_complain(ld->diag, node, "a second profile %s for %s", p.id, p.os);
	}
	const struct yaml_node *rows = yaml_get(node, "settings");
	if (rows->kind != YAML_SEQUENCE)
		yaml_complain(ld->diag, rows, "a list of settings was expected, not %s", yaml_kind_text(rows));
	else
		for (const struct yaml_node *n = rows->first; n != NULL; n = n->next)
			load_row(ld, n, &p);
	struct profile *slot = set->n_profiles < PROFILES_MAX
	    ? arena_grow(&set->arena, (void **)&set->profiles, set->n_profiles, sizeof(*slot))
	    : NULL;
	if (slot == NULL) {
		ld->is_out_of_memory = true;
		return;
	}
	*slot = p;
	set->n_profiles++;
}
