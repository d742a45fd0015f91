/*
 * program - commands that are programs of their own: where a program lies, and how a command becomes it.
 *
 * The command line knows no network and holds no laboratory: `gillnet hub` becomes gillnet-hub; `gillnet plan`,
 * `gillnet simulate` and the commands on files of counting filters become gillnet-lab.
 * Threads: one.   Owns: nothing.
 */
#ifndef CORE_CLI_PROGRAM_H
#define CORE_CLI_PROGRAM_H

#include "core/cli/cli.h"

#define PROGRAM_HUB "gillnet-hub"
#define PROGRAM_LAB "gillnet-lab"

/* Becomes `NAME [-c FILE] [--json] ARGS...`; args ends in NULL. The program lies beside this one, in ../libexec/gillnet
 * from here, or where the build was configured to install it. Returns only on failure: an exit status, the reason printed. */
int program_exec(const struct cli *cli, const char *name, char *const *args);

/* Whether argv, which ends in NULL, has this option. */
bool program_has_option(char *const *argv, const char *option);

#endif
