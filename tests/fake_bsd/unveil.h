/* What agent/confine_openbsd.c uses of OpenBSD's unistd.h and other systems do not have. */
#ifndef HIWAT_TESTS_FAKE_UNVEIL_H
#define HIWAT_TESTS_FAKE_UNVEIL_H

int unveil(const char *path, const char *permissions);

#endif
