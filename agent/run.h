/* The agent at work: samples when they are due, spools, wakes the sender, until it is told to end. */
#ifndef HIWAT_AGENT_RUN_H
#define HIWAT_AGENT_RUN_H

struct agent_config;

/*
 * Runs until SIGTERM or SIGINT; SIGHUP reads path (as in agent_config_load) again. config is taken. Returns the exit status:
 * 0 when it was told to end, CMD_UNUSABLE when it could not start.
 */
int agent_run(const char *path, struct agent_config *config);

#endif
