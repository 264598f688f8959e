#include "log.h"
#include "clock.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_MAX_BYTES 2048

static const char *const level_names[] = { "error", "warn", "info", "debug" };
static _Atomic(int) max_level = LOG_LEVEL_INFO;
static void (*_Atomic line_hook)(enum log_level, const char *);

void
log_set_level(enum log_level level)
{
	max_level = (int)level;
}

bool
log_level_of(const char *word, enum log_level *level)
{
	for (int i = 0; i <= LOG_LEVEL_DEBUG; i++) {
		if (strcmp(word, level_names[i]) == 0) {
			*level = (enum log_level)i;
			return true;
		}
	}
	return false;
}

void
log_set_hook(void (*hook)(enum log_level, const char *))
{
	line_hook = hook;
}

/* What a host sends may stand in a message: control characters and quotes must not forge a second line or key. */
static size_t
put_quoted(char *line, size_t at, const char *s)
{
	line[at++] = '"';
	for (; *s != '\0' && at < LINE_MAX_BYTES - 8; s++) {
		unsigned char c = (unsigned char)*s;
		if (c == '"' || c == '\\') {
			line[at++] = '\\';
			line[at++] = (char)c;
		} else if (c < 0x20 || c == 0x7f) {
			at += (size_t)snprintf(line + at, 5, "\\x%02x", c);
		} else {
			line[at++] = (char)c;
		}
	}
	line[at++] = '"';
	return at;
}

static void
log_line(enum log_level level, const char *topic, const char *fmt, va_list ap) __attribute__((format(printf, 3, 0)));

static void
log_line(enum log_level level, const char *topic, const char *fmt, va_list ap)
{
	char message[LINE_MAX_BYTES], line[LINE_MAX_BYTES];

	if ((int)level > max_level)
		return;
	vsnprintf(message, sizeof(message), fmt, ap);
	size_t at = (size_t)snprintf(line, 128, "level=%s topic=%.40s msg=", level_names[level], topic);
	at = put_quoted(line, at, message);
	void (*hook)(enum log_level, const char *) = line_hook;
	if (hook != NULL) {
		line[at] = '\0';
		hook(level, line);
		return;
	}
	line[at++] = '\n';
	/* One write keeps lines of several threads whole. There is nowhere to report its failure. */
	ssize_t ignored = write(STDERR_FILENO, line, at);
	(void)ignored;
}

#define LOG_FUNCTION(name, level) \
	void name(const char *topic, const char *fmt, ...) \
	{ \
		va_list ap; \
		va_start(ap, fmt); \
		log_line(level, topic, fmt, ap); \
		va_end(ap); \
	}
LOG_FUNCTION(log_error, LOG_LEVEL_ERROR)
LOG_FUNCTION(log_warn, LOG_LEVEL_WARN)
LOG_FUNCTION(log_info, LOG_LEVEL_INFO)
LOG_FUNCTION(log_debug, LOG_LEVEL_DEBUG)

void
log_complain(struct log_complaint *c, uint64_t now_ns, const char *topic, const char *fmt, ...)
{
	va_list ap;

	if (c->active && now_ns < c->next_ns) {
		c->held_back++;
		return;
	}
	if (!c->active)
		c->interval_ns = 60 * NSEC_PER_SEC;
	else if (c->interval_ns < 86400 * NSEC_PER_SEC / 2)
		c->interval_ns *= 2;
	va_start(ap, fmt);
	log_line(LOG_LEVEL_WARN, topic, fmt, ap);
	va_end(ap);
	if (c->held_back > 0)
		log_warn(topic, "the same %llu times more since it was last logged", (unsigned long long)c->held_back);
	c->active = true;
	c->held_back = 0;
	c->next_ns = now_ns + c->interval_ns;
}

void
log_recovered(struct log_complaint *c, const char *topic, const char *fmt, ...)
{
	va_list ap;

	if (!c->active)
		return;
	va_start(ap, fmt);
	log_line(LOG_LEVEL_INFO, topic, fmt, ap);
	va_end(ap);
	*c = (struct log_complaint){ 0 };
}
