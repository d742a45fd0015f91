/*
 * bench_model [-n ROUNDS] PATH... - what the model costs a message.
 *
 * Times extract_new to extract_finish on one core, without and with the vector and its judgement,
 * files read beforehand; of each message the least time of the rounds counts. The learner has
 * learnt every second message as spam. Prints one JSON line: microseconds per message without and
 * with the model, their difference, microseconds of one learner_add, bytes of the learner.
 */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/footprint.h"
#include "core/learn/learner.h"

enum {
    FILES_MAX = 20000,
    CHUNK = 65535,
    FILE_CAP = 64 << 20,
    ARENA_CAP = 64 << 20,
    TICK = 500
};

struct message {
    struct buf bytes;
    struct buf vector;
    uint64_t best_ns[2];
};

static struct message messages[FILES_MAX];
static size_t nmessages;
static struct arena *arena;
static struct learner *learner;

static uint64_t now_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static int add_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)ftw;
    if (type != FTW_F || nmessages == FILES_MAX) {
        return 0;
    }
    struct message *m = &messages[nmessages];
    buf_init(&m->bytes, FILE_CAP);
    buf_init(&m->vector, VECTOR_BYTES);
    m->best_ns[0] = UINT64_MAX;
    m->best_ns[1] = UINT64_MAX;
    nmessages += file_read(path, &m->bytes, NULL) == ERR_OK;
    return 0;
}

static void run(struct message *m, bool with)
{
    struct extract_limits limits = {.mail = {.message_bytes = 16 << 20,
                                             .decoded_bytes = 32 << 20,
                                             .headers = 1000,
                                             .header_bytes = 256 << 10,
                                             .header_field = 64 << 10,
                                             .parts = 500,
                                             .depth = 32},
                                    .urls = 500,
                                    .recipients = 1000,
                                    .cpu_us = 250000};
    static const struct hashkey ring = {1, "any sixteen byte"};
    const struct model_options options = {.false_positives = 0.001,
                                          .cap = {5, 5, 5, 5}};
    struct model_answer a;
    struct vector v;
    shingle_keys_make(&ring, 1700000000, &limits.imprint.keys);
    uint64_t begin = now_ns();
    struct vector_reader *r = with ? vector_reader_new(arena, &limits) : NULL;
    struct extract *x = extract_new(arena, &limits, NULL, 0);
    for (struct slice rest = buf_slice(&m->bytes); rest.n > 0;
         rest = slice_from(rest, CHUNK)) {
        extract_raw(x, slice_head(rest, CHUNK));
    }
    struct featureset *set = extract_finish(x);
    bool has_vector = with && vector_reader_finish(r, x, set, &v);
    if (has_vector && learner != NULL) {
        learner_judge(learner, &options, &v, &a);
    }
    uint64_t took = now_ns() - begin;
    m->best_ns[with] = took < m->best_ns[with] ? took : m->best_ns[with];
    if (has_vector && m->vector.n == 0) {
        (void)vector_encode(&v, &m->vector);
    }
    extract_drop(x);
    arena_reset(arena);
}

static double learn_all(void)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < nmessages; i++) {
        const struct learner_example e = {
            .is_spam = i % 2, .weight = 1, .vector = buf_slice(&messages[i].vector)};
        uint64_t begin = now_ns();
        (void)learner_add(learner, &e);
        sum += now_ns() - begin;
        if (i % TICK == TICK - 1) {
            (void)learner_tick(learner, NULL); /* gillnetd: once a second */
        }
    }
    return (double)sum / 1000 / (double)nmessages;
}

int main(int argc, char **argv)
{
    char dir[] = "/tmp/bench_model.XXXXXX";
    const struct learner_options options = {.prior = NULL};
    unsigned rounds = 5;
    double sum[2] = {0, 0};
    int first = 1;
    if (argc > 2 && strcmp(argv[1], "-n") == 0) {
        rounds = (unsigned)strtoul(argv[2], NULL, 10);
        first = 3;
    }
    if (base_init() != ERR_OK || mkdtemp(dir) == NULL ||
        (arena = arena_new(ARENA_CAP)) == NULL) {
        return 2;
    }
    for (int i = first; i < argc; i++) {
        (void)nftw(argv[i], add_file, 16, FTW_PHYS);
    }
    for (size_t i = 0; i < nmessages; i++) {
        run(&messages[i], true); /* memory of the extraction is not the model's */
    }
    uint64_t before = footprint_bytes();
    if (nmessages == 0 || learner_open(dir, &options, &learner, NULL) != ERR_OK) {
        return 2;
    }
    double learn_us = learn_all();
    (void)learner_tick(learner, NULL);
    uint64_t bytes = footprint_bytes() - before;
    for (unsigned n = 0; n < rounds; n++) {
        for (size_t i = 0; i < nmessages; i++) {
            run(&messages[i], n % 2 == 0);
            run(&messages[i], n % 2 != 0);
        }
    }
    for (size_t i = 0; i < nmessages; i++) {
        sum[0] += (double)messages[i].best_ns[0] / 1000;
        sum[1] += (double)messages[i].best_ns[1] / 1000;
    }
    double n = (double)nmessages;
    printf(
        "{\"messages\": %zu, \"without_us\": %.1f, \"with_us\": %.1f, \"model_us\": %.1f, "
        "\"learn_us\": %.1f, \"learner_bytes\": %llu}\n",
        nmessages, sum[0] / n, sum[1] / n, (sum[1] - sum[0]) / n, learn_us,
        (unsigned long long)bytes);
    learner_close(&learner);
    arena_free(&arena);
    (void)file_remove_tree(dir, NULL);
    return 0;
}
