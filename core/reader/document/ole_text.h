/*
 * ole_text - characters of office documents: UTF-16 and code pages to UTF-8 without NUL.
 *
 * Threads: pure.   Allocates: the buffer given; the arena of struct ole.   Depends: base, text.
 */
#ifndef CORE_READER_DOCUMENT_OLE_TEXT_H
#define CORE_READER_DOCUMENT_OLE_TEXT_H

#include "core/reader/document/ole.h"

/* Appends the code point c as UTF-8; NUL and half of a pair are left out. */
void text_add_char(struct buf *out, uint32_t c);
/* Appends UTF-16, little-endian; an odd last byte is left out. */
void text_add_wide(struct buf *out, struct slice utf16);
/* Appends bytes of a Windows code page; 0 and unknown ones are windows-1252. */
void text_add_narrow(struct ole *o, struct buf *out, unsigned codepage,
                     struct slice bytes);
/* The code page of a font's charset; 0: unknown. */
unsigned text_codepage_of_charset(unsigned charset);
/* Writes the text as a record and clears it. */
void text_flush(struct ole *o, struct buf *text);
/* Writes it when OLE_TEXT_STEP is reached. */
void text_step(struct ole *o, struct buf *text);

#endif
