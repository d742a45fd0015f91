#include "core/cli/run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/file.h"

static char env_path[] = "PATH=/usr/sbin:/usr/bin:/sbin:/bin";
static char env_locale[] = "LC_ALL=C";

static int spawn(char *const argv[], int out, pid_t *retpid)
{
    char libraries[FILE_PATH_MAX + sizeof("LD_LIBRARY_PATH=")];
    const char *path =
        secure_getenv("LD_LIBRARY_PATH"); /* of an MTA unpacked elsewhere */
    char *const env[] = {env_path, env_locale, path != NULL ? libraries : NULL, NULL};
    posix_spawn_file_actions_t actions;
    int errnum = posix_spawn_file_actions_init(&actions);

    if (errnum != 0) {
        return errnum;
    }
    (void)snprintf(libraries, sizeof(libraries), "LD_LIBRARY_PATH=%s",
                   path != NULL ? path : "");
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    errnum = posix_spawn(retpid, argv[0], &actions, NULL, argv, env);
    posix_spawn_file_actions_destroy(&actions);
    return errnum;
}

/* Reads to the end of file; false when time is up or the output too long. */
static bool read_all(int fd, struct buf *retout)
{
    uint64_t end_us = clock_mono_us() + (uint64_t)RUN_WAIT_MS * 1000;
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

enum err run_output(char *const argv[], struct buf *retout, struct errinfo *reterr)
{
    char text[128] = "";
    int fds[2];
    pid_t pid = -1;
    int errnum = 0;
    int status = 0;
    bool is_complete = false;

    if (pipe2(fds, O_CLOEXEC) != 0) {
        return errinfo_set(reterr, ERR_IO, argv[0], 0, "no pipe: %s",
                           strerror_r(errno, text, sizeof(text)));
    }
    errnum = spawn(argv, fds[1], &pid);
    close(fds[1]);
    if (errnum != 0) {
        close(fds[0]);
        return errinfo_set(reterr, err_of_errno(errnum), argv[0], 0, "cannot run: %s",
                           strerror_r(errnum, text, sizeof(text)));
    }
    is_complete = read_all(fds[0], retout);
    close(fds[0]);
    if (!is_complete) {
        kill(pid, SIGKILL);
    }
    status = wait_for(pid);
    if (!is_complete) {
        return errinfo_set(reterr, ERR_TIMEOUT, argv[0], 0,
                           "did not end in time, or its output has no end");
    }
    if (status != 0) {
        return errinfo_set(reterr, ERR_IO, argv[0], 0,
                           "failed; run it by hand to see why");
    }
    return ERR_OK;
}
