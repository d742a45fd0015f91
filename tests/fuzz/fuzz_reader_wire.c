/* fuzz_reader_wire - a request for gillnet-reader, and the records of its answer. */
#include "core/reader/wire/request.h"

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice rest = slice_of(data, size);
    struct request_read request;
    struct record r;

    if (size >= REQUEST_HEAD_BYTES && request_rest(rest.p) > 0) {
        (void)request_parse(slice_from(rest, REQUEST_HEAD_BYTES), &request);
    }
    while (record_next(&rest, &r) == RECORD_OK) {
        FUZZ_CHECK(r.place.n <= RECORD_PLACE_MAX && r.value.n <= RECORD_VALUE_MAX);
        FUZZ_CHECK(r.kind > 0 && r.kind < RECORD_KINDS);
    }
    return 0;
}
