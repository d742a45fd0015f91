/*
 * state - a folder of this process for targets whose parser opens files; it is removed at the end.
 */
#ifndef TESTS_FUZZ_STATE_H
#define TESTS_FUZZ_STATE_H

#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fuzz/fuzz.h"

enum { STATE_PATH = 256, STATE_DEPTH = 16 };

static char state_dir[STATE_PATH];

static inline int state_remove_one(const char *path, const struct stat *st, int type,
                                   struct FTW *walk)
{
    (void)st, (void)type, (void)walk;
    return remove(path);
}

static inline void state_remove(void)
{
    (void)nftw(state_dir, state_remove_one, STATE_DEPTH, FTW_DEPTH | FTW_PHYS);
}

/* The folder, made by the first call. */
static inline const char *state_folder(void)
{
    if (state_dir[0] == '\0') {
        const char *base = getenv("TMPDIR"); /* NOLINT(concurrency-mt-unsafe) */
        (void)snprintf(state_dir, sizeof(state_dir), "%s/gillnet-fuzz-XXXXXX",
                       base != NULL ? base : "/tmp");
        FUZZ_CHECK(mkdtemp(state_dir) != NULL);
        FUZZ_CHECK(atexit(state_remove) == 0);
    }
    return state_dir;
}

/* The path of a file in it, whose folders are made; good until the next call. */
static inline const char *state_path(const char *name)
{
    static char path[2 * STATE_PATH];

    int n = snprintf(path, sizeof(path), "%s/%s", state_folder(), name);
    FUZZ_CHECK(n > 0 && n < (int)sizeof(path));
    for (char *p = path + strlen(state_dir) + 1; (p = strchr(p, '/')) != NULL; p++) {
        *p = '\0';
        (void)mkdir(path, 0750);
        *p = '/';
    }
    return path;
}

/* Makes the file of these bytes, in place of one that is there. */
static inline const char *state_file(const char *name, struct slice bytes)
{
    const char *path = state_path(name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    FUZZ_CHECK(fd >= 0 &&
               (bytes.n == 0 || write(fd, bytes.p, bytes.n) == (ssize_t)bytes.n));
    (void)close(fd);
    return path;
}

#endif
