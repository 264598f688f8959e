#include "busiest.h"

#include <stdbool.h>

#include "arena.h"
#include "err.h"
#include "record.h"

#define SHOWN_MAX 32
#define PACE_WEIGHT 0.1 /* of the newest reading in the moving average that ranks sources */
#define PACE_MIN 100.0  /* interrupts per reading below which a source is not worth a place */

#define FLAG_SHOWN 1u

/* The place of the best or the worst by pace among those that are shown or not; -1: there is none. */
static long
extreme(struct live_row *const *of, size_t n, bool shown, bool want_highest)
{
	long best = -1;

	for (size_t i = 0; i < n; i++) {
		if (((of[i]->flags & FLAG_SHOWN) != 0) != shown)
			continue;
		if (best < 0 || (want_highest ? of[i]->pace > of[best]->pace : of[i]->pace < of[best]->pace))
			best = (long)i;
	}
	return best;
}

/*
 * At first those that counted most since boot; later one source per reading may take the place of one that is half as busy.
 * What is not shown counts for the others, so that neither steps back when places change.
 */
static void
choose_shown(struct busiest *b, struct live_row *const *of, size_t n)
{
	size_t n_shown = 0;

	for (size_t i = 0; i < n; i++) {
		double grown = (double)(b->has_shown ? of[i]->grown : of[i]->total);
		of[i]->pace = b->has_shown ? of[i]->pace + (grown - of[i]->pace) * PACE_WEIGHT : grown;
		n_shown += (of[i]->flags & FLAG_SHOWN) != 0;
	}
	while (n_shown < SHOWN_MAX) {
		long next = extreme(of, n, false, true);
		if (next < 0)
			break;
		of[next]->flags |= FLAG_SHOWN;
		n_shown++;
	}
	if (b->has_shown) {
		long in = extreme(of, n, false, true), out = extreme(of, n, true, false);
		if (in >= 0 && out >= 0 && of[in]->pace > PACE_MIN && of[in]->pace > 2 * of[out]->pace) {
			of[in]->flags |= FLAG_SHOWN;
			of[out]->flags &= ~FLAG_SHOWN;
		}
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t grown = b->has_shown ? of[i]->grown : of[i]->total;
		if ((of[i]->flags & FLAG_SHOWN) != 0)
			of[i]->shown += grown;
		else
			b->others += grown;
		if (!b->has_shown)
			of[i]->pace = 0; /* totals since boot say nothing about the pace of readings */
	}
	b->has_shown = true;
}

int
busiest_keep(struct busiest *b, busiest_key *key, struct arena *arena, Hiwat__Interrupt *m)
{
	size_t n = m->n_sources, kept = 0;
	char room[LIVE_NAME_MAX + 1];
	struct live_row **of = arena_calloc(arena, n, sizeof(struct live_row *));

	if (of == NULL)
		return HIWAT_E_NOMEM;
	live_rewind(b->rows);
	for (size_t i = 0; i < n; i++) {
		of[i] = live_find(b->rows, key(m->sources[i], room));
		if (of[i] == NULL)
			return HIWAT_E_NOMEM;
	}
	choose_shown(b, of, n);
	for (size_t i = 0; i < n; i++) {
		if ((of[i]->flags & FLAG_SHOWN) == 0)
			continue;
		m->sources[i]->total = of[i]->shown;
		m->sources[kept++] = m->sources[i];
	}
	m->n_sources = kept;
	if (kept == n)
		return HIWAT_OK;
	Hiwat__InterruptsBySource *rest = RECORD_ADD(arena, m, sources, interrupts_by_source);
	if (rest == NULL || (rest->irq = record_label(arena, TEXT(""))) == NULL ||
	    (rest->device = record_label(arena, TEXT("others"))) == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(rest, total, b->others);
	return HIWAT_OK;
}
