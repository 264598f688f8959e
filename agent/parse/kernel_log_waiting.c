/* The half-read events of the kernel log's reader: blocks of lines in hand, and what waits for another line. */
#include "kernel_log_state.h"

#include <string.h>

struct kl_block *
kl_block(struct kernel_log *k, struct text name, bool make)
{
	struct kl_block *oldest = &k->blocks[0];
	char kept[KL_NAME];

	kl_copy(kept, sizeof(kept), name);
	for (int i = 0; i < KL_BLOCKS; i++) {
		struct kl_block *b = &k->blocks[i];
		if (b->kind != KL_BLOCK_NONE && memcmp(b->device, kept, sizeof(kept)) == 0) {
			oldest = b;
			if (!make)
				return b;
			break;
		}
		if (b->kind == KL_BLOCK_NONE ? oldest->kind != KL_BLOCK_NONE : b->line < oldest->line)
			oldest = b;
	}
	if (!make)
		return NULL;
	memset(oldest, 0, sizeof(*oldest));
	memcpy(oldest->device, kept, sizeof(kept));
	oldest->line = k->line;
	return oldest;
}

unsigned
kl_next_waiting(const struct kernel_log *k, int kind, unsigned i)
{
	const uint8_t *kinds = k->waiting_kinds;
	const uint8_t *hit = i < KL_WAITING ? memchr(kinds + i, kind, KL_WAITING - i) : NULL;

	return hit != NULL ? (unsigned)(hit - kinds) : KL_WAITING;
}

struct kl_waiting *
kl_waiting(struct kernel_log *k, int kind, struct text name)
{
	struct kl_waiting *found = NULL;
	char kept[KL_NAME];

	kl_copy(kept, sizeof(kept), name);
	for (unsigned i = 0; (i = kl_next_waiting(k, kind, i)) < KL_WAITING; i++) {
		struct kl_waiting *w = &k->waiting[i];
		if ((name.n == 0 || memcmp(w->name, kept, sizeof(kept)) == 0) && (found == NULL || w->line < found->line))
			found = w;
	}
	return found;
}

void
kl_drop(struct kernel_log *k, struct kl_waiting *w)
{
	k->waiting_kinds[w - k->waiting] = KL_WAIT_NONE;
}

struct kl_waiting *
kl_wait(struct kernel_log *k, int kind, struct text name)
{
	unsigned i = kl_next_waiting(k, KL_WAIT_NONE, 0);

	if (i == KL_WAITING) {
		i = 0;
		for (unsigned j = 1; j < KL_WAITING; j++)
			i = k->waiting[j].line < k->waiting[i].line ? j : i;
		kl_settle(k, &k->waiting[i]);
	}
	struct kl_waiting *w = &k->waiting[i];
	memset(w, 0, sizeof(*w));
	k->waiting_kinds[i] = (uint8_t)kind;
	w->retries = -1;
	w->line = k->line;
	w->time = k->time;
	kl_copy(w->name, sizeof(w->name), name);
	return w;
}

void
kl_settle(struct kernel_log *k, struct kl_waiting *w)
{
	struct kl_waiting settled = *w;
	int kind = k->waiting_kinds[w - k->waiting];
	int64_t time = k->time;
	uint64_t times = k->times;
	struct kl_told told = {
		.device = text_of(settled.name),
		.driver = text_of(settled.driver),
		.operation = text_of(settled.operation),
		.id = settled.id,
		.retries = settled.retries,
	};

	kl_drop(k, w);
	k->time = settled.time;
	k->times = 1;
	if (kind == KL_WAIT_ATA) {
		int open = kl_find_newest(k, told.device, told.operation);
		/* Without an LBA only the count of retries tells a retry from a new command. */
		if (settled.is_failure) {
			if (open < 0)
				kl_timeout(k, &told);
			kl_failure(k, told.device, told.driver);
			kl_close_slot(k, kl_find_newest(k, told.device, told.operation));
		} else if (open >= 0 && (settled.retries < 0 || k->commands[open].retries > settled.retries)) {
			k->commands[open].retries = settled.retries;
			k->commands[open].line = k->line;
			k->commands[open].time = k->time;
		} else {
			kl_timeout(k, &told);
		}
	} else {
		if (kind == KL_WAIT_WD)
			told.operation = TEXT(""); /* holds the controller's name */
		kl_timeout(k, &told);
	}
	k->time = time;
	k->times = times;
}

void
kl_settle_all(struct kernel_log *k, int64_t until)
{
	for (;;) {
		struct kl_waiting *first = NULL;
		for (int i = 0; i < KL_WAITING; i++) {
			struct kl_waiting *w = &k->waiting[i];
			if (k->waiting_kinds[i] == KL_WAIT_NONE || (until != KERNEL_LOG_NO_TIME && w->time > until))
				continue;
			if (first == NULL || w->line < first->line)
				first = w;
		}
		if (first == NULL)
			return;
		kl_settle(k, first);
	}
}
