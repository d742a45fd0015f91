/*
 * browse - the entries of a list for people, the newest first or by a part of their text, in pages.
 *
 * The log is read backwards in pieces, so no size of a list costs memory, and a page of the newest
 * entries is cheap. A record counts where the list's state of its digest stands at that very
 * record: listed or revoked, but not expired. A cursor is a place in the log. Entries that are
 * added, changed or revoked between two pages make no other entry appear twice or disappear.
 * A search for a part of a text must read each record. One call looks at BROWSE_RECORDS of them at
 * most, and says how far it came. Texts are compared without regard to ASCII case. Entries without
 * text are in pages without a search alone.
 * Depends: base, feature, list.   Threads: any.   Allocates: its buffers, until it returns.
 * ADR 0089.
 */
#ifndef CORE_LIST_BROWSE_H
#define CORE_LIST_BROWSE_H

#include "core/list/list.h"

enum {
    BROWSE_RECORDS = 200000, /* of one call: some 40 ms */
    BROWSE_PIECE = 1 << 20,  /* bytes that are read at once */
    BROWSE_TEXT_MAX = 256    /* of a search */
};

/* A place in the log, behind which all was given. */
struct browse_place {
    uint64_t created_s; /* of the log; 0: the newest entry is next */
    uint32_t segment;
    uint32_t offset; /* all records from here on were given */
};

struct browse_entry {
    const struct list_provenance *from; /* with source and text */
    uint64_t changed_s;                 /* when it was added, imported or revoked */
};
/* An entry, until the function returns. False stops behind it. */
typedef bool browse_fn(void *context, const struct browse_entry *e);

struct browse {
    struct slice text;        /* empty: all entries */
    const struct digest *but; /* an entry to leave out; NULL: none */
    uint64_t now_s;
    uint64_t records; /* to look at; 0: BROWSE_RECORDS */
    browse_fn *fn;
    void *context;
};
struct browsed {
    struct browse_place next; /* for the next call */
    bool has_more;            /* false: nothing is left */
    uint64_t records;         /* looked at */
    uint64_t without_text;    /* of them, not comparable with the text */
    double share;             /* of the log that was read, from its end on; 1: all */
};
/* ERR_NOT_FOUND: the log is not the one that the place is of; begin again. */
enum err list_browse(const struct list_reader *r, const struct browse *b,
                     const struct browse_place *from, struct browsed *ret,
                     struct errinfo *reterr);

struct browse_found {
    struct list_provenance from;
    uint64_t changed_s; /* as of browse_entry; 0: unknown */
};
/* The entry that stands for a value itself, read as feature_entry_parse does by its look, in the
 * form of the list. ERR_NOT_FOUND: the list has none. Others: the value's own. Texts of *ret lie in
 * the arena. */
enum err list_browse_value(const struct list_reader *r, struct slice value,
                           uint64_t now_s, struct arena *arena,
                           struct browse_found *ret, struct errinfo *reterr);

#endif
