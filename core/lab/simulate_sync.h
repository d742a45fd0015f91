/*
 * simulate_sync - shared by the parts of `gillnet simulate sync`.
 *
 * simulate_bare.c counts the same reports by streams of each origin and by adding merged filters;
 * simulate_spread.c sends objects through rings, meshes, relays and mirrors. Sizes are those of
 * core/ring, waits those of core/hub.
 * Threads: one.   Owns: nothing outside a call.   ADR 0036.
 */
#ifndef CORE_LAB_SIMULATE_SYNC_H
#define CORE_LAB_SIMULATE_SYNC_H

#include "core/base/err.h"

/* ---- streams beside bare addition ---- */

enum {
    BARE_NODES_MOST = 16,
    BARE_KEYS = 200,
    BARE_REPORTS = 4000,
    BARE_CELL_MOST = 31 /* of a filter as the paper has it: 5 bits */
};

/* One report at one server, then rounds in which each server sends every other what its merged
 * filter grew by. */
struct echo {
    unsigned nodes;
    unsigned rounds;
    uint64_t counted; /* at the server that saw it */
};
uint64_t echo_of(unsigned nodes, unsigned rounds);

/* The same reports over the same network, both ways. */
struct bare_result {
    uint64_t sent;         /* deltas, to one peer each */
    uint64_t sent_again;   /* because an answer was lost */
    uint64_t bare_wrong;   /* (server, key) whose count by addition is not the truth */
    double bare_mean;      /* times the truth */
    double bare_worst;     /* likewise */
    uint64_t stream_wrong; /* none, or there is a fault */
    uint64_t pairs;        /* (server, key) with a truth above 0 */
};
/* nodes: 2 to BARE_NODES_MOST. loss: below 1. */
enum err bare_run(unsigned nodes, double loss, uint64_t seed, struct bare_result *ret);

/* ---- how objects spread ---- */

enum spread_topology {
    SPREAD_CYCLE,  /* each exchanges with the two beside it */
    SPREAD_MESH,   /* each with each */
    SPREAD_RELAY,  /* each with two relays, the relays with one another */
    SPREAD_MIRROR, /* one publishes, mirrors copy, the others look at a mirror */
    SPREAD_PUBLISH /* one publishes, the others look there */
};
enum { SPREAD_NODES_MOST = 10000, SPREAD_MESH_MOST = 256, SPREAD_SAMPLES = 32 };

struct spread {
    enum spread_topology topology;
    unsigned nodes;
    unsigned degree; /* servers a relay, subscribers a mirror */
    double loss;     /* of a request or its answer */
    uint64_t seed;
    uint64_t messages_per_day; /* of each server */
    uint64_t entries_per_hour; /* of a publisher */
    uint64_t interval_s;       /* of publications, and of looks at them */
};
struct spread_result {
    unsigned relays; /* or mirrors */
    double mean_s;   /* until another server has what one published */
    double p99_s;
    double worst_s;
    uint64_t unreached;
    double object_bytes;      /* of one interval of one origin */
    double in_bytes_per_day;  /* of a server */
    double out_bytes_per_day; /* of a server that is no relay */
    double
        most_out_bytes_per_day; /* of the busiest: a relay, a mirror, the publisher */
};
/* share: 0 to 1, now and then. ERR_RANGE: sizes; ERR_NOMEM. */
typedef void spread_progress_fn(void *context, double share);
enum err spread_run(const struct spread *s, spread_progress_fn *fn, void *context,
                    struct spread_result *ret, struct errinfo *reterr);
const char *spread_topology_name(enum spread_topology t);

#endif
