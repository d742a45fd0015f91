/*
 * syncring - servers of one ring within one process, and their fetches from each other.
 *
 * Origins, keys and names follow from the number of the server. No sockets: syncring_pull asks
 * what the transport would ask, and may lose, repeat or reorder what it gets.
 */
#ifndef TESTS_UNIT_SYNC_SYNCRING_H
#define TESTS_UNIT_SYNC_SYNCRING_H

#include "core/base/keyring.h"
#include "core/ring/stream/root.h"
#include "core/ring/sync/sync.h"

enum { SYNCRING_DIR = 256 };
/* A Tuesday, ten in the morning, the begin of a bucket. */
#define SYNCRING_NOW_S UINT64_C(1790071200)

struct syncnode {
    char dir[SYNCRING_DIR];
    struct identity self;
    struct keyring keys;
    struct sync *sync; /* NULL: not open */
    bool has_store;
};

void syncring_identity(unsigned number, struct identity *ret);
/* Members 0 .. n - 1; free with manifest_fini. False: no memory. */
bool syncring_manifest(unsigned n, struct manifest *ret);
void syncnode_init(struct syncnode *node, const char *dir, unsigned number);
enum err syncnode_open(struct syncnode *node, const struct manifest *m,
                       struct errinfo *reterr);
void syncnode_close(struct syncnode *node);

/* Faults of objects on their way. */
struct syncway {
    uint64_t (*draw)(void *context); /* random numbers; NULL: nothing happens */
    void *context;
    unsigned lost;     /* of 1000 */
    unsigned repeated; /* of 1000 */
    unsigned shuffled; /* of 1000 answers, whose objects come in another order */
    void (*seen)(void *context,
                 struct slice object); /* each that was sent; may be NULL */
};
struct syncpull {
    uint64_t after; /* in: the known version; out: the answer's version */
    bool knew_itself;
    size_t wants;
    uint64_t results[SYNC_RESULTS];
    uint64_t bytes;
    struct errinfo why; /* of the last that was refused */
};
/* One exchange: `to` asks `from`. False: an internal error. */
bool syncring_pull(struct syncnode *to, struct syncnode *from,
                   const struct syncway *way, struct syncpull *io);
/* Pulls both ways until no object is missing. */
bool syncring_settle(struct syncnode *v, unsigned n);

/* A COUNT object as the origin `self` signs it, whatever it says: io has type (DELTA, SNAP),
 * stream, seq, flags, prev and created; the rest follows from the records, and root (before a
 * DELTA) which moves on. */
void syncring_count_key(const struct syncnode *origin, uint64_t inc, uint64_t start_s,
                        struct stream_key *ret);
bool syncring_make(const struct identity *self, struct object *io,
                   const struct count_record *v, size_t n, struct root *root,
                   struct buf *ret);

/* The first object at *rest, cut off; is_whole: a SNAP comes with its payload. False: none. */
bool syncring_cut(struct slice *rest, bool is_whole, struct slice *ret);

#endif
