/*
 * build - files for the tests of archives, and the events of a reader as text.
 *
 *   N NAME [charset]                     a name
 *   + NAME [type=T] [encrypted]          a file begins
 *   = DATA
 *   - whole | - broken
 */
#ifndef TESTS_UNIT_ARCHIVE_BUILD_H
#define TESTS_UNIT_ARCHIVE_BUILD_H

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "core/base/buf.h"
#include "core/message/archive/archive.h"

#define BUILD_UNUSED __attribute__((unused))

enum { BUILD_CAP = 64 << 20, BUILD_LATER = 8, BUILD_ENCRYPTED = 1, BUILD_UTF8 = 2048 };

/* A deflate stream; raw, or with zlib's head. */
static BUILD_UNUSED void build_deflate(struct buf *ret, struct slice data, bool raw)
{
    z_stream z = {0};
    size_t room = data.n + data.n / 100 + 100;
    char *out = malloc(room);
    (void)deflateInit2(&z, 9, Z_DEFLATED, raw ? -MAX_WBITS : MAX_WBITS, 9,
                       Z_DEFAULT_STRATEGY);
    z.next_in = (unsigned char *)(uintptr_t)data.p;
    z.avail_in = (uInt)data.n;
    z.next_out = (unsigned char *)out;
    z.avail_out = (uInt)room;
    (void)deflate(&z, Z_FINISH);
    buf_add(ret, slice_of(out, room - z.avail_out));
    (void)deflateEnd(&z);
    free(out);
}

struct build_zip {
    struct buf file;
    struct buf directory;
    unsigned n;
};

struct build_entry {
    const char *name;
    const char *central; /* name in the directory; NULL: the same; "": not there */
    struct slice data;
    unsigned method; /* 0, 8; others are stored */
    unsigned flags;
    const char *path; /* Unicode path field */
    unsigned lie;     /* added to the size */
};

static BUILD_UNUSED void build_zip_begin(struct build_zip *z)
{
    memset(z, 0, sizeof(*z));
    buf_init(&z->file, BUILD_CAP);
    buf_init(&z->directory, BUILD_CAP);
}

static BUILD_UNUSED void build_zip_central(struct build_zip *z, const char *name,
                                           const struct build_entry *e, size_t at,
                                           size_t size)
{
    struct buf *d = &z->directory;
    buf_add(d, SLICE_LIT("PK\1\2\x14\0\x14\0"));
    buf_add_u16(d, (uint16_t)e->flags);
    buf_add_u16(d, (uint16_t)e->method);
    buf_add(d, SLICE_LIT("\0\0\0\0\0\0\0\0"));
    buf_add_u32(d, (uint32_t)size);
    buf_add_u32(d, (uint32_t)e->data.n);
    buf_add_u16(d, (uint16_t)strlen(name));
    buf_add(d, SLICE_LIT("\0\0\0\0\0\0\0\0\0\0\0\0"));
    buf_add_u32(d, (uint32_t)at);
    buf_add_str(d, name);
    z->n++;
}

static BUILD_UNUSED void build_zip_add(struct build_zip *z, const struct build_entry *e)
{
    struct buf packed;
    size_t at = z->file.n;
    bool later = (e->flags & BUILD_LATER) != 0;
    buf_init(&packed, BUILD_CAP);
    if (e->method == 8) {
        build_deflate(&packed, e->data, true);
    } else {
        buf_add(&packed, e->data);
    }
    struct buf *f = &z->file;
    size_t path = e->path != NULL ? strlen(e->path) : 0;
    buf_add(f, SLICE_LIT("PK\3\4\x14\0"));
    buf_add_u16(f, (uint16_t)e->flags);
    buf_add_u16(f, (uint16_t)e->method);
    buf_add(f, SLICE_LIT("\0\0\0\0\0\0\0\0"));
    buf_add_u32(f, later ? 0 : (uint32_t)packed.n + e->lie);
    buf_add_u32(f, later ? 0 : (uint32_t)e->data.n);
    buf_add_u16(f, (uint16_t)strlen(e->name));
    buf_add_u16(f, (uint16_t)(path > 0 ? path + 9 : 0));
    buf_add_str(f, e->name);
    if (path > 0) {
        buf_add_u16(f, 0x7075);
        buf_add_u16(f, (uint16_t)(path + 5));
        buf_add(f, SLICE_LIT("\1\0\0\0\0"));
        buf_add_str(f, e->path);
    }
    buf_add(f, buf_slice(&packed));
    if (later) {
        buf_add(f, SLICE_LIT("PK\7\x08\0\0\0\0"));
        buf_add_u32(f, (uint32_t)packed.n);
        buf_add_u32(f, (uint32_t)e->data.n);
    }
    if (e->central == NULL || e->central[0] != '\0') {
        build_zip_central(z, e->central != NULL ? e->central : e->name, e, at,
                          packed.n);
    }
    buf_fini(&packed);
}

/* The whole file is in z->file then. */
static BUILD_UNUSED struct slice build_zip_end(struct build_zip *z)
{
    struct buf *f = &z->file;
    size_t at = f->n;
    buf_add(f, buf_slice(&z->directory));
    buf_add(f, SLICE_LIT("PK\5\6\0\0\0\0"));
    buf_add_u16(f, (uint16_t)z->n);
    buf_add_u16(f, (uint16_t)z->n);
    buf_add_u32(f, (uint32_t)z->directory.n);
    buf_add_u32(f, (uint32_t)at);
    buf_add_u16(f, 0);
    return buf_slice(f);
}

static BUILD_UNUSED void build_zip_fini(struct build_zip *z)
{
    buf_fini(&z->file);
    buf_fini(&z->directory);
}

/* An attribute of a winmail.dat; the first call begins the file. */
static BUILD_UNUSED void build_tnef(struct buf *f, unsigned level, unsigned id,
                                    struct slice data)
{
    if (f->n == 0) {
        buf_add_u32(f, 0x223e9f78);
        buf_add_u16(f, 1);
    }
    buf_add_u8(f, (uint8_t)level);
    buf_add_u32(f, id);
    buf_add_u32(f, (uint32_t)data.n);
    buf_add(f, data);
    buf_add_u16(f, 0);
}

/* A MAPI property with one value of a type without fixed size. */
static BUILD_UNUSED void build_property(struct buf *f, unsigned type, unsigned id,
                                        struct slice data)
{
    buf_add_u16(f, (uint16_t)type);
    buf_add_u16(f, (uint16_t)id);
    buf_add_u32(f, 1);
    buf_add_u32(f, (uint32_t)data.n);
    buf_add(f, data);
    buf_add(f, slice_of("\0\0\0", (4 - data.n % 4) % 4));
}

struct build_record {
    struct buf text;
    uint64_t bytes;    /* of data */
    bool quiet;        /* data is only counted */
    size_t stop_after; /* data is not wanted from then on; 0: no bound */
};

static void build_on_name(void *context, struct slice name, struct slice charset)
{
    struct build_record *r = context;
    buf_add_str(&r->text, "N ");
    buf_add(&r->text, name);
    if (charset.n > 0) {
        buf_add_str(&r->text, " ");
        buf_add(&r->text, charset);
    }
    buf_add_str(&r->text, "\n");
}

static bool build_on_begin(void *context, const struct archive_file *file)
{
    struct build_record *r = context;
    buf_add_str(&r->text, "+ ");
    buf_add(&r->text, file->name);
    if (file->type.n > 0) {
        buf_add_str(&r->text, " type=");
        buf_add(&r->text, file->type);
    }
    buf_add_str(&r->text, file->is_encrypted ? " encrypted\n" : "\n");
    if (!file->is_encrypted && !r->quiet) {
        buf_add_str(&r->text, "= ");
    }
    return !file->is_encrypted;
}

static bool build_on_data(void *context, struct slice bytes)
{
    struct build_record *r = context;
    r->bytes += bytes.n;
    if (!r->quiet) {
        buf_add(&r->text, bytes);
    }
    return r->stop_after == 0 || r->bytes < r->stop_after;
}

static void build_on_end(void *context, bool whole)
{
    struct build_record *r = context;
    buf_add_str(&r->text, r->quiet ? "" : "\n");
    buf_add_str(&r->text, whole ? "- whole\n" : "- broken\n");
}

static const struct archive_events build_events BUILD_UNUSED = {
    build_on_name, build_on_begin, build_on_data, build_on_end};

static BUILD_UNUSED void build_record_init(struct build_record *r)
{
    memset(r, 0, sizeof(*r));
    buf_init(&r->text, BUILD_CAP);
}

static BUILD_UNUSED const char *build_text(const struct build_record *r)
{
    return r->text.p != NULL ? r->text.p : "";
}

#endif
