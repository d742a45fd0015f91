/* trial - files tried by a process with the ids of another user. */
#include "core/base/trial.h"

#include <dirent.h>
#include <grp.h>
#include <pwd.h>
#include <sys/wait.h>

#include "core/base/file.h"
#include "core/base/slice.h"

enum {
    DEPTH_MAX = 8,
    RECORD_MAX = 16384,
    LINE_ROOM = 2048,
    REPORT_MAX = 256 * 1024,
    DECIMAL = 10
};

/* ---- users ---- */

static bool fill_user(const struct passwd *p, struct trial_user *ret)
{
    *ret = (struct trial_user){
        .uid = p->pw_uid, .gid = p->pw_gid, .ngroups = TRIAL_GROUPS_MAX};
    (void)snprintf(ret->name, sizeof(ret->name), "%s", p->pw_name);
    if (getgrouplist(p->pw_name, p->pw_gid, ret->groups, &ret->ngroups) < 0) {
        ret->ngroups = TRIAL_GROUPS_MAX; /* of more groups than that the first ones */
    }
    return true;
}

bool trial_user_named(const char *name, struct trial_user *ret)
{
    char record[RECORD_MAX];
    struct passwd p;
    struct passwd *found = NULL;

    return getpwnam_r(name, &p, record, sizeof(record), &found) == 0 && found != NULL &&
           fill_user(&p, ret);
}

bool trial_user_of(uid_t uid, struct trial_user *ret)
{
    char record[RECORD_MAX];
    struct passwd p;
    struct passwd *found = NULL;

    if (getpwuid_r(uid, &p, record, sizeof(record), &found) == 0 && found != NULL) {
        return fill_user(&p, ret);
    }
    *ret = (struct trial_user){.uid = uid, .gid = (gid_t)uid};
    (void)snprintf(ret->name, sizeof(ret->name), "%lu", (unsigned long)uid);
    return true;
}

/* The second number of "Uid:" and "Gid:" is the effective one. */
static unsigned long effective(const char *numbers)
{
    char *end = NULL;

    (void)strtoul(numbers, &end, DECIMAL);
    return strtoul(end, NULL, DECIMAL);
}

static void read_groups(char *numbers, struct trial_user *ret)
{
    char *end = numbers;

    ret->ngroups = 0;
    while (ret->ngroups < TRIAL_GROUPS_MAX) {
        unsigned long g = strtoul(numbers, &end, DECIMAL);

        if (end == numbers) {
            return;
        }
        ret->groups[ret->ngroups++] = (gid_t)g;
        numbers = end;
    }
}

bool trial_user_of_process(uint64_t pid, struct trial_user *ret)
{
    char line[LINE_ROOM];
    unsigned found = 0;
    FILE *f = NULL;
    struct trial_user u = {.uid = 0};

    (void)snprintf(line, sizeof(line), "/proc/%llu/status", (unsigned long long)pid);
    f = fopen(line, "re");
    while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
        if (strncmp(line, "Uid:", 4) == 0) {
            (void)trial_user_of((uid_t)effective(line + 4), &u);
            found++;
        } else if (strncmp(line, "Gid:", 4) == 0) {
            u.gid = (gid_t)effective(line + 4);
            found++;
        } else if (strncmp(line, "Groups:", 7) == 0) {
            read_groups(line + 7, &u);
            found++;
        }
    }
    if (f != NULL) {
        (void)fclose(f);
    }
    *ret = u;
    return found == 3;
}

/* ---- trying ---- */

/* Opens a file, or a folder for a look into it (*retdir: one that was opened). 0 or an errno. */
static int try_at(int in, const char *name, bool may_write, int *retdir)
{
    struct stat st;
    int fd = -1;

    *retdir = -1;
    if (fstatat(in, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        return errno;
    }
    if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
        return 0; /* a link, a socket */
    }
    fd = openat(in, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        return errno;
    }
    if (may_write && faccessat(in, name, W_OK, 0) != 0) {
        int errnum = errno;

        (void)close(fd);
        return errnum;
    }
    if (S_ISDIR(st.st_mode) && faccessat(in, name, X_OK, 0) != 0) {
        (void)close(fd);
        return EACCES;
    }
    if (S_ISDIR(st.st_mode)) {
        *retdir = fd;
    } else {
        (void)close(fd);
    }
    return 0;
}

/* Writers' own: no reader opens them, and they come and go. */
static bool is_passing(const char *name)
{
    struct slice s = slice_str(name);

    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
           strcmp(name, "LOCK") == 0 ||
           slice_has_suffix_nocase(s, SLICE_LIT(FILE_TEMP_SUFFIX));
}

/* The first thing below that is denied: its errno, and its path in io. */
static int try_tree(int top, bool may_write, char io[FILE_PATH_MAX])
{
    DIR *dirs[DEPTH_MAX];
    size_t cut[DEPTH_MAX]; /* length of the path of each */
    unsigned depth = 1;
    int why = 0;

    cut[0] = strlen(io);
    dirs[0] = fdopendir(top);
    if (dirs[0] == NULL) {
        (void)close(top);
        return errno;
    }
    while (depth > 0) {
        /* cppcheck-suppress readdirCalled ; the stream is ours alone */
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): a process of one thread */
        const struct dirent *e = why == 0 ? readdir(dirs[depth - 1]) : NULL;
        int sub = -1;

        if (e == NULL) {
            (void)closedir(dirs[--depth]);
            continue;
        }
        if (is_passing(e->d_name)) {
            continue;
        }
        why = try_at(dirfd(dirs[depth - 1]), e->d_name, may_write, &sub);
        why = why == ENOENT ? 0 : why;
        if (why != 0 || sub >= 0) {
            (void)snprintf(io + cut[depth - 1], FILE_PATH_MAX - cut[depth - 1], "/%s",
                           e->d_name);
        }
        if (sub >= 0 && depth < DEPTH_MAX && (dirs[depth] = fdopendir(sub)) != NULL) {
            cut[depth++] = strlen(io);
        } else if (sub >= 0) {
            (void)close(sub);
        }
    }
    return why;
}

/* A path that cannot be looked at is cut to the folder on the way that lets nobody through. */
static void cut_to_barrier(char io[FILE_PATH_MAX])
{
    for (char *p = strchr(io + 1, '/'); p != NULL; p = strchr(p + 1, '/')) {
        *p = '\0';
        if (access(io, X_OK) != 0) {
            return;
        }
        *p = '/';
    }
}

static void try_row(const struct trial_row *row, size_t i, struct buf *ret)
{
    char path[FILE_PATH_MAX];
    int dir = -1;
    int why = 0;

    if (file_path(path, "%s", row->path) != ERR_OK) {
        return;
    }
    why = try_at(AT_FDCWD, path, row->may_write, &dir);
    if (why == EACCES) {
        cut_to_barrier(path);
    }
    if (why == 0 && dir >= 0 && row->is_tree) {
        why = try_tree(dir, row->may_write, path);
    } else if (dir >= 0) {
        (void)close(dir);
    }
    if (why == EACCES || why == EPERM || why == EROFS) {
        buf_printf(ret, "%zu %d %s\n", i, why, path);
    }
}

static bool become(const struct trial_user *u)
{
    return geteuid() != 0 || (setgroups((size_t)u->ngroups, u->groups) == 0 &&
                              setresgid(u->gid, u->gid, u->gid) == 0 &&
                              setresuid(u->uid, u->uid, u->uid) == 0);
}

int trial_call(const struct trial_user *user, trial_call_fn *fn, const void *context)
{
    int status = 0;
    const pid_t pid = fork();

    if (pid < 0) {
        return errno;
    }
    if (pid == 0) {
        _exit(become(user) ? fn(context) : EPERM);
    }
    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) {
            return errno;
        }
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

/* In the process of its own. */
static _Noreturn void try_all(const struct trial_user *user,
                              const struct trial_row *rows, size_t n, int out)
{
    struct buf report;

    if (!become(user)) {
        _exit(1);
    }
    buf_init(&report, REPORT_MAX);
    for (size_t i = 0; i < n; i++) {
        try_row(&rows[i], i, &report);
    }
    _exit(file_write_all(out, buf_slice(&report)) ? 0 : 1);
}

static void tell_findings(struct slice report, const struct trial_row *rows, size_t n,
                          trial_fn *fn, void *context)
{
    char path[FILE_PATH_MAX];
    char text[128];

    while (report.n > 0) {
        struct slice line = slice_cut(&report, '\n');
        size_t i = strtoul(line.p, NULL, DECIMAL);

        (void)slice_cut(&line, ' ');
        int why = (int)strtol(line.p, NULL, DECIMAL);
        (void)slice_cut(&line, ' ');
        if (i < n && file_path(path, "%.*s", SLICE_ARGS(line)) == ERR_OK) {
            fn(context,
               &(struct trial_finding){.path = path,
                                       .is_write = rows[i].may_write,
                                       .why = strerror_r(why, text, sizeof(text)),
                                       .row = rows[i].path});
        }
    }
}

static bool read_report(int fd, struct buf *ret)
{
    char chunk[LINE_ROOM];
    ssize_t n = 0;

    while ((n = read(fd, chunk, sizeof(chunk))) > 0 || (n < 0 && errno == EINTR)) {
        buf_add(ret, slice_of(chunk, n > 0 ? (size_t)n : 0));
    }
    return n == 0 && !buf_failed(ret);
}

enum err trial_run(const struct trial_user *user, const struct trial_row *rows,
                   size_t n, trial_fn *fn, void *context, struct errinfo *reterr)
{
    struct buf report;
    int fds[2];
    int status = -1;
    bool is_whole = false;
    pid_t pid = -1;

    if (pipe2(fds, O_CLOEXEC) != 0 || (pid = fork()) < 0) {
        return errinfo_errno(reterr, user->name,
                             "what this user may open is not known");
    }
    if (pid == 0) {
        (void)close(fds[0]);
        try_all(user, rows, n, fds[1]);
    }
    (void)close(fds[1]);
    buf_init(&report, REPORT_MAX);
    is_whole = read_report(fds[0], &report);
    (void)close(fds[0]);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (is_whole && status == 0) {
        tell_findings(buf_slice(&report), rows, n, fn, context);
    }
    buf_fini(&report);
    return is_whole && status == 0
               ? ERR_OK
               : errinfo_set(reterr, ERR_IO, user->name, 0,
                             "what this user may open could not be tried");
}
