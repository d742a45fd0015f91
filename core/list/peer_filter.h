/*
 * peer_filter - filters of the entries that peers listed and of those that they revoked.
 *
 * A list's folder may hold spam.N and revoked.N (core/filter/bloomfile.h, keyed with the digest
 * key, so that filters of several sites merge); CURRENT names them. A digest in spam
 * alone is possible, a digest in both is revoked. The list's exact entries win over both: an exact
 * revocation hides a hit in spam, and an exact listing is confirmed in any case. A false positive
 * of the `revoked` filter can hide a "possible" hit, never a confirmed one. Its rate is the error
 * of that filter. Both orders of testing give the same answers. The cheaper order depends on the
 * measured hit rates.
 * Depends: base, filter, files.   Threads: any, once open.   Owns: its filters.
 */
#ifndef CORE_LIST_PEER_FILTER_H
#define CORE_LIST_PEER_FILTER_H

#include <stdatomic.h>

#include "core/filter/bloomfile.h"
#include "core/list/files.h"
#include "core/list/level.h"

enum {
    PEER_FILTER_SAMPLE_EVERY =
        64, /* of this many batches one is tested in both filters */
    PEER_FILTER_DECIDE_AFTER =
        16384, /* digests of such batches between two choices of the order */
    PEER_FILTER_CACHED_BYTES =
        1 << 20 /* a filter up to this size stays in the processor's cache */
};

enum peer_filter_answer { PEER_FILTER_NO, PEER_FILTER_POSSIBLE, PEER_FILTER_REVOKED };
enum peer_filter_order { PEER_FILTER_SPAM_FIRST, PEER_FILTER_REVOKED_FIRST };

/* Counts that decide the order. */
struct peer_filter_rates {
    uint64_t tested;
    uint64_t spam; /* of these, hits in each filter */
    uint64_t revoked;
    uint64_t spam_bytes;
    uint64_t revoked_bytes;
};
/* The order whose second test is saved more often, by the cost of the two. */
enum peer_filter_order peer_filter_order_best(const struct peer_filter_rates *r);

struct peer_filter {
    struct bloomfile spam;
    struct bloomfile revoked;
    bool has_revoked; /* else no filter of revocations */
    unsigned users;   /* atomic */
    uint64_t numbers[2];
    struct file_mark marks[2];
    enum bloomfile_hold hold;
    bool is_order_fixed;
    _Atomic unsigned order;
    _Atomic uint64_t batches;
    _Atomic uint64_t tested; /* of sampled batches, halved at each decision */
    _Atomic uint64_t spam_hits;
    _Atomic uint64_t revoked_hits;
};

struct peer_filter_files {
    const char *dir;
    const struct hashkey *key; /* the list's digest key */
    uint64_t spam;             /* numbers of the files; revoked 0: none */
    uint64_t revoked;
    enum bloomfile_hold hold;
};
/* Opens the filters. An error if one is too full. */
enum err peer_filter_open(const struct peer_filter_files *files,
                          struct peer_filter **ret, struct errinfo *reterr);
/* Adds a user of m (may be NULL) if it was opened from these files and they did not change; else
 * NULL. */
struct peer_filter *peer_filter_share(struct peer_filter *m,
                                      const struct peer_filter_files *files);
/* True if a mapped filter was cut short, or cannot be read: what peers took back may be wrong.
 * Accepts NULL. */
bool peer_filter_is_damaged(const struct peer_filter *m);
/* Accepts NULL; the last user closes. */
void peer_filter_release(struct peer_filter **m);

/* Sets rethit[i] to 1 where digest i is possible; the rest of rethit stays as it is. */
void peer_filter_test_batch(struct peer_filter *m, const struct digest *d, size_t n,
                            uint8_t *rethit);
/* As peer_filter_test_batch, including revoked digests. */
void peer_filter_known_batch(const struct peer_filter *m, const struct digest *d,
                             size_t n, uint8_t *rethit);
enum peer_filter_answer peer_filter_answer(const struct peer_filter *m,
                                           const struct digest *d);

/* ---- writing ---- */

struct list_writer;
struct list_reader;

/* New shapes of a list's filters of peers. */
struct peer_filter_shapes {
    bool has_spam; /* changed */
    bool has_revoked;
    struct bloomfile_shape spam;
    struct bloomfile_shape revoked;
};
/* Adds n filter files to the list's filters of peers, all or none: each to the one of its role,
 * which it makes where there is none. Readers see them as they see any new generation. */
enum err list_member_merge(struct list_writer *w, size_t n, char *const *paths,
                           struct peer_filter_shapes *ret, struct errinfo *reterr);
/* ERR_OK if the files would merge into a new list of this digest key. Call this before the list is
 * created. */
enum err list_member_check(const struct hashkey *key, size_t n, char *const *paths,
                           struct errinfo *reterr);
/* Expected properties of a filter that a peer made. */
struct peer_filter_belief {
    const struct hashkey *key;    /* of its digests and positions */
    bool is_revoked;              /* the role it must have */
    const struct digest *guarded; /* names that no peer may list */
    size_t nguarded;
};
/* ERR_OK if an honest peer can have made the filter at path. It is planned for an error of at most
 * PEER_FILTER_ERROR_MAX. Its fill matches its declared entries (6 standard deviations). Its bits
 * are as uneven as those of keys. Its hits of guarded names can be chance.
 * ERR_CORRUPT; ERR_KEY: another digest key. */
#define PEER_FILTER_ERROR_MAX 0.01
enum err peer_filter_believe(const char *path, const struct peer_filter_belief *b,
                             struct errinfo *reterr);
/* Replaces the list's filter of this role by the file, which peer_filter_believe accepted, by
 * renaming it. */
enum err list_member_replace(struct list_writer *w, bool is_revoked, const char *path,
                             struct errinfo *reterr);
/* The path of the filter in use; ERR_NOT_FOUND: no filter. */
enum err list_member_path(const struct list_writer *w, bool is_revoked,
                          char ret[FILE_PATH_MAX], struct errinfo *reterr);
/* Writes a filter file of the list's entries, or of its revocations, with layout one-line and an
 * error of PEER_FILTER_ERROR_MAX / 10. *retentries: their number. */
enum err list_member_make(const struct list_reader *r, bool is_revoked,
                          const char *path, uint64_t *retentries,
                          struct errinfo *reterr);
/* An empty filter under this key. */
enum err list_member_empty(const struct hashkey *key, bool is_revoked, const char *path,
                           struct errinfo *reterr);
/* When the filter at path was made, and how many entries it holds. */
enum err list_member_peek(const char *path, uint64_t *retcreated_s,
                          uint64_t *retentries, struct errinfo *reterr);
/* The highest numbers in dir, for a list whose CURRENT is lost; 0: none. */
void peer_filter_find(const char *dir, uint64_t *retspam, uint64_t *retrevoked);

#endif
