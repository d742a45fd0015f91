/* simulate_bare - the same reports counted by streams of each origin, and by adding what filters
 * grew by. */

#include "core/base/prng.h"
#include "core/lab/simulate_sync.h"

enum { STREAM_TRAFFIC = 11, SENDS_MOST = 64, PUBLISH_OF = 100, PUBLISH_AT = 8 };

uint64_t echo_of(unsigned nodes, unsigned rounds)
{
    uint64_t merged[BARE_NODES_MOST] = {1}; /* one cell, seen once by server 0 */
    uint64_t sent[BARE_NODES_MOST] = {0};
    uint64_t grown[BARE_NODES_MOST];

    for (unsigned r = 0; r < rounds; r++) {
        uint64_t all = 0;
        for (unsigned i = 0; i < nodes; i++) {
            grown[i] = merged[i] - sent[i];
            sent[i] = merged[i];
            all += grown[i];
        }
        for (unsigned i = 0; i < nodes; i++) {
            uint64_t v = merged[i] + all - grown[i];
            merged[i] = v < BARE_CELL_MOST ? v : BARE_CELL_MOST;
        }
    }
    return merged[0];
}

struct site {
    uint32_t own[BARE_KEYS];       /* seen here */
    uint32_t published[BARE_KEYS]; /* of these */
    uint32_t bare[BARE_KEYS];      /* own and all that was added */
    uint64_t seq;                  /* objects published */
    /* what this server holds of the stream of each origin */
    uint64_t cursor[BARE_NODES_MOST];
    uint32_t held[BARE_NODES_MOST][BARE_KEYS];
};

struct network {
    struct site *sites;
    unsigned n;
    double loss;
    struct prng random;
    struct bare_result *result;
};

/* Receiver's side of one copy of an object. */
static void receive(struct site *to, unsigned origin, uint64_t seq,
                    const uint32_t delta[BARE_KEYS])
{
    bool is_next = seq == to->cursor[origin] + 1;

    for (unsigned k = 0; k < BARE_KEYS; k++) {
        to->bare[k] += delta[k];
        if (is_next) {
            to->held[origin][k] += delta[k];
        }
    }
    to->cursor[origin] += is_next;
}

/* Sent until an answer comes back: whether the object or the answer was lost the sender cannot
 * tell. */
static void send_all(struct network *net, unsigned from,
                     const uint32_t delta[BARE_KEYS])
{
    for (unsigned i = 0; i < net->n; i++) {
        bool is_answered = i == from;
        for (unsigned tries = 0; !is_answered && tries < SENDS_MOST; tries++) {
            net->result->sent++;
            net->result->sent_again += tries > 0;
            if (prng_share(&net->random) < net->loss && tries + 1 < SENDS_MOST) {
                continue;
            }
            receive(&net->sites[i], from, net->sites[from].seq, delta);
            is_answered = prng_share(&net->random) >= net->loss;
        }
    }
}

static void publish(struct network *net, unsigned from)
{
    struct site *s = &net->sites[from];
    uint32_t delta[BARE_KEYS];

    for (unsigned k = 0; k < BARE_KEYS; k++) {
        delta[k] = s->own[k] - s->published[k];
        s->published[k] = s->own[k];
        s->held[from][k] = s->own[k];
    }
    s->seq++;
    send_all(net, from, delta);
}

static void compare(const struct network *net, struct bare_result *ret)
{
    double sum = 0;

    for (unsigned k = 0; k < BARE_KEYS; k++) {
        uint64_t truth = 0;
        for (unsigned i = 0; i < net->n; i++) {
            truth += net->sites[i].own[k];
        }
        for (unsigned i = 0; truth > 0 && i < net->n; i++) {
            const struct site *s = &net->sites[i];
            double times = (double)s->bare[k] / (double)truth;
            uint64_t held = 0;
            for (unsigned o = 0; o < net->n; o++) {
                held += s->held[o][k];
            }
            ret->stream_wrong += held != truth;
            ret->bare_wrong += s->bare[k] != truth;
            ret->bare_worst = times > ret->bare_worst ? times : ret->bare_worst;
            ret->pairs++;
            sum += times;
        }
    }
    ret->bare_mean = ret->pairs > 0 ? sum / (double)ret->pairs : 0;
}

enum err bare_run(unsigned nodes, double loss, uint64_t seed, struct bare_result *ret)
{
    struct network net = {.n = nodes, .loss = loss, .result = ret};

    *ret = (struct bare_result){.sent = 0};
    net.sites = calloc(nodes, sizeof(*net.sites));
    if (net.sites == NULL) {
        return ERR_NOMEM;
    }
    prng_init(&net.random, seed, STREAM_TRAFFIC);
    for (unsigned r = 0; r < BARE_REPORTS; r++) {
        unsigned at = (unsigned)prng_below(&net.random, nodes);
        uint64_t a = prng_below(&net.random, BARE_KEYS);
        uint64_t b = prng_below(&net.random, BARE_KEYS);
        uint64_t k = a < b ? a : b; /* some keys come more often than others */
        net.sites[at].own[k]++;
        net.sites[at].bare[k]++;
        if (prng_below(&net.random, PUBLISH_OF) < PUBLISH_AT) {
            publish(&net, at);
        }
    }
    for (unsigned i = 0; i < nodes; i++) {
        publish(&net, i);
    }
    compare(&net, ret);
    free(net.sites);
    return ERR_OK;
}
