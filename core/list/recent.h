/*
 * recent - what the tail of the log says, exactly, with a small filter before it.
 *
 * One image of fixed size: header, delta filter, exact table. As the file recent.G the writer
 * changes it in place and readers map it; without a usable file a reader builds the same image
 * for itself from the tail. The header names the boot: after a power loss pages of the file may
 * be older than the log, so an image of another boot is not believed.
 * Depends: base, filter, entry.   Threads: any readers, one writer.   Owns: its image.
 */
#ifndef CORE_LIST_RECENT_H
#define CORE_LIST_RECENT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/err.h"
#include "core/base/file.h"
#include "core/base/keyring.h"
#include "core/filter/bloom.h"
#include "core/filter/exacttable.h"
#include "core/list/entry.h"

enum {
    RECENT_SLOTS = 8192,
    RECENT_ENTRIES_MAX =
        5734,          /* load 0.7: probes stay short; then the base takes them */
    RECENT_LINES = 256 /* 22 bits per key: error 0.005 % when full */
};

/* Which tail an image belongs to. */
struct recent_ids {
    uint64_t generation;
    uint32_t tail;
    uint32_t key_id;
};

/* What the writer keeps up to date beside the table. */
struct recent_numbers {
    uint64_t
        tail_bytes; /* of the tail's file: the image holds every record before this */
    uint64_t updated_s;
    struct entry_totals totals; /* of the whole list */
};

struct recent {
    struct filemap map;
    struct exact_table table;
    struct bloom delta;
    struct recent_ids ids;
    uint64_t used; /* slots in use when opened; kept by recent_put */
};

/* An empty image in memory. */
enum err recent_new(const struct recent_ids *ids, const struct hashkey *node,
                    struct recent *ret, struct errinfo *reterr);
/* Maps the file of ids.generation in dir, and refuses it (ERR_CORRUPT, ERR_VERSION, ...) when it
 * is not an undamaged image for these ids; ERR_RANGE when it was left by another boot. */
enum err recent_open(const char *dir, const struct recent_ids *ids,
                     const struct hashkey *node, enum filemap_mode mode,
                     struct recent *ret, struct errinfo *reterr);
void recent_close(struct recent *r);
/* Replaces the file of its generation by this image. */
enum err recent_save(const struct recent *r, const char *dir, struct errinfo *reterr);
/* The ids in a file's header, whatever the boot; for finding a lost CURRENT. */
enum err recent_peek(const char *dir, uint64_t generation, struct recent_ids *ret,
                     struct errinfo *reterr);

/* ERR_NOT_FOUND, ERR_CORRUPT as exact_get. */
enum err recent_get(const struct recent *r, const struct digest *d,
                    struct index_record *ret);
/* Adds or replaces, visible at once. ERR_NOSPACE when RECENT_ENTRIES_MAX are in. */
enum err recent_put(struct recent *r, const struct digest *d,
                    const struct index_record *rec);
bool recent_is_full(const struct recent *r);

struct recent_numbers recent_numbers_get(const struct recent *r);
void recent_numbers_set(struct recent *r, const struct recent_numbers *n);

/* Folds every record of a tail's bytes (from its first record on) into the image and sets its
 * numbers. base (may be NULL) tells what was known before. *retgood is where the last whole
 * record ends; *retdamage counts places that were skipped before it. */
enum err recent_replay(struct recent *r, struct segment_scan scan,
                       const struct index *base, struct recent_numbers start,
                       size_t *retgood, unsigned *retdamage);

#endif
