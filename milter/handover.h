/*
 * handover - the listening socket of a Unix path outlives gillnetd while systemd restarts it.
 *
 * systemd keeps a copy of the socket (FileDescriptorStoreMax of the unit, which also sets FDSTORE) and gives it to the next
 * gillnetd. Connections that the MTA makes in between wait in the socket's queue and none is refused. The name under
 * which systemd keeps the socket holds device and inode of the file, so a socket is taken only while its file still
 * lies at the configured path.
 * Threads: main, before others start.   Source: sd_listen_fds(3), sd_pid_notify_with_fds(3); ADR 0051.
 */
#ifndef MILTER_HANDOVER_H
#define MILTER_HANDOVER_H

#include "milter/socket.h"

/* Gives a copy of fd, which listens at place, to systemd. False: systemd keeps none. */
bool handover_keep(int fd, const struct unix_place *place);
/* Returns the descriptor that listens at path, with *ret filled; -1: none was kept for this path. Kept sockets of
 * other paths are closed, and dropped by systemd. */
int handover_take(const char *path, struct unix_place *ret);

#endif
