/* Keys and certificates for tests of TLS, made by GnuTLS: ca.crt, and NAME.crt with NAME.key, in one directory. */
#ifndef HIWAT_TESTS_PKI_H
#define HIWAT_TESTS_PKI_H

#include <stdint.h>
#include <time.h>

struct pki;

/* A new authority; its certificate is dir/ca.crt. Fails the test when anything goes wrong. */
struct pki *pki_new(const char *dir);
/* dir/NAME.crt and dir/NAME.key for 127.0.0.1 and this DNS name, for servers and clients. */
void pki_issue(struct pki *p, const char *name, time_t from, time_t to);
/* Deletes the files that were made. */
void pki_free(struct pki *p);

#endif
