/* fuzz_uuencode - any text, whole and in pieces: the same files. */
#include "core/message/archive/uuencode.h"

#include "tests/fuzz/fuzz_archive.h"

static void run(struct fuzz_archive *f, struct slice text, size_t step)
{
    struct uuencode u;
    f->budget = archive_budget_start();
    uuencode_init(&u, &f->budget, &fuzz_archive_events, f);
    while (text.n > 0) {
        struct slice piece = slice_head(text, step);
        uuencode_feed(&u, piece);
        text = slice_from(text, piece.n);
    }
    uuencode_end(&u);
    fuzz_archive_check(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_archive whole = {0};
    struct fuzz_archive cut = {0};
    struct slice text = slice_of((const char *)data, size);
    run(&whole, text, size > 0 ? size : 1);
    run(&cut, text, size % 13 + 1);
    FUZZ_CHECK(whole.sum == cut.sum && whole.bytes <= size + ARCHIVE_INFLATED_MAX);
    return 0;
}
