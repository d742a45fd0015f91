/*
 * bench_extract [-n ROUNDS] [-m MAX_MS] PATH... - extraction over messages in memory.
 *
 * Times extract_new to extract_finish on one core, fingerprints included, each message raw in
 * chunks of 65,535 bytes, files read beforehand; beside it, message by message, each stage alone
 * and GMime alone (parse, decode every part). Prints one JSON line: messages and bytes per
 * core-second, the time per message at quantiles, the slowest file, the stages (microseconds per
 * message, MB/s of what they are given), and how many times GMime's time the whole takes. Of
 * each message the least time of the rounds counts. With -m the exit code is 1 when a message
 * takes more CPU time than that. Folders are walked.
 */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "core/message/extract/extract.h"

#include "tests/bench/extract_stages.h"

enum { FILES_MAX = 20000, CHUNK = 65535, FILE_CAP = 64 << 20, ARENA_CAP = 64 << 20 };

struct message {
    char *path;
    struct buf bytes;
    uint64_t best_ns;
    uint64_t gmime_ns;
};

static struct message messages[FILES_MAX];
static size_t nmessages;
static size_t nfeatures;

static struct extract_limits limits = {
    .mail = {.message_bytes = 16 << 20,
             .decoded_bytes = 32 << 20,
             .headers = 1000,
             .header_bytes = 256 << 10,
             .header_field = 64 << 10,
             .parts = 500,
             .depth = 32},
    .urls = 500,
    .recipients = 1000,
    .cpu_us = 250000,
};

static const struct hashkey ring = {1, "any sixteen byte"};

static int add_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    bool is_mail = ftw->level == 0 || strchr(path + ftw->base, '.') != NULL;
    if (type != FTW_F || !is_mail || nmessages == FILES_MAX) {
        return 0;
    }
    struct message *m = &messages[nmessages];
    buf_init(&m->bytes, FILE_CAP);
    if (file_read(path, &m->bytes, NULL) != ERR_OK) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return 0;
    }
    m->path = strdup(path);
    m->best_ns = UINT64_MAX;
    nmessages++;
    return 0;
}

static uint64_t run(struct arena *arena, const struct message *m)
{
    uint64_t start = bench_now_ns();
    struct extract *x = extract_new(arena, &limits, NULL, 0);
    if (x == NULL) {
        return 0;
    }
    struct slice rest = buf_slice(&m->bytes);
    while (rest.n > 0) {
        struct slice chunk = slice_head(rest, CHUNK);
        extract_raw(x, chunk);
        rest = slice_from(rest, chunk.n);
    }
    nfeatures += featureset_count(extract_finish(x));
    uint64_t took = bench_now_ns() - start;
    arena_reset(arena);
    return took;
}

static int by_time(const void *a, const void *b)
{
    const struct message *x = a;
    const struct message *y = b;
    return x->best_ns < y->best_ns ? -1 : x->best_ns > y->best_ns;
}

static double ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

static double mean_us(uint64_t ns)
{
    return (double)ns / 1e3 / (double)nmessages;
}

static void report_stages(const uint64_t ns[STAGES], const uint64_t bytes[STAGES])
{
    printf("\"stages\":{");
    for (unsigned i = 0; i < STAGES; i++) {
        printf("%s\"%s\":{\"us\":%.1f,\"mb_per_s\":%.0f,\"msgs_per_s\":%.0f}",
               i > 0 ? "," : "", stage_names[i], mean_us(ns[i]),
               ns[i] > 0 ? (double)bytes[i] * 1e3 / (double)ns[i] : 0,
               ns[i] > 0 ? (double)nmessages * 1e9 / (double)ns[i] : 0);
    }
    printf("},");
}

static int report(unsigned rounds, uint64_t max_ms, const uint64_t ns[STAGES],
                  const uint64_t stage_bytes[STAGES])
{
    uint64_t bytes = 0;
    uint64_t total = 0;
    uint64_t gmime = 0;
    char path[LOG_STR_MAX];
    for (size_t i = 0; i < nmessages; i++) {
        bytes += messages[i].bytes.n;
        total += messages[i].best_ns;
        gmime += messages[i].gmime_ns;
    }
    qsort(messages, nmessages, sizeof(messages[0]), by_time);
    const struct message *slowest = &messages[nmessages - 1];
    printf("{\"bench\":\"extract\",\"messages\":%zu,\"rounds\":%u,\"bytes\":%llu,"
           "\"features\":%zu,\"msgs_per_s\":%.0f,\"mb_per_s\":%.1f,\"mean_us\":%.1f,"
           "\"p50_us\":%.1f,\"p99_us\":%.1f,\"max_ms\":%.1f,\"slowest\":\"%s\",",
           nmessages, rounds, (unsigned long long)bytes, nfeatures / rounds,
           (double)nmessages * 1e9 / (double)total, (double)bytes * 1e3 / (double)total,
           mean_us(total), ms(messages[nmessages / 2].best_ns) * 1e3,
           ms(messages[nmessages * 99 / 100].best_ns) * 1e3, ms(slowest->best_ns),
           log_str(path, slice_str(slowest->path)));
    report_stages(ns, stage_bytes);
    if (gmime > 0) {
        printf("\"gmime\":{\"us\":%.1f,\"mb_per_s\":%.0f,\"msgs_per_s\":%.0f},"
               "\"ratio\":%.2f,",
               mean_us(gmime), (double)bytes * 1e3 / (double)gmime,
               (double)nmessages * 1e9 / (double)gmime, (double)total / (double)gmime);
    }
    printf("\"machine\":\"one core of this machine\"}\n");
    return max_ms > 0 && slowest->best_ns > max_ms * 1000000 ? 1 : 0;
}

static void measure(struct arena *arena, unsigned rounds, uint64_t ns[STAGES],
                    uint64_t bytes[STAGES])
{
    for (size_t i = 0; i < nmessages; i++) {
        struct message *m = &messages[i];
        for (unsigned r = 0; r < rounds; r++) {
            uint64_t took = run(arena, m);
            m->best_ns = took < m->best_ns ? took : m->best_ns;
        }
        m->gmime_ns = gmime_run(buf_slice(&m->bytes), rounds);
        if (!stages_run(buf_slice(&m->bytes), &limits, rounds, ns, bytes)) {
            fprintf(stderr, "bench_extract: no memory\n");
        }
    }
}

int main(int argc, char **argv)
{
    unsigned rounds = 3;
    uint64_t max_ms = 0;
    uint64_t ns[STAGES] = {0};
    uint64_t bytes[STAGES] = {0};
    int option = 0;
    while ((option = getopt(argc, argv, "n:m:")) != -1) {
        if (option == 'n') {
            rounds = (unsigned)strtoul(optarg, NULL, 10);
        } else if (option == 'm') {
            max_ms = strtoull(optarg, NULL, 10);
        } else {
            return 64;
        }
    }
    for (int i = optind; i < argc; i++) {
        nftw(argv[i], add_file, 16, FTW_PHYS);
    }
    struct arena *arena = arena_new(ARENA_CAP);
    if (base_init() != ERR_OK || arena == NULL || nmessages == 0 || rounds == 0) {
        fprintf(stderr, "bench_extract: no messages\n");
        return 64;
    }
    shingle_keys_make(&ring, 0, &limits.imprint.keys);
    measure(arena, rounds, ns, bytes);
    int code = report(rounds, max_ms, ns, bytes);
    for (size_t i = 0; i < nmessages; i++) {
        free(messages[i].path);
        buf_fini(&messages[i].bytes);
    }
    arena_free(&arena);
    return code;
}
