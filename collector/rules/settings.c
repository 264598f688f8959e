#include "settings.h"

#include <stdio.h>
#include <stdlib.h>

#include "buf.h"
#include "set.h"
#include "template.h"

/* How each system takes a setting. @: its name, #: its numbers. */
static const struct dialect {
	const char *os, *title;
	const char *at_runtime, *at_boot;
} dialects[] = {
	{ "freebsd", "FreeBSD", "sysctl @=#, and the same line in /etc/sysctl.conf",
	    "@=\"#\" in /boot/loader.conf, then reboot" },
	{ "dragonfly", "DragonFly", "sysctl @=#, and the same line in /etc/sysctl.conf",
	    "@=\"#\" in /boot/loader.conf, then reboot" },
	{ "openbsd", "OpenBSD", "sysctl @=#, and the same line in /etc/sysctl.conf", "option @=# in a kernel of your own" },
	{ "netbsd", "NetBSD", "sysctl -w @=#, and the same line in /etc/sysctl.conf",
	    "options @=# in a kernel of your own" },
	{ "linux", "Linux", "sysctl -w @=#, and the same line in /etc/sysctl.d", "@=# on the kernel's command line" },
	{ "bind", "BIND", "in named.conf, options: @ #; then rndc reconfig", "" },
	{ "windows", "Windows",
	    "reg add HKLM\\SYSTEM\\CurrentControlSet\\Services\\Tcpip\\Parameters /v @ /t REG_DWORD /d #, then reboot", "" },
	{ "", "", "@=#", "@=# at boot" },
};

static bool
next_number(const char **p, unsigned long *number)
{
	*p += strspn(*p, ".-_");
	if (**p < '0' || **p > '9')
		return false;
	char *end;
	*number = strtoul(*p, &end, 10);
	*p = end;
	return true;
}

int
release_compare(const char *a, const char *b)
{
	unsigned long x, y;

	if (*a == '\0' || *b == '\0')
		return (*a == '\0') - (*b == '\0');
	for (;;) {
		bool has_x = next_number(&a, &x), has_y = next_number(&b, &y);
		if (!has_x && !has_y)
			return 0;
		x = has_x ? x : 0;
		y = has_y ? y : 0;
		if (x != y)
			return x < y ? -1 : 1;
	}
}

const struct setting *
setting_find(const struct rule_set *set, const char *os, const char *name)
{
	for (uint32_t i = 0; i < set->n_settings; i++) {
		if (strcmp(set->settings[i].name, name) == 0 && strcmp(set->settings[i].os, os) == 0)
			return &set->settings[i];
	}
	return NULL;
}

enum setting_state
setting_state(const struct setting *s, const char *release)
{
	if (*s->removed != '\0' && release_compare(release, s->removed) >= 0)
		return SETTING_REMOVED;
	if (*s->automatic != '\0' && release_compare(release, s->automatic) >= 0)
		return SETTING_AUTOMATIC;
	if (*s->since != '\0' && release_compare(release, s->since) < 0)
		return SETTING_NOT_YET;
	return SETTING_HERE;
}

static const struct dialect *
dialect_of(const char *os)
{
	const struct dialect *d = dialects;

	while (*d->os != '\0' && strcmp(d->os, os) != 0)
		d++;
	return d;
}

const char *
setting_os_title(const char *os)
{
	const struct dialect *d = dialect_of(os);

	return *d->os != '\0' ? d->title : os;
}

static const char *
how_to_set(const struct setting *s, const char *release)
{
	if (s == NULL)
		return "sysctl";
	return *s->before != '\0' && release_compare(release, s->before) < 0 ? s->how_before : s->how;
}

void
setting_put_command(const struct rule_set *set, const char *os, const char *release, const char *name, const char *value,
    double number, struct buf *out)
{
	const struct setting *s = setting_find(set, os, name);
	const char *how = how_to_set(s, release);
	const struct dialect *d = dialect_of(os);
	bool is_loader = strcmp(how, "loader") == 0, is_file = *how == '/';
	const char *quote = strchr(value, ' ') != NULL && !is_loader ? "\"" : "";

	if (is_file)
		buf_printf(out, "echo %s%s%s > %s", quote, value, quote, how);
	for (const char *p = is_loader ? d->at_boot : d->at_runtime; !is_file && *p != '\0'; p++) {
		if (*p == '@')
			buf_puts(out, name);
		else if (*p == '#')
			buf_printf(out, "%s%s%s", quote, value, quote);
		else
			buf_putc(out, *p);
	}
	if (s != NULL && s->unit_bytes > 0 && isfinite(number)) {
		char bytes[32];
		template_bytes(bytes, sizeof(bytes), s->unit_bytes * number);
		buf_printf(out, " (at most %s of memory)", bytes);
	}
}
