/*
 * payload_pack - zstd frames, checked by their bytes before the decoder sees them (RFC 8878).
 *
 * The block headers of a frame bound its content: a raw or repeated block tells its size, a packed
 * one has at most a block's. So most frames with a false size are refused here. The others cost the
 * declared size, which the object's header bounds.
 */
#include <zstd.h>

#include "core/base/cursor.h"
#include "core/ring/stream/payload.h"

enum {
    LEVEL = 3,
    BLOCK_MAX = 128 << 10,
    BLOCK_HEADER = 3,
    CHECKSUM_BYTES = 4,
    SLACK = 1024, /* beyond 1/256 that packing adds at most */
    /* bits of the frame's descriptor */
    BIT_SINGLE = 0x20,
    BIT_CHECKSUM = 0x04,
    BITS_UNUSED = 0x18,
    BITS_DICTIONARY = 0x03,
    WINDOW_LOG_MIN = 10
};

enum block_type { BLOCK_RAW, BLOCK_REPEATED, BLOCK_PACKED, BLOCK_RESERVED };

static enum err refuse_frame(struct errinfo *reterr, enum err e, const char *why)
{
    return errinfo_set(reterr, e, "zstd", 0, "the packed payload is refused: %s", why);
}

enum err payload_pack(struct slice raw, struct buf *ret)
{
    const size_t at = ret->n;
    const size_t bound = ZSTD_compressBound(raw.n);
    if (raw.n > OBJECT_SNAP_MAX) {
        return ERR_LIMIT;
    }
    ZSTD_CCtx *ctx = ZSTD_createCCtx();
    char *to = ctx ? buf_extend(ret, bound) : NULL;
    if (!to) {
        (void)ZSTD_freeCCtx(ctx);
        return ERR_NOMEM;
    }
    (void)ZSTD_CCtx_setParameter(ctx, ZSTD_c_compressionLevel, LEVEL);
    (void)ZSTD_CCtx_setParameter(ctx, ZSTD_c_checksumFlag, 1);
    size_t n = ZSTD_compress2(ctx, to, bound, raw.p, raw.n);
    (void)ZSTD_freeCCtx(ctx);
    ret->n = at + (ZSTD_isError(n) ? 0 : n);
    ret->p[ret->n] = '\0';
    return ZSTD_isError(n) ? ERR_NOMEM : ERR_OK;
}

/* ---- checks before a frame is opened ---- */

static uint64_t read_window(struct cursor *c)
{
    const unsigned byte = cursor_u8(c);
    const uint64_t base = UINT64_C(1) << (WINDOW_LOG_MIN + (byte >> 3));
    return base + base / 8 * (byte & 7);
}

/* Content size, of 1, 2, 4 or 8 bytes by the descriptor's upper bits. The caller has made sure that
 * a size of 1 byte comes with a single segment. */
static uint64_t read_size(struct cursor *c, unsigned descriptor)
{
    switch (descriptor >> 6) {
    case 0:
        return cursor_u8(c);
    case 1:
        return cursor_u16(c) + UINT64_C(256);
    case 2:
        return cursor_u32(c);
    default:
        return cursor_u64(c);
    }
}

static enum err read_frame_header(struct cursor *c, uint64_t raw_len,
                                  uint64_t *retblock, struct errinfo *reterr)
{
    if (cursor_u32(c) != ZSTD_MAGICNUMBER) {
        return refuse_frame(reterr, ERR_SYNTAX, "it is not a zstd frame");
    }
    const unsigned descriptor = cursor_u8(c);
    const bool is_single = (descriptor & BIT_SINGLE) != 0;
    if ((descriptor & BITS_DICTIONARY) != 0) {
        return refuse_frame(reterr, ERR_SYNTAX, "it needs a dictionary");
    }
    if ((descriptor & BITS_UNUSED) != 0) {
        return refuse_frame(reterr, ERR_SYNTAX, "reserved bits are set");
    }
    if ((descriptor & BIT_CHECKSUM) == 0) {
        return refuse_frame(reterr, ERR_SYNTAX, "it has no checksum");
    }
    if (!is_single && descriptor >> 6 == 0) {
        return refuse_frame(reterr, ERR_SYNTAX, "it does not declare its length");
    }
    uint64_t window = is_single ? 0 : read_window(c);
    const uint64_t size = read_size(c, descriptor);
    if (!cursor_ok(c)) {
        return refuse_frame(reterr, ERR_SYNTAX, "it is cut off");
    }
    window = is_single ? size : window;
    if (size != raw_len) {
        return refuse_frame(reterr, ERR_SYNTAX,
                            "it has another length than the object's header");
    }
    if (window > UINT64_C(1) << PAYLOAD_WINDOW_LOG_MAX) {
        return refuse_frame(reterr, ERR_LIMIT, "its window is too large");
    }
    *retblock = window < BLOCK_MAX ? window : BLOCK_MAX;
    return ERR_OK;
}

/* Bounds of the unpacked blocks. */
struct extent {
    uint64_t least;
    uint64_t most;
};

static const char *read_block(struct cursor *c, uint64_t block_max, struct extent *x,
                              bool *retis_last)
{
    struct slice s = cursor_bytes(c, BLOCK_HEADER);
    if (!cursor_ok(c)) {
        return "it is cut off";
    }
    const uint8_t *p = (const uint8_t *)s.p;
    const uint32_t header = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;
    const uint32_t size = header >> 3;
    const enum block_type type = (enum block_type)(header >> 1 & 3);
    *retis_last = (header & 1) != 0;
    if (type == BLOCK_RESERVED) {
        return "a block is of no known type";
    }
    if (size > block_max || (size == 0 && !*retis_last)) {
        return "a block is empty or too large";
    }
    (void)cursor_bytes(c, type == BLOCK_REPEATED ? 1 : size);
    x->least += type == BLOCK_PACKED ? 0 : size;
    x->most += type == BLOCK_PACKED ? block_max : size;
    return cursor_ok(c) ? NULL : "it is cut off";
}

static enum err check_frame(struct slice packed, uint64_t raw_len,
                            struct errinfo *reterr)
{
    struct cursor c = cursor_of(packed);
    struct extent x = {0, 0};
    uint64_t block_max = 0;
    enum err e = read_frame_header(&c, raw_len, &block_max, reterr);
    bool is_last = false;
    while (e == ERR_OK && !is_last) {
        const char *why = read_block(&c, block_max, &x, &is_last);
        if (!why && x.least > raw_len) {
            why = "it is longer than declared";
        }
        e = why ? refuse_frame(reterr, ERR_SYNTAX, why) : ERR_OK;
    }
    if (e != ERR_OK) {
        return e;
    }
    if (x.most < raw_len) {
        return refuse_frame(reterr, ERR_SYNTAX, "it is shorter than declared");
    }
    if (c.rest.n != CHECKSUM_BYTES) {
        return refuse_frame(reterr, ERR_SYNTAX,
                            c.rest.n < CHECKSUM_BYTES ? "it is cut off"
                                                      : "something follows the frame");
    }
    return ERR_OK;
}

enum err payload_unpack(struct slice packed, uint64_t raw_len, struct buf *ret,
                        struct errinfo *reterr)
{
    const size_t at = ret->n;
    if (raw_len > OBJECT_SNAP_MAX || packed.n > raw_len + raw_len / 256 + SLACK) {
        return refuse_frame(reterr, ERR_LIMIT, "it is larger than packing can make it");
    }
    enum err e = check_frame(packed, raw_len, reterr);
    if (e != ERR_OK) {
        return e;
    }
    ZSTD_DCtx *ctx = ZSTD_createDCtx();
    char *to = ctx ? buf_extend(ret, (size_t)raw_len) : NULL;
    if (!to) {
        (void)ZSTD_freeDCtx(ctx);
        return refuse_frame(reterr, ERR_NOMEM, "there is no memory for it");
    }
    (void)ZSTD_DCtx_setParameter(ctx, ZSTD_d_windowLogMax, PAYLOAD_WINDOW_LOG_MAX);
    size_t n = ZSTD_decompressDCtx(ctx, to, (size_t)raw_len, packed.p, packed.n);
    (void)ZSTD_freeDCtx(ctx);
    if (n != raw_len) { /* an error is a number far above */
        ret->n = at;
        ret->p[at] = '\0';
        return refuse_frame(reterr, ERR_CORRUPT,
                            ZSTD_isError(n) ? ZSTD_getErrorName(n)
                                            : "it is shorter than declared");
    }
    return ERR_OK;
}
