#include "milter/control.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "core/base/slice.h"
#include "core/base/unix_place.h"
#include "core/base/version.h"
#include "core/telemetry/log_rows.h"
#include "core/telemetry/stats.h"

#include "milter/probe.h"
#include "milter/scan.h"
#include "milter/service.h"
#include "milter/watcher.h"

enum {
    US_PER_S = 1000000,
    ANSWER_MAX = 128 * 1024,
    BACKLOG = 64,
    SLOT_END = 0,
    SLOT_LISTEN = 1
};
_Static_assert((int)COUNT_WIRE_ANSWER_MAX <= (int)ANSWER_MAX, "raise ANSWER_MAX");

struct peer_client {
    int fd; /* -1: free */
    uint64_t end_us;
    size_t n;
    char line[CONTROL_LINE_MAX];
};

static struct {
    int end_fd; /* eventfd: written once to end the thread */
    int listen_fd;
    struct unix_place place;
    bool is_started;
    pthread_t thread;
    struct peer_client clients[CONTROL_CLIENTS_MAX]; /* the thread's */
    const struct count_port *port;                   /* NULL: nothing is counted */
    const struct keyring *keys;
} control = {.end_fd = -1, .listen_fd = -1};

static void answer_stat(struct buf *ret)
{
    buf_printf(ret, "ok gillnetd %s\n", GILLNET_VERSION);
    for (int i = 0; i < STAT_COUNT; i++) {
        buf_printf(ret, "%s %llu\n", stats_name((enum stat_id)i),
                   (unsigned long long)stats_get((enum stat_id)i));
    }
}

static void answer_reload(struct buf *ret)
{
    struct buf text;
    buf_init(&text, ANSWER_MAX / 2);
    enum err e = watch_reload(&text);
    buf_printf(ret, e == ERR_OK ? "ok reloaded\n" : "error %s\n", err_text(e));
    buf_add(ret, buf_slice(&text));
    buf_fini(&text);
}

static void answer_probe(struct slice token, struct buf *ret)
{
    const char *state = probe_ask(token);

    buf_printf(ret, state != NULL ? "ok %s\n" : "error %s\n",
               state != NULL ? state : "a token has 32 letters a-f and digits");
}

/* "escalated": the entries; "escalated drop DOMAIN": ends one. */
static void answer_escalated(struct slice args, struct buf *ret)
{
    struct slice drop = SLICE_LIT("drop ");

    if (slice_has_prefix(args, drop)) {
        buf_add_str(ret, emergency_drop(service_emergency(), slice_from(args, drop.n))
                             ? "ok\n"
                             : "error no such domain is escalated\n");
        return;
    }
    buf_add_str(ret, "ok\n");
    emergency_print(service_emergency(), clock_wall_us() / US_PER_S, ret);
}

static void answer_request(struct slice request, struct buf *ret)
{
    if (slice_eq(request, SLICE_LIT("ping"))) {
        buf_printf(ret, "ok gillnetd %s pid=%ld sessions=%zu messages=%zu\n",
                   GILLNET_VERSION, (long)getpid(), service_sessions(),
                   service_messages());
    } else if (slice_eq(request, SLICE_LIT("stat"))) {
        answer_stat(ret);
    } else if (slice_eq(request, SLICE_LIT("reload"))) {
        answer_reload(ret);
    } else if (slice_eq(request, SLICE_LIT("look"))) {
        watch_ask_look();
        buf_add_str(ret, "ok\n");
    } else if (slice_eq(request, SLICE_LIT("errors"))) {
        log_rows_print(ret);
    } else if (slice_has_prefix(request, SLICE_LIT("count-"))) {
        count_wire_answer(request, control.port, control.keys, ret);
    } else if (slice_has_prefix(request, SLICE_LIT("probe "))) {
        answer_probe(slice_from(request, sizeof "probe " - 1), ret);
    } else if (slice_has_prefix(request, SLICE_LIT("escalated"))) {
        answer_escalated(slice_trim(slice_from(request, sizeof "escalated" - 1)), ret);
    } else {
        buf_add_str(
            ret,
            "error unknown request; understood are ping, stat, reload, look, errors, "
            "scan, report, probe, escalated, count-batch, count-exact, count-shares, count-called\n");
    }
}

static void drop_client(struct peer_client *c)
{
    close(c->fd);
    c->fd = -1;
}

static void finish_client(struct peer_client *c, const struct buf *text)
{
    /* it fits a socket's buffer; a client that does not read gets what fits */
    if (text->n > 0 && send(c->fd, text->p, text->n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
        log_debug("event=control error=%s", strerrorname_np(errno));
    }
    drop_client(c);
}

static void serve(struct peer_client *c, struct slice line)
{
    struct buf text;
    buf_init(&text, ANSWER_MAX);
    answer_request(slice_trim(line), &text);
    finish_client(c, &text);
    buf_fini(&text);
}

/* Takes the line of c and the bytes after it: only a scan or report has any. */
static void take_request(struct peer_client *c, struct slice line, struct slice rest)
{
    struct slice scan = SLICE_LIT("scan ");
    struct slice report = SLICE_LIT("report ");
    bool is_report = slice_has_prefix(line, report);

    if (is_report || slice_has_prefix(line, scan)) {
        scan_take(c->fd, slice_from(line, is_report ? report.n : scan.n), rest,
                  is_report);
        c->fd = -1;
    } else {
        serve(c, line);
    }
}

static void read_client(struct peer_client *c)
{
    ssize_t n = recv(c->fd, c->line + c->n, sizeof(c->line) - c->n, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (n < 0) {
        drop_client(c);
        return;
    }
    c->n += (size_t)n;
    struct slice got = slice_of(c->line, c->n);
    size_t end = slice_find(got, '\n');
    if (end < got.n || (n == 0 && got.n > 0)) {
        take_request(c, slice_head(got, end), slice_from(got, end + 1));
    } else if (n == 0) {
        drop_client(c);
    } else if (c->n == sizeof(c->line)) {
        serve(c, SLICE_LIT("(too long)"));
    }
}

static void admit(void)
{
    int fd = accept4(control.listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd < 0) {
        return;
    }
    for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++) {
        struct peer_client *c = &control.clients[i];
        if (c->fd < 0) {
            c->fd = fd;
            c->n = 0;
            c->end_us = clock_mono_us() + (uint64_t)CONTROL_TIMEOUT_MS * 1000;
            return;
        }
    }
    close(fd);
}

/* Drops clients that took too long; milliseconds until the next one does, -1: none. */
static int drop_slow(bool *rethas_room)
{
    uint64_t now = clock_mono_us();
    uint64_t first = UINT64_MAX;
    *rethas_room = false;
    for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++) {
        struct peer_client *c = &control.clients[i];
        if (c->fd >= 0 && c->end_us <= now) {
            drop_client(c);
        }
        if (c->fd < 0) {
            *rethas_room = true;
        } else if (c->end_us < first) {
            first = c->end_us;
        }
    }
    return first == UINT64_MAX ? -1 : (int)((first - now) / 1000 + 1);
}

static void *run_control(void *context)
{
    (void)context;
    struct pollfd p[2 + CONTROL_CLIENTS_MAX];
    for (;;) {
        bool has_room;
        int wait_ms = drop_slow(&has_room);
        p[SLOT_END] = (struct pollfd){.fd = control.end_fd, .events = POLLIN};
        p[SLOT_LISTEN] =
            (struct pollfd){.fd = has_room ? control.listen_fd : -1, .events = POLLIN};
        for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++) {
            p[2 + i] = (struct pollfd){.fd = control.clients[i].fd, .events = POLLIN};
        }
        if (poll(p, LENGTH(p), wait_ms) < 0) {
            continue;
        }
        if (p[SLOT_END].revents) {
            break;
        }
        for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++) {
            if (p[2 + i].revents) {
                read_client(&control.clients[i]);
            }
        }
        if (p[SLOT_LISTEN].revents) {
            admit();
        }
    }
    for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++) {
        if (control.clients[i].fd >= 0) {
            drop_client(&control.clients[i]);
        }
    }
    return NULL;
}

static void close_all(void)
{
    unix_place_remove(&control.place);
    fd_close(&control.listen_fd);
    fd_close(&control.end_fd);
}

enum err control_open(const char *path, struct errinfo *reterr)
{
    enum err e = unix_place_listen(&control.place, path, "control_socket", BACKLOG,
                                   &control.listen_fd, reterr);
    if (e == ERR_OK) {
        control.end_fd = eventfd(0, EFD_CLOEXEC);
        if (control.end_fd < 0) {
            e = errinfo_set(reterr, ERR_NOMEM, path, 0,
                            "no descriptor left for the control socket");
        }
    }
    if (e != ERR_OK) {
        close_all();
    }
    return e;
}

void control_set_count(const struct count_port *port, const struct keyring *keys)
{
    control.port = port;
    control.keys = keys;
}

bool control_start(void)
{
    for (size_t i = 0; i < CONTROL_CLIENTS_MAX; i++) {
        control.clients[i].fd = -1;
    }
    if (control.listen_fd < 0) {
        return true; /* said when it could not be opened */
    }
    control.is_started = pthread_create(&control.thread, NULL, run_control, NULL) == 0;
    return control.is_started;
}

void control_stop(void)
{
    uint64_t one = 1;
    if (control.is_started &&
        write(control.end_fd, &one, sizeof(one)) == (ssize_t)sizeof(one)) {
        pthread_join(control.thread, NULL);
    }
    control.is_started = false;
    close_all();
}
