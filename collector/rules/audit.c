#include "audit.h"

#include "buf.h"
#include "catalogue.h"
#include "err.h"
#include "scan.h"
#include "set.h"

#define TEXT_MAX 200

struct audit {
	const struct rule_set *set;
	const struct host_view *view;
	const char *asked;  /* further profiles, words */
	double link_bits;   /* the fastest link, 0 unknown */
	double connections; /* established now, NAN unknown */
	double cpus;
	int sysctl, dns_setting, setting_text;
	bool has_kernel, has_bind; /* settings of it were delivered */
	unsigned compared;
	void (*emit)(void *arg, const struct audit_finding *finding);
	void *arg;
};

/* What a host has for a row. */
struct found {
	double numbers[SETTING_NUMBERS_MAX];
	unsigned n;
};

const char *
audit_verdict_word(enum audit_verdict verdict)
{
	static const char *const words[] = { "deviates", "no longer exists", "reported" };

	return words[verdict];
}

size_t
profile_count(const struct rule_set *set)
{
	return set->n_profiles;
}

const struct profile *
profile_get(const struct rule_set *set, size_t index)
{
	return index < set->n_profiles ? &set->profiles[index] : NULL;
}

const struct profile_row *
profile_row_find(const struct rule_set *set, const char *id, unsigned nth, const struct profile **profile)
{
	for (uint32_t p = 0; p < set->n_profiles; p++) {
		for (uint32_t i = 0; i < set->profiles[p].n_rows; i++) {
			if (strcmp(set->profiles[p].rows[i].id, id) != 0 || nth-- > 0)
				continue;
			if (profile != NULL)
				*profile = &set->profiles[p];
			return &set->profiles[p].rows[i];
		}
	}
	return NULL;
}

double
profile_number(const struct rule_set *set, const struct profile_row *row, unsigned i, const struct host_view *view)
{
	uint32_t param = row->first_param + i;
	double value = set->params.params[param].value;

	return view != NULL ? override_value(set, view, param, value) : value;
}

static bool
has_word(const char *words, const char *word)
{
	struct text rest = text_of(words), w;

	while (text_word(&rest, &w)) {
		if (text_eq(w, word))
			return true;
	}
	return false;
}

int
rule_set_profiles(struct rule_set *set, const char *role, const char *profiles, const char **unknown)
{
	struct text rest = text_of(profiles), word;

	while (text_word(&rest, &word)) {
		uint32_t p = 0;
		while (p < set->n_profiles && !text_eq(word, set->profiles[p].id))
			p++;
		if (p == set->n_profiles) {
			*unknown = word.p;
			return HIWAT_E_MISSING;
		}
	}
	struct role_profiles r = { arena_strndup(&set->arena, role, strlen(role)),
		arena_strndup(&set->arena, profiles, strlen(profiles)) };
	struct role_profiles *slot = r.role != NULL && r.profiles != NULL
	    ? arena_grow(&set->arena, (void **)&set->roles, set->n_roles, sizeof(*slot))
	    : NULL;
	if (slot == NULL)
		return HIWAT_E_NOMEM;
	*slot = r;
	set->n_roles++;
	return HIWAT_OK;
}

/* ---------------------------------------------------------------------------------------------- what the host says */

static bool
label_is(const struct audit *a, uint32_t labels, const char *label, const char *value)
{
	const char *v = labels_value(a->view->labels, labels, label);

	return v != NULL && strcmp(v, value) == 0;
}

static void
note_host(struct audit *a)
{
	for (size_t s = 0; s < a->view->n_sets; s++) {
		for (uint32_t i = 0; i < a->view->sets[s].n_values; i++) {
			const struct series_value v = sample_value(&a->view->sets[s], i);
			const char *metric = catalogue_metrics[v.metric].name;
			if (v.metric == a->sysctl)
				a->has_kernel = true;
			else if (v.metric == a->dns_setting)
				a->has_bind = a->has_bind || label_is(a, v.labels, "server", "bind");
			else if (strcmp(metric, "hiwat_netif_speed_bits") == 0 && v.value > a->link_bits)
				a->link_bits = v.value;
			else if (strcmp(metric, "hiwat_cpu_count") == 0)
				a->cpus = v.value;
			else if (strcmp(metric, "hiwat_tcp_connections") == 0 &&
			    label_is(a, v.labels, "state", "established"))
				a->connections = v.value;
		}
	}
}

/* The numbers of a setting in their order; n 0: the host does not tell it. */
static struct found
find_setting(const struct audit *a, const char *os, const char *name)
{
	bool is_bind = strcmp(os, "bind") == 0;
	struct found f = { .n = 0 };

	for (size_t s = 0; s < a->view->n_sets; s++) {
		for (uint32_t i = 0; i < a->view->sets[s].n_values; i++) {
			const struct series_value v = sample_value(&a->view->sets[s], i);
			if (v.metric != (is_bind ? a->dns_setting : a->sysctl) || !label_is(a, v.labels, "name", name))
				continue;
			if (is_bind) {
				if (label_is(a, v.labels, "server", "bind"))
					return (struct found){ { v.value }, 1 };
				continue;
			}
			const char *index = labels_value(a->view->labels, v.labels, "index");
			unsigned place = index != NULL && *index != '\0' ? (unsigned)(*index - '0') : 0;
			if (place < SETTING_NUMBERS_MAX) {
				f.numbers[place] = v.value;
				f.n = place + 1 > f.n ? place + 1 : f.n;
			}
		}
	}
	return f;
}

/* A setting that is a word, of BIND or of the kernel. */
static bool
is_given(const struct audit *a, const char *os, const char *name)
{
	for (size_t s = 0; s < a->view->n_sets; s++) {
		for (uint32_t i = 0; i < a->view->sets[s].n_values; i++) {
			const struct series_value v = sample_value(&a->view->sets[s], i);
			if (v.metric == a->setting_text && label_is(a, v.labels, "name", name))
				return true;
		}
	}
	return find_setting(a, os, name).n > 0;
}

/* ------------------------------------------------------------------------------------------ which profiles it has */

static bool
is_asked(const struct audit *a, const struct profile *p)
{
	const char *role = "";

	if (has_word(a->asked, p->id))
		return true;
	for (unsigned i = 0; i < a->view->n_host_labels; i++) {
		if (strcmp(a->view->host_labels[i].name, "role") == 0)
			role = a->view->host_labels[i].value;
	}
	for (uint32_t i = 0; i < a->set->n_roles; i++) {
		const struct role_profiles *r = &a->set->roles[i];
		bool is_mine = strcmp(r->role, "*") == 0 || strcmp(r->role, role) == 0;
		if (is_mine && has_word(r->profiles, p->id))
			return a->link_bits >= p->link_bits;
	}
	return false;
}

static bool
applies(const struct audit *a, const struct profile *p)
{
	bool is_there = strcmp(p->os, "bind") == 0 ? a->has_bind : a->has_kernel && strcmp(p->os, a->view->os) == 0;

	return is_there && is_asked(a, p);
}

static bool
row_applies(const struct audit *a, const struct profile *p, const struct profile_row *row)
{
	if (row->cpus_max > 0 && !(a->cpus <= row->cpus_max))
		return false;
	if (*row->beside != '\0' && find_setting(a, p->os, row->beside).n == 0)
		return false;
	return !override_is_row_off(a->set, a->view, row);
}

/* ---------------------------------------------------------------------------------------------------- the judgement */

static double
wanted_number(const struct audit *a, const struct profile_row *row, unsigned i)
{
	double wanted = profile_number(a->set, row, i, a->view);
	double own = row->per_connection > 0 ? value_pow2up(row->per_connection * a->connections) : NAN;

	return own > wanted ? own : wanted;
}

/* Does this row ask for more than that one? Of equals the first profile speaks. */
static bool
is_stricter(const struct audit *a, const struct profile_row *row, const struct profile_row *than)
{
	if (row->n_params == 0 || than->n_params == 0 || row->need != than->need)
		return false;
	double x = wanted_number(a, row, 0), y = wanted_number(a, than, 0);
	return row->need == NEED_FLOOR ? x > y : row->need == NEED_CEILING && x < y;
}

/* 65535 does for 65536: some kernels cannot take the power of two itself. */
static bool
is_met(const struct profile_row *row, double found, double wanted)
{
	bool is_unlimited = row->zero_is_none && found == 0;

	switch (row->need) {
	case NEED_FLOOR:
		return found + 1 >= wanted || is_unlimited;
	case NEED_CEILING:
		return found <= wanted && !is_unlimited;
	default:
		return found == wanted;
	}
}

static void
put_numbers(struct buf *out, const double *numbers, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		buf_printf(out, "%s%.15g", i > 0 ? " " : "", numbers[i]);
}

static void
emit_deviation(struct audit *a, struct audit_finding *finding, const double *wanted, const struct found *found)
{
	static const char *const words[] = { "at least ", "at most ", "" };
	const struct profile_row *row = finding->row;
	double set_to[SETTING_NUMBERS_MAX];
	struct buf wants, has, value, command;

	buf_init(&wants, TEXT_MAX);
	buf_init(&has, TEXT_MAX);
	buf_init(&command, 2 * TEXT_MAX);
	if (row->is_given) {
		buf_puts(&wants, "a text of your own");
		buf_printf(&command, "in named.conf, options: %s \"none\"; then rndc reconfig", row->name);
	} else {
		buf_puts(&wants, words[row->need]);
		put_numbers(&wants, wanted, row->n_params);
		put_numbers(&has, found->numbers, found->n);
		/* What is enough stays as it is: no advice lowers a capacity. */
		for (unsigned i = 0; i < row->n_params; i++)
			set_to[i] = is_met(row, found->numbers[i], wanted[i]) ? found->numbers[i] : wanted[i];
		buf_init(&value, TEXT_MAX);
		put_numbers(&value, set_to, row->n_params);
		setting_put_command(a->set, finding->profile->os, a->view->release, row->name, buf_str(&value),
		    set_to[row->n_params - 1], &command);
		buf_fini(&value);
	}
	finding->verdict = AUDIT_DEVIATES;
	finding->wanted = buf_str(&wants);
	finding->found = buf_str(&has);
	finding->command = buf_str(&command);
	a->emit(a->arg, finding);
	buf_fini(&wants);
	buf_fini(&has);
	buf_fini(&command);
}

static void
emit_gone(struct audit *a, struct audit_finding *finding, const struct setting *s, enum setting_state state)
{
	struct buf why;

	buf_init(&why, 2 * TEXT_MAX);
	buf_printf(&why, "%s since %s %s: %s", state == SETTING_REMOVED ? "gone" : "automatic", setting_os_title(s->os),
	    state == SETTING_REMOVED ? s->removed : s->automatic, s->why);
	if (*s->instead != '\0')
		buf_printf(&why, "; see %s", s->instead);
	finding->verdict = AUDIT_GONE;
	finding->why = buf_str(&why);
	a->emit(a->arg, finding);
	buf_fini(&why);
}

static void
emit_report(struct audit *a, struct audit_finding *finding, const struct found *found)
{
	struct buf has;

	if (found->n == 0)
		return;
	buf_init(&has, TEXT_MAX);
	put_numbers(&has, found->numbers, found->n);
	finding->verdict = AUDIT_REPORTED;
	finding->found = buf_str(&has);
	a->emit(a->arg, finding);
	buf_fini(&has);
}

static void
judge(struct audit *a, const struct profile *p, const struct profile_row *row)
{
	struct audit_finding finding = { .profile = p,
		.row = row,
		.wanted = "",
		.found = "",
		.command = "",
		.why = row->why };
	const struct setting *s = setting_find(a->set, p->os, row->name);
	/* The release is the system's, not BIND's, whose options say what it is. */
	enum setting_state state =
	    s != NULL ? setting_state(s, strcmp(p->os, "bind") == 0 ? "" : a->view->release) : SETTING_HERE;
	struct found found = find_setting(a, p->os, row->name);
	double wanted[SETTING_NUMBERS_MAX];
	bool met = true;

	if (state == SETTING_AUTOMATIC || (state == SETTING_REMOVED && found.n == 0)) {
		emit_gone(a, &finding, s, state);
		return;
	}
	if (row->is_given) {
		a->compared++;
		if (!is_given(a, p->os, row->name))
			emit_deviation(a, &finding, NULL, NULL);
		return;
	}
	if (row->is_report) {
		emit_report(a, &finding, &found);
		return;
	}
	if (found.n == 0 && s != NULL && !isnan(s->standard))
		found = (struct found){ { s->standard }, 1 };
	if (found.n < row->n_params)
		return;
	a->compared++;
	for (unsigned i = 0; i < row->n_params; i++) {
		wanted[i] = wanted_number(a, row, i);
		met = met && is_met(row, found.numbers[i], wanted[i]);
	}
	if (!met)
		emit_deviation(a, &finding, wanted, &found);
}

/* Is this the first row of its setting in the profiles that apply? */
static bool
is_first(const struct audit *a, const struct profile *at, const struct profile_row *row)
{
	for (const struct profile *p = a->set->profiles; p < at; p++) {
		for (uint32_t i = 0; i < p->n_rows; i++) {
			if (strcmp(p->rows[i].name, row->name) == 0 && strcmp(p->os, at->os) == 0 && applies(a, p) &&
			    row_applies(a, p, &p->rows[i]))
				return false;
		}
	}
	return true;
}

static void
judge_strictest(struct audit *a, const struct profile *first, const struct profile_row *row)
{
	const struct profile *best = first;
	const struct profile_row *best_row = row;

	for (const struct profile *p = first + 1; p < a->set->profiles + a->set->n_profiles; p++) {
		for (uint32_t i = 0; i < p->n_rows; i++) {
			if (strcmp(p->rows[i].name, row->name) == 0 && strcmp(p->os, first->os) == 0 && applies(a, p) &&
			    row_applies(a, p, &p->rows[i]) && is_stricter(a, &p->rows[i], best_row)) {
				best = p;
				best_row = &p->rows[i];
			}
		}
	}
	judge(a, best, best_row);
}

unsigned
audit_run(const struct rule_set *set, const struct host_view *view, const char *profiles,
    void (*emit)(void *arg, const struct audit_finding *finding), void *arg)
{
	struct audit
	    a = { .set = set, .view = view, .asked = profiles, .connections = NAN, .cpus = NAN, .emit = emit, .arg = arg };

	a.sysctl = catalogue_find("hiwat_sysctl", strlen("hiwat_sysctl"));
	a.dns_setting = catalogue_find("hiwat_dns_setting", strlen("hiwat_dns_setting"));
	a.setting_text = catalogue_find("hiwat_setting_text", strlen("hiwat_setting_text"));
	note_host(&a);
	for (uint32_t i = 0; i < set->n_profiles; i++) {
		const struct profile *p = &set->profiles[i];
		for (uint32_t r = 0; applies(&a, p) && r < p->n_rows; r++) {
			if (row_applies(&a, p, &p->rows[r]) && is_first(&a, p, &p->rows[r]))
				judge_strictest(&a, p, &p->rows[r]);
		}
	}
	return a.compared;
}

void
audit_put(const struct audit_finding *f, struct buf *out)
{
	size_t n = strcspn(f->row->doc, ":,");

	buf_puts(out, f->row->name);
	switch (f->verdict) {
	case AUDIT_GONE:
		buf_printf(out, " no longer exists as a setting to make (%s)", f->why);
		return;
	case AUDIT_REPORTED:
		buf_printf(out, " is %s", f->found);
		break;
	default:
		buf_printf(out, "%s%s, ", *f->found != '\0' ? " is " : " is not set", f->found);
		if (f->row->is_ours)
			buf_printf(out, "wanted is %s, a figure of ours: %s", f->wanted, f->command);
		else
			buf_printf(out, "%.*s says %s: %s", (int)n, f->row->doc, f->wanted, f->command);
		break;
	}
	if (*f->why != '\0')
		buf_printf(out, " (%s)", f->why);
}
