/*
 * mirror - a local copy of another server's list; each digest is set to the state that the owner
 * published.
 *
 * A mirror has no texts. An expired entry answers "no" as in any list, but stays until a step
 * removes it, so that the mirror always equals the list of its owner.
 * Depends: base, list, store.   Threads: the writer's.
 */
#ifndef CORE_LIST_MIRROR_H
#define CORE_LIST_MIRROR_H

#include "core/base/digest.h"
#include "core/list/entry.h"
#include "core/list/list.h"

enum {
    MIRROR_BULK_MIN = 8192 /* this many steps or more are merged as an import */
};

/* State of one digest. */
struct mirror_entry {
    struct digest digest;
    uint16_t class_type;
    uint8_t status;    /* enum entry_status; 0: absent */
    uint32_t expiry_s; /* 0: never */
};

/* Gives the next one; digests rise strictly. False: that was all. */
typedef bool mirror_next_fn(void *context, struct mirror_entry *ret);

/* Opens or makes such a list, with the key of this id for its digests. Takes no lock: the caller
 * holds one over the whole state folder. ERR_KEY: keys does not hold the key. */
enum err mirror_open(const char *state_dir, struct slice name,
                     const struct keyring *keys, uint32_t key_id,
                     struct list_writer **ret, struct errinfo *reterr);
/* The id of the key of the list's digests. */
uint32_t list_writer_key(const struct list_writer *w);
/* Bytes of the log, which only grows: recreate a list after many changes. */
uint64_t list_writer_log_bytes(const struct list_writer *w);

/* Sets n digests, durable when it returns ERR_OK and seen by readers at once; on failure a part may
 * be. Steps without a change write nothing. ERR_RANGE: digests do not rise. */
enum err mirror_apply(struct list_writer *w, mirror_next_fn *next, void *context,
                      uint64_t n, struct slice source, struct errinfo *reterr);

/* Reads the state of ret->digest. */
enum err mirror_get(const struct list_writer *w, struct mirror_entry *ret,
                    struct errinfo *reterr);
/* As mirror_get, for many digests, best in rising order. w does not change meanwhile. */
struct mirror_lookup;
enum err mirror_lookup_new(const struct list_writer *w, struct mirror_lookup **ret,
                           struct errinfo *reterr);
enum err mirror_lookup_get(const struct mirror_lookup *l, struct mirror_entry *io,
                           struct errinfo *reterr);
void mirror_lookup_free(struct mirror_lookup **l); /* accepts NULL */

/* Reads the state of io->digest from r; an entry that expired by now_s is absent. */
enum err mirror_get_of_reader(const struct list_reader *r, uint64_t now_s,
                              struct mirror_entry *io, struct errinfo *reterr);
/* True if the list has no record, not even of a removal. */
bool mirror_is_empty(const struct list_writer *w);
/* Entries in all, revoked ones too. */
uint64_t mirror_count(const struct list_writer *w);

/* All entries in order of digest, until the next change of the writer. Staged changes are written
 * first. */
struct mirror_iter;
enum err mirror_iter_new(struct list_writer *w, struct mirror_iter **ret,
                         struct errinfo *reterr);
/* As mirror_iter_new, for a reader, without entries that expired by now_s. */
enum err mirror_iter_of_reader(const struct list_reader *r, uint64_t now_s,
                               struct mirror_iter **ret, struct errinfo *reterr);
/* False at the end; *reterr then tells a clean end (ERR_OK) from damage. */
bool mirror_iter_next(struct mirror_iter *w, struct mirror_entry *ret,
                      enum err *reterr);
void mirror_iter_free(struct mirror_iter **w);

/* ---- within the room ---- */

/* True if s differs from the known state (NULL: absent). */
bool step_is_new(const struct mirror_entry *s, const struct index_record *known);
struct log_record step_record(const struct mirror_entry *s, uint32_t time_s);

#endif
