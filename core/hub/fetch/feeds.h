/*
 * feeds - all configured feeds, each updated at its interval by its own thread.
 *
 * A slow or failing feed delays no other. core/feed/update.h checks and applies the bodies, one
 * large body at a time, small ones at once. The pause grows after each failure. The entries of a
 * feed that is no longer configured are revoked. The board has the state of each feed
 * (STATUS_BOARD_FEEDS) and the running work (STATUS_BOARD_TASKS).
 * Reading order of the room: fetch (one transfer); feed_address, feed_redirect, feed_credentials,
 * feed_fetch (one download); feeds, feeds_round, feeds_show; subscribe, subscribe_round. To add an
 * option of downloads: its key in core/config/schema.def, and its use in begin_transfer or
 * set_request (feed_fetch.c).
 * Depends: base, config, feed, board.   Threads: feeds_renew, feeds_tick and feeds_free from one,
 * all else from any. Owns: STATE/feeds while it runs.   ADR 0043.
 */
#ifndef CORE_HUB_FETCH_FEEDS_H
#define CORE_HUB_FETCH_FEEDS_H

#include "core/config/config.h"
#include "core/hub/status/status_board.h"

enum {
    FEEDS_MAX = 256,
    FEEDS_SPREAD_S = 60,          /* the first updates are spread over this time */
    FEEDS_BACKOFF_S = 60,         /* after the first failure, then doubling */
    FEEDS_BACKOFF_MOST_S = 3600,  /* or the interval, where that is longer */
    FEEDS_JITTER_PERCENT = 10,    /* later, so that not all come at once */
    FEEDS_LARGE_BYTES = 16 << 20, /* one such body is applied at a time */
    FEEDS_LINES_MAX = 2000,       /* shown of one test */
    FEEDS_ANSWER_MAX = 512 * 1024
};

struct feeds;
/* is_once: updates each feed once, without a delay. Fails only with ERR_NOMEM; other failures are
 * shown in the row of the feed. */
enum err feeds_new(struct config *config, struct status_board *board, bool is_once,
                   struct feeds **ret, struct errinfo *reterr);
/* Stops downloads within a second, but waits for an update that is being applied. Accepts NULL. */
void feeds_free(struct feeds **f);
/* Sets another configuration: starts new feeds, updates changed ones soon, stops removed ones. */
void feeds_renew(struct feeds *f, struct config *config);
/* Each second. */
void feeds_tick(struct feeds *f);
/* True if each feed was updated once (is_once). *retfailed: failed updates. */
bool feeds_is_done(struct feeds *f, unsigned *retfailed);

/* Requests by an administrator. */
enum feeds_what {
    FEEDS_UPDATE, /* update now, also a pinned feed */
    FEEDS_FORCE, /* the same, without the checks of size and without conditions for the server */
    FEEDS_TEST, /* fetched and checked, not applied */
    FEEDS_ROLLBACK
};
/* Returns at once with the number of the job. version: for FEEDS_ROLLBACK; 0: the previous one.
 * ERR_NOT_FOUND: there is no enabled feed of this name. ERR_LOCKED: another request waits. */
enum err feeds_ask(struct feeds *f, struct slice name, enum feeds_what what,
                   uint64_t version, uint64_t *retjob, struct errinfo *reterr);
/* Appends the result of a job, a JSON object on one line: "result" (ok, same, refused, failed),
 * "text", numbers, and "lines" of a test. ERR_LOCKED: the job still runs. ERR_NOT_FOUND: only the
 * last result is kept. */
enum err feeds_answer(struct feeds *f, struct slice name, uint64_t job,
                      struct buf *ret);

#endif
