/*
 * feeds_internal - the threads of the feeds, their jobs and the rows that are shown.
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
    FEED_WAITING, /* waits for its first update */
    FEED_FETCHING,
    FEED_CHECKING,
    FEED_IMPORTING,
    FEED_OK,
    FEED_REFUSED,
    FEED_FAILING,
    FEED_OFF
};

enum { FEED_NAME_MAX = 32, FEED_TROUBLE_MAX = UPDATE_TROUBLE_MAX };

/* The shown state of one feed. */
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
    bool has_dropped; /* the entries were revoked, or the attempt failed */
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
    char seen_etag[FETCH_ETAG_MAX]; /* of a body that was not applied */
    char seen_modified[FETCH_MODIFIED_MAX];
};

struct feeds {
    struct status_board *board;
    bool is_once;
    pthread_mutex_t mutex; /* guards: config, v, n and the marked fields of feeder */
    pthread_mutex_t large; /* held while a large body is checked and applied */
    struct config *config;
    struct feeder *v[FEEDS_MAX];
    size_t n;
};

/* NULL: it is not configured. */
const struct config_feed *feeds_find(const struct config *config, struct slice name);

/* One update, from the download to the list. *retwait_s: shortest pause before the next. False: it
 * failed. */
bool feeds_round(struct feeder *r, const struct config_feed *feed,
                 const struct feed_job *job, unsigned *retwait_s);
/* Reads the state of the last run. */
void feeds_recall(struct feeder *r, const struct config_feed *feed);
/* Revokes the entries of a feed that is no longer configured. */
void feeds_drop(struct feeder *r);

/* Puts all rows on the board. */
void feeds_show(struct feeds *f);

#endif
