/* fuzz_footprint - any bytes as what the kernel says of memory and control groups: a limit that is never zero. */
#include "core/base/base.h"
#include "core/base/footprint.h"

#include "tests/fuzz/state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice rest = slice_of((const char *)data, size);

    FUZZ_CHECK(base_init() == ERR_OK);
    (void)state_file("proc/self/cgroup", SLICE_LIT("0::/a/b\n"));
    (void)state_file("sys/fs/cgroup/a/b/memory.max", slice_cut(&rest, '|'));
    (void)state_file("sys/fs/cgroup/a/b/memory.high", slice_cut(&rest, '|'));
    (void)state_file("sys/fs/cgroup/a/memory.max", slice_cut(&rest, '|'));
    uint64_t limit = footprint_limit(state_folder());
    FUZZ_CHECK(limit > 0 || size > 0);
    (void)state_file("proc/self/cgroup", rest);
    FUZZ_CHECK(limit == 0 || footprint_limit(state_folder()) > 0);
    return 0;
}
