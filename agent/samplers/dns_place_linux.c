#include "dns_place.h"

#include <stdio.h>

#include "arena.h"
#include "err.h"
#include "proc_sockets.h"
#include "sysfs.h"

#define PROCESSES_MAX 65536
#define PROCESSES_ARENA_MAX ((size_t)8 << 20)

int
dns_place_sockets(struct fetch *f, const char *proc_dir, dns_place_socket_fn *fn, void *arg)
{
	static const char *const names[] = { "net/udp", "net/udp6" };
	struct local_socket socket;
	char path[FETCH_PATH_MAX];
	struct text rest;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int n = snprintf(path, sizeof(path), "%s/%s", proc_dir, names[i]);
		if (n < 0 || (size_t)n >= sizeof(path))
			return HIWAT_E_TOOBIG;
		int err = fetch_path(f, path, &rest);
		if (err == HIWAT_E_MISSING)
			continue;
		if (err != HIWAT_OK)
			return err;
		while (proc_sockets_next(&rest, &socket))
			fn(arg, &socket);
	}
	return HIWAT_OK;
}

void
dns_place_processes(struct fetch *f, const char *proc_dir, dns_place_process_fn *fn, void *arg)
{
	const char *const *names;
	struct arena arena;
	bool more = true;
	char comm[32];
	size_t n = 0;

	arena_init(&arena, PROCESSES_ARENA_MAX);
	if (sysfs_list(f, proc_dir, &arena, PROCESSES_MAX, &names, &n) != HIWAT_OK)
		n = 0;
	for (size_t i = 0; i < n && more; i++) {
		if (names[i][0] >= '0' && names[i][0] <= '9' &&
		    sysfs_word(f, comm, sizeof(comm), "%s/%s/comm", proc_dir, names[i]))
			more = fn(arg, text_of(comm));
	}
	arena_fini(&arena);
}
