/*
 * shortcut - the strings of a Windows shortcut.
 *
 * The records of the file are not parsed. All bytes are searched for runs of text, with one byte a
 * character and with two (UTF-16, little-endian, even and odd). The runs include the arguments, the
 * paths, the target's list of items, the extra blocks, and text that was put behind them for a
 * program that the shortcut starts. Length fields are ignored.
 * Linear. Threads: pure.   Allocates: nothing.   Source: MS-SHLLINK.
 */
#ifndef CORE_MESSAGE_ARCHIVE_SHORTCUT_H
#define CORE_MESSAGE_ARCHIVE_SHORTCUT_H

#include "core/base/slice.h"

enum {
    SHORTCUT_STRING_MIN = 6, /* characters; shorter runs are skipped */
    SHORTCUT_STRING_MAX =
        4096, /* characters; a longer run comes in pieces, cut at a blank */
    SHORTCUT_KEPT_MAX = 2048 /* characters between that blank and the cut, at most */
};

/* text: ASCII. */
void shortcut_read(struct slice file, void (*string)(void *context, struct slice text),
                   void *context);

#endif
