/*
 * feed_rows - how each feed stands, for `gillnet feed list`, stat and doctor.
 *
 * Threads: one.
 */
#ifndef CORE_CLI_FEED_ROWS_H
#define CORE_CLI_FEED_ROWS_H

#include <jansson.h>

#include "core/cli/cli.h"

/* The hub's rows, or without a hub what STATE/feeds says; NULL after a message, its exit status in *retstatus. */
json_t *feed_rows(struct cli *cli, bool *retruns, int *retstatus);
const char *feed_row_name(const json_t *row);
/* "": none. A feed of which nothing was fetched yet is not well either. */
const char *feed_row_trouble(const json_t *row);

#endif
