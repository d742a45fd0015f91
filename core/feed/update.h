/*
 * update - a downloaded feed becomes its next good version, or is refused.
 *
 * A body is parsed into a sorted set, checked (gillnet-feeds(7)), compared with the last good
 * version, and then applied to the feed's list: new entries are listed, entries that left get an
 * expiry. A decision of a person about an entry stays. The last good version serves until all of
 * that is done; a crash at any point leaves it, and the next update starts again. STATE/feeds/NAME:
 * state.json, set.N and body.N of the good versions, incoming.* .
 * Depends: base, config, url, feature, list.   Threads: one feed, one thread at a time; several
 * feeds at once.
 * Owns: STATE/feeds/NAME.   ADR 0038.
 */
#ifndef CORE_FEED_UPDATE_H
#define CORE_FEED_UPDATE_H

#include "core/base/keyring.h"
#include "core/config/config.h"
#include "core/feed/feed.h"
#include "core/list/list.h"

enum { UPDATE_REASON_MAX = 48, UPDATE_TEXT_MAX = 400 };

/* Why an update was refused, as a word for metrics: "empty", "size", "first_line", "format",
 * "bad_lines", "entries", "ham", ...; "" when it was not. The words are in stage_reason.def. */
struct update_refusal {
    char reason[UPDATE_REASON_MAX];
    char text[UPDATE_TEXT_MAX]; /* what, where, and what to do */
    uint64_t at_s;
};

/* The result of one update, or of a trial. */
struct update_report {
    struct update_refusal refusal;
    struct feed_counts counts;
    bool is_same;     /* nothing in it changed */
    uint64_t entries; /* of the version afterwards (refused: of the last good one) */
    uint64_t entered; /* since the version before */
    uint64_t left;
    uint64_t
        left_out; /* not taken: protected, public suffix, shared host, in good mail, ... */
    uint64_t check_us;
    uint64_t apply_us;
};

/* One entry that a check left out, or a change that `diff` shows. */
enum update_change { UPDATE_ENTERED, UPDATE_LEFT, UPDATE_LEFT_OUT };
struct update_line {
    enum update_change change;
    uint16_t class_type;
    struct slice text;
    const char *reason; /* of UPDATE_LEFT_OUT, a word of exclude.h; else NULL */
    const char *why;    /* the same as a sentence */
};
typedef void update_line_fn(void *context, const struct update_line *line);

/* The state of a feed between updates: state.json. */
enum { UPDATE_TROUBLE_MAX = ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX };
struct update_state {
    uint64_t version;  /* of the good one that serves; 0: none yet */
    uint64_t versions; /* that are kept */
    uint64_t entries;
    uint64_t good_s; /* when its body was last heard of, unchanged or new; 0: never */
    uint64_t changed_s; /* when the version came */
    uint64_t added_total;
    bool
        is_pinned; /* after a rollback: updates are only checked until `gillnet feed update` */
    enum feed_format format;
    struct update_refusal refusal; /* of the last update, when it was refused */
    char etag[256];                /* of the body that serves; for the fetcher */
    char last_modified[64];
    unsigned failures; /* in a row, of update_note_failures */
    char trouble[UPDATE_TROUBLE_MAX];
};

struct feed_update;
struct update_options {
    const struct config *config;
    const struct config_feed *feed;
    const struct keyring *keys;
    list_progress_fn *progress; /* may be NULL */
    void *context;
};
/* Opens or makes STATE/feeds/NAME. ERR_LOCKED: another process works on this feed. */
/* A damaged state is logged, and the next update starts from the entries of the list. */
enum err update_open(const struct update_options *options, struct feed_update **ret,
                     struct errinfo *reterr);
void update_close(struct feed_update **s);
void update_get_state(const struct feed_update *s, struct update_state *ret);

/* The fetcher downloads to this file: STATE/feeds/NAME/incoming.body. update_update always removes
 * it; so does the next update_open. */
const char *update_incoming(const struct feed_update *s);
/* Takes the incoming body (decompressed, of its validators) through all checks; applied when it
 * passes and !only_checks. is_by_hand: ends a pin and ignores the size band, as `gillnet feed
 * update --force` does. on_line may be NULL. ERR_OK also for a refused body: see ret->refusal.
 * Other errors are local (disk, list), and the caller tries again. */
struct update_body {
    const char *etag;
    const char *last_modified;
    bool only_checks;
    bool is_by_hand;
};
enum err update_update(struct feed_update *s, const struct update_body *body,
                       update_line_fn *on_line, void *context,
                       struct update_report *ret, struct errinfo *reterr);
/* The server says that nothing changed. Once a day the body that serves goes through all of
 * update_update again. */
enum err update_unchanged(struct feed_update *s, struct errinfo *reterr);
/* How many questions failed in a row, and why the last one did (printable ASCII): kept on disk, so
 * that a restart of the hub forgets neither. Writes only what changed. */
enum err update_note_failures(struct feed_update *s, unsigned failures,
                              const char *trouble, struct errinfo *reterr);
/* After feed->silent_after_s without a good body all entries get an expiry of now, and the
 * validators are forgotten, so that the next good body lists them again. Before that it does
 * nothing. */
enum err update_expire_silent(struct feed_update *s, bool *retdid,
                              struct errinfo *reterr);
/* Back to the version before the one that serves (or to `version`), and pinned there.
 * ERR_NOT_FOUND: it is not kept. */
enum err update_rollback(struct feed_update *s, uint64_t version,
                         struct update_report *ret, struct errinfo *reterr);
/* Differences between two kept versions (0: the one before, the one that serves). */
enum err update_diff(struct feed_update *s, uint64_t from, uint64_t to,
                     update_line_fn *on_line, void *context, struct errinfo *reterr);
/* The feed is no longer configured: its entries leave its list by `keep`, and its folder is
 * removed. options->feed: its name, list and keep_s are used. */
enum err update_drop(const struct update_options *options, struct errinfo *reterr);

#endif
