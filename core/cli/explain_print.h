/*
 * explain_print - a judged message for a person: one sentence, the evidence with its sources, and
 * the changes that would give another verdict.
 *
 * Threads: one.   Owns: the open lists of struct explain_sources.
 */
#ifndef CORE_CLI_EXPLAIN_PRINT_H
#define CORE_CLI_EXPLAIN_PRINT_H

#include "core/cli/open_lists.h"
#include "core/list/query.h"
#include "core/report/report_cases.h"
#include "core/verdict/journal/journal_read.h"

/* The lists, which say where an entry came from. */
struct explain_sources {
    struct cli *cli;
    struct state_lists lists;
    struct query *batch;
    struct query_list *v;
    struct query_lists query;
    bool is_open;
};
/* Lists that cannot be read are reported; the rest can still be explained. */
void explain_sources_open(struct cli *cli, struct explain_sources *ret);
void explain_sources_close(struct explain_sources *s);

struct explained {
    const struct record *record;
    const struct journal_names *names;
    enum report_opinion reported;
    struct slice file; /* empty: from the journal */
};
/* Prints it, as text or one JSON object. Returns an exit status. */
int explain_print(struct explain_sources *s, const struct explained *e);

/* explain_change.c: whether the message was answered 451 as a first contact. */
bool explain_is_embargoed(const struct record *r);
/* Calls fn with "without LIST_PHISH (12.0): accept" for each change that gives another action. */
typedef void explain_change_fn(void *context, const char *what);
void explain_each_change(const struct explain_sources *sources, const struct record *r,
                         explain_change_fn *fn, void *context);

/* Prints the messages of files as if they came now (cmd_check.c). */
int explain_files(struct cli *cli, char **paths);

#endif
