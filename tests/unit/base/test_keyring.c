/*
 * test_keyring - keys are made once, read with care, and refused when others could.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/file.h"
#include "core/base/keyring.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

#define KEY_A "000102030405060708090a0b0c0d0e0f"
#define KEY_B "101112131415161718191A1B1C1D1E1F"

static void write_keys(struct tempdir *t, const char *ring, const char *node)
{
    char path[TEMPDIR_PATH];
    (void)mkdir(tempdir_file(t, "keys"), 0750);
    (void)snprintf(path, sizeof(path), "%s/keys/digest.key", t->path);
    assert_int_equal(file_write_atomic(path, slice_str(ring), 0640, NULL), ERR_OK);
    (void)snprintf(path, sizeof(path), "%s/keys/filter.key", t->path);
    assert_int_equal(file_write_atomic(path, slice_str(node), 0640, NULL), ERR_OK);
}

static void test_load__no_files__is_not_found(void **state)
{
    struct tempdir *t = *state;
    struct keyring k;
    struct errinfo info;
    assert_int_equal(keyring_load(t->path, &k, &info), ERR_NOT_FOUND);
    assert_non_null(strstr(info.source, "digest.key"));
}

static void test_create__again__gives_the_same_keys(void **state)
{
    struct tempdir *t = *state;
    struct keyring a;
    struct keyring b;
    struct errinfo info;
    struct stat st;
    mode_t old = umask(077);
    assert_int_equal(keyring_load_or_create(t->path, &a, &info), ERR_OK);
    (void)umask(old);
    assert_int_equal(keyring_load_or_create(t->path, &b, &info), ERR_OK);
    assert_memory_equal(&a, &b, sizeof(a));
    assert_int_equal(a.n, 1);
    assert_memory_not_equal(a.ring[0].bytes, a.node.bytes, HASHKEY_BYTES);
    assert_int_equal(stat(tempdir_file(t, "keys"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0750);
    assert_int_equal(stat(tempdir_file(t, "keys/digest.key"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(stat(tempdir_file(t, "keys/filter.key"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
}

static void test_create__one_file_missing__keeps_the_other(void **state)
{
    struct tempdir *t = *state;
    struct keyring a;
    struct keyring b;
    assert_int_equal(keyring_load_or_create(t->path, &a, NULL), ERR_OK);
    assert_int_equal(unlink(tempdir_file(t, "keys/filter.key")), 0);
    assert_int_equal(keyring_load(t->path, &b, NULL), ERR_NOT_FOUND);
    assert_int_equal(keyring_load_or_create(t->path, &b, NULL), ERR_OK);
    assert_memory_equal(&a.ring[0], &b.ring[0], sizeof(a.ring[0]));
    assert_memory_not_equal(&a.node, &b.node, sizeof(a.node));
}

enum { RACERS = 8, ROUNDS = 20 };

static void race_once(struct tempdir *t, int round)
{
    char dir[TEMPDIR_PATH];
    int start[2];
    int result[2];
    (void)snprintf(dir, sizeof(dir), "%s/%d", t->path, round);
    assert_int_equal(mkdir(dir, 0755), 0);
    assert_int_equal(pipe(start), 0);
    assert_int_equal(pipe(result), 0);
    for (int i = 0; i < RACERS; i++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            struct keyring k;
            char c = 0;
            (void)close(start[1]);
            (void)!read(start[0], &c, 1); /* until all are there */
            memset(&k, 0, sizeof(k));
            enum err e = keyring_load_or_create(dir, &k, NULL);
            ssize_t n = e == ERR_OK ? write(result[1], &k, sizeof(k)) : 0;
            _exit(n == (ssize_t)sizeof(k) ? 0 : 1);
        }
    }
    (void)close(start[0]);
    (void)close(start[1]);
    (void)close(result[1]);
    struct keyring first;
    struct keyring k;
    assert_int_equal(read(result[0], &first, sizeof(first)), sizeof(first));
    for (int i = 1; i < RACERS; i++) {
        assert_int_equal(read(result[0], &k, sizeof(k)), sizeof(k));
        assert_memory_equal(&first, &k, sizeof(k));
    }
    (void)close(result[0]);
    for (int i = 0; i < RACERS; i++) {
        int status = 0;
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
}

static void test_create__many_processes_at_once__end_with_one_key(void **state)
{
    for (int round = 0; round < ROUNDS; round++) {
        race_once(*state, round);
    }
}

static void test_load__two_ring_keys__are_found_by_id(void **state)
{
    struct tempdir *t = *state;
    struct keyring k;
    write_keys(t, "# comment\n\n  " KEY_B "\r\n" KEY_A, KEY_A "\n");
    assert_int_equal(keyring_load(t->path, &k, NULL), ERR_OK);
    assert_int_equal(k.n, 2);
    assert_int_equal(k.ring[0].bytes[0], 0x10);
    /* first 4 bytes of BLAKE2b-256(00 .. 0f), computed with another program */
    assert_true(k.ring[1].id == 0x1a5dcbc7);
    assert_ptr_equal(keyring_find(&k, k.ring[0].id), &k.ring[0]);
    assert_ptr_equal(keyring_find(&k, 0x1a5dcbc7), &k.ring[1]);
    assert_null(keyring_find(&k, 1));
}

/* keyed BLAKE2b-256 of 7 as 8 bytes and "purpose", computed with another program */
static void test_derive__purpose_and_number__give_a_key_of_their_own(void **state)
{
    static const uint8_t expected[KEYRING_DERIVED_BYTES] = {
        0x06, 0x27, 0x21, 0xf4, 0x51, 0xf2, 0xce, 0x16, 0x0a, 0x20, 0x42,
        0x18, 0x0e, 0x98, 0x2a, 0x99, 0xbb, 0xce, 0x5a, 0x10, 0x64, 0x50,
        0xbc, 0xfd, 0x72, 0x34, 0x0e, 0x92, 0x56, 0x72, 0x44, 0x21};
    struct hashkey key = {.id = 0};
    uint8_t got[KEYRING_DERIVED_BYTES];
    (void)state;
    for (uint8_t i = 0; i < HASHKEY_BYTES; i++) {
        key.bytes[i] = i;
    }
    keyring_derive(&key, "purpose", 7, got);
    assert_memory_equal(got, expected, sizeof(got));
    keyring_derive(&key, "purpose", 8, got);
    assert_memory_not_equal(got, expected, sizeof(got));
    keyring_derive(&key, "purposes", 7, got);
    assert_memory_not_equal(got, expected, sizeof(got));
}

static void test_load__bad_texts__are_refused_with_the_line(void **state)
{
    struct tempdir *t = *state;
    static const struct {
        const char *ring;
        const char *node;
        enum err want;
        unsigned line;
    } rows[] = {
        {"", KEY_A, ERR_SYNTAX, 0},
        {"# only\n", KEY_A, ERR_SYNTAX, 0},
        {KEY_A "\n" KEY_A "0\n", KEY_A, ERR_SYNTAX, 2},
        {"\n00010203", KEY_A, ERR_SYNTAX, 2},
        {"g0010203040506070809"
         "0a0b0c0d0e0f",
         KEY_A, ERR_SYNTAX, 1},
        {KEY_A "\n" KEY_A "\n", KEY_A, ERR_EXISTS, 2},
        {KEY_A "\n" KEY_B "\n" KEY_B "\n", KEY_A, ERR_LIMIT, 3},
        {KEY_A, KEY_A "\n" KEY_B "\n", ERR_LIMIT, 2},
        {KEY_A, "", ERR_SYNTAX, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct keyring k;
        struct errinfo info;
        write_keys(t, rows[i].ring, rows[i].node);
        assert_int_equal(keyring_load(t->path, &k, &info), rows[i].want);
        assert_int_equal(info.line, rows[i].line);
        /* and are not replaced */
        assert_int_equal(keyring_load_or_create(t->path, &k, NULL), rows[i].want);
    }
}

static void test_load__file_sizes_around_the_limit__are_told(void **state)
{
    struct tempdir *t = *state;
    struct keyring k;
    for (size_t n = 4094; n <= 4096; n++) {
        char text[4097];
        memset(text, '#', n);
        memcpy(text, KEY_A "\n", 33);
        text[n] = '\0';
        write_keys(t, text, KEY_A);
        assert_int_equal(keyring_load(t->path, &k, NULL),
                         n < 4096 ? ERR_OK : ERR_LIMIT);
    }
}

static void test_load__rights_too_wide__are_refused(void **state)
{
    struct tempdir *t = *state;
    static const struct {
        mode_t mode;
        enum err want;
    } rows[] = {{0600, ERR_OK},     {0640, ERR_OK},     {0440, ERR_OK},
                {0660, ERR_DENIED}, {0644, ERR_DENIED}, {0602, ERR_DENIED},
                {0641, ERR_DENIED}};
    write_keys(t, KEY_A, KEY_B);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct keyring k;
        struct errinfo info;
        assert_int_equal(chmod(tempdir_file(t, "keys/digest.key"), rows[i].mode), 0);
        assert_int_equal(keyring_load(t->path, &k, &info), rows[i].want);
        if (rows[i].want != ERR_OK) {
            assert_non_null(strstr(info.text, "chmod 640"));
        }
    }
}

static void test_load__link_in_place_of_a_key__is_refused(void **state)
{
    struct tempdir *t = *state;
    struct keyring k;
    struct errinfo info;
    char real[TEMPDIR_PATH];
    write_keys(t, KEY_A, KEY_B);
    (void)snprintf(real, sizeof(real), "%s/real", t->path);
    assert_int_equal(rename(tempdir_file(t, "keys/digest.key"), real), 0);
    assert_int_equal(symlink(real, tempdir_file(t, "keys/digest.key")), 0);
    assert_int_equal(keyring_load(t->path, &k, &info), ERR_DENIED);
    assert_non_null(strstr(info.text, "symbolic link"));
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, tempdir_setup, tempdir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_load__no_files__is_not_found),
        TEST(test_create__again__gives_the_same_keys),
        TEST(test_create__one_file_missing__keeps_the_other),
        TEST(test_create__many_processes_at_once__end_with_one_key),
        TEST(test_load__two_ring_keys__are_found_by_id),
        TEST(test_derive__purpose_and_number__give_a_key_of_their_own),
        TEST(test_load__bad_texts__are_refused_with_the_line),
        TEST(test_load__file_sizes_around_the_limit__are_told),
        TEST(test_load__rights_too_wide__are_refused),
        TEST(test_load__link_in_place_of_a_key__is_refused),
    };
    return base_init() == ERR_OK ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
