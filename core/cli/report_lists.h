/*
 * report_lists - entries of lists that a report of ham takes back, or that its end adds again.
 *
 * Threads: one.
 */
#ifndef CORE_CLI_REPORT_LISTS_H
#define CORE_CLI_REPORT_LISTS_H

#include <jansson.h>

#include "core/cli/cli.h"

/* Changes the lists of the rows [{"list", "type", "value"}]: revokes the values, or adds them
 * again. Rows that were changed go into `changed` with "status". Returns 0 or an exit status after a
 * message; the other rows are changed then, too. */
int report_lists_change(struct cli *cli, const json_t *rows, bool is_revoke,
                        json_t *changed);

#endif
