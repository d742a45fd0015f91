/*
 * feeds - all feeds that the configuration names, each asked at its interval by a thread of its own.
 *
 * So one that is slow, stuck or failing delays no other. What comes is core/feed/update.h's to check and to apply; large
 * bodies have their turn one after another there, small ones at once. A feed that fails is asked again later and later;
 * one that is named no more is taken out of its list. How each stands is on the board (BOARD_FEEDS), and what runs (BOARD_TASKS).
 * Depends: base, config, feed, board.   Threads: feeds_renew, feeds_tick and feeds_free from one, all else from any.
 * Owns: STATE/feeds while it runs.   ADR 0043.
 */
#ifndef CORE_HUB_FETCH_FEEDS_H
#define CORE_HUB_FETCH_FEEDS_H

#include "core/config/config.h"
#include "core/hub/status/status_board.h"

enum {
    FEEDS_MAX = 256,
    FEEDS_SPREAD_S = 60,         /* within which all are asked first */
    FEEDS_BACKOFF_S = 60,        /* after the first failure, then doubling */
    FEEDS_BACKOFF_MOST_S = 3600, /* or the interval, where that is longer */
    FEEDS_JITTER_PERCENT = 10,   /* later, so that not all come at once */
    FEEDS_LARGE_BYTES =
        16 * 1024 * 1024,   /* bodies of which one is checked and applied at a time */
    FEEDS_LINES_MAX = 2000, /* shown of one test */
    FEEDS_ANSWER_MAX = 512 * 1024
};

struct feeds;
/* is_once: each feed is asked once, at once. ERR_NOMEM alone; what else fails is a trouble of the feed. */
enum err feeds_new(struct config *config, struct status_board *board, bool is_once,
                   struct feeds **ret, struct errinfo *reterr);
/* Downloads end within a second; what is being applied is done first. Accepts NULL. */
void feeds_free(struct feeds **f);
/* Another configuration: feeds that are new begin, those that changed are asked soon, others go. */
void feeds_renew(struct feeds *f, struct config *config);
/* Each second. */
void feeds_tick(struct feeds *f);
/* is_once: each was asked; *retfailed: how many in vain. */
bool feeds_is_done(struct feeds *f, unsigned *retfailed);

/* What can be asked for by hand. */
enum feeds_what {
    FEEDS_UPDATE, /* asked now; a pinned one is applied again */
    FEEDS_FORCE, /* likewise, whatever its size and whether the server says that it changed */
    FEEDS_TEST, /* fetched and checked, not applied */
    FEEDS_ROLLBACK
};
/* Returns at once; *retjob names it. version: of FEEDS_ROLLBACK; 0: the one before. ERR_NOT_FOUND: no feed of this name that is
 * enabled. ERR_LOCKED: something else was asked for and has not begun. */
enum err feeds_ask(struct feeds *f, struct slice name, enum feeds_what what,
                   uint64_t version, uint64_t *retjob, struct errinfo *reterr);
/* Appends what came of it, a JSON object on one line: "result" (ok, same, refused, failed), "text", numbers, and "lines" of a test.
 * ERR_LOCKED: it is not done. ERR_NOT_FOUND: nothing is known of it any more. */
enum err feeds_answer(struct feeds *f, struct slice name, uint64_t job,
                      struct buf *ret);

#endif
