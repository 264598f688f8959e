/*
 * sysctl -a of the BSDs, macOS and Linux: "name: value", "name=value" or "name = value". The settings that rules and the
 * audit need go to out->settings->sysctls as they are; values that are a metric of their own go there: memory, CPUs, boot
 * time, CPU times, files, vnodes, processes, sockets, connection tracking, drops. A name that comes twice counts as it came
 * last; a last line without its newline does not count, as its value may be cut.
 */
#ifndef HIWAT_AGENT_SYSCTL_H
#define HIWAT_AGENT_SYSCTL_H

#include "parse.h"

parse_fn sysctl_parse;
int sysctl_recognise(struct text text);

#endif
