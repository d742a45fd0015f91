/*
 * stat_alerts - the alerts that fire in the hub, for `gillnet stat`.
 * Threads: one.
 */
#ifndef CORE_CLI_STAT_ALERTS_H
#define CORE_CLI_STAT_ALERTS_H

#include <stdbool.h>

#include "core/cli/cli.h"

/* A line for each; none where no hub answers. False: standard output cannot be written. */
bool stat_alerts_show(const struct cli *cli);

#endif
