/*
 * charset - bytes in a charset named by a message -> UTF-8 (ICU), with a fast path for ASCII
 * and valid UTF-8. Unknown or lying names: windows-1252 of what is no UTF-8, and *retknown
 * false. Never fails on content. Threads: any (converters are opened per call and cached by ICU).
 * Allocates: from the arena only when something had to be changed; otherwise input is returned.
 */
#ifndef CORE_TEXT_CHARSET_H
#define CORE_TEXT_CHARSET_H

#include <stdbool.h>

#include "core/base/arena.h"
#include "core/base/slice.h"

/* retknown may be NULL. Result {NULL,0} only when the arena is full. */
struct slice charset_to_utf8(struct arena *arena, struct slice charset,
                             struct slice bytes, bool *retknown);
bool charset_is_ascii(struct slice bytes);
bool charset_is_utf8(struct slice bytes);

#endif
