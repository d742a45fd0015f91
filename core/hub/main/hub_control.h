/*
 * hub_control - the Unix socket for requests of `gillnet`: ping, stat, status, alerts, errors,
 * reload, pause, feeds.
 *
 * One request line, one answer: "ok ..." or "error ..." and more lines, then the connection is
 * closed. After "pause" the hub closes STATE/peers and answers "ok paused". It opens the files
 * again when the client closes the connection, or after CONTROL_HOLD_S. The socket has mode 0660.
 * Only root and the hub's own user may pause and may change feeds and the store.
 * Depends: base, libevent.   Threads: one.   Owns: its socket.   ADR 0034.
 */
#ifndef CORE_HUB_MAIN_HUB_CONTROL_H
#define CORE_HUB_MAIN_HUB_CONTROL_H

#include <event2/event.h>

#include "core/base/buf.h"
#include "core/base/err.h"

enum {
    CONTROL_LINE_MAX = 256,
    CONTROL_INPUT_MAX = 8192, /* too long a line gets an answer */
    CONTROL_CLIENTS_MAX = 8,  /* at once; a new one closes the oldest */
    CONTROL_TIMEOUT_S = 5,
    CONTROL_HOLD_S = 20,
    CONTROL_ANSWER_MAX = 1 << 20
};

struct control_hooks {
    void *context;
    void (*ping)(void *context, struct buf *ret);
    void (*stat)(void *context, struct buf *ret);
    void (*status)(void *context, struct buf *ret);
    void (*alerts)(void *context, struct buf *ret);
    void (*reload)(void *context, struct buf *ret);
    /* "feed..."; may_change: root or the hub's own user asks. */
    void (*feed)(void *context, struct slice line, bool may_change, struct buf *ret);
    /* "store..." */
    void (*store)(void *context, struct slice line, bool may_change, struct buf *ret);
    void (*pause)(void *context);
    void (*release)(void *context);
};

struct control;
/* ERR_EXISTS: another hub runs. */
enum err control_new(struct event_base *base, const char *path,
                     const struct control_hooks *hooks, struct control **ret,
                     struct errinfo *reterr);
void control_free(struct control **c);

#endif
