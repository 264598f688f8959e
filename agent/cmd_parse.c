#include "cmd.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "arena.h"
#include "buf.h"
#include "bundle.h"
#include "catalogue.h"
#include "confine.h"
#include "err.h"
#include "input.h"
#include "parse.h"

#define ARENA_MAX (512u << 20)
#define OUTPUT_MAX (256u << 20)

const char cmd_parse_usage[] =
    "usage: hiwat-agent parse [OPTION ...] KIND [FILE]\n"
    "       hiwat-agent parse [OPTION ...] auto [FILE]\n"
    "       hiwat-agent parse [OPTION ...] bundle DIRECTORY|ARCHIVE.tar|-\n"
    "       hiwat-agent parse list\n"
    "Reads the saved output of a command and prints its series as Prometheus text. Without FILE, or with -, standard\n"
    "input is read; at most 64 MiB. Plain text, UTF-8 or UTF-16. Nothing is asked of the running system.\n"
    "\n"
    "  KIND           which output it is; list prints all kinds\n"
    "  auto           the text decides; standard error says which kind was taken\n"
    "  bundle         every file of a directory or an uncompressed tar archive; a file named KIND, KIND.* or KIND--*\n"
    "                 is of that kind, the text decides for the others. A series that two files give is printed once,\n"
    "                 as the first file has it; a different value, an unreadable or unknown file is told on\n"
    "                 standard error.\n"
    "  --os OS        freebsd, openbsd, netbsd, dragonfly or linux; without it the text decides. It is printed\n"
    "                 as a comment, from which hiwat-collector check knows how remedies are spelt\n"
    "  --page-size N  bytes of a page where the output counts in pages (4096)\n"
    "  --hz N         clock ticks per second where the output counts in ticks (100)\n"
    "  --tz ZONE      UTC, +HH:MM or -HHMM (east is +) for times printed without a zone (UTC)\n"
    "\n"
    "exit status: 0 printed, 2 wrong usage, 3 nothing could be read; standard error then names the file and why.\n";

/* Up to a day east or west, as ISO 8601 writes it; "Z" and "UTC" too. */
static bool
tz_of(const char *word, int *seconds)
{
	struct text t = text_of(word), hours, minutes = TEXT("0");
	uint64_t h, m;

	if (strcmp(word, "UTC") == 0 || strcmp(word, "Z") == 0) {
		*seconds = 0;
		return true;
	}
	bool west = text_skip(&t, "-");
	if (!west && !text_skip(&t, "+"))
		return false;
	if (text_until(&t, ':', &hours)) {
		minutes = t;
	} else {
		hours = (struct text){ t.p, t.n < 2 ? t.n : 2 };
		if (t.n > 2)
			minutes = (struct text){ t.p + 2, t.n - 2 };
	}
	if (hours.n == 0 || hours.n > 2 || minutes.n > 2 || !text_is_u64(hours, &h) || !text_is_u64(minutes, &m) || h > 23 ||
	    m > 59)
		return false;
	*seconds = (int)(h * 3600 + m * 60) * (west ? -1 : 1);
	return true;
}

static bool
number_of(const char *word, uint64_t max, uint64_t *value)
{
	uint64_t v;

	if (!text_is_u64(text_of(word), &v) || v == 0 || v > max)
		return false;
	*value = v;
	return true;
}

/* Options into *in; the index of the first word that is none, or -1 after a message. */
static int
options(int argc, char **argv, struct parse_input *in)
{
	static const struct option long_options[] = {
		{ "os", required_argument, NULL, 'o' },
		{ "page-size", required_argument, NULL, 'p' },
		{ "hz", required_argument, NULL, 'z' },
		{ "tz", required_argument, NULL, 't' },
		{ 0 },
	};
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "+:", long_options, NULL)) != -1) {
		if (c == ':') {
			cmd_usage_error(argv[0], "%s needs a value", argv[optind - 1]);
			return -1;
		}
		if (c == 'o' && !parse_os_of(optarg, &in->os)) {
			cmd_usage_error(argv[0], "unknown system '%s'", optarg);
			return -1;
		}
		if (c == 'p' && !number_of(optarg, 1 << 30, &in->page_size)) {
			cmd_usage_error(argv[0], "page size '%s' is no number of bytes", optarg);
			return -1;
		}
		if (c == 'z' && !number_of(optarg, 1000000, &in->hz)) {
			cmd_usage_error(argv[0], "hz '%s' is no number of ticks per second", optarg);
			return -1;
		}
		if (c == 't' && !tz_of(optarg, &in->tz_seconds)) {
			cmd_usage_error(argv[0], "time zone '%s' is not UTC, +HH:MM or -HHMM", optarg);
			return -1;
		}
		if (c == '?') {
			cmd_usage_error(argv[0], "unknown option '%s'", argv[optind - 1]);
			return -1;
		}
	}
	return optind;
}

static int
list_kinds(const char *command)
{
	for (const struct parse_kind *k = parse_kinds; k->name != NULL; k++)
		printf("%-20s %s\n", k->name, k->help);
	return cmd_finish_output(command);
}

/* One sentence on standard error that names the input. */
static int
unusable(const char *path, const char *reason)
{
	fprintf(stderr, "hiwat-agent parse: %s: %s\n", strcmp(path, "-") == 0 ? "standard input" : path, reason);
	return CMD_UNUSABLE;
}

/* kind NULL: the text decides. */
static int
parse_one(const struct parse_kind *kind, const char *path, struct parse_input *in, struct arena *arena, struct buf *file)
{
	Hiwat__Record record = HIWAT__RECORD__INIT;
	const Hiwat__Record *records[] = { &record };
	struct parse_reason why = { "" };
	struct buf out;

	int err = input_read(path, file);
	if (err == HIWAT_E_TOOBIG)
		return unusable(path, "larger than 64 MiB");
	if (err != HIWAT_OK)
		return unusable(path, err == HIWAT_E_SYS ? strerror(errno) : err_text(err));
	if (file->len == 0)
		return unusable(path, "empty");
	if (confine_parser(false) != HIWAT_OK)
		return unusable(path, "cannot confine this process");
	in->text = (struct text){ buf_str(file), file->len };
	if (parse_decode(arena, &in->text) != HIWAT_OK)
		return unusable(path, err_text(HIWAT_E_NOMEM));
	if (kind == NULL) {
		kind = parse_recognise(in->text);
		if (kind == NULL)
			return unusable(path, parse_looks_binary(in->text) ? "binary, not text" : "of no known kind");
		fprintf(stderr, "hiwat-agent parse: taken as %s\n", kind->name);
	}
	err = kind->parse(in, arena, &record, &why);
	if (err == HIWAT_E_NODATA && parse_looks_binary(in->text))
		return unusable(path, "binary, not text");
	if (err != HIWAT_OK)
		return unusable(path, why.text[0] != '\0' ? why.text : err_text(err));
	buf_init(&out, OUTPUT_MAX);
	err = record_write_text(&out, records, 1);
	if (err == HIWAT_OK) {
		if (in->os != PARSE_OS_UNKNOWN)
			printf("# os %s\n", parse_os_word(in->os));
		fwrite(buf_str(&out), 1, out.len, stdout);
	}
	buf_fini(&out);
	return err == HIWAT_OK ? cmd_finish_output("parse") : unusable(path, err_text(err));
}

int
cmd_parse(int argc, char **argv)
{
	struct parse_input in = { .page_size = 4096, .hz = 100 };
	struct arena arena;
	struct buf file;

	int first = options(argc, argv, &in);
	if (first < 0)
		return CMD_USAGE;
	if (first == argc)
		return cmd_usage_error(argv[0], "which KIND?");
	const char *kind_name = argv[first], *path = first + 1 < argc ? argv[first + 1] : "-";
	if (first + 2 < argc)
		return cmd_usage_error(argv[0], "unexpected argument '%s'", argv[first + 2]);
	if (strcmp(kind_name, "list") == 0)
		return first + 1 < argc ? cmd_usage_error(argv[0], "list takes no file") : list_kinds(argv[0]);
	const struct parse_kind *kind = parse_kind_find(kind_name);
	bool is_bundle = strcmp(kind_name, "bundle") == 0;
	if (is_bundle && first + 1 == argc)
		return cmd_usage_error(argv[0], "bundle needs a directory, an archive or -");
	if (kind == NULL && !is_bundle && strcmp(kind_name, "auto") != 0)
		return cmd_usage_error(argv[0], "unknown kind '%s' (hiwat-agent parse list prints all)", kind_name);

	arena_init(&arena, ARENA_MAX);
	buf_init(&file, is_bundle ? BUNDLE_ARCHIVE_MAX : INPUT_FILE_MAX);
	int status = is_bundle ? bundle_parse(path, &in, &arena, &file) : parse_one(kind, path, &in, &arena, &file);
	buf_fini(&file);
	arena_fini(&arena);
	return status;
}
