/*
 * count_rounds - the traffic of a fortnight in timed rounds, and the truth beside it.
 */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "tests/bench/bench_count.h"

#define HUGE_BYTES ((uint64_t)2 << 20)

enum { DAYS = TRAFFIC_DAYS, READ = 4096 };

/* One thread of a run. */
struct worker {
    const struct bench_traffic *model;
    bench_use_fn use;
    void *own;
    unsigned number;
    unsigned threads;
    bool is_hot;
    struct traffic traffic;
    uint32_t *ranks; /* how often this thread counted each */
    uint64_t nrounds;
    double *cpu_ns;            /* CPU time of this thread in each round */
    double *ns;                /* of each round */
    _Atomic uint64_t *arrived; /* where threads wait for each other; it only grows */
};

static double now_ns(clockid_t clock)
{
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint64_t huge(uint64_t bytes)
{
    return (bytes + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
}

void *bench_zeroed(uint64_t bytes)
{
    void *p = mmap(NULL, huge(bytes), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        bench_fail("not enough memory");
    }
    (void)madvise(p, huge(bytes), MADV_HUGEPAGE);
    return p;
}

void bench_release(void *memory, uint64_t bytes)
{
    (void)munmap(memory, huge(bytes));
}

struct bench_traffic bench_traffic_of(uint64_t keys)
{
    uint64_t first = TRAFFIC_KEYS * TRAFFIC_FIRST_PERCENT / 100;
    uint64_t daily = keys / (first * DAYS + TRAFFIC_REPEATED);
    daily = daily > 0 ? daily : 1;
    return (struct bench_traffic){.messages_per_day = daily,
                                  .additions = daily * DAYS * TRAFFIC_KEYS,
                                  .nranks = daily * TRAFFIC_REPEATED};
}

/* Spins, because a sleeping thread wakes too late for a short round. */
static void wait_for_all(struct worker *w, uint64_t turn)
{
    (*w->arrived)++;
    while (*w->arrived < (turn + 1) * w->threads) {
        (void)sched_yield();
    }
}

/* Keys of one thread in a round. They are whole messages, because BENCH_ROUND and its quarter
 * are. */
static size_t share_of(const struct worker *w)
{
    return BENCH_ROUND / w->threads;
}

static void fill_round(struct worker *w, uint64_t *numbers, struct digest *d)
{
    uint64_t message[TRAFFIC_KEYS];
    unsigned used = TRAFFIC_KEYS;
    for (size_t i = 0; i < share_of(w); i++) {
        numbers[i] = 1;
        if (!w->is_hot || i % 2 == 0) {
            if (used == TRAFFIC_KEYS) {
                traffic_message(&w->traffic, message);
                used = 0;
            }
            numbers[i] = message[used++];
        }
        if (!(numbers[i] & TRAFFIC_FIRST)) {
            w->ranks[numbers[i]]++;
        }
        traffic_digest(numbers[i], &d[i]);
    }
}

static void *run(void *data)
{
    struct worker *w = data;
    uint64_t *numbers = bench_zeroed(sizeof(*numbers) * BENCH_ROUND);
    struct digest *d = bench_zeroed(sizeof(*d) * BENCH_ROUND);
    for (uint64_t i = 0; i < w->nrounds; i++) {
        fill_round(w, numbers, d);
        wait_for_all(w, i);
        double start = now_ns(CLOCK_MONOTONIC);
        double cpu_start = now_ns(CLOCK_THREAD_CPUTIME_ID);
        w->use(w->own, w->number, d, numbers, share_of(w));
        w->cpu_ns[i] = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_start;
        w->ns[i] = now_ns(CLOCK_MONOTONIC) - start;
    }
    bench_release(numbers, sizeof(*numbers) * BENCH_ROUND);
    bench_release(d, sizeof(*d) * BENCH_ROUND);
    return NULL;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median round of the slowest thread in each. */
static double median_ns(const struct worker *w, unsigned threads, bool is_cpu)
{
    uint64_t n = w[0].nrounds;
    double *slowest = bench_zeroed(sizeof(*slowest) * n);
    for (uint64_t i = 0; i < n; i++) {
        for (unsigned t = 0; t < threads; t++) {
            slowest[i] = fmax(slowest[i], is_cpu ? w[t].cpu_ns[i] : w[t].ns[i]);
        }
    }
    qsort(slowest, n, sizeof(*slowest), by_value);
    double median = slowest[n / 2];
    bench_release(slowest, sizeof(*slowest) * n);
    return median;
}

static double rate(const struct worker *w, unsigned threads, bool is_cpu)
{
    return (double)BENCH_ROUND / median_ns(w, threads, is_cpu) * 1e9;
}

static uint64_t ranks_bytes(uint64_t nranks)
{
    return sizeof(uint32_t) * (nranks + 1);
}

static void worker_init(struct worker *w, uint64_t nrounds)
{
    w->nrounds = nrounds;
    w->ranks = bench_zeroed(ranks_bytes(w->model->nranks));
    w->ns = bench_zeroed(sizeof(*w->ns) * nrounds);
    w->cpu_ns = bench_zeroed(sizeof(*w->cpu_ns) * nrounds);
    traffic_init(&w->traffic, w->model->messages_per_day, w->number + 1);
}

static void worker_fini(struct worker *w, struct bench_truth *truth)
{
    truth->after[w->number] = w->traffic.counter;
    for (uint64_t i = 1; i <= truth->nranks; i++) {
        truth->ranks[i] += w->ranks[i];
    }
    bench_release(w->ranks, ranks_bytes(truth->nranks));
    bench_release(w->ns, sizeof(*w->ns) * w->nrounds);
    bench_release(w->cpu_ns, sizeof(*w->cpu_ns) * w->nrounds);
}

double bench_rounds(const struct bench_traffic *t, unsigned threads, bool is_hot,
                    bench_use_fn use, void *own, struct bench_truth *rettruth)
{
    static struct worker w[BENCH_THREADS_MAX];
    pthread_t ids[BENCH_THREADS_MAX];
    _Atomic uint64_t arrived = 0;
    uint64_t nrounds = t->additions * (is_hot ? 2 : 1) / BENCH_ROUND + 1;

    *rettruth = (struct bench_truth){.nranks = t->nranks, .threads = threads};
    rettruth->ranks = bench_zeroed(ranks_bytes(t->nranks));
    for (unsigned i = 0; i < threads; i++) {
        w[i] = (struct worker){.model = t,
                               .use = use,
                               .own = own,
                               .number = i,
                               .threads = threads,
                               .is_hot = is_hot,
                               .arrived = &arrived};
        worker_init(&w[i], nrounds);
        rettruth->first[i] = w[i].traffic.counter;
    }
    for (unsigned i = 0; i < threads; i++) {
        if (pthread_create(&ids[i], NULL, run, &w[i]) != 0) {
            bench_fail("no thread");
        }
    }
    for (unsigned i = 0; i < threads; i++) {
        (void)pthread_join(ids[i], NULL);
    }
    double keys_per_s = rate(w, threads, false);
    rettruth->cpu_keys_per_s = rate(w, threads, true);
    for (unsigned i = 0; i < threads; i++) {
        worker_fini(&w[i], rettruth);
    }
    return keys_per_s;
}

void bench_truth_fini(struct bench_truth *truth)
{
    bench_release(truth->ranks, ranks_bytes(truth->nranks));
    truth->ranks = NULL;
}

/* ---- the truth ---- */

struct compared {
    uint64_t keys;
    uint64_t wrong;
    uint64_t false_ge10;
    uint64_t under;
};

/* Numbers first..after-1, those that were counted: exact[number], or once each. */
static void compare(uint64_t first, uint64_t after, const uint32_t *exact,
                    bench_get_fn get, void *own, uint64_t cap, struct compared *sum)
{
    static struct digest d[READ];
    static uint64_t counts[READ];
    for (uint64_t at = first; at < after; at += READ) {
        size_t n = after - at < READ ? (size_t)(after - at) : READ;
        for (size_t i = 0; i < n; i++) {
            traffic_digest(at + i, &d[i]);
        }
        get(own, d, n, counts);
        for (size_t i = 0; i < n; i++) {
            uint64_t truth = exact ? exact[at + i] : 1;
            if (truth == 0) {
                continue;
            }
            truth = truth < cap ? truth : cap;
            sum->keys++;
            sum->wrong += counts[i] != truth;
            sum->false_ge10 += counts[i] >= 10 && truth < 10;
            sum->under += counts[i] < truth;
        }
    }
}

void bench_compare(const struct bench_truth *truth, bench_get_fn get, void *own,
                   uint64_t cap, struct bench_line *ret)
{
    struct compared sum = {.keys = 0};
    compare(1, truth->nranks + 1, truth->ranks, get, own, cap, &sum);
    for (unsigned t = 0; t < truth->threads; t++) {
        compare(truth->first[t], truth->after[t], NULL, get, own, cap, &sum);
    }
    ret->wrong_share = (double)sum.wrong / (double)sum.keys;
    ret->false_ge10_share = (double)sum.false_ge10 / (double)sum.keys;
    ret->undercounts = sum.under;
}
