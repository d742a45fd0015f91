/* fuzz_scanline - any bytes as the request line of a scan; one that is taken is printed and read alike. */
#include "core/telemetry/scan_request.h"

#include "tests/fuzz/fuzz.h"

static void check_same(const struct scan_request *a, const struct scan_request *b)
{
    FUZZ_CHECK(a->bytes == b->bytes && a->nrcpt == b->nrcpt);
    FUZZ_CHECK(slice_eq(a->client, b->client) && slice_eq(a->helo, b->helo));
    FUZZ_CHECK(slice_eq(a->from, b->from));
    for (size_t i = 0; i < a->nrcpt; i++) {
        FUZZ_CHECK(slice_eq(a->rcpt[i], b->rcpt[i]));
    }
    FUZZ_CHECK(a->is_authenticated == b->is_authenticated &&
               a->is_counting == b->is_counting);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char room[2][SCAN_REQUEST_MAX];
    static struct scan_request line[2];
    struct slice prefix = SLICE_LIT("scan ");
    struct errinfo why;
    struct buf text;

    if (scan_request_parse(slice_of((const char *)data, size), room[0], &line[0],
                           &why) != ERR_OK) {
        return 0;
    }
    FUZZ_CHECK(line[0].bytes <= SCAN_REQUEST_BYTES_MAX);
    buf_init(&text, 4 * SCAN_REQUEST_MAX);
    scan_request_print(&line[0], &text);
    FUZZ_CHECK(!buf_failed(&text) && slice_has_prefix(buf_slice(&text), prefix));
    struct slice again = slice_of(text.p + prefix.n, text.n - prefix.n - 1);
    FUZZ_CHECK(scan_request_parse(again, room[1], &line[1], &why) == ERR_OK);
    check_same(&line[0], &line[1]);
    buf_fini(&text);
    return 0;
}
