/*
 * archive - budget, events and limits that all readers of files inside a message share.
 *
 * A reader (zip, tnef, uuencode) takes a file in memory or in pieces and calls an event for each
 * file in it; pdf calls one for each link. One budget a message bounds all of them. They need a few
 * fixed kilobytes and zlib's memory. They check each length, offset and count against the bytes.
 *
 * Files in reading order: magic (the type of a file), zip, inflate, office (entries of a zip file
 * and their meaning), pdf, rtf, tnef, uuencode, shortcut.
 * To add a format: a row in magic.c, a reader that gives its files or links to the events, and a
 * case in core/message/extract/extract_file.c.
 * Threads: one at a time.   Depends: base, text, zlib.
 */
#ifndef CORE_MESSAGE_ARCHIVE_ARCHIVE_H
#define CORE_MESSAGE_ARCHIVE_ARCHIVE_H

#include "core/base/slice.h"

enum {
    ARCHIVE_ENTRIES_MAX = 10000,     /* of one message, by default */
    ARCHIVE_INFLATED_MAX = 16 << 20, /* bytes, of one message, by default */
    ARCHIVE_RATIO_MAX = 200,         /* bytes out for one in, by default, ... */
    ARCHIVE_RATIO_FREE = 1 << 20,    /* ... beyond this many bytes of one stream */
    ARCHIVE_NAME_MAX = 1024          /* bytes of a name that are looked at */
};

enum archive_limit_bit {
    ARCHIVE_LIMIT_ENTRIES = 1 << 0,
    ARCHIVE_LIMIT_RATIO = 1 << 1,
    ARCHIVE_LIMIT_INFLATED = 1 << 2
};

/* The cost that one message may still have; starts as archive_budget_start. */
struct archive_budget {
    unsigned entries;
    uint64_t inflated;
    unsigned ratio;
    unsigned limits_met; /* enum archive_limit_bit */
    /* False: the time for this file is used up; these bytes stay packed. NULL: no bound. */
    bool (*has_time)(void *context, size_t bytes);
    void *context; /* of has_time */
};
/* The defaults above. */
struct archive_budget archive_budget_start(void);
/* Takes one entry from the budget. */
bool archive_budget_entry(struct archive_budget *b);

/* A file in a file. Slices live until begin returns. */
struct archive_file {
    struct slice name;    /* as it stands there; UTF-8 when is_utf8, else in charset */
    struct slice type;    /* media type when the archive tells, else empty */
    struct slice charset; /* of name and text; empty when the archive does not tell */
    bool is_encrypted;    /* there is no data to see */
};

struct archive_events {
    /* A name that an entry has or has as well. charset: empty for UTF-8. */
    void (*name)(void *context, struct slice name, struct slice charset);
    /* False: the caller wants neither data nor end of it. */
    bool (*begin)(void *context, const struct archive_file *file);
    /* False: enough of this file. */
    bool (*data)(void *context, struct slice bytes);
    /* whole: the data was complete. */
    void (*end)(void *context, bool whole);
};

#endif
