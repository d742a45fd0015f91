/* bench_messages - searching 100,000 rows in memory with one query: the time of each of its runs
 * over all rows in processor time, for queries of every kind (numbered). The rows have the texts of
 * usual mail: two recipients, a subject, six symbols. Nothing is read from disk. One JSON line a
 * query. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/base/prng.h"
#include "core/base/word_table.h"
#include "core/verdict/journal/message_query.h"

enum { ROWS = 100000, RUNS = 21, TEXT = 96, TO = 2, SYMBOLS = 6 };

struct texts {
    char from[TEXT];
    char subject[TEXT];
    char queue_id[TEXT];
    char to_text[TO][TEXT];
    struct slice to[TO];
    struct record_symbol symbol[SYMBOLS];
};

static const char *const queries[] = {
    "",
    "from:nobody@nowhere.example",
    "to:user77",
    "subject:\"invoice 1234\"",
    "symbol:LIST_PHISH*",
    "action:reject score:>8",
    "client:192.0.2.77",
    "id:4QaB00001",
    "nowhere",
    "192.0.2.77",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
    "from:sender -to:user7 score:>5 -symbol:LIST_* since:1h",
};

static void make_row(struct prng *p, struct texts *t, struct message_row *row)
{
    static const struct slice names[] = {
        WORD_ROW("LIST_FEED_DOMAINS"), WORD_ROW("BULK_REPLICA"),
        WORD_ROW("TRAIT_HTML"),        WORD_ROW("REPORTED_SPAM"),
        WORD_ROW("IDENTITY_KNOWN"),    WORD_ROW("MODEL"),
        WORD_ROW("LIST_PHISH_URLS"),   WORD_ROW("LOOKALIKE_HOST"),
        WORD_ROW("NEWSLETTER")};

    (void)snprintf(t->queue_id, TEXT, "4QaB%05" PRIu64, prng_below(p, ROWS));
    (void)snprintf(t->from, TEXT, "bounce-%" PRIu64 "@mail%" PRIu64 ".sender.example",
                   prng_below(p, 1000), prng_below(p, 1000));
    (void)snprintf(t->subject, TEXT,
                   "Your invoice %" PRIu64 " of order %" PRIu64 " is ready to pay",
                   prng_below(p, 9999), prng_below(p, 9999));
    *row = (struct message_row){.time_us = clock_wall_us(),
                                .case_id = prng_next(p) >> 4,
                                .queue_id = slice_str(t->queue_id),
                                .from = slice_str(t->from),
                                .subject = slice_str(t->subject),
                                .to = t->to,
                                .nto = TO,
                                .nrcpt = TO,
                                .has_addr = true,
                                .addr = {[10] = 0xff,
                                         0xff,
                                         192,
                                         0,
                                         (uint8_t)prng_below(p, 8),
                                         (uint8_t)prng_below(p, 256)},
                                .action = (enum action)prng_below(p, ACTION_COUNT),
                                .score = (double)prng_below(p, 150) / 10,
                                .symbol = t->symbol,
                                .nsymbols = SYMBOLS};
    row->header_from = row->from;
    for (size_t i = 0; i < TO; i++) {
        (void)snprintf(t->to_text[i], TEXT,
                       "user%" PRIu64 ".name@host%" PRIu64 ".rcpt.example",
                       prng_below(p, 500), prng_below(p, 500));
        t->to[i] = slice_str(t->to_text[i]);
    }
    for (size_t i = 0; i < SYMBOLS; i++) {
        t->symbol[i] =
            (struct record_symbol){.name = names[prng_below(p, LENGTH(names))]};
    }
}

static int by_size(const void *a, const void *b)
{
    const uint64_t *x = a;
    const uint64_t *y = b;

    return *x < *y ? -1 : *x > *y;
}

static void search_rows(size_t at, const struct message_row *rows)
{
    const char *text = queries[at];
    struct message_query *q = NULL;
    struct errinfo why = {.code = ERR_OK};
    uint64_t us[RUNS];
    size_t found = 0;

    if (message_query_parse(slice_str(text), clock_wall_us(), &q, &why) != ERR_OK) {
        (void)fprintf(stderr, "%s: %s\n", text, why.text);
        return;
    }
    for (size_t k = 0; k < RUNS; k++) {
        uint64_t begin = clock_cpu_us();
        found = 0;
        for (size_t i = 0; i < ROWS; i++) {
            found += message_query_matches(q, &rows[i]);
        }
        us[k] = clock_cpu_us() - begin;
    }
    qsort(us, RUNS, sizeof(*us), by_size);
    printf(
        "{\"bench\":\"messages\",\"rows\":%d,\"query\":%zu,\"found\":%zu,\"median_ms\":%.2f,"
        "\"worst_ms\":%.2f}\n",
        ROWS, at, found, (double)us[RUNS / 2] / 1000, (double)us[RUNS - 1] / 1000);
    message_query_free(&q);
}

int main(void)
{
    struct message_row *rows = calloc(ROWS, sizeof(*rows));
    struct texts *texts = calloc(ROWS, sizeof(*texts));
    struct prng p;

    if (base_init() != ERR_OK || rows == NULL || texts == NULL) {
        return EXIT_FAILURE;
    }
    prng_init(&p, 84, 0);
    for (size_t i = 0; i < ROWS; i++) {
        make_row(&p, &texts[i], &rows[i]);
    }
    for (size_t i = 0; i < LENGTH(queries); i++) {
        search_rows(i, rows);
    }
    free(texts);
    free(rows);
    return EXIT_SUCCESS;
}
