/* fuzz_feed_packed - any bytes as a download that may be packed: never more than may come, the same each time, and
 * bytes of no known form as they are. */
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/feed/unpack.h"

#include "tests/fuzz/fuzz.h"

enum { OUT_MOST = 1 << 20 };

static enum err unpack(int from, uint64_t most, uint64_t *retn)
{
    int to = memfd_create("out", MFD_CLOEXEC);
    uint64_t left = most;
    struct errinfo why = {.text = ""};

    FUZZ_CHECK(to >= 0);
    enum err e = feed_unpack(from, "fuzz", to, &left, &why);
    off_t n = lseek(to, 0, SEEK_END);
    FUZZ_CHECK(n >= 0 && (uint64_t)n <= most && left <= most);
    FUZZ_CHECK(e != ERR_OK || most - left == (uint64_t)n);
    FUZZ_CHECK(e == ERR_OK || why.text[0] != '\0');
    *retn = (uint64_t)n;
    (void)close(to);
    return e;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int from = memfd_create("in", MFD_CLOEXEC);
    uint64_t first = 0;
    uint64_t second = 0;

    FUZZ_CHECK(base_init() == ERR_OK && from >= 0);
    FUZZ_CHECK(write(from, data, size) == (ssize_t)size);
    enum err e = unpack(from, OUT_MOST, &first);
    FUZZ_CHECK(unpack(from, OUT_MOST, &second) == e && first == second);
    if (e == ERR_OK && first > 0) {
        FUZZ_CHECK(unpack(from, first, &second) == ERR_OK && second == first);
        FUZZ_CHECK(unpack(from, first - 1, &second) == ERR_LIMIT);
    }
    (void)close(from);
    return 0;
}
