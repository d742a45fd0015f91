/*
 * listset_internal - contents of a snapshot, for listset*.c and list_manager*.c.
 *
 * Depends: base, config, list.   Threads: constant once in use, except its pin.
 */
#ifndef CORE_LIST_LISTSET_INTERNAL_H
#define CORE_LIST_LISTSET_INTERNAL_H

#include <stdatomic.h>

#include "core/list/listset.h"
#include "core/list/lookup_stats.h"
#include "core/list/reader.h"
#include "core/store/origins.h"

enum {
    LISTSET_MAX = 1024 /* lists in one snapshot */
};

/* A reader in one or more snapshots. refs: guarded by the manager's mutex. */
struct shared_reader {
    struct list_reader *reader;
    unsigned refs;
    bool is_distrusted;
    size_t cache; /* entries of its confirmation cache */
    enum bloomfile_hold hold;
};

struct listset_item {
    struct shared_reader *shared;
    const struct config_list *config; /* of the set's config */
    unsigned key;                     /* index into the set's keys */
    struct lookup_stats_row *row;     /* of the list as a whole; NULL: not counted */
    bool takes_all;                   /* no types named: every key fits */
    struct feature_classes types;     /* feature numbers looked up */
    bool may_revoke;                  /* see LIST_SUPPRESSED_ELSEWHERE */
    double weight;                    /* of the origin, times the list's; 1: local */
    uint8_t origin[ORIGIN_BYTES];
    unsigned owner;                        /* see listset_owner */
    char origin_name[ORIGIN_NAME_MAX + 1]; /* empty: local */
    unsigned origin_at;                    /* among those of the set */
};

/* The mutable part of a snapshot, allocated separately so that the rest can be const. */
struct listset_pin {
    unsigned refs; /* guarded by the manager's mutex */
    struct listset *set;
    struct listset_pin *next; /* on the retire list */
};

struct listset_pin;

enum {
    HITS_MAX = 2048, /* of local lists, an equal share each */
    PEER_HITS_MAX = 4096,
    PEER_HITS_ORIGIN = 32, /* of one origin at most */
    SEEN_SLOTS = 2 * HITS_MAX,
    SEEN_SLOTS_PEERS = 4 * PEER_HITS_MAX
};

struct listset {
    struct listset_pin *pin;
    struct config *config;     /* one reference; NULL in the first, empty set */
    struct lookup_stats *hits; /* NULL: nothing is counted */
    struct line_client *lines; /* NULL: no reader has remote levels */
    _Atomic int
        fault; /* enum list_fault; of a set in use only the refresh changes it */
    size_t n;
    size_t nown; /* number of local lists; those of peers follow */
    unsigned norigins;
    struct listset_item *item;
    unsigned nkeys;
    struct hashkey key[KEYRING_MAX];
};

/* The feature types that a list is configured for. Unknown names are left out (the check of the
 * configuration rejects them). */
struct feature_classes list_named_types(const struct config_list *list);

/* Marks those hits that count for nothing here, for what other lists say. */
void listset_silence(const struct listset *s, struct list_hits *hits);

#endif
