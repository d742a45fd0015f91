/*
 * sorter_internal - the parts of sorter.c: sorting in memory, and runs on disk. Not for other
 * rooms.
 *
 * A packed record, in memory and in a run: digest (16), order number (8), data length (2), data.
 * Native byte order: the files are unlinked and never outlive the process.
 */
#ifndef CORE_STORE_SORTER_INTERNAL_H
#define CORE_STORE_SORTER_INTERNAL_H

#include "core/store/sorter.h"

enum {
    SORTER_ORDER_AT = DIGEST_BYTES,
    SORTER_LENGTH_AT = SORTER_ORDER_AT + 8,
    SORTER_HEAD_BYTES = SORTER_LENGTH_AT + 2
};

/* One record in memory: the first 8 bytes of the digest as a number, and where the rest is. */
struct sorter_item {
    uint64_t prefix;
    const unsigned char *packed;
};

uint64_t sorter_prefix(const unsigned char *packed);
size_t sorter_packed_bytes(const unsigned char *packed);
/* Order of digest, then of order number; the prefixes are compared first. */
int sorter_item_cmp(const struct sorter_item *a, const struct sorter_item *b);
void sorter_unpack(const unsigned char *packed, struct sorter_record *ret);

/* Sorts in place, without memory of its own; O(n log n) at worst, linear on digests. */
void sorter_sort(struct sorter_item *items, size_t n);

/* Reads one run back, front to back. */
struct sorter_reader {
    int fd; /* shared, not owned */
    uint64_t offset;
    uint64_t end;
    unsigned char *buffer; /* owned */
    size_t size;
    size_t at; /* of the next record in buffer */
    size_t have;
};

enum err sorter_reader_init(struct sorter_reader *r, int fd, uint64_t offset,
                            uint64_t end, size_t buffer_bytes);
void sorter_reader_fini(struct sorter_reader *r);
/* The next packed record, valid until the next call; NULL at the end of the run. */
enum err sorter_reader_next(struct sorter_reader *r, const unsigned char **ret);

#endif
