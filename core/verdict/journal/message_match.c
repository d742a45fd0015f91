/* message_match - whether a row matches a query. */
#include "core/base/case_id.h"
#include "core/verdict/journal/message_query_internal.h"

/* Whether the term's text is a part of s, ASCII case ignored: Shift-And (Baeza-Yates and Gonnet
 * 1992). Bit i of ending: the text's first i + 1 bytes end here. */
static bool contains(const struct query_term *t, struct slice s)
{
    uint64_t ending = 0;
    uint64_t seen = 0;

    for (size_t i = 0; i < s.n; i++) {
        ending = (ending << 1 | 1) & t->mask[(unsigned char)s.p[i]];
        seen |= ending;
    }
    return (seen >> (t->text.n - 1) & 1) != 0;
}

static bool has_recipient(const struct query_term *t, const struct message_row *row)
{
    bool is_there = false;

    for (size_t i = 0; !is_there && i < row->nto; i++) {
        is_there = contains(t, row->to[i]);
    }
    return is_there;
}

static bool has_client(const struct query_term *t, const struct message_row *row)
{
    char client[INET6_ADDRSTRLEN];

    return t->may_be_client && contains(t, slice_str(message_row_client(row, client)));
}

/* A symbol of this name, or of this beginning. */
static bool has_symbol(const struct query_term *t, const struct message_row *row)
{
    bool is_there = false;

    for (size_t i = 0; !is_there && i < row->nsymbols; i++) {
        struct slice name = row->symbol[i].name;
        is_there = t->is_prefix ? slice_has_prefix_nocase(name, t->text)
                                : slice_eq_nocase(name, t->text);
    }
    return is_there;
}

static bool is_part_of_symbol(const struct query_term *t, const struct message_row *row)
{
    bool is_there = false;

    for (size_t i = 0; !is_there && i < row->nsymbols; i++) {
        is_there = contains(t, row->symbol[i].name);
    }
    return is_there;
}

static bool is_anywhere(const struct query_term *t, const struct message_row *row)
{
    char id[CASE_ID_SIZE];

    return contains(t, row->from) || contains(t, row->header_from) ||
           has_recipient(t, row) || contains(t, row->subject) ||
           contains(t, row->queue_id) || is_part_of_symbol(t, row) ||
           contains(t, slice_str(case_id_print(row->case_id, id))) ||
           has_client(t, row);
}

static bool has_id(const struct query_term *t, const struct message_row *row)
{
    bool is = (t->case_id != 0 && t->case_id == row->case_id) ||
              slice_eq(t->text, row->queue_id);

    for (size_t i = 0; i < KEYRING_MAX; i++) {
        is = is || (row->message_id != 0 && row->message_id == t->message_id[i]);
    }
    return is;
}

static bool has_score(const struct query_term *t, const struct message_row *row)
{
    if (row->unjudged.n > 0) {
        return false;
    }
    switch (t->comparison) {
    case QUERY_LEAST:
        return row->score >= t->score;
    case QUERY_ABOVE:
        return row->score > t->score;
    case QUERY_BELOW:
        return row->score < t->score;
    case QUERY_MOST:
        return row->score <= t->score;
    }
    return false;
}

bool message_term_is_true(const struct query_term *t, const struct message_row *row)
{
    switch (t->field) {
    case QUERY_FROM:
        return contains(t, row->from) || contains(t, row->header_from);
    case QUERY_TO:
        return has_recipient(t, row);
    case QUERY_SUBJECT:
        return contains(t, row->subject);
    case QUERY_CLIENT:
        return has_client(t, row);
    case QUERY_SYMBOL:
        return has_symbol(t, row);
    case QUERY_ACTION:
        return (t->actions >> row->action & 1) != 0;
    case QUERY_ID:
        return has_id(t, row);
    case QUERY_SCORE:
        return has_score(t, row);
    case QUERY_SINCE:
        return row->time_us >= t->time_us;
    case QUERY_UNTIL:
        return row->time_us < t->time_us;
    case QUERY_ANY:
        return is_anywhere(t, row);
    }
    return false;
}

bool message_query_matches(const struct message_query *q, const struct message_row *row)
{
    bool matches = true;

    for (size_t i = 0; matches && i < q->n; i++) {
        matches = message_term_is_true(&q->term[i], row) != q->term[i].is_negated;
    }
    return matches;
}
