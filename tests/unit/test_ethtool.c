/* What a driver says of its link: the kernel's answer by its bytes, and this kernel asked. */
#include "unit.h"

#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "err.h"
#include "ethtool.h"
#include "ethtool_link.h"
#include "sampled.h"
#include "tree.h"

#define WORDS 4

/* The bytes of an answer as the kernel's own header lays them out: what is supported, what is advertised, the partner's. */
struct answer {
	char head[sizeof(struct ethtool_link_settings)];
	uint32_t supported[WORDS], advertised[WORDS], partner[WORDS];
};

static void
set_words(struct answer *a, int n_words)
{
	a->head[offsetof(struct ethtool_link_settings, link_mode_masks_nwords)] = (char)n_words;
}

static const struct row {
	const char *label;
	uint8_t autoneg;
	uint64_t max_speed;
	bool has_autonegotiation, is_autonegotiating;
	int bits[8]; /* of what is supported; the rest is -1 */
} rows[] = {
	{ "gigabit", AUTONEG_ENABLE, 1000, true, true,
	    { ETHTOOL_LINK_MODE_10baseT_Half_BIT, ETHTOOL_LINK_MODE_100baseT_Full_BIT, ETHTOOL_LINK_MODE_1000baseT_Full_BIT,
		ETHTOOL_LINK_MODE_Autoneg_BIT, ETHTOOL_LINK_MODE_TP_BIT, -1 } },
	{ "fixed", AUTONEG_DISABLE, 10000, true, false,
	    { ETHTOOL_LINK_MODE_10000baseLR_Full_BIT, ETHTOOL_LINK_MODE_FIBRE_BIT, -1 } },
	{ "2.5 and 5 gigabits", AUTONEG_ENABLE, 5000, true, true,
	    { ETHTOOL_LINK_MODE_2500baseT_Full_BIT, ETHTOOL_LINK_MODE_5000baseT_Full_BIT, -1 } },
	{ "an old bit is faster than a new one", AUTONEG_ENABLE, 56000, true, true,
	    { ETHTOOL_LINK_MODE_56000baseLR4_Full_BIT, ETHTOOL_LINK_MODE_100baseFX_Full_BIT, -1 } },
	{ "400 gigabits", AUTONEG_ENABLE, 400000, true, true,
	    { ETHTOOL_LINK_MODE_400000baseCR4_Full_BIT, ETHTOOL_LINK_MODE_FEC_LLRS_BIT, -1 } },
	{ "800 gigabits", AUTONEG_ENABLE, 800000, true, true, { 93, -1 } },
	/* veth and virtio_net: settings, but none that anything could do. */
	{ "no modes", AUTONEG_DISABLE, 0, false, false, { -1 } },
	{ "ports and pauses are no modes", AUTONEG_ENABLE, 0, false, false,
	    { ETHTOOL_LINK_MODE_TP_BIT, ETHTOOL_LINK_MODE_Pause_BIT, ETHTOOL_LINK_MODE_FEC_RS_BIT, -1 } },
	{ "autonegotiation not known", 0xff, 1000, false, false, { ETHTOOL_LINK_MODE_1000baseT_Full_BIT, -1 } },
};

static struct answer
make(const struct row *row)
{
	const struct ethtool_link_settings head = { .cmd = ETHTOOL_GLINKSETTINGS, .speed = 10, .autoneg = row->autoneg };
	struct answer a = { .supported = { 0 } };

	memcpy(a.head, &head, sizeof(a.head));
	set_words(&a, WORDS);
	for (size_t i = 0; i < ARRAY_LEN(row->bits) && row->bits[i] >= 0; i++)
		a.supported[row->bits[i] / 32] |= UINT32_C(1) << row->bits[i] % 32;
	/* What the other side can do says nothing of this one. */
	memset(a.partner, 0xff, sizeof(a.partner));
	memset(a.advertised, 0xff, sizeof(a.advertised));
	return a;
}

START_TEST(answers)
{
	const struct row *row = &rows[_i];
	struct answer a = make(row);
	struct ethtool_link link;

	ck_assert_int_eq(ethtool_link_parse((struct text){ (const char *)&a, sizeof(a) }, &link), HIWAT_OK);
	ck_assert_msg(link.max_speed_mbits == row->max_speed, "%s: %ju", row->label, (uintmax_t)link.max_speed_mbits);
	ck_assert_msg(link.has_autonegotiation == row->has_autonegotiation, "%s", row->label);
	ck_assert_msg(link.is_autonegotiating == row->is_autonegotiating, "%s", row->label);
}
END_TEST

#define MODES (__ETHTOOL_LINK_MODE_MASK_NBITS < 115 ? __ETHTOOL_LINK_MODE_MASK_NBITS : 115) /* as the table has them */

/* Every mode that this system's header names has a speed. */
START_TEST(one_bit_each)
{
	struct ethtool_link link;
	unsigned known = 0;

	for (int bit = 0; bit < MODES; bit++) {
		struct row row = { .bits = { bit, -1 } };
		struct answer a = make(&row);
		ck_assert_int_eq(ethtool_link_parse((struct text){ (const char *)&a, sizeof(a) }, &link), HIWAT_OK);
		known += link.max_speed_mbits > 0;
	}
	/* All but Autoneg, 5 ports, 2 pauses, Backplane and 4 ways of error correction. */
	ck_assert_uint_eq(known, MODES - 13);
}
END_TEST

START_TEST(damaged)
{
	struct answer a = make(&rows[0]);
	struct ethtool_link link;

	for (size_t n = 0; n < sizeof(a); n++)
		ck_assert_int_eq(ethtool_link_parse((struct text){ (const char *)&a, n }, &link), HIWAT_E_TRUNCATED);
	set_words(&a, 0);
	ck_assert_int_eq(ethtool_link_parse((struct text){ (const char *)&a, sizeof(a) }, &link), HIWAT_E_FORMAT);
	set_words(&a, -WORDS);
	ck_assert_int_eq(ethtool_link_parse((struct text){ (const char *)&a, sizeof(a) }, &link), HIWAT_E_FORMAT);
	set_words(&a, 127);
	ck_assert_int_eq(ethtool_link_parse((struct text){ (const char *)&a, sizeof(a) }, &link), HIWAT_E_TRUNCATED);
}
END_TEST

/* In place of the kernel for the sampler: the answer of a row, or none. */
static const struct row *driver;

int __real_ethtool_link(struct fetch *f, const char *interface, struct text *out);
int __wrap_ethtool_link(struct fetch *f, const char *interface, struct text *out);

int
__wrap_ethtool_link(struct fetch *f, const char *interface, struct text *out)
{
	ck_assert_str_eq(interface, "eth0"); /* nobody asks for what is no hardware */
	if (driver == NULL)
		return HIWAT_E_MISSING;
	struct answer a = make(driver);
	buf_reset(&f->buf);
	buf_add(&f->buf, &a, sizeof(a));
	*out = (struct text){ buf_str(&f->buf), f->buf.len };
	return HIWAT_OK;
}

#define DEV " 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n"

START_TEST(sampler)
{
	struct sampler_config config = SAMPLER_DEFAULTS;
	struct sampled s;
	struct tree t;

	tree_make(&t);
	config.proc_dir = config.sys_dir = t.dir;
	tree_write(&t, "net/dev", "Inter-|   Receive\n face |bytes\n eth0:" DEV " veth0:" DEV);
	tree_write(&t, "net/sockstat", "sockets: used 12\n");
	tree_write(&t, "net/netstat", "TcpExt: ListenOverflows\nTcpExt: 5\n");
	tree_write(&t, "net/softnet_stat",
	    "00000010 00000001 00000002 00000000 00000000 00000000 00000000 00000000 00000000\n");
	tree_write(&t, "class/net/eth0/device/vendor", "");
	tree_write(&t, "class/net/eth0/speed", "100\n");
	driver = &rows[0];
	sampled_open(&s, "net", &config);
	sampled_expect(&s, 10,
	    "hiwat_netif_speed_bits{interface=\"eth0\"} 100000000\nhiwat_netif_max_speed_bits{interface=\"eth0\"} "
	    "1000000000\n"
	    "hiwat_netif_autoselect{interface=\"eth0\"} 1\n!hiwat_netif_max_speed_bits{interface=\"veth0\"}\n"
	    "!hiwat_netif_autoselect{interface=\"veth0\"}\n");
	/* Read once a minute. */
	driver = &rows[1];
	sampled_expect(&s, 30, "hiwat_netif_autoselect{interface=\"eth0\"} 1\n");
	sampled_expect(&s, 80,
	    "hiwat_netif_max_speed_bits{interface=\"eth0\"} 10000000000\nhiwat_netif_autoselect{interface=\"eth0\"} 0\n");
	driver = NULL;
	sampled_expect(&s, 150,
	    "!hiwat_netif_max_speed_bits{interface=\"eth0\"}\n!hiwat_netif_autoselect{interface=\"eth0\"}\n");
	sampled_close(&s);
	tree_remove(&t);
}
END_TEST

struct message {
	struct nlmsghdr head;
	struct ifinfomsg info;
	char attributes[256];
};

/* Opens an attribute, to be closed by attribute_end() once its content is there. */
static struct rtattr *
attribute(struct message *m, unsigned short type, const void *data, size_t n)
{
	struct rtattr *a = (struct rtattr *)((char *)m + NLMSG_ALIGN(m->head.nlmsg_len));

	a->rta_type = type;
	a->rta_len = (unsigned short)RTA_LENGTH(n);
	if (n > 0)
		memcpy(RTA_DATA(a), data, n);
	m->head.nlmsg_len = NLMSG_ALIGN(m->head.nlmsg_len) + RTA_ALIGN(a->rta_len);
	return a;
}

static void
attribute_end(const struct message *m, struct rtattr *a)
{
	a->rta_len = (unsigned short)((const char *)m + m->head.nlmsg_len - (const char *)a);
}

/* ip link add v0 type veth */
static bool
add_veth(void)
{
	struct message m = { .head = { .nlmsg_len = NLMSG_LENGTH(sizeof(m.info)),
				 .nlmsg_type = RTM_NEWLINK,
				 .nlmsg_flags = NLM_F_REQUEST | NLM_F_CREATE | NLM_F_EXCL | NLM_F_ACK } };
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
		char more[512];
	} answer;

	(void)attribute(&m, IFLA_IFNAME, "v0", sizeof("v0"));
	struct rtattr *link = attribute(&m, IFLA_LINKINFO, NULL, 0);
	(void)attribute(&m, IFLA_INFO_KIND, "veth", sizeof("veth") - 1);
	attribute_end(&m, link);
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
	bool ok = fd >= 0 && send(fd, &m, m.head.nlmsg_len, 0) == (ssize_t)m.head.nlmsg_len &&
	    recv(fd, &answer, sizeof(answer), 0) >= (ssize_t)NLMSG_LENGTH(sizeof(answer.error)) &&
	    answer.head.nlmsg_type == NLMSG_ERROR && answer.error.error == 0;
	if (fd >= 0)
		close(fd);
	return ok;
}

/* 0: as expected. 77: this system lets nobody make interfaces. */
static int
ask_virtual_interfaces(void)
{
	struct fetch fetch;
	struct text answer;
	struct ethtool_link link = { .max_speed_mbits = 1 };
	int failed = 0;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0 || !add_veth())
		return 77;
	fetch_init(&fetch, NULL, 1 << 16);
	/* It has a speed and a duplex, made up, and is able to do nothing. */
	if (__real_ethtool_link(&fetch, "v0", &answer) != HIWAT_OK || ethtool_link_parse(answer, &link) != HIWAT_OK)
		failed |= 1;
	if (link.max_speed_mbits != 0 || link.has_autonegotiation)
		failed |= 2;
	if (__real_ethtool_link(&fetch, "lo", &answer) != HIWAT_E_MISSING)
		failed |= 4;
	if (__real_ethtool_link(&fetch, "absent", &answer) != HIWAT_E_MISSING || strstr(fetch.why.text, "absent") == NULL)
		failed |= 8;
	fetch_fini(&fetch);
	return failed;
}

START_TEST(virtual_interfaces)
{
	int status = 0;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		_exit(ask_virtual_interfaces());
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		printf("not asked: no interface can be made here\n");
	else
		ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

static Suite *
ethtool_suite(void)
{
	Suite *s = suite_create("ethtool");
	TCase *t = tcase_create("all");

	tcase_add_loop_test(t, answers, 0, ARRAY_LEN(rows));
	tcase_add_test(t, one_bit_each);
	tcase_add_test(t, damaged);
	tcase_add_test(t, sampler);
	tcase_add_test(t, virtual_interfaces);
	suite_add_tcase(s, t);
	return s;
}

UNIT_MAIN(ethtool_suite)
