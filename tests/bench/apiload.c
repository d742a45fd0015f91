/*
 * apiload - a load of look-ups on the HTTP API: N connections, each with one request under way, for
 * some seconds.
 *
 * Usage: apiload PORT CONNECTIONS SECONDS URLS_FILE [URLS_PER_REQUEST [PATH [REQUESTS_PER_SECOND]]]
 * URLs are taken from the file one after the other. Prints one JSON line: requests/s, latencies,
 * answers by status. One thread, epoll, requests made before the clock starts, so that it costs far
 * less than the server.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum {
    BODIES_MAX = 4096,
    URL_MAX = 2048,
    ANSWER_MAX = 1 << 20,
    BUCKETS = 200000, /* of a microsecond each: up to 200 ms, the last is the rest */
    EVENTS = 256
};

struct text {
    char *p;
    size_t n;
};

struct conn {
    int fd;
    size_t got;  /* bytes of the answer */
    size_t want; /* 0: its head is not whole */
    uint64_t begun_us;
    bool is_idle;
    char head[4096]; /* begin of the answer */
};

static struct text bodies[BODIES_MAX];
static size_t nbodies;
static size_t next_body;
static uint64_t latency[BUCKETS];
static uint64_t statuses[6];
static uint64_t errors;
static uint64_t max_us;

static uint64_t now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

/* Makes one request of nurls URLs of the file. False: the file has fewer left. */
static bool read_request(FILE *f, unsigned nurls, const char *path, struct text *ret)
{
    size_t room = nurls * (size_t)(2 * URL_MAX) + 1024;
    char *body = malloc(room);
    char *whole = malloc(room + 1024);
    char line[URL_MAX];
    size_t n = 0;
    unsigned urls = 0;

    if (body == NULL || whole == NULL) {
        die("malloc");
    }
    n += (size_t)sprintf(body + n, "{\"urls\": [");
    while (urls < nurls && fgets(line, sizeof(line), f) != NULL) {
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] != '\0' && strpbrk(line, "\"\\") == NULL) {
            n += (size_t)sprintf(body + n, "%s\"%s\"", urls > 0 ? ", " : "", line);
            urls++;
        }
    }
    n += (size_t)sprintf(body + n, "]}");
    ret->p = whole;
    ret->n = (size_t)sprintf(whole,
                             "POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: "
                             "application/json\r\nContent-Length: %zu\r\n\r\n%s",
                             path, n, body);
    free(body);
    return urls == nurls;
}

static void send_request(struct conn *c)
{
    const struct text *b = &bodies[next_body++ % nbodies];
    size_t sent = 0;

    c->got = 0;
    c->want = 0;
    c->is_idle = false;
    c->begun_us = now_us();
    while (sent < b->n) {
        ssize_t n = send(c->fd, b->p + sent, b->n - sent, MSG_NOSIGNAL);

        if (n < 0 && errno != EAGAIN && errno != EINTR) {
            die("send");
        }
        sent += n > 0 ? (size_t)n : 0;
    }
}

static void connect_to(struct conn *c, int ep, unsigned port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = c};
    int one = 1;

    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&to, sizeof(to)) != 0) {
        die("connect");
    }
    (void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    if (epoll_ctl(ep, EPOLL_CTL_ADD, c->fd, &e) != 0) {
        die("epoll_ctl");
    }
}

static void note(struct conn *c)
{
    uint64_t us = now_us() - c->begun_us;

    max_us = us > max_us ? us : max_us;
    latency[us < BUCKETS ? us : BUCKETS - 1]++;
    statuses[c->head[9] >= '0' && c->head[9] <= '5' ? c->head[9] - '0' : 0]++;
    errors += c->head[9] != '2';
    c->is_idle = true;
}

/* Reads what came; notes an answer that is whole. */
static void receive(struct conn *c)
{
    static char sink[ANSWER_MAX];
    ssize_t n = recv(c->fd, sink, sizeof(sink), 0);

    if (n <= 0) {
        fprintf(stderr, "apiload: a connection was closed\n");
        exit(1);
    }
    if (c->want == 0) {
        size_t room = sizeof(c->head) - 1 - c->got;
        size_t part = (size_t)n < room ? (size_t)n : room;
        const char *end = NULL;
        const char *length = NULL;

        memcpy(c->head + c->got, sink, part);
        c->head[c->got + part] = '\0';
        end = strstr(c->head, "\r\n\r\n");
        length = strstr(c->head, "Content-Length: ");
        if (end == NULL || length == NULL) {
            length = strstr(c->head, "content-length: "); /* uvicorn */
        }
        if (end != NULL && length != NULL) {
            c->want = (size_t)(end + 4 - c->head) + strtoul(length + 16, NULL, 10);
        }
    }
    c->got += (size_t)n;
    if (c->want > 0 && c->got >= c->want) {
        note(c);
    }
}

static uint64_t quantile(uint64_t total, double q)
{
    uint64_t sum = 0;

    for (uint64_t i = 0; i < BUCKETS; i++) {
        sum += latency[i];
        if ((double)sum >= q * (double)total) {
            return i;
        }
    }
    return max_us;
}

static uint64_t run(struct conn *conns, unsigned nconns, int ep, double seconds,
                    double rate)
{
    struct epoll_event events[EVENTS];
    uint64_t begun = now_us();
    uint64_t end = begun + (uint64_t)(seconds * 1e6);
    uint64_t sent = 0;
    unsigned next =
        0; /* each connection has its turn: none stays silent until it is closed */

    while (now_us() < end) {
        for (unsigned i = 0; i < nconns; i++) {
            if (!conns[next].is_idle) {
                next = (next + 1) % nconns;
            } else if (rate <= 0 ||
                       (double)sent < (double)(now_us() - begun) / 1e6 * rate) {
                send_request(&conns[next]);
                sent++;
                next = (next + 1) % nconns;
            } else {
                break;
            }
        }
        int n = epoll_wait(ep, events, EVENTS, 1);

        for (int i = 0; i < n; i++) {
            struct conn *c = events[i].data.ptr;

            receive(c);
            if (c->is_idle && rate <= 0) {
                send_request(c);
                sent++;
            }
        }
    }
    return now_us() - begun;
}

int main(int argc, char **argv)
{
    unsigned nurls = argc > 5 ? (unsigned)atoi(argv[5]) : 10;
    const char *path = argc > 6 ? argv[6] : "/check-urls";
    double rate = argc > 7 ? atof(argv[7]) : 0;

    if (argc < 5) {
        fprintf(stderr, "usage: apiload PORT CONNECTIONS SECONDS URLS_FILE "
                        "[URLS_PER_REQUEST [PATH [REQUESTS_PER_SECOND]]]\n");
        return 64;
    }
    unsigned nconns = (unsigned)atoi(argv[2]);
    struct conn *conns = calloc(nconns, sizeof(*conns));
    FILE *f = fopen(argv[4], "r");
    int ep = epoll_create1(EPOLL_CLOEXEC);

    if (f == NULL || conns == NULL || ep < 0 || nconns == 0) {
        die(argv[4]);
    }
    while (nbodies < BODIES_MAX && read_request(f, nurls, path, &bodies[nbodies])) {
        nbodies++;
    }
    (void)fclose(f);
    if (nbodies == 0) {
        fprintf(stderr, "apiload: %s has too few lines\n", argv[4]);
        return 65;
    }
    for (unsigned i = 0; i < nconns; i++) {
        connect_to(&conns[i], ep, (unsigned)atoi(argv[1]));
        conns[i].is_idle = true;
    }
    uint64_t us = run(conns, nconns, ep, atof(argv[3]), rate);
    uint64_t total = 0;

    for (unsigned i = 0; i < BUCKETS; i++) {
        total += latency[i];
    }
    printf("{\"bench\": \"apiload\", \"path\": \"%s\", \"connections\": %u, "
           "\"urls_per_request\": %u, \"requests\": %llu, \"requests_per_s\": %.0f, "
           "\"p50_us\": %llu, \"p99_us\": %llu, \"max_us\": %llu, \"errors\": %llu, "
           "\"answers_503_429\": %llu}\n",
           path, nconns, nurls, (unsigned long long)total,
           (double)total / ((double)us / 1e6), (unsigned long long)quantile(total, 0.5),
           (unsigned long long)quantile(total, 0.99), (unsigned long long)max_us,
           (unsigned long long)errors, (unsigned long long)(statuses[4] + statuses[5]));
    return 0;
}
