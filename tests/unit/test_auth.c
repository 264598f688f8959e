/* Tokens: which are taken, what they may, and the one that the collector makes itself. */
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auth.h"
#include "buf.h"
#include "err.h"

static char dir[64], file[96], own[96];
static struct auth *auth;
static struct buf why;

static void
setup(void)
{
	snprintf(dir, sizeof(dir), "/tmp/hiwat-auth-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(file, sizeof(file), "%s/tokens", dir);
	snprintf(own, sizeof(own), "%s/own", dir);
	auth = NULL;
	buf_init(&why, 1024);
}

static void
teardown(void)
{
	auth_free(auth);
	buf_fini(&why);
	unlink(file);
	unlink(own);
	rmdir(dir);
}

static void
write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	ck_assert_int_eq(fclose(f), 0);
}

static const struct {
	const char *text, *why; /* NULL: taken */
} file_rows[] = {
	{ "", NULL },
	{ "# comment\n\n  \nme admin 0123456789abcdef\n", NULL },
	{ "me\tsilence\t0123456789abcdef\r\n", NULL },
	{ "me admin", ":1: wanted: NAME ROLE TOKEN" },
	{ "\nme admin 0123456789abcdef more", ":2: wanted: NAME ROLE TOKEN" },
	{ "me reader 0123456789abcdef", ":1: wanted: a role is silence or admin" },
	{ "me admin 0123456789abcde", ":1: wanted: a token of at least 16 bytes" },
	{ "abcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcdefghijabcde admin 0123456789abcdef", ":1: wanted: a name" },
};

START_TEST(files)
{
	write_file(file, file_rows[_i].text);
	int err = auth_new(file, NULL, &auth, &why);
	ck_assert_int_eq(err, file_rows[_i].why == NULL ? HIWAT_OK : HIWAT_E_CONFIG);
	if (file_rows[_i].why != NULL)
		ck_assert_msg(strstr(buf_str(&why), file_rows[_i].why) != NULL, "%s", buf_str(&why));
	ck_assert_ptr_null(strstr(buf_str(&why), "0123456789"));
}
END_TEST

static const struct {
	const char *header, *name;
	enum auth_role role;
} header_rows[] = {
	{ "Bearer 0123456789abcdef", "oncall", AUTH_SILENCE },
	{ "Bearer  0123456789abcdef ", "oncall", AUTH_SILENCE },
	{ "Bearer fedcba9876543210", "boss", AUTH_ADMIN },
	{ "Bearer both456789abcdef01", "second", AUTH_ADMIN }, /* the same token twice: the higher role */
	{ NULL, NULL, AUTH_NONE },
	{ "", NULL, AUTH_NONE },
	{ "Bearer ", NULL, AUTH_NONE },
	{ "bearer 0123456789abcdef", NULL, AUTH_NONE },
	{ "Basic 0123456789abcdef", NULL, AUTH_NONE },
	{ "Bearer 0123456789abcde", NULL, AUTH_NONE },
	{ "Bearer 0123456789abcdef0", NULL, AUTH_NONE },
};

START_TEST(headers)
{
	const char *name = NULL;

	write_file(file,
	    "oncall silence 0123456789abcdef\nboss admin fedcba9876543210\n"
	    "first silence both456789abcdef01\nsecond admin both456789abcdef01\n");
	ck_assert_int_eq(auth_new(file, NULL, &auth, &why), HIWAT_OK);
	ck_assert_int_eq(auth_role(auth, header_rows[_i].header, &name), header_rows[_i].role);
	ck_assert_pstr_eq(name, header_rows[_i].name);
	ck_assert_int_eq(auth_role(NULL, header_rows[_i].header, &name), AUTH_NONE);
}
END_TEST

START_TEST(own_token)
{
	char token[100] = "", header[128];
	const char *name = NULL;
	struct stat st;

	for (unsigned round = 0; round < 2; round++) { /* made, then found */
		ck_assert_int_eq(auth_new(NULL, own, &auth, &why), HIWAT_OK);
		FILE *f = fopen(own, "r");
		ck_assert_ptr_nonnull(f);
		char now[100] = "";
		ck_assert_ptr_nonnull(fgets(now, sizeof(now), f));
		fclose(f);
		ck_assert_uint_eq(strlen(now), 65);
		ck_assert(round == 0 || strcmp(now, token) == 0);
		memcpy(token, now, sizeof(token));
		token[64] = '\0';
		snprintf(header, sizeof(header), "Bearer %s", token);
		ck_assert_int_eq(auth_role(auth, header, &name), AUTH_ADMIN);
		ck_assert_str_eq(name, "admin");
		token[64] = '\n';
		auth_free(auth);
		auth = NULL;
	}
	ck_assert_int_eq(stat(own, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	write_file(own, "\n");
	ck_assert_int_eq(auth_new(NULL, own, &auth, &why), HIWAT_E_CONFIG);
	ck_assert_int_eq(auth_new("/nonexistent", NULL, &auth, &why), HIWAT_E_SYS);
	ck_assert_int_eq(auth_new(NULL, "/nonexistent/own", &auth, &why), HIWAT_E_SYS);
}
END_TEST

static Suite *
auth_suite(void)
{
	Suite *s = suite_create("auth");
	TCase *t = tcase_create("auth");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, files, 0, ARRAY_LEN(file_rows));
	tcase_add_loop_test(t, headers, 0, ARRAY_LEN(header_rows));
	tcase_add_test(t, own_token);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(auth_suite)
