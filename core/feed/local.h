/*
 * local - a feed that is a file, or all files of a folder, of this machine.
 *
 * Size, time and inode of each file make the tag of a state. Files of a folder are joined in the
 * order of their names, without hidden ones. A file that cannot be read is an error that names it.
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
/* Writes the contents of the feed's files, decompressed, to a new file body, unless their tag is
 * `tag` ("": always). ERR_LOCKED: a file changed meanwhile. */
enum err feed_local_read(const struct config_feed *feed, const char *tag,
                         const char *body, struct feed_local *ret,
                         struct errinfo *reterr);

#endif
