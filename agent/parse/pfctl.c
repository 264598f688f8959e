#include "pfctl.h"

#include "err.h"
#include "refuse.h"

int
pfctl_refuse(struct text text, const char *command, struct parse_reason *why)
{
	struct text rest = text, line;

	while (text_line(&rest, &line, NULL)) {
		line = text_trim(line);
		if (text_find(line, "/dev/pf") >= 0 &&
		    (text_ends(line, "No such file or directory") || text_ends(line, "Device not configured")))
			return parse_fail(why, HIWAT_E_MISSING, "the system has no packet filter: %.*s", (int)line.n,
			    line.p);
	}
	return refuse(text, command, why);
}

/* "TIMEOUTS:" and the like. */
static bool
is_title(struct text line)
{
	if (!text_ends(line, ":") || line.n < 4)
		return false;
	for (size_t i = 0; i + 1 < line.n; i++) {
		if ((line.p[i] < 'A' || line.p[i] > 'Z') && line.p[i] != ' ')
			return false;
	}
	return true;
}

bool
pfctl_is_chatter(struct text line)
{
	line = text_trim(line);
	return line.n == 0 || text_starts(line, "No ALTQ support") || text_starts(line, "ALTQ related functions");
}

bool
pfctl_is_border(struct text line)
{
	line = text_trim(line);
	return is_title(line) || text_find(line, "pfctl -") >= 0;
}

bool
pfctl_is_prompt(struct text before)
{
	before = text_trim(before);
	return before.n == 0 || text_ends(before, "#") || text_ends(before, "$") || text_ends(before, "%") ||
	    text_ends(before, ">");
}

struct text
pfctl_head(struct text text)
{
	if (text.n > 4096) {
		text.n = 4096;
		while (text.n > 0 && text.p[text.n - 1] != '\n')
			text.n--;
	}
	return text;
}
