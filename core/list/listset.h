/*
 * listset - all lists in use, as one immutable snapshot that look-ups pin.
 *
 * list_manager has the current snapshot. Acquire and release take constant time under a mutex. A
 * replaced snapshot is retired when its last pin is released, and list_manager_free_retired frees
 * it, so no callback unmaps a filter. The watcher (gillnetd) calls list_manager_refresh a few times
 * a second; unchanged lists are shared between snapshots.
 * Depends: base, config, feature, list, store.   Threads: any, except as said. Lists of peers
 * (STATE/peers/lists, of the origins that are active in STATE/peers/origins) are looked up like
 * local ones, with separate bounds, so that they displace no hit of a local list. A peer's allow
 * list is not used. Peers' hits on protected names are ignored (enum list_suppression).
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

struct line_client;
struct lookup_stats;
struct listset;

/* Why a hit on a peer's list counts for nothing. */
enum list_suppression {
    LIST_NOT_SUPPRESSED,
    LIST_SUPPRESSED_REVOKED, /* a person here revoked the value in the list of this name */
    LIST_SUPPRESSED_ALLOWED,   /* an allow list here holds it */
    LIST_SUPPRESSED_PROTECTED, /* it is, or lies below, a protected name */
    /* Another server of this owner revoked the value in the list of this name. Local entries are
     * silent then, too, and their answer is LIST_REVOKED. */
    LIST_SUPPRESSED_ELSEWHERE
};
const char *list_suppression_name(
    enum list_suppression s); /* "", "revoked here", ... */
/* True if a value is, or lies below, a name in `protected`, allow.domains or allow.addresses. */
bool list_is_protected(const struct config *c, struct slice value);
/* As list_is_protected, or an address in allow.networks. */
bool list_is_allowed(const struct config *c, struct slice value);

/* The state of one feature on one list. */
struct list_hit {
    uint16_t list;        /* index for listset_reader, listset_config */
    uint16_t report_type; /* feature type as shown */
    enum list_answer answer;
    bool is_explicit;     /* confirmed or revoked: a person here said so */
    bool is_filtered;     /* possible: the filters of the local list itself say so */
    uint8_t silence;      /* enum list_suppression */
    uint32_t feature;     /* index of the feature, the first one with this value */
    struct digest digest; /* of the entry, under the list's key */
    struct slice value;   /* the listed value: "evil.example"; lives in the arena */
};
struct list_hits {
    struct list_hit *v;
    size_t n;
    size_t keys; /* digests looked up */
    size_t filter_hits;
    bool
        met_deadline; /* some confirmations were not made: these hits are LIST_POSSIBLE, or
                         revoked by a recent change */
    bool
        lacks_lines; /* of some keys a list has no opinion: lines of its filter did not come */
    uint64_t
        lines_us; /* time that this message waited for lines; goes on from what it is before */
};

struct list_manager;
/* keys NULL: they cannot be read yet; no list is opened until a refresh can. */
struct list_manager *list_manager_new(const char *state_dir,
                                      const struct keyring *keys);
void list_manager_free(struct list_manager **h);
/* Opens lists that are new or changed on disk or in config, and sets a new snapshot if anything
 * changed. A list that cannot be opened keeps its last good generation (or is left out) and becomes
 * a fault (stats_fault "list:NAME") and one log line. Changed key files are read again (fault
 * "keys"). On failure (the folder of lists cannot be read, or was there and is gone) the snapshot
 * stays as it is. One thread only. */
enum err list_manager_refresh(struct list_manager *h, const struct config *config,
                              struct errinfo *reterr);
/* The open files of this list are damaged: the next refresh opens the list again. Only on the
 * refreshing thread. */
void list_manager_reopen(struct list_manager *h, struct slice name);
/* Frees retired snapshots. One thread only. */
void list_manager_free_retired(struct list_manager *h);

/* Counts look-ups in hits from the next refresh on. hits is borrowed until the manager is freed.
 * Call this before snapshots are shared between threads. */
void list_manager_set_stats(struct list_manager *h, struct lookup_stats *hits);
/* From the next refresh on, filters of lists with filter_memory = "store" are remote; without this
 * they are mapped. lines is borrowed until the manager is freed. Call this as the other. */
void list_manager_set_lines(struct list_manager *h, struct line_client *lines);

/* The current snapshot, pinned; never NULL (it may have no lists). */
const struct listset *list_manager_acquire(struct list_manager *h);
void list_manager_release(struct list_manager *h, const struct listset **s);

/* Number of local lists: the first ones of the set. */
size_t listset_count(const struct listset *s);
/* Number of all lists; those of peers follow the local ones. */
size_t listset_total(const struct listset *s);
/* Name of the server that owns the i-th list; NULL: local. */
const char *listset_origin(const struct listset *s, size_t i);
/* A number below ORIGINS_MAX, the same for all lists of one server, whether a member of the ring or
 * a subscription. Only for lists of peers. */
unsigned listset_owner(const struct listset *s, size_t i);
/* What is revoked in the i-th list, of another server of this owner, is revoked here. */
bool listset_may_revoke(const struct listset *s, size_t i);
/* Factor for the weight of the configured list of this name; 0: no such list. */
double listset_weight(const struct listset *s, size_t i);
/* Some list has a fault (its answers may be those of a former generation, or missing), or the
 * lists could not be opened at all. */
bool listset_is_degraded(const struct listset *s);
/* Kinds of faults, the worst last. */
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

/* Looks up every feature in every list: makes keys and digests, tests them in one batch, and
 * confirms the hits. No confirmation starts after deadline_mono_us (0: none). Hits and texts live
 * in arena; an arena that is full gives fewer hits and ERR_NOMEM. Each local list has a share of
 * the hits, so that many hits of one list hide none of another. ret->lines_us must be set. */
enum err listset_lookup(const struct listset *s, const struct featureset *features,
                        uint64_t deadline_mono_us, struct arena *arena,
                        struct list_hits *ret);

#endif
