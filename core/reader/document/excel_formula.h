/*
 * excel_formula - texts in the formula of a cell: addresses of HYPERLINK(), commands.
 *
 * A formula is a list of tokens of a stack machine. Only texts are computed: constants,
 * CHAR() and the joining of texts; all other values are empty.
 * Threads: one object, one thread.   Allocates: its buffers.   Depends: base.
 * Source: MS-XLS 2.5.198.
 */
#ifndef CORE_READER_DOCUMENT_EXCEL_FORMULA_H
#define CORE_READER_DOCUMENT_EXCEL_FORMULA_H

#include "core/base/buf.h"

enum {
    FORMULA_STACK = 256,      /* values; a formula with more ends there */
    FORMULA_TEXT = 64 * 1024, /* bytes of all texts of a formula */
    FORMULA_LINKS = 8         /* calls of HYPERLINK() that are kept */
};

struct formula_value {
    size_t at; /* in text */
    size_t n;
};

struct formula {
    struct buf text; /* of all values */
    struct formula_value stack[FORMULA_STACK];
    size_t nstack;
    unsigned number; /* the last constant */
    struct formula_value link[FORMULA_LINKS];
    size_t nlinks;
    bool runs; /* it calls EXEC(), CALL() or REGISTER() */
};

void formula_init(struct formula *fm);
void formula_fini(struct formula *fm);
/* Computes the texts of the tokens; the former ones are forgotten. */
void formula_read(struct formula *fm, struct slice tokens);
struct slice formula_text(const struct formula *fm, struct formula_value value);

#endif
