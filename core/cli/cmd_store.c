/* cmd_store - `gillnet store`: the store that the servers of a ring share. */
#include "core/cli/store_commands.h"

int cmd_store(struct cli *cli, int argc, char **argv)
{
    static const struct cli_runner commands[] = {{"status", store_cmd_status},
                                                 {"verify", store_cmd_verify},
                                                 {"repair", store_cmd_repair}};

    return cli_subcommand(cli, "store", commands, LENGTH(commands), argc, argv);
}
