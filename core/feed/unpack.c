/* unpack - one layer of compression undone with libarchive. */
#include "core/feed/unpack.h"

#include <archive.h>
#include <archive_entry.h>

#include "core/base/file.h"

enum { CHUNK = 128 * 1024, MAGIC_BYTES = 6 };

struct packing {
    const char *magic;
    size_t n;
    int filter; /* ARCHIVE_FILTER_NONE: a zip */
};

struct copy {
    const char *name;
    int to;
    uint64_t left;
    char *chunk;
    struct errinfo *reterr;
};

static const struct packing *packing_of(int fd)
{
    static const struct packing all[] = {
        {"\x1f\x8b", 2, ARCHIVE_FILTER_GZIP},
        {"\xfd\x37zXZ", 6, ARCHIVE_FILTER_XZ}, /* and a NUL */
        {"\x28\xb5\x2f\xfd", 4, ARCHIVE_FILTER_ZSTD},
        {"BZh", 3, ARCHIVE_FILTER_BZIP2},
        {"PK\x03\x04", 4, ARCHIVE_FILTER_NONE},
        {"PK\x05\x06", 4, ARCHIVE_FILTER_NONE}, /* without a member */
    };
    char first[MAGIC_BYTES];
    ssize_t n = pread(fd, first, sizeof(first), 0);

    for (size_t i = 0; n > 0 && i < LENGTH(all); i++) {
        if ((size_t)n >= all[i].n && memcmp(first, all[i].magic, all[i].n) == 0) {
            return &all[i];
        }
    }
    return NULL;
}

static enum err put_unpacked(struct copy *c, const char *p, size_t n)
{
    if (n > c->left) {
        return errinfo_set(c->reterr, ERR_LIMIT, c->name, 0,
                           "it holds more than it may; if that is right, raise "
                           "`decompressed_bytes` of the feed");
    }
    c->left -= n;
    return file_write_all(c->to, slice_of(p, n))
               ? ERR_OK
               : errinfo_errno(c->reterr, c->name, "cannot write its contents");
}

static enum err copy_plain(struct copy *c, int from)
{
    enum err e = ERR_OK;
    size_t n = CHUNK;
    for (uint64_t at = 0; e == ERR_OK && n == CHUNK; at += n) {
        n = file_read_at(from, at, c->chunk, CHUNK);
        if (n < CHUNK && errno != 0) {
            return errinfo_errno(c->reterr, c->name, "cannot be read");
        }
        e = put_unpacked(c, c->chunk, n);
    }
    return e;
}

static enum err unpack_damaged(const struct copy *c, struct archive *a)
{
    const char *why = archive_error_string(a);

    return errinfo_set(c->reterr, ERR_CORRUPT, c->name, 0,
                       "the compressed data cannot be read: %s",
                       why != NULL ? why : "they are damaged");
}

/* The next member that is no folder. */
static int next_file(struct archive *a, struct archive_entry **ret)
{
    int rc = ARCHIVE_OK;

    do {
        rc = archive_read_next_header(a, ret);
    } while (rc == ARCHIVE_OK && archive_entry_filetype(*ret) == AE_IFDIR);
    return rc;
}

static enum err copy_member(struct copy *c, struct archive *a)
{
    struct archive_entry *entry = NULL;
    int rc = next_file(a, &entry);

    if (rc == ARCHIVE_EOF) {
        return errinfo_set(c->reterr, ERR_CORRUPT, c->name, 0,
                           "the archive holds no file");
    }
    if (rc != ARCHIVE_OK) {
        return unpack_damaged(c, a);
    }
    if (archive_entry_is_encrypted(entry)) {
        return errinfo_set(c->reterr, ERR_UNSUPPORTED, c->name, 0,
                           "the archive is encrypted");
    }
    for (;;) {
        la_ssize_t n = archive_read_data(a, c->chunk, CHUNK);

        if (n < 0) {
            return unpack_damaged(c, a);
        }
        if (n == 0) {
            break;
        }
        enum err e = put_unpacked(c, c->chunk, (size_t)n);
        if (e != ERR_OK) {
            return e;
        }
    }
    if (archive_filter_bytes(a, -1) == 0) {
        return unpack_damaged(c, a); /* libarchive takes a broken header for the end */
    }
    rc = next_file(a, &entry);
    if (rc == ARCHIVE_OK) {
        return errinfo_set(c->reterr, ERR_CORRUPT, c->name, 0,
                           "the archive holds more than one file");
    }
    return rc == ARCHIVE_EOF ? ERR_OK : unpack_damaged(c, a);
}

static enum err copy_packed(struct copy *c, int from, const struct packing *p)
{
    struct archive *a = archive_read_new();
    enum err e = ERR_OK;
    bool ok = a != NULL && lseek(from, 0, SEEK_SET) == 0;

    if (ok && p->filter == ARCHIVE_FILTER_NONE) {
        ok = archive_read_support_format_zip_seekable(a) == ARCHIVE_OK;
    } else if (ok) {
        ok = archive_read_set_format(a, ARCHIVE_FORMAT_RAW) == ARCHIVE_OK &&
             archive_read_append_filter(a, p->filter) == ARCHIVE_OK;
    }
    if (ok && archive_read_open_fd(a, from, CHUNK) == ARCHIVE_OK) {
        e = copy_member(c, a);
    } else {
        e = a != NULL ? unpack_damaged(c, a) : errinfo_nomem(c->reterr, c->name);
    }
    (void)archive_read_free(a);
    return e;
}

enum err feed_unpack(int from, const char *name, int to, uint64_t *io_left,
                     struct errinfo *reterr)
{
    struct copy c = {name, to, *io_left, malloc(CHUNK), reterr};
    const struct packing *p = packing_of(from);
    enum err e = ERR_OK;

    if (c.chunk == NULL) {
        return errinfo_nomem(reterr, name);
    }
    e = p == NULL ? copy_plain(&c, from) : copy_packed(&c, from, p);
    *io_left = c.left;
    free(c.chunk);
    return e;
}
