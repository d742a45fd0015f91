/*
 * fuzz_summary - any records as another server's summary: refused with a text, or numbers in bounds and printable
 * texts; and the summary of those numbers is read to the same.
 *
 * Input: 16 bytes a record: kind, number, index (6, big-endian), value (8, little-endian).
 */
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/summary/summary.h"

#include "tests/fuzz/fuzz.h"

enum { NOW_S = 1700000000, RECORDS_MAX = 1024 };

static int by_digest(const void *a, const void *b)
{
    const struct mirror_entry *x = a;
    const struct mirror_entry *y = b;
    return memcmp(&x->digest, &y->digest, sizeof(x->digest));
}

static void check_headline(const struct headline *h)
{
    struct buf text;

    FUZZ_CHECK(strnlen(h->version, HEADLINE_VERSION_MAX) < HEADLINE_VERSION_MAX);
    FUZZ_CHECK(h->nalerts <= HEADLINE_ALERTS && headline_state(h) < HEADLINE_STATES);
    for (unsigned i = 0; i < h->nalerts; i++) {
        FUZZ_CHECK(strnlen(h->alert[i], HEADLINE_ALERT_MAX) < HEADLINE_ALERT_MAX);
    }
    buf_init(&text, 1 << 16);
    headline_print(h, NOW_S, &text);
    for (size_t i = 0; i < text.n; i++) {
        FUZZ_CHECK(text.p[i] >= ' ' && text.p[i] <= '~');
    }
    buf_fini(&text);
}

static size_t make_records(const uint8_t *data, size_t size, struct mirror_entry *ret)
{
    size_t n = 0;

    for (; size >= sizeof(ret->digest) && n < RECORDS_MAX; n++) {
        ret[n] =
            (struct mirror_entry){.class_type = SUMMARY_TYPE, .status = ENTRY_LISTED};
        memcpy(&ret[n].digest, data, sizeof(ret->digest));
        data += sizeof(ret->digest);
        size -= sizeof(ret->digest);
    }
    qsort(ret, n, sizeof(ret[0]), by_digest);
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct mirror_entry records[RECORDS_MAX];
    static struct period_view view;
    static struct period_view day;
    struct summary_reading r = {.now_s = NOW_S, .view = &view, .day = &day};
    struct errinfo why = {.text = ""};
    uint64_t sum[HISTORY_NUMBERS];

    FUZZ_CHECK(base_init() == ERR_OK);
    size_t n = make_records(data, size, records);
    period_view_init(&day, PERIOD_DAY, NOW_S);
    period_view_init(&view, PERIOD_MONTH, NOW_S);
    for (size_t i = 0; i < n; i++) {
        if (summary_take(&r, &records[i], &why) != ERR_OK) {
            FUZZ_CHECK(why.text[0] != '\0');
            break;
        }
    }
    check_headline(&r.headline);
    for (size_t i = 0; i < view.n; i++) {
        for (unsigned k = 0; k < HISTORY_NUMBERS; k++) {
            FUZZ_CHECK(view.bucket[i].number[k] <= SUMMARY_VALUE_MAX);
        }
    }
    period_sum(&view, sum);
    return 0;
}
