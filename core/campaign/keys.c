/* keys - the keys in the mapped file, each of one campaign. */
#include "core/campaign/campaign_page.h"

static size_t bucket_at(uint64_t digest)
{
    return (size_t)((digest >> 32) * CAMPAIGN_BUCKETS >> 32);
}

void key_prefetch(const struct campaign_page *p, uint64_t digest)
{
    enum { LINE = 64 };
    const char *at = (const char *)p->key[bucket_at(digest)];

    for (size_t i = 0; i < sizeof(p->key[0]); i += LINE) {
        __builtin_prefetch(at + i);
    }
}

static struct campaign_slot *slot_of(struct campaign_page *p,
                                     const struct campaign_key *k)
{
    struct campaign_slot *s = &p->slot[k->slot % CAMPAIGN_SLOTS];

    return k->type != 0 && s->id != 0 && s->generation == k->generation ? s : NULL;
}

static uint8_t day_of(uint64_t now_s)
{
    return (uint8_t)(now_s / CAMPAIGN_DAY_S);
}

/* The campaign of a key that still counts, or NULL. */
static struct campaign_slot *alive(struct campaign_page *p,
                                   const struct campaign_key *k, uint64_t now_s)
{
    struct campaign_slot *s = slot_of(p, k);
    uint8_t age = (uint8_t)(day_of(now_s) - k->day);

    /* a clock that was put back a day ends no key */
    bool is_young = age <= CAMPAIGN_DAYS || age == UINT8_MAX;
    return s != NULL && is_young && slot_is_alive(s, now_s) ? s : NULL;
}

bool key_is(struct campaign_page *p, const struct campaign_key *k, uint64_t digest,
            uint64_t now_s)
{
    return k->digest == digest && alive(p, k, now_s) != NULL;
}

struct campaign_key *key_find(struct campaign_page *p, uint64_t digest, uint64_t now_s)
{
    struct campaign_key *k = p->key[bucket_at(digest)];

    for (unsigned i = 0; i < CAMPAIGN_BUCKET_KEYS; i++, k++) {
        if (key_is(p, k, digest, now_s)) {
            return k;
        }
    }
    return NULL;
}

/* Empties the place of a key. */
static void drop_key(struct campaign_page *p, struct campaign_key *k)
{
    struct campaign_slot *s = slot_of(p, k);

    if (s != NULL && s->nkeys > 0) {
        s->nkeys--;
    }
    memset(k, 0, sizeof(*k));
}

/* A place in the bucket that is free, or of a campaign of one message; NULL: none. The search
 * begins at another place each time, so that each place is taken in turn. */
static struct campaign_key *place_in(struct campaign_page *p, struct campaign_key *k,
                                     uint64_t now_s)
{
    for (unsigned i = 0; i < CAMPAIGN_BUCKET_KEYS; i++) {
        if (k[i].type == 0) {
            return &k[i];
        }
    }
    for (unsigned i = 0; i < CAMPAIGN_BUCKET_KEYS; i++) {
        struct campaign_key *at = &k[(p->serial + i) % CAMPAIGN_BUCKET_KEYS];
        const struct campaign_slot *s = alive(p, at, now_s);
        if (s == NULL || s->messages < 2) {
            return at;
        }
    }
    return NULL;
}

void key_add(struct campaign_page *p, struct campaign_slot *s, uint64_t digest,
             uint8_t type, uint64_t now_s)
{
    struct campaign_key *k = place_in(p, p->key[bucket_at(digest)], now_s);

    if (k == NULL) {
        return;
    }
    drop_key(p, k);
    *k = (struct campaign_key){.digest = digest,
                               .slot = (uint16_t)(s - p->slot),
                               .generation = s->generation,
                               .type = type,
                               .day = day_of(now_s),
                               .hits = 1};
    s->nkeys++;
}

void key_touch(struct campaign_key *k, uint64_t now_s)
{
    k->day = day_of(now_s);
    if (k->hits < UINT8_MAX) {
        k->hits++;
    }
}

void keys_sweep(struct campaign_page *p, unsigned n, uint64_t now_s)
{
    for (unsigned i = 0; i < n; i++) {
        struct campaign_key *k = p->key[p->swept_bucket++ % CAMPAIGN_BUCKETS];
        for (unsigned j = 0; j < CAMPAIGN_BUCKET_KEYS; j++, k++) {
            if (k->type != 0 && alive(p, k, now_s) == NULL) {
                drop_key(p, k);
            }
        }
    }
}
