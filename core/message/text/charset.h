/*
 * charset - bytes in a charset named by a message -> UTF-8 (ICU), with a fast path for ASCII
 * and valid UTF-8. Unknown or lying names: windows-1252 of what is no UTF-8, and *retknown
 * false. Never fails on content. Threads: any (converters are opened per call and cached by ICU).
 * Allocates: from the arena only when something had to be changed; otherwise input is returned.
 * A stream is on the heap.
 */
#ifndef CORE_MESSAGE_TEXT_CHARSET_H
#define CORE_MESSAGE_TEXT_CHARSET_H

#include "core/base/arena.h"
#include "core/base/slice.h"

/* retknown may be NULL. Result {NULL,0} only when the arena is full. */
struct slice charset_to_utf8(struct arena *arena, struct slice charset,
                             struct slice bytes, bool *retknown);
bool charset_is_ascii(struct slice bytes);
bool charset_is_utf8(struct slice bytes);

enum { CHARSET_STREAM_STEP = 4096 };

/* What a text is in by its beginning: a byte order mark wins over the name (*retmark: its bytes,
 * else 0), that of UTF-16 only when the head has a zero byte or the name is of wide units. Without a
 * mark, text whose ASCII is in units of two bytes is UTF-16 in the order that its zeros show, whatever
 * the name says; other UTF-16 and UTF-32 that does not say its order is little-endian unless its
 * zeros show the other. */
struct slice charset_by_head(struct slice charset, struct slice head, size_t *retmark);

/* Decodes text that comes in pieces cut anywhere, in a charset whose units a cut may break or whose
 * shifts go on over it. */
struct charset_stream;
/* NULL: charset_to_utf8 reads the charset in pieces as well (ASCII, UTF-8, windows-1252, and what
 * is not known), or there is no memory. Owned: charset_stream_free. */
struct charset_stream *charset_stream_new(struct slice charset);
/* Decodes from the beginning of *in, which it moves on, into dst of CHARSET_STREAM_STEP bytes;
 * returns bytes written. To be called until *in is empty; at the end of the text with is_last,
 * until it returns 0. */
size_t charset_stream_feed(struct charset_stream *s, struct slice *in, bool is_last,
                           char *dst);
void charset_stream_free(struct charset_stream **s); /* accepts NULL */

#endif
