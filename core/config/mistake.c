#include "core/config/mistake.h"

#include <stdarg.h>

#include "core/base/err.h"
#include "core/base/nearest.h"
#include "core/config/mistake_walk.h"

bool walk_is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '*';
}

bool walk_is_name(char c)
{
    return walk_is_name_start(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

const char *walk_group(const struct walk *w)
{
    return w->depth > 0 ? w->levels[1].key : "";
}

void walk_say(struct walk *w, unsigned line, const char *format, ...)
{
    char text[ERRINFO_TEXT_MAX];
    const char *group = walk_group(w);
    size_t n = 0;
    va_list args;

    if (w->nfound++ >= MISTAKES_MAX) {
        return;
    }
    if (strcmp(group, w->key) != 0 && *group != '\0') {
        n = (size_t)snprintf(text, sizeof(text), "%s%s%s: ", group,
                             *w->key != '\0' ? "." : "", w->key);
    } else if (*w->key != '\0') {
        n = (size_t)snprintf(text, sizeof(text), "%s: ", w->key);
    }
    va_start(args, format);
    (void)vsnprintf(text + n, sizeof(text) - n, format, args);
    va_end(args);
    w->on_finding(w->context, line, ERR_SYNTAX, text);
}

/* ---- white space ---- */

/* Bytes of an invisible character that is no white space to libconfig; 0: none. */
static size_t invisible(const struct walk *w)
{
    static const char *const marks[] = {"\xc2\xa0",     "\xe2\x80\x8b", "\xe2\x80\x8e",
                                        "\xe2\x80\x8f", "\xe2\x80\xaf", "\xe2\x80\x89",
                                        "\xe2\x81\xa0", "\xe3\x80\x80", "\xef\xbb\xbf"};

    for (size_t i = 0; i < LENGTH(marks); i++) {
        size_t n = strlen(marks[i]);

        if ((size_t)(w->end - w->p) >= n && memcmp(w->p, marks[i], n) == 0) {
            return n;
        }
    }
    return 0;
}

static void skip_to(struct walk *w, const char *end)
{
    for (; w->p < end; w->p++) {
        w->line += *w->p == '\n';
    }
}

static void skip_comment(struct walk *w)
{
    const char *close = NULL;

    if (*w->p == '/' && w->p[1] == '*') {
        close = memmem(w->p + 2, (size_t)(w->end - w->p) - 2, "*/", 2);
        skip_to(w, close != NULL ? close + 2 : w->end);
        return;
    }
    close = memchr(w->p, '\n', (size_t)(w->end - w->p));
    w->p = close != NULL ? close : w->end;
}

void walk_skip(struct walk *w)
{
    while (w->p < w->end) {
        size_t n = invisible(w);

        if (n > 0) {
            if (!w->said_invisible) {
                walk_say(
                    w, w->line,
                    "an invisible character, which is no space, stands here; write "
                    "ordinary spaces only");
            }
            w->said_invisible = true;
            w->p += n;
        } else if (strchr(" \t\r\n\f\v", *w->p) != NULL && *w->p != '\0') {
            w->line += *w->p == '\n';
            w->p++;
        } else if (*w->p == '#' || (*w->p == '/' && w->end - w->p >= 2 &&
                                    (w->p[1] == '/' || w->p[1] == '*'))) {
            skip_comment(w);
        } else {
            return;
        }
    }
}

/* ---- brackets ---- */

static char closing(char open)
{
    return (char)(open == '{' ? '}' : open == '(' ? ')' : ']');
}

static void push_level(struct walk *w)
{
    struct walk_level *l =
        &w->levels[w->depth < SCAN_DEPTH_MAX ? ++w->depth : w->depth];

    *l = (struct walk_level){.open = *w->p, .line = w->line, .scope = ++w->scopes};
    (void)snprintf(l->key, sizeof(l->key), "%s", w->key);
    w->p++;
    if (l->open == '{') {
        w->key[0] = '\0';
    }
}

static void pop(struct walk *w)
{
    (void)snprintf(w->key, sizeof(w->key), "%s", w->levels[w->depth].key);
    w->depth--;
}

/* The file ends in an open bracket. */
static enum walk_state say_unclosed(struct walk *w)
{
    struct walk_level *l = &w->levels[w->depth];
    char key[WALK_KEY_MAX];

    (void)snprintf(key, sizeof(key), "%s", l->key);
    w->key[0] = '\0';
    w->depth = 0;
    walk_say(w, l->line,
             "%s: the %c that begins here is never closed; write %c; behind its end",
             key, l->open, closing(l->open));
    return WALK_STOP;
}

/* A closing bracket where one may stand. */
static enum walk_state close_level(struct walk *w)
{
    struct walk_level *l = &w->levels[w->depth];

    if (w->depth == 0) {
        w->key[0] = '\0';
        walk_say(w, w->line, "one %c too many: nothing is open here; remove it", *w->p);
        return WALK_STOP;
    }
    if (*w->p != closing(l->open)) {
        if (!l->is_mistaken) {
            walk_say(w, w->line, "the %c of line %u is closed by %c; write %c", l->open,
                     l->line, *w->p, closing(l->open));
        }
        if (l->open == '{' && *w->p != '}' && w->depth > 1 &&
            closing(w->levels[w->depth - 1].open) == *w->p) {
            pop(w); /* the } is missing, and this closes what is around */
            return WALK_AFTER;
        }
    } else if (l->is_after_comma && l->open != '{') {
        walk_say(w, w->line, "no comma may stand before %c; remove the last comma",
                 *w->p);
    }
    w->p++;
    pop(w);
    return WALK_AFTER;
}

/* ---- keys ---- */

static void remember(struct walk *w, struct slice name, unsigned line)
{
    struct walk_seen *s = NULL;

    if (w->seen == NULL || w->nseen == SCAN_SETTINGS_MAX) {
        return;
    }
    s = &w->seen[w->nseen++];
    *s = (struct walk_seen){name, w->levels[w->depth].scope, line, ""};
    (void)snprintf(s->group, sizeof(s->group), "%.31s", walk_group(w));
}

static struct slice take_name(struct walk *w)
{
    const char *start = w->p;

    while (w->p < w->end && walk_is_name(*w->p)) {
        w->p++;
    }
    return slice_of(start, (size_t)(w->p - start));
}

static void set_key(struct walk *w, struct slice name, unsigned line)
{
    (void)snprintf(w->key, sizeof(w->key), "%.*s", SLICE_ARGS(slice_head(name, 60)));
    w->key_line = line;
}

static bool is_equals(const struct walk *w)
{
    return w->p < w->end && (*w->p == '=' || *w->p == ':');
}

/* "limits.parts = 5": a dot instead of a group. */
static enum walk_state take_dotted(struct walk *w, struct slice first)
{
    char path[WALK_KEY_MAX];
    char form[SCHEMA_FORM_MAX];
    const char *start = first.p;
    const char *near = NULL;

    while (w->p < w->end && (walk_is_name(*w->p) || *w->p == '.')) {
        w->p++;
    }
    (void)snprintf(path, sizeof(path), "%.*s",
                   (int)(w->p - start < 60 ? w->p - start : 60), start);
    near = schema_nearest("", path);
    schema_form(near != NULL ? near : path, "...", form);
    set_key(w, slice_str(path), w->line);
    walk_say(w, w->line, "a key with a dot stands in its group; write %s", form);
    walk_skip(w);
    if (!is_equals(w)) {
        return WALK_STOP;
    }
    w->p++;
    return WALK_VALUE;
}

/* "socket group = ...": words before the equals sign of this line; false: there is none. */
static bool take_words(struct walk *w, struct slice first)
{
    const char *q = w->p;
    struct slice words;
    char name[WALK_KEY_MAX];
    const char *near = NULL;

    while (q < w->end && (walk_is_name(*q) || *q == ' ' || *q == '\t')) {
        q++;
    }
    if (q == w->end || (*q != '=' && *q != ':')) {
        return false;
    }
    words = slice_trim(slice_of(first.p, (size_t)(q - first.p)));
    (void)snprintf(name, sizeof(name), "%.*s", SLICE_ARGS(slice_head(words, 60)));
    near = schema_nearest(walk_group(w), name);
    set_key(w, words, w->line);
    walk_say(w, w->line, "a key is one word; %s%s%s",
             near != NULL ? "did you mean \"" : "remove the other",
             near != NULL ? near : "", near != NULL ? "\"?" : "");
    w->p = q + 1;
    return true;
}

static enum walk_state say_no_value(struct walk *w)
{
    char form[SCHEMA_FORM_MAX];

    schema_form(w->key, "VALUE", form);
    walk_say(w, w->key_line, "the key has no value; write %s, or remove the line",
             form);
    return WALK_AFTER;
}

/* State after a key. */
static enum walk_state after_name(struct walk *w, struct slice name, unsigned line)
{
    char c = '\0';

    set_key(w, name, line);
    if (w->p < w->end && *w->p == '.') {
        return take_dotted(w, name);
    }
    walk_skip(w);
    c = (char)(w->p < w->end ? *w->p : '\0');
    if (is_equals(w)) {
        remember(w, name, line);
        w->p++;
        return WALK_VALUE;
    }
    if (c != '\0' && strchr("{([", c) != NULL) {
        walk_say(w, line, "the = is missing; write %s = %c ... %c;", w->key, c,
                 closing(c));
        return WALK_VALUE;
    }
    if (c != '\0' && strchr("+-?.|", c) != NULL && w->end - w->p >= 2 &&
        w->p[1] == '=') {
        walk_say(w, line, "%c= is not known; write %s = ...;", c, w->key);
        w->p += 2;
        return WALK_VALUE;
    }
    if (w->line != line || c == '\0' || strchr(";,})]", c) != NULL) {
        return say_no_value(w);
    }
    if (walk_is_name_start(c) && take_words(w, name)) {
        return WALK_VALUE;
    }
    walk_say(w, line, "the = is missing; write %s = VALUE;", w->key);
    return WALK_VALUE;
}

/* "key" = ... */
static enum walk_state take_quoted_key(struct walk *w)
{
    const char *start = w->p + 1;
    const char *close = memchr(start, *w->p, (size_t)(w->end - start));
    struct slice name;

    w->key[0] = '\0';
    if (close != NULL) {
        name = slice_of(start, (size_t)(close - start));
        w->p = close + 1;
        walk_skip(w);
        if (name.n < 60 && is_equals(w)) {
            set_key(w, name, w->line);
            walk_say(w, w->line, "write the key without quotes: %s = ...;", w->key);
            w->p++;
            return WALK_VALUE;
        }
    }
    walk_say(
        w, w->line,
        "a text stands here without a key; write KEY = \"...\"; or look for a missing "
        "comma or quote before it");
    return WALK_STOP;
}

/* A bracket where a key should be. */
static enum walk_state say_nameless(struct walk *w)
{
    const char *p = w->p + 1;
    char form[SCHEMA_FORM_MAX];
    char name[WALK_KEY_MAX];
    size_t n = 0;

    w->key[0] = '\0';
    while (p + n < w->end && walk_is_name(p[n]) && n < 60) {
        n++;
    }
    (void)snprintf(name, sizeof(name), "%.*s", (int)n, p);
    if (*w->p == '[' && n > 0 && p + n < w->end && p[n] == ']') {
        schema_form(name, "...", form);
        walk_say(w, w->line, "%s: a group is not written in [ ]; write %s", name, form);
    } else {
        walk_say(
            w, w->line,
            "a bracket without a key; write KEY = %c ... %c;, and no brackets around "
            "the whole file",
            *w->p, closing(*w->p));
    }
    return WALK_STOP;
}

/* Something that cannot begin a key. */
static enum walk_state say_stray(struct walk *w)
{
    const char *eol = memchr(w->p, '\n', (size_t)(w->end - w->p));
    struct slice rest = slice_of(w->p, (size_t)((eol != NULL ? eol : w->end) - w->p));
    size_t n = 0;

    if (*w->p == ';' || *w->p == ',') {
        struct slice more = slice_trim(slice_from(rest, 1));

        if (more.n == 0 || slice_find_slice(more, SLICE_LIT("=")) < more.n) {
            walk_say(w, w->line, "one %c too many; write it once", *w->p);
            w->p++;
        } else {
            w->key[0] = '\0';
            walk_say(w, w->line, "\"%.*s\" is not a comment; a comment begins with #",
                     SLICE_ARGS(slice_head(rest, 40)));
            w->p += rest.n;
        }
        return WALK_KEY;
    }
    while (n < rest.n && n < 40 && (unsigned char)rest.p[n] >= 0x20 &&
           (unsigned char)rest.p[n] < 0x7f) {
        n++;
    }
    w->key[0] = '\0';
    walk_say(
        w, w->line,
        "\"%.*s\" cannot begin a key; write KEY = VALUE; (a key begins with a letter, a "
        "comment with #)",
        SLICE_ARGS(slice_head(rest, n)));
    return WALK_STOP;
}

static enum walk_state take_key(struct walk *w)
{
    unsigned line = w->line;

    if (w->p == w->end) {
        return w->depth > 0 ? say_unclosed(w) : WALK_STOP;
    }
    if (strchr("})]", *w->p) != NULL && *w->p != '\0') {
        return close_level(w);
    }
    if (walk_is_name_start(*w->p)) {
        return after_name(w, take_name(w), line);
    }
    if (*w->p == '"' || *w->p == '\'') {
        return take_quoted_key(w);
    }
    return *w->p != '\0' && strchr("{([", *w->p) != NULL ? say_nameless(w)
                                                         : say_stray(w);
}

/* ---- values ---- */

static enum walk_state take_right_value(struct walk *w)
{
    struct walk_level *l = &w->levels[w->depth];
    bool is_element = l->open == '(' || l->open == '[';
    char c = (char)(w->p < w->end ? *w->p : '\0');

    if (c != '\0' && strchr("})]", c) != NULL && is_element) {
        return close_level(w);
    }
    if (c == '\0' || strchr(";,})]", c) != NULL) {
        if (is_element && c == ',') {
            walk_say(w, w->line, "one comma too many; write it once");
            w->p++;
            return WALK_VALUE;
        }
        return w->p == w->end && is_element ? say_unclosed(w) : say_no_value(w);
    }
    l->is_after_comma = false;
    if (c == '[' && !is_element && schema_family(w->key) != NULL) {
        push_level(w);
        walk_skip(w);
        if (w->p < w->end && *w->p == '{') {
            char form[SCHEMA_FORM_MAX];

            schema_form(w->key, "...", form);
            walk_say(w, w->line, "groups stand in ( ), not in [ ]; write %s", form);
            w->levels[w->depth].open = '(';
            w->levels[w->depth].is_mistaken = true;
        }
        return WALK_VALUE;
    }
    if (strchr("{([", c) != NULL) {
        if (l->open == '[') {
            walk_say(
                w, w->line,
                "an array [ ] holds plain values only; write ( ... ) around groups");
            l->open = '(';
            l->is_mistaken = true;
        }
        push_level(w);
        return c == '{' ? WALK_KEY : WALK_VALUE;
    }
    return walk_value(w);
}

static enum walk_state after_element(struct walk *w)
{
    struct walk_level *l = &w->levels[w->depth];

    if (w->p == w->end) {
        return say_unclosed(w);
    }
    if (*w->p == ',' || *w->p == ';') {
        if (*w->p == ';') {
            walk_say(w, w->line,
                     "a ; stands between elements; write a comma, and close with %c",
                     closing(l->open));
        }
        l->is_after_comma = *w->p == ',';
        w->p++;
        return WALK_VALUE;
    }
    if (*w->p != '\0' && strchr("})]", *w->p) != NULL) {
        return close_level(w);
    }
    walk_say(w, w->line,
             "a comma is missing between two elements; write one before this");
    return WALK_VALUE;
}

static enum walk_state after_value(struct walk *w)
{
    char open = w->levels[w->depth].open;

    if (open == '(' || open == '[') {
        return after_element(w);
    }
    if (w->p < w->end && (*w->p == ';' || *w->p == ',')) {
        w->p++;
        return WALK_KEY;
    }
    if (w->p == w->end || walk_is_name_start(*w->p) || strchr("})]", *w->p) != NULL) {
        return WALK_KEY;
    }
    if (*w->p != ';' && *w->p != '"' && strchr("{([", *w->p) == NULL) {
        return say_stray(w);
    }
    walk_say(w, w->line,
             "a second value stands behind the first; write a ; between settings, "
             "and several values as [ \"one\", \"two\" ]");
    return WALK_VALUE;
}

/* ---- keys that stand twice ---- */

static int by_scope(const void *a, const void *b)
{
    const struct walk_seen *x = a;
    const struct walk_seen *y = b;
    size_t n = x->name.n < y->name.n ? x->name.n : y->name.n;
    int order = x->scope != y->scope ? (x->scope < y->scope ? -1 : 1)
                                     : memcmp(x->name.p, y->name.p, n);

    if (order == 0) {
        order = (x->name.n > y->name.n) - (x->name.n < y->name.n);
    }
    return order != 0 ? order : (x->name.p > y->name.p) - (x->name.p < y->name.p);
}

static void say_twice(struct walk *w)
{
    char name[WALK_KEY_MAX];

    w->depth = 0;
    w->key[0] = '\0';
    qsort(w->seen, w->nseen, sizeof(*w->seen), by_scope);
    for (size_t i = 1; i < w->nseen; i++) {
        const struct walk_seen *a = &w->seen[i - 1];
        const struct walk_seen *b = &w->seen[i];

        if (a->scope != b->scope || !slice_eq(a->name, b->name)) {
            continue;
        }
        (void)snprintf(name, sizeof(name), "%.*s", SLICE_ARGS(slice_head(b->name, 60)));
        walk_say(w, b->line, "%s%s%s: stands in line %u already (duplicate); %s",
                 b->group, *b->group != '\0' ? "." : "", name, a->line,
                 *b->group == '\0' &&
                         (schema_is_group(name) || schema_family(name) != NULL)
                     ? "put the settings of both into one, each key once"
                     : "keep one of the two lines");
    }
}

size_t mistake_find(struct slice text, scan_finding_fn *on_finding, void *context)
{
    struct walk w = {.p = text.p,
                     .end = text.p + text.n,
                     .line = 1,
                     .on_finding = on_finding,
                     .context = context};
    enum walk_state state = WALK_KEY;

    w.seen = calloc(SCAN_SETTINGS_MAX, sizeof(*w.seen));
    while (state != WALK_STOP) {
        walk_skip(&w);
        state = state == WALK_KEY     ? take_key(&w)
                : state == WALK_VALUE ? take_right_value(&w)
                                      : after_value(&w);
        if (w.nfound >= MISTAKES_MAX) {
            break;
        }
    }
    if (w.seen != NULL && w.nseen > 0) {
        say_twice(&w);
    }
    free(w.seen);
    return w.nfound;
}
