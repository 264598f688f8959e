/*
 * One record of one sampler: the steps it feeds, then each row that it can change. Levels of a row are independent: each
 * fires when its condition has held for `for`, and clears when its clearing condition has not held for `hold`. The worst
 * that fires speaks.
 */
#include "err.h"
#include "run.h"
#include "state.h"

#define GAP_INTERVALS 3

struct evaluation {
	struct rule_set *set;
	struct rule_state *st;
	struct run run;
	const struct plan_set *lists;
	size_t updated;
	uint64_t now_ns;
	uint64_t bad;     /* sets whose values count as unknown */
	uint64_t was_bad; /* the same before this record */
	bool gap;         /* too much time since the last good record for what is pending */
	bool is_cold_run; /* steps of lists->cold are done */
	int err;
	void (*emit)(void *arg, const struct rule_event *event);
	void *arg;
};

/* The k-th value of a row, see plan_row.first. */
static double
row_value(const struct evaluation *ev, const struct plan_row *row, unsigned k)
{
	return ev->run.numbers[ev->run.plan->operands[row->first + k]];
}

static void
need_cold(struct evaluation *ev)
{
	if (!ev->is_cold_run)
		run_steps(&ev->run, &ev->lists->cold);
	ev->is_cold_run = true;
}

/* FALSE and UNKNOWN are the same to those who read events. */
static double
said(double v)
{
	return isnan(v) ? NAN : v;
}

/* Notes what the speaking level would say; true when its value changed. */
static bool
note_values(struct evaluation *ev, struct live *l, const struct plan_row *row, unsigned level)
{
	unsigned n = row->n_levels;
	double v = NAN;

	/* A condition that holds has the value of its left side; when none does the left side itself is asked. */
	for (unsigned k = level; k < 3 * n && isnan(v); k += n)
		v = said(row_value(ev, row, k));
	bool changed = v != l->value && !(isnan(v) && isnan(l->value));

	/* A condition that no longer holds may have no value left: the last one stands. */
	if (!isnan(v))
		l->value = v;
	l->threshold = said(row_value(ev, row, 3 * n + level));
	l->used = said(row_value(ev, row, 4 * n));
	l->limit = said(row_value(ev, row, 4 * n + 1));
	l->eta = said(row_value(ev, row, 4 * n + 2));
	return changed && !isnan(v);
}

static uint64_t
since_or_now(uint64_t ns, uint64_t now_ns)
{
	/* A clock at 0 would look like "never". */
	return ns != 0 ? ns : now_ns != 0 ? now_ns : 1;
}

/* Moves one level on. */
static void
step_level(const struct evaluation *ev, struct live *l, const struct level *level, unsigned i, double fire, double stay)
{
	uint64_t now = ev->now_ns;
	uint8_t bit = (uint8_t)(1u << i);

	if (!(l->on & bit)) {
		if (ev->gap || value_is_false(fire))
			l->true_ns[i] = 0;
		if (isnan(fire))
			return;
		l->true_ns[i] = since_or_now(l->true_ns[i], now);
		if (now >= l->true_ns[i] && now - l->true_ns[i] >= level->for_ns) {
			l->on |= bit;
			l->false_ns[i] = 0;
		}
		return;
	}
	if (!isnan(fire) || !isnan(stay)) {
		l->false_ns[i] = 0;
		l->true_ns[i] = since_or_now(l->true_ns[i], now);
	} else if (value_is_false(fire) && value_is_false(stay)) {
		l->false_ns[i] = since_or_now(l->false_ns[i], now);
		if (now - l->false_ns[i] >= level->hold_ns) {
			l->on &= (uint8_t)~bit;
			l->true_ns[i] = 0;
		}
	}
}

/* The level whose value and threshold are told: the worst that fires, else the worst that is pending, else the mildest. */
static unsigned
speaking_level(const struct live *l, int old_level)
{
	int level = live_level(l);

	for (int i = RULE_LEVELS - 1; level < 0 && i >= 0; i--)
		level = l->true_ns[i] != 0 ? i : level;
	if (level < 0)
		level = old_level;
	return level < 0 ? 0 : (unsigned)level;
}

static void
emit_row(struct evaluation *ev, const struct live *l, const struct rule_event *old)
{
	struct rule_event e;

	live_describe(ev->set, l, &e);
	if (live_is_over(l)) {
		e.status = RULE_OK;
		e.since_boot_ns = ev->now_ns;
		for (unsigned i = 0; old->status == RULE_FIRING && i < RULE_LEVELS; i++) {
			if (l->false_ns[i] != 0 && l->false_ns[i] < e.since_boot_ns)
				e.since_boot_ns = l->false_ns[i];
		}
	}
	e.old_status = old->status;
	e.old_level = old->level;
	ev->emit(ev->arg, &e);
}

/* Says that a row without an entry is known again. */
static void
emit_known(struct evaluation *ev, const struct plan_row *row, enum rule_status status, enum rule_status old_status)
{
	struct rule_event e = { .rule = &ev->set->rules[row->rule].pub,
		.labels = row->labels,
		.object = row->object,
		.status = status,
		.old_status = old_status,
		.value = NAN,
		.threshold = NAN,
		.used = NAN,
		.limit = NAN,
		.seconds_to_limit = NAN,
		.since_boot_ns = ev->now_ns };

	ev->emit(ev->arg, &e);
}

static void
eval_row(struct evaluation *ev, uint32_t index)
{
	const struct plan_row *row = &ev->run.plan->rows[index];
	const struct rule_full *r = &ev->set->rules[row->rule];
	struct rule_state *st = ev->st;
	bool was_unknown = row->sets & ev->was_bad, any = false;
	double fire[RULE_LEVELS];

	for (unsigned i = 0; i < row->n_levels; i++) {
		fire[i] = row_value(ev, row, i);
		any = any || !isnan(fire[i]);
	}
	struct live *l = state_live(st, index);
	if (!any && l == NULL) {
		if (was_unknown)
			emit_known(ev, row, RULE_OK, RULE_UNKNOWN);
		return;
	}
	need_cold(ev);
	bool is_new = l == NULL;
	if (is_new)
		l = state_add_live(st, index);
	if (l == NULL) {
		ev->err = HIWAT_E_NOMEM;
		return;
	}
	struct rule_event old = { .status = RULE_OK };
	int old_level = live_level(l);
	if (!is_new)
		live_describe(ev->set, l, &old);
	if (was_unknown)
		old.status = RULE_UNKNOWN;
	bool is_back = l->is_gone;
	l->is_gone = false;
	for (unsigned i = 0; i < row->n_levels; i++)
		step_level(ev, l, &r->levels[i], i, fire[i], row_value(ev, row, row->n_levels + i));
	bool is_over = live_is_over(l);
	bool changed = note_values(ev, l, row, speaking_level(l, old_level));
	struct rule_event now;
	live_describe(ev->set, l, &now);
	if (is_over || is_back || now.status != old.status || now.level != old.level ||
	    (now.status == RULE_FIRING && changed))
		emit_row(ev, l, &old);
	if (is_over)
		state_remove_live(st, l);
}

/*
 * Which rows are due: those of which a condition may hold, those that are not ok, and those that were unknown. The others
 * are ok and stay so, which is nearly all of them nearly always.
 */
static void
eval_rows(struct evaluation *ev)
{
	const struct plan *p = ev->run.plan;
	const struct plan_fire *fires = p->fires + ev->lists->fires.first;
	uint64_t *due = ev->set->room.due;
	uint32_t n_words = p->n_rows / 64 + 1;

	memset(due, 0, n_words * sizeof(*due));
	for (uint32_t i = 0; i < ev->lists->fires.n; i++) {
		if (!isnan(ev->run.numbers[fires[i].value]) || p->rows[fires[i].row].sets & ev->was_bad)
			due[fires[i].row / 64] |= 1ULL << fires[i].row % 64;
	}
	for (uint32_t i = 0; i < ev->st->n_live; i++) {
		uint32_t row = ev->st->live[i].row;
		if (row != NO_ROW && (p->rows[row].sets == 0 || p->rows[row].sets & 1ULL << ev->updated))
			due[row / 64] |= 1ULL << row % 64;
	}
	for (uint32_t word = 0; word < n_words; word++) {
		for (uint64_t left = due[word]; left != 0; left &= left - 1) {
			uint32_t row = word * 64 + (uint32_t)__builtin_ctzll(left);
			if (!(p->rows[row].sets & ev->bad))
				eval_row(ev, row);
		}
	}
}

/* The record is not good: what it feeds is unknown. Nothing fires, nothing clears, time stands still. */
static void
mark_unknown(struct evaluation *ev)
{
	for (uint32_t i = 0; i < ev->run.plan->n_rows; i++) {
		const struct plan_row *row = &ev->run.plan->rows[i];
		const struct live *l = state_live(ev->st, i);
		if (!(row->sets & 1ULL << ev->updated) || row->sets & ev->was_bad)
			continue;
		if (l == NULL) {
			emit_known(ev, row, RULE_UNKNOWN, RULE_OK);
			continue;
		}
		struct rule_event e;
		live_describe(ev->set, l, &e);
		e.old_status = e.status;
		e.old_level = e.level;
		e.status = RULE_UNKNOWN;
		ev->emit(ev->arg, &e);
	}
}

/* What fires or waits on series that this sampler no longer delivers. */
static void
mark_gone(struct evaluation *ev)
{
	struct rule_state *st = ev->st;

	for (uint32_t i = st->n_live; i-- > 0;) {
		struct live *l = &st->live[i];
		struct rule_event e, old;
		if (l->row != NO_ROW || l->is_gone || l->source != st->sets[ev->updated].name_hash)
			continue;
		live_describe(ev->set, l, &old);
		l->is_gone = l->on != 0;
		/* A level that waits begins anew when the series is back, whatever other level fires meanwhile. */
		for (unsigned k = 0; k < RULE_LEVELS; k++) {
			if (!(l->on & 1u << k))
				l->true_ns[k] = 0;
		}
		live_describe(ev->set, l, &e);
		e.old_status = old.status;
		e.old_level = old.level;
		if (l->on == 0) {
			e.status = RULE_OK;
			e.gone = true;
			e.since_boot_ns = ev->now_ns;
		}
		ev->emit(ev->arg, &e);
		if (l->on == 0)
			state_remove_live(st, l);
	}
}

/* Does the plan fit what the view shows of the sets that this record's rows read? */
static bool
plan_fits(const struct rule_state *st, const struct rule_set *set, const struct host_view *view, size_t updated)
{
	size_t n_sets = view->n_sets < PLAN_SETS_MAX ? view->n_sets : PLAN_SETS_MAX;

	if (st->plan == NULL || st->set != set || st->plan->n_sets != n_sets || st->os != view->os ||
	    st->release != view->release || st->name != view->name || st->host_labels != view->host_labels)
		return false;
	for (uint64_t left = st->plan->sets[updated].reads; left != 0; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);
		if (st->sets[i].shape != view->sets[i].shape || st->sets[i].sampler != view->sets[i].sampler)
			return false;
	}
	return true;
}

/* Brings the plan up to date and fills in what does not depend on rows. */
static int
prepare(struct evaluation *ev, const struct host_view *view, struct labels *labels, const struct rule_time *now)
{
	struct rule_state *st = ev->st;

	if (!plan_fits(st, ev->set, view, ev->updated)) {
		int err = state_bind(st, ev->set, view, labels, ev->updated, now->boot_ns);
		if (err != HIWAT_OK)
			return err;
	}
	struct state_set *s = &st->sets[ev->updated];
	ev->run.plan = st->plan;
	ev->run.state = st;
	ev->run.boot_seconds = (double)now->boot_ns / 1e9;
	ev->run.wall_seconds = (double)now->wall_ns / 1e9;
	ev->run.start = (struct window_start){ s->delivered, (double)s->good_ns / 1e9 };
	ev->lists = &st->plan->sets[ev->updated];
	for (uint64_t left = ev->lists->reads; left != 0; left &= left - 1) {
		unsigned i = (unsigned)__builtin_ctzll(left);
		/* A set that recovered counts as known from its own record on. */
		bool is_bad = view->sets[i].verdict != VERDICT_OK || (i != ev->updated && st->sets[i].is_bad);
		ev->bad |= (uint64_t)is_bad << i;
		ev->was_bad |= (uint64_t)st->sets[i].is_bad << i;
	}
	ev->gap = now->interval_ns != 0 && s->good_ns != 0 && now->boot_ns - s->good_ns > GAP_INTERVALS * now->interval_ns;
	return HIWAT_OK;
}

int
rules_eval(struct rule_set *set, struct rule_state *st, const struct host_view *view, struct labels *labels, size_t updated,
    const struct rule_time *now, void (*emit)(void *arg, const struct rule_event *event), void *arg)
{
	struct evaluation ev = { .set = set,
		.st = st,
		.updated = updated,
		.now_ns = now->boot_ns,
		.emit = emit,
		.arg = arg };

	if (updated >= view->n_sets || updated >= PLAN_SETS_MAX)
		return HIWAT_OK;
	ev.err = prepare(&ev, view, labels, now);
	if (ev.err != HIWAT_OK)
		return ev.err;
	struct state_set *s = &st->sets[updated];
	/* What is older than the newest record of the sampler has been judged. */
	if (s->last_ns != 0 && now->boot_ns <= s->last_ns)
		return HIWAT_OK;
	s->last_ns = now->boot_ns;
	if (view->sets[updated].verdict != VERDICT_OK) {
		mark_unknown(&ev);
		s->is_bad = true;
		return ev.err;
	}
	run_load(&ev.run, view, ev.lists->reads);
	run_windows(&ev.run, (uint32_t)updated);
	run_steps(&ev.run, &ev.lists->hot);
	eval_rows(&ev);
	mark_gone(&ev);
	s->is_bad = false;
	s->good_ns = now->boot_ns;
	s->delivered = true;
	return ev.err;
}

void
rules_each(const struct rule_set *set, const struct rule_state *st, void (*fn)(void *arg, const struct rule_event *event),
    void *arg)
{
	uint64_t bad = 0;
	struct rule_event e;

	for (uint32_t i = 0; i < st->n_sets && i < PLAN_SETS_MAX; i++)
		bad |= (uint64_t)st->sets[i].is_bad << i;
	for (uint32_t i = 0; i < st->n_live; i++) {
		const struct live *l = &st->live[i];
		live_describe(set, l, &e);
		if (l->row != NO_ROW && st->plan->rows[l->row].sets & bad)
			e.status = RULE_UNKNOWN;
		e.old_status = e.status;
		e.old_level = e.level;
		fn(arg, &e);
	}
	for (uint32_t i = 0; bad != 0 && st->plan != NULL && i < st->plan->n_rows; i++) {
		const struct plan_row *row = &st->plan->rows[i];
		if (!(row->sets & bad) || state_live(st, i) != NULL)
			continue;
		e = (struct rule_event){ .rule = &set->rules[row->rule].pub,
			.labels = row->labels,
			.object = row->object,
			.status = RULE_UNKNOWN,
			.old_status = RULE_UNKNOWN,
			.value = NAN,
			.threshold = NAN,
			.used = NAN,
			.limit = NAN,
			.seconds_to_limit = NAN };
		fn(arg, &e);
	}
}

unsigned
rule_objects(const struct rule_state *st, const struct rule *rule)
{
	unsigned n = 0;

	for (uint32_t i = 0; st->plan != NULL && i < st->plan->n_rows; i++)
		n += st->plan->rows[i].rule == rule->index;
	return n;
}
