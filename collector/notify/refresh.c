#include "refresh.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "clock.h"
#include "err.h"
#include "store.h"

#define TOPIC "notify"
#define PIECE_MAX 32 /* incidents */
#define WHY_MAX 400

struct piece {
	const char *route;
	char *incidents[PIECE_MAX];
	size_t n;
};

/* Whether a list with commas between has the name. */
static bool
list_has(const char *list, const char *name)
{
	size_t len = strlen(name);

	while (*list != '\0') {
		size_t n = strcspn(list, ",");

		if (n == len && strncmp(list, name, n) == 0)
			return true;
		list += n + (list[n] == ',');
	}
	return false;
}

/* Keeps what the route is to be told the end of. False when memory is out. */
static bool
take(void *arg, const char *json)
{
	struct piece *piece = arg;
	json_t *incident = json_loads(json, 0, NULL);
	const char *told = json_string_value(json_object_get(json_object_get(incident, "state"), "told_routes"));
	bool is_told = told != NULL && list_has(told, piece->route);

	json_decref(incident);
	if (!is_told)
		return true;
	piece->incidents[piece->n] = strdup(json);
	return piece->incidents[piece->n] != NULL && ++piece->n > 0;
}

static enum delivery
tell(struct refresh *r, const struct sink *sink, void *state, const struct route *route, struct store *store,
    struct buf *why)
{
	struct piece piece = { .route = route->name };
	enum delivery result = DELIVERY_DONE;
	int err = store_open_incidents(store, r->after, PIECE_MAX, take, &piece, &r->after);

	if (err != 0) {
		buf_printf(why, "the store: %s", err_text(err));
		result = DELIVERY_RETRY;
	} else if (piece.n > 0) {
		result = sink->refresh(state, route, (const char *const *)piece.incidents, piece.n, why);
	}
	for (size_t i = 0; i < piece.n; i++)
		free(piece.incidents[i]);
	return result;
}

uint64_t
refresh_step(struct refresh *r, const struct sink *sink, void *state, const struct route *route, struct store *store)
{
	uint64_t now_ns = clock_mono_ns();
	uint64_t period_ns = (route->refresh_ms != 0 ? route->refresh_ms : REFRESH_MS) * NSEC_PER_MSEC;
	struct buf why;

	if (sink->refresh == NULL)
		return UINT64_MAX;
	if (now_ns < r->next_ns)
		return r->next_ns;
	if (r->after == 0) {
		r->begun_ns = now_ns;
		r->lacking = false;
	}
	buf_init(&why, WHY_MAX);
	enum delivery result = tell(r, sink, state, route, store, &why);
	r->failures = result == DELIVERY_RETRY ? r->failures + 1 : 0;
	if (result != DELIVERY_DONE || why.len > 0) {
		log_complain(&r->complaint, now_ns, TOPIC, "route %s: telling again what is open: %s", route->name,
		    buf_str(&why));
		r->lacking = true;
	}
	buf_fini(&why);
	if (result == DELIVERY_RETRY) {
		/* All anew, and soon. */
		r->after = 0;
		r->next_ns = now_ns + period_ns / 4;
	} else if (r->after == 0) {
		r->next_ns = r->begun_ns + period_ns;
		if (!r->lacking)
			log_recovered(&r->complaint, TOPIC, "route %s: what is open is told again everywhere", route->name);
	}
	return r->next_ns;
}
