/* main - the program `gillnet`. */
#include <sysexits.h>

#include "core/base/base.h"
#include "core/cli/cli.h"

int main(int argc, char **argv)
{
    if (base_init() != ERR_OK) {
        (void)fputs(
            "gillnet: the system gives no random numbers; is /dev/urandom there?\n",
            stderr);
        return EX_OSERR;
    }
    return cli_run(argc, argv);
}
