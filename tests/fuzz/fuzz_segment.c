/* fuzz_segment - any bytes as a segment of a list's log: every record found prints back to the
 * bytes it was read from, and the walk ends at the end. */
#include <string.h>

#include "core/list/segment.h"

#include "tests/fuzz/fuzz.h"

static void check_record(struct slice bytes, const struct log_record *r, size_t size)
{
    struct buf b;
    buf_init(&b, RECORD_BYTES_MAX);
    segment_record_print(r, &b);
    FUZZ_CHECK(!buf_failed(&b) && b.n == size);
    FUZZ_CHECK(memcmp(b.p, bytes.p + r->offset, size) == 0);
    buf_fini(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const void *p = data;
    struct slice bytes = slice_of(p, size);
    struct segment_header h;
    struct errinfo info;
    enum err e = segment_header_parse(bytes, "fuzz", &h, &info);
    struct segment_scan scan =
        segment_scan_of(bytes, 7, e == ERR_OK ? SEGMENT_HEADER_BYTES : 0);
    enum segment_found found = SEGMENT_END;
    do {
        struct log_record r;
        size_t before = scan.at;
        found = segment_next(&scan, &r);
        if (found == SEGMENT_RECORD) {
            check_record(bytes, &r, scan.at - before);
        } else if (found != SEGMENT_END) {
            FUZZ_CHECK(scan.skipped > 0 && scan.at == before + scan.skipped);
        }
        FUZZ_CHECK(scan.at <= size);
    } while (found != SEGMENT_END);
    FUZZ_CHECK(scan.at >= size);
    return 0;
}
