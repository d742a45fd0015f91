/*
 * prop_model - the expected and the actual state of the servers of a simulated ring.
 *
 * Depends: syncring.   Threads: one.
 */
#ifndef TESTS_INTEG_SYNC_PROP_MODEL_H
#define TESTS_INTEG_SYNC_PROP_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/slice.h"

#include "tests/unit/sync/syncring.h"

enum { NODES_MAX = 8, KEYS = 24, BUCKETS = 96, BUCKETS_BEFORE = 32 };

/* Numbers of keys by bucket. */
struct tally {
    uint64_t v[BUCKETS][KEYS];
};
/* One server's counts of each origin. */
struct holding {
    struct tally of[NODES_MAX];
};

_Noreturn void prop_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Keys are not near to each other. */
uint64_t prop_key(unsigned i);
uint64_t prop_start(unsigned bucket);
/* BUCKETS: not in the model. */
unsigned prop_bucket(uint64_t start_s);

/* Reads the files of a server: of its peers as gillnetd reads them, and its own. */
void prop_read(const struct syncnode *v, unsigned n, unsigned node,
               struct holding *ret);

/* Every object that an origin signed: one for each place. False: two were seen; the later one is
 * remembered. */
bool prop_note_object(struct slice object);
/* The root that the object for that place says. False: it was never sent. */
bool prop_signed_root(const struct object_id *stream, uint64_t seq,
                      struct hash256 *ret);
void prop_forget_objects(void);

/* Copies a folder with what lies in it; to must not be there. */
void prop_copy(const char *from, const char *to);
void prop_remove(const char *dir);

#endif
