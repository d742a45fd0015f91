/*
 * shared_lines_internal - for the files of shared_lines alone.
 *
 * Threads: that of the event loop.
 */
#ifndef CORE_HUB_SHARED_SHARED_LINES_INTERNAL_H
#define CORE_HUB_SHARED_SHARED_LINES_INTERNAL_H

#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <sys/queue.h>

#include "core/base/unix_place.h"
#include "core/filter/line_seal.h"
#include "core/hub/shared/shared_lines.h"
#include "core/list/files.h"
#include "core/list/line_wire.h"
#include "core/list/list.h"

enum {
    LINES_FILTERS_MAX = LINE_WIRE_FILTERS,
    LINES_LATE_MAX =
        8, /* questions in a row without all lines, until the store counts as down */
    LINES_LISTS_MAX = 64,
    LINES_REPAIRS_MAX = 32,
    LINES_GONE_S = 60 /* gillnetd can still use the filters of a former generation */
};

struct lines_filter {
    uint32_t serial; /* never used again; not 0 */
    char list[LIST_NAME_MAX + 1];
    uint64_t number;       /* of its level */
    struct file_mark mark; /* of its file */
    bool is_seen;          /* by the look at the list under way */
    uint64_t gone_us;      /* since when no list has it; 0: one has */
    struct bloomfile file; /* BLOOMFILE_REMOTE */
    struct hashkey key;    /* of the seals: that of the digests */
    uint64_t nparts;
    bool
        is_complete; /* the last look found or put every part, and no part was lost since */
    /* a look at all parts */
    bool is_looking;
    bool has_failed;  /* it ends without the parts that are not begun */
    bool has_lost;    /* a part was lost meanwhile: another look follows */
    uint64_t at;      /* part that the look began with: another one on each server */
    uint64_t nbegun;  /* parts, in order from `at` on, and then from 0 */
    uint64_t nunder;  /* of these under way */
    uint64_t nput;    /* of these, that had to be put */
    uint64_t next_us; /* no look before */
};

struct lines_list {
    char name[LIST_NAME_MAX + 1];
    struct file_mark mark; /* of CURRENT as it was read */
    bool is_seen;
};

struct lines_client {
    struct shared_lines *lines;
    struct bufferevent *bev; /* NULL: free */
    struct lines_question *question;
};

/* A line for which a question waits. */
struct lines_fetch {
    struct lines_question *question;
    uint32_t serial; /* of the filter */
    uint64_t number;
    bool is_there;
    uint8_t sealed[LINE_SEALED_BYTES];
};

/* It lives until it is answered and none of its calls to the store is under way. */
struct lines_question {
    TAILQ_ENTRY(lines_question) in_all;
    struct shared_lines *lines;
    struct lines_client *client; /* NULL: it is answered, or its client left */
    struct event *deadline;
    unsigned nfilters;
    uint32_t serial[LINE_WIRE_FILTERS]; /* 0: unknown */
    size_t nlines;
    size_t nunder;   /* lines asked of the store, without an answer */
    bool has_asked;  /* the store, for some of its lines */
    bool has_failed; /* the call for a line was not made, or failed */
    struct lines_fetch *fetch;
};

TAILQ_HEAD(lines_questions, lines_question);

struct lines_cached {
    uint64_t number;
    uint32_t serial; /* 0: empty */
    uint8_t sealed[LINE_SEALED_BYTES];
};

struct shared_lines {
    struct event_base *base;
    struct shared *shared;
    bool is_closing;
    struct unix_place place;
    struct evconnlistener *listener;
    struct event *tick;
    struct lines_client client[LINES_CLIENTS_MAX];
    struct lines_questions questions;
    /* the store */
    bool is_up;
    bool is_probing;
    uint64_t probe_us; /* when it was begun */
    unsigned nlate;    /* questions in a row */
    size_t nasked;     /* lines under way */
    size_t
        nrepairs; /* parts that are put because one of their lines is lost, under way */
    struct lines_cached *cache;
    /* the filters */
    struct lines_filter *filter[LINES_FILTERS_MAX];
    size_t nfilters;
    struct lines_list list[LINES_LISTS_MAX];
    size_t nlists;
    uint32_t serial;                   /* last one given */
    uint64_t look_us;                  /* when the lists were looked at */
    char block[BLOOMFILE_BLOCK_BYTES]; /* of the filter of this serial */
    uint32_t block_serial;
    uint64_t block_at;
    size_t block_bytes;
    char trouble[ERRINFO_TEXT_MAX]; /* as last logged; "": none */
    struct shared_lines_status status;
};

/* ---- shared_lines_fetch.c ---- */

/* Returns the name of a part. */
struct shared_name lines_part_name(const struct shared_lines *l,
                                   const struct lines_filter *f, uint64_t part);
/* Fills every line of the question from the cache, and asks the store for the others. */
void lines_fetch_all(struct lines_question *q);
/* While is_up is false, no lines are requested from the store. why: a word for the log. */
void lines_up_set(struct shared_lines *l, bool is_up, const char *why);
/* Each second: checks whether the store answers in time. */
void lines_probe(struct shared_lines *l);

/* ---- shared_lines_put.c ---- */

/* Reads the lists if they changed. */
void lines_look(struct shared_lines *l);
/* Each second: begins the looks that are due. */
void lines_put_tick(struct shared_lines *l);
struct lines_filter *lines_filter_of_id(struct shared_lines *l,
                                        const uint8_t id[BLOOMFILE_ID_BYTES]);
struct lines_filter *lines_filter_of_serial(struct shared_lines *l, uint32_t serial);
/* The store has lost this part, or has it damaged: puts it again and checks all others. */
void lines_part_lost(struct shared_lines *l, struct lines_filter *f, uint64_t part);
void lines_filters_free(struct shared_lines *l);

/* ---- shared_lines.c ---- */

/* Call it for each line that came or will not come; the last one ends the question. */
void lines_question_step(struct lines_question *q);

#endif
