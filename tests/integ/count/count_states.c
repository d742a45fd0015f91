/*
 * count_states - every state in which a power loss can leave the counts' files, and its recovery.
 *
 * Usage: count_states FOLDER STATES [SEED]
 * First it plays days of counting with tables, journals, growth, sealing, restarts, merging of days
 * and expiry. It records every call that changes files (the program is linked with wrappers). Then
 * it makes states of the disk for each point between two calls. Synced writes are present. Every
 * other write is lost, torn or present, and a file may be longer than the bytes that reached it.
 * Any subset of the unsynced changes of names is present. Running tables, written through mappings,
 * are garbage: zeros, noise, or noise behind a real header. Each new state is recovered as after a
 * boot. All flushed counts must be present, once each, with no others, and every run must be
 * intact. The same must hold after another recovery, merge and expiry.
 * One JSON line; exit status 1 when a state was bad.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/checksum.h"
#include "core/count/live.h"
#include "core/count/runset.h"

#include "tests/integ/count/disk_calls.h"

enum { SHARDS = 4, SECTOR = 512, SEEN_SLOTS = 1 << 20, ROUNDS_MAX = 400 };
#define DAY0 UINT64_C(20000)

static uint64_t random_state;

static uint64_t mix(void)
{
    uint64_t z = (random_state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* ---- the days that are played ---- */

static uint64_t key_of(unsigned i)
{
    uint64_t z = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    return (z ^ (z >> 29)) | 1;
}

static void good(enum err e, const struct errinfo *why)
{
    if (e != ERR_OK) {
        fail(why->text);
    }
}

static void add_some(struct live *l, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        unsigned k = (unsigned)(mix() % KEYS);
        uint64_t amount = 1 + mix() % 4;
        uint64_t count = 0;
        if (!live_add(l, live_shard_of(key_of(k), SHARDS), key_of(k), amount, &count)) {
            fail("a shard is full");
        }
        now.counted[k] += amount;
    }
}

static void all_is_safe(void)
{
    memcpy(now.flushed, now.counted, sizeof(now.flushed));
    (void)record(OP_MARK);
}

static void flush(struct live *l)
{
    struct errinfo why;
    for (unsigned i = 0; i < SHARDS; i++) {
        live_flush_shard(l, i);
    }
    good(live_flush(l, &why), &why);
    all_is_safe();
}

static void grow(struct live *l)
{
    struct errinfo why;
    good(live_grow_begin(l, &why), &why);
    for (unsigned i = 0; i < SHARDS; i++) {
        live_grow_shard(l, i);
    }
    live_grow_end(l);
}

enum ending { END_SEAL, END_KILL, END_POWER_LOSS };

/* One incarnation in one bucket. */
static void play(struct runset *set, uint64_t bucket, uint64_t inc, enum ending ending)
{
    struct run_id id = {.origin = {1},
                        .inc = inc,
                        .start_s = bucket * COUNT_BUCKET_S,
                        .len_s = COUNT_BUCKET_S,
                        .key_id = 1};
    struct live *l = NULL;
    struct errinfo why;
    struct live_recovered saved;
    now.now = bucket;
    good(live_new(dirs[0], &id, SHARDS, 256, &l, &why), &why);
    for (unsigned i = 0; i < 3; i++) {
        add_some(l, 20);
        flush(l);
        if (i == 1 && mix() % 2) {
            grow(l);
        }
    }
    add_some(l, 20); /* not flushed */
    if (ending == END_SEAL) {
        good(live_seal(l, dirs[1], &why), &why);
        all_is_safe();
        good(runset_refresh(set, &why), &why);
        live_forget(l);
    }
    live_free(&l, false);
    if (ending == END_KILL) {
        good(live_recover(dirs[0], dirs[1], &saved, &why), &why);
        all_is_safe();
    } else if (ending == END_POWER_LOSS) {
        live_set_boot_for_test("another");
        good(live_recover(dirs[0], dirs[1], &saved, &why), &why);
        live_set_boot_for_test(NULL);
        memcpy(now.counted, now.flushed, sizeof(now.counted));
        (void)record(OP_MARK);
    }
    good(runset_refresh(set, &why), &why);
    good(runset_merge_days(set, bucket / COUNT_DAY_BUCKETS, &why), &why);
    good(runset_expire(set, bucket, &why), &why);
    (void)record(OP_MARK);
}

static void play_all(void)
{
    static const unsigned buckets[] = {141, 142, 143, 144, 145, 200, 287, 288,
                                       289, 340, 431, 432, 433, 580, 720};
    struct runset *set = NULL;
    struct errinfo why;
    uint64_t inc = 1;
    is_recording = true;
    good(runset_open(dirs[1], NULL, NULL, &set, &why), &why);
    for (size_t i = 0; i < sizeof(buckets) / sizeof(*buckets); i++) {
        uint64_t bucket = DAY0 * COUNT_DAY_BUCKETS + buckets[i];
        if (i % 3 == 1) {
            play(set, bucket, inc++, i % 2 ? END_KILL : END_POWER_LOSS);
        }
        play(set, bucket, inc++, END_SEAL);
    }
    runset_close(&set);
    is_recording = false;
}

/* ---- states of the disk ---- */

struct pending {
    const struct op *v[OPS_MAX];
    size_t n;
};
static struct pending pending_writes; /* and allocations */
static struct pending pending_names;
static struct name durable[NAMES_MAX];

static void node_write(char **bytes, size_t *size, const struct op *op, size_t n)
{
    size_t end = op->kind == OP_ALLOC ? op->n : (size_t)op->offset + n;
    if (end > *size) {
        *bytes = must(realloc(*bytes, end + 1));
        memset(*bytes + *size, 0, end - *size);
        *size = end;
    }
    if (op->kind == OP_WRITE) {
        memcpy(*bytes + op->offset, op->bytes, n);
    }
}

static void name_apply(struct name *in, const struct op *op)
{
    if (op->kind == OP_CREATE) {
        set_name(in, op->dir, op->name, op->node);
    } else if (op->kind == OP_RENAME) {
        drop_name(in, op->dir, op->name);
        set_name(in, op->dir, op->to, op->node);
    } else {
        drop_name(in, op->dir, op->name);
    }
}

/* Adds the call to the changes that may be lost, or makes the changes before it durable. */
static void advance(const struct op *op)
{
    size_t kept = 0;
    if (op->header) {
        memcpy(nodes[op->header_of].header, op->header, HEADER);
        nodes[op->header_of].has_header = true;
    }
    switch (op->kind) {
    case OP_WRITE:
    case OP_ALLOC:
        pending_writes.v[pending_writes.n++] = op;
        break;
    case OP_CREATE:
    case OP_RENAME:
    case OP_UNLINK:
        pending_names.v[pending_names.n++] = op;
        break;
    case OP_SYNC:
        for (size_t i = 0; i < pending_writes.n; i++) {
            const struct op *w = pending_writes.v[i];
            if (w->node == op->node) {
                node_write(&nodes[w->node].bytes, &nodes[w->node].size, w, w->n);
            } else {
                pending_writes.v[kept++] = w;
            }
        }
        pending_writes.n = kept;
        break;
    case OP_SYNC_DIR:
        for (size_t i = 0; i < pending_names.n; i++) {
            if (pending_names.v[i]->dir == op->dir) {
                name_apply(durable, pending_names.v[i]);
            } else {
                pending_names.v[kept++] = pending_names.v[i];
            }
        }
        pending_names.n = kept;
        break;
    case OP_MARK:
        break;
    }
}

enum fate { ALL_LOST, ALL_THERE, AT_RANDOM };

static bool is_there(enum fate fate)
{
    return fate == ALL_THERE || (fate == AT_RANDOM && mix() % 2);
}

/* The bytes of a table: never what was stored through the mapping. */
static void table_bytes(const struct node *node, char *bytes, size_t size)
{
    unsigned kind = (unsigned)(mix() % 3);
    for (size_t i = 0; kind > 0 && i + 8 <= size; i += 8) {
        uint64_t noise = mix();
        memcpy(bytes + i, &noise, sizeof(noise));
    }
    if (kind == 2 && node->has_header && size >= HEADER) {
        memcpy(bytes, node->header, HEADER);
    }
}

/* The bytes of a file on the disk. Caller frees. */
static char *file_bytes(unsigned number, enum fate fate, size_t *retsize)
{
    const struct node *node = &nodes[number];
    char *bytes = copy(node->bytes ? node->bytes : "", node->size);
    size_t size = node->size;
    for (size_t i = 0; i < pending_writes.n; i++) {
        const struct op *op = pending_writes.v[i];
        if (op->node != number || !is_there(fate)) {
            continue;
        }
        size_t n = op->n;
        bool is_torn = fate == AT_RANDOM && op->kind == OP_WRITE && mix() % 2;
        if (is_torn) { /* some sectors, the length perhaps of all */
            n = mix() % (n + 1);
            n -= n > SECTOR && mix() % 2 ? n % SECTOR : 0;
        }
        node_write(&bytes, &size, op, n);
        if (is_torn && mix() % 2) {
            struct op length = *op;
            length.kind = OP_ALLOC;
            length.n += op->offset;
            node_write(&bytes, &size, &length, 0);
        }
    }
    if (node->is_table) {
        table_bytes(node, bytes, size);
    }
    *retsize = size;
    return bytes;
}

/* ---- trying a state ---- */

static uint64_t *seen;

/* Whether this is the first time. */
static bool is_new(uint64_t hash)
{
    size_t at = hash % SEEN_SLOTS;
    while (seen[at] != 0 && seen[at] != hash) {
        at = (at + 1) % SEEN_SLOTS;
    }
    bool is_first = seen[at] == 0;
    seen[at] = hash;
    return is_first;
}

static void empty_dir(const char *dir)
{
    DIR *d = opendir(dir);
    if (!d) {
        fail("cannot list the folder");
    }
    for (const struct dirent *e = readdir(d); e; /* NOLINT(concurrency-mt-unsafe) */
         e = readdir(d)) {                       /* NOLINT(concurrency-mt-unsafe) */
        (void)unlinkat(dirfd(d), e->d_name, 0);  /* not the folders */
    }
    (void)closedir(d);
}

static void put_file(unsigned dir, const char *name, const char *bytes, size_t n)
{
    char path[FILE_PATH_MAX];
    (void)file_path(path, "%s/%s", dirs[dir], name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n || close(fd) != 0) {
        fail("cannot write a state");
    }
}

/* Makes a state of the disk; false: it was tried before. */
static bool make_state(enum fate fate, size_t ledger)
{
    struct name there[NAMES_MAX];
    uint64_t hash = ledger + 1;
    memset(there, 0, sizeof(there));
    for (size_t i = 0; i < NAMES_MAX; i++) {
        if (durable[i].name) {
            set_name(there, durable[i].dir, durable[i].name, durable[i].node);
        }
    }
    for (size_t i = 0; i < pending_names.n; i++) {
        if (is_there(fate)) {
            name_apply(there, pending_names.v[i]);
        }
    }
    for (unsigned d = 0; d < DIRS; d++) {
        empty_dir(dirs[d]);
    }
    for (size_t i = 0; i < NAMES_MAX; i++) {
        if (!there[i].name) {
            continue;
        }
        size_t n = 0;
        char *bytes = file_bytes(there[i].node, fate, &n);
        put_file(there[i].dir, there[i].name, bytes, n);
        /* noise in tables does not make a state of its own */
        size_t counted = nodes[there[i].node].is_table ? 0 : n;
        hash += (checksum64(slice_of(bytes, counted)) ^ n) *
                (checksum64(slice_str(there[i].name)) | 1);
        free(bytes);
        free(there[i].name);
    }
    return is_new(hash | 1);
}

struct verdict {
    uint64_t states;
    uint64_t bad;
    uint64_t lost_most; /* of what was not flushed: counts that a state lost */
    unsigned ndamaged;
};

static void on_damage(void *context, const struct errinfo *why)
{
    struct verdict *v = context;
    v->ndamaged++;
    (void)fprintf(stderr, "damaged: %s: %s\n", why->source, why->text);
}

/* Asks for every key; false: something is missing, or there that was not counted. */
static bool ask_all(struct runset *set, const struct ledger *l, struct verdict *v)
{
    const uint32_t key_id = 1;
    uint64_t lost = 0;
    for (unsigned k = 0; k < KEYS; k++) {
        uint64_t key = key_of(k);
        uint64_t n = 0;
        struct count_history h;
        runset_history(set, &key, &key_id, 1, l->now, &h);
        for (unsigned d = 0; d <= COUNT_DAYS; d++) {
            n += h.day[d];
        }
        if (n < l->flushed[k] || n > l->counted[k] || h.ndamaged > 0) {
            (void)fprintf(stderr,
                          "key %u: %" PRIu64 ", flushed %" PRIu64 ", counted %" PRIu64
                          ", %u damaged\n",
                          k, n, l->flushed[k], l->counted[k], h.ndamaged);
            return false;
        }
        lost += l->counted[k] - n;
    }
    v->lost_most = lost > v->lost_most ? lost : v->lost_most;
    return true;
}

static bool try_state(const struct ledger *l, struct verdict *v)
{
    struct runset *set = NULL;
    struct live_recovered saved;
    struct errinfo why = {.code = ERR_OK};
    bool is_good = true;
    v->ndamaged = 0;
    for (unsigned again = 0; again < 2 && is_good; again++) {
        is_good = live_recover(dirs[0], dirs[1], &saved, &why) == ERR_OK &&
                  runset_open(dirs[1], on_damage, v, &set, &why) == ERR_OK;
        if (is_good && again) {
            is_good =
                runset_merge_days(set, l->now / COUNT_DAY_BUCKETS, &why) == ERR_OK &&
                runset_expire(set, l->now, &why) == ERR_OK;
        }
        is_good = is_good && ask_all(set, l, v) && v->ndamaged == 0;
        runset_close(&set);
    }
    if (!is_good) {
        (void)fprintf(stderr, "bad state: %s: %s\n", why.source, why.text);
    }
    return is_good;
}

static void try_point(size_t point, enum fate fate, struct verdict *v)
{
    if (!make_state(fate, ops[point].ledger)) {
        return;
    }
    v->states++;
    if (!try_state(&ledgers[ops[point].ledger], v)) {
        (void)fprintf(stderr, "after call %zu (kind %d)\n", point,
                      (int)ops[point].kind);
        v->bad++;
    }
}

static void forget_disk(void)
{
    for (unsigned i = 0; i < nnodes; i++) {
        free(nodes[i].bytes);
        nodes[i].bytes = NULL;
        nodes[i].size = 0;
        nodes[i].has_header = false;
    }
    for (size_t i = 0; i < NAMES_MAX; i++) {
        free(durable[i].name);
        durable[i].name = NULL;
    }
    pending_writes.n = 0;
    pending_names.n = 0;
}

int main(int argc, char **argv)
{
    struct verdict v = {0};
    if (argc < 3 || base_init() != ERR_OK) {
        (void)fprintf(stderr, "usage: count_states FOLDER STATES [SEED]\n");
        return 2;
    }
    uint64_t wanted = strtoull(argv[2], NULL, 10);
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    random_state = seed;
    (void)file_path(dirs[0], "%s/counts", argv[1]);
    (void)file_path(dirs[1], "%s/counts/runs", argv[1]);
    ops = must(calloc(OPS_MAX, sizeof(*ops)));
    seen = must(calloc(SEEN_SLOTS, sizeof(*seen)));
    if (file_make_dir(dirs[0], 0700, NULL) != ERR_OK ||
        file_make_dir(dirs[1], 0700, NULL) != ERR_OK) {
        return 2;
    }
    play_all();
    is_checking = true;
    live_set_boot_for_test("after the stop");
    unsigned round = 0;
    for (; round < ROUNDS_MAX && v.states < wanted && v.bad == 0; round++) {
        forget_disk();
        for (size_t i = 0; i < nops && v.bad == 0; i++) {
            advance(&ops[i]);
            try_point(i, round < AT_RANDOM ? (enum fate)round : AT_RANDOM, &v);
        }
    }
    printf("{\"test\": \"count_states\", \"seed\": %" PRIu64 ", \"calls\": %zu, "
           "\"rounds\": %u, \"states\": %" PRIu64 ", \"bad\": %" PRIu64
           ", \"unflushed_lost_most\": %" PRIu64 "}\n",
           seed, nops, round, v.states, v.bad, v.lost_most);
    return v.bad > 0 || v.states < wanted;
}
