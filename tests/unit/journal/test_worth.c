/*
 * test_worth - the numbers of rules and lists against a plain count over the same random messages.
 */
#include "core/base/array.h"
#include "core/base/prng.h"
#include "core/list/list.h"
#include "core/list/listset.h"
#include "core/verdict/journal/worth.h"
#include "core/verdict/verdict.h"

#include "tests/unit/unit.h"

enum {
    DAY_S = 86400,
    FIRST_DAY = 20000,
    DAYS = 20,
    MESSAGES = 3000,
    RULES = 7,
    LISTS = 4,
    ORIGINS = 2,
    SECOND = 1000000
};
#define CASE_EPOCH_S UINT64_C(1577836800)

static const char *const rules[RULES] = {
    "RULE_A", "RULE_B", "BULK_C", "TRAIT_D", "RULE_E", "NEVER_HITS", "REPORTED_SPAM"};
static const char *const lists[LISTS] = {"phish", "a-b", "a_c", "no-hit"};
static const char *const list_symbols[LISTS] = {"LIST_PHISH", "LIST_A_B", "LIST_A_C",
                                                "LIST_NO_HIT"};
static const char *const origins[ORIGINS] = {"", "alpha"};

/* A message, as bits. */
struct message {
    uint64_t at_s;
    uint64_t case_id;
    bool is_judged;
    unsigned rules;       /* bit of each that hit */
    unsigned scored;      /* and has a score */
    unsigned hits;        /* bit list * ORIGINS + origin */
    unsigned list_scored; /* bit of a list whose symbol has a score */
    int opinion;          /* 1 spam, -1 ham, 0 none */
};

static struct message messages[MESSAGES];

static uint64_t draw(uint64_t *x, uint64_t n)
{
    *x += 1;
    return prng_mix(*x) % n;
}

static void make_messages(uint64_t seed)
{
    uint64_t x = seed * 1000003;

    for (size_t i = 0; i < MESSAGES; i++) {
        struct message *m = &messages[i];
        /* in order, with some that come late */
        uint64_t at = (uint64_t)i * DAYS * DAY_S / MESSAGES;
        at -= draw(&x, 10) == 0 && at > 3000 ? draw(&x, 3000) : 0;
        m->at_s = (uint64_t)FIRST_DAY * DAY_S + at;
        m->case_id = ((m->at_s - CASE_EPOCH_S) << 28) + i;
        m->is_judged = draw(&x, 8) != 0;
        m->rules = (unsigned)(draw(&x, 1 << RULES) & draw(&x, 1 << RULES)) & ~(1U << 5);
        m->scored = m->rules & (unsigned)draw(&x, 1 << RULES);
        m->hits = (unsigned)(draw(&x, 64) & draw(&x, 64)); /* none of the last list */
        m->list_scored = (unsigned)draw(&x, 8);
        m->opinion = draw(&x, 5) == 0 ? (draw(&x, 2) == 0 ? 1 : -1) : 0;
    }
}

static bool has_list(const struct message *m, unsigned list)
{
    return (m->hits >> (list * ORIGINS) & 3) != 0;
}

static void record_of(const struct message *m, struct record *r)
{
    record_init(r, RECORD_MESSAGE);
    r->time_us = m->at_s * SECOND + 5;
    r->case_id = m->case_id;
    r->unjudged = m->is_judged ? SLICE_NONE : SLICE_LIT("outgoing");
    for (unsigned i = 0; i < RULES; i++) {
        if ((m->rules >> i & 1) != 0) {
            r->symbol[r->nsymbols++] = (struct record_symbol){
                .name = slice_str(rules[i]), .score = (m->scored >> i & 1) ? 1.5 : 0};
        }
    }
    for (unsigned l = 0; l < LISTS; l++) {
        if (has_list(m, l)) {
            r->symbol[r->nsymbols++] =
                (struct record_symbol){.name = slice_str(list_symbols[l]),
                                       .score = (m->list_scored >> l & 1) ? 4 : 0};
        }
        for (unsigned o = 0; o < ORIGINS; o++) {
            struct record_hit h = {.list = slice_str(lists[l]),
                                   .origin = slice_str(origins[o]),
                                   .answer = LIST_CONFIRMED};
            if ((m->hits >> (l * ORIGINS + o) & 1) != 0) {
                r->hit[r->nhits++] = h; /* two values of the list: one hit */
                r->hit[r->nhits++] = h;
            } else { /* neither of them is a hit */
                h.answer = LIST_REVOKED;
                r->hit[r->nhits++] = h;
                h.answer = LIST_CONFIRMED;
                h.silence = LIST_SUPPRESSED_PROTECTED;
                r->hit[r->nhits++] = h;
            }
        }
    }
}

/* ---- the plain count ---- */

/* Scores that something else than this rule and this list gave. */
static unsigned others(const struct message *m, int rule, int list)
{
    unsigned n = 0;

    for (int i = 0; i < RULES; i++) {
        n += i != rule && (m->scored >> i & 1);
    }
    for (int l = 0; l < LISTS; l++) {
        n += l != list && has_list(m, (unsigned)l) && (m->list_scored >> l & 1);
    }
    return n;
}

static void count_plain(size_t upto, uint64_t today, unsigned days, int rule, int list,
                        int origin, bool has_reports, struct worth_numbers *ret)
{
    uint64_t newest = 0;
    *ret = (struct worth_numbers){.hits = 0};

    for (size_t i = 0; i < upto; i++) {
        const struct message *m = &messages[i];
        const uint64_t day = m->at_s / DAY_S;
        newest = day > newest ? day : newest;
        const bool is_hit = rule >= 0 ? (m->rules >> rule & 1) != 0
                                      : (m->hits >> (list * ORIGINS + origin) & 1) != 0;
        const bool has_twin = list >= 0 && (m->hits >> (list * ORIGINS) & 3) == 3;
        if (!m->is_judged || !is_hit || day > today || today - day >= days) {
            continue;
        }
        ret->today += day == today;
        ret->week += today - day < WORTH_WEEK;
        ret->hits++;
        ret->scored += rule >= 0 ? m->scored >> rule & 1 : m->list_scored >> list & 1;
        ret->alone += others(m, rule, list) == 0 && !has_twin;
        ret->spam += has_reports && m->opinion > 0;
        ret->ham += has_reports && m->opinion < 0;
        ret->last_s = m->at_s > ret->last_s ? m->at_s : ret->last_s;
    }
}

static void assert_same(const struct worth_numbers *got,
                        const struct worth_numbers *want)
{
    assert_int_equal(got->today, want->today);
    assert_int_equal(got->week, want->week);
    assert_int_equal(got->hits, want->hits);
    assert_int_equal(got->scored, want->scored);
    assert_int_equal(got->alone, want->alone);
    assert_int_equal(got->spam, want->spam);
    assert_int_equal(got->ham, want->ham);
    assert_int_equal(got->last_s, want->last_s);
}

static void assert_counted(const struct worth *w, size_t upto, uint64_t today,
                           unsigned days, bool has_reports)
{
    struct worth_numbers got;
    struct worth_numbers want;

    for (int i = 0; i < RULES; i++) {
        worth_of_rule(w, slice_str(rules[i]), today, &got);
        count_plain(upto, today, days, i, -1, 0, has_reports, &want);
        assert_same(&got, &want);
    }
    for (int l = 0; l < LISTS; l++) {
        for (int o = 0; o < ORIGINS; o++) {
            worth_of_list(w, slice_str(lists[l]), slice_str(origins[o]), today, &got);
            count_plain(upto, today, days, -1, l, o, has_reports, &want);
            assert_same(&got, &want);
        }
    }
}

/* The reports about the first n messages. */
static struct report_cases reports_of(size_t n)
{
    struct report_cases c = {.v = calloc(n + 1, sizeof(*c.v))};

    for (size_t i = 0; i < n; i++) {
        if (messages[i].opinion != 0) {
            c.v[c.n++] = (struct report_case){.case_id = messages[i].case_id,
                                              .is_spam = messages[i].opinion > 0};
        }
    }
    qsort(c.v, c.n, sizeof(*c.v), (int (*)(const void *, const void *))array_u64_cmp);
    return c;
}

static void add_range(struct worth *w, size_t from, size_t to)
{
    static struct record r;

    for (size_t i = from; i < to; i++) {
        record_of(&messages[i], &r);
        worth_add(w, &r);
    }
}

/* Seeks all messages that were reported later. */
static void seek(struct worth *w, size_t upto)
{
    static struct record r;
    uint64_t from_s = 0;
    uint64_t to_s = 0;

    if (worth_sought(w, &from_s, &to_s)) {
        assert_true(from_s <= to_s);
        for (size_t i = 0; i < upto; i++) {
            if (messages[i].at_s >= from_s && messages[i].at_s <= to_s) {
                record_of(&messages[i], &r);
                worth_note(w, &r);
            }
        }
        worth_sought_all(w);
    }
    assert_false(worth_sought(w, &from_s, &to_s));
}

static void set(struct worth *w, size_t n)
{
    struct report_cases c = reports_of(n);

    assert_true(worth_set_reports(w, &c));
    report_cases_fini(&c);
}

static void test_worth__when_days_go_by__then_it_is_the_plain_count(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        make_messages(seed);
        for (unsigned days = 1; days <= 21; days += 4) {
            struct worth *w = worth_new(days);
            for (size_t i = 0; i < MESSAGES; i += 300) {
                add_range(w, i, i + 300);
                uint64_t newest = 0;
                for (size_t k = 0; k < i + 300; k++) {
                    const uint64_t day = messages[k].at_s / DAY_S;
                    newest = day > newest ? day : newest;
                }
                assert_counted(w, i + 300, newest, days, false);
            }
            /* nothing came for some days */
            assert_counted(w, MESSAGES, FIRST_DAY + DAYS + 1, days > 2 ? days : 1,
                           false);
            worth_free(&w);
        }
    }
}

static void test_reports__when_before_or_after_the_messages__then_they_count_once(
    void **state)
{
    (void)state;
    make_messages(4);
    const uint64_t today = FIRST_DAY + DAYS - 1;
    struct worth *before = worth_new(30);
    struct worth *after = worth_new(30);

    set(before, MESSAGES);
    add_range(before, 0, MESSAGES);
    assert_counted(before, MESSAGES, today, 30, true);
    add_range(after, 0, MESSAGES / 2);
    set(after, MESSAGES);
    seek(after, MESSAGES / 2);
    add_range(after, MESSAGES / 2, MESSAGES);
    assert_counted(after, MESSAGES, today, 30, true);
    seek(after, MESSAGES); /* known ones are not counted again */
    set(after, MESSAGES);
    assert_counted(after, MESSAGES, today, 30, true);
    for (size_t i = 0; i < MESSAGES; i++) { /* changed, and undone */
        messages[i].opinion = i % 3 == 0 ? 0 : -messages[i].opinion;
    }
    set(after, MESSAGES);
    assert_counted(after, MESSAGES, today, 30, true);
    worth_clear(after);
    assert_counted(after, 0, today, 30, true);
    add_range(after, 0, MESSAGES);
    assert_counted(after, MESSAGES, today, 30, true);
    worth_free(&before);
    worth_free(&after);
}

static void test_a_sought_message__when_its_record_follows__then_it_counts_once(
    void **state)
{
    static struct record r;
    struct worth_numbers n;
    struct worth *w = worth_new(14);

    (void)state;
    make_messages(5);
    messages[0].is_judged = true;
    messages[0].rules = 1;
    messages[0].opinion = -1;
    set(w, 1);
    record_of(&messages[0], &r);
    worth_note(w, &r); /* it was still in the ring */
    worth_add(w, &r);
    worth_of_rule(w, SLICE_LIT("RULE_A"), messages[0].at_s / DAY_S, &n);
    assert_int_equal(n.hits, 1);
    assert_int_equal(n.ham, 1);
    worth_free(&w);
}

static void test_rows__when_there_are_too_many__then_the_rest_is_not_counted(
    void **state)
{
    static struct record r;
    struct worth *w = worth_new(1);
    struct worth_totals t;
    struct worth_numbers n;
    char name[VERDICT_SYMBOL_NAME];

    (void)state;
    for (unsigned i = 0; i <= WORTH_ROWS; i++) {
        record_init(&r, RECORD_MESSAGE);
        r.time_us = (uint64_t)FIRST_DAY * DAY_S * SECOND;
        (void)snprintf(name, sizeof(name), "RULE_%u", i);
        r.nsymbols = 1;
        r.symbol[0] = (struct record_symbol){.name = slice_str(name), .score = 1};
        worth_add(w, &r);
    }
    worth_totals(w, FIRST_DAY, &t);
    assert_int_equal(t.judged, WORTH_ROWS + 1);
    assert_true(t.is_cut);
    assert_int_equal(t.first_s, (uint64_t)FIRST_DAY * DAY_S);
    worth_of_rule(w, SLICE_LIT("RULE_32767"), FIRST_DAY, &n);
    assert_int_equal(n.alone, 1);
    worth_of_rule(w, SLICE_LIT("RULE_32768"), FIRST_DAY, &n);
    assert_int_equal(n.hits, 0);
    worth_clear(w);
    worth_totals(w, FIRST_DAY, &t);
    assert_true(t.judged == 0 && t.first_s == 0 && !t.is_cut);
    worth_of_rule(w, SLICE_LIT("RULE_0"), FIRST_DAY, &n);
    assert_int_equal(n.hits, 0);
    worth_free(&w);
}

static void test_useless__is_what_nobody_would_miss(void **state)
{
    struct worth_numbers n = {.hits = 0};

    (void)state;
    assert_string_equal(worth_useless(&n), "no hit");
    n.hits = 3;
    assert_string_equal(worth_useless(&n), "never alone");
    n.alone = 1;
    assert_null(worth_useless(&n));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worth__when_days_go_by__then_it_is_the_plain_count),
        cmocka_unit_test(
            test_reports__when_before_or_after_the_messages__then_they_count_once),
        cmocka_unit_test(
            test_a_sought_message__when_its_record_follows__then_it_counts_once),
        cmocka_unit_test(
            test_rows__when_there_are_too_many__then_the_rest_is_not_counted),
        cmocka_unit_test(test_useless__is_what_nobody_would_miss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
