#include "series.h"

#include <stdlib.h>
#include <string.h>

#include "labels.h"

static uint64_t
hash_series(const struct series_key *series, uint32_t n)
{
	uint64_t h = n;

	/* FNV-1a by the number instead of the byte. */
	for (uint32_t i = 0; i < n; i++)
		h = (h ^ ((uint64_t)series[i].metric << 32 | series[i].labels)) * 1099511628211ull;
	return h ^ h >> 32;
}

static int
same_series(const struct series_list *list, const struct series_key *series, uint32_t n)
{
	if (list->n != n)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		if (list->series[i].labels != series[i].labels || list->series[i].metric != series[i].metric)
			return 0;
	}
	return 1;
}

struct series_list *
series_share(struct labels *t, const struct series_key *series, uint32_t n)
{
	uint64_t hash = hash_series(series, n);
	struct series_list **bucket = labels_series(t, hash), *list;

	if (bucket == NULL)
		return NULL;
	for (list = *bucket; list != NULL; list = list->next) {
		if (list->hash == hash && same_series(list, series, n))
			return series_use(list);
	}
	list = malloc(sizeof(*list) + n * sizeof(list->series[0]));
	if (list == NULL)
		return NULL;
	*list = (struct series_list){ .next = *bucket, .at = bucket, .hash = hash, .users = 1, .n = n };
	if (n > 0)
		memcpy(list->series, series, n * sizeof(*series));
	if (list->next != NULL)
		list->next->at = &list->next;
	*bucket = list;
	return list;
}

struct series_list *
series_use(struct series_list *list)
{
	if (list != NULL)
		list->users++;
	return list;
}

void
series_release(struct series_list *list)
{
	if (list == NULL || --list->users > 0)
		return;
	if (list->at != NULL) {
		*list->at = list->next;
		if (list->next != NULL)
			list->next->at = list->at;
	}
	free(list);
}
