/* shown_value - attributes: URLs, and styles that hide text. */

#include "core/base/uninitialized.h"
#include "core/message/html/html_internal.h"
#include "core/message/html/shown_internal.h"
#include "core/message/text/ascii.h"

enum {
    REFRESH_MIN = 4,  /* "url=" */
    STYLE_MAX = 4096, /* bytes of a style attribute that are read */
    NESTING_MAX = 8,  /* brackets in brackets in styles */
    ESCAPE_MAX = 6    /* digits of an escape in styles */
};

static struct slice trim_start(struct slice s)
{
    size_t n = 0;

    while (n < s.n && (unsigned char)s.p[n] <= ' ') {
        n++;
    }
    return slice_from(s, n);
}

static struct slice trim(struct slice s)
{
    s = trim_start(s);
    while (s.n > 0 && (unsigned char)s.p[s.n - 1] <= ' ') {
        s.n--;
    }
    return s;
}

static bool is_quote(char c)
{
    return c == '"' || c == '\'';
}

/* The text in quotes, up to the closing one; s if it does not begin with a quote. */
static struct slice without_quotes(struct slice s)
{
    struct slice inside = slice_from(s, 1);

    if (s.n == 0 || !is_quote(s.p[0])) {
        return s;
    }
    return slice_head(inside, slice_find(inside, s.p[0]));
}

/* "a.png 1x, //host/b.png 2x": a URL ends at white space, and a comma ends what follows it. */
static void srcset(struct shown *s, struct slice value)
{
    while (value.n > 0) {
        size_t n = 0;

        while (n < value.n && ((unsigned char)value.p[n] <= ' ' || value.p[n] == ',')) {
            n++;
        }
        value = slice_from(value, n);
        n = 0;
        while (n < value.n && (unsigned char)value.p[n] > ' ') {
            n++;
        }
        if (n > 0 && value.p[n - 1] == ',') {
            shown_tell(s, SHOWN_VALUE_LOAD, slice_head(value, n - 1));
            value = slice_from(value, n);
        } else {
            shown_tell(s, SHOWN_VALUE_LOAD, slice_head(value, n));
            value = slice_from(value, n);
            value = slice_from(value, slice_find(value, ','));
        }
    }
}

/* One escape, after its backslash: up to six digits and a blank, or the character itself. */
static size_t escape(struct slice css, char *ret)
{
    unsigned code = 0;
    size_t n = 0;

    while (n < css.n && n < ESCAPE_MAX && ASCII_IS(css.p[n], ASCII_HEX)) {
        code = code * 16 + ascii_hex[(unsigned char)css.p[n]];
        n++;
    }
    if (n == 0) {
        if (css.n > 0) {
            *ret = css.p[0];
        }
        return css.n > 0 ? 1 : 0;
    }
    *ret = '?';
    if (code < 0x80) {
        *ret = (char)code;
    }
    return n < css.n && html_is_space(css.p[n]) ? n + 1 : n;
}

/* A URL of a style, with the escapes in it undone. */
static void tell_css_url(struct shown *s, struct slice value)
{
    char plain[STYLE_MAX];
    size_t n = 0;

    if (slice_find(value, '\\') == value.n) {
        shown_tell(s, SHOWN_VALUE_LOAD, value);
        return;
    }
    while (value.n > 0 && n < sizeof(plain)) {
        size_t used = 1;

        plain[n] = value.p[0];
        if (value.p[0] == '\\') {
            used += escape(slice_from(value, 1), &plain[n]);
        }
        n++;
        value = slice_from(value, used);
    }
    shown_tell(s, SHOWN_VALUE_LOAD, slice_of(plain, n));
}

void shown_css_urls(struct shown *s, struct slice css)
{
    while (css.n > 0) {
        size_t at = slice_find(css, '(');
        bool is_url = at >= 3 && at < css.n &&
                      slice_eq_nocase(slice_of(css.p + at - 3, 3), SLICE_LIT("url"));
        struct slice inside = trim_start(slice_from(css, at + 1));

        css = slice_from(css, at + 1);
        if (!is_url || inside.n == 0) {
            continue;
        }
        if (is_quote(inside.p[0])) {
            inside = without_quotes(inside);
        } else {
            inside = trim(slice_head(inside, slice_find(inside, ')')));
        }
        tell_css_url(s, inside);
        css = slice_from(css, (size_t)(inside.p + inside.n - css.p));
    }
}

/* <meta http-equiv=refresh content="0; url=..."> */
static void meta_content(struct shown *s, struct slice value)
{
    size_t i = 0;

    for (i = 0; i + REFRESH_MIN <= value.n; i++) {
        struct slice rest = slice_from(value, i);

        if (!slice_has_prefix_nocase(rest, SLICE_LIT("url"))) {
            continue;
        }
        rest = trim_start(slice_from(rest, 3));
        if (rest.n > 0 && rest.p[0] == '=') {
            rest = trim(slice_from(rest, 1));
            shown_tell(s, SHOWN_VALUE_REFRESH, without_quotes(rest));
            return;
        }
    }
    shown_tell(s, SHOWN_VALUE_TEXT, value);
}

/* A length that nobody can read text of: zero, or a font size of one pixel. */
static bool is_small(struct slice value, unsigned max)
{
    size_t n = 0;
    unsigned whole = 0;

    if (n < value.n && value.p[n] == '+') {
        n++;
    }
    if (n == value.n || (!ASCII_IS(value.p[n], ASCII_DIGIT) && value.p[n] != '.')) {
        return false;
    }
    while (n < value.n && ASCII_IS(value.p[n], ASCII_DIGIT)) {
        whole = whole <= max ? whole * 10 + (unsigned)(value.p[n] - '0') : whole;
        n++;
    }
    if (n < value.n && value.p[n] == '.') {
        bool is_more = false;

        n++;
        while (n < value.n && ASCII_IS(value.p[n], ASCII_DIGIT)) {
            is_more = is_more || value.p[n] != '0';
            n++;
        }
        if (is_more) {
            whole++; /* 0.5 is at most 1 */
        }
    }
    value = slice_from(value, n);
    if (whole == 0) {
        return true;
    }
    return whole <= max && (slice_has_prefix_nocase(value, SLICE_LIT("px")) ||
                            slice_has_prefix_nocase(value, SLICE_LIT("pt")));
}

/* The size in "italic 0/0 a": the first word that begins with a digit. */
static struct slice font_size(struct slice font)
{
    while (font.n > 0) {
        struct slice word = trim(slice_cut(&font, ' '));

        if (word.n > 0 && (ASCII_IS(word.p[0], ASCII_DIGIT) || word.p[0] == '.') &&
            !(word.n == 3 && slice_has_suffix_nocase(word, SLICE_LIT("00")))) {
            return slice_head(word, slice_find(word, '/'));
        }
    }
    return SLICE_NONE;
}

static bool is_name(struct slice name, const char *wanted)
{
    return slice_eq(name, slice_str(wanted));
}

/* The property of a declaration, and whether it hides; 0: of no matter here. */
static unsigned property_of(struct slice name, struct slice value, bool *rethides)
{
    if (is_name(name, "display")) {
        *rethides = is_name(value, "none");
        return SHOWN_DISPLAY;
    }
    if (is_name(name, "visibility")) {
        *rethides = is_name(value, "hidden") || is_name(value, "collapse");
        return SHOWN_VISIBILITY;
    }
    if (is_name(name, "opacity")) {
        *rethides = is_small(value, 0);
        return SHOWN_OPACITY;
    }
    if (is_name(name, "font-size") || is_name(name, "font")) {
        struct slice size = is_name(name, "font") ? font_size(value) : value;

        *rethides = is_small(size, 1);
        return size.n > 0 ? SHOWN_FONT_SIZE : 0;
    }
    if (is_name(name, "max-height") || is_name(name, "height") ||
        is_name(name, "max-width") || is_name(name, "width")) {
        *rethides = is_small(value, 0);
        return *rethides ? SHOWN_EXTENT : 0; /* the other of the two may still hide */
    }
    if (is_name(name, "overflow")) {
        *rethides = is_name(value, "hidden") || is_name(value, "clip");
        return SHOWN_OVERFLOW;
    }
    return 0;
}

/* "display : none !important" */
static void declaration(struct shown_style *style, struct slice one)
{
    struct slice name = trim(slice_head(one, slice_find(one, ':')));
    struct slice value = trim(slice_from(one, slice_find(one, ':') + 1));
    size_t bang = slice_find(value, '!');
    bool is_important =
        slice_eq(trim(slice_from(value, bang + 1)), SLICE_LIT("important"));
    bool hides = false;
    unsigned property = 0;

    if (bang < value.n && !is_important) {
        return; /* no declaration for a browser either */
    }
    property = property_of(name, trim(slice_head(value, bang)), &hides);
    if ((style->important & property) != 0 && !is_important) {
        return;
    }
    style->important |= is_important ? property : 0;
    style->hides = hides ? style->hides | property : style->hides & ~property;
    style->shows = hides ? style->shows & ~property : style->shows | property;
}

/* The closing bytes of the quotes and brackets that are open. */
struct nesting {
    char closers[NESTING_MAX];
    size_t n;
    bool is_over; /* too many; from here on everything is inside of something */
};

static bool is_in_quotes(const struct nesting *nesting)
{
    return nesting->n > 0 && is_quote(nesting->closers[nesting->n - 1]);
}

/* The byte that closes c; NUL if c opens nothing. */
static char closer_of(char c)
{
    switch (c) {
    case '"':
    case '\'':
        return c;
    case '(':
        return ')';
    case '[':
        return ']';
    case '{':
        return '}';
    default:
        return '\0';
    }
}

/* Takes one character that is not escaped. True: it stands inside of something. */
static bool nest(struct nesting *nesting, char c)
{
    bool is_inside = nesting->n > 0 || nesting->is_over;
    char closer = closer_of(c);

    if (nesting->n > 0 && c == nesting->closers[nesting->n - 1]) {
        nesting->n--;
        return true;
    }
    if (closer == '\0' || is_in_quotes(nesting)) {
        return is_inside;
    }
    if (nesting->n == NESTING_MAX) {
        nesting->is_over = true;
        return true;
    }
    nesting->closers[nesting->n++] = closer;
    return true;
}

static bool is_plain(char c)
{
    return ASCII_IS(c, ASCII_ALPHA | ASCII_DIGIT) || c == '-';
}

/* Writes a style in lower case, without comments and escapes, with '?' for quoted and bracketed
 * text, so that each ';', ':' and '!' has its meaning. Text after too deep a nesting counts as
 * nested, so that in doubt nothing hides. Returns the length. */
static size_t plain_style(struct slice css, char dst[STYLE_MAX])
{
    struct nesting nesting = {.n = 0};
    size_t n = 0;

    while (css.n > 0 && n < STYLE_MAX) {
        char plain = ASCII_LOWER(css.p[0]);
        size_t used = 1;

        if (css.p[0] == '\\') {
            used += escape(slice_from(css, 1), &plain);
            plain = ASCII_LOWER(plain);
            if (nesting.n > 0 || nesting.is_over || !is_plain(plain)) {
                plain = '?';
            }
        } else if (!is_in_quotes(&nesting) && slice_has_prefix(css, SLICE_LIT("/*"))) {
            used = slice_find_slice(slice_from(css, 2), SLICE_LIT("*/")) + 4;
            plain = ' ';
        } else if (nest(&nesting, css.p[0])) {
            plain = '?';
        } else {
            /* as it is */
        }
        dst[n++] = plain;
        css = slice_from(css, used);
    }
    return n;
}

static void style_attribute(struct shown *s, struct slice css)
{
    char plain[STYLE_MAX] UNINITIALIZED;
    struct slice rest = slice_of(plain, plain_style(css, plain));

    while (rest.n > 0) {
        declaration(&s->style, slice_cut(&rest, ';'));
    }
}

static enum shown_value_kind href_kind(struct slice tag)
{
    if (slice_eq(tag, SLICE_LIT("base"))) {
        return SHOWN_VALUE_BASE;
    }
    return slice_eq(tag, SLICE_LIT("link")) ? SHOWN_VALUE_LOAD : SHOWN_VALUE_LINK;
}

static void href(struct shown *s, const struct html_token *t)
{
    struct shown_open_link *link = shown_link_of(s);
    struct slice target = trim(t->value);

    shown_tell(s, href_kind(t->tag), t->value);
    if ((s->tag.flags & SHOWN_TAG_LINK) != 0 && !s->has_href) {
        struct slice kept = slice_head(target, SHOWN_LINK_TARGET_MAX);

        s->has_href = true;
        link->is_cut = kept.n < target.n;
        link->ntarget = kept.n;
        memcpy(link->target, kept.p, kept.n);
    }
}

static bool is_refresh(const struct html_token *t)
{
    return slice_eq(t->name, SLICE_LIT("content")) &&
           slice_eq(t->tag, SLICE_LIT("meta"));
}

/* The value of an attribute by its name; false: it is no URL. */
static bool value_kind_of(struct slice name, enum shown_value_kind *ret)
{
    static const struct {
        struct slice name;
        enum shown_value_kind kind;
    } kinds[] = {
        {{"src", 3}, SHOWN_VALUE_LOAD},         {{"background", 10}, SHOWN_VALUE_LOAD},
        {{"poster", 6}, SHOWN_VALUE_LOAD},      {{"data", 4}, SHOWN_VALUE_LOAD},
        {{"lowsrc", 6}, SHOWN_VALUE_LOAD},      {{"dynsrc", 6}, SHOWN_VALUE_LOAD},
        {{"codebase", 8}, SHOWN_VALUE_LOAD},    {{"action", 6}, SHOWN_VALUE_FORM},
        {{"formaction", 10}, SHOWN_VALUE_FORM}, {{"cite", 4}, SHOWN_VALUE_OTHER},
        {{"longdesc", 8}, SHOWN_VALUE_OTHER},   {{"manifest", 8}, SHOWN_VALUE_OTHER},
        {{"profile", 7}, SHOWN_VALUE_OTHER},    {{"usemap", 6}, SHOWN_VALUE_OTHER}};
    size_t i = 0;

    while (i < LENGTH(kinds) && !slice_eq(name, kinds[i].name)) {
        i++;
    }
    if (i < LENGTH(kinds)) {
        *ret = kinds[i].kind;
    }
    return i < LENGTH(kinds);
}

static bool is_href(struct slice name)
{
    return slice_eq(name, SLICE_LIT("href")) || slice_eq(name, SLICE_LIT("xlink:href"));
}

bool shown_is_url(const struct html_token *t)
{
    enum shown_value_kind kind;

    return is_href(t->name) || value_kind_of(t->name, &kind);
}

/* "http://a.example/ http://b.example/": URLs between white space. */
static void url_list(struct shown *s, enum shown_value_kind kind, struct slice value)
{
    value = trim_start(value);
    while (value.n > 0) {
        size_t n = 0;

        while (n < value.n && (unsigned char)value.p[n] > ' ') {
            n++;
        }
        shown_tell(s, kind, slice_head(value, n));
        value = trim_start(slice_from(value, n));
    }
}

void shown_whole_attribute(struct shown *s, const struct html_token *t)
{
    enum shown_value_kind kind = SHOWN_VALUE_TEXT;

    if (slice_eq(t->name, SLICE_LIT("style"))) {
        if (!t->is_duplicate) {
            style_attribute(s, t->value);
        }
        shown_tell(s, SHOWN_VALUE_TEXT, t->value);
        shown_css_urls(s, t->value);
    } else if (is_href(t->name)) {
        href(s, t);
    } else if (value_kind_of(t->name, &kind)) {
        shown_tell(s, kind, t->value);
    } else if (slice_eq(t->name, SLICE_LIT("srcset")) ||
               slice_eq(t->name, SLICE_LIT("imagesrcset"))) {
        srcset(s, t->value);
    } else if (slice_eq(t->name, SLICE_LIT("ping"))) {
        url_list(s, SHOWN_VALUE_OTHER, t->value);
    } else if (slice_eq(t->name, SLICE_LIT("archive"))) {
        url_list(s, SHOWN_VALUE_LOAD, t->value);
    } else if (is_refresh(t)) {
        meta_content(s, t->value);
    } else if (slice_eq(t->name, SLICE_LIT("hidden"))) {
        s->style.is_hidden = true;
    } else if (!slice_has_prefix(t->name, SLICE_LIT("xmlns"))) {
        shown_tell(s, SHOWN_VALUE_TEXT, t->value);
    } else {
        /* a name space is no link */
    }
}

void shown_attribute(struct shown *s, const struct html_token *t)
{
    if (t->is_cut || s->long_value != SHOWN_LONG_NOT) {
        shown_long_attribute(s, t);
    } else {
        shown_whole_attribute(s, t);
    }
}
