/* cmd_simulate - `gillnet simulate`: which simulation. */

#include "core/lab/lab.h"
#include "core/lab/simulate.h"

int lab_simulate(struct cli *cli, int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "paper") == 0) {
        return simulate_paper(cli, argc - 1, argv + 1);
    }
    if (argc > 1 && strcmp(argv[1], "mail") == 0) {
        return simulate_mail(cli, argc - 1, argv + 1);
    }
    if (argc > 1 && strcmp(argv[1], "sync") == 0) {
        return simulate_sync(cli, argc - 1, argv + 1);
    }
    if (argc > 1 && strcmp(argv[1], "reports") == 0) {
        return simulate_reports(cli, argc - 1, argv + 1);
    }
    return cli_usage(
        "simulate", argc > 1 ? "there are the simulations paper, mail, sync and reports"
                             : "say what to simulate: paper, mail, sync or reports");
}
