/*
 * search - entries of a list below a name, read from the texts in its log.
 *
 * An index of digests cannot find them. One walk over the log, newest segment first, serves all
 * names together. The walk takes about a tenth of a second for a million entries, so it is for
 * people, never for mail. Records that are no longer in force (revoked, expired, replaced by a
 * later record) are skipped. Entries without text cannot be compared; they are only counted.
 * Depends: base, store, list.   Threads: any.   Allocates: the arena of one entry.
 */
#ifndef CORE_LIST_SEARCH_H
#define CORE_LIST_SEARCH_H

#include "core/list/list.h"

enum { SEARCH_NAMES_MAX = 16 };
#define SEARCH_BYTES_MAX ((uint64_t)2 << 30) /* of one list's log */

struct list_search {
    const struct slice *names; /* domains in normal form, SEARCH_NAMES_MAX at most */
    size_t n;
    uint64_t now_s;
    /* Called for each entry listed at or below names[i] (pages, hosts, domains, addresses), except
     * for a host or domain that is names[i] itself. False stops. from->source is empty. */
    bool (*on_found)(void *context, size_t i, const struct list_provenance *from);
    void *context;
};
struct list_searched {
    uint64_t without_text; /* records that could not be compared */
    bool is_cut; /* older records than SEARCH_BYTES_MAX of the log were not read */
};
enum err list_search(const struct list_reader *r, const struct list_search *s,
                     struct list_searched *ret, struct errinfo *reterr);

#endif
