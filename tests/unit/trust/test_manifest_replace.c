/* test_manifest_replace - required signatures of a manifest, and its replacement by another. */
#include "core/ring/trust/manifest.h"

#include "tests/unit/trust/ring_sample.h"
#include "tests/unit/unit.h"

static enum err parse_text(struct slice text, struct errinfo *reterr)
{
    struct manifest m;
    enum err e = manifest_parse(text, &m, reterr);
    if (e == ERR_OK) {
        manifest_fini(&m);
    }
    return e;
}

static void test_sign__when_a_key_signs_twice__then_refused(void **state)
{
    struct manifest m = make_ring(1);
    uint8_t secret[OBJECT_KEY_BYTES];
    struct buf text;

    (void)state;
    admin_secret(0, secret);
    print_signed(&m, 1, &text);
    assert_int_equal(manifest_sign(secret, &text, NULL), ERR_EXISTS);
    /* nor by the same line once more */
    size_t at = slice_find_slice(buf_slice(&text), SLICE_LIT("signature "));
    while (at < text.n &&
           slice_find_slice(slice_from(buf_slice(&text), at + 1),
                            SLICE_LIT("\nsignature ")) < text.n - at - 1) {
        at += 1 + slice_find_slice(slice_from(buf_slice(&text), at + 1),
                                   SLICE_LIT("\nsignature "));
    }
    struct slice line = slice_from(buf_slice(&text), at + 1);
    char copy[256];
    assert_true(line.n < sizeof(copy));
    memcpy(copy, line.p, line.n);
    buf_add(&text, slice_of(copy, line.n));
    assert_int_equal(parse_text(buf_slice(&text), NULL), ERR_SYNTAX);
    buf_fini(&text);
    manifest_fini(&m);
}

static void test_sign__when_more_sign_than_allowed__then_refused(void **state)
{
    struct manifest m = make_ring(1);
    struct buf text;
    enum err e = ERR_OK;
    unsigned n = 0;

    (void)state;
    print_signed(&m, 0, &text);
    for (; n < 100; n++) {
        struct identity i;
        make_identity(n, &i);
        e = manifest_sign(i.secret, &text, NULL);
        if (e != ERR_OK) {
            break;
        }
    }
    assert_int_equal(e, ERR_LIMIT);
    assert_int_equal(n, 2 * MANIFEST_ADMINS_MAX);
    assert_int_equal(parse_text(buf_slice(&text), NULL), ERR_OK);
    buf_fini(&text);
    manifest_fini(&m);
}

static void test_replace__when_two_of_three_must_sign__then_each_two_do(void **state)
{
    (void)state;
    for (unsigned who = 0; who < 8; who++) {
        struct manifest first = make_ring(1);
        struct manifest second = make_ring(2);
        second.version = 2;
        struct manifest old = parsed(&first, 3);
        struct manifest new = parsed(&second, who);
        unsigned n = (who & 1) + (who >> 1 & 1) + (who >> 2 & 1);
        enum err want = n >= 2 ? ERR_OK : ERR_DENIED;

        assert_int_equal(manifest_signatures(&new, &old), n);
        assert_int_equal(manifest_may_replace(&new, &old, NULL), want);
        assert_int_equal(manifest_may_replace(&new, NULL, NULL), want);
        manifest_fini(&first);
        manifest_fini(&second);
        manifest_fini(&old);
        manifest_fini(&new);
    }
}

static void test_replace__when_rules_are_broken__then_refused(void **state)
{
    static const struct {
        const char *what;
        unsigned who; /* signs the new one */
        uint64_t version;
        uint8_t ring;
        unsigned threshold;
        unsigned swap_admins; /* that many of the new one are others (keys 3, 4, ..) */
        enum err want;
    } rows[] = {
        {"as it should be", 3, 6, 0x11, 2, 0, ERR_OK},
        {"a version later", 3, 7, 0x11, 2, 0, ERR_OK},
        {"the same version", 3, 5, 0x11, 2, 0, ERR_EXISTS},
        {"a rollback", 3, 4, 0x11, 2, 0, ERR_EXISTS},
        {"another ring", 3, 6, 0x12, 2, 0, ERR_DENIED},
        {"too few of the old", 1, 6, 0x11, 1, 0, ERR_DENIED},
        {"a lower threshold, properly signed", 3, 6, 0x11, 1, 0, ERR_OK},
        {"a higher threshold, signed by all", 7, 6, 0x11, 3, 0, ERR_OK},
        {"a higher threshold, signed by two", 3, 6, 0x11, 3, 0, ERR_DENIED},
        {"new administrators signed for themselves", 0x18, 6, 0x11, 2, 2, ERR_DENIED},
        {"old ones signed, new ones did not", 3, 6, 0x11, 2, 3, ERR_DENIED},
        {"both did", 0x1b, 6, 0x11, 2, 3, ERR_OK},
    };
    struct manifest first = make_ring(1);
    first.version = 5;
    struct manifest old = parsed(&first, 3);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct manifest second = make_ring(1);
        struct errinfo why = {.code = ERR_OK};

        second.version = rows[i].version;
        second.threshold = rows[i].threshold;
        second.quorum = 3;
        memset(&second.ring, rows[i].ring, sizeof(second.ring));
        for (unsigned j = 0; j < rows[i].swap_admins; j++) {
            struct identity a;
            make_identity(1003 + j, &a);
            memcpy(second.admins[j], a.public_key, OBJECT_KEY_BYTES);
        }
        struct manifest new = parsed(&second, rows[i].who);
        enum err e = manifest_may_replace(&new, &old, &why);
        if (e != rows[i].want) {
            print_error("%s: %s\n", rows[i].what, why.text);
        }
        assert_int_equal(e, rows[i].want);
        manifest_fini(&new);
        manifest_fini(&second);
    }
    assert_int_equal(manifest_may_replace(&old, &old, NULL), ERR_EXISTS);
    manifest_fini(&first);
    manifest_fini(&old);
}

static void test_replace__when_a_revoked_key_is_trusted_again__then_refused(
    void **state)
{
    struct manifest first = make_ring(2);
    struct manifest second = make_ring(2);
    struct errinfo why = {.code = ERR_OK};

    (void)state;
    first.members[1].keys[0].is_revoked = true;
    second.version = 2;
    struct manifest old = parsed(&first, 3);
    struct manifest new = parsed(&second, 3);
    assert_int_equal(manifest_may_replace(&new, &old, &why), ERR_DENIED);
    assert_non_null(strstr(why.text, "\"m1\""));
    manifest_fini(&new);
    second.members[1].keys[0].is_revoked = true;
    new = parsed(&second, 3);
    assert_int_equal(manifest_may_replace(&new, &old, NULL), ERR_OK);
    manifest_fini(&new);
    second.nmembers = 1; /* forgotten altogether */
    new = parsed(&second, 3);
    assert_int_equal(manifest_may_replace(&new, &old, NULL), ERR_OK);
    manifest_fini(&new);
    manifest_fini(&old);
    manifest_fini(&first);
    manifest_fini(&second);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sign__when_a_key_signs_twice__then_refused),
        cmocka_unit_test(test_sign__when_more_sign_than_allowed__then_refused),
        cmocka_unit_test(test_replace__when_two_of_three_must_sign__then_each_two_do),
        cmocka_unit_test(test_replace__when_rules_are_broken__then_refused),
        cmocka_unit_test(
            test_replace__when_a_revoked_key_is_trusted_again__then_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
