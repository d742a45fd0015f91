#include "milter/scan.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/telemetry/scan_request.h"
#include "core/telemetry/stats.h"

#include "milter/report.h"

enum { PIECE = 64 * 1024 /* read at once */ };

enum state {
    SCAN_READING,
    SCAN_WAITING,
    SCAN_WORKING, /* the worker's alone */
    SCAN_WRITING
};

struct scan {
    struct scan *next; /* of those that wait; the oldest first */
    int fd;
    enum state state;
    uint64_t end_us; /* of reading or writing */
    struct scan_request line;
    char *bytes; /* of the message: room for as many as were announced */
    size_t n;    /* that came */
    struct buf answer;
    size_t sent;
    uint64_t held;               /* of memory below: the message, then the answer */
    char room[SCAN_REQUEST_MAX]; /* values of the line */
};

_Static_assert((int)SCAN_REQUEST_BYTES_MAX <= (int)SCAN_MEMORY_MAX, "the longest fits");

static struct {
    pthread_mutex_t lock; /* guards all below, except the scans of workers */
    pthread_cond_t work;
    struct scan *clients[SCAN_CLIENTS_MAX]; /* NULL: free */
    struct scan *first;                     /* waiting */
    struct scan *last;
    uint64_t memory; /* bytes that messages may come to have, and answers have */
    bool is_ending;
    bool is_started;
    int wake_fd;
    pthread_t io;
    unsigned nworkers;
    pthread_t workers[SCAN_WORKERS];
} scans = {
    .lock = PTHREAD_MUTEX_INITIALIZER, .work = PTHREAD_COND_INITIALIZER, .wake_fd = -1};

static void wake(void)
{
    uint64_t one = 1;
    if (write(scans.wake_fd, &one, sizeof(one)) < 0) {
        log_debug("event=scan error=%s", strerrorname_np(errno));
    }
}

/* ---- clients; under the lock ---- */

static void drop_scan(size_t i)
{
    struct scan *s = scans.clients[i];

    scans.clients[i] = NULL;
    scans.memory -= s->held;
    close(s->fd);
    free(s->bytes);
    buf_fini(&s->answer);
    free(s);
}

/* The answer is complete: the thread writes it. */
static void begin_writing(struct scan *s)
{
    s->state = SCAN_WRITING;
    s->end_us = clock_mono_us() + (uint64_t)SCAN_WRITE_MS * 1000;
}

static void begin_waiting(struct scan *s)
{
    s->state = SCAN_WAITING;
    s->next = NULL;
    if (scans.first == NULL) {
        scans.first = s;
    } else {
        scans.last->next = s;
    }
    scans.last = s;
    pthread_cond_signal(&scans.work);
}

/* ---- reading and writing; the thread's ---- */

static void take_bytes(struct scan *s, struct slice bytes)
{
    bytes = slice_head(bytes, s->line.bytes - s->n);
    if (bytes.n > 0) {
        memcpy(s->bytes + s->n, bytes.p, bytes.n);
    }
    s->n += bytes.n;
    if (s->n == s->line.bytes) {
        begin_waiting(s);
    }
}

/* False: it is over with this client. */
static bool read_some(struct scan *s)
{
    char piece[PIECE];
    ssize_t n = recv(s->fd, piece, sizeof(piece), MSG_DONTWAIT);

    if (n < 0) {
        return errno == EAGAIN || errno == EINTR;
    }
    if (n == 0) {
        buf_printf(&s->answer,
                   "error the message ended after %zu of the %llu bytes that were "
                   "announced\n",
                   s->n, (unsigned long long)s->line.bytes);
        begin_writing(s);
        return true;
    }
    take_bytes(s, slice_of(piece, (size_t)n));
    return true;
}

static bool write_some(struct scan *s)
{
    ssize_t n = send(s->fd, s->answer.p + s->sent, s->answer.n - s->sent,
                     MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0) {
        return errno == EAGAIN || errno == EINTR;
    }
    s->sent += (size_t)n;
    return s->sent < s->answer.n;
}

/* The descriptors to poll: the wake-up, then clients. No more than there are: the system takes no
 * longer list than a process may have descriptors. */
struct waiting {
    nfds_t n;
    struct pollfd p[SCAN_CLIENTS_MAX + 1];
    size_t client[SCAN_CLIENTS_MAX + 1]; /* of each but the first */
};

/* Milliseconds until a client's time ends; -1: there is none. */
static int fill_waiting(struct waiting *w)
{
    uint64_t now = clock_mono_us();
    uint64_t first = UINT64_MAX;

    w->n = 1;
    w->p[0] = (struct pollfd){.fd = scans.wake_fd, .events = POLLIN};
    for (size_t i = 0; i < SCAN_CLIENTS_MAX; i++) {
        const struct scan *s = scans.clients[i];
        if (s == NULL || (s->state != SCAN_READING && s->state != SCAN_WRITING)) {
            continue;
        }
        if (s->end_us <= now) {
            drop_scan(i);
            continue;
        }
        short events = s->state == SCAN_READING ? POLLIN : POLLOUT;
        w->client[w->n] = i;
        w->p[w->n++] = (struct pollfd){.fd = s->fd, .events = events};
        first = s->end_us < first ? s->end_us : first;
    }
    return first == UINT64_MAX ? -1 : (int)((first - now) / 1000 + 1);
}

static void serve(const struct waiting *w)
{
    for (nfds_t i = 1; i < w->n; i++) {
        struct scan *s = scans.clients[w->client[i]];
        if (w->p[i].revents != 0 &&
            !(s->state == SCAN_READING ? read_some(s) : write_some(s))) {
            drop_scan(w->client[i]);
        }
    }
    if (w->p[0].revents != 0) {
        uint64_t count = 0;
        (void)!read(scans.wake_fd, &count, sizeof(count));
    }
}

/* The lock is held except during the wait: reads and writes do not block. Nobody but this thread
 * drops clients, or changes those that it waits for. */
static void *run_io(void *context)
{
    struct waiting w;

    (void)context;
    pthread_mutex_lock(&scans.lock);
    while (!scans.is_ending) {
        int wait_ms = fill_waiting(&w);
        pthread_mutex_unlock(&scans.lock);
        int n = poll(w.p, w.n, wait_ms);
        pthread_mutex_lock(&scans.lock);
        if (n > 0) {
            serve(&w);
        }
    }
    pthread_mutex_unlock(&scans.lock);
    return NULL;
}

/* ---- judging ---- */

static void answer_scan(struct scan *s)
{
    struct errinfo why = {.code = ERR_OK};
    struct slice bytes = slice_of(s->bytes, s->n);
    char *json = s->line.say.n > 0 ? report_answer(&s->line, bytes, s->fd, &why)
                                   : scan_message(&s->line, bytes, &why);

    if (json == NULL) {
        buf_printf(&s->answer, "error %s\n", why.text);
        return;
    }
    buf_add_str(&s->answer, "ok\n");
    buf_add_str(&s->answer, json);
    buf_add_char(&s->answer, '\n');
    free(json);
    if (buf_failed(&s->answer)) {
        buf_clear(&s->answer);
        buf_add_str(&s->answer, "error the answer is too long\n");
    }
}

static void *run_worker(void *context)
{
    (void)context;
    (void)setpriority(PRIO_PROCESS, (id_t)gettid(), SCAN_NICE);
    pthread_mutex_lock(&scans.lock);
    for (;;) {
        while (!scans.is_ending && scans.first == NULL) {
            pthread_cond_wait(&scans.work, &scans.lock);
        }
        if (scans.is_ending) {
            break;
        }
        struct scan *s = scans.first;
        scans.first = s->next;
        s->state = SCAN_WORKING;
        pthread_mutex_unlock(&scans.lock);
        answer_scan(s);
        free(s->bytes);
        s->bytes = NULL;
        pthread_mutex_lock(&scans.lock);
        stats_add(STAT_scans, 1);
        scans.memory += s->answer.n;
        scans.memory -= s->held;
        s->held = s->answer.n;
        begin_writing(s);
        wake();
    }
    pthread_mutex_unlock(&scans.lock);
    return NULL;
}

/* ---- taking ---- */

/* The answer to a client that is not taken; it fits the socket's buffer. */
static void refuse_scan(int fd, const char *why)
{
    struct buf text;

    buf_init(&text, ERRINFO_TEXT_MAX + 16);
    buf_printf(&text, "error %s\n", why);
    if (send(fd, text.p, text.n, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
        log_debug("event=scan error=%s", strerrorname_np(errno));
    }
    buf_fini(&text);
    close(fd);
    stats_add(STAT_scans_refused, 1);
}

static struct scan *new_scan(int fd)
{
    struct scan *s = calloc(1, sizeof(*s));

    if (s != NULL) {
        s->fd = fd;
        s->end_us = clock_mono_us() + (uint64_t)SCAN_READ_MS * 1000;
        buf_init(&s->answer, SCAN_ANSWER_MAX);
    }
    return s;
}

/* Enters s, with room for its message. False: there is none. */
static bool enter_client(struct scan *s, struct slice rest)
{
    size_t at = 0;
    bool has_room = false;

    s->bytes = malloc((size_t)s->line.bytes + 1);
    pthread_mutex_lock(&scans.lock);
    while (at < SCAN_CLIENTS_MAX && scans.clients[at] != NULL) {
        at++;
    }
    has_room = s->bytes != NULL && at < SCAN_CLIENTS_MAX && scans.is_started &&
               !scans.is_ending && scans.memory + s->line.bytes <= SCAN_MEMORY_MAX;
    if (has_room) {
        scans.clients[at] = s;
        s->held = s->line.bytes;
        scans.memory += s->held;
        take_bytes(s, rest);
        wake();
    }
    pthread_mutex_unlock(&scans.lock);
    return has_room;
}

void scan_take(int fd, struct slice args, struct slice rest, bool is_report)
{
    struct errinfo why = {.code = ERR_OK};
    struct scan *s = new_scan(fd);

    if (s == NULL) {
        refuse_scan(fd, "out of memory");
        return;
    }
    if (scan_request_parse(args, s->room, &s->line, &why) != ERR_OK) {
        refuse_scan(fd, why.text);
    } else if (is_report != (s->line.say.n > 0)) {
        refuse_scan(fd, is_report ? "say= must be given" : "say= is of reports");
    } else if (enter_client(s, rest)) {
        return;
    } else {
        refuse_scan(fd, "busy; try again");
    }
    free(s->bytes);
    free(s);
}

/* ---- starting and ending ---- */

bool scan_start(void)
{
    scans.is_ending = false;
    scans.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (scans.wake_fd < 0) {
        return false;
    }
    scans.is_started = pthread_create(&scans.io, NULL, run_io, NULL) == 0;
    while (scans.is_started && scans.nworkers < SCAN_WORKERS &&
           pthread_create(&scans.workers[scans.nworkers], NULL, run_worker, NULL) ==
               0) {
        scans.nworkers++;
    }
    if (scans.nworkers < SCAN_WORKERS) {
        scan_stop();
        return false;
    }
    return true;
}

void scan_stop(void)
{
    pthread_mutex_lock(&scans.lock);
    scans.is_ending = true;
    pthread_cond_broadcast(&scans.work);
    pthread_mutex_unlock(&scans.lock);
    if (scans.is_started) {
        wake();
        pthread_join(scans.io, NULL);
    }
    while (scans.nworkers > 0) {
        pthread_join(scans.workers[--scans.nworkers], NULL);
    }
    for (size_t i = 0; i < SCAN_CLIENTS_MAX; i++) {
        if (scans.clients[i] != NULL) {
            drop_scan(i);
        }
    }
    scans.first = NULL;
    scans.is_started = false;
    if (scans.wake_fd >= 0) {
        close(scans.wake_fd);
        scans.wake_fd = -1;
    }
}
