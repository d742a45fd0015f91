/* fuzz_enriched - any bytes as text/enriched: the same text however it is cut, never more of it. */
#include <string.h>

#include "core/message/text/enriched.h"

#include "tests/fuzz/fuzz.h"

static size_t show(struct slice in, size_t step, char *dst)
{
    struct enriched e;
    size_t n = 0;
    enriched_init(&e);
    for (size_t i = 0; i < in.n; i += step) {
        n += enriched_feed(&e, slice_head(slice_from(in, i), step), dst + n);
    }
    n += enriched_end(&e, dst + n);
    FUZZ_CHECK(n <= in.n + ENRICHED_HELD_MAX);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice in = slice_of((const char *)data, size);
    char *whole = malloc(size + ENRICHED_HELD_MAX);
    char *pieces = malloc(size + ENRICHED_HELD_MAX);
    FUZZ_CHECK(whole != NULL && pieces != NULL);
    size_t n = show(in, size > 0 ? size : 1, whole);
    FUZZ_CHECK(show(in, 1, pieces) == n && memcmp(whole, pieces, n) == 0);
    free(whole);
    free(pieces);
    return 0;
}
