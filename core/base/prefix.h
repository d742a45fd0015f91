/*
 * prefix - the folder that gillnet is installed in, such as /usr.
 *
 * A program in the folder bin or sbin is installed in the folder above. Any other one, such as that
 * of a build, is in the prefix that the build was configured with. So one build can be packed for
 * any prefix.
 * Threads: pure.
 */
#ifndef CORE_BASE_PREFIX_H
#define CORE_BASE_PREFIX_H

#include "core/base/file.h"

/* dst = PREFIX/name. ERR_LIMIT: too long. */
enum err prefix_path(char dst[FILE_PATH_MAX], const char *name);
/* The same for the program of this path. */
enum err prefix_path_of(char dst[FILE_PATH_MAX], struct slice program,
                        const char *name);

#endif
