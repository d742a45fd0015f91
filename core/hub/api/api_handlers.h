/*
 * api_handlers - the handler functions of api_route.def.
 */
#ifndef CORE_HUB_API_API_HANDLERS_H
#define CORE_HUB_API_API_HANDLERS_H

#include "core/hub/api/api_internal.h"
#include "core/hub/api/api_rows.h"

/* Has gillnetd judge the body: its object becomes the answer's body. False: refused. */
bool api_judge(struct api_call *call, const struct api_envelope *envelope);

/* Reads the query of a table. False: it was refused. */
bool api_table_query(struct api_call *call, const struct api_table *t,
                     struct api_rows_query *ret);
/* {name: rows, "total", "found", "next"}; takes all, and the query. NULL: no memory. */
json_t *api_table_page(const char *name, json_t *all, const struct api_table *t,
                       struct api_rows_query *q);
/* Refuses a change that failed. */
void api_refuse_change(struct api_call *call, enum err e, const struct errinfo *why);

/* The reporter of a call. A token of role admin is the administrator, and another token is a
 * reporter of its own. */
void api_name_reporter(const struct api_call *call, char ret[REPORT_NAME_MAX]);

/* Logs a write: client, kind, number of values and result. */
void api_audit(const struct api_call *call, const char *what, size_t n);

/* Reports the body, a message, and answers: 202 if the report is kept. Only the administrator's
 * report of ham takes entries off lists: a link in a mail must not do that for everybody. */
struct api_opinion {
    bool is_spam;
    const char *reporter;
    const char *way;
    const char *id; /* case id or queue id of the message */
};
void api_report_message(struct api_call *call, const struct api_opinion *opinion);

/* ---- held mail (api_quarantine.c) ---- */

/* The rows of held messages (core/quarantine/held.h). NULL: it was refused. */
json_t *api_held_rows(struct api_call *call);
/* Reports a held message; id of the opinion is its queue id. */
bool api_report_held(struct api_call *call, const struct api_opinion *opinion);
/* "WORD ID" to gillnet-queue. False: it was refused. */
bool api_change_held(struct api_call *call, const char *word, const char *id);

#define API_ROUTE(path, method, role, rank, body, kind, type, query, handler) \
    void handler(struct api_call *call);
#include "core/hub/api/api_route.def"
#undef API_ROUTE

#endif
