/*
 * bench_count - the cases of bench_count: each measures one way to count and prints JSON lines.
 *
 * A case is a function of the options and a row in the table of bench_count.c; it calls
 * bench_print for each line. bench_rounds gives the rates: all threads wait for each other before
 * each round, whose keys are ready, and the median round of the slowest thread counts.
 * Threads: bench_rounds calls use from its threads, nothing else is shared.
 */
#ifndef TESTS_BENCH_BENCH_COUNT_H
#define TESTS_BENCH_BENCH_COUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/digest.h"
#include "core/count/traffic.h"

enum {
    BENCH_ROUND = 800 * TRAFFIC_KEYS,
    BENCH_THREADS_MAX = 64,
    BENCH_WORKLOAD_MAX = 512
};

struct bench_options {
    uint64_t keys;     /* different keys of the whole run */
    unsigned threads;  /* 0: 1 and then 2 */
    const char *redis; /* redis-server, or NULL: seek it */
};

/* One line. A share below 0 was not measured: null. */
struct bench_line {
    const char *name;
    double keys_per_s;
    double cpu_keys_per_s; /* by the CPU time of the slowest thread; 0: not told */
    unsigned threads;
    double wrong_share; /* of the different keys, those whose count is not the truth */
    double false_ge10_share;           /* that read 10 or more with a truth below */
    uint64_t undercounts;              /* that read less than the truth */
    char workload[BENCH_WORKLOAD_MAX]; /* what the figures are of, in words */
};

struct bench_case {
    const char *name;
    void (*run)(const struct bench_options *o, const char *name);
};

void bench_print(const struct bench_line *line);

/* Memory, or the end of the program with a message. */
void *bench_zeroed(
    uint64_t bytes); /* in huge pages where there are any; never freed alone */
void bench_release(void *memory, uint64_t bytes);
_Noreturn void bench_fail(const char *what);

/* The same traffic for every case: a fortnight in which about `keys` different keys come. */
struct bench_traffic {
    uint64_t messages_per_day;
    uint64_t additions; /* of all keys together */
    uint64_t nranks;
};
struct bench_traffic bench_traffic_of(uint64_t keys);

/* Counts n ready keys; numbers are those of the traffic. thread: 0.. */
typedef void (*bench_use_fn)(void *own, unsigned thread, const struct digest *d,
                             const uint64_t *numbers, size_t n);

/* The true counts: ranks has the count of each rank; first occurrences count once. */
struct bench_truth {
    double cpu_keys_per_s; /* the rate by CPU time, as on an otherwise idle machine */
    uint64_t nranks;
    uint32_t *ranks; /* nranks + 1; the first is unused */
    unsigned threads;
    uint64_t first[BENCH_THREADS_MAX]; /* of each thread: the numbers from first.. */
    uint64_t after[BENCH_THREADS_MAX]; /* ..to after - 1 */
};

/* The whole traffic on `threads` threads; returns keys/s. is_hot: as many more additions to one key
 * (rank 1). */
double bench_rounds(const struct bench_traffic *t, unsigned threads, bool is_hot,
                    bench_use_fn use, void *own, struct bench_truth *rettruth);

/* Reads n counts. */
typedef void (*bench_get_fn)(void *own, const struct digest *d, size_t n,
                             uint64_t *ret);
/* Compares the counts of all different keys with the truth and fills the shares of the line. cap:
 * the highest count of the structure; the truth is cut there. */
void bench_compare(const struct bench_truth *truth, bench_get_fn get, void *own,
                   uint64_t cap, struct bench_line *ret);
void bench_truth_fini(struct bench_truth *truth);

/* Cases: count_flat.c, count_redis.c, count_windows.c. */
void bench_flat(const struct bench_options *o, const char *name);
void bench_split(const struct bench_options *o, const char *name);
void bench_windows(const struct bench_options *o, const char *name);
void bench_redis(const struct bench_options *o, const char *name);

#endif
