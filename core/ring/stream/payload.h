/*
 * payload - the records of an object in columns, packed by zstd, bounded before unpacking.
 *
 * COUNT  n gaps between keys (LEB128; keys rise strictly, the first gap is the key itself, every
 *        gap is at least 1), then n increments (LEB128, at least 1).
 * LIST   n digests (16 bytes, rising strictly), n steps (a byte: state before << 4 | state after),
 *        n types (LEB128), n expiries (LEB128, seconds since 1970 / 3600 rounded up, 0: never).
 * TEXT   n lengths of texts (LEB128), n steps, n types, n expiries, the texts; sorted by (type,
 *        text), strictly.
 * MEMBER a filter file (core/filter/bloomfile.h), which its own reader checks.
 * The sum of a COUNT's increments is below 2^64. Every encoding is canonical: the shortest LEB128,
 * nothing left over.
 * Depends: base.   Threads: pure.   ADR 0030.
 */
#ifndef CORE_RING_STREAM_PAYLOAD_H
#define CORE_RING_STREAM_PAYLOAD_H

#include "core/base/buf.h"
#include "core/base/digest.h"
#include "core/base/err.h"
#include "core/base/slice.h"
#include "core/ring/stream/object.h"

struct count_record {
    uint64_t key;
    uint64_t count;
};

enum entry_state { ENTRY_ABSENT = 0, ENTRY_STANDS = 1, ENTRY_TAKEN_BACK = 2 };
struct list_record {
    struct digest digest; /* TEXT: unused */
    uint8_t before;       /* enum entry_state */
    uint8_t after;        /* never equal to before; in a SNAP before is ENTRY_ABSENT */
    uint16_t type;        /* of the entry (core/feature) */
    uint32_t expiry_h; /* hours since 1970; 0: never; of before and after, as type is */
    struct slice text; /* TEXT; else empty */
};

enum {
    PAYLOAD_COUNT_MAX = 10 + 10, /* bytes of a record at most */
    PAYLOAD_LIST_MAX = 16 + 1 + 3 + 5,
    PAYLOAD_COUNT_MIN = 1 + 1, /* and at least */
    PAYLOAD_LIST_MIN = 16 + 1 + 1 + 1,
    PAYLOAD_TEXT_BYTES_MAX = 8192, /* one text */
    PAYLOAD_TEXT_MIN = 1 + 1 + 1 + 1 + 1,
    PAYLOAD_TEXT_MAX = 2 + 1 + 3 + 5 + PAYLOAD_TEXT_BYTES_MAX,
    /* records that always fit one DELTA */
    PAYLOAD_COUNTS_FIT = OBJECT_RAW_MAX / PAYLOAD_COUNT_MAX,
    PAYLOAD_LIST_FIT = OBJECT_RAW_MAX / PAYLOAD_LIST_MAX,
    PAYLOAD_WINDOW_LOG_MAX = 23
};

/* Whether this number of records of kind can have raw_len bytes. */
bool payload_length_is_possible(uint16_t kind, uint64_t records, uint64_t raw_len);

void payload_print_counts(const struct count_record *v, size_t n, struct buf *ret);
void payload_print_list(const struct list_record *v, size_t n, struct buf *ret);
void payload_print_texts(const struct list_record *v, size_t n, struct buf *ret);

/* One zstd frame: content size declared, checksum, no dictionary, a window within
 * PAYLOAD_WINDOW_LOG_MAX. ERR_LIMIT: more than OBJECT_SNAP_MAX. */
enum err payload_pack(struct slice raw, struct buf *ret);
/* Takes exactly such a frame, whose declared content size is raw_len, with nothing behind it.
 * object_parse has accepted raw_len. Memory for it is allocated after all of this is checked;
 * nothing else grows with the input. ERR_SYNTAX, ERR_LIMIT, ERR_CORRUPT, ERR_NOMEM. */
enum err payload_unpack(struct slice packed, uint64_t raw_len, struct buf *ret,
                        struct errinfo *reterr);

/* Reads records one by one. */
struct payload_reader {
    struct slice raw;
    uint64_t n;    /* records */
    uint64_t i;    /* the next */
    size_t at[5];  /* of each column's next byte */
    uint64_t last; /* key of the record before */
    uint16_t kind;
    bool is_snap;
};
/* Checks all columns in one walk. ERR_SYNTAX names the record that breaks a rule; afterwards every
 * next succeeds. */
enum err payload_reader_init(struct payload_reader *r, uint16_t kind, bool is_snap,
                             uint64_t records, struct slice raw,
                             struct errinfo *reterr);
bool payload_next_count(struct payload_reader *r, struct count_record *ret);
bool payload_next_list(struct payload_reader *r,
                       struct list_record *ret); /* TEXT too */

#endif
