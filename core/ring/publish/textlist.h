/*
 * textlist - what a published list holds, entry by entry with its text, in the order of TEXT payloads.
 *
 * The publisher keeps one of what it published last, each subscriber one of what it took: the differences
 * of two of them are the records of DELTAs. In a file it lies packed behind the header of the object
 * that it is the state after, so that state and place in the chain change in one step.
 * Depends: base, object, payload, root.   Threads: one at a time.   Owns: its records and, where it was read from
 * bytes, these.   ADR 0037.
 */
#ifndef CORE_RING_PUBLISH_TEXTLIST_H
#define CORE_RING_PUBLISH_TEXTLIST_H

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/ring/stream/payload.h"
#include "core/ring/stream/root.h"

enum {
    TEXTLIST_ENTRIES_MAX = 4000000,       /* 160 MB of records */
    TEXTLIST_BYTES_MAX = OBJECT_SNAP_MAX, /* of its payload */
    TEXTLIST_PACKED_MAX = OBJECT_SNAP_PACKED_MAX,
    TEXTLIST_DELTA_BYTES = OBJECT_RAW_MAX, /* of the payload of one DELTA */
    TEXTFILE_NUMBERS = 12
};

struct textlist {
    struct list_record *v; /* (type, text) rise strictly; before is ENTRY_ABSENT */
    size_t n;
    size_t size;
    size_t bytes;    /* upper bound of the payload's */
    struct buf held; /* what the texts of a list that was read lie in */
};

/* Empty is all zeros. */
void textlist_fini(struct textlist *t);

int textlist_compare(const struct list_record *a, const struct list_record *b);

/* Bytes of a payload that a record takes at most. */
size_t textlist_cost(const struct list_record *r);
/* Appends; the text is borrowed. ERR_LIMIT, ERR_NOMEM. */
enum err textlist_add(struct textlist *t, const struct list_record *r);
/* Sorts what was added; of several with one type and text the first added stays. ERR_NOMEM. */
enum err textlist_sort(struct textlist *t);

/* The records of a payload; takes the bytes of raw, which is empty afterwards. is_snap false: steps of a DELTA. */
enum err textlist_read(struct buf *raw, uint64_t records, bool is_snap,
                       struct textlist *ret, struct errinfo *reterr);
void textlist_print(const struct textlist *t, struct buf *ret);
void textlist_root(const struct textlist *t, const struct object_id *ring,
                   struct hash256 *ret);

/* The payload of t, packed (nothing for an empty list), behind what ret has; *retraw: its length before. */
enum err textlist_pack(const struct textlist *t, struct buf *ret, uint64_t *retraw);
/* The other way, bounded as payload_unpack and textlist_read. */
enum err textlist_unpack(struct slice packed, uint64_t raw_len, uint64_t records,
                         bool is_snap, struct textlist *ret, struct errinfo *reterr);

/* A walk of two lists side by side: from and to are set, all else is zero. x and y are records of one entry; NULL: that list
 * does not have it. */
struct textlist_pair {
    const struct textlist *from;
    const struct textlist *to;
    size_t a;
    size_t b;
    const struct list_record *x;
    const struct list_record *y;
};
bool textlist_pair_next(struct textlist_pair *p);

/* What makes `to` of `from`, added to two empty lists: first the steps that leave an entry's expiry as it is or take the entry out, then
 * those that bring it (back); each part is a payload's records, sorted. Texts are borrowed from both. */
enum err textlist_diff(const struct textlist *from, const struct textlist *to,
                       struct textlist *retfirst, struct textlist *retsecond);
/* `from` after these steps; texts are borrowed from both. ERR_RANGE: a step begins at what `from` does not hold. */
enum err textlist_apply(const struct textlist *from, const struct textlist *steps,
                        struct textlist *ret, struct errinfo *reterr);

/* With texts of its own. */
enum err textlist_copy(const struct textlist *from, struct textlist *ret);

/* ---- in a file ---- */

struct textfile {
    uint8_t header[OBJECT_HEADER_BYTES]; /* of the newest object */
    struct object object;                /* the same, parsed */
    struct textlist list;
    uint64_t number[TEXTFILE_NUMBERS]; /* the owner's */
};
void textfile_fini(struct textfile *f);
enum err textfile_write(const char *dir, const char *name, const struct textfile *f,
                        struct errinfo *reterr);
/* ERR_NOT_FOUND; ERR_CORRUPT when one byte is not as it was written. */
enum err textfile_read(const char *dir, const char *name, struct textfile *ret,
                       struct errinfo *reterr);

#endif
