/*
 * confdir - a temporary folder with configuration files, for the tests of core/config.
 */
#ifndef TESTS_UNIT_CONFIG_CONFDIR_H
#define TESTS_UNIT_CONFIG_CONFDIR_H

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/config/config.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

static char confdir[64];
static char confdir_file[512]; /* of the last confdir_path */

static inline int confdir_setup(void **state)
{
    (void)state;
    snprintf(confdir, sizeof(confdir), "/tmp/gillnet-conf.XXXXXX");
    return mkdtemp(confdir) == NULL;
}

static inline int confdir_teardown(void **state)
{
    (void)state;
    return tempdir_remove(confdir);
}

static inline const char *confdir_path(const char *name)
{
    snprintf(confdir_file, sizeof(confdir_file), "%s/%s", confdir, name);
    return confdir_file;
}

static inline const char *confdir_put_bytes(const char *name, const char *p, size_t n)
{
    FILE *f = fopen(confdir_path(name), "w");

    assert_non_null(f);
    assert_int_equal(fwrite(p, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
    return confdir_file;
}

static inline const char *confdir_put(const char *name, const char *text)
{
    return confdir_put_bytes(name, text, strlen(text));
}

static inline struct config *confdir_load(const char *path)
{
    struct config *c = NULL;
    struct config_errors errors = {0, NULL};
    char text[1024];

    if (config_load(path, NULL, &c, &errors) != ERR_OK) {
        for (size_t i = 0; i < errors.n; i++) {
            print_error("%s\n", errinfo_format(&errors.v[i], text, sizeof(text)));
        }
        fail_msg("%s does not load", path != NULL ? path : "(defaults)");
    }
    return c;
}

/* Whether some error of line (0: any) contains text. */
static inline int confdir_has_error(const struct config_errors *errors, unsigned line,
                                    const char *text)
{
    for (size_t i = 0; i < errors->n; i++) {
        if ((line == 0 || errors->v[i].line == line) &&
            strstr(errors->v[i].text, text) != NULL) {
            return 1;
        }
    }
    return 0;
}

/* Whether the first error of a configuration with this text says why. */
static inline void confdir_refused(const char *text, const char *why)
{
    struct config *c = NULL;
    struct config_errors errors = {0, NULL};

    assert_int_not_equal(
        config_load(confdir_put("gillnet.conf", text), NULL, &c, &errors), ERR_OK);
    if (strstr(errors.v[0].text, why) == NULL) {
        fail_msg("%s: not refused for \"%s\" but: %s", text, why, errors.v[0].text);
    }
    config_errors_free(&errors);
}

#endif
