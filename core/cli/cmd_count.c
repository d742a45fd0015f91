/* cmd_count - `gillnet count`: which subcommand, and the state of the counts. */
#include <sysexits.h>

#include "core/base/clock.h"
#include "core/cli/count_commands.h"
#include "core/cli/count_numbers.h"
#include "core/cli/print.h"
#include "core/cli/services.h"

int count_cmd_runs_dir(struct cli *cli, char ret[FILE_PATH_MAX])
{
    struct errinfo why = {.code = ERR_OK};

    return cli_status(path_make(ret, &why, "%s/counts/runs", cli->config->state_dir),
                      &why);
}

static int show_state(struct cli *cli, int argc, char **argv)
{
    struct daemon_view d;
    struct count_numbers n;
    struct errinfo why = {.code = ERR_OK};

    int status =
        cli_arguments(CLI_WORDS("count", 0, 0, "stat takes no arguments"), &argc, argv);

    THEN(status, cli_config(cli));
    if (status != 0) {
        return status;
    }
    if (daemon_look(cli->config, &d, &why) != ERR_OK) {
        return cli_fail(&why);
    }
    count_numbers_get(&d.stats, cli->config->count.noise_floor,
                      clock_wall_us() / 1000000, &n);
    if (!d.is_running && count_disk_look(cli->config->state_dir, &n, &why) != ERR_OK) {
        return cli_fail(&why);
    }
    if (cli->json) {
        return json_status(count_numbers_json(&n));
    }
    if (d.has_page && !d.is_running) {
        (void)puts("gillnetd does not run; this is how it was");
    }
    count_numbers_print(&n);
    return CLI_CLEAN;
}

int cmd_count(struct cli *cli, int argc, char **argv)
{
    static const struct cli_runner commands[] = {
        {"stat", show_state},
        {"verify", count_cmd_verify},
        {"export", count_cmd_export},
        {"import", count_cmd_import},
    };
    if (argc > 1 &&
        (strcmp(argv[1], "merge") == 0 ||
         (strcmp(argv[1], "export") == 0 && program_has_option(argv, "--filter")))) {
        return program_exec(cli, PROGRAM_LAB, argv);
    }
    return cli_subcommand(cli, "count", commands, LENGTH(commands), argc, argv);
}
