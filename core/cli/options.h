/*
 * options - "--name", "--name VALUE" and "--name=VALUE" of one subcommand.
 *
 * Threads: one.   Allocates: nothing.
 */
#ifndef CORE_CLI_OPTIONS_H
#define CORE_CLI_OPTIONS_H

#include "core/cli/cli.h"

enum { CLI_VALUES_MAX = 1000 };

/* What an option was given that may be there several times; {.n = 0} to begin with. */
struct cli_values {
    const char *v[CLI_VALUES_MAX];
    size_t n;
};

struct cli_option {
    const char *name;          /* "--expire" */
    const char **value;        /* where its value goes (the last one wins), or NULL */
    bool *flag;                /* set when it is there, or NULL */
    struct cli_values *values; /* where all its values go, or NULL */
};

/* Takes the options of the table out of argv (argv[0] stays), wherever they stand before "--".
 * Returns 0, or an exit status after a message: an unknown option, a value that is missing,
 * more than CLI_VALUES_MAX. */
int cli_options(const struct cli_command *command, const struct cli_option *table,
                size_t n, int *argc, char **argv);

/* "7d" from now as seconds since 1970; NULL gives 0 (never). False: no time. */
bool cli_expiry(const char *text, uint32_t *ret);

#endif
