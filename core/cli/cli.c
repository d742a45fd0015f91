
#include <sysexits.h>

#include "core/base/nearest.h"
#include "core/base/statedir.h"
#include "core/base/version.h"
#include "core/cli/open_lists.h"
#include "core/cli/print.h"
#include "core/cli/synopsis.h"
#include "core/feed/feed.h"
#include "core/telemetry/control_client.h"
#include "core/verdict/rule/rule.h"

enum { LINE_MAX_BYTES = ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX + 32 };

static const struct cli_command commands[] = {
#define CLI_COMMAND(name, synopsis, help) {#name, synopsis, help, cmd_##name},
#include "core/cli/commands.def"
#undef CLI_COMMAND
};
enum { NCOMMANDS = LENGTH(commands) };

const struct cli_command *cli_command(const char *name)
{
    for (size_t i = 0; i < NCOMMANDS; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

const struct cli_command *cli_command_next(const struct cli_command *command)
{
    const struct cli_command *next = command != NULL ? command + 1 : commands;

    return next < commands + NCOMMANDS ? next : NULL;
}

/* ---- failures ---- */

static int status_of(enum err code)
{
    static const int status[] = {
        [-ERR_OK] = CLI_CLEAN,
        [-ERR_NOMEM] = EX_OSERR,
        [-ERR_LIMIT] = EX_DATAERR,
        [-ERR_SYNTAX] = EX_DATAERR,
        [-ERR_RANGE] = EX_DATAERR,
        [-ERR_NOT_FOUND] = EX_NOINPUT,
        [-ERR_EXISTS] = EX_CANTCREAT,
        [-ERR_IO] = EX_IOERR,
        [-ERR_NOSPACE] = EX_IOERR,
        [-ERR_CORRUPT] = EX_DATAERR,
        [-ERR_VERSION] = EX_DATAERR,
        [-ERR_KEY] = EX_CONFIG,
        [-ERR_LOCKED] = EX_TEMPFAIL,
        [-ERR_DENIED] = EX_NOPERM,
        [-ERR_UNSUPPORTED] = EX_UNAVAILABLE,
        [-ERR_TIMEOUT] = EX_TEMPFAIL,
    };
    return status[-code];
}

int cli_fail(const struct errinfo *info)
{
    char line[LINE_MAX_BYTES];

    (void)fputs("gillnet: ", stderr);
    text_show(stderr, errinfo_format(info, line, sizeof(line)));
    (void)fputc('\n', stderr);
    return status_of(info->code);
}

int cli_status(enum err e, const struct errinfo *info)
{
    return e == ERR_OK ? 0 : cli_fail(info);
}

__attribute__((format(printf, 1, 0))) static void say(const char *format, va_list args)
{
    (void)fputs("gillnet: ", stderr);
    (void)vfprintf(stderr, format, args);
    (void)fputc('\n', stderr);
}

int cli_error(int status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(format, args);
    va_end(args);
    return status;
}

void cli_say(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(format, args);
    va_end(args);
}

int cli_nomem(void)
{
    return cli_error(EX_OSERR, "out of memory");
}

static void print_synopsis(FILE *to, const struct cli_command *command)
{
    const char *rest = command->synopsis;
    const char *lead = "usage:";

    while (*rest != '\0') {
        size_t n = strcspn(rest, "\n");

        (void)fprintf(to, "%s gillnet [-c FILE] [--json] %.*s\n", lead, (int)n, rest);
        lead = "      ";
        rest += n + (rest[n] == '\n' ? 1 : 0);
    }
}

int cli_usage(const char *command, const char *why)
{
    const struct cli_command *row = cli_command(command);

    (void)fprintf(stderr, "gillnet %s: %s\n", command, why);
    if (row != NULL) {
        print_synopsis(stderr, row);
    }
    return EX_USAGE;
}

/* ---- what subcommands share ---- */

static int fail_config(struct config_errors *errors)
{
    for (size_t i = 0; i < errors->n; i++) {
        cli_fail(&errors->v[i]);
    }
    if (errors->n == 0) {
        (void)cli_nomem();
    }
    config_errors_free(errors);
    return EX_CONFIG;
}

bool cli_may_look(const struct cli *cli)
{
    return access(cli->config->state_dir, X_OK) == 0 || errno != EACCES;
}

int cli_config(struct cli *cli)
{
    struct config_types types = *rule_config_types();
    struct config_errors errors = {0, NULL};
    const char *file = cli->config_file;

    if (cli->config != NULL) {
        return 0;
    }
    if (!cli->is_config_given && access(file, F_OK) != 0 && errno == ENOENT) {
        file = NULL;
    }
    types.is_format = feed_format_is_known;
    if (config_load_start(file, &types, &cli->config, &errors) == ERR_OK) {
        if (cli_may_look(cli)) {
            config_print_tuning_fault("gillnet", cli->config);
        }
        return 0;
    }
    return fail_config(&errors);
}

int cli_rules(struct cli *cli)
{
    struct config_errors errors = {0, NULL};
    int status = cli_config(cli);

    if (status != 0 || cli->config->ruleset != NULL) {
        return status;
    }
    if (ruleset_compile(cli->config, &errors) != ERR_OK) {
        return fail_config(&errors);
    }
    (void)ruleset_keep(cli->config); /* the next command is quicker then */
    return 0;
}

static bool has_key_folder(const struct cli *cli)
{
    char dir[FILE_PATH_MAX];

    return path_make(dir, NULL, "%s/keys", cli->config->state_dir) == ERR_OK &&
           access(dir, F_OK) == 0;
}

int cli_keys(struct cli *cli, bool create)
{
    struct errinfo why = {0};
    int status = cli_config(cli);
    enum err e = ERR_OK;

    if (status != 0 || cli->keys.n > 0) {
        return status;
    }
    e = create ? keyring_load_or_create(cli->config->state_dir, &cli->keys, &why)
               : keyring_load(cli->config->state_dir, &cli->keys, &why);
    if (e == ERR_NOT_FOUND && !has_key_folder(cli)) {
        (void)errinfo_set(
            &why, e, cli->config->state_dir, 0,
            "there are no keys here yet; the first `gillnet list import`, "
            "`gillnet peer ring create` or start of gillnetd makes them");
    }
    return cli_status(e, &why);
}

/* ---- the command line ---- */

static void print_help(void)
{
    (void)fputs("gillnet " GILLNET_VERSION
                " - catches bulk and known-bad mail; the daemon is "
                "gillnetd\n\n"
                "usage: gillnet [-c FILE] [--json] COMMAND ...\n\n"
                "  -c FILE        configuration (default " CONFIG_DEFAULT_FILE ")\n"
                "  --json         print data as JSON, one object a line\n"
                "  -h, --help     this text, or after COMMAND its own\n"
                "  -V, --version  the version\n\n",
                stdout);
    for (size_t i = 0; i < NCOMMANDS; i++) {
        (void)printf("  %-10s %s\n", commands[i].name, commands[i].help);
    }
    (void)fputs(
        "\nExit status: 0 clean or done, 1 hit or findings, 64 and above an error "
        "(sysexits).\n",
        stdout);
}

int cli_help(const struct cli_command *command)
{
    if (command == NULL) {
        print_help();
        return CLI_CLEAN;
    }
    print_synopsis(stdout, command);
    (void)printf("%s\n", command->help);
    if (strcmp(command->name, "lookup") == 0) {
        state_print_standings(stdout);
    }
    return CLI_CLEAN;
}

/* Whether a line of a synopsis, such as "list stat|verify [LIST...]", is of the subcommand. */
static bool is_form_of(struct slice line, struct slice word)
{
    (void)slice_cut(&line, ' ');
    for (struct slice names = slice_cut(&line, ' '); names.n > 0;) {
        if (slice_eq(slice_cut(&names, '|'), word)) {
            return true;
        }
    }
    return false;
}

int cli_help_form(const struct cli_command *command, const char *word)
{
    bool is_found = false;

    for (struct slice rest = slice_str(command->synopsis); rest.n > 0;) {
        struct slice line = slice_cut(&rest, '\n');
        if (is_form_of(line, slice_str(word))) {
            (void)printf("%s gillnet [-c FILE] [--json] %.*s\n",
                         is_found ? "      " : "usage:", SLICE_ARGS(line));
            is_found = true;
        }
    }
    if (!is_found) {
        (void)cli_error(EX_USAGE, "%s has no subcommand %.60s", command->name, word);
        print_synopsis(stderr, command);
        return EX_USAGE;
    }
    (void)printf("gillnet(1) explains the options.\n");
    return CLI_CLEAN;
}

static int bad_usage(const char *why)
{
    return cli_error(EX_USAGE, "%s\nTry `gillnet --help`.", why);
}

int cli_unknown(const char *word)
{
    static const char *const options[] = {"-c", "--json", "--help", "--version"};
    const char *names[NCOMMANDS];
    bool is_option = word[0] == '-';
    const char *near = NULL;
    char why[160];

    for (size_t i = 0; i < NCOMMANDS; i++) {
        names[i] = commands[i].name;
    }
    near = is_option ? nearest_name(slice_str(word), options, 4)
                     : nearest_name(slice_str(word), names, NCOMMANDS);
    (void)snprintf(why, sizeof(why), "no such %s: %.60s%s%s%s",
                   is_option ? "option" : "command", word,
                   near != NULL ? "; did you mean \"" : "", near != NULL ? near : "",
                   near != NULL ? "\"?" : "");
    return bad_usage(why);
}

struct args {
    int argc;
    char **argv; /* what is left; compacted in place */
    bool wants_help;
    bool wants_version;
    bool lacks_file;
};

/* Takes the common options out of argv, wherever they stand before "--". */
static void take_options(struct cli *cli, struct args *a)
{
    int kept = 0;

    for (int i = 1; i < a->argc; i++) {
        char *arg = a->argv[i];

        if (strcmp(arg, "--") == 0) {
            while (i < a->argc) {
                a->argv[kept++] = a->argv[i++];
            }
        } else if (strcmp(arg, "--json") == 0) {
            cli->json = true;
        } else if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0) {
            a->wants_help = true;
        } else if (strcmp(arg, "--version") == 0 || strcmp(arg, "-V") == 0) {
            a->wants_version = true;
        } else if (strcmp(arg, "-c") == 0) {
            a->lacks_file = a->lacks_file || i + 1 == a->argc;
            cli->config_file = a->argv[i + 1 < a->argc ? ++i : i];
            cli->is_config_given = true;
        } else {
            a->argv[kept++] = arg;
        }
    }
    a->argc = kept;
    a->argv[kept] = NULL; /* at least argv[0] was taken away */
}

/* The function that runs a command here; NULL: another program runs it. */
static cli_run_fn *runner_of(const struct cli_command *command,
                             const struct cli_runner *runners, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(runners[i].name, command->name) == 0) {
            return runners[i].run;
        }
    }
    return runners == NULL ? command->run : NULL;
}

int cli_subcommand(struct cli *cli, const char *command, const struct cli_runner *table,
                   size_t n, int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < n; i++) {
        if (strcmp(argv[1], table[i].name) == 0) {
            return table[i].run(cli, argc - 1, argv + 1);
        }
    }
    return cli_usage(command,
                     argc > 1 ? "there is no such subcommand" : "say what to do");
}

static int dispatch(struct cli *cli, struct args *a, const struct cli_runner *runners,
                    size_t n)
{
    cli_run_fn *run = NULL;
    const struct cli_command *command = NULL;
    int status = 0;

    take_options(cli, a);
    if (a->wants_version) {
        (void)puts("gillnet " GILLNET_VERSION);
        return CLI_CLEAN;
    }
    if (a->lacks_file) {
        return bad_usage("-c needs a file");
    }
    if (a->argc == 0) {
        return a->wants_help ? cli_help(NULL) : bad_usage("name a command");
    }
    command = cli_command(a->argv[0]);
    if (command == NULL) {
        return cli_unknown(a->argv[0]);
    }
    if (a->wants_help) {
        return cli_help(command);
    }
    run = runner_of(command, runners, n);
    if (run == NULL) {
        return cli_unknown(a->argv[0]);
    }
    status = mistyped_check(command, a->argc, a->argv);
    return status != 0 ? status : run(cli, a->argc, a->argv);
}

/* After commands that write to the state folder: the services must be able to use root's files. */
static void settle_state_dir(const struct cli *cli, const char *command)
{
    static const char *const writers[] = {"check",   "list",       "feed",
                                          "peer",    "count",      "backup",
                                          "restore", "quarantine", "tune"};

    if (cli->config != NULL &&
        (cli->has_noted ||
         name_index(slice_str(command), writers, LENGTH(writers)) >= 0)) {
        statedir_settle(cli->config->state_dir);
    }
}

int cli_run(int argc, char **argv)
{
    return cli_run_as(argc, argv, NULL, 0);
}

int cli_run_as(int argc, char **argv, const struct cli_runner *runners, size_t n)
{
    struct cli cli = {.config_file = CONFIG_DEFAULT_FILE};
    struct args a = {.argc = argc, .argv = argv};
    int status = argc > 0 ? dispatch(&cli, &a, runners, n) : EX_USAGE;

    if (argc > 0 && a.argc > 0) {
        settle_state_dir(&cli, a.argv[0]);
    }
    if (cli.has_opened_list) {
        control_client_look(cli.config->control_socket);
    }
    config_release(&cli.config);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        if (errno != EPIPE) {
            cli_say("standard output cannot be written; is the disk full?");
        }
        return EX_IOERR;
    }
    return status;
}
