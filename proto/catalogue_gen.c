/*
 * Build-time program: turns the descriptor set of hiwat.proto, comments included, into the tables behind catalogue.h.
 * usage: catalogue_gen DESCRIPTOR_SET OUTPUT.c
 * Fails when a metric has no comment, two fields make one name, or a counter's type is not an integer or a double.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "descriptor.pb-c.h"

#define ROOT "Record"
#define LABELS_MAX 6
#define METRICS_MAX 1024
#define MESSAGES_MAX 256
#define FIELDS_MAX 64

enum kind { KIND_TEXT, KIND_LABEL, KIND_NUMBER, KIND_MESSAGE };

/* Values of FieldDescriptorProto.Type that hiwat.proto uses. */
enum {
	TYPE_DOUBLE = 1,
	TYPE_UINT64 = 4,
	TYPE_STRING = 9,
	TYPE_MESSAGE = 11,
	TYPE_BYTES = 12,
	TYPE_UINT32 = 13,
	TYPE_SINT64 = 18
};

struct field {
	const char *name;
	enum kind kind;
	int number, target, metric;
	const char *comment;
};

struct message {
	const char *name;
	const char *comment;
	struct field fields[FIELDS_MAX];
	int n_fields, metric;
	bool reached;
};

struct metric {
	char name[160];
	const char *comment;
	const char *labels[LABELS_MAX];
	int n_labels, message, field;
};

static struct message messages[MESSAGES_MAX];
static int n_messages;
static struct metric metrics[METRICS_MAX];
static int n_metrics;

static void
fail(const char *what, const char *a, const char *b)
{
	fprintf(stderr, "catalogue_gen: %s: %s%s%s\n", what, a, *b ? "." : "", b);
	exit(1);
}

/* C name as protoc-c spells it: MbufPool to mbuf_pool. */
static void
snake(const char *name, size_t len, char *out)
{
	size_t at = 0;

	for (size_t i = 0; i < len; i++) {
		if (isupper((unsigned char)name[i]) && i > 0)
			out[at++] = '_';
		out[at++] = (char)tolower((unsigned char)name[i]);
	}
	out[at] = '\0';
}

static const char *
comment_of(const Desc__SourceInfo *info, int message, int field)
{
	for (size_t i = 0; i < info->n_location; i++) {
		const Desc__Location *l = info->location[i];
		bool is_message = l->n_path == 2 && field < 0;
		bool is_field = l->n_path == 4 && field >= 0 && l->path[2] == 2 && l->path[3] == field;
		if ((is_message || is_field) && l->path[0] == 4 && l->path[1] == message)
			return l->leading_comments;
	}
	return NULL;
}

static int
compare_fields(const void *a, const void *b)
{
	return ((const struct field *)a)->number - ((const struct field *)b)->number;
}

static int
compare_metrics(const void *a, const void *b)
{
	return strcmp(((const struct metric *)a)->name, ((const struct metric *)b)->name);
}

static int
compare_words(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int
message_index(const char *type_name)
{
	const char *name = strrchr(type_name, '.') + 1;

	for (int i = 0; i < n_messages; i++) {
		if (strcmp(messages[i].name, name) == 0)
			return i;
	}
	fail("unknown message", type_name, "");
	return -1;
}

static void
read_file(const Desc__File *file)
{
	n_messages = (int)file->n_message_type;
	if (n_messages > MESSAGES_MAX)
		fail("too many messages", file->name, "");
	for (int m = 0; m < n_messages; m++)
		messages[m].name = file->message_type[m]->name;
	for (int m = 0; m < n_messages; m++) {
		const Desc__Message *d = file->message_type[m];
		struct message *msg = &messages[m];
		msg->metric = -1;
		msg->comment = comment_of(file->source_code_info, m, -1);
		msg->n_fields = (int)d->n_field;
		if (msg->n_fields > FIELDS_MAX)
			fail("too many fields", d->name, "");
		for (int f = 0; f < msg->n_fields; f++) {
			const Desc__Field *df = d->field[f];
			struct field *field = &msg->fields[f];
			*field = (struct field){ .name = df->name, .number = df->number, .metric = -1 };
			field->comment = comment_of(file->source_code_info, m, f);
			switch (df->type) {
			case TYPE_MESSAGE:
				field->kind = KIND_MESSAGE;
				field->target = message_index(df->type_name);
				break;
			case TYPE_STRING:
				field->kind = KIND_LABEL;
				break;
			case TYPE_BYTES:
				field->kind = KIND_TEXT;
				break;
			default:
				field->kind = KIND_NUMBER;
			}
		}
		qsort(msg->fields, d->n_field, sizeof(msg->fields[0]), compare_fields);
	}
}

static void
add_metric(int m, int f, const char *const *labels, int n_labels)
{
	const struct message *msg = &messages[m];
	const char *field = f >= 0 ? msg->fields[f].name : "value";
	const char *by = strstr(msg->name + 1, "By");
	char prefix[100];

	if (n_metrics == METRICS_MAX)
		fail("too many metrics", msg->name, field);
	struct metric *metric = &metrics[n_metrics++];
	snake(msg->name, by != NULL ? (size_t)(by - msg->name) : strlen(msg->name), prefix);
	bool bare = strcmp(field, "value") == 0;
	snprintf(metric->name, sizeof(metric->name), "hiwat_%s%s%.50s", prefix, bare ? "" : "_", bare ? "" : field);
	metric->comment = f >= 0 ? msg->fields[f].comment : msg->comment;
	if (metric->comment == NULL)
		fail("metric without a comment", msg->name, field);
	metric->message = m;
	metric->field = f;
	metric->n_labels = n_labels;
	for (int i = 0; i < n_labels; i++)
		metric->labels[i] = labels[i];
	qsort(metric->labels, (size_t)n_labels, sizeof(metric->labels[0]), compare_words);
}

static void
visit(int m, const char *const *outer, int n_outer)
{
	struct message *msg = &messages[m];
	const char *labels[LABELS_MAX];
	int n_labels = n_outer;
	bool strings_only = true;

	if (msg->reached)
		fail("message used in two places, its labels would differ", msg->name, "");
	msg->reached = true;
	for (int i = 0; i < n_outer; i++)
		labels[i] = outer[i];
	for (int f = 0; f < msg->n_fields; f++) {
		if (msg->fields[f].kind == KIND_LABEL) {
			if (n_labels == LABELS_MAX)
				fail("too many labels", msg->name, msg->fields[f].name);
			labels[n_labels++] = msg->fields[f].name;
		} else {
			strings_only = false;
		}
	}
	if (strings_only)
		add_metric(m, -1, labels, n_labels);
	for (int f = 0; f < msg->n_fields; f++) {
		if (msg->fields[f].kind == KIND_NUMBER)
			add_metric(m, f, labels, n_labels);
		else if (msg->fields[f].kind == KIND_MESSAGE)
			visit(msg->fields[f].target, labels, n_labels);
	}
}

/* The comment on one line, without the final period, for HELP. */
static void
put_help(FILE *out, const char *comment)
{
	size_t len = strlen(comment);

	while (len > 0 && (isspace((unsigned char)comment[len - 1]) || comment[len - 1] == '.'))
		len--;
	while (len > 0 && isspace((unsigned char)*comment)) {
		comment++;
		len--;
	}
	putc('"', out);
	for (size_t i = 0; i < len; i++) {
		if (comment[i] == '\n') {
			putc(' ', out);
			while (i + 1 < len && comment[i + 1] == ' ')
				i++;
			continue;
		}
		if (comment[i] == '"' || comment[i] == '\\')
			putc('\\', out);
		putc(comment[i], out);
	}
	putc('"', out);
}

static const char *
unit_of(const char *name)
{
	static const char *const units[] = { "seconds", "bytes", "ratio", "bits", "hertz" };
	char stem[160];
	size_t len;

	snprintf(stem, sizeof(stem), "%s", name);
	len = strlen(stem);
	if (len > 6 && strcmp(stem + len - 6, "_total") == 0)
		stem[len - 6] = '\0';
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		size_t s = strlen(stem), u = strlen(units[i]);
		if (s > u + 1 && stem[s - u - 1] == '_' && strcmp(stem + s - u, units[i]) == 0)
			return units[i];
	}
	return "";
}

static void
write_tables(FILE *out)
{
	fputs("/* Made by catalogue_gen from hiwat.proto. */\n#include \"catalogue_table.h\"\n\n", out);
	fputs("const struct metric catalogue_metrics[] = {\n", out);
	for (int i = 0; i < n_metrics; i++) {
		const struct metric *m = &metrics[i];
		size_t len = strlen(m->name);
		bool counter = len > 6 && strcmp(m->name + len - 6, "_total") == 0;
		fprintf(out, "\t{ \"%s\", ", m->name);
		put_help(out, m->comment);
		fprintf(out, ", \"%s\", %d, %d, {", unit_of(m->name), counter, m->n_labels);
		for (int l = 0; l < m->n_labels; l++)
			fprintf(out, " \"%s\",", m->labels[l]);
		fprintf(out, " %s} },\n", m->n_labels == 0 ? "0 " : "");
	}
	fprintf(out, "};\nconst unsigned catalogue_n_metrics = %d;\n\n", n_metrics);
	for (int m = 0; m < n_messages; m++) {
		if (!messages[m].reached || messages[m].n_fields == 0)
			continue;
		fprintf(out, "static const struct catalogue_field fields_%d[] = {\n", m);
		for (int f = 0; f < messages[m].n_fields; f++) {
			static const char *const kinds[] = { "TEXT", "LABEL", "NUMBER", "MESSAGE" };
			const struct field *fd = &messages[m].fields[f];
			fprintf(out, "\t{ CATALOGUE_%s, %d }, /* %s */\n", kinds[fd->kind],
			    fd->kind == KIND_MESSAGE      ? fd->target
				: fd->kind == KIND_NUMBER ? fd->metric
							  : 0,
			    fd->name);
		}
		fputs("};\n", out);
	}
	fputs("\nconst struct catalogue_message catalogue_messages[] = {\n", out);
	for (int m = 0; m < n_messages; m++) {
		char name[100];
		if (!messages[m].reached) {
			fprintf(out, "\t{ 0, 0, -1 }, /* %s */\n", messages[m].name);
			continue;
		}
		snake(messages[m].name, strlen(messages[m].name), name);
		fprintf(out, "\t{ &hiwat__%s__descriptor, fields_%d, %d },\n", name, m, messages[m].metric);
	}
	fprintf(out, "};\nconst unsigned catalogue_root = %d;\n", message_index("." ROOT));
}

int
main(int argc, char **argv)
{
	static uint8_t data[1 << 20];

	if (argc != 3)
		fail("usage", "catalogue_gen DESCRIPTOR_SET OUTPUT.c", "");
	FILE *in = fopen(argv[1], "rb");
	if (in == NULL)
		fail("cannot read", argv[1], "");
	size_t len = fread(data, 1, sizeof(data), in);
	fclose(in);
	Desc__FileSet *set = len < sizeof(data) ? desc__file_set__unpack(NULL, len, data) : NULL;
	if (set == NULL || set->n_file != 1 || set->file[0]->source_code_info == NULL)
		fail("no descriptor set of one file with source information", argv[1], "");
	read_file(set->file[0]);
	visit(message_index("." ROOT), NULL, 0);
	qsort(metrics, (size_t)n_metrics, sizeof(metrics[0]), compare_metrics);
	for (int i = 0; i < n_metrics; i++) {
		if (i > 0 && strcmp(metrics[i].name, metrics[i - 1].name) == 0)
			fail("two fields make one metric", metrics[i].name, "");
		if (metrics[i].field >= 0)
			messages[metrics[i].message].fields[metrics[i].field].metric = i;
		else
			messages[metrics[i].message].metric = i;
	}
	FILE *out = fopen(argv[2], "w");
	if (out == NULL)
		fail("cannot write", argv[2], "");
	write_tables(out);
	if (fclose(out) != 0)
		fail("cannot write", argv[2], "");
	desc__file_set__free_unpacked(set, NULL);
	return 0;
}
