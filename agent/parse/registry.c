/*
 * A .reg file as regedit saves it ("Windows Registry Editor Version 5.00", before Windows 2000 "REGEDIT4"), or the output of
 * reg query. Numbers (REG_DWORD, REG_QWORD) become settings. The name is the value's own for Tcpip\Parameters; below it
 * and in other services it is the path from there: Interfaces\{...}\MTU, Afd\Parameters\DefaultReceiveWindow. A value
 * that is given twice counts as given last, as regedit would import it.
 */
#include "registry.h"

#include <string.h>

#include "arena.h"
#include "err.h"
#include "record_row.h"

#define VALUES_MAX 4096

struct reader {
	struct arena *arena;
	Hiwat__Settings *settings;
	struct text key; /* as it goes into names; "" for Tcpip\Parameters */
	bool has_key;
	bool continued; /* the line goes on after a '\' */
	uint64_t n_lines, n_unknown;
};

static long
find_nocase(struct text t, const char *needle)
{
	size_t n = strlen(needle);

	for (size_t i = 0; i + n <= t.n; i++) {
		size_t j = 0;
		while (j < n && (t.p[i + j] | 0x20) == (needle[j] | 0x20))
			j++;
		if (j == n)
			return (long)i;
	}
	return -1;
}

static struct text
behind(struct text t, long at, size_t n)
{
	return (struct text){ t.p + at + n, t.n - (size_t)at - n };
}

static void
read_key(struct reader *r, struct text path)
{
	long at = find_nocase(path, "\\Services\\");

	if (at >= 0)
		path = behind(path, at, sizeof("\\Services\\") - 1);
	if (find_nocase(path, "Tcpip\\Parameters") == 0) {
		struct text below = behind(path, 0, sizeof("Tcpip\\Parameters") - 1);
		if (below.n == 0 || below.p[0] == '\\') {
			text_skip(&below, "\\");
			path = below;
		}
	}
	r->key = path;
	r->has_key = true;
}

static int
add_value(struct reader *r, struct text name, uint64_t number)
{
	size_t n = r->key.n > 0 ? r->key.n + 1 : 0;
	char *path = arena_alloc(r->arena, n + name.n + 1);

	if (path == NULL)
		return HIWAT_E_NOMEM;
	if (n > 0) {
		memcpy(path, r->key.p, r->key.n);
		path[n - 1] = '\\';
	}
	memcpy(path + n, name.p, name.n);
	struct text full = { path, n + name.n };
	if (r->settings->n_sysctls == VALUES_MAX && RECORD_FIND(r->settings, sysctls, sysctl, full) == NULL) {
		r->n_unknown++;
		return HIWAT_OK;
	}
	Hiwat__Sysctl *s = RECORD_ROW(r->arena, r->settings, sysctls, sysctl, full);
	if (s == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(s, value, (double)number);
	return HIWAT_OK;
}

/* Bytes in hex, the lowest first, between commas: hex(b):1e,00,00,00,00,00,00,00 and hex(4):1e,00,00,00. */
static bool
little_endian(struct text t, unsigned n_bytes, uint64_t *number)
{
	uint64_t value = 0, byte;

	for (unsigned i = 0; i < n_bytes; i++) {
		if ((i > 0 && !text_skip(&t, ",")) || t.n < 2)
			return false;
		struct text two = { t.p, 2 };
		if (text_hex(&two, &byte) != HIWAT_OK || two.n != 0)
			return false;
		value |= byte << (8 * i);
		t = behind(t, 0, 2);
	}
	*number = value;
	return text_trim(t).n == 0;
}

/* "Name"=dword:0000001e; in a name '"' and '\' stand behind a '\'. Strings and other bytes are no numbers. */
static int
read_assignment(struct reader *r, struct text line)
{
	uint64_t number;
	size_t n = 1;

	while (n < line.n && line.p[n] != '"')
		n += line.p[n] == '\\' ? 2 : 1;
	if (n >= line.n || !r->has_key) {
		r->n_unknown++;
		return HIWAT_OK;
	}
	struct text name = { line.p + 1, n - 1 }, value = text_trim(behind(line, 0, n + 1));
	if (!text_skip(&value, "=")) {
		r->n_unknown++;
		return HIWAT_OK;
	}
	value = text_trim(value);
	r->continued = text_ends(value, "\\");
	/* Eight digits: fewer are a file that was cut off. */
	if (text_skip(&value, "dword:")) {
		if (value.n == 8 && text_hex(&value, &number) == HIWAT_OK && value.n == 0)
			return add_value(r, name, number);
		r->n_unknown++;
	} else if (text_skip(&value, "hex(b):")) {
		if (little_endian(value, 8, &number))
			return add_value(r, name, number);
	} else if (text_skip(&value, "hex(4):")) {
		if (little_endian(value, 4, &number))
			return add_value(r, name, number);
	}
	return HIWAT_OK;
}

/* "    TcpTimedWaitDelay    REG_DWORD    0x1e" */
static int
read_query_row(struct reader *r, struct text line, bool cut)
{
	uint64_t number;

	long at = text_find(line, "REG_");
	struct text name = { line.p, at > 0 ? (size_t)at : 0 }, rest = behind(line, at > 0 ? at : 0, 0), type, value;
	name = text_trim(name);
	if (at <= 0 || name.n == 0 || !r->has_key || !text_word(&rest, &type)) {
		r->n_unknown++;
		return HIWAT_OK;
	}
	if (cut || (!text_eq(type, "REG_DWORD") && !text_eq(type, "REG_QWORD")) || !text_word(&rest, &value))
		return HIWAT_OK;
	if (text_hex(&value, &number) != HIWAT_OK || value.n != 0) {
		r->n_unknown++;
		return HIWAT_OK;
	}
	return add_value(r, name, number);
}

static int
read_line(struct reader *r, struct text line, bool cut)
{
	struct text t = text_trim(line), path;

	if (r->continued) {
		r->continued = text_ends(t, "\\");
		return HIWAT_OK;
	}
	if (t.n == 0 || text_starts(t, ";") || text_starts(t, "Windows Registry Editor") || text_starts(t, "REGEDIT4") ||
	    text_starts(t, "@=") || text_starts(t, "! REG.EXE"))
		return HIWAT_OK;
	r->n_lines++;
	if (text_skip(&t, "[")) {
		if (text_until(&t, ']', &path))
			read_key(r, path);
		return HIWAT_OK;
	}
	if (text_starts(t, "HKEY_")) {
		read_key(r, t);
		return HIWAT_OK;
	}
	if (text_starts(t, "\""))
		return read_assignment(r, t);
	return read_query_row(r, t, cut);
}

int
registry_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	struct reader r = { .arena = arena, .key = TEXT("") };
	struct text rest = in->text, line;
	bool cut;

	if ((r.settings = RECORD_ONE(arena, out, settings, settings)) == NULL)
		return HIWAT_E_NOMEM;
	while (text_line(&rest, &line, &cut)) {
		int err = read_line(&r, line, cut);
		if (err != HIWAT_OK)
			return err;
	}
	if (!r.has_key)
		return parse_fail(why, HIWAT_E_NODATA, "no registry key");
	/* No key says which system it is of, and none else has a registry. */
	Hiwat__SettingText *os = RECORD_ADD(arena, r.settings, texts, setting_text);
	if (os == NULL || (os->name = record_label(arena, TEXT("ostype"))) == NULL ||
	    (os->value = record_label(arena, TEXT("Windows"))) == NULL)
		return HIWAT_E_NOMEM;
	return r.n_unknown > 0 ? record_count_unknown(arena, out, "registry", r.n_unknown) : HIWAT_OK;
}

int
registry_recognise(struct text text)
{
	if (text_starts(text, "Windows Registry Editor") || text_starts(text, "REGEDIT4"))
		return 100;
	if (text.n > 4096)
		text.n = 4096;
	return text_find(text, "HKEY_") >= 0 && text_find(text, "REG_DWORD") >= 0 ? 90 : 0;
}
