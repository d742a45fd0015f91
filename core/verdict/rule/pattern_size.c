#include "core/verdict/rule/pattern_size.h"

enum { WIDE = 4, PROPERTY = 80, DEPTH_MAX = 64 };

/* An open group, or the whole pattern. */
struct level {
    unsigned done; /* before the last item */
    unsigned last; /* what a repeat applies to */
};

struct measure {
    struct slice rest;
    size_t depth;
    unsigned narrow; /* items of size 1 as written, which count nothing */
    struct level levels[DEPTH_MAX];
};

static unsigned bound_size(uint64_t n)
{
    return n < PATTERN_SIZE_BEYOND ? (unsigned)n : PATTERN_SIZE_BEYOND;
}

static char next_char(struct measure *m)
{
    char c = '\0';

    if (m->rest.n > 0) {
        c = *m->rest.p;
        m->rest = slice_from(m->rest, 1);
    }
    return c;
}

static void add_item(struct measure *m, unsigned size)
{
    struct level *l = &m->levels[m->depth];

    l->done = bound_size((uint64_t)l->done + l->last);
    l->last = size;
    m->narrow += size == 1;
}

static unsigned of_escape(char c)
{
    return c == 'p' || c == 'P' || c == 'X'                           ? PROPERTY
           : c == 'W' || c == 'D' || c == 'S' || c == 'N' || c == 'R' ? WIDE
                                                                      : 1;
}

/* A class, behind its bracket. */
static unsigned of_class(struct measure *m)
{
    bool is_first = true;
    unsigned size = 1;

    if (m->rest.n > 0 && *m->rest.p == '^') {
        size = WIDE;
        (void)next_char(m);
    }
    for (; m->rest.n > 0; is_first = false) {
        char c = next_char(m);
        unsigned part = (unsigned char)c >= 0x80 ? WIDE : 1;

        if (c == ']' && !is_first) {
            return size;
        }
        if (c == '\\') {
            part = of_escape(next_char(m));
            part = m->rest.n > 0 && *m->rest.p == '{' && part < WIDE ? WIDE : part;
        }
        size = part > size ? part : size;
    }
    return size;
}

static unsigned number(struct slice *s)
{
    unsigned n = 0;

    for (; s->n > 0 && *s->p >= '0' && *s->p <= '9'; *s = slice_from(*s, 1)) {
        n = bound_size((uint64_t)n * 10 + (unsigned)(*s->p - '0'));
    }
    return n;
}

/* Behind a brace, which is a character where no repeat follows. */
static void repeat_last(struct measure *m)
{
    struct level *l = &m->levels[m->depth];
    struct slice s = m->rest;
    unsigned least = number(&s);
    unsigned most = least;

    if (s.p == m->rest.p) {
        add_item(m, 1);
        return;
    }
    if (s.n > 0 && *s.p == ',') {
        const char *begin = (s = slice_from(s, 1)).p;

        most = number(&s);
        most = s.p == begin ? least + 1 : most;
    }
    if (s.n > 0 && *s.p == '}') {
        m->rest = slice_from(s, 1);
        l->last = bound_size((uint64_t)l->last * (most > 0 ? most : 1));
    } else {
        add_item(m, 1);
    }
}

/* \Q...\E: characters. */
static void add_quoted(struct measure *m)
{
    while (m->rest.n > 0 && !slice_has_prefix(m->rest, SLICE_LIT("\\E"))) {
        add_item(m, 1);
        (void)next_char(m);
    }
    m->rest = slice_from(m->rest, m->rest.n > 0 ? 2 : 0);
}

static void add_escape(struct measure *m)
{
    char c = next_char(m);
    const char *end = NULL;

    if (c == 'Q') {
        add_quoted(m);
        return;
    }
    add_item(m, of_escape(c));
    if (strchr("pPxo", c) != NULL && m->rest.n > 0 && *m->rest.p == '{') {
        end = memchr(m->rest.p, '}', m->rest.n);
        m->rest = slice_from(m->rest,
                             end != NULL ? (size_t)(end - m->rest.p) + 1 : m->rest.n);
    }
}

static unsigned size_of_level(const struct level *l)
{
    return bound_size((uint64_t)l->done + l->last);
}

static void close_group(struct measure *m)
{
    unsigned size = size_of_level(&m->levels[m->depth--]);
    unsigned narrow = m->narrow;

    add_item(m, size);
    m->narrow = narrow;
}

unsigned pattern_size(struct slice text)
{
    struct measure m = {.rest = text};

    while (m.rest.n > 0) {
        char c = next_char(&m);

        if (c == '(' && m.depth + 1 == DEPTH_MAX) {
            return PATTERN_SIZE_BEYOND;
        }
        if (c == '(') {
            m.levels[++m.depth] = (struct level){0, 0};
        } else if (c == ')' && m.depth > 0) {
            close_group(&m);
        } else if (c == '{') {
            repeat_last(&m);
        } else if (c == '\\') {
            add_escape(&m);
        } else if (strchr("*+?|^$", c) == NULL) {
            add_item(&m, c == '[' ? of_class(&m) : c == '.' ? WIDE : 1);
        }
    }
    while (m.depth > 0) {
        close_group(&m);
    }
    unsigned size = size_of_level(&m.levels[0]);
    return size < PATTERN_SIZE_BEYOND ? size - m.narrow : size;
}
