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

/* Bytes of the white space that s begins with; 0: none. No-break and other wide spaces are white
 * space, too. */
static size_t white_length(struct slice s)
{
    static const char *const wide[] = {"\xc2\xa0", "\xe2\x80\xaf", "\xe3\x80\x80"};
    unsigned char c = (unsigned char)s.p[0];

    if (c < 0x80) {
        return c == ' ' || (c >= '\t' && c <= '\r');
    }
    for (size_t i = 0; i < LENGTH(wide); i++) {
        if (slice_has_prefix(s, slice_str(wide[i]))) {
            return strlen(wide[i]);
        }
    }
    bool is_general = slice_has_prefix(s, SLICE_LIT("\xe2\x80")) && s.n > 2 &&
                      (unsigned char)s.p[2] >= 0x80 && (unsigned char)s.p[2] <= 0x8a;
    return is_general ? 3 : 0;
}

static void add_byte(struct rule_text *t, char c)
{
    bool is_begin = ((unsigned char)c & 0xc0) != 0x80; /* of a character */

    /* text whose characters never begin is none, and cut anywhere */
    if ((t->n >= HELD && is_begin) || t->n == sizeof(t->held)) {
        (void)flush(t);
    }
    t->held[t->n++] = c;
    t->is_space = c == ' ';
}

/* A piece ends between characters and between lines: so does what is held. */
static void on_text(void *context, struct slice piece)
{
    struct rule_text *t = context;

    while (piece.n > 0 && !t->is_failed) {
        size_t white = white_length(piece);

        if (white == 0) {
            add_byte(t, *piece.p);
        } else if (!t->is_space) {
            add_byte(t, ' ');
        }
        piece = slice_from(piece, white > 0 ? white : 1);
    }
    if (!t->is_space && !t->is_failed) {
        add_byte(t, ' '); /* the end of a line or block */
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
