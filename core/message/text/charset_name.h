/*
 * charset_name - charset names in messages: the decoder, and ICU's name.
 *
 * Only charsets that mail clients know: a name that they do not know would let a sender show
 * us other text than the reader. Threads: pure.   Allocates: nothing.
 * Source: labels of the WHATWG Encoding standard, code pages of Python and GNU iconv.
 */
#ifndef CORE_MESSAGE_TEXT_CHARSET_NAME_H
#define CORE_MESSAGE_TEXT_CHARSET_NAME_H

#include "core/base/slice.h"

enum charset_kind {
    CHARSET_UNKNOWN, /* also an empty name */
    CHARSET_UTF8,
    CHARSET_WESTERN, /* windows-1252; browsers read US-ASCII and ISO-8859-1 so, too */
    CHARSET_ICU
};

/* Case and everything but letters and digits are ignored ("iso_8859-2", "ISO8859-2"). *reticu
 * is written for CHARSET_ICU only. */
enum charset_kind charset_name_kind(struct slice name, const char **reticu);

#endif
