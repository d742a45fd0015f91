/* address - one pass that cuts a field into entries at , ; < > outside quotes and comments. */
#include "core/message/url/address.h"

#include "core/message/text/ascii.h"
#include "core/message/url/host.h"

/* State of the pass over a field. Unclosed quotes, comments and angle brackets are plain
 * characters. The no_ flags: a search found no closing one in the rest of the field. */
struct scan {
    struct slice field;
    size_t i;
    bool no_quote;
    bool no_comment;
};

/* One list entry as it stands in the field. */
struct entry {
    struct slice display; /* before the angle bracket */
    struct slice comment; /* content of the last comment */
    struct slice spec;    /* inside the angle bracket, or everything */
    bool angle;
};

/* Index after the quoted string that begins at i; i when it does not end. */
static size_t skip_quoted(struct slice s, size_t i)
{
    size_t k = i + 1;

    while (k < s.n && s.p[k] != '"') {
        k += s.p[k] == '\\' ? 2 : 1;
    }
    return k < s.n ? k + 1 : i;
}

/* Index after the comment that begins at i, nested ones inside; i when it does not end. */
static size_t skip_comment(struct slice s, size_t i)
{
    size_t depth = 0;
    size_t k = i;

    while (k < s.n) {
        char c = s.p[k];

        if (c == '\\') {
            k++;
        } else if (c == '(') {
            depth++;
        } else if (c == ')' && --depth == 0) {
            return k + 1;
        } else {
            /* content */
        }
        k++;
    }
    return i;
}

/* Steps over a quoted string or a comment at s->i; false when there is none. */
static bool skip_opaque(struct scan *s, struct slice *comment)
{
    char c = s->field.p[s->i];
    size_t end;

    if (c == '"' && !s->no_quote) {
        end = skip_quoted(s->field, s->i);
        s->no_quote = end == s->i;
    } else if (c == '(' && !s->no_comment) {
        end = skip_comment(s->field, s->i);
        s->no_comment = end == s->i;
        if (end > s->i) {
            *comment = slice_of(s->field.p + s->i + 1, end - s->i - 2);
        }
    } else {
        return false;
    }
    if (end == s->i) {
        return false;
    }
    s->i = end;
    return true;
}

/* The comma at i stands between two domains of a route. */
static bool in_route(struct slice s, size_t i)
{
    i++;
    while (i < s.n && ASCII_IS(s.p[i], ASCII_SPACE)) {
        i++;
    }
    return i < s.n && s.p[i] == '@';
}

/* Reads from after '<' to '>', or to where an unclosed one must have ended. */
static void scan_angle(struct scan *s, struct entry *e)
{
    size_t from = s->i;
    bool route = false;

    e->angle = true;
    while (s->i < s->field.n) {
        struct slice ignored = SLICE_NONE;
        char c = s->field.p[s->i];

        if (skip_opaque(s, &ignored)) {
            continue;
        }
        if (s->i == from && c == '@') {
            route = true;
        }
        if (c == '>' || c == ';' ||
            (c == ',' && !(route && in_route(s->field, s->i)))) {
            break;
        }
        if (c == '<') {
            from = s->i + 1; /* "<<a@b>>" */
        }
        s->i++;
    }
    e->spec = slice_of(s->field.p + from, s->i - from);
    if (s->i < s->field.n && s->field.p[s->i] == '>') {
        s->i++;
    }
}

/* Finds the next entry; false at the end of the field. */
static bool next_entry(struct scan *s, struct entry *ret)
{
    size_t from = s->i;
    bool has_at = false;

    *ret = (struct entry){0};
    if (s->i >= s->field.n) {
        return false;
    }
    while (s->i < s->field.n) {
        char c = s->field.p[s->i];

        if (skip_opaque(s, &ret->comment)) {
            continue;
        }
        if (c == '<') {
            ret->display = slice_of(s->field.p + from, s->i - from);
            s->i++;
            scan_angle(s, ret);
            return true;
        }
        if (c == ',' || c == ';') {
            break;
        }
        s->i++;
        has_at = has_at || c == '@';
        if (c == ':' && !has_at) {
            from = s->i; /* the name of a group ends here */
        }
    }
    ret->spec = slice_of(s->field.p + from, s->i - from);
    if (s->i < s->field.n) {
        s->i++;
    }
    return true;
}

/* The word of an entry that holds an @, without comments and white space. */
struct word {
    char bytes[ADDRESS_BYTES_MAX];
    size_t n;
    size_t at;     /* index of the last @ outside quotes, ADDRESS_BYTES_MAX: none */
    bool too_long; /* does not fit bytes: no address */
};

static void word_clear(struct word *w)
{
    w->n = 0;
    w->at = ADDRESS_BYTES_MAX;
    w->too_long = false;
}

static void word_add(struct word *w, struct slice s)
{
    if (s.n > sizeof(w->bytes) - w->n) {
        w->too_long = true;
        return;
    }
    memcpy(w->bytes + w->n, s.p, s.n);
    w->n += s.n;
}

static bool joins(char c)
{
    return c == '@' || c == '.';
}

/* Puts the first word with an @ into w; obsolete white space round @ and dots goes away. */
static bool find_word(struct slice spec, struct word *w)
{
    struct scan s = {.field = spec};
    bool space = false;

    word_clear(w);
    while (s.i < spec.n) {
        size_t from = s.i;
        struct slice comment = SLICE_NONE;
        bool opaque = skip_opaque(&s, &comment);

        if (comment.p != NULL || (!opaque && ASCII_IS(spec.p[from], ASCII_SPACE))) {
            space = true;
            s.i += opaque ? 0 : 1;
            continue;
        }
        s.i += opaque ? 0 : 1;
        if (space && w->n > 0 && !joins(spec.p[from]) && !joins(w->bytes[w->n - 1])) {
            if (w->at < ADDRESS_BYTES_MAX) {
                break;
            }
            word_clear(w);
        }
        space = false;
        if (spec.p[from] == '@' && w->n < sizeof(w->bytes)) {
            w->at = w->n;
        }
        word_add(w, slice_of(spec.p + from, s.i - from));
    }
    return w->at < ADDRESS_BYTES_MAX && !w->too_long;
}

static bool is_local(char c)
{
    return ASCII_IS(c, ASCII_ATEXT) || (unsigned char)c >= 0x80 || joins(c);
}

/* Where the quoted string begins that s ends in; s.n when there is none. */
static size_t last_quoted(struct slice s)
{
    size_t begin = s.n;
    size_t i = 0;

    while (i < s.n) {
        if (s.p[i] == '"') {
            size_t end = skip_quoted(s, i);

            if (end == i) {
                return s.n;
            }
            begin = i;
            i = end;
        } else {
            begin = s.n;
            i++;
        }
    }
    return begin;
}

/* The local part at the end of s: a dot-atom, or a quoted string. */
static struct slice local_part(struct slice s)
{
    struct slice inner;
    size_t i = s.n;

    while (i > 0 && is_local(s.p[i - 1])) {
        i--;
    }
    if (i < s.n) {
        return slice_from(s, i);
    }
    s = slice_from(s, last_quoted(s)); /* of several words the last */
    if (s.n < 2 || skip_quoted(s, 0) != s.n) {
        return SLICE_NONE;
    }
    inner = slice_of(s.p + 1, s.n - 2);
    for (i = 0; i < inner.n && is_local(inner.p[i]) && inner.p[i] != '@'; i++) {
    }
    return i == inner.n ? inner : s; /* quotes that are not needed go away */
}

static enum err take_ip(struct arena *arena, const uint8_t addr[16], struct host *ret)
{
    char digits[HOST_IP_TEXT];

    ret->text = arena_copy(arena, host_ip_text(addr, digits));
    return ret->text.p == NULL ? ERR_NOMEM : ERR_OK;
}

static enum err parse_domain(struct arena *arena, struct slice text, struct host *ret)
{
    uint8_t addr[16];
    size_t end = 0;

    if (text.n > 0 && text.p[0] == '[') {
        text = slice_head(slice_from(text, 1), slice_find(text, ']') - 1);
        if (slice_has_prefix_nocase(text, SLICE_LIT("ipv6:"))) {
            text = slice_from(text, 5);
        }
        return host_ip_parse(text, addr) ? take_ip(arena, addr, ret) : ERR_SYNTAX;
    }
    if (host_ip_parse(text, addr)) { /* as we write it ourselves: lists keep that */
        return take_ip(arena, addr, ret);
    }
    while (end < text.n && !ASCII_IS(text.p[end], ASCII_BADHOST)) {
        end++;
    }
    return host_parse(arena, slice_head(text, end), ret);
}

/* Writes text and domain of ret. */
static enum err parse_spec(struct arena *arena, struct slice spec, struct address *ret)
{
    struct word w;
    struct slice local;
    struct host host = {0};
    enum err err = ERR_SYNTAX;
    char *p = NULL;

    spec = slice_trim(spec);
    if (spec.n > 0 && spec.p[0] == '@') {
        size_t colon = slice_find(spec, ':');

        spec = slice_from(spec, colon + 1); /* a route is skipped */
    }
    if (!find_word(spec, &w)) {
        return err;
    }
    local = local_part(slice_of(w.bytes, w.at));
    if (local.n == 0) {
        return err;
    }
    err = parse_domain(arena, slice_of(w.bytes + w.at + 1, w.n - w.at - 1), &host);
    if (err != ERR_OK) {
        return err;
    }
    if (local.n + 1 + host.text.n > ADDRESS_BYTES_MAX) {
        return ERR_SYNTAX;
    }
    p = arena_bytes(arena, local.n + 1 + host.text.n);
    if (p == NULL) {
        return ERR_NOMEM;
    }
    memcpy(p, local.p, local.n);
    p[local.n] = '@';
    memcpy(p + local.n + 1, host.text.p, host.text.n);
    ret->text = slice_of(p, local.n + 1 + host.text.n);
    ret->domain = slice_from(ret->text, local.n + 1);
    return ERR_OK;
}

static size_t put_unescaped(struct slice s, char *dst)
{
    size_t n = 0;
    size_t i = 0;

    for (i = 0; i < s.n; i++) {
        if (s.p[i] == '\\' && i + 1 < s.n) {
            i++;
        }
        dst[n++] = s.p[i];
    }
    return n;
}

/* Without quotes, escapes and comments; the input itself when it has none. */
static struct slice plain_text(struct arena *arena, struct slice text)
{
    struct scan s = {.field = text};
    size_t n = 0;
    char *p = NULL;

    text = slice_trim(text);
    if (slice_find(text, '"') == text.n && slice_find(text, '(') == text.n &&
        slice_find(text, '\\') == text.n) {
        return text;
    }
    p = arena_bytes(arena, text.n);
    if (p == NULL) {
        return SLICE_NONE;
    }
    s.field = text;
    while (s.i < text.n) {
        size_t from = s.i;
        struct slice comment = SLICE_NONE;

        if (!skip_opaque(&s, &comment)) {
            p[n++] = text.p[s.i++];
        } else if (comment.p == NULL) {
            n += put_unescaped(slice_of(text.p + from + 1, s.i - from - 2), p + n);
        } else {
            /* a comment is skipped */
        }
    }
    return slice_trim(slice_of(p, n));
}

static enum err parse_entry(struct arena *arena, const struct entry *e,
                            struct address *ret)
{
    struct address address = {0};
    enum err err = parse_spec(arena, e->spec, &address);

    if (err != ERR_OK) {
        return err;
    }
    if (e->angle) {
        address.display = plain_text(arena, e->display);
    }
    if (address.display.n == 0 && e->comment.n > 0) {
        address.display = plain_text(arena, e->comment);
    }
    *ret = address;
    return ERR_OK;
}

size_t address_list_parse(struct arena *arena, struct slice field, struct address *ret,
                          size_t max, struct slice *retrest)
{
    struct scan s = {.field = field};
    struct entry entry;
    struct address address;
    struct slice rest = SLICE_NONE;
    size_t at = 0;
    size_t n = 0;

    while (rest.n == 0 && next_entry(&s, &entry)) {
        enum err err = parse_entry(arena, &entry, &address);

        if (err == ERR_NOMEM || (err == ERR_OK && n == max)) {
            rest = slice_from(field, at);
        } else if (err == ERR_OK) {
            ret[n++] = address;
        } else {
            /* no address */
        }
        at = s.i;
    }
    if (retrest != NULL) {
        *retrest = rest;
    }
    return n;
}

enum err address_parse(struct arena *arena, struct slice text, struct address *ret)
{
    size_t n = address_list_parse(arena, text, ret, 1, NULL);

    if (n == 1) {
        return ERR_OK;
    }
    return arena_is_full(arena) ? ERR_NOMEM : ERR_SYNTAX;
}
