/* Claims about a header's structures and numbers that the compiler checks. */
#ifndef HIWAT_TESTS_LAYOUT_H
#define HIWAT_TESTS_LAYOUT_H

#define IS(name, value) _Static_assert((unsigned long long)(name) == (unsigned long long)(value), #name " is not " #value)
#define SIZE(type, size) _Static_assert(sizeof(struct type) == (size), "size of " #type)
#define FIELD(type, field, offset, size) \
	_Static_assert(offsetof(struct type, field) == (offset) && sizeof(((struct type *)0)->field) == (size), \
	    "place of " #type "." #field)

#endif
