/*
 * zip - the entries of a zip file, as any reader may see them.
 *
 * Some readers use the central directory, some the local headers in front of the data, and the two
 * may differ. This one gives the union: local headers anywhere in the file, entries that the
 * central directory points at, and the names of both and of the Unicode path field. It gives stored
 * and deflated data; of other methods and of encrypted entries it gives the names only.
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
