#include "core/config/precheck.h"

struct scan {
    const char *p;
    const char *end;
    unsigned line;
    unsigned depth;
    unsigned settings;
    char open[SCAN_DEPTH_MAX + 1]; /* brackets */
    struct slice word;             /* read last */
    struct slice key;
    bool is_behind_string;
    bool is_readable;
    scan_finding_fn *on_finding;
    void *context;
};

static void found(struct scan *s, enum err code, const char *text)
{
    s->on_finding(s->context, s->line, code, text);
}

/* A finding after which libconfig must not see the file. */
static void fatal(struct scan *s, enum err code, const char *text)
{
    found(s, code, text);
    s->is_readable = false;
    s->p = s->end;
}

static void skip_line(struct scan *s)
{
    const char *nl = memchr(s->p, '\n', (size_t)(s->end - s->p));

    s->p = nl != NULL ? nl : s->end;
}

static void skip_comment(struct scan *s)
{
    unsigned start = s->line;

    s->p += 2;
    while (s->p < s->end) {
        if (*s->p == '\n') {
            s->line++;
        }
        if (s->end - s->p >= 2 && s->p[0] == '*' && s->p[1] == '/') {
            s->p += 2;
            return;
        }
        s->p++;
    }
    s->line = start; /* libconfig would drop the rest of the file without a word */
    fatal(s, ERR_SYNTAX,
          "the comment that begins here with /* has no end; write */ behind it");
}

/* libconfig joins two texts that stand side by side. */
static void refuse_joined(struct scan *s)
{
    char text[ERRINFO_TEXT_MAX];

    (void)snprintf(text, sizeof(text),
                   "%.*s: two texts without a comma between them; write "
                   "%.*s = [ \"one\", \"two\" ];",
                   SLICE_ARGS(slice_head(s->key, 60)),
                   SLICE_ARGS(slice_head(s->key, 60)));
    found(s, ERR_SYNTAX, text);
}

static void skip_string(struct scan *s)
{
    if (s->is_behind_string && s->open[s->depth] != '\0' && s->open[s->depth] != '{') {
        refuse_joined(s);
    }
    for (s->p++; s->p < s->end && *s->p != '"'; s->p++) {
        if (*s->p == '\\' && s->end - s->p >= 2) {
            if (s->end - s->p >= 4 && memcmp(s->p, "\\x00", 4) == 0) {
                found(s, ERR_SYNTAX, "\\x00 would end the text here; leave it out");
            }
            s->p++;
        }
        if (*s->p == '\n') {
            s->line++;
        }
    }
    if (s->p == s->end) { /* libconfig finds it, too; mistake_find says where */
        return;
    }
    s->p++;
    s->is_behind_string = true;
}

static bool is_word_byte(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           c == '_' || c == '.' || c == '*' || c == '-' || c == '+';
}

static bool digits_fit(const char *p, const char *end, uint64_t base)
{
    uint64_t v = 0;

    for (; p < end; p++) {
        uint64_t d = 0;

        if (*p >= '0' && *p <= '9') {
            d = (uint64_t)(*p - '0');
        } else {
            d = (uint64_t)((*p | 0x20) - 'a') + 10;
        }
        if (d >= base) {
            return true; /* not an integer: libconfig says what it is */
        }
        v = v * base + d;
        if (v > INT32_MAX) {
            return false;
        }
    }
    return true;
}

/* A run of word characters; when it is an integer it must fit 32 bits. */
static void take_word(struct scan *s)
{
    const char *start = s->p;
    uint64_t base = 10;

    while (s->p < s->end && is_word_byte(*s->p)) {
        s->p++;
    }
    s->word = slice_of(start, (size_t)(s->p - start));
    if (start < s->p && (*start == '-' || *start == '+')) {
        start++;
    }
    if (start == s->p || *start < '0' || *start > '9') {
        return;
    }
    if (s->p - start > 2 && start[0] == '0' && (start[1] | 0x20) == 'x') {
        base = 16;
        start += 2;
    } else if (memchr(start, '.', (size_t)(s->p - start)) != NULL ||
               memchr(start, 'e', (size_t)(s->p - start)) != NULL ||
               memchr(start, 'E', (size_t)(s->p - start)) != NULL) {
        return; /* a float */
    }
    if (!digits_fit(start, s->p, base)) {
        found(s, ERR_RANGE, SCAN_TOO_LARGE);
    }
}

static void take_mark(struct scan *s)
{
    switch (*s->p) {
    case '{':
    case '(':
    case '[':
        if (++s->depth > SCAN_DEPTH_MAX) {
            fatal(s, ERR_LIMIT,
                  "groups and lists are nested too deep; only conditions of rules nest, and "
                  "six deep at most");
            return;
        }
        s->open[s->depth] = *s->p;
        break;
    case '}':
    case ')':
    case ']':
        s->depth -= s->depth > 0 ? 1 : 0;
        break;
    case '=':
    case ':':
        s->key = s->word;
        if (++s->settings > SCAN_SETTINGS_MAX) {
            fatal(s, ERR_LIMIT,
                  "more than 20000 settings in one file; keep entries in "
                  "lists (gillnet list import), not in the configuration");
            return;
        }
        break;
    case '@':
        if (s->end - s->p < 8 || memcmp(s->p, "@include", 8) != 0) {
            break;
        }
        fatal(s, ERR_UNSUPPORTED,
              "@include is not offered; put further files into conf.d beside the main "
              "file, named *.conf");
        return;
    default:
        break;
    }
    s->p++;
}

bool scan_config(struct slice text, scan_finding_fn *on_finding, void *context)
{
    struct scan s = {.p = text.p,
                     .end = text.p + text.n,
                     .line = 1,
                     .is_readable = true,
                     .on_finding = on_finding,
                     .context = context};
    const char *nul = text.n > 0 ? memchr(text.p, '\0', text.n) : NULL;

    if (nul != NULL) { /* also inside comments and texts, where libconfig stops short */
        unsigned line = 1;
        for (const char *p = text.p; p < nul; p++) {
            line += *p == '\n';
        }
        on_finding(
            context, line, ERR_SYNTAX,
            "a NUL byte: this is not a text file; save it as UTF-8 text (an editor may "
            "have saved it as UTF-16)");
        return false;
    }
    if (text.n >= 3 && memcmp(text.p, "\xef\xbb\xbf", 3) == 0) {
        fatal(&s, ERR_SYNTAX,
              "the file begins with a byte order mark; save it as UTF-8 without one "
              "(sed -i '1s/^\\xEF\\xBB\\xBF//' FILE)");
    }
    while (s.p < s.end) {
        char c = *s.p;
        char next = '\0';

        if (s.end - s.p >= 2) {
            next = s.p[1];
        }
        if (c == '\n') {
            s.line++;
            s.p++;
        } else if (c == '#' || (c == '/' && next == '/')) {
            skip_line(&s);
        } else if (c == '/' && next == '*') {
            skip_comment(&s);
        } else if (c == '"') {
            skip_string(&s);
        } else if (strchr(" \t\r\f\v", c) != NULL) {
            s.p++;
        } else {
            s.is_behind_string = false;
            if (is_word_byte(c)) {
                take_word(&s);
            } else {
                take_mark(&s);
            }
        }
    }
    return s.is_readable;
}
