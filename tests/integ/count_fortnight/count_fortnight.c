/*
 * count_fortnight - memory, disk and noise of the counts after 14 days of mail.
 *
 * Usage: count_fortnight FOLDER MESSAGES_PER_DAY    two JSON lines; FOLDER must be empty
 * Fifteen days (today and 14 before) of the traffic model in virtual time, through count_batch and
 * count_tick, with the preset for MESSAGES_PER_DAY. Exit 1 if memory, disk or noise are above the
 * bounds, or a count is wrong or too low. Noise is the share of 200,000 keys, never counted, that
 * read above 0 (in the window of 14 days above 1). It is measured in the last minute of the day,
 * when the window has most days. Memory is the growth of RssAnon and RssShmem of this process, plus
 * the tables of the running bucket and the one before, which are mapped files. The second line is
 * for a restart; rebuild_s is the time until the sketch is complete again.
 */
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/count/count.h"
#include "core/count/traffic.h"

enum {
    DAYS = COUNT_DAYS + 1,
    FIRST_DAY = 20000,
    STRANGERS = 200000, /* keys that were never counted */
    KNOWN = 1000,       /* ranks whose counts are known here */
    WALK_FILES = 16,
    LINE_ROOM = 256,
    KIB = 1024,
    SLOT_BYTES = 16,
    TABLES = 2
};
#define BUCKET_US    ((uint64_t)COUNT_BUCKET_S * 1000000)
#define STRANGER     (UINT64_C(3) << 60) /* beyond ranks and first sights */
#define NOISE_MOST   0.001
#define MIB(n)       ((uint64_t)(n) << 20)
#define DISK_MOST_GB UINT64_C(8)

/* Limits on the memory of all of gillnetd; other numbers of messages have no limit. */
static const struct bound {
    uint64_t messages;
    uint64_t memory;
} bounds[] = {{10000, MIB(64)}, {100000, MIB(192)}, {1000000, MIB(1536)}};

static uint64_t disk_bytes; /* summed by add_file */

static uint64_t memory_now(void)
{
    char line[LINE_ROOM];
    uint64_t sum = 0;
    unsigned long long kib = 0;
    FILE *f = fopen("/proc/self/status", "re");

    while (f && fgets(line, sizeof(line), f)) {
        /* NOLINTNEXTLINE(cert-err34-c): a number of the kernel's fits */
        if (sscanf(line, "RssAnon: %llu kB", &kib) == 1 ||
            /* NOLINTNEXTLINE(cert-err34-c): as above */
            sscanf(line, "RssShmem: %llu kB", &kib) == 1) {
            sum += kib * KIB;
        }
    }
    if (f) {
        (void)fclose(f);
    }
    return sum;
}

static int add_file(const char *path, const struct stat *st, int kind,
                    struct FTW *where)
{
    (void)path;
    (void)kind;
    (void)where;
    disk_bytes += (uint64_t)st->st_blocks * 512;
    return 0;
}

static void count_message(struct count *c, struct traffic *t, uint64_t known[KNOWN + 1])
{
    struct count_item items[TRAFFIC_KEYS];
    uint64_t numbers[TRAFFIC_KEYS];

    traffic_message(t, numbers);
    for (unsigned i = 0; i < TRAFFIC_KEYS; i++) {
        traffic_digest(numbers[i], &items[i].digest[0]);
        items[i].amount = 1;
        if (numbers[i] <= KNOWN) {
            known[numbers[i]]++;
        }
    }
    count_batch(c, items, TRAFFIC_KEYS);
}

static void live_through(struct count *c, struct traffic *t, uint64_t messages,
                         uint64_t known[KNOWN + 1])
{
    uint64_t sent = 0;

    for (uint64_t b = 1; b <= (uint64_t)DAYS * COUNT_DAY_BUCKETS; b++) {
        for (; sent < b * messages / COUNT_DAY_BUCKETS; sent++) {
            count_message(c, t, known);
        }
        if (b < (uint64_t)DAYS * COUNT_DAY_BUCKETS) {
            clock_advance_us(BUCKET_US);
            count_tick(c);
        }
    }
}

static void read_strangers(struct count *c, double ret[COUNT_WINDOWS])
{
    unsigned noisy[COUNT_WINDOWS] = {0};

    for (unsigned i = 0; i < STRANGERS; i++) {
        struct count_item item = {.amount = 0};
        traffic_digest(STRANGER + i, &item.digest[0]);
        count_batch(c, &item, 1);
        for (unsigned w = 0; w < COUNT_WINDOWS; w++) {
            noisy[w] += item.value.w[w] > (w == COUNT_14D ? 1 : 0) ? 1 : 0;
        }
    }
    for (unsigned w = 0; w < COUNT_WINDOWS; w++) {
        ret[w] = (double)noisy[w] / STRANGERS;
    }
}

/* Ranks whose exact count is wrong, or whose sums are below it. All lies within the fortnight. */
static unsigned count_wrong(struct count *c, const uint64_t known[KNOWN + 1])
{
    unsigned wrong = 0;

    for (uint64_t r = 1; r <= KNOWN; r++) {
        struct count_item item = {.amount = 0};
        struct count_history history;
        uint64_t w[COUNT_WINDOWS];
        traffic_digest(r, &item.digest[0]);
        count_batch(c, &item, 1);
        count_exact(c, item.digest, &history);
        count_history_windows(&history, w);
        bool is_wrong = w[COUNT_14D] != known[r];
        for (unsigned i = 0; i < COUNT_WINDOWS; i++) {
            is_wrong = is_wrong || item.value.w[i] < w[i];
        }
        wrong += is_wrong ? 1 : 0;
    }
    return wrong;
}

static bool is_within(uint64_t messages, uint64_t memory, const double *noise)
{
    bool ok = disk_bytes <= DISK_MOST_GB << 30;

    for (size_t i = 0; i < sizeof(bounds) / sizeof(*bounds); i++) {
        ok = ok && (messages != bounds[i].messages || memory <= bounds[i].memory);
    }
    for (unsigned w = 0; w < COUNT_WINDOWS; w++) {
        ok = ok && noise[w] <= NOISE_MOST;
    }
    return ok;
}

static int report(struct count *c, const char *dir, uint64_t messages,
                  uint64_t memory_before, const uint64_t known[KNOWN + 1])
{
    struct count_stat stat;
    double noise[COUNT_WINDOWS];

    count_stat(c, &stat);
    uint64_t tables = stat.live_slots * SLOT_BYTES * TABLES;
    uint64_t memory = memory_now() - memory_before + tables;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
    (void)nftw(dir, add_file, WALK_FILES, FTW_PHYS);
    read_strangers(c, noise);
    unsigned wrong = count_wrong(c, known);
    bool is_ok = is_within(messages, memory, noise) && wrong == 0;
    printf("{\"messages_per_day\":%" PRIu64 ",\"memory_bytes\":%" PRIu64
           ",\"disk_bytes\":%" PRIu64 ",\"noise_10m\":%.6f,\"noise_1h\":%.6f,"
           "\"noise_1d\":%.6f,\"noise_14d\":%.6f,\"door_share\":%.3f,"
           "\"cell_lines_share\":%.3f,\"overflowed\":%" PRIu64
           ",\"live_slots\":%" PRIu64 ",\"wrong\":%u,\"is_ok\":%s}\n",
           messages, memory, disk_bytes, noise[COUNT_10M], noise[COUNT_1H],
           noise[COUNT_1D], noise[COUNT_14D],
           (double)stat.doorkeeper_entries / (double)stat.doorkeeper_capacity,
           (double)stat.cell_lines_used / (double)stat.cell_lines, stat.overflowed,
           stat.live_slots, wrong, is_ok ? "true" : "false");
    return is_ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

static double seconds_now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The sketch comes from the runs again, and knows what it knew. */
static int report_restart(const struct count_options *options,
                          const uint64_t known[KNOWN + 1])
{
    struct count *c = NULL;
    struct errinfo info;
    double start = seconds_now();

    if (count_open(options, &c, &info) != ERR_OK) {
        fprintf(stderr, "count_fortnight: %s\n", info.text);
        return 2;
    }
    count_tick(c);
    double rebuild_s = seconds_now() - start;
    unsigned wrong = count_wrong(c, known);
    printf("{\"messages_per_day\":%" PRIu64
           ",\"rebuild_s\":%.2f,\"wrong\":%u,\"is_ok\":%s}\n",
           options->messages_per_day, rebuild_s, wrong, wrong == 0 ? "true" : "false");
    count_close(&c);
    return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    static const struct keyring keys = {
        .n = 1,
        .ring = {{.id = 1, .bytes = "fortnight keys"}},
        .node = {.id = 2, .bytes = "fortnight place"},
    };
    static uint64_t known[KNOWN + 1];
    uint64_t messages = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;
    struct count *c = NULL;
    struct traffic traffic;
    struct errinfo info;

    if (messages == 0 || base_init() != ERR_OK) {
        fprintf(stderr, "usage: count_fortnight FOLDER MESSAGES_PER_DAY\n");
        return 2;
    }
    const struct count_options options = {
        .state_dir = argv[1], .keys = &keys, .messages_per_day = messages};
    uint64_t before = memory_now();
    clock_set_for_test((uint64_t)FIRST_DAY * COUNT_DAY_S * 1000000, BUCKET_US);
    if (count_open(&options, &c, &info) != ERR_OK) {
        fprintf(stderr, "count_fortnight: %s\n", info.text);
        return 2;
    }
    traffic_init(&traffic, messages, 1);
    live_through(c, &traffic, messages, known);
    int status = report(c, argv[1], messages, before, known);
    count_close(&c);
    return status == EXIT_SUCCESS ? report_restart(&options, known) : status;
}
