/*
 * peers - hits on the lists of peers -> symbols; private to this room.
 *
 * One symbol for each name of a list, with the weight that the list has here times that of the
 * strongest origin: several origins of the same value score like one. A hit of our own list of that
 * name takes the place of all of these. With fewer origins than peers.quorum_lists a score only
 * marks the message. A peer can never lower a score.
 * Threads: pure.   Allocates: nothing.   ADR 0035.
 */
#ifndef CORE_VERDICT_PEERS_H
#define CORE_VERDICT_PEERS_H

#include "core/config/config.h"
#include "core/list/listset.h"

enum {
    PEERS_NAMES_MAX = 64,   /* lists' names that lead to a symbol */
    PEERS_HITS_MAX = 1024,  /* hits of peers that are weighed; more add nothing */
    PEERS_OWNERS_MAX = 256, /* ORIGINS_MAX */
    PEERS_NOTE_MAX = 96
};

/* The symbol of one name. note names the origins, or the reason for a score of 0. */
struct peers_symbol {
    const char *name;
    double score;
    bool has_quorum;
    const struct list_hit *hit; /* one that stands for it */
    size_t more;                /* origins that say the same, beside its own */
    char note[PEERS_NOTE_MAX];
};
typedef void peers_symbol_fn(void *context, const struct peers_symbol *s);
/* Whether an allow list takes the value from the others. */
typedef bool peers_exempt_fn(const void *context, struct slice value);

struct peers_case {
    const struct config *config;
    const struct listset *lists;
    const struct list_hits *hits;
    peers_symbol_fn *on_symbol;
    peers_exempt_fn *is_exempt;
    void *context; /* of both */
};
void peers_judge(const struct peers_case *c);

#endif
