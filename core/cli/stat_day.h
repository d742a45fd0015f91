/*
 * stat_day - the last day of gillnetd in `gillnet stat`: mail, actions, symbols, times.
 * Threads: one.
 */
#ifndef CORE_CLI_STAT_DAY_H
#define CORE_CLI_STAT_DAY_H

#include "core/cli/cli.h"

/* Prints it, or what keeps it from being read; nothing where gillnetd has not run yet. False: standard output
 * failed. */
bool stat_day_show(const struct cli *cli);

#endif
