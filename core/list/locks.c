/*
 * locks - flock(2) on two files, the one of all lists first.
 */
#include "core/list/locks.h"

#include "core/base/buf.h"

enum { LOCK_TEXT_MAX = 128 };

/* Says in reterr who holds the lock, as the holder wrote it into the file. */
static void blame(const char *path, const char *what, struct errinfo *reterr)
{
    struct buf holder;
    buf_init(&holder, LOCK_TEXT_MAX);
    if (file_read(path, &holder, NULL) == ERR_OK) {
        struct slice who = slice_trim(buf_slice(&holder));
        for (size_t i = 0; i < who.n; i++) {
            holder.p[i] = (char)(who.p[i] >= ' ' && who.p[i] <= '~' ? who.p[i] : '?');
        }
        errinfo_set(reterr, ERR_LOCKED, path, 0,
                    "%s by another process (%.*s); wait for it or stop it", what,
                    SLICE_ARGS(who));
    }
    buf_fini(&holder);
}

static void write_holder(const struct filelock *l)
{
    char text[LOCK_TEXT_MAX];
    int n = snprintf(text, sizeof(text), "process %ld, %s\n", (long)getpid(),
                     program_invocation_short_name);
    if (n > 0 && ftruncate(l->fd, 0) == 0) {
        /* only for the error text of others: a full disk must not prevent the lock */
        (void)!pwrite(l->fd, text, strnlen(text, sizeof(text)), 0);
    }
}

/* Completes reterr for e. */
static enum err refused(enum err e, const char *path, const char *what,
                        struct errinfo *reterr)
{
    if (e == ERR_LOCKED) {
        blame(path, what, reterr);
    } else if (e == ERR_DENIED && access(path, W_OK) != 0) { /* not for being a link */
        errinfo_set(reterr, e, path, 0,
                    "this user may not change the lists; do it as the user that made "
                    "them, or as root");
    }
    return e;
}

enum err list_lock_take_all(struct list_lock *l, const char *state_dir,
                            struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    *l = LIST_LOCK_NONE;
    enum err e = path_make(path, reterr, "%s/lists/LOCK", state_dir);
    if (e != ERR_OK) {
        return e;
    }
    e = filelock_take(&l->all, path, reterr);
    if (e == ERR_OK) {
        write_holder(&l->all);
    }
    return refused(e, path, "a list is being changed", reterr);
}

enum err list_lock_take(struct list_lock *l, const char *state_dir, struct slice name,
                        struct errinfo *reterr)
{
    char all[FILE_PATH_MAX];
    char own[FILE_PATH_MAX];
    *l = LIST_LOCK_NONE;
    enum err e = path_make(all, reterr, "%s/lists/LOCK", state_dir);
    THEN(e, path_make(own, reterr, "%s/lists/%.*s" LIST_LOCK_SUFFIX, state_dir,
                      SLICE_ARGS(name)));
    if (e != ERR_OK) {
        return e;
    }
    e = filelock_share(&l->all, all, reterr);
    if (e != ERR_OK) {
        return refused(e, all, "all lists are held", reterr);
    }
    e = filelock_take(&l->own, own, reterr);
    if (e != ERR_OK) {
        list_lock_drop(l);
        return refused(e, own, "the list is being changed", reterr);
    }
    write_holder(&l->own);
    write_holder(&l->all); /* the latest holder */
    return ERR_OK;
}

void list_lock_drop(struct list_lock *l)
{
    filelock_drop(&l->own);
    filelock_drop(&l->all);
}
