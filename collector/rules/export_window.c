/* Functions over time as PromQL. */
#include "buf.h"
#include "export_promql.h"

#define SINCE_LAST "2m"                  /* irate() takes the last two samples of it */
#define COVERED_NS (600 * 1000000000ULL) /* longer windows are not full for long */
#define COVERED_STEP_NS (15 * 1000000000ULL)

/*
 * What grew within five minutes. A counter that is younger began at 0, where its host is older: increase() sees only what
 * two samples differ by. After an hour without it the same counter is a new one, to the engine too.
 */
static void
put_grows(struct promql *p, const struct node *x)
{
	struct label_names l;

	label_names_of(x, &l);
	label_names_add(&l, "sampler");
	buf_puts(p->out, "increase(");
	promql_put_selector(p, x);
	buf_puts(p->out, "[5m]) > 0 and ");
	promql_put_selector(p, x);
	buf_puts(p->out, " or (");
	promql_put_selector(p, x);
	buf_puts(p->out, " > 0 unless last_over_time(");
	promql_put_selector(p, x);
	buf_puts(p->out, "[1h] offset 5m) and ");
	promql_put_names(p, "ignoring", &l);
	buf_puts(p->out, " hiwat_sampler_up offset 5m)");
}

/* f(x[w]) of one series. A window outlives its series; the engine's rows do not. */
static void
put_over_time(struct promql *p, const struct node *n, const struct node *x)
{
	static const char *const functions[] = { [WINDOW_RATE] = "rate",
		[WINDOW_INCREASE] = "increase",
		[WINDOW_MAX] = "max_over_time",
		[WINDOW_MIN] = "min_over_time" };
	bool is_covered = n->kind == WINDOW_RATE && n->window_ns > COVERED_NS;

	if (n->kind == WINDOW_GROWS) {
		put_grows(p, x);
		return;
	}
	buf_printf(p->out, "%s(", n->kind == WINDOW_RATE_LAST ? "irate" : is_covered ? "increase" : functions[n->kind]);
	promql_put_selector(p, x);
	buf_putc(p->out, '[');
	if (n->kind == WINDOW_RATE_LAST)
		buf_puts(p->out, SINCE_LAST);
	else
		promql_put_duration(p->out, n->window_ns);
	buf_puts(p->out, "])");
	if (is_covered) {
		/* While the window is not full the rate is that of the time there is. */
		buf_puts(p->out, " / clamp_max(time() - min_over_time(timestamp(");
		promql_put_selector(p, x);
		buf_puts(p->out, ")[");
		promql_put_duration(p->out, n->window_ns);
		buf_putc(p->out, ':');
		promql_put_duration(p->out, COVERED_STEP_NS);
		buf_printf(p->out, "]), %llu)", (unsigned long long)(n->window_ns / 1000000000));
	}
	buf_puts(p->out, " and ");
	promql_put_selector(p, x);
}

void
promql_put_window(struct promql *p, const struct node *n, enum promql_binding needed)
{
	static const char *const reasons[] = {
		[WINDOW_ACTIVE] = "active() counts minutes of the host's clock; a subquery counts others",
		[WINDOW_DELTA] = "delta() looks back to the begin of a bucket, a sixth of the window further at most",
		[WINDOW_AVG] = "avg() over time weighs its six buckets alike, avg_over_time() weighs samples",
		[WINDOW_CHANGES] = "changes() counts in buckets, a sixth of the window longer at most",
		[WINDOW_TREND] =
		    "a trend is a median of slopes that no jump moves; deriv() and predict_linear() fit a line, "
		    "which one does",
	};
	const struct node *x = n->a;
	bool is_sum = x->op == NODE_AGGREGATE && x->kind == AGGREGATE_SUM && n->kind <= WINDOW_INCREASE;

	if (n->kind < sizeof(reasons) / sizeof(reasons[0]) && reasons[n->kind] != NULL) {
		promql_fail(p, "%s", reasons[n->kind]);
		return;
	}
	if (is_sum)
		x = x->a;
	if (x->op != NODE_SERIES || x->is_bare) {
		promql_fail(p, "a window over more than one series");
		return;
	}
	if (is_sum) {
		/* The increase of a sum is the sum of increases. */
		struct label_names all, dropped = { 0 };
		label_names_of(x, &all);
		for (unsigned i = 0; i < all.n; i++) {
			if (!label_list_has(&n->a->labels, all.names[i]))
				label_names_add(&dropped, all.names[i]);
		}
		promql_put_names(p, "sum without", &dropped);
		buf_puts(p->out, " (");
		put_over_time(p, n, x);
		buf_putc(p->out, ')');
		return;
	}
	bool parens = needed > (n->kind == WINDOW_GROWS ? BINDS_OR : BINDS_AND);
	buf_puts(p->out, parens ? "(" : "");
	put_over_time(p, n, x);
	buf_puts(p->out, parens ? ")" : "");
}
