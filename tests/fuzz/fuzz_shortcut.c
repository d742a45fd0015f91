/* fuzz_shortcut - any bytes as a shortcut: strings within their bounds, no more text than there is. */
#include "core/message/archive/shortcut.h"

#include "tests/fuzz/fuzz.h"

static void on_string(void *context, struct slice text)
{
    uint64_t *bytes = context;
    FUZZ_CHECK(text.n >= SHORTCUT_STRING_MIN && text.n <= SHORTCUT_STRING_MAX);
    *bytes += text.n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t bytes = 0;
    shortcut_read(slice_of((const char *)data, size), on_string, &bytes);
    FUZZ_CHECK(bytes <= 2 * size);
    return 0;
}
