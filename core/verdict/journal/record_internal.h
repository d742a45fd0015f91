/* record_internal - the layout of frames and sections, for their writer and their reader. */
#ifndef CORE_VERDICT_JOURNAL_RECORD_INTERNAL_H
#define CORE_VERDICT_JOURNAL_RECORD_INTERNAL_H

#include "core/verdict/journal/record.h"

enum {
    OFFSET_N = 4, /* in the head of a frame */
    OFFSET_NTEXTS = 6,
    OFFSET_NUMBER = 8,
    OFFSET_KIND = 16,
    SECTION_HEAD = 3, /* tag u8, length u16 */
    BYTE_BITS = 8,
    VARINT_BITS = 7,
    VARINT_MORE = 1 << VARINT_BITS,
    VARINT_MAX = 10, /* bytes of one */
    HASH_MASK = (1 << RECORD_HASH_BITS) - 1,
    SCORE_UNIT = 1000,
    PROOF_MASK = 3 /* of enum report_proof */
};
#define SCORE_WHOLE_MAX 1e12
enum {
    SCORE_BITS = 1,
    SCORE_OFF = 3
}; /* they are odd, unlike whole numbers of units; off is HUGE_VAL */

enum { FLAG_OUTGOING = 1, FLAG_AUTHENTICATED = 2, FLAG_ADDR = 4, FLAG_USERS = 8 };

/* Numbers are on disk. */
enum record_tag {
    TAG_MESSAGE = 1,
    TAG_VERDICT = 2,
    TAG_SYMBOLS = 3,
    TAG_HITS = 4,
    TAG_TRAITS = 5,
    TAG_COUNTS = 6,
    TAG_HASHES = 7,
    /* 8 was another */
    TAG_CUT = 9, /* sections were left out */
    TAG_ITEMS = 10
};

typedef void record_section_fn(const struct record *r, struct buf *b);

#endif
