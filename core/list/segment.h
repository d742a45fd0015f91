/*
 * segment - the log of a list: files of records, each with its own checksum.
 *
 * A segment is a header of 40 bytes and records. A record has a mark (4 bytes that no text holds),
 * the length of its body, checksum32 of length and body, and the body. The body has kind, flags,
 * class, time, expiry, offset of the source's record, digest, and text. Source names are records of
 * their own, named by their offset in the same segment. A damaged record is skipped up to the next
 * mark whose record has a correct checksum.
 * Depends: base.   Threads: pure, apart from the file system.
 */
#ifndef CORE_LIST_SEGMENT_H
#define CORE_LIST_SEGMENT_H

#include "core/base/buf.h"
#include "core/base/digest.h"
#include "core/base/err.h"
#include "core/base/file.h"
#include "core/base/slice.h"

enum record_kind {
    RECORD_ADD = 1,    /* a person listed it */
    RECORD_REVOKE = 2, /* a person revoked it */
    RECORD_IMPORT = 3, /* a feed listed it */
    RECORD_SOURCE = 4, /* text is the name of a source */
    RECORD_AGAIN = 5, /* a feed still lists it, in a later period of a list that ages */
    RECORD_FEED =
        6 /* a feed changed the expiry, or gave the first date (core/list/feed_apply.h) */
};

enum segment_kind {
    SEGMENT_BULK = 1, /* an import: complete from its first moment */
    SEGMENT_TAIL = 2  /* single changes, appended */
};

enum {
    SEGMENT_HEADER_BYTES = 40,
    RECORD_HEAD_BYTES = 12,
    RECORD_FIXED_BYTES = 32,
    RECORD_TEXT_MAX = 8192, /* LIST_TEXT_MAX and LIST_SOURCE_MAX fit */
    RECORD_SEEN_BYTES = 4,  /* before the text of RECORD_FEED: first seen */
    RECORD_BODY_MAX = RECORD_FIXED_BYTES + RECORD_SEEN_BYTES + RECORD_TEXT_MAX,
    RECORD_BYTES_MAX = RECORD_HEAD_BYTES + RECORD_BODY_MAX
};

struct segment_header {
    uint32_t number;
    uint32_t key_id;
    enum segment_kind kind;
    uint64_t created_s;
};

struct log_record {
    enum record_kind kind;
    uint16_t class_type;
    uint32_t time_s;
    uint32_t expiry_s;
    uint32_t first_seen_s; /* of RECORD_FEED; else 0 */
    uint32_t source_at;    /* offset of its source's record; 0: none */
    struct digest digest;
    struct slice text;
    uint32_t segment; /* where it stands; not in its bytes */
    uint32_t offset;
};

void segment_header_print(const struct segment_header *h, struct buf *ret);
enum err segment_header_parse(struct slice bytes, const char *path,
                              struct segment_header *ret, struct errinfo *reterr);

void segment_record_print(const struct log_record *r, struct buf *ret);
/* Reads the record at the start of bytes. False: damaged or incomplete. */
bool segment_record_parse(struct slice bytes, struct log_record *ret, size_t *retsize);

/* A walk over the bytes of one segment. */
struct segment_scan {
    struct slice bytes;
    uint32_t number;
    size_t at;
    size_t
        skipped; /* after SEGMENT_DAMAGE and SEGMENT_TORN: bytes left out before `at` */
};
enum segment_found {
    SEGMENT_RECORD,
    SEGMENT_DAMAGE, /* bytes left out, records follow */
    SEGMENT_TORN,   /* bytes left out up to the end: at - skipped is where they begin */
    SEGMENT_END
};
struct segment_scan segment_scan_of(struct slice bytes, uint32_t number, size_t from);
enum segment_found segment_next(struct segment_scan *s, struct log_record *ret);

/* A whole segment in memory: small ones copied (a tail may be cut by its writer), large ones
 * mapped (they never change). */
struct segment {
    struct filemap map;
    struct segment_header header;
    bool has_header; /* false: damaged; records are still sought */
};
/* header_err (may be NULL) is filled when the header is damaged, which is not a failure. */
enum err segment_open(const char *dir, uint32_t number, struct segment *ret,
                      struct errinfo *header_err, struct errinfo *reterr);
void segment_close(struct segment *s);
struct segment_scan segment_scan_all(const struct segment *s, uint32_t number);

/* Writes a new empty segment durably. */
enum err segment_create(const char *dir, const struct segment_header *h,
                        struct errinfo *reterr);

#endif
