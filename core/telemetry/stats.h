/*
 * stats - numbers in a mmapped page: written by gillnetd, read by everyone.
 *
 * stats.def is the only list; enum, page layout, `gillnet stat` and documentation come from it.
 * The page also carries a few lines of text, the current faults, so that `gillnet stat` can
 * name them while gillnetd runs. Without an open page (command line, tests, a full disk) the
 * numbers live in anonymous memory.
 * Reading order of the room: stats.def, stats, stats_read; history, history_slot, history_read;
 * periods; ham_log; scan_request.
 * To add a number: append a row to stats.def and call stats_add or stats_set where it changes.
 * `gillnet stat` and GET /metrics then have it.
 * Threads: any; counters are relaxed atomics.
 */
#ifndef CORE_TELEMETRY_STATS_H
#define CORE_TELEMETRY_STATS_H

#include "core/base/err.h"

enum stat_id {
#define STAT(name, kind, help) STAT_##name,
#include "core/telemetry/stats.def"
#undef STAT
    STAT_COUNT
};

/* The page of gillnetd, in the state folder. */
#define STATE_STATS_FILE "counts/gillnetd.stats"
/* That of gillnet-hub: only what it looks up. */
#define STATE_HUB_STATS_FILE "peers/hub.stats"

enum { STATS_FAULTS_MAX = 16, STATS_FAULT_TEXT = 240 };

/* Makes or opens the page at path for writing. Counters continue from their last values, gauges and
 * faults are cleared. On failure numbers go to anonymous memory. */
enum err stats_open(const char *path, struct errinfo *reterr);
void stats_close(void);
/* To be called every second or so. Makes a page again whose file was cut, with the values as they
 * were at the last call. */
void stats_keep(void);

void stats_add(enum stat_id id, uint64_t n);
void stats_sub(enum stat_id id, uint64_t n); /* gauges */
void stats_set(enum stat_id id, uint64_t v); /* gauges */
uint64_t stats_get(enum stat_id id);

const char *stats_name(enum stat_id id);
const char *stats_help(enum stat_id id);
bool stats_is_counter(enum stat_id id);

/* Fault texts by a short key such as "list:phish" or "disk"; text NULL clears. At most
 * STATS_FAULTS_MAX at once, the rest are counted only in the log. */
void stats_fault(const char *key, const char *text);

/* A copy of a page as another process sees it. */
struct stats_view {
    uint64_t value[STAT_COUNT];
    unsigned nfaults;
    char fault[STATS_FAULTS_MAX][STATS_FAULT_TEXT]; /* "key: text" */
};
enum err stats_read(const char *path, struct stats_view *ret, struct errinfo *reterr);

/* gillnetd sets STAT_alive_time four times a second. Without a sign for STATS_ALIVE_S it is not
 * known to run. */
enum { STATS_ALIVE_S = 3 };
/* True if gillnetd gave a sign less than STATS_ALIVE_S before now_s. A sign from the future does
 * not count: the clock was set back. */
bool stats_is_alive(const struct stats_view *view, uint64_t now_s);

#endif
