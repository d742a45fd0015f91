/* test_summary - a summary as records and back, and summaries that no honest server sends. */
#include "core/base/le.h"
#include "core/summary/summary.h"

#include "tests/unit/unit.h"

static const uint64_t now = 1800000000;

static struct summary sent;
static struct mirror_entry records[SUMMARY_RECORDS_MAX + 1];
static size_t nrecords;
static struct period_view day;
static struct period_view view;
static struct summary_reading reading;

static void fill(struct period_view *v, enum period p, uint64_t every)
{
    period_view_init(v, p, now);
    for (size_t i = 0; i < v->n; i++) {
        for (unsigned n = 0; n < SUMMARY_NUMBERS; n++) {
            v->bucket[i].number[n] = (i + n) % every == 0 ? i * 10 + n + 1 : 0;
        }
    }
}

static void make_summary(uint64_t every)
{
    sent = (struct summary){.headline = {.at_s = now - 30,
                                         .has_run = true,
                                         .is_running = true,
                                         .needs = 3,
                                         .has_feeds = true,
                                         .feed_good_s = now - 100,
                                         .version = "1.2.3-rc1+git",
                                         .nalerts = 2,
                                         .alert = {"GillnetDiskFull", "GillnetX"}}};
    fill(&sent.day, PERIOD_DAY, every);
    fill(&sent.month, PERIOD_MONTH, every);
    fill(&sent.years, PERIOD_YEARS, every);
    period_sum(&sent.day, sent.headline.today);
    nrecords = summary_print(&sent, records);
}

static enum err take(enum period p, uint64_t now_s)
{
    struct errinfo why;
    enum err e = ERR_OK;

    period_view_init(&day, PERIOD_DAY, now_s);
    period_view_init(&view, p, now_s);
    reading = (struct summary_reading){.now_s = now_s, .view = &view, .day = &day};
    for (size_t i = 0; e == ERR_OK && i < nrecords; i++) {
        e = summary_take(&reading, &records[i], &why);
    }
    return e;
}

/* The last buckets of v, as they are later_s after now. */
static void assert_view(const struct period_view *v, uint64_t later)
{
    for (size_t i = 0; i + later < v->n; i++) {
        assert_int_equal(view.bucket[i].at_s, v->bucket[i + later].at_s);
        assert_memory_equal(view.bucket[i].number, v->bucket[i + later].number,
                            SUMMARY_NUMBERS * sizeof(uint64_t));
    }
    for (size_t i = v->n - later; i < v->n; i++) {
        assert_int_equal(view.bucket[i].number[0], 0);
    }
}

static void test_print__then_take__the_same(void **state)
{
    (void)state;
    for (uint64_t every = 1; every < 5; every++) {
        make_summary(every);
        assert_true(nrecords <= SUMMARY_RECORDS_MAX);
        for (size_t i = 1; i < nrecords; i++) {
            assert_true(digest_cmp(&records[i - 1].digest, &records[i].digest) < 0);
        }
        assert_int_equal(take(PERIOD_DAY, now), ERR_OK);
        assert_view(&sent.day, 0);
        assert_int_equal(take(PERIOD_MONTH, now), ERR_OK);
        assert_view(&sent.month, 0);
        assert_int_equal(take(PERIOD_YEARS, now), ERR_OK);
        assert_view(&sent.years, 0);
        assert_int_equal(take(PERIOD_MONTH, now + 3 * 3600), ERR_OK);
        assert_view(&sent.month, 3);
        assert_int_equal(take(PERIOD_WEEK, now), ERR_OK);
        assert_int_equal(view.bucket[view.n - 1].number[0],
                         sent.month.bucket[sent.month.n - 1].number[0]);
        const struct headline *h = &reading.headline;
        assert_true(reading.has_time);
        assert_int_equal(h->at_s, now - 30);
        assert_true(h->has_run && h->is_running && h->has_feeds);
        assert_int_equal(h->needs, 3);
        assert_int_equal(h->feed_good_s, now - 100);
        assert_string_equal(h->version, "1.2.3-rc1+git");
        assert_int_equal(h->nalerts, 2);
        assert_string_equal(h->alert[0], "GillnetDiskFull");
        assert_string_equal(h->alert[1], "GillnetX");
    }
}

/* ---- lies ---- */

static struct mirror_entry record(uint64_t kind, uint64_t number, uint64_t index,
                                  uint64_t value)
{
    struct mirror_entry e = {.class_type = SUMMARY_TYPE, .status = ENTRY_LISTED};
    uint64_t key = kind << 56 | number << 48 | index;
    char bytes[DIGEST_BYTES];

    for (unsigned i = 0; i < 8; i++) {
        bytes[i] = (char)(key >> (56 - 8 * i));
    }
    le_put(bytes + 8, value, 8);
    memcpy(e.digest.b, bytes, DIGEST_BYTES);
    return e;
}

static uint64_t text(const char *s)
{
    char piece[8] = {0};

    memcpy(piece, s, strlen(s));
    return le_get(piece, 8);
}

static void test_take__lies__are_refused(void **state)
{
    const uint64_t ten = now / 600;
    const struct {
        enum err want;
        struct mirror_entry e;
    } rows[] = {
        {ERR_RANGE, record(SUMMARY_STATE, SUMMARY_AT, 0, now + SUMMARY_SKEW_S + 1)},
        {ERR_RANGE, record(SUMMARY_STATE, SUMMARY_AT, 0, UINT64_MAX)},
        {ERR_OK, record(SUMMARY_STATE, SUMMARY_AT, 0, now + SUMMARY_SKEW_S)},
        {ERR_RANGE, record(SUMMARY_TEN, 0, ten + 1, 1)},
        {ERR_RANGE, record(SUMMARY_HOUR, 0, now / 3600 + 1, 1)},
        {ERR_RANGE, record(SUMMARY_DAY, 0, now / 86400 + 1, 1)},
        {ERR_RANGE, record(SUMMARY_DAY, 0, (UINT64_C(1) << 48) - 1, 1)},
        {ERR_RANGE, record(SUMMARY_TEN, 0, ten, SUMMARY_VALUE_MAX + 1)},
        {ERR_RANGE, record(SUMMARY_TEN, 0, ten, UINT64_MAX)},
        {ERR_OK, record(SUMMARY_TEN, 0, ten, SUMMARY_VALUE_MAX)},
        {ERR_OK, record(SUMMARY_TEN, 0, 0, 1)},     /* long ago: not in the view */
        {ERR_OK, record(SUMMARY_TEN, 200, ten, 1)}, /* of a later version */
        {ERR_OK, record(9, 0, 0, UINT64_MAX)},
        {ERR_OK, record(SUMMARY_STATE, 99, 0, UINT64_MAX)},
        {ERR_CORRUPT, record(SUMMARY_TEXT, 0, 0, text("<b>"))},
        {ERR_CORRUPT, record(SUMMARY_TEXT, 0, 0, text("a\tb"))},
        {ERR_CORRUPT, record(SUMMARY_TEXT, 1, 0, text("a\xc3\xa4"))},
        {ERR_CORRUPT, record(SUMMARY_TEXT, 1, 0, 0)},
        {ERR_CORRUPT,
         record(SUMMARY_TEXT, 1, 0, UINT64_C(0x61000061))}, /* a, 0, 0, a */
        {ERR_CORRUPT, record(SUMMARY_TEXT, 1, 1, text("begins"))},
        {ERR_OK, record(SUMMARY_TEXT, HEADLINE_ALERTS + 1, 0, text("<"))},
        {ERR_OK, record(SUMMARY_TEXT, HEADLINE_ALERTS, 0, text("last"))},
    };
    struct errinfo why;

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        nrecords = 0;
        (void)take(PERIOD_DAY, now);
        assert_int_equal(summary_take(&reading, &rows[i].e, &why), rows[i].want);
        assert_true(reading.headline.nalerts <= HEADLINE_ALERTS);
    }
}

static void test_take__records_of_other_forms__are_refused(void **state)
{
    struct errinfo why;

    (void)state;
    nrecords = 0;
    (void)take(PERIOD_DAY, now);
    struct mirror_entry e = record(SUMMARY_TEN, 0, 1, 1);
    e.class_type = 3;
    assert_int_equal(summary_take(&reading, &e, &why), ERR_CORRUPT);
    e.class_type = SUMMARY_TYPE;
    e.status = ENTRY_REVOKED;
    assert_int_equal(summary_take(&reading, &e, &why), ERR_CORRUPT);
    records[0] = record(SUMMARY_STATE, SUMMARY_AT, 0, now);
    records[1] = record(SUMMARY_STATE, SUMMARY_AT, 0, now + 1); /* two values */
    nrecords = 2;
    assert_int_equal(take(PERIOD_DAY, now), ERR_CORRUPT);
}

static void test_take__texts_without_end__are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < HEADLINE_ALERT_MAX / 8; i++) {
        records[i] = record(SUMMARY_TEXT, 5, i, text("12345678"));
    }
    nrecords = HEADLINE_ALERT_MAX / 8;
    assert_int_equal(take(PERIOD_DAY, now), ERR_CORRUPT);
    nrecords--;
    assert_int_equal(take(PERIOD_DAY, now), ERR_OK);
    assert_int_equal(strlen(reading.headline.alert[4]), HEADLINE_ALERT_MAX - 8);
    assert_int_equal(reading.headline.nalerts, 5); /* those before it are empty */
}

static void test_take__too_many__are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i <= SUMMARY_RECORDS_MAX; i++) {
        records[i] = record(SUMMARY_TEN, 0, i + 1, 1);
    }
    nrecords = SUMMARY_RECORDS_MAX + 1;
    assert_int_equal(take(PERIOD_DAY, now), ERR_LIMIT);
    nrecords--;
    assert_int_equal(take(PERIOD_DAY, now), ERR_OK);
}

/* Random records never lead to values beyond the bounds. */
static void test_take__random_records__bounded(void **state)
{
    uint64_t seed = 88172645463325252u;
    struct errinfo why;

    (void)state;
    for (int round = 0; round < 200000; round++) {
        struct mirror_entry e = {.class_type = SUMMARY_TYPE, .status = ENTRY_LISTED};
        if (round % 100 == 0) {
            nrecords = 0;
            (void)take(round % 200 == 0 ? PERIOD_YEARS : PERIOD_DAY, now);
        }
        for (unsigned i = 0; i < DIGEST_BYTES; i++) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            e.digest.b[i] = (uint8_t)(i == 0 ? seed % 7 : i == 1 ? seed % 20 : seed);
        }
        reading.last = 0;
        if (summary_take(&reading, &e, &why) == ERR_OK) {
            assert_true(reading.headline.at_s <= now + SUMMARY_SKEW_S);
            assert_true(reading.headline.nalerts <= HEADLINE_ALERTS);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_print__then_take__the_same),
        cmocka_unit_test(test_take__lies__are_refused),
        cmocka_unit_test(test_take__records_of_other_forms__are_refused),
        cmocka_unit_test(test_take__texts_without_end__are_refused),
        cmocka_unit_test(test_take__too_many__are_refused),
        cmocka_unit_test(test_take__random_records__bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
