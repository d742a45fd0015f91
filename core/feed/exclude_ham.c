/*
 * exclude_ham - keys of recent good mail, and the number of messages with each.
 */

#include "core/base/array.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/feed/exclude_internal.h"

enum { MESSAGES_MAX = 2 * HAM_LOG_SLOTS }; /* of gillnetd, and given */

struct seen_message {
    uint32_t time_s;
    bool is_given;
    uint64_t network;
};

/* While the ham log is read. */
struct reading {
    struct ham *h;
    struct seen_message *message; /* MESSAGES_MAX */
    bool is_given;                /* of the ham that an administrator gave */
    size_t room;                  /* in h->pair */
    bool failed;
};

static bool reserve_ham_keys(struct reading *r, size_t n)
{
    struct ham *h = r->h;
    r->failed =
        !array_room(&h->pair, &r->room, h->npairs + n, SIZE_MAX, sizeof(*h->pair));
    return !r->failed;
}

static void take_ham_key(void *context, const struct ham_log_message *m)
{
    struct reading *r = context;
    struct ham *h = r->h;
    if (!m->is_good || h->messages == MESSAGES_MAX || r->failed ||
        !reserve_ham_keys(r, m->n)) {
        return;
    }
    r->message[h->messages] = (struct seen_message){m->time_s, r->is_given, m->network};
    for (size_t i = 0; i < m->n; i++) {
        h->pair[h->npairs++] =
            (struct ham_pair){.key = m->key[i], .message = (uint32_t)h->messages};
    }
    h->messages++;
}

static int compare_pairs(const void *a, const void *b)
{
    const struct ham_pair *x = a;
    const struct ham_pair *y = b;
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return x->message < y->message ? -1 : x->message > y->message;
}

static uint32_t networks_of(const struct ham *h, const struct reading *r, size_t from,
                            size_t to)
{
    uint64_t seen[FEED_POPULAR_NETWORKS] = {0};
    uint32_t n = 0;
    for (size_t i = from; i < to && n < FEED_POPULAR_NETWORKS; i++) {
        uint64_t network = r->message[h->pair[i].message].network;
        uint32_t k = 0;
        while (k < n && seen[k] != network) {
            k++;
        }
        if (k == n && network != 0) {
            seen[n++] = network;
        }
    }
    return n;
}

/* A pair of a key's is of a message that was given. */
static bool is_given(const struct ham *h, const struct reading *r, size_t from,
                     size_t to)
{
    bool found = false;
    for (size_t i = from; i < to && !found; i++) {
        found = r->message[h->pair[i].message].is_given;
    }
    return found;
}

/* Its messages are so far apart that somebody would have noticed a campaign. */
static bool is_lasting(const struct ham *h, const struct reading *r, size_t from,
                       size_t to)
{
    uint32_t least = UINT32_MAX;
    uint32_t most = 0;
    for (size_t i = from; i < to; i++) {
        uint32_t t = r->message[h->pair[i].message].time_s;
        least = t < least ? t : least;
        most = t > most ? t : most;
    }
    return most - least >= FEED_HAM_SPAN_S;
}

/* Keys that were given, and those of FEED_HAM_LEAST messages and more, in order. */
static bool gather_keys(struct ham *h, const struct reading *r)
{
    h->key = calloc(h->npairs + 1, sizeof(*h->key));
    h->mark = calloc(h->messages + 1, 1);
    if (!h->key || !h->mark) {
        return false;
    }
    for (size_t from = 0, to = 0; from < h->npairs; from = to) {
        while (to < h->npairs && h->pair[to].key == h->pair[from].key) {
            to++;
        }
        bool given = is_given(h, r, from, to);
        if (given || (to - from >= FEED_HAM_LEAST && is_lasting(h, r, from, to))) {
            h->key[h->nkeys++] =
                (struct ham_key){.key = h->pair[from].key,
                                 .first = (uint32_t)from,
                                 .n = (uint32_t)(to - from),
                                 .is_given = given,
                                 .networks = networks_of(h, r, from, to)};
        }
    }
    return true;
}

/* One file, or none. Keys made with another digest key are ignored. */
static enum err read_ham_log(struct reading *r, const struct keyring *keys,
                             const char *state_dir, const char *name, uint32_t since_s,
                             struct errinfo *reterr)
{
    struct ham *h = r->h;
    char path[FILE_PATH_MAX];
    uint32_t key_id = 0;
    uint64_t messages = h->messages;
    size_t npairs = h->npairs;
    enum err e = path_make(path, reterr, "%s/%s", state_dir, name);
    if (e != ERR_OK) {
        return e;
    }
    e = ham_log_read(path, since_s, take_ham_key, r, &key_id, NULL);
    const struct hashkey *key = e == ERR_OK ? keyring_find(keys, key_id) : NULL;
    if (key == NULL || (h->hash != NULL && h->hash != key)) {
        h->messages = messages;
        h->npairs = npairs;
        return ERR_OK;
    }
    h->hash = key;
    return ERR_OK;
}

enum err ham_read(struct ham *h, const char *state_dir, const struct keyring *keys,
                  struct errinfo *reterr)
{
    uint64_t now_s = clock_wall_us() / 1000000;
    uint32_t since_s = now_s > HAM_LOG_AGE_S ? (uint32_t)(now_s - HAM_LOG_AGE_S) : 0;
    struct reading r = {.h = h};
    r.message = calloc(MESSAGES_MAX, sizeof(*r.message));
    r.failed = r.message == NULL;
    enum err e = r.failed ? ERR_OK
                          : read_ham_log(&r, keys, state_dir, STATE_HAM_LOG_FILE,
                                         since_s, reterr);
    r.is_given = true;
    e = r.failed || e != ERR_OK
            ? e
            : read_ham_log(&r, keys, state_dir, STATE_HAM_FILE, 0, reterr);
    if (h->npairs > 0) {
        qsort(h->pair, h->npairs, sizeof(*h->pair), compare_pairs);
    }
    if (e == ERR_OK && (r.failed || !gather_keys(h, &r))) {
        e = errinfo_nomem(reterr, state_dir);
    }
    free(r.message);
    if (e != ERR_OK) {
        ham_free(h);
    }
    return e;
}

void ham_free(struct ham *h)
{
    free(h->pair);
    free(h->key);
    free(h->mark);
    *h = (struct ham){.hash = NULL};
}

static const struct ham_key *find_ham_key(const struct ham *h,
                                          const struct feature_entry *e)
{
    struct digest d;
    if (!h->hash || h->nkeys == 0) {
        return NULL;
    }
    digest_make(h->hash, e->class_type, e->text, &d);
    uint64_t key = ham_log_key(&d);
    size_t from = 0;
    size_t to = h->nkeys;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (h->key[middle].key == key) {
            return &h->key[middle];
        }
        from = h->key[middle].key < key ? middle + 1 : from;
        to = h->key[middle].key < key ? to : middle;
    }
    return NULL;
}

const char *ham_refuses(const struct ham *h, const struct feature_entry *e,
                        const char **retwhy)
{
    const struct ham_key *k = find_ham_key(h, e);
    if (!k) {
        return NULL;
    }
    if (k->n >= FEED_POPULAR_MESSAGES && k->networks >= FEED_POPULAR_NETWORKS) {
        *retwhy = "much of our good mail of late, of many senders, has it";
        return "ham";
    }
    if (k->is_given) {
        *retwhy = "good mail that was given has it (`gillnet feed ham`)";
        return "ham";
    }
    if ((double)k->n > h->share * (double)h->messages) {
        *retwhy = "too much of our good mail of late has it (`ham_share`)";
        return "ham";
    }
    return NULL;
}

uint64_t ham_mark(struct ham *h, const struct feature_entry *e)
{
    const struct ham_key *k = find_ham_key(h, e);
    for (uint32_t i = 0; k && i < k->n; i++) {
        uint8_t *mark = &h->mark[h->pair[k->first + i].message];
        h->marked += *mark == 0;
        *mark = 1;
    }
    return h->marked;
}
