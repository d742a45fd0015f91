/* find_url - where a URL ends: the marks of its surroundings, line ends, trailing punctuation. */

#include "core/message/text/ascii.h"
#include "core/message/url/find_host.h"
#include "core/message/url/find_internal.h"
#include "core/message/url/url_split.h"

enum {
    BRACKETS = 3,
    LINE_LONG = 60, /* a shorter line was not broken for its length */
    LINE_LOOK =
        1000, /* bytes before a URL that are looked at for the line's beginning */
    LINE_INDENT = 16,  /* blanks before the rest of a URL */
    HOST_QUESTIONS = 4 /* for the known suffix, while one host is read */
};

static const char opening[] = "([{";
static const char closing[] = ")]}";

struct url_tail {
    char quote;    /* "'" when the URL stands in such */
    char bracket;  /* the closing one when the URL stands in such */
    bool in_angle; /* "<http:" */
    bool in_host;
    size_t host; /* where the host begins in the text as it is to be read */
    unsigned questions;
    ptrdiff_t open[BRACKETS]; /* opening minus closing ones */
    enum mark_kind last;
    unsigned lines;
    size_t line; /* where the line begins; known once the URL has met its end */
    bool has_short;
    struct find_draft shorter; /* the draft where some readers end */
};

/* The URL without trailing punctuation and unmatched closing brackets. */
static struct slice trim_end(struct slice url)
{
    ptrdiff_t open[BRACKETS] = {0};
    size_t i = 0;

    for (i = 0; i < url.n; i++) {
        const char *c = NULL;

        if (ASCII_IS(url.p[i], ASCII_ALPHA | ASCII_DIGIT) || url.p[i] == '\0') {
            continue;
        }
        c = strchr(opening, url.p[i]);
        if (c != NULL) {
            open[c - opening]++;
        }
        c = strchr(closing, url.p[i]);
        if (c != NULL) {
            open[c - closing]--;
        }
    }
    while (url.n > 0) {
        char last = url.p[url.n - 1];
        const char *c = last == '\0' ? NULL : strchr(closing, last);

        if (c != NULL && open[c - closing] < 0) {
            open[c - closing]++;
        } else if (c != NULL || last == '\0' || strchr(".,;:!?'*([{", last) == NULL) {
            break;
        } else {
            c = strchr(opening, last);
            if (c != NULL) {
                open[c - opening]--;
            }
        }
        url.n--;
    }
    return url;
}

static bool is_path_begin(char c)
{
    return c == '/' || c == '?' || c == '#' || c == '\\';
}

/* No host ends in a hyphen or an underscore: a line drawn after the URL. */
static struct slice trim_host(struct slice url, size_t nscheme)
{
    size_t i = nscheme;

    while (i < url.n && !is_path_begin(url.p[i])) {
        i++;
    }
    while (i == url.n && url.n > nscheme && strchr("-_.", url.p[url.n - 1]) != NULL &&
           url.p[url.n - 1] != '\0') {
        url.n--;
        i--;
    }
    return url;
}

static struct slice host_so_far(const struct find_scan *s, const struct url_tail *t)
{
    size_t from = t->host < s->draft.n ? t->host : s->draft.n;

    return slice_of(s->mended + from, s->draft.n - from);
}

/* Whether the host is complete, so that the next character is no part of it. */
static bool host_is_complete(const struct find_scan *s, struct url_tail *t)
{
    struct slice host = host_so_far(s, t);

    if (t->questions >= HOST_QUESTIONS || host.n == 0 || host.n > FIND_HOST_MAX) {
        return false;
    }
    t->questions++;
    return find_host_has_suffix(host);
}

/* Browsers let these stand in a host, the DNS has none with them. */
static bool no_name_has(const struct mark *m)
{
    return m->kind == MARK_ASCII && m->c != '\0' &&
           strchr("!$&'()*+,;=^{|}~", m->c) != NULL;
}

/* "http://" and its like at i. */
static bool begins_scheme(struct slice text, size_t i)
{
    size_t end = i;

    while (end < text.n && end - i < FIND_SCHEME_MAX &&
           ASCII_IS(text.p[end], ASCII_ALPHA)) {
        end++;
    }
    return end > i && slice_has_prefix(slice_from(text, end), SLICE_LIT("://"));
}

static bool ends_in_host(const struct find_scan *s, struct url_tail *t,
                         const struct mark *m)
{
    if (no_name_has(m) && begins_scheme(s->text, s->draft.end + m->n)) {
        return true;
    }
    if (m->kind == MARK_DENSE && t->last == MARK_ASCII) {
        return host_is_complete(s, t);
    }
    return m->kind == MARK_DOT && m->is_wide && host_is_complete(s, t);
}

/* Counts brackets; true when the URL ends before one that it did not open. */
static bool ends_at_bracket(struct url_tail *t, char c)
{
    const char *p = strchr(opening, c);

    if (p != NULL) {
        t->open[p - opening]++;
        return false;
    }
    p = strchr(closing, c);
    if (p == NULL) {
        return false;
    }
    if (t->open[p - closing] <= 0 && (c == ']' || c == t->bracket)) {
        return true;
    }
    t->open[p - closing]--;
    return false;
}

/* "intent://host/#Intent;...": the text after '#' is for the program. An encoded URL is a value in
 * another, which ends before the next one. */
static bool ends_inner(const struct find_draft *draft, char c)
{
    return (draft->is_other && c == '#') ||
           (draft->decode > 0 && (c == '&' || c == ';'));
}

/* Whether the URL ends before m. */
static bool ends_before(const struct find_scan *s, struct url_tail *t,
                        const struct mark *m)
{
    if (m->kind == MARK_END) {
        return true;
    }
    if (t->in_host) {
        return ends_in_host(s, t, m) ||
               (m->kind == MARK_ASCII && ends_inner(&s->draft, m->c)) ||
               (m->c == t->quote && t->quote != '\0') ||
               (m->kind == MARK_ASCII && ends_at_bracket(t, m->c));
    }
    if (m->kind == MARK_DOT && m->is_wide) {
        return true;
    }
    if (m->kind == MARK_ASCII && ends_inner(&s->draft, m->c)) {
        return true;
    }
    return m->kind == MARK_ASCII &&
           ((m->c == t->quote && t->quote != '\0') || ends_at_bracket(t, m->c));
}

static void keep_short(const struct find_scan *s, struct url_tail *t)
{
    if (!t->has_short) {
        t->has_short = true;
        t->shorter = s->draft;
    }
}

/* "(dot)" in the path stands for a dot when the host was written so. */
static void as_path(const struct find_scan *s, struct mark *m)
{
    if (m->is_defanged && (s->draft.flags & FIND_DEFANGED) == 0) {
        *m = (struct mark){.kind = MARK_ASCII, .n = 1, .c = s->text.p[s->draft.end]};
        if (m->c == ' ') {
            m->kind = MARK_END;
        }
    }
}

static void read_line(struct find_scan *s, struct url_tail *t)
{
    for (;;) {
        struct mark m = mark_at(s->text, s->draft.end);

        if (!t->in_host) {
            as_path(s, &m);
        }
        if (ends_before(s, t, &m)) {
            return;
        }
        if (t->in_host && m.kind == MARK_ASCII && is_path_begin(m.c)) {
            t->in_host = false;
        } else if (t->in_host && m.kind == MARK_AT) {
            t->host = s->draft.n + 1;
        } else if (t->in_host ? no_name_has(&m) && host_is_complete(s, t)
                              : m.kind == MARK_HIDDEN ||
                                    (m.kind == MARK_DENSE && t->last == MARK_ASCII)) {
            keep_short(s, t);
        }
        find_draft_add(s, &m);
        t->last = m.kind;
    }
}

/* Where the next line begins when a line ends at i, else i. */
static size_t after_line_end(struct slice text, size_t i)
{
    size_t k = i;

    while (k < text.n && text.p[k] == ' ' && k < i + 2) {
        k++; /* format=flowed */
    }
    if (k < text.n && text.p[k] == '\r') {
        k++;
    }
    return k < text.n && text.p[k] == '\n' ? k + 1 : i;
}

static size_t line_begin(struct slice text, size_t i)
{
    size_t least = i > LINE_LOOK ? i - LINE_LOOK : 0;

    while (i > least && text.p[i - 1] != '\n') {
        i--;
    }
    return i;
}

/* The line begins with a URL of its own. */
static bool begins_anew(struct slice word)
{
    struct slice head = slice_head(word, slice_find(word, '/'));

    return slice_find_slice(word, SLICE_LIT("://")) < head.n ||
           slice_has_prefix_nocase(word, SLICE_LIT("www.")) ||
           (head.n <= FIND_HOST_MAX && find_host_check(head) == FIND_HOST_SURE);
}

/* Whether the line that begins at `next` continues a URL that ends in `last`. */
static bool continues_url(struct slice text, size_t next, char last)
{
    bool looks_so = strchr("/-_=&%?+", last) != NULL && last != '\0';
    bool has_letter = false;
    size_t i = next;

    while (i < text.n && i < next + LINE_LOOK) {
        struct mark m = mark_at(text, i);

        if (m.kind != MARK_ASCII && m.kind != MARK_DOT) {
            break;
        }
        has_letter = has_letter || mark_is_word(&m);
        looks_so = looks_so || strchr("/=&%", m.c) != NULL;
        i += m.n;
    }
    /* a hyphen or bullet before a blank is a list */
    return looks_so && has_letter && !begins_anew(slice_of(text.p + next, i - next)) &&
           (ASCII_IS(text.p[next], ASCII_ALPHA | ASCII_DIGIT) ||
            strchr("/=&%_?+#.", text.p[next]) != NULL);
}

/* Moves on to the next line when the URL may go on there. */
static bool join_line(struct find_scan *s, struct url_tail *t)
{
    size_t next = after_line_end(s->text, s->draft.end);
    size_t from = next;

    if (next == s->draft.end || t->lines + 1 >= FIND_JOIN_LINES) {
        return false;
    }
    while (t->in_angle && next < s->text.n && next < from + LINE_INDENT &&
           (s->text.p[next] == ' ' || s->text.p[next] == '\t')) {
        next++;
    }
    if (next >= s->text.n) {
        return false;
    }
    if (t->lines == 0) {
        t->line = line_begin(s->text, s->draft.start);
    }
    if (!t->in_angle && (t->in_host || s->draft.end - t->line < LINE_LONG ||
                         !continues_url(s->text, next, s->text.p[s->draft.end - 1]))) {
        return false;
    }
    keep_short(s, t);
    t->lines++;
    t->line = next;
    s->draft.end = next;
    s->draft.is_mended = true;
    s->draft.flags |= FIND_JOINED;
    return true;
}

/* Whether the draft's mended text is lost, because a longer one was shortened. */
static bool is_spoilt(const struct find_scan *s, const struct find_draft *draft)
{
    return draft->is_mended && (s->draft.flags & FIND_CUT) != 0;
}

/* A joined URL in angle brackets must reach its bracket; else it ends with its first line. */
static void check_joined(struct find_scan *s, struct url_tail *t)
{
    bool closed = s->draft.end < s->text.n && s->text.p[s->draft.end] == '>';

    if (t->in_angle && t->lines > 0 && !closed && !is_spoilt(s, &t->shorter)) {
        s->draft = t->shorter;
        t->has_short = false;
    }
}

static bool has_host(struct slice text, size_t nscheme)
{
    struct slice host = slice_from(text, nscheme);
    size_t i = 0;

    while (i < host.n && !is_path_begin(host.p[i])) {
        i++;
    }
    host = slice_head(host, i);
    while (i > 0 && host.p[i - 1] != '@') {
        i--;
    }
    host = slice_from(host, i);
    return host.n > 0 &&
           !find_host_is_impossible(slice_head(host, slice_find(host, ':')));
}

/* Reports the draft, and its shorter reading before it when that says something else. */
static bool report_url(struct find_scan *s, const struct url_tail *t, struct find find,
                       size_t nscheme)
{
    struct find shorter = find;

    find.text = trim_host(trim_end(find_draft_text(s, &s->draft)), nscheme);
    if (!has_host(find.text, nscheme)) {
        return false;
    }
    if (t->has_short && !is_spoilt(s, &t->shorter)) {
        shorter.text = trim_host(trim_end(find_draft_text(s, &t->shorter)), nscheme);
        shorter.flags |= FIND_SHORT;
        if (has_host(shorter.text, nscheme) && !slice_eq(shorter.text, find.text)) {
            find_report(s, &t->shorter, shorter, t->shorter.start);
        }
    }
    find_report(s, &s->draft, find, s->draft.start);
    s->from = s->draft.end;
    if (t->lines > 0 && (s->draft.flags & FIND_JOINED) != 0) {
        /* who ends with the line sees what begins on the next one */
        s->from = t->shorter.end;
        s->joined_until = s->draft.end;
    }
    return true;
}

static struct url_tail tail_of(const struct find_scan *s)
{
    size_t start = s->draft.start;
    struct url_tail t = {.last = MARK_ASCII};
    char before = '\0';
    const char *p = NULL;

    if (start > 0) {
        before = s->text.p[start - 1];
    }
    if (before == '\'') {
        t.quote = before;
    }
    p = before == '\0' ? NULL : strchr(opening, before);
    if (p != NULL) {
        t.bracket = closing[p - opening];
    }
    t.in_angle = before == '<' ||
                 (start >= 5 && slice_eq_nocase(slice_of(s->text.p + start - 5, 5),
                                                SLICE_LIT("<URL:")));
    return t;
}

/* Percent-decodes the draft, which has one reading then. */
static void decode_mended(struct find_scan *s, struct url_tail *t, size_t nscheme)
{
    unsigned i = 0;

    for (i = 0; i < s->draft.decode && s->draft.n > nscheme; i++) {
        char *rest = s->mended + nscheme;

        s->draft.n =
            nscheme + url_decode_once(slice_of(rest, s->draft.n - nscheme), rest);
    }
    s->draft.is_mended = true;
    t->has_short = false;
}

static bool finish_url(struct find_scan *s, struct url_tail *t, struct find find,
                       size_t nscheme)
{
    read_line(s, t);
    while (join_line(s, t)) {
        read_line(s, t);
    }
    check_joined(s, t);
    if (s->draft.decode > 0) {
        decode_mended(s, t, nscheme);
    }
    return report_url(s, t, find, nscheme);
}

bool find_url_rest(struct find_scan *s, struct find find, size_t nscheme)
{
    struct url_tail t = tail_of(s);

    t.in_host = true;
    t.host = s->draft.n;
    return finish_url(s, &t, find, nscheme);
}

static void read_port(struct find_scan *s)
{
    struct mark m = mark_at(s->text, s->draft.end);
    struct mark next = mark_at(s->text, s->draft.end + m.n);

    if (m.kind != MARK_ASCII || m.c != ':' || next.kind != MARK_ASCII ||
        !ASCII_IS(next.c, ASCII_DIGIT)) {
        return;
    }
    do {
        find_draft_add(s, &m);
        m = mark_at(s->text, s->draft.end);
    } while (m.kind == MARK_ASCII && ASCII_IS(m.c, ASCII_DIGIT));
}

bool find_url_path(struct find_scan *s, struct find find)
{
    struct url_tail t = tail_of(s);
    struct mark m;

    read_port(s);
    m = mark_at(s->text, s->draft.end);
    if (m.kind == MARK_ASCII && (m.c == '/' || m.c == '?' || m.c == '#')) {
        return finish_url(s, &t, find, 0);
    }
    if (m.kind == MARK_ASCII && m.c == '\\' && s->where == FIND_IN_PROSE) {
        keep_short(s, &t); /* a path to some, "\n" in a program to others */
        return finish_url(s, &t, find, 0);
    }
    return report_url(s, &t, find, 0);
}
