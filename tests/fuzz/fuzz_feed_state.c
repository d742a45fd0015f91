/* fuzz_feed_state - any bytes as what a feed keeps: state.json, a set, changes. What is read prints back to the same
 * state; of a set every record is found. */
#include "core/feed/update_internal.h"

#include "tests/fuzz/fuzz.h"

static void check_state(struct slice bytes)
{
    struct update_saved s;
    struct update_saved again;
    struct buf b;
    if (saved_parse(bytes, &s) != ERR_OK) {
        return;
    }
    buf_init(&b, 1 << 20);
    FUZZ_CHECK(saved_print(&s, &b) == ERR_OK);
    FUZZ_CHECK(saved_parse(buf_slice(&b), &again) == ERR_OK);
    FUZZ_CHECK(again.nversions == s.nversions && again.last == s.last &&
               again.shown.version == s.shown.version &&
               again.pending.version.number == s.pending.version.number);
    buf_fini(&b);
}

static void check_set(struct slice bytes)
{
    struct feed_set s;
    struct feed_set_entry e;
    if (feed_set_parse(&s, bytes, "fuzz", NULL) != ERR_OK) {
        return;
    }
    for (uint64_t i = 0; i < s.n; i++) {
        feed_set_get(&s, i, &e);
        FUZZ_CHECK(feed_set_has(&s, &e.digest));
    }
}

static void check_changes(struct slice bytes)
{
    struct feed_diff c;
    struct refresh_item item;
    enum err e = ERR_OK;
    uint64_t n = 0;
    if (feed_diff_parse(&c, bytes, "fuzz", NULL) != ERR_OK) {
        return;
    }
    while (feed_diff_next(&c, &item, &e)) {
        FUZZ_CHECK(item.text.n <= LIST_TEXT_MAX && ++n <= c.n);
    }
    FUZZ_CHECK(e != ERR_OK || n == c.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const void *p = data;
    struct slice bytes = slice_of(p, size);
    check_state(bytes);
    check_set(bytes);
    check_changes(bytes);
    return 0;
}
