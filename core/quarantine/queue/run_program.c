#include "core/quarantine/queue/run_program.h"

#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "core/base/clock.h"
#include "core/base/file.h"

static char env_path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
static char env_locale[] = "LC_ALL=C";

/* in is the input, -1 for an empty one; errors go to err, -1 for nowhere. */
static int spawn(const char *const argv[], int in, int out, int err, pid_t *retpid)
{
    size_t n = 1;
    char *args[RUN_ARGS_MAX] = {NULL}; /* posix_spawn(3) does not change the strings */
    char libraries[FILE_PATH_MAX + sizeof("LD_LIBRARY_PATH=")];
    const char *path =
        secure_getenv("LD_LIBRARY_PATH"); /* of an MTA unpacked elsewhere */
    char *const env[] = {env_path, env_locale, path != NULL ? libraries : NULL, NULL};
    posix_spawn_file_actions_t actions;
    int errnum = posix_spawn_file_actions_init(&actions);

    while (n + 1 < RUN_ARGS_MAX && argv[n] != NULL) {
        n++;
    }
    memcpy(args, argv, n * sizeof(*args));
    if (errnum != 0) {
        return errnum;
    }
    (void)snprintf(libraries, sizeof(libraries), "LD_LIBRARY_PATH=%s",
                   path != NULL ? path : "");
    if (in >= 0) {
        posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    } else {
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY,
                                         0);
    }
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    if (err >= 0) {
        posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
    } else {
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY,
                                         0);
    }
    errnum = posix_spawn(retpid, argv[0], &actions, NULL, args, env);
    posix_spawn_file_actions_destroy(&actions);
    return errnum;
}

/* Reads to the end of file; false when time is up or the output too long. */
static bool read_output(int fd, unsigned wait_ms, struct buf *retout)
{
    uint64_t end_us = clock_mono_us() + (uint64_t)wait_ms * 1000;
    char chunk[4096];

    while (!buf_failed(retout)) {
        uint64_t now_us = clock_mono_us();
        struct pollfd p = {.fd = fd, .events = POLLIN};
        ssize_t n = 0;

        if (now_us >= end_us || poll(&p, 1, (int)((end_us - now_us) / 1000) + 1) == 0) {
            return false;
        }
        n = read(fd, chunk, sizeof(chunk));
        if (n == 0) {
            return true;
        }
        if (n < 0 && errno != EINTR) {
            return false;
        }
        if (n > 0) {
            buf_add(retout, slice_of(chunk, (size_t)n));
        }
    }
    return false;
}

static int wait_for(pid_t pid)
{
    int status = -1;

    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) {
            return -1;
        }
    }
    return status;
}

/* How a program is run. */
struct run {
    const char *const *argv;
    int in; /* its input; -1: empty */
    bool with_errors;
    unsigned wait_ms;
};

/* Runs it to its end; *retstatus is that of waitpid. */
static enum err run_to_end(const struct run *r, struct buf *retout, int *retstatus,
                           struct errinfo *reterr)
{
    int fds[2];
    pid_t pid = -1;
    int errnum = 0;
    bool is_complete = false;

    if (pipe2(fds, O_CLOEXEC) != 0) {
        return errinfo_set(reterr, ERR_IO, r->argv[0], 0, "no pipe: %s",
                           strerrordesc_np(errno));
    }
    errnum = spawn(r->argv, r->in, fds[1], r->with_errors ? fds[1] : -1, &pid);
    close(fds[1]);
    if (errnum != 0) {
        close(fds[0]);
        return errinfo_set(reterr, err_of_errno(errnum), r->argv[0], 0,
                           "cannot run: %s", strerrordesc_np(errnum));
    }
    is_complete = read_output(fds[0], r->wait_ms, retout);
    close(fds[0]);
    if (!is_complete) {
        kill(pid, SIGKILL);
    }
    *retstatus = wait_for(pid);
    if (!is_complete) {
        return errinfo_set(reterr, ERR_TIMEOUT, r->argv[0], 0,
                           "did not end in time, or its output has no end");
    }
    return ERR_OK;
}

enum err run_output(const char *const argv[], struct buf *retout,
                    struct errinfo *reterr)
{
    const struct run r = {argv, -1, false, RUN_WAIT_MS};
    int status = 0;
    enum err e = run_to_end(&r, retout, &status, reterr);

    if (e == ERR_OK && status != 0) {
        e = errinfo_set(reterr, ERR_IO, argv[0], 0,
                        "failed; run it by hand to see why");
    }
    return e;
}

/* The last line that is not empty. */
static struct slice last_line(struct slice text)
{
    struct slice last = SLICE_NONE;

    while (text.n > 0) {
        struct slice line = slice_trim(slice_cut(&text, '\n'));

        last = line.n > 0 ? line : last;
    }
    return last;
}

static enum err run_saying(const char *const argv[], int in, struct buf *retsaid,
                           struct errinfo *reterr)
{
    const struct run r = {argv, in, true, RUN_CHANGE_WAIT_MS};
    int status = 0;
    enum err e = run_to_end(&r, retsaid, &status, reterr);

    if (e == ERR_OK && status != 0) {
        e = errinfo_set(reterr, ERR_IO, argv[0], 0, "failed: %.*s",
                        SLICE_ARGS(slice_head(last_line(buf_slice(retsaid)), 300)));
    }
    return e;
}

enum err run_change_said(const char *const argv[], struct buf *retsaid,
                         struct errinfo *reterr)
{
    return run_saying(argv, -1, retsaid, reterr);
}

enum err run_with_input(const char *const argv[], struct slice input,
                        struct errinfo *reterr)
{
    int in = memfd_create("input", MFD_CLOEXEC);
    struct buf said;
    enum err e = ERR_OK;

    if (in < 0 || !file_write_all(in, input) || lseek(in, 0, SEEK_SET) != 0) {
        e = errinfo_errno(reterr, argv[0], "no memory for its input");
    }
    buf_init(&said, RUN_SAID_MAX);
    THEN(e, run_saying(argv, in, &said, reterr));
    buf_fini(&said);
    fd_close(&in);
    return e;
}

enum err run_change(const char *const argv[], struct errinfo *reterr)
{
    struct buf said;

    buf_init(&said, RUN_SAID_MAX);
    enum err e = run_change_said(argv, &said, reterr);
    buf_fini(&said);
    return e;
}
