/*
 * A collector on loopback that acknowledges as a real one does and misbehaves on demand. A body that is no
 * batch counts as one with the sequence in its first eight bytes.
 */
#ifndef HIWAT_TESTS_FAKE_COLLECTOR_H
#define HIWAT_TESTS_FAKE_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>

#define FAKE_SEQUENCES_MAX 4096

enum fake_act {
	FAKE_OK,
	FAKE_STATUS, /* answers with the status and, when given, Retry-After */
	FAKE_CLOSE,  /* closes in the middle of the body */
	FAKE_DROP,   /* takes the batch, then closes without an answer */
	FAKE_HALF,   /* takes the batch, then closes in the middle of the answer */
	FAKE_HANG,   /* takes nothing and never answers */
	FAKE_HTML    /* answers 200 with something else than an acknowledgement */
};

struct fake_step {
	enum fake_act act;
	unsigned status, retry_after_s;
};

struct fake_collector;

/* cert and key files for TLS with client certificates that ca_file vouches for; all NULL: plain HTTP. */
struct fake_collector *fake_collector_new(const char *cert_file, const char *key_file, const char *ca_file);
void fake_collector_free(struct fake_collector *f);
/* "http(s)://127.0.0.1:PORT" */
const char *fake_collector_url(const struct fake_collector *f);
/* What the next requests meet, one each; borrowed. After them all is well. */
void fake_collector_script(struct fake_collector *f, const struct fake_step *steps, unsigned n);
/* Whether what has arrived is durable at once; else only by fake_collector_save(). */
void fake_collector_set_durable(struct fake_collector *f, bool at_once);
void fake_collector_save(struct fake_collector *f);
/* As after a kill: what was not durable is forgotten. */
void fake_collector_crash(struct fake_collector *f);

struct fake_stats {
	unsigned requests, duplicates, zstd;
	uint64_t received, durable; /* as acknowledged */
	unsigned n_order;
	uint64_t order[FAKE_SEQUENCES_MAX]; /* sequences in the order they came, duplicates too */
	bool has[FAKE_SEQUENCES_MAX];       /* what is there */
	char authorization[256], content_type[64];
	uint64_t sent_ns, oldest; /* of the last request */
	char host[256];           /* of the last real batch */
	unsigned n_records, n_labels;
};
/* A copy of what is known now; static storage of the fake. */
const struct fake_stats *fake_collector_stats(struct fake_collector *f);

#endif
