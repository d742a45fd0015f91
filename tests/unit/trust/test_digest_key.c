/* test_digest_key - the digest key on its way, which one is in force, and room for it in
 * keys/digest.key. */
#include <stdio.h>
#include <sys/stat.h>

#include "core/base/file.h"
#include "core/list/list.h"
#include "core/ring/trust/digest_key.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

static struct hashkey key_of(uint8_t n)
{
    uint8_t bytes[HASHKEY_BYTES] = {n};
    struct hashkey key;
    keyring_key_of(bytes, &key);
    return key;
}

/* A list in the folder that was made with the key. */
static void make_list(struct tempdir *t, const char *name, const struct hashkey *key)
{
    struct keyring k = {.n = 1, .ring = {*key}};
    struct list_writer *w = NULL;
    char dir[TEMPDIR_PATH];

    (void)snprintf(dir, sizeof(dir), "%s/lists/%s", t->path, name);
    (void)tempdir_remove(dir);
    assert_int_equal(list_writer_open(t->path, slice_str(name), &k, true, &w, NULL),
                     ERR_OK);
    list_writer_close(&w);
}

static void assert_keys(struct tempdir *t, unsigned n, uint32_t first, uint32_t second)
{
    struct keyring k;
    struct stat st;

    assert_int_equal(keyring_load(t->path, &k, NULL), ERR_OK);
    assert_int_equal(k.n, n);
    assert_int_equal(k.ring[0].id, first);
    if (n > 1) {
        assert_int_equal(k.ring[1].id, second);
    }
    assert_int_equal(stat(tempdir_file(t, "keys/digest.key"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
}

static void test_print__when_read_back__then_the_key__and_changed__then_refused(
    void **state)
{
    struct keyring k = {.n = 2, .ring = {key_of(1), key_of(2)}};
    struct hashkey back;
    struct buf line;

    (void)state;
    buf_init(&line, DIGEST_KEY_TEXT_MAX);
    assert_int_equal(digest_key_print(&k, k.ring[0].id + 1, &line), ERR_NOT_FOUND);
    assert_int_equal(digest_key_print(&k, k.ring[1].id, &line), ERR_OK);
    assert_int_equal(digest_key_parse(buf_slice(&line), k.ring[1].id, &back, NULL),
                     ERR_OK);
    assert_memory_equal(&back, &k.ring[1], sizeof(back));
    assert_int_equal(digest_key_parse(buf_slice(&line), k.ring[0].id, &back, NULL),
                     ERR_KEY);
    for (size_t i = 0; i < line.n; i++) {
        assert_int_equal(digest_key_parse(slice_head(buf_slice(&line), i), k.ring[1].id,
                                          &back, NULL),
                         ERR_SYNTAX);
        line.p[i] ^= 0x40;
        assert_int_not_equal(
            digest_key_parse(buf_slice(&line), k.ring[1].id, &back, NULL), ERR_OK);
        line.p[i] ^= 0x40;
    }
    buf_fini(&line);
}

static void test_put__when_there_is_room__then_it_stands_where_it_should(void **state)
{
    struct tempdir *t = *state;
    struct keyring k;
    struct hashkey a = key_of(1);
    struct hashkey b = key_of(2);

    assert_int_equal(keyring_load_or_create(t->path, &k, NULL), ERR_OK);
    uint32_t own = k.ring[0].id;
    assert_int_equal(digest_key_put(t->path, &a, true, NULL), ERR_OK);
    assert_keys(t, 2, a.id, own);
    assert_int_equal(digest_key_put(t->path, &a, true, NULL), ERR_OK);
    assert_keys(t, 2, a.id, own);
    assert_int_equal(digest_key_put(t->path, &a, false, NULL), ERR_OK);
    assert_keys(t, 2, own, a.id);
    assert_int_equal(digest_key_put(t->path, &a, true, NULL), ERR_OK);
    /* the third goes in for the second, which no list needs */
    assert_int_equal(digest_key_put(t->path, &b, false, NULL), ERR_OK);
    assert_keys(t, 2, a.id, b.id);
    assert_int_equal(digest_key_put(t->path, &k.ring[0], true, NULL), ERR_OK);
    assert_keys(t, 2, own, a.id);
}

static void test_put__when_a_list_needs_the_key_that_would_go__then_refused(
    void **state)
{
    struct tempdir *t = *state;
    struct keyring k;
    struct errinfo why = {.code = ERR_OK};
    struct hashkey a = key_of(1);
    struct hashkey b = key_of(2);

    assert_int_equal(keyring_load_or_create(t->path, &k, NULL), ERR_OK);
    uint32_t own = k.ring[0].id;
    make_list(t, "bad", &k.ring[0]);
    make_list(t, "also", &a);
    assert_int_equal(digest_key_put(t->path, &a, true, NULL), ERR_OK);
    assert_int_equal(digest_key_put(t->path, &b, false, &why), ERR_LIMIT);
    assert_string_equal(why.source, "bad");
    assert_non_null(strstr(why.text, "gillnet list rekey bad"));
    assert_keys(t, 2, a.id, own);
    /* a list whose state nobody knows might need it too */
    make_list(t, "bad", &a);
    assert_int_equal(file_write_atomic(tempdir_file(t, "lists/also/CURRENT"),
                                       SLICE_LIT("x"), 0640, NULL),
                     ERR_OK);
    assert_int_equal(digest_key_put(t->path, &b, false, &why), ERR_LIMIT);
    assert_string_equal(why.source, "also");
    make_list(t, "also", &a);
    assert_int_equal(digest_key_put(t->path, &b, false, NULL), ERR_OK);
    assert_keys(t, 2, a.id, b.id);
}

static void test_in_force__when_time_goes_on__then_the_newest_that_has_begun(
    void **state)
{
    static const struct {
        uint64_t now;
        uint64_t from[3];
        unsigned n;
        uint32_t want;
    } rows[] = {
        {0, {0}, 1, 0},           {10, {50}, 1, 0},        {99, {0, 100}, 2, 0},
        {100, {0, 100}, 2, 1},    {99, {100, 0}, 2, 1},    {100, {100, 0}, 2, 0},
        {10, {50, 100}, 2, 0},    {10, {100, 50}, 2, 1},   {25, {10, 30, 20}, 3, 2},
        {30, {10, 30, 20}, 3, 1}, {5, {10, 30, 20}, 3, 0}, {10, {10, 10}, 2, 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct manifest m = {.nring_keys = rows[i].n};
        for (unsigned j = 0; j < rows[i].n; j++) {
            m.ring_keys[j] = (struct manifest_ring_key){j, rows[i].from[j]};
        }
        assert_int_equal(digest_key_in_force(&m, rows[i].now), rows[i].want);
    }
}

static void test_turn__when_its_time_has_come__then_the_new_key_is_first(void **state)
{
    struct tempdir *t = *state;
    struct hashkey a = key_of(1);
    struct hashkey b = key_of(2);
    struct manifest m = {.nring_keys = 2, .ring_keys = {{a.id, 0}, {b.id, 100}}};
    struct keyring k;
    bool changed = true;
    uint32_t id = 0;

    assert_int_equal(keyring_load_or_create(t->path, &k, NULL), ERR_OK);
    assert_int_equal(digest_key_put(t->path, &a, true, NULL), ERR_OK);
    assert_int_equal(keyring_load(t->path, &k, NULL), ERR_OK);
    assert_true(digest_key_wanted(&m, &k, 50, &id)); /* before its time */
    assert_int_equal(id, b.id);
    /* without it nothing happens, whatever the time */
    assert_int_equal(digest_key_turn(t->path, &m, &k, 200, &changed, NULL), ERR_OK);
    assert_false(changed);
    assert_int_equal(digest_key_put(t->path, &b, false, NULL), ERR_OK);
    assert_int_equal(keyring_load(t->path, &k, NULL), ERR_OK);
    assert_false(digest_key_wanted(&m, &k, 50, &id));
    assert_int_equal(digest_key_turn(t->path, &m, &k, 99, &changed, NULL), ERR_OK);
    assert_false(changed);
    assert_keys(t, 2, a.id, b.id);
    assert_int_equal(digest_key_turn(t->path, &m, &k, 100, &changed, NULL), ERR_OK);
    assert_true(changed);
    assert_keys(t, 2, b.id, a.id);
    assert_int_equal(keyring_load(t->path, &k, NULL), ERR_OK);
    assert_int_equal(digest_key_turn(t->path, &m, &k, 100, &changed, NULL), ERR_OK);
    assert_false(changed);
    /* a later member does not need an expired one */
    k.n = 1;
    assert_false(digest_key_wanted(&m, &k, 100, &id));
}

#define IN_FOLDER(name) \
    cmocka_unit_test_setup_teardown(name, tempdir_setup, tempdir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_print__when_read_back__then_the_key__and_changed__then_refused),
        IN_FOLDER(test_put__when_there_is_room__then_it_stands_where_it_should),
        IN_FOLDER(test_put__when_a_list_needs_the_key_that_would_go__then_refused),
        cmocka_unit_test(
            test_in_force__when_time_goes_on__then_the_newest_that_has_begun),
        IN_FOLDER(test_turn__when_its_time_has_come__then_the_new_key_is_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
