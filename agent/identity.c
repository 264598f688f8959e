#include "identity.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "buf.h"
#include "clock.h"
#include "err.h"
#include "keep.h"
#include "record.h"

void
uuid_format(const uint8_t uuid[16], char out[UUID_TEXT_BYTES])
{
	size_t at = 0;

	for (int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			out[at++] = '-';
		at += (size_t)snprintf(out + at, 3, "%02x", uuid[i]);
	}
}

/* 32 hexadecimal digits, hyphens anywhere between them, in the first line. */
static bool
uuid_parse(struct text t, uint8_t out[16])
{
	uint8_t uuid[16];
	unsigned n = 0;

	const char *newline = t.n > 0 ? memchr(t.p, '\n', t.n) : NULL;
	if (newline != NULL)
		t.n = (size_t)(newline - t.p);
	t = text_trim(t);
	for (size_t i = 0; i < t.n; i++) {
		static const char digits[] = "0123456789abcdef";
		const char *digit = memchr(digits, t.p[i] | 0x20, 16);
		if (t.p[i] == '-')
			continue;
		if (digit == NULL || n == 32)
			return false;
		uint8_t value = (uint8_t)(digit - digits);
		uuid[n / 2] = n % 2 == 0 ? (uint8_t)(value << 4) : (uint8_t)(uuid[n / 2] | value);
		n++;
	}
	if (n != 32)
		return false;
	memcpy(out, uuid, sizeof(uuid));
	return true;
}

/* RFC 9562, version 4. */
static void
uuid_make(uint8_t uuid[16])
{
	if (getentropy(uuid, 16) != 0) {
		uint64_t seed[2] = { clock_wall_ns(), clock_mono_ns() ^ (uint64_t)getpid() << 32 };
		memcpy(uuid, seed, 16);
	}
	uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x40);
	uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
}

/* Version 8 out of the machine id, by FNV-1a: the same at every start. */
static void
uuid_from_machine(const char *machine_id, uint8_t uuid[16])
{
	uint64_t h[2] = { 0xcbf29ce484222325, 0x84222325cbf29ce4 };

	for (const char *p = machine_id; *p != '\0'; p++) {
		h[0] = (h[0] ^ (uint8_t)*p) * 0x100000001b3;
		h[1] = (h[1] ^ (uint8_t)*p ^ h[0] >> 56) * 0x100000001b3;
	}
	memcpy(uuid, h, 16);
	uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x80);
	uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
}

static void
read_machine_id(const char *root, char out[64])
{
	static const char *const dirs[] = { "/etc", "/var/lib/dbus", "/etc" };
	static const char *const names[] = { "machine-id", "machine-id", "hostid" };
	struct buf b;
	char dir[256];

	out[0] = '\0';
	buf_init(&b, 256);
	for (int i = 0; i < 3 && out[0] == '\0'; i++) {
		snprintf(dir, sizeof(dir), "%s%s", root, dirs[i]);
		buf_reset(&b);
		if (keep_read(dir, names[i], &b) != 0)
			continue;
		struct text t = text_trim((struct text){ buf_str(&b), strcspn(buf_str(&b), "\n") });
		bool is_plain = t.n > 0 && t.n < 64;
		for (size_t j = 0; j < t.n; j++)
			is_plain = is_plain && t.p[j] > ' ' && t.p[j] < 0x7f;
		if (is_plain)
			snprintf(out, 64, "%.*s", (int)t.n, t.p);
	}
	buf_fini(&b);
}

static void
load_uuid(const struct identity_options *o, struct identity *id)
{
	char text[UUID_TEXT_BYTES];
	struct buf b;

	buf_init(&b, 256);
	int err = keep_read(o->state_dir, "uuid", &b);
	if (err == 0 && uuid_parse((struct text){ buf_str(&b), b.len }, id->uuid)) {
		buf_fini(&b);
		return;
	}
	buf_fini(&b);
	uuid_make(id->uuid);
	uuid_format(id->uuid, text);
	/* One that is there but cannot be read must not be replaced by another. */
	if (err == 0 || err == HIWAT_E_MISSING || err == HIWAT_E_TOOBIG)
		err = keep_write(o->state_dir, "uuid", text_of(text));
	id->is_new = err == 0;
	if (err == 0)
		return;
	if (id->machine_id[0] != '\0')
		uuid_from_machine(id->machine_id, id->uuid);
	snprintf(id->problem, sizeof(id->problem), "%s: %s; this host's identity %s", o->state_dir,
	    err == HIWAT_E_SYS ? strerror(errno) : err_text(err),
	    id->machine_id[0] != '\0' ? "is made of its machine id" : "will change with the next start");
}

static void
write_boot(const struct identity_options *o, const uint8_t boot_id[16], uint64_t boot_ns)
{
	char text[UUID_TEXT_BYTES + 24];

	uuid_format(boot_id, text);
	size_t len = strlen(text);
	snprintf(text + len, sizeof(text) - len, " %" PRIu64 "\n", boot_ns);
	(void)keep_write(o->state_dir, "boot", text_of(text));
}

/* The id in state_dir/boot while the time since boot has not gone back, else a new one. */
static void
load_boot_note(const struct identity_options *o, struct identity *id)
{
	struct buf b;
	struct text word;
	uint64_t noted;

	buf_init(&b, 256);
	bool is_same = false;
	if (keep_read(o->state_dir, "boot", &b) == 0) {
		struct text t = { buf_str(&b), b.len };
		bool has_id = text_word(&t, &word) && uuid_parse(word, id->boot_id);
		text_skip_blanks(&t);
		is_same = has_id && text_u64(&t, &noted) == 0 && noted <= o->boot_ns;
	}
	buf_fini(&b);
	if (!is_same)
		uuid_make(id->boot_id);
	write_boot(o, id->boot_id, o->boot_ns);
}

static bool
read_kernel_boot_id(const struct identity_options *o, uint8_t boot_id[16])
{
	struct buf b;
	char dir[256];

	buf_init(&b, 256);
	snprintf(dir, sizeof(dir), "%s/sys/kernel/random", o->proc_dir);
	bool found = keep_read(dir, "boot_id", &b) == 0 && uuid_parse((struct text){ buf_str(&b), b.len }, boot_id);
	buf_fini(&b);
	return found;
}

void
identity_note_uptime(const struct identity_options *o, const struct identity *id, uint64_t boot_ns)
{
	uint8_t ignored[16];

	if (!read_kernel_boot_id(o, ignored))
		write_boot(o, id->boot_id, boot_ns);
}

static void
load_system(const struct identity_options *o, struct identity *id)
{
	struct utsname u;
	char host[256] = "";

	if (uname(&u) == 0) {
		snprintf(id->os, sizeof(id->os), "%.31s", u.sysname);
		for (char *p = id->os; *p != '\0'; p++)
			*p = *p >= 'A' && *p <= 'Z' ? (char)(*p | 0x20) : *p;
		snprintf(id->release, sizeof(id->release), "%.63s", u.release);
		snprintf(id->arch, sizeof(id->arch), "%.31s", u.machine);
	}
	if (o->name == NULL && (gethostname(host, sizeof(host) - 1) != 0 || host[0] == '\0'))
		snprintf(host, sizeof(host), "localhost");
	record_label_write(id->name, text_of(o->name != NULL ? o->name : host));
}

void
identity_load(const struct identity_options *o, struct identity *out)
{
	struct identity id = { 0 };

	(void)mkdir(o->state_dir, 0750);
	load_system(o, &id);
	read_machine_id(o->root, id.machine_id);
	load_uuid(o, &id);
	if (!read_kernel_boot_id(o, id.boot_id))
		load_boot_note(o, &id);
	id.boot_time = (o->wall_ns - o->boot_ns) / NSEC_PER_SEC;
	*out = id;
}
