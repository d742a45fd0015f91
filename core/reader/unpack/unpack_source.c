/*
 * unpack_source - the library's object that reads the format of an archive, and its input.
 *
 * A file that is compressed as a whole comes from a stream of its own, so that on_stream_read
 * counts every decompressed byte: a format skips padding and long heads within one call.
 */
#include <errno.h>

#include "core/reader/unpack/unpack_internal.h"

/* Gives the formats what the stream decompressed. */
static la_ssize_t on_stream_read(struct archive *a, void *context, const void **ret)
{
    struct unpack_source *s = context;
    struct slice piece = SLICE_NONE;
    const enum unpack_step step = unpack_stream_next(s->stream, &piece);

    if (step != UNPACK_PIECE) {
        s->is_cut = step == UNPACK_CUT;
        return 0;
    }
    s->nstream += piece.n;
    if (s->nstream / UNPACK_STREAM_FACTOR > s->job->limits.bytes) {
        (void)found_fact(s->found, RECORD_BYTES);
        s->is_over = true;
    }
    if (!found_ratio(s->found, s->job->bytes.n, s->nstream) || s->is_over) {
        s->is_over = true;
        archive_set_error(a, EIO, "more than the limits permit");
        return ARCHIVE_FATAL;
    }
    *ret = piece.p;
    return (la_ssize_t)piece.n;
}

static bool add_formats(struct archive *a)
{
    static int (*const formats[])(struct archive *) = {
        archive_read_support_format_zip,     archive_read_support_format_7zip,
        archive_read_support_format_rar,     archive_read_support_format_rar5,
        archive_read_support_format_tar,     archive_read_support_format_cpio,
        archive_read_support_format_iso9660, archive_read_support_format_cab,
        archive_read_support_format_lha,     archive_read_support_format_xar,
        archive_read_support_format_ar,
    };

    for (size_t i = 0; i < LENGTH(formats); i++) {
        if (formats[i](a) != ARCHIVE_OK) {
            return false;
        }
    }
    return true;
}

static bool add_password(struct archive *a, struct slice password)
{
    char text[FOUND_WHERE_MAX];

    if (password.n == 0) {
        return true;
    }
    if (password.n >= sizeof(text)) {
        return false;
    }
    memcpy(text, password.p, password.n);
    text[password.n] = '\0';
    return archive_read_add_passphrase(a, text) == ARCHIVE_OK;
}

enum unpack_open unpack_open(struct unpack_source *s, const struct reader_job *job,
                             struct found *f, enum unpack_as as, struct slice password)
{
    enum unpack_open how;

    *s = (struct unpack_source){.job = job, .found = f};
    how = unpack_stream_open(job->bytes, &s->stream);
    if (how != UNPACK_OPEN) {
        return how;
    }
    s->formats = archive_read_new();
    if (s->formats == NULL || (as == UNPACK_ARCHIVE && !add_formats(s->formats)) ||
        !add_password(s->formats, password)) {
        return UNPACK_BROKEN;
    }
    if (s->stream == NULL) {
        return archive_read_open_memory(s->formats, job->bytes.p, job->bytes.n) ==
                       ARCHIVE_OK
                   ? UNPACK_OPEN
                   : UNPACK_STRANGE;
    }
    return archive_read_support_format_raw(s->formats) == ARCHIVE_OK &&
                   archive_read_support_format_empty(s->formats) == ARCHIVE_OK &&
                   archive_read_open(s->formats, s, NULL, on_stream_read, NULL) ==
                       ARCHIVE_OK
               ? UNPACK_OPEN
               : UNPACK_BROKEN;
}

void unpack_close(struct unpack_source *s)
{
    (void)archive_read_free(s->formats);
    s->formats = NULL;
    unpack_stream_free(&s->stream);
}
