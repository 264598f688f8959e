#include "auth.h"

#include <errno.h>
#include <fcntl.h>
#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "buf.h"
#include "err.h"
#include "scan.h"

#define NAME_MAX_BYTES 64
#define OWN_BYTES 32 /* of chance in the collector's own token */
#define FILE_BYTES_MAX (256u << 10)
#define HASH_BYTES 32

struct token {
	char name[NAME_MAX_BYTES + 1];
	enum auth_role role;
	uint8_t hash[HASH_BYTES];
};

struct auth {
	size_t n;
	struct token tokens[AUTH_TOKENS_MAX + 1]; /* the collector's own comes on top */
};

static int
hash(struct text token, uint8_t out[HASH_BYTES])
{
	return gnutls_hash_fast(GNUTLS_DIG_SHA256, token.p, token.n, out) < 0 ? HIWAT_E_SYS : 0;
}

static int
add(struct auth *a, struct text name, enum auth_role role, struct text token)
{
	struct token *t = &a->tokens[a->n];

	memcpy(t->name, name.p, name.n);
	t->name[name.n] = '\0';
	t->role = role;
	int err = hash(token, t->hash);
	if (err == 0)
		a->n++;
	return err;
}

/* "NAME ROLE TOKEN"; NULL, or what is wrong. */
static const char *
take_line(struct auth *a, struct text line)
{
	struct text name, role, token;

	if (!text_word(&line, &name) || !text_word(&line, &role) || !text_word(&line, &token) || text_trim(line).n > 0)
		return "NAME ROLE TOKEN, with blanks between";
	if (name.n > NAME_MAX_BYTES)
		return "a name of at most 64 bytes";
	if (!text_eq(role, "silence") && !text_eq(role, "admin"))
		return "a role is silence or admin";
	if (token.n < AUTH_TOKEN_MIN)
		return "a token of at least 16 bytes";
	if (a->n == AUTH_TOKENS_MAX)
		return "at most 1000 tokens";
	return add(a, name, text_eq(role, "admin") ? AUTH_ADMIN : AUTH_SILENCE, token) == 0 ? NULL
											    : "the token cannot be hashed";
}

/* The whole file; its memory is to be overwritten before it goes. */
static int
read_file(const char *path, struct buf *content, struct buf *why)
{
	FILE *f = fopen(path, "re");
	int err = f == NULL ? HIWAT_E_SYS : buf_read(content, f);

	if (err == HIWAT_E_TOOBIG)
		buf_printf(why, "%s: more than %u bytes", path, FILE_BYTES_MAX);
	else if (err != 0)
		buf_printf(why, "%s: %s", path, strerror(errno));
	if (f != NULL)
		fclose(f);
	return err;
}

static void
forget(struct buf *content)
{
	if (content->data != NULL)
		explicit_bzero(content->data, content->len);
	buf_fini(content);
}

static int
read_tokens(struct auth *a, const char *path, struct buf *why)
{
	struct buf content;

	buf_init(&content, FILE_BYTES_MAX);
	int err = read_file(path, &content, why);
	struct text rest = { buf_str(&content), content.len }, line;

	for (unsigned n = 1; err == 0 && text_line(&rest, &line, NULL); n++) {
		line = text_trim(line);
		const char *wrong = line.n == 0 || text_starts(line, "#") ? NULL : take_line(a, line);
		if (wrong != NULL) {
			buf_printf(why, "%s:%u: wanted: %s", path, n, wrong);
			err = HIWAT_E_CONFIG;
		}
	}
	forget(&content);
	return err;
}

/* A token by chance, in a file that nobody else can read. What is there already stays. */
static int
make_own(const char *path, struct buf *why)
{
	uint8_t bytes[OWN_BYTES];
	char text[2 * OWN_BYTES + 2];
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bool ok = fd >= 0 && getrandom(bytes, sizeof(bytes), 0) == (ssize_t)sizeof(bytes);

	if (fd < 0 && errno == EEXIST)
		return 0;
	for (size_t k = 0; ok && k < sizeof(bytes); k++)
		snprintf(text + 2 * k, 3, "%02x", bytes[k]);
	text[sizeof(text) - 2] = '\n';
	ok = ok && write(fd, text, sizeof(text) - 1) == (ssize_t)sizeof(text) - 1 && fsync(fd) == 0;
	if (!ok) {
		buf_printf(why, "%s: %s", path, strerror(errno));
		if (fd >= 0)
			unlink(path);
	}
	if (fd >= 0)
		close(fd);
	explicit_bzero(bytes, sizeof(bytes));
	explicit_bzero(text, sizeof(text));
	return ok ? 0 : HIWAT_E_SYS;
}

static int
read_own(struct auth *a, const char *path, struct buf *why)
{
	struct buf content;

	buf_init(&content, FILE_BYTES_MAX);
	int err = make_own(path, why);
	if (err == 0)
		err = read_file(path, &content, why);
	struct text token = text_trim((struct text){ buf_str(&content), content.len });
	while (token.n > 0 && token.p[token.n - 1] == '\n')
		token = text_trim((struct text){ token.p, token.n - 1 });
	if (err == 0 && token.n < AUTH_TOKEN_MIN) {
		buf_printf(why, "%s: no token of at least %d bytes; remove the file and a new one is made", path,
		    AUTH_TOKEN_MIN);
		err = HIWAT_E_CONFIG;
	}
	if (err == 0)
		err = add(a, TEXT("admin"), AUTH_ADMIN, token);
	forget(&content);
	return err;
}

int
auth_new(const char *tokens_file, const char *own_file, struct auth **auth, struct buf *why)
{
	struct auth *a = calloc(1, sizeof(*a));

	if (a == NULL)
		return HIWAT_E_NOMEM;
	int err = tokens_file != NULL ? read_tokens(a, tokens_file, why) : 0;
	if (err == 0 && own_file != NULL)
		err = read_own(a, own_file, why);
	if (err != 0) {
		auth_free(a);
		return err;
	}
	*auth = a;
	return 0;
}

void
auth_free(struct auth *auth)
{
	free(auth);
}

enum auth_role
auth_role(const struct auth *auth, const char *header, const char **name)
{
	struct text token = text_of(header != NULL ? header : "");
	uint8_t digest[HASH_BYTES];
	enum auth_role role = AUTH_NONE;

	if (auth == NULL || !text_skip(&token, "Bearer "))
		return AUTH_NONE;
	token = text_trim(token);
	if (token.n < AUTH_TOKEN_MIN || hash(token, digest) != 0)
		return AUTH_NONE;
	for (size_t k = 0; k < auth->n; k++) {
		const struct token *t = &auth->tokens[k];

		if (gnutls_memcmp(t->hash, digest, sizeof(digest)) == 0 && t->role > role) {
			role = t->role;
			*name = t->name;
		}
	}
	return role;
}
