/*
 * level - one immutable level open for reading, shared by the generations that name it.
 *
 * Depends: base, filter, store, files.   Threads: constant once open; its count of users is
 * atomic.   Owns: the index and the filter.
 */
#ifndef CORE_LIST_LEVEL_H
#define CORE_LIST_LEVEL_H

#include "core/filter/bloomfile.h"
#include "core/list/files.h"
#include "core/list/merged_index.h"

enum {
    LEVEL_BATCH = 256,
    /* a filter of fewer lines (1 MiB) is never remote: a copy costs less than asking */
    LEVEL_REMOTE_LINES = 16384
};

struct level {
    unsigned users; /* atomic */
    struct list_level names;
    struct index *index; /* NULL: damaged, index_why says how */
    struct errinfo index_why;
    struct bloomfile base;
    enum bloomfile_hold
        hold;               /* as it was opened; a small base is a copy all the same */
    bool has_base;          /* false: damaged, base_why says how */
    struct bloomfile front; /* of a mapped base: small, in memory, asked first */
    bool has_front;
    struct errinfo front_why; /* code ERR_OK or ERR_NOT_FOUND: it has none */
    struct errinfo base_why;
    struct file_mark index_mark;
    struct file_mark base_mark;
};

/* Values common to all levels of a generation. */
struct level_open {
    const char *dir;
    const struct hashkey *node;
    const struct hashkey
        *digest;     /* of the positions in shared filters; NULL: unknown */
    uint32_t key_id; /* of the digests */
    enum bloomfile_hold hold;
    bool has_front; /* open the front as well, where there is one */
};
/* Opens both files, verified. Only missing rights or memory are failures. */
enum err level_open(const struct level_open *how, const struct list_level *names,
                    struct level **ret, struct errinfo *reterr);
/* Adds a user of l if it is undamaged, has this hold, and its files in dir did not change; else
 * NULL. */
struct level *level_share(struct level *l, const char *dir, enum bloomfile_hold hold);
/* The lines of its filter are not here: level_test adds nothing (core/list/line_query.h). */
bool level_is_remote(const struct level *l);
/* True if a mapped file of it was cut short, or cannot be read. */
bool level_is_damaged(const struct level *l);
/* The base of a level at path, as a host with this hold has it: remote ones only if they are large
 * and in a line layout. */
enum bloomfile_hold level_base_hold(const char *path, enum bloomfile_hold hold);
/* The filters' hits among n digests, at most LEVEL_BATCH, added to rethit. */
void level_test(const struct level *l, const struct digest *d, size_t n,
                uint8_t *rethit);
/* The last user closes the level. */
void level_release(struct level **l);
/* The undamaged exact indexes of n levels. */
struct merged_index levels_stack(struct level *const *level, uint32_t n);

#endif
