#include "series.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALM_TICKS 80 /* longer than a window of five minutes and the time that growth holds */

static const struct kind {
	const char *word;
	unsigned n_args;
} kinds[] = {
	[SERIES_GAUGE] = { "gauge", 2 },
	[SERIES_REAL] = { "real", 2 },
	[SERIES_COUNT] = { "count", 2 },
	[SERIES_PULSE] = { "pulse", 2 },
	[SERIES_BIRTH] = { "birth", 2 },
	[SERIES_FLIP] = { "flip", 3 },
	[SERIES_AGE] = { "age", 2 },
	[SERIES_MOMENT] = { "moment", 3 },
};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static bool
parse_line(struct series_file *f, char *line)
{
	struct series *s = &f->series[f->n];
	char *rest, *word = strtok_r(line, " \t\n", &rest);

	if (word == NULL || *word == '#')
		return true;
	if (strcmp(word, "group") == 0)
		return f->n_groups++ < GROUPS_MAX;
	for (s->kind = 0; s->kind < N_KINDS && strcmp(word, kinds[s->kind].word) != 0;)
		s->kind++;
	word = strtok_r(NULL, " \t\n", &rest);
	if (s->kind == N_KINDS || word == NULL || f->n_groups == 0 || f->n == SERIES_MAX || strlen(word) >= sizeof(s->name))
		return false;
	snprintf(s->name, sizeof(s->name), "%s", word);
	for (unsigned i = 0; i < kinds[s->kind].n_args; i++) {
		word = strtok_r(NULL, " \t\n", &rest);
		if (word == NULL)
			return false;
		s->args[i] = strtod(word, NULL);
	}
	s->group = f->n_groups - 1;
	f->n++;
	return strtok_r(NULL, " \t\n", &rest) == NULL;
}

bool
series_load(const char *path, struct series_file *f)
{
	char line[1000];
	unsigned number = 0;
	FILE *in = fopen(path, "re");

	memset(f, 0, sizeof(*f));
	if (in == NULL) {
		perror(path);
		return false;
	}
	while (fgets(line, sizeof(line), in) != NULL) {
		number++;
		if (!parse_line(f, line)) {
			fprintf(stderr, "%s:%u: a kind, a series and its numbers were expected\n", path, number);
			fclose(in);
			return false;
		}
	}
	fclose(in);
	return f->n > 0;
}

struct curve {
	double *heights;
	unsigned n, n_ticks;
	uint32_t seed;
};

static unsigned
draw(struct curve *c, unsigned low, unsigned high)
{
	c->seed = c->seed * 1664525u + 1013904223u;
	return low + (c->seed >> 8) % (high - low + 1);
}

static void
go_to(struct curve *c, double height, unsigned ticks)
{
	double from = c->n > 0 && !isnan(c->heights[c->n - 1]) ? c->heights[c->n - 1] : height;

	for (unsigned i = 1; i <= ticks && c->n < c->n_ticks; i++)
		c->heights[c->n++] = isnan(height) ? NAN : from + (height - from) * i / ticks;
}

static void
stay(struct curve *c, double height, unsigned ticks)
{
	for (unsigned i = 0; i < ticks && c->n < c->n_ticks; i++)
		c->heights[c->n++] = height;
}

/* One episode, from calm to calm. */
static void
add_episode(struct curve *c, unsigned kind)
{
	double top = draw(c, 100, 110) / 100.0;

	switch (kind) {
	case 0: /* too short for any `for` */
		stay(c, top, draw(c, 1, 2));
		break;
	case 1: /* steep, and back through the band where what fires stays */
		stay(c, top, draw(c, 10, 30));
		stay(c, draw(c, 84, 92) / 100.0, draw(c, 15, 40));
		break;
	case 2: /* slow, over the milder levels first */
		go_to(c, top, draw(c, 30, 60));
		stay(c, top, draw(c, 10, 20));
		go_to(c, 0.05, draw(c, 30, 60));
		break;
	case 3: /* clears, but not for long enough to end */
		stay(c, top, draw(c, 10, 20));
		stay(c, 0.3, draw(c, 2, 5));
		stay(c, top, draw(c, 8, 16));
		break;
	case 4: /* the milder level alone */
		go_to(c, draw(c, 82, 93) / 100.0, draw(c, 3, 20));
		stay(c, c->n > 0 ? c->heights[c->n - 1] : 0, draw(c, 10, 40));
		break;
	case 5: /* for longer than any `for` but that of days */
		stay(c, top, draw(c, 70, 100));
		break;
	default: /* gone while it is high */
		stay(c, top, draw(c, 12, 40));
		stay(c, NAN, draw(c, 15, 30));
		break;
	}
	stay(c, draw(c, 5, 30) / 100.0, draw(c, CALM_TICKS, CALM_TICKS + 20));
}

void
series_curve(unsigned group, unsigned host, double *heights, unsigned n_ticks)
{
	struct curve c = { .heights = heights, .n_ticks = n_ticks, .seed = group * 7919 + host * 104729 + 17 };

	stay(&c, 0.1, draw(&c, CALM_TICKS / 2, CALM_TICKS));
	for (unsigned first = draw(&c, 0, 6), i = 0; c.n < n_ticks; i++)
		add_episode(&c, (first + i * 5) % 7);
}

void
series_values(const struct series *s, const double *heights, unsigned n_ticks, double tick_seconds, double *values)
{
	const double *a = s->args;
	double count = 1000;
	bool born = s->kind != SERIES_BIRTH;

	for (unsigned i = 0; i < n_ticks; i++) {
		double h = heights[i], v = 0;
		bool high = h >= a[0];
		switch (s->kind) {
		case SERIES_GAUGE:
			v = floor(a[0] + a[1] * h);
			break;
		case SERIES_REAL:
			v = a[0] + a[1] * h;
			break;
		case SERIES_AGE:
			v = i * tick_seconds - (a[0] + a[1] * h);
			break;
		case SERIES_COUNT:
			count += a[0] + a[1] * h > 0 ? (a[0] + a[1] * h) * tick_seconds : 0;
			v = count;
			break;
		case SERIES_PULSE:
			count += high ? a[1] : 0;
			v = count;
			break;
		case SERIES_BIRTH:
			count = born ? count : 0;
			born = born || high;
			count += high ? a[1] : 0;
			v = born ? count : NAN;
			break;
		case SERIES_FLIP:
		case SERIES_MOMENT:
			v = high ? a[2] : a[1];
			break;
		}
		values[i] = isnan(h) ? NAN : v;
	}
}
