/*
 * history - mail of the last day in a mmapped page: written by gillnetd, read by others.
 *
 * It has messages and actions by ten minutes, scores, times by stage, symbols, URLs by rating, and
 * the most frequent keys. Derived data (class E): if the page is missing, damaged or of another
 * version, an empty one replaces it. Without an open page the numbers live in anonymous memory.
 * Threads: any; numbers are relaxed atomics, a lock is taken where ten minutes or an hour begin,
 * for a symbol never seen, and for a key that is among the most seen (only if it is free).   ADR
 * 0040.
 */
#ifndef CORE_TELEMETRY_HISTORY_H
#define CORE_TELEMETRY_HISTORY_H

#include "core/base/digest.h"
#include "core/base/err.h"
#include "core/base/keyring.h"
#include "core/base/slice.h"

/* The page of gillnetd, in the state folder; it holds texts of mail, so only the group may read
 * it. */
#define STATE_HISTORY_FILE "counts/gillnetd.history"

enum {
    HISTORY_BUCKET_S = 600,
    HISTORY_BUCKETS = 145, /* the current one and those of a day before it */
    HISTORY_HOURS = 25,    /* likewise */
    HISTORY_SCORES = 72,   /* ranges of scores */
    HISTORY_TIMES = 23,    /* ranges of times */
    HISTORY_STATUSES = 8,  /* words for URLs: enum rating */
    HISTORY_SYMBOLS = 512, /* with own names; all others share one more */
    HISTORY_SYMBOL_NAME = 48,
    HISTORY_KEYS = 32,
    HISTORY_KEY_TEXT = 96,
    HISTORY_KEY_LEAST = 10 /* seen less often in a day is not bulk */
};

/* Numbers of ten minutes. The order is the layout of the page, as in all enums here. */
enum history_number {
    HISTORY_MESSAGES, /* that got a final answer */
    HISTORY_ACCEPT,
    HISTORY_HEADER,
    HISTORY_QUARANTINE,
    HISTORY_DEFER,
    HISTORY_REJECT,
    HISTORY_DISCARD,
    HISTORY_SKIPPED,  /* not examined, or let through; in accept, too */
    HISTORY_ON_ERROR, /* internal errors; in no action */
    HISTORY_BYTES,
    HISTORY_NUMBERS
};
const char *history_number_name(enum history_number n); /* "messages", ... */

/* Stages whose time is measured for each message. */
enum history_stage {
    HISTORY_PARSE,   /* parsing and extraction; processor time, except at the end */
    HISTORY_LOOKUP,  /* all lists */
    HISTORY_COUNT,   /* counting, and reading counts */
    HISTORY_VERDICT, /* exact counts and the score */
    HISTORY_MESSAGE, /* from the message's end to the answer */
    HISTORY_URL,     /* for each URL: its share of the look-up */
    HISTORY_STAGES
};
const char *history_stage_name(enum history_stage s); /* "parse", ... */

/* Upper ends of the ranges of times but the last, microseconds: 1, 2, 5, 10, 25, 50, 100, ... 10
 * s. */
extern const uint32_t history_time_us[HISTORY_TIMES - 1];
/* Upper end (not in it) of the i-th range of scores, i < HISTORY_SCORES - 1: -5, -4.5, ... 30. */
double history_score_edge(unsigned i);

/* ---- gillnetd's side ---- */

/* Opens the page, or makes it. Numbers continue from their last values. On failure they go to
 * anonymous memory. */
enum err history_open(const char *path, uint64_t now_s, struct errinfo *reterr);
void history_close(void);
/* To be called every second or so, by one thread: makes pages again whose file was cut, with what
 * is left of them (periods_keep, too). */
void history_keep(uint64_t now_s);

/* A message of now: adds what number holds, and its score unless that is NULL. */
void history_message(uint64_t now_s, const uint64_t number[HISTORY_NUMBERS],
                     const double *score);
/* n times a stage took ns nanoseconds. */
void history_time(enum history_stage stage, uint64_t ns, uint64_t n);
void history_url_checks(unsigned status, uint64_t n);
/* Name: [A-Z0-9_]+, shorter than HISTORY_SYMBOL_NAME. */
void history_symbol(uint64_t now_s, struct slice name);

struct history_key {
    uint16_t type;                     /* enum feature_type */
    struct digest digest[KEYRING_MAX]; /* as counted */
    uint64_t day;                      /* how often in a day, when it was last seen */
    uint64_t at_s;                     /* that time */
    size_t n;
    char text[HISTORY_KEY_TEXT]; /* the first n bytes of the value, of any kind */
};
/* A key with a lower count a day is not among the most frequent ones. */
uint64_t history_key_floor(void);
/* Puts k among the most frequent keys if it is one. Does nothing while another thread does so. */
void history_key(const struct history_key *k);

/* ---- every reader's side ---- */

struct history_bucket {
    uint64_t at_s; /* its beginning */
    uint64_t number[HISTORY_NUMBERS];
};
struct history_times {
    uint64_t count[HISTORY_TIMES]; /* by range, each for itself */
    uint64_t n;                    /* of all */
    uint64_t sum_ns;
};
struct history_symbol {
    char name[HISTORY_SYMBOL_NAME]; /* "other": those the table has no room for */
    uint64_t day;
    uint64_t total;
};
struct history_view {                              /* 60 KB */
    struct history_bucket bucket[HISTORY_BUCKETS]; /* oldest first, without gaps */
    uint64_t score[HISTORY_SCORES];                /* of the last day */
    struct history_times time[HISTORY_STAGES];     /* since the page was begun */
    uint64_t url_checks[HISTORY_STATUSES];         /* since the page was begun */
    size_t nsymbols;                               /* by hits of the last day */
    struct history_symbol symbol[HISTORY_SYMBOLS + 1];
    size_t nkeys; /* of the last day, the most seen first */
    struct history_key key[HISTORY_KEYS];
};
/* The page as it is at now_s. ERR_NOT_FOUND: gillnetd has not run yet. On failure *ret is an empty
 * day. */
enum err history_read(const char *path, uint64_t now_s, struct history_view *ret,
                      struct errinfo *reterr);

#endif
