/* find_name - hosts without a scheme: words with dots whose suffix is known. */

#include "core/message/text/ascii.h"
#include "core/message/url/find_internal.h"
#include "core/message/url/host.h"

enum { SHARE_SLASHES = 4 /* backslashes before a host: two, or two escaped ones */ };

bool find_has_www(struct slice name)
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

bool find_has_path(struct slice text, size_t i)
{
    struct mark m = mark_at(text, i);
    struct mark next = mark_at(text, i + m.n);

    return m.kind == MARK_ASCII && (m.c == '/' || (m.c == '?' && mark_is_word(&next)));
}

size_t find_port_end(struct slice text, size_t i)
{
    size_t end = i + 1;
    struct mark m;

    while (end < text.n && ASCII_IS(text.p[end], ASCII_DIGIT)) {
        end++;
    }
    m = mark_at(text, end);
    return i < text.n && text.p[i] == ':' && end > i + 1 &&
                   (m.kind == MARK_END ||
                    (m.kind == MARK_ASCII && strchr("/?#", m.c) != NULL))
               ? end
               : i;
}

/* "@example.com", and no address. */
static bool is_after_sign(const struct find_scan *s, size_t i)
{
    return mark_before(s->text, s->from, i).kind == MARK_AT;
}

/* Whether the text before i shows that a file or a variable follows. */
static bool is_taken_before(const struct find_scan *s, size_t i)
{
    struct mark m = mark_before(s->text, s->from, i);
    struct mark before;

    if (m.kind == MARK_ASCII && (m.c == '$' || m.c == '%')) {
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

bool find_report_host(struct find_scan *s, const struct find_run *run,
                      struct find_part part)
{
    struct find find = {
        .kind = FIND_URL, .flags = FIND_NO_SCHEME, .scheme = SLICE_LIT("http")};

    if (slice_has_prefix_nocase(find_part_text(run, part), SLICE_LIT("ftp."))) {
        find.scheme = SLICE_LIT("ftp");
    }
    find_draft_begin(s, run->raw[part.from]);
    find_draft_raw(s, run->raw[part.to]);
    return find_url_path(s, find);
}

static bool report_bare(struct find_scan *s, const struct find_run *run,
                        struct find_part part)
{
    struct find find = {.kind = FIND_BARE, .flags = FIND_NO_SCHEME};

    find_draft_begin(s, run->raw[part.from]);
    find_draft_raw(s, run->raw[part.to]);
    find.text = find_draft_text(s, &s->draft);
    find_report(s, &s->draft, find, s->draft.start);
    s->from = s->draft.end;
    return true;
}

/* "\\host\share" begins with the host at i: a share of another computer. "C:\\x" and "a\\x" are
 * the escapes of a program in a path. */
static bool is_share(const struct find_scan *s, size_t i)
{
    size_t begin = i;
    struct mark m;

    while (begin > s->from && i - begin < SHARE_SLASHES &&
           s->text.p[begin - 1] == '\\') {
        begin--;
    }
    if (i - begin < 2) {
        return false;
    }
    m = mark_before(s->text, s->from, begin);
    return !mark_is_word(&m) && (m.kind != MARK_ASCII || strchr(":\\", m.c) == NULL);
}

static bool is_share_address(const struct find_scan *s, const struct find_run *run,
                             struct find_part part)
{
    uint8_t addr[16];

    return is_share(s, run->raw[part.from]) &&
           host_ip_parse(find_part_text(run, part), addr);
}

/* Reports the host in a part of a run, as what it is to clients; false when there is none. */
static bool report_part(struct find_scan *s, const struct find_run *run,
                        struct find_part part)
{
    struct find_part whole = part;
    enum find_host kind = find_host_in(run, &part);
    struct slice name = find_part_text(run, part);
    size_t begin = run->raw[part.from];
    size_t end = run->raw[part.to];
    bool is_code = s->where != FIND_IN_PROSE || run->begin < s->joined_until;
    bool is_marked = find_has_www(name) || is_share(s, begin);

    if (kind == FIND_HOST_NONE) {
        return is_share_address(s, run, whole) && find_report_host(s, run, whole);
    }
    if ((is_code && !is_marked) || is_taken_before(s, begin) ||
        is_taken_before(s, run->begin)) {
        return false;
    }
    if (!is_share(s, begin) && is_local_part(s->text, end)) {
        return false;
    }
    if (is_after_sign(s, begin)
            ? find_port_end(s->text, end) > end
            : kind == FIND_HOST_SURE || is_marked || find_has_path(s->text, end)) {
        return find_report_host(s, run, part);
    }
    return report_bare(s, run, part);
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

/* The label that ends before i may begin a share, by the look of its letters. */
static bool may_be_share(const struct find_scan *s, size_t i)
{
    size_t least = i > HOST_LABEL_MAX + s->from ? i - HOST_LABEL_MAX : s->from;

    while (i > least && (ASCII_IS(s->text.p[i - 1], ASCII_ALPHA | ASCII_DIGIT) ||
                         s->text.p[i - 1] == '-')) {
        i--;
    }
    return is_share(s, i);
}

size_t find_at_dot(struct find_scan *s, size_t at, size_t n)
{
    if (s->where != FIND_IN_PROSE && s->text.p[at] == '.' && !may_be_www(s->text, at) &&
        !may_be_share(s, at)) {
        return find_after_host(s->text, at);
    }

    size_t start = find_word_begin(s, at);
    struct find_run *run = &s->run;

    size_t i = 0;

    find_run_read(s, start, run);
    while (i < run->n) {
        struct find_part part = find_next_part(run, &i);

        if (report_part(s, run, part) && s->from >= run->end) {
            return s->from;
        }
    }
    return run->end > at + n ? run->end : at + n;
}
