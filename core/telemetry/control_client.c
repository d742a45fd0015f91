#include "core/telemetry/control_client.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "core/base/clock.h"
#include "core/base/file.h"

enum {
    PIECE = 64 * 1024,
    AGAIN_NS = 5 * 1000 * 1000, /* between tries where gillnetd's queue is full */
    SCAN_ANSWER_MAX = 16 * 1024 * 1024,
    LOOK_ANSWER_MAX = 256,
    LOOK_WAIT_US = 200 * 1000,
    US_PER_MS = 1000
};

/* A request under way. */
struct asking {
    const char *path;
    int fd;
    uint64_t deadline_us;
    struct errinfo *reterr;
};

static enum err late(const struct asking *a)
{
    return errinfo_set(a->reterr, ERR_TIMEOUT, a->path, 0,
                       "gillnetd gave no answer in time; see its log");
}

static enum err fail_system(const struct asking *a, const char *what)
{
    int e = errno;
    if (e == ENOENT || e == ECONNREFUSED) {
        return errinfo_set(a->reterr, ERR_NOT_FOUND, a->path, 0,
                           "gillnetd does not run, or listens elsewhere; see "
                           "control_socket in gillnet.conf");
    }
    return errinfo_set(a->reterr, err_of_errno(e), a->path, 0, "%s: %s", what,
                       strerrordesc_np(e));
}

static enum err connect_to(struct asking *a)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    struct timespec again = {.tv_nsec = AGAIN_NS};

    if (strlen(a->path) >= sizeof(un.sun_path)) {
        return errinfo_set(a->reterr, ERR_LIMIT, a->path, 0,
                           "the path is too long; set control_socket to a shorter one");
    }
    memcpy(un.sun_path, a->path, strlen(a->path) + 1);
    a->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (a->fd < 0) {
        return fail_system(a, "no socket is to be had");
    }
    while (connect(a->fd, (const struct sockaddr *)&un, sizeof(un)) != 0) {
        if (errno != EAGAIN && errno != EINTR) {
            return fail_system(a, "cannot connect to gillnetd");
        }
        if (clock_mono_us() >= a->deadline_us) {
            return late(a);
        }
        (void)nanosleep(&again, NULL);
    }
    return ERR_OK;
}

static enum err wait_for(const struct asking *a, short events)
{
    for (;;) {
        struct pollfd p = {.fd = a->fd, .events = events};
        uint64_t now = clock_mono_us();
        if (now >= a->deadline_us) {
            return late(a);
        }
        int n = poll(&p, 1, (int)((a->deadline_us - now) / US_PER_MS + 1));
        if (n > 0) {
            return ERR_OK;
        }
        if (n < 0 && errno != EINTR) {
            return fail_system(a, "cannot wait for gillnetd");
        }
    }
}

/* gillnetd may close the connection before all is sent if it refuses the request. Its answer then
 * has the reason. */
static enum err send_all(const struct asking *a, struct slice bytes)
{
    while (bytes.n > 0) {
        enum err e = wait_for(a, POLLOUT);
        if (e != ERR_OK) {
            return e;
        }
        ssize_t n = send(a->fd, bytes.p, bytes.n, MSG_NOSIGNAL);
        if (n < 0 && (errno == EPIPE || errno == ECONNRESET)) {
            return ERR_OK;
        }
        if (n < 0 && errno != EAGAIN && errno != EINTR) {
            return fail_system(a, "cannot send to gillnetd");
        }
        bytes = slice_from(bytes, n > 0 ? (size_t)n : 0);
    }
    return ERR_OK;
}

static enum err receive_all(const struct asking *a, struct buf *ret)
{
    char piece[PIECE];

    for (;;) {
        enum err e = wait_for(a, POLLIN);
        if (e != ERR_OK) {
            return e;
        }
        ssize_t n = recv(a->fd, piece, sizeof(piece), 0);
        if (n == 0 || (n < 0 && errno == ECONNRESET)) {
            return ERR_OK;
        }
        if (n < 0 && errno != EAGAIN && errno != EINTR) {
            return fail_system(a, "cannot read from gillnetd");
        }
        buf_add(ret, slice_of(piece, n > 0 ? (size_t)n : 0));
        if (buf_failed(ret)) {
            return errinfo_set(a->reterr, ERR_LIMIT, a->path, 0,
                               "the answer is longer than %zu bytes", ret->max);
        }
    }
}

/* Most refusals of gillnetd are about invalid requests. */
static enum err code_of(struct slice why)
{
    if (slice_has_prefix(why, SLICE_LIT("busy"))) {
        return ERR_LOCKED;
    }
    return slice_eq(why, SLICE_LIT("out of memory")) ? ERR_NOMEM : ERR_SYNTAX;
}

/* Checks the first line. */
static enum err judge_answer(const struct asking *a, struct slice answer)
{
    struct slice line = slice_cut(&answer, '\n');
    struct slice error = SLICE_LIT("error ");

    if (answer.p == NULL) {
        return errinfo_set(a->reterr, ERR_IO, a->path, 0,
                           "gillnetd ended without an answer; see its log");
    }
    if (slice_has_prefix(line, SLICE_LIT("ok"))) {
        return ERR_OK;
    }
    if (!slice_has_prefix(line, error)) {
        return errinfo_set(a->reterr, ERR_IO, a->path, 0,
                           "this is no answer of gillnetd; does it listen there?");
    }
    line = slice_from(line, error.n);
    return errinfo_set(a->reterr, code_of(line), a->path, 0, "%.*s",
                       SLICE_ARGS(slice_head(line, ERRINFO_TEXT_MAX)));
}

enum err control_client_ask(const char *path, struct slice line, struct slice body,
                            uint64_t deadline_mono_us, struct buf *retanswer,
                            struct errinfo *reterr)
{
    struct asking a = {
        .path = path, .fd = -1, .deadline_us = deadline_mono_us, .reterr = reterr};
    size_t before = retanswer->n;
    enum err e = connect_to(&a);

    THEN(e, send_all(&a, line));
    THEN(e, send_all(&a, SLICE_LIT("\n")));
    THEN(e, send_all(&a, body));
    THEN(e, receive_all(&a, retanswer));
    THEN(e, judge_answer(&a, slice_from(buf_slice(retanswer), before)));
    fd_close(&a.fd);
    return e;
}

void control_client_look(const char *path)
{
    struct buf answer;

    buf_init(&answer, LOOK_ANSWER_MAX);
    (void)control_client_ask(path, SLICE_LIT("look"), SLICE_NONE,
                             clock_mono_us() + LOOK_WAIT_US, &answer, NULL);
    buf_fini(&answer);
}

enum err control_client_scan(const char *path, struct scan_request *line,
                             struct slice message, uint64_t deadline_mono_us,
                             struct buf *retjson, struct errinfo *reterr)
{
    struct buf request;
    struct buf answer;

    line->bytes = message.n;
    buf_init(&request, (size_t)4 * SCAN_REQUEST_MAX);
    buf_init(&answer, SCAN_ANSWER_MAX);
    scan_request_print(line, &request);
    enum err e =
        buf_failed(&request)
            ? errinfo_nomem(reterr, path)
            : control_client_ask(path, slice_head(buf_slice(&request), request.n - 1),
                                 message, deadline_mono_us, &answer, reterr);
    if (e == ERR_OK) {
        struct slice rest = buf_slice(&answer);
        (void)slice_cut(&rest, '\n');
        buf_add(retjson, rest);
        if (buf_failed(retjson)) {
            e = errinfo_set(reterr, ERR_LIMIT, path, 0, "the answer is too long");
        }
    }
    buf_fini(&request);
    buf_fini(&answer);
    return e;
}
