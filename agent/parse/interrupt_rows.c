#include "interrupt_rows.h"

#include "err.h"

/* Digits at the start. */
static struct text
take_digits(struct text *t)
{
	struct text digits = { t->p, 0 };

	while (t->n > 0 && *t->p >= '0' && *t->p <= '9') {
		t->p++;
		t->n--;
		digits.n++;
	}
	return digits;
}

static bool
split_leading(struct text name, struct text *irq, struct text *device)
{
	struct text t = name;

	if (!text_skip(&t, "irq"))
		return false;
	*irq = take_digits(&t);
	if (irq->n == 0 || (t.n > 0 && *t.p != ':' && *t.p != '/' && *t.p != ' '))
		return false;
	if (t.n > 0 && *t.p != ' ') {
		t.p++;
		t.n--;
	}
	*device = text_trim(t);
	/* DragonFly's -v: "irq16    0: ahci0" has the CPU before the colon; a source counts over all CPUs. */
	t = *device;
	if (take_digits(&t).n > 0 && text_skip(&t, ":"))
		*device = text_trim(t);
	return true;
}

/* "ata0 irq14" of FreeBSD 4; "stray irq7" of all. */
static bool
split_trailing(struct text name, struct text *irq, struct text *device)
{
	struct text before = name, last;

	if (!text_last_word(&before, &last) || before.n == 0 || !text_skip(&last, "irq"))
		return false;
	*irq = take_digits(&last);
	*device = before;
	return irq->n > 0 && last.n == 0;
}

/* "gic0,s29: mmc0": controllers outside of x86 number by themselves. */
static bool
split_controller(struct text name, struct text *irq, struct text *device)
{
	struct text t = name;
	size_t comma = 0;

	if (!text_until(&t, ':', irq))
		return false;
	while (comma < irq->n && irq->p[comma] != ',' && irq->p[comma] != ' ')
		comma++;
	if (comma == 0 || comma + 1 >= irq->n || irq->p[comma] != ',')
		return false;
	*device = text_trim(t);
	return true;
}

void
interrupt_name_split(struct text name, struct text *irq, struct text *device)
{
	name = text_trim(name);
	if (!split_leading(name, irq, device) && !split_trailing(name, irq, device) &&
	    !split_controller(name, irq, device)) {
		*irq = (struct text){ name.p, 0 };
		*device = name;
	}
}

int
interrupt_rows_init(struct interrupt_rows *rows, struct arena *arena, Hiwat__Record *record)
{
	rows->arena = arena;
	record_index_init(&rows->index, arena);
	rows->interrupt = RECORD_ONE(arena, record, interrupt, interrupt);
	return rows->interrupt != NULL ? HIWAT_OK : HIWAT_E_NOMEM;
}

int
interrupt_rows_add(struct interrupt_rows *rows, struct text name, uint64_t total)
{
	struct text irq, device;

	interrupt_name_split(name, &irq, &device);
	Hiwat__InterruptsBySource *row =
	    RECORD_INDEX_ROW(&rows->index, rows->interrupt, sources, interrupts_by_source, irq, device);
	if (row == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(row, total, row->total + total);
	return HIWAT_OK;
}

int
interrupt_rows_set_all(struct interrupt_rows *rows, uint64_t total)
{
	Hiwat__InterruptsAll *all = RECORD_ONE(rows->arena, rows->interrupt, all, interrupts_all);

	if (all == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(all, total, total);
	return HIWAT_OK;
}
