/* restore - a backup put in the place of a state folder. */
#include "core/backup/restore.h"

#include <sys/statvfs.h>

#include "core/backup/beneath.h"
#include "core/base/dir_walk.h"
#include "core/base/statedir.h"

#define MARK_PARTIAL "restore.partial"

enum {
    DIR_MODE = 02750,
    PRIVATE_MODE = 0700,
    MARK_MODE = 0640,
    BUCKET_S = 600, /* of counts, as peers exchange them */
    LOCKS = 3
};

struct restoring {
    const struct restore_options *o;
    struct restore_result *ret;
    char state[FILE_PATH_MAX]; /* without links */
    char parent[FILE_PATH_MAX];
    char fresh[FILE_PATH_MAX];
    char mark[FILE_PATH_MAX]; /* in fresh, until all is in it */
    int fd;                   /* of fresh */
    int file;
    struct filelock partial;
    struct filelock locks[LOCKS];
};

static bool is_below(const char *path, const char *place)
{
    const size_t n = strlen(place);

    return strncmp(path, place, n) == 0 && path[n] == '/';
}

/* The owner by the rules of the folder that is replaced. */
static struct beneath_owner owner_of(const struct restoring *r, const char *path)
{
    struct statedir_owner o;

    statedir_owner(r->state, path, &o);
    return (struct beneath_owner){.uid = o.uid, .gid = o.gid, .mode = o.mode};
}

/* ---- the present folder ---- */

/* A folder that has nothing in it, as systemd-tmpfiles makes; a link to one is none. */
static bool is_bare(int dirfd, const char *name)
{
    struct dir_walk w = dir_walk_fd(
        openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), name);
    const bool is_first = dir_walk_next(&w);

    return dir_walk_end(&w, ERR_OK, NULL) == ERR_OK && !is_first;
}

static bool is_empty_state(const char *path)
{
    struct dir_walk w = dir_walk_begin(path, DIR_NEEDED);
    bool is = true;

    while (is && dir_walk_next(&w)) {
        is = is_bare(dirfd(w.dir), w.name);
    }
    (void)dir_walk_end(&w, ERR_OK, NULL);
    return is;
}

static enum err take_locks(struct restoring *r, struct errinfo *reterr)
{
    static const char *const names[LOCKS] = {"counts", "peers", "lists"};
    enum err e = ERR_OK;

    for (unsigned i = 0; e == ERR_OK && i < LOCKS; i++) {
        char path[FILE_PATH_MAX];
        e = path_make(path, reterr, "%s/%s/LOCK", r->state, names[i]);
        if (e == ERR_OK && access(path, F_OK) == 0) {
            e = filelock_take(&r->locks[i], path, reterr);
        }
        if (e == ERR_LOCKED) {
            (void)errinfo_set(reterr, e, path, 0,
                              "a program of gillnet works on this folder; stop "
                              "gillnetd and gillnet-hub first");
        }
    }
    return e;
}

/* Makes the folder to unpack into. A marked folder of a killed restore is removed. An unmarked one
 * is whole, perhaps the only copy, and stays. */
static enum err make_fresh(struct restoring *r, struct errinfo *reterr)
{
    enum err e = ERR_OK;

    if (access(r->fresh, F_OK) == 0) {
        if (access(r->mark, F_OK) != 0 && !is_empty_state(r->fresh)) {
            return errinfo_set(reterr, ERR_EXISTS, r->fresh, 0,
                               "a restore was killed when it was all but done: this is "
                               "the former state folder, or the restored one; look at "
                               "both and rename this one");
        }
        e = filelock_take(&r->partial, r->mark, reterr);
        if (e == ERR_LOCKED) {
            return errinfo_set(reterr, e, r->fresh, 0, "another restore is at work");
        }
        filelock_drop(&r->partial);
        THEN(e, file_remove_tree(r->fresh, reterr));
    }
    if (e == ERR_OK && mkdir(r->fresh, PRIVATE_MODE) != 0) {
        e = errinfo_errno(reterr, r->fresh, "cannot be made");
    }
    THEN(e, filelock_take(&r->partial, r->mark, reterr));
    if (e == ERR_OK) {
        r->fd = open(r->fresh, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        e = r->fd >= 0 ? ERR_OK : errinfo_errno(reterr, r->fresh, "cannot be opened");
    }
    return e;
}

static enum err find_paths(struct restoring *r, bool *retis_there,
                           struct errinfo *reterr)
{
    char real[FILE_PATH_MAX]; /* PATH_MAX */

    *retis_there = realpath(r->o->state_dir, real) != NULL;
    enum err e =
        path_make(r->state, reterr, "%s", *retis_there ? real : r->o->state_dir);
    for (size_t n = strlen(r->state); n > 1 && r->state[n - 1] == '/'; n--) {
        r->state[n - 1] = '\0';
    }
    const char *slash = strrchr(r->state, '/');
    if (slash == NULL) {
        (void)file_path(r->parent, ".");
    } else {
        const int n = slash == r->state ? 1 : (int)(slash - r->state);
        (void)file_path(r->parent, "%.*s", n, r->state);
    }
    THEN(e, path_make(r->fresh, reterr, "%s.restore", r->state));
    return THEN(e, path_make(r->mark, reterr, "%s/" MARK_PARTIAL, r->fresh));
}

static enum err prepare_folders(struct restoring *r, struct errinfo *reterr)
{
    struct stat st = {.st_dev = 0};
    struct stat parent;
    bool is_there = false;
    enum err e = find_paths(r, &is_there, reterr);

    if (e != ERR_OK) {
        return e;
    }
    if (stat(r->parent, &parent) != 0 || (is_there && stat(r->state, &st) != 0)) {
        return errinfo_errno(reterr, r->state, "cannot be looked at");
    }
    if (is_there && st.st_dev != parent.st_dev) {
        return errinfo_set(reterr, ERR_UNSUPPORTED, r->state, 0,
                           "it is a file system of its own, so no other folder can be "
                           "put in its place: set state_dir to a folder in it");
    }
    if (is_there && !r->o->force && !is_empty_state(r->state)) {
        return errinfo_set(reterr, ERR_EXISTS, r->state, 0,
                           "it is not empty; with --force it is moved aside to "
                           "%.200s.before-TIME and kept",
                           r->state);
    }
    e = is_there ? take_locks(r, reterr) : ERR_OK;
    return THEN(e, make_fresh(r, reterr));
}

/* ---- unpacking ---- */

static enum err on_begin(void *context, const struct contents *c,
                         struct errinfo *reterr)
{
    struct restoring *r = context;
    struct statvfs fs;

    if (fstatvfs(r->fd, &fs) == 0 && (uint64_t)fs.f_bavail * fs.f_frsize < c->bytes) {
        return errinfo_set(reterr, ERR_NOSPACE, r->fresh, 0,
                           "the backup needs %" PRIu64
                           " MB and the disk has less; free some space",
                           c->bytes / 1000000 + 1);
    }
    return ERR_OK;
}

static enum err on_open(void *context, const struct contents_file *f,
                        struct errinfo *reterr)
{
    struct restoring *r = context;
    const struct beneath_owner owner = owner_of(r, f->path);
    char dir[CONTENTS_PATH_MAX + 1];

    (void)snprintf(dir, sizeof(dir), "%s", f->path);
    char *slash = strrchr(dir, '/');
    *slash = '\0';
    r->ret->has_peers = r->ret->has_peers || is_below(f->path, "peers");
    const int dirfd = beneath_make(r->fd, dir, &owner);
    if (dirfd < 0) {
        return errinfo_errno(reterr, dir, "cannot be made");
    }
    r->file = openat(dirfd, slash + 1,
                     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    const bool is_good = r->file >= 0 && fchown(r->file, owner.uid, owner.gid) == 0 &&
                         fchmod(r->file, f->mode) == 0;
    const int why = errno;
    (void)close(dirfd);
    errno = why;
    return is_good ? ERR_OK : errinfo_errno(reterr, f->path, "cannot be made");
}

static enum err on_bytes(void *context, struct slice bytes, struct errinfo *reterr)
{
    const struct restoring *r = context;

    return file_write_all(r->file, bytes)
               ? ERR_OK
               : errinfo_errno(reterr, r->fresh, "cannot write");
}

static enum err on_close(void *context, struct errinfo *reterr)
{
    struct restoring *r = context;
    const int fd = r->file;

    r->file = -1;
    return close(fd) == 0 ? ERR_OK : errinfo_errno(reterr, r->fresh, "cannot write");
}

static void on_restore_progress(void *context, const char *what, double share)
{
    const struct restoring *r = context;

    if (r->o->progress != NULL) {
        r->o->progress(r->o->context, what, share);
    }
}

static enum err unpack_bundle(struct restoring *r, struct errinfo *reterr)
{
    const struct bundle_taker taker = {.begin = on_begin,
                                       .open = on_open,
                                       .bytes = on_bytes,
                                       .close = on_close,
                                       .progress = on_restore_progress,
                                       .context = r};

    return bundle_read(r->o->fd, r->o->name, &taker, &r->ret->contents, reterr);
}

/* Tells the hub that it has an older state, and from which bucket on it publishes counts (sync.h):
 * the peers have the earlier ones already, or will never get them. */
static enum err mark_restored(struct restoring *r, struct errinfo *reterr)
{
    const struct contents *c = &r->ret->contents;
    const uint64_t bucket = c->time_s - c->time_s % BUCKET_S;
    const struct contents_file f = {.path = "peers/restored", .mode = MARK_MODE};
    char text[32];

    if (!r->ret->has_peers) {
        return ERR_OK;
    }
    const int n = snprintf(text, sizeof(text), "%" PRIu64 "\n",
                           bucket + (c->is_shared ? 0 : BUCKET_S));
    enum err e = on_open(r, &f, reterr);
    THEN(e, on_bytes(r, slice_of(text, (size_t)n), reterr));
    return THEN(e, on_close(r, reterr));
}

/* ---- into place ---- */

static enum err name_former(struct restoring *r, struct errinfo *reterr)
{
    char when[32];
    struct tm tm;
    const time_t now = time(NULL);

    (void)gmtime_r(&now, &tm);
    (void)strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &tm);
    for (unsigned i = 0; i < 100; i++) {
        enum err e =
            i == 0 ? file_path(r->ret->former, "%s.before-%s", r->state, when)
                   : file_path(r->ret->former, "%s.before-%s-%u", r->state, when, i);
        if (e == ERR_OK && access(r->ret->former, F_OK) != 0) {
            return ERR_OK;
        }
    }
    return errinfo_set(reterr, ERR_EXISTS, r->state, 0,
                       "no name is free for the former folder");
}

static enum err put_in_place(struct restoring *r, struct errinfo *reterr)
{
    const struct beneath_owner owner = owner_of(r, "");
    enum err e = ERR_OK;

    if (fchown(r->fd, owner.uid, owner.gid) != 0 || fchmod(r->fd, DIR_MODE) != 0) {
        return errinfo_errno(reterr, r->fresh, "cannot be given to its user");
    }
    if (syncfs(r->fd) != 0) {
        return errinfo_errno(reterr, r->fresh, "cannot be synced to disk");
    }
    if (unlinkat(r->fd, MARK_PARTIAL, 0) != 0 || fsync(r->fd) != 0) {
        return errinfo_errno(reterr, r->fresh, "cannot be finished");
    }
    if (access(r->state, F_OK) != 0) {
        return rename(r->fresh, r->state) == 0
                   ? file_sync_dir(r->parent, reterr)
                   : errinfo_errno(reterr, r->state, "cannot be put in place");
    }
    const bool was_empty = is_empty_state(r->state);
    e = was_empty ? ERR_OK : name_former(r, reterr);
    THEN(e, file_exchange(r->fresh, r->state, reterr));
    if (e == ERR_OK && was_empty) {
        (void)file_remove_tree(r->fresh, NULL); /* empty folders */
    } else if (e == ERR_OK && rename(r->fresh, r->ret->former) != 0) {
        (void)file_path(r->ret->former, "%s", r->fresh); /* it lies there as well */
    }
    return e;
}

enum err restore_run(const struct restore_options *o, struct restore_result *ret,
                     struct errinfo *reterr)
{
    struct restoring r = {.o = o, .ret = ret, .fd = -1, .file = -1, .partial = {-1}};

    ret->former[0] = '\0';
    ret->has_peers = false;
    contents_init(&ret->contents);
    for (unsigned i = 0; i < LOCKS; i++) {
        r.locks[i].fd = -1;
    }
    enum err e = prepare_folders(&r, reterr);
    THEN(e, unpack_bundle(&r, reterr));
    if (e == ERR_OK && o->check != NULL) {
        e = o->check(o->context, r.fresh, reterr);
    }
    THEN(e, mark_restored(&r, reterr));
    THEN(e, put_in_place(&r, reterr));
    fd_close(&r.file);
    fd_close(&r.fd);
    if (e != ERR_OK && r.partial.fd >= 0 && access(r.mark, F_OK) == 0) {
        (void)file_remove_tree(r.fresh, NULL); /* else the next restore does */
    }
    filelock_drop(&r.partial);
    for (unsigned i = 0; i < LOCKS; i++) {
        filelock_drop(&r.locks[i]);
    }
    return e;
}
