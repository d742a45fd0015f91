/*
 * filter_build - adds all keys of a subject, on one thread or on several that deal to each other.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "core/base/clock.h"
#include "core/filter/bloom.h"
#include "core/lab/bloom_split.h"

#include "tests/bench/filter_subject.h"

enum {
    CHUNK = 4096,
    DEAL = 1 << 15,     /* keys a thread deals in a round */
    DEAL_STEP = 1 << 10 /* computed at a time */
};
#define HUGE_BYTES ((uint64_t)2 << 20)

/* The keys that each thread passed to each other thread. Two sets are used in turn, so that no
 * thread fills a set that another thread still reads. */
struct exchange {
    pthread_barrier_t met;
    struct {
        struct digest *dealt[BLOOM_PARTS_MAX]; /* to whom */
        size_t count[BLOOM_PARTS_MAX];
    } sets[2][BLOOM_PARTS_MAX]; /* by whom */
};

struct builder {
    struct subject *s;
    struct exchange *exchange;
    unsigned number;
    unsigned builders;
    double cpu_s;
};

void *bench_must(void *p, const char *what)
{
    if (!p || p == MAP_FAILED) {
        perror(what);
        exit(1); /* NOLINT(concurrency-mt-unsafe): nothing is to be saved */
    }
    return p;
}

void *bench_memory(uint64_t bytes)
{
    size_t room = bytes + HUGE_BYTES;
    void *p =
        /* cppcheck-suppress invalidFunctionArg ; -1 is what anonymous memory takes */
        mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint8_t *start = bench_must(p, "memory for a filter");
    start += (HUGE_BYTES - (uintptr_t)p % HUGE_BYTES) % HUGE_BYTES;
    (void)madvise(start, bytes, MADV_HUGEPAGE);
    return start;
}

static void keys_of(uint64_t first, size_t n, struct digest *ret)
{
    for (size_t i = 0; i < n; i++) {
        ret[i] = key_number(PRESENT, first + i);
    }
}

static void build_alone(struct builder *t)
{
    struct digest d[CHUNK];
    uint64_t start = clock_cpu_us();
    for (uint64_t done = 0; done < t->s->keys; done += CHUNK) {
        uint64_t left = t->s->keys - done;
        size_t n = left < CHUNK ? (size_t)left : CHUNK;
        keys_of(done, n, d);
        t->s->add(t->s, d, n);
    }
    t->cpu_s = (double)(clock_cpu_us() - start) / 1e6;
}

/* In rounds: deals a chunk of its own to the owners of the lines, then adds what all have dealt
 * to it. */
static void *build_part(void *data)
{
    struct builder *t = data;
    struct exchange *x = t->exchange;
    struct bloom b = *(struct bloom *)t->s->own;
    struct digest d[DEAL_STEP];
    uint64_t first = bloom_part_first(&b, t->number, t->builders);
    uint64_t end = bloom_part_first(&b, t->number + 1, t->builders);
    uint64_t start = clock_cpu_us();
    uint64_t all = (uint64_t)DEAL * t->builders;
    unsigned set = 0;
    for (uint64_t done = 0; done < t->s->keys; done += all, set ^= 1) {
        uint64_t from = done + (uint64_t)t->number * DEAL;
        uint64_t left = from < t->s->keys ? t->s->keys - from : 0;
        size_t n = left < DEAL ? (size_t)left : DEAL;
        memset(x->sets[set][t->number].count, 0, sizeof(size_t) * t->builders);
        for (size_t at = 0; at < n; at += DEAL_STEP) {
            size_t step = n - at < DEAL_STEP ? n - at : DEAL_STEP;
            keys_of(from + at, step, d);
            bloom_split(&b, d, step, t->builders, x->sets[set][t->number].dealt,
                        x->sets[set][t->number].count);
        }
        (void)pthread_barrier_wait(&x->met);
        for (unsigned by = 0; by < t->builders; by++) {
            bloom_add_range(&b, x->sets[set][by].dealt[t->number],
                            x->sets[set][by].count[t->number], first, end);
        }
    }
    t->cpu_s = (double)(clock_cpu_us() - start) / 1e6;
    return NULL;
}

static void build_together(struct builder *all, unsigned n)
{
    pthread_t ids[BLOOM_PARTS_MAX];
    struct exchange *x = bench_must(calloc(1, sizeof(*x)), "memory for an exchange");
    size_t room = sizeof(struct digest) * DEAL;
    size_t rooms = (size_t)2 * n * n;
    uint8_t *pool = bench_memory(room * rooms);
    (void)pthread_barrier_init(&x->met, NULL, n);
    for (size_t i = 0; i < rooms; i++) {
        x->sets[i % 2][i / 2 / n].dealt[i / 2 % n] = (void *)(pool + i * room);
    }
    for (unsigned i = 0; i < n; i++) {
        all[i].exchange = x;
        if (pthread_create(&ids[i], NULL, build_part, &all[i]) != 0) {
            (void)bench_must(NULL, "a thread");
        }
    }
    for (unsigned i = 0; i < n; i++) {
        (void)pthread_join(ids[i], NULL);
    }
    (void)pthread_barrier_destroy(&x->met);
    (void)munmap(pool, room * rooms);
    free(x);
}

double subject_build(struct subject *s, unsigned threads, double *retcpu_s)
{
    struct builder all[BLOOM_PARTS_MAX] = {0};
    uint64_t start = clock_mono_us();
    for (unsigned i = 0; i < threads; i++) {
        all[i] = (struct builder){.s = s, .number = i, .builders = threads};
    }
    if (threads == 1) {
        build_alone(&all[0]);
    } else {
        build_together(all, threads);
    }
    *retcpu_s = 0;
    for (unsigned i = 0; i < threads; i++) {
        *retcpu_s = fmax(*retcpu_s, all[i].cpu_s);
    }
    return (double)(clock_mono_us() - start) / 1e6;
}
