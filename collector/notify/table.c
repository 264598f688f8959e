#include <string.h>

#include "sinks.h"

const struct sink *const sinks[] = {
	&sink_webhook,
	&sink_command,
	&sink_alertmanager,
	&sink_pagerduty,
	&sink_slack,
	&sink_email,
	NULL,
};

const struct sink *
sink_find(const char *name)
{
	for (size_t i = 0; sinks[i] != NULL; i++)
		if (strcmp(sinks[i]->name, name) == 0)
			return sinks[i];
	return NULL;
}
