/*
 * doctor lets each sampler take one sample and shows the calls it made: what works, what does not, for whom, and what
 * would have to be granted.
 */
#include "cmd.h"

#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "arena.h"
#include "buf.h"
#include "catalogue.h"
#include "clock.h"
#include "err.h"
#include "fetch.h"
#include "grant.h"
#include "runner.h"
#include "sampling.h"

#define CALLS_MAX 1024

const char cmd_doctor_usage[] =
    "usage: hiwat-agent doctor [-c FILE] [-u USER]\n"
    "Takes one sample of each source and tells how that went: the calls made, what they gave and cost, and what to grant\n"
    "where one was denied.\n"
    "\n"
    "  -c FILE  configuration (" AGENT_CONFIG_DEFAULT ")\n"
    "  -u USER  as this user, such as _hiwat; only root can become another user\n"
    "\n"
    "exit status: 0 all that this host has can be read, 1 something cannot, 2 wrong usage, 3 nothing could be done.\n";

struct call {
	char verb[12], what[FETCH_PATH_MAX];
	int err, sys_errno;
	size_t bytes;
	unsigned count;
	uint64_t ns; /* of all of them */
};

/* Heard from the samplers' threads; one that hangs may speak after its sampler was given up, so that this stays. */
static struct {
	pthread_mutex_t lock;
	struct call calls[CALLS_MAX];
	size_t n, n_left_out;
} heard = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void
hear(void *arg, const struct fetch_call *call)
{
	size_t i = 0;

	(void)arg;
	pthread_mutex_lock(&heard.lock);
	while (i < heard.n && (strcmp(heard.calls[i].what, call->what) != 0 || strcmp(heard.calls[i].verb, call->verb) != 0))
		i++;
	if (i == CALLS_MAX) {
		heard.n_left_out++;
	} else {
		struct call *c = &heard.calls[i];
		if (i == heard.n) {
			*c = (struct call){ .err = HIWAT_OK };
			snprintf(c->verb, sizeof(c->verb), "%s", call->verb);
			snprintf(c->what, sizeof(c->what), "%s", call->what);
			heard.n++;
		}
		c->count++;
		c->bytes = call->bytes;
		c->ns += call->ns;
		c->err = call->err;
		c->sys_errno = call->sys_errno;
	}
	pthread_mutex_unlock(&heard.lock);
}

static const struct fetch_trace trace = { .call = hear };

static bool
count_one(void *arg, const struct sample *s)
{
	(void)s;
	++*(size_t *)arg;
	return true;
}

static const char *
user_name(char number[24])
{
	const struct passwd *pw = getpwuid(geteuid());

	snprintf(number, 24, "%lu", (unsigned long)geteuid());
	return pw != NULL ? pw->pw_name : number;
}

static void
print_grant(const struct call *c)
{
	char number[24];
	struct buf line;

	buf_init(&line, (size_t)2 * FETCH_PATH_MAX);
	if (grant_write_call(&line, c->verb, c->what, user_name(number)))
		printf("    grant: %s\n", buf_str(&line));
	buf_fini(&line);
}

static void
print_calls(void)
{
	pthread_mutex_lock(&heard.lock);
	for (size_t i = 0; i < heard.n; i++) {
		const struct call *c = &heard.calls[i];
		printf("  %s %s: ", c->verb, c->what);
		if (c->err == HIWAT_OK && c->bytes > 0)
			printf("ok, %zu bytes", c->bytes);
		else if (c->err == HIWAT_OK)
			printf("ok");
		else
			printf("%s", c->sys_errno != 0 ? strerror(c->sys_errno) : err_text(c->err));
		if (c->count > 1)
			printf(", %u times", c->count);
		printf(", %.0f us\n", (double)c->ns / 1000);
		if (c->err == HIWAT_E_DENIED)
			print_grant(c);
	}
	if (heard.n_left_out > 0)
		printf("  and %zu calls more\n", heard.n_left_out);
	heard.n = heard.n_left_out = 0;
	pthread_mutex_unlock(&heard.lock);
}

/* Whether all that the host has of this source can be read. */
static bool
print_outcome(const struct sampler *sampler, const Hiwat__Batch *batch)
{
	size_t n_values = 0;

	if (batch->n_records == 0) {
		printf("%s (%s): not on this host\n", sampler->name, sampler->help);
		if (sampler->missing_hint != NULL)
			printf("  %s\n", sampler->missing_hint);
		return true;
	}
	Hiwat__Record *record = batch->records[0];
	const Hiwat__Sampler *status = record->status;
	printf("%s (%s): %s", sampler->name, sampler->help, status->verdict->verdict);
	if (status->up) {
		Hiwat__Sampler *kept = record->status;
		record->status = NULL;
		catalogue_walk(record, count_one, &n_values);
		record->status = kept;
		printf(", %zu values, %.0f us\n", n_values, status->duration_seconds * 1e6);
		if (status->has_reason)
			printf("  %.*s\n", (int)status->reason.len, (const char *)status->reason.data);
	} else {
		printf(": %.*s\n", (int)status->reason.len, (const char *)status->reason.data);
	}
	return status->up;
}

static int
examine(const struct sampler *sampler, const struct sampler_config *config, struct arena *arena, bool *all_good)
{
	const struct sampler *const one[] = { sampler, NULL };
	struct sampler_now now = { .wall_ns = clock_wall_ns(), .boot_ns = clock_boot_ns() };
	Hiwat__Batch batch = HIWAT__BATCH__INIT;
	struct runner *r;

	int err = runner_new(config, one, 0, &r);
	if (err != HIWAT_OK)
		return err;
	arena_reset(arena);
	err = runner_once(r, &now, arena, &batch);
	if (err == HIWAT_OK) {
		*all_good &= print_outcome(sampler, &batch);
		print_calls();
	}
	runner_free(r);
	return err;
}

static int
become(const char *command, const char *name)
{
	const struct passwd *pw = getpwnam(name);

	if (pw == NULL)
		return cmd_usage_error(command, "no user '%s'", name);
	if (pw->pw_uid == geteuid())
		return 0;
	if (initgroups(pw->pw_name, pw->pw_gid) != 0 || setgid(pw->pw_gid) != 0 || setuid(pw->pw_uid) != 0) {
		fprintf(stderr, "hiwat-agent %s: cannot become %s: %s\n", command, name, strerror(errno));
		return CMD_UNUSABLE;
	}
	return 0;
}

static int
examine_all(const char *command, const struct sampling *s)
{
	struct arena arena;
	bool all_good = true;
	int err = HIWAT_OK;
	char number[24];

	printf("as user %s\n", user_name(number));
	arena_init(&arena, RUNNER_ARENA_MAX);
	for (const struct sampler *const *i = samplers; *i != NULL && err == HIWAT_OK; i++) {
		if (sampling_has(s, (*i)->name))
			err = examine(*i, &s->sampler, &arena, &all_good);
		else
			printf("%s (%s): disabled by the configuration\n", (*i)->name, (*i)->help);
	}
	arena_fini(&arena);
	if (err != HIWAT_OK) {
		fprintf(stderr, "hiwat-agent %s: %s\n", command, err_text(err));
		return CMD_UNUSABLE;
	}
	int status = cmd_finish_output(command);
	return status != 0 ? status : !all_good;
}

int
cmd_doctor(int argc, char **argv)
{
	const char *path = NULL, *user = NULL;
	struct sampling s;
	int c;

	opterr = 0;
	while ((c = getopt(argc, argv, "+:c:u:")) != -1) {
		if (c == ':')
			return cmd_usage_error(argv[0], "-%c needs a value", optopt);
		if (c == '?')
			return cmd_usage_error(argv[0], "unknown option '%s'", argv[optind - 1]);
		*(c == 'c' ? &path : &user) = optarg;
	}
	if (optind < argc)
		return cmd_usage_error(argv[0], "unexpected argument '%s'", argv[optind]);
	int status = user != NULL ? become(argv[0], user) : 0;
	if (status == 0)
		status = sampling_init(&s, argv[0], path);
	if (status != 0)
		return status;
	s.sampler.trace = &trace;
	status = examine_all(argv[0], &s);
	sampling_fini(&s);
	return status;
}
