#include "core/reader/client/client.h"

#include <poll.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/reader/wire/request.h"

enum {
    US_PER_MS = 1000,
    US_PER_S = 1000 * 1000,
    RECORDS_MORE = 256 * 1024, /* room that is made for records at a time */
    RECORDS_MAX =
        2 * (RECORD_HEAD_BYTES + RECORD_PLACE_MAX + RECORD_VALUE_MAX) + RECORDS_MORE,
    CALLS_MAX = 1 << 22 /* records of one file */
};

struct reader_client {
    struct sockaddr_un address;
    socklen_t naddress;
    _Atomic uint64_t rests_until_us;
    _Atomic uint64_t ready_us; /* when a process last began */
    _Atomic unsigned reading;  /* files that a process has begun */
    _Atomic uint64_t count[READER_OUTCOMES];
};

static struct reader_client *client_new(void)
{
    struct reader_client *c = calloc(1, sizeof(*c));

    if (c != NULL) {
        c->address.sun_family = AF_UNIX;
    }
    return c;
}

enum err reader_client_new(const char *path, struct reader_client **ret,
                           struct errinfo *reterr)
{
    struct reader_client *c = client_new();

    if (c == NULL) {
        return errinfo_nomem(reterr, "gillnet-reader");
    }
    if (strlen(path) >= sizeof(c->address.sun_path)) {
        free(c);
        return errinfo_set(reterr, ERR_LIMIT, path, 0,
                           "the path of a socket has at most %zu bytes",
                           sizeof(c->address.sun_path) - 1);
    }
    memcpy(c->address.sun_path, path, strlen(path) + 1);
    c->naddress = sizeof(c->address);
    *ret = c;
    return ERR_OK;
}

enum err reader_client_to(int listener, struct reader_client **ret,
                          struct errinfo *reterr)
{
    struct reader_client *c = client_new();

    if (c == NULL) {
        return errinfo_nomem(reterr, "gillnet-reader");
    }
    c->naddress = sizeof(c->address);
    if (getsockname(listener, (struct sockaddr *)&c->address, &c->naddress) != 0) {
        free(c);
        return errinfo_errno(reterr, "gillnet-reader", "its socket has no name");
    }
    *ret = c;
    return ERR_OK;
}

void reader_client_free(struct reader_client **c)
{
    free(*c);
    *c = NULL;
}

uint64_t reader_client_count(const struct reader_client *c, enum reader_outcome outcome)
{
    return atomic_load_explicit(&c->count[outcome], memory_order_relaxed);
}

/* Waits until the socket is ready, at most until then. */
static bool await(int fd, short events, uint64_t until_us)
{
    struct pollfd p = {.fd = fd, .events = events};

    for (;;) {
        const uint64_t now = clock_mono_us();
        if (now >= until_us) {
            return false;
        }
        const int n = poll(&p, 1, (int)((until_us - now) / US_PER_MS) + 1);
        if (n > 0) {
            return true;
        }
        if (n < 0 && errno != EINTR) {
            return false;
        }
    }
}

static enum reader_outcome send_piece(int fd, struct slice s, uint64_t until_us)
{
    while (s.n > 0) {
        const ssize_t n = send(fd, s.p, s.n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0) {
            s = slice_from(s, (size_t)n);
        } else if (errno == EAGAIN) {
            if (!await(fd, POLLOUT, until_us)) {
                return READER_SLOW;
            }
        } else if (errno != EINTR) {
            return READER_DIED;
        }
    }
    return READER_READ;
}

/* One conversation. */
struct talk {
    struct reader_client *client;
    int fd;
    uint64_t until_us;
    struct buf bytes; /* records that are not whole yet */
    bool is_ready;    /* a process has begun */
    bool is_ended;
    bool is_enough; /* whoever takes the records wants no more */
    unsigned calls;
    record_fn *on_record;
    void *context;
};

static void note_ready(struct talk *t)
{
    if (!t->is_ready) {
        t->is_ready = true;
        atomic_store_explicit(&t->client->ready_us, clock_mono_us(),
                              memory_order_relaxed);
        atomic_fetch_add_explicit(&t->client->reading, 1, memory_order_relaxed);
    }
}

static void note_end(const struct talk *t)
{
    if (t->is_ready) {
        atomic_store_explicit(&t->client->ready_us, clock_mono_us(),
                              memory_order_relaxed);
        atomic_fetch_sub_explicit(&t->client->reading, 1, memory_order_relaxed);
    }
}

/* Somebody is there, for other files at least. */
static bool is_alive(const struct reader_client *c)
{
    return atomic_load_explicit(&c->reading, memory_order_relaxed) > 0 ||
           clock_mono_us() - atomic_load_explicit(&c->ready_us, memory_order_relaxed) <
               CLIENT_REST_US;
}

/* Gives out the whole records. False: they are none. */
static bool take_records(struct talk *t)
{
    struct slice rest = buf_slice(&t->bytes);
    struct record r;
    enum record_step step = RECORD_MORE;

    while (!t->is_ended && !t->is_enough &&
           (step = record_next(&rest, &r)) == RECORD_OK) {
        if (t->is_ready == (r.kind == RECORD_READY) || ++t->calls > CALLS_MAX) {
            return false; /* it comes once, and first */
        }
        note_ready(t);
        t->is_ended = r.kind == RECORD_END;
        if (r.kind != RECORD_READY && r.kind != RECORD_END) {
            t->is_enough = !t->on_record(t->context, &r);
        }
    }
    memmove(t->bytes.p, rest.p, rest.n);
    t->bytes.n = rest.n;
    return step != RECORD_WRONG && !(t->is_ended && rest.n > 0);
}

static enum reader_outcome receive_records(struct talk *t)
{
    while (!t->is_ended && !t->is_enough) {
        if (!await(t->fd, POLLIN, t->until_us)) {
            return READER_SLOW;
        }
        const size_t before = t->bytes.n;
        char *to = buf_extend(&t->bytes, RECORDS_MORE);
        if (to == NULL) {
            return READER_WRONG;
        }
        const ssize_t n = recv(t->fd, to, RECORDS_MORE, MSG_DONTWAIT);
        t->bytes.n = before + (n > 0 ? (size_t)n : 0);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
            return READER_DIED;
        }
        if (n > 0 && !take_records(t)) {
            return READER_WRONG;
        }
    }
    return READER_READ;
}

static enum reader_outcome connect_to(const struct reader_client *c, int *retfd)
{
    *retfd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (*retfd < 0) {
        return READER_AWAY;
    }
    if (connect(*retfd, (const struct sockaddr *)&c->address, c->naddress) == 0) {
        return READER_READ;
    }
    if (errno == EAGAIN) {
        return READER_SLOW; /* the queue is full */
    }
    return errno == ENOENT ? READER_ABSENT : READER_AWAY;
}

static enum reader_outcome talk(struct talk *t, const struct reader_job *job)
{
    struct request request;
    const uint64_t now = clock_mono_us();
    const uint64_t left_us = t->until_us > now ? t->until_us - now : 0;
    enum reader_outcome outcome = READER_READ;

    if (request_make(job, (uint32_t)(left_us / US_PER_S) + 1, &request) != ERR_OK) {
        outcome = READER_WRONG;
    }
    for (size_t i = 0; outcome == READER_READ && i < request.npieces; i++) {
        outcome = send_piece(t->fd, request.piece[i], t->until_us);
    }
    request_fini(&request);
    return outcome == READER_READ ? receive_records(t) : outcome;
}

/* Sends the file and takes what comes back. */
static enum reader_outcome converse(struct talk *t, const struct reader_job *job)
{
    enum reader_outcome outcome = connect_to(t->client, &t->fd);

    if (outcome == READER_READ) {
        buf_init(&t->bytes, RECORDS_MAX);
        outcome = talk(t, job);
        buf_fini(&t->bytes);
    }
    fd_close(&t->fd);
    note_end(t);
    return outcome;
}

static enum reader_outcome ask_once(struct talk *t, const struct reader_job *job)
{
    struct reader_client *c = t->client;

    if (clock_mono_us() <
        atomic_load_explicit(&c->rests_until_us, memory_order_relaxed)) {
        return READER_AWAY;
    }
    const enum reader_outcome outcome = converse(t, job);
    if (outcome == READER_READ || outcome == READER_ABSENT || t->is_ready ||
        (outcome == READER_SLOW && is_alive(c))) {
        return outcome; /* also when all processes were busy */
    }
    if (!is_alive(c)) {
        atomic_store_explicit(&c->rests_until_us, clock_mono_us() + CLIENT_REST_US,
                              memory_order_relaxed);
    }
    return READER_AWAY;
}

enum reader_outcome reader_client_ask(void *context, const struct reader_job *job,
                                      uint64_t within_us, record_fn *on_record,
                                      void *record_context)
{
    struct reader_client *c = context;
    struct talk t = {.client = c,
                     .fd = -1,
                     .until_us = clock_mono_us() + within_us,
                     .on_record = on_record,
                     .context = record_context};
    const enum reader_outcome outcome = ask_once(&t, job);

    atomic_fetch_add_explicit(&c->count[outcome], 1, memory_order_relaxed);
    return outcome;
}
