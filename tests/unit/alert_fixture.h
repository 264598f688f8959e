/* What the tests of incidents share: a store in a directory of its own, a host, rules, routes, a fake clock. */
#ifndef HIWAT_TESTS_ALERT_FIXTURE_H
#define HIWAT_TESTS_ALERT_FIXTURE_H

#include "alert.h"
#include "buf.h"
#include "clock.h"
#include "store.h"

#define START (1700000000ULL * NSEC_PER_SEC)
#define HOUR 3600
#define DAY 86400

extern const struct rule rules[];
enum { FILLING, EXHAUSTED, DENIED, SILENT, PF };

/* "all": warnings, updates, repeats every hour; "page": critical alone, repeats every four. */
#define ROUTES 2
extern const struct alert_route routes[ROUTES];

extern char path[96]; /* of the store */
extern struct store *store;
extern struct alerts *alerts;
extern struct labels *labels;
extern uint32_t pool;   /* pool="cluster" */
extern uint64_t now_s;  /* the clock: seconds since START */
extern struct buf told; /* what collect() has found so far */

void alert_setup(void);
void alert_teardown(void);
void open_all(void);
void close_all(void);
struct host_view view(void);
/* An event of the host, SILENT and PF on the whole host, the others on the pool. sequence 0: of no batch. */
void event(unsigned rule, enum rule_status status, enum rule_level level, bool gone, bool late, uint64_t sequence);
/* Takes out of the outbox what is there: " route:event/level". Generations must grow per route. */
void collect(void);

struct found {
	const struct incident *mbuf, *other;
	size_t n;
};
struct found incidents(void);

#endif
