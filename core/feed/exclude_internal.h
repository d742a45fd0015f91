/*
 * exclude_internal - the parts of a guard; private to this room.
 *
 * Threads: one at a time.
 */
#ifndef CORE_FEED_EXCLUDE_INTERNAL_H
#define CORE_FEED_EXCLUDE_INTERNAL_H

#include "core/base/checksum.h"
#include "core/feed/exclude.h"
#include "core/list/list.h"
#include "core/telemetry/ham_log.h"

/* A key that is in good mail again and again. */
struct ham_key {
    uint64_t key;
    uint32_t first; /* of its messages in pair */
    uint32_t n;
    uint32_t networks; /* different ones, counted up to FEED_POPULAR_NETWORKS */
    bool is_given;     /* in the ham that an administrator gave, be it once */
};
struct ham_pair {
    uint64_t key;
    uint32_t message;
};
/* Good mail of the ham log, by key. */
struct ham {
    const struct hashkey *hash; /* of its digests; NULL: no ham log */
    uint64_t messages;
    struct ham_pair *pair;
    size_t npairs;
    struct ham_key *key;
    size_t nkeys;
    uint8_t *mark; /* of each message */
    uint64_t marked;
    double share; /* `ham_share` of the feed */
};
enum err ham_read(struct ham *h, const char *state_dir, const struct keyring *keys,
                  struct errinfo *reterr);
void ham_free(struct ham *h);
/* NULL: the entry is in little good mail. */
const char *ham_refuses(const struct ham *h, const struct feature_entry *e,
                        const char **retwhy);
uint64_t ham_mark(struct ham *h, const struct feature_entry *e);

/* SHA-256 of expressions of whole hosts, in hexadecimal, sorted. */
struct exclude_hashes {
    char (*v)[SHA256_HEX + 1];
    size_t n;
    size_t room;
};
enum err exclude_hashes_make(struct exclude_hashes *h, const struct config *c,
                             struct errinfo *reterr);
bool exclude_hashes_have(const struct exclude_hashes *h, struct slice hex);
void exclude_hashes_free(struct exclude_hashes *h);

enum { GUARD_ALLOW_MAX = 16, GUARD_LOCAL_MAX = 64 };

struct feed_exclude {
    const struct config *config;
    struct arena *arena; /* of one entry */
    struct ham ham;
    struct exclude_hashes hashes;
    struct list_reader *allow[GUARD_ALLOW_MAX];
    size_t nallow;
    struct ipnet local[GUARD_LOCAL_MAX]; /* addresses of this machine */
    size_t nlocal;
};

/* A network or address in text form, or the host of a URL. NULL: it may be listed. */
const char *exclude_network(const struct feed_exclude *g, struct slice text,
                            const char **retwhy);
/* Whether text is an address or a network. */
bool exclude_network_parse(struct slice text, struct ipnet *ret);
void exclude_local_find(struct feed_exclude *g);

#endif
