/*
 * test_sigbus - files that are cut while they are mapped: no signal kills, and the owner knows.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/file.h"
#include "core/base/sigbus.h"
#include "core/base/thread.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum { PAGES = 40, ONES = 0xff };

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* A file of PAGES pages of letters. */
static const char *make_file(struct tempdir *t)
{
    const char *path = tempdir_file(t, "f");
    size_t n = PAGES * page_bytes();
    char *bytes = malloc(n);
    assert_non_null(bytes);
    memset(bytes, 'x', n);
    assert_int_equal(file_write_atomic(path, slice_of(bytes, n), 0600, NULL), ERR_OK);
    free(bytes);
    return path;
}

static void assert_pages(const struct filemap *m, size_t from, size_t to, int byte)
{
    for (size_t at = from * page_bytes(); at < to * page_bytes(); at++) {
        assert_int_equal(m->p[at], byte);
    }
}

static void test_read_map__cut__reads_ones_and_says_so(void **state)
{
    const char *path = make_file(*state);
    struct errinfo why = {.code = ERR_OK};
    struct filemap m;

    assert_int_equal(filemap_open(&m, path, FILEMAP_READ, NULL), ERR_OK);
    assert_false(filemap_is_damaged(&m));
    assert_int_equal(filemap_check(&m, path, &why), ERR_OK);
    assert_int_equal(truncate(path, (off_t)page_bytes()), 0);
    assert_pages(&m, 0, 1, 'x');
    assert_pages(&m, 1, 4, ONES);
    assert_pages(&m, 0, 1, 'x'); /* a few pages are replaced each for itself */
    assert_pages(&m, 4, PAGES, ONES);
    assert_true(filemap_is_damaged(&m));
    assert_int_equal(filemap_check(&m, path, &why), ERR_CORRUPT);
    filemap_close(&m);
}

static void test_map__end_of_a_page_cut__is_known_without_a_signal(void **state)
{
    const char *path = make_file(*state);
    struct filemap m;

    assert_int_equal(filemap_open(&m, path, FILEMAP_WRITE, NULL), ERR_OK);
    assert_int_equal(truncate(path, (off_t)(PAGES * page_bytes() - 1)), 0);
    assert_true(filemap_is_damaged(&m));
    filemap_close(&m);
}

static void put_mark(void *context, void *p)
{
    memcpy(p, context, 4);
}

static void test_written_map__cut__is_made_again_at_its_address(void **state)
{
    const char *path = make_file(*state);
    char mark[] = "mark";
    const struct filemap_new fresh = {PAGES * page_bytes(), 0600, put_mark, mark};
    struct filemap m;
    struct filemap other;

    assert_int_equal(filemap_open(&m, path, FILEMAP_WRITE, NULL), ERR_OK);
    const unsigned char *p = m.p;
    assert_true(filemap_mend(&m, path, "nothing", &fresh)); /* it is sound */
    assert_int_equal(m.p[0], 'x');
    assert_int_equal(truncate(path, (off_t)page_bytes()), 0);
    m.p[2 * page_bytes()] = 'y';
    assert_int_equal(m.p[2 * page_bytes() + 1], 0);
    assert_pages(&m, 3, PAGES, 0);
    assert_true(filemap_is_damaged(&m));
    assert_int_equal(m.p[2 * page_bytes()], 'y'); /* what was written since stays */
    assert_true(filemap_mend(&m, path, "nothing", &fresh));
    assert_false(filemap_is_damaged(&m));
    assert_ptr_equal(m.p, p);
    m.p[3 * page_bytes()] = 'z';
    assert_int_equal(filemap_open(&other, path, FILEMAP_COPY, NULL), ERR_OK);
    assert_int_equal(other.n, PAGES * page_bytes());
    assert_memory_equal(other.p, "mark", 4);
    assert_int_equal(other.p[2 * page_bytes()], 'y');
    assert_int_equal(other.p[3 * page_bytes()], 'z');
    filemap_close(&other);
    assert_int_equal(truncate(path, 0), 0); /* and once more */
    assert_int_equal(m.p[0], 0);
    assert_true(filemap_mend(&m, path, "nothing", &fresh));
    assert_memory_equal(m.p, "mark", 4);
    filemap_close(&m);
}

static void test_mend__folder_is_gone__stays_damaged(void **state)
{
    struct tempdir *t = *state;
    char away[TEMPDIR_PATH];
    char mark[] = "mark";
    const struct filemap_new fresh = {PAGES * page_bytes(), 0600, put_mark, mark};
    struct filemap m;

    assert_int_equal(filemap_open(&m, make_file(t), FILEMAP_WRITE, NULL), ERR_OK);
    assert_int_equal(truncate(t->file, 0), 0);
    (void)snprintf(away, sizeof(away), "%s/none/f", t->path);
    assert_false(filemap_mend(&m, away, "nothing", &fresh));
    assert_true(filemap_is_damaged(&m));
    m.p[0] = 'x';
    filemap_close(&m);
}

static void *touch(void *context)
{
    const struct filemap *m = context;

    assert_int_equal(m->p[0], ONES);
    return NULL;
}

static void test_thread_of_ours__touches_a_lost_page__lives(void **state)
{
    const char *path = make_file(*state);
    struct filemap m;
    pthread_t thread;

    assert_int_equal(filemap_open(&m, path, FILEMAP_READ, NULL), ERR_OK);
    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(thread_start(&thread, touch, &m), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    filemap_close(&m);
}

/* A mapping that nobody guards. */
static void *map_bare(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    void *p = mmap(NULL, PAGES * page_bytes(), PROT_READ, MAP_SHARED, fd, 0);
    assert_true(p != MAP_FAILED);
    (void)close(fd);
    return p;
}

static void test_section__lost_page__reads_zeros_and_sets_the_flag_of_the_inner(
    void **state)
{
    const char *path = make_file(*state);
    void *map = map_bare(path);
    const volatile char *p = map;
    atomic_bool outer = false;
    atomic_bool inner = false;

    assert_int_equal(truncate(path, 0), 0);
    assert_int_equal(sigbus_prepare(), ERR_OK);
    atomic_bool *none = sigbus_enter(&outer);
    atomic_bool *before = sigbus_enter(&inner);
    assert_ptr_equal(before, &outer);
    assert_int_equal(p[0], 0);
    sigbus_leave(before);
    assert_true(atomic_load(&inner));
    assert_false(atomic_load(&outer));
    assert_int_equal(p[page_bytes()], 0);
    sigbus_leave(none);
    assert_true(atomic_load(&outer));
    (void)munmap(map, PAGES * page_bytes());
}

static void test_outside__lost_page__still_kills(void **state)
{
    const char *path = make_file(*state);
    void *map = map_bare(path);
    const volatile char *p = map;
    int status = 0;

    assert_int_equal(truncate(path, 0), 0);
    pid_t child = fork();
    if (child == 0) {
        (void)signal(SIGBUS, SIG_DFL); /* cmocka has its own */
        _exit(sigbus_add(&status, 1, SIGBUS_ONES) != ERR_OK || p[0] != 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
    (void)munmap(map, PAGES * page_bytes());
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, tempdir_setup, tempdir_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_read_map__cut__reads_ones_and_says_so),
        TEST(test_map__end_of_a_page_cut__is_known_without_a_signal),
        TEST(test_written_map__cut__is_made_again_at_its_address),
        TEST(test_mend__folder_is_gone__stays_damaged),
        TEST(test_thread_of_ours__touches_a_lost_page__lives),
        TEST(test_section__lost_page__reads_zeros_and_sets_the_flag_of_the_inner),
        TEST(test_outside__lost_page__still_kills),
    };
    return base_init() == ERR_OK ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
