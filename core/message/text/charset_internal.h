/*
 * charset_internal - functions that charset.c and charset_stream.c share.
 */
#ifndef CORE_MESSAGE_TEXT_CHARSET_INTERNAL_H
#define CORE_MESSAGE_TEXT_CHARSET_INTERNAL_H

#include <unicode/ucnv.h>
#include <unicode/ucnv_err.h>

#include "core/base/slice.h"

/* Length of the run of bytes below 0x80 at the beginning. */
size_t charset_ascii_run(struct slice bytes);
/* Writes U+FFFD for malformed bytes; ICU's own callback writes U+001A for some. As in browsers,
 * ASCII behind a lead byte or an escape that means nothing is text. */
void charset_on_malformed(const void *context, UConverterToUnicodeArgs *args,
                          const char *units, int32_t length,
                          UConverterCallbackReason reason, UErrorCode *status);
/* UTF-8 of UTF-16 text, at most 3 bytes a unit and 3 for a surrogate that *held had; one at the
 * very end is held over there. dst NULL counts. */
size_t charset_put_utf16(const UChar *text, size_t count, UChar *held, char *dst);

#endif
