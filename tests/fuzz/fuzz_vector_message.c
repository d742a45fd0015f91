/* fuzz_vector_message - any bytes as a message whose terms are read: the same vector however it was cut,
 * each term once, and small enough to be kept. */
#include <string.h>

#include "core/learn/vector.h"

#include "tests/fuzz/fuzz.h"

enum { ARENA = 1 << 24 };

static char trusted_name[] = "mx.example";
static char *const trusted[] = {trusted_name};

static void read_terms(struct arena *arena, struct slice text, size_t step,
                       bool keeps_names, struct vector *ret)
{
    struct extract_limits limits = {.mail = {.message_bytes = 1 << 20,
                                             .decoded_bytes = 1 << 18,
                                             .headers = 100,
                                             .header_bytes = 1 << 14,
                                             .header_field = 1 << 12,
                                             .parts = 40,
                                             .depth = 6},
                                    .urls = 50,
                                    .recipients = 10};
    struct vector_reader *r = vector_reader_new(arena, &limits);
    FUZZ_CHECK(r != NULL);
    if (keeps_names) {
        vector_reader_keep_names(r);
    }
    struct extract *x = extract_new(arena, &limits, trusted, 1);
    FUZZ_CHECK(x != NULL);
    while (text.n > 0) {
        struct slice piece = slice_head(text, step);
        extract_raw(x, piece);
        text = slice_from(text, piece.n);
    }
    const struct featureset *features = extract_finish(x);
    FUZZ_CHECK(vector_reader_finish(r, x, features, ret));
    for (size_t i = 0; keeps_names && i < ret->n; i++) {
        FUZZ_CHECK(vector_reader_name(r, ret->term[i]).n <= text.n + VECTOR_BYTES);
    }
}

static void encode(const struct vector *v, struct buf *to)
{
    FUZZ_CHECK(v->kind < VECTOR_KINDS && v->n <= VECTOR_TERMS);
    buf_init(to, VECTOR_BYTES);
    FUZZ_CHECK(vector_encode(v, to));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = slice_of((const char *)data, size);
    struct arena *one = arena_new(ARENA);
    struct arena *two = arena_new(ARENA);
    struct vector whole;
    struct vector cut;
    struct vector again;
    struct buf a;
    struct buf b;

    FUZZ_CHECK(one != NULL && two != NULL);
    read_terms(one, text, size > 0 ? size : 1, false, &whole);
    read_terms(two, text, size % 17 + 1, true, &cut);
    encode(&whole, &a);
    encode(&cut, &b);
    FUZZ_CHECK(slice_eq(buf_slice(&a), buf_slice(&b)));
    /* no term stands twice: its distance would be 0 */
    FUZZ_CHECK(vector_decode(one, buf_slice(&a), &again) == ERR_OK);
    FUZZ_CHECK(again.n == whole.n);
    buf_fini(&a);
    buf_fini(&b);
    arena_free(&one);
    arena_free(&two);
    return 0;
}
