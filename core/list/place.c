/*
 * place - one rename each; a removed list is renamed before its first file is deleted.
 */
#include "core/list/place.h"

#include "core/list/files.h"
#include "core/list/locks.h"

#define DELETED_FOLDER ".deleted" /* in STATE/lists: no list has such a name */

struct moving {
    const char *state_dir;
    struct list_lock lock;
    char folder[FILE_PATH_MAX]; /* STATE/lists */
    char from[FILE_PATH_MAX];
    char to[FILE_PATH_MAX];
};

static bool path_exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

bool list_is_there(const char *state_dir, struct slice name)
{
    char dir[FILE_PATH_MAX];
    return list_dir_path(dir, state_dir, name, NULL) == ERR_OK && path_exists(dir);
}

static enum err take_all(void *context, struct errinfo *reterr)
{
    struct moving *m = context;
    return list_lock_take_all(&m->lock, m->state_dir, reterr);
}

/* Locks all lists, once there is something to move. */
static enum err moving_begin(struct moving *m, const char *state_dir, struct slice name,
                             const struct list_lock_wait *wait, struct errinfo *reterr)
{
    m->state_dir = state_dir;
    m->lock = LIST_LOCK_NONE;
    enum err e = list_dir_path(m->from, state_dir, name, reterr);
    if (e != ERR_OK) {
        return e;
    }
    (void)file_path(m->folder, "%s/lists", state_dir); /* shorter than that one */
    e = path_exists(m->from) ? list_lock_waiting(wait, take_all, m, reterr)
                             : ERR_NOT_FOUND;
    if (e == ERR_OK && !path_exists(m->from)) { /* meanwhile */
        list_lock_drop(&m->lock);
        e = ERR_NOT_FOUND;
    }
    return e == ERR_NOT_FOUND
               ? errinfo_set(
                     reterr, e, m->from, 0,
                     "there is no list of this name; `gillnet list` shows those "
                     "there are")
               : e;
}

/* Removes the lock file of a removed list. No process waits for it, because all lists are
 * locked. */
static void remove_lock(const struct moving *m, struct slice name)
{
    char path[FILE_PATH_MAX];
    if (file_path(path, "%s/%.*s" LIST_LOCK_SUFFIX, m->folder, SLICE_ARGS(name)) ==
        ERR_OK) {
        (void)unlink(path);
    }
}

static enum err move(const struct moving *m, struct slice name, struct errinfo *reterr)
{
    if (rename(m->from, m->to) != 0) {
        return errinfo_errno(reterr, m->from, "cannot be renamed");
    }
    remove_lock(m, name);
    return file_sync_dir(m->folder, reterr);
}

enum err list_delete(const char *state_dir, struct slice name,
                     const struct list_lock_wait *wait, struct errinfo *reterr)
{
    struct moving m;
    enum err e = moving_begin(&m, state_dir, name, wait, reterr);
    if (e != ERR_OK) {
        return e;
    }
    e = path_make(m.to, reterr, "%s/" DELETED_FOLDER, m.folder);
    THEN(e, file_remove_tree(m.to, reterr)); /* after a crash */
    THEN(e, move(&m, name, reterr));
    THEN(e, file_remove_tree(m.to, reterr));
    list_lock_drop(&m.lock);
    return e;
}

enum err list_rename(const char *state_dir, struct slice name, struct slice to,
                     const struct list_lock_wait *wait, struct errinfo *reterr)
{
    struct moving m;
    enum err e = moving_begin(&m, state_dir, name, wait, reterr);
    if (e != ERR_OK) {
        return e;
    }
    e = list_dir_path(m.to, state_dir, to, reterr);
    if (e == ERR_OK && path_exists(m.to)) {
        e = errinfo_set(reterr, ERR_EXISTS, m.to, 0,
                        "there is a list of this name; choose another, or delete that "
                        "one first");
    }
    THEN(e, move(&m, name, reterr));
    list_lock_drop(&m.lock);
    return e;
}
