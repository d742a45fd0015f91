/*
 * mirror - a list that is kept for somebody else: each digest is set to what that one says of it.
 *
 * Such a list has no texts, and nothing leaves it by itself: an entry past its expiry answers "no"
 * as in any list, but stays until a step takes it out, so that the list holds exactly what
 * its owner says at any time.
 * Depends: base, list, store.   Threads: the writer's.
 */
#ifndef CORE_LIST_MIRROR_H
#define CORE_LIST_MIRROR_H

#include <stdbool.h>
#include <stdint.h>

#include "core/base/digest.h"
#include "core/list/entry.h"
#include "core/list/list.h"

enum {
    STEPS_BULK = 8192 /* from so many on they are merged as an import is */
};

/* What is said of one digest. */
struct list_state {
    struct digest digest;
    uint16_t class_type;
    uint8_t status;    /* enum entry_status; 0: nothing (any more) */
    uint32_t expiry_s; /* 0: never */
};

/* Gives the next one; digests rise strictly. False: that was all. */
typedef bool list_step_fn(void *context, struct list_state *ret);

/* Opens or makes such a list, with the key of this id for its digests. Takes no lock: the caller holds
 * one over the whole state folder. ERR_KEY: keys does not hold the key. */
enum err list_writer_open_exact(const char *state_dir, struct slice name,
                                const struct keyring *keys, uint32_t key_id,
                                struct list_writer **ret, struct errinfo *reterr);
/* The id of the key of the list's digests. */
uint32_t list_writer_key(const struct list_writer *w);
/* Bytes of its log, which only grows: a list that changed much is to be made anew. */
uint64_t list_writer_log_bytes(const struct list_writer *w);

/* Sets n digests, durable when it returns ERR_OK and seen by readers at once; on failure a part may
 * be. Steps that say what is known already cost no writing. ERR_RANGE: they do not rise. */
enum err list_steps(struct list_writer *w, list_step_fn *next, void *context,
                    uint64_t n, struct slice source, struct errinfo *reterr);

/* What the list holds of ret->digest. */
enum err list_state_get(const struct list_writer *w, struct list_state *ret,
                        struct errinfo *reterr);
/* As list_state_get, for many digests, best in rising order. w does not change meanwhile. */
struct list_look;
enum err list_look_new(const struct list_writer *w, struct list_look **ret,
                       struct errinfo *reterr);
enum err list_look_get(const struct list_look *l, struct list_state *io,
                       struct errinfo *reterr);
void list_look_free(struct list_look **l); /* accepts NULL */

/* What r holds of io->digest; what expired by now_s is nothing. */
enum err list_state_of(const struct list_reader *r, uint64_t now_s,
                       struct list_state *io, struct errinfo *reterr);
/* Nothing was ever entered, or all of it went with a merge. */
bool list_is_blank(const struct list_writer *w);
/* Entries in all, revoked ones too. */
uint64_t list_state_count(const struct list_writer *w);

/* Everything that a list holds, in order of digest; of a writer with nothing under way (opened, or
 * after list_steps), until its next change. */
struct list_walk;
enum err list_walk_new(struct list_writer *w, struct list_walk **ret,
                       struct errinfo *reterr);
/* As list_walk_new, of a reader; what expired by now_s is left out. */
enum err list_walk_reader(const struct list_reader *r, uint64_t now_s,
                          struct list_walk **ret, struct errinfo *reterr);
/* False at the end; *reterr then tells a clean end (ERR_OK) from damage. */
bool list_walk_next(struct list_walk *w, struct list_state *ret, enum err *reterr);
void list_walk_free(struct list_walk **w);

/* ---- within the room ---- */

/* Whether s says more than is known (NULL: nothing). */
bool step_is_new(const struct list_state *s, const struct index_record *known);
struct log_record step_record(const struct list_state *s, uint32_t time_s);

#endif
