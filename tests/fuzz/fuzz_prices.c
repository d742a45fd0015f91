/* fuzz_prices - any text as a price file: refused with a text for each error, or all numbers in bounds. */
#include "core/base/base.h"
#include "core/lab/prices.h"

#include "tests/fuzz/state.h"

/* libconfig 1.5 forgets the text at which it meets a syntax error. */
/* NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming): LeakSanitizer's name */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libconfig.so";
}
/* NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming) */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct prices p = {.memory_gb = 1};
    struct config_errors errors = {.n = 0};
    struct slice text = slice_of((const char *)data, size);

    FUZZ_CHECK(base_init() == ERR_OK);
    if (slice_find_slice(text, SLICE_LIT("include")) < text.n) {
        return 0; /* of other files */
    }
    enum err e = prices_load(state_file("prices", text), &p, &errors);
    FUZZ_CHECK((e == ERR_OK) == (errors.n == 0));
    if (e == ERR_OK) {
        FUZZ_CHECK(p.memory_gb >= 0 && p.memory_gb <= 1e15 && p.max_error >= 0 &&
                   p.max_error <= 1 && p.errors.n <= PRICES_GRID_MAX);
    }
    config_errors_free(&errors);
    return 0;
}
