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
    STAGE_VERSIONS_MAX = 64, /* more than `versions` may be */
    STAGE_COMPARE_S = 86400, /* between comparisons of a version with the whole list */
    STAGE_BAND_LEAST = 100 /* feeds of fewer entries may shrink and grow as they like */
};

enum stage_reason {
#define STAGE_REASON(name) STAGE_REASON_##name,
#include "core/feed/update_reason.def"
#undef STAGE_REASON
    STAGE_REASONS
};

/* ---- state.json ---- */

struct stage_version {
    uint64_t number;
    uint64_t at_s;
    uint64_t entries;
};

/* An update whose changes are on disk, and perhaps not all in the list. */
struct stage_pending {
    struct stage_version version; /* number 0: none */
    bool is_rollback;
    uint64_t entered;
};

struct stage_saved {
    struct stage_state shown;
    struct stage_version version[STAGE_VERSIONS_MAX]; /* oldest first */
    size_t nversions;
    struct stage_pending pending;
    uint64_t last;       /* the highest number that was ever given */
    uint64_t compared_s; /* when list and version were last compared as a whole */
    bool is_lost; /* versions were damaged: what the list holds is what there was */
    char list[LIST_NAME_MAX + 1]; /* that holds the version; "": none yet */
    bool
        is_silent; /* the entries went for silence: the next body lists all of them again */
};

/* Text of state.json and back. ERR_CORRUPT: it is none. */
enum err saved_parse(struct slice bytes, struct stage_saved *ret);
enum err saved_print(const struct stage_saved *s, struct buf *ret);

/* ---- a feed ---- */

struct stage {
    const struct config *config;
    const struct config_feed *feed;
    const struct keyring *keys;
    list_progress_fn *progress; /* may be NULL */
    void *context;
    char dir[FILE_PATH_MAX];
    char incoming[FILE_PATH_MAX];
    const char *list; /* that is worked on: the feed's */
    struct filelock lock;
    struct stage_saved saved;
};

void stage_show(const struct stage *s, const char *what, double share);
uint64_t stage_now_s(void);
/* STATE/feeds/NAME/WHAT.NUMBER; "set", "body", "changes". */
enum err stage_file(const struct stage *s, const char *what, uint64_t number,
                    char ret[FILE_PATH_MAX], struct errinfo *reterr);
enum err stage_save(struct stage *s, struct errinfo *reterr);
/* Removes what no version names. Failures are left for the next time. */
void stage_sweep(const struct stage *s);
/* The version of this number, or NULL. */
const struct stage_version *stage_version_find(const struct stage *s, uint64_t number);

/* ---- a body becomes sorted entries ---- */

struct intake {
    struct stage *stage;
    const struct feed_guard *guard; /* NULL: everything is taken */
    const struct set *only;         /* not NULL: entries that are in it alone */
    struct hashkey key;
    stage_line_fn *on_line; /* told what is left out; may be NULL */
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

/* What the sorter carries of an entry. */
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
    struct stage *stage;
    struct sorter *fresh;   /* NULL: nothing is in it */
    const struct set *old;  /* may have no entries */
    struct list_walk *walk; /* what the list holds; NULL: as the old says */
    bool walk_leaves;       /* what the list alone holds leaves it */
    bool lists_all;         /* what was known is entered again */
    uint64_t keep_s;
    struct feed_guard
        *guard;          /* marks good mail that the new entries are in; may be NULL */
    struct set_out *set; /* may be NULL */
    struct changes_out *changes; /* may be NULL */
    /* what came of it */
    uint64_t entries;
    uint64_t entered;
    uint64_t left;
    uint64_t changed; /* end at another time than the old version says */
};
enum err compare_run(struct compare *c, struct errinfo *reterr);

/* ---- checks ---- */

/* Fills ret->refusal when the update is not to be applied. */
void stage_check(const struct stage *s, const struct intake *in,
                 const struct compare *c, const struct feed_guard *guard,
                 bool is_by_hand, struct stage_refusal *ret);
void stage_refuse(struct stage_refusal *ret, enum stage_reason reason,
                  const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- the list ---- */

/* Reader of the feed's list, which is made anew first where its form is not the configured one, and the key of its
 * digests; *ret NULL when there is no such list yet. */
enum err stage_list_open(const struct stage *s, struct list_reader **ret,
                         struct hashkey *retkey, struct errinfo *reterr);
/* How the URLs of the feed's list match. */
enum url_match stage_url_match(const struct stage *s);
/* Applies a file of changes. */
enum err stage_apply(struct stage *s, const char *path, struct errinfo *reterr);
/* All entries of the version that serves leave the list, keep_s from now. */
enum err stage_leave(struct stage *s, uint64_t keep_s, struct errinfo *reterr);
/* Makes whole what a crash broke off, and leaves a list that the feed had before. */
enum err stage_settle(struct stage *s, struct errinfo *reterr);
/* The changes of this update are on disk and applied, then the version is the one that serves. */
enum err stage_publish(struct stage *s, const struct stage_pending *p,
                       struct errinfo *reterr);
/* The set of a version; ERR_CORRUPT also when it is of another key than the list. */
enum err stage_set_open(const struct stage *s, uint64_t number,
                        const struct hashkey *key, struct set *ret,
                        struct errinfo *reterr);

/* ---- lines for people ---- */

struct stage_sides {
    const struct set *from; /* may have no entries */
    uint64_t from_number;
    const struct set *to;
    const char *to_body;
    struct hashkey key;
};
enum err stage_tell(struct stage *s, const struct stage_sides *sides,
                    stage_line_fn *on_line, void *context, struct errinfo *reterr);

#endif
