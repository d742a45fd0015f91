/* main - the program gillnet-lab: plans, simulations, and files of counting filters. */
#include <sysexits.h>

#include "core/base/base.h"
#include "core/cli/cli.h"
#include "core/lab/lab.h"

int main(int argc, char **argv)
{
    static const struct cli_runner runners[] = {
        {"plan", lab_plan},
        {"simulate", lab_simulate},
        {"count", lab_count},
        {"lookup", lab_lookup},
    };

    if (base_init() != ERR_OK) {
        (void)fputs(
            "gillnet: the system gives no random numbers; is /dev/urandom there?\n",
            stderr);
        return EX_OSERR;
    }
    return cli_run_as(argc, argv, runners, LENGTH(runners));
}
