#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arena.h"
#include "buf.h"
#include "diag.h"
#include "err.h"
#include "units.h"
#include "yaml_tree.h"

static struct arena arena;
static struct diag diag;

static void
setup(void)
{
	arena_init(&arena, YAML_ARENA_MAX);
	diag_init(&diag);
}

static void
teardown(void)
{
	arena_fini(&arena);
	diag_fini(&diag);
}

static int
parse(const char *text, struct yaml_node **root)
{
	return yaml_tree_parse("f.yaml", text, strlen(text), &arena, &diag, root);
}

START_TEST(tree_knows_places)
{
	struct yaml_node *root, *n;

	ck_assert_int_eq(parse("# head\na: 1\nb:\n  - x\n  - 'null'\n  - ~\nc: {d: \"q\\n\"}\n", &root), 0);
	ck_assert(root->kind == YAML_MAPPING && root->count == 3);
	n = yaml_get(root, "a");
	ck_assert_ptr_nonnull(n);
	ck_assert_str_eq(n->text, "1");
	ck_assert(!n->quoted && n->line == 2 && n->column == 4 && n->key_line == 2 && n->key_column == 1);
	ck_assert_str_eq(n->file, "f.yaml");
	n = yaml_get(root, "b");
	ck_assert(n->kind == YAML_SEQUENCE && n->count == 3);
	n = n->first;
	ck_assert_str_eq(n->text, "x");
	ck_assert(n->line == 4 && n->column == 5);
	n = n->next;
	ck_assert(n->quoted && !yaml_is_null(n));
	ck_assert(yaml_is_null(n->next));
	ck_assert_ptr_null(n->next->next);
	n = yaml_get(yaml_get(root, "c"), "d");
	ck_assert_str_eq(n->text, "q\n");
	ck_assert_ptr_null(yaml_get(root, "e"));
	ck_assert_ptr_null(yaml_get(n, "e"));
	yaml_complain(&diag, n, "is\n%s", yaml_kind_text(n));
	yaml_complain_key(&diag, n, "key");
	ck_assert_str_eq(diag_text(&diag), "f.yaml:7:8: is text\nf.yaml:7:5: key\n");
}
END_TEST

static const struct {
	const char *text, *complaint;
} refused_rows[] = {
	{ "a: &x 1\n", "f.yaml:1:4: anchors are not supported\n" },
	{ "a: *x\n", "f.yaml:1:4: aliases are not supported\n" },
	{ "a: &x {b: 1}\n", "f.yaml:1:4: anchors are not supported\n" },
	{ "a: !!str 1\n", "f.yaml:1:4: tags are not supported\n" },
	{ "a: !x [1]\n", "f.yaml:1:4: tags are not supported\n" },
	{ "a: 1\nb: 2\na: 3\n", "f.yaml:3:1: key \"a\" is given twice, first in line 1\n" },
	{ "{[1]: 2}\n", "f.yaml:1:2: a key must be plain text\n" },
	{ "a: \"x\\0y\"\n", "f.yaml:1:4: text with a NUL character\n" },
	{ "a: 1\n---\nb: 2\n", "f.yaml:2:1: only one document per file\n" },
	{ "a: [1\nb: 2\n", "f.yaml:2:2: did not find expected ',' or ']', while parsing a flow sequence\n" },
	{ "a: 1\n\tb: 2\n", "f.yaml:2:1: found a tab character that violates indentation, while scanning a plain scalar\n" },
	{ "a: \xff\n", "f.yaml:1:1: invalid leading UTF-8 octet at byte 3\n" },
};

START_TEST(tree_refuses)
{
	struct yaml_node *root = NULL;

	ck_assert_int_eq(parse(refused_rows[_i].text, &root), HIWAT_E_CONFIG);
	ck_assert_ptr_null(root);
	ck_assert_str_eq(diag_text(&diag), refused_rows[_i].complaint);
	ck_assert_uint_eq(diag.n, 1);
}
END_TEST

START_TEST(tree_of_nothing)
{
	static const char *const texts[] = { "", "\n", "# only\n", "---\n", "~\n", "\xef\xbb\xbf# bom\n" };

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct yaml_node *root = NULL;
		ck_assert_int_eq(parse(texts[i], &root), 0);
		ck_assert(root->kind == YAML_MAPPING && root->count == 0 && root->line == 1);
	}
}
END_TEST

START_TEST(tree_has_limits)
{
	struct yaml_node *root;
	struct buf text;

	buf_init(&text, YAML_BYTES_MAX + 100);
	for (int i = 0; i < YAML_DEPTH_MAX; i++)
		buf_putc(&text, '[');
	size_t opened = text.len;
	for (int i = 0; i < YAML_DEPTH_MAX; i++)
		buf_putc(&text, ']');
	ck_assert_int_eq(parse(buf_str(&text), &root), 0);
	text.data[opened] = '[';
	ck_assert_int_eq(parse(buf_str(&text), &root), HIWAT_E_CONFIG);
	buf_reset(&text);
	for (int i = 0; i < 200000; i++)
		buf_putc(&text, '[');
	ck_assert_int_eq(parse(buf_str(&text), &root), HIWAT_E_CONFIG);
	buf_reset(&text);
	for (int i = 0; i < YAML_NODES_MAX; i++)
		buf_puts(&text, "- 1\n");
	ck_assert_int_eq(parse(buf_str(&text), &root), HIWAT_E_CONFIG);
	text.len -= 4;
	ck_assert_int_eq(yaml_tree_parse("f", text.data, text.len, &arena, &diag, &root), 0);
	buf_reset(&text);
	for (int i = 0; i <= YAML_KEYS_MAX; i++)
		buf_printf(&text, "k%d: 1\n", i);
	ck_assert_int_eq(parse(buf_str(&text), &root), HIWAT_E_CONFIG);
	buf_reset(&text);
	while (text.len <= YAML_BYTES_MAX)
		buf_puts(&text, "# a comment that fills the file\n");
	ck_assert_int_eq(parse(buf_str(&text), &root), HIWAT_E_CONFIG);
	buf_fini(&text);
}
END_TEST

START_TEST(tree_without_memory)
{
	struct arena small;
	struct yaml_node *root = NULL;

	for (size_t limit = 1; limit < 900; limit += 16) {
		arena_init(&small, limit);
		ck_assert_int_eq(yaml_tree_parse("f", "a: [b, {c: d}]\n", 15, &small, &diag, &root), HIWAT_E_NOMEM);
		ck_assert_ptr_null(root);
		arena_fini(&small);
		if (limit > 400)
			break;
	}
	ck_assert(strstr(diag_text(&diag), "out of memory") != NULL);
}
END_TEST

START_TEST(tree_from_file)
{
	char path[] = "/tmp/hiwat-yaml-XXXXXX";
	struct yaml_node *root;

	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, "a: b\n", 5), 5);
	close(fd);
	ck_assert_int_eq(yaml_tree_load(path, &arena, &diag, &root), 0);
	ck_assert_str_eq(yaml_get(root, "a")->text, "b");
	unlink(path);
	ck_assert_int_eq(yaml_tree_load(path, &arena, &diag, &root), HIWAT_E_SYS);
	ck_assert(strstr(diag_text(&diag), "cannot be read: No such file") != NULL);
	ck_assert_int_eq(yaml_tree_load("/", &arena, &diag, &root), HIWAT_E_SYS);
}
END_TEST

START_TEST(diag_is_bounded)
{
	for (unsigned i = 0; i < DIAG_LINES_MAX + 7; i++)
		diag_add(&diag, "f", i + 1, 1, "bad");
	const char *text = diag_text(&diag);
	ck_assert(strstr(text, "\nf:100:1: bad\nand 7 more\n") != NULL);
	ck_assert(strstr(text, "f:101:") == NULL);
}
END_TEST

static const struct {
	const char *text;
	bool is_size;
	int err;
	uint64_t value;
	const char *written;
} unit_rows[] = {
	{ "10s", false, 0, 10000, "10s" },
	{ "0", false, 0, 0, "0" },
	{ "500ms", false, 0, 500, "500ms" },
	{ "90m", false, 0, 5400000, "1h30m" },
	{ "1h30m", false, 0, 5400000, "1h30m" },
	{ "2w1ms", false, 0, 1209600001, "2w1ms" },
	{ "10", false, HIWAT_E_FORMAT, 0, NULL },
	{ "", false, HIWAT_E_FORMAT, 0, NULL },
	{ "1m1h", false, HIWAT_E_FORMAT, 0, NULL },
	{ "1s1s", false, HIWAT_E_FORMAT, 0, NULL },
	{ "1 s", false, HIWAT_E_FORMAT, 0, NULL },
	{ "-1s", false, HIWAT_E_FORMAT, 0, NULL },
	{ "1.5s", false, HIWAT_E_FORMAT, 0, NULL },
	{ "10sec", false, HIWAT_E_FORMAT, 0, NULL },
	{ "18446744073709551615ms", false, 0, UINT64_MAX, NULL },
	{ "18446744073709552s", false, HIWAT_E_RANGE, 0, NULL },
	{ "18446744073709551s616ms", false, HIWAT_E_RANGE, 0, NULL },
	{ "64MiB", true, 0, 67108864, "64MiB" },
	{ "4096", true, 0, 4096, "4KiB" },
	{ "1000", true, 0, 1000, "1000" },
	{ "12B", true, 0, 12, "12" },
	{ "2TiB", true, 0, 2ULL << 40, "2TiB" },
	{ "0", true, 0, 0, "0" },
	{ "1MB", true, HIWAT_E_FORMAT, 0, NULL },
	{ "MiB", true, HIWAT_E_FORMAT, 0, NULL },
	{ "1KiB1", true, HIWAT_E_FORMAT, 0, NULL },
	{ "16777216TiB", true, HIWAT_E_RANGE, 0, NULL },
};

START_TEST(units_read_and_write)
{
	struct buf out;
	uint64_t value = 0;

	struct text t = text_of(unit_rows[_i].text);
	int err = unit_rows[_i].is_size ? units_parse_size(t, &value) : units_parse_duration(t, &value);
	ck_assert_int_eq(err, unit_rows[_i].err);
	ck_assert_uint_eq(value, unit_rows[_i].value);
	if (unit_rows[_i].written == NULL)
		return;
	buf_init(&out, 100);
	if (unit_rows[_i].is_size)
		units_put_size(&out, value);
	else
		units_put_duration(&out, value);
	ck_assert_str_eq(buf_str(&out), unit_rows[_i].written);
	buf_fini(&out);
}
END_TEST

static Suite *
make_suite(void)
{
	Suite *s = suite_create("yaml_tree");
	TCase *tc = tcase_create("all");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, tree_knows_places);
	tcase_add_loop_test(tc, tree_refuses, 0, ARRAY_LEN(refused_rows));
	tcase_add_test(tc, tree_of_nothing);
	tcase_add_test(tc, tree_has_limits);
	tcase_add_test(tc, tree_without_memory);
	tcase_add_test(tc, tree_from_file);
	tcase_add_test(tc, diag_is_bounded);
	tcase_add_loop_test(tc, units_read_and_write, 0, ARRAY_LEN(unit_rows));
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(make_suite)
