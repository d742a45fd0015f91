/*
 * subscribe_internal - the inside of subscribe: one thread, its subscriptions, and a round of one.
 */
#ifndef CORE_HUB_FETCH_SUBSCRIBE_INTERNAL_H
#define CORE_HUB_FETCH_SUBSCRIBE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "core/base/file.h"
#include "core/hub/fetch/fetch.h"
#include "core/hub/fetch/subscribe.h"
#include "core/ring/publish/subscription.h"

enum { SUBSCRIBE_MAX = 32, SUBSCRIBE_URLS_MAX = 16 };

struct follower {
    const struct config_subscription *config;
    struct subscription_map map[REPOSITORY_LISTS_MAX];
    size_t nmaps;
    uint8_t key[OBJECT_KEY_BYTES];
    struct object_id origin;
    struct subscription *subscription;             /* NULL: not yet open */
    char etag[SUBSCRIBE_URLS_MAX][FETCH_ETAG_MAX]; /* of the known heads */
    uint64_t due_us;
    unsigned failures; /* in a row */
    /* seen by the other thread, under the mutex */
    bool was_asked;
    uint64_t asked_ms;
    uint64_t bytes;
    uint64_t objects;
    struct subscription_stat stat;
    char trouble[ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX + 16]; /* "": none */
};

struct subscribe {
    struct config *config;
    bool is_once;
    char dir[FILE_PATH_MAX];       /* STATE/peers/subscriptions */
    char lists_dir[FILE_PATH_MAX]; /* STATE/peers/lists */
    struct filelock lock;
    struct keyring keys;
    struct peerlists *lists;
    struct fetch fetch;
    struct follower v[SUBSCRIBE_MAX];
    size_t n;
    pthread_t thread;
    bool is_running;
    /* Partner: subscribe_free. Set once; sequentially consistent, for it is read twice a second. */
    atomic_bool stop;
    pthread_mutex_t mutex; /* guards: the marked members of v */
};

/* Heads of every place, then all that is wanted. */
enum err subscribe_round(struct subscribe *s, struct follower *f,
                         struct errinfo *reterr);

#endif
