/*
 * snapshot - the files of a state folder as they are now, kept beside while they are copied.
 *
 * Files that are replaced as a whole are hard links in STATE/backup.tmp, so nobody waits for the copy; files that grow
 * count up to the length that they have now; those that change in place under their lock (recent tables of lists, the table of
 * streams) are copied. The caller holds what must stand still while a place is taken:
 *   reports, feeds, lists   STATE/lists/LOCK, in one go: what was done to the lists is never further than they are
 *   counts   nothing: gillnetd goes on
 *   peers    STATE/peers/LOCK, after counts, so that all that is counted here is known there as published
 *   keys     nothing, last: a key is put there before it is used
 * No symbolic link is followed: a list behind one is an error, other links are left out.
 * Depends: base.   Threads: one.   Owns: STATE/backup.tmp, under the lock STATE/backup.lock.   ADR 0039.
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
    size_t nleft_out;                     /* files that are no files of ours */
    char left_out[CONTENTS_PATH_MAX + 1]; /* the first of them */
};

/* ERR_LOCKED: another backup is being taken. What one that was killed left is removed. */
enum err snapshot_open(const char *state_dir, bool with_counts, struct snapshot *ret,
                       struct errinfo *reterr);
/* place: one of these; fine where it is not there. */
enum err snapshot_take(struct snapshot *s, const char *place, struct errinfo *reterr);
/* Opens a file of the contents for reading; at least its size can be read. */
enum err snapshot_read(const struct snapshot *s, const struct contents_file *f,
                       int *retfd, struct errinfo *reterr);
void snapshot_close(struct snapshot *s);

#endif
