/* unpack_entry - one entry: what it is, its name, its bytes. */

#include "core/base/utf8.h"
#include "core/reader/unpack/unpack_internal.h"

enum { REPLACEMENT = 0xfffd, REPLACEMENT_BYTES = 3, ZEROS = 64 * 1024 };

static bool is_encrypted(const struct unpack_source *s, struct archive_entry *entry)
{
    return archive_entry_is_encrypted(entry) != 0 ||
           (archive_format(s->formats) == ARCHIVE_FORMAT_RAR_V5 && s->stream == NULL &&
            unpack_rar5_is_encrypted(
                s->job->bytes, (uint64_t)archive_read_header_position(s->formats)));
}

enum unpack_kind unpack_kind(const struct unpack_source *s, struct archive_entry *entry)
{
    const unsigned type = archive_entry_filetype(entry);

    if ((type != AE_IFREG && type != 0) ||
        /* a link to an earlier entry; one with bytes is the entry itself */
        (archive_entry_hardlink(entry) != NULL && archive_entry_size(entry) <= 0)) {
        return UNPACK_NAME_ONLY;
    }
    return is_encrypted(s, entry) ? UNPACK_ENCRYPTED : UNPACK_FILE;
}

/* The last n bytes of s at most, from the beginning of a character on. */
static struct slice tail_of(struct slice s, size_t n)
{
    size_t from = s.n > n ? s.n - n : 0;

    for (size_t i = 1; from > 0 && i < UTF8_MAX && from < s.n; i++) {
        if (((unsigned char)s.p[from] & 0xc0) != 0x80) {
            break;
        }
        from++;
    }
    return slice_from(s, from);
}

static struct slice utf8_name(struct slice raw, char dst[FOUND_NAME_MAX])
{
    char all[REPLACEMENT_BYTES * FOUND_NAME_MAX];
    size_t n = 0;

    raw = tail_of(raw, FOUND_NAME_MAX);
    while (raw.n > 0) {
        const size_t length = utf8_length((const unsigned char *)raw.p, raw.n);
        if (length > 0) {
            memcpy(all + n, raw.p, length);
            n += length;
        } else {
            n += utf8_put(all + n, REPLACEMENT);
        }
        raw = slice_from(raw, length > 0 ? length : 1);
    }
    const struct slice tail = tail_of(slice_of(all, n), FOUND_NAME_MAX);
    if (tail.n > 0) {
        memcpy(dst, tail.p, tail.n);
    }
    return slice_of(dst, tail.n);
}

static struct slice raw_name(struct archive_entry *entry)
{
    const char *name = archive_entry_pathname_utf8(entry);

    return slice_str(name != NULL ? name : archive_entry_pathname(entry));
}

/* The name of a compressed file without the end that says so. */
static struct slice name_within(struct slice name)
{
    static const struct slice ends[] = {
        {".gz", 3},  {".bz2", 4}, {".xz", 3}, {".lzma", 5}, {".lz", 3},
        {".zst", 4}, {".lz4", 4}, {".z", 2},  {".uue", 4},  {".uu", 3},
    };

    for (size_t i = 0; i < LENGTH(ends); i++) {
        if (slice_has_suffix_nocase(name, ends[i])) {
            return slice_head(name, name.n - ends[i].n);
        }
    }
    return name;
}

struct slice unpack_lone_name(const struct unpack_source *s, char dst[FOUND_NAME_MAX])
{
    const struct slice name = unpack_stream_name(s->stream);

    return utf8_name(name.n > 0 ? name : name_within(s->job->name), dst);
}

struct slice unpack_name(const struct unpack_source *s, struct archive_entry *entry,
                         char dst[FOUND_NAME_MAX])
{
    const int format = archive_format(s->formats) & ARCHIVE_FORMAT_BASE_MASK;

    return format == ARCHIVE_FORMAT_RAW ? unpack_lone_name(s, dst)
                                        : utf8_name(raw_name(entry), dst);
}

/* Counts bytes that were read and passes them on. */
static bool take_counted(struct unpack_source *s, struct slice bytes,
                         unpack_take_fn *take, void *context)
{
    s->nread += bytes.n;
    return found_ratio(s->found, s->job->bytes.n, s->nread) && take(context, bytes);
}

static bool take_zeros(struct unpack_source *s, uint64_t n, unpack_take_fn *take,
                       void *context)
{
    static const char zeros[ZEROS];

    while (n > 0) {
        const size_t step = n < ZEROS ? (size_t)n : ZEROS;
        if (!take_counted(s, slice_of(zeros, step), take, context)) {
            return false;
        }
        n -= step;
    }
    return true;
}

enum unpack_read unpack_bytes(struct unpack_source *s, unpack_take_fn *take,
                              void *context)
{
    uint64_t at = 0;
    bool is_whole = true;

    for (;;) {
        const void *p = NULL;
        size_t n = 0;
        la_int64_t offset = (la_int64_t)at;
        const int status = archive_read_data_block(s->formats, &p, &n, &offset);
        const bool is_usable = status >= ARCHIVE_FAILED && offset >= (la_int64_t)at;

        /* a wrong sum comes together with the last bytes */
        if (is_usable && (!take_zeros(s, (uint64_t)offset - at, take, context) ||
                          (n > 0 && !take_counted(s, slice_of(p, n), take, context)))) {
            return UNPACK_STOP;
        }
        if (status == ARCHIVE_EOF) {
            return is_whole && !s->is_cut ? UNPACK_WHOLE : UNPACK_PART;
        }
        if (status == ARCHIVE_FATAL) {
            return UNPACK_LOST;
        }
        is_whole = is_whole && status == ARCHIVE_OK;
        if (!is_usable || status <= ARCHIVE_FAILED || status == ARCHIVE_RETRY) {
            return UNPACK_PART;
        }
        at = (uint64_t)offset + n;
    }
}
