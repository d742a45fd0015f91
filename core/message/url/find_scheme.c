/* find_scheme - a scheme, its colon and its slashes, however they are written. */

#include "core/message/text/ascii.h"
#include "core/message/url/find_internal.h"
#include "core/message/url/host.h"

enum { AUTHORITY_MAX = 512 /* bytes that are looked through for a user name */ };

/* A spelling of a colon or a slash. */
struct spelling {
    struct slice text;
    unsigned decode; /* times that the rest is percent-encoded */
    bool is_odd;     /* nobody writes so but to be misread */
};

static const struct spelling colons[] = {
    {{":", 1}, 0, false},     {{"[:]", 3}, 0, true},         {{"%3a", 3}, 1, false},
    {{"%253a", 5}, 2, false}, {{"&colon;", 7}, 0, true},     {{"&#58;", 5}, 0, true},
    {{"&#x3a;", 6}, 0, true}, {{"\xef\xbc\x9a", 3}, 0, true}};

static const struct spelling slashes[] = {
    {{"/", 1}, 0, false},     {{"\\", 1}, 0, false},    {{"%2f", 3}, 1, false},
    {{"%5c", 3}, 1, false},   {{"%252f", 5}, 2, false}, {{"%255c", 5}, 2, false},
    {{"&sol;", 5}, 0, true},  {{"&#47;", 5}, 0, true},  {{"&#x2f;", 6}, 0, true},
    {{"&bsol;", 6}, 0, true}, {{"&#92;", 5}, 0, true},  {{"\xef\xbc\x8f", 3}, 0, true}};

#define COUNT(array) (LENGTH(array))

static const struct spelling *spelled(struct slice text, const struct spelling *all,
                                      size_t count)
{
    size_t i = 0;

    for (i = 0; i < count && text.n > 0; i++) {
        if (text.p[0] == all[i].text.p[0] &&
            slice_has_prefix_nocase(text, all[i].text)) {
            return &all[i];
        }
    }
    return NULL;
}

/* ":", with what of "//" follows it. */
struct separator {
    size_t n; /* bytes of all; 0: no colon */
    size_t slashes;
    unsigned decode;
    bool is_odd;
};

static bool stands_at(struct slice text, size_t i, char c)
{
    return i < text.n && text.p[i] == c;
}

/* "//" and more of it at ret->n. */
static void take_slashes(struct slice text, struct separator *ret)
{
    const struct spelling *slash = spelled(text, slashes, COUNT(slashes));

    while (slash != NULL) {
        ret->n += slash->text.n;
        ret->slashes++;
        ret->is_odd = ret->is_odd || slash->is_odd;
        text = slice_from(text, slash->text.n);
        slash = spelled(text, slashes, COUNT(slashes));
    }
}

/* "[://]" and ":[//]" have a bracket round their slashes. */
static struct separator separator_at(struct slice text, size_t i)
{
    bool opens = stands_at(text, i, '[') && stands_at(text, i + 1, ':') &&
                 !stands_at(text, i + 2, ']');
    size_t at = opens ? i + 1 : i;
    const struct spelling *colon = spelled(slice_from(text, at), colons, COUNT(colons));
    struct separator ret = {.n = 0};
    struct separator plain;

    if (colon == NULL) {
        return ret;
    }
    ret = (struct separator){
        .n = at - i + colon->text.n, .decode = colon->decode, .is_odd = colon->is_odd};
    plain = ret;
    if (!opens && stands_at(text, i + ret.n, '[')) {
        opens = true;
        ret.n++;
    }
    take_slashes(slice_from(text, i + ret.n), &ret);
    if (!opens) {
        return ret;
    }
    ret.is_odd = true;
    if (ret.slashes >= 2 && stands_at(text, i + ret.n, ']')) {
        ret.n++;
        return ret;
    }
    plain.n = at > i ? 0 : plain.n;
    return plain;
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

    for (i = 0; i < LENGTH(schemes); i++) {
        if (slice_has_suffix_nocase(slice_of(w->text, w->n), schemes[i].written)) {
            return &schemes[i];
        }
    }
    return NULL;
}

/* Behind the user name that begins at i, if any. */
static size_t after_user(struct slice text, size_t i)
{
    size_t least = i;
    size_t end = i;
    struct mark m = mark_at(text, end);

    while (end - least < AUTHORITY_MAX && m.kind != MARK_END &&
           (m.kind != MARK_ASCII || strchr("/?#\\", m.c) == NULL)) {
        end += m.n;
        i = m.kind == MARK_AT ? end : i;
        m = mark_at(text, end);
    }
    return i;
}

/* The host behind the separator is a name with a known suffix or an address. */
static bool has_known_host(struct find_scan *s, size_t i, const struct separator *sep)
{
    size_t at = 0;
    struct find_part part;
    uint8_t addr[16];

    i += sep->n;
    if (sep->slashes > 0) { /* else each colon would be looked behind so far */
        i = after_user(s->text, i);
    }
    find_run_read(s, i, &s->run);
    part = find_next_part(&s->run, &at);
    return part.from == 0 && (find_host_in(&s->run, &part) != FIND_HOST_NONE ||
                              host_ip_parse(find_part_text(&s->run, part), addr));
}

/* "http" before the separator at i. False: no URL. */
static bool with_scheme(struct find_scan *s, const struct word *w,
                        const struct scheme *scheme, size_t i,
                        const struct separator *sep)
{
    struct slice written =
        slice_of(w->text + w->n - scheme->written.n, scheme->written.n);
    bool is_whole = w->is_whole && w->n == written.n;
    bool defanged = !slice_eq(scheme->written, scheme->meant) || sep->is_odd;
    bool is_plain = !defanged && sep->n == 3 && sep->slashes == 2 && !w->has_hidden;
    struct find find = {.kind = FIND_URL, .scheme = scheme->meant};
    size_t begin = w->at[w->n - scheme->written.n];

    /* browsers open "http:/host" and "http:host" as well; in text a host must show */
    if (sep->slashes < 2 && (!is_whole || !has_known_host(s, i, sep))) {
        return false;
    }
    find_draft_begin(s, begin);
    if (is_plain) {
        find_draft_raw(s, i);
        find_draft_copy(s, slice_of(s->text.p + i, sep->n));
    } else {
        find_draft_put(s, scheme->meant);
        find_draft_put(s, SLICE_LIT("://"));
        s->draft.flags |= defanged ? FIND_DEFANGED : 0U;
        s->draft.flags |= w->has_hidden && i - begin > written.n ? FIND_HIDDEN : 0U;
    }
    s->draft.end = i + sep->n;
    s->draft.decode = sep->decode;
    return find_url_rest(s, find, s->draft.n);
}

/* Whether some program opens the host of "ftps://host/x" or "intent://host/x#Intent;...". Not of
 * "file:///x", and of the packages that Android calls hosts. */
static bool opens_host(struct find_scan *s, struct slice scheme, size_t i,
                       const struct separator *sep)
{
    return sep->slashes >= 2 && !slice_eq_nocase(scheme, SLICE_LIT("android-app")) &&
           (sep->slashes != 3 || !slice_eq_nocase(scheme, SLICE_LIT("file"))) &&
           has_known_host(s, i, sep);
}

static bool with_other_host(struct find_scan *s, struct slice scheme, size_t begin,
                            size_t i, const struct separator *sep)
{
    struct find find = {.kind = FIND_URL, .scheme = scheme};

    find_draft_begin(s, begin);
    find_draft_put(s, SLICE_LIT("http://"));
    s->draft.end = i + sep->n;
    s->draft.decode = sep->decode;
    s->draft.is_other = true;
    return find_url_rest(s, find, s->draft.n);
}

/* "irc://...", "<tel:...>": from the beginning of the scheme to white space or the bracket. */
static bool other_scheme(struct find_scan *s, const struct word *w, size_t i,
                         const struct separator *sep)
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
    if ((sep->slashes < 2 && !in_angle) ||
        slice_eq_nocase(find.scheme, SLICE_LIT("mailto"))) {
        return false;
    }
    if (opens_host(s, find.scheme, i, sep)) {
        return with_other_host(s, find.scheme, w->at[k], i, sep);
    }
    find_draft_begin(s, w->at[k]);
    s->draft.end = i + sep->n;
    for (;;) {
        struct mark m = mark_at(s->text, s->draft.end);

        if (m.kind == MARK_END) {
            break;
        }
        if (separator_at(s->text, s->draft.end).slashes >= 2) {
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

size_t find_at_colon(struct find_scan *s, size_t i)
{
    struct mark before = mark_before(s->text, s->from, i);
    const struct scheme *scheme = NULL;
    struct separator sep;
    struct word word;

    if (!is_scheme_char(&before) && before.kind != MARK_HIDDEN) {
        return i + 1;
    }
    sep = separator_at(s->text, i);
    if (sep.n == 0) {
        return i + 1;
    }
    word_before(s, i, &word);
    scheme = known_scheme(&word);
    if (scheme != NULL ? with_scheme(s, &word, scheme, i, &sep)
                       : other_scheme(s, &word, i, &sep)) {
        return s->from > i ? s->from : i + sep.n;
    }
    return i + sep.n;
}
