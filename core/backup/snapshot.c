/* snapshot - the files of a state folder as they are now. */
#include "core/backup/snapshot.h"

#include "core/backup/beneath.h"
#include "core/base/array.h"
#include "core/base/dir_walk.h"

#define SNAPSHOT_DIR  "backup.tmp"
#define SNAPSHOT_LOCK "backup.lock"
#define TABLE         "peers/table/data.mdb"
#define MEMTABLE      "memtable."

enum { PASSES_MAX = 100, COPY_BYTES = 1 << 20, SNAPSHOT_MODE = 0700 };

/* One walk through a place: folders that wait, by path. */
struct walk {
    struct snapshot *s;
    char (*dirs)[CONTENTS_PATH_MAX + 1];
    size_t n;
    size_t room;
    bool has_missed; /* something went while we looked: it may be elsewhere now */
    struct errinfo *err;
};

static enum err walk_failed(struct walk *w, const char *path, const char *what)
{
    return errinfo_errno(w->err, path, what);
}

static enum err push_folder(struct walk *w, const char *path)
{
    if (!array_room(&w->dirs, &w->room, w->n + 1, SIZE_MAX, sizeof(*w->dirs))) {
        return errinfo_nomem(w->err, path);
    }
    (void)snprintf(w->dirs[w->n++], sizeof(*w->dirs), "%s", path);
    return ERR_OK;
}

static void leave_out(struct snapshot *s, const char *path)
{
    if (s->nleft_out++ == 0) {
        (void)snprintf(s->left_out, sizeof(s->left_out), "%.*s", CONTENTS_PATH_MAX,
                       path);
    }
}

/* ---- one file ---- */

static enum err copy_bytes(struct walk *w, int from, int to, const char *path)
{
    char *bytes = malloc(COPY_BYTES);
    enum err e = bytes != NULL ? ERR_OK : errinfo_nomem(w->err, path);
    ssize_t n = 1;

    while (e == ERR_OK && n > 0) {
        n = read(from, bytes, COPY_BYTES);
        if (n < 0) {
            e = walk_failed(w, path, "cannot read");
        } else if (!file_write_all(to, slice_of(bytes, (size_t)n))) {
            e = walk_failed(w, path, "cannot copy");
        }
    }
    free(bytes);
    return e;
}

static enum err copy(struct walk *w, int dirfd, const char *name, int tofd,
                     const char *path)
{
    int from = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
    if (from < 0) {
        return walk_failed(w, path, "cannot open");
    }
    int to =
        openat(tofd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    enum err e = to < 0 ? walk_failed(w, path, "cannot make a copy in backup.tmp")
                        : copy_bytes(w, from, to, path);
    fd_close(&from);
    fd_close(&to);
    return e;
}

/* Another file system, or rights: then a copy does. */
static bool cannot_link(int why)
{
    return why == EXDEV || why == EPERM || why == EMLINK || why == EOPNOTSUPP ||
           why == EACCES;
}

/* Not by appending: a link would change with it. */
static bool changes_in_place(const char *path, const char *name)
{
    return strcmp(path, TABLE) == 0 ||
           strncmp(name, MEMTABLE, sizeof(MEMTABLE) - 1) == 0;
}

static enum err keep_file(struct walk *w, int dirfd, const char *name, int tofd,
                          const char *path)
{
    struct stat st;
    enum err e = ERR_OK;

    if (fstatat(tofd, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        return ERR_OK; /* by an earlier pass */
    }
    if (changes_in_place(path, name)) {
        e = copy(w, dirfd, name, tofd, path);
    } else if (linkat(dirfd, name, tofd, name, 0) != 0) {
        if (errno == ENOENT) {
            w->has_missed = true;
            return ERR_OK;
        }
        e = cannot_link(errno) ? copy(w, dirfd, name, tofd, path)
                               : walk_failed(w, path, "cannot be kept in backup.tmp");
    }
    if (e == ERR_OK &&
        (fstatat(tofd, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))) {
        e = errinfo_set(w->err, ERR_CORRUPT, path, 0, "changed while it was looked at");
    }
    return e == ERR_OK ? contents_add(&w->s->contents, slice_str(path),
                                      (uint64_t)st.st_size, st.st_mode, w->err)
                       : e;
}

/* ---- one folder ---- */

/* Such as a list on another disk: the backup must not lack it without an error. */
static bool is_list_elsewhere(const char *path, const struct stat *st)
{
    return S_ISLNK(st->st_mode) && strncmp(path, "lists/", 6) == 0;
}

static enum err take_entry(struct walk *w, int dirfd, const char *dir, const char *name,
                           int *iotofd)
{
    char path[FILE_PATH_MAX];
    struct stat st;

    if (file_path(path, "%s/%s", dir, name) != ERR_OK ||
        strlen(path) > CONTENTS_PATH_MAX) {
        leave_out(w->s, dir);
        return ERR_OK;
    }
    if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        w->has_missed = true;
        return ERR_OK;
    }
    if (S_ISDIR(st.st_mode)) {
        return push_folder(w, path);
    }
    if (is_list_elsewhere(path, &st)) {
        return errinfo_set(w->err, ERR_UNSUPPORTED, path, 0,
                           "a symbolic link, and a backup follows none; mount the "
                           "other disk in its place (mount --bind)");
    }
    if (S_ISREG(st.st_mode) &&
        contents_takes(slice_str(path), w->s->contents.has_counts)) {
        if (*iotofd < 0) {
            *iotofd = beneath_make(w->s->fd, dir, NULL);
        }
        return *iotofd < 0 ? walk_failed(w, dir, "cannot be made in backup.tmp")
                           : keep_file(w, dirfd, name, *iotofd, path);
    }
    if ((S_ISREG(st.st_mode) || S_ISLNK(st.st_mode)) &&
        !contents_is_passing(slice_str(path)) &&
        !contents_takes(slice_str(path), true)) {
        leave_out(w->s, path);
    }
    return ERR_OK;
}

static enum err take_dir(struct walk *w, const char *dir)
{
    int tofd = -1;
    struct dir_walk d = dir_walk_fd(beneath_open(w->s->state_fd, dir), dir);
    enum err e = ERR_OK;

    if (d.dir == NULL && d.errnum == ENOENT) {
        w->has_missed = strchr(dir, '/') != NULL;
        return ERR_OK;
    }
    while (e == ERR_OK && dir_walk_next(&d)) {
        e = take_entry(w, dirfd(d.dir), dir, d.name, &tofd);
    }
    fd_close(&tofd);
    return dir_walk_end(&d, e, w->err);
}

enum err snapshot_take(struct snapshot *s, const char *place, struct errinfo *reterr)
{
    struct walk w = {.s = s, .err = reterr};
    enum err e = ERR_OK;

    for (unsigned pass = 0; e == ERR_OK && pass < PASSES_MAX; pass++) {
        w.has_missed = false;
        e = push_folder(&w, place);
        while (e == ERR_OK && w.n > 0) {
            char dir[CONTENTS_PATH_MAX + 1];
            (void)snprintf(dir, sizeof(dir), "%s", w.dirs[--w.n]);
            e = take_dir(&w, dir);
        }
        if (!w.has_missed) {
            break;
        }
    }
    free(w.dirs);
    return e;
}

/* ---- the whole ---- */

enum err snapshot_open(const char *state_dir, bool with_counts, struct snapshot *ret,
                       struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];

    *ret = (struct snapshot){.state_fd = -1, .fd = -1, .lock = {.fd = -1}};
    contents_init(&ret->contents);
    ret->contents.has_counts = with_counts;
    enum err e = path_make(ret->state_dir, reterr, "%s", state_dir);
    THEN(e, path_make(path, reterr, "%s/" SNAPSHOT_LOCK, state_dir));
    if (e != ERR_OK) {
        return e;
    }
    ret->state_fd = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (ret->state_fd < 0) {
        return errinfo_errno(reterr, state_dir, "cannot open the state folder");
    }
    e = filelock_take(&ret->lock, path, reterr);
    if (e == ERR_LOCKED) {
        return errinfo_set(reterr, e, path, 0, "another backup is being taken");
    }
    THEN(e, path_make(path, reterr, "%s/" SNAPSHOT_DIR, state_dir));
    THEN(e, file_remove_tree(path, reterr));
    if (e == ERR_OK && (mkdirat(ret->state_fd, SNAPSHOT_DIR, SNAPSHOT_MODE) != 0 ||
                        (ret->fd = beneath_open(ret->state_fd, SNAPSHOT_DIR)) < 0)) {
        e = errinfo_errno(reterr, path, "cannot make a folder for the backup");
    }
    return e;
}

enum err snapshot_read(const struct snapshot *s, const struct contents_file *f,
                       int *retfd, struct errinfo *reterr)
{
    char dir[CONTENTS_PATH_MAX + 1];
    struct stat st;

    (void)snprintf(dir, sizeof(dir), "%s", f->path);
    char *slash = strrchr(dir, '/');
    *slash = '\0';
    int dirfd = beneath_open(s->fd, dir);
    *retfd = dirfd < 0 ? -1
                       : openat(dirfd, slash + 1,
                                O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
    const int why = errno;
    fd_close(&dirfd);
    errno = why;
    if (*retfd < 0 || fstat(*retfd, &st) != 0) {
        return errinfo_errno(reterr, f->path, "cannot be read for the backup");
    }
    if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size < f->size) {
        fd_close(retfd);
        return errinfo_set(reterr, ERR_CORRUPT, f->path, 0,
                           "it became shorter while the backup was taken; try again");
    }
    return ERR_OK;
}

void snapshot_close(struct snapshot *s)
{
    char path[FILE_PATH_MAX];

    if (s->fd >= 0) {
        fd_close(&s->fd);
        if (file_path(path, "%s/" SNAPSHOT_DIR, s->state_dir) == ERR_OK) {
            (void)file_remove_tree(path, NULL); /* else the next backup does */
        }
    }
    fd_close(&s->state_fd);
    filelock_drop(&s->lock);
    contents_fini(&s->contents);
}
