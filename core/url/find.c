/* find - jumps from one character that could belong to a find to the next. */
#include "core/url/find.h"

#include <string.h>

#include "core/base/unfilled.h"
#include "core/text/ascii.h"
#include "core/text/block.h"
#include "core/url/find_inside.h"

void find_draft_begin(struct find_scan *s, size_t start)
{
    s->draft = (struct find_draft){.start = start, .end = start};
}

static void put(struct find_scan *s, struct slice text)
{
    size_t room = FIND_MENDED_MAX - s->draft.n;

    if (text.n > room) {
        s->draft.flags |=
            FIND_CUT; /* a text that needs no mending has its length all the same */
        text = slice_head(text, room);
    }
    if (text.n > 0) {
        memcpy(s->mended + s->draft.n, text.p, text.n);
        s->draft.n += text.n;
    }
}

void find_draft_put(struct find_scan *s, struct slice text)
{
    put(s, text);
    s->draft.is_mended = true;
}

void find_draft_add(struct find_scan *s, const struct mark *m)
{
    struct slice as_it_stands = slice_of(s->text.p + s->draft.end, m->n);

    if (m->kind == MARK_HIDDEN) {
        s->draft.flags |= FIND_HIDDEN;
        s->draft.is_mended = true;
    } else if (m->kind == MARK_DOT && (m->is_defanged || m->is_wide)) {
        find_draft_put(s, SLICE_LIT("."));
    } else if (m->kind == MARK_AT && m->is_defanged) {
        find_draft_put(s, SLICE_LIT("@"));
    } else {
        put(s, as_it_stands);
    }
    if (m->is_defanged) {
        s->draft.flags |= FIND_DEFANGED;
    }
    s->draft.end += m->n;
}

struct slice find_draft_text(const struct find_scan *s, const struct find_draft *draft)
{
    return draft->is_mended
               ? slice_of(s->mended, draft->n)
               : slice_of(s->text.p + draft->start, draft->end - draft->start);
}

void find_report(struct find_scan *s, const struct find_draft *draft, struct find find,
                 size_t from)
{
    size_t end = draft->is_mended ? draft->end : draft->start + find.text.n;

    find.flags |= draft->is_mended ? draft->flags : draft->flags & ~(unsigned)FIND_CUT;
    find.raw = slice_of(s->text.p + from, end - from);
    s->on_find(s->context, &find);
}

/* Bytes of what stands for "://" at i, 0 when nothing does. */
static size_t separator(struct slice text, size_t i)
{
    static const struct slice forms[] = {{"://", 3},     {":\\\\", 3}, {":/\\", 3},
                                         {":\\/\\/", 5}, {":\\/", 3},  {"[:]//", 5},
                                         {"[://]", 5},   {":[//]", 5}, {"[:]\\\\", 5}};
    size_t k = 0;

    for (k = 0; k < sizeof(forms) / sizeof(forms[0]); k++) {
        if (slice_has_prefix(slice_from(text, i), forms[k])) {
            return forms[k].n;
        }
    }
    return 0;
}

struct scheme {
    struct slice written;
    struct slice meant;
};

/* Longer ones before those that they end in. */
static const struct scheme schemes[] = {
    {{"https", 5}, {"https", 5}}, {{"http", 4}, {"http", 4}},
    {{"ftp", 3}, {"ftp", 3}},     {{"hxxps", 5}, {"https", 5}},
    {{"hxxp", 4}, {"http", 4}},   {{"h**ps", 5}, {"https", 5}},
    {{"h**p", 4}, {"http", 4}},   {{"hxtps", 5}, {"https", 5}},
    {{"hxtp", 4}, {"http", 4}},   {{"htxps", 5}, {"https", 5}},
    {{"htxp", 4}, {"http", 4}},   {{"fxp", 3}, {"ftp", 3}}};

/* The letters before a separator, as they are to be read. */
struct word {
    char text[FIND_SCHEME_MAX];
    size_t at[FIND_SCHEME_MAX]; /* where each stands */
    size_t n;
    bool has_hidden;
    bool is_whole; /* it begins a word */
};

static bool is_scheme_char(const struct mark *m)
{
    return m->kind == MARK_ASCII && (ASCII_IS(m->c, ASCII_ALPHA | ASCII_DIGIT) ||
                                     m->c == '+' || m->c == '-' || m->c == '*');
}

static void word_before(const struct find_scan *s, size_t i, struct word *ret)
{
    struct mark m = mark_before(s->text, s->from, i);
    size_t nhidden = 0;
    size_t k = 0;

    *ret = (struct word){.n = 0};
    while (ret->n < FIND_SCHEME_MAX && nhidden <= FIND_SCHEME_MAX &&
           (is_scheme_char(&m) || m.kind == MARK_HIDDEN)) {
        i -= m.n;
        if (m.kind == MARK_HIDDEN) {
            nhidden++;
        } else {
            ret->n++;
            ret->text[FIND_SCHEME_MAX - ret->n] = m.c;
            ret->at[FIND_SCHEME_MAX - ret->n] = i;
        }
        m = mark_before(s->text, s->from, i);
    }
    ret->is_whole = !mark_is_word(&m) && m.kind != MARK_DOT && m.kind != MARK_AT;
    ret->has_hidden = nhidden > 0;
    for (k = 0; k < ret->n; k++) { /* to the front */
        ret->text[k] = ret->text[FIND_SCHEME_MAX - ret->n + k];
        ret->at[k] = ret->at[FIND_SCHEME_MAX - ret->n + k];
    }
}

static const struct scheme *known_scheme(const struct word *w)
{
    size_t i = 0;

    for (i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
        if (slice_has_suffix_nocase(slice_of(w->text, w->n), schemes[i].written)) {
            return &schemes[i];
        }
    }
    return NULL;
}

/* "http" before the separator of n bytes at i. False: no URL. */
static bool with_scheme(struct find_scan *s, const struct word *w,
                        const struct scheme *scheme, size_t i, size_t n)
{
    struct slice written =
        slice_of(w->text + w->n - scheme->written.n, scheme->written.n);
    bool is_escaped = n > 3 && s->text.p[i + 1] == '\\'; /* as JSON writes it */
    bool defanged = !slice_eq(scheme->written, scheme->meant) || (n > 3 && !is_escaped);
    struct find find = {.kind = FIND_URL, .scheme = scheme->meant};
    struct slice as_it_stands;

    find_draft_begin(s, w->at[w->n - scheme->written.n]);
    as_it_stands = slice_of(s->text.p + s->draft.start, i - s->draft.start);
    s->draft.end = i + n;
    if (defanged || n > 3 || w->has_hidden) {
        find_draft_put(s, scheme->meant);
        find_draft_put(s, SLICE_LIT("://"));
        s->draft.flags |= defanged ? FIND_DEFANGED : 0U;
        s->draft.flags |= as_it_stands.n > written.n ? FIND_HIDDEN : 0U;
    } else {
        memcpy(s->mended, s->text.p + s->draft.start, as_it_stands.n + n);
        s->draft.n = as_it_stands.n + n;
    }
    return find_url_rest(s, find, s->draft.n);
}

/* "irc://...", "<tel:...>": from the beginning of the scheme to white space or the bracket. */
static bool other_scheme(struct find_scan *s, const struct word *w, size_t i, size_t n)
{
    struct find find = {.kind = FIND_OTHER};
    bool in_angle = false;
    size_t k = 0;

    while (k < w->n && !ASCII_IS(w->text[k], ASCII_ALPHA)) {
        k++;
    }
    if (w->n < k + 2 || w->has_hidden || (k == 0 && !w->is_whole)) {
        return false;
    }
    in_angle = w->at[k] > 0 && s->text.p[w->at[k] - 1] == '<';
    find.scheme = slice_of(s->text.p + w->at[k], i - w->at[k]);
    if ((n == 0 && !in_angle) || slice_eq_nocase(find.scheme, SLICE_LIT("mailto"))) {
        return false;
    }
    find_draft_begin(s, w->at[k]);
    s->draft.end = i + (n > 0 ? n : 1);
    for (;;) {
        struct mark m = mark_at(s->text, s->draft.end);

        if (m.kind == MARK_END) {
            break;
        }
        if (separator(s->text, s->draft.end) > 0) {
            return false; /* "<URL:http://": that is for the inner one */
        }
        s->draft.end += m.n;
    }
    if (in_angle && (s->draft.end >= s->text.n || s->text.p[s->draft.end] != '>')) {
        return false;
    }
    find.text = find_draft_text(s, &s->draft);
    find_report(s, &s->draft, find, s->draft.start);
    s->from = s->draft.end;
    return true;
}

/* A colon or an opening bracket at i. */
static size_t at_separator(struct find_scan *s, size_t i)
{
    size_t n = separator(s->text, i);
    const struct scheme *scheme = NULL;
    struct word word;

    if (n == 0 && s->text.p[i] != ':') {
        return i + 1;
    }
    word_before(s, i, &word);
    scheme = n > 0 ? known_scheme(&word) : NULL;
    if (scheme != NULL ? with_scheme(s, &word, scheme, i, n)
                       : other_scheme(s, &word, i, n)) {
        return s->from;
    }
    return i + 1;
}

/* Bytes at which the scan stops: beginnings of dots, @, colons and defanged ones. */
static const bool is_stop[256] = {
    ['.'] = true,  [':'] = true, ['@'] = true,  ['['] = true,
    ['('] = true,  ['{'] = true, [0xe3] = true, /* U+3002 */
    [0xef] = true,                              /* U+FF0E, U+FF61 */
};

/* One of sixteen bytes at p is such. */
static bool has_stop(const char *p)
{
    unsigned char v BLOCK_VECTOR;
    signed char at BLOCK_VECTOR;

    memcpy(&v, p, sizeof(v));
    at = (v == '.') | (v == ':') | (v == '@') | (v == '[') | (v == '(') | (v == '{') |
         (v == 0xe3) | (v == 0xef);
    return block_is_any(&at);
}

static size_t next_stop(struct slice text, size_t i)
{
    while (i + BLOCK_BYTES <= text.n && !has_stop(text.p + i)) {
        i += BLOCK_BYTES;
    }
    while (i < text.n && !is_stop[(unsigned char)text.p[i]]) {
        i++;
    }
    return i;
}

static size_t at_stop(struct find_scan *s, size_t i)
{
    /* with the blanks round a defanged form */
    size_t blank = i > s->from && s->text.p[i - 1] == ' ' ? 1 : 0;
    struct mark m = mark_at(s->text, i - blank);

    if (blank == 1 && !m.is_defanged) {
        blank = 0;
        m = mark_at(s->text, i);
    }
    if (m.kind == MARK_DOT) {
        return find_at_dot(s, i - blank, m.n);
    }
    if (m.kind == MARK_AT) {
        return s->where == FIND_IN_HEADER ? find_after_host(s->text, i)
                                          : find_at_sign(s, i - blank, m.n);
    }
    return (unsigned char)s->text.p[i] < 0x80 ? at_separator(s, i) : i + m.n;
}

static void scan(struct slice text, size_t first, enum find_where where,
                 find_fn *on_find, void *context)
{
    struct find_scan s UNFILLED;
    size_t i = first;

    s.text = text;
    s.where = where;
    s.on_find = on_find;
    s.context = context;
    s.from = 0;
    s.joined_until = 0;
    while (i < text.n) {
        i = next_stop(text, at_stop(&s, i));
    }
}

void find_in_text(struct slice text, enum find_where where, find_fn *on_find,
                  void *context)
{
    size_t i = next_stop(text, 0);

    if (i < text.n) { /* most attributes need no scan */
        scan(text, i, where, on_find, context);
    }
}
