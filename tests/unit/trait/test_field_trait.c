/* test_field_trait - Message-ID, Date and boundary as programs write them, and as they do not. */
#include "core/message/trait/field_trait.h"

#include "tests/unit/unit.h"

static void test_message_id__each_form__odd_or_local(void **state)
{
    static const struct {
        const char *value;
        bool is_odd;
        bool is_local;
    } rows[] = {
        {"<1.2@mail.example>", false, false},
        {"  <1.2@mail.example>\t", false, false},
        {"<1@[2001:db8::1]>", false, false},
        {"<1@host>", false, true},
        {"<1@localhost.localdomain>", false, false},
        {"1@mail.example", true, false},
        {"<1@mail.example", true, false},
        {"1@mail.example>", true, false},
        {"<@mail.example>", true, false},
        {"<1@>", true, false},
        {"<1>", true, false},
        {"<1@2@mail.example>", true, false},
        {"<1 2@mail.example>", true, false},
        {"<1@mail .example>", true, false},
        {"<1@mail.example >", true, false},
        {"<>", true, false},
        {"", true, false},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct traits t = {{0}};
        message_id_traits(slice_str(rows[i].value), &t);
        if (traits_has(&t, TRAIT_message_id_odd) != rows[i].is_odd ||
            traits_has(&t, TRAIT_message_id_local) != rows[i].is_local) {
            fail_msg("%s", rows[i].value);
        }
    }
}

static void test_date__beside_the_first_server__behind_or_ahead(void **state)
{
#define TAKEN "Fri, 10 Jan 2025 12:00:00 +0000"
    static const struct {
        const char *date;
        const char *taken;
        bool is_odd;
        bool is_behind;
        bool is_ahead;
    } rows[] = {
        {TAKEN, TAKEN, false, false, false},
        {"Sat, 4 Jan 2025 12:00:00 +0000", TAKEN, false, false, false}, /* 6 days */
        {"Sat, 4 Jan 2025 11:59:59 +0000", TAKEN, false, true, false},
        {"Sat, 11 Jan 2025 00:00:00 +0000", TAKEN, false, false, false}, /* 12 hours */
        {"Sat, 11 Jan 2025 00:00:01 +0000", TAKEN, false, false, true},
        {"Sat, 11 Jan 2025 02:00:01 +0200", TAKEN, false, false, true},
        {"Fri, 1 Jan 2027 00:00:00 +0000", "", false, false, false},
        {"Fri, 1 Jan 2027 00:00:00 +0000", "soon", false, false, false},
        {"Mon, 11 Jan 2025 00:00:01 +0000", TAKEN, true, false, true}, /* a Saturday */
        {"yesterday", TAKEN, true, false, false},
        {"", TAKEN, true, false, false},
    };
#undef TAKEN
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct traits t = {{0}};
        date_traits(slice_str(rows[i].date), slice_str(rows[i].taken), &t);
        if (traits_has(&t, TRAIT_date_odd) != rows[i].is_odd ||
            traits_has(&t, TRAIT_date_behind) != rows[i].is_behind ||
            traits_has(&t, TRAIT_date_ahead) != rows[i].is_ahead) {
            fail_msg("%s", rows[i].date);
        }
    }
}

static void test_boundary__of_digits__from_six_on(void **state)
{
    static const struct {
        const char *boundary;
        bool is_digits;
    } rows[] = {
        {"123456", true},   {"--12--34-56--", true}, {"12345", false}, {"-----", false},
        {"123456a", false}, {"=_123456", false},     {"", false},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct traits t = {{0}};
        boundary_traits(slice_str(rows[i].boundary), &t);
        if (traits_has(&t, TRAIT_boundary_digits) != rows[i].is_digits) {
            fail_msg("%s", rows[i].boundary);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_message_id__each_form__odd_or_local),
        cmocka_unit_test(test_date__beside_the_first_server__behind_or_ahead),
        cmocka_unit_test(test_boundary__of_digits__from_six_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
