/*
 * memtable - exact table of the entries in the tail of the log, with a small filter before it.
 *
 * One image of fixed size: header, delta filter, exact table. As the file memtable.G the writer
 * changes it in place and readers map it; without a usable file a reader builds the same image for
 * itself from the tail. The header names the boot: after a power loss pages of the file may be
 * older than the log, so an image of another boot is not used.
 * Depends: base, filter, entry.   Threads: any readers, one writer.   Owns: its image.
 */
#ifndef CORE_LIST_MEMTABLE_H
#define CORE_LIST_MEMTABLE_H

#include "core/base/err.h"
#include "core/base/file.h"
#include "core/base/keyring.h"
#include "core/filter/bloom.h"
#include "core/filter/exacttable.h"
#include "core/list/files.h"
#include "core/list/merged_index.h"

enum {
    MEMTABLE_SLOTS_MIN = 8192, /* 404 KiB */
    MEMTABLE_SLOTS_MAX = 131072,
    MEMTABLE_SLOTS_PER_LINE = 32 /* 22 bits per key: error 0.005 % when full */
};

/* Slots for a list with `entries` entries. A large list has more, because its merges are
 * expensive. */
uint32_t memtable_slots_for(uint64_t entries);

/* Which tail an image belongs to. */
struct memtable_ids {
    uint64_t generation;
    uint32_t tail;
    uint32_t key_id;
};

/* Numbers that the writer updates with the table. */
struct memtable_numbers {
    uint32_t segment; /* the tail's last; the image holds every record of it ... */
    uint32_t
        tail_bytes; /* ... before this offset, and all of the tail's earlier ones */
    uint64_t updated_s;
    struct entry_totals totals; /* of the whole list */
};

struct memtable {
    struct filemap map;
    struct exact_table table;
    struct bloom delta;
    struct memtable_ids ids;
    uint32_t slots;
    uint64_t used; /* slots in use when opened; kept by memtable_put */
};

/* An empty image in memory. */
enum err memtable_new(const struct memtable_ids *ids, const struct hashkey *node,
                      uint32_t slots, struct memtable *ret, struct errinfo *reterr);
/* Maps the file of ids.generation in dir. ERR_CORRUPT, ERR_VERSION: no undamaged image for these
 * ids. ERR_RANGE: from another boot, or of a writer that was killed; the missing records are in the
 * log. */
enum err memtable_open(const char *dir, const struct memtable_ids *ids,
                       const struct hashkey *node, enum filemap_mode mode,
                       struct memtable *ret, struct errinfo *reterr);
void memtable_close(struct memtable *r);
/* Replaces the file of its generation by this image. */
enum err memtable_save(const struct memtable *r, const char *dir,
                       struct errinfo *reterr);
/* Stores a copy of the CURRENT of this image, which memtable_peek reads if CURRENT is lost. Adds
 * its classes to the image. */
void memtable_keep_current(struct memtable *r, const struct list_current *c);
enum err memtable_peek(const char *dir, uint64_t generation, struct list_current *ret,
                       struct errinfo *reterr);

/* ERR_NOT_FOUND, ERR_CORRUPT as exact_get. */
enum err memtable_get(const struct memtable *r, const struct digest *d,
                      struct index_record *ret);
/* State of d: in the image, else in the levels. ERR_NOT_FOUND, ERR_CORRUPT. */
enum err memtable_state(const struct memtable *r, const struct merged_index *levels,
                        const struct digest *d, struct index_record *ret);

/* The classes of entries in the image and in the levels. A class is noted before its first
 * entry. */
struct feature_classes recent_classes(const struct memtable *r);
void recent_classes_join(struct memtable *r, const struct feature_classes *more);
/* Adds or replaces, visible at once. ERR_NOSPACE when memtable_capacity entries are in. */
enum err memtable_put(struct memtable *r, const struct digest *d,
                      const struct index_record *rec);
/* 0.7 of the slots: probes stay short. */
uint64_t memtable_capacity(const struct memtable *r);

struct memtable_entry {
    struct digest digest;
    struct index_record record;
};
/* Copies every entry, in digest order, to memory that the caller frees. ERR_CORRUPT: the table, or
 * its file while it was in use. */
enum err memtable_sorted(const struct memtable *r, struct memtable_entry **ret,
                         size_t *retn, struct errinfo *reterr);

struct memtable_numbers memtable_numbers_get(const struct memtable *r);
void memtable_numbers_set(struct memtable *r, const struct memtable_numbers *n);

/* Folds every record of a segment's bytes (from its first record on) into the image and sets its
 * numbers. base has the entries known before. *retgood is where the last whole record ends;
 * *retdamage counts places that were skipped before it. */
enum err memtable_replay(struct memtable *r, struct segment_scan scan,
                         const struct merged_index *base, struct memtable_numbers start,
                         size_t *retgood, unsigned *retdamage);

#endif
