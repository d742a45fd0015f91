/*
 * hub - the companion service: one event loop that serves peers, fetches from them and publishes
 * local lists and counts.
 *
 * Without a ring it waits for one. gillnetd works the same whether it runs or not.
 * Reading order of the room: main, hub, hub_ring, hub_control, hub_status, hub_http, hub_metrics,
 * forms, join.
 * Requests of the API are in core/hub/api/api.h, bytes of both HTTP listeners in
 * core/hub/http/http_server.h.
 * To add a request of the control socket: a hook in struct control_hooks (hub_control.h), its name
 * in answer_line (hub_control.c), its answer in hub_status.c.
 * Depends: base, config, ring, count, libevent.   Threads: one (and libcurl's for names).   ADR
 * 0034.
 */
#ifndef CORE_HUB_MAIN_HUB_H
#define CORE_HUB_MAIN_HUB_H

#include "core/config/config.h"

enum { HUB_PORT = 8894 }; /* default port of an address */

struct hub_options {
    const char *config_file;
    bool logs_to_stderr;
    bool is_once; /* one exchange with every peer, then the end */
};
/* Takes the configuration. Returns the exit status (sysexits). */
int hub_run(struct config *config, const struct hub_options *options);

/* Enters a ring with a token: one request to the server that invited, whose key the token pins.
 * Prints the result; returns the exit status (sysexits). */
int join_run(const struct config *config, const char *token);

#endif
