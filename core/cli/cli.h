/*
 * cli - the subcommands of `gillnet`, one file each (cmd_NAME.c), and what they share.
 *
 * Exit status: 0 clean or done, 1 hit, 64 and above (sysexits) error. Data goes to standard
 * output, messages to standard error. Every subcommand takes -c FILE before or after its name
 * and --json where it prints data (one object a line).
 */
#ifndef CORE_CLI_CLI_H
#define CORE_CLI_CLI_H

#include "core/base/err.h"
#include "core/base/keyring.h"
#include "core/config/config.h"

enum { CLI_CLEAN = 0, CLI_HIT = 1 };

struct cli {
    const char *config_file; /* -c, or CONFIG_DEFAULT_FILE */
    bool is_config_given;    /* -c was there */
    bool json;
    struct config *config; /* loaded on demand by cli_config */
    struct keyring keys;   /* by cli_keys */
    const char *admin_key; /* of `gillnet peer`: --admin-key FILE; NULL: none */
};

struct cli_command {
    const char *name;
    const char *synopsis; /* "check [--count] FILE|DIR|-..." */
    const char *help;     /* one line */
    /* argv[0] is the subcommand's name; -c and --json are taken out already, up to "--", which
     * stays. argv[argc] is NULL. */
    int (*run)(struct cli *cli, int argc, char **argv);
};

/* The whole program after base_init: parses the command line, runs a subcommand, flushes standard
 * output (a failure of which is a failure of the command). Returns the exit status. */
int cli_run(int argc, char **argv);

/* Commands as another program runs them (core/lab/main.c). */
struct cli_runner {
    const char *name;
    int (*run)(struct cli *cli, int argc, char **argv);
};
/* As cli_run, with these functions instead of those of the table; it refuses all other commands. */
int cli_run_as(int argc, char **argv, const struct cli_runner *runners, size_t n);

/* Loads the configuration once; prints every error and returns an exit status on failure, 0 on
 * success. Without -c and without the default file the built-in defaults apply. */
int cli_config(struct cli *cli);
/* Loads the keys, makes them where create is set. Same convention. */
int cli_keys(struct cli *cli, bool create);

/* Prints "gillnet: source:line: text" and gives the sysexits status for it. */
int cli_fail(const struct errinfo *info);
/* Prints why and the synopsis; gives EX_USAGE. */
int cli_usage(const struct cli_command *command, const char *why);

/* The row of a subcommand, for cli_usage. */
const struct cli_command *cli_command(const char *name);
/* The next row; NULL gives the first, after the last comes NULL. */
const struct cli_command *cli_command_next(const struct cli_command *command);

/* Prints the help of a command, or of the program for NULL; 0. */
int cli_help(const struct cli_command *command);
/* Says that there is no such command or option, and names the nearest; EX_USAGE. */
int cli_unknown(const char *word);

#define CLI_COMMAND(name, synopsis, help) \
    int cmd_##name(struct cli *cli, int argc, char **argv);
#include "core/cli/commands.def"
#undef CLI_COMMAND

#endif
