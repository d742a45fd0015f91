/*
 * simulate_spread - objects of some origins through a network of servers, event by event.
 *
 * A server asks a peer for heads; the answer is held until something changes, then the objects are
 * fetched, then it rests for the gap. So a hop waits for the end of the round that is on its way
 * when the object comes up, and takes a request for it. A publisher publishes each --interval,
 * whoever looks at files (mirror, publish) does so as often, at a moment of its own. One origin's
 * object comes to each server by its fastest way: events in order of time, memory linear in the
 * servers.
 */
#include <math.h>

#include "core/base/prng.h"
#include "core/count/traffic.h"
#include "core/lab/simulate_sync.h"
#include "core/ring/stream/heads.h"
#include "core/ring/stream/object.h"
#include "core/ring/sync/sync.h"

enum {
    STREAM_NETWORK = 12,
    ROUND_TRIP_MS = 50,
    GAP_MS = 500,    /* between rounds with one peer, core/hub/exchange/exchange.h */
    RETRY_MS = 1000, /* after a request that was lost, doubled each time */
    RETRY_MOST = 6,  /* doublings */
    REQUEST_BYTES = 700, /* a request and the head of its answer, with TLS */
    LIST_BYTES = 20,     /* of an entry, measured (ADR 30) */
    DAY_S = 86400
};

struct event {
    double at_s;
    uint32_t node;
};

struct network {
    const struct spread *s;
    unsigned nrelays;
    struct prng random;
    double *known_s;     /* of each server; infinite: not yet */
    struct event *queue; /* a heap */
    size_t nqueue;
    size_t room;
    bool failed;
    double *delays_s; /* of all samples */
    size_t ndelays;
    uint64_t unreached;
};

const char *spread_topology_name(enum spread_topology t)
{
    static const char *const names[] = {"cycle", "mesh", "relay", "mirror", "publish"};

    return names[t];
}

/* ---- the queue ---- */

static void push(struct network *net, double at_s, uint32_t node)
{
    size_t i = net->nqueue;

    if (i == net->room) {
        size_t room = net->room > 0 ? 2 * net->room : 1024;
        struct event *more = realloc(net->queue, room * sizeof(*more));
        if (more == NULL) {
            net->failed = true;
            return;
        }
        net->queue = more;
        net->room = room;
    }
    net->nqueue++;
    for (; i > 0 && net->queue[(i - 1) / 2].at_s > at_s; i = (i - 1) / 2) {
        net->queue[i] = net->queue[(i - 1) / 2];
    }
    net->queue[i] = (struct event){.at_s = at_s, .node = node};
}

static struct event pop(struct network *net)
{
    struct event first = net->queue[0];
    struct event last = net->queue[--net->nqueue];
    size_t i = 0;

    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= net->nqueue) {
            break;
        }
        if (child + 1 < net->nqueue &&
            net->queue[child + 1].at_s < net->queue[child].at_s) {
            child++;
        }
        if (net->queue[child].at_s >= last.at_s) {
            break;
        }
        net->queue[i] = net->queue[child];
        i = child;
    }
    if (net->nqueue > 0) {
        net->queue[i] = last;
    }
    return first;
}

/* ---- hops ---- */

static bool is_published(const struct spread *s)
{
    return s->topology == SPREAD_MIRROR || s->topology == SPREAD_PUBLISH;
}

/* Servers publish at the end of it. */
static double interval_s(const struct spread *s)
{
    return is_published(s) ? (double)s->interval_s : SYNC_INTERVAL_S;
}

/* Until a request and its answer have come through. */
static double request_s(struct network *net)
{
    double ms = ROUND_TRIP_MS;

    for (unsigned tries = 0; prng_share(&net->random) < net->s->loss; tries++) {
        unsigned doubled = tries < RETRY_MOST ? tries : RETRY_MOST;
        ms += RETRY_MS * (double)(1U << doubled) * (0.5 + prng_share(&net->random));
    }
    return ms / 1000;
}

static double hop_s(struct network *net)
{
    double round_ms = GAP_MS + 2 * ROUND_TRIP_MS;
    double wait = prng_share(&net->random) * round_ms / 1000;

    return wait + request_s(net) + request_s(net); /* heads, then the object */
}

static double look_s(struct network *net)
{
    return prng_share(&net->random) * (double)net->s->interval_s + request_s(net) +
           request_s(net);
}

static void reach(struct network *net, double at_s, uint32_t node)
{
    if (at_s < net->known_s[node]) {
        net->known_s[node] = at_s;
        push(net, at_s, node);
    }
}

static void tell_all(struct network *net, double at_s, uint32_t first, uint32_t end,
                     uint32_t self, double hop(struct network *))
{
    for (uint32_t i = first; i < end; i++) {
        if (i != self && at_s < net->known_s[i]) {
            reach(net, at_s + hop(net), i);
        }
    }
}

/* Servers come first, relays behind them; server i has the relays i and i + 1 modulo their
 * number. */
static void tell_relay(struct network *net, double at_s, uint32_t node)
{
    uint32_t n = net->s->nodes;
    uint32_t r = net->nrelays;

    if (node < n) {
        reach(net, at_s + hop_s(net), n + node % r);
        reach(net, at_s + hop_s(net), n + (node + 1) % r);
        return;
    }
    tell_all(net, at_s, n, n + r, node, hop_s);
    for (uint32_t turn = 0; turn < 2; turn++) {
        uint32_t own = (node - n + r - turn) % r;
        for (uint32_t i = own; i < n; i += r) {
            reach(net, at_s + hop_s(net), i);
        }
    }
}

static void tell(struct network *net, double at_s, uint32_t node)
{
    uint32_t n = net->s->nodes;

    switch (net->s->topology) {
    case SPREAD_CYCLE:
        reach(net, at_s + hop_s(net), (node + 1) % n);
        reach(net, at_s + hop_s(net), (node + n - 1) % n);
        break;
    case SPREAD_MESH:
        tell_all(net, at_s, 0, n, node, hop_s);
        break;
    case SPREAD_RELAY:
        tell_relay(net, at_s, node);
        break;
    case SPREAD_MIRROR: /* 0 publishes */
        if (node == 0) {
            tell_all(net, at_s, n, n + net->nrelays, node, look_s);
        } else if (node >= n) {
            for (uint32_t i = 1 + (node - n); i < n; i += net->nrelays) {
                reach(net, at_s + look_s(net), i);
            }
        }
        break;
    case SPREAD_PUBLISH:
        if (node == 0) {
            tell_all(net, at_s, 1, n, node, look_s);
        }
        break;
    }
}

/* ---- a sample ---- */

static void spread_one(struct network *net, uint32_t origin)
{
    uint32_t all = net->s->nodes + net->nrelays;

    for (uint32_t i = 0; i < all; i++) {
        net->known_s[i] = (double)INFINITY;
    }
    net->nqueue = 0;
    reach(net, prng_share(&net->random) * interval_s(net->s), origin);
    while (net->nqueue > 0 && !net->failed) {
        struct event e = pop(net);
        if (e.at_s <= net->known_s[e.node]) {
            tell(net, e.at_s, e.node);
        }
    }
    for (uint32_t i = 0; i < net->s->nodes; i++) {
        if (i == origin) {
            continue;
        }
        if (isinf(net->known_s[i])) {
            net->unreached++;
        } else {
            net->delays_s[net->ndelays++] = net->known_s[i];
        }
    }
}

static int compare_delays(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static void tell_delays(struct network *net, struct spread_result *ret)
{
    double sum = 0;

    qsort(net->delays_s, net->ndelays, sizeof(net->delays_s[0]), compare_delays);
    for (size_t i = 0; i < net->ndelays; i++) {
        sum += net->delays_s[i];
    }
    if (net->ndelays > 0) {
        ret->mean_s = sum / (double)net->ndelays;
        ret->p99_s = net->delays_s[(net->ndelays - 1) * 99 / 100];
        ret->worst_s = net->delays_s[net->ndelays - 1];
    }
    ret->unreached = net->unreached;
}

/* ---- traffic ---- */

/* Keys are spread evenly over 64 bits: a gap of n of them has 64 - log2(n) bits, of which a byte
 * holds 7. */
static double counts_bytes(const struct spread *s)
{
    double n = (double)s->messages_per_day * TRAFFIC_KEYS * SYNC_INTERVAL_S / DAY_S;

    n = fmax(n, 1);
    return OBJECT_HEADER_BYTES + n * (ceil((64 - log2(n)) / 7) + 1);
}

static void tell_traffic(const struct network *net, struct spread_result *ret)
{
    const struct spread *s = net->s;
    double intervals = DAY_S / interval_s(s);
    double others = s->nodes - 1;
    double rounds = DAY_S * 1000.0 / (GAP_MS + 2 * ROUND_TRIP_MS);
    double again = 1 / (1 - s->loss); /* requests for one answer */

    if (is_published(s)) {
        double entries = (double)s->entries_per_hour * interval_s(s) / 3600;
        double readers = s->topology == SPREAD_MIRROR ? net->nrelays : others;
        ret->object_bytes = OBJECT_HEADER_BYTES + entries * LIST_BYTES;
        ret->in_bytes_per_day =
            intervals * again * (ret->object_bytes + HEAD_BYTES + 2 * REQUEST_BYTES);
        double per_mirror = net->nrelays > 0 ? ceil(others / net->nrelays) : 0;
        ret->most_out_bytes_per_day = ret->in_bytes_per_day * fmax(readers, per_mirror);
        return;
    }
    double peers = s->topology == SPREAD_MESH ? others : 2;
    double busiest = s->topology == SPREAD_RELAY
                         ? ceil(2 * s->nodes / (double)net->nrelays) + net->nrelays - 1
                         : peers;
    ret->object_bytes = counts_bytes(s);
    /* each object once; its head from every peer; a round's own bytes as often as rounds can be */
    double objects = others * intervals * ret->object_bytes * again;
    double heads = others * intervals * HEAD_BYTES;
    double asked = fmin(rounds, intervals * others + DAY_S / 25.0) * REQUEST_BYTES;
    ret->in_bytes_per_day = objects + peers * (heads + asked);
    /* on average as much goes out as comes in, except for relays */
    ret->out_bytes_per_day =
        s->topology == SPREAD_RELAY
            ? intervals * ret->object_bytes + peers * (heads + asked)
            : ret->in_bytes_per_day;
    ret->most_out_bytes_per_day = s->topology == SPREAD_RELAY
                                      ? busiest * (objects + heads + asked) / 2
                                      : ret->out_bytes_per_day;
}

/* ---- the whole ---- */

static enum err check(const struct spread *s, struct errinfo *reterr)
{
    unsigned most = s->topology == SPREAD_MESH ? SPREAD_MESH_MOST : SPREAD_NODES_MOST;

    if (s->nodes < 2 || s->nodes > most) {
        return errinfo_set(reterr, ERR_RANGE, "--nodes", 0,
                           "a %s is simulated with 2 to %u servers",
                           spread_topology_name(s->topology), most);
    }
    if (s->degree < 1 || s->degree > SPREAD_NODES_MOST) {
        return errinfo_set(reterr, ERR_RANGE, "--degree", 0, "give 1 to %d",
                           SPREAD_NODES_MOST);
    }
    return ERR_OK;
}

enum err spread_run(const struct spread *s, spread_progress_fn *fn, void *context,
                    struct spread_result *ret, struct errinfo *reterr)
{
    struct network net = {.s = s};
    unsigned samples = SPREAD_SAMPLES;
    enum err e = check(s, reterr);

    if (e != ERR_OK) {
        return e;
    }
    *ret = (struct spread_result){.relays = 0};
    if (s->topology == SPREAD_RELAY || s->topology == SPREAD_MIRROR) {
        net.nrelays = (s->nodes + s->degree - 1) / s->degree;
    }
    ret->relays = net.nrelays;
    net.known_s = calloc((size_t)s->nodes + net.nrelays, sizeof(*net.known_s));
    net.delays_s = calloc((size_t)samples * s->nodes, sizeof(*net.delays_s));
    if (net.known_s != NULL && net.delays_s != NULL) {
        prng_init(&net.random, s->seed, STREAM_NETWORK);
        for (unsigned i = 0; i < samples && !net.failed; i++) {
            uint32_t origin =
                is_published(s) ? 0 : (uint32_t)prng_below(&net.random, s->nodes);
            spread_one(&net, origin);
            fn(context, (i + 1.0) / samples);
        }
    } else {
        net.failed = true;
    }
    if (net.failed) {
        e = errinfo_set(reterr, ERR_NOMEM, "simulate sync", 0,
                        "out of memory; give fewer --nodes");
    } else {
        tell_delays(&net, ret);
        tell_traffic(&net, ret);
    }
    free(net.known_s);
    free(net.delays_s);
    free(net.queue);
    return e;
}
