/* Arithmetic of rules, inline for the sake of its one hot loop. */
#ifndef HIWAT_COLLECTOR_VALUE_H
#define HIWAT_COLLECTOR_VALUE_H

#include "expr.h"

/* The NaN that an operation on a and b gives: UNKNOWN wins over FALSE. */
static inline double
value_of_nan(double a, double b)
{
	if ((isnan(a) && !value_is_false(a)) || (isnan(b) && !value_is_false(b)))
		return NAN;
	return value_false();
}

static inline double
value_and(double a, double b)
{
	if (value_is_false(a) || value_is_false(b))
		return value_false();
	return isnan(b) ? NAN : a;
}

static inline double
value_or(double a, double b)
{
	if (!isnan(a) || value_is_false(b))
		return a;
	if (value_is_false(a))
		return b;
	return isnan(b) ? NAN : b;
}

static inline double
value_unless(double a, double b)
{
	if (value_is_false(a) || value_is_false(b))
		return a;
	return isnan(b) ? NAN : value_false();
}

/* Infinities of huge operands say nothing that a rule could use. */
static inline double
value_finite(double v)
{
	return isfinite(v) ? v : value_false();
}

double value_call(enum call call, double a, double b);

/* One operation on two values; a unary one ignores b. Not for windows, series and facts. */
static inline double
value_compute(unsigned op, unsigned kind, double a, double b)
{
	switch (op) {
	case NODE_AND:
		return value_and(a, b);
	case NODE_OR:
		return value_or(a, b);
	case NODE_UNLESS:
		return value_unless(a, b);
	default:
		break;
	}
	if (isnan(a) || isnan(b))
		return value_of_nan(a, b);
	switch (op) {
	case NODE_NEG:
		return -a;
	case NODE_ADD:
		return value_finite(a + b);
	case NODE_SUB:
		return value_finite(a - b);
	case NODE_MUL:
		return value_finite(a * b);
	case NODE_DIV:
		return b == 0 ? value_false() : value_finite(a / b);
	case NODE_MOD:
		return b == 0 ? value_false() : fmod(a, b);
	case NODE_EQ:
		return a == b ? a : value_false();
	case NODE_NE:
		return a != b ? a : value_false();
	case NODE_LT:
		return a < b ? a : value_false();
	case NODE_LE:
		return a <= b ? a : value_false();
	case NODE_GT:
		return a > b ? a : value_false();
	case NODE_GE:
		return a >= b ? a : value_false();
	case NODE_CALL:
		return value_finite(value_call((enum call)kind, a, b));
	default:
		return NAN;
	}
}

#endif
