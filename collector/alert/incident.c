#include "incident.h"

#include <gnutls/crypto.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "err.h"

const char *
incident_status_word(enum incident_status status)
{
	static const char *const words[] = {
		[INCIDENT_OPEN] = "open",
		[INCIDENT_RESOLVED] = "resolved",
		[INCIDENT_WAS] = "was",
		[INCIDENT_GAVE_UP] = "gave_up",
	};
	return words[status];
}

int
incident_hash(const uint8_t host_uuid[16], const char *cause, const char *object, uint8_t key[16])
{
	uint8_t digest[32];
	gnutls_hash_hd_t hash;

	if (gnutls_hash_init(&hash, GNUTLS_DIG_SHA256) < 0)
		return HIWAT_E_SYS;
	/* The NUL between cause and object keeps "a" + "bc" and "ab" + "c" apart. */
	int failed = gnutls_hash(hash, host_uuid, 16) < 0 || gnutls_hash(hash, cause, strlen(cause) + 1) < 0 ||
	    gnutls_hash(hash, object, strlen(object)) < 0;
	gnutls_hash_deinit(hash, digest);
	if (failed)
		return HIWAT_E_SYS;
	memcpy(key, digest, 16);
	return 0;
}

void
incident_key_text(const uint8_t key[16], char text[INCIDENT_KEY_LEN + 1])
{
	for (size_t i = 0; i < 16; i++)
		snprintf(text + 2 * i, 3, "%02x", key[i]);
}

bool
incident_key_parse(const char *text, uint8_t key[16])
{
	static const char digits[] = "0123456789abcdef";
	uint8_t parsed[16] = { 0 };

	if (strlen(text) != INCIDENT_KEY_LEN)
		return false;
	for (size_t i = 0; i < INCIDENT_KEY_LEN; i++) {
		const char *digit = strchr(digits, text[i]);

		if (digit == NULL)
			return false;
		parsed[i / 2] = (uint8_t)(parsed[i / 2] << 4 | (digit - digits));
	}
	memcpy(key, parsed, 16);
	return true;
}

bool
incident_set(char **out, const char *s)
{
	char *copy = strdup(s == NULL ? "" : s);

	if (copy == NULL)
		return false;
	free(*out);
	*out = copy;
	return true;
}

void
incident_line_fini(struct incident_line *line)
{
	free(line->rule_id);
	free(line->labels);
	free(line->summary);
	free(line->description);
	free(line->remedy);
	free(line->doc);
	free(line->threshold_source);
	free(line->reason);
	*line = (struct incident_line){ 0 };
}

void
incident_fini(struct incident *i)
{
	free(i->host_name);
	free(i->host_os);
	free(i->host_release);
	free(i->host_labels_json);
	free(i->cause);
	free(i->object);
	free(i->labels_json);
	free(i->by);
	free(i->told_routes);
	for (size_t k = 0; k < i->n_lines; k++)
		incident_line_fini(&i->lines[k]);
	*i = (struct incident){ 0 };
}

struct incident_line *
incident_find_line(struct incident *i, const char *rule_id, const char *labels)
{
	for (size_t k = 0; k < i->n_lines; k++)
		if (strcmp(i->lines[k].rule_id, rule_id) == 0 && strcmp(i->lines[k].labels, labels) == 0)
			return &i->lines[k];
	return NULL;
}

int
incident_add_line(struct incident *i, const char *rule_id, const char *labels, enum rule_level level,
    struct incident_line **out)
{
	struct incident_line *last = &i->lines[INCIDENT_LINES_MAX - 1];
	if (i->n_lines == INCIDENT_LINES_MAX && last->status != RULE_OK && last->level >= level)
		return HIWAT_E_FULL;

	struct incident_line line = {
		.status = RULE_OK,
		.level = level,
		.value = NAN,
		.threshold = NAN,
		.used = NAN,
		.limit = NAN,
		.seconds_to_limit = NAN,
	};

	if (!incident_set(&line.rule_id, rule_id) || !incident_set(&line.labels, labels) ||
	    !incident_set(&line.summary, "") || !incident_set(&line.description, "") || !incident_set(&line.remedy, "") ||
	    !incident_set(&line.doc, "") || !incident_set(&line.threshold_source, "") || !incident_set(&line.reason, "")) {
		incident_line_fini(&line);
		return HIWAT_E_NOMEM;
	}
	if (i->n_lines == INCIDENT_LINES_MAX)
		incident_line_fini(last);
	else
		last = &i->lines[i->n_lines++];
	*last = line;
	*out = last;
	return 0;
}

/* Whether a stands before b: what holds before what is cleared, then the worse, then the older. */
static bool
before(const struct incident_line *a, const struct incident_line *b)
{
	bool a_holds = a->status != RULE_OK, b_holds = b->status != RULE_OK;

	if (a_holds != b_holds)
		return a_holds;
	if (a->level != b->level)
		return a->level > b->level;
	return a->since_ns < b->since_ns;
}

bool
incident_settle(struct incident *i)
{
	bool holds = false;

	for (size_t k = 1; k < i->n_lines; k++) {
		struct incident_line line = i->lines[k];
		size_t at = k;

		for (; at > 0 && before(&line, &i->lines[at - 1]); at--)
			i->lines[at] = i->lines[at - 1];
		i->lines[at] = line;
	}
	i->blind_since_ns = 0;
	i->object_gone = false;
	for (size_t k = 0; k < i->n_lines; k++) {
		const struct incident_line *line = &i->lines[k];

		if (line->status == RULE_OK)
			continue;
		holds = true;
		i->object_gone = i->object_gone || line->gone;
		if (line->status == RULE_UNKNOWN && (i->blind_since_ns == 0 || line->blind_ns < i->blind_since_ns))
			i->blind_since_ns = line->blind_ns;
	}
	if (holds)
		i->level = i->lines[0].level;
	return holds;
}
