#include "core/report/report_seal.h"

enum { OF_LINE = 1, OF_BODY = 2 };

bool report_seal(const struct keyring *keys, const struct scan_request *request,
                 struct slice body, char ret[REPORT_SEAL_HEX + 1])
{
    struct scan_request bare = *request;
    uint8_t derived[KEYRING_DERIVED_BYTES];
    struct hashkey key = {.id = keys->node.id};
    struct digest sum;
    struct buf line;

    keyring_derive(&keys->node, "reports", 0, derived);
    memcpy(key.bytes, derived, sizeof(key.bytes));
    bare.seal = SLICE_NONE;
    bare.bytes = body.n;
    buf_init(&line, (size_t)4 * SCAN_REQUEST_MAX);
    scan_request_print(&bare, &line);
    digest_make(&key, OF_BODY, body, &sum);
    buf_add(&line, slice_of(sum.b, DIGEST_BYTES));
    digest_make(&key, OF_LINE, buf_slice(&line), &sum);
    bool is_made = !buf_failed(&line);
    buf_fini(&line);
    for (size_t i = 0; i < DIGEST_BYTES; i++) {
        (void)snprintf(ret + 2 * i, 3, "%02x", sum.b[i]);
    }
    return is_made;
}

bool report_is_sealed(const struct keyring *keys, const struct scan_request *request,
                      struct slice body)
{
    char right[REPORT_SEAL_HEX + 1];

    return request->seal.n == REPORT_SEAL_HEX &&
           report_seal(keys, request, body, right) &&
           slice_eq(request->seal, slice_of(right, REPORT_SEAL_HEX));
}
