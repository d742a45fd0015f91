/*
 * snapshot - the files of a state folder as they are now, kept beside while they are copied.
 *
 * Files that are replaced as a whole are hard links in STATE/backup.tmp, so nobody waits for the
 * copy; files that grow count up to the length that they have now; those that change in place under
 * their lock (recent tables of lists, the table of streams) are copied. The caller takes the places
 * in this order, and holds a lock meanwhile:
 *   reports, feeds, lists   STATE/lists/LOCK, for all three: reports and feeds are never newer than
 *                           the lists
 *   counts, journal   no lock: gillnetd goes on
 *   peers    STATE/peers/LOCK; after counts, so that it knows all of them as published
 *   keys     no lock; last, because a key is stored before its first use
 * No symbolic link is followed: a list behind one is an error, other links are left out.
 * Depends: base.   Threads: one.   Owns: STATE/backup.tmp, under the lock STATE/backup.lock.   ADR
 * 0039.
 */
#ifndef CORE_BACKUP_SNAPSHOT_H
#define CORE_BACKUP_SNAPSHOT_H

#include "core/backup/contents.h"
#include "core/base/file.h"

struct snapshot {
    char state_dir[FILE_PATH_MAX];
    int state_fd;
    int fd; /* STATE/backup.tmp */
    struct filelock lock;
    struct contents contents;
    size_t nleft_out;                     /* files that are not gillnet's */
    char left_out[CONTENTS_PATH_MAX + 1]; /* the first of them */
};

/* ERR_LOCKED: another backup is being taken. The remains of a killed one are removed. */
enum err snapshot_open(const char *state_dir, bool with_counts, struct snapshot *ret,
                       struct errinfo *reterr);
/* place is one of the folders above; a missing one is fine. */
enum err snapshot_take(struct snapshot *s, const char *place, struct errinfo *reterr);
/* Opens a file of the contents for reading; at least its size can be read. */
enum err snapshot_read(const struct snapshot *s, const struct contents_file *f,
                       int *retfd, struct errinfo *reterr);
void snapshot_close(struct snapshot *s);

#endif
