/* fuzz_message_query - any bytes as a query, and those after the first NUL as the texts of a
 * message: a query is read or refused with a reason; a term and its negation never both match. */
#include <string.h>

#include "core/verdict/journal/message_query.h"

#include "tests/fuzz/fuzz.h"

enum { NOW_US = 1000000000 };

static struct message_row row_of(struct slice texts, struct record_symbol symbol[1],
                                 struct slice to[1])
{
    struct message_row row = {.time_us = NOW_US / 2,
                              .case_id = texts.n,
                              .has_addr = texts.n % 2 == 0,
                              .action = (enum action)(texts.n % ACTION_COUNT),
                              .score = (double)texts.n,
                              .to = to,
                              .nto = 1,
                              .symbol = symbol,
                              .nsymbols = 1};

    row.from = slice_cut(&texts, '\n');
    row.queue_id = slice_cut(&texts, '\n');
    row.subject = slice_cut(&texts, '\n');
    *to = slice_cut(&texts, '\n');
    *symbol = (struct record_symbol){.name = slice_cut(&texts, '\n'), .score = 1};
    return row;
}

/* The only term of a query that has no minus. */
static void check_negation(struct slice text, const struct message_row *row, bool is)
{
    char negated[MESSAGE_QUERY_TEXT_MAX];
    struct message_query *q = NULL;
    struct slice term = slice_trim(text);

    if (term.n == 0 || *term.p == '-' || term.n >= sizeof(negated) ||
        memchr(term.p, ' ', term.n) != NULL || memchr(term.p, '\t', term.n) != NULL ||
        memchr(term.p, '\r', term.n) != NULL || memchr(term.p, '\n', term.n) != NULL ||
        memchr(term.p, '\v', term.n) != NULL || memchr(term.p, '\f', term.n) != NULL) {
        return;
    }
    negated[0] = '-';
    memcpy(negated + 1, term.p, term.n);
    FUZZ_CHECK(message_query_parse(slice_of(negated, term.n + 1), NOW_US, &q, NULL) ==
               ERR_OK);
    FUZZ_CHECK(message_query_matches(q, row) != is);
    message_query_free(&q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice texts = slice_of((const char *)data, size);
    struct slice text = slice_cut(&texts, '\0');
    struct record_symbol symbol[1];
    struct slice to[1];
    struct message_row row = row_of(texts, symbol, to);
    struct message_query *q = NULL;
    struct errinfo why = {.code = ERR_OK};
    uint64_t since = 0;
    uint64_t until = 0;

    enum err e = message_query_parse(text, NOW_US, &q, &why);
    if (e != ERR_OK) {
        FUZZ_CHECK(q == NULL && strncmp(why.text, "column ", strlen("column ")) == 0);
        return 0;
    }
    bool is = message_query_matches(q, &row);
    message_query_period(q, &since, &until);
    FUZZ_CHECK(!is || (row.time_us >= since && (until == 0 || row.time_us < until)));
    message_query_free(&q);
    check_negation(text, &row, is);
    return 0;
}
