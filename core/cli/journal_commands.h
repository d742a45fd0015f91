/*
 * journal_commands - the parts that the commands of the journal share: explain, replay, rules,
 * journal.
 *
 * Threads: one.
 */
#ifndef CORE_CLI_JOURNAL_COMMANDS_H
#define CORE_CLI_JOURNAL_COMMANDS_H

#include "core/cli/cli.h"
#include "core/verdict/journal/journal_read.h"

/* "7d" ago, or NULL, as the bounds of a query. Returns 0, or an exit status after a message. */
int journal_period(const char *since, const char *until, struct journal_query *ret);
/* Says what is damaged, if anything is. */
void journal_say_damage(const struct journal_numbers *n);

#endif
