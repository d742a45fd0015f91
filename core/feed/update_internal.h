/*
 * update_internal - the inside of a feed's stage; private to this room.
 *
 * Threads: one feed, one thread.
 */
#ifndef CORE_FEED_UPDATE_INTERNAL_H
#define CORE_FEED_UPDATE_INTERNAL_H

#include "core/base/file.h"
#include "core/feed/exclude.h"
#include "core/feed/feed_diff.h"
#include "core/feed/feed_set.h"
#include "core/feed/update.h"
#include "core/list/mirror.h"
#include "core/store/sorter.h"

enum {
    UPDATE_VERSIONS_MAX = 64, /* more than `versions` may be */
    UPDATE_COMPARE_S = 86400, /* between comparisons of a version with the whole list */
    UPDATE_BAND_LEAST =
        100 /* feeds of fewer entries may shrink and grow as they like */
};

enum update_reason {
#define UPDATE_REASON(name) UPDATE_REASON_##name,
#include "core/feed/update_reason.def"
#undef UPDATE_REASON
    UPDATE_REASONS
};

/* ---- state.json ---- */

struct update_version {
    uint64_t number;
    uint64_t at_s;
    uint64_t entries;
};

/* An update whose changes are on disk, and perhaps not all in the list. */
struct update_pending {
    struct update_version version; /* number 0: none */
    bool is_rollback;
    uint64_t entered;
};

struct update_saved {
    struct update_state shown;
    struct update_version version[UPDATE_VERSIONS_MAX]; /* oldest first */
    size_t nversions;
    struct update_pending pending;
    uint64_t last;       /* the highest number that was ever given */
    uint64_t compared_s; /* when list and version were last compared as a whole */
    bool is_lost;        /* versions were damaged: the list has the only entries */
    char list[LIST_NAME_MAX + 1]; /* that has the version; "": no list yet */
    bool
        is_silent; /* the entries went for silence: the next body lists all of them again */
};

/* Text of state.json and back. ERR_CORRUPT: the text is no state. */
enum err saved_parse(struct slice bytes, struct update_saved *ret);
enum err saved_print(const struct update_saved *s, struct buf *ret);

/* ---- a feed ---- */

struct feed_update {
    const struct config *config;
    const struct config_feed *feed;
    const struct keyring *keys;
    list_progress_fn *progress; /* may be NULL */
    void *context;
    char dir[FILE_PATH_MAX];
    char incoming[FILE_PATH_MAX];
    const char *list; /* that is worked on: the feed's */
    struct filelock lock;
    struct update_saved saved;
};

void update_show(const struct feed_update *s, const char *what, double share);
uint64_t update_now_s(void);
/* STATE/feeds/NAME/WHAT.NUMBER; "set", "body", "changes". */
enum err update_file(const struct feed_update *s, const char *what, uint64_t number,
                     char ret[FILE_PATH_MAX], struct errinfo *reterr);
enum err update_save(struct feed_update *s, struct errinfo *reterr);
/* Removes what no version names. Failures are left for the next time. */
void update_sweep(const struct feed_update *s);
/* The version of this number, or NULL. */
const struct update_version *update_version_find(const struct feed_update *s,
                                                 uint64_t number);

/* ---- a body becomes sorted entries ---- */

struct intake {
    struct feed_update *stage;
    const struct feed_exclude *guard; /* NULL: everything is taken */
    const struct feed_set *only;      /* not NULL: entries that are in it alone */
    struct hashkey key;
    update_line_fn *on_line; /* told what is left out; may be NULL */
    void *context;
    /* what came of it */
    struct sorter *sorter; /* finished; the caller's */
    struct feed_counts counts;
    uint64_t left_out;
    uint64_t taken;
    bool is_refused; /* the format did not fit, or there were too many: why says it */
    bool has_too_many;
    struct errinfo why;
    /* private */
    struct buf data;
    struct arena *arena; /* of one entry */
    uint64_t size;
    enum err failed;
};
enum err intake_read(struct intake *in, const char *path, struct errinfo *reterr);

/* An entry in the sorter. */
struct intake_entry {
    struct digest digest;
    uint16_t class_type;
    uint32_t expiry_s;
    uint32_t first_seen_s;
    struct slice text;
};
/* The next one of n equal ones. False: that was all, or *retfail. */
bool intake_next(struct sorter *s, struct intake_entry *ret, bool *rethas,
                 enum err *retfail);

/* ---- the new compared with the old ---- */

struct compare {
    struct feed_update *stage;
    struct sorter *fresh;       /* NULL: nothing is in it */
    const struct feed_set *old; /* may have no entries */
    struct mirror_iter *walk;   /* what the list holds; NULL: as the old says */
    bool walk_leaves;           /* what the list alone holds leaves it */
    bool lists_all;             /* what was known is entered again */
    uint64_t keep_s;
    struct feed_exclude
        *guard; /* marks good mail that the new entries are in; may be NULL */
    struct feed_set_out *set;      /* may be NULL */
    struct feed_diff_out *changes; /* may be NULL */
    /* what came of it */
    uint64_t entries;
    uint64_t entered;
    uint64_t left;
    uint64_t changed; /* end at another time than the old version says */
};
enum err compare_run(struct compare *c, struct errinfo *reterr);

/* ---- checks ---- */

/* Fills ret->refusal when the update is not to be applied. */
void update_check(const struct feed_update *s, const struct intake *in,
                  const struct compare *c, const struct feed_exclude *guard,
                  bool is_by_hand, struct update_refusal *ret);
void update_refuse(struct update_refusal *ret, enum update_reason reason,
                   const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- the list ---- */

/* Reader of the feed's list, rebuilt first if its form is not the configured one, and the key of
 * its digests; *ret NULL: no such list yet. */
enum err update_list_open(const struct feed_update *s, struct list_reader **ret,
                          struct hashkey *retkey, struct errinfo *reterr);
/* How the URLs of the feed's list match. */
enum url_match stage_url_match(const struct feed_update *s);
/* Applies a file of changes. */
enum err update_apply(struct feed_update *s, const char *path, struct errinfo *reterr);
/* All entries of the version that serves leave the list, keep_s from now. */
enum err update_leave(struct feed_update *s, uint64_t keep_s, struct errinfo *reterr);
/* Makes whole what a crash broke off, and leaves a list that the feed had before. */
enum err update_settle(struct feed_update *s, struct errinfo *reterr);
/* The changes of this update are on disk and applied, then the version is the one that serves. */
enum err update_publish(struct feed_update *s, const struct update_pending *p,
                        struct errinfo *reterr);
/* The set of a version; ERR_CORRUPT also when it is of another key than the list. */
enum err update_set_open(const struct feed_update *s, uint64_t number,
                         const struct hashkey *key, struct feed_set *ret,
                         struct errinfo *reterr);

/* ---- lines for people ---- */

struct update_sides {
    const struct feed_set *from; /* may have no entries */
    uint64_t from_number;
    const struct feed_set *to;
    const char *to_body;
    struct hashkey key;
};
enum err update_tell(struct feed_update *s, const struct update_sides *sides,
                     update_line_fn *on_line, void *context, struct errinfo *reterr);

#endif
