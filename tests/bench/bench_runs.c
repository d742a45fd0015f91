/*
 * bench_runs - time of the exact count of one key over 14 days, and the size of the runs on disk.
 *
 * Usage: bench_runs [--messages-per-day N] [--folder DIR]   (1000000, a new folder in TMPDIR)
 * Two JSON lines. Workload: the traffic model (40 keys a message, 60 % never seen before, the rest
 * Zipf) in 14 runs of days and 144 of buckets. Each run has the number of different keys that the
 * generator counted for one bucket or one day of this traffic. First occurrences are uniform random
 * keys, written in order by adding up exponential gaps. Repeated keys are from one set for all
 * runs. It times the count of one key in all 158 runs, half of them repeated keys, half never seen,
 * with all files in the page cache, in one thread: CPU time on average, and wall time of the median
 * and of the slowest hundredth. The folder is removed.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/base/version.h"
#include "core/count/runset.h"
#include "core/count/traffic.h"

enum {
    KEY_ID = 1,
    DAY0 = 20000,
    DAY_RUNS = COUNT_DAYS,
    LOOKUPS = 2000,
    WARM_UP = 200,
    PERCENT = 100
};
#define NOW (UINT64_C(20000 + 14) * COUNT_DAY_BUCKETS + COUNT_DAY_BUCKETS - 1)

struct bench {
    char folder[FILE_PATH_MAX];
    uint64_t messages; /* a day */
    uint64_t nranks;   /* keys that come again */
    uint64_t *ranked;  /* their keys, sorted, with ranks beside */
    uint64_t *rank;
    struct prng prng;
    uint64_t records;
};

struct pair {
    uint64_t key;
    uint64_t rank;
};

static int by_key(const void *a, const void *b)
{
    const struct pair *x = a;
    const struct pair *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

static uint64_t key_of(uint64_t number)
{
    struct digest d;
    uint64_t key = 0;
    traffic_digest(number, &d);
    for (unsigned i = 0; i < 8; i++) {
        key = key << 8 | d.b[i];
    }
    return key ? key : 1;
}

static bool make_ranks(struct bench *b)
{
    b->nranks = b->messages * TRAFFIC_REPEATED;
    if (b->nranks == 0) {
        return false;
    }
    b->ranked = malloc(b->nranks * sizeof(*b->ranked));
    b->rank = malloc(b->nranks * sizeof(*b->rank));
    struct pair *pairs = malloc(b->nranks * sizeof(*pairs));
    if (!b->ranked || !b->rank || !pairs) {
        free(pairs);
        return false;
    }
    for (uint64_t i = 0; i < b->nranks; i++) {
        pairs[i] = (struct pair){key_of(i + 1), i + 1};
    }
    qsort(pairs, b->nranks, sizeof(*pairs), by_key);
    for (uint64_t i = 0; i < b->nranks; i++) {
        b->ranked[i] = pairs[i].key;
        b->rank[i] = pairs[i].rank;
    }
    free(pairs);
    return true;
}

/* Never 0, so that its logarithm is a number. */
static double uniform(struct prng *p)
{
    return ((double)(prng_next(p) >> 11) + 0.5) / 9007199254740992.0;
}

/* Number of draws of a key whose expected number is given: Poisson, by a normal law above 50. */
static uint64_t draws(struct prng *p, double expected)
{
    if (expected > 50) {
        double normal =
            sqrt(-2 * log(uniform(p))) * cos(2 * 3.14159265358979 * uniform(p));
        double n = expected + sqrt(expected) * normal;
        return n < 0 ? 0 : (uint64_t)n;
    }
    double limit = exp(-expected);
    double product = uniform(p);
    uint64_t n = 0;
    while (product > limit) {
        product *= uniform(p);
        n++;
    }
    return n;
}

/* One run of a part (1: a day) of a day's traffic, streamed in order of key. */
static bool write_run(struct bench *b, uint64_t start_s, uint32_t len_s, double part)
{
    const struct run_id id = {.origin = {1},
                              .inc = len_s == COUNT_DAY_S ? 0 : 1,
                              .start_s = start_s,
                              .len_s = len_s,
                              .key_id = KEY_ID};
    char name[FILE_PATH_MAX];
    char path[FILE_PATH_MAX];
    struct run_writer *w = NULL;
    const double keys = (double)b->messages * TRAFFIC_KEYS * part;
    const double first = keys * TRAFFIC_FIRST_PERCENT / PERCENT;
    double harmonic = log((double)b->nranks) + 0.5772;
    if (runset_name(&id, name) != ERR_OK ||
        file_path(path, "%s/%s", b->folder, name) != ERR_OK ||
        run_writer_new(path, &id, &w, NULL) != ERR_OK) {
        return false;
    }
    const double mean_gap = 18446744073709551616.0 / first;
    double at = 0;
    uint64_t i = 0;
    uint64_t last = 0;
    for (;;) {
        at += -log(uniform(&b->prng)) * mean_gap;
        bool is_end = at >= 18446744073709540000.0;
        uint64_t key = is_end ? UINT64_MAX : (uint64_t)at;
        for (; i < b->nranks && (is_end || b->ranked[i] <= key); i++) {
            uint64_t n =
                draws(&b->prng, (keys - first) / (harmonic * (double)b->rank[i]));
            if (n > 0 && b->ranked[i] > last) {
                run_writer_add(w, &(struct run_record){b->ranked[i], n});
                last = b->ranked[i];
                b->records++;
            }
        }
        if (is_end) {
            break;
        }
        if (key > last) {
            run_writer_add(w, &(struct run_record){key, 1});
            last = key;
            b->records++;
        }
    }
    return run_writer_commit(&w, NULL) == ERR_OK;
}

static bool write_all(struct bench *b)
{
    for (uint64_t d = 0; d < DAY_RUNS; d++) {
        if (!write_run(b, (DAY0 + d) * COUNT_DAY_S, COUNT_DAY_S, 1)) {
            return false;
        }
    }
    for (uint64_t i = 0; i < COUNT_BUCKETS; i++) {
        uint64_t start_s = (NOW - COUNT_BUCKETS + i) * COUNT_BUCKET_S;
        if (!write_run(b, start_s, COUNT_BUCKET_S, 1.0 / COUNT_DAY_BUCKETS)) {
            return false;
        }
    }
    return true;
}

static int by_number(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;
    return *x < *y ? -1 : *x > *y;
}

struct times {
    double cpu_us;  /* of the thread, mean */
    double half_us; /* wall time: half of all take no longer */
    double p99_us;
};

static double now_us(clockid_t clock)
{
    struct timespec ts;
    (void)clock_gettime(clock, &ts);
    return (double)ts.tv_sec * 1e6 + (double)ts.tv_nsec / 1e3;
}

static struct times look_up(struct bench *b, struct runset *set)
{
    static double us[LOOKUPS];
    const uint32_t key_id = KEY_ID;
    double sum = 0;
    for (int i = -WARM_UP; i < LOOKUPS; i++) {
        uint64_t r = prng_next(&b->prng);
        uint64_t key = i % 2 ? key_of(1 + prng_below(&b->prng, b->nranks)) : r;
        struct count_history h;
        double wall = now_us(CLOCK_MONOTONIC);
        double cpu = now_us(CLOCK_THREAD_CPUTIME_ID);
        runset_history(set, &key, &key_id, 1, NOW, &h);
        cpu = now_us(CLOCK_THREAD_CPUTIME_ID) - cpu;
        wall = now_us(CLOCK_MONOTONIC) - wall;
        if (i >= 0) {
            us[i] = wall;
            sum += cpu;
        }
    }
    qsort(us, LOOKUPS, sizeof(*us), by_number);
    return (struct times){sum / LOOKUPS, us[LOOKUPS / 2],
                          us[LOOKUPS - LOOKUPS / PERCENT]};
}

static bool verify_one(void *context, const struct run *run)
{
    bool *is_sound = context;
    *is_sound = *is_sound && run_verify(run, NULL) == ERR_OK;
    return *is_sound;
}

/* Reads every block: all is sound, and all is in the page cache. */
static bool warm(struct runset *set)
{
    bool is_sound = true;
    runset_each(set, COUNT_DAY_S, 0, UINT64_MAX, verify_one, &is_sound);
    runset_each(set, COUNT_BUCKET_S, 0, UINT64_MAX, verify_one, &is_sound);
    return is_sound;
}

static bool report(struct bench *b, struct runset *set)
{
    struct runset_stat st;
    struct utsname u;
    if (!warm(set) || uname(&u) != 0) {
        return false;
    }
    struct times t = look_up(b, set);
    runset_stat(set, &st);
    const char *build = "\"build\": \"" GILLNET_VERSION " " __VERSION__ "\"";
    printf(
        "{\"case\": \"exact-fortnight\", \"workload\": \"count of one key in %zu runs "
        "of %" PRIu64 " messages a day, warm\", %s, \"machine\": \"%s %s\", "
        "\"runs\": %zu, \"cpu_us\": %.1f, \"us\": %.1f, \"us_p99\": %.1f}\n",
        st.nbuckets + st.ndays, b->messages, build, u.machine, u.release,
        st.nbuckets + st.ndays, t.cpu_us, t.half_us, t.p99_us);
    printf("{\"case\": \"disk-fortnight\", \"workload\": \"14 days and 144 buckets of "
           "%" PRIu64
           " messages a day\", %s, \"machine\": \"%s %s\", \"records\": %" PRIu64
           ", \"bytes\": %" PRIu64 ", \"bytes_per_record\": %.2f}\n",
           b->messages, build, u.machine, u.release, b->records, st.bytes,
           (double)st.bytes / (double)b->records);
    return true;
}

static bool remove_one(void *context, const struct run *run)
{
    const struct bench *b = context;
    char name[FILE_PATH_MAX];
    char path[FILE_PATH_MAX];
    if (runset_name(run_id(run), name) == ERR_OK &&
        file_path(path, "%s/%s", b->folder, name) == ERR_OK) {
        (void)unlink(path);
    }
    return true;
}

int main(int argc, char **argv)
{
    static struct bench b = {.messages = 1000000};
    (void)file_path(b.folder, "/tmp/bench-runs-XXXXXX");
    bool has_folder = false;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--messages-per-day") == 0) {
            b.messages = strtoull(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--folder") == 0) {
            has_folder = file_path(b.folder, "%s", argv[i + 1]) == ERR_OK;
        }
    }
    struct runset *set = NULL;
    prng_init(&b.prng, 7, 0);
    if (argc % 2 == 0 || b.messages < 100 || base_init() != ERR_OK ||
        (!has_folder && !mkdtemp(b.folder)) || !make_ranks(&b)) {
        (void)fprintf(stderr,
                      "usage: bench_runs [--messages-per-day N] [--folder DIR]\n");
        return 64;
    }
    bool is_good = write_all(&b) &&
                   runset_open(b.folder, NULL, NULL, &set, NULL) == ERR_OK &&
                   report(&b, set);
    if (set) {
        runset_each(set, COUNT_DAY_S, 0, UINT64_MAX, remove_one, &b);
        runset_each(set, COUNT_BUCKET_S, 0, UINT64_MAX, remove_one, &b);
    }
    runset_close(&set);
    (void)rmdir(b.folder);
    return is_good ? 0 : 1;
}
