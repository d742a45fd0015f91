/*
 * bench_replay - time of a replay over a journal of many messages, and bytes and time of each record.
 *
 * Usage: bench_replay [--messages N] [--folder DIR]   (1000000, a new folder in TMPDIR)
 * One JSON line. The journal is written by the real writer (journal_add), with the evidence of a
 * typical message: 3 symbols, a list hit, 24 counted types, 150 hashes, 6 texts. Then it is read three
 * times: whole files through read(2), as `cat` does (the floor), all records parsed, and a replay with
 * two settings. Times are wall times in one thread, the files in the page cache; replay_cpu_s is
 * processor time. add_ns: processor time that journal_add takes of a message's thread, with the clock.
 * sample: a replay of the newest SAMPLE messages with a sum of all (replay_tally.h), as POST /v1/replay
 * does it first, 100 times; sample_to_read: its p99 over the p99 of reading as many bytes of the
 * newest files through read(2), each time just before it. The folder is removed.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/base/dir_walk.h"
#include "core/base/file.h"
#include "core/base/version.h"
#include "core/verdict/journal/journal.h"
#include "core/verdict/journal/journal_read.h"
#include "core/verdict/journal/replay_tally.h"
#include "core/verdict/rule/rule.h"

#include "tests/bench/journal_write.h"

enum {
    TYPES = 24,
    HASHES = 150,
    SENDERS = 5000,
    CHUNK = 1 << 16,
    SAMPLE = 5000,
    SAMPLES = 100
};

struct texts {
    char from[64];
    char to[64];
    char queue_id[32];
    char detail[64];
};

static void fill(struct record *r, struct prng *p, uint64_t i)
{
    static struct texts texts;
    struct texts *t = &texts;

    record_init(r, RECORD_MESSAGE);
    (void)snprintf(t->from, sizeof(t->from), "news%" PRIu64 "@sender.example",
                   prng_below(p, SENDERS));
    (void)snprintf(t->to, sizeof(t->to), "user%" PRIu64 "@rcpt.example",
                   prng_below(p, SENDERS));
    (void)snprintf(t->queue_id, sizeof(t->queue_id), "4VqWZb%08" PRIx64, i);
    (void)snprintf(t->detail, sizeof(t->detail), "url_domain=evil%" PRIu64 ".example",
                   i % 999);
    uint64_t score = prng_below(p, 120);
    r->time_us = clock_wall_us();
    r->case_id = case_id_next(r->time_us / 1000000);
    r->queue_id = slice_str(t->queue_id);
    r->message_id = prng_next(p);
    r->has_addr = true;
    r->bytes = 20000 + i % 50000;
    r->nrcpt = 1;
    r->config_id = 1;
    r->score = r->sure = (double)score / 10;
    r->firm = r->score - (score >= 20 ? 2.0 : 0);
    for (size_t k = 0; k < RECORD_THRESHOLDS; k++) {
        r->threshold[k] = k == ACTION_HEADER ? 5.0 : HUGE_VAL;
    }
    r->bulk_alone = ACTION_HEADER;
    r->wanted = r->done = score >= 50 ? 1 : 0;
    r->ntraits = 3;
    r->trait[0] = 2;
    r->trait[1] = 5;
    r->trait[2] = 7;
    r->symbol[r->nsymbols++] = (struct record_symbol){SLICE_LIT("LIST_PHISH"), r->firm,
                                                      0, slice_str(t->detail)};
    if (score >= 20) {
        r->symbol[r->nsymbols++] = (struct record_symbol){
            SLICE_LIT("BULK_REPLICA"), 2.0, 1,
            SLICE_LIT("text_band=12.3.abcdef seen 57 times in 1d")};
    }
    r->symbol[r->nsymbols++] =
        (struct record_symbol){SLICE_LIT("TRAIT_FORM"), 0, 0, SLICE_LIT("shadow")};
    r->hit[r->nhits++] = (struct record_hit){SLICE_LIT("phish"),
                                             SLICE_NONE,
                                             SLICE_LIT("phish"),
                                             slice_from(slice_str(t->detail), 11),
                                             r->firm,
                                             1,
                                             24,
                                             2,
                                             0};
    for (uint16_t k = 0; k < TYPES; k++) {
        uint64_t n = 1 + prng_below(p, 100);
        r->type[r->ntypes++] = (struct record_type){(uint16_t)(38 + k), 1U + k % 8U, 1};
        r->count[r->ncounts++] = (struct record_count){(uint16_t)(38 + k),
                                                       (uint32_t)prng_next(p),
                                                       {n / 8, n / 4, n, n * 5},
                                                       k % 5 == 0,
                                                       {n / 3, n / 5, n / 9}};
    }
    for (; r->nhashes < HASHES; r->nhashes++) {
        r->hash[r->nhashes] = (uint32_t)prng_next(p) & ((1U << RECORD_HASH_BITS) - 1);
    }
    r->from = r->header_from = slice_str(t->from);
    r->ntexts_rcpt = 1;
    r->rcpt[0] = slice_str(t->to);
}

static void need(enum err e, const struct errinfo *why)
{
    if (e != ERR_OK) {
        (void)fprintf(stderr, "bench_replay: %s: %s\n", why->source, why->text);
        exit(EXIT_FAILURE);
    }
}

/* Reads all bytes of the files. Returns how many. */
static uint64_t read_bytes(const char *folder)
{
    static char chunk[CHUNK];
    char dir[FILE_PATH_MAX];
    char path[FILE_PATH_MAX];
    uint64_t bytes = 0;

    (void)file_path(dir, "%s/journal", folder);
    struct dir_walk w = dir_walk_begin(dir, DIR_NEEDED);
    while (dir_walk_next(&w)) {
        if (strncmp(w.name, "messages-", 9) != 0 ||
            file_path(path, "%s/%s", dir, w.name) != ERR_OK) {
            continue;
        }
        int fd = open(path, O_RDONLY);
        ssize_t got = 0;
        while (fd >= 0 && (got = read(fd, chunk, sizeof(chunk))) > 0) {
            bytes += (uint64_t)got;
        }
        fd_close(&fd);
    }
    (void)dir_walk_end(&w, ERR_OK, NULL);
    return bytes;
}

struct result {
    struct replay replay;
    uint64_t records;
    uint64_t changed;
};

static bool count(void *context, const struct record *r,
                  const struct journal_names *names)
{
    struct result *result = context;
    (void)r;
    (void)names;
    result->records++;
    return true;
}

static bool judge(void *context, const struct record *r,
                  const struct journal_names *names)
{
    struct result *result = context;
    struct replay_result one;
    replay_judge(&result->replay, r, names, &one);
    result->records++;
    result->changed += one.after != one.before;
    return true;
}

static double run(const char *folder, journal_read_fn *fn, struct result *result)
{
    const struct journal_query q = {.state_dir = folder, .fn = fn, .context = result};
    struct journal_numbers numbers;
    struct errinfo why;
    uint64_t begin_us = clock_mono_us();

    result->records = 0;
    need(journal_read(&q, &numbers, &why), &why);
    return (double)(clock_mono_us() - begin_us) / 1e6;
}

/* ---- the sample ---- */

static bool add_to_sample(void *context, const struct record *r,
                          const struct journal_names *names)
{
    struct replay_tally *t = context;
    struct replay_result one;

    if (t->messages == SAMPLE) {
        return false;
    }
    (void)replay_tally_add(t, r, names, &one);
    return true;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* Reads the last bytes of the newest file. */
static void read_newest(const char *folder, uint64_t bytes)
{
    static char chunk[CHUNK];
    char newest[FILE_PATH_MAX] = "";
    char dir[FILE_PATH_MAX];
    char path[FILE_PATH_MAX];
    struct stat st = {.st_size = 0};

    (void)file_path(dir, "%s/journal", folder);
    struct dir_walk w = dir_walk_begin(dir, DIR_NEEDED);
    while (dir_walk_next(&w)) {
        if (strncmp(w.name, "messages-", 9) == 0 && strcmp(w.name, newest) > 0) {
            (void)snprintf(newest, sizeof(newest), "%s", w.name);
        }
    }
    (void)dir_walk_end(&w, ERR_OK, NULL);
    (void)file_path(path, "%s/%.255s", dir, newest);
    int fd = open(path, O_RDONLY);
    if (fd >= 0 && fstat(fd, &st) == 0 && (uint64_t)st.st_size > bytes) {
        (void)lseek(fd, st.st_size - (off_t)bytes, SEEK_SET);
    }
    while (fd >= 0 && read(fd, chunk, sizeof(chunk)) > 0) {
    }
    fd_close(&fd);
}

static void measure_sample(const char *folder, const struct config *config,
                           uint64_t bytes)
{
    static struct replay_tally tally;
    static double sample_ms[SAMPLES];
    static double read_ms[SAMPLES];
    const struct journal_query q = {.state_dir = folder,
                                    .newest_first = true,
                                    .fn = add_to_sample,
                                    .context = &tally};
    struct journal_numbers numbers;
    struct errinfo why;

    for (int i = 0; i < SAMPLES; i++) {
        uint64_t begin_us = clock_mono_us();
        read_newest(folder, bytes * SAMPLE);
        read_ms[i] = (double)(clock_mono_us() - begin_us) / 1e3;
        begin_us = clock_mono_us();
        tally = (struct replay_tally){.has_symbols = true};
        replay_init(&tally.settings, config);
        need(replay_set(&tally.settings, "thresholds.header=6", &why), &why);
        need(journal_read(&q, &numbers, &why), &why);
        sample_ms[i] = (double)(clock_mono_us() - begin_us) / 1e3;
    }
    qsort(sample_ms, SAMPLES, sizeof(*sample_ms), by_size);
    qsort(read_ms, SAMPLES, sizeof(*read_ms), by_size);
    const size_t p99 = SAMPLES * 99 / 100 - 1;
    printf(", \"sample\": %d, \"sample_p50_ms\": %.1f, \"sample_p99_ms\": %.1f, "
           "\"sample_to_read\": %.1f",
           SAMPLE, sample_ms[SAMPLES / 2], sample_ms[p99],
           sample_ms[p99] / read_ms[p99]);
}

static void measure(const char *folder, uint64_t n)
{
    static struct result result;
    char path[FILE_PATH_MAX];
    struct errinfo why;
    struct config *config = NULL;
    static const char text[] =
        "state_dir = \"/nowhere\"; shipped_rules = false; rules = ( { name = \"replica\"; type = \"text_band\"; count = 30; score = 2.0; } );\n";

    (void)file_path(path, "%s/gillnet.conf", folder);
    need(file_write_atomic(path, slice_str(text), 0600, &why), &why);
    if (!ruleset_load_or_print("bench_replay", path, &config)) {
        exit(EXIT_FAILURE);
    }
    uint64_t add_us = journal_write(folder, n, fill);
    (void)read_bytes(folder); /* into the page cache */
    uint64_t begin_us = clock_mono_us();
    uint64_t bytes = read_bytes(folder);
    double read_s = (double)(clock_mono_us() - begin_us) / 1e6;
    double parse_s = run(folder, count, &result);
    replay_init(&result.replay, config);
    need(replay_set(&result.replay, "thresholds.header=6", &why), &why);
    need(replay_set(&result.replay, "rules.replica.count=50", &why), &why);
    uint64_t cpu_us = clock_cpu_us();
    double replay_s = run(folder, judge, &result);
    double replay_cpu_s = (double)(clock_cpu_us() - cpu_us) / 1e6;
    printf(
        "{\"bench\": \"replay\", \"version\": \"%s\", \"messages\": %" PRIu64
        ", \"records\": %" PRIu64 ", \"changed\": %" PRIu64
        ", \"bytes_per_record\": %.0f, \"add_ns\": %.0f, \"read_s\": %.3f, \"parse_s\": %.3f, \"replay_s\": %.3f, \"replay_cpu_s\": %.3f, \"replay_to_read\": %.2f",
        GILLNET_VERSION, n, result.records, result.changed, (double)bytes / (double)n,
        (double)add_us * 1000 / (double)n, read_s, parse_s, replay_s, replay_cpu_s,
        replay_s / read_s);
    measure_sample(folder, config, bytes / n);
    printf("}\n");
    config_release(&config);
}

int main(int argc, char **argv)
{
    char folder[FILE_PATH_MAX];
    uint64_t n = 1000000;
    const char *dir = getenv("TMPDIR"); /* NOLINT(concurrency-mt-unsafe): one thread */

    base_init();
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--messages") == 0) {
            n = strtoull(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--folder") == 0) {
            dir = argv[i + 1];
        }
    }
    (void)file_path(folder, "%s/bench_replay.XXXXXX", dir == NULL ? "/tmp" : dir);
    if (mkdtemp(folder) == NULL) {
        perror(folder);
        return EXIT_FAILURE;
    }
    measure(folder, n);
    need(file_remove_tree(folder, NULL),
         &(struct errinfo){.source = "", .text = "cannot remove the folder"});
    return EXIT_SUCCESS;
}
