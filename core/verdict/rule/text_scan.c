/* text_scan - the text of a message, piece by piece, through the streaming database. */
#include "core/base/uninitialized.h"
#include "core/verdict/rule/rule_internal.h"

enum {
    HELD = 4096, /* bytes that are scanned at once */
    CHARACTER_MAX = 4
};

struct rule_text {
    struct ruleset *set;
    struct pattern_stream *stream; /* NULL: not begun, ended, or no memory */
    bool is_failed;
    bool is_space; /* the last character was one, or there is none yet */
    size_t n;
    char held[HELD + CHARACTER_MAX];
    uint64_t found[]; /* a bit for each atom */
};

static void on_found(void *context, uint32_t id, bool given_up)
{
    struct rule_text *t = context;

    (void)given_up;
    t->found[id / 64] |= UINT64_C(1) << id % 64;
}

/* Up to the last whole character when more follows. */
static void scan(struct rule_text *t, struct work *w)
{
    char clean[3 * (HELD + CHARACTER_MAX)] UNINITIALIZED;
    struct slice bytes = slice_of(t->held, t->n);

    if (!pattern_is_clean(bytes)) {
        bytes = slice_of(clean, pattern_clean(bytes, clean));
    }
    pattern_stream_add(t->stream, w->patterns, bytes, on_found, t);
    t->n = 0;
}

/* False: there is no memory; conditions on the text are undecided then. */
static bool flush(struct rule_text *t)
{
    struct work *w = NULL;

    if (t->stream == NULL && !t->is_failed) {
        t->stream = pattern_stream_new(t->set->text);
    }
    w = t->stream != NULL ? work_take(t->set) : NULL;
    t->is_failed = t->is_failed || w == NULL;
    if (w != NULL) {
        scan(t, w);
        work_give(t->set, w);
    }
    return w != NULL;
}

static bool is_white(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* A piece ends between characters and between lines: so does what is held. */
static void on_text(void *context, struct slice piece)
{
    struct rule_text *t = context;

    for (size_t i = 0; i <= piece.n && !t->is_failed; i++) {
        char c = ' ';

        if (i < piece.n) { /* else the end of a line or block */
            c = piece.p[i];
        }
        if (is_white(c)) {
            if (t->is_space) {
                continue;
            }
            c = ' ';
        }
        t->is_space = c == ' ';
        if (t->n >= HELD && ((unsigned char)c & 0xc0) != 0x80) {
            (void)flush(t);
        } else if (t->n == sizeof(t->held)) { /* no text, if it never begins one */
            (void)flush(t);
        }
        t->held[t->n++] = c;
    }
}

static void on_text_end(void *context)
{
    struct rule_text *t = context;
    struct work *w = NULL;

    if (t->n > 0 && !t->is_failed) {
        (void)flush(t);
    }
    if (t->stream != NULL) {
        w = work_take(t->set);
        pattern_stream_end(&t->stream, w != NULL ? w->patterns : NULL, on_found, t);
        if (w != NULL) {
            work_give(t->set, w);
        }
    }
}

struct rule_text *rule_text_new(const struct ruleset *s, struct arena *arena,
                                struct extract_limits *limits)
{
    struct rule_text *t = NULL;

    limits->on_text = NULL;
    if (s == NULL || s->text == NULL) {
        return NULL;
    }
    t = arena_alloc(arena, sizeof(*t) + (s->natoms / 64 + 1) * sizeof(t->found[0]));
    if (t != NULL) {
        t->set = s->config->ruleset;
        t->is_space = true;
        limits->on_text = on_text;
        limits->on_text_end = on_text_end;
        limits->text_context = t;
    }
    return t;
}

enum truth rule_text_state(const struct rule_text *t, uint32_t atom)
{
    if (t != NULL && (t->found[atom / 64] >> atom % 64 & 1) != 0) {
        return IS_TRUE;
    }
    return t == NULL || t->is_failed ? IS_UNDECIDED : IS_FALSE;
}
