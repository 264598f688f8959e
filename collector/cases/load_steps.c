/* Saved outputs and batches with their edits; what happens to the hosts of a fleet. */
#include "load_steps.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "buf.h"
#include "err.h"
#include "scan.h"

#define STEP_KEYS "at, sampler, kind, os, file, text, replace, append, batch, verdict"
#define EVENT_KEYS "at, hosts, silent, clock, twin, unknown_lines"
#define INPUT_MAX (64u << 20)

/* A file beside the case file. */
static bool
read_beside(struct loading_case *ld, const struct yaml_node *node, struct buf *out)
{
	const char *slash = strrchr(ld->path, '/');
	char path[4096];
	int n = snprintf(path, sizeof(path), "%.*s%s",
	    node->text[0] == '/' || slash == NULL ? 0 : (int)(slash - ld->path + 1), ld->path, node->text);
	FILE *f = n > 0 && (size_t)n < sizeof(path) ? fopen(path, "re") : NULL;

	if (f == NULL) {
		yaml_complain(ld->diag, node, "%s: %s", path, strerror(errno));
		return false;
	}
	int err = buf_read(out, f);
	fclose(f);
	if (err != HIWAT_OK)
		yaml_complain(ld->diag, node, "%s: %s", path, err == HIWAT_E_SYS ? strerror(errno) : err_text(err));
	return err == HIWAT_OK;
}

/* Each old text must stand there once: what the case means to change is then beyond doubt. */
static void
replace(struct loading_case *ld, const struct yaml_node *edit, struct buf *bytes)
{
	struct text all = { buf_str(bytes), bytes->len };
	struct buf out;

	if (edit->kind != YAML_SCALAR) {
		yaml_complain(ld->diag, edit, "\"old text\": \"new text\" was expected");
		return;
	}
	long at = text_find(all, edit->key);
	size_t old = strlen(edit->key);
	if (at < 0 || old == 0) {
		yaml_complain_key(ld->diag, edit, "'%s' does not occur in the input", edit->key);
		return;
	}
	struct text rest = { all.p + at + old, all.n - (size_t)at - old };
	if (text_find(rest, edit->key) >= 0) {
		yaml_complain_key(ld->diag, edit, "'%s' occurs more than once in the input; more of the line makes it one",
		    edit->key);
		return;
	}
	buf_init(&out, INPUT_MAX);
	buf_add(&out, all.p, (size_t)at);
	buf_puts(&out, edit->text);
	buf_add(&out, rest.p, rest.n);
	buf_reset(bytes);
	buf_add(bytes, buf_str(&out), out.len);
	buf_fini(&out);
}

static void
load_bytes(struct loading_case *ld, const struct yaml_node *node, struct case_step *s)
{
	const struct yaml_node *file = yaml_get(node, s->kind == CASE_BATCH ? "batch" : "file");
	const struct yaml_node *edits = yaml_get(node, "replace");
	struct buf bytes;

	buf_init(&bytes, INPUT_MAX);
	if (file != NULL && file->kind == YAML_SCALAR)
		read_beside(ld, file, &bytes);
	else
		buf_puts(&bytes, load_text(ld, node, s->kind == CASE_BATCH ? "batch" : "text", ""));
	for (const struct yaml_node *e = edits != NULL ? edits->first : NULL; e != NULL; e = e->next)
		replace(ld, e, &bytes);
	buf_puts(&bytes, load_text(ld, node, "append", ""));
	if (bytes.len == 0 && ld->diag->n == 0)
		yaml_complain(ld->diag, node, "the input is empty");
	char *copy = load_alloc(ld, bytes.len + 1, 1);
	if (copy != NULL)
		memcpy(copy, buf_str(&bytes), bytes.len);
	s->bytes = copy;
	s->len = bytes.len;
	buf_fini(&bytes);
}

static void
load_step(struct loading_case *ld, const struct yaml_node *node, struct case_step *s)
{
	*s = (struct case_step){ .node = node };
	if (!load_keys(ld, node, STEP_KEYS))
		return;
	const char *verdict = load_text(ld, node, "verdict", NULL);
	bool is_batch = yaml_get(node, "batch") != NULL;
	bool is_text = yaml_get(node, "file") != NULL || yaml_get(node, "text") != NULL;

	s->at = load_seconds(ld, node, "at", "0s");
	s->sampler = load_text(ld, node, "sampler", CASE_SAMPLER);
	s->parser = load_text(ld, node, "kind", NULL);
	s->os = load_text(ld, node, "os", NULL);
	if ((verdict != NULL) + is_batch + is_text != 1 || (is_text && s->parser == NULL)) {
		yaml_complain(ld->diag, node, "one of these was expected: kind with file or text; batch; verdict");
		return;
	}
	if (verdict != NULL) {
		s->kind = CASE_VERDICT;
		s->verdict = verdict_of(verdict);
		if (s->verdict == VERDICT_FAILED && strcmp(verdict, verdict_word(VERDICT_FAILED)) != 0)
			yaml_complain(ld->diag, yaml_get(node, "verdict"),
			    "no verdict '%s'; allowed: ok, denied, missing, timeout, truncated, implausible, "
			    "unknown_format, "
			    "failed",
			    verdict);
		return;
	}
	s->kind = is_batch ? CASE_BATCH : CASE_TEXT;
	if (is_batch)
		s->sampler = NULL;
	load_bytes(ld, node, s);
}

void
load_steps(struct loading_case *ld, const struct yaml_node *map)
{
	struct rule_case *c = ld->c;
	unsigned count;
	const struct yaml_node *n = load_list(ld, map, "input", &count);

	c->steps = load_alloc(ld, count, sizeof(*c->steps));
	for (; n != NULL && c->steps != NULL; n = n->next)
		load_step(ld, n, &c->steps[c->n_steps++]);
}

/* "3" or "2-5". */
static bool
host_range(const char *text, unsigned max, struct case_event *e)
{
	struct text t = text_of(text);
	uint64_t first, last;

	if (text_u64(&t, &first) != HIWAT_OK)
		return false;
	last = first;
	if (text_skip(&t, "-") && text_u64(&t, &last) != HIWAT_OK)
		return false;
	e->first = (unsigned)first;
	e->last = (unsigned)last;
	return t.n == 0 && first >= 1 && first <= last && last <= max;
}

static int
load_switch(struct loading_case *ld, const struct yaml_node *node, const char *key)
{
	const char *word = load_text(ld, node, key, NULL);

	if (word == NULL)
		return -1;
	if (strcmp(word, "yes") != 0 && strcmp(word, "no") != 0)
		yaml_complain(ld->diag, yaml_get(node, key), "'%s': yes or no was expected", word);
	return strcmp(word, "yes") == 0;
}

static void
load_event(struct loading_case *ld, const struct yaml_node *node, struct case_event *e)
{
	*e = (struct case_event){ .node = node };
	if (!load_keys(ld, node, EVENT_KEYS))
		return;
	e->at = load_seconds(ld, node, "at", "0s");
	if (!host_range(load_text(ld, node, "hosts", ""), ld->c->n_hosts, e))
		yaml_complain(ld->diag, node, "'hosts' must be a number or a range such as 2-5, of 1 to %u", ld->c->n_hosts);
	e->silent = load_switch(ld, node, "silent");
	e->twin = load_switch(ld, node, "twin");
	const struct yaml_node *n = yaml_get(node, "clock");
	if (n != NULL) {
		e->has_clock = n->kind == YAML_SCALAR && text_is_double(text_of(n->text), &e->clock);
		if (!e->has_clock)
			yaml_complain(ld->diag, n, "seconds that the clock is ahead were expected");
	}
	if ((n = yaml_get(node, "unknown_lines")) != NULL)
		load_number(ld, n, 10000, &e->unknown_lines);
}

void
load_fleet(struct loading_case *ld, const struct yaml_node *map)
{
	struct rule_case *c = ld->c;
	const struct yaml_node *hosts = yaml_get(map, "hosts");
	unsigned count;
	const struct yaml_node *n = load_list(ld, map, "fleet", &count);

	if (hosts != NULL && load_number(ld, hosts, CASE_HOSTS_MAX, &c->n_hosts) &&
	    (c->n_series > 0 || c->n_steps > 0 || c->rule == NULL))
		yaml_complain(ld->diag, hosts,
		    "a case of several hosts has a rule and a fleet, no series, settings and input");
	c->events = load_alloc(ld, count, sizeof(*c->events));
	for (; n != NULL && c->events != NULL; n = n->next)
		load_event(ld, n, &c->events[c->n_events++]);
}
