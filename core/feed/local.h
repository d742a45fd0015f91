/*
 * local - a feed that is a file, or all files of a folder, of this machine.
 *
 * What tells one state from another is size, time and inode of each file. Files of a folder are joined in the order of
 * their names, those that begin with a dot left out; one that cannot be read ends it and is named.
 * Depends: base, config.   Threads: any.   Owns: nothing.   ADR 0043.
 */
#ifndef CORE_FEED_LOCAL_H
#define CORE_FEED_LOCAL_H

#include "core/config/config.h"

enum { FEED_LOCAL_FILES_MAX = 4096, FEED_LOCAL_TAG_MAX = 80 };

/* The path of a file:// address; NULL: it is another one. */
const char *feed_local_path(const char *url);

struct feed_local {
    char tag[FEED_LOCAL_TAG_MAX]; /* of the state that was seen */
    uint64_t bytes;               /* that were read */
    bool is_same;                 /* as the tag given: nothing was written */
};
/* Writes what the feed's files hold, decompressed, to body (made anew), unless their tag is `tag` ("": always). They must not change
 * meanwhile: ERR_LOCKED then. */
enum err feed_local_read(const struct config_feed *feed, const char *tag,
                         const char *body, struct feed_local *ret,
                         struct errinfo *reterr);

#endif
