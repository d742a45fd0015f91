/*
 * growth [--small | --full] [NAME...] - the cost of hostile mail must grow in proportion to its size.
 *
 * For each shape of growth_table, or those whose name contains NAME, messages of a size and of
 * twice that size go through the whole extraction. The second may cost 2.3 times the first; a
 * message of four times the size may cost 5.3 times. The cost is in instructions if the kernel
 * counts them, else in CPU time (the least of several runs). Then a message of 25 MB, with all
 * default limits, must end within limits.cpu and what one and a half honest messages of that size
 * cost: the one for the part that is read in full, the other for the cheap pass over the rest.
 * Without --full only every FAR_EVERYDAY-th shape is made that long. --small only checks, for
 * sanitizers, that no message ends badly.
 */
#include <linux/perf_event.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/arena.h"
#include "core/base/base.h"
#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/message/extract/extract.h"

#include "tests/integ/growth/growth_table.h"

enum {
    ARENA_CAP = 64 << 20,
    MESSAGE_MAX = 25 << 20, /* more than limits.message_bytes */
    CHUNK = 65535,
    FIELD_MAX = 60 << 10,
    URL_MAX = 8 << 10,
    HEADER_FROM = 50 << 10, /* twice this is below limits.header_bytes */
    BODY_FROM = 96 << 10,
    BODY_FAR = 512 << 10,
    SMALL = 64 << 10,
    FAR_EVERYDAY = 4,
    RUNS = 2,       /* the least of these counts is taken */
    TRIES = 5,      /* with more runs each, before a ratio is accepted */
    FLOOR_US = 2000 /* shorter ones are repeated */
};

static const double ratio_max = 2.3;
static const uint64_t budget_us = 250000; /* limits.cpu */
static const double honest_max = 1.5;
static uint64_t bound_us; /* what any message of MESSAGE_MAX may cost */

static struct extract_limits limits = {
    .mail = {.message_bytes = 16 << 20,
             .decoded_bytes = 32 << 20,
             .headers = 1000,
             .header_bytes = 256 << 10,
             .header_field = 64 << 10,
             .parts = 500,
             .depth = 32},
    .urls = 500,
    .recipients = 1000,
};

static const struct hashkey ring = {.id = 1, .bytes = "any sixteen byte"};
static char trusted_name[] = "mx.example";
static char *const trusted[] = {trusted_name};
static int counter = -1; /* of instructions; -1: the clock */
static volatile size_t sink;

static void counter_open(void)
{
    struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
                                   .size = sizeof(attr),
                                   .config = PERF_COUNT_HW_INSTRUCTIONS,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};

    uint64_t n = 0;

    counter = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0UL);
    if (counter >= 0 &&
        (read(counter, &n, sizeof(n)) != (ssize_t)sizeof(n) || n == 0)) {
        (void)close(counter); /* of a virtual machine, which counts nothing */
        counter = -1;
    }
}

static uint64_t cost_now(void)
{
    uint64_t n = 0;

    if (counter >= 0 && read(counter, &n, sizeof(n)) == (ssize_t)sizeof(n)) {
        return n;
    }
    return clock_cpu_us();
}

/* Text with the number in place of each byte 1. */
static void add_numbered(struct buf *b, const char *text, unsigned number)
{
    for (; *text != '\0'; text++) {
        if (*text == '\1') {
            char digits[16];

            (void)snprintf(digits, sizeof(digits), "%u", number);
            buf_add_str(b, digits);
        } else {
            buf_add_char(b, *text);
        }
    }
}

static void add_units(struct buf *b, const char *unit, size_t bytes, unsigned *number)
{
    size_t end = b->n + bytes;

    while (b->n < end) {
        add_numbered(b, unit, (*number)++);
    }
}

static void make(const struct growth_shape_row *row, size_t bytes, struct buf *b)
{
    unsigned number = 1;
    size_t piece = row->shape == GROWTH_FIELD ? FIELD_MAX : URL_MAX;

    b->n = 0;
    buf_add_str(b, "MIME-Version: 1.0\r\n");
    switch (row->shape) {
    case GROWTH_BODY:
        add_numbered(b, row->head, 0);
        add_units(b, row->unit, bytes, &number);
        buf_add_str(b, row->tail != NULL ? row->tail : "");
        return;
    case GROWTH_FIELDS:
        add_units(b, row->unit, bytes, &number);
        buf_add_str(b, "\r\na\r\n");
        return;
    case GROWTH_FIELD:
    case GROWTH_URLS:
        buf_add_str(b, row->shape == GROWTH_URLS ? "\r\n" : "");
        for (size_t done = 0; done < bytes; done += piece) {
            size_t rest = bytes - done < piece ? bytes - done : piece;

            add_numbered(b, row->head, number++);
            add_units(b, row->unit, rest > 100 ? rest - 100 : rest, &number);
            buf_add_str(b, "\r\n");
        }
        buf_add_str(b, row->shape == GROWTH_URLS ? "" : "\r\na\r\n");
        return;
    }
}

static void extract(struct arena *arena, struct slice message)
{
    struct extract *x = extract_new(arena, &limits, trusted, 1);

    if (x == NULL) {
        (void)fprintf(stderr, "growth: no memory\n");
        exit(1); /* NOLINT(concurrency-mt-unsafe) */
    }
    while (message.n > 0) {
        struct slice chunk = slice_head(message, CHUNK);

        extract_raw(x, chunk);
        message = slice_from(message, chunk.n);
    }
    sink += featureset_count(extract_finish(x));
    arena_reset(arena);
}

/* The least cost of one extraction over `runs` rounds, each at least FLOOR_US long. */
static double cost_of(struct arena *arena, struct slice message, unsigned runs)
{
    double least = 0;

    for (unsigned i = 0; i < runs; i++) {
        uint64_t from = cost_now();
        uint64_t since = clock_cpu_us();
        unsigned times = 0;

        do {
            extract(arena, message);
            times++;
        } while (clock_cpu_us() - since < FLOOR_US);
        double cost = (double)(cost_now() - from) / times;
        least = i == 0 || cost < least ? cost : least;
    }
    return least;
}

/* The growth of the cost when the bytes double: over one doubling, or, where that is over the
 * bound, over two. A cache that is just too small for the longer message raises one doubling; a
 * cost that is not linear raises each. */
static double ratio_at(const struct growth_shape_row *row, size_t bytes,
                       struct arena *arena, struct buf *b)
{
    double ratio = 0;

    for (unsigned attempt = 1; attempt <= TRIES; attempt++) {
        make(row, bytes, b);
        double once = cost_of(arena, buf_slice(b), RUNS * attempt);

        for (unsigned doublings = 1; doublings <= 2; doublings++) {
            make(row, bytes << doublings, b);
            double cost = cost_of(arena, buf_slice(b), RUNS * attempt);

            ratio = doublings == 1 ? cost / once : sqrt(cost / once);
            if (ratio <= ratio_max) {
                return ratio;
            }
        }
    }
    return ratio;
}

static uint64_t time_of(struct arena *arena, struct slice message)
{
    uint64_t since = clock_cpu_us();

    extract(arena, message);
    return clock_cpu_us() - since;
}

/* On this machine, now. */
static void find_bound(struct arena *arena, struct buf *b)
{
    static const struct growth_shape_row honest = {
        "honest", GROWTH_BODY, "\r\n",
        "A line of text, as people write them, with nothing else in it.\r\n", NULL};
    uint64_t least = UINT64_MAX;

    make(&honest, MESSAGE_MAX - SMALL, b);
    for (unsigned i = 0; i < TRIES; i++) {
        uint64_t us = time_of(arena, buf_slice(b));
        least = us < least ? us : least;
    }
    bound_us = budget_us + (uint64_t)(honest_max * (double)least);
    printf("growth: at most %llu ms\n", (unsigned long long)bound_us / 1000);
}

static bool is_header(const struct growth_shape_row *row)
{
    return row->shape == GROWTH_FIELD || row->shape == GROWTH_FIELDS;
}

/* The CPU time of a message of MESSAGE_MAX, at least of TRIES where it is above the bound. */
static uint64_t time_longest(const struct growth_shape_row *row, struct arena *arena,
                             struct buf *b)
{
    uint64_t us = 0;

    make(row, MESSAGE_MAX - SMALL, b);
    limits.cpu_us = budget_us;
    for (unsigned i = 0; i < TRIES && (i == 0 || us > bound_us); i++) {
        us = time_of(arena, buf_slice(b));
    }
    limits.cpu_us = 0;
    return us;
}

static bool check(const struct growth_shape_row *row, bool has_longest,
                  struct arena *arena, struct buf *b)
{
    double near = ratio_at(row, is_header(row) ? HEADER_FROM : BODY_FROM, arena, b);
    double far = is_header(row) ? 0 : ratio_at(row, BODY_FAR, arena, b);
    uint64_t us = has_longest ? time_longest(row, arena, b) : 0;
    bool good = near <= ratio_max && far <= ratio_max && us <= bound_us;
    printf("%-7s %-32s x%.2f x%.2f %4llu ms\n", good ? "ok" : "FAILED", row->name, near,
           far, (unsigned long long)us / 1000);
    (void)fflush(stdout);
    return good;
}

static bool is_wanted(const char *name, char **wanted)
{
    bool found = *wanted == NULL;

    for (; *wanted != NULL && !found; wanted++) {
        found = strstr(name, *wanted) != NULL;
    }
    return found;
}

/* How much is measured. */
enum extent { EXTENT_SMALL, EXTENT_EVERYDAY, EXTENT_FULL };

/* The shapes that have failed; both processes write here. */
static bool *failed;

/* Shapes `first`, `first` + `step`, ... */
static void check_some(size_t first, size_t step, char **wanted, enum extent extent)
{
    struct arena *arena = arena_new(ARENA_CAP);
    struct buf b;

    if (arena == NULL) {
        exit(1); /* NOLINT(concurrency-mt-unsafe) */
    }
    buf_init(&b, MESSAGE_MAX * 2);
    if (extent != EXTENT_SMALL) {
        find_bound(arena, &b);
    }
    for (size_t i = first; i < growth_nrows; i += step) {
        if (!is_wanted(growth_rows[i].name, wanted)) {
            continue;
        }
        if (extent == EXTENT_SMALL) {
            make(&growth_rows[i], SMALL, &b);
            extract(arena, buf_slice(&b));
        } else {
            bool has_longest = extent == EXTENT_FULL || i / 2 % FAR_EVERYDAY == 0;
            failed[i] = !check(&growth_rows[i], has_longest, arena, &b);
        }
    }
    buf_fini(&b);
    arena_free(&arena);
}

/* Another program of the machine may have disturbed a measurement. So each shape that failed runs
 * once more, with both cores free. */
static bool check_again(void)
{
    size_t n = 0;

    for (size_t i = 0; i < growth_nrows; i++) {
        if (failed[i]) {
            printf("again:\n");
            failed[i] = false;
            check_some(i, growth_nrows, (char *[]){NULL}, EXTENT_FULL);
            n += failed[i];
        }
    }
    printf("growth: %zu failed, costs in %s\n", n,
           counter >= 0 ? "instructions" : "CPU time");
    return n == 0;
}

/* Half of the shapes in a process of its own: the test has both cores, and its costs are those of a
 * process. */
static bool check_all(char **wanted, enum extent extent)
{
    int status = -1;

    failed = mmap(NULL, growth_nrows, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t half = failed != MAP_FAILED ? fork() : -1;
    if (half < 0) {
        return false;
    }
    counter_open();
    check_some(half == 0 ? 1 : 0, 2, wanted, extent);
    if (half == 0) {
        _exit(0);
    }
    return waitpid(half, &status, 0) == half && status == 0 && check_again();
}

int main(int argc, char **argv)
{
    bool is_small = argc > 1 && strcmp(argv[1], "--small") == 0;
    bool is_full = argc > 1 && strcmp(argv[1], "--full") == 0;

    if (base_init() != ERR_OK) {
        return 1;
    }
    shingle_keys_make(&ring, 0, &limits.imprint.keys);
    printf("growth: %zu shapes\n", growth_nrows);
    (void)fflush(stdout);
    if (is_small) {
        check_some(0, 1, argv + 2, EXTENT_SMALL);
        return 0;
    }
    return check_all(argv + 1 + is_full, is_full ? EXTENT_FULL : EXTENT_EVERYDAY) ? 0
                                                                                  : 1;
}
