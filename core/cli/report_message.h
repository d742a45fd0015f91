/*
 * report_message - a message, or ids alone, reported as spam or ham by a command.
 *
 * gillnetd takes the report over its control socket. While it does not run, the command does the
 * same on the state folder, under STATE/reports/LOCK. What a report of ham takes off the lists is
 * revoked here, because gillnetd does not change lists, and noted with the report, so that undo adds
 * it again. root and the service's user are the administrator.
 * Example of a caller: cmd_report.c; for one message cli_report_message is enough.
 * Threads: one.   ADR 0071.
 */
#ifndef CORE_CLI_REPORT_MESSAGE_H
#define CORE_CLI_REPORT_MESSAGE_H

#include <jansson.h>

#include "core/cli/cli.h"
#include "core/list/listset.h"
#include "core/report/reports.h"

struct report_request {
    bool is_spam;
    const char *reporter;  /* NULL: the user of the command */
    const char *way;       /* "command", "quarantine", "campaign", ... */
    struct cli_values ids; /* case ids or queue ids */
    const char *campaign;  /* id of one, instead of a message and ids; NULL: none */
};

/* The connection of a command to the reports. */
struct reporting {
    struct cli *cli;
    struct reports *own;        /* NULL: gillnetd has them */
    struct list_manager *lists; /* with own */
};
/* Returns 0 or an exit status after a message. */
int reporting_begin(struct cli *cli, struct reporting *ret);
void reporting_end(struct reporting *r);
/* bytes: the message; empty: only its ids. *ret is the answer {"id", "kind", "reporter", "again",
 * "standing", "changed": [...], "detail"}, which the caller frees; NULL after a failure. */
int reporting_say(struct reporting *r, const struct report_request *request,
                  struct slice bytes, json_t **ret);
/* Undoes the report with this id. *ret: {"id", "changed": [{"list", "type", "value", "status"}]}. */
int reporting_undo(struct reporting *r, const char *id, const char *reporter,
                   json_t **ret);

/* The three steps for one message; cli's configuration need not be loaded. ret may be NULL. */
int cli_report_message(struct cli *cli, const struct report_request *request,
                       struct slice bytes, json_t **ret);

#endif
