/*
 * list_manager_internal - state of the manager and of a refresh, for local lists and lists of
 * peers.
 *
 * Depends: listset_internal, store.   Threads: the refreshing one's, except as said.
 */
#ifndef CORE_LIST_LIST_MANAGER_INTERNAL_H
#define CORE_LIST_LIST_MANAGER_INTERNAL_H

#include <pthread.h>

#include "core/base/file.h"
#include "core/list/listset_internal.h"
#include "core/store/origins.h"

enum {
    NAMES_ARENA_BYTES = 256 * 1024,
    LABEL_MAX = LIST_NAME_MAX + ORIGIN_NAME_MAX + 5, /* "NAME of ORIGIN" */
    RETRY_US = 10 * 1000 * 1000 /* pause before a failed list is opened again
                                   unless its CURRENT changes */
};

/* Fault of a list, as last reported. */
struct trouble {
    char name[LABEL_MAX + 1];
    char text[ERRINFO_TEXT_MAX];
    bool is_present; /* reset in each refresh */
    bool could_not_open;
    bool is_denied; /* rights were missing */
    bool is_peers;
    struct file_mark mark; /* of CURRENT then */
    uint64_t retry_mono_us;
};

/* The origins of peers' lists, as last read. */
struct hold_origins {
    struct file_mark mark;
    struct file_mark more_mark; /* of the subscriptions' */
    struct origins origins;
    bool is_failed;
};

struct list_manager {
    char *state_dir;
    struct keyring keys;
    pthread_mutex_t
        mutex; /* guards: current, every pin, retired, refs of shared readers */
    struct listset *current;
    struct listset_pin *retired;
    /* below: of the refreshing thread alone */
    struct arena *arena;
    struct lookup_stats *hits; /* borrowed; NULL: nothing is counted */
    struct line_client *lines; /* borrowed; NULL: no filter is remote */
    bool has_keys;
    struct file_mark ring_mark; /* of the key files as last read, or tried to */
    struct file_mark node_mark;
    struct hold_origins peers;
    struct trouble *trouble;
    size_t ntrouble;
    size_t trouble_size;
};

struct refresh {
    struct list_manager *h;
    const struct listset *former;
    struct listset *fresh;
    size_t room; /* of fresh */
    bool is_changed;
};

/* One list to be brought into the set. */
struct list_place {
    const char *state_dir;
    struct slice name;
    char label[LABEL_MAX + 1]; /* for people: "phish", "phish of anna" */
    const struct config_list *config;
    const struct origin_row *origin; /* NULL: local */
    unsigned owner;                  /* listset_owner */
    double weight;                   /* of the origin */
    size_t cache;
};
/* Adds the list to the set, opened again if its files changed. */
void refresh_list(struct refresh *x, const struct list_place *place);

/* Reads the file of origins if it changed. Returns the highest number of lists of active
 * origins. */
size_t peers_look(struct list_manager *h);
/* Adds the lists of peers to the set, after the local ones. */
void peers_refresh(struct refresh *x, const struct config *config);

#endif
