/*
 * cli - the program `gillnet`: its commands, one file each (cmd_NAME.c), and their shared
 * functions.
 *
 * A command reads its options, does its work and returns an exit status: 0 clean or done, 1 hit or
 * findings, 64 and above (sysexits) an error. Data goes to standard output, messages to standard
 * error. Every command takes -c FILE before or after its name, and --json if it prints data (one
 * object a line). Commands read and write the state folder themselves; only where a daemon holds
 * the newest state do they ask it over its control socket (services.h).
 *
 * Files in reading order: commands.def (the table), cli.c (the command line), options.c, print
 * (text, JSON, progress), humanize (numbers), change_note (what was changed), services (gillnetd
 * and the hub), open_lists, messages with mbox, count_source; then one group a command: lookup_*,
 * list_*, count_*, feed_*, peer_*, stat_*, doctor_*, setup_* with postfix, milters and run_program.
 * synopsis explains mistyped words and serves completion; program starts gillnet-hub and
 * gillnet-lab.
 *
 * To add a command: write its row into commands.def; write cmd_NAME.c with cmd_NAME, which calls
 * cli_arguments first; describe it in contrib/man/gillnet.1 (tests compare both); test it in
 * tests/integ/cli. A subcommand is a row of the table in the file of its command.
 *
 * Threads: one.   Owns: config and keys, until cli_run returns.
 */
#ifndef CORE_CLI_CLI_H
#define CORE_CLI_CLI_H

#include "core/base/err.h"
#include "core/base/file.h"
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
    const char *undoes;    /* id of the change that the command undoes; NULL: none */
    bool has_noted;        /* a change: the log may be root's */
    bool has_opened_list;  /* to change it: gillnetd is to look at it */
};

/* argv[0] is the name of the command or subcommand; -c and --json are taken out already, up to
 * "--", which stays. argv[argc] is NULL. Returns an exit status. */
typedef int cli_run_fn(struct cli *cli, int argc, char **argv);

struct cli_command {
    const char *name;
    const char *synopsis; /* "check [--count] FILE|DIR|-..." */
    const char *help;     /* one line */
    cli_run_fn *run;
};

/* The whole program after base_init: parses the command line, runs a command, flushes standard
 * output (a failure of which is a failure of the command). Returns the exit status. */
int cli_run(int argc, char **argv);

struct cli_runner {
    const char *name;
    cli_run_fn *run;
};
/* As cli_run, for another program (core/lab/main.c): runs these functions instead of those of the
 * table and refuses all other commands. */
int cli_run_as(int argc, char **argv, const struct cli_runner *runners, size_t n);

/* Runs the function that argv[1] names, with argv from there on; otherwise prints the usage of
 * command. */
int cli_subcommand(struct cli *cli, const char *command, const struct cli_runner *table,
                   size_t n, int argc, char **argv);

/* Whether this user may look into the state folder at all. */
bool cli_may_look(const struct cli *cli);
/* Loads the configuration once; prints every error and returns an exit status on failure, 0 on
 * success. Without -c and without the default file the built-in defaults apply. */
int cli_config(struct cli *cli);
/* cli_config, and its rules compiled: for commands that judge messages. */
int cli_rules(struct cli *cli);
/* Loads configuration and keys, makes the keys if create is set. Same convention. */
int cli_keys(struct cli *cli, bool create);

/* ---- options ---- */

enum { CLI_VALUES_MAX = 1000, CLI_MANY = 1 << 30 };

/* The values of an option that may be there several times; {.n = 0} to begin with. */
struct cli_values {
    const char *v[CLI_VALUES_MAX];
    size_t n;
};

struct cli_option {
    const char *name;          /* "--expire" */
    const char **value;        /* where its value goes (the last one wins), or NULL */
    bool *flag;                /* set if the option is there, or NULL */
    struct cli_values *values; /* where all its values go, or NULL */
};

/* Takes the options of the table out of argv (argv[0] stays), wherever they stand before "--".
 * Returns 0, or an exit status after a message: an unknown option, a missing value, more than
 * CLI_VALUES_MAX values. */
int cli_options(const struct cli_command *command, const struct cli_option *table,
                size_t n, int *argc, char **argv);

/* The words of a command or subcommand. */
struct cli_form {
    const char *command;            /* of commands.def */
    const struct cli_option *table; /* of n options */
    size_t n;
    int least; /* arguments that are no options, without argv[0] */
    int most;
    const char *why; /* message if there are fewer or more */
};
#define CLI_FORM(command, table, least, most, why) \
    ((struct cli_form){command, table, LENGTH(table), least, most, why})
#define CLI_WORDS(command, least, most, why) \
    ((struct cli_form){command, NULL, 0, least, most, why})
/* cli_options, then counts the arguments. Returns 0, or an exit status after a message. */
int cli_arguments(struct cli_form form, int *argc, char **argv);

/* "7d" from now as seconds since 1970; NULL gives 0 (never). False: text is no time. */
bool cli_expiry(const char *text, uint32_t *ret);

/* ---- failures ---- */

/* Prints "gillnet: source:line: text" and returns the sysexits status for it. */
int cli_fail(const struct errinfo *info);
/* 0 for ERR_OK, otherwise cli_fail. */
int cli_status(enum err e, const struct errinfo *info);
/* Prints "gillnet: " and the message; returns status. */
int cli_error(int status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same without a status. */
void cli_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* cli_error for memory that is used up. */
int cli_nomem(void);
/* Prints why and the synopsis of the command; returns EX_USAGE. */
int cli_usage(const char *command, const char *why);
/* Prints that there is no such command or option, and the nearest one; returns EX_USAGE. */
int cli_unknown(const char *word);

/* ---- the table ---- */

/* The row of a command; NULL: there is none. */
const struct cli_command *cli_command(const char *name);
/* The next row; NULL gives the first, after the last comes NULL. */
const struct cli_command *cli_command_next(const struct cli_command *command);
/* Prints the help of a command, or of the program for NULL; returns 0. */
int cli_help(const struct cli_command *command);
/* One subcommand of it. EX_USAGE: it has none of that name. */
int cli_help_form(const struct cli_command *command, const char *word);

struct user_change;
/* Changes the settings of a user or domain (user_change.h), notes and reports it. Sets config and
 * on_error itself. EX_TEMPFAIL: somebody changed them since. */
int cli_set_user(struct cli *cli, const struct user_change *asked);
#define CLI_COMMAND(name, synopsis, help) cli_run_fn cmd_##name;
#include "core/cli/commands.def"
#undef CLI_COMMAND

/* ---- commands that are programs of their own (program.c) ---- */

#define PROGRAM_HUB    "gillnet-hub"
#define PROGRAM_READER "gillnet-reader"
#define PROGRAM_LAB    "gillnet-lab"

/* Becomes `NAME [-c FILE] [--json] ARGS...`; args ends in NULL. The program lies beside this one,
 * in ../libexec/gillnet from here, or where the build was configured to install it. Returns only on
 * failure: an exit status after a message. */
/* The path of a program of ours: beside this one, or where it is installed. */
enum err program_find(char dst[FILE_PATH_MAX], const char *name,
                      struct errinfo *reterr);
int program_exec(const struct cli *cli, const char *name, char *const *args);
/* Whether argv, which ends in NULL, has this option. */
bool program_has_option(char *const *argv, const char *option);

#endif
