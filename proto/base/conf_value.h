/* Single values of the configuration: text to a member of the struct. Inside conf only. */
#ifndef HIWAT_BASE_CONF_VALUE_H
#define HIWAT_BASE_CONF_VALUE_H

#include "conf.h"

bool conf_is_collection(const struct conf_option *o);
/*
 * Parses a node, complaining with what is allowed. HIWAT_E_CONFIG, or HIWAT_E_NOMEM. member: the option's member in the
 * struct, zeroed before; on failure it stays so.
 */
int conf_value_read(const struct conf_option *o, const struct yaml_node *node, struct diag *diag, void *member);
/* An owned copy of the node's text that passed the option's check. */
int conf_value_text(const struct conf_option *o, const struct yaml_node *node, struct diag *diag, char **out);
/* The option's default, which must not be NULL. HIWAT_E_NOMEM, or HIWAT_E_CONFIG when the table is wrong. */
int conf_value_default(const struct conf_option *o, void *member);
/* "1 to 8", "at least 1", in the option's unit. */
void conf_value_range(const struct conf_option *o, char *out, size_t size);

#endif
