#include "core/hub/main/hub_control.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <sys/socket.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/slice.h"
#include "core/base/unix_place.h"
#include "core/telemetry/log_rows.h"

enum { BACKLOG = 128 };

struct visitor {
    struct control *control;
    struct bufferevent *bev; /* NULL: free */
    uint64_t since_us;
    bool is_holding;
    bool is_answered;
    bool may_hold;
};

struct control {
    struct event_base *base;
    struct control_hooks hooks;
    struct evconnlistener *listener;
    struct visitor v[CONTROL_CLIENTS_MAX];
    struct unix_place place;
};

static void leave(struct visitor *v)
{
    bool was_holding = v->is_holding;

    bufferevent_free(v->bev);
    v->bev = NULL;
    v->is_holding = false;
    if (was_holding) {
        v->control->hooks.release(v->control->hooks.context);
    }
}

static bool is_paused(const struct control *c)
{
    for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++) {
        if (c->v[i].bev != NULL && c->v[i].is_holding) {
            return true;
        }
    }
    return false;
}

static void pause_hub(struct visitor *v, struct buf *ret)
{
    struct timeval most = {.tv_sec = CONTROL_HOLD_S};
    struct control *c = v->control;

    if (!v->may_hold) {
        buf_add_str(ret, "error only root and the hub's own user may pause the ring's "
                         "files\n");
        return;
    }
    if (is_paused(c)) {
        buf_add_str(ret, "error another command holds the ring's files; try again\n");
        return;
    }
    c->hooks.pause(c->hooks.context);
    v->is_holding = true;
    (void)bufferevent_set_timeouts(v->bev, &most, &most);
    buf_add_str(ret, "ok paused\n");
}

static void answer_line(struct visitor *v, struct slice line, struct buf *ret)
{
    struct control *c = v->control;
    const struct {
        struct slice name;
        void (*hook)(void *context, struct buf *ret);
    } requests[] = {{SLICE_LIT("ping"), c->hooks.ping},
                    {SLICE_LIT("stat"), c->hooks.stat},
                    {SLICE_LIT("status"), c->hooks.status},
                    {SLICE_LIT("alerts"), c->hooks.alerts},
                    {SLICE_LIT("reload"), c->hooks.reload}};

    for (size_t i = 0; i < LENGTH(requests); i++) {
        if (slice_eq(line, requests[i].name)) {
            requests[i].hook(c->hooks.context, ret);
            return;
        }
    }
    if (slice_eq(line, SLICE_LIT("errors"))) {
        log_rows_print(ret);
        return;
    }
    if (slice_eq(line, SLICE_LIT("pause"))) {
        pause_hub(v, ret);
        return;
    }
    if (slice_has_prefix(line, SLICE_LIT("feed"))) {
        c->hooks.feed(c->hooks.context, line, v->may_hold, ret);
        return;
    }
    if (slice_has_prefix(line, SLICE_LIT("store"))) {
        c->hooks.store(c->hooks.context, line, v->may_hold, ret);
        return;
    }
    buf_add_str(
        ret, "error unknown request; understood are ping, stat, status, "
             "alerts, errors, reload, pause, feeds, feed-..., store and store-...\n");
}

static void on_read(struct bufferevent *bev, void *context)
{
    struct visitor *v = context;
    struct evbuffer *in = bufferevent_get_input(bev);
    size_t n = evbuffer_get_length(in);
    const char *p =
        n > 0 && !v->is_answered ? (const char *)evbuffer_pullup(in, -1) : NULL;
    struct slice got = slice_of(p, p != NULL ? n : 0);
    size_t end = slice_find(got, '\n');
    struct buf text;

    if (p == NULL || (end == got.n && n < CONTROL_INPUT_MAX)) {
        return;
    }
    buf_init(&text, CONTROL_ANSWER_MAX);
    v->is_answered = true;
    answer_line(v,
                end > CONTROL_LINE_MAX ? SLICE_LIT("(too long)")
                                       : slice_trim(slice_head(got, end)),
                &text);
    (void)evbuffer_add(bufferevent_get_output(bev), text.p, text.n);
    buf_fini(&text);
}

static void on_sent(struct bufferevent *bev, void *context)
{
    struct visitor *v = context;

    if (v->is_answered && !v->is_holding &&
        evbuffer_get_length(bufferevent_get_output(bev)) == 0) {
        leave(v);
    }
}

static void on_event(struct bufferevent *bev, short what, void *context)
{
    (void)bev;
    (void)what;
    leave(context);
}

/* A free place. If there is none, the oldest connection that does not pause the hub is closed. */
static struct visitor *free_place(struct control *c)
{
    struct visitor *oldest = NULL;

    for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++) {
        struct visitor *v = &c->v[i];

        if (v->bev == NULL) {
            return v;
        }
        if (!v->is_holding && (oldest == NULL || v->since_us < oldest->since_us)) {
            oldest = v;
        }
    }
    if (oldest != NULL) {
        leave(oldest);
    }
    return oldest;
}

/* Only users that can change the files may stop the exchange. The group of the socket, with the
 * MTA's user, may not. */
static bool may_hold(evutil_socket_t fd)
{
    struct ucred who = {.uid = (uid_t)-1};
    socklen_t n = sizeof(who);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &n) == 0 &&
           (who.uid == 0 || who.uid == geteuid());
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd,
                      struct sockaddr *from, int from_len, void *context)
{
    struct control *c = context;
    struct visitor *v = free_place(c);
    struct timeval most = {.tv_sec = CONTROL_TIMEOUT_S};

    (void)listener;
    (void)from;
    (void)from_len;
    if (v == NULL) {
        evutil_closesocket(fd);
        return;
    }
    *v = (struct visitor){
        .control = c, .since_us = clock_mono_us(), .may_hold = may_hold(fd)};
    v->bev = bufferevent_socket_new(c->base, fd, BEV_OPT_CLOSE_ON_FREE);
    if (v->bev == NULL) {
        evutil_closesocket(fd);
        return;
    }
    bufferevent_setwatermark(v->bev, EV_READ, 0, CONTROL_INPUT_MAX);
    bufferevent_setcb(v->bev, on_read, on_sent, on_event, v);
    (void)bufferevent_set_timeouts(v->bev, &most, &most);
    (void)bufferevent_enable(v->bev, EV_READ | EV_WRITE);
}

/* ---- the socket ---- */

enum err control_new(struct event_base *base, const char *path,
                     const struct control_hooks *hooks, struct control **ret,
                     struct errinfo *reterr)
{
    struct control *c = calloc(1, sizeof(*c));
    int fd = -1;

    if (c == NULL) {
        return errinfo_nomem(reterr, path);
    }
    c->base = base;
    c->hooks = *hooks;
    enum err e =
        unix_place_listen(&c->place, path, "hub.control_socket", BACKLOG, &fd, reterr);

    if (e == ERR_OK) {
        c->listener = evconnlistener_new(
            base, on_accept, c, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd);
        e = c->listener != NULL ? ERR_OK : errinfo_nomem(reterr, path);
    }
    if (e != ERR_OK) {
        fd_close(&fd);
        control_free(&c);
        return e;
    }
    *ret = c;
    return ERR_OK;
}

void control_free(struct control **control)
{
    struct control *c = *control;

    if (c == NULL) {
        return;
    }
    for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++) {
        if (c->v[i].bev != NULL) {
            c->v[i].is_holding = false; /* no release: the hub ends */
            leave(&c->v[i]);
        }
    }
    if (c->listener != NULL) {
        evconnlistener_free(c->listener);
    }
    unix_place_remove(&c->place);
    free(c);
    *control = NULL;
}
