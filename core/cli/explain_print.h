/*
 * explain_print - a judged message for a person (core/explain), as text or as JSON.
 *
 * Threads: one.   Owns: the open lists of struct explain_sources.
 */
#ifndef CORE_CLI_EXPLAIN_PRINT_H
#define CORE_CLI_EXPLAIN_PRINT_H

#include "core/cli/open_lists.h"
#include "core/explain/explained.h"

/* The lists, which say where an entry came from. */
struct explain_sources {
    struct cli *cli;
    struct state_lists lists;
    struct query *batch;
    struct query_list *v;
    struct query_lists query;
    struct explain_lists ask; /* of these */
};
/* Lists that cannot be read are reported; the rest can still be explained. */
void explain_sources_open(struct cli *cli, struct explain_sources *ret);
void explain_sources_close(struct explain_sources *s);

/* Prints it, as text or one JSON object. Returns an exit status. */
int explain_print(const struct explain_sources *s, const struct explained *e);

/* Prints the messages of files as if they came now (cmd_check.c). */
int explain_files(struct cli *cli, char **paths);

#endif
