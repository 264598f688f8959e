/*
 * Gives up, once the agent is set up and before it speaks to anybody, what it will not need: a parser that is led astray
 * should find little to reach. Each system's file says what it can and what it leaves, and why.
 */
#ifndef HIWAT_AGENT_CONFINE_H
#define HIWAT_AGENT_CONFINE_H

#include <stdbool.h>
#include <stddef.h>

struct confine_options {
	const char *state_dir;      /* written to; NULL: nothing is */
	const char *record_dir;     /* the same */
	const char *const *sockets; /* Unix sockets that are connected to; those that do not exist do no harm */
	size_t n_sockets;
	const char *const *programs; /* absolute paths of what may be run, besides what the samplers run */
	size_t n_programs;
};

/* Cannot be undone. HIWAT_E_SYS with errno: the system refused, and less than intended was given up. */
int confine(const struct confine_options *options);

/*
 * The same for a process that only reads a saved output and prints: called once its input is open or read, before it is
 * looked at. opens_files: more files will be opened, for reading.
 */
int confine_parser(bool opens_files);

#endif
