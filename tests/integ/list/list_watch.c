/*
 * list_watch - asks a list again and again for every entry that was acknowledged.
 *
 * Usage: list_watch STATE LIST LEDGER ENTRIES [PACE_MS]
 * Reads lists as gillnetd does. One thread refreshes the snapshot four times a second; another
 * looks entries up, filters first, then the exact index. Another program appends lines to LEDGER:
 * "+A B" entries A to B-1 are listed (acknowledged), "-A B" revoked, "?A B" no longer known. Entry
 * N is the domain value-N.example, at most ENTRIES of them. The answers must agree with a line of
 * LEDGER from the first refresh on that begins after the line was read.
 * With PACE_MS it leaves the machine to other programs: each PACE_MS it looks up the entries that
 * had no right answer yet, and a block of the others.
 * Ends at SIGTERM after two more rounds through all entries, and prints one JSON line.
 */
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/list/listset.h"

enum {
    BLOCK = 512,
    LINE = 128,
    REFRESH_NS = 250 * 1000 * 1000,
    SHOWN = 20,
    LAST_ROUNDS = 2,
    TEXT = 64,
    LATE_US = 1000 * 1000
};

enum wanted { UNKNOWN, LISTED, REVOKED };

struct entry {
    struct digest digest;
    uint64_t due;     /* refreshes begun by then must be over */
    uint64_t read_us; /* when the ledger said so; 0: it was answered so since */
    enum wanted wanted;
};

struct watch {
    const char *list;
    struct list_manager *hold;
    struct config *config;
    struct entry *entry;
    uint64_t size;
    uint64_t pace_ms;
    uint64_t first_fresh; /* all before were answered */
    uint64_t n;           /* one more than the highest entry that was named */
    FILE *ledger;
    struct hashkey key;
    bool has_key;
    /* of the refreshing thread */
    atomic_ullong begun;
    atomic_ullong done;
    atomic_ullong refresh_failures;
    /* results */
    uint64_t asked;
    uint64_t wrong;    /* false negatives, and revoked ones that are confirmed */
    uint64_t failed;   /* no definite answer, or no list at all */
    uint64_t degraded; /* rounds in which some fault was known */
    uint64_t rounds;
    uint64_t late;       /* answered rightly after more than LATE_US */
    uint64_t slowest_us; /* from reading the ledger to the right answer */
};

static atomic_bool ends;

static void on_term(int number)
{
    (void)number;
    atomic_store(&ends, true);
}

static void pause_ns(long ns)
{
    struct timespec t = {0, ns};
    (void)nanosleep(&t, NULL);
}

static void *refresh(void *context)
{
    struct watch *w = context;
    struct errinfo why;
    for (;;) { /* ends with the program */
        atomic_fetch_add(&w->begun, 1);
        if (list_manager_refresh(w->hold, w->config, &why) != ERR_OK) {
            atomic_fetch_add(&w->refresh_failures, 1);
        }
        list_manager_free_retired(w->hold);
        atomic_fetch_add(&w->done, 1);
        pause_ns(REFRESH_NS);
    }
    return NULL;
}

/* The key is there with the first list. */
static void make_digest(const struct watch *w, uint64_t n, struct digest *ret)
{
    char text[TEXT];
    int length = snprintf(text, sizeof(text), "value-%" PRIu64 ".example", n);
    digest_make(&w->key, FEATURE_domain, slice_of(text, (size_t)length), ret);
}

static void read_ledger(struct watch *w)
{
    char line[LINE];
    clearerr(w->ledger); /* more may have come behind its end */
    for (;;) {
        long start = ftell(w->ledger);
        if (!fgets(line, sizeof(line), w->ledger)) {
            break;
        }
        if (!strchr(line, '\n')) { /* half written */
            (void)fseek(w->ledger, start, SEEK_SET);
            break;
        }
        char *end = NULL;
        uint64_t from = strtoull(line + 1, &end, 10);
        uint64_t to = strtoull(end, NULL, 10);
        uint64_t due = atomic_load(&w->begun) + 1;
        for (uint64_t i = from; i < to && i < w->size; i++) {
            struct entry *e = &w->entry[i];
            make_digest(w, i, &e->digest);
            e->wanted = line[0] == '+' ? LISTED : line[0] == '-' ? REVOKED : UNKNOWN;
            e->due = due;
            e->read_us = clock_mono_us();
        }
        w->n = to > w->n && to <= w->size ? to : w->n;
        w->first_fresh = from < w->first_fresh ? from : w->first_fresh;
    }
}

static void judge(struct watch *w, uint64_t i, enum list_answer answer, uint64_t done)
{
    struct entry *e = &w->entry[i];
    enum list_answer right = e->wanted == LISTED ? LIST_CONFIRMED : LIST_REVOKED;
    w->asked++;
    if (answer == right) {
        if (e->read_us != 0) {
            uint64_t us = clock_mono_us() - e->read_us;
            w->late += w->pace_ms > 0 && us > LATE_US; /* else it comes round late */
            w->slowest_us = us > w->slowest_us ? us : w->slowest_us;
            e->read_us = 0;
        }
        return;
    }
    if (e->read_us != 0 && done < e->due) {
        return; /* not due, and never seen so far */
    }
    bool is_failure = answer == LIST_POSSIBLE;
    w->failed += is_failure;
    w->wrong += !is_failure;
    if (w->failed + w->wrong <= SHOWN) {
        (void)fprintf(stderr, "list_watch: value-%" PRIu64 " is %s, should be %s\n", i,
                      list_answer_name(answer), list_answer_name(right));
    }
}

static const struct list_reader *reader_of(const struct listset *s, const char *name)
{
    for (size_t i = 0; i < listset_count(s); i++) {
        if (strcmp(list_reader_name(listset_reader(s, i)), name) == 0) {
            return listset_reader(s, i);
        }
    }
    return NULL;
}

static void ask_block(struct watch *w, uint64_t from, uint64_t to)
{
    struct digest d[BLOCK];
    uint8_t hit[BLOCK];
    uint64_t done = atomic_load(&w->done); /* before the snapshot is taken */
    const struct listset *s = list_manager_acquire(w->hold);
    const struct list_reader *r = reader_of(s, w->list);
    if (!r) {
        w->failed++;
        list_manager_release(w->hold, &s);
        return;
    }
    for (uint64_t i = from; i < to; i++) {
        d[i - from] = w->entry[i].digest;
    }
    list_reader_test(r, d, to - from, hit);
    for (uint64_t i = from; i < to; i++) {
        if (w->entry[i].wanted != UNKNOWN) {
            enum list_answer a =
                hit[i - from]
                    ? list_reader_confirm(r, &d[i - from], clock_wall_us() / 1000000)
                    : LIST_NO;
            judge(w, i, a, done);
        }
    }
    w->degraded += from == 0 && listset_is_degraded(s);
    list_manager_release(w->hold, &s);
}

static void ask_all(struct watch *w)
{
    for (uint64_t from = 0; from < w->n; from += BLOCK) {
        uint64_t to = from + BLOCK < w->n ? from + BLOCK : w->n;
        ask_block(w, from, to);
        read_ledger(w);
    }
    w->rounds++;
    if (w->n < BLOCK) {
        pause_ns(1000 * 1000);
    }
}

static void pause_ms(uint64_t ms)
{
    struct timespec t = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000 * 1000};
    (void)nanosleep(&t, NULL);
}

/* Looks up the entries without a right answer yet, and the block at *at. */
static void ask_fresh(struct watch *w, uint64_t *at)
{
    read_ledger(w);
    while (w->first_fresh < w->n && w->entry[w->first_fresh].read_us == 0) {
        w->first_fresh++;
    }
    for (uint64_t from = w->first_fresh; from < w->n; from += BLOCK) {
        ask_block(w, from, from + BLOCK < w->n ? from + BLOCK : w->n);
    }
    *at = *at < w->n ? *at : 0;
    ask_block(w, *at, *at + BLOCK < w->n ? *at + BLOCK : w->n);
    *at += BLOCK;
    pause_ms(w->pace_ms);
}

/* The list and its key must be there when the watch begins. */
static bool take_key(struct watch *w)
{
    const struct listset *s = list_manager_acquire(w->hold);
    const struct list_reader *r = reader_of(s, w->list);
    if (r) {
        w->key = *list_reader_key(r);
    }
    list_manager_release(w->hold, &s);
    return r != NULL;
}

static bool start(struct watch *w, char **argv)
{
    char conf[FILE_PATH_MAX];
    struct errinfo why;
    struct keyring keys;
    struct config_errors errors = {0};
    w->list = argv[2];
    w->size = strtoull(argv[4], NULL, 10);
    w->ledger = fopen(argv[3], "re");
    w->entry = calloc(w->size, sizeof(*w->entry));
    if (!w->ledger || !w->entry || w->size == 0 ||
        file_path(conf, "%s/../gillnet.conf", argv[1]) != ERR_OK) {
        (void)fputs("list_watch: no ledger, or no memory\n", stderr);
        return false;
    }
    if (config_load(conf, NULL, &w->config, &errors) != ERR_OK) {
        (void)fprintf(stderr, "list_watch: %s\n",
                      errors.n > 0 ? errors.v[0].text : conf);
        return false;
    }
    if (keyring_load_or_create(argv[1], &keys, &why) != ERR_OK) {
        (void)fprintf(stderr, "list_watch: %s: %s\n", why.source, why.text);
        return false;
    }
    w->hold = list_manager_new(argv[1], &keys);
    if (!w->hold || list_manager_refresh(w->hold, w->config, &why) != ERR_OK ||
        !take_key(w)) {
        (void)fputs("list_watch: the list cannot be opened\n", stderr);
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    static struct watch w;
    pthread_t thread;
    if (argc != 5 && argc != 6) {
        (void)fputs("usage: list_watch STATE LIST LEDGER ENTRIES [PACE_MS]\n", stderr);
        return 2;
    }
    w.pace_ms = argc == 6 ? strtoull(argv[5], NULL, 10) : 0;
    struct sigaction action = {.sa_handler = on_term};
    (void)sigaction(SIGTERM, &action, NULL);
    if (base_init() != ERR_OK || !start(&w, argv) ||
        pthread_create(&thread, NULL, refresh, &w) != 0) {
        return 2;
    }
    (void)puts("ready");
    (void)fflush(stdout);
    for (uint64_t at = 0; !atomic_load(&ends);) {
        if (w.pace_ms > 0) {
            ask_fresh(&w, &at);
        } else {
            read_ledger(&w);
            ask_all(&w);
        }
    }
    uint64_t until = atomic_load(&w.begun) + LAST_ROUNDS;
    read_ledger(&w);
    while (atomic_load(&w.done) < until) {
        pause_ns(REFRESH_NS);
    }
    for (int i = 0; i < LAST_ROUNDS; i++) {
        ask_all(&w);
    }
    printf("{\"entries\":%" PRIu64 ",\"rounds\":%" PRIu64 ",\"asked\":%" PRIu64
           ",\"wrong\":%" PRIu64 ",\"failed\":%" PRIu64 ",\"degraded_rounds\":%" PRIu64
           ",\"refreshes\":%llu,\"refresh_failures\":%llu,\"late\":%" PRIu64
           ",\"slowest_ms\":%.1f}\n",
           w.n, w.rounds, w.asked, w.wrong, w.failed, w.degraded, atomic_load(&w.done),
           atomic_load(&w.refresh_failures), w.late, (double)w.slowest_us / 1e3);
    return w.wrong + w.failed == 0 ? 0 : 1;
}
