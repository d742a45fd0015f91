/*
 * hub_control - a Unix socket on which `gillnet` asks the hub: ping, stat, status, alerts, reload, pause,
 * and feeds.
 *
 * One request line, one answer: "ok ..." or "error ..." and more lines, then the connection is closed. After "pause"
 * the hub lets go of STATE/peers and answers "ok paused"; the connection stays open until the other side closes it or
 * HOLD_S passed, then the hub takes everything up again from the files. The socket is the group's (mode 0660); pause, and what
 * changes feeds, is for root and the hub's own user.
 * Depends: base, libevent.   Threads: one.   Owns: its socket.   ADR 0034.
 */
#ifndef CORE_HUB_MAIN_HUB_CONTROL_H
#define CORE_HUB_MAIN_HUB_CONTROL_H

#include <event2/event.h>

#include "core/base/buf.h"
#include "core/base/err.h"

enum {
    CONTROL_LINE_MAX = 256,
    CONTROL_INPUT_MAX = 8192, /* read, so that who writes too much hears so */
    CONTROL_CLIENTS_MAX = 8,  /* at once; the oldest gives way */
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
    /* "feed..."; may_change: root or the hub's own user asks */
    void (*feed)(void *context, struct slice line, bool may_change, struct buf *ret);
    void (*pause)(void *context);
    void (*release)(void *context);
};

struct control;
/* ERR_EXISTS: another hub answers there. */
enum err control_new(struct event_base *base, const char *path,
                     const struct control_hooks *hooks, struct control **ret,
                     struct errinfo *reterr);
void control_free(struct control **c);

#endif
