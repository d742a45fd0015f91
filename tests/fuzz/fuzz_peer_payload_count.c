/* fuzz_peer_payload_count - any bytes as the records of a COUNT. */
#include "tests/fuzz/peer_records.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_records(OBJECT_COUNT, data, size);
    return 0;
}
