/*
 * The forms in which a kernel's line is kept: what the kernel said, when, and whether the kernel said it at all.
 *
 *	ata1.00: ...						bare
 *	[   12.345678] ...  [12] ...  [Tue Mar  3 02:11:40 2026] ...	dmesg, FreeBSD's with stamps, dmesg -T; [Mar 3 02:11] and [  +0.000012]: dmesg -H
 *	kern  :err   : [   12.345678] ...			dmesg -x
 *	<3>[   12.345678] ...					dmesg -r; BSD's message buffer has <2> too
 *	2026-03-03T02:11:40,123456+01:00 ...			dmesg --time-format=iso
 *	Mar  3 02:11:40 host kernel: [   12.345678] ...		syslog, journalctl
 *	Mar  3 02:11:40 host kern.crit kernel: ...		syslog of busybox
 *	Mai 03 02:11:40 host kernel: ...			journalctl in another language; dmesg -T has the weekday, too
 *	Mar  3 02:11:40 <kern.crit> host kernel: ...		syslog of FreeBSD, verbose; tags /kernel: /bsd: kernel[0]:
 *	<2>1 2026-03-03T02:11:40.123456Z host kernel - - - ...	RFC 5424
 *	2026-03-03T02:11:40+0100 host kernel: ...		journalctl -o short-iso, rsyslog
 *	Tue 2026-03-03 02:11:40 CET host kernel: ...		journalctl -o short-full
 *	[   12.345678] host kernel: ...  1772500300.123 host kernel: ...	journalctl -o short-monotonic, short-unix
 *	6,1234,12345678,-;...					/dev/kmsg
 */
#include "kernel_log_state.h"

#include <string.h>

/* The words by which the kernels sign in syslog. */
static bool
is_kernel_tag(struct text word)
{
	if (word.n < 4 || word.p[word.n - 1] != ':')
		return false;
	text_skip(&word, "/");
	if (text_skip(&word, "kernel") || text_skip(&word, "bsd") || text_skip(&word, "netbsd"))
		return text_eq(word, ":") || (word.n > 1 && (*word.p == '[' || *word.p == '.') && text_ends(word, ":"));
	return false;
}

/* "ad4:", "ata3.00:", "(da0:mps0:0:3:0):": a kernel's line whose host and tag were cut out; a program's tag has a letter at its end. */
static bool
is_device_tag(struct text word)
{
	size_t n = 0, colons = 0;

	for (size_t i = 0; i < word.n; i++)
		colons += word.p[i] == ':';
	if (word.n < 4 || word.p[word.n - 1] != ':')
		return false;
	if (*word.p == '(')
		return colons >= 4 && word.p[word.n - 2] == ')';
	while (n < word.n && *word.p >= 'a' && word.p[n] >= 'a' && word.p[n] <= 'z')
		n++;
	if (n < 2 || colons != 1 || !kl_is_digit(word.p[word.n - 2]))
		return false;
	while (n < word.n && (kl_is_digit(word.p[n]) || word.p[n] == '.'))
		n++;
	return n + 1 == word.n;
}

/* "kern.warn": busybox' syslogd writes them between the host and the tag. */
static bool
is_facility(struct text word)
{
	static const char *const levels[] = { "emerg", "alert", "crit", "err", "warn", "notice", "info", "debug" };
	struct text facility;

	if (!text_until(&word, '.', &facility) || facility.n < 3 || facility.n > 8)
		return false;
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
		if (text_eq(word, levels[i]))
			return true;
	}
	return false;
}

static bool
read_repeat(struct text t, struct kl_stripped *out)
{
	struct text at = t;
	uint64_t n;

	if (t.n == 0 || (*t.p != 'l' && *t.p != 'm'))
		return false;
	if (text_skip(&at, "last message repeated ")) {
		if (text_u64(&at, &n) != 0 || !text_starts(at, " time"))
			return false;
		out->text = TEXT("");
	} else if (text_skip(&at, "message repeated ")) {
		if (text_u64(&at, &n) != 0 || !text_skip(&at, " times: ["))
			return false;
		if (text_ends(at, "]"))
			at.n--;
		text_skip(&at, " ");
		struct kl_stripped inner = { .time = KERNEL_LOG_NO_TIME };
		kl_bracket_stamp(&at, &inner);
		out->text = at;
	} else {
		return false;
	}
	if (n > 1000000000)
		return false;
	out->repeats = n;
	out->form = KL_FORM_REPEAT;
	return true;
}

/* "<3>" or FreeBSD's "<kern.crit>". False in *is_kernel when the facility is another. */
static bool
priority(struct text *t, bool *is_kernel)
{
	/* Most lines have none: asked first, this is inlined. */
	if (t->n == 0 || *t->p != '<')
		return false;
	struct text at = *t, in;
	uint64_t value;
	kl_skip_char(&at, '<');
	if (!text_until(&at, '>', &in) || in.n == 0 || in.n > 20)
		return false;
	if (kl_is_digit(*in.p)) {
		if (text_u64(&in, &value) != 0)
			return false;
		if (in.n > 0) /* "<0.2>": facility and level */
			*is_kernel = value == 0;
		else
			*is_kernel = value >> 3 == 0;
	} else {
		if (text_find(in, ".") < 0)
			return false;
		*is_kernel = text_starts(in, "kern");
	}
	*t = at;
	return true;
}

/* Up to the next blank: as text_word() where no tabs are used, but faster. */
static bool
next_word(struct text *t, struct text *word)
{
	while (t->n > 0 && *t->p == ' ') {
		t->p++;
		t->n--;
	}
	if (t->n == 0)
		return false;
	const char *end = memchr(t->p, ' ', t->n);
	word->p = t->p;
	word->n = end != NULL ? (size_t)(end - t->p) : t->n;
	t->p += word->n;
	t->n -= word->n;
	return true;
}

/* What follows a syslog stamp: host and tag. */
static void
after_stamp(struct text t, bool host_is_optional, struct kl_stripped *out)
{
	struct text word, rest, inner;
	bool is_kernel;

	out->form = KL_FORM_OTHER;
	text_skip_blanks(&t);
	if (priority(&t, &is_kernel))
		text_skip_blanks(&t);
	inner = t;
	if (read_repeat(t, out))
		return;
	if (!next_word(&t, &word))
		return;
	if (!is_kernel_tag(word) && !text_eq(word, ":")) {
		rest = t;
		kl_skip_char(&rest, ' ');
		if (read_repeat(rest, out))
			return;
		if (is_device_tag(word)) {
			out->form = KL_FORM_KERNEL;
			out->text = inner;
			return;
		}
		if (!next_word(&t, &word))
			word = TEXT("");
		if (is_facility(word)) {
			if (!text_starts(word, "kern.") || !next_word(&t, &word))
				return;
		}
		if (is_device_tag(word)) {
			out->form = KL_FORM_KERNEL;
			out->text = (struct text){ word.p, (size_t)(t.p + t.n - word.p) };
			return;
		}
		if (!is_kernel_tag(word)) {
			rest = t;
			kl_skip_char(&rest, ' ');
			if (text_starts(word, "syslogd") && read_repeat(rest, out))
				return;
			if (host_is_optional) {
				out->form = KL_FORM_KERNEL;
				out->text = inner;
			}
			return;
		}
	}
	kl_skip_char(&t, ' ');
	out->form = KL_FORM_KERNEL;
	if (read_repeat(t, out))
		return;
	struct kl_stripped stamp = { .time = KERNEL_LOG_NO_TIME };
	struct text before = t;
	if (priority(&t, &is_kernel) && !is_kernel)
		t = before;
	if (kl_bracket_stamp(&t, &stamp) && read_repeat(t, out))
		return;
	out->text = t;
}

/* RFC 5424 behind its version: STAMP HOST APP PROCID MSGID SD MSG. */
static void
rfc5424(struct text t, bool is_kernel, struct kl_stripped *out)
{
	struct text word, app = TEXT("");
	bool comma;

	out->form = KL_FORM_OTHER;
	if (!kl_iso_stamp(&t, out, &comma) && !text_skip(&t, "-"))
		return;
	for (int i = 0; i < 4; i++) {
		if (!text_word(&t, &word))
			return;
		if (i == 1)
			app = word;
	}
	kl_skip_char(&t, ' ');
	if (kl_skip_char(&t, '-'))
		;
	else if (t.n > 0 && *t.p == '[') {
		if (!text_until(&t, ']', &word))
			return;
	}
	kl_skip_char(&t, ' ');
	text_skip(&t, "\xef\xbb\xbf");
	if (!is_kernel || (!text_eq(app, "kernel") && !text_eq(app, "-") && !text_eq(app, "bsd") && !text_eq(app, "/bsd"))) {
		if (text_eq(app, "syslogd"))
			read_repeat(t, out);
		return;
	}
	out->form = KL_FORM_KERNEL;
	if (read_repeat(t, out))
		return;
	struct kl_stripped stamp = { .time = KERNEL_LOG_NO_TIME };
	kl_bracket_stamp(&t, &stamp);
	out->text = t;
}

/* "PRIO,SEQ,USEC,FLAGS[,...];TEXT" */
static bool
kmsg(struct text t, struct kl_stripped *out)
{
	uint64_t prio, sequence, usec;
	struct text flags;

	if (text_u64(&t, &prio) != 0 || !kl_skip_char(&t, ',') || text_u64(&t, &sequence) != 0 || !kl_skip_char(&t, ',') ||
	    text_u64(&t, &usec) != 0 || !kl_skip_char(&t, ',') || !text_until(&t, ';', &flags) || flags.n > 80)
		return false;
	out->form = KL_FORM_KMSG;
	out->sequence = sequence;
	out->time = (int64_t)(usec / 1000000);
	out->has_stamp = true;
	out->text = t;
	if (prio >> 3 != 0)
		out->text = TEXT("");
	return true;
}

/* dmesg -x: "kern  :err   : [   12.345678] ..." */
static bool
decoded(struct text *t, bool *is_kernel)
{
	if (t->n < 16 || t->p[6] != ':')
		return false;
	struct text at = *t, facility, level;
	if (!text_until(&at, ':', &facility) || !text_until(&at, ':', &level) || level.n > 7 || !kl_skip_char(&at, ' '))
		return false;
	*is_kernel = text_eq(text_trim(facility), "kern");
	*t = at;
	return true;
}

void
kl_strip(struct text line, struct kl_stripped *out)
{
	struct text t = line, host;
	bool is_kernel = true, has_prio, comma, has_weekday;

	*out = (struct kl_stripped){ .form = KL_FORM_BARE, .text = line, .time = KERNEL_LOG_NO_TIME };
	if (t.n < 6)
		return;
	char c = *t.p;
	if (c == '\t' || c == ' ' || c == '(')
		return;
	if (kl_is_digit(c)) {
		if (kmsg(t, out))
			return;
		if (kl_iso_stamp(&t, out, &comma)) {
			if (!kl_skip_char(&t, ' ')) {
				out->time = KERNEL_LOG_NO_TIME;
				out->has_stamp = false;
				return;
			}
			after_stamp(t, comma, out);
			return;
		}
		if (kl_month_stamp(&t, out)) { /* a month by its number: Japanese, Chinese, Korean */
			if (kl_skip_char(&t, ' '))
				after_stamp(t, false, out);
			return;
		}
		/* short-unix */
		struct text whole;
		if (text_until(&t, '.', &whole) && whole.n >= 9 && whole.n <= 11) {
			uint64_t seconds, fraction;
			if (text_u64(&whole, &seconds) == 0 && whole.n == 0 && text_u64(&t, &fraction) == 0 &&
			    kl_skip_char(&t, ' ')) {
				out->time = (int64_t)seconds;
				out->has_stamp = true;
				after_stamp(t, false, out);
			}
		}
		return;
	}
	has_prio = priority(&t, &is_kernel);
	if (has_prio && text_skip(&t, "1 ")) {
		rfc5424(t, is_kernel, out);
		return;
	}
	if (!has_prio && decoded(&t, &is_kernel)) {
		has_prio = true;
		if (kl_iso_stamp(&t, out, &comma)) {
			kl_skip_char(&t, ' ');
			out->form = is_kernel ? KL_FORM_KERNEL : KL_FORM_OTHER;
			out->text = t;
			return;
		}
	}
	if (kl_bracket_stamp(&t, out)) {
		out->form = is_kernel ? KL_FORM_KERNEL : KL_FORM_OTHER;
		out->text = t;
		if (next_word(&t, &host) && kl_skip_char(&t, ' ') && text_skip(&t, "kernel: ")) /* short-monotonic */
			out->text = t;
		return;
	}
	has_weekday = kl_skip_weekday(&t);
	if (has_weekday && kl_iso_stamp(&t, out, &comma)) {
		struct text zone;
		if (text_word(&t, &zone))
			after_stamp(t, false, out);
		else
			out->form = KL_FORM_OTHER;
		return;
	}
	if (kl_month_stamp(&t, out)) {
		if (kl_skip_char(&t, ' ') && is_kernel)
			after_stamp(t, false, out);
		else
			out->form = KL_FORM_OTHER;
		return;
	}
	if (read_repeat(line, out))
		return;
	t = line;
	if ((c == 'k' || c == '/') && text_word(&t, &host) && is_kernel_tag(host)) {
		kl_skip_char(&t, ' ');
		kl_bracket_stamp(&t, out);
		out->form = KL_FORM_KERNEL;
		out->text = t;
		return;
	}
	t = line;
	if (priority(&t, &is_kernel) || decoded(&t, &is_kernel)) {
		out->form = is_kernel ? KL_FORM_KERNEL : KL_FORM_OTHER;
		out->has_stamp = true;
		out->text = t;
		return;
	}
	if (text_starts(line, "-- "))
		out->form = KL_FORM_OTHER;
}
