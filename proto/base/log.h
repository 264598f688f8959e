/*
 * One line per message on standard error, key=value: level, topic (the module that speaks), msg. Messages say what, which
 * host or file, and what happens next. Only the edges log: main, run, pipeline and the drivers; the rest returns codes.
 */
#ifndef HIWAT_BASE_LOG_H
#define HIWAT_BASE_LOG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* Lines above this level are dropped; the default is info. */
void log_set_level(enum log_level level);
/* "error", "warn", "info", "debug" to a level; false for any other word. */
bool log_level_of(const char *word, enum log_level *level);
/* Where lines go instead of standard error; NULL restores it. For tests. The line carries no newline. */
void log_set_hook(void (*hook)(enum log_level level, const char *line));

void log_error(const char *topic, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void log_warn(const char *topic, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void log_info(const char *topic, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void log_debug(const char *topic, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * A repeated complaint: the first is logged, then at intervals that double from a minute to a day, with the number held
 * back; log_recovered() says once that it is over. Zero-initialise; one per thing that can go wrong, used by one thread.
 */
struct log_complaint {
	uint64_t next_ns, interval_ns, held_back;
	bool active;
};
void log_complain(struct log_complaint *c, uint64_t now_ns, const char *topic, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void log_recovered(struct log_complaint *c, const char *topic, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
