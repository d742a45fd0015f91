/*
 * find_mark - one character of running text, as core/text/find looks at it.
 *
 * Depends: ICU for what a letter is. Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_TEXT_FIND_MARK_H
#define CORE_TEXT_FIND_MARK_H

#include <stdbool.h>
#include <stddef.h>

#include "core/base/slice.h"

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

struct mark {
    enum mark_kind kind;
    size_t n;         /* bytes it takes; 0 at the end of text */
    char c;           /* MARK_ASCII; the first byte otherwise */
    bool is_defanged; /* "[.]", "(dot)", "[at]" */
    bool is_wide;     /* a dot beyond ASCII */
};

/* The character at i. A blank belongs to a defanged dot or @ when there is one on both sides. */
struct mark mark_at(struct slice text, size_t i);
/* The character that ends before i; nothing before from is looked at. */
struct mark mark_before(struct slice text, size_t from, size_t i);

/* ASCII letter or digit, or a letter beyond ASCII. */
bool mark_is_word(const struct mark *m);

#endif
