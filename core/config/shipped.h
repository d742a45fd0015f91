/*
 * shipped - the files of conf/rules.d, as they were when the program was built
 * (contrib/cmake/Embed.cmake).
 *
 * Threads: constant.
 */
#ifndef CORE_CONFIG_SHIPPED_H
#define CORE_CONFIG_SHIPPED_H

#include "core/base/slice.h"

struct shipped_file {
    const char *name; /* "bulk.conf" */
    struct slice text;
};

/* In the order of their names; the last one has the name NULL. */
extern const struct shipped_file shipped_files[];

/* conf/digest.txt alone, in the room quarantine. */
extern const struct shipped_file digest_files[];

#endif
