/*
 * beneath - folders below an open one, by relative path, following no symbolic link on the way.
 *
 * Depends: base.   Threads: any.   Owns: nothing; descriptors are the caller's.
 */
#ifndef CORE_BACKUP_BENEATH_H
#define CORE_BACKUP_BENEATH_H

#include <sys/types.h>

/* Opens the folder path below fd for reading. -1 and errno. */
int beneath_open(int fd, const char *path);
/* As beneath_open, but makes missing folders and gives them to owner; NULL: the caller's, mode
 * 0700. */
struct beneath_owner {
    uid_t uid; /* (uid_t)-1: the caller's */
    gid_t gid;
    mode_t mode;
};
int beneath_make(int fd, const char *path, const struct beneath_owner *owner);

#endif
