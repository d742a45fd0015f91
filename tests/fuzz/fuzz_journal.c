/* fuzz_journal - any bytes as the frames of a journal: damage is passed over, and what is found as
 * a record can be read, printed again, and searched for a person. The sums of frames are made right
 * first, so that what lies behind them is reached. */
#include <string.h>

#include "core/base/checksum.h"
#include "core/verdict/journal/journal_file.h"

#include "tests/fuzz/fuzz.h"

enum { LENGTH_AT = 4, TEXTS_AT = 6 };

/* The sums of each frame whose length fits. */
static void mend(uint8_t *p, size_t n)
{
    uint32_t magic = RECORD_MAGIC;

    for (size_t at = 0; at + RECORD_HEAD <= n; at++) {
        uint16_t nbytes = 0;
        uint16_t ntexts = 0;
        if (memcmp(p + at, &magic, sizeof(magic)) != 0) {
            continue;
        }
        memcpy(&nbytes, p + at + LENGTH_AT, sizeof(nbytes));
        memcpy(&ntexts, p + at + TEXTS_AT, sizeof(ntexts));
        size_t end = at + RECORD_HEAD + nbytes;
        if (end + RECORD_SUM + ntexts + RECORD_TEXTS_SUM > n) {
            continue;
        }
        uint64_t sum = checksum64(slice_of((const char *)p + at, end - at));
        memcpy(p + end, &sum, sizeof(sum));
        uint32_t texts =
            checksum32(slice_of((const char *)p + end + RECORD_SUM, ntexts));
        memcpy(p + end + RECORD_SUM + ntexts, &texts, sizeof(texts));
        at = end;
    }
}

static uint64_t look_at(const struct record *r)
{
    uint64_t seen = r->from.n + r->subject.n + r->queue_id.n + r->allow.n;

    for (size_t i = 0; i < r->nsymbols; i++) {
        seen += r->symbol[i].name.n + r->symbol[i].detail.n;
    }
    for (size_t i = 0; i < r->nhits; i++) {
        seen += r->hit[i].value.n + r->hit[i].list.n;
    }
    for (size_t i = 0; i < r->nhashes; i++) {
        FUZZ_CHECK(r->hash[i] < 1U << RECORD_HASH_BITS);
    }
    return seen;
}

static void walk(struct slice frames)
{
    static struct record r;
    static char copy[RECORD_MAX];
    struct journal_walk w = journal_walk_begin(frames);
    struct slice frame;
    struct slice part;
    struct buf again;

    while (journal_walk_next(&w, &frame)) {
        FUZZ_CHECK(frame.n <= RECORD_MAX);
        memcpy(copy, frame.p, frame.n);
        (void)record_erase(copy, frame.n, SLICE_LIT("a@b.example"), &part);
        FUZZ_CHECK(part.p >= copy && part.p + part.n == copy + frame.n);
        if (!record_parse(frame, &r)) {
            continue;
        }
        (void)look_at(&r);
        record_print(&r, &again);
        FUZZ_CHECK(!buf_failed(&again) && again.n <= RECORD_MAX);
        buf_fini(&again);
    }
    FUZZ_CHECK(w.whole <= frames.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    walk(slice_of((const char *)data, size));
    uint8_t *mended = malloc(size > 0 ? size : 1);
    if (mended == NULL) {
        return 0;
    }
    memcpy(mended, data, size);
    mend(mended, size);
    walk(slice_of((const char *)mended, size));
    free(mended);
    return 0;
}
