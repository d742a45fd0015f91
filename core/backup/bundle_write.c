/* bundle_write - a snapshot as one file. */
#include <archive.h>
#include <archive_entry.h>

#include "core/backup/bundle.h"

enum { COPY_BYTES = 1 << 20, ENTRY_MODE = 0600 };
#define ZSTD_LEVEL "3"

struct writing {
    struct archive *a;
    struct archive_entry *entry;
    bundle_write_fn *write;
    void *sink;
    enum err sunk; /* of the sink */
    uint64_t done;
    char *bytes;
    struct errinfo *err;
};

static la_ssize_t on_bytes(struct archive *a, void *context, const void *p, size_t n)
{
    struct writing *w = context;

    w->sunk = w->write(w->sink, slice_of(p, n));
    if (w->sunk != ERR_OK) {
        archive_set_error(a, EIO, "cannot be written");
        return ARCHIVE_FATAL;
    }
    return (la_ssize_t)n;
}

static enum err broken(struct writing *w, const char *path)
{
    const char *why = archive_error_string(w->a);

    return w->sunk != ERR_OK
               ? errinfo_set(w->err, w->sunk, "", 0, "the backup %s: %s",
                             "cannot be written", err_text(w->sunk))
               : errinfo_set(w->err, ERR_IO, path, 0, "cannot be packed: %s",
                             why != NULL ? why : "no reason given");
}

static enum err begin_entry(struct writing *w, const char *path, uint64_t size,
                            uint64_t time_s)
{
    archive_entry_clear(w->entry);
    archive_entry_set_pathname(w->entry, path);
    archive_entry_set_filetype(w->entry, AE_IFREG);
    archive_entry_set_perm(w->entry, ENTRY_MODE);
    archive_entry_set_mtime(w->entry, (time_t)time_s, 0);
    archive_entry_set_size(w->entry, (la_int64_t)size);
    return archive_write_header(w->a, w->entry) == ARCHIVE_OK ? ERR_OK
                                                              : broken(w, path);
}

static enum err add_bytes(struct writing *w, const char *path, struct slice bytes)
{
    return archive_write_data(w->a, bytes.p, bytes.n) == (la_ssize_t)bytes.n
               ? ERR_OK
               : broken(w, path);
}

static enum err add_text_entry(struct writing *w, const char *path,
                               const struct buf *text, uint64_t time_s)
{
    if (buf_failed(text)) {
        return errinfo_set(w->err, ERR_NOMEM, path, 0, "no memory for it");
    }
    enum err e = begin_entry(w, path, text->n, time_s);
    return e == ERR_OK ? add_bytes(w, path, buf_slice(text)) : e;
}

static enum err sum_init(struct sha256 *sum, const char *path, struct errinfo *reterr)
{
    return sha256_init(sum) == ERR_OK
               ? ERR_OK
               : errinfo_set(reterr, ERR_NOMEM, path, 0, "no checksum can be made");
}

static enum err add_file(struct writing *w, const struct snapshot *s,
                         struct contents_file *f)
{
    struct sha256 sum;
    int fd = -1;
    enum err e = snapshot_read(s, f, &fd, w->err);

    if (e != ERR_OK) {
        return e;
    }
    e = sum_init(&sum, f->path, w->err);
    if (e == ERR_OK) {
        e = begin_entry(w, f->path, f->size, s->contents.time_s);
        for (uint64_t left = f->size; e == ERR_OK && left > 0;) {
            const size_t most = left < COPY_BYTES ? (size_t)left : COPY_BYTES;
            const ssize_t n = read(fd, w->bytes, most);
            if (n < 0 && errno == EINTR) {
                continue;
            }
            if (n <= 0) {
                e = n < 0 ? errinfo_errno(w->err, f->path, "cannot be read")
                          : errinfo_set(w->err, ERR_CORRUPT, f->path, 0,
                                        "it became shorter meanwhile; try again");
                break;
            }
            const struct slice got = slice_of(w->bytes, (size_t)n);
            sha256_add(&sum, got);
            e = add_bytes(w, f->path, got);
            left -= (uint64_t)n;
            w->done += (uint64_t)n;
        }
        sha256_final_hex(&sum, f->sha256);
    }
    (void)close(fd);
    return e;
}

static enum err add_all(struct writing *w, struct snapshot *s,
                        bundle_progress_fn *progress, void *context)
{
    struct contents *c = &s->contents;
    char sha256[SHA256_HEX + 1] = "";
    struct sha256 sum;
    struct buf text;

    buf_init(&text, CONTENTS_TEXT_MAX);
    contents_sort(c);
    contents_print(c, &text);
    enum err e = sum_init(&sum, CONTENTS_NAME, w->err);
    if (e == ERR_OK) {
        sha256_add(&sum, buf_slice(&text));
        sha256_final_hex(&sum, sha256);
        e = add_text_entry(w, CONTENTS_NAME, &text, c->time_s);
    }
    for (size_t i = 0; e == ERR_OK && i < c->n; i++) {
        if (progress != NULL) {
            progress(context, c->v[i].path,
                     c->bytes > 0 ? (double)w->done / (double)c->bytes : 1);
        }
        e = add_file(w, s, &c->v[i]);
    }
    buf_clear(&text);
    if (e == ERR_OK) {
        contents_print_sums(c, sha256, &text);
        e = add_text_entry(w, CONTENTS_SUMS, &text, c->time_s);
    }
    buf_fini(&text);
    return e;
}

enum err bundle_write(struct snapshot *s, bundle_write_fn *write, void *sink,
                      bundle_progress_fn *progress, void *context,
                      struct errinfo *reterr)
{
    struct writing w = {.a = archive_write_new(),
                        .entry = archive_entry_new(),
                        .write = write,
                        .sink = sink,
                        .bytes = malloc(COPY_BYTES),
                        .err = reterr};
    enum err e = ERR_OK;

    if (w.a == NULL || w.entry == NULL || w.bytes == NULL) {
        e = errinfo_set(reterr, ERR_NOMEM, "", 0, "no memory to pack the backup");
    } else if (archive_write_set_format_pax_restricted(w.a) != ARCHIVE_OK ||
               archive_write_add_filter_zstd(w.a) != ARCHIVE_OK ||
               archive_write_set_filter_option(w.a, "zstd", "compression-level",
                                               ZSTD_LEVEL) != ARCHIVE_OK ||
               archive_write_set_bytes_in_last_block(w.a, 1) != ARCHIVE_OK ||
               archive_write_open(w.a, &w, NULL, on_bytes, NULL) != ARCHIVE_OK) {
        e = broken(&w, "");
    } else {
        e = add_all(&w, s, progress, context);
        if (e == ERR_OK && archive_write_close(w.a) != ARCHIVE_OK) {
            e = broken(&w, "");
        } else if (e != ERR_OK) {
            (void)archive_write_fail(w.a); /* nothing more is written */
        }
    }
    (void)archive_write_free(w.a);
    archive_entry_free(w.entry);
    free(w.bytes);
    return e;
}
