/*
 * count_redis - the same traffic counted by a redis-server of our own: pipelined INCR.
 *
 * It listens on a Unix socket in a temporary folder alone, saves nothing, and is ended by its
 * process id. Two pipelines are on their way at any time, so that it never waits for us.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/bench_count.h"

enum {
    PIPELINE = 1000, /* commands sent at once; a divisor of BENCH_ROUND */
    COMMAND_MAX = 64,
    REPLY_BYTES = 64 << 10,
    START_MS = 5000,
    WAIT_MS = 20,
    FOLDER_BYTES = 64,
    SOCKET_BYTES = 100 /* fits sun_path */
};
/* Some 100 bytes a key in its memory. */
#define REDIS_KEYS_MAX UINT64_C(2000000)

struct redis {
    char folder[FOLDER_BYTES];
    char socket[SOCKET_BYTES];
    pid_t pid;
    int fd;
    char *replies; /* REPLY_BYTES */
    size_t begin;
    size_t end;
    uint64_t sum; /* of the counts read */
};

static void sleep_ms(unsigned ms)
{
    struct timespec t = {.tv_nsec = ms * 1000000L};
    (void)nanosleep(&t, NULL);
}

/* In the child: never returns. Libraries that are not installed lie beside the program. */
static void exec_redis(const struct redis *r, const char *program)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM); /* it ends with us, however we end */
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) {
        (void)dup2(null, STDIN_FILENO);
        (void)dup2(null, STDOUT_FILENO);
    }
#define OPTIONS(r)                                                                    \
    "redis-server", "--port", "0", "--unixsocket", (r)->socket, "--dir", (r)->folder, \
        "--save", "", "--appendonly", "no", "--daemonize", "no", "--loglevel",        \
        "warning", (const char *)NULL
    if (program) {
        (void)execlp(program, OPTIONS(r));
        _exit(127);
    }
    (void)execlp("redis-server", OPTIONS(r));
    (void)setenv("LD_LIBRARY_PATH",
                 BENCH_REDIS_ROOT "/usr/lib/x86_64-linux-gnu:" BENCH_REDIS_ROOT
                                  "/usr/lib/aarch64-linux-gnu",
                 1);
    (void)execl(BENCH_REDIS_ROOT "/usr/bin/redis-server", OPTIONS(r));
    _exit(127);
}

static bool try_connect(struct redis *r)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    (void)snprintf(a.sun_path, sizeof(a.sun_path), "%s", r->socket);
    r->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (r->fd < 0) {
        bench_fail("no socket");
    }
    if (connect(r->fd, (const struct sockaddr *)&a, sizeof(a)) == 0) {
        return true;
    }
    (void)close(r->fd);
    r->fd = -1;
    return false;
}

static void redis_stop(struct redis *r)
{
    if (r->fd >= 0) {
        (void)close(r->fd);
    }
    if (r->pid > 0) {
        (void)kill(r->pid, SIGTERM);
        (void)waitpid(r->pid, NULL, 0);
    }
    (void)unlink(r->socket);
    (void)rmdir(r->folder);
    free(r->replies);
}

/* False: there is none. */
static bool redis_start(struct redis *r, const char *program)
{
    *r = (struct redis){.folder = "/tmp/bench_count.XXXXXX", .fd = -1};
    r->replies = malloc(REPLY_BYTES);
    if (!r->replies || !mkdtemp(r->folder)) {
        bench_fail("no temporary folder");
    }
    (void)snprintf(r->socket, sizeof(r->socket), "%s/redis", r->folder);
    r->pid = fork();
    if (r->pid < 0) {
        bench_fail("no process");
    }
    if (r->pid == 0) {
        exec_redis(r, program);
    }
    for (unsigned ms = 0; ms < START_MS; ms += WAIT_MS) {
        if (try_connect(r)) {
            return true;
        }
        if (waitpid(r->pid, NULL, WNOHANG) == r->pid) {
            r->pid = 0;
            break;
        }
        sleep_ms(WAIT_MS);
    }
    redis_stop(r);
    return false;
}

static void send_all(const struct redis *r, const char *text, size_t n)
{
    while (n > 0) {
        ssize_t sent = send(r->fd, text, n, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) {
            continue;
        }
        if (sent <= 0) {
            bench_fail("redis-server does not take commands");
        }
        text += sent;
        n -= (size_t)sent;
    }
}

static char next_byte(struct redis *r)
{
    while (r->begin == r->end) {
        ssize_t n = recv(r->fd, r->replies, REPLY_BYTES, 0);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            bench_fail("redis-server does not answer");
        }
        r->begin = 0;
        r->end = (size_t)n;
    }
    return r->replies[r->begin++];
}

/* ":123\r\n" */
static uint64_t next_reply(struct redis *r)
{
    uint64_t value = 0;
    if (next_byte(r) != ':') {
        bench_fail("redis-server answers with an error");
    }
    for (char c = next_byte(r); c != '\r'; c = next_byte(r)) {
        value = value * 10 + (uint64_t)(c - '0');
    }
    (void)next_byte(r);
    return value;
}

static void send_pipeline(const struct redis *r, const struct digest *d)
{
    static char text[PIPELINE * COMMAND_MAX];
    size_t used = 0;
    for (size_t i = 0; i < PIPELINE; i++) {
        uint64_t key = 0;
        memcpy(&key, d[i].b, sizeof(key));
        int n = snprintf(text + used, sizeof(text) - used,
                         "*2\r\n$4\r\nINCR\r\n$16\r\n%016" PRIx64 "\r\n", key);
        used += (size_t)n;
    }
    send_all(r, text, used);
}

static void increment(struct redis *r, const struct digest *d, size_t n)
{
    size_t sent = 0;
    for (size_t done = 0; done < n; done += PIPELINE) {
        for (; sent < n && sent < done + (size_t)2 * PIPELINE; sent += PIPELINE) {
            send_pipeline(r, d + sent);
        }
        for (size_t i = 0; i < PIPELINE; i++) {
            r->sum += next_reply(r);
        }
    }
}

static void use(void *own, unsigned thread, const struct digest *d,
                const uint64_t *numbers, size_t n)
{
    (void)thread;
    (void)numbers;
    increment(own, d, n);
}

void bench_redis(const struct bench_options *o, const char *name)
{
    struct redis r;
    struct bench_truth truth;
    uint64_t keys = o->keys < REDIS_KEYS_MAX ? o->keys : REDIS_KEYS_MAX;
    struct bench_traffic t = bench_traffic_of(keys);
    struct bench_line line = {
        .name = name, .threads = 1, .wrong_share = -1, .false_ge10_share = -1};
    if (!redis_start(&r, o->redis)) {
        (void)fprintf(stderr,
                      "bench_count: %s: no redis-server: run "
                      "contrib/install-deps bench, or name one by --redis\n",
                      name);
        return;
    }
    line.keys_per_s = bench_rounds(&t, 1, false, use, &r, &truth);
    bench_truth_fini(&truth);
    (void)snprintf(
        line.workload, sizeof(line.workload),
        "traffic model, %" PRIu64 " different keys, %" PRIu64
        " additions; INCR of one counter (of four windows it needs four), "
        "keys of 16 characters, pipelines of %d, two on their way, Unix socket, nothing "
        "saved; its server and we have a processor each",
        keys, t.additions, PIPELINE);
    bench_print(&line);
    redis_stop(&r);
}
