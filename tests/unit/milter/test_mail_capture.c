/*
 * test_mail_capture - which messages are kept, and how much of them.
 */
#include "core/base/base.h"

#include "milter/mail_capture.h"

#include "tests/unit/unit.h"

static char texts[4][32] = {"old@our.example", "@trap.example", "spam@our.example",
                            "ham@our.example"};
static char *trap_list[] = {texts[0], texts[1]};
static char *spam_list[] = {texts[2]};
static char *ham_list[] = {texts[3]};
static struct config config = {.report_mail = {.traps = {2, trap_list},
                                               .spam = {1, spam_list},
                                               .ham = {1, ham_list}}};
static struct arena *arena;

static int set_up(void **state)
{
    (void)state;
    arena = arena_new(1 << 20);
    return arena == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(&arena);
    return 0;
}

static void test_mail_capture_rcpt__recipients__are_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *rcpt;
        unsigned targets;
    } rows[] = {{"<Old@OUR.example>", MAIL_CAPTURE_TRAP},
                {"any@Trap.example", MAIL_CAPTURE_TRAP},
                {"<any@sub.trap.example>", 0},
                {"<older@our.example>", 0},
                {"<spam@our.example>", MAIL_CAPTURE_SPAM},
                {"<ham@our.example>", MAIL_CAPTURE_HAM},
                {"<>", 0},
                {"", 0},
                {"no address", 0}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct mail_capture c = {.targets = 0};
        mail_capture_rcpt(&c, &config, arena, slice_str(rows[i].rcpt));
        assert_int_equal(c.targets, rows[i].targets);
        assert_int_equal(c.trap.n > 0, (rows[i].targets & MAIL_CAPTURE_TRAP) != 0);
    }
}

static void test_mail_capture_rcpt__many_recipients__cost_no_memory(void **state)
{
    (void)state;
    struct mail_capture c = {.targets = 0};
    mail_capture_rcpt(&c, &config, arena, SLICE_LIT("<old@our.example>"));
    size_t used = arena_used(arena);
    for (unsigned i = 0; i < 100000; i++) {
        mail_capture_rcpt(&c, &config, arena, SLICE_LIT("<any@trap.example>"));
    }
    assert_int_equal(arena_used(arena), used);
    assert_true(slice_eq(c.trap, SLICE_LIT("old@our.example")));
}

static void test_mail_capture_body__message_to_a_trap__is_kept_as_it_came(void **state)
{
    (void)state;
    struct mail_capture c = {.targets = MAIL_CAPTURE_TRAP};
    mail_capture_header(&c, SLICE_LIT("Subject"), SLICE_LIT("a\n\tb"));
    mail_capture_body(&c, SLICE_LIT("one"));
    mail_capture_header(&c, SLICE_LIT("Late"), SLICE_LIT("x"));
    mail_capture_body(&c, SLICE_LIT("two"));
    struct buf bytes = mail_capture_take(&c);
    assert_true(
        slice_eq(buf_slice(&bytes), SLICE_LIT("Subject: a\n\tb\r\n\r\nonetwo")));
    mail_capture_free(&bytes);
    mail_capture_free(&c.bytes);
}

static void test_mail_capture_body__other_message__is_not_kept(void **state)
{
    (void)state;
    struct mail_capture c = {.targets = 0};
    mail_capture_header(&c, SLICE_LIT("Subject"), SLICE_LIT("a"));
    mail_capture_body(&c, SLICE_LIT("one"));
    assert_false(mail_capture_wants(&c));
    assert_int_equal(c.bytes.n, 0);
}

/* A capture of our own user with n bytes, the two of the empty header among them. */
static struct mail_capture filled(unsigned targets, size_t n)
{
    static char chunk[1 << 16];
    struct mail_capture c = {.targets = targets, .is_ours = true};
    memset(chunk, 'x', sizeof(chunk));
    mail_capture_end_headers(&c);
    for (size_t left = n - 2; left > 0;
         left -= left < sizeof(chunk) ? left : sizeof(chunk)) {
        mail_capture_body(&c,
                          slice_of(chunk, left < sizeof(chunk) ? left : sizeof(chunk)));
    }
    return c;
}

static void test_mail_capture_body__larger_than_the_limit__reports_nothing(void **state)
{
    (void)state;
    for (int more = -1; more <= 1; more++) {
        struct mail_capture c =
            filled(MAIL_CAPTURE_SPAM, (size_t)(MAIL_CAPTURE_MESSAGE + more));
        assert_int_equal(c.is_lost, more > 0);
        assert_int_equal(c.bytes.n, more > 0 ? 0 : MAIL_CAPTURE_MESSAGE + more);
        assert_int_equal(mail_capture_wants(&c), more <= 0);
        mail_capture_free(&c.bytes);
    }
}

static void test_mail_capture_body__large_bounce__is_kept_to_its_limit(void **state)
{
    (void)state;
    for (int more = -1; more <= 1; more++) {
        struct mail_capture c =
            filled(MAIL_CAPTURE_EMPTY_SENDER, (size_t)(MAIL_CAPTURE_BOUNCE + more));
        assert_false(c.is_lost);
        assert_int_equal(c.bytes.n, MAIL_CAPTURE_BOUNCE + (more < 0 ? more : 0));
        assert_int_equal(mail_capture_wants(&c), more < 0);
        mail_capture_free(&c.bytes);
    }
}

static void test_mail_capture_body__all_memory_is_taken__until_some_is_free(
    void **state)
{
    (void)state;
    enum { MANY = MAIL_CAPTURE_ALL / MAIL_CAPTURE_MESSAGE };
    struct mail_capture c[MANY];
    for (unsigned i = 0; i < MANY; i++) {
        struct mail_capture stranger = {.targets = MAIL_CAPTURE_TRAP};
        mail_capture_body(&stranger, SLICE_LIT("x"));
        assert_int_equal(stranger.is_lost, i >= MANY / 2);
        mail_capture_free(&stranger.bytes);
        c[i] = filled(MAIL_CAPTURE_TRAP, MAIL_CAPTURE_MESSAGE);
        assert_false(c[i].is_lost);
    }
    struct mail_capture more = filled(MAIL_CAPTURE_SPAM, 100);
    assert_true(more.is_lost);
    assert_int_equal(more.bytes.n, 0);
    struct buf bytes = mail_capture_take(&c[0]); /* waits in the queue: still held */
    more = filled(MAIL_CAPTURE_TRAP, 100);
    assert_true(more.is_lost);
    mail_capture_free(&bytes);
    more = filled(MAIL_CAPTURE_TRAP, 100);
    assert_false(more.is_lost);
    mail_capture_free(&more.bytes);
    for (unsigned i = 0; i < MANY; i++) {
        mail_capture_free(&c[i].bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mail_capture_rcpt__recipients__are_told_apart),
        cmocka_unit_test(test_mail_capture_rcpt__many_recipients__cost_no_memory),
        cmocka_unit_test(test_mail_capture_body__message_to_a_trap__is_kept_as_it_came),
        cmocka_unit_test(test_mail_capture_body__other_message__is_not_kept),
        cmocka_unit_test(
            test_mail_capture_body__larger_than_the_limit__reports_nothing),
        cmocka_unit_test(test_mail_capture_body__large_bounce__is_kept_to_its_limit),
        cmocka_unit_test(
            test_mail_capture_body__all_memory_is_taken__until_some_is_free),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
