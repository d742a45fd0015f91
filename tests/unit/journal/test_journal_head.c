/*
 * test_journal_head - names come back; one whole copy of the head is enough; a file of another version
 * is read by its own names, or refused.
 */
#include "core/base/checksum.h"
#include "core/base/le.h"
#include "core/message/feature/feature.h"
#include "core/verdict/identity/identity.h"
#include "core/verdict/journal/journal_head.h"

#include "tests/unit/unit.h"

enum { SUM = 8, VERSION_AT = 8 };
static struct journal_names names;

static void make(struct buf *head)
{
    buf_init(head, JOURNAL_HEAD);
    journal_head_print(42, head);
    assert_false(buf_failed(head));
    assert_int_equal(head->n, JOURNAL_HEAD);
}

static enum err parse(const struct buf *head)
{
    struct errinfo why = {.code = ERR_OK};
    return journal_head_parse(buf_slice(head), "file", &names, &why);
}

static void set_sum(struct buf *head)
{
    size_t n = JOURNAL_HEAD_COPY - SUM;
    le_put(head->p + n, checksum64(slice_of(head->p, n)), SUM);
}

static void test_head__when_it_is_printed__then_every_name_is_read(void **state)
{
    struct buf head;

    (void)state;
    make(&head);
    assert_int_equal(parse(&head), ERR_OK);
    assert_int_equal(names.key_id, 42);
    assert_int_equal(names.n[JOURNAL_TRAIT], TRAIT_COUNT);
    assert_int_equal(names.n[JOURNAL_LIMIT], LIMIT_FLAG_COUNT);
    assert_int_equal(names.n[JOURNAL_IDENTITY], IDENTITY_WORDS);
    for (unsigned i = 0; i < TRAIT_COUNT; i++) {
        struct slice name = journal_name(&names, JOURNAL_TRAIT, i);
        assert_true(slice_eq(name, slice_str(trait_name((enum trait)i))));
        assert_int_equal(journal_number(&names, JOURNAL_TRAIT, name), i);
    }
    assert_int_equal(journal_number(&names, JOURNAL_IDENTITY, SLICE_LIT("proved")),
                     IDENTITY_proved);
    assert_true(
        slice_eq(journal_name(&names, JOURNAL_TRAIT, 9999), SLICE_LIT("unknown")));
    assert_int_equal(journal_number(&names, JOURNAL_TRAIT, SLICE_LIT("nosuch")), -1);
    buf_fini(&head);
}

static void test_head__when_a_copy_is_damaged__then_the_other_is_read(void **state)
{
    struct buf head;

    (void)state;
    make(&head);
    head.p[100] ^= 1;
    assert_int_equal(parse(&head), ERR_OK);
    head.p[JOURNAL_HEAD_COPY + 7000] ^= 1;
    assert_int_equal(parse(&head), ERR_CORRUPT);
    head.p[100] ^= 1;
    assert_int_equal(parse(&head), ERR_OK);
    head.n = JOURNAL_HEAD - 1;
    assert_int_equal(parse(&head), ERR_CORRUPT);
    buf_fini(&head);
}

static void test_head__when_another_version_wrote_it__then_its_names_count(void **state)
{
    struct buf head;

    (void)state;
    make(&head);
    char *at = memmem(head.p, JOURNAL_HEAD_COPY, "\nproved\n", 8);
    assert_non_null(at);
    memcpy(at + 1, "forged", 6);
    set_sum(&head);
    assert_int_equal(parse(&head), ERR_OK);
    assert_int_equal(journal_number(&names, JOURNAL_IDENTITY, SLICE_LIT("proved")), -1);
    assert_int_equal(journal_number(&names, JOURNAL_IDENTITY, SLICE_LIT("forged")),
                     IDENTITY_proved);
    le_put(head.p + VERSION_AT, 99, 4);
    set_sum(&head);
    assert_int_equal(parse(&head), ERR_VERSION);
    buf_fini(&head);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_head__when_it_is_printed__then_every_name_is_read),
        cmocka_unit_test(test_head__when_a_copy_is_damaged__then_the_other_is_read),
        cmocka_unit_test(
            test_head__when_another_version_wrote_it__then_its_names_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
