/* cmd_help - `gillnet help [COMMAND [SUBCOMMAND]|KEY]`. */
#include <sysexits.h>

#include "core/base/buf.h"
#include "core/cli/cli.h"

enum { SCHEMA_TEXT_MAX = 1 << 20, COLUMNS = 5 };

/* One row of config_schema: key, kind, default, reloadable, help. */
static void print_key(struct slice line)
{
    struct slice column[COLUMNS];

    for (size_t i = 0; i < COLUMNS; i++) {
        column[i] = slice_cut(&line, '\t');
    }
    (void)printf("%.*s (%.*s; default: %.*s%s)\n    %.*s\n", SLICE_ARGS(column[0]),
                 SLICE_ARGS(column[1]), SLICE_ARGS(column[2]),
                 slice_eq(column[3], SLICE_LIT("no")) ? "; restart" : "",
                 SLICE_ARGS(column[4]));
}

/* The keys of that name, and those of a group of that name. */
static bool help_keys(struct slice name)
{
    struct buf schema;
    bool is_found = false;

    buf_init(&schema, SCHEMA_TEXT_MAX);
    config_schema(&schema);
    for (struct slice rest = buf_slice(&schema); rest.n > 0;) {
        struct slice line = slice_cut(&rest, '\n');
        struct slice after = slice_from(line, name.n);

        if (slice_has_prefix(line, name) && after.n > 0 &&
            (*after.p == '\t' || *after.p == '.')) {
            print_key(line);
            is_found = true;
        }
    }
    buf_fini(&schema);
    return is_found;
}

int cmd_help(struct cli *cli, int argc, char **argv)
{
    (void)cli;
    if (argc == 3 && cli_command(argv[1]) != NULL) {
        return cli_help_form(cli_command(argv[1]), argv[2]);
    }
    if (argc > 2) {
        return cli_usage("help", "name one command or key");
    }
    if (argc == 1 || cli_command(argv[1]) != NULL) {
        return cli_help(argc == 1 ? NULL : cli_command(argv[1]));
    }
    return help_keys(slice_str(argv[1])) ? CLI_CLEAN : cli_unknown(argv[1]);
}
