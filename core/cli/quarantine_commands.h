/*
 * quarantine_commands - the parts that the subcommands of `gillnet quarantine` share.
 *
 * root works on the MTA's queue itself, other users over the socket of gillnet-queue.
 * Threads: one.
 */
#ifndef CORE_CLI_QUARANTINE_COMMANDS_H
#define CORE_CLI_QUARANTINE_COMMANDS_H

#include <jansson.h>

#include "core/base/buf.h"
#include "core/cli/cli.h"
#include "core/quarantine/held.h"

enum { QUARANTINE_JOURNAL_S = 7200 }; /* most time between arrival and record */

/* Asks with a request line (quarantine.h); the answer goes to ret, its first line is "ok". Returns
 * 0, or an exit status after a message. */
int quarantine_ask(struct cli *cli, const char *request, struct buf *ret);

/* The rows of all held messages. The journal knows better than the header what gillnet held: it
 * sets "gillnet", "outgoing", "case" and "score" where it has the message. Same convention. */
int quarantine_rows(struct cli *cli, json_t **ret);

int quarantine_digest(struct cli *cli, int argc, char **argv);

#endif
