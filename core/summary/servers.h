/*
 * servers - the servers of one owner: this one and the others of its ring, by their summaries.
 *
 * Everything is read from files (origins.h, manifest.h, summary.h), so the API's workers and the
 * commands have the same answer, also while no hub runs. Members of a federation and publishers
 * that are followed are not of this owner, and are left out.
 * Depends: base, list, store, trust, telemetry, jansson.   Threads: any.   ADR 0087.
 */
#ifndef CORE_SUMMARY_SERVERS_H
#define CORE_SUMMARY_SERVERS_H

#include "core/store/origins.h"
#include "core/summary/summary.h"

enum server_state {
    SERVER_CURRENT, /* its summary is at most SUMMARY_STALE_S old */
    SERVER_STALE,   /* older: not in totals */
    SERVER_UNHEARD, /* it has sent none: another version, or not yet */
    SERVER_REFUSED, /* its summary cannot be true: not in totals */
    SERVER_STATES
};
const char *server_state_name(enum server_state s); /* "current", ... */

struct server {
    char name[ORIGIN_NAME_MAX + 1];
    bool is_self;
    enum server_state state;
    uint64_t age_s; /* of its summary; SERVER_CURRENT and SERVER_STALE */
    struct headline headline;
    char why[ERRINFO_TEXT_MAX]; /* of SERVER_REFUSED */
};
#define SERVER_ALONE "this" /* name of this server while it is in no ring */

/* Calls fn for each server, this one first, whose headline is self; view: its messages by the
 * period. Both are the caller's no longer when fn returns. False from fn ends it. */
typedef bool servers_fn(void *context, const struct server *s,
                        const struct period_view *view);
struct servers_ask {
    const char *state_dir;
    uint64_t now_s;
    enum period period;
    const struct headline *self;
};
enum err servers_each(const struct servers_ask *ask, servers_fn *fn, void *context,
                      struct errinfo *reterr);

#endif
