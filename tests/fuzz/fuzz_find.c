/* fuzz_find - any bytes as text: URLs come in order, do not overlap and lie in the text. */
#include "core/text/find.h"

#include "tests/fuzz/fuzz.h"

static void on_url(void *context, struct slice url)
{
    struct slice *rest = context;

    FUZZ_CHECK(url.n > 4);
    FUZZ_CHECK(url.p >= rest->p && url.p + url.n <= rest->p + rest->n);
    *rest = slice_from(*rest, (size_t)(url.p + url.n - rest->p));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = slice_of((const char *)data, size);
    struct slice rest = text;

    find_urls(text, on_url, &rest);
    return 0;
}
