/* hiwat-collector rules export: the rules for another program. */
#include "cmd_rules_export.h"

#include <stdio.h>

#include "buf.h"
#include "err.h"
#include "export.h"

#define EXPORT_MAX (16u << 20)

int
cmd_rules_export(const struct rule_set *rules, bool list_missing)
{
	struct buf out, missing;
	struct export_count count;

	buf_init(&out, EXPORT_MAX);
	buf_init(&missing, EXPORT_MAX);
	int err = rules_export_prometheus(rules, &out, &missing, &count);
	if (err != HIWAT_OK)
		fprintf(stderr, "hiwat-collector rules: export: %s\n", err_text(err));
	else
		fputs(list_missing ? buf_str(&missing) : buf_str(&out), stdout);
	buf_fini(&out);
	buf_fini(&missing);
	return err == HIWAT_OK ? 0 : 1;
}
