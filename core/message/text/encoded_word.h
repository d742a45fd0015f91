/*
 * encoded_word - RFC 2047: "=?utf-8?q?caf=C3=A9?=" -> UTF-8. Adjacent words are joined before
 * charset conversion when charset and encoding are equal (mailers split characters); raw 8-bit
 * text is taken as UTF-8 or windows-1252. Lenient, linear. Threads: any.
 * Allocates: from the arena, nothing when there is nothing to decode.
 */
#ifndef CORE_MESSAGE_TEXT_ENCODED_WORD_H
#define CORE_MESSAGE_TEXT_ENCODED_WORD_H

#include "core/base/arena.h"
#include "core/base/slice.h"

struct slice encoded_word_decode(struct arena *arena, struct slice field);

#endif
