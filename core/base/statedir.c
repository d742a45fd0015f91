/* statedir - the state folder and whose its files are. */
#include "core/base/statedir.h"

#include <dirent.h>

#include "core/base/file.h"
#include "core/base/user.h"

enum { DEPTH_MAX = 8, PLACES = 13, FD_PATH_MAX = 64 };

static const char *const places[PLACES] = {
    "keys",     "lists", "counts",     "journal", "peers",   "feeds", "reports",
    "identity", "users", "quarantine", "model",   "changes", "tuning"};

/* ---- refused ---- */

static enum err check_one(const char *path, struct errinfo *reterr)
{
    struct stat st;

    if (lstat(path, &st) != 0 || S_ISLNK(st.st_mode) || (st.st_mode & S_IWOTH) == 0) {
        return ERR_OK; /* whoever opens what is in it will say why that fails */
    }
    return errinfo_set(reterr, ERR_DENIED, path, 0,
                       "everybody may write here (mode %04o), so it is not used; take "
                       "the right away: chmod o-w %.200s",
                       (unsigned)st.st_mode & 07777, path);
}

enum err statedir_check(const char *dir, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = check_one(dir, reterr);

    for (unsigned i = 0; e == ERR_OK && i < PLACES; i++) {
        if (file_path(path, "%s/%s", dir, places[i]) == ERR_OK) {
            e = check_one(path, reterr);
        }
    }
    return e;
}

/* ---- owners ---- */

/* As systemd/gillnet.tmpfiles has it. False: this system has not those users. */
static bool owner_of_package(const char *path, struct statedir_owner *ret)
{
    const bool is_keys = strncmp(path, "keys", 4) == 0;
    const bool is_changes = strncmp(path, "changes", 7) == 0;
    const bool is_gillnetds =
        is_keys || *path == '\0' || strncmp(path, "counts", 6) == 0 ||
        strncmp(path, "identity", 8) == 0 || strncmp(path, "journal", 7) == 0 ||
        strncmp(path, "reports", 7) == 0 || strncmp(path, "model", 5) == 0;
    uid_t gillnetd = 0;
    uid_t hub = 0;
    gid_t group = 0;
    gid_t of_hub = 0;

    if (!user_find(STATEDIR_USER, &gillnetd, &group) ||
        !user_find(STATEDIR_HUB_USER, &hub, &of_hub)) {
        return false;
    }
    *ret = (struct statedir_owner){is_gillnetds ? gillnetd : hub, group, STATEDIR_MODE};
    if ((is_keys || is_changes) && group_find(STATEDIR_KEYS_GROUP, &ret->gid)) {
        ret->mode = STATEDIR_KEYS_MODE;
    }
    return true;
}

/* The owner of a folder, unless that is root. */
static bool owner_of_folder(const char *folder, struct statedir_owner *ret)
{
    struct stat st;

    if (lstat(folder, &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid == 0) {
        return false;
    }
    *ret = (struct statedir_owner){st.st_uid, st.st_gid, S_ISGID | (st.st_mode & 0777)};
    return true;
}

void statedir_owner(const char *dir, const char *path, struct statedir_owner *ret)
{
    struct statedir_owner package;
    char place[FILE_PATH_MAX];

    *ret = (struct statedir_owner){(uid_t)-1, (gid_t)-1, STATEDIR_MODE};
    if (geteuid() != 0 ||
        (*path != '\0' &&
         file_path(place, "%s/%.*s", dir, (int)strcspn(path, "/"), path) == ERR_OK &&
         owner_of_folder(place, ret))) {
        return;
    }
    const bool has_package = owner_of_package(path, &package);
    const bool is_given = owner_of_folder(dir, ret);
    uid_t gillnetd = 0;
    gid_t group = 0;

    if (has_package && (!is_given || (user_find(STATEDIR_USER, &gillnetd, &group) &&
                                      ret->uid == gillnetd))) {
        *ret = package;
    } else if (is_given) {
        ret->mode = STATEDIR_MODE;
    }
}

enum err statedir_make(const char *dir, struct errinfo *reterr)
{
    struct statedir_owner owner;
    struct stat st;
    const bool was_there = stat(dir, &st) == 0;
    enum err e = file_make_dir(dir, STATEDIR_MODE, reterr);

    if (e == ERR_OK && !was_there && geteuid() == 0 && owner_of_package("", &owner) &&
        lchown(dir, owner.uid, owner.gid) != 0) {
        e = errinfo_errno(reterr, dir, "cannot give the folder to gillnetd's user");
    }
    return e == ERR_OK ? statedir_check(dir, reterr) : e;
}

/* ---- what root left ---- */

/* The rights by which the service, or who shares its group, reads what root made. */
static mode_t mode_of(const struct stat *st, const struct statedir_owner *owner,
                      bool is_private)
{
    mode_t mode = st->st_mode & 07777;

    if (S_ISDIR(st->st_mode)) {
        return owner->mode;
    }
    return is_private ? mode : mode | S_IRUSR | S_IWUSR | S_IRGRP;
}

/* fd: of O_PATH, so that what is changed is what was looked at. */
static void give_file(int fd, const struct statedir_owner *owner, bool is_private)
{
    char name[FD_PATH_MAX];
    struct stat st;

    if (fstat(fd, &st) != 0 || st.st_uid != 0 ||
        !(S_ISDIR(st.st_mode) || (S_ISREG(st.st_mode) && st.st_nlink == 1))) {
        return;
    }
    (void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    if (fchownat(fd, "", owner->uid, owner->gid, AT_EMPTY_PATH) == 0) {
        (void)chmod(name, mode_of(&st, owner, is_private));
    }
}

/* Gives what is in a folder, and the folders in it: a stack of open ones, no recursion. */
static void give_all(int top, const struct statedir_owner *owner, bool is_private)
{
    DIR *open_dirs[DEPTH_MAX];
    unsigned depth = 0;

    open_dirs[depth] = fdopendir(top);
    if (open_dirs[depth] == NULL) {
        (void)close(top);
        return;
    }
    for (depth = 1; depth > 0;) {
        const int in = dirfd(open_dirs[depth - 1]);
        DIR *dir = open_dirs[depth - 1];
        /* cppcheck-suppress readdirCalled ; the stream is ours alone */
        const struct dirent *e = readdir(dir); /* NOLINT(concurrency-mt-unsafe) */

        if (e == NULL) {
            (void)closedir(open_dirs[--depth]);
            continue;
        }
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) {
            continue;
        }
        const int fd = openat(in, e->d_name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0) {
            continue;
        }
        give_file(fd, owner, is_private);
        const int sub = depth < DEPTH_MAX
                            ? openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                            : -1;
        (void)close(fd);
        if (sub >= 0 && (open_dirs[depth] = fdopendir(sub)) != NULL) {
            depth++;
        } else if (sub >= 0) {
            (void)close(sub);
        }
    }
}

/* The one file of root's commands that is in no place. */
static void settle_lock(const char *dir)
{
    struct statedir_owner owner;
    char path[FILE_PATH_MAX];
    int fd = -1;

    statedir_owner(dir, "", &owner);
    if (owner.uid != (uid_t)-1 && file_path(path, "%s/backup.lock", dir) == ERR_OK &&
        (fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC)) >= 0) {
        give_file(fd, &owner, true);
        (void)close(fd);
    }
}

void statedir_settle(const char *dir)
{
    char path[FILE_PATH_MAX];

    if (geteuid() == 0) {
        settle_lock(dir);
    }
    for (unsigned i = 0; geteuid() == 0 && i < PLACES; i++) {
        /* secrets and links, which are their owner's alone */
        const bool is_private =
            strcmp(places[i], "peers") == 0 || strcmp(places[i], "quarantine") == 0;
        struct statedir_owner owner;
        int fd = -1;

        statedir_owner(dir, places[i], &owner);
        if (owner.uid == (uid_t)-1 ||
            file_path(path, "%s/%s", dir, places[i]) != ERR_OK) {
            continue;
        }
        fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0) {
            continue;
        }
        struct stat st;
        if (fstat(fd, &st) == 0 && st.st_uid == 0 &&
            fchown(fd, owner.uid, owner.gid) == 0) {
            (void)fchmod(fd, owner.mode);
        }
        give_all(fd, &owner, is_private);
    }
}
