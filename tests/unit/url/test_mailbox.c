/* test_mailbox - which addresses reach one mailbox. */
#include "core/message/url/mailbox.h"

#include "tests/unit/text/text_test.h"

static void test_mailbox__each_spelling__is_written_so(void **state)
{
    static const struct {
        struct slice address;
        struct slice mailbox;
    } rows[] = {
        {LIT("victim@gmail.com"), LIT("victim@gmail.com")},
        {LIT("V.ictim+x@gmail.com"), LIT("victim@gmail.com")},
        {LIT("v.i.c.t.i.m@googlemail.com"), LIT("victim@gmail.com")},
        {LIT("Joe.Doe+a+b@outlook.com"), LIT("joe.doe@outlook.com")},
        {LIT("joe@me.com"), LIT("joe@icloud.com")},
        {LIT("joe-shop@yahoo.com"), LIT("joe@yahoo.com")},
        {LIT("j-o_e.x@pm.me"), LIT("joex@proton.me")},
        {LIT("x@ya.ru"), LIT("x@yandex.ru")},
        /* at nobody known the case alone goes */
        {LIT("Joe.Doe+x@evil.example"), LIT("joe.doe+x@evil.example")},
        {LIT("Joe@sub.gmail.com"), LIT("joe@sub.gmail.com")},
        /* nothing would be left, or it is quoted */
        {LIT("+x@gmail.com"), LIT("+x@gmail.com")},
        {LIT("...@gmail.com"), LIT("...@gmail.com")},
        {LIT("\"A.b+c\"@gmail.com"), LIT("\"a.b+c\"@gmail.com")},
        {LIT("no address"), LIT("no address")},
        {LIT("@gmail.com"), LIT("@gmail.com")},
        {LIT("x@"), LIT("x@")},
    };

    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct slice once = mailbox_of(*state, rows[i].address);

        check_text(rows[i].address.p, once, rows[i].mailbox);
        check_text(rows[i].address.p, mailbox_of(*state, once), once);
        assert_true(mailbox_eq(rows[i].address, rows[i].mailbox));
    }
    assert_false(mailbox_eq(SLICE_LIT("joe.doe@evil.example"),
                            SLICE_LIT("joedoe@evil.example")));
}

static void test_mailbox__table__is_sorted_and_its_mailboxes_are_their_own(void **state)
{
    static const struct {
        struct slice domain;
        struct slice to;
    } table[] = {
#define MAILBOX(domain, to, ignored, tag) {LIT(domain), LIT(to)},
#include "core/message/url/mailbox.def"
#undef MAILBOX
    };

    for (size_t i = 0; i < COUNT_OF(table); i++) {
        char text[64];
        int n = snprintf(text, sizeof(text), "Joe@%s", table[i].to.p);
        struct slice once = mailbox_of(*state, slice_of(text, (size_t)n));

        assert_true(i == 0 || slice_cmp(table[i - 1].domain, table[i].domain) < 0);
        check_text(text, mailbox_of(*state, once), once);
        assert_true(slice_has_suffix_nocase(once, table[i].to));
    }
}

static void test_mailbox__without_memory__is_none(void **state)
{
    struct arena *tiny = arena_new(1);

    (void)state;
    (void)arena_bytes(tiny, 1);
    assert_null(mailbox_of(tiny, SLICE_LIT("A@b.example")).p);
    arena_free(&tiny);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ARENA_TEST(test_mailbox__each_spelling__is_written_so),
        ARENA_TEST(test_mailbox__table__is_sorted_and_its_mailboxes_are_their_own),
        ARENA_TEST(test_mailbox__without_memory__is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
