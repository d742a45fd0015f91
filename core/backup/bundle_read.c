/* bundle_read - a backup read again, strictly. */
#include <archive.h>
#include <archive_entry.h>

#include "core/backup/bundle.h"

enum { READ_BYTES = 1 << 20 };

struct reading {
    struct archive *a;
    const char *name; /* of the archive */
    const struct bundle_taker *taker;
    struct contents *c;
    char *bytes;
    uint64_t done;
    struct errinfo *err;
};

static enum err archive_damaged(const struct reading *r, const char *path)
{
    const char *why = archive_error_string(r->a);

    return errinfo_set(r->err, ERR_CORRUPT, r->name, 0, "damaged at %s: %s", path,
                       why != NULL ? why : "no reason given");
}

/* The next entry is a plain file of that name; *retsize is its size. */
static enum err next_is(const struct reading *r, const char *path, uint64_t *retsize)
{
    struct archive_entry *entry = NULL;
    const int got = archive_read_next_header(r->a, &entry);

    if (got == ARCHIVE_EOF) {
        return errinfo_set(r->err, ERR_CORRUPT, r->name, 0,
                           "it is cut off: %s is missing", path);
    }
    if (got != ARCHIVE_OK) {
        return archive_damaged(r, path);
    }
    const char *name = archive_entry_pathname(entry);
    if (name == NULL || strcmp(name, path) != 0) {
        return errinfo_set(r->err, ERR_CORRUPT, r->name, 0,
                           "%s is expected there, not %.200s", path,
                           name != NULL ? name : "a name that cannot be read");
    }
    if (archive_entry_filetype(entry) != AE_IFREG ||
        archive_entry_hardlink(entry) != NULL || archive_entry_symlink(entry) != NULL ||
        !archive_entry_size_is_set(entry) || archive_entry_size(entry) < 0) {
        return errinfo_set(r->err, ERR_CORRUPT, r->name, 0, "%s is no plain file",
                           path);
    }
    *retsize = (uint64_t)archive_entry_size(entry);
    return ERR_OK;
}

/* Gives all bytes of the entry, at most size, to each(), and their sum to sha256. */
typedef enum err each_fn(struct reading *r, void *context, struct slice bytes);

static enum err read_entry(struct reading *r, const char *path, uint64_t size,
                           each_fn *each, void *context, char sha256[SHA256_HEX + 1])
{
    struct sha256 sum;
    uint64_t n = 0;
    enum err e = sha256_init(&sum) == ERR_OK ? ERR_OK
                                             : errinfo_set(r->err, ERR_NOMEM, path, 0,
                                                           "no checksum can be made");

    if (e != ERR_OK) {
        return e;
    }
    while (e == ERR_OK) {
        const la_ssize_t got = archive_read_data(r->a, r->bytes, READ_BYTES);
        if (got == 0) {
            break;
        }
        if (got < 0) {
            e = archive_damaged(r, path);
        } else if ((uint64_t)got > size - n) {
            e = errinfo_set(r->err, ERR_CORRUPT, r->name, 0,
                            "%s is longer than it says", path);
        } else {
            const struct slice bytes = slice_of(r->bytes, (size_t)got);
            n += (uint64_t)got;
            sha256_add(&sum, bytes);
            e = each(r, context, bytes);
        }
    }
    sha256_final_hex(&sum, sha256);
    return e == ERR_OK && n != size ? errinfo_set(r->err, ERR_CORRUPT, r->name, 0,
                                                  "%s is shorter than it says", path)
                                    : e;
}

static enum err to_text(struct reading *r, void *context, struct slice bytes)
{
    struct buf *text = context;

    buf_add(text, bytes);
    return buf_failed(text) ? errinfo_set(r->err, ERR_NOMEM, r->name, 0,
                                          "no memory for its table of contents")
                            : ERR_OK;
}

static enum err read_text_entry(struct reading *r, const char *path, struct buf *ret,
                                char sha256[SHA256_HEX + 1])
{
    uint64_t size = 0;
    enum err e = next_is(r, path, &size);

    if (e == ERR_OK && size > CONTENTS_TEXT_MAX) {
        e = errinfo_set(r->err, ERR_LIMIT, r->name, 0, "%s has more than %d bytes",
                        path, CONTENTS_TEXT_MAX);
    }
    return e == ERR_OK ? read_entry(r, path, size, to_text, ret, sha256) : e;
}

static enum err to_taker(struct reading *r, void *context, struct slice bytes)
{
    (void)context;
    r->done += bytes.n;
    return r->taker->bytes != NULL ? r->taker->bytes(r->taker->context, bytes, r->err)
                                   : ERR_OK;
}

static enum err read_archived(struct reading *r, struct contents_file *f)
{
    const struct bundle_taker *t = r->taker;
    uint64_t size = 0;

    if (t->progress != NULL) {
        t->progress(t->context, f->path,
                    r->c->bytes > 0 ? (double)r->done / (double)r->c->bytes : 1);
    }
    enum err e = next_is(r, f->path, &size);
    if (e == ERR_OK && size != f->size) {
        e = errinfo_set(r->err, ERR_CORRUPT, r->name, 0,
                        "%s has another size than the table of contents says", f->path);
    }
    if (e == ERR_OK && t->open != NULL) {
        e = t->open(t->context, f, r->err);
    }
    if (e == ERR_OK) {
        e = read_entry(r, f->path, size, to_taker, NULL, f->sha256);
        if (e == ERR_OK && t->close != NULL) {
            e = t->close(t->context, r->err);
        }
    }
    return e;
}

static enum err expect_end(const struct reading *r)
{
    struct archive_entry *entry = NULL;
    const int got = archive_read_next_header(r->a, &entry);

    if (got == ARCHIVE_EOF) {
        return ERR_OK;
    }
    return got == ARCHIVE_OK ? errinfo_set(r->err, ERR_CORRUPT, r->name, 0,
                                           "there is more than its table of contents "
                                           "says")
                             : archive_damaged(r, "its end");
}

/* Puts the name of the archive before an error in its table of contents or its checksums. */
static enum err of_archive(const struct reading *r, enum err e)
{
    char why[ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX];

    if (e == ERR_OK || r->err == NULL) {
        return e;
    }
    return errinfo_set(r->err, e, r->name, 0, "%s",
                       errinfo_format(r->err, why, sizeof(why)));
}

static enum err read_archive(struct reading *r)
{
    const struct bundle_taker *t = r->taker;
    char sha256[SHA256_HEX + 1] = "";
    char unused[SHA256_HEX + 1] = "";
    struct buf text;

    buf_init(&text, CONTENTS_TEXT_MAX);
    enum err e = read_text_entry(r, CONTENTS_NAME, &text, sha256);
    THEN(e, of_archive(r, contents_parse(buf_slice(&text), r->c, r->err)));
    if (e == ERR_OK && t->begin != NULL) {
        e = t->begin(t->context, r->c, r->err);
    }
    for (size_t i = 0; e == ERR_OK && i < r->c->n; i++) {
        e = read_archived(r, &r->c->v[i]);
    }
    buf_clear(&text);
    THEN(e, read_text_entry(r, CONTENTS_SUMS, &text, unused));
    THEN(e, expect_end(r));
    THEN(e, of_archive(r, contents_check_sums(r->c, sha256, buf_slice(&text), r->err)));
    buf_fini(&text);
    return e;
}

enum err bundle_read(int fd, const char *name, const struct bundle_taker *taker,
                     struct contents *ret, struct errinfo *reterr)
{
    struct reading r = {.a = archive_read_new(),
                        .name = name,
                        .taker = taker,
                        .c = ret,
                        .bytes = malloc(READ_BYTES),
                        .err = reterr};
    enum err e = ERR_OK;

    if (r.a == NULL || r.bytes == NULL) {
        e = errinfo_set(reterr, ERR_NOMEM, name, 0, "no memory to read it");
    } else if (archive_read_support_filter_zstd(r.a) != ARCHIVE_OK ||
               archive_read_support_format_tar(r.a) != ARCHIVE_OK ||
               archive_read_open_fd(r.a, fd, READ_BYTES) != ARCHIVE_OK) {
        e = archive_damaged(&r, "its begin");
    } else {
        e = read_archive(&r);
    }
    (void)archive_read_free(r.a);
    free(r.bytes);
    return e;
}
