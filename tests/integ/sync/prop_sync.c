/*
 * prop_sync - rings of servers in one process, and all that can happen to them.
 *
 * Usage: prop_sync FOLDER [--seeds N] [--seed S] [--from S]
 * The real codec, store and sync; a simulated network that loses, repeats and reorders, in which not
 * every two servers reach each other; virtual time, clocks that are set; processes that stop in the middle of a
 * write, files that lose what was not synced; state folders put back from a copy; in some seeds an origin that
 * signs two histories, or more than it may. In the end the network is whole again and it is asked:
 *   one signature for each place of a stream, ever; equal heads everywhere; each server holds exactly what each origin
 *   counted (after a restored copy: at least what that one remembers; at most what was ever counted, and once more
 * what was counted and not yet told when the copy was made); who signed two
 *   histories is set aside by all and nothing of it is left; who is dropped is gone, after a restart too.
 * One JSON line; exit status 1 and the seed when one of these does not hold.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/base/file.h"

#include "tests/integ/sync/disk_dies.h"
#include "tests/integ/sync/prop_model.h"

enum {
    STEPS = 220,
    SKEW_MAX_S = 3600,
    ROUNDS_MAX = 40,
    REOPEN_TRIES = 20,
    LINK_DOWN = 1,
    LINK_UP = 2
};

struct server {
    struct tally counted; /* as its gillnetd remembers it */
    unsigned bucket;      /* that counts now */
    int64_t skew_s;
    bool is_told[BUCKETS]; /* nothing new since it was published */
    bool is_ended[BUCKETS];
    bool has_copy;
    struct tally told;
    struct tally copy;
    struct tally copy_told;
    struct tally twice; /* counted, not told when copied: told by both lives */
    unsigned copy_bucket;
    bool was_restored;
};

static const char *folder;
static int told; /* standard error; the log goes elsewhere */
static uint64_t seed;
static uint64_t random_state;
static uint64_t noise_state = 1;
static struct syncnode node[NODES_MAX];
static struct server server[NODES_MAX];
static struct tally ever[NODES_MAX]; /* all that was counted, whatever was restored */
static unsigned n;
static unsigned liar; /* NODES_MAX: none */
static bool has_lied;
static uint8_t link_of[NODES_MAX][NODES_MAX];
static uint64_t now_s;
static uint64_t boot_s;
static struct manifest ring;
static struct holding held[NODES_MAX];
static uint64_t ncrashes;
static uint64_t nrestores;
static uint64_t nobjects;
static uint64_t nforks;

_Noreturn void prop_fail(const char *format, ...)
{
    va_list args;
    (void)disk_lives();
    va_start(args, format);
    (void)dprintf(told, "prop_sync: seed %" PRIu64 ": ", seed);
    (void)vdprintf(told, format, args);
    va_end(args);
    (void)dprintf(
        told, "\nprop_sync: again with: prop_sync FOLDER --seed %" PRIu64 "\n", seed);
    exit(1); /* NOLINT(concurrency-mt-unsafe): one thread */
}

static uint64_t draw(void *context)
{
    (void)context;
    uint64_t z = (random_state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming) */
void __wrap_random_bytes(void *dst, size_t bytes);
/* The program is linked so that this is what asks the system for random bytes: a seed gives the same twice. */
void __wrap_random_bytes(void *dst, size_t bytes)
{
    uint8_t *p = dst;
    for (size_t i = 0; i < bytes; i++) {
        noise_state = noise_state * UINT64_C(0x5851f42d4c957f2d) + 1;
        p[i] = (uint8_t)(noise_state >> 56);
    }
}
/* NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp,readability-identifier-naming) */

static unsigned below(unsigned most)
{
    return (unsigned)(draw(NULL) % most);
}

static bool happens(unsigned of_1000)
{
    return below(1000) < of_1000;
}

static uint64_t wall_of(unsigned i)
{
    return (uint64_t)((int64_t)now_s + server[i].skew_s);
}

/* What follows happens on that server. */
static void be(unsigned i)
{
    clock_set_for_test(wall_of(i) * 1000000, boot_s * 1000000);
}

static void good(enum err e, const struct errinfo *why, const char *what)
{
    if (e != ERR_OK) {
        prop_fail("%s: %s: %s", what, why->source, why->text);
    }
}

/* ---- stops ---- */

/* Files of open streams are not synced: their ends may be lost. */
static void lose_unsynced(unsigned i)
{
    for (unsigned o = 0; o < n; o++) {
        char dir[FILE_PATH_MAX];
        char hex[2 * OBJECT_ID_BYTES + 1];
        const struct dirent *entry = NULL;
        hex_print(node[o].self.origin.b, OBJECT_ID_BYTES, hex);
        (void)file_path(dir, "%s/peers/%s/%s", node[i].dir, o == i ? "own" : "counts",
                        hex);
        DIR *d = opendir(dir);
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
        while (d && (entry = readdir(d)) != NULL) {
            char path[FILE_PATH_MAX];
            struct stat st;
            if (entry->d_name[0] != '.' && happens(300) &&
                file_path(path, "%s/%s", dir, entry->d_name) == ERR_OK &&
                stat(path, &st) == 0 &&
                truncate(path, (off_t)below((unsigned)st.st_size + 1)) != 0) {
                prop_fail("cannot cut %s", path);
            }
        }
        if (d) {
            (void)closedir(d);
        }
    }
}

/* gillnetd's counts are told again from the begin. */
static void tell_anew(unsigned i)
{
    memset(server[i].is_told, 0, sizeof(server[i].is_told));
    memset(server[i].is_ended, 0, sizeof(server[i].is_ended));
}

static void open_again(unsigned i)
{
    struct errinfo why;
    be(i);
    for (unsigned k = 0; k < REOPEN_TRIES; k++) {
        if (happens(250)) { /* it stops while it starts */
            disk_dies_after(1 + below(40));
        }
        enum err e = syncnode_open(&node[i], &ring, &why);
        if (disk_lives()) {
            ncrashes++;
            disk_dies_after(1);
            (void)disk_calls();
            syncnode_close(&node[i]);
            (void)disk_lives();
            continue;
        }
        good(e, &why, "open");
        tell_anew(i);
        return;
    }
    syncnode_close(&node[i]);
    good(syncnode_open(&node[i], &ring, &why), &why, "open");
    tell_anew(i);
}

static void stop(unsigned i, bool is_power_loss)
{
    syncnode_close(&node[i]);
    (void)disk_lives();
    ncrashes++;
    if (is_power_loss) {
        lose_unsynced(i);
    }
    open_again(i);
}

/* ---- what can happen ---- */

static void count(unsigned i)
{
    struct server *s = &server[i];
    const unsigned wall = prop_bucket(wall_of(i) - wall_of(i) % 600);
    s->bucket = wall < BUCKETS && wall > s->bucket ? wall : s->bucket;
    for (unsigned k = below(8) + 1; k > 0; k--) {
        const unsigned key = below(KEYS);
        const uint64_t more = happens(900) ? 1 : 1 + below(500);
        s->counted.v[s->bucket][key] += more;
        ever[i].v[s->bucket][key] += more;
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
        if (server[i].counted.v[b][k] > 0) {
            v[nv++] = (struct count_record){prop_key(k), server[i].counted.v[b][k]};
        }
    }
    qsort(v, nv, sizeof(*v), by_key);
    return sync_publish_counts(node[i].sync, prop_start(b), v, nv, why);
}

/* False: something failed, *why says what. */
static enum err publish(unsigned i, struct errinfo *why)
{
    struct server *s = &server[i];
    enum err e = ERR_OK;
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
            e = sync_close_counts(node[i].sync, prop_start(b), why);
            s->is_ended[b] = e == ERR_OK;
        }
    }
    return e;
}

static void see(void *context, struct slice object)
{
    (void)context;
    nobjects++;
    struct object o;
    if (object_parse(object, &o, NULL) == ERR_OK && liar < n &&
        memcmp(o.stream.origin.b, node[liar].self.origin.b, OBJECT_ID_BYTES) == 0) {
        return;
    }
    if (!prop_note_object(object)) {
        prop_fail("two objects were signed for one place");
    }
}

static void pull(unsigned to, unsigned from, bool is_whole)
{
    const struct syncway way = {.draw = draw,
                                .lost = is_whole ? 0 : 150,
                                .repeated = is_whole ? 0 : 150,
                                .shuffled = is_whole ? 0 : 200,
                                .seen = see};
    struct syncpull p = {.after = 0};
    be(to);
    (void)syncring_pull(&node[to], &node[from], &way, &p);
    nforks += p.results[SYNC_FORK];
    const uint64_t bad = p.results[SYNC_SIGNATURE] + p.results[SYNC_PAYLOAD] +
                         p.results[SYNC_ROOT] + p.results[SYNC_MALFORMED];
    if (bad > 0 || (p.results[SYNC_FORK] > 0 && !has_lied)) {
        prop_fail("%s: %s: honest objects are refused", p.why.source, p.why.text);
    }
}

static void copy_path(unsigned i, char ret[FILE_PATH_MAX])
{
    (void)file_path(ret, "%s.copy", node[i].dir);
}

static void make_copy(unsigned i)
{
    char path[FILE_PATH_MAX];
    copy_path(i, path);
    prop_remove(path);
    prop_copy(node[i].dir, path);
    server[i].has_copy = true;
    server[i].copy = server[i].counted;
    server[i].copy_told = server[i].told;
    server[i].copy_bucket = server[i].bucket;
}

static void restore(unsigned i)
{
    char path[FILE_PATH_MAX];
    copy_path(i, path);
    syncnode_close(&node[i]);
    prop_remove(node[i].dir);
    prop_copy(path, node[i].dir);
    server[i].counted = server[i].copy;
    server[i].told = server[i].copy_told;
    for (unsigned b = 0; b < BUCKETS; b++) {
        for (unsigned k = 0; k < KEYS; k++) {
            server[i].twice.v[b][k] +=
                server[i].copy.v[b][k] - server[i].copy_told.v[b][k];
        }
    }
    server[i].bucket = server[i].copy_bucket;
    server[i].was_restored = true;
    nrestores++;
    open_again(i);
    for (unsigned k = 0; k < n; k++) {
        if (k != i && link_of[i][k] == LINK_UP && happens(700)) {
            pull(i, k, happens(500));
        }
    }
}

/* ---- a liar ---- */

/* One place of one stream, told differently to two. */
static void lie(void)
{
    const unsigned a = below(n - 1);
    const unsigned b = (a + 1 + below(n - 2)) % (n - 1);
    const uint64_t inc = draw(NULL) | 1;
    const uint64_t start = now_s - now_s % 600;
    const unsigned victims[] = {a, b};
    unsigned told_to = 0;
    for (unsigned k = 0; k < 2; k++) {
        struct root root = {{0}};
        struct object o = {.type = OBJECT_DELTA, .seq = 1, .created_ms = now_s * 1000};
        const struct count_record v[] = {{prop_key(0), 100 + k}};
        struct buf object;
        syncring_count_key(&node[liar], inc, start, &o.stream);
        buf_init(&object, 1 << 20);
        if (!syncring_make(&node[liar].self, &o, v, 1, &root, &object)) {
            prop_fail("no memory for a lie");
        }
        be(victims[k]);
        struct errinfo why;
        enum sync_result r =
            sync_offer(node[victims[k]].sync, buf_slice(&object), &why);
        told_to += r == SYNC_APPLIED;
        buf_fini(&object);
    }
    has_lied = has_lied || told_to == 2;
}

/* ---- a seed ---- */

static void join_up(void)
{
    const unsigned honest = liar < n ? n - 1 : n;
    memset(link_of, 0, sizeof(link_of));
    for (unsigned i = 1; i < honest; i++) { /* a tree, and some more */
        const unsigned k = below(i);
        link_of[i][k] = link_of[k][i] = LINK_UP;
    }
    for (unsigned i = 0; i < honest; i++) {
        const unsigned k = below(honest);
        if (k != i) {
            link_of[i][k] = link_of[k][i] = LINK_UP;
        }
    }
    if (liar < n) {
        const unsigned k = below(honest);
        link_of[liar][k] = link_of[k][liar] = LINK_UP;
    }
}

static void begin(void)
{
    random_state = seed * UINT64_C(0x2545f4914f6cdd1d) + 1;
    noise_state = seed;
    n = 2 + below(NODES_MAX - 1);
    liar = seed % 5 == 4 && n >= 4 ? n - 1 : NODES_MAX;
    has_lied = false;
    now_s = SYNCRING_NOW_S + below(600);
    boot_s = 100000;
    prop_forget_objects();
    memset(server, 0, sizeof(server));
    memset(ever, 0, sizeof(ever));
    if (!syncring_manifest(n, &ring)) {
        prop_fail("no memory");
    }
    join_up();
    for (unsigned i = 0; i < n; i++) {
        char dir[SYNCRING_DIR];
        struct errinfo why;
        (void)snprintf(dir, sizeof(dir), "%s/%u", folder, i);
        prop_remove(dir);
        syncnode_init(&node[i], dir, i);
        server[i].bucket = BUCKETS_BEFORE;
        be(i);
        good(syncnode_open(&node[i], &ring, &why), &why, "open");
    }
}

static void change_links(void)
{
    const unsigned i = below(n);
    const unsigned k = below(n);
    if (link_of[i][k] != 0) { /* one way alone, too */
        link_of[i][k] = link_of[i][k] == LINK_UP ? LINK_DOWN : LINK_UP;
    }
}

static void pull_some(unsigned i)
{
    for (unsigned k = 0; k < n; k++) {
        if (link_of[i][k] == LINK_UP && happens(600)) {
            pull(i, k, false);
        }
    }
}

static void act(unsigned i)
{
    struct errinfo why = {.code = ERR_OK};
    enum err e = ERR_OK;
    const bool may_die = happens(80);
    if (may_die) {
        disk_dies_after(1 + below(60));
    }
    be(i);
    const unsigned what = below(100);
    if (what < 45) {
        e = publish(i, &why);
    } else if (what < 90) {
        pull_some(i);
    } else {
        be(i);
        e = sync_tick(node[i].sync, &why);
    }
    if (disk_lives()) {
        disk_dies_after(1); /* what the end of the process would have spared us */
        stop(i, happens(400));
    } else if (e != ERR_OK) {
        prop_fail("%s: %s", why.source, why.text);
    }
}

static void step(void)
{
    const unsigned i = below(n);
    const uint64_t more = happens(50) ? below(900) : below(15);
    now_s += more;
    boot_s += more;
    if (happens(30)) {
        server[i].skew_s = (int64_t)below(2 * SKEW_MAX_S) - SKEW_MAX_S;
    }
    if (happens(40)) {
        change_links();
    }
    for (unsigned k = 0; k < n; k++) {
        if (happens(300)) {
            count(k);
        }
    }
    act(i);
    if (happens(20)) {
        stop(i, happens(500));
    }
    if (seed % 3 == 0 && liar >= n && happens(15)) { /* a copy may forget a lie */
        make_copy(i);
    }
    if (server[i].has_copy && happens(10)) {
        restore(i);
    }
    if (liar < n && happens(10)) {
        lie();
    }
}

/* ---- the end ---- */

static size_t settle_once(void)
{
    size_t wants = 0;
    for (unsigned i = 0; i < n; i++) {
        struct errinfo why;
        be(i);
        good(publish(i, &why), &why, "publish");
        good(sync_tick(node[i].sync, &why), &why, "tick");
        for (unsigned k = 0; k < n; k++) {
            struct syncpull p = {.after = 0};
            const struct syncway way = {.seen = see};
            if (link_of[i][k] != 0) {
                be(i);
                if (!syncring_pull(&node[i], &node[k], &way, &p)) {
                    prop_fail("an exchange failed");
                }
                nforks += p.results[SYNC_FORK];
                wants += p.wants;
            }
        }
    }
    return wants;
}

static void settle(void)
{
    unsigned quiet = 0;
    now_s += 2 * SKEW_MAX_S + 1200;
    boot_s += 2 * SKEW_MAX_S + 1200;
    for (unsigned i = 0; i < n; i++) {
        server[i].skew_s = 0;
        for (unsigned k = 0; k < n; k++) {
            link_of[i][k] = link_of[i][k] != 0 ? LINK_UP : 0;
        }
    }
    for (unsigned round = 0; round < ROUNDS_MAX && quiet < 2; round++) {
        quiet = settle_once() == 0 ? quiet + 1 : 0;
        now_s += 61; /* what was refused for a minute is asked for again */
        boot_s += 61;
    }
    if (quiet < 2) {
        prop_fail("it never becomes quiet");
    }
}

static int by_stream(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct head));
}

/* Heads as they can be compared: what is still on disk may differ. */
static void heads_of(unsigned i, struct heads *ret)
{
    struct buf b;
    struct errinfo why;
    buf_init(&b, SIZE_MAX);
    be(i);
    if (sync_heads(node[i].sync, 0, &b) != ERR_OK) {
        prop_fail("no heads");
    }
    good(heads_parse(buf_slice(&b), ret, &why), &why, "heads");
    buf_fini(&b);
    size_t kept = 0;
    for (size_t h = 0; h < ret->n; h++) {
        struct head *p = &ret->v[h];
        struct head same;
        memset(&same, 0, sizeof(same));
        memcpy(&same.stream.origin, &p->stream.origin, sizeof(same.stream.origin));
        same.stream.inc = p->stream.inc;
        same.stream.start_s = p->stream.start_s;
        same.flags = p->flags;
        same.seq = p->seq;
        same.hash = p->hash;
        if (liar == n ||
            memcmp(p->stream.origin.b, node[liar % NODES_MAX].self.origin.b,
                   OBJECT_ID_BYTES) != 0 ||
            liar >= n) {
            ret->v[kept++] = same;
        }
    }
    ret->n = kept;
    qsort(ret->v, ret->n, sizeof(*ret->v), by_stream);
}

static void check_heads(void)
{
    struct heads first;
    heads_of(0, &first);
    for (unsigned i = 1; i < n; i++) {
        struct heads other;
        heads_of(i, &other);
        if (i != liar && (other.n != first.n ||
                          memcmp(other.v, first.v, first.n * sizeof(*first.v)) != 0)) {
            prop_fail("heads of 0 (%zu) and %u (%zu) differ", first.n, i, other.n);
        }
        heads_fini(&other);
    }
    heads_fini(&first);
}

static void check_number(unsigned i, unsigned o, unsigned b, unsigned k)
{
    const uint64_t has = held[i].of[o].v[b][k];
    const uint64_t least = server[o].counted.v[b][k];
    const uint64_t most =
        server[o].was_restored ? ever[o].v[b][k] + server[o].twice.v[b][k] : least;
    if (has < least || has > most) {
        prop_fail("server %u has %" PRIu64
                  " of origin %u bucket %u key %u, not %" PRIu64 " to %" PRIu64,
                  i, has, o, b, k, least, most);
    }
    if (has != held[0].of[o].v[b][k]) {
        prop_fail("servers 0 and %u differ in a count", i);
    }
}

static void check_counts(void)
{
    for (unsigned i = 0; i < n; i++) {
        prop_read(node, n, i, &held[i]);
    }
    for (unsigned i = 0; i < n; i++) {
        for (unsigned o = 0; o < n && i != liar; o++) {
            for (unsigned b = 0; b < BUCKETS && o != liar; b++) {
                for (unsigned k = 0; k < KEYS; k++) {
                    check_number(i, o, b, k);
                }
            }
        }
    }
}

static void check_liar(void)
{
    for (unsigned i = 0; has_lied && i + 1 < n; i++) {
        struct sync_origin_stat stat[NODES_MAX];
        const struct tally none = {{{0}}};
        be(i);
        const size_t k = sync_stat(node[i].sync, stat, NODES_MAX);
        if (k != n || !stat[liar].is_set_aside) {
            prop_fail("server %u does not set the liar aside", i);
        }
        if (memcmp(&held[i].of[liar], &none, sizeof(none)) != 0) {
            prop_fail("server %u still counts what the liar said", i);
        }
    }
}

static void check_dropped(void)
{
    const unsigned gone = n - 1;
    const struct tally none = {{{0}}};
    ring.version++;
    ring.members[gone].state = MEMBER_DROPPED;
    for (unsigned i = 0; i < gone; i++) {
        struct errinfo why;
        be(i);
        disk_dies_after(
            1 + below(60)); /* it stops while it drops: done at the next start */
        enum err e = sync_set_manifest(node[i].sync, &ring, &why);
        if (disk_lives()) {
            disk_dies_after(1);
            syncnode_close(&node[i]);
            (void)disk_lives();
            open_again(i);
        } else {
            good(e, &why, "drop");
        }
        prop_read(node, n, i, &held[i]);
        if (memcmp(&held[i].of[gone], &none, sizeof(none)) != 0) {
            prop_fail("server %u still counts for the dropped one", i);
        }
    }
}

static void run(void)
{
    begin();
    for (unsigned k = 0; k < STEPS; k++) {
        step();
    }
    for (unsigned i = 0; i < n; i++) { /* as after a restart of all */
        if (happens(300)) {
            stop(i, false);
        }
    }
    settle();
    check_heads();
    check_counts();
    check_liar();
    check_dropped();
    for (unsigned i = 0; i < n; i++) {
        char path[FILE_PATH_MAX];
        syncnode_close(&node[i]);
        prop_remove(node[i].dir);
        copy_path(i, path);
        prop_remove(path);
    }
    manifest_fini(&ring);
}

int main(int argc, char **argv)
{
    uint64_t seeds = 30;
    uint64_t from = 1;
    if (argc < 2) {
        (void)fprintf(stderr,
                      "usage: prop_sync FOLDER [--seeds N] [--from S] [--seed S]\n");
        return 64;
    }
    folder = argv[1];
    for (int i = 2; i + 1 < argc; i += 2) {
        const uint64_t v = strtoull(argv[i + 1], NULL, 10);
        seeds = strcmp(argv[i], "--seeds") == 0 ? v : seeds;
        from = strcmp(argv[i], "--from") == 0 ? v : from;
        if (strcmp(argv[i], "--seed") == 0) {
            from = v;
            seeds = 1;
        }
    }
    (void)base_init();
    told = dup(STDERR_FILENO);
    if (told < 0 || (from + seeds > from + 1 && !freopen("/dev/null", "w", stderr))) {
        return 2;
    }
    for (seed = from; seed < from + seeds; seed++) {
        run();
    }
    (void)printf("{\"test\":\"prop_sync\",\"seeds\":%" PRIu64 ",\"from\":%" PRIu64
                 ",\"stops\":%" PRIu64 ",\"restored\":%" PRIu64 ",\"objects\":%" PRIu64
                 ",\"forks\":%" PRIu64 ",\"violations\":0}\n",
                 seeds, from, ncrashes, nrestores, nobjects, nforks);
    return 0;
}
