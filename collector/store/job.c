#include <stdlib.h>
#include <string.h>

#include "internal.h"

static bool
copy(const char *s, char **out, size_t *bytes)
{
	if (s == NULL) {
		*out = NULL;
		return true;
	}
	size_t size = strlen(s) + 1;
	*out = malloc(size);
	if (*out == NULL)
		return false;
	memcpy(*out, s, size);
	*bytes += size;
	return true;
}

struct job *
job_new_change(const struct store_change *change)
{
	struct job *job = calloc(1, sizeof(*job));
	struct store_incident *incidents = calloc(change->n_incidents + 1, sizeof(*incidents));
	struct store_silence *silence = change->silence != NULL ? calloc(1, sizeof(*silence)) : NULL;
	struct outbox_row *rows = calloc(change->n_notifications + 1, sizeof(*rows));
	if (job == NULL || incidents == NULL || rows == NULL || (change->silence != NULL && silence == NULL)) {
		free(job);
		free(incidents);
		free(silence);
		free(rows);
		return NULL;
	}
	*job = (struct job){ .kind = JOB_CHANGE, .change = *change };
	job->bytes = sizeof(*job) + change->n_incidents * sizeof(*incidents) + change->n_notifications * sizeof(*rows);
	job->change.incidents = incidents;
	job->change.notifications = rows;
	job->change.silence = silence;
	job->change.n_incidents = job->change.n_notifications = 0;
	for (size_t i = 0; i < change->n_incidents; i++) {
		char *json = NULL;

		if (!copy(change->incidents[i].json, &json, &job->bytes))
			goto fail;
		incidents[i] = change->incidents[i];
		incidents[i].json = json;
		job->change.n_incidents++;
	}
	for (size_t i = 0; i < change->n_notifications; i++) {
		const struct outbox_row *from = &change->notifications[i];

		rows[i] = *from;
		rows[i].route = rows[i].event = rows[i].payload = rows[i].last_error = NULL;
		job->change.n_notifications++;
		if (!copy(from->route, &rows[i].route, &job->bytes) || !copy(from->event, &rows[i].event, &job->bytes) ||
		    !copy(from->payload, &rows[i].payload, &job->bytes))
			goto fail;
	}
	if (silence != NULL) {
		char *json = NULL;

		*silence = *change->silence;
		silence->json = NULL;
		if (!copy(change->silence->json, &json, &job->bytes))
			goto fail;
		silence->json = json;
	}
	return job;
fail:
	job_free(job);
	return NULL;
}

struct job *
job_new_row(enum job_kind kind, int64_t id, uint64_t at_ns, const char *text)
{
	struct job *job = calloc(1, sizeof(*job));
	if (job == NULL)
		return NULL;
	*job = (struct job){ .kind = kind, .id = id, .at_ns = at_ns, .bytes = sizeof(*job) };
	if (!copy(text, &job->text, &job->bytes)) {
		free(job);
		return NULL;
	}
	return job;
}

void
job_free(struct job *job)
{
	if (job == NULL)
		return;
	if (job->kind == JOB_CHANGE) {
		/* The job made these arrays and strings itself: const is what the callers of store_put() see. */
		struct store_incident *incidents = (struct store_incident *)(uintptr_t)job->change.incidents;
		for (size_t i = 0; i < job->change.n_incidents; i++)
			free((char *)(uintptr_t)incidents[i].json);
		free(incidents);
		struct store_silence *silence = (struct store_silence *)(uintptr_t)job->change.silence;
		if (silence != NULL)
			free((char *)(uintptr_t)silence->json);
		free(silence);
		store_outbox_free((struct outbox_row *)(uintptr_t)job->change.notifications, job->change.n_notifications);
	}
	free(job->text);
	free(job);
}
