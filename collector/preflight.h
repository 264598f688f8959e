/* Whether what would be sent is within what receivers take, asked before it is needed at night. */
#ifndef HIWAT_COLLECTOR_PREFLIGHT_H
#define HIWAT_COLLECTOR_PREFLIGHT_H

#include <stdbool.h>

struct buf;
struct routes;

/*
 * Renders the largest incident that there can be, with each event and with texts of several kinds of characters, through the
 * sink of each route. False, and a line in errors for each route whose receiver would refuse it.
 */
bool preflight_routes(const struct routes *routes, struct buf *errors);

#endif
