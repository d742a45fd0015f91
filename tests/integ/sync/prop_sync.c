/*
 * prop_sync - rings of servers in one process, with all faults of the model.
 *
 * Usage: prop_sync FOLDER [--seeds N] [--seed S] [--from S]
 * The codec, store and sync are real. The network is simulated: it loses, repeats and reorders
 * messages, and not every two servers reach each other. Time is virtual, and clocks are set.
 * Processes stop in the middle of a write, files lose unsynced writes, and state folders are
 * restored from a copy. In some seeds an origin signs two histories, or exceeds its quota. There
 * are counts, a list of each server and a filter of one. The invariants of ADR 0032 are asserted in
 * these functions:
 *   I1, I2  at any time the files of a stream have the root that its origin signed for its place
 *           (prop_check_held)
 *   I3      after a start a server has every object of its own that a peer was sent
 *           (prop_check_known)
 *   I4      one signature for each place of a stream, ever (prop_see); no honest server is
 *           distrusted (check_trust)
 *   I5      once the network is whole: equal heads (check_heads), equal counts, lists and filters
 *           (check_counts, check_lists)
 *   I6, I7  each server holds exactly the counts and lists of each origin. For an origin whose disk
 *           was restored it holds at least the counts that the origin still has, and at most all
 *           counts ever made plus once more those that were not published when the copy was made
 *           (check_number). Sketches and the losses of gillnetd are tested in tests/unit/count and
 *           tests/e2e.
 *   I8      a dropped member, or one that signed two histories, leaves no counts and lists, also
 *           after a restart (check_dropped, check_liar)
 *   I9      tested without sync, in tests/unit/count/test_remote.c
 *   I10     each origin stays within its quota (prop_check_quota)
 * Prints one JSON line. Exit status 1, with the seed, if one of these does not hold.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/base.h"

#include "tests/integ/sync/disk_dies.h"
#include "tests/integ/sync/prop_world.h"

enum { STEPS = 220, SKEW_MAX_S = 3600, ROUNDS_MAX = 40 };

static struct holding held[NODES_MAX];

/* ---- a seed ---- */

static void join_up(void)
{
    const unsigned honest = world.liar < world.n ? world.n - 1 : world.n;
    memset(world.link_of, 0, sizeof(world.link_of));
    for (unsigned i = 1; i < honest; i++) { /* a tree, and some more */
        const unsigned k = prop_below(i);
        world.link_of[i][k] = world.link_of[k][i] = LINK_UP;
    }
    for (unsigned i = 0; i < honest; i++) {
        const unsigned k = prop_below(honest);
        if (k != i) {
            world.link_of[i][k] = world.link_of[k][i] = LINK_UP;
        }
    }
    if (world.liar < world.n) {
        const unsigned k = prop_below(honest);
        world.link_of[world.liar][k] = world.link_of[k][world.liar] = LINK_UP;
    }
}

static void begin(void)
{
    world.random_state = world.seed * UINT64_C(0x2545f4914f6cdd1d) + 1;
    world.noise_state = world.seed;
    world.n = 2 + prop_below(NODES_MAX - 1);
    world.liar = world.seed % 5 == 4 && world.n >= 4 ? world.n - 1 : NODES_MAX;
    world.has_lied = false;
    world.has_lists = world.seed % 6 != 0;
    world.filterer = prop_below(world.n);
    world.only_copied = world.has_lists ? prop_below(world.n) : NODES_MAX;
    world.now_s = SYNCRING_NOW_S + prop_below(600);
    world.boot_s = 100000;
    prop_forget_objects();
    memset(world.server, 0, sizeof(world.server));
    memset(world.ever, 0, sizeof(world.ever));
    if (!syncring_manifest(world.n, &world.ring)) {
        prop_fail("no memory");
    }
    world.is_greedy = world.liar < world.n && world.seed % 2 == 1;
    if (world.is_greedy) {
        world.ring.members[world.liar].records_per_day = GREEDY_A_DAY;
    }
    join_up();
    for (unsigned i = 0; i < world.n; i++) {
        char dir[SYNCRING_DIR];
        struct errinfo why;
        (void)snprintf(dir, sizeof(dir), "%s/%u", world.folder, i);
        prop_remove(dir);
        syncnode_init(&world.node[i], dir, i);
        world.server[i].bucket = BUCKETS_BEFORE;
        prop_be(i);
        prop_good(syncnode_open(&world.node[i], &world.ring, &why), &why, "open");
    }
}

static void change_links(void)
{
    const unsigned i = prop_below(world.n);
    const unsigned k = prop_below(world.n);
    if (world.link_of[i][k] != 0) { /* one way alone, too */
        world.link_of[i][k] = world.link_of[i][k] == LINK_UP ? LINK_DOWN : LINK_UP;
    }
}

static void pull_some(unsigned i)
{
    for (unsigned k = 0; k < world.n; k++) {
        if (world.link_of[i][k] == LINK_UP && prop_happens(600)) {
            prop_pull(i, k, false);
        }
    }
}

static void act(unsigned i)
{
    struct errinfo why = {.code = ERR_OK};
    enum err e = ERR_OK;
    const bool may_die = prop_happens(80);
    if (may_die) {
        disk_dies_after(1 + prop_below(60));
    }
    prop_be(i);
    const unsigned what = prop_below(100);
    if (what < 45) {
        e = prop_publish(i, &why);
    } else if (what < 90) {
        pull_some(i);
    } else {
        prop_be(i);
        e = sync_tick(world.node[i].sync, &why);
    }
    if (disk_lives()) {
        disk_dies_after(1); /* what the end of the process would have spared us */
        prop_stop(i, prop_happens(400));
    } else if (e != ERR_OK) {
        prop_fail("%s: %s", why.source, why.text);
    }
}

static void step(void)
{
    const unsigned i = prop_below(world.n);
    const uint64_t more = prop_happens(50) ? prop_below(900) : prop_below(15);
    world.now_s += more;
    world.boot_s += more;
    if (prop_happens(30)) {
        world.server[i].skew_s = (int64_t)prop_below(2 * SKEW_MAX_S) - SKEW_MAX_S;
    }
    if (prop_happens(40)) {
        change_links();
    }
    for (unsigned k = 0; k < world.n; k++) {
        if (prop_happens(300)) {
            prop_count(k);
        }
        if (world.has_lists && prop_happens(60)) {
            prop_list_change(&world.server[k].lists, world.now_s);
        }
    }
    if (world.has_lists && prop_happens(25)) {
        prop_filter_change(&world.node[world.filterer],
                           &world.server[world.filterer].lists);
    }
    act(i);
    if (prop_happens(20)) {
        prop_stop(i, prop_happens(500));
    }
    if (world.seed % 3 != 2 && world.liar >= world.n &&
        (world.only_copied == NODES_MAX || world.only_copied == i) &&
        prop_happens(30)) { /* a copy may forget a lie */
        prop_make_copy(i);
    }
    if (world.server[i].has_copy && prop_happens(40)) {
        prop_restore(i);
    }
    if (world.is_greedy && prop_happens(100)) {
        prop_be_greedy();
    } else if (world.liar < world.n && !world.is_greedy && prop_happens(10)) {
        prop_lie();
    }
    if (prop_happens(50)) {
        prop_check_held(prop_below(world.n));
    }
}

/* ---- the end ---- */

/* Number of objects that i requests from k on a network without loss. */
static size_t ask(unsigned i, unsigned k)
{
    struct syncpull p = {.after = 0};
    const struct syncway way = {.seen = prop_see};
    if (world.link_of[i][k] == 0) {
        return 0;
    }
    prop_be(i);
    if (!syncring_pull(&world.node[i], &world.node[k], &way, &p)) {
        prop_fail("an exchange failed");
    }
    world.server[i].has_asked[k] = true;
    world.nforks += p.results[SYNC_FORK];
    return p.wants - p.results[SYNC_QUOTA]; /* which is asked for again and again */
}

static size_t settle_once(void)
{
    size_t wants = 0;
    world.published_s = world.now_s;
    for (unsigned i = 0; i < world.n; i++) {
        struct errinfo why;
        prop_be(i);
        world.server[i].lists.is_told = false; /* what ended meanwhile */
        prop_good(prop_publish(i, &why), &why, "publish");
        prop_good(sync_tick(world.node[i].sync, &why), &why, "tick");
    }
    for (unsigned i = 0; i < world.n; i++) {
        for (unsigned k = 0; k < world.n; k++) {
            wants += ask(i, k);
        }
    }
    return wants;
}

static void settle(void)
{
    unsigned quiet = 0;
    world.now_s += 2 * SKEW_MAX_S + 1200;
    world.boot_s += 2 * SKEW_MAX_S + 1200;
    for (unsigned i = 0; i < world.n; i++) {
        world.server[i].skew_s = 0;
        for (unsigned k = 0; k < world.n; k++) {
            world.link_of[i][k] = world.link_of[i][k] != 0 ? LINK_UP : 0;
        }
    }
    for (unsigned round = 0; round < ROUNDS_MAX && quiet < 2; round++) {
        quiet = settle_once() == 0 ? quiet + 1 : 0;
        world.now_s += 61; /* what was refused for a minute is asked for again */
        world.boot_s += 61;
    }
    if (quiet < 2) {
        prop_fail("it never becomes quiet");
    }
}

static int by_stream(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct head));
}

/* Heads without the fields that may differ between servers, such as the objects still on disk. */
static void heads_of(unsigned i, struct heads *ret)
{
    struct buf b;
    prop_heads(i, ret, &b);
    buf_fini(&b);
    size_t kept = 0;
    for (size_t h = 0; h < ret->n; h++) {
        struct head *p = &ret->v[h];
        struct head same;
        memset(&same, 0, sizeof(same));
        memcpy(&same.stream.origin, &p->stream.origin, sizeof(same.stream.origin));
        same.stream.inc = p->stream.inc;
        same.stream.start_s = p->stream.start_s;
        same.stream.kind = p->stream.kind;
        same.flags = p->flags;
        same.seq = p->seq;
        same.hash = p->hash;
        if (world.liar == world.n ||
            memcmp(p->stream.origin.b, world.node[world.liar % NODES_MAX].self.origin.b,
                   OBJECT_ID_BYTES) != 0 ||
            world.liar >= world.n) {
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
    for (unsigned i = 1; i < world.n; i++) {
        struct heads other;
        heads_of(i, &other);
        if (i != world.liar &&
            (other.n != first.n ||
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
    const uint64_t least = world.server[o].counted.v[b][k];
    const uint64_t most = world.server[o].was_restored
                              ? world.ever[o].v[b][k] + world.server[o].twice.v[b][k]
                              : least;
    if (has < least || has > most) {
        prop_fail("server %u has %" PRIu64
                  " of origin %u bucket %u key %u, not %" PRIu64 " to %" PRIu64,
                  i, has, o, b, k, least, most);
    }
    if (has != held[0].of[o].v[b][k]) {
        prop_fail("servers 0 and %u differ in a count", i);
    }
}

static void check_origin(unsigned i, unsigned o)
{
    for (unsigned b = 0; b < BUCKETS; b++) {
        for (unsigned k = 0; k < KEYS; k++) {
            check_number(i, o, b, k);
        }
    }
}

static void check_counts(void)
{
    for (unsigned i = 0; i < world.n; i++) {
        prop_read(world.node, world.n, i, &held[i]);
    }
    for (unsigned i = 0; i < world.n; i++) {
        for (unsigned o = 0; o < world.n; o++) {
            if (i != world.liar && o != world.liar) {
                check_origin(i, o);
            }
        }
    }
}

/* Checks the copies that i holds of the list and the filter of o. */
static void check_list(unsigned i, unsigned o)
{
    const struct listing *l = &world.server[o].lists;
    struct mirror_entry v[ITEMS];
    struct mirror_entry first[ITEMS];
    struct hash256 root;
    struct hash256 root_of_first;
    struct stream_key k;
    struct buf file;
    (void)prop_list_read(&world.node[i], &world.node[o], v);
    (void)prop_list_read(&world.node[0], &world.node[o], first);
    prop_list_check(l, v, world.published_s, i, o);
    prop_list_root(&world.ring.ring, v, &root);
    prop_list_root(&world.ring.ring, first, &root_of_first);
    if (!hash256_equal(&root, &root_of_first)) {
        prop_fail("servers 0 and %u differ in a list", i);
    }
    buf_init(&file, FILTER_BYTES_MAX);
    if (sync_own_stream(world.node[o].sync, OBJECT_MEMBER, "bad", &k)) {
        prop_filter_read(&world.node[i], &k, &file);
    }
    if (!slice_eq(buf_slice(&file), slice_of(l->file, l->nfile))) {
        prop_fail("server %u does not hold the filter of server %u", i, o);
    }
    buf_fini(&file);
}

static void check_lists(void)
{
    for (unsigned i = 0; world.has_lists && i < world.n; i++) {
        for (unsigned o = 0; o < world.n; o++) {
            if (i != world.liar && o != world.liar) {
                check_list(i, o);
            }
        }
        if (i != world.liar) {
            prop_check_held(i);
        }
    }
}

static void check_trust(void)
{
    for (unsigned i = 0; i < world.n; i++) {
        struct sync_origin_stat stat[NODES_MAX];
        prop_be(i);
        const size_t n = sync_stat(world.node[i].sync, stat, NODES_MAX);
        for (unsigned k = 0; k < n; k++) {
            if (stat[k].is_distrusted && (k != world.liar || !world.has_lied)) {
                prop_fail("server %u distrusts the honest server %u", i, k);
            }
        }
    }
}

static void check_liar(void)
{
    for (unsigned i = 0; world.is_greedy && i + 1 < world.n; i++) {
        prop_check_quota(i);
    }
    for (unsigned i = 0; world.has_lied && i + 1 < world.n; i++) {
        struct sync_origin_stat stat[NODES_MAX];
        const struct tally none = {{{0}}};
        prop_be(i);
        const size_t k = sync_stat(world.node[i].sync, stat, NODES_MAX);
        if (k != world.n || !stat[world.liar].is_distrusted) {
            prop_fail("server %u does not distrust the liar", i);
        }
        if (memcmp(&held[i].of[world.liar], &none, sizeof(none)) != 0) {
            prop_fail("server %u still counts what the liar said", i);
        }
        if (prop_list_is_there(&world.node[i], &world.node[world.liar])) {
            prop_fail("server %u still has the liar's lists", i);
        }
    }
}

static void check_dropped(void)
{
    const unsigned gone = world.n - 1;
    const struct tally none = {{{0}}};
    world.ring.version++;
    world.ring.members[gone].state = MEMBER_DROPPED;
    for (unsigned i = 0; i < gone; i++) {
        struct errinfo why;
        prop_be(i);
        disk_dies_after(
            1 + prop_below(60)); /* it stops while it drops: done at the next start */
        enum err e = sync_set_manifest(world.node[i].sync, &world.ring, &why);
        if (disk_lives()) {
            disk_dies_after(1);
            syncnode_close(&world.node[i]);
            (void)disk_lives();
            prop_open_again(i);
        } else {
            prop_good(e, &why, "drop");
        }
        prop_read(world.node, world.n, i, &held[i]);
        if (memcmp(&held[i].of[gone], &none, sizeof(none)) != 0) {
            prop_fail("server %u still counts for the dropped one", i);
        }
        if (prop_list_is_there(&world.node[i], &world.node[gone])) {
            prop_fail("server %u still has lists of the dropped one", i);
        }
    }
}

static void run(void)
{
    begin();
    for (unsigned k = 0; k < STEPS; k++) {
        step();
    }
    for (unsigned i = 0; i < world.n; i++) { /* as after a restart of all */
        if (prop_happens(300)) {
            prop_stop(i, false);
        }
    }
    settle();
    check_heads();
    check_counts();
    check_lists();
    check_trust();
    check_liar();
    check_dropped();
    for (unsigned i = 0; i < world.n; i++) {
        char path[FILE_PATH_MAX];
        syncnode_close(&world.node[i]);
        prop_remove(world.node[i].dir);
        prop_copy_path(i, path);
        prop_remove(path);
    }
    manifest_fini(&world.ring);
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
    world.folder = argv[1];
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
    world.told = dup(STDERR_FILENO);
    if (world.told < 0 ||
        (from + seeds > from + 1 && !freopen("/dev/null", "w", stderr))) {
        return 2;
    }
    for (world.seed = from; world.seed < from + seeds; world.seed++) {
        run();
    }
    (void)printf("{\"test\":\"prop_sync\",\"seeds\":%" PRIu64 ",\"from\":%" PRIu64
                 ",\"stops\":%" PRIu64 ",\"restored\":%" PRIu64 ",\"objects\":%" PRIu64
                 ",\"of_lists\":%" PRIu64 ",\"forks\":%" PRIu64
                 ",\"over_quota\":%" PRIu64 ",\"compared\":%" PRIu64
                 ",\"violations\":0}\n",
                 seeds, from, world.ncrashes, world.nrestores, world.nobjects,
                 world.nsteps, world.nforks, world.nrefused, world.nroots);
    return 0;
}
