/*
 * live_internal - the running table in memory, for the modules that fill, journal and seal it.
 *
 * Not for other rooms.
 */
#ifndef CORE_COUNT_LIVE_INTERNAL_H
#define CORE_COUNT_LIVE_INTERNAL_H

#include "core/count/live_format.h"

enum { LIVE_CACHE_LINE = 64 };

/* One generation of the table. */
struct live_table {
    struct filemap file; /* not open: the table is in memory only */
    unsigned char *map;  /* headers and slots */
    size_t map_bytes;
    size_t shadow_bytes;
    struct live_slot *slots;
    uint64_t *shadow; /* of each slot: the count that the journal has */
    uint64_t per_shard;
    struct live_header header;
};

/* The table is read with every key, the number is written with every new key: each has its own
 * cache line. */
struct live_shard {
    _Alignas(
        LIVE_CACHE_LINE) struct live_table *table; /* guarded by the shard's lock */
    _Alignas(LIVE_CACHE_LINE) uint64_t used; /* keys; atomic, for live_used (relaxed) */
};

struct live_journal {
    int fd; /* -1: none, or it failed */
    uint64_t bytes;
    uint64_t seq;
    uint64_t salt;
    bool is_anew;       /* all counts are gathered for a new file */
    struct buf pending; /* the record that is being gathered: head, then pairs */
};

struct live {
    struct run_id id;
    unsigned nshards;
    uint32_t generation;      /* of the newest table */
    uint32_t first_kept;      /* the oldest generation whose file is still there */
    uint64_t slots;           /* atomic, for live_slots (relaxed) */
    bool is_volatile;         /* atomic, for live_is_volatile (relaxed) */
    struct live_table *table; /* the growing thread's */
    struct live_table *next;  /* while it grows */
    struct live_journal journal;
    struct live_shard shard[LIVE_SHARDS_MAX];
    char dir[];
};

/* Makes the journal's file; a failure leaves the table without one. */
enum err live_journal_open(struct live *l, struct errinfo *reterr);
void live_journal_close(struct live *l);
void live_set_volatile(struct live *l);

/* What the bucket's journal has: of each key its last count, in order of key. The caller frees it.
 * ERR_NOT_FOUND: no journal. */
enum err live_logged(const char *dir, const struct run_id *id, struct run_record **ret,
                     size_t *retn, struct errinfo *reterr);

#endif
