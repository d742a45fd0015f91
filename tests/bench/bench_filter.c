/*
 * bench_filter - the layouts of core/filter and Debian's libbloom beside a plain random read.
 *
 * Usage: bench_filter [--keys N] [--threads T] [--layout NAME] [--bits B]     one JSON line each
 *        bench_filter --growth [--threads T]                 one line for each number of keys
 * Workload: N keys (default 100 million) are digest number 0..N-1 of a stream, computed when
 * needed.
 *   build_s    time to compute and add them, on T threads that pass keys to each other by their
 *              lines. It is the longest CPU time of a thread; on an idle machine this is the
 *              elapsed time, which workload also has
 *   fpr        over at least 32 million absent keys
 *   miss_ns, hit_ns  one look-up from ready digests, in batches of 32
 *   read_ns    the same loop reads 8 bytes at the address of a key's first line, in the same memory
 *   digest_ns  the 128-bit digest of a URL of 60 bytes, on a line of its own
 * The three loops take turns in rounds of 2^16, and the median round is taken. With T threads it is
 * the time over the look-ups of all. Every 1,000th key is checked after the build; exit status 1 if
 * one is missing. One thread builds libbloom and cuckoo. libbloom allocates its own memory; the
 * others are in huge pages if the system has them. From 300 million keys on, classic, partitioned
 * and cuckoo run only if --layout names them.
 */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/version.h"
#include "core/filter/bloom_vector.h"
#include "core/filter/mix.h"
#include "core/lab/bloom_split.h"

#include "tests/bench/filter_subject.h"

enum {
    ROUND = 1 << 16,
    ROUNDS = 251,
    CHECK_EVERY = 1000,
    FPR_KEYS = 32 << 20,
    URLS = 4096,
    URL_BYTES = 60,
    ABSENT = PRESENT + 1,
    READ = ABSENT + 1
};
#define KEYS_DEFAULT    UINT64_C(100000000)
#define SPREAD_KEYS_MAX UINT64_C(300000000)
#define HUGE_BYTES      ((uint64_t)2 << 20)
#define LIBBLOOM_ERROR  0.001

static const struct hashkey bench_key = {.id = 1, .bytes = "bench of filter"};

struct measured {
    double build_s; /* CPU time of the slowest thread */
    double passed_s;
    double fpr;
    double miss_ns;
    double hit_ns;
    double read_ns;
    uint64_t checked;
    uint64_t missing;
};

enum phase { PHASE_MISS, PHASE_HIT, PHASE_READ, PHASES };

/* Threads wait here for each other. They spin, because a sleeping thread wakes too late for a short
 * round. arrived only grows. A relaxed order would suffice, because no other data is passed on. */
struct line_up {
    _Atomic uint64_t arrived;
    unsigned threads;
};

/* One thread of a run. */
struct worker {
    struct subject *s;
    struct line_up *line_up;
    unsigned number;
    unsigned workers;
    uint64_t sum; /* of what was read: keeps the reads */
    uint64_t false_hits;
    uint64_t lost;
    uint64_t asked;
    uint64_t waits;
    double ns[PHASES][ROUNDS]; /* this thread's time for a round */
};

static double now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void wait_for_all(struct worker *w)
{
    w->line_up->arrived++;
    w->waits++;
    while (w->line_up->arrived < w->waits * w->line_up->threads) {
        (void)sched_yield();
    }
}

static void bloom_subject_add(struct subject *s, const struct digest *d, size_t n)
{
    bloom_add_batch(s->own, d, n);
}

static void bloom_subject_test(const struct subject *s, const struct digest *d,
                               size_t n, uint8_t *rethit)
{
    bloom_test_batch(s->own, d, n, rethit);
}

static void bloom_subject_fini(struct subject *s)
{
    struct bloom *b = s->own;
    (void)munmap(b->words, s->bytes);
    free(b);
}

static struct subject subject_bloom(enum bloom_layout layout, uint64_t keys,
                                    uint64_t nlines, unsigned k)
{
    struct bloom *b = bench_must(calloc(1, sizeof(*b)), "memory for a filter");
    uint64_t bytes = nlines * BLOOM_LINE_BYTES;
    *b = (struct bloom){
        .words = bench_memory(bytes), .nlines = nlines, .layout = layout, .k = k};
    bloom_key(b, &bench_key);
    return (struct subject){
        .name = bloom_layout_name(layout),
        .keys = keys,
        .memory = b->words,
        .bytes = bytes,
        .formula = bloom_error(layout, nlines, k, keys),
        .k = k,
        .can_divide = true,
        .own = b,
        .add = bloom_subject_add,
        .test = bloom_subject_test,
        .fini = bloom_subject_fini,
    };
}

/* Reads where a look-up would begin, a batch on its way at any time as with look-ups. */
static uint64_t read_round(const struct bloom *lines, const struct digest *d, size_t n)
{
    const struct bloom shape = *lines;
    uint64_t ring[BLOOM_BATCH];
    uint64_t sum = 0;
    for (size_t i = 0; i < n + BLOOM_BATCH; i++) {
        if (i >= BLOOM_BATCH) {
            sum += shape.words[ring[i % BLOOM_BATCH]];
        }
        if (i < n) {
            ring[i % BLOOM_BATCH] = bloom_probe_of(&shape, &d[i]).word;
            __builtin_prefetch(shape.words + ring[i % BLOOM_BATCH]);
        }
    }
    return sum;
}

/* The subject's memory as lines, for the addresses of plain reads. */
static struct bloom lines_of(const struct subject *s)
{
    uintptr_t start = (uintptr_t)s->memory;
    size_t skip = (BLOOM_LINE_BYTES - start % BLOOM_LINE_BYTES) % BLOOM_LINE_BYTES;
    union {
        const void *is_const;
        uint64_t *words;
    } at = {(const uint8_t *)s->memory + skip};
    struct bloom b = {.words = at.words,
                      .nlines = (s->bytes - skip) / BLOOM_LINE_BYTES,
                      .layout = BLOOM_ONE_LINE,
                      .k = 1};
    bloom_key(&b, &bench_key);
    return b;
}

static uint64_t count_hits(const uint8_t *hit, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += hit[i];
    }
    return sum;
}

static void digests_of(const struct worker *w, enum phase phase, unsigned round,
                       struct digest *ret)
{
    uint64_t base = ((uint64_t)w->number * ROUNDS + round) * ROUND;
    for (uint64_t i = 0; i < ROUND; i++) {
        switch (phase) {
        case PHASE_MISS:
            ret[i] = key_number(ABSENT, base + i);
            break;
        case PHASE_HIT: /* any of them, in no order */
            ret[i] = key_number(PRESENT, mix_scale(split_mix(base + i), w->s->keys));
            break;
        case PHASE_READ:
        case PHASES:
            ret[i] = key_number(READ, base + i);
            break;
        }
    }
}

static void *look_part(void *data)
{
    struct worker *w = data;
    struct digest *d = bench_must(malloc(sizeof(*d) * ROUND), "memory for digests");
    uint8_t *hit = bench_must(malloc(ROUND), "memory for answers");
    struct bloom lines = lines_of(w->s);
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned phase = 0; phase < PHASES; phase++) {
            digests_of(w, phase, round, d);
            wait_for_all(w);
            double start = now_ns();
            if (phase == PHASE_READ) {
                w->sum += read_round(&lines, d, ROUND);
            } else {
                w->s->test(w->s, d, ROUND, hit);
            }
            w->ns[phase][round] = now_ns() - start;
            if (phase == PHASE_MISS) {
                w->false_hits += count_hits(hit, ROUND);
                w->asked += ROUND;
            } else if (phase == PHASE_HIT) {
                w->lost += ROUND - count_hits(hit, ROUND);
            }
        }
    }
    /* the rest for a steady share of false answers, untimed */
    for (uint64_t i = 0; w->asked * w->workers < FPR_KEYS; i += ROUND) {
        for (uint64_t j = 0; j < ROUND; j++) {
            d[j] = key_number(ABSENT + 2 + w->number, i + j);
        }
        w->s->test(w->s, d, ROUND, hit);
        w->false_hits += count_hits(hit, ROUND);
        w->asked += ROUND;
    }
    free(hit);
    free(d);
    return NULL;
}

static void run(struct worker *workers, unsigned n, void *(*what)(void *))
{
    pthread_t ids[BLOOM_PARTS_MAX];
    struct line_up line_up = {.threads = n};
    for (unsigned i = 0; i < n; i++) {
        workers[i].line_up = &line_up;
        workers[i].waits = 0;
        workers[i].number = i;
        workers[i].workers = n;
        if (pthread_create(&ids[i], NULL, what, &workers[i]) != 0) {
            bench_must(NULL, "a thread");
        }
    }
    for (unsigned i = 0; i < n; i++) {
        (void)pthread_join(ids[i], NULL);
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median round, of the slowest thread in each, for one look-up of all threads. */
static double round_ns(const struct worker *workers, unsigned n, enum phase phase)
{
    double slowest[ROUNDS] = {0};
    for (unsigned i = 0; i < ROUNDS; i++) {
        for (unsigned w = 0; w < n; w++) {
            slowest[i] = fmax(slowest[i], workers[w].ns[phase][i]);
        }
    }
    qsort(slowest, ROUNDS, sizeof(slowest[0]), by_value);
    return slowest[ROUNDS / 2] / ROUND / n;
}

static void check_keys(const struct subject *s, struct measured *m)
{
    for (uint64_t i = 0; i < s->keys; i += CHECK_EVERY) {
        struct digest d = key_number(PRESENT, i);
        uint8_t hit = 0;
        s->test(s, &d, 1, &hit);
        m->checked++;
        m->missing += hit ? 0 : 1;
    }
}

static struct measured measure(struct subject *s, unsigned threads)
{
    static struct worker workers[BLOOM_PARTS_MAX];
    struct measured m = {.missing = 0};
    memset(workers, 0, sizeof(workers));
    for (unsigned i = 0; i < threads; i++) {
        workers[i].s = s;
    }
    m.passed_s = subject_build(s, s->can_divide ? threads : 1, &m.build_s);
    run(workers, threads, look_part);
    uint64_t asked = 0;
    uint64_t hits = 0;
    for (unsigned i = 0; i < threads; i++) {
        asked += workers[i].asked;
        hits += workers[i].false_hits;
        m.missing += workers[i].lost;
    }
    m.fpr = (double)hits / (double)asked;
    m.miss_ns = round_ns(workers, threads, PHASE_MISS);
    m.hit_ns = round_ns(workers, threads, PHASE_HIT);
    m.read_ns = round_ns(workers, threads, PHASE_READ);
    check_keys(s, &m);
    return m;
}

static void print_machine(void)
{
    char line[256];
    char name[128] = "unknown";
    FILE *f = fopen("/proc/cpuinfo", "re");
    while (f && fgets(line, sizeof(line), f)) {
        if (sscanf(line, "model name : %127[^\n\"\\]", name) == 1) {
            break;
        }
    }
    if (f) {
        (void)fclose(f);
    }
    double load = 0;
    (void)getloadavg(&load, 1);
    printf("\"build\":\"" GILLNET_VERSION " " __VERSION__ " %s\",\"machine\":\"%s, %ld "
           "cpus, load %.1f\"}\n",
           bloom_lines()->name, name, sysconf(_SC_NPROCESSORS_ONLN), load);
    (void)fflush(stdout);
}

static bool print_subject(struct subject *s, unsigned threads)
{
    struct measured m = measure(s, threads);
    printf(
        "{\"layout\":\"%s\",\"keys\":%" PRIu64
        ",\"bits_per_key\":%.3f,\"bytes\":%" PRIu64
        ",\"fpr\":%.7f,\"fpr_formula\":%.7f,\"build_s\":%.3f,\"miss_ns\":%.2f,"
        "\"hit_ns\":%.2f,\"read_ns\":%.2f,\"workload\":\"k %u, %u threads (%u build, %.1f s pass), "
        "ready digests in batches of %d, %" PRIu64 " of %" PRIu64 " keys missing\",",
        s->name, s->keys, (double)s->bytes * 8 / (double)s->keys, s->bytes, m.fpr,
        s->formula, m.build_s, m.miss_ns, m.hit_ns, m.read_ns, s->k, threads,
        s->can_divide ? threads : 1, m.passed_s, BLOOM_BATCH, m.missing, m.checked);
    print_machine();
    s->fini(s);
    return m.missing == 0;
}

static void url_number(uint64_t i, char text[URL_BYTES + 1])
{
    (void)snprintf(text, URL_BYTES + 1,
                   "login-%016" PRIx64 ".example.com/account/verify/%010" PRIx64,
                   split_mix(i), i & 0xffffffffff);
}

/* ns for the digest of a URL and, with a filter, its look-up beside others. */
static double url_ns(const struct subject *s)
{
    static char texts[URLS][URL_BYTES + 1];
    struct digest d[BLOOM_BATCH];
    uint8_t hit[BLOOM_BATCH];
    double rounds[ROUNDS];
    static volatile uint8_t kept; /* so that the digests are computed */
    for (uint64_t round = 0; round < ROUNDS; round++) {
        for (uint64_t i = 0; i < URLS; i++) {
            url_number(round * URLS + i, texts[i]);
        }
        double start = now_ns();
        for (size_t i = 0; i < URLS; i += BLOOM_BATCH) {
            for (size_t j = 0; j < BLOOM_BATCH; j++) {
                digest_make(&bench_key, 1, slice_of(texts[i + j], URL_BYTES), &d[j]);
            }
            if (s) {
                s->test(s, d, BLOOM_BATCH, hit);
                kept = hit[0];
            }
            kept = d[0].b[0];
        }
        rounds[round] = (now_ns() - start) / URLS;
    }
    (void)kept;
    qsort(rounds, ROUNDS, sizeof(rounds[0]), by_value);
    return rounds[ROUNDS / 2];
}

static void print_digest(void)
{
    printf(
        "{\"layout\":\"digest\",\"digest_ns\":%.2f,\"workload\":\"128-bit digest of a URL of "
        "%d bytes, one thread\",",
        url_ns(NULL), URL_BYTES);
    print_machine();
}

static int growth(unsigned threads)
{
    for (uint64_t keys = 1000; keys <= 1000000000; keys *= 10) {
        struct subject s =
            subject_bloom(BLOOM_ONE_LINE, keys, bloom_lines_for(keys, 16), 9);
        double cpu_s = 0;
        (void)subject_build(&s, threads, &cpu_s);
        printf(
            "{\"layout\":\"%s\",\"keys\":%" PRIu64 ",\"bytes\":%" PRIu64
            ",\"build_s\":%.3f,\"lookup_ns\":%.2f,\"workload\":\"digest of an absent URL "
            "of %d bytes and its look-up, in batches of %d, one thread\",",
            s.name, keys, s.bytes, cpu_s, url_ns(&s), URL_BYTES, BLOOM_BATCH);
        print_machine();
        s.fini(&s);
    }
    return 0;
}

struct options {
    uint64_t keys;
    unsigned threads;
    const char *layout;
    double bits; /* 0: the layout's default */
    bool is_growth;
};

static bool is_wanted(const struct options *o, const char *name, bool is_slow)
{
    if (o->layout) {
        return strcmp(o->layout, name) == 0;
    }
    return !is_slow || o->keys < SPREAD_KEYS_MAX;
}

static int all_layouts(const struct options *o)
{
    static const struct {
        enum bloom_layout layout;
        double bits;
        unsigned k;
        bool is_slow;
    } rows[] = {
        {BLOOM_ONE_LINE, 16.0, 9, false},
        {BLOOM_TWO_LINES, 15.0, 10, false},
        {BLOOM_CLASSIC, 14.4, 10, true},
        {BLOOM_PARTITIONED, 14.4, 10, true},
    };
    bool is_good = true;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (is_wanted(o, bloom_layout_name(rows[i].layout), rows[i].is_slow)) {
            double bits = o->bits > 0 ? o->bits : rows[i].bits;
            struct subject s = subject_bloom(rows[i].layout, o->keys,
                                             bloom_lines_for(o->keys, bits), rows[i].k);
            is_good = print_subject(&s, o->threads) && is_good;
        }
    }
    struct subject s;
    if (is_wanted(o, "cuckoo", true) && subject_cuckoo(&s, o->keys, &bench_key)) {
        is_good = print_subject(&s, o->threads) && is_good;
    }
#ifdef BENCH_LIBBLOOM
    if (is_wanted(o, "libbloom", false) &&
        subject_libbloom(&s, o->keys, LIBBLOOM_ERROR)) {
        is_good = print_subject(&s, o->threads) && is_good;
    }
#endif
    if (!o->layout) {
        print_digest();
    }
    return is_good ? 0 : 1;
}

static bool options_read(int argc, char **argv, struct options *ret)
{
    static const struct option known[] = {{"keys", required_argument, NULL, 'k'},
                                          {"threads", required_argument, NULL, 't'},
                                          {"layout", required_argument, NULL, 'l'},
                                          {"bits", required_argument, NULL, 'b'},
                                          {"growth", no_argument, NULL, 'g'},
                                          {NULL, 0, NULL, 0}};
    *ret = (struct options){.keys = KEYS_DEFAULT, .threads = 1};
    int c = 0;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): before any thread */
    while ((c = getopt_long(argc, argv, "", known, NULL)) != -1) {
        switch (c) {
        case 'k':
            ret->keys = strtoull(optarg, NULL, 10);
            break;
        case 't':
            ret->threads = (unsigned)strtoul(optarg, NULL, 10);
            break;
        case 'l':
            ret->layout = optarg;
            break;
        case 'b':
            ret->bits = strtod(optarg, NULL);
            break;
        case 'g':
            ret->is_growth = true;
            break;
        default:
            return false;
        }
    }
    return optind == argc && ret->keys > 0 && ret->keys < (uint64_t)1 << STREAM_BITS &&
           ret->threads > 0 && ret->threads <= BLOOM_PARTS_MAX && ret->bits >= 0 &&
           ret->bits <= 128;
}

int main(int argc, char **argv)
{
    struct options o;
    if (!options_read(argc, argv, &o) || base_init() != ERR_OK) {
        (void)fputs("usage: bench_filter [--keys N] [--threads T] [--layout NAME] "
                    "[--bits B] [--growth]\n",
                    stderr);
        return 64;
    }
    return o.is_growth ? growth(o.threads) : all_layouts(&o);
}
