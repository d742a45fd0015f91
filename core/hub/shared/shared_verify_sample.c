/* shared_verify_sample - the keys of a bucket that are compared. */
#include "core/hub/shared/shared_verify_internal.h"

/* Spreads keys evenly, otherwise in each run. */
static bool is_sampled(const struct shared_verify *v, uint64_t key)
{
    uint64_t h = (key ^ v->salt) * UINT64_C(0x9e3779b97f4a7c15);

    return ((h ^ h >> 29) & (v->share - 1)) == 0;
}

static void drop_half(struct shared_verify *v)
{
    size_t kept = 0;

    v->share *= 2;
    for (size_t i = 0; i < v->nkeys; i++) {
        if (is_sampled(v, v->keys[i].key)) {
            v->keys[kept++] = v->keys[i];
        }
    }
    v->nkeys = kept;
}

/* Where the key is, or would be. */
static size_t place_of_key(const struct shared_verify *v, uint64_t key)
{
    size_t low = 0;
    size_t high = v->nkeys;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (v->keys[middle].key < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

void verify_choose(void *context, uint64_t number, const struct run_record *pairs,
                   size_t n)
{
    struct shared_verify *v = context;

    v->after = number;
    for (size_t i = 0; i < n; i++) {
        const uint64_t key = pairs[i].key;
        size_t at = place_of_key(v, key);

        if (!is_sampled(v, key) || (at < v->nkeys && v->keys[at].key == key)) {
            continue;
        }
        while (v->nkeys == SHARED_VERIFY_KEYS) {
            drop_half(v);
            at = place_of_key(v, key);
        }
        if (is_sampled(v, key)) {
            memmove(v->keys + at + 1, v->keys + at,
                    (v->nkeys - at) * sizeof(v->keys[0]));
            v->keys[at] = (struct verify_key){.key = key};
            v->nkeys++;
        }
    }
}

void verify_add_own(void *context, uint64_t number, const struct run_record *pairs,
                    size_t n)
{
    struct shared_verify *v = context;

    v->after = number;
    for (size_t i = 0; i < n; i++) {
        const size_t at = place_of_key(v, pairs[i].key);

        if (at < v->nkeys && v->keys[at].key == pairs[i].key &&
            number <= v->positions[shared_cell_of(pairs[i].key)]) {
            v->keys[at].own = run_sum(v->keys[at].own, pairs[i].count);
        }
    }
}
