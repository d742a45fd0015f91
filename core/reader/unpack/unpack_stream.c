/*
 * unpack_stream - a file that is compressed as a whole, piece by piece.
 *
 * The library's filters decompress, and zlib itself gzip: the library gives out nothing of the last
 * 64 KiB of a gzip stream that ends early, and it does not check the sum.
 * Only one layer of compression is taken off: the library would take off all of them, and one that
 * expands to nothing can hide between two others.
 */
#include <limits.h>
#include <zlib.h>

#include "core/base/cursor.h"
#include "core/reader/unpack/unpack_internal.h"

enum {
    LZW_HEAD = 3,
    LZW_BITS_LEAST = 9,
    LZW_BITS_MOST = 16,
    LZMA_PROPERTIES = 0x5d, /* all writers use lc=3, lp=0, pb=2 */
    LZMA_DICTIONARY_LEAST = 1 << 12,
    LZMA_SIZE_BITS = 38, /* as in XZ Utils */
    LAYERS_OF_ONE = 2,   /* the filter and the input */
    UU_HEAD = 64 * 1024, /* bytes in which the line "begin" stands */
    PROBE_BYTES = 4096,
    GZIP_ONLY = 16, /* added to the bits of the window */
    PIECE_BYTES = 64 * 1024
};

struct mark {
    struct slice bytes;
    int filter;
};

static const struct mark marks[] = {
    {{"\x1f\x8b\x08", 3}, ARCHIVE_FILTER_GZIP},
    {{"BZh", 3}, ARCHIVE_FILTER_BZIP2},
    {{"\xfd\x37zXZ\0", 6}, ARCHIVE_FILTER_XZ},
    {{"LZIP", 4}, ARCHIVE_FILTER_LZIP},
    {{"\x28\xb5\x2f\xfd", 4}, ARCHIVE_FILTER_ZSTD},
    {{"\x04\x22\x4d\x18", 4}, ARCHIVE_FILTER_LZ4},
    {{"\x02\x21\x4c\x18", 4}, ARCHIVE_FILTER_LZ4}, /* the older frames */
};

/* A file of LZMA alone has no mark; its head of 13 bytes is checked as XZ Utils do. */
static bool is_lzma(struct slice bytes)
{
    struct cursor c = cursor_of(bytes);
    const uint8_t properties = cursor_u8(&c);
    const uint32_t dictionary = cursor_u32(&c);
    const uint64_t size = cursor_u64(&c);

    return cursor_ok(&c) && properties == LZMA_PROPERTIES &&
           dictionary >= LZMA_DICTIONARY_LEAST &&
           (dictionary & (dictionary - 1)) == 0 &&
           (size == UINT64_MAX || size >> LZMA_SIZE_BITS == 0);
}

static bool is_lzw(struct slice bytes)
{
    const unsigned bits = bytes.n >= LZW_HEAD ? (unsigned char)bytes.p[2] & 0x1f : 0;

    return slice_has_prefix(bytes, SLICE_LIT("\x1f\x9d")) && bits >= LZW_BITS_LEAST &&
           bits <= LZW_BITS_MOST;
}

static bool is_uu(struct slice bytes)
{
    const struct slice head = slice_head(bytes, UU_HEAD);

    return slice_has_prefix(head, SLICE_LIT("begin ")) ||
           slice_has_prefix(head, SLICE_LIT("begin-base64 ")) ||
           slice_find_slice(head, SLICE_LIT("\nbegin ")) < head.n ||
           slice_find_slice(head, SLICE_LIT("\nbegin-base64 ")) < head.n;
}

static int filter_of(struct slice bytes)
{
    for (size_t i = 0; i < LENGTH(marks); i++) {
        if (slice_has_prefix(bytes, marks[i].bytes)) {
            return marks[i].filter;
        }
    }
    if (is_lzw(bytes)) {
        return ARCHIVE_FILTER_COMPRESS;
    }
    if (is_lzma(bytes)) {
        return ARCHIVE_FILTER_LZMA;
    }
    return is_uu(bytes) ? ARCHIVE_FILTER_UU : ARCHIVE_FILTER_NONE;
}

/* Two of the library's filters cannot be named in advance: it must find them itself. ARCHIVE_OK
 * alone says that the filter is in the library; otherwise it would start a program. */
static bool add_filter(struct archive *a, int filter)
{
    switch (filter) {
    case ARCHIVE_FILTER_COMPRESS:
        return archive_read_support_filter_compress(a) == ARCHIVE_OK;
    case ARCHIVE_FILTER_UU:
        return archive_read_support_filter_uu(a) == ARCHIVE_OK;
    default:
        return archive_read_append_filter(a, filter) == ARCHIVE_OK;
    }
}

struct unpack_stream {
    struct slice first; /* piece; it is read when the stream is opened */
    bool has_first;
    struct archive *filter; /* NULL: gzip */
    struct archive_entry *entry;
    /* gzip */
    z_stream z;
    gz_header head;
    bool is_ended;
    bool is_cut;
    unsigned char name[FOUND_NAME_MAX];
    unsigned char out[PIECE_BYTES];
};

/* Opens the output of a filter as one file. NULL: the filter fails. */
static struct archive *open_filter(struct slice bytes, int filter,
                                   struct archive_entry **retentry)
{
    struct archive *a = archive_read_new();

    /* the filter for uuencode does not look for its mark in a long piece */
    if (a == NULL || archive_read_support_format_raw(a) != ARCHIVE_OK ||
        archive_read_support_format_empty(a) != ARCHIVE_OK || !add_filter(a, filter) ||
        archive_read_open_memory2(a, bytes.p, bytes.n, PIECE_BYTES) != ARCHIVE_OK ||
        archive_read_next_header(a, retentry) < ARCHIVE_OK) {
        (void)archive_read_free(a);
        return NULL;
    }
    return a;
}

static enum unpack_step filter_step(struct unpack_stream *s, struct slice *ret)
{
    const void *p = NULL;
    size_t n = 0;
    la_int64_t offset;
    const bool is_empty =
        (archive_format(s->filter) & ARCHIVE_FORMAT_BASE_MASK) == ARCHIVE_FORMAT_EMPTY;
    const int status =
        is_empty ? ARCHIVE_EOF : archive_read_data_block(s->filter, &p, &n, &offset);

    *ret = slice_of(p, n);
    return status == ARCHIVE_OK    ? UNPACK_PIECE
           : status == ARCHIVE_EOF ? UNPACK_END
                                   : UNPACK_CUT;
}

/* Another member may follow, which belongs to the same file. */
static bool next_member(struct unpack_stream *s)
{
    const struct slice rest = slice_of(s->z.next_in, s->z.avail_in);

    return slice_has_prefix(rest, SLICE_LIT("\x1f\x8b")) && inflateReset(&s->z) == Z_OK;
}

static enum unpack_step gzip_step(struct unpack_stream *s, struct slice *ret)
{
    s->z.next_out = s->out;
    s->z.avail_out = sizeof(s->out);
    while (s->z.avail_out > 0 && !s->is_ended) {
        const int status = inflate(&s->z, Z_NO_FLUSH);
        if (status == Z_STREAM_END) {
            s->is_ended = !next_member(s);
        } else if (status != Z_OK) { /* also at the end of the input */
            s->is_ended = true;
            s->is_cut = true;
        }
    }
    *ret = slice_of(s->out, sizeof(s->out) - s->z.avail_out);
    return ret->n > 0 ? UNPACK_PIECE : s->is_cut ? UNPACK_CUT : UNPACK_END;
}

static bool open_gzip(struct unpack_stream *s, struct slice bytes)
{
    union { /* zlib does not write to its input */
        const char *in;
        unsigned char *out;
    } p = {.in = bytes.p};

    if (bytes.n > UINT_MAX || inflateInit2(&s->z, MAX_WBITS + GZIP_ONLY) != Z_OK) {
        return false;
    }
    s->z.next_in = p.out;
    s->z.avail_in = (unsigned)bytes.n;
    s->head.name = s->name;
    s->head.name_max = sizeof(s->name) - 1;
    return inflateGetHeader(&s->z, &s->head) == Z_OK;
}

/* Whether the library finds one layer of LZW alone. The beginning shows that. If it yields too few
 * bytes to tell, the file is not read. */
static bool is_one_layer(struct slice bytes)
{
    struct unpack_stream s = {0};
    struct slice piece = SLICE_NONE;

    s.filter =
        open_filter(slice_head(bytes, PROBE_BYTES), ARCHIVE_FILTER_COMPRESS, &s.entry);
    const bool is_one = s.filter != NULL &&
                        archive_filter_count(s.filter) == LAYERS_OF_ONE &&
                        filter_step(&s, &piece) == UNPACK_PIECE && piece.n >= LZW_HEAD;

    (void)archive_read_free(s.filter);
    return is_one;
}

enum unpack_open unpack_stream_open(struct slice bytes, struct unpack_stream **ret)
{
    const int filter = filter_of(bytes);
    struct unpack_stream *s;

    *ret = NULL;
    if (filter == ARCHIVE_FILTER_NONE) {
        return UNPACK_OPEN;
    }
    if (filter == ARCHIVE_FILTER_COMPRESS && !is_one_layer(bytes)) {
        return UNPACK_BROKEN;
    }
    *ret = s = calloc(1, sizeof(*s));
    if (s == NULL) {
        return UNPACK_BROKEN;
    }
    if (filter != ARCHIVE_FILTER_GZIP) {
        s->filter = open_filter(bytes, filter, &s->entry);
    }
    if (filter == ARCHIVE_FILTER_GZIP ? !open_gzip(s, bytes) : s->filter == NULL) {
        return UNPACK_BROKEN;
    }
    if (s->filter != NULL && archive_filter_count(s->filter) < LAYERS_OF_ONE) {
        return UNPACK_STRANGE; /* text with a line "begin" is no uuencoded file */
    }
    const enum unpack_step step = unpack_stream_next(s, &s->first);
    s->has_first = step == UNPACK_PIECE;
    return step == UNPACK_CUT ? UNPACK_BROKEN : UNPACK_OPEN;
}

void unpack_stream_free(struct unpack_stream **s)
{
    if (*s == NULL) {
        return;
    }
    (void)archive_read_free((*s)->filter);
    (void)inflateEnd(&(*s)->z);
    free(*s);
    *s = NULL;
}

bool unpack_stream_is_empty(const struct unpack_stream *s)
{
    return s->first.n == 0;
}

struct slice unpack_stream_name(const struct unpack_stream *s)
{
    /* the library says "data" when the stream has no name */
    static const struct slice unnamed = {"data", 4};
    struct slice name;

    if (s->filter == NULL) {
        return slice_str((const char *)s->name);
    }
    name = unpack_stream_is_empty(s) ? SLICE_NONE
                                     : slice_str(archive_entry_pathname(s->entry));
    return slice_eq(name, unnamed) ? SLICE_NONE : name;
}

enum unpack_step unpack_stream_next(struct unpack_stream *s, struct slice *ret)
{
    if (s->has_first) {
        s->has_first = false;
        *ret = s->first;
        return UNPACK_PIECE;
    }
    return s->filter != NULL ? filter_step(s, ret) : gzip_step(s, ret);
}
