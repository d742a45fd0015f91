/* fold_subject - a subject without what changes from message to message. */

#include "core/message/text/ascii.h"
#include "core/message/text/fold.h"

enum { PREFIXES_MAX = 32, PREFIX_LETTERS_MAX = 5 };

struct skeleton {
    char *p;
    size_t n;
    size_t cap;
};

static struct slice without_blanks(struct slice text)
{
    while (text.n > 0 && (unsigned char)text.p[0] <= ' ') {
        text = slice_from(text, 1);
    }
    return text;
}

static bool is_prefix_word(struct slice word)
{
    static const char *const words[] = {"re",  "fw",   "fwd", "aw", "wg",  "sv",
                                        "vs",  "antw", "tr",  "rv", "enc", "odp",
                                        "ref", "res",  "vl",  "ynt"};
    for (size_t i = 0; i < LENGTH(words); i++) {
        if (slice_eq_nocase(word, slice_str(words[i]))) {
            return true;
        }
    }
    return false;
}

/* Of "[2]", "^2", "(2)". */
static bool is_count(char c)
{
    return ASCII_IS(c, ASCII_DIGIT | ASCII_SPACE) || c == '[' || c == ']' || c == '(' ||
           c == ')' || c == '^';
}

/* "Re:", "RE[2]:", "Fwd :" at the beginning; its length or 0. */
static size_t prefix_length(struct slice text)
{
    size_t n = 0;
    while (n < text.n && n < PREFIX_LETTERS_MAX && ASCII_IS(text.p[n], ASCII_ALPHA)) {
        n++;
    }
    if (!is_prefix_word(slice_head(text, n))) {
        return 0;
    }
    while (n < text.n && is_count(text.p[n])) {
        n++;
    }
    return n < text.n && text.p[n] == ':' ? n + 1 : 0;
}

static void on_word(void *context, const struct fold_word *word)
{
    struct skeleton *s = context;
    struct slice text = fold_skeleton(word);
    if (s->n + 1 + text.n > s->cap) {
        return; /* cannot be: see fold_subject */
    }
    if (s->n > 0) {
        s->p[s->n++] = ' ';
    }
    memcpy(s->p + s->n, text.p, text.n);
    s->n += text.n;
}

struct slice fold_subject(struct arena *arena, struct slice text)
{
    /* Two bytes become at most eleven, each a word of its own with a space before it. */
    struct skeleton s = {.cap = 11 * text.n + FOLD_WORD_MAX};
    struct fold fold;

    text = without_blanks(text);
    for (unsigned i = 0; i < PREFIXES_MAX; i++) {
        size_t n = prefix_length(text);
        if (n == 0) {
            break;
        }
        text = without_blanks(slice_from(text, n));
    }
    s.p = arena_bytes(arena, s.cap);
    if (s.p == NULL) {
        return SLICE_NONE;
    }
    fold_init(&fold, on_word, &s);
    fold.is_subject = true;
    fold_feed(&fold, text);
    fold_break(&fold);
    return slice_of(s.p, s.n);
}
