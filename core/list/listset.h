/*
 * listset - all lists in use, as one immutable snapshot that is pinned while it is asked.
 *
 * listhold holds the current snapshot: acquire and release under a mutex (constant time);
 * publish swaps; the last one out puts the snapshot on a retire list that listhold_reap frees,
 * so no callback ever unmaps a filter. The watcher (gillnetd) calls listhold_refresh a few times
 * a second: lists whose CURRENT did not change are shared between snapshots.
 * Depends: base, config, feature, list, store.   Threads: any, except as said.
 * Lists of peers (STATE/peers/lists, of the origins that are active in STATE/peers/origins) are asked
 * like ours, bounded, so that whatever they hold they displace no hit of ours; one that is an allow
 * list here is not asked. What they say of names that are ours is silent (enum list_silence).
 * Source: Varnish pins its live VCL the same way; ADR 0003.
 */
#ifndef CORE_LIST_LISTSET_H
#define CORE_LIST_LISTSET_H

#include "core/base/arena.h"
#include "core/base/keyring.h"
#include "core/config/config.h"
#include "core/list/list.h"
#include "core/message/feature/feature.h"
#include "core/store/origins.h"

struct lookup_stats;
struct listset;

/* Why a hit on a peer's list counts for nothing. */
enum list_suppression {
    LIST_NOT_SUPPRESSED,
    LIST_SUPPRESSED_REVOKED, /* somebody here took that value back from the list of this name */
    LIST_SUPPRESSED_ALLOWED,  /* an allow list here holds it */
    LIST_SUPPRESSED_PROTECTED /* it is, or lies below, one of our own names */
};
const char *list_suppression_name(
    enum list_suppression s); /* "", "revoked here", ... */
/* Whether a value is one of our own names, or lies below: `protected`, allow.domains, allow.addresses. */
bool list_is_protected(const struct config *c, struct slice value);
/* Or an address in allow.networks. */
bool list_is_allowed(const struct config *c, struct slice value);

/* The state of one feature on one list. */
struct list_hit {
    uint16_t list;        /* index for listset_reader, listset_config */
    uint16_t report_type; /* feature type as shown */
    enum list_answer answer;
    bool is_explicit;   /* confirmed or revoked: a person here said so */
    uint8_t silence;    /* enum list_silence */
    uint32_t feature;   /* index of the feature, the first one with this value */
    struct slice value; /* the listed value: "evil.example"; lives in the arena */
};
struct list_hits {
    struct list_hit *v;
    size_t n;
    size_t keys; /* digests looked up */
    size_t filter_hits;
    bool
        met_deadline; /* some confirmations were not made: these hits are LIST_POSSIBLE */
};

struct list_manager;
/* keys NULL: they cannot be read yet; no list is opened until a refresh can. */
struct list_manager *list_manager_new(const char *state_dir,
                                      const struct keyring *keys);
void list_manager_free(struct list_manager **h);
/* Opens what is new or changed on disk or in config, publishes a new snapshot if anything did.
 * A list that cannot be opened keeps its last good generation (or is left out) and becomes a
 * fault (stats_fault "list:NAME") and one log line. Key files that changed are read anew (fault
 * "keys"). On failure (the folder of lists cannot be read, or was there and is gone) the snapshot
 * stays as it is. One thread only. */
enum err list_manager_refresh(struct list_manager *h, const struct config *config,
                              struct errinfo *reterr);
/* What this list was opened from is damaged: the next refresh opens it anew from its files. The
 * thread that refreshes. */
void list_manager_reopen(struct list_manager *h, struct slice name);
/* Frees retired snapshots. One thread only. */
void list_manager_free_retired(struct list_manager *h);

/* What is looked up is counted there from the next refresh on; borrowed until the hold is freed.
 * Before snapshots are shared between threads. */
void list_manager_set_stats(struct list_manager *h, struct lookup_stats *hits);

/* The current snapshot, pinned; never NULL (it may have no lists). */
const struct listset *list_manager_acquire(struct list_manager *h);
void list_manager_release(struct list_manager *h, const struct listset **s);

/* Our lists: the first ones of the set. */
size_t listset_count(const struct listset *s);
/* All lists, those of peers behind ours. */
size_t listset_total(const struct listset *s);
/* Who keeps the i-th list; NULL: we do. */
const char *listset_origin(const struct listset *s, size_t i);
/* A number below ORIGINS_MAX, the same for lists of one server: it may be a member of the ring, and followed, too. Of lists
 * of others alone. */
unsigned listset_owner(const struct listset *s, size_t i);
/* What its hits weigh, times the weight of the list of that name here; 0 where no list of that name
 * is configured. */
double listset_weight(const struct listset *s, size_t i);
/* Some list has a fault (its answers may be those of a former generation, or missing), or the
 * lists could not be opened at all. */
bool listset_is_degraded(const struct listset *s);
/* What it is, the worst of them. */
enum list_fault {
    LIST_FAULT_NONE,
    LIST_FAULT_LISTS,            /* damaged, or otherwise not to be used in full */
    LIST_FAULT_LIST_UNREADABLE,  /* rights to the files of a list are missing */
    LIST_FAULT_LISTS_UNREADABLE, /* the same of the folder of lists */
    LIST_FAULT_KEYS_UNREADABLE   /* without keys no list is read */
};
enum list_fault listset_fault(const struct listset *s);
/* "lists", "list_unreadable", ...; NULL: none */
const char *list_fault_name(enum list_fault fault);
/* Reader of the i-th list and its configuration (of the config it was refreshed with). */
const struct list_reader *listset_reader(const struct listset *s, size_t i);
const struct config_list *listset_config(const struct listset *s, size_t i);

/* Looks up every feature in every list: expands to keys, digests, tests in one batch, confirms
 * the hits. deadline_mono_us: no confirmation starts after it (0: none). Hits and texts live in
 * arena; an arena that is full gives fewer hits and ERR_NOMEM. Each of our lists has a share of the hits:
 * what many of one list hold hides nothing of another. */
enum err listset_lookup(const struct listset *s, const struct featureset *features,
                        uint64_t deadline_mono_us, struct arena *arena,
                        struct list_hits *ret);

#endif
