/* Between export_text.c, which writes texts, and export_value.c, which understands what stands in {{...}}. */
#ifndef HIWAT_COLLECTOR_EXPORT_TEXT_H
#define HIWAT_COLLECTOR_EXPORT_TEXT_H

#include "export_promql.h"
#include "lex.h"
#include "prose.h"

#define QUERY_MAX 1600
#define ARGS_MAX 400

enum text_kind { TEXT_CONSTANT, TEXT_LABEL, TEXT_OS, TEXT_NUMBER };
enum text_format { FORMAT_PLAIN, FORMAT_BYTES, FORMAT_PERCENT, FORMAT_DURATION };

struct text_value {
	enum text_kind kind;
	enum text_format format;
	bool is_unknown;
	bool is_value; /* $value itself */
	bool is_known; /* number is the number */
	bool is_alone; /* scalar(...) of one expression */
	double number;
	char text[QUERY_MAX]; /* the constant, the label's name, or a scalar in PromQL, as a format ... */
	char args[ARGS_MAX];  /* ... for these */
};

/* A condition: settled already, or Go's. */
struct text_condition {
	bool is_settled, holds;
	char go[3 * (QUERY_MAX + ARGS_MAX)];
};

struct text_run {
	const struct rule_full *rule;
	const struct level *level;
	const struct label_names *labels;
	const char *text;
	size_t len, at, inside_end;
	struct token token;
	struct buf *out;
	bool active;        /* this branch can be taken */
	struct prose prose; /* into out */
};

/* Parses a sum. */
void text_parse_sum(struct text_run *t, struct text_value *v);
void text_advance(struct text_run *t);
/* Takes the word or sign when it is the next. */
bool text_skip_word(struct text_run *t, const char *word);

#endif
