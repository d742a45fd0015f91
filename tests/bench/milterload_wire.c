/*
 * milterload_wire - the packets of the milter protocol (version 6), written and awaited.
 */
#include "tests/bench/milterload_wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/bench/milterload.h"

/* protocol option bits of interest (SMFIP_*) */
enum {
    P_NOCONNECT = 0x1,
    P_NOHELO = 0x2,
    P_NOMAIL = 0x4,
    P_NORCPT = 0x8,
    P_NOBODY = 0x10,
    P_NOHDRS = 0x20,
    P_NOEOH = 0x40,
    P_NR_HDR = 0x80,
    P_NODATA = 0x200,
    P_SKIP = 0x400,
    P_NR_CONN = 0x1000,
    P_NR_HELO = 0x2000,
    P_NR_MAIL = 0x4000,
    P_NR_RCPT = 0x8000,
    P_NR_DATA = 0x10000,
    P_NR_EOH = 0x40000,
    P_NR_BODY = 0x80000,
    P_LEADSPC = 0x100000,
    P_ALL = 0x1fffff
};
enum { A_ALL = 0x1ff, PROTO_VERSION = 6, REPLY_MAX = 1 << 20 };

const char *const verdict_name[V_COUNT] = {"accept",  "continue",  "reject", "tempfail",
                                           "discard", "replycode", "error"};

static struct sockaddr_storage addr;
static socklen_t addr_len;

void wire_resolve(const char *target)
{
    if (!strncmp(target, "unix:", 5)) {
        struct sockaddr_un *u = (struct sockaddr_un *)&addr;
        u->sun_family = AF_UNIX;
        if (strlen(target + 5) >= sizeof(u->sun_path)) {
            die("socket path too long");
        }
        memcpy(u->sun_path, target + 5, strlen(target + 5));
        addr_len = sizeof(*u);
        return;
    }
    if (strncmp(target, "inet:", 5)) {
        die("target must be inet:HOST:PORT or unix:PATH");
    }
    char *h = strdup(target + 5);
    char *port = strrchr(h, ':');
    struct addrinfo hint = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *ai;
    if (!port) {
        die("no port in %s", target);
    }
    *port++ = '\0';
    int e = getaddrinfo(h, port, &hint, &ai);
    if (e) {
        die("%s: %s", target, gai_strerror(e));
    }
    memcpy(&addr, ai->ai_addr, ai->ai_addrlen);
    addr_len = ai->ai_addrlen;
    freeaddrinfo(ai);
    free(h);
}

static void put(struct conn *c, const void *p, size_t n)
{
    if (!n) {
        return;
    }
    if (c->out_len + n > c->out_cap) {
        c->out = grow(c->out, c->out_cap = (c->out_len + n) * 2);
    }
    memcpy(c->out + c->out_len, p, n);
    c->out_len += n;
}

static void put_packet(struct conn *c, char cmd, const void *p, size_t n)
{
    uint32_t len = htonl((uint32_t)n + 1);
    put(c, &len, 4);
    put(c, &cmd, 1);
    put(c, p, n);
}

/* a packet of NUL-terminated strings, the list closed by NULL */
static void put_strings(struct conn *c, char cmd, const char *prefix, ...)
{
    char b[2048];
    size_t n = 0;
    va_list ap;
    if (prefix) {
        b[n++] = *prefix; /* macro packets: the command they belong to */
    }
    va_start(ap, prefix);
    for (const char *s; (s = va_arg(ap, const char *));) {
        size_t l = strlen(s) + 1;
        if (n + l > sizeof(b)) {
            break;
        }
        memcpy(b + n, s, l);
        n += l;
    }
    va_end(ap);
    put_packet(c, cmd, b, n);
}

static bool flush_out(struct conn *c)
{
    size_t o = 0;
    while (o < c->out_len) {
        ssize_t w = send(c->fd, c->out + o, c->out_len - o, MSG_NOSIGNAL);
        if (w < 0 && errno == EINTR) {
            continue;
        }
        if (w <= 0) {
            return false;
        }
        o += (size_t)w;
    }
    c->out_len = 0;
    return true;
}

static bool get(struct conn *c, void *dst, size_t n)
{
    char *d = dst;
    while (n) {
        if (c->in_pos == c->in_len) {
            ssize_t r = recv(c->fd, c->in, sizeof(c->in), 0);
            if (r < 0 && errno == EINTR) {
                continue;
            }
            if (r <= 0) {
                return false;
            }
            c->in_pos = 0;
            c->in_len = (size_t)r;
        }
        size_t k = c->in_len - c->in_pos < n ? c->in_len - c->in_pos : n;
        if (d) {
            memcpy(d, c->in + c->in_pos, k);
            d += k;
        }
        c->in_pos += k;
        n -= k;
    }
    return true;
}

/* one reply packet: its command, up to cap bytes of its data; 0 on failure */
static int get_packet(struct conn *c, void *data, size_t cap, size_t *len)
{
    uint32_t n;
    unsigned char cmd;
    if (!get(c, &n, 4)) {
        return 0;
    }
    n = ntohl(n);
    if (n == 0 || n > REPLY_MAX || !get(c, &cmd, 1)) {
        return 0;
    }
    size_t k = --n < cap ? n : cap;
    if (!get(c, data, k) || !get(c, NULL, n - k)) {
        return 0;
    }
    if (len) {
        *len = k;
    }
    return cmd;
}

/* flush, then read to the reply that ends this step; modifications and progress are counted
 * and passed over */
static int await(struct conn *c)
{
    if (!flush_out(c)) {
        return 0;
    }
    c->trips++;
    for (;;) {
        int r = get_packet(c, NULL, 0, NULL);
        switch (r) {
        case 'p':
            continue; /* progress */
        case 'h':
        case 'i':
        case 'm':
            c->hdr_mods++;
            continue; /* add, insert, change header */
        case 'q':
            c->quars++;
            continue;
        case '+':
        case '2':
        case '-':
        case 'b':
        case 'e':
        case 'l':
            c->mods++;
            continue;
        default:
            return r;
        }
    }
}

/* send the step queued in the buffer; with nr the milter has promised no reply */
static int step(struct conn *c, bool nr)
{
    return nr ? 'c' : await(c);
}

void wire_drop(struct conn *c)
{
    if (c->fd >= 0) {
        close(c->fd);
    }
    c->fd = -1;
    c->out_len = 0;
}

void wire_close(struct conn *c)
{
    if (c->fd < 0) {
        return;
    }
    put_packet(c, 'Q', NULL, 0);
    flush_out(c);
    wire_drop(c);
}

void wire_abort_message(struct conn *c)
{
    put_packet(c, 'A', NULL, 0);
}

int wire_open(struct conn *c)
{
    uint32_t o[3] = {htonl(PROTO_VERSION), htonl(A_ALL), htonl(P_ALL)};
    uint32_t r[3];
    struct timeval tv = {opt.timeout, 0};
    size_t n;
    int one = 1;
    int v;

    c->in_pos = c->in_len = c->out_len = 0;
    c->fd = socket(addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0) {
        return 0;
    }
    setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
    setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
    if (addr.ss_family != AF_UNIX) {
        setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    }
    if (connect(c->fd, (struct sockaddr *)&addr, addr_len)) {
        return 0;
    }
    c->sessions++;

    put_packet(c, 'O', o, sizeof(o));
    if (!flush_out(c) || get_packet(c, r, sizeof(r), &n) != 'O' || n < sizeof(r)) {
        return 0;
    }
    c->trips++;
    c->proto = ntohl(r[2]);

    put_strings(c, 'D', "C", "j", "mx.example.org", "{daemon_name}", "mx.example.org",
                "v", "milterload", NULL);
    if (!(c->proto & P_NOCONNECT)) {
        char b[128];
        int k = snprintf(b, sizeof(b), "client.example.com%c4%c%c%s", 0, 0x30, 0x39,
                         opt.client);
        put_packet(c, 'C', b, (size_t)k + 1);
        if ((v = step(c, c->proto & P_NR_CONN)) != 'c') {
            return v;
        }
    }
    if (!(c->proto & P_NOHELO)) {
        put_packet(c, 'H', "client.example.com", 19);
        if ((v = step(c, c->proto & P_NR_HELO)) != 'c') {
            return v;
        }
    }
    return 'c';
}

static int send_headers(struct conn *c, const struct message *m)
{
    bool space =
        (c->proto & P_LEADSPC) != 0; /* the value keeps the one after the colon */
    for (size_t i = 0; i < m->nheaders && !(c->proto & P_NOHDRS); i++) {
        const struct header *h = &m->headers[i];
        uint32_t len = htonl((uint32_t)(h->name_len + h->value_len + 3 + space));
        put(c, &len, 4);
        put(c, "L", 1);
        put(c, h->name, h->name_len);
        put(c, "\0 ", space ? 2 : 1);
        put(c, h->value, h->value_len);
        put(c, "", 1);
        int v = step(c, c->proto & P_NR_HDR);
        if (v != 'c') {
            return v;
        }
    }
    return 'c';
}

/* Returns 'c' also if the milter skips the rest of the body. */
static int send_body(struct conn *c, const struct message *m)
{
    size_t chunk = (size_t)opt.chunk;
    for (size_t o = 0; o < m->body_len && !(c->proto & P_NOBODY); o += chunk) {
        size_t n = m->body_len - o < chunk ? m->body_len - o : chunk;
        put_packet(c, 'B', m->body + o, n);
        int v = step(c, c->proto & P_NR_BODY);
        if (v == 's') {
            break;
        }
        if (v != 'c') {
            return v;
        }
    }
    return 'c';
}

int wire_send(struct conn *c, const struct message *m)
{
    int v;

    c->at_eom = false;
    put_strings(c, 'D', "M", "{mail_addr}", m->sender, "{mail_mailer}", "smtp", NULL);
    if (!(c->proto & P_NOMAIL)) {
        put_strings(c, 'M', NULL, m->sender, NULL);
        if ((v = step(c, c->proto & P_NR_MAIL)) != 'c') {
            return v;
        }
    }
    put_strings(c, 'D', "R", "{rcpt_addr}", "user@example.org", "{rcpt_host}",
                "example.org", "{rcpt_mailer}", "local", NULL);
    if (!(c->proto & P_NORCPT)) {
        put_strings(c, 'R', NULL, "<user@example.org>", NULL);
        if ((v = step(c, c->proto & P_NR_RCPT)) != 'c') {
            return v;
        }
    }
    put_strings(c, 'D', "T", "i", c->qid, NULL);
    if (!(c->proto & P_NODATA)) {
        put_packet(c, 'T', NULL, 0);
        if ((v = step(c, c->proto & P_NR_DATA)) != 'c') {
            return v;
        }
    }
    if ((v = send_headers(c, m)) != 'c') {
        return v;
    }
    put_strings(c, 'D', "N", "i", c->qid, NULL);
    if (!(c->proto & P_NOEOH)) {
        put_packet(c, 'N', NULL, 0);
        if ((v = step(c, c->proto & P_NR_EOH)) != 'c') {
            return v;
        }
    }
    if ((v = send_body(c, m)) != 'c') {
        return v;
    }
    put_strings(c, 'D', "E", "i", c->qid, NULL);
    put_packet(c, 'E', NULL, 0);
    c->at_eom = true;
    return await(c);
}

enum verdict verdict_of(int r)
{
    switch (r) {
    case 'a':
        return V_ACCEPT;
    case 'c':
        return V_CONTINUE;
    case 'r':
        return V_REJECT;
    case 't':
        return V_TEMPFAIL;
    case 'd':
        return V_DISCARD;
    case 'y':
        return V_REPLYCODE;
    default:
        return V_ERROR;
    }
}
