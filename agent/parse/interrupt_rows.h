/* Interrupt sources as the BSDs name them, text and JSON alike. */
#ifndef HIWAT_AGENT_INTERRUPT_ROWS_H
#define HIWAT_AGENT_INTERRUPT_ROWS_H

#include "record.h"
#include "record_row.h"

struct interrupt_rows {
	struct arena *arena;
	Hiwat__Interrupt *interrupt; /* of the record being filled */
	struct record_index index;
};

/* 0 or HIWAT_E_NOMEM. */
int interrupt_rows_init(struct interrupt_rows *rows, struct arena *arena, Hiwat__Record *record);
/* Adds a source, or its count to the one of the same name: names are cut short by some systems. 0 or HIWAT_E_NOMEM. */
int interrupt_rows_add(struct interrupt_rows *rows, struct text name, uint64_t total);
/* The count of all sources. 0 or HIWAT_E_NOMEM. */
int interrupt_rows_set_all(struct interrupt_rows *rows, uint64_t total);

/*
 * Splits a name: "irq16: mpt0 ehci0+", "irq96/acpi0", "ata0 irq14", "stray irq7" and "gic0,s29: mmc0" have a number or, the
 * last, what stands for one; in any other name all is device. Both parts point into the name.
 */
void interrupt_name_split(struct text name, struct text *irq, struct text *device);

#endif
