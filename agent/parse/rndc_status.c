/* rndc status: "label: value" lines, of which the clients waiting for recursion count. */
#include "arena.h"
#include "dns.h"
#include "dns_record.h"
#include "err.h"

/* Lines without a colon, and labels whose value may be empty. */
static const char *const known_lines[] = { "query logging is ", "server is ", "running on ", "memory profiling is ",
	"reload/reconfig in progress", "response logging is ", "WARNING" };

/* used/limit before 9.4, used/soft limit/limit since; at least used and limit. */
static bool
clients(struct text value, uint64_t numbers[3], size_t *n)
{
	value = text_trim(value);
	for (*n = 0; *n < 3; (*n)++) {
		if (*n > 0 && !text_skip(&value, "/"))
			break;
		if (text_u64(&value, &numbers[*n]) != HIWAT_OK)
			return false;
	}
	return *n >= 2 && value.n == 0;
}

static bool
is_known(struct text line)
{
	for (size_t i = 0; i < sizeof(known_lines) / sizeof(known_lines[0]); i++) {
		if (text_starts(line, known_lines[i]))
			return true;
	}
	return text_find(line, ":") > 0;
}

int
rndc_status_parse(const struct parse_input *in, struct arena *arena, Hiwat__Record *out, struct parse_reason *why)
{
	struct text rest = in->text, line;
	uint64_t numbers[3], found[3], unknown = 0;
	size_t n, n_found = 0;
	bool cut, is_denied = false;

	while (text_line(&rest, &line, &cut)) {
		line = text_trim(line);
		struct text value = line;
		if (line.n == 0)
			continue;
		is_denied |= text_starts(line, "rndc: ") && text_find(line, "ermission denied") > 0;
		if (text_skip(&value, "recursive clients:") && clients(value, numbers, &n)) {
			/*
			 * At a cut end the two numbers of three would look like those of 9.3, and the last may lack digits: the
			 * hard limit is never below the soft one.
			 */
			if (cut && (n < 3 || n_found > 0))
				continue;
			if (cut && numbers[2] < numbers[1])
				numbers[2] = 0;
			for (size_t i = 0; i < n; i++)
				found[i] = numbers[i];
			n_found = n;
		} else {
			unknown += !cut && !is_known(line);
		}
	}
	if (n_found == 0 && is_denied)
		return parse_fail(why, HIWAT_E_DENIED, "rndc may not speak to named");
	if (n_found == 0)
		return parse_fail(why, HIWAT_E_NODATA, "no line of recursive clients");
	Hiwat__Dns *dns = dns_server(arena, out, "bind");
	if (dns == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(dns, recursive_clients, found[0]);
	if (n_found == 3 && found[1] > 0)
		RECORD_SET(dns, recursive_clients_soft_limit, found[1]);
	if (found[n_found - 1] > 0)
		RECORD_SET(dns, recursive_clients_limit, found[n_found - 1]);
	return unknown > 0 ? record_count_unknown(arena, out, "rndc-status", unknown) : HIWAT_OK;
}

int
rndc_status_recognise(struct text text)
{
	struct text line;

	for (int i = 0; i < 60 && text_line(&text, &line, NULL); i++) {
		line = text_trim(line);
		if (text_starts(line, "recursive clients: ") || text_starts(line, "UDP listeners per interface: "))
			return 90;
	}
	return 0;
}
