/* find_name - words with dots: hosts when their suffix is known, addresses when an @ stands there. */
#include <string.h>

#include "core/text/ascii.h"
#include "core/url/find_host.h"
#include "core/url/find_inside.h"

enum {
    RUN_QUESTIONS = 4, /* for the known suffix, while one run is read */
    TOP_DENSE_MAX = 6  /* characters of a top level in a script without spaces */
};

/* A part of a run: text[from] to text[to - 1]. */
struct part {
    size_t from;
    size_t to;
};

static bool is_host_char(const struct mark *m)
{
    return mark_is_word(m) || m->kind == MARK_HIDDEN ||
           (m->kind == MARK_ASCII && (m->c == '-' || m->c == '_'));
}

/* Where the word that ends before i begins: a script without spaces belongs to it only when the
 * word ends in it. */
static size_t word_begin(const struct find_scan *s, size_t i)
{
    size_t least = i - s->from > FIND_HOST_MAX ? i - FIND_HOST_MAX : s->from;
    bool may_be_dense = false;
    bool is_first = true;

    for (;;) {
        struct mark m = mark_before(s->text, least, i);

        if (!is_host_char(&m)) {
            return i;
        }
        if (is_first && m.kind != MARK_HIDDEN) {
            may_be_dense = m.kind == MARK_DENSE;
            is_first = false;
        }
        if (m.kind == MARK_DENSE && !may_be_dense) {
            return i;
        }
        i -= m.n;
    }
}

static void run_add(const struct find_scan *s, struct find_run *run,
                    const struct mark *m)
{
    size_t n = m->kind == MARK_DOT ? 1 : m->n;
    size_t i = 0;

    if (m->kind == MARK_HIDDEN) {
        return;
    }
    if (n > FIND_HOST_MAX - run->n) {
        run->is_too_long = true;
        return;
    }
    for (i = 0; i < n; i++) { /* of a dot one byte, whichever */
        run->text[run->n] = s->text.p[run->end + i];
        run->raw[run->n++] = run->end;
    }
    if (m->kind == MARK_DOT) {
        run->text[run->n - 1] = '.';
    }
}

static struct slice part_text(const struct find_run *run, struct part part)
{
    return slice_of(run->text + part.from, part.to - part.from);
}

/* What was read since the last empty label has a known suffix. */
static bool is_complete(const struct find_run *run, unsigned *questions)
{
    struct part part = {.from = run->n, .to = run->n};

    if (run->is_too_long || *questions >= RUN_QUESTIONS) {
        return false;
    }
    (*questions)++;
    while (part.from > 0 && (run->text[part.from - 1] != '.' || part.from < 2 ||
                             run->text[part.from - 2] != '.')) {
        part.from--;
    }
    return find_host_has_suffix(part_text(run, part));
}

/* Reads the run that begins at start. */
static void run_read(const struct find_scan *s, size_t start, struct find_run *run)
{
    enum mark_kind last = MARK_DOT;
    unsigned questions = 0;

    run->n = 0;
    run->hops = 0;
    run->begin = start;
    run->end = start;
    run->is_too_long = false;
    for (;;) {
        struct mark m = mark_at(s->text, run->end);

        if (!is_host_char(&m) && m.kind != MARK_DOT) {
            break;
        }
        if ((m.kind == MARK_DENSE && last == MARK_ASCII) ||
            (m.kind == MARK_DOT && m.is_wide)) {
            if (is_complete(run, &questions)) {
                break;
            }
        }
        if (m.kind == MARK_DENSE && last == MARK_DOT) {
            run->hops = run->n;
        }
        run_add(s, run, &m);
        run->end += m.n;
        last = m.kind != MARK_HIDDEN ? m.kind : last;
    }
    run->raw[run->n] = run->end;
}

/* The part up to the next empty label, without what no host begins or ends with; empty at the
 * end. *at moves on. */
static struct part next_part(const struct find_run *run, size_t *at)
{
    struct part part = {.from = *at, .to = *at};

    while (part.from < run->n && strchr(".-", run->text[part.from]) != NULL &&
           run->text[part.from] != '\0') {
        part.from++;
    }
    part.to = part.from;
    while (part.to < run->n &&
           (run->text[part.to] != '.' ||
            (part.to + 1 < run->n && run->text[part.to + 1] != '.'))) {
        part.to++;
    }
    *at = part.to;
    while (part.to > part.from && strchr("-_", run->text[part.to - 1]) != NULL) {
        part.to--;
    }
    return part;
}

static size_t label_begin(const struct find_run *run, struct part part)
{
    size_t i = part.to;

    while (i > part.from && run->text[i - 1] != '.') {
        i--;
    }
    return i;
}

/* "example.com.Then": the end of a sentence without its blank. */
static struct part without_sentence(const struct find_run *run, struct part part)
{
    size_t i = label_begin(run, part);
    struct part head = {.from = part.from, .to = i > part.from ? i - 1 : i};

    if (head.to > head.from && run->text[i] >= 'A' && run->text[i] <= 'Z' &&
        i + 1 < part.to && run->text[i + 1] >= 'a' && run->text[i + 1] <= 'z' &&
        find_host_check(part_text(run, head)) == FIND_HOST_SURE) {
        return head;
    }
    return part;
}

/* The longest known top level at the beginning of a label that runs into the next word. */
static struct part without_words(const struct find_run *run, struct part part)
{
    size_t label = label_begin(run, part);
    struct slice text = slice_of(run->text, part.to);
    struct part best = part;
    size_t i = label;
    size_t count = 0;

    if (run->hops != label || label == part.from) {
        return part;
    }
    while (i < part.to && count <= TOP_DENSE_MAX) {
        i += mark_at(text, i).n;
        count++;
        if (i <= part.to && find_host_is_top(slice_of(run->text + label, i - label))) {
            best.to = i;
        }
    }
    return best;
}

/* The host in a part of a run, and what it is. */
static enum find_host host_in(const struct find_run *run, struct part *part)
{
    if (run->is_too_long || part->to <= part->from) {
        return FIND_HOST_NONE;
    }
    *part = without_sentence(run, without_words(run, *part));
    return find_host_check(part_text(run, *part));
}

/* "www.", "www2." */
static bool has_www(struct slice name)
{
    size_t i = 3;

    if (!slice_has_prefix_nocase(name, SLICE_LIT("www"))) {
        return false;
    }
    while (i < name.n && ASCII_IS(name.p[i], ASCII_DIGIT)) {
        i++;
    }
    return i < name.n && name.p[i] == '.';
}

/* A path or a query begins at i; "Core.pm:12" is a line of a file. */
static bool has_more(struct slice text, size_t i)
{
    struct mark m = mark_at(text, i);
    struct mark next = mark_at(text, i + m.n);

    return m.kind == MARK_ASCII && (m.c == '/' || (m.c == '?' && mark_is_word(&next)));
}

/* What ends before i makes what follows a file, a variable or the host of an address. */
static bool is_taken_before(const struct find_scan *s, size_t i)
{
    struct mark m = mark_before(s->text, s->from, i);
    struct mark before;

    if (m.kind == MARK_AT || (m.kind == MARK_ASCII && (m.c == '$' || m.c == '%'))) {
        return true;
    }
    if (m.kind != MARK_ASCII || m.c != '/') {
        return false;
    }
    i -= m.n;
    before = mark_before(s->text, s->from, i);
    if (before.kind == MARK_ASCII && before.c == '/') {
        /* a URL that was refused as such */
        before = mark_before(s->text, s->from, i - before.n);
        return before.kind == MARK_ASCII && before.c == ':';
    }
    return mark_is_word(&before) || before.kind == MARK_DOT;
}

/* The local part of an address goes on at i. */
static bool is_local_part(struct slice text, size_t i)
{
    size_t end = i + FIND_LOCAL_MAX;
    struct mark m = mark_at(text, i);

    if (m.kind == MARK_ASCII && strchr("/?#", m.c) != NULL) {
        return false;
    }
    while (i < end &&
           (mark_is_word(&m) || m.kind == MARK_HIDDEN || m.kind == MARK_DOT ||
            (m.kind == MARK_ASCII && ASCII_IS(m.c, ASCII_ATEXT)))) {
        i += m.n;
        m = mark_at(text, i);
    }
    return m.kind == MARK_AT;
}

/* Draws up what stands from raw on up to raw end. */
static void draft_raw(struct find_scan *s, size_t end)
{
    while (s->draft.end < end) {
        struct mark m = mark_at(s->text, s->draft.end);

        find_draft_add(s, &m);
    }
}

static bool report_host(struct find_scan *s, const struct find_run *run,
                        struct part part)
{
    struct find find = {
        .kind = FIND_URL, .flags = FIND_NO_SCHEME, .scheme = SLICE_LIT("http")};

    if (slice_has_prefix_nocase(part_text(run, part), SLICE_LIT("ftp."))) {
        find.scheme = SLICE_LIT("ftp");
    }
    find_draft_begin(s, run->raw[part.from]);
    draft_raw(s, run->raw[part.to]);
    return find_url_path(s, find);
}

static bool is_host(const struct find_scan *s, const struct find_run *run,
                    struct part *part)
{
    enum find_host kind = host_in(run, part);
    struct slice name = part_text(run, *part);
    size_t end = run->raw[part->to];
    bool is_code = s->where != FIND_IN_PROSE || run->begin < s->joined_until;

    if (kind == FIND_HOST_NONE || (is_code && !has_www(name)) ||
        is_taken_before(s, run->raw[part->from]) || is_taken_before(s, run->begin)) {
        return false;
    }
    return (kind == FIND_HOST_SURE || has_www(name) || has_more(s->text, end)) &&
           !is_local_part(s->text, end);
}

size_t find_after_host(struct slice text, size_t i)
{
    do {
        i++;
    } while (i < text.n && (ASCII_IS(text.p[i], ASCII_ALPHA | ASCII_DIGIT) ||
                            text.p[i] == '.' || text.p[i] == '-'));
    return i;
}

/* The label that ends before i may be "www" or "www2", as far as a look tells. */
static bool may_be_www(struct slice text, size_t i)
{
    while (i > 0 && ASCII_IS(text.p[i - 1], ASCII_DIGIT)) {
        i--;
    }
    return i > 0 &&
           (ASCII_LOWER(text.p[i - 1]) == 'w' || (unsigned char)text.p[i - 1] >= 0x80);
}

size_t find_at_dot(struct find_scan *s, size_t at, size_t n)
{
    if (s->where != FIND_IN_PROSE && s->text.p[at] == '.' && !may_be_www(s->text, at)) {
        return find_after_host(s->text, at);
    }

    size_t start = word_begin(s, at);
    struct find_run *run = &s->run;

    size_t i = 0;

    run_read(s, start, run);
    while (i < run->n) {
        struct part part = next_part(run, &i);

        if (is_host(s, run, &part) && report_host(s, run, part) &&
            s->from >= run->end) {
            return s->from;
        }
    }
    return run->end > at + n ? run->end : at + n;
}

/* Where the local part before the @ at i begins; i when there is none. */
static size_t local_begin(const struct find_scan *s, size_t i)
{
    size_t least = i - s->from > FIND_LOCAL_MAX ? i - FIND_LOCAL_MAX : s->from;
    size_t end = i;
    struct mark m = mark_before(s->text, least, i);

    while (m.n > 0 &&
           (m.kind == MARK_LETTER || m.kind == MARK_HIDDEN || m.kind == MARK_DOT ||
            (m.kind == MARK_ASCII && ASCII_IS(m.c, ASCII_ATEXT)))) {
        i -= m.n;
        m = mark_before(s->text, least, i);
    }
    /* quotes and rules round an address */
    m = mark_at(s->text, i);
    while (i < end && !mark_is_word(&m) &&
           (m.kind != MARK_ASCII || strchr("_+-", m.c) == NULL)) {
        i += m.n;
        m = mark_at(s->text, i);
    }
    return i;
}

/* Where a "mailto:" that ends before i begins; i when there is none. */
static size_t mailto_begin(const struct find_scan *s, size_t i)
{
    static const struct slice forms[] = {{"mailto:", 7}, {"mailto://", 9}};
    struct slice head = slice_of(s->text.p + s->from, i - s->from);
    size_t k = 0;

    for (k = 0; k < sizeof(forms) / sizeof(forms[0]); k++) {
        if (slice_has_suffix_nocase(head, forms[k])) {
            return i - forms[k].n;
        }
    }
    return i;
}

/* Any name with a dot is a host where "mailto:" says so. */
static bool is_mail_host(const struct find_run *run, struct part *part,
                         bool is_explicit)
{
    struct part whole = *part;

    if (host_in(run, part) != FIND_HOST_NONE) {
        return true;
    }
    *part = whole;
    return is_explicit && !run->is_too_long &&
           slice_find(part_text(run, whole), '.') < whole.to - whole.from;
}

size_t find_at_sign(struct find_scan *s, size_t at, size_t n)
{
    size_t local = local_begin(s, at);
    size_t begin = mailto_begin(s, local);
    struct find find = {.kind = FIND_ADDRESS, .scheme = SLICE_LIT("mailto")};
    struct mark last = mark_before(s->text, s->from, at);
    struct part part = {0};
    struct find_run *run = &s->run;
    size_t i = 0;

    if (local == at || last.kind == MARK_DOT) {
        return at + n;
    }
    run_read(s, at + n, run);
    part = next_part(run, &i);
    if (part.from != 0 || !is_mail_host(run, &part, begin < local)) {
        return at + n;
    }
    find.flags = begin < local ? 0U : FIND_NO_SCHEME;
    find_draft_begin(s, local);
    draft_raw(s, run->raw[part.to]);
    find.text = find_draft_text(s, &s->draft);
    find_report(s, &s->draft, find, begin);
    s->from = s->draft.end;
    return s->from;
}
