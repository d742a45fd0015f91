/* main - the program `gillnet`. */
#include <sysexits.h>

#include "core/base/base.h"
#include "core/cli/cli.h"

int main(int argc, char **argv)
{
    if (base_init() != ERR_OK) {
        return cli_error(EX_OSERR,
                         "the system gives no random numbers; is /dev/urandom there?");
    }
    return cli_run(argc, argv);
}
