/* base - the start of every program. */
#include "core/base/base.h"

#include <signal.h>
#include <sodium.h>

#include "core/base/digest.h"

/* A standard stream that the caller closed gives its number to the next file opened: a list's
 * log would be read as input, or have messages written into it. The streams are opened the
 * wrong way round, so that using them still fails. */
static bool fill_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        int flags = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF &&
            open("/dev/null", flags) != fd) { /* NOLINT: inherited, as streams are */
            return false;
        }
    }
    return true;
}

enum err base_init(void)
{
    if (!fill_standard_streams()) {
        return ERR_IO;
    }
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
