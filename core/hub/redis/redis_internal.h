/*
 * redis_internal - shared by the files of the client; nobody else includes it.
 *
 * redis.c has the calls, redis_node.c one server, redis_connect.c the way to it, redis_map.c which
 * server has which slot.
 */
#ifndef CORE_HUB_REDIS_REDIS_INTERNAL_H
#define CORE_HUB_REDIS_REDIS_INTERNAL_H

#include <event2/event.h>
#include <openssl/ssl.h>
#include <sys/queue.h>

#include "core/hub/redis/redis.h"
#include "core/hub/redis/redis_lookup.h"

enum { REDIS_US_PER_MS = 1000, REDIS_ANY_SLOT = -1 };

TAILQ_HEAD(open_calls, open_call);

struct open_call {
    TAILQ_ENTRY(open_call) in_age;
    TAILQ_ENTRY(open_call) in_queue;
    redis_answer_fn *answer; /* NULL: nobody waits any more */
    void *context;
    uint64_t deadline_us;     /* the refresh has none, and is not in client->by_age */
    struct redis_node *bound; /* the only server for it; NULL: that of the slot */
    bool may_repeat;
    bool was_lost;          /* sent, and the connection ended without an answer */
    bool is_asking;         /* to be sent behind ASKING */
    bool skips;             /* the next answer is that of ASKING */
    bool is_sent;           /* in node->sent */
    enum redis_fault fault; /* of the last try */
    unsigned nmoves;
    int slot;                /* or REDIS_ANY_SLOT */
    struct redis_node *node; /* in whose queue it is; NULL: parked */
    struct buf bytes;
};

enum redis_node_state {
    REDIS_NODE_IDLE,
    REDIS_NODE_LOOKUP,
    REDIS_NODE_CONNECTING,
    REDIS_NODE_HANDSHAKE,
    REDIS_NODE_HELLO,
    REDIS_NODE_READY
};

struct redis_node {
    struct redis *client;
    char host[REDIS_TEXT_MAX]; /* begins with '/': a Unix socket */
    unsigned port;
    bool is_seed;   /* named in the options; never removed */
    bool is_master; /* the map has it */
    enum redis_node_state state;
    int fd;
    SSL *ssl;
    struct event *reads;
    struct event *writes;
    struct redis_lookup *lookup;
    const struct addrinfo *next_address;
    struct buf out;
    size_t nout; /* bytes of it that were sent */
    struct resp reply;
    struct open_calls waiting;
    struct open_calls sent;
    uint64_t progress_us; /* the connecting began, or the last answer came */
    uint64_t retry_us;    /* no connecting before */
    unsigned nfailures;   /* since the last answer to a call */
    unsigned nbound; /* calls for it alone; those parked are in none of its queues */
    enum redis_fault fault;
    char why[REDIS_TEXT_MAX]; /* of the fault */
    uint64_t answered_us;
};

struct redis_secret { /* of a login */
    char user[REDIS_TEXT_MAX];
    char password[REDIS_TEXT_MAX]; /* "": no login */
};

struct redis {
    struct event_base *base;
    struct event *tick;
    enum redis_kind kind;
    uint64_t connect_us;
    uint64_t answer_us;
    uint64_t deadline_us;
    char master[REDIS_TEXT_MAX];
    char name[REDIS_TEXT_MAX];
    struct redis_secret login;
    struct redis_secret sentinel_login;
    SSL_CTX *tls; /* NULL: plain */
    struct redis_node *nodes[REDIS_NODES_MAX];
    size_t nnodes;
    struct redis_node *slots[REDIS_SLOTS]; /* Cluster; otherwise the first has all */
    struct open_calls by_age;
    struct open_calls parked; /* those for which no server is known now */
    size_t ncalls;
    size_t nbytes;
    uint64_t nchanges; /* of connections and masters */
    struct redis_traffic traffic;
    struct open_call *refresh;
    size_t refresh_turn;            /* the node that was asked last */
    uint64_t refresh_us;            /* when it was */
    enum redis_fault refresh_fault; /* of the last answer */
    bool wants_refresh;
    bool is_closing;
    char why[REDIS_FAULTS][REDIS_TEXT_MAX]; /* the last text of each fault */
};

/* ---- redis.c ---- */

/* Keeps the text of a fault. Bytes that do not print become '?'. */
void redis_note(struct redis *r, enum redis_fault fault, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The text is that of a server's error. */
void redis_note_error(const struct redis_node *n, enum redis_fault fault,
                      struct slice error);
/* A call was sent and this is its answer. Takes the call, which is in no queue. */
void redis_take_reply(struct redis_node *n, struct open_call *call,
                      const struct resp *reply);
/* The connection is gone. Takes the call, which is in no queue. */
void redis_take_loss(struct redis *r, struct open_call *call, enum redis_fault fault);
/* A call that is in no queue waits until the next tick, or a new map. */
void redis_park(struct redis *r, struct open_call *call);
/* Sends the calls that wait for a server, where there is one now. */
void redis_dispatch_parked(struct redis *r);
/* The one refresh: a call for this server, sent once. */
enum err redis_refresh(struct redis *r, struct redis_node *n,
                       const struct redis_call *call);

/* ---- redis_node.c ---- */

/* NULL: no memory, or REDIS_NODES_MAX. */
struct redis_node *redis_node_get(struct redis *r, struct slice host, unsigned port);
/* Without calls in its queues. */
void redis_node_free(struct redis_node *n);
/* Whether a call may be put in its queue now: it has not just failed. */
bool redis_node_is_open(const struct redis_node *n, uint64_t now_us);
void redis_node_add(struct redis_node *n, struct open_call *call);
/* Sends what waits, as far as the kernel takes it. */
void redis_node_send(struct redis_node *n);
/* Events of n->fd. False: no memory. */
bool redis_node_watch(struct redis_node *n);
/* With its events. Keeps errno. */
void redis_node_close_socket(struct redis_node *n);
/* Ends the connection; its calls get redis_take_loss, and the next try comes later. */
void redis_node_fail(struct redis_node *n, enum redis_fault fault);
void redis_node_tick(struct redis_node *n, uint64_t now_us);

/* ---- redis_connect.c ---- */

/* Letters, digits and "-._:%", at least one and not too many. */
bool redis_host_is_plain(struct slice host);
/* "HOST:PORT", "[IPV6]:PORT" or "/PATH". The host may be empty, as in redirections. False: it has
 * another form. */
bool redis_address_split(struct slice address, struct slice *rethost,
                         unsigned *retport);
bool redis_node_is_sentinel(const struct redis_node *n);
/* Of a node that is idle. Its state becomes ready, or redis_node_fail is called. */
void redis_connect_begin(struct redis_node *n);
/* An event or a tick, before the login. */
void redis_connect_step(struct redis_node *n);
/* The answer to HELLO is in n->reply. */
void redis_connect_hello(struct redis_node *n);
/* The fault of a node that has been in its state for too long. */
enum redis_fault redis_connect_late_fault(const struct redis_node *n);

/* ---- redis_map.c ---- */

/* NULL: nobody is known to have the slot. */
struct redis_node *redis_map_node(struct redis *r, int slot);
/* Asks a server for the map, when it is time. */
void redis_map_tick(struct redis *r, uint64_t now_us);
/* The server of one slot, as a redirection named it. */
void redis_map_set(struct redis *r, int slot, struct redis_node *n);

#endif
