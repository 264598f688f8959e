/* What the two halves of the expression parser share: operators in parse.c, operands in parse_primary.c. */
#ifndef HIWAT_COLLECTOR_PARSE_H
#define HIWAT_COLLECTOR_PARSE_H

#include "expr.h"
#include "lex.h"

struct parser {
	struct node_table *nodes;
	const struct expr_names *names;
	const char *text;
	size_t len, at; /* at: behind the token now looked at */
	struct token token;
	const struct expr_place *place;
	struct diag *diag;
	unsigned depth;
	int err; /* the first mistake ends the expression */
};

/* Complains at a place of the text and returns NULL; later complaints about the same expression are dropped. */
struct node *parser_fail(struct parser *p, size_t at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* "'(' was expected, not ...": complains about the present token. */
struct node *parser_expected(struct parser *p, const char *what);
void parser_advance(struct parser *p);
bool parser_is_sign(const struct parser *p, const char *sign);
bool parser_is_word(const struct parser *p, const char *word);
/* Skips the sign if it is next. */
bool parser_skip(struct parser *p, const char *sign);
/* Skips the sign or complains. */
bool parser_need(struct parser *p, const char *sign);
/* A string's content in the arena; NULL after a complaint. */
const char *parser_string(struct parser *p, const char *what);
/* "(" names ")" behind by, on, ignoring; false after a complaint. */
bool parser_labels(struct parser *p, struct label_list *list);
/* Makes the node, or says that memory is out. */
struct node *parser_make(struct parser *p, const struct node *proto);

struct node *parse_expr(struct parser *p);
struct node *parse_primary(struct parser *p);

/* Can rows of n carry this label? */
bool node_has_label(const struct node *n, const char *label);

#endif
