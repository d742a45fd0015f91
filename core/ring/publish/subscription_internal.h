/*
 * subscription_internal - state and functions shared by the files of subscription.
 *
 * Not for other rooms.   Depends: subscription.   Threads: one.
 */
#ifndef CORE_RING_PUBLISH_SUBSCRIPTION_INTERNAL_H
#define CORE_RING_PUBLISH_SUBSCRIPTION_INTERNAL_H

#include "core/base/file.h"
#include "core/ring/publish/subscription.h"
#include "core/ring/publish/textlist.h"

enum { SUBSCRIPTION_HELD_MAX = SUBSCRIPTION_CHAIN_MAX + 2 };

/* One list. */
struct follow {
    struct subscription_map map;
    bool is_known; /* LIST.state has the following */
    struct stream_key stream;
    uint64_t seq;
    struct hash256 hash; /* of the header of seq */
    uint64_t entries;
    uint64_t refused;
    bool is_given_up;    /* in this round */
    struct hash256 held; /* newest object of an update that is held; zeros: none */
    struct errinfo why;  /* code ERR_OK: no error */
};

/* An update that is being taken. */
struct work {
    struct follow *f; /* NULL: none */
    struct head head;
    struct textfile
        now; /* the list after the newest object; its texts are in `from`, `taken` */
    bool has_now;
    struct textfile from; /* LIST.state, if is_known */
    struct textlist taken[SUBSCRIPTION_HELD_MAX];
    size_t ntaken;
};

struct seen {
    struct key_binding binding;
    uint64_t created_ms;
    uint64_t expires_ms;
    uint64_t seq;
    struct hash256 heads; /* of the file */
};

struct subscription {
    char name[ERRINFO_SOURCE_MAX];
    char dir[FILE_PATH_MAX];
    uint8_t key[OBJECT_KEY_BYTES];
    struct object_id origin;  /* of the publisher */
    struct object_id kept_as; /* subscription_place */
    struct peerlists *lists;
    const struct keyring *keys;
    uint64_t most_entries;
    double most_change;
    struct follow follow[REPOSITORY_LISTS_MAX];
    size_t nfollow;
    bool has_key; /* seen.binding */
    struct seen seen;
    struct key_binding
        offered; /* from v1/key; accepted with the first heads that it signed */
    bool has_offered;
    bool is_answered; /* v1/key was just taken */
    uint64_t now_ms;
    bool has_heads; /* rows are of this run */
    struct head rows[REPOSITORY_LISTS_MAX];
    size_t nrows;
    unsigned place;         /* the place of the heads in rows */
    bool was_heard;         /* in this round, the newest heads or newer */
    bool was_outdated;      /* in this round, only older ones */
    struct errinfo refused; /* in this round: the last heads refused */
    struct work work;
};

/* The row of a list; NULL: there is none. */
const struct head *heads_find(const struct head *rows, size_t n, const char *list);
/* LIST.state as it is on disk into f. */
enum err follow_load(const struct subscription *s, struct follow *f,
                     struct textfile *ret, struct errinfo *reterr);
/* Applies the update of w to the list. */
enum err follow_apply(struct subscription *s, struct work *w, struct errinfo *reterr);
/* After a crash: continues with LIST.next, or restores a missing list from LIST.state. */
enum err follow_recover(struct subscription *s, struct follow *f,
                        struct errinfo *reterr);
void work_end(struct work *w);
enum err seen_write(const struct subscription *s, struct errinfo *reterr);
/* ERR_NOT_FOUND. ret_key: the publisher's identity. */
enum err seen_read(const char *dir, uint8_t retkey[OBJECT_KEY_BYTES], struct seen *ret,
                   struct errinfo *reterr);

#endif
