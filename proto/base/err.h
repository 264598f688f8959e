/*
 * Error codes of every hiwat function that can fail. Functions return 0 (HIWAT_OK) or one of these negative values and
 * write their outputs on success alone. With HIWAT_E_SYS errno tells more.
 */
#ifndef HIWAT_BASE_ERR_H
#define HIWAT_BASE_ERR_H

#define HIWAT_ERR_MAP(X) \
	X(NOMEM, "out of memory, or a memory ceiling was reached") \
	X(SYS, "system call failed") \
	X(FORMAT, "malformed input") \
	X(NODATA, "no known data in the input") \
	X(RANGE, "number out of range") \
	X(TOOBIG, "larger than the limit") \
	X(VERSION, "unsupported version") \
	X(CONFIG, "invalid configuration") \
	X(CORRUPT, "damaged data") \
	X(FULL, "no room left") \
	X(DENIED, "permission denied") \
	X(MISSING, "not present on this system") \
	X(TIMEOUT, "deadline passed") \
	X(TRUNCATED, "input ended early") \
	X(IMPLAUSIBLE, "source contradicts itself") \
	X(AGAIN, "temporarily unavailable") \
	X(REJECTED, "refused by the other side")

enum hiwat_err_index {
	HIWAT_ERR_INDEX_OK,
#define X(name, text) HIWAT_ERR_INDEX_##name,
	HIWAT_ERR_MAP(X)
#undef X
};

enum hiwat_err {
	HIWAT_OK = 0,
#define X(name, text) HIWAT_E_##name = -HIWAT_ERR_INDEX_##name,
	HIWAT_ERR_MAP(X)
#undef X
};

/* Text of a code for people; never NULL, static storage. */
const char *err_text(int err);

#endif
