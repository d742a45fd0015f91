/*
 * count_commands - the subcommands of `gillnet count`.
 *
 * Threads: one.
 */
#ifndef CORE_CLI_COUNT_COMMANDS_H
#define CORE_CLI_COUNT_COMMANDS_H

#include "core/cli/cli.h"

cli_run_fn count_cmd_verify, count_cmd_export, count_cmd_import;

/* STATE/counts/runs; returns 0 or an exit status after a message. */
int count_cmd_runs_dir(struct cli *cli, char ret[FILE_PATH_MAX]);
/* "2026-11-21" (UTC) as seconds since 1970. By the civil calendar, from 1970 on. */
bool count_cmd_day(const char *text, uint64_t *ret);

#endif
