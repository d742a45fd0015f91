/* plan_measure - the layouts' times on this machine, for `gillnet plan --measure`. */
#include <math.h>
#include <sys/mman.h>

#include "core/base/clock.h"
#include "core/base/pages.h"
#include "core/base/random.h"
#include "core/lab/cuckoo.h"
#include "core/lab/plan_command.h"

enum {
    CHUNK = 8192,              /* digests made at once, outside the time */
    KEYS_MAX = 128 * CHUNK,    /* added and sought in one run */
    LEAST_BYTES = 1024 * 1024, /* room for another CHUNK keys */
    BYTES_PER_KEY = 16,        /* so that a run changes little of the contents */
    RUNS = 3,                  /* the fastest counts, because disturbance only adds */
    HUGE_PAGE = 2 * 1024 * 1024
};

/* The mean over a fill to its planned load, by the cost at half of it, where nobody has to move
 * yet: measured, ADR 0018. */
static const double cuckoo_fill = 1.75;

struct bench {
    enum layout layout;
    struct bloom bloom;
    struct cuckoo cuckoo;
    uint64_t *words;
    uint64_t nwords;
    uint64_t nkeys; /* of a run: whole chunks */
    struct digest digests[CHUNK];
    uint8_t hits[CHUNK];
};

enum act { ADD, TEST };

static uint64_t split_mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

static void make_digests(struct bench *b, uint64_t first)
{
    for (uint64_t i = 0; i < CHUNK; i++) {
        uint64_t half[2] = {split_mix(first + i), split_mix(~(first + i))};
        memcpy(b->digests[i].b, half, sizeof(half));
    }
}

/* A filled Bloom filter has half of its bits set, a cuckoo filter half of its places taken when
 * the middle one of its keys comes. */
static void fill(const struct bench *b)
{
    const uint64_t lane = 0xffff;

    for (uint64_t i = 0; i < b->nwords; i++) {
        uint64_t word = split_mix(i);
        if (b->layout == LAYOUT_CUCKOO) {
            uint64_t two_of_four =
                word >> 63 != 0 ? lane | lane << 32 : lane << 16 | lane << 48;
            word &= two_of_four;
        }
        b->words[i] = word;
    }
}

static void act_on(struct bench *b, enum act act)
{
    if (b->layout != LAYOUT_CUCKOO) {
        if (act == ADD) {
            bloom_add_batch(&b->bloom, b->digests, CHUNK);
        } else {
            bloom_test_batch(&b->bloom, b->digests, CHUNK, b->hits);
        }
        return;
    }
    if (act == TEST) {
        cuckoo_test_batch(&b->cuckoo, b->digests, CHUNK, b->hits);
        return;
    }
    size_t added = 0;
    (void)cuckoo_add_batch(&b->cuckoo, b->digests, CHUNK, &added);
}

/* Nanoseconds a key. */
static double time_keys(struct bench *b, enum act act, uint64_t first)
{
    uint64_t us = 0;

    for (uint64_t done = 0; done < b->nkeys; done += CHUNK) {
        uint64_t start = 0;
        make_digests(b, first + done);
        start = clock_cpu_us();
        act_on(b, act);
        us += clock_cpu_us() - start;
    }
    return (double)us * 1000 / (double)b->nkeys;
}

static void time_runs(struct bench *b, struct layout_time *ret)
{
    *ret = (struct layout_time){HUGE_VAL, HUGE_VAL, HUGE_VAL};
    for (uint64_t run = 0; run < RUNS; run++) {
        uint64_t added = run * 2 * KEYS_MAX;
        fill(b);
        ret->add_ns = fmin(ret->add_ns, time_keys(b, ADD, added));
        ret->hit_ns = fmin(ret->hit_ns, time_keys(b, TEST, added));
        ret->miss_ns = fmin(ret->miss_ns, time_keys(b, TEST, added + KEYS_MAX));
    }
}

static void scale(const struct layout_size *wanted, const struct layout_size *measured,
                  struct layout_time *t)
{
    struct layout_time far;
    struct layout_time near;

    layout_time(wanted, &far);
    layout_time(measured, &near);
    t->miss_ns *= far.miss_ns / near.miss_ns;
    t->hit_ns *= far.hit_ns / near.hit_ns;
    t->add_ns *= far.add_ns / near.add_ns;
}

/* Memory for the filter; NULL without. */
static uint64_t *map_words(uint64_t bytes)
{
    void *p = pages_new(bytes);
    if (p != NULL && bytes >= HUGE_PAGE) {
        (void)madvise(p, bytes, MADV_HUGEPAGE); /* as filters are held */
    }
    return p;
}

static void prepare(struct bench *b, const struct layout_size *size, uint64_t bytes)
{
    struct hashkey key = {0};
    uint64_t keys = bytes / BYTES_PER_KEY;

    random_bytes(key.bytes, sizeof(key.bytes));
    b->nwords = bytes / sizeof(*b->words);
    b->nkeys = (keys < KEYS_MAX ? keys : KEYS_MAX) / CHUNK * CHUNK;
    b->bloom = (struct bloom){.words = b->words,
                              .nlines = bytes / BLOOM_LINE_BYTES,
                              .layout = (enum bloom_layout)size->layout,
                              .k = size->k};
    b->cuckoo =
        (struct cuckoo){.buckets = b->words, .nbuckets = bytes / CUCKOO_BUCKET_BYTES};
    bloom_key(&b->bloom, &key);
    cuckoo_key(&b->cuckoo, &key);
}

enum err planning_measure(const struct layout_size *size, uint64_t most_bytes,
                          struct layout_time *ret, struct errinfo *reterr)
{
    struct layout_size measured = *size;
    struct bench b = {.layout = size->layout};

    if (measured.bytes > most_bytes) {
        measured.bytes = most_bytes;
    }
    if (measured.bytes < LEAST_BYTES) {
        measured.bytes = LEAST_BYTES;
    }
    b.words = map_words(measured.bytes);
    if (b.words == NULL) {
        return errinfo_errno(reterr, "",
                             "no memory to measure in; leave --measure out");
    }
    prepare(&b, size, measured.bytes);
    time_runs(&b, ret);
    if (size->layout == LAYOUT_CUCKOO) {
        ret->add_ns *= cuckoo_fill;
    }
    if (size->bytes > measured.bytes) {
        scale(size, &measured, ret);
    }
    pages_free(b.words, measured.bytes);
    return ERR_OK;
}
