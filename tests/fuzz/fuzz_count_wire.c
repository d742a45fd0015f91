/* fuzz_count_wire - any bytes as a request about counts, and as the answer to one: an answer is "ok" or
 * "error", of bounded length, and what the port gave is read from it again. */
#include <string.h>

#include "core/count/count_protocol.h"

#include "tests/fuzz/fuzz.h"

static const struct keyring keys = {.n = 1, .ring = {{7, "key of the tests"}}};
static unsigned asked;

static void batch(void *context, struct count_item *items, size_t n)
{
    (void)context;
    FUZZ_CHECK(n <= COUNT_WIRE_ITEMS);
    for (size_t i = 0; i < n; i++) {
        FUZZ_CHECK(items[i].amount <= COUNT_WIRE_AMOUNT_MAX);
        for (unsigned w = 0; w < COUNT_WINDOWS; w++) {
            items[i].value.w[w] = items[i].amount + w;
        }
    }
    asked++;
}

static void exact(void *context, const struct digest digest[KEYRING_MAX],
                  struct count_history *ret)
{
    (void)context, (void)digest;
    memset(ret, 0, sizeof(*ret));
    asked++;
}

static void shares(void *context, const struct digest digest[KEYRING_MAX],
                   struct count_breakdown *ret)
{
    (void)context, (void)digest;
    memset(ret, 0, sizeof(*ret));
    asked++;
}

static bool is_sound(void *context, enum count_window w, double bound)
{
    (void)context, (void)w, (void)bound;
    return true;
}

static void check_request(struct slice request)
{
    const struct count_port port = {
        .batch = batch, .exact = exact, .shares = shares, .is_sound = is_sound};
    struct buf answer;

    buf_init(&answer, COUNT_WIRE_ANSWER_MAX);
    asked = 0;
    count_wire_answer(request, &port, &keys, &answer);
    struct slice text = buf_slice(&answer);
    FUZZ_CHECK(!buf_failed(&answer));
    FUZZ_CHECK(slice_has_prefix(text, SLICE_LIT("ok")) ||
               slice_has_prefix(text, SLICE_LIT("error ")));
    FUZZ_CHECK(text.p[text.n - 1] == '\n' && asked <= 2);
    FUZZ_CHECK(asked == 0 || slice_has_prefix(text, SLICE_LIT("ok")));
    buf_fini(&answer);
}

static void check_answer(struct slice answer)
{
    static struct count_item items[COUNT_WIRE_ITEMS];
    static struct count_breakdown breakdown;
    static struct count_history history;
    struct count_called called;

    (void)count_wire_values(answer, items, 2);
    (void)count_wire_history(answer, &history);
    (void)count_wire_read_called(answer, &called);
    if (!count_wire_read_shares(answer, &breakdown)) {
        FUZZ_CHECK(breakdown.n == 0);
    }
    count_breakdown_fini(&breakdown);
}

/* A batch of these digests and amounts is understood, and its answer read. */
static void check_round(struct slice bytes)
{
    const struct count_port port = {
        .batch = batch, .exact = exact, .shares = shares, .is_sound = is_sound};
    struct count_item items[4];
    struct buf line;
    struct buf answer;
    size_t n = bytes.n / DIGEST_BYTES;

    n = n < LENGTH(items) ? n : LENGTH(items);
    memset(items, 0, sizeof(items));
    for (size_t i = 0; i < n; i++) {
        memcpy(&items[i].digest[0], bytes.p + i * DIGEST_BYTES, DIGEST_BYTES);
        items[i].amount = (uint8_t)bytes.p[i];
    }
    if (n == 0) {
        return;
    }
    buf_init(&line, COUNT_WIRE_REQUEST_MAX);
    buf_init(&answer, COUNT_WIRE_ANSWER_MAX);
    count_wire_batch(&keys, items, n, &line);
    count_wire_answer(buf_slice(&line), &port, &keys, &answer);
    FUZZ_CHECK(count_wire_values(buf_slice(&answer), items, n));
    for (size_t i = 0; i < n; i++) {
        FUZZ_CHECK(items[i].value.w[0] == items[i].amount);
    }
    buf_fini(&line);
    buf_fini(&answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice bytes = slice_of((const char *)data, size);

    check_request(bytes);
    check_answer(bytes);
    check_round(bytes);
    return 0;
}
