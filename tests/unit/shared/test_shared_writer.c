/*
 * test_shared_writer - the counts of one server and a store that fails over to a replica that lags,
 * loses answers, does calls late, and is emptied; the hub is killed, restored from a copy, loses
 * its log, and fills it. Whatever happens, no count in the store is too high; and none is too low
 * but for what the log dropped, or what a restored copy did not have.
 *
 * GILLNET_ROUNDS: seeds, 300 without it. GILLNET_SEED: the first one.
 */
#include "core/base/file.h"
#include "core/base/prng.h"
#include "core/hub/shared/shared_writer.h"

#include "tests/unit/tempdir.h"

enum {
    KEYS = 12,
    BUCKETS = 32,
    NODES = 2,
    INCS = 64,
    CALLS = 1024,
    STEPS = 250,
    BATCH_MAX = 4096,
    ROUNDS = 300,
    SPOOL_SMALL = 4096
};
#define BEGIN_S UINT64_C(1700000400)

/* ---- the store ---- */

struct node_state {
    uint64_t position[INCS][SHARED_CELLS];
    uint64_t counts[BUCKETS][KEYS];
};

struct sim_call {
    bool is_batch;
    bool is_done;  /* by the store; the answer is under way */
    bool is_ghost; /* nobody waits for the answer */
    unsigned cell;
    uint64_t inc;
    uint64_t expected;
    uint64_t number;
    uint64_t start_s;
    struct run_record *v;
    size_t n;
    uint64_t newest; /* answers */
    uint64_t position;
};

struct sim {
    struct prng random;
    const char *dir;
    char log[FILE_PATH_MAX];
    char copy[FILE_PATH_MAX];
    uint64_t spool;
    uint64_t incs[INCS];
    size_t nincs;
    struct node_state master[NODES];
    struct node_state replica[NODES];
    struct sim_call calls[CALLS];
    size_t ncalls;
    uint64_t keys[KEYS];
    uint64_t truth[BUCKETS][KEYS];   /* all that was ever counted */
    uint64_t counted[BUCKETS][KEYS]; /* what gillnetd has: a copy may be restored */
    uint64_t copied[BUCKETS][KEYS];
    bool has_copy;
    bool was_lost; /* the log was an old copy, or lost */
    bool has_changed[BUCKETS];
    bool was_complete[BUCKETS];
    bool may_be_low[BUCKETS];
    uint64_t dropped;
    uint64_t repeated;
    uint64_t incarnations;
    struct shared_now now;
    struct shared_writer *writer;
};

static uint64_t roll(struct sim *s, uint64_t below)
{
    return prng_below(&s->random, below);
}

static size_t bucket_index(uint64_t start_s)
{
    assert_true(start_s >= BEGIN_S && start_s < BEGIN_S + BUCKETS * UINT64_C(600));
    return (start_s - BEGIN_S) / 600;
}

static size_t inc_index(struct sim *s, uint64_t inc)
{
    for (size_t i = 0; i < s->nincs; i++) {
        if (s->incs[i] == inc) {
            return i;
        }
    }
    assert_true(s->nincs < INCS);
    s->incs[s->nincs] = inc;
    return s->nincs++;
}

static size_t key_index(const struct sim *s, uint64_t key)
{
    for (size_t k = 0; k < KEYS; k++) {
        if (s->keys[k] == key) {
            return k;
        }
    }
    fail();
    return 0;
}

/* What the scripts do (shared_scripts.c). */
static void execute(struct sim *s, struct sim_call *c)
{
    struct node_state *m = &s->master[c->cell % NODES];
    uint64_t *position = &m->position[inc_index(s, c->inc)][c->cell];

    c->is_done = true;
    if (c->is_batch && *position == c->expected) {
        for (size_t i = 0; i < c->n; i++) {
            assert_true(c->v[i].count <= SHARED_AMOUNT_MAX);
            assert_int_equal(shared_cell_of(c->v[i].key), c->cell);
            m->counts[bucket_index(c->start_s)][key_index(s, c->v[i].key)] +=
                c->v[i].count;
        }
        *position = c->number;
    }
    c->position = *position;
    c->newest = 0;
    for (size_t i = 0; i < s->nincs; i++) {
        if (m->position[i][c->cell] > 0 && s->incs[i] > c->newest) {
            c->newest = s->incs[i];
        }
    }
}

static struct sim_call *new_call(struct sim *s)
{
    struct sim_call *c = NULL;

    if (s->ncalls == CALLS) {
        return NULL;
    }
    c = &s->calls[s->ncalls++];
    *c = (struct sim_call){.cell = 0};
    return c;
}

static void remove_call(struct sim *s, size_t i)
{
    free(s->calls[i].v);
    s->calls[i] = s->calls[--s->ncalls];
}

static bool sim_ask(void *context, unsigned cell, uint64_t inc)
{
    struct sim *s = context;
    struct sim_call *c = roll(s, 20) == 0 ? NULL : new_call(s);

    if (c != NULL) {
        c->cell = cell;
        c->inc = inc;
    }
    return c != NULL;
}

static bool sim_add(void *context, unsigned cell, const struct shared_batch *b)
{
    struct sim *s = context;
    struct sim_call *c = roll(s, 20) == 0 ? NULL : new_call(s);

    if (c == NULL) {
        return false;
    }
    assert_true(b->n > 0 && b->n <= BATCH_MAX && b->number > b->expected);
    *c = (struct sim_call){.is_batch = true,
                           .cell = cell,
                           .inc = b->inc,
                           .expected = b->expected,
                           .number = b->number,
                           .start_s = b->start_s,
                           .v = malloc(b->n * sizeof(*c->v)),
                           .n = b->n};
    memcpy(c->v, b->v, b->n * sizeof(*c->v));
    return true;
}

/* ---- answers ---- */

static void lose(struct sim *s, const struct sim_call *c)
{
    if (!c->is_ghost) {
        shared_writer_lost(s->writer, c->cell, c->inc, c->is_batch);
    }
}

static void answer(struct sim *s, const struct sim_call *c)
{
    if (c->is_ghost) {
        return;
    }
    if (c->is_batch) {
        (void)shared_writer_added(s->writer, c->cell, c->inc, c->number, c->position);
    } else {
        shared_writer_told(s->writer, c->cell, c->inc, c->newest, c->position);
    }
}

/* Something happens to a call. The call leaves the row before its answer may begin another. */
static void step_call(struct sim *s, size_t i, bool is_well)
{
    struct sim_call c = s->calls[i];
    const uint64_t fate = is_well ? 0 : roll(s, 20);

    if (fate == 1 && !c.is_ghost) { /* the client gives up, the call stays in the net */
        s->calls[i].is_ghost = true;
        lose(s, &c);
        return;
    }
    if (fate == 2 && !c.is_done) { /* done, and the answer takes its time */
        execute(s, &s->calls[i]);
        return;
    }
    if (!c.is_done && fate != 3) {
        execute(s, &c);
    }
    c.v = NULL;
    remove_call(s, i);
    if (fate == 3 || fate == 4) { /* not done, or done and not answered */
        lose(s, &c);
    } else {
        answer(s, &c);
    }
}

static void step_calls(struct sim *s, uint64_t n)
{
    for (uint64_t i = 0; i < n && s->ncalls > 0; i++) {
        step_call(s, roll(s, s->ncalls), false);
    }
}

/* ---- the hub ---- */

static void start_hub(struct sim *s)
{
    const struct shared_writer_options o = {
        .log = {.dir = s->log, .origin = {1, 2, 3}, .key_id = 7},
        .spool = s->spool,
        .port = {s, sim_ask, sim_add}};
    struct errinfo why = {.text = ""};

    if (shared_writer_new(&o, &s->writer, &why) != ERR_OK) {
        fail_msg("%s: %s", why.source, why.text);
    }
    for (size_t b = 0; b < BUCKETS; b++) { /* follow begins again */
        s->has_changed[b] = true;
        s->was_complete[b] = false;
    }
}

static void note_status(struct sim *s)
{
    struct shared_writer_status status;

    shared_writer_status(s->writer, &status);
    s->dropped += status.dropped;
    s->repeated += status.repeated;
    s->incarnations += status.incarnations;
}

static void kill_hub(struct sim *s)
{
    note_status(s);
    shared_writer_free(&s->writer);
    for (size_t i = 0; i < s->ncalls; i++) {
        s->calls[i].is_ghost = true;
    }
}

static size_t running(const struct sim *s)
{
    return bucket_index(s->now.wall_s - s->now.wall_s % 600);
}

static void report(struct sim *s)
{
    for (size_t b = 0; b <= running(s); b++) {
        struct run_record v[KEYS];
        const uint64_t start_s = BEGIN_S + b * 600;
        const bool is_over = s->now.wall_s >= start_s + 660;
        const bool is_complete = is_over && !s->was_complete[b];
        struct errinfo why = {.text = ""};
        size_t n = 0;

        if (!s->has_changed[b] && !is_complete) {
            continue;
        }
        for (size_t k = 0; k < KEYS; k++) {
            if (s->counted[b][k] > 0) {
                v[n++] = (struct run_record){s->keys[k], s->counted[b][k]};
            }
        }
        const struct shared_report r = {start_s, v, n, is_complete};
        if (shared_writer_report(s->writer, &r, s->now, &why) != ERR_OK) {
            fail_msg("%s: %s", why.source, why.text);
        }
        s->has_changed[b] = false;
        s->was_complete[b] = is_over;
    }
}

/* What was counted until now may be missing in the store. */
static void allow_low(struct sim *s)
{
    for (size_t b = 0; b <= running(s); b++) {
        s->may_be_low[b] = true;
    }
}

static void tick(struct sim *s, bool all)
{
    struct errinfo why = {.text = ""};
    struct shared_writer_status before;
    struct shared_writer_status after;

    s->now.wall_s += 1;
    s->now.mono_us += 1000000;
    report(s);
    shared_writer_status(s->writer, &before);
    if (shared_writer_tick(s->writer, s->now, all, &why) != ERR_OK) {
        fail_msg("%s: %s", why.source, why.text);
    }
    shared_writer_status(s->writer, &after);
    if (after.incarnations > before.incarnations) {
        assert_true(s->was_lost); /* never without a reason */
        allow_low(s);
    }
}

/* ---- what goes wrong ---- */

static void copy_tree(const char *from, const char *to)
{
    char command[3 * FILE_PATH_MAX];

    (void)snprintf(command, sizeof(command), "rm -rf '%s' && cp -r '%s' '%s'", to, from,
                   to);
    assert_int_equal(system(command), 0);
}

static void take_copy(struct sim *s)
{
    copy_tree(s->log, s->copy);
    memcpy(s->copied, s->counted, sizeof(s->copied));
    s->has_copy = true;
}

static void restore_copy(struct sim *s)
{
    if (!s->has_copy) {
        return;
    }
    kill_hub(s);
    copy_tree(s->copy, s->log);
    memcpy(s->counted, s->copied, sizeof(s->counted));
    s->was_lost = true;
    allow_low(s); /* gillnetd's counts are old too */
    start_hub(s);
}

static void lose_log(struct sim *s)
{
    kill_hub(s);
    assert_int_equal(file_remove_tree(s->log, NULL), ERR_OK);
    s->was_lost = true;
    start_hub(s);
}

static void fail_over(struct sim *s)
{
    const size_t node = roll(s, NODES);

    s->master[node] = s->replica[node];
    if (roll(s, 3) > 0) { /* else only the minute's question finds it */
        shared_writer_doubt(s->writer);
    }
}

static void empty_store(struct sim *s)
{
    memset(s->master, 0, sizeof(s->master));
    memset(s->replica, 0, sizeof(s->replica));
    allow_low(s);
}

static void count_some(struct sim *s)
{
    const size_t b = roll(s, 8) == 0 && running(s) > 0 ? running(s) - 1 : running(s);

    if (s->now.wall_s >= BEGIN_S + b * 600 + 660) {
        return;
    }
    for (uint64_t n = roll(s, 6); n > 0; n--) {
        const size_t k = roll(s, KEYS);
        const uint64_t amount = roll(s, 40) == 0 ? 200000 : 1 + roll(s, 20);

        s->truth[b][k] += amount;
        s->counted[b][k] += amount;
        s->has_changed[b] = true;
    }
}

static void happen(struct sim *s)
{
    const uint64_t what = roll(s, 200);
    const size_t node = roll(s, NODES);

    if (what < 60) {
        s->replica[node] = s->master[node]; /* it keeps up */
    } else if (what < 66) {
        fail_over(s);
    } else if (what < 70) {
        kill_hub(s);
        start_hub(s);
    } else if (what == 70) {
        take_copy(s);
    } else if (what == 71) {
        restore_copy(s);
    } else if (what == 72 && roll(s, 3) == 0) {
        lose_log(s);
    } else if (what == 73 && roll(s, 3) == 0) {
        empty_store(s);
    } else if (what < 80 && running(s) < BUCKETS - 4) {
        const uint64_t step_s = roll(s, 700);

        s->now.wall_s += step_s;
        s->now.mono_us += step_s * 1000000;
    }
}

/* ---- a round ---- */

static void settle(struct sim *s)
{
    struct shared_writer_status status = {.waiting = 1};

    for (unsigned i = 0; i < 400; i++) {
        tick(s, true);
        while (s->ncalls > 0) {
            step_call(s, 0, true);
        }
        if (i % 100 == 10) {
            shared_writer_doubt(s->writer);
        }
    }
    shared_writer_status(s->writer, &status);
    assert_false(status.is_asking);
    assert_int_equal(status.waiting, 0);
    assert_int_equal(status.since_us, 0);
}

static void check_counts(const struct sim *s, uint64_t seed)
{
    for (size_t b = 0; b < BUCKETS; b++) {
        for (size_t k = 0; k < KEYS; k++) {
            uint64_t sum = 0;

            for (size_t n = 0; n < NODES; n++) {
                sum += s->master[n].counts[b][k];
            }
            const bool is_low = sum < s->truth[b][k];
            if (sum > s->truth[b][k] ||
                (is_low && !s->may_be_low[b] && s->spool != SPOOL_SMALL)) {
                fail_msg("seed %" PRIu64 ": bucket %zu key %zu has %" PRIu64
                         " of %" PRIu64,
                         seed, b, k, sum, s->truth[b][k]);
            }
        }
    }
}

static void run_round(struct sim *s, const char *dir, uint64_t seed)
{
    memset(s, 0, sizeof(*s));
    prng_init(&s->random, seed, 0);
    s->dir = dir;
    (void)snprintf(s->log, sizeof(s->log), "%s/shared", dir);
    (void)snprintf(s->copy, sizeof(s->copy), "%s/copy", dir);
    assert_int_equal(file_remove_tree(s->log, NULL), ERR_OK);
    s->spool = seed % 4 == 3 ? SPOOL_SMALL : UINT64_MAX;
    s->now = (struct shared_now){BEGIN_S + roll(s, 600), 1000000000};
    for (size_t k = 0; k < KEYS; k++) { /* of some cells, in both nodes */
        s->keys[k] = (uint64_t)(k / 2) << 57 | (prng_next(&s->random) >> 8) | 1;
    }
    start_hub(s);
    for (unsigned i = 0; i < STEPS; i++) {
        count_some(s);
        happen(s);
        if (roll(s, 3) > 0) {
            tick(s, false);
        }
        step_calls(s, roll(s, 2 * SHARED_CELLS));
    }
    settle(s);
    kill_hub(s);
    check_counts(s, seed);
    while (s->ncalls > 0) {
        remove_call(s, 0);
    }
}

static uint64_t number_of(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text != NULL ? strtoull(text, NULL, 10) : otherwise;
}

static void test_writer__a_hostile_world__never_high_and_low_by_what_was_dropped(
    void **state)
{
    char dir[64];
    struct sim *s = malloc(sizeof(*s));
    const uint64_t first = number_of("GILLNET_SEED", 0);
    const uint64_t n = number_of("GILLNET_ROUNDS", ROUNDS);
    uint64_t repeated = 0;
    uint64_t dropped = 0;
    uint64_t incarnations = 0;

    (void)state;
    assert_non_null(s);
    assert_true(tempdir_make_fast(dir));
    for (uint64_t seed = first; seed < first + n; seed++) {
        run_round(s, dir, seed);
        repeated += s->repeated;
        dropped += s->dropped;
        incarnations += s->incarnations;
    }
    if (n >= ROUNDS) { /* it did happen */
        assert_true(repeated > n / 10);
        assert_true(dropped > n / 10);
        assert_true(incarnations > n / 10);
    }
    print_message("%" PRIu64 " seeds: %" PRIu64 " batches again, %" PRIu64
                  " pairs dropped, %" PRIu64 " incarnations\n",
                  n, repeated, dropped, incarnations);
    (void)tempdir_remove(dir);
    free(s);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_writer__a_hostile_world__never_high_and_low_by_what_was_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
