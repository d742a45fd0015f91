/*
 * engines - one store (engine.h) under the work of gillnet's lists; driven by engines.py.
 *
 * Usage: ENGINE load DIR N
 *        ENGINE write DIR FIRST RATE SECONDS          changes, twenty batches a second, each synced
 *        ENGINE look DIR N SECONDS PERMILLE LEDGER    look-ups, PERMILLE of them of the N entries
 *        ENGINE check DIR N LEDGER                    each entry, and N that were never put in
 *        ENGINE puts DIR SECONDS                      not synced, a thousand a batch
 *
 * write prints a line "FROM TO MICROSECONDS" for each acknowledged batch. That output is the LEDGER of look
 * ("-": none). look runs beside write, asks for each acknowledged entry until it is seen, and at the end
 * asks for all of them again. Each command prints one JSON line; write prints it on stderr.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine.h"

enum {
    BATCH = 32,
    ROUND = 64 * BATCH,
    CHUNK = 512,
    WRITES_S = 20,
    PUTS = 1000,
    LINE = 128,
    SAMPLES = 1 << 22,
    LOOK_US = 20 * 1000,
    REFRESH_NS = 250 * 1000 * 1000,
    LATE_US = 1000 * 1000
};
#define ABSENT (UINT64_C(1) << 40)

static uint64_t now_us(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static uint64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t mixed(uint64_t x)
{
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

void engine_text(uint64_t i, struct engine_entry *ret)
{
    ret->length = (size_t)snprintf(ret->text, sizeof(ret->text), "value-%llu.example",
                                   (unsigned long long)i);
}

_Noreturn void engine_refuse(const char *what, const char *why)
{
    (void)fprintf(stderr, "%s: %s: %s\n", engine_built.name, what, why);
    exit(ENGINE_REFUSED); /* NOLINT(concurrency-mt-unsafe): nothing is left to do */
}

static void entry_of(uint64_t i, struct engine_entry *ret)
{
    engine_text(i, ret);
    engine_built.digest(ret);
}

/* A number from a file of /proc/self such as "VmRSS: 123 kB". */
static unsigned long long proc(const char *file, const char *name)
{
    char line[LINE];
    unsigned long long value = 0;
    FILE *f = fopen(file, "re");
    while (f && fgets(line, sizeof(line), f)) {
        if (strncmp(line, name, strlen(name)) == 0) {
            value = strtoull(line + strlen(name), NULL, 10);
        }
    }
    if (f) {
        (void)fclose(f);
    }
    return value;
}

/* Bytes handed to write calls. write_bytes counts all of a large page of which a part is changed. */
static unsigned long long written(void)
{
    return proc("/proc/self/io", "wchar:");
}

static int load(const char *dir, uint64_t n)
{
    uint64_t start = now_us();
    engine_built.load(dir, n);
    printf("{\"load_s\":%.2f,\"written\":%llu,\"peak_kib\":%llu}\n",
           (double)(now_us() - start) / 1e6, written(),
           proc("/proc/self/status", "VmHWM:"));
    return 0;
}

static void pause_until(uint64_t us)
{
    uint64_t now = now_us();
    if (now < us) {
        struct timespec t = {(time_t)((us - now) / 1000000),
                             (long)((us - now) % 1000000) * 1000};
        (void)nanosleep(&t, NULL);
    }
}

static int write_changes(const char *dir, uint64_t first, uint64_t rate,
                         uint64_t seconds)
{
    uint64_t n = rate / WRITES_S;
    uint64_t slowest = 0;
    struct engine_entry *e = calloc(n, sizeof(*e));
    if (!e) {
        engine_refuse("write", "no memory");
    }
    engine_built.open(dir, ENGINE_WRITE);
    uint64_t start = now_us();
    for (uint64_t batch = 0; batch < seconds * WRITES_S; batch++) {
        uint64_t from = first + batch * n;
        pause_until(start + batch * 1000000 / WRITES_S);
        for (uint64_t i = 0; i < n; i++) {
            entry_of(from + i, &e[i]);
        }
        uint64_t began = now_us();
        engine_built.put(e, n, true);
        uint64_t done = now_us();
        slowest = done - began > slowest ? done - began : slowest;
        printf("%llu %llu %llu\n", (unsigned long long)from,
               (unsigned long long)(from + n), (unsigned long long)done);
        (void)fflush(stdout);
    }
    (void)fprintf(
        stderr,
        "{\"changes\":%llu,\"took_s\":%.2f,\"slowest_ack_ms\":%.1f,\"written\":%llu}\n",
        (unsigned long long)(seconds * WRITES_S * n), (double)(now_us() - start) / 1e6,
        (double)slowest / 1e3, written());
    engine_built.close();
    free(e);
    return 0;
}

/* ---- reading ---- */

struct tally {
    uint64_t answer[ENGINE_ERROR + 1];
};

static void ask(const struct engine_entry *e, size_t n, struct tally *t)
{
    enum engine_answer answer[CHUNK];
    engine_built.get(e, n, answer);
    for (size_t i = 0; i < n; i++) {
        t->answer[answer[i]]++;
    }
}

static void ask_range(uint64_t from, uint64_t to, struct tally *t)
{
    static struct engine_entry e[CHUNK];
    while (from < to) {
        size_t n = 0;
        for (; n < CHUNK && from < to; n++) {
            entry_of(from++, &e[n]);
        }
        ask(e, n, t);
    }
}

/* An acknowledged batch: a range of entries. */
struct acked {
    uint64_t from;
    uint64_t to;
    uint64_t us;
};

struct ledger {
    FILE *file; /* NULL: none */
    struct acked *batch;
    size_t n;
    size_t seen; /* all before were answered rightly */
    uint64_t opened_us;
    uint64_t next_us;
    uint64_t slowest_us;
    uint64_t late;
    uint64_t lost; /* answered rightly before */
};

static void ledger_open(struct ledger *l, const char *path)
{
    memset(l, 0, sizeof(*l));
    if (strcmp(path, "-") != 0) {
        l->file = fopen(path, "re");
        l->batch = calloc(SAMPLES, sizeof(*l->batch));
        if (!l->file || !l->batch) {
            engine_refuse(path, "cannot be read");
        }
    }
}

static void ledger_read(struct ledger *l)
{
    char line[LINE];
    clearerr(l->file);
    for (long at = ftell(l->file); fgets(line, sizeof(line), l->file);
         at = ftell(l->file)) {
        char *end = NULL;
        if (!strchr(line, '\n')) { /* half written */
            (void)fseek(l->file, at, SEEK_SET);
            return;
        }
        struct acked *b = &l->batch[l->n];
        b->from = strtoull(line, &end, 10);
        b->to = strtoull(end, &end, 10);
        b->us = strtoull(end, NULL, 10);
        l->n += l->n + 1 < SAMPLES;
    }
}

/* Asks for the entries that were not seen yet, and for one of the earlier batches. */
static void ledger_ask(struct ledger *l)
{
    if (!l->file || now_us() < l->next_us) {
        return;
    }
    ledger_read(l);
    while (l->seen < l->n) {
        const struct acked *b = &l->batch[l->seen];
        struct tally t = {0};
        ask_range(b->from, b->to, &t);
        if (t.answer[ENGINE_YES] != b->to - b->from) {
            break;
        }
        uint64_t us = now_us() - (b->us > l->opened_us ? b->us : l->opened_us);
        l->slowest_us = us > l->slowest_us ? us : l->slowest_us;
        l->late += us > LATE_US;
        l->seen++;
    }
    if (l->seen > 0) {
        const struct acked *b = &l->batch[mixed(l->next_us) % l->seen];
        struct tally t = {0};
        ask_range(b->from, b->to, &t);
        l->lost += b->to - b->from - t.answer[ENGINE_YES];
    }
    l->next_us = now_us() + LOOK_US;
}

static void ledger_ask_all(struct ledger *l, struct tally *t, uint64_t *retgiven)
{
    *retgiven = 0;
    for (size_t i = 0; i < l->n; i++) {
        ask_range(l->batch[i].from, l->batch[i].to, t);
        *retgiven += l->batch[i].to - l->batch[i].from;
    }
}

static void ledger_close(struct ledger *l)
{
    if (l->file) {
        (void)fclose(l->file);
    }
    free(l->batch);
}

static void *refresh(void *unused)
{
    for (;;) { /* ends with the program */
        struct timespec t = {0, REFRESH_NS};
        (void)nanosleep(&t, NULL);
        engine_built.refresh();
    }
    return unused;
}

struct looking {
    uint64_t n;
    uint64_t permille;
    uint64_t random;
    uint64_t listed; /* asked for */
    uint64_t spent_ns;
    uint64_t lookups;
    uint32_t *sample; /* ns of a batch */
    size_t samples;
    struct tally tally;
};

static void look_round(struct looking *l)
{
    static struct engine_entry e[ROUND];
    for (size_t i = 0; i < ROUND; i++) {
        uint64_t r = mixed(l->random++);
        bool is_listed = r % 1000 < l->permille;
        l->listed += is_listed;
        entry_of(is_listed ? (r >> 10) % l->n : ABSENT + (r >> 24), &e[i]);
    }
    for (size_t at = 0; at < ROUND; at += BATCH) {
        uint64_t start = now_ns();
        ask(e + at, BATCH, &l->tally);
        uint64_t ns = now_ns() - start;
        l->spent_ns += ns;
        if (l->samples < SAMPLES) {
            l->sample[l->samples++] = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
        }
    }
    l->lookups += ROUND;
}

static int by_value(const void *a, const void *b)
{
    const uint32_t *x = a;
    const uint32_t *y = b;
    return (*x > *y) - (*x < *y);
}

static double percentile_us(struct looking *l, double share)
{
    return (double)l->sample[(size_t)((double)(l->samples - 1) * share)] / 1e3;
}

static void look_print(struct looking *l, const struct ledger *g, uint64_t open_us,
                       const struct tally *all, uint64_t given)
{
    qsort(l->sample, l->samples, sizeof(*l->sample), by_value);
    printf("{\"open_ms\":%.1f,\"lookups\":%llu,\"per_s\":%.0f,\"batch_p50_us\":%.1f,"
           "\"batch_p99_us\":%.1f,\"batch_p999_us\":%.1f,\"batch_max_us\":%.0f,",
           (double)open_us / 1e3, (unsigned long long)l->lookups,
           (double)l->lookups * 1e9 / (double)l->spent_ns, percentile_us(l, 0.5),
           percentile_us(l, 0.99), percentile_us(l, 0.999), percentile_us(l, 1));
    printf(
        "\"not_found\":%lld,\"wrong\":%llu,\"errors\":%llu,\"acked\":%llu,\"acked_missing\":%lld,"
        "\"slowest_seen_ms\":%.1f,\"late\":%llu,\"lost\":%llu,",
        (long long)(l->listed - l->tally.answer[ENGINE_YES]),
        (unsigned long long)l->tally.answer[ENGINE_WRONG],
        (unsigned long long)l->tally.answer[ENGINE_ERROR], (unsigned long long)given,
        (long long)(given - all->answer[ENGINE_YES]), (double)g->slowest_us / 1e3,
        (unsigned long long)g->late, (unsigned long long)g->lost);
    printf(
        "\"anon_kib\":%llu,\"file_kib\":%llu,\"shmem_kib\":%llu,\"peak_kib\":%llu,\"fault\":%d}\n",
        proc("/proc/self/status", "RssAnon:"), proc("/proc/self/status", "RssFile:"),
        proc("/proc/self/status", "RssShmem:"), proc("/proc/self/status", "VmHWM:"),
        engine_built.has_fault());
}

static int look(const char *dir, uint64_t n, uint64_t seconds, uint64_t permille,
                const char *path)
{
    struct looking l = {.n = n, .permille = permille, .random = now_us()};
    struct ledger g;
    struct tally all = {0};
    uint64_t given = 0;
    pthread_t thread;
    l.sample = malloc(SAMPLES * sizeof(*l.sample));
    ledger_open(&g, path);
    uint64_t start = now_us();
    engine_built.open(dir, ENGINE_READ);
    uint64_t open_us = now_us() - start;
    if (!l.sample || pthread_create(&thread, NULL, refresh, NULL) != 0) {
        engine_refuse("look", "no memory");
    }
    g.opened_us = now_us();
    (void)fputs("ready\n", stderr);
    for (uint64_t end = now_us() + seconds * 1000000; now_us() < end;) {
        look_round(&l);
        ledger_ask(&g);
    }
    if (g.file) {
        ledger_read(&g);
        pause_until(now_us() + LATE_US); /* until then all of it must be seen */
        ledger_ask_all(&g, &all, &given);
    }
    look_print(&l, &g, open_us, &all, given);
    ledger_close(&g);
    free(l.sample);
    return 0;
}

static int check(const char *dir, uint64_t n, const char *path)
{
    struct tally listed = {0};
    struct tally absent = {0};
    struct tally acked = {0};
    struct ledger g;
    uint64_t given = 0;
    ledger_open(&g, path);
    engine_built.open(dir, ENGINE_READ);
    ask_range(0, n, &listed);
    ask_range(ABSENT, ABSENT + n, &absent);
    if (g.file) {
        ledger_read(&g);
    }
    ledger_ask_all(&g, &acked, &given);
    ledger_close(&g);
    uint64_t errors = listed.answer[ENGINE_ERROR] + absent.answer[ENGINE_ERROR] +
                      acked.answer[ENGINE_ERROR];
    uint64_t wrong = listed.answer[ENGINE_WRONG] + absent.answer[ENGINE_WRONG] +
                     acked.answer[ENGINE_WRONG] + absent.answer[ENGINE_YES];
    printf("{\"missing\":%llu,\"acked\":%llu,\"acked_missing\":%llu,\"wrong\":%llu,"
           "\"errors\":%llu,\"fault\":%d}\n",
           (unsigned long long)listed.answer[ENGINE_NO], (unsigned long long)given,
           (unsigned long long)acked.answer[ENGINE_NO], (unsigned long long)wrong,
           (unsigned long long)errors, engine_built.has_fault());
    return 0;
}

/* An upper bound for counts: a store of counts would read before it writes. */
static int puts_unsynced(const char *dir, uint64_t seconds)
{
    static struct engine_entry e[PUTS];
    uint64_t done = 0;
    uint64_t spent = 0;
    engine_built.open(dir, ENGINE_WRITE);
    while (spent < seconds * 1000000) {
        for (size_t i = 0; i < PUTS; i++) {
            entry_of(2 * ABSENT + done++, &e[i]);
        }
        uint64_t start = now_us();
        engine_built.put(e, PUTS, false);
        spent += now_us() - start;
    }
    printf("{\"puts_per_s\":%.0f,\"written\":%llu}\n",
           (double)done * 1e6 / (double)spent, written());
    engine_built.close();
    return 0;
}

static uint64_t number(const char *text)
{
    return strtoull(text, NULL, 10);
}

int main(int argc, char **argv)
{
    const char *command = argc > 3 ? argv[1] : "";
    if (strcmp(command, "load") == 0 && argc == 4) {
        return load(argv[2], number(argv[3]));
    }
    if (strcmp(command, "write") == 0 && argc == 6 && number(argv[4]) >= WRITES_S) {
        return write_changes(argv[2], number(argv[3]), number(argv[4]),
                             number(argv[5]));
    }
    if (strcmp(command, "look") == 0 && argc == 7) {
        return look(argv[2], number(argv[3]), number(argv[4]), number(argv[5]),
                    argv[6]);
    }
    if (strcmp(command, "check") == 0 && argc == 5) {
        return check(argv[2], number(argv[3]), argv[4]);
    }
    if (strcmp(command, "puts") == 0 && argc == 4) {
        return puts_unsynced(argv[2], number(argv[3]));
    }
    (void)fputs("usage: see engines.c\n", stderr);
    return 2;
}
