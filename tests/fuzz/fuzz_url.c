/* fuzz_url - any bytes as a URL; the canonical form must be one that stays as it is. */
#include "core/text/url.h"

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena *arena = arena_new(FUZZ_ARENA);
    struct url url = {0};
    struct url again = {0};
    struct slice registrable;

    FUZZ_CHECK(arena != NULL);
    if (url_parse(arena, slice_of((const char *)data, size), &url) == ERR_OK) {
        FUZZ_CHECK(url.host.text.n > 0 && url.path.n > 0 && url.path.p[0] == '/');
        FUZZ_CHECK(url.canonical.n <= 3 * size + HOST_NAME_MAX_BYTES + 16);
        registrable = host_registrable(url.host.text);
        FUZZ_CHECK(registrable.n <= url.host.text.n);
        if (url.canonical.n <= URL_BYTES_MAX && url.port == 0 && url.query.p == NULL &&
            url.path.p[url.path.n - 1] > ' ') {
            FUZZ_CHECK(url_parse(arena, url.canonical, &again) == ERR_OK);
            FUZZ_CHECK(slice_eq(again.host.text, url.host.text));
        }
    }
    arena_free(&arena);
    return 0;
}
