/*
 * bench_share - lists of peers: time to apply them, and to look values up beside the local lists.
 *
 * Usage: bench_share [ENTRIES]   (default 1000000). One JSON line. Workload: one server publishes
 * ENTRIES digests of a list, once in objects of the largest size, once in objects of 7,000 (5
 * million entries an hour, every 5 s). It times sync_offer of all these objects at a second server,
 * in a folder in memory (/dev/shm if the system has it): signature, hash, unpacking, check, root,
 * files, list. The time is processor time of all threads. Then a third server takes the first
 * server's SNAP. bytes is the size of the objects for each entry. The look-ups are of 100 hosts of
 * one message in one local list, alone and beside 30 origins with 2 lists each of ENTRIES / 100
 * entries. They are in microseconds a message, with their ratio.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/hash256.h"
#include "core/list/listset.h"
#include "core/list/mirror.h"
#include "core/store/origins.h"

#include "tests/unit/sync/syncring.h"
#include "tests/unit/tempdir.h"

enum {
    ENTRIES = 1000000,
    SMALL = 7000,
    ORIGINS = 30,
    HOSTS = 100,
    ROUNDS = 2000,
    CHAIN_BYTES = 256 << 20
};

struct bench {
    char path[64];
    struct manifest m;
    struct syncnode node[3];
    struct list_record *v;
    size_t n;
    struct errinfo why;
};

static int failed(const struct bench *b, const char *what)
{
    (void)fprintf(stderr, "bench_share: %s: %s: %s\n", what, b->why.source,
                  b->why.text);
    return 1;
}

/* CPU time of all threads, from which the rate of one core follows on a busy machine, too. */
static uint64_t cpu_us(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static int by_digest(const void *a, const void *b)
{
    return digest_cmp(a, b);
}

static bool make_records(struct bench *b, size_t n)
{
    struct digest *d = calloc(n, sizeof(*d));
    b->v = calloc(n, sizeof(*b->v));
    b->n = n;
    for (size_t i = 0; d && i < n; i++) {
        uint64_t half[2] = {(i + 1) * UINT64_C(0x9e3779b97f4a7c15),
                            (i + 1) * UINT64_C(0xbf58476d1ce4e5b9)};
        memcpy(d[i].b, half, sizeof(half));
    }
    if (d) {
        qsort(d, n, sizeof(*d), by_digest);
    }
    for (size_t i = 0; d && b->v && i < n; i++) {
        b->v[i] = (struct list_record){
            .digest = d[i], .after = ENTRY_STANDS, .type = 4, .expiry_h = 497000};
    }
    free(d);
    return d && b->v;
}

/* ---- taking in ---- */

static bool publish(struct bench *b, const char *list, size_t part)
{
    /* in the order in which they would come: any, so that each object spans the list */
    size_t parts = (b->n + part - 1) / part;
    struct list_record *some = calloc(part + 1, sizeof(*some));
    bool is_good = some != NULL;
    for (size_t k = 0; is_good && k < parts; k++) {
        size_t n = 0;
        for (size_t i = k; i < b->n && n < part; i += parts) {
            some[n++] = b->v[i];
        }
        is_good = sync_publish_list(b->node[0].sync, list, some, n, &b->why) == ERR_OK;
    }
    free(some);
    return is_good;
}

/* Offers the whole chain of the list; seconds, and bytes. */
static bool take(struct bench *b, unsigned to, const char *list, double *rets,
                 uint64_t *retbytes)
{
    struct stream_key k;
    struct object_id id;
    uint64_t seq = 1;
    uint64_t spent_us = 0;
    *retbytes = 0;
    if (!sync_own_stream(b->node[0].sync, OBJECT_LIST, list, &k)) {
        return false;
    }
    stream_key_id(&k, &id);
    for (;;) {
        struct buf chain;
        struct slice object;
        buf_init(&chain, SIZE_MAX);
        enum err e =
            sync_chain(b->node[0].sync, &id, seq, UINT64_MAX, CHAIN_BYTES, &chain);
        struct slice rest = buf_slice(&chain);
        uint64_t first = seq;
        while (e == ERR_OK && rest.n > 0 && syncring_cut(&rest, false, &object)) {
            uint64_t start = cpu_us();
            enum sync_result r = sync_offer(b->node[to].sync, object, &b->why);
            spent_us += cpu_us() - start;
            if (r != SYNC_APPLIED) {
                (void)fprintf(stderr, "bench_share: %s\n", sync_result_name(r));
                return false;
            }
            *retbytes += object.n;
            seq++;
        }
        buf_fini(&chain);
        if (seq == first) {
            break;
        }
    }
    *rets = (double)spent_us / 1e6;
    return seq > 1;
}

/* The newest SNAP with its payload, at a server that has nothing. */
static bool take_snap(struct bench *b, unsigned to, double *rets)
{
    struct buf answer;
    struct heads heads;
    bool is_good = false;
    *rets = 0;
    buf_init(&answer, SIZE_MAX);
    if (sync_heads(b->node[0].sync, 0, &answer) != ERR_OK ||
        heads_parse(buf_slice(&answer), &heads, &b->why) != ERR_OK) {
        return false;
    }
    for (size_t i = 0; i < heads.n && !is_good; i++) {
        struct buf snap;
        struct object_id id;
        stream_key_id(&heads.v[i].stream, &id);
        buf_init(&snap, SIZE_MAX);
        if (heads.v[i].snap_seq != 0 &&
            sync_snap(b->node[0].sync, &id, heads.v[i].snap_seq, &snap, &b->why) ==
                ERR_OK) {
            uint64_t start = cpu_us();
            enum sync_result r =
                sync_offer(b->node[to].sync, buf_slice(&snap), &b->why);
            *rets = (double)(cpu_us() - start) / 1e6;
            is_good = r == SYNC_APPLIED;
        }
        buf_fini(&snap);
    }
    heads_fini(&heads);
    buf_fini(&answer);
    return is_good;
}

/* ---- asking ---- */

struct giving {
    const struct list_record *v;
    size_t n;
    size_t at;
    size_t step;
};

static bool give(void *context, struct mirror_entry *ret)
{
    struct giving *g = context;
    if (g->at >= g->n) {
        return false;
    }
    *ret = (struct mirror_entry){.digest = g->v[g->at].digest,
                                 .class_type = g->v[g->at].type,
                                 .status = ENTRY_LISTED};
    g->at += g->step;
    return true;
}

static bool make_list(struct bench *b, const char *folder, const char *name,
                      size_t step)
{
    struct giving g = {.v = b->v, .n = b->n, .step = step};
    struct list_writer *w = NULL;
    const struct keyring *keys = &b->node[0].keys;
    bool is_good = file_make_dir(folder, 0750, &b->why) == ERR_OK &&
                   mirror_open(folder, slice_str(name), keys, keys->ring[0].id, &w,
                               &b->why) == ERR_OK &&
                   mirror_apply(w, give, &g, b->n / step + 1, SLICE_LIT("bench"),
                                &b->why) == ERR_OK;
    list_writer_close(&w);
    return is_good;
}

static double ask(struct list_manager *h, struct arena *arena)
{
    const struct listset *s = list_manager_acquire(h);
    uint64_t start = cpu_us();
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct list_hits hits;
        char text[64];
        arena_reset(arena);
        struct featureset *fs = featureset_new(arena, 2 * HOSTS);
        for (unsigned i = 0; i < HOSTS; i++) {
            int n = snprintf(text, sizeof(text), "www.h%u-%u.example", round, i);
            (void)featureset_add(fs, FEATURE_url_host, slice_of(text, (size_t)n));
        }
        (void)listset_lookup(s, fs, 0, arena, &hits);
    }
    uint64_t spent = cpu_us() - start;
    list_manager_release(h, &s);
    return (double)spent / ROUNDS;
}

static bool look_up(struct bench *b, double *retalone, double *retbeside)
{
    char conf[160];
    char state[96];
    char folder[320];
    struct config *config = NULL;
    struct config_errors errors = {0};
    struct origin_row row[ORIGINS] = {{.name = ""}};
    struct origins o = {.quorum = 1, .v = row, .n = ORIGINS, .self = {0xff}};
    struct arena *arena = arena_new(64 << 20);
    (void)snprintf(state, sizeof(state), "%s/state", b->path);
    (void)snprintf(conf, sizeof(conf), "%s/gillnet.conf", b->path);
    (void)snprintf(folder, sizeof(folder), "%s/peers", state);
    bool is_good =
        arena &&
        file_write_atomic(conf, SLICE_LIT("lists = ( { name = \"a\"; } );\n"), 0600,
                          &b->why) == ERR_OK &&
        config_load(conf, NULL, &config, &errors) == ERR_OK &&
        make_list(b, state, "a", 10) && file_make_dir(folder, 0750, &b->why) == ERR_OK;
    (void)snprintf(folder, sizeof(folder), "%s/peers/lists", state);
    is_good = is_good && file_make_dir(folder, 0750, &b->why) == ERR_OK;
    struct list_manager *h = is_good ? list_manager_new(state, &b->node[0].keys) : NULL;
    is_good = h && list_manager_refresh(h, config, &b->why) == ERR_OK;
    *retalone = is_good ? ask(h, arena) : 0;
    for (unsigned i = 0; is_good && i < ORIGINS; i++) {
        char hex[2 * ORIGIN_BYTES + 1];
        memset(row[i].origin, (int)i + 1, ORIGIN_BYTES);
        (void)snprintf(row[i].name, sizeof(row[i].name), "peer-%u", i);
        hex_print(row[i].origin, ORIGIN_BYTES, hex);
        (void)snprintf(folder, sizeof(folder), "%s/peers/lists/%s", state, hex);
        is_good = make_list(b, folder, "a", 100) && make_list(b, folder, "b", 100);
    }
    is_good = is_good && origins_write(state, &o, &b->why) == ERR_OK &&
              list_manager_refresh(h, config, &b->why) == ERR_OK;
    *retbeside = is_good ? ask(h, arena) : 0;
    double again = is_good ? ask(h, arena) : 0;
    *retbeside = again < *retbeside ? again : *retbeside;
    list_manager_free(&h);
    config_release(&config);
    arena_free(&arena);
    return is_good;
}

static int run(struct bench *b)
{
    double large_s = 0;
    double small_s = 0;
    double snap_s = 0;
    double alone = 0;
    double beside = 0;
    uint64_t large_bytes = 0;
    uint64_t small_bytes = 0;
    if (!publish(b, "large", b->n) || !take(b, 1, "large", &large_s, &large_bytes)) {
        return failed(b, "large objects");
    }
    if (!take_snap(b, 2, &snap_s)) {
        return failed(b, "snapshot");
    }
    if (!publish(b, "small", SMALL) || !take(b, 1, "small", &small_s, &small_bytes)) {
        return failed(b, "small objects");
    }
    if (!look_up(b, &alone, &beside)) {
        return failed(b, "look-ups");
    }
    double n = (double)b->n;
    printf("{\"entries\": %zu, \"large_per_s\": %.0f, \"large_bytes\": %.2f, "
           "\"snap_per_s\": %.0f, \"small_per_s\": %.0f, \"small_bytes\": %.2f, "
           "\"lookup_us\": %.1f, \"lookup_60_us\": %.1f, \"lookup_ratio\": %.2f}\n",
           b->n, n / large_s, (double)large_bytes / n, n / snap_s, n / small_s,
           (double)small_bytes / n, alone, beside, beside / alone);
    return 0;
}

int main(int argc, char **argv)
{
    static struct bench b;
    size_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : ENTRIES;
    bool is_good = n > 0 && tempdir_make_fast(b.path) && make_records(&b, n) &&
                   syncring_manifest(3, &b.m);
    for (unsigned i = 0; is_good && i < 3; i++) {
        char dir[128];
        (void)snprintf(dir, sizeof(dir), "%s/%u", b.path, i);
        syncnode_init(&b.node[i], dir, i);
        is_good = syncnode_open(&b.node[i], &b.m, &b.why) == ERR_OK;
    }
    int status = is_good ? run(&b) : failed(&b, "cannot begin");
    for (unsigned i = 0; i < 3; i++) {
        syncnode_close(&b.node[i]);
    }
    manifest_fini(&b.m);
    free(b.v);
    (void)tempdir_remove(b.path);
    return status;
}
