/*
 * fold_table - characters outside ASCII: what each is in a word, and what it is folded to.
 *
 * Threads: pure.   Allocates: nothing.
 * Source: fold.def, which contrib/gen-fold makes.
 */
#ifndef CORE_MESSAGE_TEXT_FOLD_TABLE_H
#define CORE_MESSAGE_TEXT_FOLD_TABLE_H

#include "core/base/slice.h"

enum { /* those of contrib/gen-fold */
       FOLD_CLASS_LETTER,
       FOLD_CLASS_BREAK,
       FOLD_CLASS_DROP,
       FOLD_CLASS_ALONE, /* a word by itself */
       FOLD_CLASSES      /* from here on: it becomes fold_table_text() */
};

/* Length of the UTF-8 sequence that text begins with and its code point; 0: there is none. */
size_t fold_table_decode(struct slice text, uint32_t *retpoint);
unsigned fold_table_class(uint32_t point);
/* The text of a class from FOLD_CLASSES on, folded itself. */
struct slice fold_table_text(unsigned class);

/* Letters drawn for show: small capitals, circled, squared and mathematical ones. */
bool fold_table_is_styled(uint32_t point);
/* Letters that Latin text has no use for. */
bool fold_table_is_other_script(uint32_t point);
bool fold_table_is_zero_width(uint32_t point);

#endif
