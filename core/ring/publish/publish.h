/*
 * publish - lists as signed static files: one publisher, any number of subscribers.
 *
 * A list is a TEXT stream of its own: seq 1 is a SNAP, what changed since follows in DELTAs, and once these have
 * more than half the bytes of a SNAP, or are PUBLISH_CHAIN_MAX, another SNAP. What came before the SNAP before stays one
 * period longer, for whom is just taking it. Nothing that was published is ever signed in another form: STATE/peers/publish
 * remembers, and is durable before anybody can see it:
 *   LOCK           one publication at a time
 *   heads          the heads as published last
 *   LIST/state     what the newest object of the list's stream leaves (textlist.h)
 *   LIST/out/      objects on their way into the place
 * Order: objects into out, state, objects into the place, heads into STATE, heads into the place. A crash before
 * `state` leaves nothing that anybody saw; after it the next publication brings the rest into the place.
 * A place that knows more than STATE (a restored disk), or whose files are gone, gets a new stream or a new SNAP.
 * Entries of which a list does not keep the text cannot be published; they are counted.
 * Depends: base, list, publication, textlist.   Threads: one.   Owns: STATE/peers/publish while open.   ADR 0037.
 */
#ifndef CORE_RING_PUBLISH_PUBLISH_H
#define CORE_RING_PUBLISH_PUBLISH_H

#include "core/base/keyring.h"
#include "core/list/list.h"
#include "core/ring/publish/repository.h"
#include "core/ring/publish/textlist.h"
#include "core/ring/trust/identity.h"

enum {
    PUBLISH_CHAIN_MAX = 128,
    PUBLISH_GRACE_S =
        3 *
        3600 /* files of a stream that the heads name no more stay so long: who is just
                                  fetching them ends before */
};

/* share: 0..1, below 0 where it is not known. */
typedef void publish_progress_fn(void *context, const char *stage, double share);

struct publish_options {
    const char *state_dir;
    const char *place; /* the folder that holds v1/, or will */
    const struct identity *self;
    const struct keyring *keys;
    uint64_t now_ms;
    uint64_t valid_ms; /* the heads expire so long after now */
    bool is_anew;      /* what STATE remembers is not gone on with: new streams */
    publish_progress_fn *progress; /* may be NULL */
    void *context;
};

struct publish_result {
    uint64_t entries;      /* that stand, as published now */
    uint64_t revoked;      /* that were taken back */
    uint64_t without_text; /* not published */
    uint64_t steps;        /* that changed since the last publication */
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
/* Brings what list `name` of STATE holds now. ERR_NOT_FOUND: there is no such list. */
enum err publish_list(struct publish *p, const char *name, struct publish_result *ret,
                      struct errinfo *reterr);
/* As publish_list, of these entries. */
enum err publish_entries(struct publish *p, const char *name,
                         const struct textlist *entries, struct publish_result *ret,
                         struct errinfo *reterr);
/* What is in the place of the list is shown no more. STATE remembers it: who publishes it again goes on. ERR_NOT_FOUND: it
 * is not published there. */
enum err publish_withdraw(struct publish *p, const char *name, struct errinfo *reterr);
/* Shows all that to the world: the key, then the heads. Without it nobody sees what publish_list brought. */
enum err publish_commit(struct publish *p, struct errinfo *reterr);

#endif
