/*
 * fold_table - class and folded text of each character outside ASCII.
 *
 * Pages of 128 characters are made at first use, 60 us each, with the data within ICU's libraries:
 * no file is opened. Characters newer than Unicode 14 are unassigned. A unit test compares all
 * classes and texts with a checksum, because fingerprints depend on them (ADR 0015).
 * Threads: safe.   Allocates: nothing.
 * Source: Unicode (NFKC with case folding, categories); UTS 39 by fold_look.def.
 */
#ifndef CORE_MESSAGE_TEXT_FOLD_TABLE_H
#define CORE_MESSAGE_TEXT_FOLD_TABLE_H

#include "core/base/slice.h"

enum {
    FOLD_CLASS_LETTER,
    FOLD_CLASS_BREAK,
    FOLD_CLASS_DROP,
    FOLD_CLASS_ALONE, /* a word by itself */
    FOLD_CLASSES      /* from here on: it becomes fold_table_text() */
};

unsigned fold_table_class(uint32_t point);
/* Folded text of a class from FOLD_CLASSES on that fold_table_class returned. */
struct slice fold_table_text(unsigned class);

/* Letters drawn for show: small capitals, circled, squared and mathematical ones. */
bool fold_table_is_styled(uint32_t point);
/* Letters that Latin text has no use for. */
bool fold_table_is_other_script(uint32_t point);
bool fold_table_is_zero_width(uint32_t point);

#endif
