/*
 * libyaml's events drive a stack of open collections. Its parser is fed all at once and keeps no more than the token ahead,
 * so stopping at the first event beyond a limit bounds the work too.
 */
#include "yaml_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <yaml.h>

#include "arena.h"
#include "buf.h"
#include "diag.h"
#include "err.h"

/* A collection that is still open. */
struct level {
	struct yaml_node *node;
	struct yaml_node **tail; /* where the next child is linked */
	const char *key;         /* mapping: the key that waits for its value */
	unsigned key_line, key_column;
};

struct builder {
	const char *file;
	struct arena *arena;
	struct diag *diag;
	struct level stack[YAML_DEPTH_MAX];
	unsigned depth, nodes;
	struct yaml_node *root;
};

static unsigned
mark_line(const yaml_mark_t *m)
{
	return (unsigned)m->line + 1;
}

static unsigned
mark_column(const yaml_mark_t *m)
{
	return (unsigned)m->column + 1;
}

static int
refuse(struct builder *b, const yaml_event_t *ev, const char *what)
{
	diag_add(b->diag, b->file, mark_line(&ev->start_mark), mark_column(&ev->start_mark), "%s", what);
	return HIWAT_E_CONFIG;
}

static int
out_of_memory(struct builder *b)
{
	diag_add(b->diag, b->file, 0, 0, "%s", err_text(HIWAT_E_NOMEM));
	return HIWAT_E_NOMEM;
}

static int
take_key(struct builder *b, struct level *top, const yaml_event_t *ev)
{
	const char *text = (const char *)ev->data.scalar.value;

	if (top->node->count >= YAML_KEYS_MAX)
		return refuse(b, ev, "too many keys in one mapping");
	for (const struct yaml_node *n = top->node->first; n != NULL; n = n->next) {
		if (strcmp(n->key, text) == 0) {
			diag_add(b->diag, b->file, mark_line(&ev->start_mark), mark_column(&ev->start_mark),
			    "key \"%s\" is given twice, first in line %u", text, n->key_line);
			return HIWAT_E_CONFIG;
		}
	}
	top->key = arena_strndup(b->arena, text, ev->data.scalar.length);
	if (top->key == NULL)
		return out_of_memory(b);
	top->key_line = mark_line(&ev->start_mark);
	top->key_column = mark_column(&ev->start_mark);
	return HIWAT_OK;
}

/* A new node at the event's place, linked where it belongs. */
static int
add_node(struct builder *b, const yaml_event_t *ev, enum yaml_kind kind, struct yaml_node **out)
{
	struct yaml_node *node = arena_alloc(b->arena, sizeof(*node));

	if (node == NULL)
		return out_of_memory(b);
	if (++b->nodes > YAML_NODES_MAX)
		return refuse(b, ev, "too many values in one file");
	node->kind = kind;
	node->file = b->file;
	node->line = mark_line(&ev->start_mark);
	node->column = mark_column(&ev->start_mark);
	if (b->depth == 0) {
		b->root = node;
	} else {
		struct level *top = &b->stack[b->depth - 1];
		node->key = top->key;
		node->key_line = top->key_line;
		node->key_column = top->key_column;
		top->key = NULL;
		*top->tail = node;
		top->tail = &node->next;
		top->node->count++;
	}
	*out = node;
	return HIWAT_OK;
}

static bool
wants_key(const struct builder *b)
{
	return b->depth > 0 && b->stack[b->depth - 1].node->kind == YAML_MAPPING && b->stack[b->depth - 1].key == NULL;
}

static int
take_scalar(struct builder *b, const yaml_event_t *ev)
{
	struct yaml_node *node;

	if (ev->data.scalar.anchor != NULL)
		return refuse(b, ev, "anchors are not supported");
	if (ev->data.scalar.tag != NULL)
		return refuse(b, ev, "tags are not supported");
	if (memchr(ev->data.scalar.value, '\0', ev->data.scalar.length) != NULL)
		return refuse(b, ev, "text with a NUL character");
	if (wants_key(b))
		return take_key(b, &b->stack[b->depth - 1], ev);
	int err = add_node(b, ev, YAML_SCALAR, &node);
	if (err != 0)
		return err;
	node->text = arena_strndup(b->arena, (const char *)ev->data.scalar.value, ev->data.scalar.length);
	if (node->text == NULL)
		return out_of_memory(b);
	node->len = ev->data.scalar.length;
	node->quoted = ev->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	return HIWAT_OK;
}

static int
open_collection(struct builder *b, const yaml_event_t *ev, enum yaml_kind kind, const yaml_char_t *anchor,
    const yaml_char_t *tag)
{
	struct yaml_node *node;

	if (anchor != NULL)
		return refuse(b, ev, "anchors are not supported");
	if (tag != NULL)
		return refuse(b, ev, "tags are not supported");
	if (wants_key(b))
		return refuse(b, ev, "a key must be plain text");
	if (b->depth == YAML_DEPTH_MAX)
		return refuse(b, ev, "nested too deeply");
	int err = add_node(b, ev, kind, &node);
	if (err != 0)
		return err;
	b->stack[b->depth++] = (struct level){ .node = node, .tail = &node->first };
	return HIWAT_OK;
}

static int
take_event(struct builder *b, const yaml_event_t *ev)
{
	switch (ev->type) {
	case YAML_DOCUMENT_START_EVENT:
		return b->root == NULL ? HIWAT_OK : refuse(b, ev, "only one document per file");
	case YAML_ALIAS_EVENT:
		return refuse(b, ev, "aliases are not supported");
	case YAML_SCALAR_EVENT:
		return take_scalar(b, ev);
	case YAML_SEQUENCE_START_EVENT:
		return open_collection(b, ev, YAML_SEQUENCE, ev->data.sequence_start.anchor, ev->data.sequence_start.tag);
	case YAML_MAPPING_START_EVENT:
		return open_collection(b, ev, YAML_MAPPING, ev->data.mapping_start.anchor, ev->data.mapping_start.tag);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		b->depth--;
		return HIWAT_OK;
	default:
		return HIWAT_OK;
	}
}

static int
syntax_error(struct builder *b, const yaml_parser_t *parser)
{
	const char *problem = parser->problem != NULL ? parser->problem : "not YAML";

	if (parser->error == YAML_MEMORY_ERROR)
		return out_of_memory(b);
	if (parser->error == YAML_READER_ERROR)
		diag_add(b->diag, b->file, mark_line(&parser->mark), mark_column(&parser->mark), "%s at byte %zu", problem,
		    parser->problem_offset);
	else
		diag_add(b->diag, b->file, mark_line(&parser->problem_mark), mark_column(&parser->problem_mark), "%s%s%s",
		    problem, parser->context != NULL ? ", " : "", parser->context != NULL ? parser->context : "");
	return HIWAT_E_CONFIG;
}

static int
build(struct builder *b, const char *text, size_t len)
{
	yaml_parser_t parser;
	yaml_event_t ev;
	bool at_end = false;
	int err = HIWAT_OK;

	if (!yaml_parser_initialize(&parser))
		return out_of_memory(b);
	/* Said before, not guessed: a stray byte order mark must not turn the file into UTF-16. */
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	while (err == 0 && !at_end) {
		if (!yaml_parser_parse(&parser, &ev)) {
			err = syntax_error(b, &parser);
			break;
		}
		at_end = ev.type == YAML_STREAM_END_EVENT;
		err = take_event(b, &ev);
		yaml_event_delete(&ev);
	}
	yaml_parser_delete(&parser);
	return err;
}

int
yaml_tree_parse(const char *file, const char *text, size_t len, struct arena *arena, struct diag *diag,
    struct yaml_node **root)
{
	struct builder b = { .file = file, .arena = arena, .diag = diag };

	if (len > YAML_BYTES_MAX) {
		diag_add(diag, file, 0, 0, "larger than %u bytes", YAML_BYTES_MAX);
		return HIWAT_E_CONFIG;
	}
	b.file = arena_strndup(arena, file, strlen(file));
	if (b.file == NULL)
		return out_of_memory(&(struct builder){ .file = file, .diag = diag });
	int err = build(&b, text, len);
	if (err != 0)
		return err;
	if (b.root == NULL || (b.root->kind == YAML_SCALAR && yaml_is_null(b.root))) {
		b.root = arena_alloc(arena, sizeof(*b.root));
		if (b.root == NULL)
			return out_of_memory(&b);
		*b.root = (struct yaml_node){ .kind = YAML_MAPPING, .file = b.file, .line = 1, .column = 1 };
	}
	*root = b.root;
	return HIWAT_OK;
}

/* Appends at most YAML_BYTES_MAX bytes and one more, so that the parser sees that there was too much. */
static int
read_all(int fd, struct buf *content)
{
	while (content->len <= YAML_BYTES_MAX) {
		char *room = buf_reserve(content, 16384);
		if (room == NULL)
			return HIWAT_E_NOMEM;
		ssize_t n = read(fd, room, 16384);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return HIWAT_E_SYS;
		if (n == 0)
			break;
		buf_advance(content, (size_t)n);
	}
	return HIWAT_OK;
}

int
yaml_tree_load(const char *path, struct arena *arena, struct diag *diag, struct yaml_node **root)
{
	struct buf content;
	int err = HIWAT_E_SYS;

	buf_init(&content, YAML_BYTES_MAX + 2 * 16384);
	/* Not waiting: a fifo in place of the file must not stop a daemon. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0)
		err = read_all(fd, &content);
	if (err != 0)
		diag_add(diag, path, 0, 0, "cannot be read: %s", err == HIWAT_E_SYS ? strerror(errno) : err_text(err));
	else
		err = yaml_tree_parse(path, buf_str(&content), content.len, arena, diag, root);
	if (fd >= 0)
		close(fd);
	buf_fini(&content);
	return err;
}

struct yaml_node *
yaml_get(const struct yaml_node *mapping, const char *key)
{
	if (mapping->kind != YAML_MAPPING)
		return NULL;
	for (struct yaml_node *n = mapping->first; n != NULL; n = n->next) {
		if (strcmp(n->key, key) == 0)
			return n;
	}
	return NULL;
}

bool
yaml_is_null(const struct yaml_node *node)
{
	return node->kind == YAML_SCALAR && !node->quoted &&
	    (node->len == 0 || strcmp(node->text, "~") == 0 || strcmp(node->text, "null") == 0);
}

void
yaml_complain(struct diag *d, const struct yaml_node *node, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	diag_vadd(d, node->file, node->line, node->column, fmt, ap);
	va_end(ap);
}

void
yaml_complain_key(struct diag *d, const struct yaml_node *node, const char *fmt, ...)
{
	bool has_key = node->key != NULL;
	va_list ap;

	va_start(ap, fmt);
	diag_vadd(d, node->file, has_key ? node->key_line : node->line, has_key ? node->key_column : node->column, fmt, ap);
	va_end(ap);
}

const char *
yaml_kind_text(const struct yaml_node *node)
{
	static const char *const texts[] = {
		[YAML_SCALAR] = "text",
		[YAML_SEQUENCE] = "a list",
		[YAML_MAPPING] = "a mapping",
	};

	return texts[node->kind];
}
