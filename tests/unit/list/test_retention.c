/* test_retention - periods of a list that ages: dropped ones, kept ones, and the log. */
#include "core/list/reader.h"
#include "core/list/retention.h"

#include "tests/unit/list/list_fixture.h"

enum { LENGTH = 1000, AFTER = 5000 };

static struct list_writer *open_ageing(struct fixture *f)
{
    struct list_writer *w = open_writer(f);
    list_writer_set_ageing(
        w, &(struct list_ageing){.period_s = LENGTH, .inactive_after_s = AFTER});
    return w;
}

/* Makes all contents of the list older by this: levels, and the heads of segments. */
static void grow_old(struct fixture *f, struct list_writer *w, uint64_t seconds)
{
    MUST(f, writer_settled(w, &f->info));
    for (uint32_t i = 0; i < w->current.nlevels; i++) {
        w->current.level[i].period_s -= seconds;
    }
    w->current.period_s -= seconds;
    w->period_next_s = w->current.period_s;
    MUST(f, current_write(f->dir, LIST_CURRENT, &w->current, &f->info));
    for (uint32_t n = 1; n <= w->tail.number; n++) {
        char path[256];
        struct segment s;
        MUST(f, segment_open(f->dir, n, &s, NULL, &f->info));
        struct segment_header h = s.header;
        segment_close(&s);
        h.created_s -= seconds;
        struct buf b;
        buf_init(&b, SEGMENT_HEADER_BYTES);
        segment_header_print(&h, &b);
        snprintf(path, sizeof(path), "%s/log.%08u", f->dir, n);
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        assert_true(fd >= 0);
        assert_int_equal(pwrite(fd, b.p, b.n, 0), (ssize_t)b.n);
        close(fd);
        buf_fini(&b);
    }
}

static uint64_t no_hit(void *context, uint64_t period_s)
{
    (void)period_s;
    return *(uint64_t *)context;
}

static enum list_answer ask_now(const struct list_reader *r, uint64_t n)
{
    return ask_number(r, n, writer_now_s());
}

/* 0..99 of a period long gone, of which 3 is listed by a person, 4 revoked, 90..99 in the present
 * one as well, and 100..149 in the present one only. */
static struct list_writer *make_old_list(struct fixture *f)
{
    struct list_writer *w = open_ageing(f);
    import_range(f, w, 0, 100, 0);
    add_number(f, w, 3);
    revoke_number(f, w, 4);
    grow_old(f, w, 7 * LENGTH);
    struct list_import_result result = import_range(f, w, 90, 150, 0);
    assert_int_equal(result.known, 10);
    assert_int_equal(result.added, 50);
    assert_int_equal(w->current.nlevels, 3); /* two of the former period */
    return w;
}

static void check_dropped(struct fixture *f)
{
    struct list_reader *r = open_reader(f);
    assert_null(list_reader_fault(r));
    for (uint64_t n = 0; n < 90; n++) {
        enum list_answer a = ask_now(r, n);
        if (n == 3) {
            assert_int_equal(a, LIST_CONFIRMED);
        } else if (n == 4) {
            assert_int_equal(a, LIST_REVOKED);
        } else {
            assert_true(is_absent(a));
        }
    }
    for (uint64_t n = 90; n < 150; n++) {
        assert_int_equal(ask_now(r, n), LIST_CONFIRMED);
    }
    struct list_stat s;
    list_reader_stat(r, &s);
    assert_int_equal(s.entries, 61);
    assert_int_equal(s.revoked, 1);
    list_reader_close(&r);
    assert_verified(f);
}

static void test_list_age__period_over_and_never_met__dropped_but_for_what_people_said(
    void **state)
{
    struct fixture *f = *state;
    struct list_writer *w = make_old_list(f);
    uint64_t last = 0;
    struct list_aged aged;
    MUST(f, list_age(w, no_hit, &last, writer_now_s(), &aged, &f->info));
    assert_int_equal(aged.periods, 1);
    assert_int_equal(aged.entries, 88);
    assert_int_equal(aged.kept, 2);
    check_dropped(f);
    MUST(f, list_age(w, no_hit, &last, writer_now_s(), &aged, &f->info));
    assert_int_equal(aged.periods, 0);
    MUST(f, list_rebuild(w, NULL, NULL, &f->info));
    list_writer_close(&w);
    check_dropped(f);
}

static void test_list_age__met_lately__stays(void **state)
{
    struct fixture *f = *state;
    struct list_writer *w = make_old_list(f);
    uint64_t last = writer_now_s() - 10;
    struct list_aged aged;
    MUST(f, list_age(w, no_hit, &last, writer_now_s(), &aged, &f->info));
    assert_int_equal(aged.periods, 0);
    struct list_reader *r = open_reader(f);
    assert_int_equal(ask_now(r, 10), LIST_CONFIRMED);
    list_reader_close(&r);
    list_writer_close(&w);
    assert_verified(f);
}

static void test_list_rebuild__list_that_ages__a_level_for_each_period(void **state)
{
    struct fixture *f = *state;
    struct list_writer *w = make_old_list(f);
    MUST(f, list_rebuild(w, NULL, NULL, &f->info));
    assert_int_equal(w->current.nlevels, 2);
    assert_true(w->current.level[0].period_s + 6 * LENGTH <
                w->current.level[1].period_s);
    list_writer_close(&w);
    assert_verified(f);
    w = open_ageing(f);
    uint64_t last = 0;
    struct list_aged aged;
    MUST(f, list_age(w, no_hit, &last, writer_now_s(), &aged, &f->info));
    assert_int_equal(aged.periods, 1);
    list_writer_close(&w);
    check_dropped(f);
}

static void test_list_add__tail_of_a_former_period__becomes_its_level(void **state)
{
    struct fixture *f = *state;
    struct list_writer *w = open_ageing(f);
    add_number(f, w, 1);
    grow_old(f, w, LENGTH);
    assert_int_equal(w->current.nlevels, 0);
    add_number(f, w, 2);
    assert_int_equal(w->current.nlevels, 1);
    assert_int_equal(w->current.level[0].entries, 1);
    assert_int_equal(w->current.level[0].period_s + LENGTH, w->current.period_s);
    list_writer_close(&w);
    struct list_reader *r = open_reader(f);
    assert_int_equal(ask_now(r, 1), LIST_CONFIRMED);
    assert_int_equal(ask_now(r, 2), LIST_CONFIRMED);
    list_reader_close(&r);
    assert_verified(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define LIST_TEST(name) \
    cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        LIST_TEST(
            test_list_age__period_over_and_never_met__dropped_but_for_what_people_said),
        LIST_TEST(test_list_age__met_lately__stays),
        LIST_TEST(test_list_rebuild__list_that_ages__a_level_for_each_period),
        LIST_TEST(test_list_add__tail_of_a_former_period__becomes_its_level),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
