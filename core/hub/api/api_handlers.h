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

/* Logs a write: client, kind, number of values and result. */
void api_audit(const struct api_call *call, const char *what, size_t n);

#define API_ROUTE(path, method, role, rank, body, kind, type, query, handler) \
    void handler(struct api_call *call);
#include "core/hub/api/api_route.def"
#undef API_ROUTE

#endif
