/*
 * milterload - options and fatal errors, for all parts of the load generator.
 *
 * Threads: options are written before the first worker starts.
 */
#ifndef TESTS_BENCH_MILTERLOAD_H
#define TESTS_BENCH_MILTERLOAD_H

#include <stdbool.h>
#include <stddef.h>

struct load_options {
    const char *target, *dir, *client, *pids, *log;
    long conns, total, per_conn, warmup, max_size, chunk, timeout;
    double rate;
    bool quiet;
};
extern struct load_options opt;

/* Says why on standard error and ends the program with 2. */
__attribute__((format(printf, 1, 2), noreturn)) void die(const char *fmt, ...);

/* realloc that gives up instead of returning NULL. */
void *grow(void *p, size_t n);

#endif
