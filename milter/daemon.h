/*
 * daemon - the order in which gillnetd comes up and goes down.
 *
 * Up: descriptors, log, statistics, keys, lists, callbacks, control socket, MTA socket, our
 * threads, smfi_main. The statistics page, keys and lists may fail: gillnetd logs this, names it as
 * a fault, and mail flows. Down: no new connections, messages in flight end, the gate closes,
 * libmilter stops, threads join in reverse order, memory is freed.
 * Files in reading order: main, daemon (start and end); service, session, arenapool (shared and own
 * state); connection, negotiate, callbacks, reply, replytext (the path of a message); message_log,
 * ham_record, history_record, logline (its records); scan, scan_message, probe (messages of
 * commands); control, watcher, ring_key, signals, notify (requests and reloads); socket, listener,
 * handover, readahead, packet (the socket of the MTA, and libmilter's view of it).
 * Example of a change: a new number of the statistics page is one row of core/telemetry/stats.def
 * and one stats_add where it happens. A new header field is one function of replytext and one call
 * in reply.c.
 * Threads: main.
 */
#ifndef MILTER_DAEMON_H
#define MILTER_DAEMON_H

#include "core/config/config.h"

#include "milter/socket.h"

struct daemon_options {
    const char *config_file;
    struct milter_socket socket;
    bool logs_to_stderr;
};

/* Takes config. Runs until TERM or INT; returns an exit status (sysexits). Nothing may have
 * started a thread before. */
int daemon_run(struct config *config, const struct daemon_options *options);

/* Messages to the service manager (sd_notify), if there is one. Any thread. */
void notify_ready(const char *status);
void notify_reloading(void);
void notify_stopping(void);
/* A sign of life, when the manager has asked for them. */
void notify_watchdog(void);

#endif
