/*
 * test_bloomfile - a written filter is read back whole; every other file is refused.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/buf.h"
#include "core/base/checksum.h"
#include "core/base/file.h"
#include "core/filter/bloomfile.h"

#include "tests/unit/unit.h"

static const struct hashkey key_one = {.id = 1, .bytes = "0123456789abcde"};
static const struct hashkey key_two = {.id = 2, .bytes = "0123456789abcdf"};
static const struct hashkey key_same_id = {.id = 1, .bytes = "0123456789abcdf"};

enum {
    KEYS = 3000,
    LINES = 1500,
    K = 9,
    RING = 77,
    HEADER = 4096,
    BLOCKS = 2,
    TABLE_AT = HEADER + LINES * 64,
    FILE_BYTES = TABLE_AT + BLOCKS * 8,
    /* places in the header */
    VERSION_AT = 8,
    LAYOUT_AT = 12,
    LINES_AT = 16,
    K_AT = 24,
    HASH_AT = 28,
    CAPACITY_AT = 48,
    ROLE_AT = 96
};

struct fixture {
    char dir[64];
    char path[128];
    struct buf bytes;
};

static const enum bloomfile_hold holds[] = {BLOOMFILE_COPY, BLOOMFILE_MAP};

static struct digest digest_number(uint64_t n)
{
    char text[32];
    struct digest d;
    int length = snprintf(text, sizeof(text), "key %llu", (unsigned long long)n);
    digest_make(&key_one, 100, slice_of(text, (size_t)length), &d);
    return d;
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    snprintf(f->dir, sizeof(f->dir), "/tmp/gillnet-bloomfile-XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    snprintf(f->path, sizeof(f->path), "%s/base.1", f->dir);
    struct bloomfile built;
    struct errinfo info;
    assert_int_equal(bloomfile_new(&built, 1, LINES, K, &key_one, &info), ERR_OK);
    for (uint64_t i = 0; i < KEYS; i++) {
        struct digest d = digest_number(i);
        bloom_add(&built.bloom, &d);
    }
    built.facts = (struct bloomfile_facts){.role = BLOOMFILE_SPAM,
                                           .digest_key = RING,
                                           .position_key = key_one.id,
                                           .entries = KEYS,
                                           .capacity = KEYS + 5,
                                           .generation = 42,
                                           .period = UINT64_MAX,
                                           .origin = "fifteen letters"};
    assert_int_equal(bloomfile_write(&built, f->path, &info), ERR_OK);
    bloomfile_close(&built);
    buf_init(&f->bytes, 10 << 20);
    assert_int_equal(file_read(f->path, &f->bytes, &info), ERR_OK);
    assert_int_equal(f->bytes.n, FILE_BYTES);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    unlink(f->path);
    rmdir(f->dir);
    buf_fini(&f->bytes);
    free(f);
    return 0;
}

static void put_file(const struct fixture *f, struct slice bytes)
{
    int fd = open(f->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes.p, bytes.n), (ssize_t)bytes.n);
    close(fd);
}

static enum err try_want(const struct fixture *f, const struct bloomfile_want *want,
                         struct errinfo *retinfo)
{
    struct bloomfile opened;
    enum err e = bloomfile_open(&opened, f->path, want, retinfo);
    if (e == ERR_OK) {
        bloomfile_close(&opened);
    }
    return e;
}

/* Both ways of holding it; they must agree. */
static enum err try_open(const struct fixture *f, struct errinfo *retinfo)
{
    struct bloomfile_want want = {.key = &key_one};
    enum err copied = try_want(f, &want, retinfo);
    want.hold = BLOOMFILE_MAP;
    assert_int_equal(try_want(f, &want, retinfo), copied);
    return copied;
}

static void open_as(const struct fixture *f, enum bloomfile_hold hold,
                    struct bloomfile *ret)
{
    struct bloomfile_want want = {.key = &key_one, .hold = hold};
    struct errinfo info;
    assert_int_equal(bloomfile_open(ret, f->path, &want, &info), ERR_OK);
}

static void test_bloomfile__written__opens_with_every_key_and_number(void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < 2; i++) {
        struct bloomfile opened;
        open_as(f, holds[i], &opened);
        assert_int_equal(opened.facts.role, BLOOMFILE_SPAM);
        assert_int_equal(opened.facts.digest_key, RING);
        assert_int_equal(opened.facts.position_key, key_one.id);
        assert_int_equal(opened.facts.entries, KEYS);
        assert_int_equal(opened.facts.capacity, KEYS + 5);
        assert_int_equal(opened.facts.generation, 42);
        assert_true(opened.facts.period == UINT64_MAX);
        assert_string_equal((const char *)opened.facts.origin, "fifteen letters");
        assert_true(opened.facts.created_s > 1700000000);
        assert_int_equal(opened.bloom.layout, 1);
        assert_int_equal(opened.bloom.k, K);
        assert_int_equal(opened.bloom.nlines, LINES);
        for (uint64_t n = 0; n < KEYS; n++) {
            struct digest d = digest_number(n);
            assert_true(bloom_test(&opened.bloom, &d));
        }
        bloomfile_close(&opened);
        bloomfile_close(&opened);
    }
    struct bloomfile none = {0};
    bloomfile_close(&none);
}

static void test_bloomfile_peek__written__shape_and_facts(void **state)
{
    struct fixture *f = *state;
    struct bloomfile_shape shape;
    struct errinfo info;
    assert_int_equal(bloomfile_peek(f->path, NULL, &shape, &info), ERR_OK);
    assert_int_equal(shape.layout, 1);
    assert_int_equal(shape.nlines, LINES);
    assert_int_equal(shape.k, K);
    assert_int_equal(shape.hash, BLOOMFILE_HASH_MIX);
    assert_int_equal(shape.facts.generation, 42);
    assert_int_equal(truncate(f->path, HEADER), 0);
    assert_int_equal(bloomfile_peek(f->path, "ask again", &shape, &info), ERR_CORRUPT);
    assert_non_null(strstr(info.text, "ask again"));
}

static void test_bloomfile_open__every_truncation__refused(void **state)
{
    struct fixture *f = *state;
    struct errinfo info;
    for (size_t n = FILE_BYTES; n-- > 0;) {
        if (n > HEADER + 64 && n < TABLE_AT && n % 61 != 0) {
            continue;
        }
        assert_int_equal(truncate(f->path, (off_t)n), 0);
        info.text[0] = '\0';
        assert_int_equal(try_open(f, &info), ERR_CORRUPT);
        assert_non_null(strstr(info.text, "rebuild"));
    }
    put_file(f, buf_slice(&f->bytes));
    assert_int_equal(try_open(f, &info), ERR_OK);
    buf_add_char(&f->bytes, '\0');
    put_file(f, buf_slice(&f->bytes));
    assert_int_equal(try_open(f, &info), ERR_CORRUPT);
}

static void flip(const struct fixture *f, int fd, size_t bit)
{
    char changed = (char)(f->bytes.p[bit / 8] ^ (char)(1u << (bit % 8)));
    struct errinfo info = {.text = ""};
    assert_int_equal(pwrite(fd, &changed, 1, (off_t)(bit / 8)), 1);
    assert_int_not_equal(try_open(f, &info), ERR_OK);
    assert_non_null(strstr(info.text, "rebuild"));
    assert_int_equal(pwrite(fd, &f->bytes.p[bit / 8], 1, (off_t)(bit / 8)), 1);
}

static void test_bloomfile_open__a_bit_flipped_anywhere__refused(void **state)
{
    struct fixture *f = *state;
    struct errinfo info;
    int fd = open(f->path, O_WRONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    /* every bit of the header and of the table, one bit in each 97 of the rest */
    for (size_t bit = 0; bit < (size_t)FILE_BYTES * 8; bit++) {
        bool is_line = bit >= (size_t)HEADER * 8 && bit < (size_t)TABLE_AT * 8;
        if (!is_line || bit % 97 == 0) {
            flip(f, fd, bit);
        }
    }
    close(fd);
    assert_int_equal(try_open(f, &info), ERR_OK);
}

/* A header that is whole but says this at that place. */
static enum err try_header(const struct fixture *f, size_t at, uint64_t value, size_t n,
                           struct errinfo *retinfo)
{
    char header[HEADER];
    memcpy(header, f->bytes.p, HEADER);
    memcpy(header + at, &value, n);
    uint64_t sum = checksum64(slice_of(header, HEADER - 8));
    memcpy(header + HEADER - 8, &sum, 8);
    int fd = open(f->path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, header, HEADER, 0), HEADER);
    enum err e = try_open(f, retinfo);
    assert_int_equal(pwrite(fd, f->bytes.p, HEADER, 0), HEADER);
    close(fd);
    return e;
}

static void test_bloomfile_open__header_is_whole_but_impossible__refused(void **state)
{
    static const struct {
        size_t at;
        uint64_t value;
        size_t n;
        enum err code;
        const char *text;
    } rows[] = {
        {VERSION_AT, 1, 4, ERR_VERSION, "file format 1"},
        {VERSION_AT, 3, 4, ERR_VERSION, "file format 3"},
        {LAYOUT_AT, 0, 4, ERR_VERSION, "layout 0"},
        {LAYOUT_AT, 5, 4, ERR_VERSION, "layout 5"},
        {HASH_AT, 2, 4, ERR_VERSION, "hash 2"},
        {ROLE_AT, 0, 4, ERR_VERSION, "role 0"},
        {ROLE_AT, 4, 4, ERR_VERSION, "role 4"},
        {LINES_AT, 0, 8, ERR_CORRUPT, "impossible"},
        {LINES_AT, UINT64_C(1) << 57, 8, ERR_CORRUPT, "impossible"}, /* 2^63 bytes */
        {LINES_AT, UINT64_MAX, 8, ERR_CORRUPT, "impossible"},
        {LINES_AT, UINT64_C(1) << 40, 8, ERR_CORRUPT, "bytes long"},
        {LINES_AT, LINES - 1, 8, ERR_CORRUPT, "bytes long"},
        {LINES_AT, LINES + 1, 8, ERR_CORRUPT, "bytes long"},
        {K_AT, 0, 4, ERR_CORRUPT, "impossible"},
        {K_AT, BLOOM_K_MAX + 1, 4, ERR_CORRUPT, "impossible"},
        {CAPACITY_AT, 0, 8, ERR_CORRUPT, "room for 0"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct errinfo info = {.text = ""};
        assert_int_equal(try_header(f, rows[i].at, rows[i].value, rows[i].n, &info),
                         rows[i].code);
        if (!strstr(info.text, rows[i].text) || !strstr(info.text, "rebuild")) {
            fail_msg("row %zu: %s", i, info.text);
        }
    }
}

static void test_bloomfile_open__another_key_or_role__refused_as_such(void **state)
{
    struct fixture *f = *state;
    struct errinfo info;
    struct bloomfile_want want = {.key = &key_two, .next = "ask its maker"};
    assert_int_equal(try_want(f, &want, &info), ERR_KEY);
    assert_non_null(strstr(info.source, "base.1"));
    assert_non_null(strstr(info.text, "positions"));
    assert_non_null(strstr(info.text, "ask its maker"));
    /* same id, other bytes: the header cannot show it, because the caller's ids are hashes */
    want.key = &key_same_id;
    assert_int_equal(try_want(f, &want, &info), ERR_OK);
    want = (struct bloomfile_want){.key = &key_one, .digest_key = RING + 1};
    assert_int_equal(try_want(f, &want, &info), ERR_KEY);
    assert_non_null(strstr(info.text, "digests"));
    want.digest_key = RING;
    assert_int_equal(try_want(f, &want, &info), ERR_OK);
    want.role = BLOOMFILE_BASE;
    assert_int_equal(try_want(f, &want, &info), ERR_CORRUPT);
    want.role = BLOOMFILE_SPAM;
    assert_int_equal(try_want(f, &want, &info), ERR_OK);
}

static void test_bloomfile_open__missing_or_no_file__said(void **state)
{
    struct fixture *f = *state;
    struct errinfo info;
    unlink(f->path);
    assert_int_equal(try_open(f, &info), ERR_NOT_FOUND);
    put_file(f, SLICE_NONE);
    assert_int_equal(try_open(f, &info), ERR_CORRUPT);
    unlink(f->path);
    assert_int_equal(mkfifo(f->path, 0600), 0);
    assert_int_equal(try_open(f, &info), ERR_CORRUPT);
}

static void test_bloomfile_open__map_of_a_file_others_may_write__refused(void **state)
{
    struct fixture *f = *state;
    struct errinfo info;
    struct bloomfile_want want = {.key = &key_one, .hold = BLOOMFILE_MAP};
    chmod(f->path, 0660);
    assert_int_equal(try_want(f, &want, &info), ERR_DENIED);
    assert_non_null(strstr(info.text, "chmod go-w"));
    want.hold = BLOOMFILE_COPY;
    assert_int_equal(try_want(f, &want, &info), ERR_OK);
}

/* A file of holes that claims terabytes: no memory for a copy of it. */
static void test_bloomfile_open__copy_larger_than_memory__refused(void **state)
{
    struct fixture *f = *state;
    struct bloomfile_want want = {.key = &key_one};
    char header[HEADER];
    struct errinfo info = {.text = ""};
    uint64_t nlines = UINT64_C(1) << 36; /* 4 TiB */
    uint64_t bytes = nlines * 64;
    memcpy(header, f->bytes.p, HEADER);
    memcpy(header + LINES_AT, &nlines, 8);
    uint64_t sum = checksum64(slice_of(header, HEADER - 8));
    memcpy(header + HEADER - 8, &sum, 8);
    int fd = open(f->path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, header, HEADER, 0), HEADER);
    if (ftruncate(fd, (off_t)(HEADER + bytes + bytes / 65536 * 8)) != 0) {
        close(fd);
        print_message("this file system has no files of 4 TiB\n");
        return;
    }
    close(fd);
    assert_int_equal(try_want(f, &want, &info), ERR_NOMEM);
    assert_non_null(strstr(info.text, "filter_memory"));
}

static void test_bloomfile_open__copy__survives_the_files_end(void **state)
{
    struct fixture *f = *state;
    struct bloomfile opened;
    open_as(f, BLOOMFILE_COPY, &opened);
    assert_int_equal(truncate(f->path, 0), 0);
    struct digest d = digest_number(1);
    assert_true(bloom_test(&opened.bloom, &d));
    bloomfile_close(&opened);
}

/* "Perhaps" for every query, from every thread; a false "no" would deny an entry. */
static void *ask_cut(void *arg)
{
    const struct bloomfile *f = arg;
    for (uint64_t i = 0; i < 4 * (uint64_t)KEYS; i++) {
        struct digest d = digest_number(i);
        if (!bloom_test(&f->bloom, &d)) {
            return arg;
        }
    }
    return NULL;
}

static void test_bloomfile_open__map_cut_short__answers_perhaps(void **state)
{
    struct fixture *f = *state;
    struct bloomfile opened[2];
    pthread_t thread[4];
    open_as(f, BLOOMFILE_MAP, &opened[0]);
    open_as(f, BLOOMFILE_MAP, &opened[1]);
    assert_false(bloomfile_is_damaged(&opened[0]));
    assert_int_equal(truncate(f->path, FILE_BYTES - 1), 0);
    assert_true(bloomfile_is_damaged(&opened[0])); /* before any page is missing */
    assert_int_equal(truncate(f->path, 0), 0);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&thread[i], NULL, ask_cut, &opened[i % 2]), 0);
    }
    for (unsigned i = 0; i < 4; i++) {
        void *failed = NULL;
        pthread_join(thread[i], &failed);
        assert_null(failed);
    }
    assert_true(bloomfile_is_damaged(&opened[1]));
    bloomfile_close(&opened[0]);
    bloomfile_close(&opened[1]);
}

static void test_bloomfile_open__bus_error_elsewhere__still_kills(void **state)
{
    struct fixture *f = *state;
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        struct bloomfile opened;
        struct rlimit none = {0, 0};
        (void)signal(SIGBUS, SIG_DFL); /* cmocka has its own */
        open_as(f, BLOOMFILE_MAP, &opened);
        int fd = open(f->path, O_RDWR | O_CLOEXEC);
        volatile char *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
        (void)setrlimit(RLIMIT_CORE, &none);
        (void)!ftruncate(fd, 0);
        _exit(p[0]);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
}

static void test_bloomfile_scrub__nothing_wrong__ok_in_pieces_and_past_the_end(
    void **state)
{
    struct fixture *f = *state;
    for (size_t i = 0; i < 2; i++) {
        struct bloomfile opened;
        uint64_t bad = 99;
        open_as(f, holds[i], &opened);
        assert_int_equal(bloomfile_blocks(&opened), BLOCKS);
        assert_int_equal(bloomfile_scrub(&opened, 0, 1, &bad), ERR_OK);
        assert_int_equal(bloomfile_scrub(&opened, 1, 1, &bad), ERR_OK);
        assert_int_equal(bloomfile_scrub(&opened, 0, UINT64_MAX, &bad), ERR_OK);
        assert_int_equal(bloomfile_scrub(&opened, UINT64_MAX, UINT64_MAX, &bad),
                         ERR_OK);
        assert_int_equal(bad, 99);
        bloomfile_close(&opened);
    }
}

static void test_bloomfile_scrub__a_bit_flipped_under_a_copy__found(void **state)
{
    struct fixture *f = *state;
    struct bloomfile opened;
    open_as(f, BLOOMFILE_COPY, &opened);
    for (uint64_t block = 0; block < BLOCKS; block++) {
        uint64_t bad = 99;
        uint64_t *word = &opened.bloom.words[block * 8192 + 77];
        *word ^= 1;
        assert_int_equal(bloomfile_scrub(&opened, block, 1, &bad), ERR_CORRUPT);
        assert_int_equal(bad, block);
        assert_int_equal(bloomfile_scrub(&opened, 1 - block, 1, &bad), ERR_OK);
        assert_int_equal(bloomfile_scrub(&opened, 0, 9, &bad), ERR_CORRUPT);
        *word ^= 1;
    }
    bloomfile_close(&opened);
}

static void test_bloomfile_scrub__file_changed_or_cut_under_a_map__found(void **state)
{
    struct fixture *f = *state;
    struct bloomfile opened;
    uint64_t bad = 99;
    open_as(f, BLOOMFILE_MAP, &opened);
    int fd = open(f->path, O_WRONLY | O_CLOEXEC);
    assert_int_equal(pwrite(fd, "\x55", 1, HEADER + 65536 + 5), 1);
    assert_int_equal(bloomfile_scrub(&opened, 0, 1, &bad), ERR_OK);
    assert_int_equal(bloomfile_scrub(&opened, 0, 9, &bad), ERR_CORRUPT);
    assert_int_equal(bad, 1);
    assert_int_equal(pwrite(fd, &f->bytes.p[HEADER + 65536 + 5], 1, HEADER + 65536 + 5),
                     1);
    assert_int_equal(bloomfile_scrub(&opened, 0, 9, &bad), ERR_OK);
    assert_int_equal(ftruncate(fd, HEADER + 100), 0);
    assert_int_equal(bloomfile_scrub(&opened, 0, 9, &bad), ERR_CORRUPT);
    assert_int_equal(bad, 0);
    close(fd);
    bloomfile_close(&opened);
}

static void test_bloomfile_new__sizes_outside_the_limits__refused(void **state)
{
    (void)state;
    struct bloomfile f;
    struct errinfo info;
    assert_int_equal(bloomfile_new(&f, 1, 0, 9, &key_one, &info), ERR_RANGE);
    assert_int_equal(bloomfile_new(&f, 1, 1, 0, &key_one, &info), ERR_RANGE);
    assert_int_equal(bloomfile_new(&f, 0, 1, 9, &key_one, &info), ERR_RANGE);
    assert_int_equal(bloomfile_new(&f, 5, 1, 9, &key_one, &info), ERR_RANGE);
    assert_int_equal(bloomfile_new(&f, 1, 1, BLOOM_K_MAX + 1, &key_one, &info),
                     ERR_RANGE);
    assert_int_equal(bloomfile_new(&f, 1, UINT64_MAX, 9, &key_one, &info), ERR_RANGE);
    assert_int_equal(bloomfile_new(&f, 1, UINT64_C(1) << 57, 9, &key_one, &info),
                     ERR_RANGE);
    /* possible, but not here */
    assert_int_equal(bloomfile_new(&f, 1, UINT64_C(1) << 38, 9, &key_one, &info),
                     ERR_NOMEM);
    assert_non_null(strstr(info.text, "free some memory"));
    assert_int_equal(bloomfile_new(&f, 1, 1, BLOOM_K_MAX, &key_one, &info), ERR_OK);
    bloomfile_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(test_bloomfile__written__opens_with_every_key_and_number),
        TEST(test_bloomfile_peek__written__shape_and_facts),
        TEST(test_bloomfile_open__every_truncation__refused),
        TEST(test_bloomfile_open__a_bit_flipped_anywhere__refused),
        TEST(test_bloomfile_open__header_is_whole_but_impossible__refused),
        TEST(test_bloomfile_open__another_key_or_role__refused_as_such),
        TEST(test_bloomfile_open__missing_or_no_file__said),
        TEST(test_bloomfile_open__map_of_a_file_others_may_write__refused),
        TEST(test_bloomfile_open__copy_larger_than_memory__refused),
        TEST(test_bloomfile_open__copy__survives_the_files_end),
        TEST(test_bloomfile_open__map_cut_short__answers_perhaps),
        TEST(test_bloomfile_open__bus_error_elsewhere__still_kills),
        TEST(test_bloomfile_scrub__nothing_wrong__ok_in_pieces_and_past_the_end),
        TEST(test_bloomfile_scrub__a_bit_flipped_under_a_copy__found),
        TEST(test_bloomfile_scrub__file_changed_or_cut_under_a_map__found),
        TEST(test_bloomfile_new__sizes_outside_the_limits__refused),
#undef TEST
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
