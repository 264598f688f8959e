/*
 * Saved outputs through the parser of the agent's program, batches through the decoder that receives them. The program is
 * run, not linked: collector and agent share records, no code. Its input and output are files without a name, so that
 * neither side can wait for the other.
 */
#include "case.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buf.h"
#include "codec.h"
#include "err.h"
#include "scan.h"

#define PARSED_MAX (64u << 20)
#define SAID_MAX 4096
#define PARSE_SECONDS 60
#define PARSE_REFUSED 3 /* exit status of the parser that could not use the text; others are wrong usage */

/* In the child; does not return. */
static void
run_parser(const char *agent, const struct case_step *s, FILE *in, FILE *out, FILE *said)
{
	const char *argv[7] = { agent, "parse" };
	unsigned n = 2;

	if (s->os != NULL) {
		argv[n++] = "--os";
		argv[n++] = s->os;
	}
	argv[n++] = s->parser;
	argv[n] = NULL;
	if (dup2(fileno(in), 0) < 0 || dup2(fileno(out), 1) < 0 || dup2(fileno(said), 2) < 0)
		_exit(127);
	alarm(PARSE_SECONDS); /* outlives exec */
	execvp(agent, (char *const *)(uintptr_t)argv);
	_exit(127);
}

/* HIWAT_E_FORMAT: it ran and refused the text; HIWAT_E_CONFIG: it did not get so far. */
static int
wait_for(pid_t pid, struct buf *why)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return HIWAT_E_SYS;
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return HIWAT_OK;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		buf_puts(why, "the program cannot be run; -a names it");
	if (WIFSIGNALED(status))
		buf_printf(why, "ended by signal %d, within %d s", WTERMSIG(status), PARSE_SECONDS);
	return WIFEXITED(status) && WEXITSTATUS(status) == PARSE_REFUSED ? HIWAT_E_FORMAT : HIWAT_E_CONFIG;
}

static int
read_back(FILE *f, struct buf *out)
{
	if (fflush(f) != 0 || fseek(f, 0, SEEK_SET) != 0)
		return HIWAT_E_SYS;
	return buf_read(out, f);
}

static int
parse_between(const char *agent, struct case_step *s, FILE *in, FILE *out, FILE *said, struct arena *arena, struct buf *why)
{
	struct buf printed, complaint;

	if (fwrite(s->bytes, 1, s->len, in) != s->len || fflush(in) != 0 || fseek(in, 0, SEEK_SET) != 0)
		return HIWAT_E_SYS;
	fflush(stdout);
	pid_t pid = fork();
	if (pid < 0)
		return HIWAT_E_SYS;
	if (pid == 0)
		run_parser(agent, s, in, out, said);
	int err = wait_for(pid, why);
	buf_init(&printed, PARSED_MAX);
	buf_init(&complaint, SAID_MAX);
	if (err == HIWAT_E_FORMAT || err == HIWAT_E_CONFIG) {
		read_back(said, &complaint);
		struct text line, rest = { buf_str(&complaint), complaint.len };
		if (text_line(&rest, &line, NULL))
			buf_add(why, line.p, line.n);
	} else if (err == HIWAT_OK) {
		err = read_back(out, &printed);
		s->series = err == HIWAT_OK ? arena_strndup(arena, buf_str(&printed), printed.len) : NULL;
		if (s->series == NULL && err == HIWAT_OK)
			err = HIWAT_E_NOMEM;
	}
	buf_fini(&printed);
	buf_fini(&complaint);
	return err;
}

static int
parse(const char *agent, struct case_step *s, struct arena *arena, struct buf *why)
{
	FILE *in = tmpfile(), *out = tmpfile(), *said = tmpfile();
	int err = HIWAT_E_SYS;

	if (in != NULL && out != NULL && said != NULL)
		err = parse_between(agent, s, in, out, said, arena, why);
	if (err == HIWAT_E_SYS && why->len == 0)
		buf_puts(why, strerror(errno));
	if (in != NULL)
		fclose(in);
	if (out != NULL)
		fclose(out);
	if (said != NULL)
		fclose(said);
	return err;
}

static int
decode(struct case_step *s, struct arena *arena, struct buf *why)
{
	static const char zstd[] = "\x28\xb5\x2f\xfd";
	const uint8_t *data = (const uint8_t *)s->bytes;
	size_t len = s->len;
	struct buf plain;
	const char *reason = "not zstd";
	Hiwat__Batch *batch = NULL;

	buf_init(&plain, CODEC_BATCH_MAX);
	int err = HIWAT_OK;
	if (len >= 4 && memcmp(data, zstd, 4) == 0) {
		err = codec_decompress(data, len, CODEC_BATCH_MAX, &plain);
		data = (const uint8_t *)plain.data;
		len = plain.len;
	}
	if (err == HIWAT_OK)
		err = batch_decode(data, len, arena, &batch, &reason);
	if (err != HIWAT_OK)
		buf_printf(why, "the decoder: %s", reason);
	buf_fini(&plain);
	s->batch = batch;
	return err == HIWAT_OK ? HIWAT_OK : HIWAT_E_FORMAT;
}

int
case_bytes_read(struct rule_case *c, const char *agent, struct arena *arena, const struct case_step **bad, struct buf *why)
{
	int err = HIWAT_OK;

	for (unsigned i = 0; i < c->n_steps && err == HIWAT_OK; i++) {
		struct case_step *s = &c->steps[i];
		*bad = s;
		if (s->kind == CASE_TEXT)
			err = parse(agent, s, arena, why);
		else if (s->kind == CASE_BATCH)
			err = decode(s, arena, why);
	}
	return err;
}
