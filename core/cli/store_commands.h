/*
 * store_commands - the store that the servers of a ring share, as the hub tells of it.
 *
 * The command line never speaks to the store: the hub does, and answers on its control socket.
 * Threads: one.   Owns: nothing.
 */
#ifndef CORE_CLI_STORE_COMMANDS_H
#define CORE_CLI_STORE_COMMANDS_H

#include <jansson.h>

#include "core/cli/cli.h"

enum { STORE_TEXT_MAX = 600, STORE_BAD_SHARE = 90 /* percent of memory or spool */ };

/* Sends a request of the store; *ret: the array of the rows of its answer. Returns 0, or an exit
 * status after a message. */
int store_ask(struct cli *cli, const char *request, json_t **ret);

/* What is to be mended, most urgent first. is_broken: the store is of no use so. */
struct store_finding {
    bool is_broken;
    char text[STORE_TEXT_MAX];
    const char *advice;
};
typedef void store_finding_fn(void *context, const struct store_finding *f);
/* store: the hub's row. Calls fn for each finding. */
void store_findings(const json_t *store, store_finding_fn *fn, void *context);
/* "up: 3 masters of redis 7.0.15, 1.2 GB of 4 GB" */
void store_summary(const json_t *store, char ret[STORE_TEXT_MAX]);

int store_cmd_status(struct cli *cli, int argc, char **argv);
int store_cmd_verify(struct cli *cli, int argc, char **argv);
int store_cmd_repair(struct cli *cli, int argc, char **argv);

#endif
