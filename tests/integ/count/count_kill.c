/*
 * count_kill - SIGKILL at random points of counting, against a ledger outside the process.
 *
 * Usage: count_kill FOLDER KILLS [SEED]
 * A child counts batches from four threads on a clock that runs fast, so that it journals, grows,
 * rolls, seals, merges days and expires all the time; some are killed while they still recover. The
 * ledger lies in memory shared with the parent: a thread notes a batch before it hands it in, and
 * again when the call has returned, which acknowledges it. Afterwards the counts are opened and
 * asked: each key must have what was acknowledged, and at most what was in flight besides.
 * One JSON line; exit status 1 when a count was lost or doubled, with the seed on stderr.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/count/count.h"

enum {
    THREADS = 4,
    BATCH = 40,
    HOT = 64,
    KEYS = 6000,
    LIVES_UNSEEN_MAX = 3, /* kills in a row before the counts are looked at */
    LIFE_US_MAX = 700000,
    FULL_CHECK_EVERY = 30,
    SAMPLE = 300
};
#define START_US (UINT64_C(1800000000) * 1000000)
#define PAUSE_US (UINT64_C(240) * 1000000) /* the clock's, between two lives */
#define MONO_US  (UINT64_C(1000) * 1000000)

/* Shared with the child that is killed. */
struct ledger {
    uint64_t begun[THREADS]; /* number of the batch handed in last; atomic */
    uint64_t ended[THREADS]; /* number of the one acknowledged last; atomic */
    uint64_t wall_us;        /* atomic */
    uint64_t step_us;        /* of the clock at each turn */
    uint32_t is_open;        /* atomic */
    uint32_t has_failed;     /* atomic */
    uint64_t opened;         /* children that came to count; atomic */
};

struct test {
    const char *dir;
    struct keyring keys;
    uint64_t seed;
    uint64_t random;
    struct ledger *ledger;
    uint64_t known[THREADS]; /* batches that are in truth */
    uint64_t truth[KEYS];    /* acknowledged */
    uint64_t maybe[KEYS];    /* in flight besides */
    uint64_t acknowledged;
    uint64_t lost;
    uint64_t doubled;
    uint64_t damaged;
    unsigned kills;
    unsigned kills_opening;
    unsigned checks;
};

static uint64_t mix(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static struct digest digest_of(unsigned key)
{
    struct digest d;
    uint64_t s = key;
    for (size_t i = 0; i < sizeof(d.b); i += 8) {
        uint64_t word = mix(&s);
        memcpy(d.b + i, &word, sizeof(word));
    }
    return d;
}

/* Keys and amounts of batch n of a thread; they depend on the numbers alone. */
static void batch_of(uint64_t seed, unsigned thread, uint64_t n, unsigned keys[BATCH],
                     uint64_t amounts[BATCH])
{
    uint64_t s = seed ^ ((uint64_t)thread << 56) ^ (n * UINT64_C(0x2545f4914f6cdd1d));
    for (unsigned i = 0; i < BATCH; i++) {
        keys[i] = (unsigned)(mix(&s) % (mix(&s) % 2 ? HOT : KEYS));
        amounts[i] = 1 + mix(&s) % 3;
    }
}

/* ---- the child ---- */

struct worker {
    struct test *test;
    struct count *count;
    unsigned thread;
};

static void *work(void *context)
{
    const struct worker *w = context;
    struct ledger *l = w->test->ledger;
    unsigned keys[BATCH];
    uint64_t amounts[BATCH];
    for (uint64_t n = l->begun[w->thread] + 1;; n++) {
        struct count_item items[BATCH] = {0};
        batch_of(w->test->seed, w->thread, n, keys, amounts);
        for (unsigned i = 0; i < BATCH; i++) {
            items[i].digest[0] = digest_of(keys[i]);
            items[i].amount = amounts[i];
        }
        __atomic_store_n(&l->begun[w->thread], n, __ATOMIC_SEQ_CST);
        count_batch(w->count, items, BATCH);
        __atomic_store_n(&l->ended[w->thread], n, __ATOMIC_SEQ_CST);
        const struct timespec rest = {0, 200000}; /* a keyhole for the others */
        (void)nanosleep(&rest, NULL);
    }
    return NULL;
}

static void open_counts(const struct test *t, struct count **ret)
{
    struct errinfo why;
    char text[1024];
    struct count_options options = {
        .state_dir = t->dir, .keys = &t->keys, .messages_per_day = 10000};
    clock_set_for_test(t->ledger->wall_us, MONO_US + t->ledger->wall_us - START_US);
    if (count_open(&options, ret, &why) != ERR_OK) {
        (void)fprintf(stderr, "cannot open: %s\n",
                      errinfo_format(&why, text, sizeof(text)));
        t->ledger->has_failed = 1;
        _exit(1);
    }
}

static void live(struct test *t)
{
    struct ledger *l = t->ledger;
    struct count *count = NULL;
    struct worker workers[THREADS];
    open_counts(t, &count);
    __atomic_store_n(&l->is_open, 1, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(&l->opened, 1, __ATOMIC_SEQ_CST);
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_t thread;
        workers[i] = (struct worker){t, count, i};
        if (pthread_create(&thread, NULL, work, &workers[i]) != 0) {
            _exit(1);
        }
    }
    for (;;) {
        __atomic_store_n(&l->wall_us, l->wall_us + l->step_us, __ATOMIC_SEQ_CST);
        clock_advance_us(l->step_us);
        count_tick(count);
    }
}

/* ---- the parent ---- */

/* Starts a child and kills it after a random time. */
static void kill_one(struct test *t)
{
    static const uint64_t steps_s[] = {1, 5, 5, 20, 60};
    struct ledger *l = t->ledger;
    l->wall_us += PAUSE_US;
    l->step_us = steps_s[mix(&t->random) % 5] * 1000000;
    l->is_open = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        l->begun[i] = l->ended[i] > l->begun[i] ? l->ended[i] : l->begun[i];
    }
    pid_t child = fork();
    if (child == 0) {
        live(t);
        _exit(1);
    }
    uint64_t life_us = mix(&t->random) % (1 + mix(&t->random) % LIFE_US_MAX);
    const struct timespec life = {0, (long)life_us * 1000};
    (void)nanosleep(&life, NULL);
    int status = 0;
    if (child < 0 || kill(child, SIGKILL) != 0 || waitpid(child, &status, 0) != child ||
        !WIFSIGNALED(status)) {
        l->has_failed = 1;
    }
    t->kills++;
    t->kills_opening += !l->is_open;
}

static void note(struct test *t, unsigned thread, uint64_t n, uint64_t *to)
{
    unsigned keys[BATCH];
    uint64_t amounts[BATCH];
    batch_of(t->seed, thread, n, keys, amounts);
    for (unsigned i = 0; i < BATCH; i++) {
        to[keys[i]] += amounts[i];
        t->acknowledged += to == t->truth ? amounts[i] : 0;
    }
}

/* Takes over the batches that were acknowledged since, and those in flight. */
static void take_ledger(struct test *t)
{
    const struct ledger *l = t->ledger;
    for (unsigned i = 0; i < THREADS; i++) {
        for (uint64_t n = t->known[i] + 1; n <= l->ended[i]; n++) {
            note(t, i, n, t->truth);
        }
        if (l->begun[i] > l->ended[i] && l->begun[i] > t->known[i]) {
            note(t, i, l->begun[i], t->maybe);
        }
        t->known[i] = l->begun[i];
    }
}

static uint64_t ask(const struct test *t, struct count *count, unsigned key,
                    uint64_t *retdamaged)
{
    struct digest d[KEYRING_MAX] = {digest_of(key)};
    struct count_history h;
    (void)t;
    count_exact(count, d, &h);
    *retdamaged += h.ndamaged;
    uint64_t sum = 0;
    for (unsigned i = 0; i <= COUNT_DAYS; i++) {
        sum += h.day[i];
    }
    return sum;
}

/* Opens the counts and asks for keys that were in flight and others. */
static void look(struct test *t, bool is_last)
{
    struct count *count = NULL;
    bool is_full = is_last || ++t->checks % FULL_CHECK_EVERY == 0;
    open_counts(t, &count);
    for (unsigned key = 0; key < KEYS; key++) {
        bool is_asked = is_full || t->maybe[key] > 0 || mix(&t->random) % KEYS < SAMPLE;
        if (!is_asked) {
            continue;
        }
        uint64_t n = ask(t, count, key, &t->damaged);
        if (n < t->truth[key] || n > t->truth[key] + t->maybe[key]) {
            (void)fprintf(stderr,
                          "after %u kills: key %u has %" PRIu64
                          ", acknowledged %" PRIu64 ", in flight %" PRIu64 "\n",
                          t->kills, key, n, t->truth[key], t->maybe[key]);
            t->lost += n < t->truth[key];
            t->doubled += n > t->truth[key];
        }
        t->truth[key] = n; /* what was in flight is settled */
        t->maybe[key] = 0;
    }
    count_close(&count);
}

static int run(struct test *t, unsigned kills)
{
    while (t->kills < kills && !t->ledger->has_failed && t->lost + t->doubled == 0) {
        unsigned lives = 1 + (unsigned)(mix(&t->random) % LIVES_UNSEEN_MAX);
        for (unsigned i = 0; i < lives && t->kills < kills; i++) {
            kill_one(t);
            take_ledger(t);
        }
        look(t, t->kills == kills);
    }
    printf("{\"test\": \"count_kill\", \"seed\": %" PRIu64 ", \"kills\": %u, "
           "\"kills_while_opening\": %u, \"acknowledged\": %" PRIu64
           ", \"virtual_hours\": %.1f, \"checks\": %u, \"lost\": %" PRIu64
           ", \"doubled\": %" PRIu64 ", \"damaged\": %" PRIu64 "}\n",
           t->seed, t->kills, t->kills_opening, t->acknowledged,
           (double)(t->ledger->wall_us - START_US) / 3.6e9, t->checks, t->lost,
           t->doubled, t->damaged);
    return t->lost + t->doubled + t->damaged > 0 || t->ledger->has_failed;
}

int main(int argc, char **argv)
{
    static struct test t;
    if (argc < 3 || base_init() != ERR_OK) {
        (void)fprintf(stderr, "usage: count_kill FOLDER KILLS [SEED]\n");
        return 2;
    }
    t.dir = argv[1];
    t.seed = argc > 3 ? strtoull(argv[3], NULL, 10) : (uint64_t)time(NULL);
    t.random = t.seed;
    void *shared = mmap(NULL, sizeof(*t.ledger), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED ||
        keyring_load_or_create(t.dir, &t.keys, NULL) != ERR_OK) {
        return 2;
    }
    t.ledger = shared;
    t.ledger->wall_us = START_US;
    int failed = run(&t, (unsigned)strtoul(argv[2], NULL, 10));
    if (failed) {
        (void)fprintf(stderr, "count_kill: failed with seed %" PRIu64 "\n", t.seed);
    }
    return failed;
}
