#include "core/cli/hub_program.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

enum { ARGS_MAX = 32 };

enum err hub_program_find(char dst[FILE_PATH_MAX], struct errinfo *reterr)
{
    char self[FILE_PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash = NULL;

    if (n > 0) {
        self[n] = '\0';
        slash = strrchr(self, '/');
    }
    if (slash != NULL) {
        *slash = '\0';
        if ((file_path(dst, "%s/gillnet-hub", self) == ERR_OK &&
             access(dst, X_OK) == 0) ||
            (file_path(dst, "%s/../libexec/gillnet/gillnet-hub", self) == ERR_OK &&
             access(dst, X_OK) == 0)) {
            return ERR_OK;
        }
    }
    if (file_path(dst, "%s/gillnet-hub", GILLNET_LIBEXECDIR) == ERR_OK &&
        access(dst, X_OK) == 0) {
        return ERR_OK;
    }
    return errinfo_set(reterr, ERR_NOT_FOUND, GILLNET_LIBEXECDIR "/gillnet-hub", 0,
                       "the program of the companion service is not there; install the "
                       "package gillnet-hub (in a build tree: cmake --build --preset "
                       "release)");
}

int hub_program_exec(const struct cli *cli, char *const *args)
{
    static char name[] = "gillnet-hub";
    static char option[] = "-c";
    char path[FILE_PATH_MAX];
    char file[FILE_PATH_MAX];
    char *argv[ARGS_MAX + 4] = {name};
    struct errinfo why;
    size_t n = 1;

    if (hub_program_find(path, &why) != ERR_OK) {
        return cli_fail(&why);
    }
    if (cli->is_config_given) {
        if (file_path(file, "%s", cli->config_file) != ERR_OK) {
            errinfo_set(&why, ERR_LIMIT, cli->config_file, 0, "the path is too long");
            return cli_fail(&why);
        }
        argv[n++] = option;
        argv[n++] = file;
    }
    for (; *args != NULL; args++) {
        if (n == ARGS_MAX + 3) {
            errinfo_set(&why, ERR_LIMIT, "", 0, "too many arguments");
            return cli_fail(&why);
        }
        argv[n++] = *args;
    }
    argv[n] = NULL;
    (void)execv(path, argv);
    errinfo_errno(&why, path, "cannot be started");
    return cli_fail(&why);
}
