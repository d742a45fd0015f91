/* peer_offer - objects of one member of a ring offered to another, on a new folder in /var/tmp. */
#include "tests/bench/peer_offer.h"

#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/prng.h"
#include "core/ring/stream/root.h"

#include "tests/unit/sync/syncring.h"

enum { COUNTS = 100000, ENTRIES = 500000, MEMBERS = 2 };

struct writer {
    struct identity self;
    struct manifest m;
    struct object o; /* of the object before; of a stream */
    struct root root;
    struct buf whole; /* the object before */
};

static bool sign(struct writer *w, struct object *o, const struct buf *raw)
{
    struct buf payload;
    buf_init(&payload, OBJECT_PACKED_MAX);
    bool is_done = payload_pack(buf_slice(raw), &payload) == ERR_OK;
    o->raw_len = raw->n;
    o->sent_len = payload.n;
    hash256_of(buf_slice(&payload), &o->payload);
    root_print(&w->root, &o->root);
    if (w->whole.n) {
        object_hash(buf_slice(&w->whole), &o->prev);
    }
    buf_clear(&w->whole);
    is_done = is_done && object_sign(o, w->self.signing_secret, &w->whole) == ERR_OK;
    buf_add(&w->whole, buf_slice(&payload));
    buf_fini(&payload);
    return is_done && !buf_failed(&w->whole);
}

static struct object next_object(struct writer *w, uint16_t kind, uint64_t n)
{
    struct object o = {.type = OBJECT_DELTA,
                       .ring = w->m.ring,
                       .key_id = object_key_id(w->self.signing.key),
                       .seq = w->o.seq + 1,
                       .base_seq = w->o.seq,
                       .records = n,
                       .created_ms = clock_wall_us() / 1000};
    o.stream.origin = w->self.origin;
    o.stream.inc = 1;
    o.stream.kind = kind;
    o.stream.ring_key = w->m.ring_keys[0].id;
    if (kind == OBJECT_COUNT) {
        const uint64_t now_s = o.created_ms / 1000;
        o.stream.start_s =
            w->o.seq ? w->o.stream.start_s : now_s - now_s % OBJECT_BUCKET_S;
        o.stream.len_s = OBJECT_BUCKET_S;
    } else {
        memcpy(o.stream.list, "list", sizeof("list"));
    }
    return o;
}

static bool make_counts(struct writer *w, struct prng *p)
{
    static struct count_record v[COUNTS];
    struct object o = next_object(w, OBJECT_COUNT, COUNTS);
    struct buf raw;
    uint64_t key = 0;
    for (size_t i = 0; i < COUNTS; i++) {
        key += 1 + prng_below(p, UINT64_MAX / COUNTS);
        v[i] = (struct count_record){key, 1 + prng_below(p, 4) / 3};
        o.total += v[i].count;
        root_add_counts(&w->root, &o.ring, &v[i], 1);
    }
    buf_init(&raw, OBJECT_RAW_MAX);
    payload_print_counts(v, COUNTS, &raw);
    w->o = o;
    bool is_done = sign(w, &o, &raw);
    buf_fini(&raw);
    return is_done;
}

static int by_digest(const void *a, const void *b)
{
    const struct list_record *x = a;
    const struct list_record *y = b;
    return digest_cmp(&x->digest, &y->digest);
}

static bool make_entries(struct writer *w, struct prng *p)
{
    static struct list_record v[ENTRIES];
    struct object o = next_object(w, OBJECT_LIST, ENTRIES);
    struct buf raw;
    for (size_t i = 0; i < ENTRIES; i++) {
        uint64_t half[2] = {prng_next(p), prng_next(p)};
        v[i] = (struct list_record){.after = ENTRY_STANDS,
                                    .type = (uint16_t)(20 + prng_below(p, 2))};
        memcpy(v[i].digest.b, half, sizeof(half));
        root_steps(&w->root, &o.ring, OBJECT_LIST, &v[i], 1);
    }
    qsort(v, ENTRIES, sizeof(v[0]), by_digest);
    buf_init(&raw, OBJECT_RAW_MAX);
    payload_print_list(v, ENTRIES, &raw);
    w->o = o;
    bool is_done = sign(w, &o, &raw);
    buf_fini(&raw);
    return is_done;
}

/* A list's index is written by a thread of its own. */
static uint64_t process_cpu_us(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

/* Measures CPU time of all threads and wall time for `records` records in whole DELTAs. */
static bool offer(const char *name, struct syncnode *node, struct writer *w,
                  uint64_t records, bool (*make)(struct writer *w, struct prng *p))
{
    struct prng p;
    uint64_t cpu = 0;
    uint64_t wall = 0;
    prng_init(&p, 1, 4);
    w->o = (struct object){.seq = 0};
    w->root = (struct root){{0}};
    buf_clear(&w->whole);
    uint64_t done = 0;
    while (done < records) {
        struct errinfo why = {.text = ""};
        if (!make(w, &p)) {
            return false;
        }
        const uint64_t cpu0 = process_cpu_us();
        const uint64_t wall0 = clock_mono_us();
        enum sync_result r = sync_offer(node->sync, buf_slice(&w->whole), &why);
        cpu += process_cpu_us() - cpu0;
        wall += clock_mono_us() - wall0;
        if (r != SYNC_APPLIED) {
            (void)fprintf(stderr, "bench_peer: %s: %s: %s\n", sync_result_name(r),
                          why.source, why.text);
            return false;
        }
        done += w->o.records;
    }
    if (done == 0) {
        return true; /* not asked for */
    }
    (void)printf("{\"case\": \"%s\", \"records\": %" PRIu64
                 ", \"records_per_s\": %.0f, "
                 "\"cpu_us\": %" PRIu64 ", \"wall_us\": %" PRIu64 "}\n",
                 name, done, (double)done * 1e6 / (double)cpu, cpu, wall);
    (void)fflush(stdout);
    return true;
}

static int remove_one(const char *path, const struct stat *st, int kind,
                      struct FTW *where)
{
    (void)st;
    (void)kind;
    (void)where;
    return remove(path);
}

bool offer_all(uint64_t counts, uint64_t entries)
{
    char dir[] = "/var/tmp/gillnet-bench-XXXXXX";
    struct syncnode node;
    struct writer w = {.o = {.seq = 0}};
    struct errinfo why = {.text = ""};
    if (!mkdtemp(dir)) {
        return false;
    }
    buf_init(&w.whole, OBJECT_PACKED_MAX + OBJECT_HEADER_BYTES);
    syncring_identity(1, &w.self);
    syncnode_init(&node, dir, 0);
    bool is_done =
        syncring_manifest(MEMBERS, &w.m) && syncnode_open(&node, &w.m, &why) == ERR_OK;
    is_done = is_done && offer("offer-count", &node, &w, counts, make_counts) &&
              offer("offer-list", &node, &w, entries, make_entries);
    if (why.text[0]) {
        (void)fprintf(stderr, "bench_peer: %s: %s\n", why.source, why.text);
    }
    syncnode_close(&node);
    manifest_fini(&w.m);
    buf_fini(&w.whole);
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
    (void)nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return is_done;
}
