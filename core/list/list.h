/*
 * list - named lists on disk, and their look-up.
 *
 * A list is a folder STATE/lists/NAME. The log is the truth; all other files derive from it.
 *   CURRENT              names the generation in use; replaced by rename, checksummed
 *   log.NNNNNNNN         segments: append-only records with checksums. An import is one whole
 *                        segment; the last one (the active segment) takes single changes, each
 *                        synced
 *   index.G, index.G.sum exact index of a level: of segments before it (core/store/index.h)
 *   base.G               filter over the index of the same level (core/filter/bloomfile.h)
 *   memtable.G           exact table over the active segment with a small filter before it, changed
 *                        in place by the writer, mapped by readers
 * One writer: the holder of STATE/lists/NAME.lock. Readers never lock. An import does not override
 * a person: an explicit add or revoke stays until another explicit one.
 *
 * Files in reading order:
 *   segment, entry, active_segment   records of the log, and how they become entries
 *   files, memtable, level           the files that derive from the log
 *   writer, writer_change, commit    opening a list, single changes, new generations
 *   merge, compact, import, rebuild  new levels; retention and rekey are special cases
 *   mirror, feed_apply, peer_filter  lists and filters that other servers or feeds fill
 *   reader, reader_lookup, listset   look-ups in one list, and of a message in all lists
 *   line_wire, line_client, line_query   filters whose lines are elsewhere
 *   query, rating                    look-ups of people and programs
 *   list_manager, health, verify     the snapshot in use, its alarms, the check of all files
 *
 * To add a kind of file: add it to enum list_file and `prefixes` (files.c), say which generation
 * needs it (current_names in writer.c), and write it before CURRENT names it (commit.h).
 * Depends: base, config, feature, filter, store.   ADR 0008.
 */
#ifndef CORE_LIST_LIST_H
#define CORE_LIST_LIST_H

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/base/keyring.h"
#include "core/message/feature/list_keys.h"

enum { LIST_NAME_MAX = 32, LIST_TEXT_MAX = 8192, LIST_SOURCE_MAX = 128 };

/* Votes and summaries travel in a ring as lists of these names (vote_stream.h, summary.h). No value
 * is looked up in them, list_names leaves them out, and no other list may have the names. */
#define LIST_VOTES   "gillnet-votes"
#define LIST_SUMMARY "gillnet-summary"
bool list_name_is_taken(struct slice name);
enum entry_status { ENTRY_LISTED = 1, ENTRY_REVOKED = 2 };

/* Name is [a-z0-9][a-z0-9_-]{0,31}. */
bool list_name_is_valid(struct slice name);

/* ---- writing: one at a time ---- */

struct list_writer;

/* Takes the lock of the list (ERR_LOCKED: the text names the holder), opens or creates the list,
 * and repairs it after a crash (removes orphans, rebuilds the memtable from the log). */
enum err list_writer_open(const char *state_dir, struct slice name,
                          const struct keyring *keys, bool create,
                          struct list_writer **ret, struct errinfo *reterr);
void list_writer_close(struct list_writer **w);
/* Digests only: entries' texts are not kept in the log from now on. */
void list_writer_set_keep_text(struct list_writer *w, bool keep_text);

/* How the filters that this writer builds from now on are sized. */
struct filter_wish {
    unsigned layout; /* enum bloom_layout */
    double error;    /* share of false "perhaps" */
    bool
        has_front; /* the oldest level gets a small one before it (BLOOM_FRONT_ERROR) */
    bool
        is_shared; /* same entries, same filter on all servers: positions by the digest key */
};
/* Without it: one line, LIST_FILTER_ERROR. Filters that differ (another layout, a larger error,
 * damaged) are built again with the next change. */
void list_writer_set_filter(struct list_writer *w, const struct filter_wish *wish);

/* A list that ages keeps its entries by period: entries added or imported within one period are
 * dropped together after inactive_after_s without a hit. */
struct list_ageing {
    uint64_t period_s; /* 0: the list does not age */
    uint64_t inactive_after_s;
};
void list_writer_set_ageing(struct list_writer *w, const struct list_ageing *ageing);
/* Changes with one sync: staged until list_flush, durable and seen once it returned ERR_OK.
 * When there are many, some are flushed earlier. After a failure all staged changes are dropped. */
struct list_change {
    struct feature_entry entry;
    bool is_revoke;
    uint32_t expiry_s; /* of an addition; 0: never */
};
enum err list_stage(struct list_writer *w, const struct list_change *c,
                    struct slice source, struct errinfo *reterr);
enum err list_flush(struct list_writer *w, struct errinfo *reterr);

/* Why the last compaction failed (a full disk, for example), or NULL. A thread of the writer merges
 * the recent entries and small levels while changes continue. After a failure changes continue
 * until there is no room for them. */
const struct errinfo *list_writer_trouble(const struct list_writer *w);

/* A bulk import: all or nothing. */
struct list_import;
enum err list_import_begin(struct list_writer *w, struct slice source,
                           struct list_import **ret, struct errinfo *reterr);
enum err list_import_add(struct list_import *im, const struct feature_entry *e,
                         uint32_t expiry_s, struct errinfo *reterr);
struct list_import_result {
    uint64_t given;      /* entries handed in */
    uint64_t duplicates; /* of these, the same as an earlier one of this import */
    uint64_t added;      /* new in the list */
    uint64_t known;      /* were listed already */
    uint64_t revoked;    /* stay revoked because a person revoked them */
    uint64_t entries;    /* listed in all afterwards */
};
/* progress (may be NULL) is called now and then with a share of 0..1. Frees im either way. */
typedef void list_progress_fn(void *context, const char *stage, double share);
enum err list_import_commit(struct list_import **im, list_progress_fn *progress,
                            void *context, struct list_import_result *ret,
                            struct errinfo *reterr);
void list_import_abort(struct list_import **im);

/* Builds index, filter and memtable again from the log, without expired entries. ERR_CORRUPT where
 * the log is damaged: with a whole index nothing was changed, else the rest is in use. */
enum err list_rebuild(struct list_writer *w, list_progress_fn *progress, void *context,
                      struct errinfo *reterr);

/* ---- reading: snapshots ---- */

/* Where an entry comes from. */
struct list_provenance {
    struct digest digest; /* of list_reader_each alone */
    enum entry_status status;
    uint16_t class_type;
    bool is_explicit; /* added or revoked by a person, not imported */
    bool is_member; /* known from filters of peers alone; the other fields are empty */
    uint32_t first_seen_s;
    uint32_t expiry_s;
    char source[LIST_SOURCE_MAX];
    struct slice text; /* in the arena given; empty when the list keeps no text */
};

struct list_reader; /* one generation of one list, open for reading */
/* Opens the generation that CURRENT names. Partial damage is a fault (list_reader_fault):
 * without the filter the exact index answers alone, without the index the former generation,
 * without CURRENT the newest complete generation (ADR 0008). */
enum err list_reader_open(const char *state_dir, struct slice name,
                          const struct keyring *keys, struct list_reader **ret,
                          struct errinfo *reterr);
/* As list_reader_open, sharing with `other` (NULL: none; a reader of the same list, not closed
 * meanwhile) the levels that both generations have: only new ones are read and verified. */
enum err list_reader_open_beside(const char *state_dir, struct slice name,
                                 const struct keyring *keys,
                                 const struct list_reader *other,
                                 struct list_reader **ret, struct errinfo *reterr);
void list_reader_close(struct list_reader **r);
const char *list_reader_name(const struct list_reader *r);
/* NULL when all is well. */
const char *list_reader_fault(const struct list_reader *r);

enum list_answer {
    LIST_NO,             /* ruled out by the filters: final */
    LIST_FALSE_POSITIVE, /* a filter hit that the exact index does not confirm */
    LIST_CONFIRMED,
    LIST_REVOKED,
    LIST_POSSIBLE, /* a hit that cannot be confirmed: the index is damaged, or the filter
                       is of peers (core/list/peer_filter.h) */
    LIST_UNVERIFIED /* one that counts because emergency.unverified asks for it; the
                       verdict makes it of LIST_POSSIBLE */
};
const char *list_answer_name(enum list_answer a); /* "confirmed", "revoked", ... */

/* Which of n digests the filters do not rule out; rethit[i] 0 or 1. Constant memory only. */
void list_reader_test(const struct list_reader *r, const struct digest *d, size_t n,
                      uint8_t *rethit);
/* As list_reader_test, including digests that peers revoked (LIST_REVOKED). */
void list_reader_test_known(const struct list_reader *r, const struct digest *d,
                            size_t n, uint8_t *rethit);
/* Asks the exact index. Expired entries count as not there. */
enum list_answer list_reader_confirm(const struct list_reader *r,
                                     const struct digest *d, uint64_t now_s);
/* As list_reader_confirm, with everything known. */
enum list_answer list_reader_explain(const struct list_reader *r,
                                     const struct digest *d, uint64_t now_s,
                                     struct arena *arena, struct list_provenance *ret);
/* The key with which this list's digests are made. */
const struct hashkey *list_reader_key(const struct list_reader *r);

/* Entries that stand, and revoked ones. Cheap. */
void list_reader_totals(const struct list_reader *r, uint64_t *retlisted,
                        uint64_t *retrevoked);
/* Time of the last change. Cheap. */
uint64_t list_reader_changed_s(const struct list_reader *r);

/* Size and error of the filters of all levels together. */
struct list_filters {
    uint64_t bits;
    double fill;          /* sampled: within 1 % of the exact count */
    double error_formula; /* by the layouts' formulas, for the entries inside */
    double error_bits;    /* by the bits as they are, sampled */
};
void list_reader_filters(const struct list_reader *r, struct list_filters *ret);

/* The filters of peers that were merged into the list (core/list/peer_filter.h). */
struct list_peer_filter {
    uint64_t
        entries; /* merged, those that several peers have counted as often; 0: no filter */
    struct list_filters filter;
};
void list_reader_peers(const struct list_reader *r, struct list_peer_filter *retspam,
                       struct list_peer_filter *retrevoked);

struct list_stat {
    uint64_t entries; /* listed */
    uint64_t revoked;
    uint64_t recent; /* of these, not yet in a level */
    uint64_t generation;
    unsigned levels;
    uint64_t updated_s; /* time of the last change */
    uint64_t filter_bytes;
    uint64_t index_bytes;
    uint64_t log_bytes;
    double fill;      /* of all filters together */
    double error_now; /* estimated, of all filters together */
    double error_target;
};
void list_reader_stat(const struct list_reader *r, struct list_stat *ret);

/* Calls on_entry for every entry in digest order; false stops. */
typedef bool list_entry_fn(void *context, const struct list_provenance *e);
enum err list_reader_each(const struct list_reader *r, list_entry_fn *on_entry,
                          void *context, struct errinfo *reterr);

/* As list_reader_each, but digests and status alone: no text is read. */
typedef bool list_digest_fn(void *context, const struct digest *d,
                            enum entry_status status);
enum err list_reader_each_digest(const struct list_reader *r, list_digest_fn *on_digest,
                                 void *context, struct errinfo *reterr);

/* Checks every file of the list against its checksums and the index against the log; each
 * finding is one call with what is wrong and what to do. Returns ERR_OK when there was none. */
typedef void list_finding_fn(void *context, const struct errinfo *finding);
enum err list_verify(const char *state_dir, struct slice name,
                     const struct keyring *keys, list_finding_fn *on_finding,
                     void *context);

/* Names of the lists in STATE/lists, sorted; strings in arena. */
enum err list_names(const char *state_dir, struct arena *arena, struct slice **ret,
                    size_t *retcount, struct errinfo *reterr);

#endif
