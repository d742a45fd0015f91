/*
 * test_left_out - text that near-duplicate keys leave out of a message; no campaign hides in it.
 */
#include <stdio.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/message/extract/extract.h"

#include "tests/unit/extract/limits.h"
#include "tests/unit/unit.h"

enum { ARENA = 64 << 20, TEXT = 1 << 16 };

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

static void drop(struct message *m)
{
    arena_free(&m->arena);
}

#define SIGNATURE                                                                   \
    "\n-- \nJane Doe, Department of Statistics\nUniversity of Nowhere, Elm Street " \
    "nine, third floor\nplease ring the bell twice before you enter\n"
#define DISCLAIMER                                                                      \
    "\nThis message and its files are confidential and may be privileged. If you are "  \
    "not the intended\nrecipient, you must not use it; tell us and delete it from all " \
    "your machines at once.\n"
#define QUOTE                                                                        \
    "On Monday, 2 September, Jane Doe\n<jane@one.example> wrote:\n> the minutes of " \
    "our meeting are ready and\n> everybody may read them in the hall until\n> the " \
    "end of this week, then they are\n> put away with the others\n\n"
#define CAMPAIGN                                                                    \
    "Our pills are cheaper than anybody's, they come in plain boxes within three "  \
    "days, and no doctor needs to know; write to us today and you will have a box " \
    "for nothing at all.\n"

static struct message read_with(struct boilerplate *guard, const char *head,
                                const char *body, const char *client)
{
    static const uint8_t clients[2][16] = {
        {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 192, 0, 2, 1},
        {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 198, 51, 100, 1}};
    struct extract_limits limits = limits_default;
    struct message m = {.arena = arena_new(ARENA)};
    shingle_keys_make(&ring, (uint64_t)700 * SHINGLE_EPOCH_S, &limits.imprint.keys);
    limits.imprint.guard = limits.imprint.learner = guard;
    struct extract *x = extract_new(m.arena, &limits, NULL, 0);
    assert_non_null(x);
    extract_client(x, clients[client[0] == 'b'], SLICE_NONE);
    extract_raw(x, slice_str(head));
    extract_raw(x, SLICE_LIT("\n"));
    extract_raw(x, slice_str(body));
    m.set = extract_finish(x);
    return m;
}

static size_t shared_bands(const struct message *a, const struct message *b)
{
    size_t n = 0;
    for (size_t i = 0; i < featureset_count(a->set); i++) {
        const struct feature *f = featureset_at(a->set, i);
        n += f->type == FEATURE_text_band &&
             featureset_has(b->set, FEATURE_text_band, f->text);
    }
    return n;
}

/* Both have keys, and the same. */
static bool same_bands(const struct message *a, const struct message *b)
{
    size_t n = shared_bands(a, b);
    return n > 0 && n == featureset_count_type(a->set, FEATURE_text_band);
}

/* Whether the keys of both bodies are the same, and there are some. */
static void test_bands__of_text_with_something_around__are_those_of_the_text(
    void **state)
{
    static const struct {
        const char *what;
        const char *a;
        const char *b;
        bool is_same;
    } rows[] = {
        {"signature", BODY "\n", BODY "\n" SIGNATURE, true},
        {"signature, its space dropped", BODY "\n",
         BODY "\n\n--\nJane Doe of Nowhere\n", true},
        {"quote and who wrote it", BODY "\n", QUOTE BODY "\n", true},
        {"quote in another language", BODY "\n",
         "Am Montag schrieb Jane Doe:\n> wir treffen uns im Saal\n\n" BODY "\n", true},
        {"quote by name", BODY "\n", "JD> we meet in the hall today\n" BODY "\n", true},
        {"disclaimer", BODY "\n", BODY "\n" DISCLAIMER, true},
        {"disclaimer in another language", BODY "\n",
         BODY
         "\n\nDiese Nachricht ist vertraulich und nur f\xc3\xbcr den Empf\xc3\xa4nger "
         "bestimmt. Die unbefugte Weitergabe ist nicht gestattet.\n",
         true},
        {"disclaimer below a signature", BODY "\n" OTHER "\n",
         BODY "\n" OTHER "\n" SIGNATURE DISCLAIMER, true},
        {"more than the text", BODY "\n", BODY "\n" SIGNATURE DISCLAIMER, false},
        {"signature, then a quote", BODY "\n", BODY "\n" SIGNATURE "\n" QUOTE, false},
        {"dashes within", BODY "\n", BODY "\n---\n" OTHER "\n", false},
        {"a colon before text", BODY "\n", OTHER ":\n" BODY "\n", false},
        {"confidential text", BODY "\n", BODY "\n\nThis is confidential. " OTHER "\n",
         false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct message a = read_with(NULL, "From: a@b.com\n", rows[i].a, "a");
        struct message b = read_with(NULL, "From: a@b.com\n", rows[i].b, "a");
        if (same_bands(&a, &b) != rows[i].is_same) {
            fail_msg("%s: %zu shared", rows[i].what, shared_bands(&a, &b));
        }
        drop(&a);
        drop(&b);
    }
}

#define HTML "From: a@b.com\nContent-Type: text/html\n"

/* Blocks of HTML begin and end with line feeds. */
static void test_bands__of_html__leave_out_what_those_of_text_do(void **state)
{
    static const char *const rows[] = {
        "<p>\n " BODY "</p><div>\n-- \n</div><div>\nJane Doe of Nowhere\n</div>",
        "<div>\n" BODY "\n</div><div>\n&gt; we meet in the hall\n</div>",
        "<div>\n" BODY "\n</div>\n<p>\nThis is confidential and privileged, for the "
        "intended recipient.</p>",
    };
    struct message plain = read_with(NULL, "From: a@b.com\n", BODY "\n", "a");
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct message m = read_with(NULL, HTML, rows[i], "a");
        if (!same_bands(&plain, &m)) {
            fail_msg("%s: %zu shared", rows[i], shared_bands(&plain, &m));
        }
        drop(&m);
    }
    drop(&plain);
}

/* All text of a campaign has the form of text that is left out. */
static void test_bands__of_text_that_is_all_left_out__are_there(void **state)
{
    static const char *const rows[] = {
        "-- \n" CAMPAIGN,
        "Hello\n-- \n" CAMPAIGN,
        "Dear Bob,\n\n-- \n" CAMPAIGN "\n-- \n",
        "> " CAMPAIGN,
        "Hello you there, Bob wrote:\n> " CAMPAIGN,
        "Bob wrote this to all of us, read it:\n> " CAMPAIGN "-- \nBob\n",
        CAMPAIGN "\nconfidential privileged intended recipient disclosure\n",
        "confidential privileged intended recipient " CAMPAIGN,
        "Hi\n\nconfidential privileged intended recipient " CAMPAIGN,
    };
    struct message plain = read_with(NULL, "From: a@b.com\n", CAMPAIGN, "a");
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct message m = read_with(NULL, "From: c@d.com\n", rows[i], "b");
        if (shared_bands(&plain, &m) == 0) {
            fail_msg("%s", rows[i]);
        }
        drop(&m);
    }
    drop(&plain);
}

#define FOOTER                                                                    \
    "\n____________\nNowhere-list mailing list, for all who live there\nlist@no." \
    "example\nto leave it write to the address above, or see http://no.example/\n"
#define LIST(name) "From: a@b.com\nList-Id: <" name ">\n"

static const char *const fronts[] = {
    "the quick brown fox jumps over a lazy dog while seven wizards boil tea in the "
    "kitchen of an old house near the river where nobody has lived for many years now "
    "but them and their cats",
    "tomorrow morning we load both wagons with hay from the upper field, then drive "
    "them down to the mill before noon so that the miller can weigh everything before "
    "his dinner and pay us at last",
    "a compiler reads its input once, builds a tree of it, and walks that tree twice; "
    "whoever wants a third walk should say why, since each of them costs memory that "
    "small machines have not got today",
    "her letter came on a wet Sunday, it spoke of ships and salt and of an uncle who "
    "had sold his house to sail around the world with two dogs and a parrot that swears "
    "in four languages",
    "bread wants flour, water, salt and time; most people give it too little of the "
    "last and too much yeast instead, which is why it tastes of nothing and is stale "
    "the morning after it was baked",
    "the city council has voted on a new bridge again and as before both sides say that "
    "they won, though nobody has found the money and the old one still stands there and "
    "rusts away quietly",
    "when you tune the lower strings first the neck bends and the upper ones go flat, so "
    "begin in the middle, wait for a minute, then go round once more until every one of "
    "them stays",
    "our team lost all games this season but the last, in which the goalkeeper scored "
    "from his own half by kicking a ball that the wind carried over everybody's head "
    "into the empty net",
    "snow lay on the pass until June that year and the herds stayed down in the valley, "
    "eating what was meant for the winter, so that by autumn half of them had to be sold "
    "for nothing",
    "the museum shows clocks without hands, lamps that give no light, and one very long "
    "ladder against a wall without windows, and children like it better than any other "
    "place in town",
};
enum { NFRONTS = sizeof(fronts) / sizeof(fronts[0]) };

static void teach(struct boilerplate *guard, const char *head, const char *end,
                  size_t n, const char *client)
{
    char body[TEXT];
    for (size_t i = 0; i < n; i++) {
        (void)snprintf(body, sizeof(body), "%s\n%s", fronts[i % NFRONTS], end);
        struct message m = read_with(guard, head, body, client);
        drop(&m);
    }
}

/* Whether the footer is left out of a message of this list. */
static bool is_left_out(struct boilerplate *guard, const char *head, const char *client)
{
    struct message with = read_with(guard, head, BODY "\n" FOOTER, client);
    struct message without = read_with(NULL, head, BODY "\n", client);
    bool ret = same_bands(&with, &without);
    drop(&with);
    drop(&without);
    return ret;
}

static void test_footer__of_a_list__is_left_out_once_it_has_stood_under_other_texts(
    void **state)
{
    struct boilerplate *guard = boilerplate_new(1 << 12);
    (void)state;
    clock_set_for_test((uint64_t)100 * 86400 * 1000000, 1);
    teach(guard, LIST("no.example"), FOOTER, BOILERPLATE_FRONTS - 1, "a");
    assert_false(is_left_out(guard, LIST("no.example"), "a"));
    teach(guard, LIST("no.example"), FOOTER, BOILERPLATE_FRONTS, "a");
    assert_true(is_left_out(guard, LIST("no.example"), "a"));
    /* not for another list, without a list, or for the same name from another network */
    assert_false(is_left_out(guard, LIST("other.example"), "a"));
    assert_false(is_left_out(guard, "From: a@b.com\n", "a"));
    assert_false(is_left_out(guard, LIST("no.example"), "b"));
    boilerplate_free(&guard);
    clock_unset_for_test();
}

static void test_footer__of_a_rare_list__is_known_after_days(void **state)
{
    struct boilerplate *guard = boilerplate_new(1 << 12);
    (void)state;
    clock_set_for_test((uint64_t)100 * 86400 * 1000000, 1);
    teach(guard, LIST("no.example"), FOOTER, BOILERPLATE_SENDERS - 1, "a");
    clock_set_for_test((uint64_t)(100 + BOILERPLATE_DAYS) * 86400 * 1000000, 1);
    assert_false(is_left_out(guard, LIST("no.example"), "a"));
    assert_true(is_left_out(guard, LIST("no.example"), "a")); /* by the one before */
    boilerplate_free(&guard);
    clock_unset_for_test();
}

/* One text for all: a list that says the same each time has taught nothing. */
static void test_footer__under_copies_of_one_text__is_not_learnt(void **state)
{
    struct boilerplate *guard = boilerplate_new(1 << 12);
    (void)state;
    for (size_t i = 0; i < 100; i++) {
        char body[TEXT];
        (void)snprintf(body, sizeof(body),
                       "Dear Bob number %zu and all yours,\n%s\n" FOOTER, i, fronts[0]);
        struct message m = read_with(guard, LIST("no.example"), body, "a");
        drop(&m);
    }
    assert_false(is_left_out(guard, LIST("no.example"), "a"));
    boilerplate_free(&guard);
}

/* Whoever has taught his own list what he wants to hide, or uses that of others, must still put as
 * much text of his own in front of it, and that counts. */
static void test_footer__that_is_a_campaign__does_not_hide_it(void **state)
{
    static const char *const rows[] = {
        CAMPAIGN, "Hello Bob\n" CAMPAIGN,
        "Dear friend, read this today, it is for you\n\n" CAMPAIGN};
    struct boilerplate *guard = boilerplate_new(1 << 12);
    struct message plain = read_with(NULL, "From: a@b.com\n", CAMPAIGN, "a");
    (void)state;
    teach(guard, LIST("evil.example"), CAMPAIGN, 100, "a");
    teach(guard, LIST("no.example"), FOOTER, 100, "a");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct message m = read_with(guard, LIST("evil.example"), rows[i], "a");
        assert_true(shared_bands(&plain, &m) > 0);
        drop(&m);
    }
    struct message front = read_with(guard, LIST("no.example"), CAMPAIGN FOOTER, "a");
    assert_true(same_bands(&plain, &front));
    drop(&front);
    drop(&plain);
    boilerplate_free(&guard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_bands__of_text_with_something_around__are_those_of_the_text),
        cmocka_unit_test(test_bands__of_html__leave_out_what_those_of_text_do),
        cmocka_unit_test(test_bands__of_text_that_is_all_left_out__are_there),
        cmocka_unit_test(
            test_footer__of_a_list__is_left_out_once_it_has_stood_under_other_texts),
        cmocka_unit_test(test_footer__of_a_rare_list__is_known_after_days),
        cmocka_unit_test(test_footer__under_copies_of_one_text__is_not_learnt),
        cmocka_unit_test(test_footer__that_is_a_campaign__does_not_hide_it),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
