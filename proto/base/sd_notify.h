/* systemd's notification protocol (sd_notify(3)): one datagram to the socket that NOTIFY_SOCKET names. */
#ifndef HIWAT_BASE_SD_NOTIFY_H
#define HIWAT_BASE_SD_NOTIFY_H

/* Sends "READY=1", "WATCHDOG=1", ...; does nothing when nobody asked to be told. Failure is of no consequence. */
void sd_notify_send(const char *state);

#endif
