#include "core/hub/api/api_body.h"

#include "core/base/utf8.h"

enum { DECIMAL = 10 };

struct reader {
    const unsigned char *p;
    const unsigned char *end;
    const unsigned char *begin;
    struct arena *arena;
    struct errinfo *reterr;
};

static enum err refuse_at(const struct reader *r, enum err e, const char *what)
{
    return errinfo_set(r->reterr, e, "", 0, "%s, at byte %zu of the body", what,
                       (size_t)(r->p - r->begin));
}

static void skip_space(struct reader *r)
{
    while (r->p < r->end &&
           (*r->p == ' ' || *r->p == '\n' || *r->p == '\r' || *r->p == '\t')) {
        r->p++;
    }
}

/* The next byte after white space, or 0 at the end. */
static unsigned char peek(struct reader *r)
{
    skip_space(r);
    return r->p < r->end ? *r->p : 0;
}

static bool take_byte(struct reader *r, unsigned char c)
{
    bool is_there = peek(r) == c && r->p < r->end;

    r->p += is_there;
    return is_there;
}

/* ---- strings ---- */

static bool take_hex(struct reader *r, uint32_t *ret)
{
    uint64_t v = 0;
    size_t n = r->end - r->p < 4 ? 0 : 4;

    if (!slice_to_u64(slice_of((const char *)r->p, n), 16, UINT32_MAX, &v)) {
        return false;
    }
    r->p += n;
    *ret = (uint32_t)v;
    return true;
}

static size_t put_utf8(uint32_t c, char *dst)
{
    if (c < 0x80) {
        dst[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        dst[0] = (char)(0xc0 | c >> 6);
        dst[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        dst[0] = (char)(0xe0 | c >> 12);
        dst[1] = (char)(0x80 | (c >> 6 & 0x3f));
        dst[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    dst[0] = (char)(0xf0 | c >> 18);
    dst[1] = (char)(0x80 | (c >> 12 & 0x3f));
    dst[2] = (char)(0x80 | (c >> 6 & 0x3f));
    dst[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/* Reads the digits after "\u": one character, or both surrogates of one. False: a single surrogate,
 * or NUL. */
static bool take_unicode(struct reader *r, uint32_t *ret)
{
    uint32_t low = 0;

    if (!take_hex(r, ret) || *ret == 0 || (*ret >= 0xdc00 && *ret <= 0xdfff)) {
        return false;
    }
    if (*ret < 0xd800 || *ret > 0xdbff) {
        return true;
    }
    if (r->end - r->p < 2 || r->p[0] != '\\' || r->p[1] != 'u') {
        return false;
    }
    r->p += 2;
    if (!take_hex(r, &low) || low < 0xdc00 || low > 0xdfff) {
        return false;
    }
    *ret = 0x10000 + ((*ret - 0xd800) << 10) + (low - 0xdc00);
    return true;
}

/* Reads the escape that follows a backslash. Writes at most 4 bytes; 0: not a valid escape. */
static size_t take_escape(struct reader *r, char *dst)
{
    static const char names[] = "\"\\/bfnrt";
    static const char meant[] = "\"\\/\b\f\n\r\t";
    unsigned char c = r->p < r->end ? *r->p++ : 0;
    uint32_t code = 0;

    if (c == 'u') {
        return take_unicode(r, &code) ? put_utf8(code, dst) : 0;
    }
    for (size_t i = 0; i < sizeof(names) - 1; i++) {
        if ((unsigned char)names[i] == c) {
            dst[0] = meant[i];
            return 1;
        }
    }
    return 0;
}

/* Bytes up to the next quote or backslash, which must be text. */
static bool skip_text(struct reader *r)
{
    while (r->p < r->end && *r->p != '"' && *r->p != '\\') {
        size_t n = *r->p < ' '    ? 0
                   : *r->p < 0x80 ? 1
                                  : utf8_length(r->p, (size_t)(r->end - r->p));

        if (n == 0) {
            return false;
        }
        r->p += n;
    }
    return r->p < r->end;
}

/* A string with escapes, the first of which is at r->p; before it there is text from begin on. */
static enum err unescape(struct reader *r, const unsigned char *begin,
                         struct slice *ret)
{
    const unsigned char *from = begin;
    const unsigned char *end = r->p;
    size_t n = 0;

    /* an escape is never shorter than its text */
    while (end < r->end && *end != '"') {
        end += *end == '\\' ? 2 : 1;
    }
    if (end >= r->end) {
        return refuse_at(r, ERR_SYNTAX, "a string has no end");
    }
    char *dst = arena_bytes(r->arena, (size_t)(end - begin) + 4);

    if (dst == NULL) {
        return refuse_at(r, ERR_NOMEM, "out of memory");
    }
    while (*r->p == '\\') {
        memcpy(dst + n, from, (size_t)(r->p - from));
        n += (size_t)(r->p - from);
        r->p++;
        size_t made = take_escape(r, dst + n);

        n += made;
        from = r->p;
        if (made == 0 || !skip_text(r)) {
            return refuse_at(r, ERR_SYNTAX,
                             "a string has an unknown escape or is not UTF-8");
        }
    }
    memcpy(dst + n, from, (size_t)(r->p - from));
    *ret = slice_of(dst, n + (size_t)(r->p - from));
    r->p++;
    return ERR_OK;
}

static enum err take_string(struct reader *r, struct slice *ret)
{
    if (!take_byte(r, '"')) {
        return refuse_at(r, ERR_RANGE, "a string is wanted");
    }
    const unsigned char *begin = r->p;

    if (!skip_text(r)) {
        return refuse_at(r, ERR_SYNTAX,
                         "a string has no end, a control byte or is no UTF-8");
    }
    if (*r->p == '\\') {
        return unescape(r, begin, ret);
    }
    *ret = slice_of((const char *)begin, (size_t)(r->p - begin));
    r->p++;
    return ERR_OK;
}

/* ---- members ---- */

static enum err take_strings(struct reader *r, struct api_strings *ret)
{
    size_t room = 0;
    enum err e = ERR_OK;

    ret->n = 0;
    if (!take_byte(r, '[')) {
        return refuse_at(r, ERR_RANGE, "an array of strings is wanted");
    }
    if (take_byte(r, ']')) {
        return ERR_OK;
    }
    do {
        if (ret->n == ret->most) {
            return refuse_at(r, ERR_LIMIT, "the array is longer than api.values");
        }
        if (ret->n == room) {
            struct slice *more = arena_array(r->arena, room * 2 + 16, sizeof(*more));

            if (more == NULL) {
                return refuse_at(r, ERR_NOMEM, "out of memory");
            }
            if (room > 0) {
                memcpy(more, ret->v, room * sizeof(*more));
            }
            ret->v = more;
            room = room * 2 + 16;
        }
        e = take_string(r, &ret->v[ret->n]);
        ret->n += e == ERR_OK;
    } while (e == ERR_OK && take_byte(r, ','));
    return e != ERR_OK || take_byte(r, ']')
               ? e
               : refuse_at(r, ERR_SYNTAX, "an array has no end");
}

static bool take_word(struct reader *r, struct slice word)
{
    skip_space(r);
    if (!slice_has_prefix(slice_of((const char *)r->p, (size_t)(r->end - r->p)),
                          word)) {
        return false;
    }
    r->p += word.n;
    return true;
}

static enum err take_bool(struct reader *r, bool *ret)
{
    *ret = take_word(r, SLICE_LIT("true"));
    return *ret || take_word(r, SLICE_LIT("false"))
               ? ERR_OK
               : refuse_at(r, ERR_RANGE, "true or false is wanted");
}

/* Digits without a sign, a fraction or an exponent. */
static enum err take_whole_number(struct reader *r, uint64_t *ret)
{
    size_t n = 0;

    skip_space(r);
    while (r->p + n < r->end && r->p[n] >= '0' && r->p[n] <= '9') {
        n++;
    }
    const bool has_zero = n > 1 && r->p[0] == '0';
    const bool goes_on =
        r->p + n < r->end && (r->p[n] == '.' || r->p[n] == 'e' || r->p[n] == 'E');
    if (has_zero || goes_on ||
        !slice_to_u64(slice_of((const char *)r->p, n), DECIMAL, API_NUMBER_MAX, ret)) {
        return refuse_at(r, ERR_RANGE, "a whole number is wanted");
    }
    r->p += n;
    return ERR_OK;
}

static enum err take_value(struct reader *r, const struct api_member *m)
{
    switch (m->kind) {
    case API_MEMBER_STRING:
        return take_string(r, m->value);
    case API_MEMBER_STRINGS:
        return take_strings(r, m->value);
    case API_MEMBER_NUMBER:
        return take_whole_number(r, m->value);
    case API_MEMBER_BOOL:
        break;
    }
    return take_bool(r, m->value);
}

static enum err take_member(struct reader *r, const struct api_member *members,
                            size_t n, uint32_t *seen)
{
    struct slice name = SLICE_NONE;
    size_t at = 0;
    enum err e = peek(r) == '"'
                     ? take_string(r, &name)
                     : refuse_at(r, ERR_SYNTAX, "the name of a member is wanted");

    if (e != ERR_OK) {
        return e;
    }
    while (at < n && !slice_eq(name, slice_str(members[at].name))) {
        at++;
    }
    if (at == n) {
        return refuse_at(r, ERR_RANGE, "there is no such member");
    }
    if ((*seen >> at & 1) != 0) {
        return refuse_at(r, ERR_RANGE, "a member stands there twice");
    }
    *seen |= 1U << at;
    return take_byte(r, ':') ? take_value(r, &members[at])
                             : refuse_at(r, ERR_SYNTAX, "a colon is wanted");
}

enum err api_body_read(struct slice body, const struct api_member *members, size_t n,
                       struct arena *arena, struct errinfo *reterr)
{
    const unsigned char *p = (const unsigned char *)body.p;
    struct reader r = {
        .p = p, .begin = p, .end = p + body.n, .arena = arena, .reterr = reterr};
    uint32_t seen = 0;
    enum err e = ERR_OK;

    if (!take_byte(&r, '{')) {
        return refuse_at(&r, ERR_SYNTAX, "the body is no JSON object");
    }
    if (!take_byte(&r, '}')) {
        do {
            e = take_member(&r, members, n, &seen);
        } while (e == ERR_OK && take_byte(&r, ','));
        if (e == ERR_OK && !take_byte(&r, '}')) {
            e = refuse_at(&r, ERR_SYNTAX, "the object has no end");
        }
    }
    if (e == ERR_OK && (peek(&r) != 0 || r.p != r.end)) {
        e = refuse_at(&r, ERR_SYNTAX, "something stands behind the object");
    }
    for (size_t i = 0; i < n && e == ERR_OK; i++) {
        if (members[i].is_needed && (seen >> i & 1) == 0) {
            e = errinfo_set(reterr, ERR_RANGE, "", 0, "\"%s\" is missing",
                            members[i].name);
        }
    }
    return e;
}
