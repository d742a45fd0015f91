/*
 * count_windows - gillnetd's own way to count: update and read of all four windows in one call.
 */
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/count/count.h"

#include "tests/bench/bench_count.h"

enum {
    WINDOWS_KEYS =
        100000000,     /* different ones in a fortnight: the size of the counts */
    BUCKET_ROUNDS = 4, /* of each thread: a bucket's messages at that size, and more */
    WALK_FILES = 16,
    FIRST_DAY = 20000,
    PATH_ROOM = 64
};
#define BUCKET_US ((uint64_t)COUNT_BUCKET_S * 1000000)

struct subject {
    struct count *count;
    char dir[PATH_ROOM];
    unsigned rounds;                          /* of the first thread */
    struct count_item (*items)[TRAFFIC_KEYS]; /* of each thread */
};

static void end_bucket(struct subject *s)
{
    clock_advance_us(BUCKET_US);
    count_tick(s->count);
}

/* Message after message, as gillnetd counts. The first thread also ends the buckets; less than
 * every second round has that, so it is not in the median. */
static void use(void *own, unsigned thread, const struct digest *d,
                const uint64_t *numbers, size_t n)
{
    struct subject *s = own;
    struct count_item *items = s->items[thread];

    (void)numbers;
    if (thread == 0 && ++s->rounds % BUCKET_ROUNDS == 0) {
        end_bucket(s);
    }
    for (size_t i = 0; i < n; i += TRAFFIC_KEYS) {
        for (size_t k = 0; k < TRAFFIC_KEYS; k++) {
            items[k].digest[0] = d[i + k];
            items[k].amount = 1;
        }
        count_batch(s->count, items, TRAFFIC_KEYS);
    }
}

static void get(void *own, const struct digest *d, size_t n, uint64_t *ret)
{
    struct subject *s = own;
    struct count_item item = {.amount = 0};

    for (size_t i = 0; i < n; i++) {
        item.digest[0] = d[i];
        count_batch(s->count, &item, 1);
        ret[i] = item.value.w[COUNT_14D];
    }
}

static int remove_one(const char *path, const struct stat *st, int kind,
                      struct FTW *where)
{
    (void)st;
    (void)kind;
    (void)where;
    return remove(path);
}

static void subject_init(struct subject *s)
{
    static const struct keyring keys = {
        .n = 1,
        .ring = {{.id = 1, .bytes = "bench of counts"}},
        .node = {.id = 2, .bytes = "bench of places"},
    };
    struct errinfo info;
    const struct count_options options = {
        .state_dir = s->dir,
        .keys = &keys,
        .messages_per_day = bench_traffic_of(WINDOWS_KEYS).messages_per_day,
    };

    (void)snprintf(s->dir, sizeof(s->dir), "/tmp/gillnet-bench-XXXXXX");
    if (!mkdtemp(s->dir)) {
        bench_fail("no temporary folder");
    }
    s->items = bench_zeroed(sizeof(*s->items) * BENCH_THREADS_MAX);
    clock_set_for_test((uint64_t)FIRST_DAY * COUNT_DAY_S * 1000000, BUCKET_US);
    if (count_open(&options, &s->count, &info) != ERR_OK) {
        bench_fail(info.text);
    }
}

static void subject_fini(struct subject *s)
{
    count_close(&s->count);
    clock_unset_for_test();
    bench_release(s->items, sizeof(*s->items) * BENCH_THREADS_MAX);
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): the threads have ended */
    (void)nftw(s->dir, remove_one, WALK_FILES, FTW_DEPTH | FTW_PHYS);
}

static void measure(const struct bench_options *o, const char *name, unsigned threads)
{
    struct subject s = {.rounds = 0};
    struct bench_truth truth;
    bool is_hot = strstr(name, "hot") != NULL;
    struct bench_traffic t = bench_traffic_of(WINDOWS_KEYS);
    struct bench_line line = {.name = name, .threads = threads};
    struct count_stat stat;

    t.additions = bench_traffic_of(o->keys).additions;
    subject_init(&s);
    line.keys_per_s = bench_rounds(&t, threads, is_hot, use, &s, &truth);
    bench_compare(&truth, get, &s, UINT64_MAX, &line);
    line.cpu_keys_per_s = truth.cpu_keys_per_s;
    bench_truth_fini(&truth);
    count_stat(s.count, &stat);
    (void)snprintf(
        line.workload, sizeof(line.workload),
        "traffic model, counts for %d different keys (%" PRIu64 " bytes), %" PRIu64
        " additions%s; all four windows, messages of %d keys, %u shards with "
        "a lock each; a bucket ends every %d rounds; shares are of the "
        "fortnight",
        WINDOWS_KEYS, stat.memory_bytes, t.additions,
        is_hot ? " and as many on one key" : "", TRAFFIC_KEYS, stat.nshards,
        BUCKET_ROUNDS);
    bench_print(&line);
    subject_fini(&s);
}

void bench_windows(const struct bench_options *o, const char *name)
{
    if (o->threads > 0) {
        measure(o, name, o->threads);
        return;
    }
    measure(o, name, 1);
    measure(o, name, 2);
}
