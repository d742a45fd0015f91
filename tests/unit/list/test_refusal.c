/*
 * test_refusal - writes that the system refuses: nothing is acknowledged, nothing is lost, and
 * the list goes on when there is room again. A file size limit stands in for a full disk.
 */
#include <dirent.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "tests/unit/list/list_fixture.h"

static void limit_files(rlim_t bytes)
{
    struct rlimit l = {.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &l), 0);
}

static void test_list_add__log_cannot_grow__refused_then_goes_on(void **state)
{
    struct fixture *f = *state;
    struct list_writer *w = open_writer(f);
    for (uint64_t n = 0; n < 50; n++) {
        add_number(f, w, n);
    }
    for (unsigned room = 0; room < 90; room += 7) {
        char text[64];
        struct feature_entry e = entry_number(1000 + room, text);
        limit_files(w->tail.bytes + room % 60);
        enum err refused = list_add(w, &e, SLICE_LIT("test"), 0, &f->info);
        limit_files(RLIM_INFINITY);
        assert_int_not_equal(refused, ERR_OK);
        assert_non_null(strstr(f->info.text, "nothing was added"));
        struct list_reader *r = open_reader(f);
        assert_true(is_absent(ask_number(r, 1000 + room, 1)));
        list_reader_close(&r);
        assert_verified(f);
        add_number(f, w, 2000 + room);
    }
    list_writer_close(&w);
    assert_verified(f);
    struct list_reader *r = open_reader(f);
    assert_int_equal(ask_number(r, 49, 1), LIST_CONFIRMED);
    assert_int_equal(ask_number(r, 2000, 1), LIST_CONFIRMED);
    list_reader_close(&r);
}

static unsigned count_files(const struct fixture *f)
{
    unsigned n = 0;
    DIR *d = opendir(f->dir);
    assert_non_null(d);
    while (readdir(d)) { /* NOLINT(concurrency-mt-unsafe) */
        n++;
    }
    closedir(d);
    return n;
}

static void test_list_import_commit__any_file_cannot_grow__former_state_stays(
    void **state)
{
    struct fixture *f = *state;
    struct list_writer *w = open_writer(f);
    import_range(f, w, 0, 2000, 0);
    add_number(f, w, 5000);
    unsigned files = count_files(f);
    uint64_t generation = w->current.generation;
    /* from the first bytes of the bulk segment up to the recent table, the largest file */
    for (rlim_t bytes = 16; bytes < 400000; bytes = bytes * 3 / 2) {
        struct list_import *im = NULL;
        struct list_import_result result;
        MUST(f, list_import_begin(w, SLICE_LIT("feed"), &im, &f->info));
        for (uint64_t n = 10000; n < 12000; n++) {
            char text[64];
            struct feature_entry e = entry_number(n, text);
            MUST(f, list_import_add(im, &e, 0, &f->info));
        }
        limit_files(bytes);
        f->info.text[0] = '\0';
        enum err e = list_import_commit(&im, NULL, NULL, &result, &f->info);
        limit_files(RLIM_INFINITY);
        assert_int_not_equal(e, ERR_OK);
        assert_int_not_equal(f->info.text[0], '\0');
        assert_int_equal(w->current.generation, generation);
        assert_int_equal(count_files(f), files);
        assert_verified(f);
    }
    struct list_reader *r = open_reader(f);
    assert_true(is_absent(ask_number(r, 10000, 1)));
    assert_int_equal(ask_number(r, 5000, 1), LIST_CONFIRMED);
    list_reader_close(&r);
    struct list_import_result result = import_range(f, w, 10000, 12000, 0);
    assert_int_equal(result.added, 2000);
    list_writer_close(&w);
    assert_verified(f);
}

static const char *const files[] = {"CURRENT", "index.00000002", "base.00000002"};

static void make_list(struct fixture *f)
{
    struct list_writer *w = open_writer(f);
    import_range(f, w, 0, 10, 0);
    list_writer_close(&w);
}

static void test_list_reader_open__a_folder_for_a_file__error_names_the_file(
    void **state)
{
    struct fixture *f = *state;
    make_list(f);
    for (size_t i = 0; i < 3; i++) {
        char path[256];
        char away[256];
        snprintf(path, sizeof(path), "%s/%s", f->dir, files[i]);
        snprintf(away, sizeof(away), "%s/away", f->dir);
        assert_int_equal(rename(path, away), 0);
        assert_int_equal(mkdir(path, 0700), 0);
        struct list_reader *r = NULL;
        enum err e = list_reader_open(f->state, NAME, &f->keys, &r, &f->info);
        if (e != ERR_OK) {
            assert_non_null(strstr(f->info.source, files[i]));
        } else {
            assert_non_null(list_reader_fault(r));
        }
        list_reader_close(&r);
        assert_int_equal(rmdir(path), 0);
        assert_int_equal(rename(away, path), 0);
    }
}

/* Root reads everything, unless it lays down these rights. */
static void read_everything(bool is_on)
{
    const uint32_t rights = 1U << CAP_DAC_OVERRIDE | 1U << CAP_DAC_READ_SEARCH;
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct mine[2];
    assert_int_equal(syscall(SYS_capget, &head, mine), 0);
    mine[0].effective &= ~rights;
    mine[0].effective |= is_on ? mine[0].permitted & rights : 0;
    assert_int_equal(syscall(SYS_capset, &head, mine), 0);
}

static void test_list_reader_open__files_unreadable__error_names_the_file(void **state)
{
    struct fixture *f = *state;
    make_list(f);
    read_everything(false);
    for (size_t i = 0; i < 3; i++) {
        char path[256];
        snprintf(path, sizeof(path), "%s/%s", f->dir, files[i]);
        assert_int_equal(chmod(path, 0), 0);
        struct list_reader *r = NULL;
        assert_int_equal(list_reader_open(f->state, NAME, &f->keys, &r, &f->info),
                         ERR_DENIED);
        assert_null(r);
        assert_non_null(strstr(f->info.source, files[i]));
        assert_int_equal(chmod(path, 0640), 0);
    }
    read_everything(true);
    assert_verified(f);
}

#define LIST_TEST(name) \
    cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIST_TEST(test_list_add__log_cannot_grow__refused_then_goes_on),
        LIST_TEST(test_list_import_commit__any_file_cannot_grow__former_state_stays),
        LIST_TEST(test_list_reader_open__a_folder_for_a_file__error_names_the_file),
        LIST_TEST(test_list_reader_open__files_unreadable__error_names_the_file),
    };
    (void)signal(SIGXFSZ, SIG_IGN);
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
