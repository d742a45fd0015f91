/*
 * bloom - the layouts behind one interface: chosen once for each batch.
 */
#include "core/filter/bloom.h"

#include "core/filter/bloom_vector.h"

enum {
    KEY_LABEL_TYPE = 0xffff /* no feature type: the label cannot be a list entry */
};

enum err bloom_check(unsigned layout, uint64_t nlines, uint64_t k)
{
    if (!bloom_layout_name(layout)) {
        return ERR_UNSUPPORTED;
    }
    bool is_pair = layout == BLOOM_TWO_LINES;
    if (k < 1 || k > (is_pair ? BLOOM_TWO_LINES_K_MAX : BLOOM_K_MAX) ||
        (is_pair && k % 2 != 0)) {
        return ERR_RANGE;
    }
    return nlines < 1 || nlines > BLOOM_LINES_MAX ? ERR_RANGE : ERR_OK;
}

const char *bloom_layout_name(unsigned layout)
{
    static const char *const names[] = {
        [BLOOM_ONE_LINE] = "one-line",
        [BLOOM_TWO_LINES] = "two-lines",
        [BLOOM_CLASSIC] = "classic",
        [BLOOM_PARTITIONED] = "partitioned",
    };
    return layout < LENGTH(names) ? names[layout] : NULL;
}

void bloom_key(struct bloom *b, const struct hashkey *key)
{
    struct digest d;
    digest_make(key, KEY_LABEL_TYPE, SLICE_LIT("bloom positions 1"), &d);
    memcpy(b->mix, d.b, sizeof(b->mix));
}

void bloom_add_range(struct bloom *b, const struct digest *d, size_t n, uint64_t first,
                     uint64_t end)
{
    switch (b->layout) {
    case BLOOM_ONE_LINE:
        bloom_lines()->add_one(b, d, n, first, end);
        return;
    case BLOOM_TWO_LINES:
        bloom_lines()->add_two(b, d, n, first, end);
        return;
    case BLOOM_CLASSIC:
    case BLOOM_PARTITIONED:
        bloom_spread_add_range(b, d, n, first, end);
        return;
    }
}

void bloom_add_batch(struct bloom *b, const struct digest *d, size_t n)
{
    bloom_add_range(b, d, n, 0, b->nlines);
}

void bloom_add(struct bloom *b, const struct digest *d)
{
    switch (b->layout) {
    case BLOOM_ONE_LINE:
        bloom_line_add(b, d);
        return;
    case BLOOM_TWO_LINES:
        bloom_pair_add(b, d);
        return;
    case BLOOM_CLASSIC:
    case BLOOM_PARTITIONED:
        bloom_spread_add(b, d);
        return;
    }
}

bool bloom_test(const struct bloom *b, const struct digest *d)
{
    switch (b->layout) {
    case BLOOM_ONE_LINE:
        return bloom_line_test(b, d);
    case BLOOM_TWO_LINES:
        return bloom_pair_test(b, d);
    case BLOOM_CLASSIC:
    case BLOOM_PARTITIONED:
        return bloom_spread_test(b, d);
    }
    return true; /* bloom_check refuses it; "perhaps" denies no entry */
}

void bloom_test_batch(const struct bloom *b, const struct digest *d, size_t n,
                      uint8_t *rethit)
{
    switch (b->layout) {
    case BLOOM_ONE_LINE:
        bloom_lines()->one(b, d, n, rethit);
        return;
    case BLOOM_TWO_LINES:
        bloom_lines()->two(b, d, n, rethit);
        return;
    case BLOOM_CLASSIC:
    case BLOOM_PARTITIONED:
        bloom_spread_test_batch(b, d, n, rethit);
        return;
    }
    memset(rethit, 1, n); /* as in bloom_test */
}

enum err bloom_or(struct bloom *dst, const struct bloom *src)
{
    if (dst->layout != src->layout) {
        return ERR_UNSUPPORTED;
    }
    if (dst->k != src->k || dst->nlines != src->nlines) {
        return ERR_RANGE;
    }
    if (dst->mix[0] != src->mix[0] || dst->mix[1] != src->mix[1]) {
        return ERR_KEY;
    }
    for (uint64_t i = 0; i < dst->nlines * LINE_WORDS; i++) {
        uint64_t old = __atomic_load_n(&dst->words[i], __ATOMIC_RELAXED);
        __atomic_store_n(&dst->words[i], old | bloom_load(&src->words[i]),
                         __ATOMIC_RELEASE);
    }
    return ERR_OK;
}

double bloom_fill(const struct bloom *b, uint64_t max_lines)
{
    uint64_t lines = b->nlines < max_lines ? b->nlines : max_lines;
    if (lines == 0) {
        return 0;
    }
    uint64_t set = 0;
    for (uint64_t i = 0; i < lines; i++) {
        /* evenly spread without overflow: nlines / lines >= 1 */
        uint64_t line = (uint64_t)((double)b->nlines / (double)lines * (double)i);
        for (uint64_t w = 0; w < LINE_WORDS; w++) {
            set += (uint64_t)__builtin_popcountll(
                bloom_load(&b->words[line * LINE_WORDS + w]));
        }
    }
    return (double)set / ((double)lines * BLOOM_LINE_BITS);
}
