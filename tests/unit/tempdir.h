/*
 * tempdir - a folder for one test, removed with all that lies in it.
 */
#ifndef TESTS_UNIT_TEMPDIR_H
#define TESTS_UNIT_TEMPDIR_H

#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/unit.h"

enum { TEMPDIR_PATH = 512 };

struct tempdir {
    char path[64];
    char file[TEMPDIR_PATH]; /* of the last tempdir_file */
};

static inline int tempdir_setup(void **state)
{
    struct tempdir *t = calloc(1, sizeof(*t));
    assert_non_null(t);
    (void)snprintf(t->path, sizeof(t->path), "/tmp/gillnet-test-XXXXXX");
    assert_non_null(mkdtemp(t->path));
    *state = t;
    return 0;
}

/* A folder in memory where there is one, for tests that write and sync very often; path holds 64. */
static inline bool tempdir_make_fast(char path[64])
{
    (void)snprintf(path, 64, "/dev/shm/gillnet-test-XXXXXX");
    if (mkdtemp(path) != NULL) {
        return true;
    }
    (void)snprintf(path, 64, "/tmp/gillnet-test-XXXXXX");
    return mkdtemp(path) != NULL;
}

static inline int tempdir_remove_one(const char *path, const struct stat *st, int kind,
                                     struct FTW *where)
{
    (void)st;
    (void)kind;
    (void)where;
    return remove(path);
}

/* Removes dir with all that lies in it; not 0 when something stays. */
static inline int tempdir_remove(const char *dir)
{
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
    return nftw(dir, tempdir_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static inline int tempdir_teardown(void **state)
{
    struct tempdir *t = *state;
    (void)tempdir_remove(t->path);
    free(t);
    return 0;
}

/* The path of name in the folder, valid until the next call. */
static inline const char *tempdir_file(struct tempdir *t, const char *name)
{
    (void)snprintf(t->file, sizeof(t->file), "%s/%s", t->path, name);
    return t->file;
}

#endif
