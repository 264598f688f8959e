#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(FAKE_FreeBSD)
#include "freebsd.h"
#else
#include "openbsd.h"
#endif

#include "err.h"
#include "fetch.h"
#include "kernel.h"
#include "mount.h"

#define NAMED 1000 /* numbers of names that sysctlnametomib() gave out begin with it */
#define ROWS_MAX 256

struct variable {
	char name[80];
	void *data; /* owned; NULL: does not exist */
	size_t n;
	int sys_errno, fails;
	unsigned reads;
};

struct program {
	char command[128];
	int err;
	char *text; /* owned */
	unsigned runs;
};

static struct variable variables[ROWS_MAX];
static struct program programs[16];
static size_t n_variables, n_programs, n_netifs, n_mounts;
static const struct kernel_netif *netifs;
static const struct kernel_mount *mounts;
static bool is_root;

void
kernel_reset(void)
{
	for (size_t i = 0; i < n_variables; i++)
		free(variables[i].data);
	for (size_t i = 0; i < n_programs; i++)
		free(programs[i].text);
	n_variables = n_programs = n_netifs = n_mounts = 0;
	memset(variables, 0, sizeof(variables));
	memset(programs, 0, sizeof(programs));
	is_root = false;
}

void
kernel_set_root(bool root)
{
	is_root = root;
}

uid_t
geteuid(void)
{
	return is_root ? 0 : 1000;
}

/* The variable of this name, made when absent. */
static struct variable *
variable_of(const char *name)
{
	for (size_t i = 0; i < n_variables; i++) {
		if (strcmp(variables[i].name, name) == 0)
			return &variables[i];
	}
	ck_assert_uint_lt(n_variables, ROWS_MAX);
	ck_assert_uint_lt(strlen(name), sizeof(variables[0].name));
	memcpy(variables[n_variables].name, name, strlen(name) + 1);
	return &variables[n_variables++];
}

void
kernel_set(const char *name, const void *data, size_t n)
{
	struct variable *v = variable_of(name);

	free(v->data);
	v->data = malloc(n > 0 ? n : 1);
	ck_assert_ptr_nonnull(v->data);
	memcpy(v->data, data, n);
	v->n = n;
}

void
kernel_set_int(const char *name, int value)
{
	kernel_set(name, &value, sizeof(value));
}

void
kernel_set_u64(const char *name, uint64_t value)
{
	kernel_set(name, &value, sizeof(value));
}

void
kernel_set_text(const char *name, const char *value)
{
	kernel_set(name, value, strlen(value));
}

void
kernel_unset(const char *name)
{
	struct variable *v = variable_of(name);

	free(v->data);
	v->data = NULL;
}

void
kernel_fail(const char *name, int sys_errno, int times)
{
	struct variable *v = variable_of(name);

	v->sys_errno = sys_errno;
	v->fails = times;
}

unsigned
kernel_reads(const char *name)
{
	return variable_of(name)->reads;
}

static int
read_variable(struct variable *v, void *oldp, size_t *oldlenp)
{
	v->reads++;
	if (v->fails != 0) {
		v->fails -= v->fails > 0;
		errno = v->sys_errno;
		return -1;
	}
	if (v->data == NULL) {
		errno = ENOENT;
		return -1;
	}
	/* As the kernels do: what fits is copied, and the length says how much that was. */
	size_t n = v->n < *oldlenp ? v->n : *oldlenp;
	memcpy(oldp, v->data, n);
	*oldlenp = n;
	if (n < v->n) {
		errno = ENOMEM;
		return -1;
	}
	return 0;
}

/* The name of numbers, or that which sysctlnametomib() was asked for and the row. */
static void
name_of(const int *mib, unsigned n, char *name, size_t size)
{
	size_t len = 0;
	unsigned from = 0;

	name[0] = '\0';
	if (n >= 2 && mib[0] == NAMED) {
		len = strlen(variables[mib[1]].name);
		memcpy(name, variables[mib[1]].name, len + 1);
		from = 2;
	}
	for (unsigned i = from; i < n; i++)
		len += (size_t)snprintf(name + len, size - len, i == 0 ? "%d" : ".%d", mib[i]);
	ck_assert_uint_lt(len, size);
}

#if defined(FAKE_FreeBSD)
int
sysctl(const int *mib, unsigned int n, void *oldp, size_t *oldlenp, const void *newp, size_t newlen)
#else
int
sysctl(const int *mib, unsigned int n, void *oldp, size_t *oldlenp, void *newp, size_t newlen)
#endif
{
	char name[80];

	ck_assert_ptr_null(newp);
	ck_assert_uint_eq(newlen, 0);
	name_of(mib, n, name, sizeof(name));
	return read_variable(variable_of(name), oldp, oldlenp);
}

#if defined(FAKE_FreeBSD)
/* Nodes have names too: of kern.x.0 also kern.x can be asked for. */
int
sysctlnametomib(const char *name, int *mib, size_t *n)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < n_variables; i++) {
		const struct variable *v = &variables[i];
		if ((v->data == NULL && v->fails == 0) || strncmp(v->name, name, len) != 0 ||
		    (v->name[len] != '\0' && v->name[len] != '.'))
			continue;
		ck_assert_uint_ge(*n, 2);
		mib[0] = NAMED;
		mib[1] = (int)(variable_of(name) - variables);
		*n = 2;
		return 0;
	}
	errno = ENOENT;
	return -1;
}
#endif

static struct program *
program_of(const char *command)
{
	for (size_t i = 0; i < n_programs; i++) {
		if (strcmp(programs[i].command, command) == 0)
			return &programs[i];
	}
	return NULL;
}

void
kernel_program(const char *command, int err, const char *text)
{
	struct program *p = program_of(command);

	if (p == NULL) {
		ck_assert_uint_lt(n_programs, sizeof(programs) / sizeof(programs[0]));
		ck_assert_uint_lt(strlen(command), sizeof(p->command));
		p = &programs[n_programs++];
		memcpy(p->command, command, strlen(command) + 1);
	}
	free(p->text);
	p->text = strdup(text);
	p->err = err;
}

unsigned
kernel_runs(const char *command)
{
	const struct program *p = program_of(command);

	return p != NULL ? p->runs : 0;
}

/* In place of run_program.c. */
int
fetch_run(struct fetch *f, const char *const argv[], unsigned deadline_ms, struct text *out)
{
	char command[128];
	size_t len = 0;

	ck_assert_uint_gt(deadline_ms, 0);
	ck_assert_int_eq(argv[0][0], '/');
	for (size_t i = 0; argv[i] != NULL; i++)
		len += (size_t)snprintf(command + len, sizeof(command) - len, i > 0 ? " %s" : "%s", argv[i]);
	ck_assert_uint_lt(len, sizeof(command));
	buf_reset(&f->buf);
	struct program *p = program_of(command);
	if (p == NULL)
		return fetch_done(f, "run", argv[0], 0, HIWAT_E_MISSING, ENOENT, 0);
	p->runs++;
	if (p->err != HIWAT_OK) {
		snprintf(f->why.text, sizeof(f->why.text), "%s: %s", argv[0], p->text);
		return p->err;
	}
	buf_puts(&f->buf, p->text);
	*out = (struct text){ buf_str(&f->buf), f->buf.len };
	return HIWAT_OK;
}

void
kernel_netifs(const struct kernel_netif *list, size_t n)
{
	netifs = list;
	n_netifs = n;
}

/* An address of each family comes with an interface: only that of the link has data. */
struct entry {
	struct ifaddrs address, link;
	struct sockaddr_in inet;
	struct sockaddr link_address;
	struct if_data data;
};

int
fake_getifaddrs(struct ifaddrs **list)
{
	struct entry *entries = calloc(n_netifs + 1, sizeof(*entries));

	ck_assert_ptr_nonnull(entries);
	for (size_t i = 0; i < n_netifs; i++) {
		const struct kernel_netif *from = &netifs[i];
		struct entry *e = &entries[i];
		char *name = strdup(from->name);
		e->inet.sin_family = AF_INET;
		e->link_address.sa_family = AF_LINK;
		e->data = (struct if_data){
			.ifi_link_state = from->is_up ? LINK_STATE_UP : LINK_STATE_DOWN,
			.ifi_mtu = from->mtu,
			.ifi_baudrate = from->speed_bits,
			.ifi_ipackets = from->packets[0],
			.ifi_opackets = from->packets[1],
			.ifi_ibytes = from->bytes[0],
			.ifi_obytes = from->bytes[1],
			.ifi_ierrors = from->errors[0],
			.ifi_oerrors = from->errors[1],
			.ifi_iqdrops = from->drops[0],
			.ifi_oqdrops = from->drops[1],
		};
		e->link = (struct ifaddrs){ .ifa_next = &e->address,
			.ifa_name = name,
			.ifa_flags = from->is_off ? 0 : IFF_UP,
			.ifa_addr = &e->link_address,
			.ifa_data = &e->data };
		e->address = (struct ifaddrs){ .ifa_next = i + 1 < n_netifs ? &entries[i + 1].link : NULL,
			.ifa_name = name,
			.ifa_addr = (struct sockaddr *)&e->inet };
	}
	if (n_netifs == 0) {
		free(entries);
		*list = NULL;
	} else {
		*list = &entries[0].link;
	}
	return 0;
}

void
fake_freeifaddrs(struct ifaddrs *list)
{
	for (struct ifaddrs *i = list; i != NULL; i = i->ifa_next) {
		if (i->ifa_data != NULL)
			free(i->ifa_name);
	}
	free((char *)list - offsetof(struct entry, link));
}

static int
fill_media(const struct kernel_netif *from, struct ifmediareq *request)
{
	if (!from->has_medium)
		return EINVAL;
	request->ifm_current = IFM_ETHER | (from->is_autoselect ? IFM_AUTO : 16);
	request->ifm_status = from->is_up ? IFM_AVALID | IFM_ACTIVE : IFM_AVALID;
	request->ifm_active = IFM_ETHER | 16 | (from->is_full_duplex ? IFM_FDX : IFM_HDX);
	return 0;
}

#if defined(FAKE_FreeBSD)
#define AGGREGATE_REQUEST SIOCGLAGG
#define AGGREGATE struct lagg_reqall
#define PORT_ACTIVE LAGG_PORT_ACTIVE
#define PROTO_FAILOVER LAGG_PROTO_FAILOVER
#define PROTO_LACP LAGG_PROTO_LACP
#else
#define AGGREGATE_REQUEST SIOCGTRUNK
#define AGGREGATE struct trunk_reqall
#define PORT_ACTIVE TRUNK_PORT_ACTIVE
#define PROTO_FAILOVER TRUNK_PROTO_FAILOVER
#define PROTO_LACP TRUNK_PROTO_LACP
#endif

static int
fill_ports(const struct kernel_netif *from, AGGREGATE *request)
{
	ck_assert_uint_ge(request->ra_size, (size_t)from->ports * sizeof(*request->ra_port));
	for (int i = 0; i < from->ports; i++) {
		memset(&request->ra_port[i], 0, sizeof(request->ra_port[i]));
		request->ra_port[i].rp_flags = i < from->ports_active ? PORT_ACTIVE : 0;
		if (i < (int)(sizeof(from->port_names) / sizeof(from->port_names[0])) && from->port_names[i] != NULL)
			memcpy(request->ra_port[i].rp_portname, from->port_names[i], strlen(from->port_names[i]));
	}
	request->ra_proto = from->is_failover ? PROTO_FAILOVER : PROTO_LACP;
	request->ra_ports = from->ports;
	return 0;
}

int
fake_ioctl(int fd, unsigned long request, void *arg)
{
	const char *name = arg; /* all of these begin with it */
	int e = ENXIO;

	ck_assert_int_ge(fd, 0);
	for (size_t i = 0; i < n_netifs; i++) {
		if (strcmp(netifs[i].name, name) != 0)
			continue;
		if (request == SIOCGIFMEDIA)
			e = fill_media(&netifs[i], arg);
		else if (request == AGGREGATE_REQUEST)
			e = fill_ports(&netifs[i], arg);
		else
			e = EINVAL; /* SIOCGIFXMEDIA, as a kernel before 11 */
	}
	errno = e;
	return e == 0 ? 0 : -1;
}

void
kernel_mounts(const struct kernel_mount *list, size_t n)
{
	mounts = list;
	n_mounts = n;
}

#if defined(FAKE_FreeBSD)
int
getfsstat(struct statfs *buf, long size, int mode)
#else
int
getfsstat(struct statfs *buf, size_t size, int mode)
#endif
{
	ck_assert_int_eq(mode, MNT_NOWAIT);
	if (buf == NULL)
		return (int)n_mounts;
	ck_assert_uint_ge((size_t)size, n_mounts * sizeof(*buf));
	for (size_t i = 0; i < n_mounts; i++) {
		memset(&buf[i], 0, sizeof(buf[i]));
		buf[i].f_flags = (mounts[i].is_local ? MNT_LOCAL : 0) | (mounts[i].is_read_only ? MNT_RDONLY : 0);
		snprintf(buf[i].f_mntfromname, sizeof(buf[i].f_mntfromname), "%s", mounts[i].device);
		snprintf(buf[i].f_mntonname, sizeof(buf[i].f_mntonname), "%s", mounts[i].mount);
		snprintf(buf[i].f_fstypename, sizeof(buf[i].f_fstypename), "%s", mounts[i].type);
	}
	return (int)n_mounts;
}

/* In place of mount.c. A later mount of the same name is the one that is seen. */
int
mount_usage(struct fetch *f, const char *path, struct mount_usage *out)
{
	for (size_t i = n_mounts; i-- > 0;) {
		const struct kernel_mount *m = &mounts[i];
		if (strcmp(m->mount, path) != 0)
			continue;
		if (m->sys_errno != 0)
			return fetch_done(f, "statvfs", path, 0, fetch_err(m->sys_errno), m->sys_errno, 0);
		*out = (struct mount_usage){ .block_bytes = 512,
			.blocks = m->blocks,
			.blocks_free = m->blocks_free,
			.blocks_available = m->blocks_available,
			.inodes = m->inodes,
			.inodes_free = m->inodes_free };
		return HIWAT_OK;
	}
	return fetch_done(f, "statvfs", path, 0, HIWAT_E_MISSING, ENOENT, 0);
}
