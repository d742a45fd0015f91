/*
 * bench_message_tail - time of a search over the hub's newest messages, and the memory of them.
 *
 * Usage: bench_message_tail [--messages N] [--runs N] [--folder DIR]   (100000, 200, a new folder in
 * TMPDIR); bench_message_tail --messages N --write DIR writes the journal alone. One JSON line. The journal is written by the real writer (journal_add) and read by the real
 * follower (message_tail). Each message has 12 of 300 symbols, addresses, a subject and a queue id of
 * usual lengths. Searches that look at all rows: one word and two terms that nothing has, one symbol,
 * two words that nearly all rows nearly have, a word that may be a part of a case id, and one of a
 * client's address; and the first page of a frequent word. Wall times of each search with its
 * rows as JSON, one thread. Beside them in the same run, the floor: memchr(3) for a byte that is not
 * there over as many bytes as the ring has reserved. memory_bytes: what resident memory grew by from
 * before the follower until after the searches. The folder is removed.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/array.h"
#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/version.h"
#include "core/verdict/journal/message_tail.h"

#include "tests/bench/journal_write.h"

enum { SYMBOLS = 12, NAMES = 300, RUNS_MOST = 100000, PAGE = 100 };
enum { WAIT_US = 10000 };

static const char *const searches[] = {"nowhere-at-all",
                                       "from:nobody@x to:nowhere",
                                       "symbol:RULE_NUMBER_299*",
                                       "user77@rcpt user77",
                                       "deadbeef",
                                       "203.0.113.",
                                       "sender.example"};

static void need(enum err e, const struct errinfo *why)
{
    if (e != ERR_OK) {
        (void)fprintf(stderr, "bench_message_tail: %s: %s\n", why->source, why->text);
        exit(EXIT_FAILURE);
    }
}

struct texts {
    char from[64];
    char to[64];
    char subject[80];
    char queue_id[32];
    char symbol[SYMBOLS][32];
};

static void fill(struct record *r, struct prng *p, uint64_t i)
{
    static struct texts texts;
    struct texts *t = &texts;

    record_init(r, RECORD_MESSAGE);
    (void)snprintf(t->from, sizeof(t->from), "newsletter%" PRIu64 "@sender.example",
                   prng_below(p, 5000));
    (void)snprintf(t->to, sizeof(t->to), "user%" PRIu64 "@rcpt.example",
                   prng_below(p, 5000));
    (void)snprintf(t->subject, sizeof(t->subject),
                   "Your order %" PRIu64 " of last week", prng_next(p));
    (void)snprintf(t->queue_id, sizeof(t->queue_id), "4VqWZb%08" PRIx64, i);
    r->time_us = clock_wall_us();
    r->case_id = case_id_next(r->time_us / 1000000);
    r->message_id = prng_next(p);
    r->has_addr = true;
    memcpy(r->addr, "\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
    memcpy(r->addr + 12, &i, 4);
    r->bytes = 20000 + i % 50000;
    r->nrcpt = 1;
    r->score = (double)prng_below(p, 12000) / 1000;
    for (size_t k = 0; k < RECORD_THRESHOLDS; k++) {
        r->threshold[k] = HUGE_VAL;
    }
    for (size_t k = 0; k < SYMBOLS; k++) {
        (void)snprintf(t->symbol[k], sizeof(t->symbol[k]), "RULE_NUMBER_%" PRIu64,
                       prng_below(p, NAMES));
        r->symbol[r->nsymbols++] = (struct record_symbol){
            slice_str(t->symbol[k]), (double)k / 10, 0, SLICE_NONE};
    }
    r->queue_id = slice_str(t->queue_id);
    r->from = r->header_from = slice_str(t->from);
    r->subject = slice_str(t->subject);
    r->ntexts_rcpt = 1;
    r->rcpt[0] = slice_str(t->to);
}

/* Resident bytes of this process. */
static uint64_t resident(void)
{
    FILE *f = fopen("/proc/self/statm", "re");
    unsigned long pages = 0;

    if (f == NULL || fscanf(f, "%*u %lu", &pages) != 1) { /* NOLINT(cert-err34-c) */
        pages = 0;
    }
    if (f != NULL) {
        (void)fclose(f);
    }
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

struct page {
    json_t *rows;
    size_t found;
};

static bool add_row(void *context, const struct message_view *v)
{
    struct page *p = context;

    (void)json_array_append_new(p->rows, message_row_json(&v->row));
    return ++p->found < PAGE;
}

/* Time of a search. *retrows: that it looked at. */
static uint64_t search(struct message_tail *tail, const char *text, size_t *retrows)
{
    struct message_searched found;
    struct message_query *q = NULL;
    struct errinfo why;
    struct page page = {json_array(), 0};
    const uint64_t begin_us = clock_mono_us();

    need(message_query_parse(slice_str(text), clock_wall_us(), &q, &why), &why);
    const struct message_search s = {.query = q, .fn = add_row, .context = &page};
    message_tail_search(tail, &s, &found);
    message_query_free(&q);
    char *json = json_dumps(page.rows, JSON_COMPACT);
    const uint64_t us = clock_mono_us() - begin_us;
    free(json);
    json_decref(page.rows);
    *retrows = found.is_whole ? found.rows : 0;
    return us;
}

static double ms_at(uint64_t *us, size_t n, double share)
{
    qsort(us, n, sizeof(*us), array_u64_cmp);
    return (double)us[(size_t)((double)(n - 1) * share)] / 1000;
}

static void print_floor(size_t bytes, size_t runs, uint64_t *us)
{
    char *p = malloc(bytes);
    size_t found = 0;

    memset(p, 'x', bytes);
    for (size_t i = 0; i < runs; i++) {
        const uint64_t begin_us = clock_mono_us();
        found += memchr(p, 'y' + (int)(i % 2), bytes) != NULL;
        us[i] = clock_mono_us() - begin_us;
    }
    printf(", \"scan_p50_ms\": %.2f, \"scan_p99_ms\": %.2f, \"scan_found\": %zu",
           ms_at(us, runs, 0.5), ms_at(us, runs, 0.99), found);
    free(p);
}

static void measure(const char *folder, uint64_t n, size_t runs)
{
    struct errinfo why;
    struct message_tail *tail = NULL;
    uint64_t *us = calloc(runs, sizeof(*us));
    size_t rows = 0;

    journal_write(folder, n, fill);
    const uint64_t before = resident();
    uint64_t begin_us = clock_mono_us();
    need(message_tail_new(folder, n, &tail, &why), &why);
    while (rows == 0) {
        usleep(WAIT_US);
        (void)search(tail, searches[0], &rows);
    }
    printf("{\"bench\": \"message_tail\", \"version\": \"%s\", \"messages\": %" PRIu64
           ", \"rows\": %zu, \"fill_s\": %.2f, \"runs\": %zu, \"searches\": [",
           GILLNET_VERSION, n, rows, (double)(clock_mono_us() - begin_us) / 1e6, runs);
    for (size_t k = 0; k < LENGTH(searches); k++) {
        for (size_t i = 0; i < runs; i++) {
            us[i] = search(tail, searches[k], &rows);
        }
        printf(
            "%s{\"q\": \"%s\", \"searched\": %zu, \"p50_ms\": %.2f, \"p99_ms\": %.2f}",
            k > 0 ? ", " : "", searches[k], rows, ms_at(us, runs, 0.5),
            ms_at(us, runs, 0.99));
    }
    const uint64_t after = resident();
    printf("], \"memory_bytes\": %" PRIu64, after > before ? after - before : 0);
    print_floor((size_t)n * MESSAGE_RING_ROW, runs, us);
    printf("}\n");
    message_tail_free(&tail);
    free(us);
}

int main(int argc, char **argv)
{
    char folder[FILE_PATH_MAX];
    uint64_t n = MESSAGE_RING_ROWS_MAX;
    size_t runs = 200;
    const char *dir = getenv("TMPDIR"); /* NOLINT(concurrency-mt-unsafe): one thread */

    base_init();
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--messages") == 0) {
            n = strtoull(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--runs") == 0) {
            runs = strtoull(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--folder") == 0) {
            dir = argv[i + 1];
        } else if (strcmp(argv[i], "--write") == 0) {
            (void)journal_write(argv[i + 1], n, fill);
            return EXIT_SUCCESS;
        }
    }
    if (n < 1 || n > MESSAGE_RING_ROWS_MAX || runs < 1 || runs > RUNS_MOST) {
        (void)fprintf(stderr, "bench_message_tail: too many or too few\n");
        return EXIT_FAILURE;
    }
    (void)file_path(folder, "%s/bench_message_tail.XXXXXX", dir == NULL ? "/tmp" : dir);
    if (mkdtemp(folder) == NULL) {
        perror(folder);
        return EXIT_FAILURE;
    }
    measure(folder, n, runs);
    need(file_remove_tree(folder, NULL),
         &(struct errinfo){.source = "", .text = "cannot remove the folder"});
    return EXIT_SUCCESS;
}
