/*
 * bench_table - the filters beside what they replace: a chained hash table of whole signatures.
 *
 * Usage: bench_table [KEYS]   (default 10000000). One JSON line. Workload: KEYS random 20-byte
 * signatures (a SHA-1 each), generated in chunks outside the time and never stored elsewhere;
 * look-ups in random order over the whole memory, of signatures inside and of others, one thread;
 * CPU time. The table has a bucket a key, nodes of next and signature in one array (no allocator's
 * overhead), and batches that prefetch the bucket, then its first node. Beside it the layout that
 * gillnet builds by itself, sized for 0.1 %, and a cuckoo filter, both from the first 16 bytes of
 * the same signatures. All memory asks for huge pages. The fastest of RUNS counts.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/base/version.h"
#include "core/lab/cuckoo.h"
#include "core/lab/layout.h"

enum { KEYS = 10000000, CHUNK = 8192, RUNS = 5, LOOKUPS = 512 * CHUNK, BATCH = 32 };
enum { SIGNATURE_BYTES = 20 };
#define KEYS_MOST UINT64_C(1000000000)

struct signature {
    uint8_t b[SIGNATURE_BYTES];
};

struct node {
    uint32_t next; /* index + 1; 0: the last */
    struct signature signature;
};

struct table {
    uint32_t *buckets; /* index + 1 of the first node */
    struct node *nodes;
    uint64_t nbuckets;
    uint32_t count;
};

struct bench {
    struct table table;
    struct bloom bloom;
    struct cuckoo cuckoo;
    struct signature chunk[CHUNK];
    struct digest digests[CHUNK];
    uint8_t hits[CHUNK];
    uint64_t hit_count;
};

typedef void act_fn(struct bench *b);

/* ---- the table ---- */

static uint64_t bucket_of(const struct table *t, const struct signature *s)
{
    uint64_t head = 0;
    memcpy(&head, s->b, sizeof(head));
    __extension__ unsigned __int128 p = head;
    return (uint64_t)(p * t->nbuckets >> 64);
}

static void table_add(struct bench *b)
{
    struct table *t = &b->table;
    for (unsigned from = 0; from < CHUNK; from += BATCH) {
        uint64_t at[BATCH];
        for (unsigned i = 0; i < BATCH; i++) {
            at[i] = bucket_of(t, &b->chunk[from + i]);
            __builtin_prefetch(&t->buckets[at[i]], 1);
        }
        for (unsigned i = 0; i < BATCH; i++) {
            struct node *n = &t->nodes[t->count++];
            n->signature = b->chunk[from + i];
            n->next = t->buckets[at[i]];
            t->buckets[at[i]] = t->count;
        }
    }
}

static uint8_t table_has(const struct table *t, uint32_t at, const struct signature *s)
{
    while (at != 0) {
        const struct node *n = &t->nodes[at - 1];
        if (memcmp(n->signature.b, s->b, SIGNATURE_BYTES) == 0) {
            return 1;
        }
        at = n->next;
    }
    return 0;
}

static void table_test(struct bench *b)
{
    const struct table *t = &b->table;
    for (unsigned from = 0; from < CHUNK; from += BATCH) {
        uint64_t at[BATCH];
        uint32_t first[BATCH];
        for (unsigned i = 0; i < BATCH; i++) {
            at[i] = bucket_of(t, &b->chunk[from + i]);
            __builtin_prefetch(&t->buckets[at[i]]);
        }
        for (unsigned i = 0; i < BATCH; i++) {
            first[i] = t->buckets[at[i]];
            if (first[i] != 0) {
                __builtin_prefetch(&t->nodes[first[i] - 1]);
            }
        }
        for (unsigned i = 0; i < BATCH; i++) {
            b->hits[from + i] = table_has(t, first[i], &b->chunk[from + i]);
        }
    }
}

/* ---- the filters ---- */

static void bloom_adds(struct bench *b)
{
    bloom_add_batch(&b->bloom, b->digests, CHUNK);
}

static void bloom_tests(struct bench *b)
{
    bloom_test_batch(&b->bloom, b->digests, CHUNK, b->hits);
}

static void cuckoo_adds(struct bench *b)
{
    size_t added = 0;
    if (cuckoo_add_batch(&b->cuckoo, b->digests, CHUNK, &added) != ERR_OK) {
        (void)fputs("bench_table: the cuckoo filter is full\n", stderr);
        exit(1);
    }
}

static void cuckoo_tests(struct bench *b)
{
    cuckoo_test_batch(&b->cuckoo, b->digests, CHUNK, b->hits);
}

/* ---- the run ---- */

static uint64_t mixed(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

static void make_signature(struct bench *b, unsigned at, uint64_t number)
{
    uint64_t words[3] = {mixed(number), mixed(~number), mixed(number ^ 0x5555555555)};
    memcpy(b->chunk[at].b, words, SIGNATURE_BYTES);
    memcpy(b->digests[at].b, words, DIGEST_BYTES);
}

static void *map(uint64_t bytes)
{
    void *p =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        perror("bench_table: memory");
        exit(1);
    }
    (void)madvise(p, bytes, MADV_HUGEPAGE);
    memset(p, 0, bytes);
    return p;
}

static double time_adds(struct bench *b, uint64_t keys, act_fn *act)
{
    uint64_t us = 0;
    for (uint64_t done = 0; done < keys; done += CHUNK) {
        for (unsigned i = 0; i < CHUNK; i++) {
            make_signature(b, i, done + i);
        }
        uint64_t start = clock_cpu_us();
        act(b);
        us += clock_cpu_us() - start;
    }
    return (double)us * 1000 / (double)keys;
}

/* Looks up random numbers from `first` on. b->hit_count has the hits of the last run. */
static double time_tests(struct bench *b, uint64_t keys, uint64_t first, act_fn *act)
{
    double least = HUGE_VAL;
    for (uint64_t run = 0; run < RUNS; run++) {
        uint64_t us = 0;
        b->hit_count = 0;
        for (uint64_t done = 0; done < LOOKUPS; done += CHUNK) {
            for (unsigned i = 0; i < CHUNK; i++) {
                make_signature(b, i, first + mixed(run * LOOKUPS + done + i) % keys);
            }
            uint64_t start = clock_cpu_us();
            act(b);
            us += clock_cpu_us() - start;
            for (unsigned i = 0; i < CHUNK; i++) {
                b->hit_count += b->hits[i];
            }
        }
        least = fmin(least, (double)us * 1000 / LOOKUPS);
    }
    return least;
}

static void report(struct bench *b, uint64_t keys, const char *name, uint64_t bytes,
                   act_fn *const acts[2])
{
    double add = time_adds(b, keys, acts[0]);
    double hit = time_tests(b, keys, 0, acts[1]);
    uint64_t found = b->hit_count;
    double miss = time_tests(b, keys, UINT64_C(1) << 40, acts[1]);
    if (found != LOOKUPS) {
        (void)fprintf(stderr, "bench_table: %s lost %" PRIu64 " keys\n", name,
                      LOOKUPS - found);
        exit(1);
    }
    printf(", \"%s\": {\"bytes\": %" PRIu64 ", \"bytes_per_key\": %.3f, "
           "\"add_ns\": %.2f, \"hit_ns\": %.2f, \"miss_ns\": %.2f, \"fpr\": %.7f}",
           name, bytes, (double)bytes / (double)keys, add, hit, miss,
           (double)b->hit_count / LOOKUPS);
}

static void bench_table(struct bench *b, uint64_t keys)
{
    static act_fn *const acts[2] = {table_add, table_test};
    uint64_t bytes = keys * (sizeof(*b->table.buckets) + sizeof(*b->table.nodes));
    b->table.nbuckets = keys;
    b->table.buckets = map(keys * sizeof(*b->table.buckets));
    b->table.nodes = map(keys * sizeof(*b->table.nodes));
    report(b, keys, "table", bytes, acts);
    (void)munmap(b->table.buckets, keys * sizeof(*b->table.buckets));
    (void)munmap(b->table.nodes, keys * sizeof(*b->table.nodes));
}

static void bench_filter(struct bench *b, uint64_t keys, enum layout layout)
{
    static act_fn *const acts[2] = {bloom_adds, bloom_tests};
    static act_fn *const cuckoo_acts[2] = {cuckoo_adds, cuckoo_tests};
    static const struct hashkey key = {.id = 1, .bytes = "bench_table key"};
    struct layout_wish wish = {.items = keys, .error = 0.001};
    struct layout_size size;
    if (layout_plan(layout, &wish, &size, NULL) != ERR_OK) {
        (void)fputs("bench_table: no such filter\n", stderr);
        exit(1);
    }
    uint64_t *words = map(size.bytes);
    b->bloom = (struct bloom){.words = words,
                              .nlines = size.bytes / BLOOM_LINE_BYTES,
                              .layout = (enum bloom_layout)layout,
                              .k = size.k};
    b->cuckoo =
        (struct cuckoo){.buckets = words, .nbuckets = size.bytes / CUCKOO_BUCKET_BYTES};
    bloom_key(&b->bloom, &key);
    cuckoo_key(&b->cuckoo, &key);
    report(b, keys, layout_name(layout), size.bytes,
           layout == LAYOUT_CUCKOO ? cuckoo_acts : acts);
    (void)munmap(words, size.bytes);
}

int main(int argc, char **argv)
{
    static struct bench b;
    struct utsname u;
    uint64_t keys = argc > 1 ? strtoull(argv[1], NULL, 10) : KEYS;
    if (argc > 2 || keys < CHUNK || keys > KEYS_MOST) {
        (void)fprintf(stderr, "usage: bench_table [KEYS]   %d to %" PRIu64 "\n", CHUNK,
                      KEYS_MOST);
        return 64;
    }
    if (base_init() != ERR_OK || uname(&u) != 0) {
        return 1;
    }
    keys -= keys % CHUNK;
    printf(
        "{\"workload\": \"20-byte signatures, random look-ups, one thread, batches of "
        "%d\", \"build\": \"" GILLNET_VERSION " %s\", \"machine\": \"%s %s\", "
        "\"keys\": %" PRIu64,
        BATCH, __VERSION__, u.machine, u.release, keys);
    bench_table(&b, keys);
    bench_filter(&b, keys, LAYOUT_ONE_LINE);
    bench_filter(&b, keys, LAYOUT_CUCKOO);
    printf("}\n");
    return 0;
}
