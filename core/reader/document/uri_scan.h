/*
 * uri_scan - addresses in bytes that nobody parses: a scheme, "://" and the rest.
 *
 * Linear. Threads: pure.   Allocates: nothing.   Depends: base, wire.
 */
#ifndef CORE_READER_DOCUMENT_URI_SCAN_H
#define CORE_READER_DOCUMENT_URI_SCAN_H

#include "core/reader/wire/found.h"

enum uri_width { URI_NARROW = 1, URI_WIDE = 2 };       /* bytes of a character */
enum { URI_SCHEME = 16, URI_MIN = 4, URI_MAX = 4096 }; /* characters */

/* Gives out each address as a link. False: enough is found. */
bool uri_scan(struct found *f, struct slice bytes, enum uri_width width);

#endif
