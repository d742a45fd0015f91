/*
 * running - which configuration gillnetd and the hub run, beside the one that the file has now.
 *
 * Threads: one.   Owns: nothing.
 */
#ifndef CORE_CLI_RUNNING_H
#define CORE_CLI_RUNNING_H

#include "core/base/buf.h"
#include "core/cli/daemon_process.h"

enum {
    RUNNING_KEYS_MAX = 512,
    RUNNING_TEXT_MAX = 4 * RUNNING_KEYS_MAX /* of running_troubles */
};

struct running {
    uint32_t file;   /* config_id of the file */
    uint32_t daemon; /* of gillnetd; 0: it does not run, or is older */
    bool has_hub;    /* one answers */
    uint32_t hub;    /* 0: it does not say */
    char hub_restart
        [RUNNING_KEYS_MAX]; /* keys of the file that it takes at its next start */
};
/* d: of daemon_look. Asks the hub over its control socket. */
void running_look(const struct config *config, const struct daemon_view *d,
                  struct running *ret);
/* Appends a line for each thing that is not as the file says; nothing: all is. What a restart of gillnetd would mend is
 * among its faults. */
void running_troubles(const struct running *r, struct buf *ret);

#endif
