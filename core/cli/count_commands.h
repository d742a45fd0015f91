/*
 * count_commands - the subcommands of `gillnet count`.
 * Threads: one.
 */
#ifndef CORE_CLI_COUNT_COMMANDS_H
#define CORE_CLI_COUNT_COMMANDS_H

#include "core/base/file.h"
#include "core/cli/cli.h"

/* Each: argv[0] is its name. */
int count_cmd_verify(struct cli *cli, int argc, char **argv);
int count_cmd_export(struct cli *cli, int argc, char **argv);
int count_cmd_import(struct cli *cli, int argc, char **argv);

int count_cmd_usage(const char *why);
/* STATE/counts/runs; returns 0 or an exit status. */
int count_cmd_runs_dir(struct cli *cli, char ret[FILE_PATH_MAX]);
/* "2026-11-21" (UTC) as seconds since 1970. By the civil calendar, from 1970 on. */
bool count_cmd_day(const char *text, uint64_t *ret);

#endif
