/*
 * fuzz_shared_log - the log of counts for the store, with changes: it is opened, what it says it has is read, and
 * it takes a record, which is there when it is opened again.
 *
 * Input: a byte that chooses `state` or the records, then changes (patched.h).
 */
#include <dirent.h>

#include "core/base/base.h"
#include "core/base/log.h"
#include "core/hub/shared/shared_log.h"

#include "tests/fuzz/patched.h"
#include "tests/fuzz/state.h"

enum { BYTES = 1 << 16, START_S = 600000, RECORDS = 6, PAIRS = 8, FILES = 2 };
#define INC UINT64_C(77)

/* One of the two files as it was made. */
static struct file {
    char path[2 * STATE_PATH + 64];
    uint8_t bytes[BYTES];
    size_t n;
} files[FILES];

static struct shared_log *open_log(struct shared_positions *positions,
                                   struct errinfo *why)
{
    struct shared_log *l = NULL;
    const struct shared_log_options options = {state_folder(), {0}, 9};

    FUZZ_CHECK((shared_log_open(&options, positions, &l, why) == ERR_OK) ==
               (l != NULL));
    return l;
}

static enum err append(struct shared_log *l, uint64_t number)
{
    struct shared_record record = {.number = number, .start_s = START_S};
    struct run_record v[PAIRS];
    struct errinfo why;

    for (size_t i = 0; i < PAIRS; i++) {
        v[i] = (struct run_record){.key = number * 1000 + i + 1, .count = i + 1};
    }
    enum err e = shared_log_append(l, &record, v, PAIRS, &why);
    return e == ERR_OK ? shared_log_sync(l, &why) : e;
}

static void keep_file(struct file *f, const char *folder, const char *name)
{
    (void)snprintf(f->path, sizeof(f->path), "%s/%s", folder, name);
    int fd = open(f->path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, f->bytes, BYTES) : 0;
    FUZZ_CHECK(n > 0 && n < BYTES);
    f->n = (size_t)n;
    (void)close(fd);
}

static void keep_files(void)
{
    char folder[STATE_PATH + 64];

    (void)snprintf(folder, sizeof(folder), "%s/%032d", state_folder(), 0);
    DIR *d = opendir(folder);
    FUZZ_CHECK(d != NULL);
    for (const struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        if (e->d_name[0] != '.') {
            keep_file(&files[strcmp(e->d_name, "state") == 0 ? 0 : 1], folder,
                      e->d_name);
        }
    }
    (void)closedir(d);
    FUZZ_CHECK(files[0].n > 0 && files[1].n > 0);
}

static void make_files(void)
{
    struct shared_positions positions;
    struct errinfo why;

    FUZZ_CHECK(base_init() == ERR_OK);
    log_set_level(LOG_LEVEL_ERROR);
    struct shared_log *l = open_log(&positions, &why);
    FUZZ_CHECK(l != NULL && shared_log_begin(l, INC, 0, &why) == ERR_OK);
    for (uint64_t i = 1; i <= RECORDS; i++) {
        FUZZ_CHECK(append(l, i) == ERR_OK);
    }
    shared_log_close(&l);
    positions_fini(&positions);
    keep_files();
}

static void write_file(const struct file *f, const uint8_t *bytes, size_t n)
{
    int fd = open(f->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    FUZZ_CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
    (void)close(fd);
}

static bool see_pairs(void *context, const struct run_record *v, size_t n)
{
    (void)context;
    for (size_t i = 1; i < n; i++) {
        FUZZ_CHECK(v[i].key > v[i - 1].key);
    }
    return true;
}

/* Whether the record of this number is there and can be read. */
static bool read_records(struct shared_log *l, const struct shared_positions *p,
                         uint64_t number)
{
    const struct run_record *v = NULL;
    size_t n = 0;
    struct errinfo why;
    bool is_there = false;

    for (size_t i = 0; i < p->n; i++) {
        FUZZ_CHECK(i == 0 || p->v[i].number > p->v[i - 1].number);
        if (shared_log_read(l, &p->v[i], &v, &n, &why) == ERR_OK) {
            (void)see_pairs(NULL, v, n);
            is_there = is_there || p->v[i].number == number;
        }
    }
    (void)shared_log_each(l, START_S, see_pairs, NULL, &why);
    return is_there;
}

/* Opens the log, reads it and appends; the number of the new record, 0: none. */
static uint64_t go_on(void)
{
    struct shared_positions positions;
    struct errinfo why = {.text = ""};
    struct shared_log *l = open_log(&positions, &why);
    uint64_t number = 0;

    FUZZ_CHECK(l != NULL || why.text[0] != '\0');
    if (l != NULL) {
        (void)read_records(l, &positions, 0);
        if (shared_log_inc(l) == 0) {
            FUZZ_CHECK(shared_log_begin(l, INC, 0, &why) == ERR_OK);
            positions_restart(&positions);
        }
        number = positions.last < UINT64_MAX - 1 ? positions.last + 1 : 0;
        number = number > 0 && append(l, number) == ERR_OK ? number : 0;
    }
    shared_log_close(&l);
    positions_fini(&positions);
    return number;
}

static void check_record(uint64_t number)
{
    struct shared_positions positions;
    struct errinfo why;
    struct shared_log *l = open_log(&positions, &why);

    FUZZ_CHECK(l != NULL && read_records(l, &positions, number));
    shared_log_close(&l);
    positions_fini(&positions);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t bytes[BYTES];
    struct slice input = slice_of((const char *)data, size);

    if (files[0].n == 0) {
        make_files();
    }
    const size_t chosen = patched_number(&input, 1) % FILES;
    memcpy(bytes, files[chosen].bytes, files[chosen].n);
    write_file(&files[chosen], bytes, patched_apply(bytes, files[chosen].n, &input));
    write_file(&files[1 - chosen], files[1 - chosen].bytes, files[1 - chosen].n);
    const uint64_t number = go_on();
    if (number > 0) {
        check_record(number);
    }
    return 0;
}
