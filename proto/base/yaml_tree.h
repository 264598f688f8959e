/*
 * YAML as a bounded tree whose nodes know where they stand. Only what configuration needs: one document, no anchors,
 * aliases or tags, keys are plain text and unique. (Not called yaml.h: that is libyaml's.)
 */
#ifndef HIWAT_BASE_YAML_TREE_H
#define HIWAT_BASE_YAML_TREE_H

#include <stdbool.h>
#include <stddef.h>

struct arena;
struct diag;

#define YAML_BYTES_MAX (1u << 20)
#define YAML_DEPTH_MAX 32
#define YAML_NODES_MAX 65536
#define YAML_KEYS_MAX 4096         /* of one mapping */
#define YAML_ARENA_MAX (32u << 20) /* enough for any tree within these limits */

enum yaml_kind { YAML_SCALAR, YAML_SEQUENCE, YAML_MAPPING };

struct yaml_node {
	enum yaml_kind kind;
	const char *file;
	unsigned line, column; /* from 1 */

	const char *text; /* a scalar's content, NUL-terminated, no NUL inside */
	size_t len;
	bool quoted; /* written in quotes or as a block: text, whatever it looks like */

	struct yaml_node *first; /* elements of a sequence, values of a mapping, in the order of the file */
	unsigned count;

	struct yaml_node *next; /* the next one in the same sequence or mapping */
	const char *key;        /* inside a mapping: the key of this value, and where it stands */
	unsigned key_line, key_column;
};

/*
 * Parses text[0..len). Nodes, strings and a copy of the file's name live in the arena. An empty document is an empty
 * mapping. On failure the complaint is in diag: HIWAT_E_CONFIG, or HIWAT_E_NOMEM.
 */
int yaml_tree_parse(const char *file, const char *text, size_t len, struct arena *arena, struct diag *diag,
    struct yaml_node **root);
/* The same for a file's content; HIWAT_E_SYS when it cannot be read. */
int yaml_tree_load(const char *path, struct arena *arena, struct diag *diag, struct yaml_node **root);

/* The value under a key of a mapping; NULL when absent or when the node is no mapping. */
struct yaml_node *yaml_get(const struct yaml_node *mapping, const char *key);
/* Nothing was written, or ~ or null. */
bool yaml_is_null(const struct yaml_node *node);
/* Adds a complaint at the node, or at its key. */
void yaml_complain(struct diag *d, const struct yaml_node *node, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void
yaml_complain_key(struct diag *d, const struct yaml_node *node, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* "text", "a list" or "a mapping": what the node is, for complaints. */
const char *yaml_kind_text(const struct yaml_node *node);

#endif
