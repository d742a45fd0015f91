/* engine - a keyed digest, a value of a known content, and a sort in memory. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"

enum { BUCKETS = 65536 };

void engine_digest_keyed(struct engine_entry *e)
{
    static const unsigned char key[crypto_shorthash_siphashx24_KEYBYTES] = "engines";
    (void)crypto_shorthash_siphashx24(e->digest, (const unsigned char *)e->text,
                                      e->length, key);
}

/* Status, flags, type (2), first seen (4; here of the digest, within a fortnight), expiry (4). */
void engine_value(const uint8_t digest[ENGINE_DIGEST], uint8_t ret[ENGINE_VALUE])
{
    uint32_t seen = 1790000000 + (digest[0] | digest[1] << 8 | (digest[2] & 15) << 16);
    memset(ret, 0, ENGINE_VALUE);
    ret[0] = 1;
    ret[2] = 5;
    memcpy(ret + 4, &seen, sizeof(seen));
}

static size_t bucket_of(const uint8_t *digest)
{
    return (size_t)digest[0] << 8 | digest[1];
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, ENGINE_DIGEST);
}

void engine_sorted(uint64_t n, engine_sorted_fn *fn, void *context)
{
    uint8_t(*made)[ENGINE_DIGEST] = malloc(n * ENGINE_DIGEST);
    uint8_t(*sorted)[ENGINE_DIGEST] = malloc(n * ENGINE_DIGEST);
    uint64_t *start = calloc(BUCKETS + 1, sizeof(*start));
    if (!made || !sorted || !start) {
        engine_refuse("sort", "no memory");
    }
    for (uint64_t i = 0; i < n; i++) {
        struct engine_entry e;
        engine_text(i, &e);
        engine_digest_keyed(&e);
        memcpy(made[i], e.digest, ENGINE_DIGEST);
        start[bucket_of(e.digest) + 1]++;
    }
    for (size_t b = 0; b < BUCKETS; b++) {
        start[b + 1] += start[b];
    }
    for (uint64_t i = 0; i < n; i++) {
        memcpy(sorted[start[bucket_of(made[i])]++], made[i], ENGINE_DIGEST);
    }
    for (size_t b = 0; b < BUCKETS; b++) { /* start[b] is now where bucket b ends */
        uint64_t from = b == 0 ? 0 : start[b - 1];
        qsort(sorted[from], start[b] - from, ENGINE_DIGEST, compare);
    }
    for (uint64_t i = 0; i < n; i++) {
        fn(context, sorted[i]);
    }
    free(made);
    free(sorted);
    free(start);
}
