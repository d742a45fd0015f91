/*
 * bench_peer - time and bytes of a peer's objects: parsing, checking, unpacking, applying.
 *
 * Usage: bench_peer [--records N] [--only CASE]   (default 2000000 counts and half as many entries,
 * all cases) JSON lines. Workloads:
 *   apply-count, apply-list  N records in DELTAs of 100,000, random keys, made before. CPU time in
 *     one thread: parse the header, check signature and hash of the payload, unpack, walk, read,
 *     add up the root and compare it. Also these parts alone, and a plain copy of as many bytes for
 *     comparison.
 *   traffic-count  a day of 1,000,000 messages by the traffic model (40 keys, 60 % new), a DELTA
 *     each 5 s, a closing SNAP each bucket. Bytes of headers and payloads, and of the heads for
 *     them.
 *   offer-count, offer-list  the same through sync_offer, with chain, quota, files and folders
 *     (/var/tmp). CPU time of all threads, and wall time with its syncs.
 *   traffic-list   an hour of 5,000,000 new entries, a DELTA each 5 s. Bytes an entry.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/count/traffic.h"
#include "core/ring/stream/heads.h"
#include "core/ring/stream/object.h"
#include "core/ring/stream/payload.h"
#include "core/ring/stream/root.h"
#include "core/ring/trust/peer_identity.h"

#include "tests/bench/peer_offer.h"
#include "tests/unit/trust/identity_seed.h"

enum {
    BATCH = 100000,
    DAY_S = 86400,
    INTERVAL_S = 5,
    MESSAGES = 1000000, /* a day */
    ENTRIES_HOUR = 5000000,
    HOUR_S = 3600,
    ROUND_MAX = 4 * TRAFFIC_KEYS * (MESSAGES / (DAY_S / INTERVAL_S) + 1)
};

static struct identity self;

static int fail(const char *what)
{
    (void)fprintf(stderr, "bench_peer: %s\n", what);
    return 1;
}

/* ---- objects ---- */

struct sent {
    struct buf header;
    struct buf payload;
};

static void sent_fini(struct sent *s)
{
    buf_fini(&s->header);
    buf_fini(&s->payload);
}

static struct object object_of(uint16_t kind, uint64_t seq, uint64_t records)
{
    struct object o = {.type = OBJECT_DELTA,
                       .stream = {.inc = 1, .kind = kind},
                       .seq = seq,
                       .base_seq = seq - 1,
                       .records = records,
                       .created_ms = 1};
    o.stream.origin.b[0] = 1;
    o.prev.b[0] = seq > 1;
    if (kind == OBJECT_COUNT) {
        o.stream.start_s = OBJECT_BUCKET_S;
        o.stream.len_s = OBJECT_BUCKET_S;
    } else {
        memcpy(o.stream.list, "list", sizeof("list"));
    }
    return o;
}

/* Packs raw, completes and signs o. */
static bool send(struct object *o, const struct buf *raw, struct sent *ret)
{
    buf_init(&ret->header, OBJECT_HEADER_BYTES);
    buf_init(&ret->payload, OBJECT_PACKED_MAX);
    bool is_done = payload_pack(buf_slice(raw), &ret->payload) == ERR_OK;
    o->raw_len = raw->n;
    o->sent_len = ret->payload.n;
    hash256_of(buf_slice(&ret->payload), &o->payload);
    return is_done && object_sign(o, self.signing_secret, &ret->header) == ERR_OK;
}

static bool send_counts(const struct count_record *v, size_t n, struct root *r,
                        uint64_t seq, struct sent *ret)
{
    struct buf raw;
    struct object o = object_of(OBJECT_COUNT, seq, n);
    buf_init(&raw, OBJECT_RAW_MAX);
    payload_print_counts(v, n, &raw);
    for (size_t i = 0; i < n; i++) {
        o.total += v[i].count;
        root_add_counts(r, &o.ring, &v[i], 1);
    }
    root_print(r, &o.root);
    bool is_done = send(&o, &raw, ret);
    buf_fini(&raw);
    return is_done;
}

static bool send_entries(const struct list_record *v, size_t n, struct root *r,
                         uint64_t seq, struct sent *ret)
{
    struct buf raw;
    struct object o = object_of(OBJECT_LIST, seq, n);
    buf_init(&raw, OBJECT_RAW_MAX);
    payload_print_list(v, n, &raw);
    for (size_t i = 0; r && i < n; i++) {
        root_steps(r, &o.ring, OBJECT_LIST, &v[i], 1);
    }
    if (r) {
        root_print(r, &o.root);
    }
    bool is_done = send(&o, &raw, ret);
    buf_fini(&raw);
    return is_done;
}

/* ---- taking apart ---- */

struct parts {
    uint64_t verify_us; /* header, signature, hash */
    uint64_t unpack_us; /* with the walk */
    uint64_t root_us;   /* with reading */
    uint64_t copy_us;
};

static uint64_t lap(uint64_t *since)
{
    uint64_t now = clock_cpu_us();
    uint64_t took = now - *since;
    *since = now;
    return took;
}

static bool take(const struct sent *s, struct root *r, struct parts *parts)
{
    struct object o;
    struct hash256 hash;
    struct buf raw;
    struct payload_reader reader;
    uint64_t since = clock_cpu_us();
    buf_init(&raw, OBJECT_RAW_MAX);
    bool is_good = object_parse(buf_slice(&s->header), &o, NULL) == ERR_OK &&
                   object_is_signed_by(buf_slice(&s->header), self.signing.key);
    hash256_of(buf_slice(&s->payload), &hash);
    is_good = is_good && hash256_equal(&hash, &o.payload);
    parts->verify_us += lap(&since);
    is_good = is_good &&
              payload_unpack(buf_slice(&s->payload), o.raw_len, &raw, NULL) == ERR_OK &&
              payload_reader_init(&reader, o.stream.kind, false, o.records,
                                  buf_slice(&raw), NULL) == ERR_OK;
    parts->unpack_us += lap(&since);
    struct count_record count[ROOT_SOME];
    struct list_record entry[ROOT_SOME];
    size_t n = is_good ? ROOT_SOME : 0;
    while (n == ROOT_SOME) {
        for (n = 0; n < ROOT_SOME && payload_next_count(&reader, &count[n]); n++) {
        }
        root_add_counts(r, &o.ring, count, n);
    }
    n = is_good ? ROOT_SOME : 0;
    while (n == ROOT_SOME) {
        for (n = 0; n < ROOT_SOME && payload_next_list(&reader, &entry[n]); n++) {
        }
        root_steps(r, &o.ring, o.stream.kind, entry, n);
    }
    root_print(r, &hash);
    is_good = is_good && hash256_equal(&hash, &o.root);
    parts->root_us += lap(&since);
    char *copy = malloc(raw.n + 1);
    if (copy && raw.n) {
        memcpy(copy, raw.p, raw.n);
        is_good = is_good && copy[raw.n / 2] == raw.p[raw.n / 2];
    }
    free(copy);
    parts->copy_us += lap(&since);
    buf_fini(&raw);
    return is_good;
}

static void print_apply(const char *name, uint64_t records, uint64_t bytes,
                        const struct parts *p)
{
    const uint64_t us = p->verify_us + p->unpack_us + p->root_us;
    (void)printf("{\"case\": \"%s\", \"records\": %" PRIu64
                 ", \"records_per_s\": %.0f, \"bytes_per_record\": %.2f, "
                 "\"verify_us\": %" PRIu64 ", \"unpack_us\": %" PRIu64
                 ", \"root_us\": %" PRIu64 ", \"copy_us\": %" PRIu64 "}\n",
                 name, records, (double)records * 1e6 / (double)(us ? us : 1),
                 (double)bytes / (double)records, p->verify_us, p->unpack_us,
                 p->root_us, p->copy_us);
    (void)fflush(stdout);
}

static bool apply_counts(uint64_t most)
{
    static struct count_record v[BATCH];
    struct parts parts = {0};
    struct root ours = {{0}};
    struct root theirs = {{0}};
    struct prng p;
    uint64_t bytes = 0;
    prng_init(&p, 1, 1);
    for (uint64_t seq = 1; seq <= most / BATCH; seq++) {
        struct sent s;
        uint64_t key = 0;
        for (size_t i = 0; i < BATCH; i++) { /* gaps as those of random keys */
            key += 1 + prng_below(&p, UINT64_MAX / BATCH);
            v[i] = (struct count_record){key, 1 + prng_below(&p, 4) / 3};
        }
        if (!send_counts(v, BATCH, &ours, seq, &s) || !take(&s, &theirs, &parts)) {
            return false;
        }
        bytes += s.header.n + s.payload.n;
        sent_fini(&s);
    }
    print_apply("apply-count", most / BATCH * BATCH, bytes, &parts);
    return true;
}

static int by_digest(const void *a, const void *b)
{
    const struct list_record *x = a;
    const struct list_record *y = b;
    return digest_cmp(&x->digest, &y->digest);
}

static void draw_entries(struct prng *p, struct list_record *v, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t half[2] = {prng_next(p), prng_next(p)};
        v[i] = (struct list_record){.after = prng_below(p, 20) ? ENTRY_STANDS
                                                               : ENTRY_TAKEN_BACK,
                                    .type = (uint16_t)(20 + prng_below(p, 4)),
                                    .expiry_h = prng_below(p, 2) ? 490000 : 0};
        memcpy(v[i].digest.b, half, sizeof(half));
    }
    qsort(v, n, sizeof(*v), by_digest);
}

static bool apply_entries(uint64_t most)
{
    static struct list_record v[BATCH];
    struct parts parts = {0};
    struct root ours = {{0}};
    struct root theirs = {{0}};
    struct prng p;
    uint64_t bytes = 0;
    prng_init(&p, 1, 2);
    for (uint64_t seq = 1; seq <= most / BATCH; seq++) {
        struct sent s;
        draw_entries(&p, v, BATCH);
        if (!send_entries(v, BATCH, &ours, seq, &s) || !take(&s, &theirs, &parts)) {
            return false;
        }
        bytes += s.header.n + s.payload.n;
        sent_fini(&s);
    }
    print_apply("apply-list", most / BATCH * BATCH, bytes, &parts);
    return true;
}

/* ---- traffic ---- */

struct flow {
    uint64_t records;
    uint64_t headers; /* bytes */
    uint64_t payloads;
    uint64_t heads;
    uint64_t objects;
};

static void print_flow(const char *name, const struct flow *f)
{
    const uint64_t bytes = f->headers + f->payloads + f->heads;
    (void)printf("{\"case\": \"%s\", \"objects\": %" PRIu64 ", \"records\": %" PRIu64
                 ", \"bytes\": %" PRIu64 ", \"headers\": %" PRIu64
                 ", \"payloads\": %" PRIu64 ", \"heads\": %" PRIu64
                 ", \"bytes_per_record\": %.2f}\n",
                 name, f->objects, f->records, bytes, f->headers, f->payloads, f->heads,
                 (double)bytes / (double)f->records);
    (void)fflush(stdout);
}

static int by_key(const void *a, const void *b)
{
    const struct count_record *x = a;
    const struct count_record *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* Sorted, each key once. */
static size_t unite(struct count_record *v, size_t n)
{
    size_t k = 0;
    qsort(v, n, sizeof(*v), by_key);
    for (size_t i = 1; i < n; i++) {
        if (v[i].key == v[k].key) {
            v[k].count += v[i].count;
        } else {
            v[++k] = v[i];
        }
    }
    return n ? k + 1 : 0;
}

static uint64_t key_of(uint64_t number)
{
    struct digest d;
    uint64_t key = 0;
    traffic_digest(number, &d);
    for (unsigned i = 0; i < sizeof(key); i++) {
        key = key << 8 | d.b[i];
    }
    return key ? key : 1;
}

static void add_sent(struct flow *f, const struct sent *s, size_t records)
{
    f->objects++;
    f->records += records;
    f->headers += s->header.n;
    f->payloads += s->payload.n;
    f->heads += 16 + HEAD_BYTES + 4; /* an answer of one head */
}

static bool flow_counts(void)
{
    static struct count_record v[ROUND_MAX];
    struct traffic traffic;
    struct flow f = {0};
    struct root r = {{0}};
    uint64_t sent_messages = 0;
    traffic_init(&traffic, MESSAGES, 1);
    for (uint64_t at = INTERVAL_S; at <= DAY_S; at += INTERVAL_S) {
        struct sent s;
        size_t n = 0;
        for (; sent_messages < at * MESSAGES / DAY_S; sent_messages++) {
            uint64_t key[TRAFFIC_KEYS];
            traffic_message(&traffic, key);
            for (unsigned i = 0; i < TRAFFIC_KEYS && n < ROUND_MAX; i++) {
                v[n++] = (struct count_record){key_of(key[i]), 1};
            }
        }
        n = unite(v, n);
        if (!send_counts(v, n, &r, at / INTERVAL_S, &s)) {
            return false;
        }
        add_sent(&f, &s, n);
        if (at % OBJECT_BUCKET_S ==
            0) { /* a follower needs the header of the closing SNAP */
            f.headers += OBJECT_HEADER_BYTES;
            f.objects++;
        }
        sent_fini(&s);
    }
    print_flow("traffic-count", &f);
    return true;
}

static bool flow_entries(void)
{
    enum { ROUNDS = HOUR_S / INTERVAL_S, ROUND = ENTRIES_HOUR / ROUNDS };
    static struct list_record v[ROUND];
    struct flow f = {0};
    struct prng p;
    prng_init(&p, 1, 3);
    for (uint64_t seq = 1; seq <= ROUNDS; seq++) {
        struct sent s;
        draw_entries(&p, v, ROUND);
        if (!send_entries(v, ROUND, NULL, seq, &s)) {
            return false;
        }
        add_sent(&f, &s, ROUND);
        sent_fini(&s);
    }
    print_flow("traffic-list", &f);
    return true;
}

static uint64_t records = 2000000;

static bool run_apply_count(void)
{
    return apply_counts(records);
}

static bool run_apply_list(void)
{
    return apply_entries(records / 2);
}

static bool run_offer_count(void)
{
    return offer_all(records, 0);
}

static bool run_offer_list(void)
{
    return offer_all(0, records / 2);
}

static const struct {
    const char *name;
    bool (*run)(void);
} bench_case[] = {
    {"apply-count", run_apply_count}, {"apply-list", run_apply_list},
    {"offer-count", run_offer_count}, {"offer-list", run_offer_list},
    {"traffic-count", flow_counts},   {"traffic-list", flow_entries},
};

int main(int argc, char **argv)
{
    const char *only = NULL;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--records") == 0) {
            records = strtoull(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--only") == 0) {
            only = argv[i + 1];
        } else {
            argc = 0;
        }
    }
    if (argc % 2 == 0 || records / 2 < BATCH || base_init() != ERR_OK) {
        return fail("usage: bench_peer [--records N] [--only CASE], N from 200000");
    }
    const uint8_t seed[32] = {1};
    identity_of_seed(seed, &self);
    for (size_t i = 0; i < sizeof(bench_case) / sizeof(bench_case[0]); i++) {
        if ((!only || strcmp(only, bench_case[i].name) == 0) && !bench_case[i].run()) {
            return fail(bench_case[i].name);
        }
    }
    return 0;
}
