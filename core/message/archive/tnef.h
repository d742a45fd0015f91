/*
 * tnef - Outlook's winmail.dat: the message text and the files in it.
 *
 * Walks the attributes once and ignores checksums. The plain body, the HTML body and the
 * decompressed RTF body become files without a name, under their media type. Each attachment
 * becomes a file under its long name; its other names are given too. An embedded message is a file
 * of the type
 * application/ms-tnef. Linear. Threads: pure.   Allocates: nothing.
 * Source: Microsoft's MS-OXTNEF, MS-OXCDATA, MS-OXRTFCP; why not libytnef: ADR 0014.
 */
#ifndef CORE_MESSAGE_ARCHIVE_TNEF_H
#define CORE_MESSAGE_ARCHIVE_TNEF_H

#include "core/message/archive/archive.h"

bool tnef_is(struct slice file);
void tnef_read(struct slice file, struct archive_budget *budget,
               const struct archive_events *events, void *context);

#endif
