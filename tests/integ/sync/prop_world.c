/* prop_world - servers stop, come back, are set back, lie. */
#include "tests/integ/sync/prop_world.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"

#include "tests/integ/sync/disk_dies.h"

enum { REOPEN_TRIES = 20 };

struct world world = {.noise_state = 1};

_Noreturn void prop_fail(const char *format, ...)
{
    va_list args;
    (void)disk_lives();
    va_start(args, format);
    (void)dprintf(world.told, "prop_sync: seed %" PRIu64 ": ", world.seed);
    (void)vdprintf(world.told, format, args);
    va_end(args);
    (void)dprintf(world.told,
                  "\nprop_sync: again with: prop_sync FOLDER --seed %" PRIu64 "\n",
                  world.seed);
    exit(1); /* NOLINT(concurrency-mt-unsafe): one thread */
}

static uint64_t draw(void *context)
{
    (void)context;
    uint64_t z = (world.random_state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming) */
void __wrap_random_bytes(void *dst, size_t bytes);
/* The program is linked so that this is what asks the system for random bytes: a seed gives the
 * same twice. */
void __wrap_random_bytes(void *dst, size_t bytes)
{
    uint8_t *p = dst;
    for (size_t i = 0; i < bytes; i++) {
        world.noise_state = world.noise_state * UINT64_C(0x5851f42d4c957f2d) + 1;
        p[i] = (uint8_t)(world.noise_state >> 56);
    }
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming) */

unsigned prop_below(unsigned most)
{
    return (unsigned)(draw(NULL) % most);
}

bool prop_happens(unsigned of_1000)
{
    return prop_below(1000) < of_1000;
}

static uint64_t wall_of(unsigned i)
{
    return (uint64_t)((int64_t)world.now_s + world.server[i].skew_s);
}

/* Sets the clock to that server's; the next calls run as that server. */
void prop_be(unsigned i)
{
    clock_set_for_test(wall_of(i) * 1000000, world.boot_s * 1000000);
}

void prop_good(enum err e, const struct errinfo *why, const char *what)
{
    if (e != ERR_OK) {
        prop_fail("%s: %s: %s", what, why->source, why->text);
    }
}

/* ---- stops ---- */

/* Files of open streams are not synced: their ends may be lost. */
static void lose_unsynced(unsigned i)
{
    for (unsigned o = 0; o < world.n; o++) {
        char dir[FILE_PATH_MAX];
        char hex[2 * OBJECT_ID_BYTES + 1];
        const struct dirent *entry = NULL;
        hex_print(world.node[o].self.origin.b, OBJECT_ID_BYTES, hex);
        (void)file_path(dir, "%s/peers/%s/%s", world.node[i].dir,
                        o == i ? "own" : "counts", hex);
        DIR *d = opendir(dir);
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
        while (d && (entry = readdir(d)) != NULL) {
            char path[FILE_PATH_MAX];
            struct stat st;
            if (entry->d_name[0] != '.' && prop_happens(300) &&
                file_path(path, "%s/%s", dir, entry->d_name) == ERR_OK &&
                stat(path, &st) == 0 &&
                truncate(path, (off_t)prop_below((unsigned)st.st_size + 1)) != 0) {
                prop_fail("cannot cut %s", path);
            }
        }
        if (d) {
            (void)closedir(d);
        }
    }
}

/* gillnetd's counts are published again from the start. */
static void tell_anew(unsigned i)
{
    memset(world.server[i].is_told, 0, sizeof(world.server[i].is_told));
    memset(world.server[i].is_ended, 0, sizeof(world.server[i].is_ended));
    memset(world.server[i].has_asked, 0, sizeof(world.server[i].has_asked));
    world.server[i].lists.is_told = false;
    world.server[i].lists.is_filter_told = false;
}

void prop_open_again(unsigned i)
{
    struct errinfo why;
    prop_be(i);
    for (unsigned k = 0; k < REOPEN_TRIES; k++) {
        if (prop_happens(250)) { /* it stops while it starts */
            disk_dies_after(1 + prop_below(40));
        }
        enum err e = syncnode_open(&world.node[i], &world.ring, &why);
        if (disk_lives()) {
            world.ncrashes++;
            disk_dies_after(1);
            (void)disk_calls();
            syncnode_close(&world.node[i]);
            (void)disk_lives();
            continue;
        }
        prop_good(e, &why, "open");
        tell_anew(i);
        prop_check_known(i);
        return;
    }
    syncnode_close(&world.node[i]);
    prop_good(syncnode_open(&world.node[i], &world.ring, &why), &why, "open");
    tell_anew(i);
}

void prop_stop(unsigned i, bool is_power_loss)
{
    syncnode_close(&world.node[i]);
    (void)disk_lives();
    world.ncrashes++;
    if (is_power_loss) {
        lose_unsynced(i);
    }
    prop_open_again(i);
}

/* ---- what can happen ---- */

void prop_count(unsigned i)
{
    struct server *s = &world.server[i];
    const unsigned wall = prop_bucket(wall_of(i) - wall_of(i) % 600);
    s->bucket = wall < BUCKETS && wall > s->bucket ? wall : s->bucket;
    for (unsigned k = prop_below(8) + 1; k > 0; k--) {
        const unsigned key = prop_below(KEYS);
        const uint64_t more = prop_happens(900) ? 1 : 1 + prop_below(500);
        s->counted.v[s->bucket][key] += more;
        world.ever[i].v[s->bucket][key] += more;
    }
    s->is_told[s->bucket] = false;
}

static int by_key(const void *a, const void *b)
{
    const struct count_record *x = a;
    const struct count_record *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

static enum err publish_bucket(unsigned i, unsigned b, struct errinfo *why)
{
    struct count_record v[KEYS];
    size_t nv = 0;
    for (unsigned k = 0; k < KEYS; k++) {
        if (world.server[i].counted.v[b][k] > 0) {
            v[nv++] =
                (struct count_record){prop_key(k), world.server[i].counted.v[b][k]};
        }
    }
    qsort(v, nv, sizeof(*v), by_key);
    return sync_publish_counts(world.node[i].sync, prop_start(b), v, nv, why);
}

/* Lists are published after a start only when all reachable peers were asked for their heads. */
static bool may_list(unsigned i)
{
    bool may = world.has_lists;
    for (unsigned k = 0; k < world.n; k++) {
        may = may && (world.link_of[i][k] == 0 || world.server[i].has_asked[k]);
    }
    return may;
}

static enum err publish_lists(unsigned i, struct errinfo *why)
{
    struct listing *l = &world.server[i].lists;
    enum err e = ERR_OK;
    if (may_list(i) && !l->is_told) {
        e = prop_list_publish(&world.node[i], l, wall_of(i), why);
    }
    if (e == ERR_OK && may_list(i) && l->generation > 0 && !l->is_filter_told) {
        e = prop_filter_publish(&world.node[i], l, why);
    }
    return e;
}

/* False: something failed, *why says what. */
enum err prop_publish(unsigned i, struct errinfo *why)
{
    struct server *s = &world.server[i];
    enum err e = ERR_OK;
    if (world.is_greedy && i == world.liar) {
        return ERR_OK; /* it would keep to its quota */
    }
    for (unsigned b = 0; b < BUCKETS && e == ERR_OK; b++) {
        if (!s->is_told[b]) {
            e = publish_bucket(i, b, why);
            s->is_told[b] = e == ERR_OK;
            if (e == ERR_OK) {
                memcpy(s->told.v[b], s->counted.v[b], sizeof(s->told.v[b]));
            }
        }
        if (e == ERR_OK && !s->is_ended[b] && b < s->bucket &&
            prop_start(b) + 660 <= wall_of(i)) {
            e = sync_close_counts(world.node[i].sync, prop_start(b), why);
            s->is_ended[b] = e == ERR_OK;
        }
    }
    return e == ERR_OK ? publish_lists(i, why) : e;
}

/* A list goes on after a copy was put back, at a place whose object was sent once but reached
 * nobody: none can know. Where somebody has it, that is a fork, which prop_pull sees. */
static bool may_be_new(const struct object *o)
{
    for (unsigned i = 0; i < world.n; i++) {
        if (memcmp(o->stream.origin.b, world.node[i].self.origin.b, OBJECT_ID_BYTES) ==
            0) {
            return o->stream.kind != OBJECT_COUNT && world.server[i].was_restored;
        }
    }
    return false;
}

void prop_see(void *context, struct slice object)
{
    (void)context;
    world.nobjects++;
    struct object o;
    if (object_parse(object, &o, NULL) != ERR_OK) {
        prop_fail("what was sent is no object");
    }
    world.nsteps += o.stream.kind != OBJECT_COUNT;
    if (world.liar < world.n &&
        memcmp(o.stream.origin.b, world.node[world.liar].self.origin.b,
               OBJECT_ID_BYTES) == 0) {
        return;
    }
    if (!prop_note_object(object) && !may_be_new(&o)) {
        prop_fail("two objects were signed for one place");
    }
}

void prop_pull(unsigned to, unsigned from, bool is_whole)
{
    const struct syncway way = {.draw = draw,
                                .lost = is_whole ? 0 : 150,
                                .repeated = is_whole ? 0 : 150,
                                .shuffled = is_whole ? 0 : 200,
                                .seen = prop_see};
    struct syncpull p = {.after = 0};
    prop_be(to);
    if (syncring_pull(&world.node[to], &world.node[from], &way, &p)) {
        world.server[to].has_asked[from] = true;
    }
    world.nforks += p.results[SYNC_FORK];
    const uint64_t bad = p.results[SYNC_SIGNATURE] + p.results[SYNC_PAYLOAD] +
                         p.results[SYNC_ROOT] + p.results[SYNC_MALFORMED];
    if (bad > 0 || (p.results[SYNC_FORK] > 0 && !world.has_lied)) {
        prop_fail("%s: %s: honest objects are refused", p.why.source, p.why.text);
    }
}

void prop_copy_path(unsigned i, char ret[FILE_PATH_MAX])
{
    (void)file_path(ret, "%s.copy", world.node[i].dir);
}

void prop_make_copy(unsigned i)
{
    char path[FILE_PATH_MAX];
    prop_copy_path(i, path);
    prop_remove(path);
    prop_copy(world.node[i].dir, path);
    world.server[i].has_copy = true;
    world.server[i].copy = world.server[i].counted;
    world.server[i].copy_told = world.server[i].told;
    world.server[i].copy_bucket = world.server[i].bucket;
    world.server[i].copy_lists = world.server[i].lists;
}

void prop_restore(unsigned i)
{
    char path[FILE_PATH_MAX];
    prop_copy_path(i, path);
    syncnode_close(&world.node[i]);
    prop_remove(world.node[i].dir);
    prop_copy(path, world.node[i].dir);
    world.server[i].counted = world.server[i].copy;
    world.server[i].told = world.server[i].copy_told;
    for (unsigned b = 0; b < BUCKETS; b++) {
        for (unsigned k = 0; k < KEYS; k++) {
            world.server[i].twice.v[b][k] +=
                world.server[i].copy.v[b][k] - world.server[i].copy_told.v[b][k];
        }
    }
    world.server[i].bucket = world.server[i].copy_bucket;
    world.server[i].lists = world.server[i].copy_lists;
    world.server[i].was_restored = true;
    world.nrestores++;
    prop_open_again(i);
    for (unsigned k = 0; k < world.n; k++) {
        if (k != i && world.link_of[i][k] == LINK_UP && prop_happens(700)) {
            prop_pull(i, k, prop_happens(500));
        }
    }
}

/* ---- a liar ---- */

void prop_check_quota(unsigned i)
{
    struct sync_origin_stat stat[NODES_MAX];
    prop_be(i);
    if (sync_stat(world.node[i].sync, stat, NODES_MAX) != world.n ||
        stat[world.liar].quota != GREEDY_BUCKET ||
        stat[world.liar].quota_used > GREEDY_BUCKET) {
        prop_fail("server %u holds %" PRIu64 " records of one bucket of the liar", i,
                  stat[world.liar].quota_used);
    }
}

void prop_be_greedy(void)
{
    struct count_record v[2 * GREEDY_BUCKET];
    const unsigned to = prop_below(world.n - 1);
    const size_t n = 1 + prop_below(2 * GREEDY_BUCKET);
    const uint64_t start = world.now_s - world.now_s % 600;
    struct root root = {{0}};
    struct object o = {
        .type = OBJECT_DELTA, .seq = 1, .created_ms = world.now_s * 1000};
    struct buf object;
    struct errinfo why;
    v[0] = (struct count_record){draw(NULL) >> 8 | 1, 1};
    for (size_t i = 1; i < n; i++) {
        v[i] = (struct count_record){v[i - 1].key + 1 + prop_below(9), 1};
    }
    syncring_count_key(&world.node[world.liar], draw(NULL) | 1, start, &o.stream);
    buf_init(&object, 1 << 20);
    if (!syncring_make(&world.node[world.liar].self, &o, v, n, &root, &object)) {
        prop_fail("no memory for too much");
    }
    prop_be(to);
    enum sync_result r = sync_offer(world.node[to].sync, buf_slice(&object), &why);
    if (r == SYNC_APPLIED ? n > GREEDY_BUCKET
                          : r != SYNC_QUOTA && r != SYNC_FUTURE && r != SYNC_OLD) {
        prop_fail("too much is %s", sync_result_name(r));
    }
    world.nrefused += r == SYNC_QUOTA;
    prop_check_quota(to);
    buf_fini(&object);
}

/* One place of one stream, told differently to two. */
void prop_lie(void)
{
    const unsigned a = prop_below(world.n - 1);
    const unsigned b = (a + 1 + prop_below(world.n - 2)) % (world.n - 1);
    const uint64_t inc = draw(NULL) | 1;
    const uint64_t start = world.now_s - world.now_s % 600;
    const unsigned victims[] = {a, b};
    unsigned told_to = 0;
    for (unsigned k = 0; k < 2; k++) {
        struct root root = {{0}};
        struct object o = {
            .type = OBJECT_DELTA, .seq = 1, .created_ms = world.now_s * 1000};
        const struct count_record v[] = {{prop_key(0), 100 + k}};
        struct buf object;
        syncring_count_key(&world.node[world.liar], inc, start, &o.stream);
        buf_init(&object, 1 << 20);
        if (!syncring_make(&world.node[world.liar].self, &o, v, 1, &root, &object)) {
            prop_fail("no memory for a lie");
        }
        prop_be(victims[k]);
        struct errinfo why;
        enum sync_result r =
            sync_offer(world.node[victims[k]].sync, buf_slice(&object), &why);
        told_to += r == SYNC_APPLIED;
        buf_fini(&object);
    }
    world.has_lied = world.has_lied || told_to == 2;
}
