/* Every query of every dashboard names only metrics that exist. */
#include "unit.h"

#include <ctype.h>
#include <glob.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "catalogue.h"

static char own[1 << 18]; /* the source that writes the collector's own metrics */
static unsigned n_queries;

static void
check_names(const char *file, const char *query)
{
	char quoted[130];

	n_queries++;
	for (const char *at = query; (at = strstr(at, "hiwat_")) != NULL;) {
		size_t n = 0;
		while (isalnum((unsigned char)at[n]) || at[n] == '_')
			n++;
		ck_assert_uint_lt(n, 120);
		snprintf(quoted, sizeof(quoted), "\"%.*s\"", (int)n, at);
		ck_assert_msg(catalogue_find(at, n) >= 0 || strstr(own, quoted) != NULL, "%s: no metric %s", file, quoted);
		at += n;
	}
}

static void
visit(const char *file, json_t *node)
{
	const char *key;
	json_t *child;
	size_t i;

	if (json_is_object(node)) {
		json_object_foreach (node, key, child) {
			if ((strcmp(key, "expr") == 0 || strcmp(key, "query") == 0) && json_is_string(child))
				check_names(file, json_string_value(child));
			visit(file, child);
		}
	} else if (json_is_array(node)) {
		json_array_foreach (node, i, child)
			visit(file, child);
	}
}

START_TEST(names_exist)
{
	glob_t files;
	FILE *f = fopen(TEST_DATA "/../collector/metrics.c", "r");

	ck_assert_ptr_nonnull(f);
	own[fread(own, 1, sizeof(own) - 1, f)] = '\0';
	fclose(f);
	ck_assert_int_eq(glob(TEST_DATA "/../dashboards/*.json", 0, NULL, &files), 0);
	for (size_t i = 0; i < files.gl_pathc; i++) {
		json_error_t where;
		json_t *board = json_load_file(files.gl_pathv[i], JSON_REJECT_DUPLICATES, &where);
		ck_assert_msg(board != NULL, "%s:%d: %s", files.gl_pathv[i], where.line, where.text);
		ck_assert_ptr_nonnull(json_object_get(board, "uid"));
		ck_assert_ptr_null(json_object_get(board, "__inputs"));
		visit(files.gl_pathv[i], board);
		json_decref(board);
	}
	ck_assert_uint_gt(n_queries, 5);
	globfree(&files);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("dashboards");
	TCase *tc = tcase_create("dashboards");

	tcase_add_test(tc, names_exist);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
