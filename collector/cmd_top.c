/* hiwat-collector top: reads the API of a running collector and prints what runs out next. */
#include "cmd.h"

#include <getopt.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "scan.h"

#define ROWS_DEFAULT 20

const char cmd_top_usage[] =
    "usage: hiwat-collector top [-u URL] [-n ROWS] [HOST]\n"
    "Asks a running collector for the limited resources of one host, or of all, and prints those with the least headroom\n"
    "first: use, limit, share still free, and time to exhaustion at the present trend (- when it does not approach).\n"
    "\n"
    "  -u URL    the collector's web side (" CLIENT_URL_DEFAULT ")\n"
    "  -n ROWS   rows to print, 0 for all (20)\n"
    "\n"
    "exit status: 0 ok, 2 wrong usage, 3 the collector did not answer.\n";

struct row {
	const char *host, *resource;
	char labels[80];
	double use, limit, headroom, seconds;
};

struct table {
	struct row *rows;
	size_t n;
	json_t **keep; /* the answers that the rows borrow from */
	size_t n_keep;
};

/* Terminals obey control characters, and labels come from strangers. */
static void
put_plain(char *out, size_t size, const char *s)
{
	size_t n = strlen(out);

	for (; *s != '\0' && n + 1 < size; s++)
		out[n++] = (unsigned char)*s < 0x20 || *s == 0x7f ? '?' : *s;
	out[n] = '\0';
}

static int
add_rows(struct table *t, json_t *host)
{
	json_t *resources = json_object_get(host, "resources"), *r, *value;
	const char *key;
	size_t i;

	struct row *bigger = realloc(t->rows, (t->n + json_array_size(resources) + 1) * sizeof(*bigger));
	json_t **keep = realloc(t->keep, (t->n_keep + 1) * sizeof(json_t *));
	if (bigger != NULL)
		t->rows = bigger;
	if (keep != NULL)
		t->keep = keep;
	if (bigger == NULL || keep == NULL)
		return -1;
	t->keep[t->n_keep++] = json_incref(host);
	json_array_foreach (resources, i, r) {
		struct row *row = &t->rows[t->n++];
		*row = (struct row){
			.host = client_text(host, "name"),
			.resource = client_text(r, "resource"),
			.use = client_number(r, "use"),
			.limit = client_number(r, "limit"),
			.headroom = client_number(r, "headroom"),
			.seconds = client_number(r, "exhaustion_seconds"),
		};
		json_object_foreach (json_object_get(r, "labels"), key, value) {
			if (row->labels[0] != '\0')
				put_plain(row->labels, sizeof(row->labels), " ");
			put_plain(row->labels, sizeof(row->labels), json_string_value(value));
		}
	}
	return 0;
}

static int
compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	double hx = isnan(x->headroom) ? 2 : x->headroom, hy = isnan(y->headroom) ? 2 : y->headroom;

	return hx < hy ? -1 : hx > hy;
}

/* 1234567 as 1.23M. */
static const char *
short_number(double v, char out[16])
{
	static const char units[] = " kMGTPE";
	int u = 0;

	while (fabs(v) >= 9999.5 && u < 6) {
		v /= 1000;
		u++;
	}
	if (isnan(v))
		snprintf(out, 16, "-");
	else if (u == 0)
		snprintf(out, 16, "%.0f", v);
	else
		snprintf(out, 16, "%.1f%c", v, units[u]);
	return out;
}

static const char *
short_time(double s, char out[16])
{
	if (isnan(s))
		snprintf(out, 16, "-");
	else if (s < 120)
		snprintf(out, 16, "%.0f s", s);
	else if (s < 7200)
		snprintf(out, 16, "%.0f min", s / 60);
	else if (s < 172800)
		snprintf(out, 16, "%.0f h", s / 3600);
	else
		snprintf(out, 16, "%.0f d", s / 86400);
	return out;
}

static void
print_rows(struct table *t, uint64_t max)
{
	char use[16], limit[16], time[16];

	if (t->n > 0)
		qsort(t->rows, t->n, sizeof(t->rows[0]), compare_rows);
	printf("%-20s %-22s %-24s %9s %9s %9s %10s\n", "HOST", "RESOURCE", "OF", "USE", "LIMIT", "HEADROOM", "EXHAUSTED");
	for (size_t i = 0; i < t->n && (max == 0 || i < max); i++) {
		const struct row *r = &t->rows[i];
		printf("%-20.20s %-22.22s %-24.24s %9s %9s %8.1f%% %10s\n", r->host, r->resource, r->labels,
		    short_number(r->use, use), short_number(r->limit, limit), 100 * r->headroom,
		    short_time(r->seconds, time));
	}
}

static int
collect(struct client *client, const char *only, struct table *t)
{
	json_t *list = client_get(client, "/api/v1/hosts"), *host;
	size_t i;
	int status = list != NULL ? 0 : CMD_UNUSABLE;
	bool found = false;

	json_array_foreach (json_object_get(list, "hosts"), i, host) {
		const char *id = client_text(host, "id");
		char path[128];
		if (only != NULL && strcmp(only, id) != 0 && strcmp(only, client_text(host, "name")) != 0)
			continue;
		found = true;
		snprintf(path, sizeof(path), "/api/v1/hosts/%.40s", id);
		json_t *whole = client_get(client, path);
		if (whole == NULL || add_rows(t, whole) != 0)
			status = CMD_UNUSABLE;
		json_decref(whole);
	}
	if (list != NULL && only != NULL && !found) {
		fprintf(stderr, "hiwat-collector top: the collector knows no host %s\n", only);
		status = CMD_UNUSABLE;
	}
	json_decref(list);
	return status;
}

int
cmd_top(int argc, char **argv)
{
	const char *base = CLIENT_URL_DEFAULT;
	struct table t = { 0 };
	uint64_t max = ROWS_DEFAULT;
	int c;

	while ((c = getopt(argc, argv, "u:n:")) != -1) {
		switch (c) {
		case 'u':
			base = optarg;
			break;
		case 'n':
			if (!text_is_u64(text_of(optarg), &max))
				return cmd_usage_error(argv[0], "-n wants a number, not '%s'", optarg);
			break;
		default:
			return cmd_usage_error(argv[0], "see the message above");
		}
	}
	if (argc - optind > 1)
		return cmd_usage_error(argv[0], "unexpected argument '%s'", argv[optind + 1]);
	struct client *client = client_new(argv[0], base);
	int status = client != NULL ? collect(client, argv[optind], &t) : CMD_UNUSABLE;
	if (status == 0 || t.n > 0)
		print_rows(&t, max);
	for (size_t i = 0; i < t.n_keep; i++)
		json_decref(t.keep[i]);
	free(t.keep);
	free(t.rows);
	client_free(client);
	return status != 0 ? status : cmd_finish_output(argv[0]);
}
