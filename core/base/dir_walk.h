/*
 * dir_walk - the names in one folder, one after the other.
 *
 *     struct dir_walk w = dir_walk_begin(path, DIR_NEEDED);
 *     while (e == ERR_OK && dir_walk_next(&w)) {
 *         e = take(w.name, reterr);
 *     }
 *     return dir_walk_end(&w, e, reterr);
 *
 * "." and ".." are skipped; the other names come in any order. The loop may stop early and may
 * remove the file that it is at; the caller always calls dir_walk_end.
 * Threads: one walk, one thread.   Owns: the open folder until dir_walk_end.
 */
#ifndef CORE_BASE_DIR_WALK_H
#define CORE_BASE_DIR_WALK_H

#include <dirent.h>

#include "core/base/err.h"

enum dir_need {
    DIR_NEEDED,  /* a missing folder is an error */
    DIR_OPTIONAL /* a missing folder is an empty one */
};

struct dir_walk {
    const char *name;   /* of the current entry, until the next call */
    unsigned char type; /* its DT_REG, DT_DIR or another, as readdir(3) gives it */
    DIR *dir;           /* NULL: the folder could not be opened */
    const char *path;   /* the caller's */
    int errnum;         /* why the walk failed */
};

/* path must stay until dir_walk_end. A folder that cannot be opened has no names. */
struct dir_walk dir_walk_begin(const char *path, enum dir_need need);
/* The same for a folder that the caller opened: the walk closes fd. fd -1: errno says why. */
struct dir_walk dir_walk_fd(int fd, const char *path);

/* Goes to the next entry. False: there is none, or the folder cannot be read. */
bool dir_walk_next(struct dir_walk *w);

/* Closes the folder. Returns e when the caller's loop failed with it, else ERR_OK or the reason why
 * the folder could not be read. Only the latter fills reterr. */
enum err dir_walk_end(struct dir_walk *w, enum err e, struct errinfo *reterr);

#endif
