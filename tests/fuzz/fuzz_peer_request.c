/* fuzz_peer_request - any bytes as the head of a peer's request: refused with a status, or within its bounds. */
#include "core/hub/exchange/peer_request.h"
#include "core/hub/http/http_syntax.h"

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice bytes = slice_of((const char *)data, size);
    struct slice head = slice_head(bytes, http_head_length(bytes));
    struct http_request http = {.method = HTTP_GET};
    struct peer_request r = {.from = 0};

    unsigned status = peer_request_parse(head, &http, &r);
    FUZZ_CHECK(status == 0 || status >= 400);
    if (status == 0) {
        FUZZ_CHECK(r.route <= ROUTE_JOIN &&
                   (r.route == ROUTE_JOIN) == (http.method == HTTP_POST));
        FUZZ_CHECK(r.route != ROUTE_CHAIN || r.from <= r.to);
        FUZZ_CHECK(http.length <= PEER_BODY_MAX);
    }
    return 0;
}
