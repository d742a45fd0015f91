/* fuzz_report - any bytes as an entry of the log of reports, and as a file of it, its sums made right:
 * what is read prints to the same, and no entry is read twice. */
#include <string.h>

#include "core/base/base.h"
#include "core/base/checksum.h"
#include "core/report/report_log.h"

#include "tests/fuzz/state.h"

enum { HEAD = 16, SUM_AT = 8, LENGTH_AT = 4 };

static void check_entry(struct slice bytes)
{
    static struct report r;
    static struct report again;
    struct buf b;

    if (!report_parse(bytes, &r)) {
        return;
    }
    FUZZ_CHECK(r.nitems <= REPORT_ITEMS_MAX && r.reporter.n <= REPORT_NAME_MAX);
    buf_init(&b, 1 << 20);
    report_print(&r, &b);
    FUZZ_CHECK(!buf_failed(&b) && report_parse(buf_slice(&b), &again));
    FUZZ_CHECK(again.id == r.id && again.number == r.number && again.entry == r.entry &&
               again.time_s == r.time_s && again.nitems == r.nitems &&
               again.case_id == r.case_id && again.replaces == r.replaces &&
               slice_eq(again.reporter, r.reporter) && slice_eq(again.way, r.way) &&
               slice_eq(again.vector, r.vector) && slice_eq(again.changed, r.changed));
    buf_fini(&b);
}

/* The sum of each frame that fits: {magic, length, sum, bytes}. */
static void mend(uint8_t *p, size_t n)
{
    size_t at = 0;

    while (at + HEAD <= n) {
        uint32_t length = 0;
        memcpy(&length, p + at + LENGTH_AT, sizeof(length));
        if (length > n - at - HEAD) {
            at++;
            continue;
        }
        uint64_t sum = checksum64(slice_of((const char *)p + at + HEAD, length));
        memcpy(p + at + SUM_AT, &sum, sizeof(sum));
        at += HEAD + length;
    }
}

struct seen {
    uint64_t entries;
    uint64_t last;
};

static bool see(void *context, const struct report *r)
{
    struct seen *s = context;

    s->entries++;
    s->last = r->number;
    return true;
}

static void check_file(struct slice bytes)
{
    struct seen seen = {0, 0};
    struct report_log_numbers numbers = {0};
    struct report_log_place place = {0};
    struct errinfo why = {.text = ""};
    struct seen followed = {0, 0};

    (void)state_file("reports/log.1", bytes);
    if (report_log_each(state_folder(), see, &seen, &numbers, &why) == ERR_OK) {
        FUZZ_CHECK(numbers.entries == seen.entries);
        FUZZ_CHECK(seen.entries * HEAD <= bytes.n && numbers.damaged <= bytes.n);
    }
    if (report_log_follow(state_folder(), &place, see, &followed, &why) == ERR_OK) {
        FUZZ_CHECK(followed.entries <= seen.entries);
        followed.entries = 0;
        FUZZ_CHECK(report_log_follow(state_folder(), &place, see, &followed, &why) !=
                       ERR_OK ||
                   followed.entries == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *mended = malloc(size + 1);

    FUZZ_CHECK(mended != NULL && base_init() == ERR_OK);
    check_entry(slice_of((const char *)data, size));
    memcpy(mended, data, size);
    mend(mended, size);
    check_file(slice_of((const char *)mended, size));
    free(mended);
    return 0;
}
