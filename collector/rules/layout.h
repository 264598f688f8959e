/* From what bind.c made to a plan: order, places, lists. */
#ifndef HIWAT_COLLECTOR_LAYOUT_H
#define HIWAT_COLLECTOR_LAYOUT_H

#include "bind.h"

/* A plan in the making; all memory is the binder's. */
struct making {
	struct binder *b;
	struct plan_row *rows;
	uint32_t n_rows;
	operand *operands;
	uint32_t n_operands;
};

/* A plan of its own memory, or NULL with the binder's err set. draft: what is known of it already. */
struct plan *plan_layout(struct making *m, const struct plan *draft);
void plan_free(struct plan *p);
/* By node, then labels; for qsort and bsearch. */
int plan_compare_windows(const void *x, const void *y);

#endif
