/*
 * find_mark - one character of running text, as core/message/url/find looks at it.
 *
 * Depends: ICU for the classes of letters. Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_MESSAGE_URL_FIND_MARK_H
#define CORE_MESSAGE_URL_FIND_MARK_H

#include "core/base/slice.h"
#include "core/message/text/ascii.h"

enum mark_kind {
    MARK_END,    /* end of text, white space, control, <, >, quote, wide punctuation */
    MARK_ASCII,  /* any other ASCII character but the dot and @ */
    MARK_DOT,    /* a dot, wide or defanged ones as well */
    MARK_AT,     /* "@", or defanged */
    MARK_LETTER, /* beyond ASCII, of a script with spaces between words */
    MARK_DENSE,  /* beyond ASCII, of a script without: Han, kana, Hangul, Thai */
    MARK_HIDDEN, /* zero-width, bidi control, soft hyphen */
    MARK_OTHER   /* symbols, broken UTF-8 */
};

enum {
    MARK_AFTER = 0x10, /* what follows this byte decides: opening brackets, the blank */
    MARK_BEFORE = 0x20, /* what stands before it decides: closing ones, the blank */
    MARK_WIDE = 0x40,   /* no ASCII */
    MARK_KIND = 0x0f
};
/* The kind of each byte and the bits above; for mark_at and mark_before. */
extern const unsigned char mark_bytes[256];

struct mark {
    enum mark_kind kind;
    size_t n;         /* bytes it takes; 0 at the end of text */
    char c;           /* MARK_ASCII; the first byte otherwise */
    bool is_defanged; /* "[.]", "(dot)", "[at]" */
    bool is_wide;     /* a dot beyond ASCII */
};

/* The character at i. A blank belongs to a defanged dot or @ when there is one on both sides. */
struct mark mark_at_slowly(struct slice text, size_t i);
static inline struct mark mark_at(struct slice text, size_t i)
{
    if (i < text.n) {
        char c = text.p[i];
        unsigned char bits = mark_bytes[(unsigned char)c];

        if ((bits & (MARK_AFTER | MARK_WIDE)) == 0) {
            return (struct mark){
                .kind = (enum mark_kind)(bits & MARK_KIND), .n = 1, .c = c};
        }
    }
    return mark_at_slowly(text, i);
}

/* The character that ends before i; nothing before from is looked at. */
struct mark mark_before_slowly(struct slice text, size_t from, size_t i);
static inline struct mark mark_before(struct slice text, size_t from, size_t i)
{
    if (i > from) {
        char c = text.p[i - 1];
        unsigned char bits = mark_bytes[(unsigned char)c];

        if ((bits & (MARK_BEFORE | MARK_WIDE)) == 0) {
            return (struct mark){
                .kind = (enum mark_kind)(bits & MARK_KIND), .n = 1, .c = c};
        }
    }
    return mark_before_slowly(text, from, i);
}

/* ASCII letter or digit, or a letter beyond ASCII. */
static inline bool mark_is_word(const struct mark *m)
{
    return m->kind == MARK_LETTER || m->kind == MARK_DENSE ||
           (m->kind == MARK_ASCII && ASCII_IS(m->c, ASCII_ALPHA | ASCII_DIGIT));
}

#endif
