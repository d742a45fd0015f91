/*
 * test_feed_apply - a list that a feed fills holds the feed's last state and the changes of people,
 * on every way, through merges, rebuilds, expiries and kills.
 */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/list/feed_apply.h"
#include "core/list/mirror.h"

#include "tests/unit/list/list_fixture.h"

enum { ENTRIES = 500, NOW = 1700000000, STEPS = 260, KEEP = 40, KILLED = 12 };

enum said { NOTHING, FED, ADDED, REVOKED };

struct model_entry {
    enum said said;
    uint32_t expiry_s; /* 0: never */
};

/* One item by number, in order of digest when they are given. */
struct change {
    struct refresh_item item;
    uint64_t number;
    char text[64];
};

struct model {
    struct fixture *f;
    struct list_writer *w;
    uint64_t random;
    uint32_t now_s;
    struct model_entry entry[ENTRIES];
    struct change change[ENTRIES];
    size_t n;
    size_t at;
    enum err fails; /* instead of the last item */
};

static uint64_t below(struct model *m, uint64_t n)
{
    m->random = m->random * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (m->random >> 33) % n;
}

static int setup(void **state)
{
    struct model *m = calloc(1, sizeof(*m));
    void *f = NULL;
    assert_non_null(m);
    fixture_setup(&f);
    m->f = f;
    m->now_s = NOW;
    m->random = 20261122;
    clock_set_for_test((uint64_t)NOW * 1000000, 1000000);
    m->w = open_writer(m->f);
    *state = m;
    return 0;
}

static int teardown(void **state)
{
    struct model *m = *state;
    void *f = m->f;
    list_writer_close(&m->w);
    clock_unset_for_test();
    fixture_teardown(&f);
    free(m);
    return 0;
}

static void forget_changes(struct model *m)
{
    m->n = 0;
    m->at = 0;
    m->fails = ERR_OK;
}

static struct refresh_item *note(struct model *m, uint64_t number)
{
    struct change *c = &m->change[m->n++];
    struct feature_entry e = entry_number(number, c->text);
    *c = (struct change){.number = number};
    e = entry_number(number, c->text);
    c->item.class_type = e.class_type;
    digest_make(&m->f->keys.ring[0], e.class_type, e.text, &c->item.digest);
    return &c->item;
}

static int by_digest(const void *a, const void *b)
{
    const struct change *x = a;
    const struct change *y = b;
    return digest_cmp(&x->item.digest, &y->item.digest);
}

static bool give(void *context, struct refresh_item *ret, enum err *retfail)
{
    struct model *m = context;
    if (m->at == m->n) {
        *retfail = m->fails;
        return false;
    }
    struct change *c = &m->change[m->at++];
    c->item.text = slice_str(c->text);
    *ret = c->item;
    return true;
}

static enum err try_apply(struct model *m, bool is_bulk, struct refresh_result *ret)
{
    struct refresh_input in = {.next = give,
                               .context = m,
                               .n = is_bulk ? REFRESH_BULK : m->n,
                               .source = SLICE_LIT("feed:test")};
    m->at = 0;
    return list_refresh(m->w, &in, ret, &m->f->info);
}

static struct refresh_result apply(struct model *m, bool is_bulk)
{
    struct refresh_result done;
    qsort(m->change, m->n, sizeof(m->change[0]), by_digest);
    MUST(m->f, try_apply(m, is_bulk, &done));
    return done;
}

static bool stands(const struct model *m, const struct model_entry *e)
{
    return e->said != NOTHING && (e->expiry_s == 0 || e->expiry_s > m->now_s);
}

/* The rule of refresh.h, in the model. */
static void model_change(struct model *m, const struct change *c)
{
    struct model_entry *e = &m->entry[c->number];
    const struct refresh_item *i = &c->item;
    if (stands(m, e) && e->said != FED) {
        return;
    }
    if (!i->has_left) {
        *e = (struct model_entry){FED, i->expiry_s};
    } else if (stands(m, e) && (e->expiry_s == 0 || e->expiry_s > i->expiry_s)) {
        e->expiry_s = i->expiry_s == 0 ? 1 : i->expiry_s;
    }
}

static void check(struct model *m, const char *after)
{
    struct list_reader *r = open_reader(m->f);
    assert_null(list_reader_fault(r));
    for (uint64_t n = 0; n < ENTRIES; n++) {
        const struct model_entry *e = &m->entry[n];
        struct list_provenance p;
        struct digest d = digest_of(r, n);
        char text[64];
        arena_reset(m->f->arena);
        enum list_answer a = list_reader_explain(r, &d, m->now_s, m->f->arena, &p);
        bool is_right = stands(m, e)
                            ? a == (e->said == REVOKED ? LIST_REVOKED : LIST_CONFIRMED)
                            : is_absent(a);
        if (!is_right) {
            fail_msg("after %s entry %llu is %s, the model says %d until %u", after,
                     (unsigned long long)n, list_answer_name(a), e->said, e->expiry_s);
        }
        if (stands(m, e) && e->said == FED) {
            assert_int_equal(p.expiry_s, e->expiry_s);
            assert_false(p.is_explicit);
            assert_true(slice_eq(p.text, entry_number(n, text).text));
            assert_string_equal(p.source, "feed:test");
        }
    }
    list_reader_close(&r);
}

static void some_changes(struct model *m)
{
    forget_changes(m);
    for (uint64_t n = below(m, 40); n < ENTRIES; n += 1 + below(m, 40)) {
        struct refresh_item *i = note(m, n);
        i->has_left = below(m, 2) == 0;
        i->expiry_s = below(m, 2) == 0 ? 0 : m->now_s + (uint32_t)below(m, KEEP);
    }
}

static void say(struct model *m)
{
    uint64_t n = below(m, ENTRIES);
    if (below(m, 2) == 0) {
        revoke_number(m->f, m->w, n);
        m->entry[n] = (struct model_entry){REVOKED, 0};
    } else {
        char text[64];
        struct feature_entry e = entry_number(n, text);
        uint32_t expiry_s = m->now_s + 1 + (uint32_t)below(m, KEEP);
        MUST(m->f, list_add(m->w, &e, SLICE_LIT("test"), expiry_s, &m->f->info));
        m->entry[n] = (struct model_entry){ADDED, expiry_s};
    }
}

static void test_refresh__random_sequences__list_is_as_the_model(void **state)
{
    struct model *m = *state;
    for (unsigned s = 0; s < STEPS; s++) {
        uint64_t what = below(m, 10);
        if (what < 6) {
            some_changes(m);
            for (size_t i = 0; i < m->n; i++) {
                model_change(m, &m->change[i]);
            }
            (void)apply(m, what < 3);
        } else if (what < 7) {
            say(m);
        } else if (what < 8) {
            m->now_s += (uint32_t)below(m, KEEP);
            clock_set_for_test((uint64_t)m->now_s * 1000000, 1000000);
        } else if (what < 9) {
            list_writer_close(&m->w);
            m->w = open_writer(m->f);
        } else {
            MUST(m->f, list_rebuild(m->w, NULL, NULL, &m->f->info));
        }
        check(m, (const char *[]){"bulk", "bulk", "bulk", "few", "few", "few", "person",
                                  "time", "open", "rebuild"}[what]);
    }
    list_writer_close(&m->w);
    assert_verified(m->f);
}

static void test_refresh__when_repeated__then_nothing_is_written(void **state)
{
    struct model *m = *state;
    for (unsigned bulk = 0; bulk < 2; bulk++) {
        forget_changes(m);
        for (uint64_t n = 0; n < 100; n++) {
            struct refresh_item *i = note(m, bulk * 100 + n);
            i->expiry_s = n % 2 == 0 ? 0 : m->now_s + 100;
        }
        struct refresh_result first = apply(m, bulk == 1);
        assert_int_equal(first.entered, 100);
        uint64_t bytes = list_writer_log_bytes(m->w);
        for (unsigned again = 0; again < 2; again++) {
            struct refresh_result second = apply(m, again == 1);
            assert_int_equal(second.known, 100);
            assert_int_equal(second.entered + second.changed + second.left, 0);
        }
        assert_int_equal(list_writer_log_bytes(m->w), bytes);
    }
}

static uint32_t first_seen(const struct model *m, uint64_t n)
{
    struct list_reader *r = open_reader(m->f);
    struct list_provenance p;
    struct digest d = digest_of(r, n);
    assert_int_equal(list_reader_explain(r, &d, m->now_s, m->f->arena, &p),
                     LIST_CONFIRMED);
    list_reader_close(&r);
    return p.first_seen_s;
}

static void test_entry__when_it_comes_back_after_its_end__then_its_first_date_is_kept(
    void **state)
{
    struct model *m = *state;
    static const bool has_left[] = {false, true, false};
    for (unsigned i = 0; i < 3; i++) {
        forget_changes(m);
        note(m, 1)->has_left = has_left[i];
        struct refresh_item *told = note(m, 2);
        told->has_left = has_left[i];
        told->first_seen_s = NOW - 1000 - i;
        struct refresh_result done = apply(m, false);
        assert_int_equal(has_left[i] ? done.left : done.entered, 2);
        struct list_reader *r = open_reader(m->f);
        uint64_t listed = 7;
        uint64_t revoked = 7;
        list_reader_totals(r, &listed, &revoked);
        assert_int_equal(listed,
                         has_left[i] ? 0 : 2); /* what left at once is not counted */
        list_reader_close(&r);
        m->now_s += 50;
        clock_set_for_test((uint64_t)m->now_s * 1000000, 1000000);
    }
    assert_int_equal(first_seen(m, 1), NOW);
    assert_int_equal(first_seen(m, 2), NOW - 1002);
    MUST(m->f, list_rebuild(m->w, NULL, NULL, &m->f->info));
    assert_int_equal(first_seen(m, 1), NOW);
    assert_int_equal(first_seen(m, 2), NOW - 1002);
}

static void test_refresh__when_the_source_breaks_off__then_it_fails(void **state)
{
    struct model *m = *state;
    struct refresh_result done;
    for (unsigned bulk = 0; bulk < 2; bulk++) {
        forget_changes(m);
        (void)note(m, 3);
        m->fails = ERR_CORRUPT;
        assert_int_equal(try_apply(m, bulk == 1, &done), ERR_CORRUPT);
        forget_changes(m);
        (void)note(m, 3);
        (void)note(m, 3);
        assert_int_equal(try_apply(m, bulk == 1, &done), ERR_RANGE);
    }
}

/* A child that is killed at any time; its last operation is then repeated here. */
static void test_refresh__when_killed__then_repeating_it_makes_it_whole(void **state)
{
    struct model *m = *state;
    for (unsigned k = 0; k < KILLED; k++) {
        forget_changes(m);
        for (uint64_t n = 0; n < ENTRIES; n++) {
            struct refresh_item *i = note(m, n);
            i->has_left = (n + k) % 3 == 0;
            i->expiry_s = (n + k) % 5 == 0 ? 0 : m->now_s + 1000 + k;
            model_change(m, &m->change[n]);
        }
        qsort(m->change, m->n, sizeof(m->change[0]), by_digest);
        list_writer_close(&m->w);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            struct refresh_result done;
            m->w = open_writer(m->f);
            (void)try_apply(m, k % 2 == 0, &done);
            _exit(0);
        }
        struct timespec t = {0, (long)below(m, 12) * 400 * 1000};
        (void)nanosleep(&t, NULL);
        (void)kill(child, SIGKILL);
        (void)waitpid(child, NULL, 0);
        m->w = open_writer(m->f);
        (void)apply(m, k % 4 < 2);
        check(m, "kill");
        list_writer_close(&m->w);
        assert_verified(m->f);
        m->w = open_writer(m->f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_refresh__random_sequences__list_is_as_the_model, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_refresh__when_repeated__then_nothing_is_written, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_entry__when_it_comes_back_after_its_end__then_its_first_date_is_kept,
            setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_refresh__when_the_source_breaks_off__then_it_fails, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_refresh__when_killed__then_repeating_it_makes_it_whole, setup,
            teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
