/*
 * markup - text as text of HTML or XML, also between quotes.
 *
 * Threads: pure.
 */
#ifndef CORE_BASE_MARKUP_H
#define CORE_BASE_MARKUP_H

#include "core/base/buf.h"

/* Appends the bytes; those that begin or end markup, or a value, as references. */
void markup_add(struct buf *b, struct slice text);

#endif
