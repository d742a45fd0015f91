/* text_scan - the text of a message, piece by piece, through the streaming database. */
#include "core/base/uninitialized.h"
#include "core/verdict/rule/rule_internal.h"

enum {
    HELD = RULE_TEXT_TOP, /* bytes that are scanned at once */
    CHARACTER_MAX = 4
};

struct rule_text {
    struct ruleset *set;
    struct pattern_stream *stream; /* NULL: not begun, ended, or no memory */
    bool is_failed;
    bool is_below_top;
    bool is_space; /* the last character was one, or there is none yet */
    size_t n;
    char held[HELD + CHARACTER_MAX];
    uint64_t found[]; /* a bit for each atom */
};

static void on_found(void *context, uint32_t id, bool given_up)
{
    struct rule_text *t = context;

    (void)given_up;
    if (t->is_below_top && t->set->atoms[id].from->is_at_top) {
        return;
    }
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
    t->is_below_top = true;
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

/* Adds the printable ASCII that the piece begins with, as far as there is room; most text is that.
 * Returns its length. */
static size_t add_printable(struct rule_text *t, struct slice piece)
{
    size_t room = t->n < HELD ? HELD - t->n : 0;
    size_t most = piece.n < room ? piece.n : room;
    size_t n = 0;
    char *to = t->held + t->n;

    while (n < most &&
           piece.p[n] > ' ') { /* bytes from 0x80 on are negative, or above */
        if ((unsigned char)piece.p[n] >= 0x80) {
            break;
        }
        to[n] = piece.p[n];
        n++;
    }
    t->n += n;
    t->is_space = t->is_space && n == 0;
    return n;
}

/* A piece ends between characters and between lines: so does what is held. */
static void scan_piece(void *context, struct slice piece)
{
    struct rule_text *t = context;

    while (piece.n > 0 && !t->is_failed) {
        size_t run = add_printable(t, piece);
        size_t white = 0;

        piece = slice_from(piece, run);
        if (piece.n == 0) {
            break;
        }
        white = white_length(piece);

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

static void end_scan(void *context)
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

/* Each part has its top, and a stream of its own, which tells the first match of a pattern: of two
 * alternatives a reader sees one. */
static void begin_part(void *context)
{
    struct rule_text *t = context;

    end_scan(t);
    t->is_below_top = false;
    t->is_space = true;
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
        limits->on_text = scan_piece;
        limits->on_text_part = begin_part;
        limits->on_text_end = end_scan;
        limits->text_context = t;
    }
    return t;
}

void rule_text_report(const struct rule_text *t, const struct ruleset *s,
                      struct work *w, evidence_fn *on_true, void *context)
{
    bool is_open = s->text != NULL && (t == NULL || t->is_failed);

    for (uint32_t i = 0; is_open && i < s->natoms; i++) {
        if (s->atoms[i].kind == CONDITION_TEXT) {
            w->state[i] = IS_UNDECIDED;
        }
    }
    for (size_t word = 0; t != NULL && word * 64 < s->natoms; word++) {
        for (uint64_t left = t->found[word]; left != 0; left &= left - 1) {
            uint32_t atom = (uint32_t)(word * 64) + (uint32_t)__builtin_ctzll(left);

            w->state[atom] = IS_TRUE;
            on_true(context, atom);
        }
    }
}
