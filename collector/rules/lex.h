/* Words of the expression language. */
#ifndef HIWAT_COLLECTOR_LEX_H
#define HIWAT_COLLECTOR_LEX_H

#include <stddef.h>
#include <stdint.h>

enum token_kind {
	TOKEN_END,
	TOKEN_NUMBER,   /* 12, 0.75, 1e6, 64KiB */
	TOKEN_DURATION, /* 30s, 15m: a number of seconds */
	TOKEN_NAME,
	TOKEN_STRING,
	TOKEN_SIGN,  /* ( ) { } [ ] , + - * / % = == != =~ !~ < <= > >= */
	TOKEN_ERROR, /* message says why */
};

struct token {
	enum token_kind kind;
	size_t at, len; /* place in the text; of a string with its quotes */
	double number;
	uint64_t ns; /* TOKEN_DURATION */
	const char *message;
};

/* The token at or after *at, which is moved behind it. Comments run from # to the end of the line. */
struct token lex_next(const char *text, size_t len, size_t *at);
/* Length of a string token's content, quotes and escapes removed; written to out when not NULL. */
size_t lex_unquote(const char *text, const struct token *t, char *out);

#endif
