/*
 * clirun - `gillnet ...` inside the test: a temporary folder, and the output.
 */
#ifndef TESTS_UNIT_CLI_CLIRUN_H
#define TESTS_UNIT_CLI_CLIRUN_H

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/cli/cli.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum { CLIRUN_ARGS = 24, CLIRUN_TEXT = 1 << 17 };

static char clirun_dir[64];
static char clirun_out[CLIRUN_TEXT]; /* of the last run */
static char clirun_err[CLIRUN_TEXT];

static inline int clirun_setup(void **state)
{
    (void)state;
    snprintf(clirun_dir, sizeof(clirun_dir), "/tmp/gillnet-cli.XXXXXX");
    return mkdtemp(clirun_dir) == NULL || base_init() != ERR_OK;
}

static inline int clirun_teardown(void **state)
{
    (void)state;
    return tempdir_remove(clirun_dir);
}

/* DIR/name, in one of 64 buffers. */
static inline char *clirun_path(const char *name)
{
    static char paths[64][512];
    static unsigned next;
    char *path = paths[next++ % 64];

    snprintf(path, sizeof(paths[0]), "%s/%s", clirun_dir, name);
    return path;
}

/* Writes a file; "%s" in text is the folder. */
static inline char *clirun_put(const char *name, const char *text, mode_t mode)
{
    char *path = clirun_path(name);
    FILE *f = fopen(path, "w");
    const char *p = NULL;

    assert_non_null(f);
    while ((p = strstr(text, "%s")) != NULL) {
        fprintf(f, "%.*s%s", (int)(p - text), text, clirun_dir);
        text = p + 2;
    }
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, mode), 0);
    return path;
}

static inline void clirun_slurp(FILE *f, char *dst)
{
    size_t n = 0;

    rewind(f);
    n = fread(dst, 1, CLIRUN_TEXT - 1, f);
    dst[n] = '\0';
    fclose(f);
}

/* Runs `gillnet ARGS...` (NULL ends them), gives its status. */
static inline int clirun(const char *const args[])
{
    char copy[CLIRUN_ARGS][1024];
    char *argv[CLIRUN_ARGS + 1] = {NULL};
    int argc = 1;
    int status = 0;
    FILE *out = tmpfile();
    FILE *err = tmpfile();
    int was_out = dup(STDOUT_FILENO);
    int was_err = dup(STDERR_FILENO);

    snprintf(copy[0], sizeof(copy[0]), "gillnet");
    argv[0] = copy[0];
    for (; args[argc - 1] != NULL && argc < CLIRUN_ARGS; argc++) {
        snprintf(copy[argc], sizeof(copy[argc]), "%s", args[argc - 1]);
        argv[argc] = copy[argc];
    }
    fflush(stdout);
    fflush(stderr);
    dup2(fileno(out), STDOUT_FILENO);
    dup2(fileno(err), STDERR_FILENO);
    status = cli_run(argc, argv);
    fflush(stdout);
    fflush(stderr);
    dup2(was_out, STDOUT_FILENO);
    dup2(was_err, STDERR_FILENO);
    close(was_out);
    close(was_err);
    clirun_slurp(out, clirun_out);
    clirun_slurp(err, clirun_err);
    return status;
}
#define CLIRUN(...) clirun((const char *const[]){__VA_ARGS__, NULL})

#define assert_has(text, part)                             \
    do {                                                   \
        if (strstr(text, part) == NULL) {                  \
            fail_msg("\"%s\" is not in:\n%s", part, text); \
        }                                                  \
    } while (0)

#endif
