#include "resources.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "hosts.h"

#define TREND_SECONDS 300.0 /* what is older weighs little */
#define TREND_SAMPLES 6     /* before these are seen there is no trend */
#define FAR_SECONDS (30 * 86400.0)

/* use: the first of the names that the host has. label, value: what the limit's labels have beyond those of the use. */
static const struct {
	const char *name, *use[2], *limit, *label, *value;
} table[] = {
	{ "mbuf_pool", { "hiwat_mbuf_pool_allocated", "hiwat_mbuf_pool_in_use" }, "hiwat_mbuf_pool_limit", NULL, NULL },
	{ "mbuf_memory", { "hiwat_mbuf_bytes_allocated", NULL }, "hiwat_mbuf_bytes_limit", NULL, NULL },
	{ "sfbufs", { "hiwat_mbuf_sfbufs_in_use", NULL }, "hiwat_mbuf_sfbufs_limit", NULL, NULL },
	{ "pf_states", { "hiwat_pf_states", NULL }, "hiwat_pf_limit", "pool", "states" },
	{ "pf_source_nodes", { "hiwat_pf_source_nodes", NULL }, "hiwat_pf_limit", "pool", "src-nodes" },
	{ "pf_fragments", { "hiwat_pf_fragments", NULL }, "hiwat_pf_limit", "pool", "frags" },
	{ "pf_tables", { "hiwat_pf_tables", NULL }, "hiwat_pf_limit", "pool", "tables" },
	{ "conntrack", { "hiwat_conntrack_entries", NULL }, "hiwat_conntrack_limit", NULL, NULL },
	{ "dns_cache", { "hiwat_dns_cache_bytes", NULL }, "hiwat_dns_cache_limit_bytes", NULL, NULL },
	{ "dns_cache_entries", { "hiwat_dns_cache_entries", NULL }, "hiwat_dns_cache_limit_entries", NULL, NULL },
	{ "dns_recursive_clients", { "hiwat_dns_recursive_clients", NULL }, "hiwat_dns_recursive_clients_limit", NULL,
	    NULL },
	{ "listen_queue", { "hiwat_listen_queue", NULL }, "hiwat_listen_queue_limit", NULL, NULL },
	{ "ports", { "hiwat_ports_in_use", NULL }, "hiwat_ports_limit", NULL, NULL },
	{ "zone", { "hiwat_zone_used", NULL }, "hiwat_zone_limit", NULL, NULL },
	{ "socket_memory", { "hiwat_socket_memory_bytes", NULL }, "hiwat_socket_memory_limit_bytes", "threshold", "high" },
	{ "sockets", { "hiwat_sockets", NULL }, "hiwat_sockets_limit", NULL, NULL },
	{ "files", { "hiwat_files_open", NULL }, "hiwat_files_limit", NULL, NULL },
	{ "vnodes", { "hiwat_vnodes", NULL }, "hiwat_vnodes_limit", NULL, NULL },
	{ "filesystem", { "hiwat_filesystem_bytes_used", NULL }, "hiwat_filesystem_bytes_limit", NULL, NULL },
	{ "inodes", { "hiwat_filesystem_inodes_used", NULL }, "hiwat_filesystem_inodes_limit", NULL, NULL },
	{ "swap", { "hiwat_swap_bytes_used", NULL }, "hiwat_swap_bytes_limit", NULL, NULL },
	{ "processes", { "hiwat_processes", NULL }, "hiwat_processes_limit", NULL, NULL },
};

static int
metric_id(const char *name)
{
	return name != NULL ? catalogue_find(name, strlen(name)) : -1;
}

/* The limit's labels are the use's, and the one more that the row names. */
static bool
labels_fit(const struct labels *t, uint32_t use, uint32_t limit, const char *label, const char *value)
{
	unsigned n_use, n_limit;
	const struct sample_label *labels = labels_get(t, use, &n_use);

	labels_get(t, limit, &n_limit);
	if (n_limit != n_use + (label != NULL))
		return false;
	if (label != NULL) {
		const char *other = labels_value(t, limit, label);
		if (other == NULL || strcmp(other, value) != 0)
			return false;
	}
	for (unsigned i = 0; i < n_use; i++) {
		const char *other = labels_value(t, limit, labels[i].name);
		if (other == NULL || strcmp(other, labels[i].value) != 0)
			return false;
	}
	return true;
}

static bool
find_limit(const struct track *t, const struct labels *labels, size_t row, int metric, struct resource *r)
{
	for (size_t s = 0; s < t->n_sets; s++) {
		const struct sample_set *set = &t->sets[s];
		for (uint32_t v = 0; v < set->n_values; v++) {
			const struct series_key *series = &set->series->series[v];
			if (series->metric == metric &&
			    labels_fit(labels, r->labels, series->labels, table[row].label, table[row].value)) {
				r->limit_set = (uint16_t)s;
				r->limit_index = v;
				return true;
			}
		}
	}
	return false;
}

/* The trend that this resource had before the host's series changed. */
static void
keep_trend(const struct resources *old, struct resource *r)
{
	for (size_t i = 0; i < old->n; i++) {
		const struct resource *o = &old->rows[i];
		if (o->name == r->name && o->labels == r->labels) {
			r->n_seen = o->n_seen;
			r->use = o->use;
			r->slope = o->slope;
			r->boot_ns = o->boot_ns;
			return;
		}
	}
}

static int
add_rows(struct resources *fresh, const struct resources *old, const struct track *t, const struct labels *labels,
    size_t row, int use, int limit)
{
	for (size_t s = 0; s < t->n_sets; s++) {
		const struct sample_set *set = &t->sets[s];
		for (uint32_t v = 0; v < set->n_values; v++) {
			const struct series_key *series = &set->series->series[v];
			struct resource r = { .name = table[row].name,
				.labels = series->labels,
				.use_set = (uint16_t)s,
				.use_index = v };
			if (series->metric != use || !find_limit(t, labels, row, limit, &r))
				continue;
			if (fresh->n % 16 == 0) {
				struct resource *bigger = realloc(fresh->rows, (fresh->n + 16) * sizeof(*bigger));
				if (bigger == NULL)
					return HIWAT_E_NOMEM;
				fresh->rows = bigger;
			}
			keep_trend(old, &r);
			fresh->rows[fresh->n++] = r;
		}
	}
	return HIWAT_OK;
}

static int
rebuild(struct resources *r, const struct track *t, const struct labels *labels)
{
	struct resources fresh = { 0 };

	for (size_t row = 0; row < sizeof(table) / sizeof(table[0]); row++) {
		int limit = metric_id(table[row].limit);
		size_t before = fresh.n;
		for (size_t u = 0; u < 2 && fresh.n == before; u++) {
			int use = metric_id(table[row].use[u]);
			if (use < 0)
				continue;
			int err = add_rows(&fresh, r, t, labels, row, use, limit);
			if (err != HIWAT_OK) {
				free(fresh.rows);
				return err;
			}
		}
	}
	free(r->rows);
	r->rows = fresh.rows;
	r->n = fresh.n;
	return HIWAT_OK;
}

static void
move_trend(struct resource *r, double use, uint64_t boot_ns)
{
	if (r->n_seen > 0 && boot_ns > r->boot_ns) {
		double seconds = (double)(boot_ns - r->boot_ns) / 1e9;
		double weight = 1 - exp(-seconds / TREND_SECONDS);
		r->slope += weight * ((use - r->use) / seconds - r->slope);
	} else if (r->n_seen > 0 && boot_ns == r->boot_ns) {
		return;
	} else {
		r->slope = 0;
		r->n_seen = 0;
	}
	r->use = use;
	r->boot_ns = boot_ns;
	if (r->n_seen < UINT32_MAX)
		r->n_seen++;
}

int
resources_update(struct resources *r, const struct track *t, const struct labels *labels, uint64_t boot_ns)
{
	uint64_t shapes = t->n_sets;

	for (size_t s = 0; s < t->n_sets; s++)
		shapes = shapes * 1099511628211ull + t->sets[s].shape;
	if (shapes != r->shapes) {
		int err = rebuild(r, t, labels);
		if (err != HIWAT_OK)
			return err;
		r->shapes = shapes;
	}
	for (size_t i = 0; i < r->n; i++) {
		struct resource *row = &r->rows[i];
		row->limit = t->sets[row->limit_set].values[row->limit_index];
		if (t->sets[row->use_set].good_boot_ns == boot_ns)
			move_trend(row, t->sets[row->use_set].values[row->use_index], boot_ns);
	}
	return HIWAT_OK;
}

void
resources_fini(struct resources *r)
{
	free(r->rows);
	*r = (struct resources){ 0 };
}

double
resource_headroom(const struct resource *r)
{
	return r->limit > 0 ? 1 - r->use / r->limit : NAN;
}

double
resource_exhaustion(const struct resource *r)
{
	if (r->use >= r->limit)
		return 0;
	if (r->n_seen < TREND_SAMPLES || r->slope <= 0)
		return NAN;
	double seconds = (r->limit - r->use) / r->slope;
	return seconds <= FAR_SECONDS ? seconds : NAN;
}
