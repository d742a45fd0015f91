/*
 * shared_status - state of the store, for the hub's socket, page, metrics and alerts.
 *
 * shared_get_status reads the state of each module of the room. The group of a module that does not
 * run stays zero. Numbers without another word count from the start of the hub. Names with _s are
 * seconds; a moment is on the wall clock, and 0 means never.
 * Depends: redis.   Threads: that of the event loop.
 */
#ifndef CORE_HUB_SHARED_SHARED_STATUS_H
#define CORE_HUB_SHARED_SHARED_STATUS_H

#include "core/hub/redis/redis.h"

enum {
    SHARED_SERVERS_MAX = 64, /* shown */
    SHARED_VERSION_MAX = 32  /* of a server, with NUL */
};

enum shared_state {
    SHARED_NO_RING, /* no ring of kind own is open: the store is not used */
    SHARED_BEGINS,  /* no server has answered yet */
    SHARED_UP,
    SHARED_PARTLY, /* masters are missing: the counts of their cells wait here */
    SHARED_DOWN,   /* no master answers: local counts only */
    SHARED_FULL,   /* a master takes no writes: out of memory, or its disk fails */
    SHARED_STATES
};
/* "no_ring", "begins", "up", "partly", "down", "full". */
const char *shared_state_name(enum shared_state state);

/* ---- servers: shared_watch ---- */

enum shared_role {
    SHARED_ROLE_UNKNOWN,
    SHARED_MASTER,
    SHARED_REPLICA,
    SHARED_SENTINEL
};
enum shared_choice { SHARED_UNKNOWN, SHARED_NO, SHARED_YES };

/* The last state that a server reported. Its texts are printable and otherwise untrusted. */
struct shared_server_status {
    char address[REDIS_ADDRESS_MAX];
    enum shared_role role;
    char product[SHARED_VERSION_MAX]; /* "redis", "valkey" */
    char version[SHARED_VERSION_MAX]; /* "7.0.15" */
    enum redis_fault fault;           /* of the last try */
    char why[REDIS_TEXT_MAX];         /* with a fault */
    uint64_t answered_s;
    int64_t clock_ms;                 /* its clock minus that of this host */
    uint64_t memory_bytes;            /* in use for data */
    uint64_t memory_limit;            /* maxmemory; 0: none */
    char policy[SHARED_VERSION_MAX];  /* maxmemory-policy; "": not known */
    enum shared_choice is_persistent; /* append-only file or snapshots */
    enum shared_choice can_write; /* no: its last writing to disk failed, or it loads */
    unsigned nreplicas;           /* that follow it now */
    uint64_t listpack_entries;    /* hash-max-listpack-entries; 0: not known */
    uint64_t evicted;             /* keys, since its start */
    char denied
        [REDIS_TEXT_MAX]; /* a command that the user may not use; "": none found */
};

struct shared_watch_status {
    enum shared_state state;
    uint64_t since_s;  /* of this state */
    uint64_t bytes_in; /* of all connections to it */
    uint64_t bytes_out;
    size_t nservers;
    struct shared_server_status servers[SHARED_SERVERS_MAX];
};

/* ---- counts: shared_counts.h ---- */

enum shared_flow {
    SHARED_FLOW_NONE,   /* no counts are published */
    SHARED_FLOW_ASKING, /* what the store has of this server, before anything is sent */
    SHARED_FLOW_SENDING, /* all is well */
    SHARED_FLOW_WAITING, /* the store does not answer */
    SHARED_FLOW_REFUSED, /* it answers, and takes nothing: out of memory, read-only, rights */
    SHARED_FLOWS
};

struct shared_status_counts {
    enum shared_flow flow;
    char why[REDIS_TEXT_MAX]; /* WAITING, REFUSED: the last fault */
    uint64_t number;          /* of the newest record in the log */
    uint64_t lag_s; /* age of the oldest increment that is not in the store; 0: none */
    uint64_t cells_behind; /* with records that are not in the store */
    uint64_t spool_bytes;  /* the log */
    uint64_t spool_limit;
    uint64_t updates; /* pairs of key and bucket that were added */
    uint64_t batches;
    uint64_t batches_repeated; /* that a failover lost, or whose answer was lost */
    uint64_t updates_lost;     /* pairs that the log dropped before they were sent */
    uint64_t incarnations;     /* that had to begin, as after a restore */
};

/* ---- reading: shared_view.h ---- */

struct shared_status_view {
    uint64_t answered_s; /* when the store last confirmed the totals */
    uint64_t heard;      /* totals taken */
    uint64_t hot_named;  /* hot keys that this server named in the stream, */
    uint64_t hot_read;   /* and read there */
    uint64_t histories;  /* keys whose past was read */
};

/* ---- lists, reports, votes: shared_objects.h ---- */

struct shared_status_objects {
    bool is_current;    /* all own objects are there */
    uint64_t put;       /* parts of objects */
    uint64_t put_again; /* streams that the store had lost or spoilt */
    uint64_t applied;   /* objects of others */
    uint64_t missing;   /* named by heads, and absent */
    uint64_t refused;
};

/* ---- filter lines: shared_lines.h ---- */

struct shared_status_lines {
    uint64_t filters;  /* of this server's lists */
    uint64_t complete; /* of these, wholly in the store */
    uint64_t lines;    /* that gillnetd asked for */
    uint64_t cached;   /* of these, found here */
    uint64_t late;     /* of these, not here within store.deadline */
    uint64_t lost;     /* of these, absent or damaged there */
};

/* ---- all ---- */

struct shared_status {
    struct shared_watch_status watch;
    struct shared_status_counts counts;
    struct shared_status_view view;
    struct shared_status_objects objects;
    struct shared_status_lines lines;
};

struct shared;
/* s NULL: everything is 0, SHARED_NO_RING. */
void shared_get_status(const struct shared *s, struct shared_status *ret);

#endif
