#include "kernel_log_rows.h"

#include <string.h>

#include "arena.h"
#include "buf.h"
#include "err.h"
#include "kernel_log.h"
#include "unit.h"

const char *
kernel_log_told(const Hiwat__Record *r)
{
	static struct buf b;

	if (b.limit == 0)
		buf_init(&b, 1 << 20);
	buf_reset(&b);
	for (size_t i = 0; r->storage != NULL && i < r->storage->n_disks; i++) {
		const Hiwat__Disk *d = r->storage->disks[i];
		for (size_t j = 0; j < d->n_timeouts; j++)
			buf_printf(&b, "T %s %s %llu;", d->device, d->timeouts[j]->operation,
			    (unsigned long long)d->timeouts[j]->total);
		if (d->has_failures_total)
			buf_printf(&b, "F %s %llu;", d->device, (unsigned long long)d->failures_total);
		if (d->has_resets_total)
			buf_printf(&b, "R %s %llu;", d->device, (unsigned long long)d->resets_total);
		if (d->has_stuck_command_seconds)
			buf_printf(&b, "S %s %.0f;", d->device, d->stuck_command_seconds);
	}
	for (size_t i = 0; r->interrupt != NULL && i < r->interrupt->n_storms; i++) {
		const Hiwat__InterruptStormsBySource *s = r->interrupt->storms[i];
		buf_printf(&b, "I %s %s %llu;", s->irq, s->device, (unsigned long long)s->total);
	}
	if (r->net != NULL) {
		for (size_t i = 0; i < r->net->n_limit_reports; i++)
			buf_printf(&b, "L %s %llu;", r->net->limit_reports[i]->resource,
			    (unsigned long long)r->net->limit_reports[i]->total);
		for (size_t i = 0; i < r->net->n_response_limits; i++)
			buf_printf(&b, "A %s %llu;", r->net->response_limits[i]->kind,
			    (unsigned long long)r->net->response_limits[i]->total);
		if (r->net->listen != NULL)
			buf_printf(&b, "Q %llu;", (unsigned long long)r->net->listen->overflows_total);
	}
	return buf_str(&b);
}

void
kernel_log_row_check(const struct kernel_log_row *row)
{
	Hiwat__Record record = HIWAT__RECORD__INIT;
	struct parse_input in = { .text = text_of(row->text) };
	struct parse_reason why = { "" };
	struct arena arena;

	arena_init(&arena, 1 << 20);
	int err = kernel_log_parse(&in, &arena, &record, &why);
	if (row->told == NULL) {
		ck_assert_msg(err == HIWAT_E_NODATA, "%s: not refused", row->name);
	} else {
		ck_assert_msg(err == 0, "%s: %s", row->name, why.text);
		const char *told = kernel_log_told(&record);
		ck_assert_msg(strcmp(told, row->told) == 0, "%s: told \"%s\", not \"%s\"", row->name, told, row->told);
	}
	arena_fini(&arena);
}
