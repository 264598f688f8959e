#include "self.h"

#include "arena.h"
#include "clock.h"
#include "err.h"
#include "identity.h"
#include "outcome.h"
#include "record.h"
#include "recording.h"
#include "sampler.h"
#include "spool.h"

static const struct sampler sampler_self = { .name = "self", .help = "the agent itself" };

static int
add_fate(struct arena *arena, Hiwat__Agent *agent, const char *name, uint64_t total)
{
	Hiwat__AgentBatchesByFate *fate = RECORD_ADD(arena, agent, batches, agent_batches_by_fate);

	if (fate == NULL || (fate->fate = record_label(arena, text_of(name))) == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(fate, total, total);
	return HIWAT_OK;
}

static int
add_info(struct arena *arena, Hiwat__Agent *agent, const struct identity *id)
{
	Hiwat__AgentInfo *info = RECORD_ADD(arena, agent, info, agent_info);

	if (info == NULL || (info->version = record_label(arena, text_of(HIWAT_VERSION))) == NULL ||
	    (info->os = record_label(arena, text_of(id->os))) == NULL ||
	    (info->release = record_label(arena, text_of(id->release))) == NULL ||
	    (info->arch = record_label(arena, text_of(id->arch))) == NULL)
		return HIWAT_E_NOMEM;
	return HIWAT_OK;
}

int
self_record(const struct identity *identity, const struct spool_counts *counts, const struct recorder_counts *recording,
    uint64_t wall_ns, struct arena *arena, Hiwat__Batch *batch)
{
	const struct {
		const char *name;
		uint64_t total;
	} fates[] = {
		{ "produced", counts->produced },
		{ "acknowledged", counts->acknowledged },
		{ "dropped_full", counts->dropped_full },
		{ "dropped_corrupt", counts->dropped_corrupt },
		{ "rejected", counts->rejected },
	};
	struct outcome outcome = { .record = RECORD_ADD(arena, batch, records, record) };

	if (outcome.record == NULL)
		return HIWAT_E_NOMEM;
	Hiwat__Agent *agent = RECORD_ONE(arena, outcome.record, agent, agent);
	if (agent == NULL || add_info(arena, agent, identity) != 0)
		return HIWAT_E_NOMEM;
	RECORD_SET(agent, spool_bytes, counts->bytes);
	for (size_t i = 0; i < sizeof(fates) / sizeof(fates[0]); i++) {
		if (add_fate(arena, agent, fates[i].name, fates[i].total) != 0)
			return HIWAT_E_NOMEM;
	}
	if (recording != NULL) {
		Hiwat__AgentRecording *r = RECORD_ONE(arena, agent, recording, agent_recording);
		if (r == NULL)
			return HIWAT_E_NOMEM;
		RECORD_SET(r, batches_total, recording->batches);
		RECORD_SET(r, lost_total, recording->lost);
	}
	return outcome_record(&outcome, &sampler_self, wall_ns, arena) != NULL ? HIWAT_OK : HIWAT_E_NOMEM;
}
