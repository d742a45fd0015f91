/*
 * rekey - rewrites a list from the texts in its log, under the newest digest key or in another
 * form.
 *
 * A digest cannot be turned into one of another key. After joining a ring, or after a rotation of
 * its key, local lists can be read only with the former key.
 * Depends: reader, writer, writer_change.   Threads: the writer's.
 */
#ifndef CORE_LIST_REKEY_H
#define CORE_LIST_REKEY_H

#include <stdatomic.h>

#include "core/list/list.h"

struct list_rekeyed {
    uint64_t listed;
    uint64_t revoked;
    uint64_t without_text; /* left out: no text for a new digest */
    bool had_filters;      /* merged filters of peers were left out */
};

/* Writes the list of w again with keys->ring[0] and replaces it in one step: a crash leaves one of
 * the two. Status, expiry, source and times stay. All entries of a list that ages belong to one
 * period afterwards. state_dir: as for list_writer_open. ERR_UNSUPPORTED: entries without text, and
 * drops_textless is false; the list is unchanged. Afterwards w can only be closed. progress may be
 * NULL. */
struct list_rekeying {
    const char *state_dir;
    bool drops_textless;
    list_progress_fn *progress;
    void *context;
};
enum err list_rekey(struct list_writer *w, const struct list_rekeying *how,
                    struct list_rekeyed *ret, struct errinfo *reterr);

/* How the list's URLs match. */
enum url_match list_writer_url_match(const struct list_writer *w);
/* As list_rekey, with the key of the list, for another url_match. Entries under the class of the
 * former url_match get the new class. Entries of a list in the former form are all read again.
 * Entries without text keep their class, so such a URL matches only as written. Filters of peers
 * are kept. *retremade is false if the list is empty or in this form already. Readers use the
 * former list until the new one is complete. stop (may be NULL) ends the rewrite with ERR_TIMEOUT
 * and changes nothing. */
struct list_reforming {
    const char *state_dir;
    enum url_match url_match;
    const atomic_bool *stop;
    list_progress_fn *progress; /* may be NULL */
    void *context;
};
enum err list_reform(struct list_writer *w, const struct list_reforming *how,
                     bool *retremade, struct list_rekeyed *ret, struct errinfo *reterr);

/* Rewrites the list as list_reform does, with one record for each entry, if its log is
 * LIST_LOG_TIMES longer than that, plus LIST_LOG_SLACK. Followers of the log find another log
 * (core/list/changes_poll.h) and compare the whole list once. A list that ages or is damaged stays
 * unchanged. */
enum { LIST_LOG_TIMES = 4, LIST_LOG_SLACK = 4 << 20 };
enum err list_shorten_log(struct list_writer *w, const struct list_reforming *how,
                          bool *retremade, struct list_rekeyed *ret,
                          struct errinfo *reterr);

#endif
