/* fuzz_current - any bytes as a list's CURRENT: what is accepted prints back to the same. */
#include <string.h>

#include "core/list/files.h"

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const void *p = data;
    struct list_current c;
    struct errinfo info;
    uint64_t number = 0;
    (void)list_file_parse(slice_of(p, size), &number);
    if (current_parse(slice_of(p, size), "fuzz", &c, &info) != ERR_OK) {
        return 0;
    }
    struct buf b;
    buf_init(&b, 4096);
    current_print(&c, &b);
    FUZZ_CHECK(!buf_failed(&b) && b.n == size && memcmp(b.p, data, size) == 0);
    buf_fini(&b);
    return 0;
}
