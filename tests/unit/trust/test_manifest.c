/* test_manifest - form and bounds of manifests, signatures, which one replaces which, the file. */
#include <stdio.h>
#include <sys/stat.h>

#include "core/base/file.h"
#include "core/base/hash256.h"
#include "core/ring/trust/manifest.h"
#include "core/store/origins.h"

#include "tests/unit/tempdir.h"
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

/* Replaces the first `from` in the text of m by `to`; unsigned, so that only form is judged. */
static enum err parse_changed(const struct manifest *m, const char *from,
                              const char *to)
{
    struct buf text;
    struct buf changed;

    print_signed(m, 0, &text);
    size_t at = slice_find_slice(buf_slice(&text), slice_str(from));
    assert_true(at < text.n);
    buf_init(&changed, (size_t)4 * MANIFEST_BYTES_MAX);
    buf_add(&changed, slice_head(buf_slice(&text), at));
    buf_add_str(&changed, to);
    buf_add(&changed, slice_from(buf_slice(&text), at + strlen(from)));
    enum err e = parse_text(buf_slice(&changed), NULL);
    buf_fini(&changed);
    buf_fini(&text);
    return e;
}

/* ---- form ---- */

static void test_parse__when_printed__then_all_fields_are_back(void **state)
{
    struct manifest m = make_ring(3);
    struct identity other;

    (void)state;
    make_identity(77, &other);
    m.members[1].state = MEMBER_LEFT;
    m.members[2].state = MEMBER_DROPPED;
    m.members[2].cap = 3;
    m.members[2].records_per_day = 99;
    memset(m.members[0].address, 0, sizeof(m.members[0].address));
    memset(m.members[1].address, 0, sizeof(m.members[1].address));
    (void)snprintf(m.members[0].address, sizeof(m.members[0].address), "[::1]:1");
    m.members[0].keys[0].until_ms = 5;
    m.members[0].keys[0].is_revoked = true;
    m.ring_keys[1] = (struct manifest_ring_key){4294967295u, 12};
    m.nring_keys = 2;
    struct manifest back = parsed(&m, 3);
    assert_memory_equal(&back.ring, &m.ring, sizeof(m.ring));
    assert_int_equal(back.version, 1);
    assert_int_equal(back.threshold, 2);
    assert_int_equal(back.nadmins, ADMINS);
    assert_memory_equal(back.admins, m.admins, ADMINS * sizeof(m.admins[0]));
    assert_int_equal(back.nmembers, 3);
    assert_memory_equal(back.members, m.members, 3 * sizeof(*m.members));
    assert_int_equal(back.nring_keys, 2);
    assert_int_equal(back.ring_keys[1].id, 4294967295u);
    assert_int_equal(back.ring_keys[1].from_ms, 12);
    assert_int_equal(back.default_cap, 10);
    assert_int_equal(back.quorum, 2);
    assert_int_equal(back.default_records_per_day, 1000);
    assert_int_equal(manifest_cap(&back, &back.members[0]), 10);
    assert_int_equal(manifest_cap(&back, &back.members[2]), 3);
    assert_string_equal(manifest_find_name(&back, SLICE_LIT("m1"))->name, "m1");
    assert_null(manifest_find_name(&back, SLICE_LIT("m")));
    assert_ptr_equal(manifest_find(&back, &m.members[2].origin), &back.members[2]);
    assert_null(manifest_find(&back, &other.origin));
    manifest_fini(&back);
    manifest_fini(&m);
}

static const struct {
    const char *from;
    const char *to;
} wrong_fields[] = {
    {"\"ring\":\"11", "\"ring\":\"1"},
    {"\"ring\":\"11", "\"ring\":\"zz"},
    {"\"version\":1,", "\"version\":0,"},
    {"\"version\":1,", "\"version\":-1,"},
    {"\"version\":1,", "\"version\":1.0,"},
    {"\"version\":1,", "\"version\":\"1\","},
    {"\"version\":1,", "\"version\":9007199254740993,"},
    {"\"version\":1,", "\"version\":99999999999999999999999999,"},
    {"\"version\":1,", "\"version\":1e999,"},
    {"\"version\":1,", "\"version\":null,"},
    {"\"version\":1,", "\"version\":true,"},
    {"\"version\":1,", ""},
    {"\"version\":1,", "\"version\":1,\"version\":2,"},
    {"\"version\":1,", "\"version\":1,\"later\":2,"},
    {"\"expires_ms\":1000001", "\"expires_ms\":1000000"},
    {"\"expires_ms\":1000001", "\"expires_ms\":253402300800000"},
    {"\"threshold\":2", "\"threshold\":0"},
    {"\"threshold\":2", "\"threshold\":4"},
    {"\"threshold\":2", "\"threshold\":17"},
    {"\"admins\":[\"", "\"admins\":[1,\""},
    {"\"admins\":[\"", "\"admins\":[\"\",\""},
    {"\"members\":[{", "\"members\":[],\"x\":[{"},
    {"\"members\":[{", "\"members\":[[],{"},
    {"\"name\":\"m0\"", "\"name\":\"\""},
    {"\"name\":\"m0\"", "\"name\":\"M0\""},
    {"\"name\":\"m0\"", "\"name\":\"-m\""},
    {"\"name\":\"m0\"", "\"name\":\"m/0\""},
    {"\"name\":\"m0\"", "\"name\":\"m\\u00000\""},
    {"\"name\":\"m0\"", "\"name\":\"m\\n0\""},
    {"\"name\":\"m0\"", "\"name\":\"m\xc3\xa4\""},
    {"\"name\":\"m0\"", "\"name\":\"m\xff\""},
    {"\"name\":\"m0\"", "\"name\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\""},
    {"\"name\":\"m0\"", "\"name\":\"m1\""},
    {"\"state\":\"active\"", "\"state\":\"Active\""},
    {"\"state\":\"active\"", "\"state\":0"},
    {"\"address\":\"10.0.0.0:8896\"", "\"address\":\"10.0.0.0\""},
    {"\"address\":\"10.0.0.0:8896\"", "\"address\":\"10.0.0.0:0\""},
    {"\"address\":\"10.0.0.0:8896\"", "\"address\":\"10.0.0.0:65536\""},
    {"\"address\":\"10.0.0.0:8896\"", "\"address\":\"10.0.0.0:+1\""},
    {"\"address\":\"10.0.0.0:8896\"", "\"address\":\":8896\""},
    {"\"address\":\"10.0.0.0:8896\"", "\"address\":\"::1:8896\""},
    {"\"address\":\"10.0.0.0:8896\"", "\"address\":\"[::1]\""},
    {"\"address\":\"10.0.0.0:8896\"", "\"address\":\"[::g]:1\""},
    {"\"address\":\"10.0.0.0:8896\"", "\"address\":\"a b:1\""},
    {"\"address\":\"10.0.0.0:8896\"", "\"address\":\"a/b:1\""},
    {"\"address\":\"10.0.0.0:8896\"", "\"address\":\"10.0.0.1:8896\""},
    {"\"cap\":0", "\"cap\":1000001"},
    {"\"records_per_day\":0", "\"records_per_day\":1000000000001"},
    {"\"until_ms\":0", "\"until_ms\":\"\""},
    {"\"not_before_ms\":0", "\"not_before_ms\":1"},
    {"\"revoked\":false", "\"revoked\":0"},
    {"\"ring_keys\":[{", "\"ring_keys\":[{\"id\":7,\"from_ms\":0},{"},
    {"\"id\":7", "\"id\":4294967296"},
    {"\"default_cap\":10", "\"default_cap\":0"},
    {"\"quorum\":2", "\"quorum\":0"},
    {"\"quorum\":2", "\"quorum\":257"},
    {"\"default_records_per_day\":1000", "\"default_records_per_day\":0"},
    {"\"quorum\":2", "\"quorum\":2,\"kind\":\"Own\""},
    {"\"quorum\":2", "\"quorum\":2,\"kind\":1"},
    {"\"quorum\":2", "\"quorum\":2,\"kind\":null"},
    {"\"quorum\":2", "\"quorum\":2,\"sort\":\"own\""},
    {"\"quorum\":2", "\"kind\":\"own\""},
    {"gillnet-ring-manifest 1", "gillnet-ring-manifest 1 "},
    {"gillnet-ring-manifest 1\n", "gillnet-ring-manifest 1\r\n"},
    {"\n{", "\n\n{"},
    {"\n{", "\n[{"},
    {"}\n", "}}\n"},
    {"}\n", "} x\n"},
    {"}\n", "}"},
    {"}\n", "}\n\n"},
    {"}\n", "}\nsignature \n"},
    {"}\n", "}\nsignature 00 00\n"},
};

static void test_kind__is_in_the_text_of_an_own_ring_alone(void **state)
{
    struct manifest m = make_ring(2);
    struct buf text;

    (void)state;
    for (int kind = RING_FEDERATION; kind <= RING_OWN; kind++) {
        m.kind = (enum ring_kind)kind;
        struct manifest back = parsed(&m, 1);
        bool is_own = kind == RING_OWN;
        assert_int_equal(back.kind, kind);
        assert_int_equal(manifest_cap(&back, &back.members[0]),
                         is_own ? ORIGIN_NO_CAP : back.default_cap);
        buf_init(&text, MANIFEST_BYTES_MAX);
        assert_int_equal(manifest_print(&m, &text), ERR_OK);
        assert_int_equal(slice_find_slice(buf_slice(&text), SLICE_LIT("kind")) < text.n,
                         is_own);
        buf_fini(&text);
        manifest_fini(&back);
    }
    m.kind = RING_FEDERATION; /* said in words it is the same */
    assert_int_equal(
        parse_changed(&m, "\"quorum\":2", "\"quorum\":2,\"kind\":\"federation\""),
        ERR_OK);
    manifest_fini(&m);
}

static void test_parse__when_one_field_is_wrong__then_refused(void **state)
{
    struct manifest m = make_ring(2);

    (void)state;
    assert_int_equal(parse_changed(&m, "\"quorum\":2", "\"quorum\":3"), ERR_OK);
    for (size_t i = 0; i < sizeof(wrong_fields) / sizeof(wrong_fields[0]); i++) {
        enum err e = parse_changed(&m, wrong_fields[i].from, wrong_fields[i].to);
        if (e != ERR_SYNTAX && e != ERR_VERSION) {
            print_error("%s -> %s: %d\n", wrong_fields[i].from, wrong_fields[i].to,
                        (int)e);
        }
        assert_true(e == ERR_SYNTAX || e == ERR_VERSION);
    }
    assert_int_equal(parse_changed(&m, "manifest 1", "manifest 2"), ERR_VERSION);
    assert_int_equal(
        parse_changed(&m, "\"version\":1,", "\"version\":9007199254740992,"), ERR_OK);
    manifest_fini(&m);
}

/* The number is that of the member in the text. */
static void test_parse__when_a_member_is_wrong__then_it_is_named(void **state)
{
    static const struct {
        const char *name;
        const char *why;
    } rows[] = {
        {"\"name\":\"m0\"", "member 1: \"name\" must be"},
        {"\"name\":\"m1\"", "member 2: \"name\" must be"},
    };
    struct manifest m = make_ring(2);

    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct manifest back;
        struct buf text;
        struct errinfo why = {.code = ERR_OK};
        print_signed(&m, 0, &text);
        char *name = strstr(text.p, rows[i].name);
        assert_non_null(name);
        name[strlen("\"name\":\"")] = 'M';
        assert_int_equal(manifest_parse(buf_slice(&text), &back, &why), ERR_SYNTAX);
        if (strstr(why.text, rows[i].why) == NULL) {
            fail_msg("%s", why.text);
        }
        buf_fini(&text);
    }
    manifest_fini(&m);
}

static void test_parse__when_members_share_something__then_refused(void **state)
{
    (void)state;
    for (unsigned what = 0; what < 6; what++) {
        struct manifest m = make_ring(3);
        struct manifest_member *a = &m.members[0];
        struct manifest_member *b = &m.members[2];
        struct buf text;

        switch (what) {
        case 0: /* the whole member under another name */
            *b = *a;
            (void)snprintf(b->name, sizeof(b->name), "other");
            b->address[0] = '\0';
            break;
        case 1: /* a binding of somebody else */
            b->keys[0] = a->keys[0];
            break;
        case 2: /* swapped */
            b->keys[0] = a->keys[0];
            a->keys[0] = m.members[1].keys[0];
            break;
        case 3: /* one key twice */
            b->keys[1] = b->keys[0];
            b->nkeys = 2;
            break;
        case 4: /* an administrator twice: two signatures by one */
            memcpy(m.admins[1], m.admins[0], OBJECT_KEY_BYTES);
            break;
        default:
            memcpy(b->identity, a->identity, OBJECT_KEY_BYTES);
            break;
        }
        print_signed(&m, 0, &text);
        assert_int_equal(parse_text(buf_slice(&text), NULL), ERR_SYNTAX);
        buf_fini(&text);
        manifest_fini(&m);
    }
}

static void test_parse__when_it_is_cut_anywhere__then_refused(void **state)
{
    struct manifest m = make_ring(1);
    struct buf text;

    (void)state;
    print_signed(&m, 1, &text);
    for (size_t i = 0; i < text.n; i++) {
        char *copy = malloc(i + 1); /* exact, for the sanitizer */
        assert_non_null(copy);
        memcpy(copy, text.p, i);
        enum err e = parse_text(slice_of(copy, i), NULL);
        /* cut behind the body's line it is a manifest that nobody signed */
        assert_true((e == ERR_OK) ==
                    (i > 0 && copy[i - 1] == '\n' && memchr(copy, '{', i) != NULL));
        free(copy);
    }
    buf_fini(&text);
    manifest_fini(&m);
}

static void test_parse__when_any_byte_of_the_body_changes__then_the_signature_is_wrong(
    void **state)
{
    struct manifest m = make_ring(1);
    struct buf text;

    (void)state;
    print_signed(&m, 1, &text);
    assert_int_equal(parse_text(buf_slice(&text), NULL), ERR_OK);
    size_t end = slice_find_slice(buf_slice(&text), SLICE_LIT("\nsignature"));
    for (size_t i = 0; i < end; i++) {
        text.p[i] ^= 1;
        assert_int_not_equal(parse_text(buf_slice(&text), NULL), ERR_OK);
        text.p[i] ^= 1;
    }
    buf_fini(&text);
    manifest_fini(&m);
}

static void test_parse__when_json_is_deep_or_wide__then_refused_at_once(void **state)
{
    static const char *const units[] = {"[", "{\"a\":", "[1,", "1,", "\"a\":", "{},"};

    (void)state;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        struct buf text;
        buf_init(&text, MANIFEST_BYTES_MAX);
        buf_add_str(&text, "gillnet-ring-manifest 1\n{\"members\":[");
        while (text.n + 16 < MANIFEST_BYTES_MAX) {
            buf_add_str(&text, units[i]);
        }
        buf_add_char(&text, '\n');
        assert_false(buf_failed(&text));
        assert_int_equal(parse_text(buf_slice(&text), NULL), ERR_LIMIT);
        buf_fini(&text);
    }
}

static void
test_parse__when_it_is_as_large_as_allowed__then_read__and_one_more__then_not(
    void **state)
{
    (void)state;
    for (size_t more = 0; more < 2; more++) {
        struct manifest m = make_ring(1);
        struct buf text;
        struct buf padded;

        print_signed(&m, 0, &text);
        buf_init(&padded, (size_t)2 * MANIFEST_BYTES_MAX);
        buf_add(&padded, slice_head(buf_slice(&text), text.n - 1));
        while (padded.n + 1 < MANIFEST_BYTES_MAX + more) {
            buf_add_char(&padded, ' ');
        }
        buf_add_char(&padded, '\n');
        assert_int_equal(padded.n, MANIFEST_BYTES_MAX + more);
        assert_int_equal(parse_text(buf_slice(&padded), NULL),
                         more == 0 ? ERR_OK : ERR_LIMIT);
        buf_fini(&padded);
        buf_fini(&text);
        manifest_fini(&m);
    }
}

static void test_parse__when_members_are_as_many_as_allowed__then_read(void **state)
{
    (void)state;
    for (unsigned more = 0; more < 2; more++) {
        struct manifest m = make_ring(MANIFEST_MEMBERS_MAX + more);
        struct buf text;

        print_signed(&m, 3, &text);
        assert_int_equal(parse_text(buf_slice(&text), NULL),
                         more == 0 ? ERR_OK : ERR_SYNTAX);
        buf_fini(&text);
        manifest_fini(&m);
    }
}

/* ---- keys ---- */

static void test_find_key__when_its_time_or_trust_is_over__then_not_found(void **state)
{
    static const struct {
        uint64_t until_ms;
        uint64_t at_ms;
        bool is_revoked;
        bool want;
    } rows[] = {
        {0, 0, false, true},      {0, UINT64_MAX, false, true}, {100, 99, false, true},
        {100, 100, false, false}, {0, 50, true, false},         {100, 50, true, false},
    };
    struct manifest m = make_ring(3);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct manifest_key *key = NULL;
        uint64_t id = object_key_id(m.members[1].keys[0].binding.key);

        m.members[1].keys[0].until_ms = rows[i].until_ms;
        m.members[1].keys[0].is_revoked = rows[i].is_revoked;
        const struct manifest_member *found =
            manifest_find_key(&m, id, rows[i].at_ms, &key);
        assert_ptr_equal(found, rows[i].want ? &m.members[1] : NULL);
        assert_ptr_equal(key, rows[i].want ? &m.members[1].keys[0] : NULL);
        assert_null(manifest_find_key(&m, id + 1, rows[i].at_ms, &key));
    }
    m.members[1].keys[0].is_revoked = false;
    m.members[1].keys[0].until_ms = 0;
    m.members[1].keys[0].binding.not_before_ms = 10;
    const struct manifest_key *key = NULL;
    uint64_t id = object_key_id(m.members[1].keys[0].binding.key);
    assert_null(manifest_find_key(&m, id, 9, &key));
    assert_non_null(manifest_find_key(&m, id, 10, &key));
    manifest_fini(&m);
}

/* ---- the file ---- */

static void test_store__when_a_newer_one_is_there__then_it_stays(void **state)
{
    struct tempdir *t = *state;
    struct manifest ring = make_ring(1);
    struct manifest back;
    struct stat st;

    assert_int_equal(manifest_load(t->path, &back, NULL), ERR_NOT_FOUND);
    struct manifest one = parsed(&ring, 3);
    ring.version = 2;
    struct manifest two = parsed(&ring, 3);
    ring.quorum = 4;
    struct manifest other = parsed(&ring, 3);
    assert_int_equal(manifest_store(t->path, &one, NULL), ERR_OK);
    assert_int_equal(manifest_store(t->path, &one, NULL), ERR_OK);
    assert_int_not_equal(stat(tempdir_file(t, "manifest.old"), &st), 0);
    assert_int_equal(manifest_store(t->path, &two, NULL), ERR_OK);
    assert_int_equal(manifest_store(t->path, &one, NULL), ERR_EXISTS);
    assert_int_equal(manifest_store(t->path, &other, NULL), ERR_EXISTS);
    assert_int_equal(manifest_load(t->path, &back, NULL), ERR_OK);
    assert_int_equal(back.version, 2);
    assert_int_equal(back.text_len, two.text_len);
    assert_memory_equal(back.text, two.text, two.text_len);
    manifest_fini(&back);
    assert_int_equal(stat(tempdir_file(t, "manifest.old"), &st), 0);
    assert_int_equal(st.st_size, one.text_len);
    assert_int_equal(stat(tempdir_file(t, "manifest"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    manifest_fini(&one);
    manifest_fini(&two);
    manifest_fini(&other);
    manifest_fini(&ring);
}

static void test_load__when_the_file_is_damaged_or_unsigned__then_it_says_what_to_do(
    void **state)
{
    struct tempdir *t = *state;
    struct manifest ring = make_ring(1);
    struct manifest back;
    struct errinfo why = {.code = ERR_OK};
    struct buf text;

    print_signed(&ring, 1, &text); /* one of two */
    assert_int_equal(
        file_write_atomic(tempdir_file(t, "manifest"), buf_slice(&text), 0640, NULL),
        ERR_OK);
    assert_int_equal(manifest_load(t->path, &back, &why), ERR_CORRUPT);
    assert_non_null(strstr(why.text, "manifest.old"));
    text.p[text.n / 2] ^= 1;
    assert_int_equal(
        file_write_atomic(tempdir_file(t, "manifest"), buf_slice(&text), 0640, NULL),
        ERR_OK);
    assert_int_equal(manifest_load(t->path, &back, &why), ERR_SYNTAX);
    struct manifest good = parsed(&ring, 3);
    assert_int_equal(manifest_store(t->path, &good, NULL), ERR_OK); /* is mended */
    assert_int_equal(manifest_load(t->path, &back, NULL), ERR_OK);
    manifest_fini(&back);
    manifest_fini(&good);
    manifest_fini(&ring);
    buf_fini(&text);
}

static void test_copy__when_the_original_is_gone__then_it_stays(void **state)
{
    struct manifest ring = make_ring(2);
    struct manifest m = parsed(&ring, 3);
    struct manifest copy;

    (void)state;
    assert_int_equal(manifest_copy(&m, &copy), ERR_OK);
    assert_memory_equal(copy.members, m.members, 2 * sizeof(*m.members));
    assert_string_equal(copy.text, m.text);
    manifest_fini(&m);
    assert_string_equal(copy.members[1].name, "m1");
    manifest_fini(&copy);
    assert_int_equal(manifest_copy(&ring, &copy), ERR_OK); /* never printed */
    assert_null(copy.text);
    manifest_fini(&copy);
    manifest_fini(&ring);
}

#define IN_FOLDER(name) \
    cmocka_unit_test_setup_teardown(name, tempdir_setup, tempdir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse__when_printed__then_all_fields_are_back),
        cmocka_unit_test(test_kind__is_in_the_text_of_an_own_ring_alone),
        cmocka_unit_test(test_parse__when_one_field_is_wrong__then_refused),
        cmocka_unit_test(test_parse__when_a_member_is_wrong__then_it_is_named),
        cmocka_unit_test(test_parse__when_members_share_something__then_refused),
        cmocka_unit_test(test_parse__when_it_is_cut_anywhere__then_refused),
        cmocka_unit_test(
            test_parse__when_any_byte_of_the_body_changes__then_the_signature_is_wrong),
        cmocka_unit_test(test_parse__when_json_is_deep_or_wide__then_refused_at_once),
        cmocka_unit_test(
            test_parse__when_it_is_as_large_as_allowed__then_read__and_one_more__then_not),
        cmocka_unit_test(test_parse__when_members_are_as_many_as_allowed__then_read),
        cmocka_unit_test(test_find_key__when_its_time_or_trust_is_over__then_not_found),
        IN_FOLDER(test_store__when_a_newer_one_is_there__then_it_stays),
        IN_FOLDER(
            test_load__when_the_file_is_damaged_or_unsigned__then_it_says_what_to_do),
        cmocka_unit_test(test_copy__when_the_original_is_gone__then_it_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
