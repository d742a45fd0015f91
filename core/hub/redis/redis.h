/*
 * redis - a client of Redis or Valkey: one server, Sentinel or Cluster behind one call.
 *
 * A call goes to the server that has its key. Calls to one server are sent without waiting for
 * answers. A call waits through a failover, a redirection or a lost connection until its deadline.
 * It is sent a second time only if it cannot have been done, or if the caller says that this is
 * safe. Nothing blocks the event loop; a thread resolves names.
 * Servers must be Redis 6 or newer, or Valkey. They belong to the owner of this host: a server that
 * lies can make the client connect to other addresses, which with TLS must show the name asked for.
 * Depends: base, socket, libevent, OpenSSL.   Threads: that of the event loop.   ADR 0078.
 */
#ifndef CORE_HUB_REDIS_REDIS_H
#define CORE_HUB_REDIS_REDIS_H

#include "core/base/err.h"
#include "core/hub/redis/resp.h"

struct event_base;
struct redis;

enum {
    REDIS_SLOTS = 16384,
    REDIS_SERVERS_MAX = 32,      /* named in the options */
    REDIS_NODES_MAX = 256,       /* known at a time, replicas not counted */
    REDIS_CALLS_MAX = 64 * 1024, /* open calls */
    REDIS_BYTES_MAX = 64 << 20,  /* of their commands */
    REDIS_MOVES_MAX = 5,         /* redirections of a call that are followed at once */
    REDIS_TEXT_MAX = 256,        /* of a user, password, host name or fault, with NUL */
    REDIS_ADDRESS_MAX = REDIS_TEXT_MAX + 16, /* "[HOST]:PORT", with NUL */
    REDIS_TICK_MS = 100                      /* deadlines are as exact as this */
};

enum redis_kind { REDIS_SINGLE, REDIS_SENTINEL, REDIS_CLUSTER };

struct redis_login {
    const char *user;          /* "" or NULL: default */
    const char *password_file; /* its first line; NULL: no login */
};

/* All texts are borrowed until redis_new returns. */
struct redis_options {
    enum redis_kind kind;
    const char *const
        *servers; /* "HOST:PORT", "[IPV6]:PORT", or the path of a Unix socket */
    size_t nservers;
    const char *master;       /* the name that the Sentinels know */
    struct redis_login login; /* at servers with data */
    struct redis_login sentinel_login;
    bool has_tls;
    const char *ca_file; /* NULL: the system's */
    const char *name; /* that all certificates must have; NULL: the host as addressed */
    const char *cert_file; /* to show; NULL: none */
    const char *key_file;
    unsigned connect_ms; /* until the login is done; 0: 2,000 */
    unsigned
        answer_ms; /* of a server that has a command, to the next answer; 0: 2,000 */
    unsigned deadline_ms; /* of a call in all; 0: 10,000 */
};

/* Why a call has no reply. */
enum redis_fault {
    REDIS_FAULT_NONE,
    REDIS_FAULT_NAME,    /* the host's name has no address */
    REDIS_FAULT_CONNECT, /* no connection, or none in time */
    REDIS_FAULT_TLS,     /* handshake or certificate */
    REDIS_FAULT_LOGIN,   /* user, password or rights */
    REDIS_FAULT_PROTOCOL, /* bytes that are no reply, a reply that nobody waits for, limits */
    REDIS_FAULT_TIMEOUT,  /* the server is too slow, or stands still */
    REDIS_FAULT_CLOSED,   /* the connection ended, or the client was freed */
    REDIS_FAULT_TOPOLOGY, /* no server has the key: a failover, the wrong kind */
    REDIS_FAULTS
};
/* "connect"; never NULL. */
const char *redis_fault_name(enum redis_fault fault);

struct redis_answer {
    enum redis_fault fault;
    bool may_be_done; /* with a fault: the command was sent, and may have been done */
    const struct resp
        *reply; /* without one: node 0, which may be an error of the command; or NULL */
    const char *why; /* with a fault: a text for people */
};
/* All of it is valid during the call. It may begin new calls, and must not free the client. */
typedef void redis_answer_fn(void *context, const struct redis_answer *answer);

/* Connects when it is needed. Reads the password files. */
enum err redis_new(struct event_base *base, const struct redis_options *options,
                   struct redis **ret, struct errinfo *reterr);
/* Open calls are answered with REDIS_FAULT_CLOSED. Accepts NULL. */
void redis_free(struct redis **r);

struct redis_call {
    struct slice
        key; /* any key of the command; p NULL: any server that takes writes will do */
    const struct slice *args; /* copied */
    size_t nargs;
    bool may_repeat; /* doing it twice is as good as once */
    redis_answer_fn *answer;
    void *context;
};
/* ERR_OK: the answer comes once, later. ERR_LIMIT: too many open calls. ERR_NOMEM. Order: calls for
 * one key are done in order as long as none has to be sent again. */
enum err redis_call(struct redis *r, const struct redis_call *call);

/* Rises when a connection is lost and when another server becomes the master of a slot: what was
 * acknowledged before may be gone. */
uint64_t redis_changes(const struct redis *r);

/* ---- one server ---- */

struct redis_server {
    char address[REDIS_ADDRESS_MAX]; /* "HOST:PORT", "[IPV6]:PORT" or "/PATH" */
    bool is_sentinel;
    bool is_master; /* calls with keys go there */
    enum redis_fault
        fault; /* of the last try; none: it was never tried, or has answered since */
    const char *why;      /* with a fault; valid until the next event */
    uint64_t answered_us; /* clock_mono_us; 0: never */
};
/* The k-th server that is known now: those of the options, and all masters. False: there are fewer.
 * The order may change with every event. */
bool redis_server(const struct redis *r, size_t k, struct redis_server *ret);
/* As redis_call, of that server alone: the key is not looked at, and a redirection or an error of
 * any kind is the reply. ERR_NOT_FOUND: there is no k-th server. */
enum err redis_call_server(struct redis *r, size_t k, const struct redis_call *call);

/* Bytes of all its connections, TLS not counted. */
struct redis_traffic {
    uint64_t in;
    uint64_t out;
};
struct redis_traffic redis_traffic(const struct redis *r);

/* The slot of a key in a cluster: CRC16 of it, or of its {tag}. */
unsigned redis_slot(struct slice key);

#endif
