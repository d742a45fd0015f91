/*
 * publish - lists as signed static files: one publisher, any number of subscribers.
 *
 * The room publish has both sides. A publisher compares a list with what it published last and
 * writes objects and heads into a folder for a web server. A subscriber checks the files that
 * others fetched for it and makes them entries of a list of peers. Neither side uses the network.
 *
 * A list is a TEXT stream of its own. Seq 1 is a SNAP; later changes follow in DELTAs. Another SNAP
 * comes once these have more than half the bytes of a SNAP, or number PUBLISH_CHAIN_MAX. Objects
 * before the previous SNAP stay one period longer, for downloads that run. A published object is
 * never signed again in another form. STATE/peers/publish remembers it, durably before it is
 * visible:
 *
 *   LOCK           one publication at a time
 *   heads          the newest published heads
 *   LIST/state     the list after its newest object (textlist.h)
 *   LIST/out/      objects on their way into the place
 *
 * Order: objects into out, state, objects into the place, heads into STATE, heads into the place.
 * A crash before `state` leaves nothing visible; after it the next publication completes the place.
 * If the place has more than STATE (a restored disk), a new stream begins; if it has lost files, a
 * new SNAP follows. Entries whose texts the list does not keep are counted, not published.
 *
 * Files, in reading order: textlist (a list with texts, in memory and on disk), repository (the
 * files of the place), publish with publish_objects and publish_sweep, subscription with
 * subscription_take (checks) and subscription_state (memory, entries).
 * To add a check of heads: in subscription.c check_newer or check_time, with its own reason; a lie
 * in tests/unit/publish/test_subscription_lies.c; a line in protocol.md 12.
 * Depends: base, list, repository, textlist.   Threads: one.   Owns: STATE/peers/publish while
 * open. ADR 0037, 0058.
 */
#ifndef CORE_RING_PUBLISH_PUBLISH_H
#define CORE_RING_PUBLISH_PUBLISH_H

#include "core/base/keyring.h"
#include "core/list/list.h"
#include "core/ring/publish/repository.h"
#include "core/ring/publish/textlist.h"
#include "core/ring/trust/peer_identity.h"

enum {
    PUBLISH_CHAIN_MAX = 128,
    /* files of a stream stay for this time after the last heads with it, for downloads that run */
    PUBLISH_GRACE_S = 3 * 3600
};

/* share: 0..1; below 0: not known. */
typedef void publish_progress_fn(void *context, const char *stage, double share);

struct publish_options {
    const char *state_dir;
    const char *place; /* the folder that holds v1/, or will */
    const struct identity *self;
    const struct keyring *keys;
    uint64_t now_ms;
    uint64_t valid_ms;             /* from now until the heads expire */
    bool is_anew;                  /* ignore the streams of STATE and begin new ones */
    publish_progress_fn *progress; /* may be NULL */
    void *context;
};

struct publish_result {
    uint64_t entries;      /* listed, in this publication */
    uint64_t revoked;      /* revoked entries */
    uint64_t without_text; /* not published */
    uint64_t steps;        /* changes since the last publication */
    uint64_t objects;      /* new ones */
    uint64_t bytes;        /* of these */
    uint64_t seq;          /* of the newest */
    bool is_new;           /* a new stream */
};

struct publish;
/* Takes the lock; makes the folders. ERR_LOCKED. ERR_EXISTS: the place is another publisher's. */
enum err publish_open(const struct publish_options *options, struct publish **ret,
                      struct errinfo *reterr);
void publish_close(struct publish **p);
/* The names of the lists that the place has now, sorted; valid until it is closed. */
size_t publish_lists(const struct publish *p, const char *ret[REPOSITORY_LISTS_MAX]);
/* Publishes the entries of list `name` of STATE. ERR_NOT_FOUND: there is no such list. */
enum err publish_list(struct publish *p, const char *name, struct publish_result *ret,
                      struct errinfo *reterr);
/* The same with these entries. */
enum err publish_entries(struct publish *p, const char *name,
                         const struct textlist *entries, struct publish_result *ret,
                         struct errinfo *reterr);
/* Removes the list from the heads. STATE remembers its stream, and a later publication continues
 * it. ERR_NOT_FOUND: the place does not have it. */
enum err publish_withdraw(struct publish *p, const char *name, struct errinfo *reterr);
/* Makes the publication visible: writes the key, then the heads. */
enum err publish_commit(struct publish *p, struct errinfo *reterr);

#endif
