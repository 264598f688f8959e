/*
 * One thread samples and spools, the sender has its own, and samplers that may block have theirs. Nothing here waits for the
 * network, and for the disk only after the sender was woken.
 */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arena.h"
#include "buf.h"
#include "clock.h"
#include "cmd.h"
#include "codec.h"
#include "config.h"
#include "confine.h"
#include "diag.h"
#include "err.h"
#include "identity.h"
#include "log.h"
#include "recording.h"
#include "runner.h"
#include "scan.h"
#include "sd_notify.h"
#include "self.h"
#include "sender.h"
#include "spool.h"

#define TOPIC "run"
#define GRACE_MS 3000 /* for the last deliveries at the end */
#define NOTE_UPTIME_NS (300 * NSEC_PER_SEC)
#define SAMPLER_INTERVAL_MS 10000 /* samplers of this interval follow the configuration */

struct agent {
	const char *path;
	struct agent_config *config; /* as read last */
	struct agent_config *first;  /* as read at the start: what samplers and spool were opened with */
	struct sampler_config sampling;
	struct identity_options identify;
	struct identity identity;
	Hiwat__Host host;
	Hiwat__Label *labels, **label_list;
	char spool_dir[512];
	struct spool *spool;
	struct recorder *recorder; /* NULL: nothing is recorded */
	struct sender *sender;
	struct runner *runner;
	struct arena arena;
	struct buf encoded;
	uint64_t seed, uptime_noted_ns, watchdog_ns;
	bool is_ready;
	struct log_complaint spool_complaint, sync_complaint, batch_complaint, record_complaint;
};

static int signal_pipe[2] = { -1, -1 };

static void
on_signal(int number)
{
	int saved = errno;
	unsigned char byte = (unsigned char)number;

	/* A full pipe has enough to tell. */
	if (write(signal_pipe[1], &byte, 1) < 0)
		errno = saved;
	errno = saved;
}

static int
catch_signals(void)
{
	static const int numbers[] = { SIGTERM, SIGINT, SIGHUP };
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_RESTART }, ignore = { .sa_handler = SIG_IGN };

	if (pipe(signal_pipe) != 0)
		return HIWAT_E_SYS;
	for (int i = 0; i < 2; i++) {
		fcntl(signal_pipe[i], F_SETFD, FD_CLOEXEC);
		fcntl(signal_pipe[i], F_SETFL, O_NONBLOCK);
	}
	sigaction(SIGPIPE, &ignore, NULL);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaction(numbers[i], &sa, NULL);
	return HIWAT_OK;
}

/* What batches say of the host, from identity and configuration; strings are borrowed from both. */
static int
describe_host(struct agent *a)
{
	const struct conf_map *map = &a->config->labels;
	Hiwat__Label *labels = calloc(map->n + 1, sizeof(*labels));
	Hiwat__Label **list = calloc(map->n + 1, sizeof(Hiwat__Label *));

	if (labels == NULL || list == NULL) {
		free(labels);
		free(list);
		return HIWAT_E_NOMEM;
	}
	for (size_t i = 0; i < map->n; i++) {
		hiwat__label__init(&labels[i]);
		labels[i].name = map->pairs[i].name;
		labels[i].value = map->pairs[i].value;
		list[i] = &labels[i];
	}
	free(a->labels);
	free(a->label_list);
	a->labels = labels;
	a->label_list = list;
	hiwat__host__init(&a->host);
	a->host.has_uuid = a->host.has_boot_id = a->host.has_stream = a->host.has_boot_time = 1;
	a->host.uuid = (ProtobufCBinaryData){ .len = 16, .data = a->identity.uuid };
	a->host.boot_id = (ProtobufCBinaryData){ .len = 16, .data = a->identity.boot_id };
	a->host.stream = spool_stream(a->spool);
	a->host.boot_time = a->identity.boot_time;
	a->host.machine_id = a->identity.machine_id[0] != '\0' ? a->identity.machine_id : NULL;
	a->host.name = a->identity.name;
	a->host.n_labels = map->n;
	a->host.labels = list;
	a->host.os = a->identity.os;
	a->host.release = a->identity.release;
	a->host.agent_version = (char *)(uintptr_t)HIWAT_VERSION;
	return HIWAT_OK;
}

static void
tell_what_is_missing(const struct agent *a)
{
	const struct agent_config *c = a->config;

	if (c->collectors.n == 0)
		log_warn(TOPIC,
		    "no collector is configured: samples are kept in %s; name one under collectors: in %s and reload",
		    a->spool_dir, a->path != NULL ? a->path : AGENT_CONFIG_DEFAULT);
	else if (c->cert_file == NULL && c->token_file == NULL && !agent_config_is_plain(c->collectors.items[0]))
		log_warn(TOPIC,
		    "neither tls.cert_file nor token_file is configured: a collector that wants to know who speaks will "
		    "refuse this host; samples are kept until then");
}

static void
load_identity(struct agent *a)
{
	a->identify = (struct identity_options){
		.state_dir = a->first->state_dir,
		.proc_dir = a->sampling.proc_dir,
		.root = "",
		.name = a->config->name,
		.wall_ns = clock_wall_ns(),
		.boot_ns = clock_boot_ns(),
	};
	identity_load(&a->identify, &a->identity);
	if (a->identity.problem[0] != '\0')
		log_warn(TOPIC, "%s", a->identity.problem);
	memcpy(&a->seed, a->identity.uuid + 8, sizeof(a->seed));
	a->uptime_noted_ns = a->identify.boot_ns;
}

static int
open_spool(struct agent *a)
{
	struct spool_options options = {
		.dir = a->spool_dir,
		.max_bytes = a->first->spool_max_bytes,
		.min_free_bytes = a->first->spool_min_free_bytes,
	};

	memcpy(&options.boot, a->identity.boot_id, sizeof(options.boot));
	snprintf(a->spool_dir, sizeof(a->spool_dir), "%s/spool", a->first->state_dir);
	/* The uuid was lost, or this directory was copied without it: what is in the spool is not this host's. */
	int err = a->identity.is_new ? spool_set_aside(a->spool_dir) : HIWAT_E_MISSING;
	if (err == HIWAT_OK)
		log_warn(TOPIC, "%s is of another identity: set aside as %s.other, not sent", a->spool_dir, a->spool_dir);
	else if (err != HIWAT_E_MISSING)
		log_error(TOPIC, "%s is of another identity and cannot be set aside: %s", a->spool_dir, err_text(err));
	err = spool_open(&options, &a->spool);
	if (err == HIWAT_E_AGAIN)
		log_error(TOPIC, "%s: another agent is running with this state_dir", a->spool_dir);
	else if (err != 0)
		log_error(TOPIC, "%s: %s", a->spool_dir, err_text(err));
	return err;
}

static int
open_recorder(struct agent *a)
{
	struct recording_options options = recording_config_options(&a->first->record);

	if (options.dir == NULL)
		return HIWAT_OK;
	a->recorder = recorder_new(&options);
	return a->recorder != NULL ? HIWAT_OK : HIWAT_E_NOMEM;
}

static int
open_samplers(struct agent *a)
{
	a->sampling.state_dir = a->first->state_dir;
	agent_config_sampler(a->first, &a->sampling);
	int err = runner_new(&a->sampling, samplers, a->seed, &a->runner);
	if (err != 0) {
		log_error(TOPIC, "samplers: %s", err_text(err));
		return err;
	}
	for (const struct sampler *const *s = samplers; *s != NULL; s++) {
		if ((*s)->interval_ms == SAMPLER_INTERVAL_MS)
			(void)runner_set_interval(a->runner, (*s)->name, (unsigned)a->first->interval_ms);
	}
	/* Names of samplers of other systems are of no consequence here. */
	for (size_t i = 0; i < a->first->samplers_disabled.n; i++)
		(void)runner_set_interval(a->runner, a->first->samplers_disabled.items[i], 0);
	return HIWAT_OK;
}

/* Before the first thread: what is given up is given up for all that start later. */
static int
confine_agent(const struct agent *a)
{
	const char *const sockets[] = { a->first->unbound_control_socket };
	const char *const asked[] = { a->first->rndc, a->first->named_checkconf };
	const char *programs[sizeof(asked) / sizeof(asked[0])];
	size_t n_programs = 0;

	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		if (asked[i] != NULL)
			programs[n_programs++] = asked[i];
	}
	const struct confine_options options = {
		.state_dir = a->first->state_dir,
		.record_dir = a->first->record.dir,
		.sockets = sockets,
		.n_sockets = sockets[0] != NULL ? 1 : 0,
		.programs = programs,
		.n_programs = n_programs,
	};
	int err = confine(&options);

	if (err != 0)
		log_error(TOPIC, "cannot confine this process: %s", strerror(errno));
	return err;
}

static int
start(struct agent *a)
{
	log_set_level((enum log_level)a->config->log_level);
	load_identity(a);
	int err = open_spool(a);
	if (err == 0)
		err = open_recorder(a);
	if (err == 0)
		err = open_samplers(a);
	if (err == 0)
		err = describe_host(a);
	if (err == 0)
		err = confine_agent(a);
	if (err == 0)
		err = sender_new(a->config, a->spool, a->seed, &a->sender);
	if (err != 0)
		return err;
	char uuid[UUID_TEXT_BYTES];
	uuid_format(a->identity.uuid, uuid);
	log_info(TOPIC, "hiwat-agent " HIWAT_VERSION " on %s, uuid %s, %zu collectors", a->identity.name, uuid,
	    a->config->collectors.n);
	tell_what_is_missing(a);
	return HIWAT_OK;
}

static void
finish(struct agent *a)
{
	if (a->spool != NULL)
		(void)spool_sync(a->spool, clock_mono_ns() + 2 * NSEC_PER_SEC);
	sender_free(a->sender, GRACE_MS);
	if (a->runner != NULL)
		runner_free(a->runner);
	spool_close(a->spool);
	recorder_free(a->recorder);
	arena_fini(&a->arena);
	buf_fini(&a->encoded);
	free(a->labels);
	free(a->label_list);
}

static void
config_drop(struct agent_config *c)
{
	agent_config_free(c);
	free(c);
}

/* What cannot change while the agent runs. */
static bool
same_text(const char *a, const char *b)
{
	return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool
same_list(const struct conf_list *a, const struct conf_list *b)
{
	for (size_t i = 0; i < a->n && i < b->n; i++) {
		if (strcmp(a->items[i], b->items[i]) != 0)
			return false;
	}
	return a->n == b->n;
}

/* What the spool and the samplers were opened with. */
static bool
needs_restart(const struct agent_config *was, const struct agent_config *is)
{
	return !same_text(was->state_dir, is->state_dir) || was->interval_ms != is->interval_ms ||
	    was->spool_max_bytes != is->spool_max_bytes || !recording_config_same(&was->record, &is->record) ||
	    was->spool_min_free_bytes != is->spool_min_free_bytes ||
	    !same_list(&was->samplers_disabled, &is->samplers_disabled) ||
	    !same_text(was->unbound_control_socket, is->unbound_control_socket) ||
	    !same_text(was->unbound_control_address, is->unbound_control_address) ||
	    !same_text(was->unbound_control_keys, is->unbound_control_keys) ||
	    !same_text(was->dnsmasq_address, is->dnsmasq_address) || !same_list(&was->dns_forwarders, &is->dns_forwarders) ||
	    !same_text(was->bind_statistics_url, is->bind_statistics_url) || !same_text(was->rndc, is->rndc) ||
	    !same_text(was->rndc_config, is->rndc_config) || !same_text(was->named_checkconf, is->named_checkconf) ||
	    !same_text(was->named_conf, is->named_conf) || was->dns_budget_percent != is->dns_budget_percent;
}

static void
reload(struct agent *a)
{
	struct agent_config *fresh = calloc(1, sizeof(*fresh));
	struct diag diag;

	if (fresh == NULL)
		return;
	diag_init(&diag);
	int err = agent_config_load(a->path, fresh, &diag);
	if (err != 0) {
		struct text rest = text_of(diag_text(&diag)), line;
		while (text_line(&rest, &line, NULL))
			log_error(TOPIC, "%.*s", (int)line.n, line.p);
		log_error(TOPIC, "the configuration is not valid: the old one stays");
		diag_fini(&diag);
		free(fresh);
		return;
	}
	diag_fini(&diag);
	struct agent_config *old = a->config;
	a->config = fresh;
	log_set_level((enum log_level)fresh->log_level);
	load_identity(a);
	sender_free(a->sender, 0);
	a->sender = NULL;
	err = describe_host(a);
	if (err == 0)
		err = sender_new(a->config, a->spool, a->seed, &a->sender);
	if (err != 0)
		log_error(TOPIC, "%s; nothing is sent until the next reload", err_text(err));
	else
		log_info(TOPIC, "the configuration was read again, %zu collectors", fresh->collectors.n);
	if (needs_restart(a->first, fresh))
		log_warn(TOPIC, "state_dir, interval, spool, record, dns and samplers change with the next start only");
	tell_what_is_missing(a);
	if (old != a->first)
		config_drop(old);
}

static void
store_batch(struct agent *a, const Hiwat__Batch *batch, uint64_t now_ns)
{
	buf_reset(&a->encoded);
	int err = batch_encode(batch, &a->encoded);
	if (err == 0)
		err = spool_append(a->spool, a->encoded.data, a->encoded.len);
	if (err != 0) {
		log_complain(&a->batch_complaint, now_ns, TOPIC, "a batch of %zu records: %s; these samples are lost",
		    batch->n_records, err_text(err));
		return;
	}
	log_recovered(&a->batch_complaint, TOPIC, "batches can be kept again");
	if (a->sender != NULL)
		sender_wake(a->sender);
	if (spool_problem(a->spool)[0] != '\0')
		log_complain(&a->spool_complaint, now_ns, TOPIC, "%s; the newest batches are kept in memory",
		    spool_problem(a->spool));
	else
		log_recovered(&a->spool_complaint, TOPIC, "%s takes batches again", a->spool_dir);
}

/* NULL when nothing is recorded. */
static const struct recorder_counts *
recording_counts(const struct agent *a, struct recorder_counts *out)
{
	if (a->recorder == NULL)
		return NULL;
	recorder_count(a->recorder, out);
	return out;
}

static void
record_batch(struct agent *a, uint64_t wall_ns, uint64_t now_ns)
{
	const struct recording_entry entry = {
		.type = RECORDING_BATCH,
		.wall_ns = wall_ns,
		.sent_wall_ns = wall_ns,
		.data = (const uint8_t *)a->encoded.data,
		.len = a->encoded.len,
	};

	if (a->recorder == NULL || a->encoded.len == 0)
		return;
	int err = recorder_append(a->recorder, &entry);
	if (err != HIWAT_OK)
		log_complain(&a->record_complaint, now_ns, TOPIC,
		    "%s: batches cannot be recorded: %s; they are sent all the same", a->first->record.dir,
		    recorder_problem(err));
	else
		log_recovered(&a->record_complaint, TOPIC, "%s: batches are recorded again", a->first->record.dir);
}

static void
tick(struct agent *a)
{
	struct sampler_now now = { .wall_ns = clock_wall_ns(), .boot_ns = clock_boot_ns() };
	Hiwat__Batch batch = HIWAT__BATCH__INIT;
	struct spool_counts counts;
	struct recorder_counts recording;

	arena_reset(&a->arena);
	int err = runner_tick(a->runner, &now, &a->arena, &batch);
	if (batch.n_records > 0) {
		spool_count(a->spool, &counts);
		if (err == 0)
			err = self_record(&a->identity, &counts, recording_counts(a, &recording), now.wall_ns, &a->arena,
			    &batch);
		batch.host = &a->host;
		batch.has_version = batch.has_sequence = batch.has_wall_ns = batch.has_boot_ns = batch.has_next_due_ms = 1;
		batch.version = CODEC_VERSION;
		batch.sequence = spool_next_sequence(a->spool);
		uint64_t previous = spool_previous_sequence(a->spool);
		batch.has_previous = previous + 1 != batch.sequence;
		batch.previous = previous;
		batch.wall_ns = now.wall_ns;
		batch.boot_ns = now.boot_ns;
		uint64_t next_ns = runner_next_sample(a->runner);
		batch.next_due_ms = next_ns > now.boot_ns ? (uint32_t)((next_ns - now.boot_ns) / NSEC_PER_MSEC) : 0;
		store_batch(a, &batch, clock_mono_ns());
		record_batch(a, now.wall_ns, clock_mono_ns());
	}
	if (err != 0)
		log_complain(&a->batch_complaint, clock_mono_ns(), TOPIC, "samples: %s; this batch is not complete",
		    err_text(err));
	if (!a->is_ready) {
		sd_notify_send("READY=1");
		a->is_ready = true;
	}
	if (now.boot_ns - a->uptime_noted_ns > NOTE_UPTIME_NS) {
		identity_note_uptime(&a->identify, &a->identity, now.boot_ns);
		a->uptime_noted_ns = now.boot_ns;
	}
}

static void
sync_spool(struct agent *a)
{
	uint64_t now = clock_mono_ns();

	if (spool_sync(a->spool, now) != 0)
		log_complain(&a->sync_complaint, now, TOPIC, "%s: the disk refuses to sync: %s", a->spool_dir,
		    strerror(errno));
	else
		log_recovered(&a->sync_complaint, TOPIC, "%s is synced again", a->spool_dir);
}

/* Handles what signals asked for; false when it is time to end. */
static bool
take_signals(struct agent *a)
{
	unsigned char bytes[64];
	ssize_t n = read(signal_pipe[0], bytes, sizeof(bytes));
	bool has_to_reload = false;

	for (ssize_t i = 0; i < n; i++) {
		if (bytes[i] != SIGHUP)
			return false;
		has_to_reload = true;
	}
	if (has_to_reload)
		reload(a);
	return true;
}

/* Milliseconds until the next tick, or until systemd wants to hear of us. */
static int
time_to_wait(const struct agent *a)
{
	uint64_t now = clock_boot_ns(), due = runner_due(a->runner);
	uint64_t wait_ns = due > now ? due - now : 0;

	if (a->watchdog_ns != 0 && wait_ns > a->watchdog_ns / 2)
		wait_ns = a->watchdog_ns / 2;
	if (wait_ns > 60 * NSEC_PER_SEC)
		wait_ns = 60 * NSEC_PER_SEC;
	return (int)((wait_ns + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC);
}

static void
loop(struct agent *a)
{
	struct pollfd fds[] = {
		{ .fd = signal_pipe[0], .events = POLLIN },
		{ .fd = runner_fd(a->runner), .events = POLLIN },
	};

	for (;;) {
		int n = poll(fds, 2, time_to_wait(a));
		if (n < 0)
			continue;
		if (n > 0 && fds[0].revents != 0 && !take_signals(a))
			return;
		if ((n > 0 && fds[1].revents != 0) || clock_boot_ns() >= runner_due(a->runner)) {
			tick(a);
			sync_spool(a);
		}
		if (a->watchdog_ns != 0)
			sd_notify_send("WATCHDOG=1");
	}
}

/* How often systemd wants to be told that we live; 0: never. */
static uint64_t
watchdog_ns(void)
{
	const char *text = getenv("WATCHDOG_USEC");
	uint64_t us = 0;

	if (text == NULL || !text_is_u64(text_of(text), &us) || us > UINT64_MAX / 1000)
		return 0;
	return us * 1000;
}

int
agent_run(const char *path, struct agent_config *config)
{
	struct agent a = { .path = path, .config = config, .first = config, .sampling = SAMPLER_DEFAULTS };
	int status = CMD_UNUSABLE;

	arena_init(&a.arena, RUNNER_ARENA_MAX);
	buf_init(&a.encoded, CODEC_BATCH_MAX);
	a.watchdog_ns = watchdog_ns();
	if (catch_signals() != 0) {
		log_error(TOPIC, "signals: %s", strerror(errno));
	} else if (start(&a) == 0) {
		loop(&a);
		sd_notify_send("STOPPING=1");
		log_info(TOPIC, "told to end");
		status = 0;
	}
	finish(&a);
	if (a.config != a.first)
		config_drop(a.config);
	config_drop(a.first);
	return status;
}
