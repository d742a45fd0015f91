/*
 * find - URLs in running text: with a scheme, or beginning with www., as mail clients make them
 * clickable. Trailing punctuation and unbalanced closing brackets do not belong. Input is UTF-8.
 * Linear. Threads: any.   Allocates: nothing.
 */
#ifndef CORE_TEXT_FIND_H
#define CORE_TEXT_FIND_H

#include <stddef.h>

#include "core/base/slice.h"

typedef void find_url_fn(void *context, struct slice url);

/* Calls back for every URL in text, in order. */
void find_urls(struct slice text, find_url_fn *on_url, void *context);

#endif
