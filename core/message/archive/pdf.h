/*
 * pdf - the links of a PDF file.
 *
 * No reader of PDF: one pass over the bytes for /URI actions and for strings that are URLs, in
 * the file itself and in its object streams, which are inflated. It ignores cross-reference tables,
 * lengths and object numbers. It does not find links in encrypted files (pdf_read returns true),
 * behind filters other than FlateDecode, or only drawn as text.
 * Linear. Threads: pure.   Allocates: zlib's state.
 * Source: ISO 32000-1 7.2-7.5, 12.6.4.7.
 */
#ifndef CORE_MESSAGE_ARCHIVE_PDF_H
#define CORE_MESSAGE_ARCHIVE_PDF_H

#include "core/message/archive/archive.h"

enum { PDF_LINK_MAX = 4096 }; /* bytes of a string that are looked at */

/* True: the file is encrypted, so its strings and streams are unreadable. A reader may still open
 * it without a password.
 * link: the bytes of a string of the file; is_wide: it is UTF-16 (big-endian, without its mark). */
bool pdf_read(struct slice file, struct archive_budget *budget,
              void (*link)(void *context, struct slice text, bool is_wide),
              void *context);

#endif
