/*
 * buf - a byte string that grows on the heap, up to a cap, with a sticky failure.
 *
 * Write on without checking; ask once at the end (buf_failed). Threads: one at a time.
 * Owns: its bytes.
 */
#ifndef CORE_BASE_BUF_H
#define CORE_BASE_BUF_H

#include "core/base/slice.h"

struct buf {
    char *
        p; /* always NUL-terminated once something was added; may be NULL when n is 0 */
    size_t n;    /* bytes, without the NUL */
    size_t size; /* allocated */
    size_t max;  /* cap on n */
    bool
        failed; /* out of memory, or the cap was met; the refused bytes are not in it */
};

void buf_init(struct buf *b, size_t max_bytes);
void buf_fini(struct buf *b);
void buf_clear(struct buf *b); /* keeps the memory, forgets bytes and failure */

void buf_add(struct buf *b, struct slice s);
void buf_add_str(struct buf *b, const char *cstr);
void buf_add_char(struct buf *b, char c);
void buf_printf(struct buf *b, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* n more bytes for the caller to fill in now, not set before; NULL: buf_failed. */
char *buf_extend(struct buf *b, size_t n);

/* little-endian numbers, for file and wire records (read back with core/base/cursor.h) */
void buf_add_u8(struct buf *b, uint8_t v);
void buf_add_u16(struct buf *b, uint16_t v);
void buf_add_u32(struct buf *b, uint32_t v);
void buf_add_u64(struct buf *b, uint64_t v);

bool buf_failed(const struct buf *b);
struct slice buf_slice(const struct buf *b);

#endif
