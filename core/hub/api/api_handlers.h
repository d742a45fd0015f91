/*
 * api_handlers - the handler functions of api_route.def.
 */
#ifndef CORE_HUB_API_API_HANDLERS_H
#define CORE_HUB_API_API_HANDLERS_H

#include "core/hub/api/api_internal.h"
#include "core/hub/api/api_rows.h"
#include "core/telemetry/changes.h"
#include "core/verdict/user/user_change.h"

/* Whether a token or a proxy names the client. False: refused. For paths whose role is more than
 * messages, which api.local_role may give, and whose answer yet shows something of people. */
bool api_is_proven(struct api_call *call);
/* Has gillnetd judge the body: its object becomes the answer's body. False: refused. */
bool api_judge(struct api_call *call, const struct api_envelope *envelope);

/* Reads the query of a table. False: it was refused. */
bool api_table_query(struct api_call *call, const struct api_table *t,
                     struct api_rows_query *ret);
/* {name: rows, "total", "found", "next"}; takes all, and the query. NULL: no memory. */
json_t *api_table_page(const char *name, json_t *all, const struct api_table *t,
                       struct api_rows_query *q);
/* False: refused, because there is no list of this name. A mistyped name would make one. */
bool api_list_is_there(struct api_call *call, struct slice list);
/* Answers a change of lists. idle: the text of the answer if nothing was changed; NULL: none. */
void api_answer_changes(struct api_call *call, enum err e, const struct errinfo *why,
                        const char *idle, json_t *rows);
/* Refuses a change that failed. */
void api_refuse_change(struct api_call *call, enum err e, const struct errinfo *why);

/* The reporter of a call. A token of role admin is the administrator, and another token is a
 * reporter of its own. */
void api_name_reporter(const struct api_call *call, char ret[REPORT_NAME_MAX]);

/* ---- changes (api_changes.c) ---- */

/* Logs a write that is answered, and notes it (core/telemetry/changes.h) if it was done. who is the
 * client if it is empty; way and undoes are set here. */
void api_note(const struct api_call *call, const struct change *c);
struct api_change; /* api_list_change.h */
/* api_note for each list of the rows of struct api_change, or once for no rows. kind: list_add or
 * list_revoke. n: values asked for. */
void api_note_rows(const struct api_call *call, const struct api_change *made,
                   enum change_kind kind, size_t n);
/* Puts a change of lists into effect that is part of an undo, and answers with what was changed. */
void api_undo_values(struct api_call *call, enum change_undo undo, struct slice list,
                     const json_t *values);
/* Undoes a report and answers. */
void api_undo_report(struct api_call *call, struct slice id);
/* Changes the settings of a user or domain (user_change.h), and answers. Sets config and on_error
 * itself. */
void api_set_user(struct api_call *call, const struct user_change *asked);
/* Undoes the change of settings that made a version, "version 7", and answers. 409: it is not the
 * last one any more. */
void api_undo_tuning(struct api_call *call, struct slice version);
/* Asks the hub to update a feed, or to put its former version in force, and answers. */
void api_ask_feed(struct api_call *call, struct slice feed, bool rolls_back);

/* Reports the body, a message, and answers: 202 if the report is kept. Only the administrator's
 * report of ham takes entries off lists: a link in a mail must not do that for everybody. */
struct api_opinion {
    bool is_spam;
    const char *reporter;
    const char *way;
    const char *id; /* case id or queue id of the message */
};
void api_report_message(struct api_call *call, const struct api_opinion *opinion);

/* ---- what people said ---- */

/* The votes of now, until reports_follower_release(call->api->reports). False: *ret is NULL. */
bool api_votes(struct api_call *call, struct votes **ret, struct errinfo *reterr);
/* Rows of GET /v1/reports about one message, the newest last. */
json_t *api_reports_about(struct api_call *call, uint64_t case_id,
                          struct slice queue_id);

struct campaign_item;
/* The campaign of a message with these keys, as a row of GET /v1/campaigns, or null. */
json_t *api_campaign_of(struct api_call *call, const struct campaign_item *keys,
                        size_t n);

/* ---- held mail (api_quarantine.c) ---- */

/* The rows of held messages (core/quarantine/held.h). NULL: it was refused. */
json_t *api_held_rows(struct api_call *call);
/* Reports a held message; id of the opinion is its queue id. Returns the report's answer; NULL: it
 * was not kept. */
json_t *api_report_held(struct api_call *call, const struct api_opinion *opinion);
/* Whether the MTA holds it now, true or false; null: nobody can tell. Refuses nothing. */
json_t *api_is_held(struct api_call *call, const char *id);
/* "WORD ID" to gillnet-queue. False: it was refused. */
bool api_change_held(struct api_call *call, const char *word, const char *id);

/* ---- a user's own page (api_own.c) ---- */

/* The page of its link, with the button that opens it. */
void api_own_ask(struct api_call *call, struct slice token);
/* Opens a session and answers. False: that failed. */
bool api_own_open(struct api_call *call, const char *recipient);
/* quarantine.user_release of a held message. */
bool api_own_may_release(const struct config *c, const json_t *row);

#define API_ROUTE(path, method, role, rank, body, kind, type, query, handler) \
    void handler(struct api_call *call);
#include "core/hub/api/api_route.def"
#undef API_ROUTE

#endif
