/*
 * feeds_internal - the inside of feeds: one thread for each, what it is doing, and what of it is shown.
 */
#ifndef CORE_HUB_FETCH_FEEDS_INTERNAL_H
#define CORE_HUB_FETCH_FEEDS_INTERNAL_H

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>

#include "core/feed/update.h"
#include "core/hub/fetch/feed_fetch.h"
#include "core/hub/fetch/feeds.h"

enum feed_now {
    FEED_WAITING, /* to be asked first */
    FEED_FETCHING,
    FEED_CHECKING,
    FEED_IMPORTING,
    FEED_OK,
    FEED_REFUSED,
    FEED_FAILING,
    FEED_OFF
};

enum { FEED_NAME_MAX = 32, FEED_TROUBLE_MAX = STAGE_TROUBLE_MAX };

/* What is shown of one. */
struct feed_row {
    enum feed_now now;
    struct update_state stage;
    uint64_t entered; /* with the last update that was applied */
    uint64_t left;
    uint64_t left_out;
    uint64_t asked_s;
    uint64_t next_s;
    unsigned failures; /* in a row */
    uint64_t bytes;    /* of the last body */
    uint64_t fetch_ms;
    uint64_t check_ms;
    uint64_t import_ms;
    uint64_t rounds;
    json_t *refused;                /* reason: times; NULL: never */
    char trouble[FEED_TROUBLE_MAX]; /* "": none */
};

struct feed_job {
    uint64_t id; /* 0: none */
    enum feeds_what what;
    uint64_t version;
};

/* One feed and its thread. */
struct feeder {
    struct feeds *all;
    char name[FEED_NAME_MAX + 1];
    pthread_t thread;
    atomic_bool stop; /* set once: the thread ends; a download within a second */
    /* guarded by all->mutex */
    pthread_cond_t wake;
    bool has_dropped; /* it took the feed out of its list, or tried to */
    bool is_done;     /* the thread may be joined */
    bool was_asked;
    uint64_t due_us;
    struct feed_job job; /* that waits */
    uint64_t last_job;   /* that was given out */
    uint64_t answered;   /* of which answer is */
    char *answer;
    struct feed_row row;
    /* the thread's own */
    struct config *config; /* of the round */
    struct board_task *task;
    char seen_etag
        [FETCH_ETAG_MAX]; /* of a body that was refused or is not applied: not to be had again */
    char seen_modified[FETCH_MODIFIED_MAX];
};

struct feeds {
    struct status_board *board;
    bool is_once;
    pthread_mutex_t mutex; /* guards: config, v, n and what feeder says */
    pthread_mutex_t large; /* held while a large body is checked and applied */
    struct config *config;
    struct feeder *v[FEEDS_MAX];
    size_t n;
};

/* NULL: it is not named. */
const struct config_feed *feeds_find(const struct config *config, struct slice name);

/* One question with all that follows from it. *retwait_s: at least so long until the next. False: it failed. */
bool feeds_round(struct feeder *r, const struct config_feed *feed,
                 const struct feed_job *job, unsigned *retwait_s);
/* Shows what is known of the feed from before. */
void feeds_recall(struct feeder *r, const struct config_feed *feed);
/* The feed is not configured any more. */
void feeds_drop(struct feeder *r);

/* Puts all rows on the board. */
void feeds_show(struct feeds *f);

#endif
