/*
 * prop_world - a ring of servers in virtual time, and the things that happen to one of them.
 *
 * Depends: prop_model, prop_lists, disk_dies.   Threads: one.
 */
#ifndef TESTS_INTEG_SYNC_PROP_WORLD_H
#define TESTS_INTEG_SYNC_PROP_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/file.h"

#include "tests/integ/sync/prop_lists.h"
#include "tests/integ/sync/prop_model.h"

enum { LINK_DOWN = 1, LINK_UP = 2 };
enum { GREEDY_A_DAY = 144 * 16, GREEDY_BUCKET = 16 * SYNC_BURST };

struct server {
    struct tally counted; /* as its gillnetd remembers it */
    unsigned bucket;      /* that counts now */
    int64_t skew_s;
    bool is_told[BUCKETS]; /* nothing new since it was published */
    bool is_ended[BUCKETS];
    bool has_copy;
    struct tally told;
    struct tally copy;
    struct tally copy_told;
    struct tally twice; /* counted, not told when copied: told by both lives */
    unsigned copy_bucket;
    bool was_restored;
    struct listing lists;
    struct listing copy_lists;
    bool has_asked[NODES_MAX]; /* for its own streams, since its start */
};

/* All there is. */
struct world {
    const char *folder;
    int told; /* standard error; the log goes elsewhere */
    uint64_t seed;
    uint64_t random_state;
    uint64_t noise_state;
    struct syncnode node[NODES_MAX];
    struct server server[NODES_MAX];
    struct tally
        ever[NODES_MAX]; /* all counts ever made, also those lost by a restore */
    unsigned n;
    unsigned liar; /* NODES_MAX: none */
    bool has_lists;
    unsigned filterer;    /* whose filter is shared */
    unsigned only_copied; /* with lists none but that one is set back; NODES_MAX: any */
    bool has_lied;
    bool is_greedy; /* the liar: it brings more than it may, else two histories */
    uint8_t link_of[NODES_MAX][NODES_MAX]; /* 0: they never reach each other */
    uint64_t now_s;
    uint64_t boot_s;
    uint64_t published_s; /* when all published last */
    struct manifest ring;
    uint64_t ncrashes;
    uint64_t nrestores;
    uint64_t nobjects;
    uint64_t nforks;
    uint64_t nrefused; /* for the quota */
    uint64_t nsteps;   /* objects of lists and filters */
    uint64_t nroots;   /* compared with what is held */
};
extern struct world world;

unsigned prop_below(unsigned most);
bool prop_happens(unsigned of_1000);
void prop_be(unsigned i);
void prop_good(enum err e, const struct errinfo *why, const char *what);
void prop_open_again(unsigned i);
void prop_stop(unsigned i, bool is_power_loss);
void prop_count(unsigned i);
enum err prop_publish(unsigned i, struct errinfo *why);
void prop_see(void *context, struct slice object);
void prop_pull(unsigned to, unsigned from, bool is_whole);
void prop_copy_path(unsigned i, char ret[FILE_PATH_MAX]);
void prop_make_copy(unsigned i);
void prop_restore(unsigned i);
void prop_lie(void);
/* Brings a server records beyond what the manifest lets it. */
void prop_be_greedy(void);
/* Fails where a server holds more of the liar than that. */
void prop_check_quota(unsigned i);

/* Free both. */
void prop_heads(unsigned i, struct heads *ret, struct buf *b);
/* The files of each stream say what its origin signed for the place where it is. */
void prop_check_held(unsigned i);
/* After a start: the server has every own object that a peer has. */
void prop_check_known(unsigned i);

#endif
