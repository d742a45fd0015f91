/*
 * textlist - a published list: entries with their texts, in the order of TEXT payloads.
 *
 * The publisher keeps the list of its last publication, each subscriber the list that it took. The
 * difference of two lists is the records of DELTAs. In a file the list is packed, behind the header
 * of its newest object, so that list and place in the chain change in one step.
 * Depends: base, object, payload, root.   Threads: one at a time.   Owns: its records and, of a
 * list
 * that was read from bytes, these bytes.   ADR 0037.
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
    struct buf held; /* texts of a list that was read */
};

/* Empty is all zeros. */
void textlist_fini(struct textlist *t);

int textlist_compare(const struct list_record *a, const struct list_record *b);

/* Longest form of a record in a payload, in bytes. */
size_t textlist_cost(const struct list_record *r);
/* Appends; the text is borrowed. ERR_LIMIT, ERR_NOMEM. */
enum err textlist_add(struct textlist *t, const struct list_record *r);
/* Sorts what was added; of several with one type and text the first added stays. ERR_NOMEM. */
enum err textlist_sort(struct textlist *t);

/* The records of a payload; takes the bytes of raw, which is empty afterwards. is_snap false: steps
 * of a DELTA. */
enum err textlist_read(struct buf *raw, uint64_t records, bool is_snap,
                       struct textlist *ret, struct errinfo *reterr);
void textlist_print(const struct textlist *t, struct buf *ret);
void textlist_root(const struct textlist *t, const struct object_id *ring,
                   struct hash256 *ret);

/* Appends the packed payload of t (no bytes for an empty list); *retraw: its length unpacked. */
enum err textlist_pack(const struct textlist *t, struct buf *ret, uint64_t *retraw);
/* Reads such a payload, with the bounds of payload_unpack and textlist_read. */
enum err textlist_unpack(struct slice packed, uint64_t raw_len, uint64_t records,
                         bool is_snap, struct textlist *ret, struct errinfo *reterr);

/* A walk of two lists side by side. The caller sets from and to, the rest is zero. x and y are the
 * records of one entry. order below 0: only `from` has it, y is NULL; above 0: only `to`. */
struct textlist_pair {
    const struct textlist *from;
    const struct textlist *to;
    size_t a;
    size_t b;
    int order;
    const struct list_record *x;
    const struct list_record *y;
};
bool textlist_pair_next(struct textlist_pair *p);

/* The steps from `from` to `to`, added to two empty lists. The first has steps that keep an entry's
 * expiry or remove the entry, the second those that add it (again). Each is a payload's records,
 * sorted. Texts are borrowed from both. */
enum err textlist_diff(const struct textlist *from, const struct textlist *to,
                       struct textlist *retfirst, struct textlist *retsecond);
/* `from` after these steps; texts are borrowed from both. ERR_RANGE: a step begins at what `from`
 * does not hold. */
enum err textlist_apply(const struct textlist *from, const struct textlist *steps,
                        struct textlist *ret, struct errinfo *reterr);

/* A copy that owns its texts. */
enum err textlist_copy(const struct textlist *from, struct textlist *ret);

/* ---- in a file ---- */

struct textfile {
    uint8_t header[OBJECT_HEADER_BYTES]; /* of the newest object */
    struct object object;                /* the same, parsed */
    struct textlist list;
    uint64_t number[TEXTFILE_NUMBERS]; /* for the owner */
};
void textfile_fini(struct textfile *f);
enum err textfile_write(const char *dir, const char *name, const struct textfile *f,
                        struct errinfo *reterr);
/* ERR_NOT_FOUND; ERR_CORRUPT when one byte is not as it was written. */
enum err textfile_read(const char *dir, const char *name, struct textfile *ret,
                       struct errinfo *reterr);

#endif
