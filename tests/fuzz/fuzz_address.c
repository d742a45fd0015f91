/* fuzz_address - any bytes as an address list; each address read again is the same. */
#include "core/message/url/address.h"

#include "tests/fuzz/fuzz.h"

enum { LIST_MAX = 32, SLACK_BYTES = 98304 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(FUZZ_ARENA);
    struct address list[LIST_MAX];
    struct slice more = SLICE_NONE;
    size_t n = 0;
    size_t i = 0;

    FUZZ_CHECK(arena != NULL);
    n = address_list_parse(arena, slice_of((const char *)data, size), list, LIST_MAX,
                           &more);
    FUZZ_CHECK(n <= LIST_MAX);
    for (i = 0; i < n; i++) {
        const struct address *a = &list[i];

        FUZZ_CHECK(a->text.n <= ADDRESS_BYTES_MAX && a->domain.n > 0);
        FUZZ_CHECK(a->text.n > a->domain.n + 1);
        FUZZ_CHECK(a->domain.p + a->domain.n == a->text.p + a->text.n);
        FUZZ_CHECK(a->domain.p[-1] == '@');
        FUZZ_CHECK(a->display.n <= size);
    }
    FUZZ_CHECK(arena_used(arena) <= 4 * size + SLACK_BYTES);
    arena_free(&arena);
    return 0;
}
