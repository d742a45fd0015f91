/*
 * url_path - the steps of Safe Browsing's canonical form, for url.c and safebrowsing.c.
 *
 * Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_MESSAGE_URL_URL_PATH_H
#define CORE_MESSAGE_URL_URL_PATH_H

#include "core/base/slice.h"

/* Percent-decodes repeatedly, until no escape is left. backslash: the byte that replaces a '\\'
 * that was not escaped. dst holds text.n bytes. Returns the length. */
size_t url_decode_fully(struct slice text, char backslash, char *dst);
/* Resolves ".", ".." and repeated slashes of a path that begins with '/', in place; n > 0. */
size_t url_resolve_dots(char *p, size_t n);
/* Bytes <= 0x20, >= 0x7f, '#' and '%' become escapes. dst holds url_escaped_size bytes. */
size_t url_escape(struct slice text, char *dst);
size_t url_escaped_size(struct slice text);
/* One byte as "%2F"; dst holds three. Returns three. */
size_t url_escape_byte(char c, char *dst);

#endif
