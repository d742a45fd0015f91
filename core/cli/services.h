/*
 * services - gillnetd and the hub, seen from the command line: their control sockets, gillnetd's
 * statistics page, and the configuration that they run.
 *
 * The protocol of a control socket: one line in, lines out, end of file. The first line of the
 * answer is "ok ..." or "error ...".
 * Threads: any.   Owns: nothing.
 */
#ifndef CORE_CLI_SERVICES_H
#define CORE_CLI_SERVICES_H

#include <jansson.h>

#include "core/base/buf.h"
#include "core/config/config.h"
#include "core/telemetry/stats.h"

/* ---- control sockets ---- */

enum { CONTROL_ANSWER_MAX = 1 << 20, CONTROL_WAIT_S = 60 };

/* Connects to the Unix socket at path; the descriptor is the caller's. A path longer than a socket
 * address holds is reached through its folder. ERR_NOT_FOUND: nobody listens there. */
enum err control_connect(const char *path, int *retfd, struct errinfo *reterr);

/* Connects to host and port; wait_s, the limit of one try, stays on the socket. ERR_SYNTAX: there
 * is no such address. */
enum err control_dial(const char *host, const char *port, int wait_s, int *retfd,
                      struct errinfo *reterr);

/* Whether somebody listens at path. */
bool control_listens(const char *path);

/* Sends request and a line break, appends the whole answer to retanswer. An answer that takes
 * longer than CONTROL_WAIT_S or has no line is an error. */
enum err control_ask(const char *path, const char *request, struct buf *retanswer,
                     struct errinfo *reterr);

/* Asks, and reads each line after the first as a JSON object; *ret: the array of them. The first
 * line goes into retfirst, if it fits. */
enum { CONTROL_FIRST_MAX = 1024 };
enum err control_ask_rows(const char *path, const char *request,
                          char retfirst[CONTROL_FIRST_MAX], json_t **ret,
                          struct errinfo *reterr);

/* ---- gillnetd's page ---- */

struct daemon_view {
    bool has_page;   /* false: gillnetd never ran with this state folder */
    bool is_running; /* the process that the page names is there and is gillnetd */
    struct stats_view stats;
};

/* Without a page: ERR_OK and has_page false. */
enum err daemon_look(const struct config *config, struct daemon_view *ret,
                     struct errinfo *reterr);

/* ---- the running configuration ---- */

enum {
    RUNNING_KEYS_MAX = 512,
    RUNNING_TEXT_MAX = 4 * RUNNING_KEYS_MAX /* of running_troubles */
};

struct running {
    uint32_t file;   /* config_id of the file */
    uint32_t daemon; /* of gillnetd; 0: it does not run, or is older */
    bool has_hub;    /* a hub answers */
    uint32_t hub;    /* 0: the hub does not say */
    char hub_restart[RUNNING_KEYS_MAX]; /* keys that the hub takes at its next start */
};
/* Asks the hub over its control socket. d: from daemon_look. */
void running_look(const struct config *config, const struct daemon_view *d,
                  struct running *ret);
/* Appends a line for each difference between the file and the programs; nothing: there is none.
 * Keys for which gillnetd needs a restart are among its faults. */
void running_troubles(const struct running *r, struct buf *ret);

#endif
