/*
 * How many transitions a second the store takes with synchronous=FULL. A transition is one change: an incident of about
 * 1.3 KB, a notification for each route, the host's progress.
 * usage: hiwat-bench-store DIRECTORY [CHANGES [ROUTES]]
 * Prints the sustained rate with the queue kept full, the rate when each change is waited for, and CPU per change.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "err.h"
#include "store.h"

#define BODY 1300
#define INCIDENTS 10000
#define ROUTES_MAX 8

static char body[BODY + 1];

static int
put(struct store *store, uint64_t n, size_t routes)
{
	static char names[ROUTES_MAX][32];
	struct store_incident incident = { .json = body };
	struct outbox_row rows[ROUTES_MAX] = { 0 };
	struct store_change change = { .incidents = &incident,
		.n_incidents = 1,
		.notifications = rows,
		.n_notifications = routes,
		.wall_ns = clock_wall_ns(),
		.stream = 1,
		.sequence = n };
	char event[] = "trigger";

	snprintf(incident.key, sizeof(incident.key), "%032llx", (unsigned long long)(n % INCIDENTS));
	memcpy(change.host_uuid, incident.key + 16, 16);
	for (size_t i = 0; i < routes; i++) {
		snprintf(names[i], sizeof(names[i]), "route%zu", i);
		memcpy(rows[i].incident_key, incident.key, sizeof(incident.key));
		rows[i].generation = (unsigned)n;
		rows[i].route = names[i];
		rows[i].event = event;
		rows[i].payload = body;
		rows[i].created_ns = rows[i].next_try_ns = change.wall_ns;
		rows[i].expires_ns = change.wall_ns + 86400 * NSEC_PER_SEC;
	}
	return store_put(store, &change);
}

static void
report(const char *what, uint64_t n, uint64_t wall_ns, uint64_t cpu_ns)
{
	printf("%-28s %8.0f changes/s  %6.1f us CPU each\n", what, (double)n * 1e9 / (double)wall_ns,
	    (double)cpu_ns / 1e3 / (double)n);
}

int
main(int argc, char **argv)
{
	struct store *store = NULL;
	char path[512], *moved = NULL;
	uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 100000;
	size_t routes = argc > 3 ? strtoul(argv[3], NULL, 10) : 1;

	if (argc < 2 || n == 0 || routes > ROUTES_MAX) {
		fprintf(stderr, "usage: hiwat-bench-store DIRECTORY [CHANGES [ROUTES]]\n");
		return 2;
	}
	memset(body, 'j', BODY);
	snprintf(path, sizeof(path), "%s/bench.db", argv[1]);
	int err = store_open(path, &store, &moved);
	if (err != 0) {
		fprintf(stderr, "%s: %s\n", path, err_text(err));
		return 1;
	}
	free(moved);
	uint64_t wall = clock_mono_ns(), cpu = clock_cpu_ns();
	for (uint64_t i = 0; i < n && err == 0; i++) {
		while ((err = put(store, i, routes)) == HIWAT_E_FULL)
			nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	if (err == 0)
		err = store_flush(store);
	report("queue kept full", n, clock_mono_ns() - wall, clock_cpu_ns() - cpu);
	uint64_t few = n / 20 + 1;
	wall = clock_mono_ns();
	cpu = clock_cpu_ns();
	for (uint64_t i = 0; i < few && err == 0; i++) {
		err = put(store, n + i, routes);
		if (err == 0)
			err = store_flush(store);
	}
	report("each waited for", few, clock_mono_ns() - wall, clock_cpu_ns() - cpu);
	store_close(store);
	if (err != 0)
		fprintf(stderr, "%s: %s\n", path, err_text(err));
	return err == 0 ? 0 : 1;
}
