/* mistake_value - values of a broken file: texts, quotes of other kinds, and texts without
 * quotes. */

#include "core/config/config_value.h"
#include "core/config/mistake_walk.h"

static bool is_element(const struct walk *w)
{
    return w->levels[w->depth].open == '(' || w->levels[w->depth].open == '[';
}

static const char *end_of_line(const struct walk *w)
{
    const char *eol = memchr(w->p, '\n', (size_t)(w->end - w->p));

    return eol != NULL ? eol : w->end;
}

/* Reports the error in a value, with the right form if it is known. */
static void say_form(struct walk *w, unsigned line, struct slice text, const char *why)
{
    const struct schema_row *row = schema_find(walk_group(w), w->key);
    char form[FORM_MAX];
    char whole[SCHEMA_FORM_MAX];

    if (row == NULL && *walk_group(w) == '\0' &&
        (schema_is_group(w->key) || schema_family(w->key) != NULL)) {
        schema_form(w->key, "...", whole);
        walk_say(w, line, "%s; this key is a group; write %s", why, whole);
    } else if (is_element(w) && form_value(NULL, text, form)) {
        walk_say(w, line, "%s; write %s", why, form);
    } else if (form_value(row, text, form)) {
        walk_say(w, line, "%s; write %s = %s;",
                 *form == '"' || *form == '[' ? why : "this value is not understood",
                 w->key, form);
    } else if (row != NULL) {
        walk_say(w, line, "%s; write a %s, such as %s = %s;", why,
                 schema_kind_name(row->kind), w->key, row->default_text);
    } else {
        walk_say(w, line, "%s; write %s = VALUE;", why, w->key);
    }
}

/* ---- quotes ---- */

/* Bytes of a quotation mark that is not the straight double one; 0: none. */
static size_t other_quote(const char *p, const char *end)
{
    static const char *const marks[] = {"'",
                                        "`",
                                        "\xc2\xab",
                                        "\xc2\xbb",
                                        "\xc2\xb4",
                                        "\xe2\x80\x98",
                                        "\xe2\x80\x99",
                                        "\xe2\x80\x9a",
                                        "\xe2\x80\x9b",
                                        "\xe2\x80\x9c",
                                        "\xe2\x80\x9d",
                                        "\xe2\x80\x9e",
                                        "\xe2\x80\x9f",
                                        "\xe2\x80\xb9",
                                        "\xe2\x80\xba",
                                        "\xe2\x80\xb3",
                                        "\xef\xbc\x82"};

    for (size_t i = 0; i < LENGTH(marks); i++) {
        size_t n = strlen(marks[i]);

        if ((size_t)(end - p) >= n && memcmp(p, marks[i], n) == 0) {
            return n;
        }
    }
    return 0;
}

/* The text up to a mark, or to the end of the possible value. */
static struct slice up_to_quote(const char *p, const char *eol)
{
    const char *q = p;

    while (q < eol && *q != '"' && other_quote(q, eol) == 0) {
        q++;
    }
    if (q == eol) { /* none: the text ends with the setting */
        while (q > p && strchr(" \t\r;,)]}", q[-1]) != NULL) {
            q--;
        }
    }
    return slice_of(p, (size_t)(q - p));
}

static enum walk_state take_other_quotes(struct walk *w, size_t mark)
{
    const char *eol = end_of_line(w);
    struct slice text = up_to_quote(w->p + mark, eol);
    const char *after = text.p + text.n;

    say_form(w, w->line, text, "a text stands in straight double quotes, \"...\"");
    if (after < eol) {
        size_t n = other_quote(after, eol);

        after += n > 0 ? n : (*after == '"' ? 1 : 0);
    }
    w->p = after;
    return WALK_AFTER;
}

/* A text in straight quotes, and those that stand right behind it. */
static enum walk_state take_string(struct walk *w)
{
    const char *eol = end_of_line(w);
    const char *q = w->p + 1;

    while (q < eol && *q != '"') {
        q += *q == '\\' && q + 1 < eol ? 2 : 1;
    }
    if (q < eol) {
        w->p = q + 1;
        return WALK_AFTER;
    }
    struct slice text = up_to_quote(w->p + 1, eol);
    say_form(w, w->line, text,
             "the text that begins here has no closing quote in its line");
    w->p = eol;
    return WALK_AFTER;
}

/* ---- without quotes ---- */

/* Whether libconfig reads it as a number. */
static bool is_number(struct slice s)
{
    size_t digits = 0;
    size_t i = s.n > 0 && (*s.p == '+' || *s.p == '-') ? 1 : 0;

    if (s.n - i > 2 && s.p[i] == '0' && (s.p[i + 1] | 0x20) == 'x') {
        for (i += 2; i < s.n && strchr("0123456789abcdefABCDEFL", s.p[i]) != NULL;
             i++) {
        }
        return i == s.n;
    }
    for (; i < s.n; i++) {
        if (s.p[i] >= '0' && s.p[i] <= '9') {
            digits++;
        } else if (strchr(".eEL+-", s.p[i]) == NULL || (digits == 0 && s.p[i] != '.')) {
            return false;
        }
    }
    return digits > 0;
}

static bool is_bool(struct slice s)
{
    return (s.n == 4 && strncasecmp(s.p, "true", 4) == 0) ||
           (s.n == 5 && strncasecmp(s.p, "false", 5) == 0);
}

static bool ends_value(const char *p, const char *end)
{
    return p >= end || strchr(";,{}()[]\"\n\r#", *p) != NULL ||
           (*p == '/' && p + 1 < end && (p[1] == '*' || (p[1] == '/' && p[-1] != ':')));
}

static struct slice word_at(const char *p, const char *end)
{
    const char *q = p;

    while (!ends_value(q, end) && *q != ' ' && *q != '\t' && *q != '=') {
        q++;
    }
    return slice_of(p, (size_t)(q - p));
}

/* True where "name =" or "name :" stands at p: the next setting. */
static bool is_setting(const char *p, const char *end)
{
    const char *q = p;

    if (p >= end || !walk_is_name_start(*p)) {
        return false;
    }
    while (q < end && walk_is_name(*q)) {
        q++;
    }
    while (q < end && (*q == ' ' || *q == '\t')) {
        q++;
    }
    return q < end &&
           (*q == '=' || (*q == ':' && q + 1 < end && strchr(" \t\r\n", q[1]) != NULL));
}

/* All words up to the end of the setting. */
static struct slice words_at(const char *p, const char *end)
{
    const char *q = p;

    while (!ends_value(q, end) && !(q > p && q[-1] == ' ' && is_setting(q, end))) {
        q++;
    }
    return slice_trim(slice_of(p, (size_t)(q - p)));
}

/* "a: b: 3", "a = b = 3", or a key of the next line where the value is missing. */
static enum walk_state say_no_group(struct walk *w)
{
    char form[SCHEMA_FORM_MAX];
    bool is_known = schema_is_group(w->key) || schema_family(w->key) != NULL;

    schema_form(w->key, "VALUE", form);
    walk_say(w, w->key_line, "%s; write %s",
             is_known ? "a group has brackets" : "the key has no value", form);
    return WALK_KEY;
}

/* "5,0" of a group: libconfig takes the comma for the end of the setting. */
static bool take_decimal_comma(struct walk *w, struct slice word)
{
    const char *comma = word.p + word.n;
    const char *q = comma + 1;

    if (is_element(w) || comma >= w->end || *comma != ',' || q >= w->end || *q < '0' ||
        *q > '9') {
        return false;
    }
    while (q < w->end && ((*q >= '0' && *q <= '9') || *q == ',')) {
        q++;
    }
    say_form(w, w->line, slice_of(word.p, (size_t)(q - word.p)),
             "a number has no comma");
    w->p = q;
    return true;
}

static enum walk_state take_bare(struct walk *w)
{
    struct slice word = word_at(w->p, w->end);
    struct slice words = words_at(w->p, w->end);

    if (is_number(word) && take_decimal_comma(w, word)) {
        return WALK_AFTER;
    }
    if ((is_number(word) || is_bool(word)) && words.n == word.n) {
        w->p += word.n;
        return WALK_AFTER;
    }
    if (is_setting(w->p, w->end)) {
        return say_no_group(w);
    }
    if (words.n == 0) {
        walk_say(w, w->line, "\"%c\" cannot begin a value; write %s = VALUE;",
                 (unsigned char)*w->p < 0x7f && *w->p > ' ' ? *w->p : '?', w->key);
        w->p = end_of_line(w);
        return WALK_AFTER;
    }
    say_form(w, w->line, words,
             is_number(word) && words.n > word.n ? "a number stands alone"
                                                 : "a text stands in quotes");
    w->p += words.n;
    return WALK_AFTER;
}

enum walk_state walk_value(struct walk *w)
{
    size_t mark = other_quote(w->p, w->end);
    const char *start = w->p;

    if (*w->p == '"') {
        return take_string(w);
    }
    if (mark > 0) {
        return take_other_quotes(w, mark);
    }
    if (*w->p == '=' || *w->p == ':' || *w->p == '>') {
        walk_say(w, w->line, "one = too many; write %s = ...;", w->key);
        while (w->p < w->end && strchr("=:>", *w->p) != NULL) {
            w->p++;
        }
        return WALK_VALUE;
    }
    enum walk_state next = take_bare(w);

    if (w->p == start && next != WALK_KEY) { /* whatever it is, never twice */
        w->p++;
    }
    return next;
}
