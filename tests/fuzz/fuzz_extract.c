/*
 * fuzz_extract - any bytes as a message: the same features however it was cut, each text within
 * its bounds and found again.
 */
#include "core/base/arena.h"
#include "core/message/extract/extract.h"
#include "core/message/feature/list_keys.h"

#include "tests/fuzz/fuzz.h"

enum { ARENA = 1 << 24 };

static char trusted_name[] = "mx.example";
static char *const trusted[] = {trusted_name};

static struct featureset *run(struct arena *arena, struct slice text, size_t step)
{
    static const struct extract_limits limits = {.mail = {.message_bytes = 1 << 20,
                                                          .decoded_bytes = 1 << 18,
                                                          .headers = 100,
                                                          .header_bytes = 1 << 14,
                                                          .header_field = 1 << 12,
                                                          .parts = 40,
                                                          .depth = 6},
                                                 .urls = 50,
                                                 .recipients = 10};
    struct extract *x = extract_new(arena, &limits, trusted, 1);
    FUZZ_CHECK(x != NULL);
    while (text.n > 0) {
        struct slice piece = slice_head(text, step);
        extract_raw(x, piece);
        text = slice_from(text, piece.n);
    }
    return extract_finish(x);
}

static void check_keys(struct arena *arena, const struct featureset *fs)
{
    struct feature_key keys[FEATURE_KEYS_MAX];
    for (size_t i = 0; i < featureset_count(fs); i++) {
        const struct feature *f = featureset_at(fs, i);
        FUZZ_CHECK(f->text.n > 0);
        FUZZ_CHECK(featureset_has(fs, (enum feature_type)f->type, f->text));
        FUZZ_CHECK(feature_keys(f, NULL, arena, keys) <= FEATURE_KEYS_MAX);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = slice_of((const char *)data, size);
    struct arena *one = arena_new(ARENA);
    struct arena *two = arena_new(ARENA);
    FUZZ_CHECK(one != NULL && two != NULL);
    struct featureset *whole = run(one, text, size > 0 ? size : 1);
    struct featureset *cut = run(two, text, size % 17 + 1);
    FUZZ_CHECK(featureset_limits(whole) == featureset_limits(cut));
    FUZZ_CHECK(featureset_count(whole) == featureset_count(cut));
    for (size_t i = 0; i < featureset_count(whole); i++) {
        const struct feature *a = featureset_at(whole, i);
        const struct feature *b = featureset_at(cut, i);
        FUZZ_CHECK(a->type == b->type && slice_eq(a->text, b->text));
    }
    check_keys(one, whole);
    arena_free(&one);
    arena_free(&two);
    return 0;
}
