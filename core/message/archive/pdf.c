#include "core/message/archive/pdf.h"

#include "core/message/archive/inflate.h"

enum {
    NAME_KEPT = 8,
    STREAM_NAME = 16, /* the longest sought there */
    SCHEME_MAX = 8,   /* of "https://" */
    OCTAL_DIGITS = 3
};

enum state {
    OUT,           /* between tokens, or in one of no interest */
    NAME,          /* behind a '/' */
    NAME_ESCAPE,   /* behind '#' in a name */
    AFTER_URI,     /* behind /URI: its string is to come */
    AFTER_ENCRYPT, /* behind /Encrypt: a dictionary or the number of one */
    COMMENT,       /* there */
    ANGLE,         /* behind '<' there */
    STRING,        /* in (...) */
    ESCAPE,        /* behind '\' there */
    ESCAPE_OCTAL,  /* in its digits */
    ESCAPE_CR,     /* behind "\<CR>" */
    HEX            /* in <...> */
};

struct scan {
    void (*link)(void *context, struct slice text, bool is_wide);
    void *context;
    enum state state;
    char name[NAME_KEPT];
    size_t nname;
    unsigned code; /* of an escape */
    unsigned ndigits;
    bool after_name; /* the last token is a name: a string now is its value */
    bool only_url;   /* the string counts only if it begins like a URL */
    bool is_encrypted;
    bool wants_url; /* what follows the name counts if it is a URL */
    unsigned depth; /* of parentheses */
    char text[PDF_LINK_MAX];
    size_t ntext;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\0';
}

static bool is_delimiter(char c)
{
    return c == '(' || c == ')' || c == '<' || c == '>' || c == '[' || c == ']' ||
           c == '{' || c == '}' || c == '/' || c == '%';
}

static struct slice text_of(const struct scan *s)
{
    return slice_of(s->text, s->ntext);
}

static void tell(struct scan *s)
{
    struct slice text = text_of(s);
    bool is_wide = slice_has_prefix(text, SLICE_LIT("\xfe\xff"));
    if (is_wide) {
        text = slice_from(text, 2);
    } else if (slice_has_prefix(text, SLICE_LIT("\xef\xbb\xbf"))) {
        text = slice_from(text, 3);
    }
    if (text.n > 0) {
        s->link(s->context, text, is_wide);
    }
    s->ntext = 0;
    s->state = OUT;
    s->after_name = false;
}

/* Can text be the beginning of a URL, or is it one? */
static bool may_be_url(struct slice text)
{
    static const char *const begins[] = {"http://", "https://", "www."};
    for (size_t i = 0; i < LENGTH(begins); i++) {
        struct slice b = slice_str(begins[i]);
        struct slice head = slice_head(text, b.n);
        if (slice_eq_nocase(head, slice_head(b, head.n))) {
            return true;
        }
    }
    return false;
}

static void put(struct scan *s, char c)
{
    s->text[s->ntext++] = c;
    s->state = STRING;
    if (s->only_url && s->ntext <= SCHEME_MAX && !may_be_url(text_of(s))) {
        s->state = OUT; /* it is no URL, or no string at all */
        s->ntext = 0;
    } else if (s->ntext == PDF_LINK_MAX) {
        tell(s);
    }
}

static void begin_string(struct scan *s, bool only_url)
{
    s->state = STRING;
    s->only_url = only_url;
    s->depth = 1;
    s->ntext = 0;
}

static void out(struct scan *s, char c)
{
    if (c == '/') {
        s->state = NAME;
        s->nname = 0;
    } else if (c == '(') {
        bool is_value = s->after_name;
        s->after_name = false;
        if (!is_value) {
            begin_string(s, true);
        }
    } else if (!is_space(c)) {
        s->after_name = false;
    }
}

static void put_name(struct scan *s, char c)
{
    if (s->nname < NAME_KEPT) {
        s->name[s->nname++] = c;
    }
}

/* Keys of actions whose value is a file as often as a URL: of launching, of a form, of another
 * document. */
static bool may_name_url(struct slice name)
{
    return slice_eq(name, SLICE_LIT("F")) || slice_eq(name, SLICE_LIT("UF")) ||
           slice_eq(name, SLICE_LIT("P"));
}

static void in_name(struct scan *s, char c)
{
    if (c == '#') {
        s->state = NAME_ESCAPE;
        s->code = 0;
        s->ndigits = 0;
    } else if (!is_space(c) && !is_delimiter(c)) {
        put_name(s, c);
    } else {
        s->after_name = true;
        struct slice name = slice_of(s->name, s->nname);
        s->state = OUT;
        if (slice_eq(name, SLICE_LIT("URI")) || slice_eq(name, SLICE_LIT("JS"))) {
            s->state = AFTER_URI;
            s->wants_url = false;
        } else if (may_name_url(name)) {
            s->state = AFTER_URI;
            s->wants_url = true;
        } else if (slice_eq(name, SLICE_LIT("Encrypt"))) {
            s->state = AFTER_ENCRYPT;
        } else {
            /* of no interest */
        }
    }
}

static void in_name_escape(struct scan *s, char c)
{
    s->code = s->code * 16 + (unsigned)hex_digit_value(c);
    if (++s->ndigits == 2) {
        put_name(s, (char)(unsigned char)s->code);
        s->state = NAME;
    }
}

static void after_uri(struct scan *s, char c)
{
    if (c == '(') {
        begin_string(s, s->wants_url);
    } else if (c == '<') {
        s->state = ANGLE;
    } else if (c == '%') {
        s->state = COMMENT;
    } else if (!is_space(c)) {
        s->state = OUT;
    }
}

static void in_string(struct scan *s, char c)
{
    if (c == '\\') {
        s->state = ESCAPE;
    } else if (c == ')' && --s->depth == 0) {
        tell(s);
    } else {
        s->depth += c == '(' ? 1 : 0;
        put(s, c);
    }
}

static void in_escape(struct scan *s, char c)
{
    static const char from[] = "nrtbf";
    static const char to[] = "\n\r\t\b\f";
    const char *known = c != '\0' ? strchr(from, c) : NULL;
    if (c >= '0' && c <= '7') {
        s->code = (unsigned)(c - '0');
        s->ndigits = 1;
        s->state = ESCAPE_OCTAL;
    } else if (c == '\r') {
        s->state = ESCAPE_CR;
    } else if (c == '\n') {
        s->state = STRING;
    } else {
        if (known != NULL) {
            c = to[known - from];
        }
        put(s, c);
    }
}

static void in_hex(struct scan *s, char c)
{
    int v = hex_digit_value(c);
    if (c == '>') {
        if (s->ndigits == 1) {
            put(s, (char)(unsigned char)(s->code * 16));
        }
        if (s->ntext > 0) {
            tell(s);
        }
        s->state = OUT;
    } else if (v >= 0) {
        s->code = s->code * 16 + (unsigned)v;
        if (++s->ndigits == 2) {
            put(s, (char)(unsigned char)s->code);
            s->state = s->state == STRING ? HEX : s->state;
            s->code = 0;
            s->ndigits = 0;
        }
    } else if (!is_space(c)) {
        s->state = OUT;
    }
}

static void in_angle(struct scan *s, char c)
{
    if (c == '<') { /* a dictionary */
        s->state = OUT;
        return;
    }
    s->state = HEX;
    s->only_url = false;
    s->ntext = 0;
    s->code = 0;
    s->ndigits = 0;
    in_hex(s, c);
}

/* True: c was used up; false: it is to be looked at again in the new state. */
static bool step(struct scan *s, char c)
{
    switch (s->state) {
    case OUT:
        out(s, c);
        return true;
    case NAME:
        in_name(s, c);
        return s->state == NAME || s->state == NAME_ESCAPE;
    case NAME_ESCAPE:
        if (hex_digit_value(c) < 0) {
            s->state = NAME;
            return false;
        }
        in_name_escape(s, c);
        return true;
    case AFTER_URI:
        after_uri(s, c);
        return s->state != OUT;
    case AFTER_ENCRYPT: /* "12 0 R" or "<<": no name of a font or a colour stands so */
        s->state = is_space(c) ? AFTER_ENCRYPT : OUT;
        s->is_encrypted = s->is_encrypted || c == '<' || (c >= '1' && c <= '9');
        return s->state != OUT;
    case COMMENT:
        s->state = c == '\r' || c == '\n' ? AFTER_URI : COMMENT;
        return true;
    case ANGLE:
        in_angle(s, c);
        return true;
    case STRING:
        in_string(s, c);
        return true;
    case ESCAPE:
        in_escape(s, c);
        return true;
    case ESCAPE_OCTAL:
        if (c >= '0' && c <= '7' && s->ndigits < OCTAL_DIGITS) {
            s->code = s->code * 8 + (unsigned)(c - '0');
            s->ndigits++;
            return true;
        }
        put(s, (char)(unsigned char)s->code);
        return false;
    case ESCAPE_CR:
        s->state = STRING;
        return c == '\n';
    case HEX:
        in_hex(s, c);
        return true;
    }
    return true;
}

/* Most bytes of a file are those of pictures and fonts: from one '/' or '(' to the next. */
static void feed(struct scan *s, struct slice bytes)
{
    size_t i = 0;
    while (i < bytes.n) {
        char c = bytes.p[i++];
        if (s->state == OUT && c != '/' && c != '(') {
            s->after_name = s->after_name && is_space(c);
            continue;
        }
        while (!step(s, c)) {
        }
    }
}

static bool on_inflated(void *context, struct slice bytes)
{
    feed(context, bytes);
    return true;
}

struct names {
    bool is_objects; /* of an object stream */
    bool has_first;
    bool has_count;
    bool is_flate;
};

/* Reads the name at s, escapes decoded, into dst; returns its length. */
static size_t read_name(struct slice s, char dst[STREAM_NAME])
{
    size_t n = 0;
    for (size_t i = 0; i < s.n && !is_space(s.p[i]) && !is_delimiter(s.p[i]); i++) {
        char c = s.p[i];
        if (c == '#' && i + 2 < s.n && hex_digit_value(s.p[i + 1]) >= 0 &&
            hex_digit_value(s.p[i + 2]) >= 0) {
            c = (char)(unsigned char)(hex_digit_value(s.p[i + 1]) * 16 +
                                      hex_digit_value(s.p[i + 2]));
            i += 2;
        }
        if (n == STREAM_NAME) {
            return 0;
        }
        dst[n++] = c;
    }
    return n;
}

static struct names names_in(struct slice dictionary)
{
    struct names names = {0};
    size_t at = 0;
    while ((at += slice_find(slice_from(dictionary, at), '/')) < dictionary.n) {
        char name[STREAM_NAME];
        struct slice s = slice_of(name, read_name(slice_from(dictionary, ++at), name));
        names.is_objects |= slice_eq(s, SLICE_LIT("ObjStm"));
        names.has_first |= slice_eq(s, SLICE_LIT("First"));
        names.has_count |= slice_eq(s, SLICE_LIT("N"));
        names.is_flate |=
            slice_eq(s, SLICE_LIT("FlateDecode")) || slice_eq(s, SLICE_LIT("Fl"));
    }
    return names;
}

/* Its dictionary is what stands between the end of the object before it and the keyword. */
static bool is_object_stream(struct slice dictionary)
{
    struct names names = names_in(dictionary);
    return names.is_flate && (names.is_objects || (names.has_first && names.has_count));
}

static void read_streams(struct scan *s, struct slice file,
                         struct archive_budget *budget)
{
    const struct slice keyword = SLICE_LIT("stream");
    size_t from = 0; /* of what may be the dictionary of the next stream */
    size_t at = 0;
    while ((at += slice_find_slice(slice_from(file, at), keyword)) < file.n) {
        size_t data = at + keyword.n;
        bool is_end = at >= 3 && memcmp(file.p + at - 3, "end", 3) == 0;
        bool whole = false;
        if (!is_end && is_object_stream(slice_of(file.p + from, at - from)) &&
            archive_budget_entry(budget)) {
            data += data < file.n && file.p[data] == '\r' ? 1 : 0;
            data += data < file.n && file.p[data] == '\n' ? 1 : 0;
            s->state = OUT;
            s->after_name = false;
            size_t used = inflate_stream(budget, slice_from(file, data), INFLATE_ZLIB,
                                         on_inflated, s, &whole);
            data += whole ? used : 0;
        }
        from = data < file.n ? data : file.n;
        at = from;
    }
}

bool pdf_read(struct slice file, struct archive_budget *budget,
              void (*link)(void *context, struct slice text, bool is_wide),
              void *context)
{
    struct scan s = {.link = link, .context = context};
    feed(&s, file);
    read_streams(&s, file, budget);
    return s.is_encrypted;
}
