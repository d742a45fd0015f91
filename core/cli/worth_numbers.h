/*
 * worth_numbers - what rules and lists did, read from the journal: for `rules` and `list worth`.
 *
 * Threads: one.
 */
#ifndef CORE_CLI_WORTH_NUMBERS_H
#define CORE_CLI_WORTH_NUMBERS_H

#include "core/cli/cli.h"
#include "core/verdict/journal/worth.h"

struct worth_numbers_read {
    struct worth *worth;
    uint64_t today; /* days since 1970 */
};
/* since: such as "30d"; NULL: WORTH_DAYS. Returns 0, or an exit status after a message. */
int worth_numbers_read(struct cli *cli, const char *since,
                       struct worth_numbers_read *ret);
void worth_numbers_free(struct worth_numbers_read *r);

/* Prints the head of a table: how much mail was counted, and the columns behind `lead`. */
void worth_numbers_head(const struct worth_numbers_read *r, const char *lead);
/* Prints the numbers of a row of worth_json, and ends the line. */
void worth_numbers_print(const json_t *row);
/* Whether to leave a row of worth_json out. */
bool worth_numbers_skip(const json_t *row, bool only_useless);

#endif
