/*
 * cli - the subcommands of `gillnet`, one file each (cmd_NAME.c), and what they share.
 *
 * Exit status: 0 clean or done, 1 hit, 64 and above (sysexits) error. Data goes to standard
 * output, messages to standard error. Every subcommand takes -c FILE before or after its name
 * and --json where it prints data (one object a line).
 */
#ifndef CORE_CLI_CLI_H
#define CORE_CLI_CLI_H

#include <stdbool.h>

#include "core/base/err.h"
#include "core/base/keyring.h"
#include "core/config/config.h"

enum { CLI_CLEAN = 0, CLI_HIT = 1 };

struct cli {
    const char *config_file; /* -c, or CONFIG_DEFAULT_FILE */
    bool json;
    struct config *config; /* loaded on demand by cli_config */
    struct keyring keys;   /* by cli_keys */
};

struct cli_command {
    const char *name;
    const char *synopsis; /* "check [--count] FILE|DIR|-..." */
    const char *help;     /* one line */
    /* argv[0] is the subcommand's name; -c and --json are taken out already */
    int (*run)(struct cli *cli, int argc, char **argv);
};

/* Loads the configuration once; prints every error and returns an exit status on failure, 0 on
 * success. Without -c and without the default file the built-in defaults apply. */
int cli_config(struct cli *cli);
/* Loads the keys, makes them where create is set. Same convention. */
int cli_keys(struct cli *cli, bool create);

/* Prints "gillnet: source:line: text" and gives the sysexits status for it. */
int cli_fail(const struct errinfo *info);
int cli_usage(const struct cli_command *command, const char *why);

int cmd_check(struct cli *cli, int argc, char **argv);
int cmd_extract(struct cli *cli, int argc, char **argv);
int cmd_lookup(struct cli *cli, int argc, char **argv);
int cmd_list(struct cli *cli, int argc, char **argv);
int cmd_config(struct cli *cli, int argc, char **argv);
int cmd_stat(struct cli *cli, int argc, char **argv);
int cmd_reload(struct cli *cli, int argc, char **argv);
int cmd_doctor(struct cli *cli, int argc, char **argv);

#endif
