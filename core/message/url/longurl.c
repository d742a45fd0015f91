/* longurl - one state per component; each byte is looked at a bounded number of times. */
#include "core/message/url/longurl.h"

#include "core/base/uninitialized.h"
#include "core/message/text/ascii.h"
#include "core/message/url/url_split.h"
#include "core/message/url/urlkey.h"

enum {
    ESCAPE_BYTES = 3,
    /* A path that ends beyond its bound has room for the segment at hand. */
    PATH_END = LONGURL_PATH_MAX + 2 * (LONGURL_SEGMENT + 1)
};

_Static_assert(LONGURL_SCHEME_MAX + 3 + LONGURL_AUTHORITY_MAX + 1 + PATH_END +
                       ESCAPE_BYTES <
                   LONGURL_MAX,
               "a query has room behind the longest path");

void longurl_begin(struct longurl *u)
{
    u->state = LONGURL_START;
    u->is_cut = false;
    u->is_over = false;
    u->n = 0;
    u->begin = 0;
    u->nslashes = 0;
}

struct slice longurl_text(const struct longurl *u)
{
    /* Of a path that is not kept to its end, the segment at hand would be a wrong one. */
    bool is_beyond = u->state == LONGURL_PATH && u->nsegments > 0;

    return slice_of(u->bytes, is_beyond ? u->segment : u->n);
}

static void begin_authority(struct longurl *u)
{
    u->state = LONGURL_AUTHORITY;
    u->begin = u->n;
    u->is_over = false;
}

static void begin_path(struct longurl *u)
{
    u->state = LONGURL_PATH;
    u->begin = u->n;
    u->bytes[u->n++] = '/';
    u->segment = u->n;
    u->is_long = false;
    u->nsegments = 0;
}

/* The parameters share what room there is: none of them uses up what the next one needs. */
static void begin_parameter(struct longurl *u)
{
    u->begin = u->n;
    u->max = u->n + (LONGURL_MAX - u->n) / 2;
}

/* The value of '%' and two digits that end before i; -1: there is no such thing behind from. */
static int escape_before(const struct longurl *u, size_t from, size_t i)
{
    const char *p = NULL;

    if (i < from + ESCAPE_BYTES) {
        return -1;
    }
    p = u->bytes + i - ESCAPE_BYTES;
    if (p[0] != '%' || !ASCII_IS(p[1], ASCII_HEX) || !ASCII_IS(p[2], ASCII_HEX)) {
        return -1;
    }
    return ascii_hex[(unsigned char)p[1]] << 4 | ascii_hex[(unsigned char)p[2]];
}

/* The byte that ends before i, as it stands or escaped; *i becomes where it begins. False: it is
 * ASCII, or there is none. */
static bool wide_byte_before(const struct longurl *u, size_t *i, unsigned *ret)
{
    int escaped = escape_before(u, u->begin, *i);

    if (escaped >= 0x80) {
        *i -= ESCAPE_BYTES;
        *ret = (unsigned)escaped;
        return true;
    }
    if (*i > u->begin && *i <= LONGURL_MAX && (unsigned char)u->bytes[*i - 1] >= 0x80) {
        *ret = (unsigned char)u->bytes[--*i];
        return true;
    }
    return false;
}

/* Of a host browsers leave out these, as UTF-8: UTS 46, status "ignored". */
static bool is_ignored(unsigned utf8)
{
    static const unsigned ignored[] = {0xc2ad,   0xcd8f,   0xe1a08b, 0xe1a08c,
                                       0xe1a08d, 0xe1a08f, 0xe2808b, 0xe281a0,
                                       0xe281a4, 0xefbbbf};
    size_t i = 0;

    while (i < LENGTH(ignored) && utf8 != ignored[i]) {
        i++;
    }
    return i < LENGTH(ignored) || (utf8 >= 0xefb880 && utf8 <= 0xefb88f);
}

/* Drops a character at the end of a host that browsers leave out. */
static void drop_ignored(struct longurl *u)
{
    unsigned utf8 = 0;
    unsigned byte = 0;
    unsigned shift = 0;
    size_t i = u->n;

    while (shift < 24 && wide_byte_before(u, &i, &byte)) {
        utf8 |= byte << shift;
        shift += 8;
        if (is_ignored(utf8)) {
            u->n = i;
            return;
        }
    }
}

/* Decodes escapes, except of bytes that would then end the path, or be dropped. */
static void fold_escapes(struct longurl *u)
{
    int c = escape_before(u, u->segment, u->n);

    while (c > ' ' && c != '?' && c != '#' && c != '\\') {
        u->n -= ESCAPE_BYTES;
        u->bytes[u->n++] = (char)c;
        c = escape_before(u, u->segment, u->n);
    }
}

/* The segment before the one at hand goes. */
static void pop_segment(struct longurl *u)
{
    if (u->nsegments > 0) {
        u->nsegments--;
        return;
    }
    if (u->segment > u->begin + 1) {
        u->segment--;
        while (u->bytes[u->segment - 1] != '/') {
            u->segment--;
        }
    }
}

/* A slash stands behind the segment at hand. */
static void end_segment(struct longurl *u)
{
    struct slice s = slice_of(u->bytes + u->segment, u->n - u->segment);
    bool is_up = !u->is_long && slice_eq(s, SLICE_LIT(".."));

    if (is_up) {
        pop_segment(u);
    } else if (!u->is_long && (s.n == 0 || slice_eq(s, SLICE_LIT(".")))) {
        /* the folder that it stands in */
    } else if (u->segment - u->begin > LONGURL_PATH_MAX) {
        u->nsegments++;
        u->is_cut = true;
    } else {
        u->bytes[u->n++] = '/';
        u->segment = u->n;
    }
    u->n = u->segment;
    u->is_long = false;
}

static void add_to_path(struct longurl *u, char c)
{
    if (u->n - u->begin >= LONGURL_PATH_MAX && u->n - u->segment >= LONGURL_SEGMENT) {
        if (c == '/') {
            end_segment(u);
        } else {
            u->is_long = true;
            u->is_cut = true;
        }
        return;
    }
    u->bytes[u->n++] = c;
    fold_escapes(u);
    if (u->bytes[u->n - 1] == '/') {
        u->n--;
        end_segment(u);
    }
}

static void end_parameter(struct longurl *u)
{
    struct slice pair = slice_of(u->bytes + u->begin, u->n - u->begin);

    if (urlkey_is_tracking(slice_head(pair, slice_find(pair, '=')))) {
        u->n = u->begin;
    } else {
        u->is_cut = u->is_cut || u->is_long;
    }
    u->is_long = false;
}

/* Ends the last parameter and the query. */
static void end_query(struct longurl *u)
{
    end_parameter(u);
    if (u->n == u->begin) {
        u->n--; /* its '&', or the '?' */
    }
}

static void add_to_query(struct longurl *u, char c)
{
    if (c == '&') {
        end_parameter(u);
        if (u->n == u->begin) {
            return; /* "a=b&&c": nothing stands between */
        }
    }
    if (u->n < (c == '&' ? LONGURL_MAX : u->max)) {
        u->bytes[u->n++] = c;
    } else {
        u->is_long = true;
    }
    if (c == '&') {
        begin_parameter(u);
    }
}

static void add_raw(struct longurl *u, char c)
{
    if (u->n < LONGURL_MAX) {
        u->bytes[u->n++] = c;
    } else {
        u->is_cut = u->is_cut || u->state == LONGURL_OTHER;
    }
}

/* '?' or '#' behind the authority or the path. */
static void begin_rest(struct longurl *u, char c)
{
    u->n = longurl_text(u).n;
    if (u->n == LONGURL_MAX) {
        u->n--; /* of a query that is cut */
    }
    u->bytes[u->n++] = c;
    u->state = c == '?' ? LONGURL_QUERY : LONGURL_FRAGMENT;
    if (c == '?') {
        u->is_long = false;
        begin_parameter(u);
    }
}

static bool ends_authority(char c)
{
    return url_is_slash(c) || c == '?' || c == '#';
}

static void end_authority(struct longurl *u, char c)
{
    u->is_cut = u->is_cut || u->is_over;
    if (url_is_slash(c)) {
        begin_path(u);
    } else {
        begin_rest(u, c);
    }
}

static void add_to_authority(struct longurl *u, char c)
{
    if (ends_authority(c)) {
        end_authority(u, c);
    } else if (c == '@') { /* what was before it is the user */
        u->n = u->begin;
        u->is_over = false;
        u->bytes[u->n++] = c;
    } else if (u->n - u->begin >= LONGURL_AUTHORITY_MAX) {
        u->is_over = true;
    } else {
        u->bytes[u->n++] = c;
        if ((unsigned char)c >= 0x80 || ASCII_IS(c, ASCII_HEX)) {
            drop_ignored(u);
        }
    }
}

/* At the ':' of a scheme, or of a host without a scheme: "www.a.example:80". */
static void end_scheme(struct longurl *u)
{
    struct slice scheme = slice_of(u->bytes, u->n);
    struct slice known;

    if (url_known_scheme(scheme, &known) == ERR_OK) {
        u->state = LONGURL_SLASHES;
    } else if (slice_find(scheme, '.') < scheme.n) {
        begin_authority(u);
        u->begin = 0;
    } else {
        u->state = LONGURL_OTHER;
    }
    u->bytes[u->n++] = ':';
}

static void add_to_scheme(struct longurl *u, char c)
{
    if (c == ':' && u->n > 0) {
        end_scheme(u);
    } else if ((ASCII_IS(c, ASCII_ALPHA | ASCII_DIGIT) || c == '+' || c == '-' ||
                c == '.') &&
               u->n < LONGURL_SCHEME_MAX) {
        u->bytes[u->n++] = c;
    } else if (u->n == 0 && url_is_slash(c)) {
        u->state = LONGURL_SLASHES; /* "//host/" */
        u->nslashes = 1;
        u->bytes[u->n++] = '/';
    } else {
        begin_authority(u);
        u->begin = 0;
        add_to_authority(u, c);
    }
}

static void add_to_slashes(struct longurl *u, char c)
{
    if (url_is_slash(c)) {
        if (u->nslashes++ < 2) {
            u->bytes[u->n++] = '/';
        }
    } else if (u->n == 1 && u->bytes[0] == '/') { /* "/path" */
        u->n = 0;
        begin_path(u);
        add_to_path(u, c);
    } else {
        begin_authority(u);
        add_to_authority(u, c);
    }
}

static void add_byte(struct longurl *u, char c)
{
    switch (u->state) {
    case LONGURL_START:
        if ((unsigned char)c > ' ') {
            u->state = LONGURL_SCHEME;
            add_to_scheme(u, c);
        }
        break;
    case LONGURL_SCHEME:
        add_to_scheme(u, c);
        break;
    case LONGURL_SLASHES:
        add_to_slashes(u, c);
        break;
    case LONGURL_AUTHORITY:
        add_to_authority(u, c);
        break;
    case LONGURL_PATH:
        if (c == '?' || c == '#') {
            begin_rest(u, c);
        } else {
            if (c == '\\') {
                c = '/';
            }
            add_to_path(u, c);
        }
        break;
    case LONGURL_QUERY:
        if (c == '#') {
            end_query(u);
            begin_rest(u, c);
        } else {
            add_to_query(u, c);
        }
        break;
    case LONGURL_FRAGMENT:
    case LONGURL_OTHER:
        add_raw(u, c);
        break;
    }
}

/* Bytes of an authority that is too long, before what may make it the user's. */
static size_t user_run(struct slice text)
{
    size_t i = 0;

    while (i < text.n && text.p[i] != '@' && !ends_authority(text.p[i])) {
        i++;
    }
    return i;
}

void longurl_add(struct longurl *u, struct slice text)
{
    while (text.n > 0) {
        char c = text.p[0];
        size_t n = u->state == LONGURL_AUTHORITY && u->is_over ? user_run(text) : 0;

        if (n == 0) {
            n = 1;
            if (c != '\t' && c != '\n' && c != '\r') {
                add_byte(u, c);
            }
        }
        text = slice_from(text, n);
    }
}

void longurl_end(struct longurl *u)
{
    if (u->state == LONGURL_QUERY) {
        end_query(u);
    } else if (u->state == LONGURL_AUTHORITY) {
        u->is_cut = u->is_cut || u->is_over;
    } else {
        /* as it stands */
    }
}

static bool ends_url(char c)
{
    return (unsigned char)c <= ' ' || c == '"' || c == '<' || c == '>';
}

size_t longurl_at_end(struct slice text)
{
    size_t word = text.n;
    size_t colon = 0;

    while (word > 0 && !ends_url(text.p[word - 1])) {
        word--;
    }
    if (slice_has_prefix_nocase(slice_from(text, word), SLICE_LIT("www."))) {
        return word;
    }
    colon = word + slice_find_slice(slice_from(text, word), SLICE_LIT("://"));
    if (colon == text.n) {
        return text.n;
    }
    while (colon > word && ASCII_IS(text.p[colon - 1], ASCII_ALPHA)) {
        colon--;
    }
    return colon;
}

size_t longurl_shorten(char *text, size_t n)
{
    struct longurl u UNINITIALIZED;
    struct slice kept;

    longurl_begin(&u);
    longurl_add(&u, slice_of(text, n));
    kept = longurl_text(&u);
    memcpy(text, kept.p, kept.n);
    return kept.n;
}
