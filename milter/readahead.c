#include "milter/readahead.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/uninitialized.h"
#include "core/telemetry/stats.h"

#include "milter/packet.h"

enum { FAULT_LOG_US = 60 * 1000 * 1000, PEER_TEXT = INET6_ADDRSTRLEN + 32 };

/* One connection. All but is_open belongs to the thread that libmilter lets work on it; is_open is
 * stored last at both ends, so that a reused number is found empty. */
struct stream {
    _Atomic bool is_open;
    bool
        is_ended; /* an odd packet, or the end or an error from the kernel: reading stops */
    int error;   /* of the kernel; returned once */
    char *bytes; /* read ahead; NULL: none */
    size_t at;   /* of them that were handed over */
    size_t n;
    struct packet_check check;
};

static struct stream streams[READAHEAD_DESCRIPTORS];

static struct stream *stream_of(int fd)
{
    if (fd < 0 || fd >= READAHEAD_DESCRIPTORS) {
        return NULL;
    }
    struct stream *s = &streams[fd];
    return atomic_load_explicit(&s->is_open, memory_order_acquire) ? s : NULL;
}

bool readahead_open(int fd)
{
    if (fd < 0 || fd >= READAHEAD_DESCRIPTORS) {
        return false;
    }
    struct stream *s = &streams[fd];
    (void)atomic_load_explicit(&s->is_open, memory_order_acquire);
    s->check = (struct packet_check){.fault = PACKET_SOUND};
    atomic_store_explicit(&s->is_open, true, memory_order_release);
    return true;
}

static void drop_bytes(struct stream *s)
{
    free(s->bytes);
    s->bytes = NULL;
    s->at = s->n = 0;
}

static void forget(struct stream *s)
{
    drop_bytes(s);
    s->is_ended = false;
    s->error = 0;
    atomic_store_explicit(&s->is_open, false, memory_order_release);
}

/* ---- the kernel; by names that sanitizers know, as ours hide theirs ---- */

static int kernel_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
    struct timespec t = {.tv_sec = timeout_ms / 1000,
                         .tv_nsec = timeout_ms % 1000 * 1000000L};
    stats_add(STAT_socket_calls, 1);
    return ppoll(fds, n, timeout_ms < 0 ? NULL : &t, NULL);
}

static ssize_t kernel_read(int fd, void *bytes, size_t n)
{
    struct iovec one = {.iov_base = bytes, .iov_len = n};
    stats_add(STAT_socket_calls, 1);
    return readv(fd, &one, 1);
}

/* No other name of the C library closes a descriptor. The thread sanitizer must see it, because the
 * number is used again. */
#ifdef __SANITIZE_THREAD__
int __interceptor_close(int fd); /* NOLINT(bugprone-reserved-identifier): libtsan's */
#    define kernel_close __interceptor_close
#else
static int kernel_close(int fd)
{
    return (int)syscall(SYS_close, fd);
}
#endif

/* ---- odd packets ---- */

static const char *peer_text(int fd, char ret[PEER_TEXT])
{
    struct sockaddr_storage addr = {.ss_family = AF_UNSPEC};
    socklen_t n = sizeof(addr);
    char text[INET6_ADDRSTRLEN] = "";
    struct ucred who;
    socklen_t who_n = sizeof(who);
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    (void)getpeername(fd, (struct sockaddr *)&addr, &n);
    memcpy(&v4, &addr, sizeof(v4));
    memcpy(&v6, &addr, sizeof(v6));
    if (addr.ss_family == AF_INET &&
        inet_ntop(AF_INET, &v4.sin_addr, text, sizeof(text))) {
        (void)snprintf(ret, PEER_TEXT, "[%s]:%u", text, ntohs(v4.sin_port));
    } else if (addr.ss_family == AF_INET6 &&
               inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof(text))) {
        (void)snprintf(ret, PEER_TEXT, "[%s]:%u", text, ntohs(v6.sin6_port));
    } else if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &who_n) == 0) {
        (void)snprintf(ret, PEER_TEXT, "uid:%u,pid:%d", who.uid, (int)who.pid);
    } else {
        (void)snprintf(ret, PEER_TEXT, "-");
    }
    return ret;
}

static void refuse_packet(int fd, struct stream *s)
{
    static struct clock_pace turns[PACKET_FAULT_COUNT];
    char peer[PEER_TEXT];
    char command[LOG_STR_MAX];
    const struct packet_check *c = &s->check;
    s->is_ended = true;
    drop_bytes(s);
    stats_add(STAT_packets_refused, 1);
    if (!clock_take_turn(&turns[c->fault], FAULT_LOG_US)) {
        return;
    }
    char cmd = (char)c->head[PACKET_HEAD - 1];
    log_warn(
        "event=packet_refused fault=%s command=%s bytes=%u peer=%s: no MTA sends "
        "such a packet; the connection was ended. Let only the MTA reach the socket: "
        "see TRUST in gillnetd(8)",
        packet_fault_name(c->fault),
        log_str(command, slice_of(&cmd, c->nhead == PACKET_HEAD)), c->length,
        peer_text(fd, peer));
}

/* ---- reading ---- */

/* Without memory the connection ends: the bytes read cannot be kept. */
static void fill_stream(int fd, struct stream *s)
{
    UNINITIALIZED char piece[READAHEAD_BYTES];
    stats_add(STAT_socket_calls, 1);
    ssize_t n = recv(fd, piece, sizeof(piece), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        return;
    }
    if (n <= 0) {
        s->is_ended = true;
        s->error = n < 0 ? errno : 0;
        return;
    }
    s->bytes = malloc((size_t)n);
    if (!s->bytes) {
        s->is_ended = true;
        s->error = ENOMEM;
        return;
    }
    memcpy(s->bytes, piece, (size_t)n);
    s->n = (size_t)n;
}

static bool has_something(const struct stream *s)
{
    return s->bytes || s->is_ended;
}

static ssize_t take_ahead(int fd, struct stream *s, char *ret, size_t n)
{
    if (s->bytes) {
        n = n < s->n - s->at ? n : s->n - s->at;
        memcpy(ret, s->bytes + s->at, n);
        s->at += n;
        if (s->at == s->n) {
            drop_bytes(s);
        }
    } else {
        ssize_t got = kernel_read(fd, ret, n);
        if (got <= 0) {
            return got;
        }
        n = (size_t)got;
    }
    if (packet_check(&s->check, ret, n) != PACKET_SOUND) {
        refuse_packet(fd, s);
        return 0;
    }
    return (ssize_t)n;
}

static ssize_t stream_read(int fd, struct stream *s, char *ret, size_t n)
{
    if (s->bytes || !s->is_ended) {
        return take_ahead(fd, s, ret, n);
    }
    errno = s->error;
    s->error = 0;
    return errno ? -1 : 0;
}

/* ---- polling ---- */

/* How many of fds have something that was read ahead; their revents are set. */
static int answer_poll(struct pollfd *fds, nfds_t n)
{
    int ready = 0;
    for (nfds_t i = 0; i < n; i++) {
        const struct stream *s = fds[i].events & POLLIN ? stream_of(fds[i].fd) : NULL;
        fds[i].revents = 0;
        if (s && has_something(s)) {
            fds[i].revents = POLLIN;
            ready++;
        }
    }
    return ready;
}

static int poll_some(struct pollfd *fds, nfds_t n, int timeout_ms)
{
    int ready = answer_poll(fds, n);
    if (ready > 0) {
        return ready; /* the next call polls the others */
    }
    return kernel_poll(fds, n, timeout_ms);
}

/* The poll before libmilter reads: no other thread uses the connection. */
static int poll_one(struct pollfd *p, struct stream *s, int timeout_ms)
{
    int ready = poll_some(p, 1, timeout_ms);
    if (ready == 1 && !has_something(s) && (p->revents & POLLIN)) {
        fill_stream(p->fd, s);
        p->revents = (short)(has_something(s) ? POLLIN : p->revents);
    }
    return ready;
}

/* In place of the C library's; see the header. */

/* glibc's declaration says that fds is only written */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas" /* clang has no such warning */
#pragma GCC diagnostic ignored "-Wunknown-warning-option"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
__attribute__((visibility("default"))) int poll(struct pollfd *fds, nfds_t nfds,
                                                int timeout)
{
    struct stream *s = nfds == 1 && fds->events & POLLIN ? stream_of(fds->fd) : NULL;
    return s ? poll_one(fds, s, timeout) : poll_some(fds, nfds, timeout);
}
#pragma GCC diagnostic pop

__attribute__((visibility("default"))) ssize_t read(int fd, void *buf, size_t nbytes)
{
    struct stream *s = stream_of(fd);
    return s ? stream_read(fd, s, buf, nbytes) : kernel_read(fd, buf, nbytes);
}

__attribute__((visibility("default"))) int close(int fd)
{
    struct stream *s = stream_of(fd);
    if (s) {
        forget(s);
    }
    return kernel_close(fd);
}
