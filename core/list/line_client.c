/* line_client - a few idle connections under a lock; the waiting is done without it. */
#include "core/list/line_client.h"

#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "core/list/line_wire.h"
#include "core/telemetry/stats.h"

enum { US_PER_S = 1000000, NS_PER_US = 1000 };

struct line_client {
    struct sockaddr_un address;
    pthread_mutex_t lock; /* of all below */
    int idle[LINE_IDLE_MAX];
    size_t nidle;
    unsigned nfailures; /* in a row */
    uint64_t retry_us;  /* not asked before */
    const char *fault;  /* as it was told; NULL: none */
    uint64_t failed_us; /* when the last question failed */
};

struct line_client *line_client_new(const char *path)
{
    struct line_client *c = calloc(1, sizeof(*c));
    if (!c || strlen(path) >= sizeof(c->address.sun_path) ||
        pthread_mutex_init(&c->lock, NULL) != 0) {
        free(c);
        return NULL;
    }
    c->address.sun_family = AF_UNIX;
    memcpy(c->address.sun_path, path, strlen(path) + 1);
    return c;
}

void line_client_free(struct line_client **client)
{
    struct line_client *c = *client;
    if (c) {
        while (c->nidle > 0) {
            (void)close(c->idle[--c->nidle]);
        }
        pthread_mutex_destroy(&c->lock);
        free(c);
    }
    *client = NULL;
}

/* ---- connections ---- */

/* An idle connection that the hub has not closed, or -1. False: not to be asked now. */
static bool idle_take(struct line_client *c, int *retfd)
{
    uint64_t now_us = clock_mono_us();
    bool may_ask = true;
    pthread_mutex_lock(&c->lock);
    if (c->nfailures >= LINE_FAILURES_MAX) {
        may_ask = now_us >= c->retry_us;
        c->retry_us = may_ask ? now_us + LINE_PAUSE_US : c->retry_us;
    }
    *retfd = may_ask && c->nidle > 0 ? c->idle[--c->nidle] : -1;
    pthread_mutex_unlock(&c->lock);
    return may_ask;
}

static void idle_put(struct line_client *c, int fd)
{
    pthread_mutex_lock(&c->lock);
    bool has_room = c->nidle < LINE_IDLE_MAX;
    if (has_room) {
        c->idle[c->nidle++] = fd;
    }
    pthread_mutex_unlock(&c->lock);
    if (!has_room) {
        (void)close(fd);
    }
}

static void outcome_put(struct line_client *c, enum err e)
{
    pthread_mutex_lock(&c->lock);
    if (e == ERR_OK) {
        c->nfailures = 0;
    } else if (++c->nfailures == LINE_FAILURES_MAX) {
        c->retry_us = clock_mono_us() + LINE_PAUSE_US;
    }
    pthread_mutex_unlock(&c->lock);
}

static enum err connect_to(const struct line_client *c, int *retfd)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return ERR_IO;
    }
    if (connect(fd, (const struct sockaddr *)&c->address, sizeof(c->address)) != 0) {
        bool is_away = errno == ENOENT || errno == ECONNREFUSED;
        (void)close(fd);
        return is_away ? ERR_NOT_FOUND : ERR_IO; /* EAGAIN: its queue is full */
    }
    *retfd = fd;
    return ERR_OK;
}

/* ---- bytes ---- */

static enum err wait_ready(int fd, short events, uint64_t deadline_us)
{
    for (;;) {
        struct pollfd p = {.fd = fd, .events = events};
        uint64_t now_us = clock_mono_us();
        if (now_us >= deadline_us) {
            return ERR_TIMEOUT;
        }
        uint64_t left_us = deadline_us - now_us;
        struct timespec left = {.tv_sec = (time_t)(left_us / US_PER_S),
                                .tv_nsec = (long)(left_us % US_PER_S * NS_PER_US)};
        int n = ppoll(&p, 1, &left, NULL);
        if (n > 0) {
            return ERR_OK;
        }
        if (n < 0 && errno != EINTR) {
            return ERR_IO;
        }
    }
}

static enum err send_all(int fd, struct slice bytes, uint64_t deadline_us)
{
    while (bytes.n > 0) {
        ssize_t n = send(fd, bytes.p, bytes.n, MSG_NOSIGNAL);
        if (n < 0 && errno == EAGAIN) {
            enum err e = wait_ready(fd, POLLOUT, deadline_us);
            if (e != ERR_OK) {
                return e;
            }
        } else if (n < 0 && errno != EINTR) {
            return ERR_IO;
        }
        bytes = slice_from(bytes, n > 0 ? (size_t)n : 0);
    }
    return ERR_OK;
}

static enum err receive_all(int fd, void *dst, size_t size, uint64_t deadline_us)
{
    char *p = dst;
    while (size > 0) {
        enum err e = wait_ready(fd, POLLIN, deadline_us);
        if (e != ERR_OK) {
            return e;
        }
        ssize_t n = recv(fd, p, size, 0);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
            return ERR_IO;
        }
        p += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return ERR_OK;
}

static enum err receive_answer(int fd, uint64_t deadline_us, struct buf *ret)
{
    uint8_t head[LINE_WIRE_HEAD_BYTES];
    size_t n = 0;
    enum err e = receive_all(fd, head, sizeof(head), deadline_us);
    if (e == ERR_OK && !line_wire_head(head, LINE_WIRE_ANSWER, &n)) {
        e = ERR_CORRUPT;
    }
    if (e != ERR_OK) {
        return e;
    }
    char *p = buf_extend(ret, n);
    return p ? receive_all(fd, p, n, deadline_us) : ERR_NOMEM;
}

static enum err ask_over(int fd, struct slice question, uint64_t deadline_us,
                         struct buf *ret)
{
    enum err e = send_all(fd, question, deadline_us);
    THEN(e, receive_answer(fd, deadline_us, ret));
    return e;
}

enum err line_client_ask(struct line_client *c, struct slice question,
                         uint64_t deadline_mono_us, struct buf *retanswer)
{
    int fd = -1;
    if (!idle_take(c, &fd)) {
        return ERR_LOCKED;
    }
    bool was_idle = fd >= 0;
    enum err e = was_idle ? ERR_OK : connect_to(c, &fd);
    THEN(e, ask_over(fd, question, deadline_mono_us, retanswer));
    if (e == ERR_IO && was_idle) { /* the hub ended meanwhile: perhaps it is back */
        fd_close(&fd);
        buf_clear(retanswer);
        e = connect_to(c, &fd);
        THEN(e, ask_over(fd, question, deadline_mono_us, retanswer));
    }
    if (e == ERR_OK) {
        idle_put(c, fd);
    } else {
        fd_close(&fd);
    }
    outcome_put(c, e);
    return e;
}

/* ---- the fault ---- */

void line_client_note(struct line_client *c, const char *text)
{
    uint64_t now_us = clock_mono_us();
    pthread_mutex_lock(&c->lock);
    const char *before = c->fault;
    bool is_over = text == NULL && now_us >= c->failed_us + LINE_FAULT_US;
    c->failed_us = text != NULL ? now_us : c->failed_us;
    c->fault = text != NULL || is_over ? text : before;
    bool is_news = c->fault != before;
    bool begins = is_news && before == NULL;
    pthread_mutex_unlock(&c->lock);
    if (is_news) {
        stats_fault("lines", text);
    }
    if (begins) {
        log_warn("event=lines result=missing: %s", text);
    } else if (is_news && text == NULL) {
        log_info("event=lines result=complete");
    }
}
