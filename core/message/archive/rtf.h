/*
 * rtf - compressed RTF as Outlook has it, to RTF.
 *
 * Threads: pure.   Allocates: nothing.   Source: MS-OXRTFCP.
 */
#ifndef CORE_MESSAGE_ARCHIVE_RTF_H
#define CORE_MESSAGE_ARCHIVE_RTF_H

#include "core/message/archive/archive.h"

/* The text in pieces, until the data ends, breaks or data gives false; counts as inflated.
 * False: it is no compressed RTF, or it broke. */
bool rtf_decompress(struct archive_budget *budget, struct slice in,
                    bool (*data)(void *context, struct slice bytes), void *context);

#endif
