/*
 * vector_store - the examples that the model is made of: in memory, and in one file.
 *
 * Keeps the newest LEARNER_STORE of each class. When a class is full, the oldest example of its
 * largest kind makes room; unproved ones displace only each other once they are STORE_UNPROVED.
 * The file is appended to; it is rewritten when most of it is no longer kept. A record is whole or
 * ignored, with all behind it.
 * Threads: one at a time.   Owns: its memory and the file's descriptor.   Depends: base.
 */
#ifndef CORE_LEARN_VECTOR_STORE_H
#define CORE_LEARN_VECTOR_STORE_H

#include "core/base/file.h"
#include "core/learn/learner.h"

/* What a record says. The numbers are on disk. */
enum record_kind {
    RECORD_HAM,
    RECORD_SPAM,
    RECORD_REMOVED,
    RECORD_OUT,
    RECORD_APPLIED
};
extern const char store_magic[8];
/* Records as they stand in the file. */
void store_add_example(struct buf *to, const struct learner_example *e);
void store_add_number(struct buf *to, enum record_kind kind, uint64_t value);

enum { STORE_UNPROVED = LEARNER_STORE / 8 };

struct kept {
    uint64_t number;
    float weight;
    float margin; /* before it was learnt; by store's caller */
    float odds;   /* likewise */
    uint8_t is_spam;
    uint8_t source;
    uint8_t kind;
    uint16_t group;
    uint16_t n;
    uint8_t *bytes; /* the vector */
};

/* A report of somebody who has earned little trust. */
bool kept_is_unproved(const struct kept *k);

struct store {
    char path[FILE_PATH_MAX];
    uint64_t applied;
    size_t n; /* oldest first */
    struct kept *kept;
    uint32_t count[VECTOR_KINDS][2];
    struct buf pending; /* records that are not in the file yet */
    size_t written;     /* records in the file */
};

/* Reads the file, if it is there. */
enum err store_open(struct store *s, const char *path, struct errinfo *reterr);
void store_close(struct store *s);
/* Adds a copy. NULL: no memory, or the vector is too short to be one. */
struct kept *store_add(struct store *s, const struct learner_example *e);
/* False: no example has the number. */
bool store_remove(struct store *s, uint64_t number);
size_t store_remove_source(struct store *s, enum learner_source source);
/* Takes what an inbox file says (core/learn/inbox.h): examples that are not kept yet, sources to
 * forget. Returns whether something changed; a damaged file is used up to its first fault. */
bool store_take_inbox(struct store *s, const char *path);
bool store_is_dirty(const struct store *s);
/* Brings the file up to date, durably. */
enum err store_save(struct store *s, struct errinfo *reterr);

#endif
