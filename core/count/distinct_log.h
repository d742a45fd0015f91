/*
 * distinct_log - members of distinct counts that gillnetd met, for the hub of a shared store.
 *
 * How many different recipients, networks or senders a key has cannot be added up over servers: the
 * store needs the members. Each member that was new to this server today is a triple of keys: the
 * counted key, that of its number of the day, and that of the pair (key, member) (message.h).
 * STATE/counts/members.START-INC.wal, a pair_log of each ten minutes: two pairs for a triple, {key,
 * number} and {pair, 0}. It is not synced: a power loss loses members of some seconds, and a number
 * in the store is then too low. Files of earlier ten minutes than the last are removed.
 * The keys of numbers and pairs end with COUNT_MEMBER_MARK, so that the hub can tell them from keys
 * whose counts it may add up. Of other keys one in 65,536 ends so too; the store has no counts of
 * it.
 * Depends: base, pair_log.   Threads: any may add to a writer; else one.   ADR 0080.
 */
#ifndef CORE_COUNT_DISTINCT_LOG_H
#define CORE_COUNT_DISTINCT_LOG_H

#include "core/base/digest.h"
#include "core/base/err.h"
#include "core/store/run.h"

enum {
    COUNT_MEMBER_MARK = 0xd157, /* low 16 bits of a key */
    DISTINCT_LOG_MAX = 1 << 16, /* triples between two flushes; more are left out */
    DISTINCT_FILES_MAX = 64     /* that are read */
};

/* Puts the mark into a digest. */
void count_mark_member(struct digest *d);
/* True for keys of numbers and pairs. */
bool count_is_member_key(uint64_t key);

struct distinct_triple {
    uint64_t key;
    uint64_t number;
    uint64_t pair;
};

/* ---- gillnetd ---- */

struct distinct_writer;
/* Writes to dir, STATE/counts. id has origin, incarnation and digest key. NULL: no memory. */
struct distinct_writer *distinct_writer_new(const char *dir, const struct run_id *id);
void distinct_writer_free(struct distinct_writer **w); /* accepts NULL */
void distinct_writer_add(struct distinct_writer *w, const struct distinct_triple *t);
/* Writes what was added, to the file of the bucket. After a failure the next bucket's file is
 * tried. */
enum err distinct_writer_flush(struct distinct_writer *w, uint64_t bucket,
                               struct errinfo *reterr);

/* ---- the hub ---- */

struct distinct_reader;
/* The files need not exist. NULL: no memory. */
struct distinct_reader *distinct_reader_new(const char *state_dir, uint32_t key_id);
void distinct_reader_free(struct distinct_reader **r); /* accepts NULL */
typedef void distinct_fn(void *context, const struct distinct_triple *t);
/* Passes the triples that were added since the last look; the first look passes all. A damaged file
 * is read up to the damage. */
enum err distinct_reader_look(struct distinct_reader *r, distinct_fn *fn, void *context,
                              struct errinfo *reterr);

#endif
