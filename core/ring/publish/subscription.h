/*
 * subscription - a publisher's place as one of its many subscribers follows it.
 *
 * Knows no network: who drives it hands in what the places answered and asks what to fetch next. Only the publisher's
 * identity is trusted, by its key in the configuration; a place is a mirror that can be old or gone, never wrong.
 * A round: the heads of each place (subscription_hear, after v1/key where it asks for it), of which the newest count;
 * then objects as long as subscription_wants names one; then subscription_end, which says what is amiss.
 * Heads that are older than what was seen, or expired, change nothing: what was taken stays. For an entry of a list the
 * rules of peers apply: texts that are no entries are refused one by one, an update that changes too much is held.
 * In STATE/peers/subscriptions/NAME:
 *   seen         which publisher, its signing key, its newest heads
 *   LIST.state   what is taken of the list, and up to which object (textlist.h)
 *   LIST.next    the same, of an update that is on its way into the list
 * The entries are in STATE/peers/lists/ORIGIN (peerlist.h). Order: verified, root, LIST.next durable (with the cursor),
 * list changed, LIST.next becomes LIST.state; after a crash it is done again.
 * Depends: base, feature, peerlist, publication, textlist.   Threads: one.   Owns: that folder.   ADR 0037.
 */
#ifndef CORE_RING_PUBLISH_SUBSCRIPTION_H
#define CORE_RING_PUBLISH_SUBSCRIPTION_H

#include "core/base/keyring.h"
#include "core/list/list.h"
#include "core/ring/publish/repository.h"
#include "core/ring/sync/peerlist.h"

enum {
    SUBSCRIPTION_SKEW_S = 120,
    SUBSCRIPTION_CHAIN_MAX =
        256, /* DELTAs taken in a round; who is further behind takes a SNAP */
    SUBSCRIPTION_FREE_CHANGES = 100 /* an update may always change so many entries */
};

/* Their list, and ours that it stands beside. */
struct subscription_map {
    char theirs[LIST_NAME_MAX + 1];
    char ours[LIST_NAME_MAX + 1];
};

struct subscription_options {
    const char *state_dir;
    const char *name;
    uint8_t key[OBJECT_KEY_BYTES];       /* of the publisher's identity */
    const struct subscription_map *maps; /* copied */
    size_t nmaps;
    uint64_t most_entries; /* of one list; more are held */
    double
        most_change; /* share of a list's entries that one update may change; 0: any */
};

struct subscription;
/* What a former publisher or a list that is not followed any more has brought is gone when it returns; what a crash broke
 * off is finished. lists and keys are borrowed. */
enum err subscription_open(const struct subscription_options *options,
                           struct peerlists *lists, const struct keyring *keys,
                           struct subscription **ret, struct errinfo *reterr);
void subscription_close(struct subscription **s);
/* Under what origin a subscription's lists lie in peers/lists: none that a server can have, so what a publisher who is a
 * member of the ring too says there is kept apart from what he publishes. */
void subscription_place(const char *name, const uint8_t key[OBJECT_KEY_BYTES],
                        struct object_id *ret);
/* Removes all that a subscription brought. */
enum err subscription_drop(const char *state_dir, const char *name,
                           struct peerlists *lists, struct errinfo *reterr);

/* ---- a round ---- */

enum subscription_answer {
    SUBSCRIPTION_NEWER, /* than what was known */
    SUBSCRIPTION_SAME,
    SUBSCRIPTION_OLDER,   /* a mirror that lags behind */
    SUBSCRIPTION_KEY,     /* its v1/key is wanted, then these heads again */
    SUBSCRIPTION_REFUSED, /* reterr: why */
    SUBSCRIPTION_ANSWERS
};
const char *subscription_answer_name(enum subscription_answer a);

void subscription_begin(struct subscription *s, uint64_t now_ms);
/* v1/heads of place number `place`. */
enum subscription_answer subscription_hear(struct subscription *s, unsigned place,
                                           struct slice heads, struct errinfo *reterr);
/* v1/heads are what they were when that place was heard last. */
void subscription_hear_same(struct subscription *s, unsigned place);
/* v1/key. ERR_RANGE: an older key than the one known. */
enum err subscription_key(struct subscription *s, struct slice key,
                          struct errinfo *reterr);

struct subscription_want {
    char path[REPOSITORY_PATH_MAX];
    uint64_t most_bytes;
    unsigned place; /* that has the newest heads; others may have it too */
    bool is_snap;   /* may be large: worth going on with after a break */
};
/* False: nothing (more). */
bool subscription_wants(struct subscription *s, struct subscription_want *ret);
/* The object that was wanted. On failure it is wanted again next round; reterr says why it is refused. */
enum err subscription_take(struct subscription *s, struct slice object,
                           struct errinfo *reterr);
/* It cannot be had: the list is left as it is until the next round. */
void subscription_give_up(struct subscription *s);
/* ERR_OK: all is as the publisher has it. Else what is amiss (a rollback, a freeze, an update that is held, ...). */
enum err subscription_end(struct subscription *s, struct errinfo *reterr);

/* ---- to be seen ---- */

struct subscription_stat {
    uint64_t heads_ms;     /* when the newest heads were made; 0: none seen */
    uint64_t expires_ms;   /* and until when they hold */
    uint64_t publications; /* seq of these */
    uint64_t lists;
    uint64_t entries; /* taken, revoked ones too */
    uint64_t refused; /* of these, no entries here */
    bool is_complete; /* every list is as the newest heads say */
};
void subscription_stat(const struct subscription *s, struct subscription_stat *ret);

#endif
