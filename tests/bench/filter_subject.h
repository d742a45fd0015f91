/*
 * filter_subject - interface of the structures that bench_filter measures.
 *
 * The keys are digests number i of a stream, computed when needed and never stored.
 * Threads: one that adds, test from any.   Owns: its memory, until fini.
 */
#ifndef TESTS_BENCH_FILTER_SUBJECT_H
#define TESTS_BENCH_FILTER_SUBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/base/digest.h"

struct subject {
    const char *name;
    uint64_t keys;
    const void *memory; /* that a look-up reads at random, 64-byte aligned or nearly */
    uint64_t bytes;
    uint64_t refused; /* keys that it would not take */
    double formula;   /* expected share of false answers; below 0: it has none */
    unsigned k;       /* probes, or 0 */
    bool can_divide;  /* more than one thread may build it */
    void *own;
    void (*add)(struct subject *s, const struct digest *d, size_t n);
    void (*test)(const struct subject *s, const struct digest *d, size_t n,
                 uint8_t *rethit);
    void (*fini)(struct subject *s);
};

/* False: not installed, or it cannot hold `keys` keys; the reason is on stderr. */
bool subject_libbloom(struct subject *s, uint64_t keys, double error);

/* False: it cannot hold `keys` keys. */
bool subject_cuckoo(struct subject *s, uint64_t keys, const struct hashkey *key);

/* Adds all keys; returns the seconds that pass, and the longest CPU time of a thread. */
double subject_build(struct subject *s, unsigned threads, double *retcpu_s);

/* p, or the end of the program when it is NULL or MAP_FAILED. */
void *bench_must(void *p, const char *what);
/* Zeroed, in huge pages where the system gives them; ends the program where there is none. */
void *bench_memory(uint64_t bytes);

static inline uint64_t split_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

enum {
    STREAM_BITS = 40, /* 2^40 keys in a stream */
    PRESENT = 1       /* the stream of keys that are added */
};

static inline struct digest key_number(uint64_t stream, uint64_t i)
{
    uint64_t at = (stream << STREAM_BITS | i) * 2;
    uint64_t half[2] = {split_mix(at), split_mix(at + 1)};
    struct digest d;
    memcpy(d.b, half, sizeof(half));
    return d;
}

#endif
