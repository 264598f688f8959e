/* Settings of the kernel that the rules need or the audit compares, and facts of the machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "err.h"
#include "proc.h"
#include "record.h"
#include "source.h"
#include "sysfs.h"

enum { STAT, MEMINFO, N_SOURCES };

static const struct source_row rows[N_SOURCES] = {
	[STAT] = { .name = "stat", .parse = proc_stat_parse },
	[MEMINFO] = { .name = "meminfo", .parse = proc_meminfo_parse },
};

/* Names as sysctl(8) writes them; none has a dot within a part. What a kernel does not have is absent. */
static const char *const names[] = {
	"fs.file-max",
	"fs.nr_open",
	"kernel.pid_max",
	"kernel.threads-max",
	"net.core.netdev_budget",
	"net.core.netdev_max_backlog",
	"net.core.optmem_max",
	"net.core.rmem_default",
	"net.core.rmem_max",
	"net.core.somaxconn",
	"net.core.wmem_default",
	"net.core.wmem_max",
	"net.ipv4.icmp_ratelimit",
	"net.ipv4.ip_forward",
	"net.ipv4.ip_local_port_range",
	"net.ipv4.tcp_fin_timeout",
	"net.ipv4.tcp_max_orphans",
	"net.ipv4.tcp_max_syn_backlog",
	"net.ipv4.tcp_max_tw_buckets",
	"net.ipv4.tcp_mem",
	"net.ipv4.tcp_moderate_rcvbuf",
	"net.ipv4.tcp_rmem",
	"net.ipv4.tcp_syncookies",
	"net.ipv4.tcp_window_scaling",
	"net.ipv4.tcp_wmem",
	"net.ipv4.udp_mem",
	"net.ipv6.conf.all.forwarding",
	"net.netfilter.nf_conntrack_buckets",
	"net.netfilter.nf_conntrack_max",
	"vm.min_free_kbytes",
	"vm.overcommit_memory",
	"vm.swappiness",
};

struct settings {
	struct fetch fetch;
	struct parse_input units;
	struct source sources[N_SOURCES];
	const char *proc_dir, *sys_dir;
};

static void
settings_close(void *state)
{
	struct settings *s = state;

	sources_fini(s->sources, N_SOURCES);
	fetch_fini(&s->fetch);
	free(s);
}

static int
settings_open(const struct sampler_config *config, void **state)
{
	struct settings *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return HIWAT_E_NOMEM;
	fetch_init(&s->fetch, config->trace, 16 << 20);
	s->units = source_units();
	s->proc_dir = config->proc_dir;
	s->sys_dir = config->sys_dir;
	int err = sources_init(s->sources, config->proc_dir, rows, N_SOURCES);
	if (err != HIWAT_OK) {
		settings_close(s);
		return err;
	}
	*state = s;
	return HIWAT_OK;
}

/* A list of numbers is one setting with an index; anything else is no numeric setting. */
static int
add_numbers(const char *name, struct text text, struct arena *arena, Hiwat__Settings *m)
{
	struct text line, word, rest;
	unsigned n = 0, index = 0;
	char digits[12];

	if (!text_line(&text, &line, NULL))
		return HIWAT_OK;
	for (rest = line; text_word(&rest, &word); n++) {
		double value;
		if (!text_is_double(word, &value))
			return HIWAT_OK;
	}
	while (text_word(&line, &word)) {
		Hiwat__Sysctl *row = RECORD_ADD(arena, m, sysctls, sysctl);
		double value = 0;
		snprintf(digits, sizeof(digits), "%u", index++);
		if (row == NULL || (row->name = record_label(arena, text_of(name))) == NULL ||
		    (row->index = record_label(arena, n > 1 ? text_of(digits) : TEXT(""))) == NULL)
			return HIWAT_E_NOMEM;
		text_is_double(word, &value);
		RECORD_SET(row, value, value);
	}
	return HIWAT_OK;
}

static int
add_sysctl(struct settings *s, const char *name, struct arena *arena, Hiwat__Settings *m, struct sampler_reason *why)
{
	char path[FETCH_PATH_MAX];
	struct text text;

	int n = snprintf(path, sizeof(path), "%s/sys/%s", s->proc_dir, name);
	if (n < 0 || (size_t)n >= sizeof(path))
		return HIWAT_E_TOOBIG;
	for (char *p = path + strlen(s->proc_dir) + strlen("/sys/"); *p != '\0'; p++) {
		if (*p == '.')
			*p = '/';
	}
	int err = fetch_path(&s->fetch, path, &text);
	if (err == HIWAT_E_MISSING)
		return HIWAT_OK;
	if (err != HIWAT_OK)
		return sampler_fail_fetch(why, err, &s->fetch);
	return add_numbers(name, text, arena, m);
}

/* The highest clock rate where the kernel scales it, else the present one of the first CPU. */
static void
add_hertz(struct settings *s, Hiwat__Cpu *cpu)
{
	char path[FETCH_PATH_MAX];
	struct text rest, line, name;
	uint64_t khz;
	double mhz;

	if (sysfs_u64(&s->fetch, &khz, "%s/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", s->sys_dir)) {
		RECORD_SET(cpu, hertz, (double)khz * 1000);
		return;
	}
	snprintf(path, sizeof(path), "%s/cpuinfo", s->proc_dir);
	if (fetch_path(&s->fetch, path, &rest) != HIWAT_OK)
		return;
	while (text_line(&rest, &line, NULL)) {
		if (text_until(&line, ':', &name) && text_eq(text_trim(name), "cpu MHz") && text_is_double(line, &mhz)) {
			RECORD_SET(cpu, hertz, mhz * 1000000);
			return;
		}
	}
}

static int
settings_sample(void *state, const struct sampler_now *now, struct arena *arena, Hiwat__Record *out,
    struct sampler_reason *why)
{
	struct settings *s = state;

	(void)now;
	int err = sources_sample(s->sources, N_SOURCES, &s->fetch, &s->units, arena, out, why);
	if (err != HIWAT_OK)
		return err;
	size_t n_cpus = out->interrupt != NULL ? out->interrupt->n_cores : 0;
	/* The same texts tell of what other samplers send. */
	out->interrupt = NULL;
	out->system = NULL;
	Hiwat__Settings *m = RECORD_ONE(arena, out, settings, settings);
	Hiwat__Cpu *cpu = m != NULL ? RECORD_ONE(arena, m, cpu, cpu) : NULL;
	if (cpu == NULL)
		return HIWAT_E_NOMEM;
	RECORD_SET(cpu, count, n_cpus);
	add_hertz(s, cpu);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && err == HIWAT_OK; i++)
		err = add_sysctl(s, names[i], arena, m, why);
	return err;
}

const struct sampler sampler_settings = {
	.name = "settings",
	.help = "kernel settings, memory, CPUs and boot time",
	.interval_ms = 3600000,
	.deadline_ms = 5000,
	.open = settings_open,
	.sample = settings_sample,
	.close = settings_close,
};
