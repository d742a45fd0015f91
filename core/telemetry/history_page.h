/*
 * history_page - the layout of the page of history; shared by its writer and its reader.
 *
 * Native byte order and words: the page never leaves the machine, and a magic number read in the
 * other order does not match. Ring slots carry the number of their ten minutes or hour; one of
 * another number is empty. There are more than a reader wants, so that none it reads is being
 * emptied.
 */
#ifndef CORE_TELEMETRY_HISTORY_PAGE_H
#define CORE_TELEMETRY_HISTORY_PAGE_H

#include <stdatomic.h>

#include "core/telemetry/history.h"

#define HISTORY_MAGIC UINT64_C(0x315453494847474e) /* "NGGHIST1" */

enum {
    HISTORY_VERSION = 1,
    HISTORY_BUCKET_SLOTS = 160,
    HISTORY_HOUR_SLOTS = 32,
    HISTORY_HOUR_S = 3600,
    HISTORY_DAY_S = 86400,
    HISTORY_OTHER = HISTORY_SYMBOLS, /* row of the symbols without one */
    HISTORY_KEEP_S = 365 * 86400     /* of a symbol without a hit */
};

struct history_slot {
    _Atomic uint64_t stamp; /* time / HISTORY_BUCKET_S; in periods, of an hour or day */
    _Atomic uint64_t number[HISTORY_NUMBERS];
};

struct history_hour {
    _Atomic uint64_t stamp; /* time / HISTORY_HOUR_S */
    _Atomic uint64_t score[HISTORY_SCORES];
    _Atomic uint32_t symbol[HISTORY_SYMBOLS + 1];
    uint32_t spare;
};

struct history_stage_times {
    _Atomic uint64_t count[HISTORY_TIMES];
    _Atomic uint64_t sum_ns;
};

/* A place of a hash table by name; rows never move, and are never given up while the page is
 * open. */
struct history_row {
    _Atomic uint64_t is_used; /* 1: the name is whole. Set last, with release */
    char name[HISTORY_SYMBOL_NAME];
    _Atomic uint64_t total;
    _Atomic uint64_t last_s;
};

struct history_page {
    uint64_t magic;
    uint32_t version;
    uint32_t bytes;           /* of the page */
    _Atomic uint64_t key_seq; /* odd while the keys change */
    uint64_t spare[5];
    struct history_slot bucket[HISTORY_BUCKET_SLOTS];
    struct history_hour hour[HISTORY_HOUR_SLOTS];
    struct history_stage_times time[HISTORY_STAGES];
    _Atomic uint64_t url_checks[HISTORY_STATUSES];
    struct history_row row[HISTORY_SYMBOLS + 1];
    struct history_key key[HISTORY_KEYS]; /* day 0: free */
};

/* ---- history_slot ---- */

/* Adds to the slot of this stamp; a slot of another stamp is emptied first. */
void history_slot_add(struct history_slot *ring, unsigned nslots, uint64_t stamp,
                      const uint64_t number[HISTORY_NUMBERS]);
/* Of a copy that nobody writes to; zeros if the slot is of another stamp. */
void history_slot_read(const struct history_slot *ring, unsigned nslots, uint64_t stamp,
                       uint64_t ret[HISTORY_NUMBERS]);

/* ---- history_read ---- */

/* Whether the page is one of this layout: its first words. */
enum err history_page_check(const struct history_page *page, size_t n, const char *path,
                            struct errinfo *reterr);
/* A copy of the page at path, to be freed. */
enum err history_page_read(const char *path, struct history_page **ret,
                           struct errinfo *reterr);
/* The same with nothing behind the ten minutes; never waits for the writer. */
enum err history_page_read_buckets(const char *path, struct history_page **ret,
                                   struct errinfo *reterr);
/* True if it is a valid name of a symbol. */
bool history_name_is_sound(const char name[HISTORY_SYMBOL_NAME]);

#endif
