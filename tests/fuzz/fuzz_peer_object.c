/* fuzz_peer_object - any bytes as an object's header: refused with a reason, or a header that prints as it came. */
#include <string.h>

#include "core/ring/stream/object.h"

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct object o;
    struct errinfo info = {.text = ""};
    struct slice header = slice_of((const char *)data, size);
    enum err e = object_parse(header, &o, &info);
    if (e != ERR_OK) {
        FUZZ_CHECK(info.text[0] != '\0' && info.source[0] != '\0');
        return 0;
    }
    struct buf again;
    struct object_id id;
    buf_init(&again, OBJECT_SIGNED_BYTES);
    object_print(&o, &again);
    FUZZ_CHECK(again.n == OBJECT_SIGNED_BYTES);
    again.p[5] = (char)data[5]; /* a later minor version is read as ours */
    FUZZ_CHECK(memcmp(again.p, data, OBJECT_SIGNED_BYTES) == 0);
    FUZZ_CHECK(o.seq > 0 && o.raw_len <= OBJECT_SNAP_MAX);
    FUZZ_CHECK(o.sent_len <= OBJECT_SNAP_PACKED_MAX);
    FUZZ_CHECK(memchr(o.stream.list, '\0', sizeof(o.stream.list)) != NULL);
    stream_key_id(&o.stream, &id);
    buf_fini(&again);
    return 0;
}
