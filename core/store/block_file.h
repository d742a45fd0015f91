/*
 * block_file - the part that runs and merged runs have in common: sorted records in blocks.
 *
 * Header of BLOCK_FILE_HEADER bytes (XXH3-64 of the rest of it in its last 8), perhaps twice;
 * blocks; the tail: the first key of each block (8 bytes each), then what the format adds. All
 * little-endian. A block: XXH3-64 of the rest, records u16, bytes used u16, number of the block
 * u32, first key; then the format's records; zeros.
 * Not for other rooms. Depends: base.   Threads: a writer is for one thread; reading is pure.
 */
#ifndef CORE_STORE_BLOCK_FILE_H
#define CORE_STORE_BLOCK_FILE_H

#include "core/base/buf.h"
#include "core/base/cursor.h"
#include "core/base/file.h"
#include "core/base/le.h"

enum {
    BLOCK_BYTES = 4096,
    BLOCK_SLACK = 8, /* bytes behind a block that a coder may touch, not use */
    BLOCK_HEAD = 24,
    BLOCK_KEY_BYTES = 8,
    BLOCK_NUMBER_BYTES_MAX = 10,
    BLOCK_FILE_HEADER = 4096
};

/* ---- writing ---- */

struct block_writer {
    struct file_out out;
    struct buf tail;
    unsigned nheaders;
    uint64_t nblocks;
    unsigned n;    /* records in the block; the format counts them */
    unsigned used; /* bytes of the block; 0: no block is open */
    uint8_t bytes[BLOCK_BYTES + BLOCK_SLACK];
};

/* Leaves room for nheaders (1 or 2) equal headers. block_writer_abort in any case. */
enum err block_writer_open(struct block_writer *w, const char *path, unsigned nheaders,
                           struct errinfo *reterr);
void block_writer_begin(struct block_writer *w, uint64_t key); /* the next block */
void block_writer_end(struct block_writer *w); /* the last block, if one is begun */
/* Appends the tail, and writes the header from its fields. The file is not yet committed. */
enum err block_writer_finish(struct block_writer *w, struct buf *header);
void block_writer_abort(struct block_writer *w);

/* A number of 7 bits a byte, least first. */
static inline void block_put_number(struct block_writer *w, uint64_t v)
{
    while (v >= 0x80) {
        w->bytes[w->used++] = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    w->bytes[w->used++] = (uint8_t)v;
}

/* ---- reading ---- */

/* Reads the header at offset `at`; *ret stands behind the magic and *retversion. ERR_CORRUPT: it
 * cannot be read, or is none of this magic. */
enum err block_header_read(int fd, uint64_t at, uint64_t magic,
                           char bytes[BLOCK_FILE_HEADER], struct cursor *ret,
                           uint32_t *retversion);

/* Reads the tail of n bytes at offset `at`. The first nblocks numbers of *ret are the keys, the
 * rest is as in the file. Returns NULL, or the damage as a text; without memory *ret is NULL.
 * The caller frees *ret. */
const char *block_tail_read(int fd, uint64_t at, size_t n, uint64_t nblocks,
                            uint64_t sum, uint64_t **ret);

/* Reads block i of the file, which lies at offset `at`, and verifies it. */
bool block_read(int fd, uint64_t at, uint64_t i, uint64_t first_key,
                uint8_t bytes[BLOCK_BYTES]);

/* The last of n blocks that begins before key, or 0; n is at least 1. Keys are uniform, so the
 * place follows from the key; from the guess outwards in doubling steps, then by halving. */
uint64_t block_before(const uint64_t *keys, uint64_t n, uint64_t key);

static inline unsigned block_records(const uint8_t *bytes)
{
    return (unsigned)le_get(bytes + 8, 2);
}

static inline unsigned block_used(const uint8_t *bytes)
{
    return (unsigned)le_get(bytes + 10, 2);
}

static inline uint64_t block_first_key(const uint8_t *bytes)
{
    return le_get(bytes + 16, 8);
}

/* Reads what block_put_number wrote. False: the bytes before `end` hold no number. */
static inline bool block_number(const uint8_t *bytes, unsigned end, unsigned *at,
                                uint64_t *ret)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 7 * BLOCK_NUMBER_BYTES_MAX && *at < end;
         shift += 7) {
        uint8_t b = bytes[(*at)++];
        v |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80) {
            *ret = v;
            return true;
        }
    }
    return false;
}

#endif
