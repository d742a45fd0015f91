/* test_api_body - JSON bodies: flat objects of known members, or a reason. */
#include "core/hub/api/api_body.h"

#include "tests/unit/unit.h"

struct fixture {
    struct arena *arena;
    struct api_strings urls;
    struct slice list;
    bool counts;
};

static enum err read_text(struct fixture *f, struct slice text)
{
    const struct api_member members[] = {
        {"urls", API_MEMBER_STRINGS, true, &f->urls},
        {"list", API_MEMBER_STRING, false, &f->list},
        {"counts", API_MEMBER_BOOL, false, &f->counts}};
    struct errinfo why = {.text = ""};

    f->urls = (struct api_strings){.most = 4};
    f->list = SLICE_NONE;
    f->counts = false;
    enum err e = api_body_read(text, members, 3, f->arena, &why);

    assert_true((e == ERR_OK) == (why.text[0] == '\0'));
    return e;
}

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    f->arena = arena_new(1 << 20);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    arena_free(&f->arena);
    free(f);
    return 0;
}

static void test_read__when_right__then_values(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(
        read_text(f, SLICE_LIT(" {\"counts\" :true, \"urls\":[ \"a\",\"\" ],"
                               "\"list\":\"x\\u00e9\\n\\ud83d\\ude00\"}\n")),
        ERR_OK);
    assert_int_equal(f->urls.n, 2);
    assert_true(slice_eq(f->urls.v[0], SLICE_LIT("a")));
    assert_int_equal(f->urls.v[1].n, 0);
    assert_true(slice_eq(f->list, SLICE_LIT("x\xc3\xa9\n\xf0\x9f\x98\x80")));
    assert_true(f->counts);
    assert_int_equal(read_text(f, SLICE_LIT("{\"urls\":[]}")), ERR_OK);
    assert_null(f->list.p);
}

static void test_read__when_wrong__then_which_way(void **state)
{
    static const struct {
        struct slice text;
        enum err e;
    } rows[] = {
        {{""
          "",
          sizeof("") - 1},
         ERR_SYNTAX},
        {{""
          "{",
          sizeof("{") - 1},
         ERR_SYNTAX},
        {{""
          "{\"urls\"",
          sizeof("{\"urls\"") - 1},
         ERR_SYNTAX},
        {{""
          "{\"urls\":[]",
          sizeof("{\"urls\":[]") - 1},
         ERR_SYNTAX},
        {{""
          "{\"urls\":[]}x",
          sizeof("{\"urls\":[]}x") - 1},
         ERR_SYNTAX},
        {{""
          "{\"urls\":[]}\0",
          sizeof("{\"urls\":[]}\0") - 1},
         ERR_SYNTAX},
        {{""
          "{\"urls\":[\"a\" \"b\"]}",
          sizeof("{\"urls\":[\"a\" \"b\"]}") - 1},
         ERR_SYNTAX},
        {{""
          "{\"urls\":[\"\xff\"]}",
          sizeof("{\"urls\":[\"\xff\"]}") - 1},
         ERR_SYNTAX},
        {{""
          "{\"urls\":[\"\xf4\x90\x80\x80\"]}",
          sizeof("{\"urls\":[\"\xf4\x90\x80\x80\"]}") - 1},
         ERR_SYNTAX},
        {{""
          "{\"urls\":[\"\\udc00\"]}",
          sizeof("{\"urls\":[\"\\udc00\"]}") - 1},
         ERR_SYNTAX},
        {{""
          "{\"urls\":[\"\\ud800\\u0041\"]}",
          sizeof("{\"urls\":[\"\\ud800\\u0041\"]}") - 1},
         ERR_SYNTAX},
        {{""
          "{\"urls\":[\"\\u00\"]}",
          sizeof("{\"urls\":[\"\\u00\"]}") - 1},
         ERR_SYNTAX},
        {{""
          "{\"urls\":[\"a\\\"]}",
          sizeof("{\"urls\":[\"a\\\"]}") - 1},
         ERR_SYNTAX},
        {{""
          "{}",
          sizeof("{}") - 1},
         ERR_RANGE},
        {{""
          "{\"list\":\"x\"}",
          sizeof("{\"list\":\"x\"}") - 1},
         ERR_RANGE},
        {{""
          "{\"urls\":[],\"urls\":[]}",
          sizeof("{\"urls\":[],\"urls\":[]}") - 1},
         ERR_RANGE},
        {{""
          "{\"urls\":[],\"ursl\":[]}",
          sizeof("{\"urls\":[],\"ursl\":[]}") - 1},
         ERR_RANGE},
        {{""
          "{\"urls\":[],\"counts\":1}",
          sizeof("{\"urls\":[],\"counts\":1}") - 1},
         ERR_RANGE},
        {{""
          "{\"urls\":[],\"list\":null}",
          sizeof("{\"urls\":[],\"list\":null}") - 1},
         ERR_RANGE},
        {{""
          "{\"urls\":[\"1\",\"2\",\"3\",\"4\",\"5\"]}",
          sizeof("{\"urls\":[\"1\",\"2\",\"3\",\"4\",\"5\"]}") - 1},
         ERR_LIMIT},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(read_text(f, rows[i].text), rows[i].e);
    }
}

static void test_read__when_cut_anywhere__then_refused(void **state)
{
    struct fixture *f = *state;
    struct slice whole =
        SLICE_LIT("{\"urls\":[\"a\\u00e9\\\\\",\"b\xc3\xa9\"],\"counts\":false}");

    assert_int_equal(read_text(f, whole), ERR_OK);
    for (size_t n = 0; n < whole.n; n++) {
        char *part = malloc(n + 1); /* of that very length, for the sanitizers */

        memcpy(part, whole.p, n);
        assert_int_not_equal(read_text(f, slice_of(part, n)), ERR_OK);
        free(part);
    }
}

static enum err read_one_number(struct arena *arena, const char *body, uint64_t *ret)
{
    const struct api_member members[] = {{"n", API_MEMBER_NUMBER, true, ret}};
    struct errinfo why;

    *ret = 77;
    return api_body_read(slice_str(body), members, 1, arena, &why);
}

static void test_number__then_digits_alone(void **state)
{
    static const struct {
        const char *body;
        uint64_t n;
    } good[] = {{"{\"n\":0}", 0},
                {"{\"n\" : 12 }", 12},
                {"{\"n\":9007199254740991}", API_NUMBER_MAX}};
    static const char *const bad[] = {
        "{\"n\":-1}",   "{\"n\":1.0}",  "{\"n\":1e3}",
        "{\"n\":01}",   "{\"n\":}",     "{\"n\":\"1\"}",
        "{\"n\":true}", "{\"n\":null}", "{\"n\":9007199254740992}",
        "{\"n\":1",     "{\"n\":1x}",   "{\"n\":99999999999999999999}"};
    struct fixture *f = *state;
    uint64_t n = 0;

    for (size_t i = 0; i < LENGTH(good); i++) {
        assert_int_equal(read_one_number(f->arena, good[i].body, &n), ERR_OK);
        assert_int_equal(n, good[i].n);
    }
    for (size_t i = 0; i < LENGTH(bad); i++) {
        assert_int_not_equal(read_one_number(f->arena, bad[i], &n), ERR_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_read__when_right__then_values, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_read__when_wrong__then_which_way, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_read__when_cut_anywhere__then_refused,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_number__then_digits_alone, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
