/* fuzz_peer_heads - any bytes as an answer of heads: refused with a reason, or heads that print as they came (those
 * of later kinds are left out). */
#include "core/ring/stream/heads.h"

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct heads h;
    struct errinfo info = {.text = ""};
    struct slice bytes = slice_of((const char *)data, size);
    if (heads_parse(bytes, &h, &info) != ERR_OK) {
        FUZZ_CHECK(info.text[0] != '\0');
        return 0;
    }
    struct buf again;
    buf_init(&again, size);
    heads_print(&h, &again);
    FUZZ_CHECK(h.n <= HEADS_MAX && h.nheartbeats <= HEARTBEATS_MAX);
    FUZZ_CHECK(again.n <= size && (size - again.n) % HEAD_BYTES == 0);
    FUZZ_CHECK(again.n < size || slice_eq(buf_slice(&again), bytes));
    buf_fini(&again);
    heads_fini(&h);
    return 0;
}
