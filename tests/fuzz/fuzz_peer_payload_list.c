/* fuzz_peer_payload_list - any bytes as the records of a LIST. */
#include "tests/fuzz/peer_records.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_records(OBJECT_LIST, data, size);
    return 0;
}
