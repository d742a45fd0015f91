/*
 * fuzz_running_table - the running table of counts and its journal with changes, as a process that was killed leaves
 * them: what is recovered was never more than was counted where no byte of the table changed.
 *
 * Input: a byte that chooses the file, then changes (patched.h).
 */
#include <dirent.h>

#include "core/base/base.h"
#include "core/base/log.h"
#include "core/count/live.h"
#include "core/count/live_format.h"
#include "core/count/runset.h"

#include "tests/fuzz/patched.h"
#include "tests/fuzz/state.h"

enum { KEYS = 40, FILES_MAX = 8, START_S = 1699999800 };

static struct sound_file {
    char name[STATE_PATH];
    uint8_t *bytes;
    size_t n;
} file[FILES_MAX];
static size_t nfiles;

static void keep_file(const char *name)
{
    char path[STATE_PATH];
    struct stat st;
    struct sound_file *f = &file[nfiles];

    (void)snprintf(path, sizeof(path), "counts/%.100s", name);
    int fd = open(state_path(path), O_RDONLY | O_CLOEXEC);
    if (nfiles < FILES_MAX && fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        st.st_size > 0) {
        (void)snprintf(f->name, sizeof(f->name), "%s", path);
        f->n = (size_t)st.st_size;
        f->bytes = malloc(f->n);
        FUZZ_CHECK(f->bytes != NULL && read(fd, f->bytes, f->n) == (ssize_t)f->n);
        nfiles++;
    }
    (void)close(fd);
}

static int by_name(const void *a, const void *b)
{
    const struct sound_file *x = a;
    const struct sound_file *y = b;
    return strcmp(x->name, y->name);
}

static const struct run_id id = {
    .origin = {1}, .inc = 3, .start_s = START_S, .len_s = 600, .key_id = 9};

static void make_files(void)
{
    struct live *l = NULL;
    struct errinfo why;
    uint64_t count = 0;
    const struct dirent *d = NULL;

    (void)state_path("counts/runs/x");
    (void)state_path("counts/x");
    char dir[STATE_PATH];
    (void)snprintf(dir, sizeof(dir), "%.200s/counts", state_folder());
    FUZZ_CHECK(live_new(dir, &id, 2, 256, &l, &why) == ERR_OK);
    for (uint64_t k = 1; k <= KEYS; k++) {
        uint64_t key = k * UINT64_C(0x9e3779b97f4a7c15);
        FUZZ_CHECK(live_add(l, live_shard_of(key, 2), key, k, &count));
    }
    live_free(&l, false);
    DIR *folder = opendir(dir);
    FUZZ_CHECK(folder != NULL);
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
    while ((d = readdir(folder)) != NULL) {
        keep_file(d->d_name);
    }
    (void)closedir(folder);
    qsort(file, nfiles, sizeof(file[0]), by_name);
    FUZZ_CHECK(nfiles > 0);
}

/* As they were left, and no run of them. */
static void put_files(size_t changed, const uint8_t *bytes, size_t n)
{
    char run[FILE_PATH_MAX];
    char path[STATE_PATH];

    FUZZ_CHECK(runset_name(&id, run) == ERR_OK);
    (void)snprintf(path, sizeof(path), "counts/runs/%.150s", run);
    (void)unlink(state_path(path));
    for (size_t i = 0; i < nfiles; i++) {
        (void)unlink(state_path(file[i].name));
        (void)state_file(file[i].name,
                         i == changed
                             ? slice_of((const char *)bytes, n)
                             : slice_of((const char *)file[i].bytes, file[i].n));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice input = slice_of((const char *)data, size);
    struct live_recovered got = {.keys = 0};
    struct errinfo why = {.text = ""};
    char dir[STATE_PATH];
    char runs[STATE_PATH];
    uint64_t count = 0;
    uint64_t start_s = 0;

    if (nfiles == 0) {
        FUZZ_CHECK(base_init() == ERR_OK);
        log_set_level(LOG_LEVEL_ERROR);
        make_files();
    }
    size_t which = patched_number(&input, 1) % nfiles;
    uint8_t *bytes = malloc(file[which].n);
    FUZZ_CHECK(bytes != NULL);
    memcpy(bytes, file[which].bytes, file[which].n);
    size_t n = patched_apply(bytes, file[which].n, &input);
    put_files(which, bytes, n);
    free(bytes);
    (void)snprintf(dir, sizeof(dir), "%.200s/counts", state_folder());
    (void)snprintf(runs, sizeof(runs), "%.200s/counts/runs", state_folder());
    (void)live_peek(dir, UINT64_C(0x9e3779b97f4a7c15), &count, &start_s, &why);
    enum err e = live_recover(dir, runs, &got, &why);
    FUZZ_CHECK(e == ERR_OK || why.text[0] != '\0');
    FUZZ_CHECK(got.keys <= file[which].n);
    FUZZ_CHECK(size > 1 || got.keys == KEYS);
    return 0;
}
