#include "pki.h"

#include <arpa/inet.h>
#include <check.h>
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ISSUED_MAX 8

struct pki {
	char dir[256];
	gnutls_x509_privkey_t key;
	gnutls_x509_crt_t crt;
	char issued[ISSUED_MAX][64];
	unsigned n_issued;
	unsigned char serial;
};

static void
ok(int ret)
{
	ck_assert_msg(ret >= 0, "gnutls: %s", gnutls_strerror(ret));
}

static void
write_file(const struct pki *p, const char *name, const char *ending, const gnutls_datum_t *data)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/%s.%s", p->dir, name, ending);
	FILE *f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(data->data, 1, data->size, f), data->size);
	ck_assert_int_eq(fclose(f), 0);
}

static gnutls_x509_privkey_t
new_key(void)
{
	gnutls_x509_privkey_t key;

	ok(gnutls_x509_privkey_init(&key));
	ok(gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA, GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0));
	return key;
}

static gnutls_x509_crt_t
new_crt(struct pki *p, gnutls_x509_privkey_t key, const char *name, time_t from, time_t to)
{
	gnutls_x509_crt_t crt;

	ok(gnutls_x509_crt_init(&crt));
	ok(gnutls_x509_crt_set_version(crt, 3));
	p->serial++;
	ok(gnutls_x509_crt_set_serial(crt, &p->serial, 1));
	ok(gnutls_x509_crt_set_activation_time(crt, from));
	ok(gnutls_x509_crt_set_expiration_time(crt, to));
	ok(gnutls_x509_crt_set_key(crt, key));
	ok(gnutls_x509_crt_set_dn_by_oid(crt, GNUTLS_OID_X520_COMMON_NAME, 0, name, (unsigned)strlen(name)));
	return crt;
}

struct pki *
pki_new(const char *dir)
{
	struct pki *p = calloc(1, sizeof(*p));
	time_t now = time(NULL);
	gnutls_datum_t pem;

	ck_assert_ptr_nonnull(p);
	snprintf(p->dir, sizeof(p->dir), "%s", dir);
	p->key = new_key();
	p->crt = new_crt(p, p->key, "test authority", now - 864000, now + 864000);
	ok(gnutls_x509_crt_set_basic_constraints(p->crt, 1, -1));
	ok(gnutls_x509_crt_set_key_usage(p->crt, GNUTLS_KEY_KEY_CERT_SIGN));
	ok(gnutls_x509_crt_sign2(p->crt, p->crt, p->key, GNUTLS_DIG_SHA256, 0));
	ok(gnutls_x509_crt_export2(p->crt, GNUTLS_X509_FMT_PEM, &pem));
	write_file(p, "ca", "crt", &pem);
	gnutls_free(pem.data);
	return p;
}

void
pki_issue(struct pki *p, const char *name, time_t from, time_t to)
{
	gnutls_x509_privkey_t key = new_key();
	gnutls_x509_crt_t crt = new_crt(p, key, name, from, to);
	gnutls_datum_t pem;
	struct in_addr loopback = { .s_addr = htonl(INADDR_LOOPBACK) };

	ok(gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_DNSNAME, name, (unsigned)strlen(name), GNUTLS_FSAN_SET));
	ok(gnutls_x509_crt_set_subject_alt_name(crt, GNUTLS_SAN_IPADDRESS, &loopback, sizeof(loopback), GNUTLS_FSAN_APPEND));
	ok(gnutls_x509_crt_set_key_usage(crt, GNUTLS_KEY_DIGITAL_SIGNATURE));
	ok(gnutls_x509_crt_sign2(crt, p->crt, p->key, GNUTLS_DIG_SHA256, 0));
	ok(gnutls_x509_crt_export2(crt, GNUTLS_X509_FMT_PEM, &pem));
	write_file(p, name, "crt", &pem);
	gnutls_free(pem.data);
	ok(gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &pem));
	write_file(p, name, "key", &pem);
	gnutls_free(pem.data);
	gnutls_x509_crt_deinit(crt);
	gnutls_x509_privkey_deinit(key);
	for (unsigned i = 0; i < p->n_issued; i++) {
		if (strcmp(p->issued[i], name) == 0)
			return;
	}
	ck_assert_uint_lt(p->n_issued, ISSUED_MAX);
	snprintf(p->issued[p->n_issued++], sizeof(p->issued[0]), "%s", name);
}

void
pki_free(struct pki *p)
{
	char path[400];

	snprintf(path, sizeof(path), "%s/ca.crt", p->dir);
	unlink(path);
	for (unsigned i = 0; i < p->n_issued; i++) {
		snprintf(path, sizeof(path), "%s/%s.crt", p->dir, p->issued[i]);
		unlink(path);
		snprintf(path, sizeof(path), "%s/%s.key", p->dir, p->issued[i]);
		unlink(path);
	}
	gnutls_x509_crt_deinit(p->crt);
	gnutls_x509_privkey_deinit(p->key);
	free(p);
}
