/* fuzz_scan_request - any bytes as the line of a scan or report: what is read prints to a line that is
 * read to the same. */
#include <string.h>

#include "core/telemetry/scan_request.h"

#include "tests/fuzz/fuzz.h"

static void check_same(const struct scan_request *a, const struct scan_request *b)
{
    FUZZ_CHECK(a->bytes == b->bytes && slice_eq(a->client, b->client) &&
               slice_eq(a->helo, b->helo) && slice_eq(a->from, b->from));
    FUZZ_CHECK(a->is_authenticated == b->is_authenticated &&
               a->is_counting == b->is_counting && a->is_values == b->is_values);
    FUZZ_CHECK(slice_eq(a->say, b->say) && slice_eq(a->reporter, b->reporter) &&
               slice_eq(a->way, b->way) && slice_eq(a->campaign, b->campaign) &&
               slice_eq(a->seal, b->seal));
    FUZZ_CHECK(a->nrcpt == b->nrcpt && a->nids == b->nids);
    for (size_t i = 0; i < a->nrcpt; i++) {
        FUZZ_CHECK(slice_eq(a->rcpt[i], b->rcpt[i]));
    }
    for (size_t i = 0; i < a->nids; i++) {
        FUZZ_CHECK(slice_eq(a->id[i], b->id[i]));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char room[SCAN_REQUEST_MAX];
    static char room_again[SCAN_REQUEST_MAX];
    struct scan_request first;
    struct scan_request second;
    struct errinfo why = {.text = ""};
    struct buf line;

    if (scan_request_parse(slice_of((const char *)data, size), room, &first, &why) !=
        ERR_OK) {
        FUZZ_CHECK(why.text[0] != '\0');
        return 0;
    }
    FUZZ_CHECK(first.bytes <= SCAN_REQUEST_BYTES_MAX && first.nids <= SCAN_REQUEST_IDS);
    FUZZ_CHECK(first.nrcpt <= SCAN_REQUEST_RCPTS);
    buf_init(&line, 4 * SCAN_REQUEST_MAX);
    scan_request_print(&first, &line);
    struct slice rest = buf_slice(&line);
    FUZZ_CHECK(!buf_failed(&line) && rest.p[rest.n - 1] == '\n');
    (void)slice_cut(&rest, ' '); /* "scan" or "report" */
    rest.n--;
    if (rest.n < SCAN_REQUEST_MAX) {
        FUZZ_CHECK(scan_request_parse(rest, room_again, &second, &why) == ERR_OK);
        check_same(&first, &second);
    }
    buf_fini(&line);
    return 0;
}
