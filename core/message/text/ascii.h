/*
 * ascii - tables of the classes of bytes: case, digits, token characters.
 *
 * Independent of the locale; bytes from 0x80 on belong to no class. Threads: pure.
 */
#ifndef CORE_MESSAGE_TEXT_ASCII_H
#define CORE_MESSAGE_TEXT_ASCII_H

#include "core/base/std.h"

enum {
    ASCII_DIGIT = 0x01,
    ASCII_HEX = 0x02,    /* 0-9 A-F a-f */
    ASCII_ALPHA = 0x04,  /* A-Z a-z */
    ASCII_BLANK = 0x08,  /* space, tab */
    ASCII_SPACE = 0x10,  /* space, tab, CR, LF, VT, FF */
    ASCII_ATEXT = 0x20,  /* atom characters of RFC 5322 */
    ASCII_BADHOST = 0x40 /* forbidden domain code points of the WHATWG URL standard */
};

/* Classes of a byte; index with (unsigned char). */
extern const uint8_t ascii_class[256];
/* A-Z become a-z, other bytes stay. */
extern const uint8_t ascii_lower[256];
/* Value of a hexadecimal digit, 0xff for other bytes. */
extern const uint8_t ascii_hex[256];

#define ASCII_IS(c, class_bits) ((ascii_class[(unsigned char)(c)] & (class_bits)) != 0)
#define ASCII_LOWER(c)          ((char)ascii_lower[(unsigned char)(c)])

#endif
