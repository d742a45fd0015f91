/*
 * bench_extract [-n ROUNDS] [-m MAX_MS] PATH... - extraction over messages in memory.
 *
 * Times extract_new to extract_finish on one core, each message raw in chunks of 65,535 bytes,
 * files read beforehand. Prints one JSON line: messages and bytes per core-second, the time per
 * message at quantiles, the slowest file. With -m the exit code is 1 when a message takes more
 * CPU time than that. Folders are walked.
 */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "core/extract/extract.h"

enum { FILES_MAX = 20000, CHUNK = 65535, FILE_CAP = 64 << 20, ARENA_CAP = 64 << 20 };

struct message {
    char *path;
    struct buf bytes;
    uint64_t best_us;
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
    (void)st, (void)ftw;
    if (type != FTW_F || nmessages == FILES_MAX) {
        return 0;
    }
    struct message *m = &messages[nmessages];
    buf_init(&m->bytes, FILE_CAP);
    if (file_read(path, &m->bytes, NULL) != ERR_OK) {
        fprintf(stderr, "%s: cannot be read\n", path);
        return 0;
    }
    m->path = strdup(path);
    m->best_us = UINT64_MAX;
    nmessages++;
    return 0;
}

static uint64_t run(struct arena *arena, const struct message *m)
{
    uint64_t start = clock_cpu_us();
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
    uint64_t took = clock_cpu_us() - start;
    arena_reset(arena);
    return took;
}

static int by_time(const void *a, const void *b)
{
    const struct message *x = a;
    const struct message *y = b;
    return x->best_us < y->best_us ? -1 : x->best_us > y->best_us;
}

static int report(unsigned rounds, uint64_t total_us, uint64_t max_ms)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < nmessages; i++) {
        bytes += messages[i].bytes.n;
    }
    qsort(messages, nmessages, sizeof messages[0], by_time);
    const struct message *slowest = &messages[nmessages - 1];
    double seconds = (double)total_us / 1e6;
    char path[LOG_STR_MAX];
    printf("{\"bench\":\"extract\",\"messages\":%zu,\"rounds\":%u,\"bytes\":%llu,"
           "\"features\":%zu,\"msgs_per_s\":%.0f,\"mb_per_s\":%.1f,\"mean_us\":%.1f,"
           "\"p50_us\":%llu,\"p99_us\":%llu,\"max_us\":%llu,\"slowest\":\"%s\","
           "\"machine\":\"one core of this machine\"}\n",
           nmessages, rounds, (unsigned long long)bytes, nfeatures / rounds,
           (double)nmessages * rounds / seconds, (double)bytes * rounds / seconds / 1e6,
           (double)total_us / (double)nmessages / rounds,
           (unsigned long long)messages[nmessages / 2].best_us,
           (unsigned long long)messages[nmessages * 99 / 100].best_us,
           (unsigned long long)slowest->best_us,
           log_str(path, slice_str(slowest->path)));
    return max_ms > 0 && slowest->best_us > max_ms * 1000 ? 1 : 0;
}

int main(int argc, char **argv)
{
    unsigned rounds = 3;
    uint64_t max_ms = 0;
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
    shingle_keys_make(&ring, clock_wall_us() / 1000000, &limits.imprint.keys);
    uint64_t total = 0;
    for (unsigned r = 0; r < rounds; r++) {
        for (size_t i = 0; i < nmessages; i++) {
            uint64_t took = run(arena, &messages[i]);
            total += took;
            messages[i].best_us =
                took < messages[i].best_us ? took : messages[i].best_us;
        }
    }
    int code = report(rounds, total, max_ms);
    for (size_t i = 0; i < nmessages; i++) {
        free(messages[i].path);
        buf_fini(&messages[i].bytes);
    }
    arena_free(&arena);
    return code;
}
