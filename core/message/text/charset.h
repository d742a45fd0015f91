/*
 * charset - bytes in a charset named by a message -> UTF-8 (ICU), with a fast path for ASCII and
 * valid UTF-8. With an unknown or wrong name, bytes that are not UTF-8 are windows-1252, and
 * *retknown is false. Never fails on content. Threads: any (converters are opened per call and
 * cached by ICU). Allocates: from the arena only when something had to be changed; otherwise input
 * is returned. A stream is on the heap.
 *
 * Files of the room in reading order: transfer (base64, quoted-printable), charset*, encoded_word,
 * unfold, enriched; fold*, ascii (letters that look alike); script* (strings of scripts).
 * To add a charset: a row in charset_name.c, and its bytes in tests/unit/text/test_charset.c.
 */
#ifndef CORE_MESSAGE_TEXT_CHARSET_H
#define CORE_MESSAGE_TEXT_CHARSET_H

#include "core/base/arena.h"
#include "core/base/slice.h"

/* retknown may be NULL. Result {NULL,0} only when the arena is full. */
struct slice charset_to_utf8(struct arena *arena, struct slice charset,
                             struct slice bytes, bool *retknown);
/* Code point of a windows-1252 byte; the holes are controls, as in browsers. */
uint32_t charset_western(unsigned char byte);
bool charset_is_ascii(struct slice bytes);
bool charset_is_utf8(struct slice bytes);

enum { CHARSET_STREAM_STEP = 4096 };

/* Returns the charset of a text by its beginning. A byte order mark wins over the name (*retmark:
 * its bytes, else 0). The mark of UTF-16 counts only if the head has a zero byte or the name has
 * wide units. Without a mark, a text with ASCII in units of two bytes is UTF-16 under any name, and
 * its zeros show the order. Other UTF-16 and UTF-32 without an order is little-endian unless the
 * zeros show big-endian. */
struct slice charset_by_head(struct slice charset, struct slice head, size_t *retmark);

/* Decodes text that comes in pieces cut anywhere, in a charset whose units a cut may break or whose
 * shifts go on over it. */
struct charset_stream;
/* NULL: no memory, or charset_to_utf8 can read the charset in pieces (ASCII, UTF-8, windows-1252,
 * unknown ones). Owned: charset_stream_free. */
struct charset_stream *charset_stream_new(struct slice charset);
/* Decodes from the beginning of *in into dst of CHARSET_STREAM_STEP bytes and moves *in behind the
 * bytes read; returns bytes written. Call it until *in is empty, and at the end of the text with
 * is_last until it returns 0. */
size_t charset_stream_feed(struct charset_stream *s, struct slice *in, bool is_last,
                           char *dst);
void charset_stream_free(struct charset_stream **s); /* accepts NULL */

#endif
