/*
 * rule_set_parse() under libFuzzer: refused with a reason, or rules that can be evaluated, rendered, saved and loaded.
 * Input that is no rule file is taken as one expression.
 */
#include <stdlib.h>
#include <string.h>

#include "audit.h"
#include "buf.h"
#include "err.h"
#include "rule_host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
put_finding(void *arg, const struct audit_finding *finding)
{
	struct buf line;

	(void)arg;
	buf_init(&line, 4096);
	audit_put(finding, &line);
	buf_fini(&line);
}

static void
evaluate(struct rule_set *set)
{
	static struct rule_host h;
	static const char *const series[] = { "hiwat_pf_states", "hiwat_pf_limit{pool=\"states\"}",
		"hiwat_mbuf_pool_in_use{pool=\"cluster\"}", "hiwat_mbuf_pool_limit{pool=\"cluster\"}",
		"hiwat_listen_overflows_total", "hiwat_disk_timeouts_total{device=\"ad0\",operation=\"READ\"}",
		"hiwat_sysctl{index=\"\",name=\"kern.hz\"}" };
	struct buf out;

	buf_init(&out, 1 << 20);
	rule_host_init(&h, set, "freebsd");
	for (int tick = 1; tick < 6; tick++) {
		size_t s = rule_host_begin(&h, "test");
		for (size_t i = 0; i < sizeof(series) / sizeof(series[0]); i++) {
			if (!rule_host_put(&h, s, series[i], (double)tick * (double)i))
				abort();
		}
		if (rule_host_eval(&h, s, 60.0 * tick, 60, VERDICT_OK) != HIWAT_OK)
			abort();
		for (unsigned e = 0; e < h.n_events; e++) {
			buf_reset(&out);
			if (rule_render(h.events[e].rule->summary, &h.events[e], &h.view, &out) == HIWAT_E_CONFIG)
				abort();
		}
	}
	/* Every profile at once. */
	buf_reset(&out);
	for (size_t i = 0; i < profile_count(set); i++)
		buf_printf(&out, "%s ", profile_get(set, i)->id);
	audit_run(set, &h.view, buf_str(&out), put_finding, &h);
	buf_reset(&out);
	struct rule_state *again = rule_state_new();
	if (again == NULL || rule_state_save(set, h.state, h.labels, &out) != HIWAT_OK ||
	    rule_state_load(set, again, h.labels, buf_str(&out), out.len) != HIWAT_OK)
		abort();
	rule_state_free(again);
	rule_host_fini(&h);
	buf_fini(&out);
}

static bool
is_rule_file(const uint8_t *data, size_t size)
{
	static const char *const keys[] = { "rules:", "settings:", "profiles:", "delivers:" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (size >= strlen(keys[i]) && memcmp(data, keys[i], strlen(keys[i])) == 0)
			return true;
	}
	return false;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char head[] = "rules:\n- {id: x, cause: x, threshold_source: ours, reason: r, summary: s, warning: '";
	struct rule_set *set = NULL;
	struct buf text, errors;

	buf_init(&text, 1 << 20);
	buf_init(&errors, 1 << 20);
	/* What is no rule file is tried as an expression, so that the fuzzer need not learn YAML first. */
	if (!is_rule_file(data, size)) {
		buf_puts(&text, head);
		for (size_t i = 0; i < size && i < 5000; i++) {
			if (data[i] == '\'')
				buf_putc(&text, '\'');
			buf_putc(&text, (char)data[i]);
		}
		buf_puts(&text, "'}\n");
	} else {
		buf_add(&text, data, size);
	}
	int err = rule_set_parse("fuzz", buf_str(&text), text.len, &set, &errors);
	if (err == HIWAT_OK) {
		evaluate(set);
		rule_set_free(set);
	} else if (errors.len == 0 && err != HIWAT_E_NOMEM) {
		abort();
	}
	buf_fini(&text);
	buf_fini(&errors);
	return 0;
}
