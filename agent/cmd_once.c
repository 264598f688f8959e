#include "cmd.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "arena.h"
#include "buf.h"
#include "catalogue.h"
#include "clock.h"
#include "err.h"
#include "runner.h"
#include "sampling.h"

#define OUTPUT_MAX (64u << 20)

const char cmd_once_usage[] =
    "usage: hiwat-agent once [-c FILE] [SAMPLER ...]\n"
    "       hiwat-agent once list\n"
    "Takes one sample of everything, or of the named samplers, and prints the series as Prometheus text. A source that\n"
    "cannot be read is told on standard error with its verdict and the reason; one that this host does not have is not.\n"
    "\n"
    "  -c FILE  configuration (" AGENT_CONFIG_DEFAULT ")\n"
    "\n"
    "exit status: 0 printed, 2 wrong usage, 3 nothing could be sampled.\n";

static int
list_samplers(const char *command)
{
	for (const struct sampler *const *s = samplers; *s != NULL; s++)
		printf("%-18s %s\n", (*s)->name, (*s)->help);
	return cmd_finish_output(command);
}

/* How many of the records are good; the others are told on standard error. */
static size_t
tell_failures(const Hiwat__Batch *batch)
{
	size_t n_good = 0;

	for (size_t i = 0; i < batch->n_records; i++) {
		const Hiwat__Sampler *s = batch->records[i]->status;
		if (s->up)
			n_good++;
		else
			fprintf(stderr, "hiwat-agent once: %s: %s: %.*s\n", s->sampler, s->verdict->verdict,
			    (int)s->reason.len, (const char *)s->reason.data);
	}
	return n_good;
}

static int
print_sample(struct runner *r, struct arena *arena)
{
	struct sampler_now now = { .wall_ns = clock_wall_ns(), .boot_ns = clock_boot_ns() };
	Hiwat__Batch batch = HIWAT__BATCH__INIT;
	struct buf out;

	int err = runner_once(r, &now, arena, &batch);
	if (err != HIWAT_OK) {
		fprintf(stderr, "hiwat-agent once: %s\n", err_text(err));
		return CMD_UNUSABLE;
	}
	size_t n_good = tell_failures(&batch);
	if (n_good == 0) {
		fprintf(stderr, "hiwat-agent once: nothing could be sampled\n");
		return CMD_UNUSABLE;
	}
	buf_init(&out, OUTPUT_MAX);
	err = record_write_text(&out, (const Hiwat__Record *const *)batch.records, batch.n_records);
	if (err == HIWAT_OK)
		fwrite(buf_str(&out), 1, out.len, stdout);
	else
		fprintf(stderr, "hiwat-agent once: %s\n", err_text(err));
	buf_fini(&out);
	return err == HIWAT_OK ? cmd_finish_output("once") : CMD_UNUSABLE;
}

/* Only the named samplers; without names all that the configuration lets run. */
static int
choose(struct runner *r, const struct sampling *s, int argc, char **argv)
{
	for (const struct sampler *const *i = samplers; *i != NULL; i++) {
		if (argc > 0 || !sampling_has(s, (*i)->name))
			(void)runner_set_interval(r, (*i)->name, 0);
	}
	for (int i = 0; i < argc; i++) {
		if (runner_set_interval(r, argv[i], 1000) != HIWAT_OK)
			return cmd_usage_error("once", "unknown sampler '%s' (hiwat-agent once list prints all)", argv[i]);
	}
	return 0;
}

static int
sample_chosen(const struct sampling *s, int argc, char **argv)
{
	struct runner *r;
	struct arena arena;

	int err = runner_new(&s->sampler, samplers, 0, &r);
	if (err != HIWAT_OK) {
		fprintf(stderr, "hiwat-agent once: %s\n", err_text(err));
		return CMD_UNUSABLE;
	}
	arena_init(&arena, RUNNER_ARENA_MAX);
	int status = choose(r, s, argc, argv);
	if (status == 0)
		status = print_sample(r, &arena);
	runner_free(r);
	arena_fini(&arena);
	return status;
}

int
cmd_once(int argc, char **argv)
{
	struct sampling s;
	const char *path = NULL;
	int c;

	opterr = 0;
	while ((c = getopt(argc, argv, "+:c:")) != -1) {
		if (c == ':')
			return cmd_usage_error(argv[0], "-%c needs a value", optopt);
		if (c == '?')
			return cmd_usage_error(argv[0], "unknown option '%s'", argv[optind - 1]);
		path = optarg;
	}
	if (argc - optind == 1 && strcmp(argv[optind], "list") == 0)
		return list_samplers(argv[0]);
	int status = sampling_init(&s, argv[0], path);
	if (status == 0) {
		status = sample_chosen(&s, argc - optind, argv + optind);
		sampling_fini(&s);
	}
	return status;
}
