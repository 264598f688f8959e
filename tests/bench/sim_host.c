#include "sim_host.h"

#include <stdio.h>
#include <string.h>

#include "arena.h"
#include "buf.h"
#include "clock.h"
#include "codec.h"
#include "record.h"

static char *
word(struct arena *a, const char *prefix, unsigned n)
{
	char text[40];

	snprintf(text, sizeof(text), "%s%u", prefix, n);
	return record_label(a, text_of(text));
}

static Hiwat__Record *
add_record(struct arena *a, Hiwat__Batch *b, const char *sampler)
{
	Hiwat__Record *r = RECORD_ADD(a, b, records, record);
	Hiwat__Sampler *s = RECORD_ONE(a, r, status, sampler);
	Hiwat__SamplerVerdict *v = RECORD_ONE(a, s, verdict, sampler_verdict);

	s->sampler = record_label(a, text_of(sampler));
	v->verdict = record_label(a, text_of("ok"));
	RECORD_SET(s, up, 1);
	RECORD_SET(s, duration_seconds, 0.0003);
	RECORD_SET(s, last_success_time_seconds, 1.7e9);
	return r;
}

/* What a host of this size says: CPU modes, interrupt sources, socket memory, disks, file systems, files, queues. */
static void
fill_batch(struct arena *a, Hiwat__Batch *b, uint64_t tick, const struct sim_host *host)
{
	static const char *const modes[] = { "user", "nice", "system", "interrupt", "softirq", "idle", "iowait", "steal" };
	static const char *const protocols[] = { "tcp", "udp", "frag" };
	Hiwat__Interrupt *in = RECORD_ONE(a, add_record(a, b, "interrupts"), interrupt, interrupt);
	for (unsigned i = 0; i < 8; i++) {
		Hiwat__CpuByMode *m = RECORD_ADD(a, in, cpu, cpu_by_mode);
		m->mode = record_label(a, text_of(modes[i]));
		RECORD_SET(m, seconds_total, (double)tick * (i == 5 ? 7.5 : 0.07));
	}
	Hiwat__Net *net = RECORD_ONE(a, add_record(a, b, "net"), net, net);
	for (unsigned i = 0; i < 3; i++) {
		Hiwat__SocketMemory *m = RECORD_ADD(a, net, socket_memory, socket_memory);
		m->protocol = record_label(a, text_of(protocols[i]));
		RECORD_SET(m, bytes, 4096 * (100 + tick % 50));
		Hiwat__SocketMemoryLimit *l = RECORD_ADD(a, m, limits, socket_memory_limit);
		l->threshold = record_label(a, text_of("high"));
		RECORD_SET(l, bytes, 200000000);
	}
	Hiwat__Softnet *soft = RECORD_ONE(a, net, softnet, softnet);
	RECORD_SET(soft, processed_total, 100000 * tick);
	RECORD_SET(soft, dropped_total, 0);
	/* Something is amiss on every fiftieth host. */
	RECORD_SET(soft, squeezed_total, host->number % 50 == 0 ? tick / 7 : 3);
	Hiwat__Listen *listen_queue = RECORD_ONE(a, net, listen, listen);
	RECORD_SET(listen_queue, overflows_total, 3);
	for (unsigned i = 0; i < 2; i++) {
		Hiwat__Netif *nif = RECORD_ADD(a, net, interfaces, netif);
		nif->interface = word(a, "eth", i);
		RECORD_SET(nif, mtu_bytes, 1500);
		for (unsigned d = 0; d < 2; d++) {
			Hiwat__NetifByDirection *dir = RECORD_ADD(a, nif, directions, netif_by_direction);
			dir->direction = record_label(a, text_of(d == 0 ? "in" : "out"));
			RECORD_SET(dir, packets_total, 12345 * tick);
			RECORD_SET(dir, bytes_total, 1234567 * tick);
			RECORD_SET(dir, errors_total, 0);
			RECORD_SET(dir, drops_total, 1);
		}
	}
	Hiwat__System *sys = RECORD_ONE(a, add_record(a, b, "system"), system, system);
	Hiwat__Files *files = RECORD_ONE(a, sys, files, files);
	RECORD_SET(files, open, 2000 + tick % 100);
	RECORD_SET(files, limit, 800000);
	for (unsigned i = 0; i < 4; i++) {
		Hiwat__Filesystem *fs = RECORD_ADD(a, sys, filesystems, filesystem);
		fs->mount = word(a, "/srv/", i);
		RECORD_SET(fs, bytes_used, 5000000000 + tick * 4096);
		RECORD_SET(fs, bytes_limit, 50000000000);
		RECORD_SET(fs, inodes_used, 100000 + tick);
		RECORD_SET(fs, inodes_limit, 3000000);
	}
	/* About 70 numbers so far; the rest are interrupt sources, which is what big hosts have many of. */
	for (unsigned i = 70; i < host->values; i++) {
		Hiwat__InterruptsBySource *s = RECORD_ADD(a, in, sources, interrupts_by_source);
		s->irq = word(a, "", i);
		s->device = word(a, "eth0-TxRx-", i);
		RECORD_SET(s, total, (uint64_t)i * 1000 * tick);
	}
}

int
sim_host_batch(const struct sim_host *host, uint64_t sequence, uint64_t wall_ns, struct arena *a, struct buf *out)
{
	Hiwat__Batch b = HIWAT__BATCH__INIT;
	uint8_t uuid[16] = { 0xbe, 0x2c };
	char boot[16] = "simulated boot";

	memcpy(uuid + 4, &host->number, sizeof(host->number));
	Hiwat__Host *h = RECORD_ONE(a, &b, host, host);
	RECORD_SET(h, uuid, ((ProtobufCBinaryData){ 16, uuid }));
	RECORD_SET(h, boot_id, ((ProtobufCBinaryData){ 16, (uint8_t *)boot }));
	RECORD_SET(h, stream, host->stream);
	h->name = word(a, "sim-", host->number);
	h->os = record_label(a, text_of("linux"));
	Hiwat__Label *label = RECORD_ADD(a, h, labels, label);
	label->name = record_label(a, text_of("role"));
	label->value = record_label(a, text_of("web"));
	RECORD_SET(&b, version, CODEC_VERSION);
	RECORD_SET(&b, sequence, sequence);
	RECORD_SET(&b, wall_ns, wall_ns);
	RECORD_SET(&b, boot_ns, sequence * 10 * NSEC_PER_SEC);
	RECORD_SET(&b, next_due_ms, 10000);
	fill_batch(a, &b, sequence, host);
	return batch_encode(&b, out);
}
