/*
 * peer_filter - what is known of peers' entries: a filter of them and one of what they took back.
 *
 * A list's folder may hold spam.N and revoked.N (core/filter/bloomfile.h, keyed with the digest key,
 * so that filters of several sites merge); CURRENT names them. They only hint:
 *   not in spam: nothing.   in spam, not in revoked: possible.   in both: revoked.
 * The list's exact entries win over both: an exact revocation silences a hit in spam, an exact
 * listing confirms whatever revoked says. What a false answer of `revoked` hides is possible only:
 * its share is that filter's error.
 * Asked in either order the answers are the same; which is cheaper follows from how often each
 * filter hits, which is measured.
 * Depends: base, filter, files.   Threads: any, once open.   Owns: its filters.
 */
#ifndef CORE_LIST_PEER_FILTER_H
#define CORE_LIST_PEER_FILTER_H

#include <stdatomic.h>

#include "core/filter/bloomfile.h"
#include "core/list/files.h"
#include "core/list/level.h"

enum {
    PEER_FILTER_SAMPLE_EVERY = 64, /* batches, of which one is asked in both filters */
    PEER_FILTER_DECIDE_AFTER =
        16384, /* digests of such batches: then the order is chosen anew */
    PEER_FILTER_CACHED_BYTES =
        1 << 20 /* a filter up to this size stays in the processor's cache */
};

enum peer_filter_answer { PEER_FILTER_NO, PEER_FILTER_POSSIBLE, PEER_FILTER_REVOKED };
enum peer_filter_order { PEER_FILTER_SPAM_FIRST, PEER_FILTER_REVOKED_FIRST };

/* What the order follows from. */
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

struct peer_filter_files {
    const char *dir;
    const struct hashkey *key; /* the list's digest key */
    uint64_t spam;             /* numbers of the files; revoked 0: none */
    uint64_t revoked;
    enum bloomfile_hold hold;
};
/* Opens the filters and judges whether they are fuller than they may be. */
enum err peer_filter_open(const struct peer_filter_files *files,
                          struct peer_filter **ret, struct errinfo *reterr);
/* One more user of m (NULL: none) when it was opened from these very files, else NULL. */
struct peer_filter *peer_filter_share(struct peer_filter *m,
                                      const struct peer_filter_files *files);
/* Accepts NULL; the last user closes. */
void peer_filter_release(struct peer_filter **m);

/* Sets rethit[i] to 1 where digest i is possible; the rest of rethit stays as it is. */
void peer_filter_test_batch(struct peer_filter *m, const struct digest *d, size_t n,
                            uint8_t *rethit);
/* As member_test_batch, but also where it was taken back. */
void peer_filter_known_batch(const struct peer_filter *m, const struct digest *d,
                             size_t n, uint8_t *rethit);
enum peer_filter_answer peer_filter_answer(const struct peer_filter *m,
                                           const struct digest *d);

/* ---- writing ---- */

struct list_writer;
struct list_reader;

/* What a list's filters of peers have become. */
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
/* Whether these files would merge into a list of this digest key that has no filters yet: asked before the list is
 * made. */
enum err list_member_check(const struct hashkey *key, size_t n, char *const *paths,
                           struct errinfo *reterr);
/* What is known beforehand of a whole filter that a peer made. */
struct peer_filter_belief {
    const struct hashkey *key;    /* of its digests and positions */
    bool is_revoked;              /* the role it must have */
    const struct digest *guarded; /* names that no peer may list */
    size_t nguarded;
};
/* Whether the filter at path is what an honest peer can have made: planned for an error of at most
 * MEMBER_ERROR_MAX, as full as the entries that it declares make it (6 standard deviations), its bits
 * as uneven as keys lie,
 * taking no more of 65,536 digests that nobody can foresee for listed than these explain, nor more of
 * the guarded names than chance does. ERR_CORRUPT; ERR_KEY: of another digest key. */
#define PEER_FILTER_ERROR_MAX 0.01
enum err peer_filter_believe(const char *path, const struct peer_filter_belief *b,
                             struct errinfo *reterr);
/* Puts this very file, which member_believe let pass, into the place of the list's filter of its
 * role, by renaming it. */
enum err list_member_replace(struct list_writer *w, bool is_revoked, const char *path,
                             struct errinfo *reterr);
/* The path of the filter that serves; ERR_NOT_FOUND: there is none. */
enum err list_member_path(const struct list_writer *w, bool is_revoked,
                          char ret[FILE_PATH_MAX], struct errinfo *reterr);
/* Makes a filter file of what a list holds: its entries, or what was taken back, in one line of bits each
 * and with an error of MEMBER_ERROR_MAX / 10. *retentries: inside. */
enum err list_member_make(const struct list_reader *r, bool is_revoked,
                          const char *path, uint64_t *retentries,
                          struct errinfo *reterr);
/* A filter of nothing, under this key. */
enum err list_member_empty(const struct hashkey *key, bool is_revoked, const char *path,
                           struct errinfo *reterr);
/* When the filter at path was made, and how many entries it holds. */
enum err list_member_peek(const char *path, uint64_t *retcreated_s,
                          uint64_t *retentries, struct errinfo *reterr);
/* The highest numbers in dir, for a list whose CURRENT is lost; 0: none. */
void peer_filter_find(const char *dir, uint64_t *retspam, uint64_t *retrevoked);

#endif
