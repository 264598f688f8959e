/*
 * Inside the kernel log's reader; included by kernel_log*.c alone.
 *
 * A line is stripped of its form (kernel_log_form.c), looked up by its first word (kernel_log.c) and handed to the scanners
 * of that word (kernel_log_{ata,cam,hba,openbsd,libata,scsi,block,limits}.c), which know one driver's or subsystem's lines each.
 * Scanners say what happened to which command; kernel_log_count.c decides whether that command was counted before.
 *
 * Every table has a fixed size. A full table of devices, operations, kinds or interrupt sources counts what is new in a
 * row "other". A full table of commands forgets the one first heard of longest ago: should that be retried still, it
 * counts once more; one of stuck commands forgets the one silent longest. Full tables of half-read events drop the oldest,
 * counting it if it says enough by itself.
 */
#ifndef HIWAT_AGENT_KERNEL_LOG_STATE_H
#define HIWAT_AGENT_KERNEL_LOG_STATE_H

#include "kernel_log.h"

#define KL_DEVICES 64
#define KL_OPERATIONS 192
#define KL_COMMANDS 256
#define KL_STUCK 512 /* what an aac or mfi controller may hold: when it hangs, it repeats all of them in turn */
#define KL_BLOCKS 32
#define KL_WAITING 64
#define KL_STORMS 32
#define KL_KINDS 16
#define KL_SCSI_NAMES 64

#define KL_NAME 32  /* bytes of a device's name, its NUL included; longer names are cut */
#define KL_TEXT 48  /* of an operation or a kind */
#define KL_LAST 320 /* of the last line, kept for "last message repeated" */

#define KL_RETRY_GAP_S 300  /* a command of which nothing was heard for so long is over: the next one is new */
#define KL_SETTLE_S 60      /* how long a live log waits for the line that completes an event */
#define KL_STUCK_S 120      /* how long a stuck command's age holds */
#define KL_STUCK_SLACK_S 10 /* how inexact ages and stamps may be */
#define KL_BACK_S 60        /* how far a clock may step back within one boot */

enum kl_limit {
	KL_LIMIT_MBUF,
	KL_LIMIT_CLUSTER,
	KL_LIMIT_JUMBO_PAGE,
	KL_LIMIT_JUMBO_9K,
	KL_LIMIT_JUMBO_16K,
	KL_LIMIT_PF_STATES,
	KL_LIMIT_PF_SOURCE_NODES,
	KL_LIMIT_PF_FRAGMENTS,
	KL_LIMIT_CONNTRACK,
	KL_LIMIT_TCP_MEMORY,
	KL_LIMIT_ORPHANS,
	KL_LIMIT_TIME_WAIT,
	KL_LIMIT_FILES,
	KL_LIMIT_PROCESSES,
	KL_LIMIT_SOCKETS,
	KL_LIMITS
};

struct kl_device {
	char name[KL_NAME], driver[KL_NAME];
	uint64_t failures, resets;
	/* Failures that another layer has not told of yet: its line about the same command counts nothing. */
	uint64_t credits;
	int64_t credit_time;
};

struct kl_operation {
	uint32_t device;
	char name[KL_TEXT];
	uint64_t timeouts;
};

/* A command that was counted and may be told of again. Its key stands in an array beside it. */
struct kl_command {
	uint64_t place;  /* of what it reads or writes: operation class and LBA; 0 when not known */
	uint64_t number; /* the LBA as printed, where has_number */
	uint64_t line;   /* of the last line about it */
	int64_t time;
	uint32_t device, operation; /* hashes of their names */
	int32_t retries;            /* left, -1 when not said */
	uint8_t has_number, cross, phase;
};

/* A command that its driver tells of over and over, with its age. */
struct kl_stuck {
	char device[KL_NAME];
	uint64_t id, age, line; /* line: the last one about it */
	int64_t time;
};

/* What a driver tells in several lines about the command in hand, by device. */
struct kl_block {
	char device[KL_NAME], driver[KL_NAME], operation[KL_TEXT];
	uint64_t id, lba, key, line;
	char class;
	uint8_t kind, has_id, has_lba, timed_out;
};
enum { KL_BLOCK_NONE, KL_BLOCK_CAM, KL_BLOCK_LIBATA, KL_BLOCK_LIBATA_CMD };

/* A timeout that another line may complete or take over. */
struct kl_waiting {
	char name[KL_NAME], operation[KL_TEXT], driver[KL_NAME];
	uint64_t id, line;
	int64_t time;
	int32_t retries;
	uint8_t has_id, is_failure;
};
enum {
	KL_WAIT_NONE,
	KL_WAIT_ADAPTER, /* a controller's line, until CAM names the disk */
	KL_WAIT_ATA,     /* FreeBSD ata: the LBA may come in a line of its own */
	KL_WAIT_WD,      /* wd: until the line with the block number; operation is the controller's name */
	KL_WAIT_RESULT,  /* Linux SCSI result DID_TIME_OUT, until the CDB or the I/O error; id is the tag */
	KL_WAIT_ABORT    /* Linux task abort, until the CDB */
};

struct kl_storm {
	char irq[16], device[KL_TEXT];
	uint64_t total;
};

struct kl_kind {
	char name[KL_TEXT];
	uint64_t total;
};

struct kl_scsi_name {
	char address[KL_NAME], name[KL_NAME];
	uint64_t line;
};

struct kernel_log {
	uint8_t words[128]; /* index of the scanners by first byte, made anew in each process */
	uint64_t position;  /* /dev/kmsg sequence that comes next */
	uint64_t line;      /* lines of the kernel so far */
	uint64_t known;     /* of which a scanner knew */
	uint64_t stamped;   /* lines with a form that only logs have, whoever wrote them */
	int64_t time;       /* of the line in hand or the last one with a stamp; KERNEL_LOG_NO_TIME before the first */
	uint64_t times;     /* what the line in hand counts for: more than 1 when repeated */
	uint64_t year_s;    /* added to stamps without a year, as they wrap */
	uint32_t n_devices, n_operations, n_storms, n_kinds;
	uint8_t has_last, last_is_cut, in_record, wants_cdb;
	uint16_t last_len;
	char last[KL_LAST];
	char last_scsi[KL_NAME]; /* disk of the last "sd" line, for what follows without a prefix */
	char raid_driver[KL_NAME];
	uint64_t limits[KL_LIMITS];
	uint64_t listen_overflows;
	struct kl_device devices[KL_DEVICES + 1];
	struct kl_operation operations[KL_OPERATIONS + 1];
	uint32_t next_command;              /* slot to take, the one taken longest ago */
	uint8_t command_tags[KL_COMMANDS];  /* a byte of the key, to find it by memchr(3); 0: free */
	uint8_t place_tags[KL_COMMANDS];    /* a byte of the place, where other drivers may tell of it; else 0 */
	uint64_t command_keys[KL_COMMANDS]; /* 0: free */
	struct kl_command commands[KL_COMMANDS];
	struct kl_stuck stuck[KL_STUCK];
	struct kl_block blocks[KL_BLOCKS];
	uint8_t waiting_kinds[KL_WAITING]; /* KL_WAIT_NONE: free */
	struct kl_waiting waiting[KL_WAITING];
	struct kl_storm storms[KL_STORMS + 1];
	struct kl_kind kinds[KL_KINDS + 1];
	struct kl_scsi_name scsi_names[KL_SCSI_NAMES];
};

/* One line of the kernel. cut: the text ends in it without a newline, so that a scanner counts it only when it is whole. */
struct kl_line {
	struct text text;
	bool cut;
};

/* Returns whether the line is one that the scanner knows; it may still count nothing. */
typedef bool kl_scanner(struct kernel_log *k, const struct kl_line *line);

/* ------------------------------------------------------------------------------------------------ kernel_log_form.c */

enum kl_form {
	KL_FORM_OTHER,  /* not the kernel's */
	KL_FORM_BARE,   /* no stamp and no tag: taken as the kernel's */
	KL_FORM_KERNEL, /* certainly the kernel's */
	KL_FORM_KMSG,   /* a record of /dev/kmsg; its text is escaped */
	KL_FORM_REPEAT  /* the line before came again */
};

struct kl_stripped {
	enum kl_form form;
	struct text text; /* what the kernel said */
	int64_t time;     /* KERNEL_LOG_NO_TIME: none printed */
	bool is_yearless; /* time counts from the start of an unknown year */
	bool has_stamp;
	uint64_t sequence; /* of KL_FORM_KMSG */
	uint64_t repeats;  /* of KL_FORM_REPEAT, whose text is the line repeated or empty for the one before */
};

void kl_strip(struct text line, struct kl_stripped *out);

/* ----------------------------------------------------------------------------------------------- kernel_log_stamp.c */

/* These skip a stamp and note it in *out; false, and nothing skipped, when there is none. */
bool kl_month_stamp(struct text *t, struct kl_stripped *out);
bool kl_iso_stamp(struct text *t, struct kl_stripped *out, bool *has_comma);
bool kl_bracket_stamp(struct text *t, struct kl_stripped *out);
bool kl_skip_weekday(struct text *t);
static inline bool
kl_skip_char(struct text *t, char c)
{
	if (t->n == 0 || *t->p != c)
		return false;
	t->p++;
	t->n--;
	return true;
}
static inline bool
kl_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* ----------------------------------------------------------------------------------------------- kernel_log_count.c */

/* What a line says of one command. Zero what is not known, but -1 for retries. */
struct kl_told {
	struct text device, driver, operation;
	uint64_t id; /* what tells it from others on the device: a hash of its bytes, a tag, a pointer */
	uint64_t lba;
	bool has_lba;       /* with class: the same place named by another driver is the same command */
	bool cross;         /* such drivers exist */
	bool is_prefix;     /* lba is a number that may be cut */
	char class;         /* r, w, f(lush) or 0 */
	int retries;        /* left, -1 when not said */
	int gap_s;          /* 0: KL_RETRY_GAP_S */
	uint8_t phase;      /* a lower one than before: a new command */
	bool any_operation; /* the operation is not part of what identifies it */
};

/* Counts the command unless it is a retry of one that was counted. Returns its key, for kl_close(). */
uint64_t kl_timeout(struct kernel_log *k, const struct kl_told *told);
uint64_t kl_key(const struct kl_told *told);
/* Slot of a command that is still open, -1 when there is none. */
int kl_find(const struct kernel_log *k, uint64_t key, int gap_s);
/* The command of the device heard of last; operation may be empty for any. */
int kl_find_newest(const struct kernel_log *k, struct text device, struct text operation);
/* Retries left of a command, told after the fact: not fewer than before means that it was a new command. */
void kl_retries(struct kernel_log *k, uint64_t key, int retries, const struct kl_told *told);
void kl_close(struct kernel_log *k, uint64_t key);
void kl_close_slot(struct kernel_log *k, int slot);
/* Whether its LBA is this sector of 512 bytes; disks of 4 KiB blocks count in these. */
bool kl_is_at(const struct kl_command *c, uint64_t sector);
/* Closes all commands at this sector, of whichever driver. */
void kl_close_place(struct kernel_log *k, uint64_t sector);
uint64_t kl_place(char class, uint64_t lba);

/* A command given up. */
void kl_failure(struct kernel_log *k, struct text device, struct text driver);
/* The same told by a layer above the driver: counts unless the driver did within a minute. */
void kl_failure_above(struct kernel_log *k, struct text device);
void kl_reset(struct kernel_log *k, struct text device, struct text driver);
/* A line that gives a stuck command's age: counts the command once and keeps the age. */
void kl_stuck(struct kernel_log *k, struct text device, struct text driver, uint64_t id, uint64_t age);

void kl_limit(struct kernel_log *k, enum kl_limit which);
void kl_response(struct kernel_log *k, struct text kind);
void kl_storm(struct kernel_log *k, struct text irq, struct text device);
const char *kl_limit_name(enum kl_limit which);

/*
 * A name as it is kept: trimmed, cut to size - 1 bytes, in printable ASCII, the rest of size zeros. Two names are the same
 * when the size bytes are, and then as labels, too.
 */
void kl_copy(char *to, size_t size, struct text from);
uint64_t kl_hash(struct text t);
uint64_t kl_mix(uint64_t a, uint64_t b);

/* --------------------------------------------------------------------------------------------- kernel_log_waiting.c */

/* The block in hand of a device; with make a fresh one in the place of the oldest. NULL when there is none. */
struct kl_block *kl_block(struct kernel_log *k, struct text device, bool make);

struct kl_waiting *kl_wait(struct kernel_log *k, int kind, struct text name);
/* The oldest of this kind and name, or of any name when it is empty. */
struct kl_waiting *kl_waiting(struct kernel_log *k, int kind, struct text name);
/* The next slot of this kind from i on, KL_WAITING when there is none. */
unsigned kl_next_waiting(const struct kernel_log *k, int kind, unsigned i);
void kl_drop(struct kernel_log *k, struct kl_waiting *w);
/* Counts it by what it says itself, and drops it. */
void kl_settle(struct kernel_log *k, struct kl_waiting *w);
/* Settles all that waits, or what was heard of at or before a time. */
void kl_settle_all(struct kernel_log *k, int64_t until);

/* ---------------------------------------------------------------------------------------------------- small scanners */

/* The name at the start that ends in this separator: letters, digits and any of -_./ */
bool kl_name(struct text *t, char separator, struct text *name);
/* The name's driver: without its unit number. */
struct text kl_driver_of(struct text name);
bool kl_contains(struct text t, const char *needle);
/* Goes on behind needle; false when it does not occur. */
bool kl_after(struct text *t, const char *needle);
/* Letters compare regardless of case. */
bool kl_skip_case(struct text *t, const char *prefix);
/* r, w or f by the operation's name. */
char kl_class(struct text operation);
/* Bytes in hexadecimal separated by blanks, up to the first word that is none; returns how many, at most max. */
unsigned kl_hex_bytes(struct text t, uint8_t *bytes, unsigned max);
/* LBA of a SCSI CDB; false for commands without. */
bool kl_cdb_lba(const uint8_t *cdb, unsigned n, uint64_t *lba);

/* ---------------------------------------------------------------------------------------------------------- dispatch */

void kl_index(struct kernel_log *k);
/* Whether scanners look at lines that begin so. */
bool kl_is_known(const struct kernel_log *k, struct text line);

/* ------------------------------------------------------------------------------------------------ kernel_log_wrap.c */

struct arena;

/* Joins again what a mailer wrapped; the text is left as it is, or a copy in the arena. HIWAT_E_NOMEM. */
int kl_unwrap(const struct kernel_log *k, struct arena *arena, struct text *text);
void kl_line(struct kernel_log *k, const struct kl_line *line);

kl_scanner kl_ata_disk, kl_ata_channel, kl_ata_lba, kl_fsbn, kl_g_vfs_done;
kl_scanner kl_cam;
kl_scanner kl_hba_slot, kl_hba_stuck, kl_hba_mps, kl_hba_mpt, kl_hba_mrsas, kl_hba_twa, kl_hba_arcmsr, kl_hba_ips,
    kl_hba_nvme;
kl_scanner kl_wd, kl_wd_controller, kl_openbsd_hba;
kl_scanner kl_libata, kl_libata_res, kl_sd, kl_scsi_follow, kl_mptscsih, kl_mptsas, kl_megaraid, kl_aacraid, kl_block_error,
    kl_nvme;
kl_scanner kl_interrupt_storm, kl_limiting, kl_sonewconn, kl_limit_line;

#endif
