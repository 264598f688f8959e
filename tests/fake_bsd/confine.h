/* What agent/confine_openbsd.c and confine_freebsd.c use of those systems' headers and other systems do not have. */
#ifndef HIWAT_TESTS_FAKE_CONFINE_H
#define HIWAT_TESTS_FAKE_CONFINE_H

int unveil(const char *path, const char *permissions);
int pledge(const char *promises, const char *execpromises);
int cap_enter(void);

#endif
