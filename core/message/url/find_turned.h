/*
 * find_turned - visible order of text that a bidirectional override (U+202E) turns round.
 *
 * "\u202Emoc.live" is stored backwards and shown as "evil.com". The callback receives each stretch
 * of text with such an override, in visible order and without its controls. A long line comes in
 * windows that overlap. The callback receives no other text.
 * Source: Unicode Standard Annex 9, through ICU; paragraphs are taken as left to right.
 * Linear. Threads: any.   Allocates: ICU's memory, while it runs, and only for such text.
 */
#ifndef CORE_MESSAGE_URL_FIND_TURNED_H
#define CORE_MESSAGE_URL_FIND_TURNED_H

#include "core/base/slice.h"

/* shown is valid during the call; raw is the same stretch of text as stored. */
typedef void find_turned_fn(void *context, struct slice shown, struct slice raw);

void find_turned_text(struct slice text, find_turned_fn *on_text, void *context);

#endif
