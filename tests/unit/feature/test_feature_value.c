/* test_value - which counted features a value may stand for. */
#include "core/message/feature/feature_value.h"

#include "tests/unit/unit.h"

static bool has(const struct value_features *f, enum feature_type type,
                const char *text)
{
    for (size_t i = 0; i < f->n; i++) {
        if (f->v[i].type == type && slice_eq(f->v[i].text, slice_str(text))) {
            return true;
        }
    }
    return false;
}

static void test_value__by_its_look__stands_for(void **state)
{
    static const struct {
        const char *value;
        enum feature_type type;
        const char *text;
        bool is_it;
    } rows[] = {
        {"Evil.Example", FEATURE_url_domain, "evil.example", true},
        {"evil.example", FEATURE_from_domain, "evil.example", true},
        {"evil.example", FEATURE_helo, "evil.example", true},
        {"evil.example", FEATURE_url, "evil.example", false},
        {"host:a.evil.example", FEATURE_url_host, "a.evil.example", true},
        {"joe@Evil.Example", FEATURE_envelope_from, "joe@evil.example", true},
        {"joe@evil.example", FEATURE_text_address, "joe@evil.example", true},
        {"192.0.2.7", FEATURE_client_ip, "192.0.2.7", true},
        {"192.0.2.7", FEATURE_client_net, "192.0.2.0/24", true},
        {"192.0.2.0/24", FEATURE_client_net, "192.0.2.0/24", true},
        {"192.0.2.0/24", FEATURE_client_ip, "192.0.2.0", false},
        {"2001:db8:1:2::3", FEATURE_client_net, "2001:db8:1::/48", true},
        {"http://a.evil.example/x?p=1", FEATURE_url, "a.evil.example/x?p=1", true},
        {"http://a.evil.example/x?p=1", FEATURE_url_host, "a.evil.example", true},
        {"http://a.evil.example/x?p=1", FEATURE_url_domain, "evil.example", true},
        {"http://www.a.evil.example/x/?utm_id=7&p=1", FEATURE_url,
         "a.evil.example/x?p=1", true},
        {"http://www.a.evil.example/", FEATURE_url_host, "www.a.evil.example", true},
        {"http://192.0.2.7/x", FEATURE_url_ip, "192.0.2.7", true},
        {"E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855",
         FEATURE_text,
         "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", true},
        {"url_domain:evil.example", FEATURE_url_domain, "evil.example", true},
        {"url_domain:evil.example", FEATURE_from_domain, "evil.example", false},
        {"subject:  cheap   pills ", FEATURE_subject, "cheap pills", true},
        {"text_band:7.1.0a1b", FEATURE_text_band, "7.1.0a1b", true},
    };
    struct arena *arena = arena_new(1 << 20);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct value_features f;
        struct errinfo why = {.code = ERR_OK};
        assert_int_equal(value_features_of(slice_str(rows[i].value), arena, &f, &why),
                         ERR_OK);
        if (has(&f, rows[i].type, rows[i].text) != rows[i].is_it) {
            fail_msg("%s as %s", rows[i].value, rows[i].text);
        }
        for (size_t k = 0; k < f.n; k++) {
            assert_true(feature_info(f.v[k].type)->counted);
        }
    }
    arena_free(&arena);
}

static void test_value__typed__alone(void **state)
{
    struct arena *arena = arena_new(1 << 20);
    struct value_features f;
    struct errinfo why;

    (void)state;
    assert_int_equal(
        value_features_of(SLICE_LIT("from:joe@evil.example"), arena, &f, &why), ERR_OK);
    assert_true(f.is_typed);
    assert_int_equal(f.n, 1);
    assert_int_equal(value_features_of(SLICE_LIT("joe@evil.example"), arena, &f, &why),
                     ERR_OK);
    assert_false(f.is_typed);
    assert_true(f.n > 1);
    arena_free(&arena);
}

static void test_value__what_is_none__refused(void **state)
{
    static const char *const bad[] = {
        "", "text_band:", "text_band: ", "from:", "co.uk", "from:nobody", "!!"};
    struct arena *arena = arena_new(1 << 20);

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct value_features f;
        struct errinfo why = {.code = ERR_OK};
        if (value_features_of(slice_str(bad[i]), arena, &f, &why) == ERR_OK) {
            fail_msg("taken: \"%s\"", bad[i]);
        }
        assert_true(why.text[0] != '\0');
    }
    arena_free(&arena);
}

static void test_only_counted__types_that_no_list_has(void **state)
{
    (void)state;
    assert_true(value_is_only_counted(SLICE_LIT("text_band:1.2.3")));
    assert_true(value_is_only_counted(SLICE_LIT(" template_sender:00aa")));
    assert_false(value_is_only_counted(SLICE_LIT("url_domain:evil.example")));
    assert_false(value_is_only_counted(SLICE_LIT("evil.example")));
    assert_false(value_is_only_counted(SLICE_LIT("text_band")));
    assert_false(value_is_only_counted(SLICE_NONE));
}

static bool has_key(const struct feature_key *v, size_t n, const char *text)
{
    for (size_t i = 0; i < n; i++) {
        if (slice_eq(v[i].text, slice_str(text))) {
            return true;
        }
    }
    return false;
}

/* A list that holds a wider network holds this one; one inside it does not hold it. */
static void test_keys__of_a_network__are_it_and_the_wider_ones(void **state)
{
    static const struct {
        const char *value;
        const char *key;
        bool is_it;
    } rows[] = {
        {"192.0.2.0/24", "192.0.2.0/24", true},
        {"192.0.2.0/24", "192.0.2.0/23", true},
        {"192.0.2.0/24", "192.0.0.0/16", true},
        {"192.0.2.0/24", "192.0.0.0/8", true},
        {"192.0.2.0/24", "192.0.2.0/25", false},
        {"192.0.2.0/24", "192.0.2.0", false},
        {"192.0.2.7", "192.0.2.7", true},
        {"192.0.2.7", "192.0.2.0/24", true},
        {"192.0.2.0/9", "192.0.0.0/10", false},
        {"192.0.2.0/9", "192.0.0.0/16", false},
        {"2001:db8::/48", "2001:db8::/32", true},
        {"2001:db8::/48", "2001:db8::/64", false},
        {"2001:db8::/48", "2001:db8::", false},
    };
    struct arena *arena = arena_new(1 << 20);
    const struct value_reading how = {.hint = FEATURE_NONE};

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct feature_key keys[VALUE_KEYS_MAX];
        struct errinfo why = {.code = ERR_OK};
        size_t n = 0;
        assert_int_equal(
            value_keys(slice_str(rows[i].value), &how, arena, keys, &n, &why), ERR_OK);
        if (has_key(keys, n, rows[i].key) != rows[i].is_it) {
            fail_msg("%s by %s", rows[i].value, rows[i].key);
        }
    }
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys__of_a_network__are_it_and_the_wider_ones),
        cmocka_unit_test(test_value__by_its_look__stands_for),
        cmocka_unit_test(test_value__typed__alone),
        cmocka_unit_test(test_value__what_is_none__refused),
        cmocka_unit_test(test_only_counted__types_that_no_list_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
