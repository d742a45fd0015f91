/* base - what must be ready before anything else. */
#include "core/base/base.h"

#include <signal.h>
#include <sodium.h>
#include <stddef.h>

#include "core/base/digest.h"

enum err base_init(void)
{
    if (sodium_init() < 0) {
        return ERR_UNSUPPORTED;
    }
    hash_local_init();
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    if (sigaction(SIGPIPE, &ignore, NULL) != 0) {
        return ERR_IO;
    }
    return ERR_OK;
}
