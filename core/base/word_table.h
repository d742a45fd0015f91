/*
 * word_table - look-up of words in a table of text rows: {"abc def!", "ghi=text jkl"}.
 *
 * A blank ends a word, '=' or '!' its key. The keys are sorted by their bytes, over all rows.
 * Depends: slice.   Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_BASE_WORD_TABLE_H
#define CORE_BASE_WORD_TABLE_H

#include "core/base/slice.h"

struct word {
    struct slice key;
    char mark;         /* '=' or '!'; '\0': a key alone */
    struct slice text; /* behind the mark */
};

/* A row of a table from a string literal. */
#define WORD_ROW(literal)               \
    {                                   \
        "" literal, sizeof(literal) - 1 \
    }

/* Cuts the first word from *row. False: the row is empty. */
bool word_cut(struct slice *row, struct word *ret);
/* False: no row has the key. */
bool word_find(const struct slice *rows, size_t n, struct slice key, struct word *ret);

#endif
