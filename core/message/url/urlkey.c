/* urlkey - each key in one pass over the canonical form; most URLs are their own. */
#include "core/message/url/urlkey.h"

#include "core/message/text/ascii.h"

enum { ESCAPE_BYTES = 3, NAME_MAX_BYTES = 32 };

struct tracking {
    struct slice name;
    bool is_prefix;
};

static const struct tracking trackings[] = {
#define TRACKING(name)        {{name, sizeof(name) - 1}, false},
#define TRACKING_PREFIX(name) {{name, sizeof(name) - 1}, true},
#include "core/message/url/tracking.def"
#undef TRACKING
#undef TRACKING_PREFIX
};

bool urlkey_is_tracking(struct slice parameter_name)
{
    size_t low = 0;
    size_t high = LENGTH(trackings);
    char bytes[NAME_MAX_BYTES];
    struct slice name = slice_head(parameter_name, NAME_MAX_BYTES);
    size_t i = 0;

    for (i = 0; i < name.n; i++) {
        bytes[i] = ASCII_LOWER(name.p[i]);
    }
    name = slice_of(bytes, name.n);
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct tracking *row = &trackings[middle];
        int order =
            slice_cmp(row->is_prefix ? slice_head(name, row->name.n) : name, row->name);

        if (order == 0) {
            return row->is_prefix || parameter_name.n == row->name.n;
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return false;
}

static bool is_tracking_pair(struct slice pair)
{
    return urlkey_is_tracking(slice_head(pair, slice_find(pair, '=')));
}

bool urlkey_has_tracking(struct slice query)
{
    while (query.p != NULL) {
        if (is_tracking_pair(slice_cut(&query, '&'))) {
            return true;
        }
    }
    return false;
}

struct slice urlkey_clean(struct arena *arena, struct slice url)
{
    size_t before = slice_find(url, '?') + 1;
    struct slice query = before < url.n ? slice_from(url, before) : SLICE_NONE;
    size_t n = before;
    char *p = NULL;

    if (!urlkey_has_tracking(query)) {
        return url;
    }
    p = arena_bytes(arena, url.n);
    if (p == NULL) {
        return SLICE_NONE;
    }
    memcpy(p, url.p, n);
    while (query.p != NULL) {
        struct slice pair = slice_cut(&query, '&');

        if (is_tracking_pair(pair)) {
            continue;
        }
        if (n > before) {
            p[n++] = '&';
        }
        if (pair.n > 0) {
            memcpy(p + n, pair.p, pair.n);
            n += pair.n;
        }
    }
    return slice_of(p,
                    n > before ? n : before - 1); /* the '?' goes with the last one */
}

static bool is_upper(char c)
{
    return c >= 'A' && c <= 'Z';
}

struct slice urlkey_folded(struct arena *arena, struct slice url)
{
    size_t i = slice_find(url, '/');
    size_t end = slice_find(url, '?');
    char *p = NULL;

    while (i < end && !is_upper(url.p[i])) {
        i += url.p[i] == '%' ? ESCAPE_BYTES : 1;
    }
    if (i >= end) {
        return url;
    }
    p = arena_bytes(arena, url.n);
    if (p == NULL) {
        return SLICE_NONE;
    }
    memcpy(p, url.p, url.n);
    while (i < end) {
        p[i] = ASCII_LOWER(p[i]);
        i += p[i] == '%' ? ESCAPE_BYTES : 1;
    }
    return slice_of(p, url.n);
}

/* A template as it grows: never longer than what it is made of. */
struct template
{
    char *p;
    size_t n;
    bool is_after_id; /* the last word became '*' */
};

static bool is_word_byte(char c)
{
    return ASCII_IS(c, ASCII_ALPHA | ASCII_DIGIT) || c == '%' ||
           (unsigned char)c >= 0x80;
}

/* The parts of a word without spaces and punctuation. */
struct word {
    size_t ndigits;
    size_t nletters; /* before the first digit */
    bool is_mixed;   /* letters after digits */
};

static struct word look_at(struct slice text)
{
    struct word word = {.ndigits = 0};
    size_t i = 0;

    for (i = 0; i < text.n; i++) {
        if (ASCII_IS(text.p[i], ASCII_DIGIT)) {
            word.ndigits++;
        } else if (word.ndigits == 0) {
            word.nletters++;
        } else {
            word.is_mixed = true;
        }
    }
    return word;
}

/* In lower case, each run of digits as one 0. */
static void add_plain(struct template *t, struct slice text)
{
    size_t i = 0;

    for (i = 0; i < text.n; i++) {
        bool is_digit = ASCII_IS(text.p[i], ASCII_DIGIT);

        if (!is_digit) {
            t->p[t->n++] = ASCII_LOWER(text.p[i]);
        } else if (i == 0 || !ASCII_IS(text.p[i - 1], ASCII_DIGIT)) {
            t->p[t->n++] = '0';
        } else {
            /* the same number */
        }
    }
}

/* separator: the byte before the word, '\0' at the beginning. */
static void add_word(struct template *t, char separator, struct slice text)
{
    struct word word = look_at(text);
    bool is_id = (word.is_mixed && text.n >= URLKEY_ID_MIN) || text.n > URLKEY_WORD_MAX;

    if (t->is_after_id && word.ndigits > 0 && (separator == '-' || separator == '_')) {
        t->n--; /* "5f3a-99c2": one identifier */
        return;
    }
    t->is_after_id = is_id;
    if (is_id) {
        t->p[t->n++] = '*';
    } else {
        add_plain(t, text);
    }
}

static void add_words(struct template *t, struct slice text)
{
    char separator = '\0';

    while (text.n > 0) {
        size_t n = 0;

        while (n < text.n && is_word_byte(text.p[n])) {
            n++;
        }
        if (n > 0) {
            add_word(t, separator, slice_head(text, n));
        } else {
            n = 1;
            separator = text.p[0];
            t->p[t->n++] = separator;
        }
        text = slice_from(text, n);
    }
    t->is_after_id = false;
}

static void add_query(struct template *t, struct slice query)
{
    t->p[t->n++] = '?';
    while (query.p != NULL) {
        struct slice pair = slice_cut(&query, '&');

        add_words(t, slice_head(pair, slice_find(pair, '=')));
        if (query.p != NULL) {
            t->p[t->n++] = '&';
        }
    }
}

struct slice urlkey_template(struct arena *arena, const struct url *url,
                             struct slice registrable)
{
    struct slice all = url->canonical;
    size_t from = (size_t)(url->path.p - all.p);
    size_t above = registrable.n > 0 ? url->host.text.n - registrable.n : 0;
    struct template t = {.p = arena_bytes(arena, all.n)};

    if (t.p == NULL) {
        return SLICE_NONE;
    }
    add_words(&t, slice_head(all, above));
    memcpy(t.p + t.n, all.p + above, from - above);
    t.n += from - above;
    add_words(&t, url->path);
    if (url->query.p != NULL) {
        add_query(&t, url->query);
    }
    return slice_eq(slice_of(t.p, t.n), all) ? all : slice_of(t.p, t.n);
}
