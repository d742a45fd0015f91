/* test_remote - a folder of peers' counts with hostile files: only counts of members have an
 * effect. */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/file.h"
#include "core/base/hash256.h"
#include "core/count/count.h"
#include "core/count/remote.h"
#include "core/count/stream.h"

#include "tests/unit/tempdir.h"

enum { NOW = 2831472 };

struct folder {
    char dir[64];
    struct keyring keys;
    struct remote *r;
    struct origin_row rows[2];
    uint64_t fed;
};

static void path_in(const struct folder *f, const char *name, char ret[FILE_PATH_MAX])
{
    assert_int_equal(file_path(ret, "%s/%s", f->dir, name), ERR_OK);
}

static void make_dir(const struct folder *f, const char *name)
{
    char path[FILE_PATH_MAX];
    path_in(f, name, path);
    assert_int_equal(file_make_dir(path, 0700, NULL), ERR_OK);
}

static void write_origins(struct folder *f)
{
    const struct origins o = {.self = {1}, .quorum = 1, .v = f->rows, .n = 2};
    assert_int_equal(origins_write(f->dir, &o, NULL), ERR_OK);
}

static int setup(void **state)
{
    struct folder *f = calloc(1, sizeof(*f));
    assert_non_null(f);
    assert_true(tempdir_make_fast(f->dir));
    assert_int_equal(keyring_load_or_create(f->dir, &f->keys, NULL), ERR_OK);
    make_dir(f, "peers");
    make_dir(f, "peers/counts");
    make_dir(f, "peers/counts/runs");
    for (unsigned i = 0; i < 2; i++) {
        f->rows[i] = (struct origin_row){
            .origin = {(uint8_t)(i + 1)}, .cap = 10, .state = ORIGIN_ACTIVE};
        (void)snprintf(f->rows[i].name, sizeof(f->rows[i].name), "n%u", i);
    }
    write_origins(f);
    assert_int_equal(remote_open(f->dir, &f->keys, &f->r, NULL), ERR_OK);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct folder *f = *state;
    remote_close(&f->r);
    (void)tempdir_remove(f->dir);
    free(f);
    return 0;
}

static void on_new(void *context, uint64_t bucket, const struct run_record *v, size_t n)
{
    struct folder *f = context;
    assert_true(bucket <= NOW + 10);
    for (size_t i = 0; i < n; i++) {
        assert_true(i == 0 || v[i - 1].key <= v[i].key);
        f->fed += v[i].count;
    }
}

static void look(struct folder *f, uint64_t now)
{
    remote_refresh(f->r, now, on_new, f);
}

/* Count of key 77 in the last day by all other servers. */
static uint64_t asked(const struct folder *f, uint64_t now)
{
    const uint64_t key = 77;
    struct count_breakdown s;
    assert_true(count_breakdown_init(&s, now));
    remote_ask(f->r, &key, &f->keys.ring[0].id, 1, now, &s);
    uint64_t sum = count_breakdown_sum(&s, COUNT_1D);
    count_breakdown_fini(&s);
    return sum;
}

static struct run_id id_of(const struct folder *f, uint8_t origin, uint64_t bucket,
                           uint64_t inc)
{
    return (struct run_id){.origin = {origin},
                           .inc = inc,
                           .start_s = bucket * COUNT_BUCKET_S,
                           .len_s = COUNT_BUCKET_S,
                           .key_id = f->keys.ring[0].id};
}

static void write_stream(const struct folder *f, const struct run_id *id,
                         uint64_t count, char ret[FILE_PATH_MAX])
{
    char dir[FILE_PATH_MAX];
    struct stream_writer *w = NULL;
    uint64_t seq = 0;
    const struct run_record v = {77, count};
    path_in(f, "peers/counts", dir);
    assert_int_equal(stream_writer_open(dir, id, &w, &seq, NULL), ERR_OK);
    assert_int_equal(stream_writer_add(w, seq + 1, &v, 1, NULL), ERR_OK);
    stream_writer_close(&w);
    assert_int_equal(stream_path(ret, dir, id), ERR_OK);
}

static void write_run(const struct folder *f, const struct run_id *id, uint64_t count,
                      char ret[FILE_PATH_MAX])
{
    char name[FILE_PATH_MAX];
    char dir[FILE_PATH_MAX];
    struct run_writer *w = NULL;
    const struct run_record v = {77, count};
    path_in(f, "peers/counts/runs", dir);
    assert_int_equal(runset_name(id, name), ERR_OK);
    assert_int_equal(file_path(ret, "%s/%s", dir, name), ERR_OK);
    assert_int_equal(run_writer_new(ret, id, &w, NULL), ERR_OK);
    run_writer_add(w, &v);
    assert_int_equal(run_writer_commit(&w, NULL), ERR_OK);
}

static void test_remote__who_has_no_say__is_not_heard(void **state)
{
    struct folder *f = *state;
    char path[FILE_PATH_MAX];
    struct run_id strange = id_of(f, 2, NOW, 1);
    strange.key_id ^= 1;

    write_stream(f,
                 &(struct run_id){.origin = {1},
                                  .inc = 1,
                                  .start_s = (uint64_t)NOW * COUNT_BUCKET_S,
                                  .len_s = COUNT_BUCKET_S,
                                  .key_id = f->keys.ring[0].id},
                 1, path); /* we */
    struct run_id other = id_of(f, 9, NOW, 1);
    write_stream(f, &other, 1, path); /* nobody's */
    write_stream(f, &strange, 1, path);
    other.start_s -= COUNT_BUCKET_S;
    write_run(f, &other, 1, path);
    look(f, NOW);
    assert_int_equal(asked(f, NOW), 0);
    struct run_id good = id_of(f, 2, NOW, 2);
    write_stream(f, &good, 4, path);
    look(f, NOW);
    assert_int_equal(asked(f, NOW), 4);
    assert_int_equal(f->fed, 4);
    f->rows[1].state = ORIGIN_DISTRUSTED;
    write_origins(f);
    (void)remote_take_rebuild(f->r);
    look(f, NOW);
    assert_int_equal(asked(f, NOW), 0);
    assert_true(remote_take_rebuild(f->r));
    assert_false(remote_take_rebuild(f->r));
}

static void test_remote__when_origins_cannot_be_read__then_nobody_is_heard(void **state)
{
    struct folder *f = *state;
    char path[FILE_PATH_MAX];
    struct run_id id = id_of(f, 2, NOW, 1);
    write_stream(f, &id, 4, path);
    look(f, NOW);
    assert_int_equal(asked(f, NOW), 4);
    path_in(f, "peers/origins", path);
    assert_int_equal(file_write_atomic(path, SLICE_LIT("garbage"), 0600, NULL), ERR_OK);
    look(f, NOW);
    assert_int_equal(asked(f, NOW), 0);
    write_origins(f);
    look(f, NOW);
    assert_int_equal(asked(f, NOW), 4);
    assert_int_equal(unlink(path), 0);
    look(f, NOW);
    assert_int_equal(asked(f, NOW), 0);
}

static void test_remote__when_the_folder_goes__then_all_is_gone(void **state)
{
    struct folder *f = *state;
    char path[FILE_PATH_MAX];
    struct run_id id = id_of(f, 2, NOW, 1);
    write_stream(f, &id, 4, path);
    id.start_s -= COUNT_BUCKET_S;
    write_run(f, &id, 8, path);
    look(f, NOW);
    assert_int_equal(asked(f, NOW), 12);
    assert_true(remote_take_rebuild(f->r));
    path_in(f, "peers", path);
    assert_int_equal(tempdir_remove(path), 0);
    look(f, NOW);
    assert_int_equal(asked(f, NOW), 0);
    assert_true(remote_take_rebuild(f->r));
    assert_int_not_equal(access(path, F_OK), 0); /* nobody made it again */
}

/* Its count is in the sketch, and only a rebuild takes it out. */
static void test_remote__when_one_run_is_gone__then_a_rebuild(void **state)
{
    struct folder *f = *state;
    char first[FILE_PATH_MAX];
    char last[FILE_PATH_MAX];
    struct run_id id = id_of(f, 2, NOW - 2, 1);

    write_run(f, &id, 4, first);
    id = id_of(f, 2, NOW - 1, 1);
    write_run(f, &id, 8, last);
    look(f, NOW);
    (void)remote_take_rebuild(f->r);
    look(f, NOW);
    assert_false(remote_take_rebuild(f->r));
    assert_int_equal(unlink(first), 0); /* another one stands behind it */
    look(f, NOW);
    assert_int_equal(asked(f, NOW), 8);
    assert_true(remote_take_rebuild(f->r));
    look(f, NOW);
    assert_false(remote_take_rebuild(f->r));
    assert_int_equal(unlink(last), 0);
    look(f, NOW);
    assert_int_equal(asked(f, NOW), 0);
    assert_true(remote_take_rebuild(f->r));
}

/* Files of all kinds where streams and runs are looked for. */
static void test_remote__when_files_are_hostile__then_the_others_count(void **state)
{
    struct folder *f = *state;
    char path[FILE_PATH_MAX];
    char folder[FILE_PATH_MAX];
    char good[FILE_PATH_MAX];
    struct run_id id = id_of(f, 2, NOW, 1);
    struct remote_stat stat;

    write_stream(f, &id, 4, good);
    path_in(f, "peers/counts", folder);
    for (unsigned kind = 0; kind < 6; kind++) {
        id.inc = 100 + kind;
        assert_int_equal(stream_path(path, folder, &id), ERR_OK);
        switch (kind) {
        case 0:
            assert_int_equal(mkdir(path, 0700), 0);
            break;
        case 1:
            assert_int_equal(mkfifo(path, 0600), 0);
            break;
        case 2:
            assert_int_equal(symlink(good, path), 0);
            break;
        case 3:
            assert_int_equal(file_write_atomic(path, SLICE_NONE, 0600, NULL), ERR_OK);
            break;
        case 4: /* a copy under another name would count twice */
            assert_int_equal(link(good, path), 0);
            break;
        default:
            assert_int_equal(
                file_write_atomic(path, SLICE_LIT("GNGCSTR1 and more"), 0600, NULL),
                ERR_OK);
            break;
        }
    }
    id.inc = 7;
    id.start_s -= COUNT_BUCKET_S;
    write_run(f, &id, 16, good);
    id.inc = 8;
    write_run(f, &id, 32, path);
    assert_int_equal(truncate(path, 100), 0);
    id.inc = 9;
    write_run(f, &id, 64, path);
    char moved[FILE_PATH_MAX + 32];
    (void)snprintf(moved, sizeof(moved), "%s/peers/counts/runs/%s", f->dir, "x.run");
    assert_int_equal(rename(path, moved), 0);
    for (unsigned i = 0; i < 3; i++) {
        look(f, NOW + (i == 2));
        assert_int_equal(asked(f, NOW), 20);
    }
    remote_stat(f->r, &stat);
    assert_int_equal(stat.nunreadable, 6);
    assert_int_equal(stat.runs.ndamaged, 1);
}

static void test_remote__when_streams_are_too_many__then_some_are_left_out(void **state)
{
    struct folder *f = *state;
    char path[FILE_PATH_MAX];
    struct remote_stat stat;
    enum { MORE = 40 };

    for (uint64_t i = 0; i < REMOTE_STREAMS_OF_ORIGIN + MORE; i++) {
        struct run_id id = id_of(f, 2, NOW, i + 1);
        write_stream(f, &id, 1, path);
    }
    look(f, NOW);
    assert_int_equal(asked(f, NOW), REMOTE_STREAMS_OF_ORIGIN);
    remote_stat(f->r, &stat);
    assert_int_equal(stat.nstreams, REMOTE_STREAMS_OF_ORIGIN);
    assert_int_equal(stat.nunreadable, MORE);
}

/* Any bit of a stream or a run may be wrong: never more is counted than was written, and nothing
 * falls over. */
static void test_remote__when_bits_are_flipped__then_never_too_much(void **state)
{
    struct folder *f = *state;
    char stream[FILE_PATH_MAX];
    char run[FILE_PATH_MAX];
    struct run_id id = id_of(f, 2, NOW, 1);

    srand48(5);
    for (unsigned round = 0; round < 300; round++) {
        struct buf bytes;
        write_stream(f, &id, 4, stream);
        id.start_s -= COUNT_BUCKET_S;
        write_run(f, &id, 8, run);
        id.start_s += COUNT_BUCKET_S;
        const char *path = round % 2 ? stream : run;
        buf_init(&bytes, 1 << 20);
        assert_int_equal(file_read(path, &bytes, NULL), ERR_OK);
        size_t bit = (size_t)lrand48() % (bytes.n * 8);
        bytes.p[bit / 8] = (char)(bytes.p[bit / 8] ^ 1 << bit % 8);
        assert_int_equal(file_write_atomic(path, buf_slice(&bytes), 0600, NULL),
                         ERR_OK);
        buf_fini(&bytes);
        look(f, NOW);
        assert_true(asked(f, NOW) <= 12);
        assert_true(asked(f, NOW) >= 4);
        assert_int_equal(unlink(stream), 0);
        assert_int_equal(unlink(run), 0);
        look(f, NOW);
        assert_int_equal(asked(f, NOW), 0);
    }
}

/* A peer's whole history at once is left to the rebuild, which does not hold up the end of a
 * bucket. */
static void test_remote__when_a_history_comes_at_once__then_a_rebuild(void **state)
{
    struct folder *f = *state;
    char path[FILE_PATH_MAX];

    look(f, NOW);
    (void)remote_take_rebuild(f->r);
    for (uint64_t back = 2; back < 8; back++) {
        struct run_id id = id_of(f, 2, NOW - back, 1);
        write_run(f, &id, 1, path);
    }
    look(f, NOW);
    assert_int_equal(f->fed, 6);
    assert_false(remote_take_rebuild(f->r));
    for (uint64_t back = 10; back < 60; back++) {
        struct run_id id = id_of(f, 2, NOW - back, 1);
        write_run(f, &id, 1, path);
    }
    look(f, NOW);
    assert_true(f->fed < 6 + 50);
    assert_true(remote_take_rebuild(f->r));
    assert_int_equal(asked(f, NOW), 56);
    look(f, NOW);
    assert_false(remote_take_rebuild(f->r));
}

/* The hub may cut a stream's torn end, or write the file again. */
static void test_remote__when_a_stream_is_made_anew__then_it_counts_once(void **state)
{
    struct folder *f = *state;
    char path[FILE_PATH_MAX];
    struct run_id id = id_of(f, 2, NOW, 1);

    write_stream(f, &id, 4, path);
    look(f, NOW);
    (void)remote_take_rebuild(f->r);
    assert_int_equal(unlink(path), 0);
    write_stream(f, &id, 4, path);
    write_stream(f, &id, 3, path);
    look(f, NOW);
    assert_int_equal(asked(f, NOW), 7);
    assert_true(remote_take_rebuild(f->r));
}

#define FOLDER(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FOLDER(test_remote__who_has_no_say__is_not_heard),
        FOLDER(test_remote__when_origins_cannot_be_read__then_nobody_is_heard),
        FOLDER(test_remote__when_the_folder_goes__then_all_is_gone),
        FOLDER(test_remote__when_one_run_is_gone__then_a_rebuild),
        FOLDER(test_remote__when_files_are_hostile__then_the_others_count),
        FOLDER(test_remote__when_streams_are_too_many__then_some_are_left_out),
        FOLDER(test_remote__when_bits_are_flipped__then_never_too_much),
        FOLDER(test_remote__when_a_history_comes_at_once__then_a_rebuild),
        FOLDER(test_remote__when_a_stream_is_made_anew__then_it_counts_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
