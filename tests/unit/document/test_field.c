/*
 * test_field - codes of fields: their addresses and commands, and fields in one another.
 */
#include "core/reader/document/field.h"

#include "tests/unit/document/told.h"

static void test_read__each_code__its_addresses(void **state)
{
    static const struct {
        const char *code;
        const char *told;
    } rows[] = {
        {"HYPERLINK \"http://a.example/\"", "link:http://a.example/ "},
        {"  hyperlink http://a.example/  ", "link:http://a.example/ "},
        {"HYPERLINK \"http://a.example/\" \\l \"anchor\"", "link:http://a.example/ "},
        {"HYPERLINK \\o \"a tip\" \"http://a.example/\"", "link:http://a.example/ "},
        {"HYPERLINK \\n \"http://a.example/\"", "link:http://a.example/ "},
        {"HYPERLINK \"\\\\\\\\a.example\\\\share\"", "link:\\\\a.example\\share "},
        {"HYPERLINK \"a\\\"b\"", "link:a\"b "},
        {"HYPERLINK \"a\\", "link:a\\ "},
        {"HYPERLINK \"ab\\\"", "link:ab\" "},
        {"HYPERLINK \"\" \"\"", ""},
        {"INCLUDEPICTURE \"http://a.example/x.png\" \\d",
         "link:http://a.example/x.png "},
        {"INCLUDETEXT http://a.example/1 http://b.example/2",
         "link:http://a.example/1 link:http://b.example/2 "},
        {"PAGE \"http://a.example/\"", ""},
        {"DDE cmd \"/c calc\"", "fact: script:cmd \"/c calc\" "},
        {"ddeauto cmd", "fact: script:cmd "},
        {"", ""},
        {"   ", ""},
    };

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf bytes;
        struct found *f = told_new(&bytes);

        assert_true(field_read(f, slice_str(rows[i].code)));
        const char *told = told_end(&f, &bytes);
        if (strcmp(told, rows[i].told) != 0) {
            fail_msg("%s: %s", rows[i].code, told);
        }
    }
}

/* Text and the marks of fields: { begins, | separates the result, } ends. */
static const char *read_marks(const char *text)
{
    struct buf bytes;
    struct field fd;
    struct found *f = told_new(&bytes);

    field_init(&fd);
    for (; *text != '\0'; text++) {
        if (*text == '{') {
            assert_true(field_begin(&fd));
        } else if (*text == '|') {
            assert_true(field_separate(&fd, f));
        } else if (*text == '}') {
            assert_true(field_end(&fd, f));
        } else if (field_code(&fd) != NULL) {
            buf_add_char(field_code(&fd), *text);
        } else {
            /* text that is shown */
        }
    }
    field_fini(&fd);
    return told_end(&f, &bytes);
}

static void test_marks__fields_in_one_another__code_has_their_results(void **state)
{
    (void)state;
    assert_string_equal(read_marks("a{HYPERLINK http://a.example/|shown}b"),
                        "link:http://a.example/ ");
    assert_string_equal(read_marks("{HYPERLINK http://a.example/}"),
                        "link:http://a.example/ ");
    assert_string_equal(read_marks("{HYPERLINK http://{PAGE|a}.example/{X|1}|shown}"),
                        "link:http://a.example/1 ");
    assert_string_equal(
        read_marks(
            "{A|{HYPERLINK http://a.example/|x}}{HYPERLINK http://b.example/|y}"),
        "link:http://a.example/ link:http://b.example/ ");
    assert_string_equal(read_marks("}|{HYPERLINK http://a.example/||}}"),
                        "link:http://a.example/ ");
}

static void test_marks__deeper_than_the_limit__outer_ones_are_read(void **state)
{
    char text[4 * FIELD_DEPTH + 100] = "{HYPERLINK http://a.example/";

    (void)state;
    for (int i = 0; i < FIELD_DEPTH + 5; i++) {
        strcat(text, "{");
    }
    for (int i = 0; i < FIELD_DEPTH + 5; i++) {
        strcat(text, "}");
    }
    strcat(text, "|x}");
    assert_string_equal(read_marks(text), "link:http://a.example/ ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read__each_code__its_addresses),
        cmocka_unit_test(test_marks__fields_in_one_another__code_has_their_results),
        cmocka_unit_test(test_marks__deeper_than_the_limit__outer_ones_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
