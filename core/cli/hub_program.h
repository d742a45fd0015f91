/*
 * hub_program - the companion service's program: where it lies, and how a command becomes it.
 *
 * The command line may not contain the service (it knows no network), so it gives way to it.
 * Threads: one.   Owns: nothing.
 */
#ifndef CORE_CLI_HUB_PROGRAM_H
#define CORE_CLI_HUB_PROGRAM_H

#include "core/base/file.h"
#include "core/cli/cli.h"

/* Beside this program, in ../libexec/gillnet from there, or where the build was configured to install it. ERR_NOT_FOUND. */
enum err hub_program_find(char dst[FILE_PATH_MAX], struct errinfo *reterr);
/* Becomes `gillnet-hub [-c FILE] ARGS...`; args ends in NULL. Returns only on failure: an exit status, the reason printed. */
int hub_program_exec(const struct cli *cli, char *const *args);

#endif
