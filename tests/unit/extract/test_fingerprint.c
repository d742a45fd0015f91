/*
 * test_imprint - which messages have the same fingerprints, and which have none.
 */
#include <stdio.h>

#include "core/base/base.h"
#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/message/extract/extract.h"

#include "tests/unit/extract/limits.h"
#include "tests/unit/unit.h"

enum { ARENA = 64 << 20, TEXT = 1 << 16, KEYS_MAX = 24, TYPES = 8 };

static const struct hashkey ring = {1, "key of the tests"};

#define BODY                                                                        \
    "Dear friend, this offer of ours ends in a few days and you will never see it " \
    "again, so order now while the stock of our warehouse lasts, and tell your "    \
    "neighbours too. Yours truly, the management of the company."
#define OTHER                                                                          \
    "The committee meets on the second floor, please bring the minutes of our last "   \
    "meeting with you and read them beforehand, as we shall vote upon the budget for " \
    "the coming year without further discussion in the hall."

struct message {
    struct arena *arena;
    struct featureset *set;
};

static int setup(void **state)
{
    (void)state;
    return base_init() == ERR_OK ? 0 : -1;
}

static struct extract *begin(struct arena *arena, bool with_keys)
{
    struct extract_limits limits = limits_default;
    if (with_keys) {
        shingle_keys_make(&ring, (uint64_t)700 * SHINGLE_EPOCH_S, &limits.imprint.keys);
    }
    struct extract *x = extract_new(arena, &limits, NULL, 0);
    assert_non_null(x);
    return x;
}

static struct message read_message(const char *text, size_t step, bool with_keys)
{
    static const uint8_t client[16] = {0, 0, 0,   0,   0,   0, 0, 0,
                                       0, 0, 255, 255, 192, 0, 2, 1};
    struct message m = {.arena = arena_new(ARENA)};
    struct slice rest = slice_str(text);
    struct extract *x = begin(m.arena, with_keys);
    extract_client(x, client, SLICE_NONE);
    while (rest.n > 0) {
        extract_raw(x, slice_head(rest, step));
        rest = slice_from(rest, step);
    }
    m.set = extract_finish(x);
    return m;
}

static struct message read_whole(const char *text)
{
    return read_message(text, TEXT, true);
}

static void drop(struct message *m)
{
    arena_free(&m->arena);
}

/* A band's key is a number in hexadecimal, of which each bit counts. */
static void test_bands__of_many_texts__have_all_digits(void **state)
{
    enum { TEXTS = 10, HEX = 16 };
    bool is_seen[128] = {false};

    (void)state;
    for (unsigned i = 0; i < TEXTS; i++) {
        char text[1024];
        (void)snprintf(text, sizeof(text), "Subject: x\n\n" BODY " %u %s", i,
                       i % 2 == 0 ? OTHER : "");
        struct message m = read_whole(text);
        for (size_t k = 0; k < featureset_count(m.set); k++) {
            const struct feature *f = featureset_at(m.set, k);
            for (size_t at = 1; f->type == FEATURE_text_band && at <= HEX; at++) {
                is_seen[f->text.p[f->text.n - at] & 127] = true;
            }
        }
        drop(&m);
    }
    for (const char *digit = "0123456789abcdef"; *digit != '\0'; digit++) {
        assert_true(is_seen[(unsigned char)*digit]);
    }
}

static const enum feature_type types[TYPES] = {
    FEATURE_subject_skeleton, FEATURE_trait,           FEATURE_text_band,
    FEATURE_html_structure,   FEATURE_link_set,        FEATURE_text,
    FEATURE_template_sender,  FEATURE_template_network};

/* Whether both have features of this type, and the same. */
static bool same(const struct message *a, const struct message *b,
                 enum feature_type type)
{
    size_t n = featureset_count_type(a->set, type);
    if (n == 0 || n != featureset_count_type(b->set, type)) {
        return false;
    }
    for (size_t i = 0; i < featureset_count(a->set); i++) {
        const struct feature *f = featureset_at(a->set, i);
        if (f->type == type && !featureset_has(b->set, type, f->text)) {
            return false;
        }
    }
    return true;
}

#define PLAIN(text) "From: a@b.com\nSubject: s\n\n" text "\n"
#define ALTERNATIVE(plain, html)                                                      \
    "From: a@b.com\nContent-Type: multipart/alternative; boundary=x\n\n--x\n\n" plain \
    "\n--x\nContent-Type: text/html\n\n" html "\n--x--\n"

struct pair {
    const char *what;
    const char *a;
    const char *b;
    bool is_same;
};

static const struct pair pairs[] = {
    {"the same", PLAIN(BODY), PLAIN(BODY), true},
    {"another text", PLAIN(BODY), PLAIN(OTHER), false},
    {"other spaces", PLAIN(BODY), PLAIN(" \n\n  " BODY "\n\n\n"), true},
    {"HTML", PLAIN(BODY), "From: a@b.com\nContent-Type: text/html\n\n<p>" BODY "</p>\n",
     true},
    {"HTML with hidden text", PLAIN(BODY),
     "From: a@b.com\nContent-Type: text/html\n\n<p>" BODY
     "</p><p style='display:none'>" OTHER "</p><script>" OTHER "</script>\n",
     true},
    {"HTML with more shown", PLAIN(BODY),
     "From: a@b.com\nContent-Type: text/html\n\n<p>" BODY "</p><p>" OTHER "</p>\n",
     false},
    {"alternatives that say the same", PLAIN(BODY),
     ALTERNATIVE(BODY, "<b>" BODY "</b>"), true},
    {"an alternative that nobody sees", PLAIN(BODY),
     ALTERNATIVE(OTHER, "<b>" BODY "</b>"), true},
    {"an alternative that says nothing", PLAIN(BODY),
     ALTERNATIVE(BODY, "<img src=cid:1>see above"), true},
    {"an attachment", PLAIN(BODY),
     "From: a@b.com\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\n" BODY
     "\n--x\nContent-Disposition: attachment; filename=a.txt\n\n" OTHER
     "\n--x\nContent-Type: text/calendar\n\n" OTHER "\n--x--\n" OTHER,
     true},
    {"text after the alternatives", PLAIN(BODY),
     "From: a@b.com\nContent-Type: multipart/mixed; boundary=y\n\n--y\nContent-Type: "
     "multipart/alternative; boundary=x\n\n--x\n\n" BODY "\n--x--\n\n--y\n\n" OTHER
     "\n--y--\n",
     false},
    {"base64", PLAIN("a b c d e f g h i j"),
     "From: a@b.com\nContent-Transfer-Encoding: base64\n\nYSBiIGMgZCBlIGYgZyBoIGkgag==\n",
     true},
};

static void test_text__of_two_messages__is_the_same_where_a_reader_sees_the_same(
    void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        struct message a = read_whole(pairs[i].a);
        struct message b = read_whole(pairs[i].b);
        if (same(&a, &b, FEATURE_text) != pairs[i].is_same ||
            same(&a, &b, FEATURE_template_sender) != pairs[i].is_same ||
            (pairs[i].is_same &&
             same(&a, &b, FEATURE_text_band) !=
                 (featureset_count_type(a.set, FEATURE_text_band) > 0))) {
            fail_msg("%s", pairs[i].what);
        }
        drop(&a);
        drop(&b);
    }
}

static void test_all__cut_anywhere__are_the_same(void **state)
{
    static const char text[] =
        "From: a@b.com\nSubject: Re: V1agra 12\nContent-Type: multipart/alternative; "
        "boundary=x\n\n--x\n\n" OTHER
        " http://one.com/ http://two.com/\n--x\nContent-Type: text/html\n\n"
        "<html><head><body><div><table><tr><td><p><b><i><a href=http://one.com/><img><hr>"
        "v1agra c1alis p3nis w1th " BODY "\n--x--\n";
    (void)state;
    struct message whole = read_whole(text);
    for (size_t i = 0; i < TYPES; i++) {
        if (featureset_count_type(whole.set, types[i]) == 0) {
            fail_msg("no %s", feature_info(types[i])->name);
        }
    }
    assert_int_equal(featureset_count_type(whole.set, FEATURE_text_band), KEYS_MAX);
    for (size_t step = 1; step < 80; step += 13) {
        struct message m = read_message(text, step, true);
        for (size_t i = 0; i < TYPES; i++) {
            assert_true(same(&whole, &m, types[i]));
        }
        drop(&m);
    }
    drop(&whole);
}

static void test_keyed_ones__without_keys__are_none(void **state)
{
    (void)state;
    struct message m = read_message(PLAIN(BODY), TEXT, false);
    assert_int_equal(featureset_count_type(m.set, FEATURE_text_band), 0);
    assert_int_equal(featureset_count_type(m.set, FEATURE_template_sender), 0);
    assert_int_equal(featureset_count_type(m.set, FEATURE_template_network), 0);
    assert_int_equal(featureset_count_type(m.set, FEATURE_text), 1);
    drop(&m);
}

static void test_short_text__has_a_key_only_with_its_sender(void **state)
{
    static const struct {
        const char *text;
        size_t bands;
        size_t texts;
        size_t templates;
    } rows[] = {
        {PLAIN(""), 0, 0, 0},
        {PLAIN("see below"), 0, 0, 0},
        {PLAIN("call me now"), 0, 0, 1},
        {PLAIN("one two three four five six seven eight nine ten"), 0, 1, 1},
        {"\nno sender at all here\n", 0, 0, 0},
        {"Content-Type: image/png\n\nno text at all in this part of the message here\n",
         0, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct message m = read_whole(rows[i].text);
        assert_int_equal(featureset_count_type(m.set, FEATURE_text_band),
                         rows[i].bands);
        assert_int_equal(featureset_count_type(m.set, FEATURE_text), rows[i].texts);
        assert_int_equal(featureset_count_type(m.set, FEATURE_template_sender),
                         rows[i].templates);
        drop(&m);
    }
}

static void test_template__other_numbers_and_ids__is_the_same(void **state)
{
    (void)state;
    struct message a = read_whole(PLAIN("Your order 4711 of x7f3q2 has come"));
    struct message b = read_whole(PLAIN("Your order 12 of 99zz88 has come"));
    struct message c =
        read_whole("From: a@other.com\n\nYour order 12 of 99zz88 has come\n");
    assert_true(same(&a, &b, FEATURE_template_sender));
    assert_true(same(&a, &b, FEATURE_template_network));
    assert_false(same(&a, &c, FEATURE_template_sender));
    assert_true(same(&a, &c, FEATURE_template_network));
    drop(&a);
    drop(&b);
    drop(&c);
}

static void test_link_set__same_links_in_any_order__is_the_same(void **state)
{
    (void)state;
    struct message a = read_whole(PLAIN("http://one.com/ http://two.com/"));
    struct message b =
        read_whole(PLAIN("http://two.com/ http://one.com/ http://one.com/"));
    struct message c = read_whole(PLAIN("http://two.com/ http://three.com/"));
    struct message d = read_whole(PLAIN("http://two.com/"));
    assert_true(same(&a, &b, FEATURE_link_set));
    assert_int_equal(featureset_count_type(c.set, FEATURE_link_set), 1);
    assert_false(same(&a, &c, FEATURE_link_set));
    assert_int_equal(featureset_count_type(d.set, FEATURE_link_set), 0);
    struct message e =
        read_whole(PLAIN("http://one.com/u/a7f3q9?id=1 http://two.com/x12"));
    struct message f =
        read_whole(PLAIN("http://two.com/x7 http://one.com/u/b2c4d8?id=20"));
    struct message g =
        read_whole(PLAIN("http://two.com/y7 http://one.com/u/b2c4d8?id=20"));
    assert_true(same(&e, &f, FEATURE_link_set));
    assert_false(same(&e, &g, FEATURE_link_set));
    assert_false(same(&e, &a, FEATURE_link_set));
    drop(&e);
    drop(&f);
    drop(&g);
    drop(&a);
    drop(&b);
    drop(&c);
    drop(&d);
}

/* Addresses without end do not push them out. */
static void test_all__of_a_message_with_too_many_features__are_there(void **state)
{
    struct arena *arena = arena_new(ARENA);
    struct extract *x = begin(arena, true);
    char line[128];
    (void)state;
    extract_raw(x, SLICE_LIT("From: a@b.com\n\n" BODY "\n"));
    for (unsigned i = 0; i < 40000; i++) {
        int n = snprintf(line, sizeof(line), "j%u@evil.com\n", i);
        extract_raw(x, slice_of(line, (size_t)n));
    }
    struct featureset *set = extract_finish(x);
    assert_true((featureset_limits(set) & LIMIT_FLAG(features)) != 0);
    assert_int_equal(featureset_count_type(set, FEATURE_text_band), KEYS_MAX);
    assert_int_equal(featureset_count_type(set, FEATURE_body), 1);
    assert_int_equal(featureset_count_type(set, FEATURE_template_sender), 1);
    assert_int_equal(featureset_count_type(set, FEATURE_text), 1);
    arena_free(&arena);
}

/* A copy that comes a month later has the keys of the epoch that both know. */
static void test_bands__of_copies_a_month_apart__are_shared_in_one_epoch(void **state)
{
    struct featureset *sets[3];
    struct arena *arenas[3];
    (void)state;
    for (uint64_t i = 0; i < 3; i++) {
        struct extract_limits limits = limits_default;
        shingle_keys_make(&ring, (700 + i) * SHINGLE_EPOCH_S, &limits.imprint.keys);
        arenas[i] = arena_new(ARENA);
        struct extract *x = extract_new(arenas[i], &limits, NULL, 0);
        assert_non_null(x);
        extract_raw(x, SLICE_LIT(PLAIN(BODY)));
        sets[i] = extract_finish(x);
    }
    size_t shared[3] = {0, 0, 0};
    for (size_t k = 1; k < 3; k++) {
        for (size_t i = 0; i < featureset_count(sets[0]); i++) {
            const struct feature *f = featureset_at(sets[0], i);
            shared[k] += f->type == FEATURE_text_band &&
                         featureset_has(sets[k], FEATURE_text_band, f->text);
        }
    }
    assert_int_equal(shared[1], SHINGLE_BANDS);
    assert_int_equal(shared[2], 0);
    for (size_t i = 0; i < 3; i++) {
        arena_free(&arenas[i]);
    }
}

/* The budget ended extraction: only a part of the text is known. */
static void test_exact_ones__of_a_text_not_read_to_its_end__are_none(void **state)
{
    struct extract_limits limits = limits_default;
    struct arena *arena = arena_new(ARENA);
    (void)state;
    limits.cpu_us = 1;
    struct extract *x = extract_new(arena, &limits, NULL, 0);
    assert_non_null(x);
    extract_raw(x, SLICE_LIT("From: a@b.com\n\n"));
    for (size_t i = 0; i < 5000; i++) {
        extract_raw(x, SLICE_LIT(BODY "\n"));
    }
    struct featureset *set = extract_finish(x);
    assert_true((featureset_limits(set) & LIMIT_FLAG(cpu)) != 0);
    assert_int_equal(featureset_count_type(set, FEATURE_text), 0);
    arena_free(&arena);
}

static void test_drop__before_the_end__frees(void **state)
{
    struct arena *arena = arena_new(ARENA);
    struct extract *x = begin(arena, true);
    (void)state;
    extract_raw(x, SLICE_LIT("Content-Type: text/html\n\n<p>"));
    for (size_t i = 0; i < 100; i++) {
        extract_raw(x, SLICE_LIT("<p><b>" BODY "\n"));
    }
    extract_drop(x);
    fingerprint_drop(NULL);
    arena_free(&arena);
}

static void test_new__no_memory__flags_it(void **state)
{
    struct extract_limits limits = limits_default;
    (void)state;
    for (size_t cap = 64 << 10; cap < 160 << 10; cap += 512) {
        struct arena *arena = arena_new(cap);
        struct extract *x = extract_new(arena, &limits, NULL, 0);
        if (x != NULL) {
            extract_raw(x, SLICE_LIT(PLAIN(BODY)));
            struct featureset *set = extract_finish(x);
            assert_true(featureset_count_type(set, FEATURE_text) == 1 ||
                        (featureset_limits(set) & LIMIT_FLAG(memory)) != 0);
        }
        arena_free(&arena);
    }
}

/* ---- what teaches the guard ---- */

#define FROM(d)   "From: a@" d "\n"
#define PROVED(d) "Authentication-Results: mx.our.example; dkim=pass header.d=" d "\n"

static char our_server[] = "mx.our.example";
static char *const our_servers[] = {our_server};

static bool has_bands(struct boilerplate *guard, const char *head, uint64_t day)
{
    struct extract_limits limits = limits_default;
    struct arena *arena = arena_new(ARENA);
    shingle_keys_make(&ring, (uint64_t)700 * SHINGLE_EPOCH_S, &limits.imprint.keys);
    limits.imprint.guard = limits.imprint.learner = guard;
    clock_set_for_test(day * 86400 * 1000000, 1);
    struct extract *x = extract_new(arena, &limits, our_servers, 1);
    extract_raw(x, slice_str(head));
    extract_raw(x, SLICE_LIT("\n" BODY "\n"));
    struct featureset *set = extract_finish(x);
    bool ret = featureset_count_type(set, FEATURE_text_band) > 0;
    arena_free(&arena);
    clock_unset_for_test();
    return ret;
}

static void test_guard__of_senders__learns_from_proved_ones_only(void **state)
{
    static const struct {
        const char *head[3];
        bool becomes_common;
    } rows[] = {
        {{FROM("one.example") PROVED("one.example"),
          FROM("two.example") PROVED("mail.two.example"),
          FROM("w.three.example") PROVED("three.example")},
         true},
        {{FROM("one.example"), FROM("two.example"), FROM("three.example")}, false},
        {{FROM("one.example") PROVED("evil.example"),
          FROM("two.example") PROVED("evil.example"),
          FROM("three.example") PROVED("evil.example")},
         false},
        {{FROM("one.example") PROVED("one.example"),
          FROM("a.one.example") PROVED("one.example"),
          FROM("b.one.example") PROVED("one.example")},
         false},
        {{FROM("xone.example") PROVED("one.example"),
          FROM("xtwo.example") PROVED("two.example"),
          FROM("xthree.example") PROVED("three.example")},
         false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct boilerplate *guard = boilerplate_new(1 << 12);
        for (uint64_t day = 100; day < 103; day++) {
            for (size_t k = 0; k < 3;
                 k++) { /* none of them loses keys before day 102 */
                assert_true(has_bands(guard, rows[i].head[k], day) || day == 102);
            }
        }
        assert_int_equal(!has_bands(guard, FROM("x.example"), 103),
                         rows[i].becomes_common);
        boilerplate_free(&guard);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bands__of_many_texts__have_all_digits),
        cmocka_unit_test(test_all__of_a_message_with_too_many_features__are_there),
        cmocka_unit_test(test_bands__of_copies_a_month_apart__are_shared_in_one_epoch),
        cmocka_unit_test(
            test_text__of_two_messages__is_the_same_where_a_reader_sees_the_same),
        cmocka_unit_test(test_all__cut_anywhere__are_the_same),
        cmocka_unit_test(test_keyed_ones__without_keys__are_none),
        cmocka_unit_test(test_short_text__has_a_key_only_with_its_sender),
        cmocka_unit_test(test_template__other_numbers_and_ids__is_the_same),
        cmocka_unit_test(test_link_set__same_links_in_any_order__is_the_same),
        cmocka_unit_test(test_exact_ones__of_a_text_not_read_to_its_end__are_none),
        cmocka_unit_test(test_drop__before_the_end__frees),
        cmocka_unit_test(test_new__no_memory__flags_it),
        cmocka_unit_test(test_guard__of_senders__learns_from_proved_ones_only),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
