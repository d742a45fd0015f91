/* test_shared_log - the log after a stop, with torn, damaged and foreign files, and its marks. */
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/file.h"
#include "core/hub/shared/shared_log.h"

#include "tests/unit/tempdir.h"

enum { RECORDS = 6, PAIRS = 5 };
#define BUCKET UINT64_C(1700000400)

struct fixture {
    struct tempdir *dir;
    struct shared_positions positions;
    struct shared_log *log;
};

static void open_log_of(struct fixture *f, uint32_t key_id)
{
    char dir[FILE_PATH_MAX];
    const struct shared_log_options o = {.dir = dir, .origin = {9}, .key_id = key_id};
    struct errinfo why = {.text = ""};

    (void)snprintf(dir, sizeof(dir), "%s/shared", f->dir->path);
    if (shared_log_open(&o, &f->positions, &f->log, &why) != ERR_OK) {
        fail_msg("%s: %s", why.source, why.text);
    }
}

static void close_log_of(struct fixture *f)
{
    shared_log_close(&f->log);
    positions_fini(&f->positions);
}

static int begin(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    assert_non_null(f);
    assert_int_equal(tempdir_setup((void **)&f->dir), 0);
    open_log_of(f, 7);
    assert_int_equal(shared_log_inc(f->log), 0);
    assert_int_equal(shared_log_begin(f->log, 77, 0, NULL), ERR_OK);
    *state = f;
    return 0;
}

static int end(void **state)
{
    struct fixture *f = *state;

    close_log_of(f);
    (void)tempdir_teardown((void **)&f->dir);
    free(f);
    return 0;
}

/* Record `number`, of that bucket: PAIRS keys in rising cells. */
static void append(struct fixture *f, uint64_t number, uint64_t start_s)
{
    struct run_record v[PAIRS];
    struct shared_record r = {.number = number, .start_s = start_s};

    for (uint64_t i = 0; i < PAIRS; i++) {
        v[i] = (struct run_record){i << 60 | number, number + i};
    }
    assert_int_equal(shared_log_append(f->log, &r, v, PAIRS, NULL), ERR_OK);
    assert_true(positions_add(&f->positions, &r));
}

static void check_record(struct fixture *f, size_t i, uint64_t number)
{
    const struct run_record *v = NULL;
    const struct shared_record *r = &f->positions.v[i];
    size_t n = 0;

    assert_int_equal(r->number, number);
    assert_true(record_has(r, 0) && record_has(r, 8) && !record_has(r, 1));
    assert_int_equal(shared_log_read(f->log, r, &v, &n, NULL), ERR_OK);
    assert_int_equal(n, PAIRS);
    for (uint64_t k = 0; k < PAIRS; k++) {
        assert_int_equal(v[k].key, k << 60 | number);
        assert_int_equal(v[k].count, number + k);
    }
}

/* Numbers rise through two buckets. */
static void fill(struct fixture *f)
{
    for (uint64_t i = 1; i <= RECORDS; i++) {
        append(f, i, i % 3 == 0 ? BUCKET + 600 : BUCKET);
    }
    assert_int_equal(shared_log_sync(f->log, NULL), ERR_OK);
}

static bool add_up(void *context, const struct run_record *v, size_t n)
{
    uint64_t *sum = context;

    for (size_t i = 0; i < n; i++) {
        *sum += v[i].count;
    }
    return true;
}

static void file_name(const struct fixture *f, uint64_t start_s,
                      char ret[FILE_PATH_MAX])
{
    assert_int_equal(file_path(ret,
                               "%s/shared/09000000000000000000000000000000/"
                               "%016" PRIx64 "-%016x-%08x.stream",
                               f->dir->path, start_s, 77, 7),
                     ERR_OK);
}

static void test_open__after_a_stop__the_same_records_in_order(void **state)
{
    struct fixture *f = *state;
    uint64_t sum = 0;

    fill(f);
    close_log_of(f);
    open_log_of(f, 7);
    assert_int_equal(shared_log_inc(f->log), 77);
    assert_int_equal(f->positions.n, RECORDS);
    assert_int_equal(f->positions.last, RECORDS);
    assert_int_equal(f->positions.last_at_ask, RECORDS);
    for (uint64_t i = 1; i <= RECORDS; i++) {
        check_record(f, i - 1, i);
    }
    append(f, RECORDS + 1, BUCKET);
    check_record(f, RECORDS, RECORDS + 1);
    assert_int_equal(shared_log_each(f->log, BUCKET + 600, add_up, &sum, NULL), ERR_OK);
    assert_int_equal(sum, PAIRS * (3 + 6) + 2 * (1 + 2 + 3 + 4));
}

static void test_open__after_a_change_of_key__old_records_are_sent_and_not_counted(
    void **state)
{
    struct fixture *f = *state;
    uint64_t sum = 0;

    fill(f);
    close_log_of(f);
    open_log_of(f, 8);
    append(f, RECORDS + 1, BUCKET);
    check_record(f, 0, 1);
    check_record(f, RECORDS, RECORDS + 1);
    assert_int_equal(shared_log_each(f->log, BUCKET, add_up, &sum, NULL), ERR_OK);
    assert_int_equal(sum,
                     PAIRS * (RECORDS + 1) + 1 + 2 + 3 + 4); /* of the new key alone */
}

static void test_open__torn_and_damaged__what_is_whole_stays(void **state)
{
    struct fixture *f = *state;
    char path[FILE_PATH_MAX];
    struct stat st;

    fill(f);
    close_log_of(f);
    file_name(f, BUCKET, path);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(truncate(path, st.st_size - 3), 0); /* record 5 */
    file_name(f, BUCKET + 600, path);
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    assert_int_equal(fseek(file, 64 + 20, SEEK_SET), 0); /* record 3 */
    assert_int_equal(fputc(0x55, file), 0x55);
    assert_int_equal(fclose(file), 0);
    open_log_of(f, 7);
    assert_int_equal(f->positions.n, 3);
    assert_int_equal(f->positions.last, 4); /* the store is ahead of it now */
    check_record(f, 2, 4);
}

static void test_open__without_its_state__the_log_is_gone(void **state)
{
    struct fixture *f = *state;
    char path[FILE_PATH_MAX];

    fill(f);
    close_log_of(f);
    assert_int_equal(file_path(path, "%s/shared/09000000000000000000000000000000/state",
                               f->dir->path),
                     ERR_OK);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fputs("gillnet-shared 1\ninc 4d\nlast x\n", file) >= 0, 1);
    assert_int_equal(fclose(file), 0);
    open_log_of(f, 7);
    assert_int_equal(shared_log_inc(f->log), 0);
    assert_int_equal(f->positions.n, 0);
    file_name(f, BUCKET, path);
    assert_int_not_equal(access(path, F_OK), 0);
}

static void test_remove__the_oldest__its_numbers_stay_used_and_its_bucket_is_over(
    void **state)
{
    struct fixture *f = *state;

    fill(f);
    const uint64_t bytes = shared_log_bytes(f->log);
    assert_int_equal(shared_log_bucket(f->log, 0), BUCKET);
    assert_int_equal(shared_log_remove(f->log, BUCKET + 600, true, RECORDS, NULL),
                     ERR_OK);
    assert_true(shared_log_bytes(f->log) < bytes);
    assert_int_equal(shared_log_bucket(f->log, 1), 0);
    close_log_of(f);
    open_log_of(f, 7);
    assert_int_equal(f->positions.last, RECORDS);
    assert_int_equal(f->positions.v[f->positions.n - 1].number, 5);
    assert_int_equal(shared_log_from(f->log), BUCKET + 600);
}

static void test_doubt__until_the_store_was_asked__outlives_a_stop(void **state)
{
    struct fixture *f = *state;

    fill(f);
    assert_int_equal(shared_log_doubt(f->log, RECORDS, NULL), ERR_OK);
    append(f, RECORDS + 1, BUCKET);
    close_log_of(f);
    open_log_of(f, 7);
    assert_true(shared_log_is_doubted(f->log));
    assert_int_equal(f->positions.last, RECORDS + 1);
    assert_int_equal(f->positions.last_at_ask, RECORDS);
    assert_int_equal(shared_log_doubt(f->log, RECORDS + 1, NULL),
                     ERR_OK); /* the first stays */
    assert_int_equal(shared_log_trust(f->log, NULL), ERR_OK);
    close_log_of(f);
    open_log_of(f, 7);
    assert_false(shared_log_is_doubted(f->log));
    assert_int_equal(f->positions.last_at_ask, RECORDS + 1);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_open__after_a_stop__the_same_records_in_order, begin, end),
        cmocka_unit_test_setup_teardown(
            test_open__after_a_change_of_key__old_records_are_sent_and_not_counted,
            begin, end),
        cmocka_unit_test_setup_teardown(
            test_open__torn_and_damaged__what_is_whole_stays, begin, end),
        cmocka_unit_test_setup_teardown(test_open__without_its_state__the_log_is_gone,
                                        begin, end),
        cmocka_unit_test_setup_teardown(
            test_remove__the_oldest__its_numbers_stay_used_and_its_bucket_is_over,
            begin, end),
        cmocka_unit_test_setup_teardown(
            test_doubt__until_the_store_was_asked__outlives_a_stop, begin, end),
    };
    (void)base_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
