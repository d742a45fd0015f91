/*
 * subscription - one of many subscribers of a publisher's place.
 *
 * It uses no network: the caller hands in the answers of the places and asks for the next file.
 * Only the publisher's identity is trusted, by its key in the configuration. A place is a mirror:
 * it can be old or gone, never wrong.
 * A round: the heads of each place (subscription_hear, after v1/key if it is wanted), of which the
 * newest count; then objects while subscription_wants names one; then subscription_end, which
 * reports errors. Heads that are older than the known ones, or expired, change nothing: the entries
 * stay. Entries have the rules of peers: a text that is not an entry is refused alone, an update
 * that changes too much is held. In STATE/peers/subscriptions/NAME:
 *
 *   seen         the publisher, its signing key, its newest heads
 *   LIST.state   the list, and the header of its newest object (textlist.h)
 *   LIST.next    the same, of an update that is being applied
 *
 * The entries are in STATE/peers/lists/ORIGIN (peerlist.h). Order: verified, root, LIST.next
 * durable (with the header), list changed, LIST.next becomes LIST.state; after a crash this is
 * repeated.
 * Depends: base, feature, peerlist, repository, textlist.   Threads: one.   Owns: that folder.
 * ADR 0037.
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
        256, /* DELTAs in a round; with more to take, the SNAP is taken */
    SUBSCRIPTION_FREE_CHANGES = 100 /* entries that any update may change */
};

/* The publisher's list, and the local list that it is added to. */
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
/* Removes the entries of a former publisher and of lists that are no longer followed, and finishes
 * the work that a crash interrupted. lists and keys are borrowed. */
enum err subscription_open(const struct subscription_options *options,
                           struct peerlists *lists, const struct keyring *keys,
                           struct subscription **ret, struct errinfo *reterr);
void subscription_close(struct subscription **s);
/* The origin of a subscription's lists in peers/lists. No server can have it, so a publisher who is
 * also a member of the ring has two separate folders. */
void subscription_place(const char *name, const uint8_t key[OBJECT_KEY_BYTES],
                        struct object_id *ret);
/* Removes the files and entries of a subscription. */
enum err subscription_drop(const char *state_dir, const char *name,
                           struct peerlists *lists, struct errinfo *reterr);

/* ---- a round ---- */

enum subscription_answer {
    SUBSCRIPTION_NEWER, /* than the known heads */
    SUBSCRIPTION_SAME,
    SUBSCRIPTION_OLDER,   /* from an outdated mirror */
    SUBSCRIPTION_KEY,     /* its v1/key is wanted, then these heads again */
    SUBSCRIPTION_REFUSED, /* reterr: the reason */
    SUBSCRIPTION_ANSWERS
};
const char *subscription_answer_name(enum subscription_answer a);

void subscription_begin(struct subscription *s, uint64_t now_ms);
/* v1/heads of place number `place`. */
enum subscription_answer subscription_hear(struct subscription *s, unsigned place,
                                           struct slice heads, struct errinfo *reterr);
/* v1/heads of that place have not changed since the last answer. */
void subscription_hear_same(struct subscription *s, unsigned place);
/* v1/key. ERR_RANGE: an older key than the one known. */
enum err subscription_key(struct subscription *s, struct slice key,
                          struct errinfo *reterr);

struct subscription_want {
    char path[REPOSITORY_PATH_MAX];
    uint64_t most_bytes;
    unsigned place; /* the place of the newest heads; others may have the file */
    bool is_snap;   /* may be large: worth resuming after a break */
};
/* False: every list has its objects. */
bool subscription_wants(struct subscription *s, struct subscription_want *ret);
/* Takes the object that was wanted. On failure it is wanted again in the next round. */
enum err subscription_take(struct subscription *s, struct slice object,
                           struct errinfo *reterr);
/* The object cannot be fetched: the list stays as it is until the next round. */
void subscription_give_up(struct subscription *s);
/* ERR_OK: the lists are up to date. Else the error (rollback, freeze, held update). */
enum err subscription_end(struct subscription *s, struct errinfo *reterr);

/* ---- statistics ---- */

struct subscription_stat {
    uint64_t heads_ms;     /* time of the newest heads; 0: none yet */
    uint64_t expires_ms;   /* when they expire */
    uint64_t publications; /* seq of these */
    uint64_t lists;
    uint64_t entries; /* with revoked ones */
    uint64_t refused; /* of these, texts that are not entries */
    bool is_complete; /* every list has reached the newest heads */
};
void subscription_stat(const struct subscription *s, struct subscription_stat *ret);

#endif
