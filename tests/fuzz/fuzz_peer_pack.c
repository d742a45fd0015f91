/* fuzz_peer_pack - any bytes as a packed payload: refused with a reason, or as long as was said. The first
 * four bytes are what the object's header says. */
#include "core/ring/stream/payload.h"

#include "tests/fuzz/fuzz.h"

enum { RAW_MAX = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf raw;
    struct errinfo info = {.text = ""};
    if (size < 4) {
        return 0;
    }
    const uint64_t raw_len =
        (data[0] | (uint64_t)data[1] << 8 | (uint64_t)data[2] << 16) & (RAW_MAX - 1);
    buf_init(&raw, RAW_MAX);
    if (payload_unpack(slice_of((const char *)data + 4, size - 4), raw_len, &raw,
                       &info) == ERR_OK) {
        FUZZ_CHECK(raw.n == raw_len);
        struct buf packed;
        buf_init(&packed, OBJECT_PACKED_MAX);
        FUZZ_CHECK(payload_pack(buf_slice(&raw), &packed) == ERR_OK);
        buf_fini(&packed);
    } else {
        FUZZ_CHECK(raw.n == 0 && info.text[0] != '\0');
    }
    buf_fini(&raw);
    return 0;
}
