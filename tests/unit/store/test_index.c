/*
 * test_index - all keys of a built index are found; each flipped or missing byte is refused.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/file.h"
#include "core/store/index.h"
#include "core/store/index_format.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

/* Digest number i of an ascending row. */
static struct digest digest_of(uint64_t i)
{
    struct digest d = {{0}};
    i *= UINT64_C(1000003);
    for (unsigned k = 0; k < 8; k++) {
        d.b[k] = (uint8_t)(i >> (56 - 8 * k));
    }
    d.b[15] = (uint8_t)i;
    return d;
}

static struct index_record record_of(uint64_t i)
{
    return (struct index_record){
        .status = (uint8_t)(i % 3),
        .flags = (uint8_t)(i % 2),
        .class_type = (uint16_t)(i * 7),
        .segment = (uint32_t)i,
        .offset = (uint32_t)(i * 64),
        .first_seen_s = (uint32_t)(1700000000 + i),
        .expiry_s = UINT32_MAX,
    };
}

static enum err build(const char *path, uint64_t n, uint64_t expected,
                      struct errinfo *info)
{
    struct index_builder *b = NULL;
    enum err e = index_builder_new(path, expected, &b, info);
    for (uint64_t i = 0; i < n && e == ERR_OK; i++) {
        struct digest d = digest_of(i);
        struct index_record r = record_of(i);
        e = index_builder_add(b, &d, &r, info);
    }
    if (e != ERR_OK) {
        if (b) {
            index_builder_abort(&b);
        }
        return e;
    }
    return index_builder_commit(&b, info);
}

static void assert_holds(const char *path, uint64_t n)
{
    struct index *ix = NULL;
    struct index_walk *w = NULL;
    struct errinfo info;
    struct index_record r;
    struct digest d;
    enum err e = ERR_IO;
    assert_int_equal(index_open(path, &ix, &info), ERR_OK);
    assert_int_equal(index_count(ix), n);
    for (uint64_t i = 0; i<n; i += n> 10000 ? 97 : 1) {
        struct index_record want = record_of(i);
        d = digest_of(i);
        assert_int_equal(index_get(ix, &d, &r), ERR_OK);
        assert_int_equal(r.status, want.status);
        assert_int_equal(r.flags, want.flags);
        assert_int_equal(r.class_type, want.class_type);
        assert_int_equal(r.segment, want.segment);
        assert_int_equal(r.offset, want.offset);
        assert_int_equal(r.first_seen_s, want.first_seen_s);
        assert_true(r.expiry_s == want.expiry_s);
        d.b[14] ^= 1;
        assert_int_equal(index_get(ix, &d, &r), ERR_NOT_FOUND);
    }
    d = digest_of(n);
    assert_int_equal(index_get(ix, &d, &r), ERR_NOT_FOUND);
    assert_int_equal(index_walk_new(ix, &w), ERR_OK);
    uint64_t i = 0;
    while (index_walk_next(w, &d, &r, &e)) {
        struct digest want = digest_of(i);
        assert_int_equal(digest_cmp(&d, &want), 0);
        assert_int_equal(r.segment, i);
        i++;
    }
    assert_int_equal(e, ERR_OK);
    assert_int_equal(i, n);
    index_walk_free(&w);
    index_walk_free(&w);
    index_close(&ix);
    index_close(&ix);
    assert_null(ix);
}

static void test_build__sizes_around_a_batch__come_back(void **state)
{
    struct tempdir *t = *state;
    static const uint64_t sizes[] = {0, 1, 2, 81, 5000, 65535, 65536, 65537, 200000};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct errinfo info;
        assert_int_equal(build(tempdir_file(t, "ix"), sizes[i], sizes[i], &info),
                         ERR_OK);
        assert_holds(t->file, sizes[i]); /* each replaces the one before */
    }
    struct stat st;
    assert_int_not_equal(stat(tempdir_file(t, "ix.sum.new"), &st), 0);
    assert_int_equal(stat(tempdir_file(t, "ix"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
}

static void test_build__more_than_expected__grows(void **state)
{
    struct tempdir *t = *state;
    struct errinfo info;
    enum { MANY = 1500000 }; /* 75 MB: more than the first map */
    assert_int_equal(build(tempdir_file(t, "ix"), MANY, 0, &info), ERR_OK);
    assert_holds(t->file, MANY);
}

static void test_build__hostile_expectation__is_only_a_hint(void **state)
{
    struct tempdir *t = *state;
    struct errinfo info;
    assert_int_equal(build(tempdir_file(t, "ix"), 10, UINT64_MAX, &info), ERR_OK);
    assert_holds(t->file, 10);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    /* without enough address space; sanitizers need it themselves */
    struct rlimit old;
    assert_int_equal(getrlimit(RLIMIT_AS, &old), 0);
    const struct rlimit little = {(rlim_t)4 << 30, old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_AS, &little), 0);
    enum err e = build(tempdir_file(t, "ix"), 20, UINT64_MAX, &info);
    assert_int_equal(setrlimit(RLIMIT_AS, &old), 0);
    assert_int_equal(e, ERR_OK);
    assert_holds(t->file, 20);
#endif
}

/* KiB of the file that this process has mapped and touched. */
static long resident_kib(const char *path)
{
    char line[4200];
    long kib = 0;
    bool is_it = false;
    FILE *maps = fopen("/proc/self/smaps", "re");
    assert_non_null(maps);
    while (fgets(line, sizeof(line), maps)) {
        size_t address = strspn(line, "0123456789abcdef");
        if (address > 0 && line[address] == '-') {
            is_it = strstr(line, path) != NULL;
        } else if (is_it && strncmp(line, "Rss:", 4) == 0) {
            kib += strtol(line + 4, NULL, 10);
        }
    }
    assert_int_equal(fclose(maps), 0);
    return kib;
}

static void test_walk__large_index__does_not_hold_all_of_it(void **state)
{
    enum { RECORDS = 1200000, FILE_KIB = RECORDS / 1024 * 50, HELD_KIB = 20 * 1024 };
    struct tempdir *t = *state;
    struct errinfo info;
    struct index *ix = NULL;
    struct index_walk *w = NULL;
    struct digest d;
    struct index_record r;
    enum err e = ERR_IO;
    long most = 0;
    uint64_t n = 0;
    assert_int_equal(build(tempdir_file(t, "ix"), RECORDS, RECORDS, &info), ERR_OK);
    assert_true(FILE_KIB > 2 * HELD_KIB);
    assert_int_equal(index_open(t->file, &ix, &info), ERR_OK);
    assert_int_equal(index_walk_new(ix, &w), ERR_OK);
    while (index_walk_next(w, &d, &r, &e)) {
        if (++n % (RECORDS / 8) == 0) {
            long kib = resident_kib(t->file);
            most = kib > most ? kib : most;
        }
    }
    assert_int_equal(e, ERR_OK);
    assert_int_equal(n, RECORDS);
    assert_true(most > 0);
    assert_true(most < HELD_KIB);
    index_walk_free(&w);
    index_close(&ix);
}

static void test_add__out_of_order_or_twice__is_refused(void **state)
{
    struct tempdir *t = *state;
    struct index_builder *b = NULL;
    struct errinfo info;
    struct index_record r = record_of(1);
    struct digest d = digest_of(5);
    assert_int_equal(index_builder_new(tempdir_file(t, "ix"), 0, &b, &info), ERR_OK);
    assert_int_equal(index_builder_add(b, &d, &r, &info), ERR_OK);
    assert_int_equal(index_builder_add(b, &d, &r, &info), ERR_RANGE);
    d = digest_of(4);
    assert_int_equal(index_builder_add(b, &d, &r, &info), ERR_RANGE);
    d = digest_of(6);
    assert_int_equal(index_builder_add(b, &d, &r, &info), ERR_OK);
    index_builder_abort(&b);
    index_builder_abort(&b);
    struct index *ix = NULL;
    assert_int_equal(index_open(t->file, &ix, &info), ERR_NOT_FOUND);
    assert_int_equal(rmdir(t->path), 0); /* the abort left nothing */
}

static struct buf contents(const char *path)
{
    struct buf b;
    buf_init(&b, 64 << 20);
    assert_int_equal(file_read(path, &b, NULL), ERR_OK);
    return b;
}

static void patch(const char *path, size_t at, char c)
{
    int fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, &c, 1, (off_t)at), 1);
    (void)close(fd);
}

static void assert_refused(const char *path)
{
    struct index *ix = NULL;
    struct errinfo info = {.code = ERR_OK};
    enum err e = index_open(path, &ix, &info);
    assert_true(e == ERR_CORRUPT || e == ERR_VERSION);
    assert_null(ix);
    assert_int_equal(info.code, e);
    assert_true(strlen(info.text) > 0);
}

static void test_open__each_flipped_bit__is_refused(void **state)
{
    struct tempdir *t = *state;
    struct errinfo info;
    char path[TEMPDIR_PATH];
    char sum[TEMPDIR_PATH];
    (void)snprintf(path, sizeof(path), "%s/ix", t->path);
    (void)snprintf(sum, sizeof(sum), "%s/ix.sum", t->path);
    assert_int_equal(build(path, 100, 100, &info), ERR_OK);
    const char *const files[] = {path, sum};
    const size_t steps[] = {13, 1};
    for (size_t f = 0; f < 2; f++) {
        struct buf b = contents(files[f]);
        for (size_t i = 0; i < b.n; i += steps[f]) {
            patch(files[f], i, (char)(b.p[i] ^ (1 << i % 8)));
            assert_refused(path);
            patch(files[f], i, b.p[i]);
        }
        buf_fini(&b);
    }
    assert_holds(path, 100);
}

static void test_open__each_truncation__is_refused(void **state)
{
    struct tempdir *t = *state;
    struct errinfo info;
    char path[TEMPDIR_PATH];
    char sum[TEMPDIR_PATH];
    (void)snprintf(path, sizeof(path), "%s/ix", t->path);
    (void)snprintf(sum, sizeof(sum), "%s/ix.sum", t->path);
    assert_int_equal(build(path, 30000, 0, &info), ERR_OK); /* two blocks */
    const char *const files[] = {path, sum};
    const size_t steps[] = {99991, 1};
    for (size_t f = 0; f < 2; f++) {
        struct buf b = contents(files[f]);
        for (size_t n = 0; n < b.n; n += steps[f]) {
            assert_int_equal(truncate(files[f], (off_t)n), 0);
            assert_refused(path);
            assert_int_equal(file_write_atomic(files[f], buf_slice(&b), 0640, NULL),
                             ERR_OK);
        }
        assert_int_equal(truncate(files[f], (off_t)b.n + 1), 0);
        assert_refused(path);
        assert_int_equal(truncate(files[f], (off_t)b.n), 0);
        buf_fini(&b);
    }
    assert_holds(path, 30000);
    assert_int_equal(unlink(sum), 0);
    assert_refused(path);
}

static void test_open__not_a_plain_file__is_refused(void **state)
{
    struct tempdir *t = *state;
    struct index *ix = NULL;
    struct errinfo info;
    assert_int_equal(index_open(t->path, &ix, &info), ERR_CORRUPT);
    assert_int_equal(build(tempdir_file(t, "ix"), 5, 0, &info), ERR_OK);
    assert_int_equal(symlink("ix", tempdir_file(t, "link")), 0);
    assert_int_not_equal(index_open(t->file, &ix, &info), ERR_OK);
    assert_int_equal(mkfifo(tempdir_file(t, "fifo"), 0600), 0);
    assert_int_equal(index_open(t->file, &ix, &info), ERR_CORRUPT);
}

/* The states that a crash can leave while index 2 replaces index 1. */
static void test_crash__each_state_of_publishing__opens_one_of_the_two(void **state)
{
    struct tempdir *t = *state;
    char p[4][TEMPDIR_PATH];
    static const char *const names[] = {"ix", "ix.sum", "ix.sum.new", "other"};
    struct errinfo info;
    for (size_t i = 0; i < 4; i++) {
        (void)snprintf(p[i], sizeof(p[i]), "%s/%s", t->path, names[i]);
    }
    assert_int_equal(build(p[3], 20, 0, &info), ERR_OK);
    struct buf data2 = contents(p[3]);
    struct buf sum2 = contents(tempdir_file(t, "other.sum"));
    assert_int_equal(build(p[0], 10, 0, &info), ERR_OK);
    /* after the new sums were written */
    assert_int_equal(file_write_atomic(p[2], buf_slice(&sum2), 0640, NULL), ERR_OK);
    assert_holds(p[0], 10);
    /* after the new index was renamed */
    assert_int_equal(file_write_atomic(p[0], buf_slice(&data2), 0640, NULL), ERR_OK);
    assert_holds(p[0], 20);
    /* the next build first settles that state: its own crash may come at any moment too */
    struct index_builder *b = NULL;
    assert_int_equal(index_builder_new(p[0], 0, &b, &info), ERR_OK);
    assert_int_equal(index_builder_commit(&b, &info), ERR_OK);
    assert_holds(p[0], 0);
    struct stat st;
    assert_int_not_equal(stat(p[2], &st), 0);
    /* stale new sums of a build that never got its index in place */
    assert_int_equal(file_write_atomic(p[2], SLICE_LIT("junk"), 0640, NULL), ERR_OK);
    assert_holds(p[0], 0);
    assert_int_equal(build(p[0], 7, 0, &info), ERR_OK);
    assert_holds(p[0], 7);
    buf_fini(&data2);
    buf_fini(&sum2);
}

/* A later build that fails after it wrote its sums must not take the index's own away. */
static void test_crash__half_published_then_failed_build__still_opens(void **state)
{
    struct tempdir *t = *state;
    char path[TEMPDIR_PATH];
    struct errinfo info;
    (void)snprintf(path, sizeof(path), "%s/ix", t->path);
    assert_int_equal(build(path, 20, 0, &info), ERR_OK);
    char sum[TEMPDIR_PATH];
    (void)snprintf(sum, sizeof(sum), "%s/ix.sum", t->path);
    assert_int_equal(rename(sum, tempdir_file(t, "ix.sum.new")), 0);
    assert_holds(path, 20);
    /* a folder at the place of PATH.sum.new's successor makes the build fail */
    struct index_builder *b = NULL;
    assert_int_equal(index_builder_new(path, 0, &b, &info), ERR_OK);
    assert_int_equal(mkdir(sum, 0700), 0);
    assert_int_not_equal(index_builder_commit(&b, &info), ERR_OK);
    assert_null(b);
    assert_int_equal(rmdir(sum), 0);
    assert_holds(path, 20);
}

static void test_old_index__stays_open__while_it_is_replaced(void **state)
{
    struct tempdir *t = *state;
    struct index *ix = NULL;
    struct errinfo info;
    struct index_record r;
    struct digest d = digest_of(9);
    assert_int_equal(build(tempdir_file(t, "ix"), 10, 0, &info), ERR_OK);
    assert_int_equal(index_open(t->file, &ix, &info), ERR_OK);
    assert_int_equal(build(t->file, 5, 0, &info), ERR_OK);
    assert_int_equal(index_get(ix, &d, &r), ERR_OK);
    index_close(&ix);
    assert_holds(t->file, 5);
}

/* Opens again and again while another process replaces the index. */
static void test_open__while_replaced_all_the_time__never_fails(void **state)
{
    struct tempdir *t = *state;
    struct errinfo info;
    enum { BUILDS = 150 };
    assert_int_equal(build(tempdir_file(t, "ix"), 1, 0, &info), ERR_OK);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        enum err e = ERR_OK;
        for (uint64_t i = 0; i < BUILDS && e == ERR_OK; i++) {
            e = build(t->file, 1 + i % 3, 0, NULL);
        }
        _exit(e == ERR_OK ? 0 : 1);
    }
    int status = 0;
    unsigned opened = 0;
    while (waitpid(pid, &status, WNOHANG) == 0) {
        struct index *ix = NULL;
        assert_int_equal(index_open(t->file, &ix, &info), ERR_OK);
        assert_in_range(index_count(ix), 1, 3);
        index_close(&ix);
        opened++;
    }
    assert_int_equal(status, 0);
    assert_true(opened > 0);
}

static void test_full_disk__build__says_so_and_the_old_index_stays(void **state)
{
    struct tempdir *t = *state;
    struct errinfo info;
    if (geteuid() != 0 || mount("none", t->path, "tmpfs", 0, "size=2m") != 0) {
        skip();
    }
    enum err first = build(tempdir_file(t, "ix"), 1000, 0, &info);
    enum err full = build(t->file, 200000, 0, &info);
    struct index *ix = NULL;
    enum err open_again = index_open(t->file, &ix, NULL);
    uint64_t count = ix ? index_count(ix) : 0;
    index_close(&ix);
    enum err small = build(t->file, 1100, 0, NULL); /* the space came back */
    (void)umount(t->path);
    assert_int_equal(first, ERR_OK);
    assert_int_equal(full, ERR_NOSPACE);
    assert_true(strlen(info.text) > 0);
    assert_int_equal(open_again, ERR_OK);
    assert_int_equal(count, 1000);
    assert_int_equal(small, ERR_OK);
}

static void test_value__record_checksum__tells_damage(void **state)
{
    (void)state;
    uint8_t value[INDEX_VALUE_BYTES];
    struct digest d = digest_of(3);
    struct digest other = digest_of(4);
    struct index_record r = record_of(3);
    struct index_record back;
    index_value_write(&d, &r, value);
    assert_int_equal(index_value_read(&d, value, sizeof(value), &back), ERR_OK);
    assert_int_equal(back.offset, r.offset);
    assert_int_equal(index_value_read(&other, value, sizeof(value), &back),
                     ERR_CORRUPT);
    for (size_t i = 0; i < sizeof(value) * 8; i++) {
        value[i / 8] ^= (uint8_t)(1 << i % 8);
        assert_int_equal(index_value_read(&d, value, sizeof(value), &back),
                         ERR_CORRUPT);
        value[i / 8] ^= (uint8_t)(1 << i % 8);
    }
    for (size_t n = 0; n < sizeof(value); n++) {
        assert_int_equal(index_value_read(&d, value, n, &back), ERR_CORRUPT);
    }
}

enum { THREADS = 4, GETS = 20000, RECORDS = 1000, DIGESTS = 2 * RECORDS };

static void *get_many(void *arg)
{
    const struct index *ix = arg;
    size_t wrong = 0;
    for (uint64_t i = 0; i < GETS; i++) {
        struct index_record r;
        struct digest d = digest_of(i % DIGESTS);
        enum err want = i % DIGESTS < RECORDS ? ERR_OK : ERR_NOT_FOUND;
        wrong += index_get(ix, &d, &r) != want;
    }
    return wrong ? arg : NULL;
}

static void test_threads__reading_at_once__all_find(void **state)
{
    struct tempdir *t = *state;
    struct index *ix = NULL;
    struct errinfo info;
    pthread_t threads[THREADS];
    assert_int_equal(build(tempdir_file(t, "ix"), RECORDS, 0, &info), ERR_OK);
    assert_int_equal(index_open(t->file, &ix, &info), ERR_OK);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, get_many, ix), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *wrong = NULL;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
    index_close(&ix);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, tempdir_setup, tempdir_teardown)

static void test_index_scrub__whole__ok_in_pieces_and_past_the_end(void **state)
{
    struct tempdir *t = *state;
    struct index *ix = NULL;
    struct errinfo info;
    uint64_t bad = 99;
    assert_int_equal(build(tempdir_file(t, "ix"), 60000, 60000, &info), ERR_OK);
    assert_int_equal(index_open(t->file, &ix, &info), ERR_OK);
    uint64_t blocks = index_blocks(ix);
    assert_true(blocks >= 3);
    for (uint64_t i = 0; i < blocks; i++) {
        assert_int_equal(index_scrub(ix, i, 1, &bad), ERR_OK);
    }
    assert_int_equal(index_scrub(ix, 0, UINT64_MAX, &bad), ERR_OK);
    assert_int_equal(index_scrub(ix, blocks, 1, &bad), ERR_OK);
    assert_int_equal(index_scrub(ix, UINT64_MAX, UINT64_MAX, &bad), ERR_OK);
    assert_int_equal(bad, 99);
    index_close(&ix);
}

static void flip_byte(const char *path, off_t at)
{
    char c = 0;
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_int_equal(pread(fd, &c, 1, at), 1);
    c = (char)(c ^ 0x10);
    assert_int_equal(pwrite(fd, &c, 1, at), 1);
    close(fd);
}

static void test_index_scrub__a_bit_flipped_while_open__its_block_is_named(void **state)
{
    struct tempdir *t = *state;
    struct index *ix = NULL;
    struct errinfo info;
    uint64_t bad = 99;
    assert_int_equal(build(tempdir_file(t, "ix"), 60000, 60000, &info), ERR_OK);
    assert_int_equal(index_open(t->file, &ix, &info), ERR_OK);
    for (uint64_t block = 0; block < 3; block++) {
        off_t at = (off_t)(block * INDEX_SUM_BLOCK + 4321);
        flip_byte(t->file, at);
        assert_int_equal(index_scrub(ix, 0, 9, &bad), ERR_CORRUPT);
        assert_int_equal(bad, block);
        assert_int_equal(index_scrub(ix, block == 0, 1, &bad), ERR_OK);
        flip_byte(t->file, at);
    }
    /* in the sums: their head, then the sum of block 1 */
    flip_byte(tempdir_file(t, "ix.sum"), 3);
    assert_int_equal(index_scrub(ix, 2, 1, &bad), ERR_CORRUPT);
    flip_byte(t->file, 3);
    flip_byte(t->file, INDEX_SUM_HEADER_BYTES + INDEX_SUM_BYTES);
    assert_int_equal(index_scrub(ix, 0, 9, &bad), ERR_CORRUPT);
    assert_int_equal(bad, 1);
    index_close(&ix);
}

static void test_index_scrub__replaced_or_gone__not_found(void **state)
{
    struct tempdir *t = *state;
    struct index *ix = NULL;
    struct errinfo info;
    uint64_t bad = 99;
    assert_int_equal(build(tempdir_file(t, "ix"), 10, 10, &info), ERR_OK);
    assert_int_equal(index_open(t->file, &ix, &info), ERR_OK);
    assert_int_equal(build(t->file, 20, 20, &info), ERR_OK);
    assert_int_equal(index_scrub(ix, 0, 1, &bad), ERR_NOT_FOUND);
    unlink(t->file);
    assert_int_equal(index_scrub(ix, 0, 1, &bad), ERR_NOT_FOUND);
    index_close(&ix);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_build__sizes_around_a_batch__come_back),
        TEST(test_build__more_than_expected__grows),
        TEST(test_build__hostile_expectation__is_only_a_hint),
        TEST(test_walk__large_index__does_not_hold_all_of_it),
        TEST(test_add__out_of_order_or_twice__is_refused),
        TEST(test_open__each_flipped_bit__is_refused),
        TEST(test_open__each_truncation__is_refused),
        TEST(test_open__not_a_plain_file__is_refused),
        TEST(test_crash__each_state_of_publishing__opens_one_of_the_two),
        TEST(test_crash__half_published_then_failed_build__still_opens),
        TEST(test_old_index__stays_open__while_it_is_replaced),
        TEST(test_open__while_replaced_all_the_time__never_fails),
        TEST(test_full_disk__build__says_so_and_the_old_index_stays),
        TEST(test_value__record_checksum__tells_damage),
        TEST(test_index_scrub__whole__ok_in_pieces_and_past_the_end),
        TEST(test_index_scrub__a_bit_flipped_while_open__its_block_is_named),
        TEST(test_index_scrub__replaced_or_gone__not_found),
        TEST(test_threads__reading_at_once__all_find),
    };
    return base_init() == ERR_OK ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
