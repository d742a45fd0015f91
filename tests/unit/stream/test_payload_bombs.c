/*
 * test_payload_bombs - frames made to cost more than they weigh: each is refused, within a fixed
 * amount of memory, and wherever its first bytes tell before anything is unpacked.
 *
 * Each is opened in a child of its own, whose peak of memory is measured. The times are printed,
 * not judged.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <zstd.h>

#include "core/base/base.h"
#include "core/ring/stream/payload.h"

#include "tests/unit/unit.h"

enum {
    EXTRA_KIB_MAX = 32 << 10,
    CHUNK = 1 << 20,
    BLOCK = 128 << 10,
    SLACK = 1024, /* of payload_unpack */
    FRAME_MAX = OBJECT_PACKED_MAX + 2 * SLACK,
    PATTERN = 256
};
#define GIB (UINT64_C(1) << 30)

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { IS_SANITIZED = 1 };
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { IS_SANITIZED = 1 };
#    else
enum { IS_SANITIZED = 0 };
#    endif
#else
enum { IS_SANITIZED = 0 };
#endif

/* ---- frames ---- */

static void add_le(struct buf *b, uint64_t v, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        buf_add_u8(b, (uint8_t)(v & 0xff));
        v >>= 8;
    }
}

static void add_magic(struct buf *b, uint8_t descriptor)
{
    add_le(b, 0xFD2FB528, 4);
    buf_add_u8(b, descriptor);
}

/* Header with checksum, window and content size of 8 bytes. */
static void add_header(struct buf *b, uint8_t window, uint64_t size)
{
    add_magic(b, 0xC4);
    buf_add_u8(b, window);
    add_le(b, size, 8);
}

static void add_block(struct buf *b, unsigned type, uint32_t size, bool is_last)
{
    add_le(b, (is_last ? 1U : 0U) | type << 1 | size << 3, 3);
}

/* n times byte; PATTERN: all bytes in turn, which makes packed blocks where equal ones make
 * repeated ones. */
static uint64_t add_packed(struct buf *b, uint64_t n, int byte)
{
    static char chunk[CHUNK];
    static char out[CHUNK];
    ZSTD_CCtx *ctx = ZSTD_createCCtx();
    assert_non_null(ctx);
    for (size_t i = 0; i < sizeof(chunk); i++) {
        chunk[i] = (char)(byte == PATTERN ? i & 0xff : (size_t)byte);
    }
    (void)ZSTD_CCtx_setParameter(ctx, ZSTD_c_checksumFlag, 1);
    (void)ZSTD_CCtx_setPledgedSrcSize(ctx, n);
    uint64_t done = 0;
    bool is_ended = false;
    while (!is_ended) {
        const size_t part = n - done < CHUNK ? (size_t)(n - done) : CHUNK;
        ZSTD_inBuffer in = {chunk, part, 0};
        ZSTD_outBuffer o = {out, sizeof(out), 0};
        const bool is_last = done + part == n;
        size_t left =
            ZSTD_compressStream2(ctx, &o, &in, is_last ? ZSTD_e_end : ZSTD_e_continue);
        assert_false(ZSTD_isError(left));
        buf_add(b, slice_of(out, o.pos));
        done += in.pos;
        is_ended = is_last && left == 0;
    }
    (void)ZSTD_freeCCtx(ctx);
    return n;
}

static uint64_t unknown_size(struct buf *b)
{
    add_magic(b, 0x04);
    buf_add_u8(b, 0x40);
    add_block(b, 0, 4, true);
    add_le(b, 0, 8);
    return 4;
}

static uint64_t window_of_2_gib(struct buf *b)
{
    add_header(b, 21 << 3, 4096);
    add_block(b, 1, 4096, true);
    add_le(b, 0, 5);
    return 4096;
}

static uint64_t window_of_2_tib(struct buf *b)
{
    add_header(b, 0xff, 4096);
    add_block(b, 1, 4096, true);
    add_le(b, 0, 5);
    return 4096;
}

static uint64_t window_one_step_too_large(struct buf *b)
{
    add_header(b, 13 << 3 | 1, 4096); /* 8 MiB and an eighth */
    add_block(b, 1, 4096, true);
    add_le(b, 0, 5);
    return 4096;
}

/* The last n blocks, of a repeated byte, and a checksum. */
static void add_repeated(struct buf *b, unsigned n)
{
    for (unsigned i = 1; i <= n; i++) {
        add_block(b, 1, BLOCK, i == n);
        buf_add_u8(b, 0);
    }
    add_le(b, 0, 4);
}

/* A single segment's window is its content. */
static uint64_t window_of_its_content(struct buf *b)
{
    add_magic(b, 0xE4);
    add_le(b, 16 << 20, 8);
    add_repeated(b, 128);
    return 16 << 20;
}

static uint64_t thousand_frames(struct buf *b)
{
    for (unsigned i = 0; i < 1000; i++) {
        (void)add_packed(b, 1000, 'a');
    }
    return 1000;
}

static uint64_t two_frames_in_one(struct buf *b)
{
    (void)add_packed(b, 1000, 'a');
    return add_packed(b, 1000, 'a');
}

static uint64_t two_frames_of_one_size(struct buf *b)
{
    (void)add_packed(b, 500, 'a');
    (void)add_packed(b, 500, 'a');
    return 1000;
}

static uint64_t skippable_first(struct buf *b)
{
    add_le(b, 0x184D2A50, 4);
    add_le(b, 16, 4);
    add_le(b, 0, 16);
    return add_packed(b, 1000, 'a');
}

static uint64_t skippable_last(struct buf *b)
{
    (void)add_packed(b, 1000, 'a');
    add_le(b, 0x184D2A5F, 4);
    add_le(b, 0, 4);
    return 1000;
}

static uint64_t skippable_flood(struct buf *b)
{
    for (unsigned i = 0; i < 2000000; i++) {
        add_le(b, 0x184D2A50, 4);
        add_le(b, 0, 4);
    }
    return 16 << 20;
}

static uint64_t cut_off(struct buf *b)
{
    uint64_t n = add_packed(b, 100000, 'a');
    b->n -= 5;
    return n;
}

static uint64_t cut_in_header(struct buf *b)
{
    uint64_t n = add_packed(b, 100000, 'a');
    b->n = 6;
    return n;
}

static uint64_t wrong_checksum(struct buf *b)
{
    uint64_t n = add_packed(b, 100000, 'a');
    b->p[b->n - 1] ^= 1;
    return n;
}

static uint64_t no_checksum(struct buf *b)
{
    char out[1000];
    char in[1000] = {0};
    size_t n = ZSTD_compress(out, sizeof(out), in, sizeof(in), 3);
    assert_false(ZSTD_isError(n));
    buf_add(b, slice_of(out, n));
    return sizeof(in);
}

static uint64_t wants_dictionary(struct buf *b)
{
    add_magic(b, 0xC5);
    buf_add_u8(b, 0x40);
    buf_add_u8(b, 7);
    add_le(b, 1000, 8);
    add_block(b, 1, 1000, true);
    add_le(b, 0, 5);
    return 1000;
}

static uint64_t reserved_bit(struct buf *b)
{
    uint64_t n = add_packed(b, 1000, 'a');
    b->p[4] = (char)(b->p[4] | 0x08);
    return n;
}

static uint64_t reserved_block(struct buf *b)
{
    add_header(b, 0x40, 1000);
    add_block(b, 3, 1000, true);
    for (unsigned i = 0; i < 1000; i++) {
        buf_add_u8(b, 0);
    }
    add_le(b, 0, 4);
    return 1000;
}

static uint64_t says_more_than_it_holds(struct buf *b)
{
    add_header(b, 13 << 3, 16 << 20);
    add_block(b, 1, BLOCK, true);
    add_le(b, 0, 5);
    return 16 << 20;
}

static uint64_t says_less_than_it_holds(struct buf *b)
{
    add_header(b, 13 << 3, 1 << 20);
    add_repeated(b, 8192); /* 1 GiB */
    return 1 << 20;
}

static uint64_t gib_of_zeros(struct buf *b)
{
    (void)add_packed(b, GIB, 0);
    return GIB;
}

static uint64_t gib_of_zeros_said_to_be_16_mib(struct buf *b)
{
    (void)add_packed(b, GIB, 0);
    return 16 << 20;
}

/* Header and frame tell the same lie, and the blocks are packed. */
static uint64_t gib_where_both_lie(struct buf *b)
{
    struct buf whole;
    buf_init(&whole, CHUNK);
    (void)add_packed(&whole, GIB, PATTERN);
    add_header(b, 0x58, 16 << 20);
    const size_t begin =
        4 + 1 + 1 + 4; /* of a frame with a window and a size of 4 bytes */
    assert_int_equal(whole.p[4] & 0xE0, 0x80);
    buf_add(b, slice_from(buf_slice(&whole), begin));
    buf_fini(&whole);
    return 16 << 20;
}

static uint64_t empty_blocks(struct buf *b)
{
    add_header(b, 13 << 3, 16 << 20);
    for (unsigned i = 0; i < 5000000; i++) {
        add_block(b, 0, 0, false);
    }
    add_repeated(b, 128);
    return 16 << 20;
}

static uint64_t block_above_its_maximum(struct buf *b)
{
    add_header(b, 13 << 3, BLOCK + 1);
    add_block(b, 1, BLOCK + 1, true);
    add_le(b, 0, 5);
    return BLOCK + 1;
}

static uint64_t garbage(struct buf *b)
{
    for (unsigned i = 0; i < 100000; i++) {
        buf_add_u8(b, (uint8_t)(i * 7919 >> 3));
    }
    return 100000;
}

static uint64_t garbage_in_a_block(struct buf *b)
{
    add_header(b, 13 << 3, BLOCK);
    add_block(b, 2, 1000, true);
    for (unsigned i = 0; i < 1000; i++) {
        buf_add_u8(b, (uint8_t)(i * 7919 >> 3));
    }
    add_le(b, 0, 4);
    return BLOCK;
}

static uint64_t empty(struct buf *b)
{
    (void)b;
    return 0;
}

static uint64_t magic_of_old(struct buf *b)
{
    uint64_t n = add_packed(b, 1000, 'a');
    b->p[0] = 0x27; /* zstd 0.7 */
    return n;
}

static uint64_t gzip(struct buf *b)
{
    buf_add(b, SLICE_LIT("\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0"));
    return 0;
}

static uint64_t too_long(struct buf *b)
{
    add_header(b, 13 << 3, 16 << 20);
    while (b->n <= OBJECT_PACKED_MAX + SLACK) {
        add_block(b, 0, 1, false);
        buf_add_u8(b, 0);
    }
    return 16 << 20;
}

struct bomb {
    const char *name;
    uint64_t (*make)(struct buf *b); /* returns what the object's header says */
    const char *why; /* within the refusal; NULL: only unpacking can tell */
};

#define BOMB(name, why)  \
    {                    \
#        name, name, why \
    }

static const struct bomb bomb[] = {
    BOMB(unknown_size, "does not declare its length"),
    BOMB(window_of_2_gib, "window is too large"),
    BOMB(window_of_2_tib, "window is too large"),
    BOMB(window_one_step_too_large, "window is too large"),
    BOMB(window_of_its_content, "window is too large"),
    BOMB(thousand_frames, "larger than packing"),
    BOMB(two_frames_in_one, "something follows"),
    BOMB(two_frames_of_one_size, "another length"),
    BOMB(skippable_first, "not a zstd frame"),
    BOMB(skippable_last, "something follows"),
    BOMB(skippable_flood, "not a zstd frame"),
    BOMB(cut_off, "cut off"),
    BOMB(cut_in_header, "cut off"),
    BOMB(wrong_checksum, NULL),
    BOMB(no_checksum, "no checksum"),
    BOMB(wants_dictionary, "dictionary"),
    BOMB(reserved_bit, "reserved bits"),
    BOMB(reserved_block, "no known type"),
    BOMB(says_more_than_it_holds, "shorter than declared"),
    BOMB(says_less_than_it_holds, "longer than declared"),
    BOMB(gib_of_zeros, "larger than packing"),
    BOMB(gib_of_zeros_said_to_be_16_mib, "another length"),
    BOMB(gib_where_both_lie, NULL),
    BOMB(empty_blocks, "empty or too large"),
    BOMB(block_above_its_maximum, "empty or too large"),
    BOMB(garbage, "not a zstd frame"),
    BOMB(garbage_in_a_block, NULL),
    BOMB(empty, "not a zstd frame"),
    BOMB(magic_of_old, "not a zstd frame"),
    BOMB(gzip, "not a zstd frame"),
    BOMB(too_long, "larger than packing"),
};

/* ---- in a child ---- */

static long peak_kib(void)
{
    struct rusage use;
    (void)getrusage(RUSAGE_SELF, &use);
    return use.ru_maxrss;
}

/* The failure, as the child's exit status; 0: none. */
static int open_bomb(const struct bomb *x, struct slice packed, uint64_t raw_len)
{
    struct buf raw;
    struct errinfo info = {.text = ""};
    struct timespec t0;
    struct timespec t1;
    buf_init(&raw, OBJECT_RAW_MAX);
    (void)clock_gettime(CLOCK_MONOTONIC, &t0);
    const long before = peak_kib();
    enum err e = payload_unpack(packed, raw_len, &raw, &info);
    const long extra = peak_kib() - before;
    (void)clock_gettime(CLOCK_MONOTONIC, &t1);
    const double ms =
        (double)(t1.tv_sec - t0.tv_sec) * 1e3 + (double)(t1.tv_nsec - t0.tv_nsec) / 1e6;
    (void)printf("%-32s %9zu bytes %8ld KiB %8.2f ms  %s\n", x->name, packed.n, extra,
                 ms, info.text);
    (void)fflush(stdout);
    if (e == ERR_OK || info.text[0] == '\0' || raw.n != 0) {
        return 1;
    }
    const bool is_opened = raw.size != 0; /* memory is taken right before unpacking */
    if (is_opened != !x->why || (e == ERR_CORRUPT) != is_opened) {
        return 2;
    }
    if (x->why && !strstr(info.text, x->why)) {
        return 4;
    }
    return extra > EXTRA_KIB_MAX && !IS_SANITIZED ? 3 : 0;
}

static void test_unpack__bombs__are_refused_within_bounds(void **state)
{
    (void)state;
    assert_true(sizeof(bomb) / sizeof(bomb[0]) >= 25);
    for (size_t i = 0; i < sizeof(bomb) / sizeof(bomb[0]); i++) {
        struct buf b;
        int status = 0;
        buf_init(&b, FRAME_MAX);
        const uint64_t raw_len = bomb[i].make(&b);
        assert_false(buf_failed(&b));
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            _exit(open_bomb(&bomb[i], buf_slice(&b), raw_len));
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            print_error("%s: status %x\n", bomb[i].name, (unsigned)status);
            fail();
        }
        buf_fini(&b);
    }
}

/* The frames above are refused for what they are named after, not for how they are made here. */
static void test_unpack__the_same_without_the_fault__is_good(void **state)
{
    (void)state;
    struct buf b;
    struct buf raw;
    char zeros[4096] = {0};
    buf_init(&b, FRAME_MAX);
    buf_init(&raw, OBJECT_RAW_MAX);
    assert_int_equal(add_packed(&b, 100000, 'a'), 100000);
    assert_int_equal(payload_unpack(buf_slice(&b), 100000, &raw, NULL), ERR_OK);
    buf_clear(&b);
    buf_clear(&raw);
    assert_int_equal(add_packed(&b, 16 << 20, 0), 16 << 20);
    assert_int_equal(payload_unpack(buf_slice(&b), 16 << 20, &raw, NULL), ERR_OK);
    assert_int_equal(raw.n, 16 << 20);
    buf_clear(&b);
    buf_clear(&raw);
    add_header(&b, 13 << 3, 4096); /* the largest window that may be */
    add_block(&b, 1, 4096, true);
    buf_add_u8(&b, 0);
    add_le(&b, 0x32D8BBDB, 4); /* low half of XXH64 of 4,096 zeros */
    assert_int_equal(payload_unpack(buf_slice(&b), 4096, &raw, NULL), ERR_OK);
    assert_true(slice_eq(buf_slice(&raw), slice_of(zeros, sizeof(zeros))));
    buf_fini(&b);
    buf_fini(&raw);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unpack__bombs__are_refused_within_bounds),
        cmocka_unit_test(test_unpack__the_same_without_the_fault__is_good),
    };
    return base_init() == ERR_OK ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
