/*
 * daemon_process - gillnetd as its statistics page and the process table show it.
 *
 * Threads: any.   Owns: nothing.
 */
#ifndef CORE_CLI_DAEMON_PROCESS_H
#define CORE_CLI_DAEMON_PROCESS_H

#include "core/config/config.h"
#include "core/telemetry/stats.h"

struct daemon_view {
    bool has_page;   /* false: gillnetd never ran with this state folder */
    bool is_running; /* the process that the page names is there and is gillnetd */
    struct stats_view stats;
};

/* Without a page: ERR_OK and has_page false. */
enum err daemon_look(const struct config *config, struct daemon_view *ret,
                     struct errinfo *reterr);

#endif
