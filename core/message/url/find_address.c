/* find_address - the text round an @: addresses, and hosts behind a name. */

#include "core/message/text/ascii.h"
#include "core/message/url/find_internal.h"

enum { ID_LOOK = 64 /* blanks and quote marks before a Message-ID */ };

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

    for (k = 0; k < LENGTH(forms); k++) {
        if (slice_has_suffix_nocase(head, forms[k])) {
            return i - forms[k].n;
        }
    }
    return i;
}

/* Any name with a dot is a host where "mailto:" says so. */
static bool is_mail_host(const struct find_run *run, struct find_part *part,
                         bool is_explicit)
{
    struct find_part whole = *part;

    if (find_host_in(run, part) != FIND_HOST_NONE) {
        return true;
    }
    *part = whole;
    return is_explicit && !run->is_too_long &&
           slice_find(find_part_text(run, whole), '.') < whole.to - whole.from;
}

/* "smtp.mail=x@y", "header.i=x@y": a property of Authentication-Results before the address. */
static size_t after_property(struct slice text, size_t local, size_t at)
{
    static const struct slice kinds[] = {
        {"smtp.", 5}, {"header.", 7}, {"body.", 5}, {"policy.", 7}};
    struct slice name = slice_of(text.p + local, at - local);
    size_t equals = slice_find(name, '=');
    size_t k = 0;

    for (k = 0; k < LENGTH(kinds); k++) {
        if (equals + 1 < name.n && slice_has_prefix_nocase(name, kinds[k])) {
            return local + equals + 1;
        }
    }
    return local;
}

static bool is_blank_or_quote(char c)
{
    return ASCII_IS(c, ASCII_SPACE) || c == '>' || c == '|';
}

/* Whether the words before the bracket at i announce a Message-ID. */
static bool says_id(struct slice text, size_t i)
{
    static const struct slice words[] = {
        {"message-id", 10}, {"references", 10}, {"in-reply-to", 11}, {"content-id", 10},
        {"in message", 10}, {"in article", 10}, {"msgid", 5}};
    struct slice head = slice_of(text.p, i);
    size_t k = 0;

    if (head.n > 0 && strchr(":=", head.p[head.n - 1]) != NULL) {
        head.n--;
    }
    for (k = 0; k < LENGTH(words); k++) {
        if (slice_has_suffix_nocase(head, words[k])) {
            return true;
        }
    }
    return false;
}

/* "Message-ID: <x@example.com>", or the next of several: no address of anybody. */
static bool is_message_id(const struct find_scan *s, size_t local, size_t end)
{
    size_t i = local - 1;
    size_t least = i > ID_LOOK ? i - ID_LOOK : 0;

    if (local == 0 || s->text.p[i] != '<' || end >= s->text.n ||
        s->text.p[end] != '>') {
        return false;
    }
    while (i > least && i > s->id_end && is_blank_or_quote(s->text.p[i - 1])) {
        i--;
    }
    return (s->id_end > 0 && i == s->id_end) || says_id(s->text, i);
}

/* "user:password" before the @ at `at`, the password beginning at local. */
static bool has_password(const struct find_scan *s, size_t local)
{
    struct mark colon = mark_before(s->text, s->from, local);
    struct mark name = mark_before(s->text, s->from, local - colon.n);

    return colon.kind == MARK_ASCII && colon.c == ':' && mark_is_word(&name);
}

/* Whether clients open "name@host" as a URL: it has a port, or a password and a path or "www.", or
 * a path and "www." */
static bool is_url_too(const struct find_scan *s, struct slice host, size_t end,
                       bool is_login)
{
    bool has_path = find_has_path(s->text, end);

    return find_port_end(s->text, end) > end ||
           (is_login ? has_path || find_has_www(host) : has_path && find_has_www(host));
}

static void report_address(struct find_scan *s, size_t begin, size_t local, size_t end)
{
    struct find find = {.kind = FIND_ADDRESS, .scheme = SLICE_LIT("mailto")};

    find.flags = begin < local ? 0U : FIND_NO_SCHEME;
    find_draft_begin(s, local);
    find_draft_raw(s, end);
    find.text = find_draft_text(s, &s->draft);
    find_report(s, &s->draft, find, begin);
    s->from = s->draft.end;
}

size_t find_at_sign(struct find_scan *s, size_t at, size_t n)
{
    size_t local = after_property(s->text, local_begin(s, at), at);
    size_t begin = mailto_begin(s, local);
    struct mark last = mark_before(s->text, s->from, at);
    struct find_part part = {0};
    struct find_run *run = &s->run;
    size_t i = 0;
    size_t end = 0;
    bool is_login = false;

    if (local == at || last.kind == MARK_DOT) {
        return at + n;
    }
    find_run_read(s, at + n, run);
    part = find_next_part(run, &i);
    if (part.from != 0 || !is_mail_host(run, &part, begin < local)) {
        return at + n;
    }
    end = run->raw[part.to];
    if (is_message_id(s, local, end)) {
        s->from = end;
        s->id_end = end + 1;
        return end;
    }
    is_login = begin == local && has_password(s, local);
    if (!is_url_too(s, find_part_text(run, part), end, is_login)) {
        report_address(s, begin, local, end);
    } else {
        if (!is_login) {
            report_address(s, begin, local, end);
        }
        (void)find_report_host(s, run, part);
    }
    return s->from > at ? s->from : at + n;
}
