/* Figures that an operator sets otherwise: for all hosts, for those with a label, for one host. */
#include "err.h"
#include "hash.h"
#include "set.h"

static char *
copy_text(struct rule_set *set, const char *s)
{
	return s != NULL ? arena_strndup(&set->arena, s, strlen(s)) : NULL;
}

/* Index of the param of this name among these, or UINT32_MAX. */
static uint32_t
find_param(const struct rule_set *set, uint32_t first, uint32_t n, const char *name)
{
	for (uint32_t i = first; i < first + n; i++) {
		if (strcmp(set->params.params[i].name, name) == 0)
			return i;
	}
	return UINT32_MAX;
}

const char *
rule_figure(const struct rule *rule, size_t i, double *value)
{
	const struct rule_full *r = rule_full_of(rule);

	if (i >= r->n_params)
		return NULL;
	*value = r->set->params.params[r->first_param + i].value;
	return r->set->params.params[r->first_param + i].name;
}

/* What an override names: a rule or rows of a profile, one for each system that has it. */
static int
add_override(struct rule_set *set, const struct rule_override *o, struct override new)
{
	if (o->param != NULL && new.param == UINT32_MAX)
		return HIWAT_E_MISSING;
	if (o->param != NULL && !isfinite(o->value))
		return HIWAT_E_RANGE;
	new.value = o->value;
	new.label = copy_text(set, o->label);
	new.text = copy_text(set, o->text);
	if ((o->label != NULL && new.label == NULL) || (o->text != NULL && new.text == NULL))
		return HIWAT_E_NOMEM;
	struct override *slot = arena_grow(&set->arena, (void **)&set->overrides, set->n_overrides, sizeof(*slot));
	if (slot == NULL)
		return HIWAT_E_NOMEM;
	*slot = new;
	set->n_overrides++;
	return HIWAT_OK;
}

static int
override_rows(struct rule_set *set, const struct rule_override *o)
{
	const struct profile_row *row;
	int err = HIWAT_E_MISSING;

	for (unsigned n = 0; (row = profile_row_find(set, o->rule, n, NULL)) != NULL; n++) {
		struct override new = { .rule = UINT32_MAX, .param = UINT32_MAX, .row = row };
		if (o->param != NULL)
			new.param = find_param(set, row->first_param, row->n_params, o->param);
		err = add_override(set, o, new);
		if (err != HIWAT_OK)
			return err;
	}
	return err;
}

int
rule_set_override(struct rule_set *set, const struct rule_override *o)
{
	const struct rule *rule = rule_set_find(set, o->rule);

	if (rule == NULL)
		return override_rows(set, o);
	struct rule_full *r = &set->rules[rule->index];
	struct override new = { .rule = rule->index, .param = UINT32_MAX };
	if (o->param != NULL)
		new.param = find_param(set, r->first_param, r->n_params, o->param);
	int err = add_override(set, o, new);
	if (err != HIWAT_OK)
		return err;
	if (o->label != NULL)
		set->uses_fact[*o->label == '\0' ? FACT_HOST : FACT_LABEL] = true;
	/* Another figure is another meaning: state kept over a reload must not outlive it. */
	uint64_t bits;
	memcpy(&bits, &o->value, sizeof(bits));
	r->meaning = hash_u64(hash_u64(hash_string(r->meaning, o->param != NULL ? o->param : ""), bits), new.param);
	r->meaning = hash_string(hash_string(r->meaning, o->label != NULL ? o->label : "*"), o->text != NULL ? o->text : "");
	return HIWAT_OK;
}

static bool
applies(const struct override *o, const struct host_view *view)
{
	if (o->label == NULL)
		return true;
	if (*o->label == '\0')
		return o->text != NULL && strcmp(view->name, o->text) == 0;
	for (unsigned i = 0; i < view->n_host_labels; i++) {
		if (strcmp(view->host_labels[i].name, o->label) == 0)
			return o->text != NULL && strcmp(view->host_labels[i].value, o->text) == 0;
	}
	return false;
}

/* 0 all hosts, 1 a label, 2 one host: what is nearer to the host wins. */
static int
nearness(const struct override *o)
{
	return o->label == NULL ? 0 : *o->label == '\0' ? 2 : 1;
}

double
override_value(const struct rule_set *set, const struct host_view *view, uint32_t param, double value)
{
	int nearest = -1;

	for (uint32_t i = 0; i < set->n_overrides; i++) {
		const struct override *o = &set->overrides[i];
		if (o->param == param && nearness(o) >= nearest && applies(o, view)) {
			nearest = nearness(o);
			value = o->value;
		}
	}
	return value;
}

bool
override_is_off(const struct rule_set *set, const struct host_view *view, uint32_t rule)
{
	for (uint32_t i = 0; i < set->n_overrides; i++) {
		const struct override *o = &set->overrides[i];
		if (o->param == UINT32_MAX && o->rule == rule && applies(o, view))
			return true;
	}
	return false;
}

bool
override_is_row_off(const struct rule_set *set, const struct host_view *view, const struct profile_row *row)
{
	for (uint32_t i = 0; i < set->n_overrides; i++) {
		const struct override *o = &set->overrides[i];
		if (o->param == UINT32_MAX && o->row == row && applies(o, view))
			return true;
	}
	return false;
}

double
rule_figure_on(const struct rule *rule, size_t i, const struct host_view *view)
{
	const struct rule_full *r = rule_full_of(rule);
	uint32_t param = r->first_param + (uint32_t)i;

	return override_value(r->set, view, param, r->set->params.params[param].value);
}

bool
rule_is_off(const struct rule *rule, const struct host_view *view)
{
	return override_is_off(rule_full_of(rule)->set, view, rule->index);
}
