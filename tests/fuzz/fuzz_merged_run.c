/* fuzz_merged_run - a merged run of several servers with changes, its sums made right: refused with a text, or
 * each answer has at most one count of each source. */
#include "core/base/base.h"
#include "core/base/checksum.h"
#include "core/store/merged_run.h"

#include "tests/fuzz/patched.h"
#include "tests/fuzz/state.h"

enum {
    FILE_MOST = 1 << 20,
    BLOCK = 4096,
    RUNS = 3,
    KEYS = 40,
    NBLOCKS_AT = 40,
    SUM_AT = 48
};

static uint8_t sound[FILE_MOST];
static size_t nsound;

static struct run *make_run(unsigned i)
{
    const struct run_id id = {.origin = {(uint8_t)(i + 1)},
                              .inc = i,
                              .start_s = 600000,
                              .len_s = 600,
                              .key_id = 9};
    struct run_writer *w = NULL;
    struct run *r = NULL;
    char name[16];

    (void)snprintf(name, sizeof(name), "%u.run", i);
    FUZZ_CHECK(run_writer_new(state_path(name), &id, &w, NULL) == ERR_OK);
    for (uint64_t k = 1; k <= KEYS; k++) {
        run_writer_add(w, &(struct run_record){k * 1000 + i % 2, k + i});
    }
    FUZZ_CHECK(run_writer_commit(&w, NULL) == ERR_OK);
    FUZZ_CHECK(run_open(state_path(name), &r, NULL) == ERR_OK);
    return r;
}

static void make_sound(void)
{
    struct run *runs[RUNS];
    size_t bad = 0;

    for (unsigned i = 0; i < RUNS; i++) {
        runs[i] = make_run(i);
    }
    FUZZ_CHECK(merged_run_write(state_path("sound"), (const struct run *const *)runs,
                                RUNS, &bad, NULL) == ERR_OK);
    for (unsigned i = 0; i < RUNS; i++) {
        run_close(&runs[i]);
    }
    int fd = open(state_path("sound"), O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, sound, sizeof(sound));
    FUZZ_CHECK(n > BLOCK);
    nsound = (size_t)n;
    (void)close(fd);
}

static void put_sum(uint8_t *at, const uint8_t *from, size_t n)
{
    uint64_t sum = checksum64(slice_of((const char *)from, n));
    memcpy(at, &sum, sizeof(sum));
}

/* Of the blocks, the tail and the header. */
static void mend(uint8_t *p, size_t n)
{
    uint64_t nblocks = 0;

    if (n < 2 * BLOCK) {
        return;
    }
    memcpy(&nblocks, p + NBLOCKS_AT, sizeof(nblocks));
    if (nblocks <= (n - BLOCK) / BLOCK) {
        for (uint64_t i = 1; i <= nblocks; i++) {
            put_sum(p + i * BLOCK, p + i * BLOCK + 8, BLOCK - 8);
        }
        const size_t tail = (size_t)(nblocks + 1) * BLOCK;
        put_sum(p + SUM_AT, p + tail, n - tail);
    }
    put_sum(p + BLOCK - 8, p, BLOCK - 8);
}

static bool ask(const struct merged_run *s, uint64_t key)
{
    static struct merged_run_pair pair[MERGED_RUN_SOURCES_MAX];
    const struct merged_run_facts *facts = merged_run_facts(s);
    size_t n = MERGED_RUN_SOURCES_MAX;

    enum err e = merged_run_get(s, key, pair, &n);
    FUZZ_CHECK(e == ERR_OK || n == 0);
    FUZZ_CHECK(n <= facts->nsources);
    for (size_t i = 0; i < n; i++) {
        FUZZ_CHECK(pair[i].source < facts->nsources && pair[i].count > 0);
    }
    return n > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t bytes[FILE_MOST];
    struct slice input = slice_of((const char *)data, size);
    struct merged_run *s = NULL;
    struct errinfo why = {.text = ""};

    FUZZ_CHECK(base_init() == ERR_OK);
    if (nsound == 0) {
        make_sound();
    }
    memcpy(bytes, sound, nsound);
    size_t n = patched_apply(bytes, nsound, &input);
    mend(bytes, n);
    const char *path = state_file("merged", slice_of((const char *)bytes, n));
    if (merged_run_open(path, &s, &why) != ERR_OK) {
        FUZZ_CHECK(why.text[0] != '\0');
        return 0;
    }
    unsigned found = 0;
    for (uint64_t k = 0; k <= KEYS + 1; k++) {
        found += ask(s, k * 1000) ? 1 : 0;
        found += ask(s, k * 1000 + 1) ? 1 : 0;
    }
    FUZZ_CHECK(size > 0 || found == 2 * KEYS);
    (void)ask(s, UINT64_MAX);
    merged_run_close(&s);
    return 0;
}
