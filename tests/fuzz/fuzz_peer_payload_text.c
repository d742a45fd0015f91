/* fuzz_peer_payload_text - any bytes as the records of a TEXT. */
#include "tests/fuzz/peer_records.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_records(OBJECT_TEXT, data, size);
    return 0;
}
