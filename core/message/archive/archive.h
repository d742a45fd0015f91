/*
 * archive - what the readers of files inside a message share: budget, events, limits.
 *
 * A reader (zip, tnef, uuencode) is given a file in memory or in pieces and tells what lies in
 * it; pdf tells links. All are bounded by one budget a message, need no memory but a few fixed
 * kilobytes and zlib's, and believe no length, offset or count that the bytes do not bear out.
 * Threads: one at a time.   Depends: base, text, zlib.
 */
#ifndef CORE_MESSAGE_ARCHIVE_ARCHIVE_H
#define CORE_MESSAGE_ARCHIVE_ARCHIVE_H

#include "core/base/slice.h"

enum {
    ARCHIVE_ENTRIES_MAX = 10000,     /* of one message, by default */
    ARCHIVE_INFLATED_MAX = 16 << 20, /* bytes, of one message, by default */
    ARCHIVE_RATIO_MAX = 200,         /* bytes out for one in, by default, ... */
    ARCHIVE_RATIO_FREE = 1 << 20,    /* ... beyond so many out of one stream */
    ARCHIVE_NAME_MAX = 1024          /* bytes of a name that are looked at */
};

enum archive_limit_bit {
    ARCHIVE_LIMIT_ENTRIES = 1 << 0,
    ARCHIVE_LIMIT_RATIO = 1 << 1,
    ARCHIVE_LIMIT_INFLATED = 1 << 2
};

/* What one message may still cost; starts as archive_budget_start. */
struct archive_budget {
    unsigned entries;
    uint64_t inflated;
    unsigned ratio;
    unsigned limits_met; /* enum archive_limit_bit */
    /* False: the time for this file is used up, bytes more are not to be unpacked. NULL: no bound. */
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
    /* False: its data is not wanted, neither data nor end follow. */
    bool (*begin)(void *context, const struct archive_file *file);
    /* False: enough of this file. */
    bool (*data)(void *context, struct slice bytes);
    /* whole: the data was complete. */
    void (*end)(void *context, bool whole);
};

#endif
