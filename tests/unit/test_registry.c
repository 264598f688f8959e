#include "unit.h"

#include <string.h>

#include "arena.h"
#include "err.h"
#include "parsed.h"
#include "registry.h"

#define HEAD "Windows Registry Editor Version 5.00\r\n\r\n"
#define TCPIP "[HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\Tcpip\\Parameters]\r\n"
#define UNKNOWN "hiwat_parse_unknown_lines_total{source=\"registry\"}"

static const struct {
	const char *name, *text;
	int err;
	const char *expected;
} rows[] = {
	{ "an export",
	    HEAD TCPIP
	    "\"TcpTimedWaitDelay\"=dword:0000001e\r\n\"MaxUserPort\"=dword:0000fffe\r\n\"Hostname\"=\"fw\"\r\n"
	    "\"DataBasePath\"=hex(2):25,00,53,00,\\\r\n  79,00,73,00\r\n\"Big\"=hex(b):01,00,00,00,01,00,00,00\r\n@=\"\"\r\n"
	    "\"Say \\\"hi\\\"\"=dword:00000001\r\n\r\n"
	    "[HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\Tcpip\\Parameters\\Interfaces\\{1-2}]\r\n\"MTU\"="
	    "dword:000005dc\r\n"
	    "[HKEY_LOCAL_MACHINE\\SYSTEM\\ControlSet001\\Services\\AFD\\Parameters]\r\n\"DefaultReceiveWindow\"=dword:"
	    "00010000\r\n",
	    0,
	    "hiwat_sysctl{index=\"\",name=\"TcpTimedWaitDelay\"} 30\nhiwat_sysctl{index=\"\",name=\"MaxUserPort\"} 65534\n"
	    "hiwat_sysctl{index=\"\",name=\"Big\"} 4294967297\n"
	    "hiwat_sysctl{index=\"\",name=\"Interfaces\\\\{1-2}\\\\MTU\"} 1500\n"
	    "hiwat_sysctl{index=\"\",name=\"AFD\\\\Parameters\\\\DefaultReceiveWindow\"} 65536\n!" UNKNOWN "\n" },
	{ "cut in a number", HEAD TCPIP "\"A\"=dword:00000010\r\n\"B\"=dword:000000", 0,
	    "hiwat_sysctl{index=\"\",name=\"A\"} 16\n!hiwat_sysctl{index=\"\",name=\"B\"}\n" },
	{ "the last of two values", HEAD TCPIP "\"A\"=dword:00000010\r\n\"A\"=dword:00000011\r\n", 0,
	    "hiwat_sysctl{index=\"\",name=\"A\"} 17\n" },
	{ "reg query",
	    "\r\nHKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\Tcpip\\Parameters\r\n"
	    "    TcpTimedWaitDelay    REG_DWORD    0x1e\r\n    Hostname    REG_SZ    fw\r\n    Max User Port    REG_DWORD   "
	    " 0xfffe\r\n",
	    0,
	    "hiwat_sysctl{index=\"\",name=\"TcpTimedWaitDelay\"} 30\nhiwat_sysctl{index=\"\",name=\"Max User Port\"} "
	    "65534\n" },
	{ "no key", "\"A\"=dword:00000010\r\n", HIWAT_E_NODATA, "" },
	{ "empty export", HEAD, HIWAT_E_NODATA, "" },
};

START_TEST(row)
{
	struct buf out;

	buf_init(&out, 1 << 20);
	int err = parsed_by(registry_parse, text_of(rows[_i].text), &out);
	ck_assert_msg(err == rows[_i].err, "%s: %s", rows[_i].name, err_text(err));
	const char *mismatch = parsed_mismatch(&out, rows[_i].expected);
	ck_assert_msg(mismatch == NULL, "%s: %s in\n%s", rows[_i].name, mismatch, buf_str(&out));
	buf_fini(&out);
}
END_TEST

START_TEST(utf16_as_regedit_saves_it)
{
	/* The registry's "A" 16, then a letter outside the basic plane and half of one in a name. */
	static const char before[] = HEAD TCPIP "\"A";
	static const unsigned char middle[] = { 0x3d, 0xd8, 0x00, 0xde, 0x3d, 0xd8, 0xe4, 0x00 };
	static const char after[] = "\"=dword:00000010\r\n";
	char wide[1024] = "\xff\xfe";
	size_t n = 2;
	struct arena arena;
	struct buf out;

	for (const char *p = before; *p != '\0'; p++, n += 2)
		wide[n] = *p;
	memcpy(wide + n, middle, sizeof(middle));
	n += sizeof(middle);
	for (const char *p = after; *p != '\0'; p++, n += 2)
		wide[n] = *p;
	arena_init(&arena, 1 << 20);
	buf_init(&out, 1 << 20);
	struct text t = { wide, n };
	ck_assert_int_eq(parse_decode(&arena, &t), 0);
	ck_assert_int_eq(registry_recognise(t), 100);
	ck_assert_int_eq(parsed_by(registry_parse, t, &out), 0);
	ck_assert_str_eq(buf_str(&out),
	    "hiwat_sysctl{index=\"\",name=\"A\xf0\x9f\x98\x80?\xc3\xa4\"} 16\n"
	    "hiwat_setting_text{name=\"ostype\",value=\"Windows\"} 1\n");
	buf_fini(&out);
	arena_fini(&arena);
}
END_TEST

START_TEST(byte_order_marks)
{
	const struct {
		struct text before;
		const char *after;
	} marks[] = {
		{ TEXT("\xef\xbb\xbfx"), "x" },
		{ TEXT("\xfe\xff\0x\0y"), "xy" },
		{ TEXT("\xff\xfex\0y\0z"), "xy" }, /* an odd byte at the end is none */
		{ TEXT("plain"), "plain" },
		{ TEXT(""), "" },
		/* What a mail quotes. */
		{ TEXT("> a\n> > b\n>\n>\tc\n"), "a\nb\n\n\tc\n" },
		{ TEXT("It says:\n > a\r\n >  b"), "It says:\na\n b" },
		{ TEXT("a\nb\n> c\n"), "a\nb\n> c\n" },
	};
	struct arena arena;

	arena_init(&arena, 1 << 20);
	for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
		struct text t = marks[i].before;
		ck_assert_int_eq(parse_decode(&arena, &t), 0);
		ck_assert(text_eq(t, marks[i].after));
	}
	arena_fini(&arena);
}
END_TEST

static Suite *
suite(void)
{
	Suite *s = suite_create("registry");
	TCase *tc = tcase_create("registry");

	tcase_add_loop_test(tc, row, 0, ARRAY_LEN(rows));
	tcase_add_test(tc, utf16_as_regedit_saves_it);
	tcase_add_test(tc, byte_order_marks);
	suite_add_tcase(s, tc);
	return s;
}

UNIT_MAIN(suite)
