/*
 * member - what is known of peers' entries: a filter of them and one of what they took back.
 *
 * A list's folder may hold spam.N and revoked.N (core/filter/bloomfile.h, keyed with the ring key,
 * so that filters of several sites merge); CURRENT names them. They only hint:
 *   not in spam: nothing.   in spam, not in revoked: possible.   in both: revoked.
 * The list's exact entries win over both: an exact revocation silences a hit in spam, an exact
 * listing confirms whatever revoked says. What a false answer of `revoked` hides is possible only:
 * its share is that filter's error.
 * Asked in either order the answers are the same; which is cheaper follows from how often each
 * filter hits, which is measured.
 * Depends: base, filter, files.   Threads: any, once open.   Owns: its filters.
 */
#ifndef CORE_LIST_MEMBER_H
#define CORE_LIST_MEMBER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "core/filter/bloomfile.h"
#include "core/list/files.h"
#include "core/list/level.h"

enum {
    MEMBER_SAMPLE_EVERY = 64, /* batches, of which one is asked in both filters */
    MEMBER_DECIDE_AFTER =
        16384, /* digests of such batches: then the order is chosen anew */
    MEMBER_CACHED_BYTES =
        1 << 20 /* a filter up to this size stays in the processor's cache */
};

enum member_answer { MEMBER_NO, MEMBER_POSSIBLE, MEMBER_REVOKED };
enum member_order { MEMBER_SPAM_FIRST, MEMBER_REVOKED_FIRST };

/* What the order follows from. */
struct member_rates {
    uint64_t tested;
    uint64_t spam; /* of these, hits in each filter */
    uint64_t revoked;
    uint64_t spam_bytes;
    uint64_t revoked_bytes;
};
/* The order whose second test is saved more often, by the cost of the two. */
enum member_order member_order_best(const struct member_rates *r);

struct member {
    struct bloomfile spam;
    struct bloomfile revoked;
    bool has_revoked; /* else nothing was taken back */
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

struct member_files {
    const char *dir;
    const struct hashkey *key; /* the list's ring key */
    uint64_t spam;             /* numbers of the files; revoked 0: none */
    uint64_t revoked;
    enum bloomfile_hold hold;
};
/* Opens the filters and judges whether they are fuller than they may be. */
enum err member_open(const struct member_files *files, struct member **ret,
                     struct errinfo *reterr);
/* One more user of m (NULL: none) when it was opened from these very files, else NULL. */
struct member *member_share(struct member *m, const struct member_files *files);
/* Accepts NULL; the last user closes. */
void member_release(struct member **m);

/* Sets rethit[i] to 1 where digest i is possible; the rest of rethit stays as it is. */
void member_test_batch(struct member *m, const struct digest *d, size_t n,
                       uint8_t *rethit);
/* As member_test_batch, but also where it was taken back. */
void member_known_batch(const struct member *m, const struct digest *d, size_t n,
                        uint8_t *rethit);
enum member_answer member_answer(const struct member *m, const struct digest *d);

/* ---- writing ---- */

struct list_writer;

/* What a list's filters of peers have become. */
struct member_shapes {
    bool has_spam; /* changed */
    bool has_revoked;
    struct bloomfile_shape spam;
    struct bloomfile_shape revoked;
};
/* Adds n filter files to the list's filters of peers, all or none: each to the one of its role,
 * which it makes where there is none. Readers see them as they see any new generation. */
enum err list_member_merge(struct list_writer *w, size_t n, char *const *paths,
                           struct member_shapes *ret, struct errinfo *reterr);
/* The highest numbers in dir, for a list whose CURRENT is lost; 0: none. */
void member_find(const char *dir, uint64_t *retspam, uint64_t *retrevoked);

#endif
