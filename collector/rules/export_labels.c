/* Which labels rows of an expression have, as far as the catalogue tells. */
#include "catalogue.h"
#include "export_promql.h"

bool
label_names_have(const struct label_names *l, const char *name)
{
	for (unsigned i = 0; i < l->n; i++) {
		if (strcmp(l->names[i], name) == 0)
			return true;
	}
	return false;
}

void
label_names_add(struct label_names *l, const char *name)
{
	unsigned i;

	if (label_names_have(l, name) || l->n == LABEL_NAMES_MAX)
		return;
	for (i = l->n++; i > 0 && strcmp(l->names[i - 1], name) > 0; i--)
		l->names[i] = l->names[i - 1];
	l->names[i] = name;
}

void
label_names_add_all(struct label_names *to, const struct label_names *from)
{
	for (unsigned i = 0; i < from->n; i++)
		label_names_add(to, from->names[i]);
}

bool
label_list_has(const struct label_list *l, const char *name)
{
	for (unsigned i = 0; i < l->n; i++) {
		if (strcmp(l->names[i], name) == 0)
			return true;
	}
	return false;
}

bool
node_has_rows_of_right(const struct node *n)
{
	struct label_names left, right;

	if (n->b == NULL || n->join != JOIN_EQUAL || n->op == NODE_OR || n->op == NODE_UNLESS)
		return false;
	label_names_of(n->a, &left);
	label_names_of(n->b, &right);
	return n->op == NODE_AND ? !n->a->has_series : left.n == 0 && right.n > 0;
}

void
label_names_of(const struct node *n, struct label_names *out)
{
	struct label_names more;

	out->n = 0;
	if (n->op == NODE_SERIES && !n->is_bare) {
		for (unsigned i = 0; i < catalogue_metrics[n->metric].n_labels; i++)
			label_names_add(out, catalogue_metrics[n->metric].labels[i]);
	} else if (n->op == NODE_AGGREGATE) {
		for (unsigned i = 0; i < n->labels.n; i++)
			label_names_add(out, n->labels.names[i]);
	} else if (n->b != NULL && node_has_rows_of_right(n)) {
		label_names_of(n->b, out);
	} else if (n->a != NULL) {
		label_names_of(n->a, out);
		if (n->op == NODE_OR) {
			label_names_of(n->b, &more);
			label_names_add_all(out, &more);
		}
	}
}

bool
node_is_free(const struct node *n, const char *label)
{
	struct label_names all;

	label_names_of(n, &all);
	if (!label_names_have(&all, label))
		return false;
	if (n->op == NODE_SERIES) {
		for (unsigned i = 0; i < n->n_matchers; i++) {
			if (n->matchers[i].kind == MATCH_EQ && strcmp(n->matchers[i].label, label) == 0)
				return false;
		}
		return true;
	}
	if (n->op == NODE_WINDOW || n->op == NODE_NEG || n->op == NODE_CALL || n->op == NODE_AGE ||
	    (n->op >= NODE_ADD && n->op <= NODE_GE && !node_has_rows_of_right(n)))
		return node_is_free(n->a, label);
	return true;
}
