/* Lives of incidents: rows of steps under a fake clock, and what the routes are told. */
#include "unit.h"

#include <string.h>

#include "alert_fixture.h"

enum op { END, W, C, A, CLEAR, BLIND, GONE, TICK, ACK, GIVE_BACK, CLOSE, RESTART, LATE_C, LATE_CLEAR, BACKLOG_DONE };

struct step {
	uint64_t at; /* seconds */
	enum op op;
	unsigned rule;
	uint64_t sequence; /* of the batch; steps of one batch follow each other; 0: none */
};

static void
do_step(const struct step *s)
{
	switch (s->op) {
	case W:
		event(s->rule, RULE_FIRING, RULE_LEVEL_WARNING, false, false, s->sequence);
		break;
	case C:
		event(s->rule, RULE_FIRING, RULE_LEVEL_CRITICAL, false, false, s->sequence);
		break;
	case A:
		event(s->rule, RULE_FIRING, RULE_LEVEL_ADVICE, false, false, s->sequence);
		break;
	case CLEAR:
		event(s->rule, RULE_OK, RULE_LEVEL_NONE, false, false, s->sequence);
		break;
	case BLIND:
		event(s->rule, RULE_UNKNOWN, RULE_LEVEL_WARNING, false, false, s->sequence);
		break;
	case GONE:
		event(s->rule, RULE_FIRING, RULE_LEVEL_WARNING, true, false, s->sequence);
		break;
	case TICK:
		ck_assert_int_eq(alerts_tick(alerts, START + now_s * NSEC_PER_SEC), 0);
		break;
	case ACK:
		ck_assert_int_eq(alerts_acknowledge(alerts, incidents().mbuf->key, "ann", START + now_s * NSEC_PER_SEC), 0);
		break;
	case GIVE_BACK:
		ck_assert_int_eq(alerts_give_back(alerts, incidents().mbuf->key, START + now_s * NSEC_PER_SEC), 0);
		break;
	case CLOSE:
		ck_assert_int_eq(alerts_close(alerts, incidents().mbuf->key, "ann", START + now_s * NSEC_PER_SEC), 0);
		break;
	case RESTART:
		close_all();
		open_all();
		break;
	case LATE_C:
		event(s->rule, RULE_FIRING, RULE_LEVEL_CRITICAL, false, true, s->sequence);
		break;
	case LATE_CLEAR:
		event(s->rule, RULE_OK, RULE_LEVEL_NONE, false, true, s->sequence);
		break;
	case BACKLOG_DONE:
		alerts_backlog_done(alerts, (const uint8_t[16]){ 1, 2, 3 });
		break;
	case END:
		break;
	}
}

static const struct {
	const char *name;
	struct step steps[40];
	const char *told; /* all that the routes were told, in order */
} lives[] = {
	{ "opened and resolved", { { 0, W, FILLING, 1 }, { 300, CLEAR, FILLING, 2 } },
	    " all:trigger/warning all:resolve/warning" },
	{ "one page whatever fires",
	    { { 0, W, FILLING, 1 }, { 0, C, EXHAUSTED, 1 }, { 0, C, DENIED, 1 }, { 9, C, DENIED, 2 },
		{ 60, CLEAR, DENIED, 3 } },
	    " all:trigger/critical page:trigger/critical" },
	{ "one page when it fills step by step",
	    { { 0, W, FILLING, 1 }, { 30, C, EXHAUSTED, 2 }, { 40, C, DENIED, 3 }, { 50, CLEAR, EXHAUSTED, 4 },
		{ 700, CLEAR, DENIED, 5 }, { 800, CLEAR, FILLING, 6 } },
	    " all:trigger/warning all:escalate/critical page:trigger/critical all:update/warning all:resolve/warning"
	    " page:resolve/warning" },
	{ "advice is never told", { { 0, A, FILLING, 1 }, { 9000, TICK, 0, 0 }, { 9900, CLEAR, FILLING, 2 } }, "" },
	{ "fallen to advice is over", { { 0, A, EXHAUSTED, 1 }, { 9000, W, FILLING, 2 }, { 9900, CLEAR, FILLING, 3 } },
	    " all:trigger/warning all:resolve/advice" },
	{ "back within the grace time", { { 0, C, FILLING, 1 }, { 60, CLEAR, FILLING, 2 }, { 359, C, FILLING, 3 } },
	    " all:trigger/critical page:trigger/critical all:resolve/critical page:resolve/critical all:trigger/critical"
	    " page:trigger/critical" },
	{ "rising again soon is an update only",
	    { { 0, C, FILLING, 1 }, { 60, W, FILLING, 2 }, { 100, TICK, 0, 0 }, { 200, C, FILLING, 3 } },
	    " all:trigger/critical page:trigger/critical all:update/warning" },
	{ "rising again late escalates",
	    { { 0, C, FILLING, 1 }, { 60, W, FILLING, 2 }, { 400, TICK, 0, 0 }, { 500, C, FILLING, 3 } },
	    " all:trigger/critical page:trigger/critical all:update/warning all:escalate/critical page:escalate/critical" },
	{ "blind keeps firing",
	    { { 0, W, FILLING, 1 }, { 60, BLIND, FILLING, 2 }, { 90, BLIND, FILLING, 3 }, { 120, W, FILLING, 4 } },
	    " all:trigger/warning all:update/warning all:update/warning" },
	{ "gone keeps firing until it is well",
	    { { 0, W, FILLING, 1 }, { 60, GONE, FILLING, 2 }, { 9000, CLEAR, FILLING, 4 } },
	    " all:trigger/warning all:update/warning all:resolve/warning" },
	{ "gone and closed by a person", { { 0, W, FILLING, 1 }, { 60, GONE, FILLING, 2 }, { 90, CLOSE, 0, 0 } },
	    " all:trigger/warning all:update/warning all:resolve/warning" },
	{ "repeats until acknowledged",
	    { { 0, C, FILLING, 1 }, { 3599, TICK, 0, 0 }, { 3600, TICK, 0, 0 }, { 3601, TICK, 0, 0 }, { 7300, TICK, 0, 0 },
		{ 14400, TICK, 0, 0 }, { 14500, ACK, 0, 0 }, { 40000, TICK, 0, 0 } },
	    " all:trigger/critical page:trigger/critical all:repeat/critical all:repeat/critical all:repeat/critical"
	    " page:repeat/critical all:acknowledge/critical" },
	{ "a restart repeats nothing and forgets nothing",
	    { { 0, C, FILLING, 1 }, { 3600, TICK, 0, 0 }, { 3601, RESTART, 0, 0 }, { 3602, TICK, 0, 0 },
		{ 7199, TICK, 0, 0 }, { 7200, RESTART, 0, 0 }, { 7201, TICK, 0, 0 }, { 7202, CLEAR, FILLING, 2 },
		{ 7203, RESTART, 0, 0 }, { 7204, C, FILLING, 3 } },
	    " all:trigger/critical page:trigger/critical all:repeat/critical all:repeat/critical all:resolve/critical"
	    " page:resolve/critical all:trigger/critical page:trigger/critical" },
	{ "escalation takes the acknowledgement back",
	    { { 0, W, FILLING, 1 }, { 10, ACK, 0, 0 }, { 3700, TICK, 0, 0 }, { 3800, C, FILLING, 2 }, { 7500, TICK, 0, 0 } },
	    " all:trigger/warning all:acknowledge/warning all:escalate/critical page:trigger/critical all:repeat/critical" },
	{ "given back, it is told again",
	    { { 0, W, FILLING, 1 }, { 10, ACK, 0, 0 }, { 20, GIVE_BACK, 0, 0 }, { 3700, TICK, 0, 0 } },
	    " all:trigger/warning all:acknowledge/warning all:repeat/warning" },
	{ "batches that the store holds change nothing",
	    { { 0, C, FILLING, 5 }, { 60, CLEAR, FILLING, 6 }, { 61, RESTART, 0, 0 }, { 62, C, FILLING, 5 },
		{ 63, CLEAR, FILLING, 6 }, { 64, TICK, 0, 0 } },
	    " all:trigger/critical page:trigger/critical all:resolve/critical page:resolve/critical" },
	{ "told again what is known already",
	    { { 0, C, FILLING, 5 }, { 1, RESTART, 0, 0 }, { 2, C, FILLING, 6 }, { 3, C, FILLING, 7 }, { 4, TICK, 0, 0 } },
	    " all:trigger/critical page:trigger/critical" },
	{ "flapping is held back",
	    { { 0, W, FILLING, 1 }, { 60, CLEAR, FILLING, 2 }, { 120, W, FILLING, 3 }, { 180, CLEAR, FILLING, 4 },
		{ 240, W, FILLING, 5 }, { 300, CLEAR, FILLING, 6 }, { 360, W, FILLING, 7 }, { 420, CLEAR, FILLING, 8 },
		{ 480, W, FILLING, 9 }, { 540, CLEAR, FILLING, 10 }, { 600, W, FILLING, 11 }, { 700, TICK, 0, 0 },
		/* Half an hour after the last: how things stand. It counts as told then. */
		{ 2099, TICK, 0, 0 }, { 2100, TICK, 0, 0 }, { 2160, CLEAR, FILLING, 12 }, { 3899, TICK, 0, 0 },
		{ 3900, TICK, 0, 0 } },
	    " all:trigger/warning all:resolve/warning all:trigger/warning all:resolve/warning all:trigger/warning"
	    " all:resolve/warning all:trigger/warning all:resolve/warning" },
	{ "a silent host speaks of nothing else",
	    { { 0, W, FILLING, 1 }, { 60, C, SILENT, 0 }, { 70, C, EXHAUSTED, 0 }, { 80, C, PF, 0 }, { 3700, TICK, 0, 0 },
		{ 3800, CLEAR, PF, 0 }, { 3900, CLEAR, SILENT, 0 } },
	    " all:trigger/warning all:trigger/critical page:trigger/critical all:repeat/critical all:resolve/critical"
	    " all:escalate/critical page:resolve/critical page:trigger/critical" },
	{ "gives a host up after 30 days",
	    { { 0, W, FILLING, 1 }, { 60, C, SILENT, 0 }, { 60, TICK, 0, 0 }, { 61, RESTART, 0, 0 },
		{ 60 + 30 * DAY + 1, TICK, 0, 0 }, { 31 * DAY, TICK, 0, 0 } },
	    " all:trigger/warning all:trigger/critical page:trigger/critical all:resolve/critical all:resolve/warning"
	    " page:resolve/critical" },
	{ "an outage is told once",
	    { { 0, C, SILENT, 0 }, { 600, CLEAR, SILENT, 0 }, { 100, LATE_C, EXHAUSTED, 11 }, { 200, LATE_C, PF, 12 },
		{ 300, LATE_CLEAR, EXHAUSTED, 13 }, { 601, TICK, 0, 0 }, { 602, RESTART, 0, 0 },
		{ 300, LATE_CLEAR, EXHAUSTED, 13 }, { 320, LATE_C, EXHAUSTED, 14 }, { 340, LATE_CLEAR, EXHAUSTED, 15 },
		{ 610, TICK, 0, 0 }, { 1199, TICK, 0, 0 }, { 1203, TICK, 0, 0 }, { 1204, RESTART, 0, 0 },
		{ 1300, TICK, 0, 0 }, { 320, LATE_C, EXHAUSTED, 14 }, { 2000, TICK, 0, 0 } },
	    " all:trigger/critical page:trigger/critical all:resolve/critical page:resolve/critical all:was/critical"
	    " page:was/critical" },
	{ "an outage is told when its backlog is there",
	    { { 0, LATE_C, EXHAUSTED, 11 }, { 10, LATE_CLEAR, EXHAUSTED, 12 }, { 300, TICK, 0, 0 },
		{ 301, BACKLOG_DONE, 0, 0 }, { 302, TICK, 0, 0 }, { 1000, TICK, 0, 0 } },
	    " all:was/critical page:was/critical" },
	{ "backlog of what was told before is not news",
	    { { 0, C, EXHAUSTED, 20 }, { 30, LATE_C, EXHAUSTED, 10 }, { 40, LATE_CLEAR, EXHAUSTED, 11 },
		{ 600, TICK, 0, 0 } },
	    " all:trigger/critical page:trigger/critical" },
	{ "warnings of the backlog are history", { { 0, TICK, 0, 0 }, { 10, LATE_CLEAR, PF, 10 }, { 600, TICK, 0, 0 } },
	    "" },
};

START_TEST(life)
{
	const struct step *s = lives[_i].steps;
	uint64_t latest = 0;

	for (; s->op != END; s++) {
		now_s = s->at;
		do_step(s);
		/* The end of a batch. */
		if (s[1].op == END || s[1].sequence != s->sequence || s->sequence == 0) {
			ck_assert_int_eq(alerts_commit(alerts), 0);
			latest = now_s > latest ? now_s : latest;
			now_s = latest;
			collect();
		}
	}
	ck_assert_msg(strcmp(buf_str(&told), lives[_i].told) == 0, "%s: told%s", lives[_i].name, buf_str(&told));
}
END_TEST

static Suite *
alert_suite(void)
{
	Suite *s = suite_create("alert");
	TCase *t = tcase_create("alert");

	tcase_set_timeout(t, 60);
	tcase_add_checked_fixture(t, alert_setup, alert_teardown);
	tcase_add_loop_test(t, life, 0, ARRAY_LEN(lives));
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(alert_suite)
