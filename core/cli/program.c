#include <sysexits.h>

#include "core/cli/cli.h"

enum { ARGS_MAX = 64, PROGRAM_NAME_MAX = 16 };

static bool is_program(const char *path)
{
    return access(path, X_OK) == 0;
}

enum err program_find(char dst[FILE_PATH_MAX], const char *name, struct errinfo *reterr)
{
    char self[FILE_PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *slash = NULL;

    if (n > 0) {
        self[n] = '\0';
        slash = strrchr(self, '/');
    }
    if (slash != NULL) {
        *slash = '\0';
        if ((path_make(dst, NULL, "%s/%s", self, name) == ERR_OK && is_program(dst)) ||
            (path_make(dst, NULL, "%s/../libexec/gillnet/%s", self, name) == ERR_OK &&
             is_program(dst))) {
            return ERR_OK;
        }
    }
    if (path_make(dst, NULL, "%s/%s", GILLNET_LIBEXECDIR, name) == ERR_OK &&
        is_program(dst)) {
        return ERR_OK;
    }
    return errinfo_set(reterr, ERR_NOT_FOUND, dst, 0,
                       "this program is missing; install the package %s (in a build "
                       "tree: cmake --build --preset release)",
                       strcmp(name, PROGRAM_HUB) == 0 ? PROGRAM_HUB : "gillnet");
}

int program_exec(const struct cli *cli, const char *name, char *const *args)
{
    static char config_option[] = "-c";
    static char json_option[] = "--json";
    char path[FILE_PATH_MAX];
    char own_name[PROGRAM_NAME_MAX];
    char file[FILE_PATH_MAX];
    char *argv[ARGS_MAX + 5] = {own_name};
    struct errinfo why;
    size_t n = 1;
    enum err e = program_find(path, name, &why);

    (void)snprintf(own_name, sizeof(own_name), "%s", name);
    THEN(e, path_make(file, &why, "%s", cli->config_file));
    if (e != ERR_OK) {
        return cli_fail(&why);
    }
    if (cli->is_config_given) {
        argv[n++] = config_option;
        argv[n++] = file;
    }
    if (cli->json && strcmp(name, PROGRAM_LAB) == 0) {
        argv[n++] = json_option;
    }
    for (; *args != NULL; args++) {
        if (n == ARGS_MAX + 4) {
            return cli_error(EX_DATAERR, "too many arguments");
        }
        argv[n++] = *args;
    }
    argv[n] = NULL;
    (void)execv(path, argv);
    errinfo_errno(&why, path, "cannot be started");
    return cli_fail(&why);
}

bool program_has_option(char *const *argv, const char *option)
{
    for (; *argv != NULL; argv++) {
        if (strcmp(*argv, option) == 0) {
            return true;
        }
    }
    return false;
}

int cmd_hub(struct cli *cli, int argc, char **argv)
{
    (void)argc;
    return program_exec(cli, PROGRAM_HUB, argv + 1);
}

int cmd_plan(struct cli *cli, int argc, char **argv)
{
    (void)argc;
    return program_exec(cli, PROGRAM_LAB, argv);
}

int cmd_simulate(struct cli *cli, int argc, char **argv)
{
    (void)argc;
    return program_exec(cli, PROGRAM_LAB, argv);
}
