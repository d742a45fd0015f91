/* cmd_hub - `gillnet hub`: becomes the companion service. */
#include "core/cli/cli.h"
#include "core/cli/hub_program.h"

int cmd_hub(struct cli *cli, int argc, char **argv)
{
    (void)argc;
    return hub_program_exec(cli, argv + 1);
}
