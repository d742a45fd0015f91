/* fuzz_vote_record - any record of a peer's list of votes: what is read prints to the same record. */
#include <string.h>

#include "core/report/vote_stream.h"

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mirror_entry e = {.status = 1};
    struct mirror_entry again = {.status = 0};
    struct vote_record r = {.id = 0};

    if (size < sizeof(e.digest) + sizeof(e.class_type) + sizeof(e.expiry_s)) {
        return 0;
    }
    memcpy(&e.digest, data, sizeof(e.digest));
    memcpy(&e.class_type, data + sizeof(e.digest), sizeof(e.class_type));
    memcpy(&e.expiry_s, data + sizeof(e.digest) + sizeof(e.class_type),
           sizeof(e.expiry_s));
    if (!vote_record_parse(&e, &r)) {
        return 0;
    }
    FUZZ_CHECK(r.nitems <= VOTE_ITEMS_MAX);
    vote_record_print(&r, &again);
    FUZZ_CHECK(memcmp(&again.digest, &e.digest, sizeof(e.digest)) == 0 &&
               again.class_type == e.class_type);
    return 0;
}
