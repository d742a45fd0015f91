#include "core/verdict/journal/message_query.h"

#include <math.h>

#include "core/base/case_id.h"
#include "core/config/unit.h"
#include "core/verdict/journal/journal.h"
#include "core/verdict/journal/message_query_internal.h"

enum { WORD_SHOWN = 60 };
#define FIELDS \
    "from:, to:, subject:, client:, symbol:, action:, id:, score:, since:, until:"

static const char *const fields[QUERY_FIELDS] = {
    [QUERY_FROM] = "from",     [QUERY_TO] = "to",         [QUERY_SUBJECT] = "subject",
    [QUERY_CLIENT] = "client", [QUERY_SYMBOL] = "symbol", [QUERY_ACTION] = "action",
    [QUERY_ID] = "id",         [QUERY_SCORE] = "score",   [QUERY_SINCE] = "since",
    [QUERY_UNTIL] = "until",
};

/* The query as it is read. */
struct reader {
    struct message_query *query;
    struct slice text; /* as it was given */
    size_t at;
    uint64_t now_us;
    struct errinfo *why;
};

/* ---- errors ---- */

/* Continuation bytes of UTF-8 are no column of their own. */
static size_t column_of(const struct reader *r, size_t at)
{
    size_t column = 1;

    for (size_t i = 0; i < at && i < r->text.n; i++) {
        column += ((unsigned char)r->text.p[i] & 0xc0) != 0x80;
    }
    return column;
}

/* `what` tells a person the mistake in the word at `at`, and the right form. */
static enum err refuse_word(const struct reader *r, enum err code, size_t at,
                            const char *what)
{
    struct slice word = slice_from(r->text, at);
    size_t n = 0;

    while (n < word.n && word.p[n] != ' ') {
        n++;
    }
    word.n = n < WORD_SHOWN ? n : WORD_SHOWN;
    return errinfo_set(r->why, code, "query", 0, "column %zu: %.*s%s%s",
                       column_of(r, at), SLICE_ARGS(word), word.n > 0 ? ": " : "",
                       what);
}

/* ---- bytes ---- */

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_at_end(const struct reader *r)
{
    return r->at == r->text.n || is_blank(r->text.p[r->at]);
}

static void skip_blanks(struct reader *r)
{
    while (r->at < r->text.n && is_blank(r->text.p[r->at])) {
        r->at++;
    }
}

static enum err refuse_controls(const struct reader *r)
{
    for (size_t i = 0; i < r->text.n; i++) {
        unsigned char c = (unsigned char)r->text.p[i];
        if ((c < ' ' && !is_blank((char)c)) || c == 0x7f) {
            return refuse_word(r, ERR_SYNTAX, i, "leave out the control character");
        }
    }
    return ERR_OK;
}

/* ---- values of fields ---- */

/* A text that is sought as a part. */
static enum err set_text(const struct reader *r, struct query_term *t, size_t at)
{
    if (t->text.n > MESSAGE_QUERY_WORD_MAX) {
        return refuse_word(r, ERR_LIMIT, at,
                           "a text to look for has at most 64 bytes; a part is enough");
    }
    t->may_be_client = true;
    for (size_t i = 0; i < t->text.n; i++) {
        char c = t->text.p[i];
        t->mask[(unsigned char)c] |= UINT64_C(1) << i;
        if (is_letter(c)) {
            t->mask[(unsigned char)(c ^ ' ')] |= UINT64_C(1) << i;
        }
        t->may_be_client =
            t->may_be_client && (hex_digit_value(c) >= 0 || c == '.' || c == ':');
    }
    return ERR_OK;
}

/* Takes the star of PREFIX* off. False: a star stands elsewhere. */
static bool take_star(struct query_term *t)
{
    size_t star = slice_find(t->text, '*');

    t->is_prefix = star < t->text.n;
    if (t->is_prefix && star + 1 != t->text.n) {
        return false;
    }
    t->text.n = star;
    return true;
}

static enum err set_action(const struct reader *r, struct query_term *t, size_t at)
{
    for (unsigned a = 0; a < ACTION_COUNT; a++) {
        struct slice name = slice_str(action_name((enum action)a));
        if (t->is_prefix ? slice_has_prefix_nocase(name, t->text)
                         : slice_eq_nocase(name, t->text)) {
            t->actions |= 1U << a;
        }
    }
    return t->actions != 0
               ? ERR_OK
               : refuse_word(
                     r, ERR_SYNTAX, at,
                     "there is no such action; write accept, header, quarantine, "
                     "defer, reject, discard, or the beginning of one and *");
}

/* Digits with a minus and a point, and nothing else that strtod takes. */
static bool read_score(struct slice text, double *ret)
{
    char copy[UNIT_TEXT_MAX];
    char *end = copy;

    if (text.n == 0 || text.n >= sizeof(copy)) {
        return false;
    }
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if ((c < '0' || c > '9') && c != '.' && (c != '-' || i > 0)) {
            return false;
        }
    }
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    *ret = strtod(copy, &end);
    return *end == '\0' && end != copy && isfinite(*ret);
}

static enum err set_score(const struct reader *r, struct query_term *t, size_t at)
{
    static const struct {
        struct slice mark;
        enum query_comparison comparison;
    } marks[] = {{{">=", 2}, QUERY_LEAST},
                 {{"<=", 2}, QUERY_MOST},
                 {{">", 1}, QUERY_ABOVE},
                 {{"<", 1}, QUERY_BELOW},
                 {{"", 0}, QUERY_LEAST}};
    size_t i = 0;

    while (!slice_has_prefix(t->text, marks[i].mark)) {
        i++;
    }
    t->comparison = marks[i].comparison;
    return read_score(slice_from(t->text, marks[i].mark.n), &t->score)
               ? ERR_OK
               : refuse_word(r, ERR_SYNTAX, at,
                             "write a number: score:5 (at least), score:>5 (above) or "
                             "score:<5 (below)");
}

/* "since" and "until" with a minus are each other. */
static enum err set_time(const struct reader *r, struct query_term *t, size_t at)
{
    char copy[UNIT_TEXT_MAX] = "";
    uint64_t us = 0;

    memcpy(copy, t->text.p, t->text.n < sizeof(copy) ? t->text.n : 0);
    if (!unit_time_us(copy, &us) || us > r->now_us) {
        return refuse_word(
            r, ERR_RANGE, at,
            "write how long ago that is, with a unit, such as since:7d or "
            "until:12h");
    }
    t->time_us = r->now_us - us;
    if (t->is_negated) {
        t->field = t->field == QUERY_SINCE ? QUERY_UNTIL : QUERY_SINCE;
        t->is_negated = false;
    }
    return ERR_OK;
}

static enum err set_term_value(const struct reader *r, struct query_term *t, size_t at)
{
    switch (t->field) {
    case QUERY_SCORE:
        return set_score(r, t, at);
    case QUERY_SINCE:
    case QUERY_UNTIL:
        return set_time(r, t, at);
    case QUERY_ID:
        if (!case_id_read(t->text, &t->case_id)) {
            t->case_id = 0;
        }
        return ERR_OK;
    case QUERY_SYMBOL:
    case QUERY_ACTION:
        if (!take_star(t)) {
            return refuse_word(r, ERR_SYNTAX, at, "a * may stand at the end only");
        }
        return t->field == QUERY_ACTION ? set_action(r, t, at) : ERR_OK;
    case QUERY_FROM:
    case QUERY_TO:
    case QUERY_SUBJECT:
    case QUERY_CLIENT:
    case QUERY_ANY:
        return set_text(r, t, at);
    }
    return ERR_OK;
}

/* ---- terms ---- */

/* "from:" and the like; no field if the letters are not followed by a colon. */
static enum err read_field(struct reader *r, struct query_term *t)
{
    struct slice rest = slice_from(r->text, r->at);
    size_t n = 0;

    t->field = QUERY_ANY;
    while (n < rest.n && is_letter(rest.p[n])) {
        n++;
    }
    if (n == 0 || n == rest.n || rest.p[n] != ':') {
        return ERR_OK;
    }
    for (unsigned f = 0; f < QUERY_FIELDS; f++) {
        if (slice_eq_nocase(slice_head(rest, n), slice_str(fields[f]))) {
            t->field = (enum query_field)f;
            r->at += n + 1;
            return ERR_OK;
        }
    }
    return refuse_word(r, ERR_SYNTAX, r->at,
                       "there is no such field; write one of " FIELDS
                       ", or put the text in quotes");
}

static enum err read_quoted(struct reader *r, size_t begin, struct slice *ret)
{
    struct slice rest = slice_from(r->text, r->at + 1);
    size_t n = slice_find(rest, '"');

    if (n == rest.n) {
        return refuse_word(r, ERR_SYNTAX, begin, "the closing quote is missing");
    }
    *ret = slice_head(rest, n);
    r->at += n + 2;
    return is_at_end(r) ? ERR_OK
                        : refuse_word(r, ERR_SYNTAX, r->at,
                                      "write a blank behind the closing quote");
}

static enum err read_word(struct reader *r, struct slice *ret)
{
    size_t from = r->at;

    while (!is_at_end(r)) {
        if (r->text.p[r->at] == '"') {
            return refuse_word(r, ERR_SYNTAX, r->at,
                               "a quote may only begin a word or a value");
        }
        r->at++;
    }
    *ret = slice_head(slice_from(r->text, from), r->at - from);
    return ERR_OK;
}

static enum err read_term(struct reader *r, struct query_term *t)
{
    size_t begin = r->at;
    struct slice value = SLICE_NONE;

    *t = (struct query_term){.is_negated = r->text.p[begin] == '-'};
    r->at += t->is_negated;
    enum err e = read_field(r, t);
    if (e != ERR_OK) {
        return e;
    }
    bool is_quoted = r->at < r->text.n && r->text.p[r->at] == '"';
    e = is_quoted ? read_quoted(r, begin, &value) : read_word(r, &value);
    if (e == ERR_OK && value.n == 0) {
        return refuse_word(r, ERR_SYNTAX, begin,
                           is_quoted
                               ? "there is nothing between the quotes"
                               : "write a text right behind it; a shell needs quotes "
                                 "around < and >");
    }
    if (e != ERR_OK) {
        return e;
    }
    t->text = slice_of(r->query->text + (value.p - r->text.p), value.n);
    return set_term_value(r, t, begin);
}

static enum err read_terms(struct reader *r)
{
    struct message_query *q = r->query;
    enum err e = refuse_controls(r);

    for (skip_blanks(r); e == ERR_OK && r->at < r->text.n; skip_blanks(r)) {
        if (q->n == MESSAGE_QUERY_TERMS_MAX) {
            return refuse_word(r, ERR_LIMIT, r->at, "a query has at most 32 terms");
        }
        e = read_term(r, &q->term[q->n]);
        q->n += e == ERR_OK;
    }
    return e;
}

enum err message_query_parse(struct slice text, uint64_t now_us,
                             struct message_query **ret, struct errinfo *reterr)
{
    _Static_assert(MESSAGE_QUERY_TERMS_MAX == 32 && MESSAGE_QUERY_TEXT_MAX == 1024 &&
                       MESSAGE_QUERY_WORD_MAX == 64,
                   "messages have the limits in words");
    struct reader r = {.text = text, .now_us = now_us, .why = reterr};

    if (text.n > MESSAGE_QUERY_TEXT_MAX) {
        r.text.n = MESSAGE_QUERY_TEXT_MAX;
        return refuse_word(&r, ERR_LIMIT, r.text.n, "a query has at most 1024 bytes");
    }
    r.query = calloc(1, sizeof(*r.query));
    if (r.query == NULL) {
        return errinfo_nomem(reterr, "query");
    }
    if (text.n > 0) {
        memcpy(r.query->text, text.p, text.n);
    }
    enum err e = read_terms(&r);
    if (e == ERR_OK) {
        *ret = r.query;
    } else {
        message_query_free(&r.query);
    }
    return e;
}

void message_query_free(struct message_query **q)
{
    free(*q);
    *q = NULL;
}

void message_query_set_keys(struct message_query *q, const struct keyring *keys)
{
    for (size_t i = 0; i < q->n; i++) {
        struct query_term *t = &q->term[i];
        for (unsigned k = 0; t->field == QUERY_ID && k < keys->n; k++) {
            t->message_id[k] = journal_message_id(&keys->ring[k], t->text);
        }
    }
}

void message_query_period(const struct message_query *q, uint64_t *retsince_us,
                          uint64_t *retuntil_us)
{
    *retsince_us = 0;
    *retuntil_us = 0;
    for (size_t i = 0; i < q->n; i++) {
        uint64_t at = q->term[i].time_us;
        if (q->term[i].field == QUERY_SINCE && at > *retsince_us) {
            *retsince_us = at;
        }
        if (q->term[i].field == QUERY_UNTIL &&
            (*retuntil_us == 0 || at < *retuntil_us)) {
            *retuntil_us = at;
        }
    }
}
