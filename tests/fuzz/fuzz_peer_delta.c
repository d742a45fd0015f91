/* fuzz_peer_delta - DELTAs changed anywhere and then signed: taken apart without harm. */
#include "tests/fuzz/peer_signed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum example_kind which[] = {EXAMPLE_DELTA_COUNT, EXAMPLE_DELTA_LIST,
                                              EXAMPLE_DELTA_TEXT};
    run_signed(which, sizeof(which) / sizeof(which[0]), data, size);
    return 0;
}
