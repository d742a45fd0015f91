/*
 * file_internal - the system calls that file.c and file_out.c share; not for other rooms.
 *
 * Threads: pure.   Allocates: nothing.
 */
#ifndef CORE_BASE_FILE_INTERNAL_H
#define CORE_BASE_FILE_INTERNAL_H

#include <sys/types.h>

#include "core/base/err.h"

/* errinfo_errno, with a clear text for a symbolic link. */
enum err file_sys_fail(struct errinfo *reterr, const char *path, const char *what);

/* Opens a regular file, following no link (ERR_DENIED); anything else in its place is damage
 * (ERR_CORRUPT). The caller closes *retfd. */
enum err file_sys_open_regular(const char *path, int flags, int *retfd,
                               uint64_t *retsize, struct errinfo *reterr);

/* As root, gives the new file fd to the owner of its folder, if the folder passes on its group too
 * (set-group-ID, as all folders of STATE do). A service can therefore change the files that root's
 * commands make in its folder. Other users: does nothing. */
enum err file_sys_give(int fd, const char *path, struct errinfo *reterr);

/* read that goes on after a signal. */
ssize_t file_sys_read(int fd, void *dst, size_t n);

#endif
