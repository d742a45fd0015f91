/*
 * count_flat - the paper's counting filters, shared by threads, under the traffic model.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/lab/counting_shared.h"

#include "tests/bench/bench_count.h"

enum {
    CELLS_PER_KEY = 16,
    CHUNKS = 1024,
    CELLS_PER_SLOT = 256 /* split: room for all that are seen 16 times or more */
};

static const struct hashkey bench_key = {.id = 1, .bytes = "bench of counts"};

struct subject {
    struct counting c;
    struct counting_lock *locks;
    uint64_t bytes;
    uint64_t lock_bytes;
};

static void subject_init(struct subject *s, const struct counting_shape *shape)
{
    struct errinfo info;
    if (counting_check(shape, &info) != ERR_OK) {
        bench_fail(info.text);
    }
    uint64_t cells = counting_words(shape) * sizeof(uint64_t);
    uint64_t slots = counting_slots(shape) * sizeof(uint64_t);
    s->lock_bytes = shape->nchunks * sizeof(*s->locks);
    s->locks = bench_zeroed(s->lock_bytes);
    s->bytes = cells + slots;
    counting_init(&s->c, shape, bench_zeroed(cells), slots ? bench_zeroed(slots) : NULL,
                  &bench_key);
}

static void subject_fini(struct subject *s)
{
    bench_release(s->c.words, counting_words(&s->c.shape) * sizeof(uint64_t));
    if (s->c.slots) {
        bench_release(s->c.slots, counting_slots(&s->c.shape) * sizeof(uint64_t));
    }
    bench_release(s->locks, s->lock_bytes);
}

static void use(void *own, unsigned thread, const struct digest *d,
                const uint64_t *numbers, size_t n)
{
    struct subject *s = own;
    static struct counting_read reads[BENCH_THREADS_MAX][BENCH_ROUND];
    (void)numbers;
    counting_shared_add(&s->c, s->locks, d, NULL, n, reads[thread]);
}

static void get(void *own, const struct digest *d, size_t n, uint64_t *ret)
{
    struct subject *s = own;
    struct counting_read reads[COUNTING_BATCH];
    for (size_t done = 0; done < n; done += COUNTING_BATCH) {
        size_t batch = n - done < COUNTING_BATCH ? n - done : COUNTING_BATCH;
        counting_get_batch(&s->c, d + done, batch, reads);
        for (size_t i = 0; i < batch; i++) {
            ret[done + i] = reads[i].count;
        }
    }
}

static void measure(const struct bench_options *o, const char *name,
                    const struct counting_shape *shape, unsigned threads, bool is_hot)
{
    struct subject s;
    struct bench_truth truth;
    struct bench_traffic t = bench_traffic_of(o->keys);
    struct bench_line line = {.name = name, .threads = threads};
    subject_init(&s, shape);
    line.keys_per_s = bench_rounds(&t, threads, is_hot, use, &s, &truth);
    bench_compare(&truth, get, &s, s.c.cap, &line);
    line.cpu_keys_per_s = truth.cpu_keys_per_s;
    bench_truth_fini(&truth);
    (void)snprintf(line.workload, sizeof(line.workload),
                   "traffic model, %" PRIu64 " different keys, %" PRIu64
                   " additions%s; %s, %s, "
                   "%u-bit cells, m/n %d, k %u, %" PRIu64
                   " chunks with a lock each, %" PRIu64 " bytes (32-bit cells: %" PRIu64
                   "), tables %.2f full; add and read in one call, "
                   "batches of %d",
                   o->keys, t.additions, is_hot ? " and as many on one key" : "",
                   shape->layout == COUNTING_SPLIT ? "split" : "flat",
                   shape->variant == COUNTING_REFINED ? "refined" : "intuitive",
                   shape->cell_bits, CELLS_PER_KEY, shape->k, shape->nchunks, s.bytes,
                   4 * shape->chunk_cells * shape->nchunks, counting_table_load(&s.c),
                   COUNTING_BATCH);
    bench_print(&line);
    subject_fini(&s);
}

static void measure_threads(const struct bench_options *o, const char *name,
                            const struct counting_shape *shape, bool is_hot)
{
    if (o->threads > 0) {
        measure(o, name, shape, o->threads, is_hot);
        return;
    }
    measure(o, name, shape, 1, is_hot);
    measure(o, name, shape, 2, is_hot);
}

static struct counting_shape shape_for(const struct bench_options *o)
{
    return (struct counting_shape){.variant = COUNTING_REFINED,
                                   .layout = COUNTING_FLAT,
                                   .cell_bits = 8,
                                   .k = 6,
                                   .nchunks = CHUNKS,
                                   .chunk_cells = o->keys * CELLS_PER_KEY / CHUNKS + 1};
}

void bench_flat(const struct bench_options *o, const char *name)
{
    struct counting_shape s = shape_for(o);
    if (strstr(name, "intuitive")) {
        s.variant = COUNTING_INTUITIVE;
    }
    if (strstr(name, "5bit")) {
        s.cell_bits = 5;
    }
    measure_threads(o, name, &s, strstr(name, "hot") != NULL);
}

void bench_split(const struct bench_options *o, const char *name)
{
    struct counting_shape s = shape_for(o);
    s.layout = COUNTING_SPLIT;
    s.cell_bits = 5;
    s.chunk_slots = s.chunk_cells / CELLS_PER_SLOT + 64;
    measure_threads(o, name, &s, false);
}
