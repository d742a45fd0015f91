/*
 * rekey - a list made anew from the texts that its log keeps: under the ring's newest key, or in another form.
 *
 * A digest cannot be turned into one of another key. So whoever joins a ring, or sees its key rotated, has lists that
 * nobody else can ask, and that he himself can ask only as long as the former key is kept.
 * Depends: reader, writer, change.   Threads: the writer's.
 */
#ifndef CORE_LIST_REKEY_H
#define CORE_LIST_REKEY_H

#include <stdatomic.h>

#include "core/list/list.h"

struct list_rekeyed {
    uint64_t listed;
    uint64_t revoked;
    uint64_t without_text; /* left out: their digests cannot be made anew */
    bool had_filters;      /* filters of others, merged in by hand, are left out */
};

/* Makes the list that w has open anew beside it with keys->ring[0], and puts it in its place in one step: a crash
 * leaves one of the two. Status, expiry, source, time and who said so stay; of a list that ages all entries belong to one period afterwards.
 * state_dir: as w was opened with. ERR_UNSUPPORTED: entries without text, and drops_textless is not set; nothing changed. Whatever comes of it,
 * w can only be closed afterwards. progress may be NULL. */
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
/* As list_rekey, with the key that the list has and the digests of this release (LIST_FORM): entries under the class of the
 * list's former url_match follow to the new one, all others of a list from before there was a normal form are read anew, too.
 * What kept no text stays as it is, under the class that it has: a URL then is found as it was written alone. Filters of
 * peers are taken along. A list without entries, or one that is so already, is not made anew: *retremade tells.
 * Readers have the former list until the new one is whole. stop (may be NULL) ends it with ERR_TIMEOUT; nothing changed. */
struct list_reforming {
    const char *state_dir;
    enum url_match url_match;
    const atomic_bool *stop;
    list_progress_fn *progress; /* may be NULL */
    void *context;
};
enum err list_reform(struct list_writer *w, const struct list_reforming *how,
                     bool *retremade, struct list_rekeyed *ret, struct errinfo *reterr);

/* Of a log that is more than LIST_LOG_TIMES as long as what it says by now, and LIST_LOG_SLACK: the list is made
 * anew as by list_reform, with one record of each entry. Who follows the log finds another one (core/list/changes_poll.h) and
 * compares the whole list once. A list that ages, or that is damaged, stays as it is. */
enum { LIST_LOG_TIMES = 4, LIST_LOG_SLACK = 4 << 20 };
enum err list_shorten_log(struct list_writer *w, const struct list_reforming *how,
                          bool *retremade, struct list_rekeyed *ret,
                          struct errinfo *reterr);

#endif
