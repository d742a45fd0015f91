#include "core/message/mail/params.h"

#include "core/message/text/charset.h"
#include "core/message/text/encoded_word.h"

struct param {
    struct slice name;
    struct slice value; /* quotes off, escapes still in */
    bool quoted;
};

struct piece {
    struct slice value;
    bool quoted;
    bool extended; /* percent-encoded */
    bool seen;
};

/* Everything that a field says about one parameter. */
struct found {
    struct slice plain;
    bool has_plain;
    bool plain_quoted;
    struct slice second; /* another plain one that differs */
    bool second_quoted;
    struct piece pieces[PARAM_PIECES_MAX];
    bool has_pieces;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* s begins with '('. The text behind the comment. */
static struct slice after_comment(struct slice s)
{
    size_t depth = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\\') {
            i++;
        } else if (s.p[i] == '(') {
            depth++;
        } else if (s.p[i] == ')' && --depth == 0) {
            return slice_from(s, i + 1);
        }
    }
    return slice_from(s, s.n);
}

static struct slice skip_spaces(struct slice s)
{
    while (s.n > 0 && (is_space(s.p[0]) || s.p[0] == '(')) {
        s = s.p[0] == '(' ? after_comment(s) : slice_from(s, 1);
    }
    return s;
}

static struct slice skip_between(struct slice s)
{
    s = skip_spaces(s);
    while (s.n > 0 && s.p[0] == ';') {
        s = skip_spaces(slice_from(s, 1));
    }
    return s;
}

/* s begins after the opening quote; returns the inside and moves s behind the closing one. */
static struct slice cut_quoted(struct slice *s)
{
    size_t i = 0;
    while (i < s->n && s->p[i] != '"') {
        i += s->p[i] == '\\' ? 2 : 1;
    }
    if (i > s->n) {
        i = s->n;
    }
    struct slice inside = slice_head(*s, i);
    *s = slice_from(*s, i + 1);
    return inside;
}

static bool next_param(struct slice *rest, struct param *ret)
{
    struct slice s = skip_between(*rest);
    if (s.n == 0) {
        *rest = s;
        return false;
    }
    size_t i = 0;
    while (i < s.n && s.p[i] != '=' && s.p[i] != ';') {
        i++;
    }
    ret->name = slice_trim(slice_head(s, i));
    ret->value = SLICE_NONE;
    ret->quoted = false;
    bool has_value = i < s.n && s.p[i] == '=';
    s = slice_from(s, i + (has_value ? 1 : 0));
    if (has_value) {
        while (s.n > 0 && is_space(s.p[0])) {
            s = slice_from(s, 1);
        }
        if (s.n > 0 && s.p[0] == '"') {
            s = slice_from(s, 1);
            ret->value = cut_quoted(&s);
            ret->quoted = true;
        } else {
            size_t end = slice_find(s, ';');
            ret->value = slice_trim(slice_head(s, end));
            s = slice_from(s, end);
        }
    }
    *rest = s;
    return true;
}

/* The main value without quotes and comments; *retrest is what follows it. A semicolon before the
 * first parameter may be missing. */
static struct slice cut_main(struct slice field, struct slice *retrest)
{
    struct slice s = skip_spaces(field);
    if (s.n > 0 && s.p[0] == '"') {
        s = slice_from(s, 1);
        struct slice inside = cut_quoted(&s);
        *retrest = s;
        return slice_trim(inside);
    }
    size_t i = 0;
    while (i < s.n && s.p[i] != ';' && s.p[i] != '(' && !is_space(s.p[i])) {
        i++;
    }
    *retrest = slice_from(s, i);
    return slice_head(s, i);
}

struct slice param_main(struct slice field)
{
    struct slice rest;
    return cut_main(field, &rest);
}

/* "filename*12*" of base "filename": index 12, extended. */
static bool piece_index(struct slice name, struct slice base, unsigned *retindex,
                        bool *retextended)
{
    if (!slice_has_prefix_nocase(name, base) || name.n < base.n + 1 ||
        name.p[base.n] != '*') {
        return false;
    }
    struct slice tail = slice_from(name, base.n + 1);
    *retextended = tail.n == 0;
    *retindex = 0;
    if (tail.n > 0 && tail.p[tail.n - 1] == '*') {
        *retextended = true;
        tail.n--;
    }
    if (tail.n > 3) {
        return false;
    }
    for (size_t i = 0; i < tail.n; i++) {
        if (tail.p[i] < '0' || tail.p[i] > '9') {
            return false;
        }
        *retindex = *retindex * 10 + (unsigned)(tail.p[i] - '0');
    }
    return *retindex < PARAM_PIECES_MAX;
}

static void find_param(struct slice field, struct slice name, struct found *ret)
{
    memset(ret, 0, sizeof(*ret));
    struct slice rest;
    (void)cut_main(field, &rest);
    struct param p;
    while (next_param(&rest, &p)) {
        unsigned index = 0;
        bool extended = false;
        if (slice_eq_nocase(p.name, name)) {
            if (!ret->has_plain) {
                ret->plain = p.value;
                ret->plain_quoted = p.quoted;
                ret->has_plain = true;
            } else if (ret->second.n == 0 && !slice_eq(p.value, ret->plain)) {
                ret->second = p.value;
                ret->second_quoted = p.quoted;
            }
        } else if (piece_index(p.name, name, &index, &extended) &&
                   !ret->pieces[index].seen) {
            ret->pieces[index] = (struct piece){p.value, p.quoted, extended, true};
            ret->has_pieces = true;
        }
    }
}

/* Only \" and \\ are escapes: a Windows path in quotes keeps its backslashes. */
static size_t unescape(char *dst, struct slice s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\\' && i + 1 < s.n &&
            (s.p[i + 1] == '"' || s.p[i + 1] == '\\')) {
            i++;
        }
        dst[n++] = s.p[i];
    }
    return n;
}

static size_t percent_decode(char *dst, struct slice s)
{
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '%' && i + 2 < s.n && hex_digit_value(s.p[i + 1]) >= 0 &&
            hex_digit_value(s.p[i + 2]) >= 0) {
            dst[n++] =
                (char)(hex_digit_value(s.p[i + 1]) * 16 + hex_digit_value(s.p[i + 2]));
            i += 2;
        } else {
            dst[n++] = s.p[i];
        }
    }
    return n;
}

static struct slice unquoted(struct arena *arena, struct slice value, bool quoted)
{
    if (!quoted) {
        return value;
    }
    char *dst = arena_bytes(arena, value.n);
    return dst == NULL ? SLICE_NONE : slice_of(dst, unescape(dst, value));
}

static struct slice plain_value(struct arena *arena, const struct found *f)
{
    return unquoted(arena, f->plain, f->plain_quoted);
}

/* Cuts "charset'language'" off the first extended piece. */
static struct slice cut_charset(struct slice *value)
{
    struct slice rest = *value;
    struct slice charset = slice_cut(&rest, '\'');
    if (rest.p == NULL) {
        return SLICE_NONE;
    }
    (void)slice_cut(&rest, '\'');
    if (rest.p == NULL) {
        return SLICE_NONE;
    }
    *value = rest;
    return charset;
}

static struct slice pieces_value(struct arena *arena, struct found *f)
{
    size_t total = 0;
    unsigned from = f->pieces[0].seen ? 0 : 1; /* some mailers count from 1 */
    unsigned end = from;
    while (end < PARAM_PIECES_MAX && f->pieces[end].seen) {
        total += f->pieces[end++].value.n;
    }
    char *dst = arena_bytes(arena, total);
    if (dst == NULL || end == from) {
        return SLICE_NONE;
    }
    struct slice charset = SLICE_NONE;
    if (f->pieces[from].extended) {
        charset = cut_charset(&f->pieces[from].value);
    }
    size_t n = 0;
    for (unsigned i = from; i < end; i++) {
        n += f->pieces[i].extended ? percent_decode(dst + n, f->pieces[i].value)
                                   : unescape(dst + n, f->pieces[i].value);
    }
    return charset_to_utf8(arena, charset, slice_of(dst, n), NULL);
}

static struct slice token_of(struct arena *arena, struct slice value, bool quoted)
{
    if (!quoted) {
        value = slice_head(value, slice_find_slice(value, SLICE_LIT(" (")));
    }
    return slice_trim(unquoted(arena, value, quoted));
}

struct slice param_token(struct arena *arena, struct slice field, struct slice name)
{
    struct found f;
    find_param(field, name, &f);
    if (!f.has_plain) {
        return f.has_pieces ? slice_trim(pieces_value(arena, &f)) : SLICE_NONE;
    }
    return token_of(arena, f.plain, f.plain_quoted);
}

struct slice param_token_other(struct arena *arena, struct slice field,
                               struct slice name)
{
    struct found f;
    find_param(field, name, &f);
    if (!f.has_plain || (!f.has_pieces && f.second.n == 0)) {
        return SLICE_NONE;
    }
    struct slice first = token_of(arena, f.plain, f.plain_quoted);
    struct slice other = token_of(arena, f.second, f.second_quoted);
    if (f.second.n == 0) {
        other = slice_trim(pieces_value(arena, &f));
    }
    return slice_eq(first, other) ? SLICE_NONE : other;
}

struct slice param_text(struct arena *arena, struct slice field, struct slice name)
{
    struct found f;
    find_param(field, name, &f);
    if (f.has_pieces) {
        struct slice value = pieces_value(arena, &f);
        if (value.n > 0) {
            return value;
        }
    }
    if (!f.has_plain) {
        return SLICE_NONE;
    }
    return encoded_word_decode(arena, plain_value(arena, &f));
}
