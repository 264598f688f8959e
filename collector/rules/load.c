#include "load.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "buf.h"
#include "diag.h"
#include "err.h"
#include "yaml_tree.h"

#define SET_ARENA_MAX (64u << 20)
#define FILES_MAX 256

struct expr_place
load_place(const struct loading *ld, const struct yaml_node *node)
{
	struct expr_place place = { .file = node->file, .line = node->line, .column = node->column };
	const char *end = ld->text + ld->len, *p = node->line <= ld->n_lines ? ld->lines[node->line - 1] : end;

	if (!node->quoted || (size_t)(end - p) < node->column)
		return place;
	const char sign = p[node->column - 1];
	if (sign == '"' || sign == '\'') {
		place.column++;
		return place;
	}
	/* A block: its text begins on the next line that is not blank, behind the blanks. */
	for (place.line = node->line; p < end;) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		p = newline != NULL ? newline + 1 : end;
		place.line++;
		place.indent = (unsigned)strspn(p, " ");
		if (p + place.indent < end && p[place.indent] != '\n')
			break;
	}
	place.column = place.indent + 1;
	return place;
}

static int
read_file(const char *path, struct buf *out, struct diag *diag)
{
	FILE *f = fopen(path, "re");
	char chunk[8192];
	size_t n;

	if (f == NULL) {
		diag_add(diag, path, 0, 0, "cannot be read: %s", strerror(errno));
		return HIWAT_E_SYS;
	}
	while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0)
		buf_add(out, chunk, n);
	bool failed = ferror(f);
	fclose(f);
	if (failed) {
		diag_add(diag, path, 0, 0, "cannot be read");
		return HIWAT_E_SYS;
	}
	if (!buf_ok(out)) {
		diag_add(diag, path, 0, 0, "larger than %u bytes", YAML_BYTES_MAX);
		return HIWAT_E_CONFIG;
	}
	return HIWAT_OK;
}

/* What a rule file holds: one or more of these lists. */
static const struct list {
	const char *key;
	void (*load)(struct loading *ld, const struct yaml_node *node);
} lists[] = { { "settings", load_setting }, { "profiles", load_profile }, { "delivers", load_delivered },
	{ "rules", load_rule } };
#define N_LISTS (sizeof(lists) / sizeof(lists[0]))

static void
load_lists(struct loading *ld, const struct yaml_node *root)
{
	unsigned n = 0;

	for (const struct yaml_node *node = root->kind == YAML_MAPPING ? root->first : NULL; node != NULL;
	     node = node->next) {
		size_t i = 0;
		while (i < N_LISTS && strcmp(lists[i].key, node->key) != 0)
			i++;
		if (i == N_LISTS) {
			yaml_complain_key(ld->diag, node, "unknown key '%s'; allowed: rules, settings, profiles, delivers",
			    node->key);
			continue;
		}
		n++;
		if (node->kind != YAML_SEQUENCE)
			yaml_complain(ld->diag, node, "a list of %s was expected, not %s", node->key, yaml_kind_text(node));
		for (const struct yaml_node *e = node->kind == YAML_SEQUENCE ? node->first : NULL; e != NULL; e = e->next)
			lists[i].load(ld, e);
	}
	if (n == 0)
		yaml_complain(ld->diag, root, "'rules:' with a list of rules was expected");
}

/* Places of expressions are asked for by line; looking for each from the top would take longer than all the rest. */
static void
index_lines(struct loading *ld, struct arena *arena)
{
	const char *end = ld->text + ld->len;

	ld->n_lines = 0;
	for (const char *p = ld->text; p < end;) {
		const char **slot = arena_grow(arena, (void *)&ld->lines, ld->n_lines, sizeof(*slot));
		if (slot == NULL) {
			ld->is_out_of_memory = true;
			return;
		}
		*slot = p;
		ld->n_lines++;
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		p = newline != NULL ? newline + 1 : end;
	}
}

static void
load_text(struct loading *ld, const char *file)
{
	struct arena arena;
	struct yaml_node *root;

	arena_init(&arena, YAML_ARENA_MAX);
	int err = yaml_tree_parse(file, ld->text, ld->len, &arena, ld->diag, &root);
	if (err == HIWAT_E_NOMEM)
		ld->is_out_of_memory = true;
	if (err == HIWAT_OK)
		index_lines(ld, &arena);
	if (err == HIWAT_OK && !ld->is_out_of_memory)
		load_lists(ld, root);
	arena_fini(&arena);
}

static int
load_file(struct rule_set *set, const char *path, struct diag *diag)
{
	struct buf text;
	struct loading ld = { .set = set, .diag = diag };

	buf_init(&text, YAML_BYTES_MAX);
	int err = read_file(path, &text, diag);
	if (err == HIWAT_OK) {
		ld.text = buf_str(&text);
		ld.len = text.len;
		load_text(&ld, path);
		if (ld.is_out_of_memory)
			err = HIWAT_E_NOMEM;
	}
	buf_fini(&text);
	return err;
}

static int
compare_names(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

static bool
is_rule_file(const char *name)
{
	size_t len = strlen(name);

	return name[0] != '.' && len > 5 && strcmp(name + len - 5, ".yaml") == 0;
}

static int
load_directory(struct rule_set *set, const char *path, struct diag *diag)
{
	char *names[FILES_MAX];
	size_t n = 0;
	int err = HIWAT_OK;
	DIR *d = opendir(path);
	struct dirent *entry;

	if (d == NULL) {
		diag_add(diag, path, 0, 0, "cannot be read: %s", strerror(errno));
		return HIWAT_E_SYS;
	}
	while (err == HIWAT_OK && (entry = readdir(d)) != NULL) {
		if (!is_rule_file(entry->d_name))
			continue;
		size_t size = strlen(path) + strlen(entry->d_name) + 2;
		char *name = n < FILES_MAX ? malloc(size) : NULL;
		if (name == NULL) {
			diag_add(diag, path, 0, 0, "more than %d files, or out of memory", FILES_MAX);
			err = HIWAT_E_NOMEM;
			break;
		}
		snprintf(name, size, "%s/%s", path, entry->d_name);
		names[n++] = name;
	}
	closedir(d);
	if (err == HIWAT_OK && n == 0) {
		diag_add(diag, path, 0, 0, "no *.yaml in this directory");
		err = HIWAT_E_SYS;
	}
	qsort(names, n, sizeof(names[0]), compare_names);
	for (size_t i = 0; i < n; i++) {
		if (err == HIWAT_OK)
			err = load_file(set, names[i], diag);
		free(names[i]);
	}
	return err;
}

/* What of a host the conditions ask for decides which hosts can share a plan. */
static void
note_facts(struct rule_set *set)
{
	for (uint32_t i = 0; i < set->nodes.n; i++) {
		if (set->nodes.nodes[i]->op == NODE_TEXT)
			set->uses_fact[set->nodes.nodes[i]->kind] = true;
	}
}

static struct rule_set *
rule_set_new(void)
{
	struct rule_set *set = calloc(1, sizeof(*set));

	if (set != NULL) {
		arena_init(&set->arena, SET_ARENA_MAX);
		nodes_init(&set->nodes, &set->arena);
	}
	return set;
}

static int
finish(struct rule_set *set, int err, struct diag *diag, struct rule_set **out, struct buf *errors)
{
	if (err == HIWAT_OK && diag->n > 0)
		err = HIWAT_E_CONFIG;
	if (err == HIWAT_OK) {
		note_facts(set);
		*out = set;
	} else {
		if (errors != NULL)
			buf_puts(errors, diag_text(diag));
		rule_set_free(set);
	}
	diag_fini(diag);
	return err;
}

int
rule_set_load(const char *path, struct rule_set **out, struct buf *errors)
{
	struct rule_set *set = rule_set_new();
	struct diag diag;
	struct stat st;
	int err;

	if (set == NULL)
		return HIWAT_E_NOMEM;
	diag_init(&diag);
	if (stat(path, &st) != 0) {
		diag_add(&diag, path, 0, 0, "cannot be read: %s", strerror(errno));
		err = HIWAT_E_SYS;
	} else if (S_ISDIR(st.st_mode)) {
		err = load_directory(set, path, &diag);
	} else {
		err = load_file(set, path, &diag);
	}
	return finish(set, err, &diag, out, errors);
}

int
rule_set_parse(const char *file, const char *text, size_t len, struct rule_set **out, struct buf *errors)
{
	struct rule_set *set = rule_set_new();
	struct diag diag;

	if (set == NULL)
		return HIWAT_E_NOMEM;
	diag_init(&diag);
	struct loading ld = { .set = set, .diag = &diag, .text = text, .len = len };
	load_text(&ld, file);
	return finish(set, ld.is_out_of_memory ? HIWAT_E_NOMEM : HIWAT_OK, &diag, out, errors);
}

void
rule_set_free(struct rule_set *set)
{
	if (set == NULL)
		return;
	nodes_fini(&set->nodes);
	free(set->room.numbers);
	free(set->room.increases);
	free(set->room.due);
	arena_fini(&set->arena);
	free(set);
}

size_t
rule_set_count(const struct rule_set *set)
{
	return set->n_rules;
}

const struct rule *
rule_set_get(const struct rule_set *set, size_t index)
{
	return index < set->n_rules ? &set->rules[index].pub : NULL;
}

const struct rule *
rule_set_find(const struct rule_set *set, const char *id)
{
	for (uint32_t i = 0; i < set->n_rules; i++) {
		if (strcmp(set->rules[i].pub.id, id) == 0)
			return &set->rules[i].pub;
	}
	return NULL;
}

const char *
rule_level_word(enum rule_level level)
{
	static const char *const words[] = { "", "advice", "warning", "critical" };

	return words[level];
}

const char *
rule_status_word(enum rule_status status)
{
	static const char *const words[] = { "ok", "pending", "firing", "unknown", "not_applicable" };

	return words[status];
}
