/*
 * stat_alerts - the alerts that fire in the hub, for `gillnet stat`.
 * Threads: one.
 */
#ifndef CORE_CLI_STAT_ALERTS_H
#define CORE_CLI_STAT_ALERTS_H

#include <jansson.h>

#include "core/cli/cli.h"

/* A row for each; NULL where no hub answers. */
json_t *stat_alerts(const struct cli *cli);
/* A line for each. */
void stat_alerts_print(json_t *alerts);

#endif
