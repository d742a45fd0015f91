/* fuzz_peer_snap - SNAPs, heartbeats and proofs changed anywhere and then signed: taken apart without harm. */
#include "tests/fuzz/peer_signed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum example_kind which[] = {
        EXAMPLE_SNAP_COUNT,  EXAMPLE_SNAP_LIST,           EXAMPLE_SNAP_TEXT,
        EXAMPLE_SNAP_MEMBER, EXAMPLE_SNAP_MEMBER_REVOKED, EXAMPLE_HEARTBEAT,
        EXAMPLE_PROOF};
    run_signed(which, sizeof(which) / sizeof(which[0]), data, size);
    return 0;
}
