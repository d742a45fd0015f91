/* fuzz_url_vector - any bytes as a URL, as an encoded vector, and as the file of found URLs. */
#include "core/learn/url_entries.h"
#include "core/learn/url_vector.h"

#include "tests/fuzz/fuzz.h"

enum { ARENA = 1 << 20 };

/* The bytes of a vector give the same vector again. */
static void check_encoded(struct arena *arena, const struct vector *url)
{
    const struct vector v = {.term = url->term, .nurls = 1, .url = url};
    struct vector got;
    struct buf bytes;
    buf_init(&bytes, VECTOR_BYTES);
    FUZZ_CHECK(vector_encode(&v, &bytes));
    FUZZ_CHECK(vector_decode(arena, buf_slice(&bytes), &got) == ERR_OK);
    FUZZ_CHECK(got.nurls == 1 && got.url[0].n == url->n);
    buf_fini(&bytes);
}

static void check_entries(struct slice file)
{
    struct url_entries *e = url_entries_new();
    struct url_entries *again = url_entries_new();
    struct buf text;
    buf_init(&text, URL_ENTRIES_FILE);
    url_entries_read(e, file);
    url_entries_print(e, &text);
    url_entries_read(again, buf_slice(&text));
    FUZZ_CHECK(!buf_failed(&text));
    FUZZ_CHECK(url_entries_count(e) == url_entries_count(again));
    buf_fini(&text);
    url_entries_free(&again);
    url_entries_free(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice bytes = slice_of((const char *)data, size);
    struct arena *arena = arena_new(ARENA);
    struct vector v;
    FUZZ_CHECK(url_vector(arena, bytes, &v));
    FUZZ_CHECK(v.n <= URL_VECTOR_TERMS);
    check_encoded(arena, &v);
    (void)vector_decode(arena, bytes, &v);
    check_entries(bytes);
    arena_free(&arena);
    return 0;
}
