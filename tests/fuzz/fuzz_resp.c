/* fuzz_resp - any bytes as replies: whole or in pieces of any size they give the same replies and the same fault; the
 * row of nodes is well formed. */
#include "core/hub/redis/resp.h"

#include "tests/fuzz/fuzz.h"
#include "tests/unit/redis/resp_shape.h"

/* Each node ends within the one that it lies in, and an aggregate has as many as it says. */
static void check_nodes(const struct resp *r)
{
    FUZZ_CHECK(r->nnodes > 0 && r->nodes[0].end == r->nnodes);
    for (size_t i = 0; i < r->nnodes; i++) {
        const struct resp_node *n = &r->nodes[i];
        int64_t below = 0;

        FUZZ_CHECK(n->end > i && n->end <= r->nnodes);
        if (n->kind < RESP_ARRAY) {
            FUZZ_CHECK(n->end == i + 1 && (size_t)n->at + n->n <= r->text.n);
            continue;
        }
        for (size_t at = i + 1; at < n->end; at = r->nodes[at].end) {
            below++;
        }
        FUZZ_CHECK(below == n->number);
    }
}

static void read_all(struct slice all, size_t step, struct buf *shapes)
{
    struct resp r;
    enum resp_status status = RESP_MORE;

    resp_init(&r);
    while (all.n > 0 && status != RESP_FAULT) {
        struct slice part = slice_head(all, step);
        const size_t before = part.n;

        status = resp_feed(&r, &part);
        FUZZ_CHECK(status == RESP_FAULT || part.n < before); /* it goes on */
        all = slice_from(all, before - part.n);
        if (status == RESP_DONE) {
            check_nodes(&r);
            resp_shape(shapes, &r);
            buf_add_char(shapes, '\n');
        }
    }
    if (status == RESP_FAULT) {
        FUZZ_CHECK(r.fault != NULL);
        buf_add_str(shapes, r.fault);
    }
    resp_fini(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf whole;
    struct buf pieces;

    if (size == 0) {
        return 0;
    }
    buf_init(&whole, FUZZ_ARENA);
    buf_init(&pieces, FUZZ_ARENA);
    read_all(slice_of(data + 1, size - 1), SIZE_MAX, &whole);
    read_all(slice_of(data + 1, size - 1), (size_t)data[0] % 16 + 1, &pieces);
    FUZZ_CHECK(slice_eq(buf_slice(&whole), buf_slice(&pieces)));
    buf_fini(&whole);
    buf_fini(&pieces);
    return 0;
}
