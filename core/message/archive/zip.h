/*
 * zip - the entries of a zip file, as any reader may see them.
 *
 * Readers go by the central directory or by the local headers in front of the data, and these may
 * differ: the union is told. Local headers are sought in the whole file, what the central
 * directory points at is visited besides; names of both and of the Unicode path field. Stored and
 * deflated data is given, of other methods and of encrypted entries the names only.
 * Linear in the file and in the bytes inflated. Threads: pure.   Allocates: heap, while it runs.
 * Source: PKWARE's APPNOTE 6.3.9.
 */
#ifndef CORE_MESSAGE_ARCHIVE_ZIP_H
#define CORE_MESSAGE_ARCHIVE_ZIP_H

#include "core/message/archive/archive.h"

/* file: a zip file or the beginning of one. */
void zip_read(struct slice file, struct archive_budget *budget,
              const struct archive_events *events, void *context);

#endif
