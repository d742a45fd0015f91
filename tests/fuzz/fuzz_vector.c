/* fuzz_vector - any bytes as the vector of a message: refused, or the same again when it is written and
 * read once more. */
#include <string.h>

#include "core/learn/ftrl.h"
#include "core/learn/vector.h"

#include "tests/fuzz/fuzz.h"

static void check(struct arena *arena, const struct vector *v)
{
    size_t sum = 0;
    float value[VECTOR_BLOCKS];

    FUZZ_CHECK(v->kind < VECTOR_KINDS && v->n <= VECTOR_TERMS);
    for (unsigned b = 0; b < VECTOR_BLOCKS; b++) {
        for (size_t i = sum; i < sum + v->count[b]; i++) {
            FUZZ_CHECK(v->term[i] >> VECTOR_HASH_BITS == b);
            FUZZ_CHECK(i == 0 || v->term[i] > v->term[i - 1]);
        }
        sum += v->count[b];
    }
    FUZZ_CHECK(sum == v->n);
    ftrl_values(v, value);

    struct vector again;
    struct buf bytes;
    buf_init(&bytes, VECTOR_BYTES);
    FUZZ_CHECK(vector_encode(v, &bytes));
    FUZZ_CHECK(vector_decode(arena, buf_slice(&bytes), &again) == ERR_OK);
    FUZZ_CHECK(again.kind == v->kind && again.group == v->group && again.n == v->n);
    FUZZ_CHECK(memcmp(again.count, v->count, sizeof(v->count)) == 0);
    FUZZ_CHECK(memcmp(again.term, v->term, v->n * sizeof(*v->term)) == 0);
    buf_fini(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(1 << 20);
    uint8_t *bytes = malloc(size + 1);
    struct vector v;

    FUZZ_CHECK(arena != NULL && bytes != NULL);
    memcpy(bytes, data, size);
    for (unsigned i = 0; i < 2; i++) { /* as it is, then of this version */
        if (vector_decode(arena, slice_of((const char *)bytes, size), &v) == ERR_OK) {
            check(arena, &v);
        }
        bytes[0] = VECTOR_VERSION;
    }
    free(bytes);
    arena_free(&arena);
    return 0;
}
