#include "core/message/archive/zip.h"

#include "core/base/cursor.h"
#include "core/message/archive/inflate.h"

enum {
    LOCAL_BYTES = 30,
    CENTRAL_BYTES = 46,
    END_BYTES = 22,
    END_COMMENT_MAX = 65535,
    FLAG_ENCRYPTED = 1 << 0,
    FLAG_SIZES_LATER = 1 << 3, /* in a descriptor behind the data */
    FLAG_UTF8 = 1 << 11,
    METHOD_STORED = 0,
    METHOD_DEFLATED = 8,
    EXTRA_UNICODE_PATH = 0x7075,
    EXTRA_LOOKED_AT = 4096,
    UNICODE_PATH_HEAD = 5 /* version and a checksum of the other name */
};

/* Fields of a header of either kind. */
struct header {
    size_t at; /* of the local header in the file */
    unsigned flags;
    unsigned method;
    uint64_t size; /* compressed */
    struct slice name;
    struct slice extra;
    size_t end; /* of the header; a local one's data begins there */
};

struct zip {
    struct slice file;
    struct archive_budget *budget;
    const struct archive_events *events;
    void *context;
    struct header *central; /* by where their local header is */
    size_t ncentral;
    size_t *visited; /* local headers, in order */
    size_t nvisited;
};

static bool read_local(struct slice file, size_t at, struct header *ret)
{
    struct cursor c = cursor_of(slice_from(file, at));
    (void)cursor_bytes(&c, 6); /* signature and version */
    ret->at = at;
    ret->flags = cursor_u16(&c);
    ret->method = cursor_u16(&c);
    (void)cursor_bytes(&c, 8); /* time and checksum */
    ret->size = cursor_u32(&c);
    (void)cursor_u32(&c);
    size_t name = cursor_u16(&c);
    size_t extra = cursor_u16(&c);
    ret->name = cursor_bytes(&c, name);
    ret->extra = cursor_bytes(&c, extra);
    ret->end = at + LOCAL_BYTES + name + extra;
    return cursor_ok(&c);
}

static bool read_central(struct slice file, size_t at, size_t base, struct header *ret)
{
    struct cursor c = cursor_of(slice_from(file, at));
    (void)cursor_bytes(&c, 8); /* signature and versions */
    ret->flags = cursor_u16(&c);
    ret->method = cursor_u16(&c);
    (void)cursor_bytes(&c, 8);
    ret->size = cursor_u32(&c);
    (void)cursor_u32(&c);
    size_t name = cursor_u16(&c);
    size_t extra = cursor_u16(&c);
    size_t comment = cursor_u16(&c);
    (void)cursor_bytes(&c, 8); /* disk and attributes */
    ret->at = base + cursor_u32(&c);
    ret->name = cursor_bytes(&c, name);
    ret->extra = cursor_bytes(&c, extra);
    ret->end = at + CENTRAL_BYTES + name + extra + comment;
    return cursor_ok(&c);
}

static size_t find_signature(struct slice file, size_t from, struct slice signature)
{
    return from + slice_find_slice(slice_from(file, from), signature);
}

/* Bytes in front of the zip file (a program that unpacks it). Offsets begin behind them. */
static size_t base_of(struct slice file)
{
    size_t lowest =
        file.n > END_BYTES + END_COMMENT_MAX ? file.n - END_BYTES - END_COMMENT_MAX : 0;
    for (size_t at = file.n; at-- > lowest;) {
        if (file.p[at] != 'P' ||
            !slice_has_prefix(slice_from(file, at), SLICE_LIT("PK\5\6"))) {
            continue;
        }
        struct cursor c = cursor_of(slice_from(file, at));
        (void)cursor_bytes(&c, 12);
        uint64_t size = cursor_u32(&c);
        uint64_t offset = cursor_u32(&c);
        return cursor_ok(&c) && size + offset <= at ? at - (size_t)(size + offset) : 0;
    }
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const struct header *x = a;
    const struct header *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* Every record of a central directory in the file, wherever it stands. */
static bool read_directory(struct zip *z)
{
    size_t max = z->budget->entries;
    z->central = calloc(max + 1, sizeof(*z->central));
    z->visited = calloc(max + 1, sizeof(*z->visited));
    if (z->central == NULL || z->visited == NULL) {
        return false;
    }
    size_t base = base_of(z->file);
    size_t at = 0;
    while ((at = find_signature(z->file, at, SLICE_LIT("PK\1\2"))) < z->file.n) {
        struct header *h = &z->central[z->ncentral];
        if (!read_central(z->file, at, base, h)) {
            at += 4;
            continue;
        }
        at = h->end < z->file.n ? h->end : z->file.n;
        if (z->ncentral == max) {
            z->budget->limits_met |= ARCHIVE_LIMIT_ENTRIES;
            break;
        }
        z->ncentral++;
    }
    if (z->ncentral > 0) {
        qsort(z->central, z->ncentral, sizeof(*z->central), by_place);
    }
    return true;
}

/* The field of a header's extra data in which its name stands in UTF-8. */
static struct slice unicode_path(struct slice extra)
{
    struct cursor c = cursor_of(slice_head(extra, EXTRA_LOOKED_AT));
    while (cursor_ok(&c) && c.rest.n > 0) {
        unsigned id = cursor_u16(&c);
        struct slice value = cursor_bytes(&c, cursor_u16(&c));
        if (cursor_ok(&c) && id == EXTRA_UNICODE_PATH) {
            return slice_from(value, UNICODE_PATH_HEAD);
        }
    }
    return SLICE_NONE;
}

static struct slice charset_of(const struct header *h)
{
    return (h->flags & FLAG_UTF8) != 0 ? SLICE_NONE : SLICE_LIT("cp437");
}

static void tell_names(const struct zip *z, const struct header *h)
{
    struct slice path = unicode_path(h->extra);
    z->events->name(z->context, slice_head(h->name, ARCHIVE_NAME_MAX), charset_of(h));
    if (path.n > 0) {
        z->events->name(z->context, slice_head(path, ARCHIVE_NAME_MAX), SLICE_NONE);
    }
}

static const struct header *central_of(const struct zip *z, size_t at)
{
    struct header key = {.at = at};
    return z->ncentral == 0
               ? NULL
               : bsearch(&key, z->central, z->ncentral, sizeof(*z->central), by_place);
}

/* Stored data goes in pieces through the same budget as inflated data: overlapping entries may
 * name the same bytes again and again. */
static size_t give_stored(struct zip *z, struct slice bytes, uint64_t size)
{
    bool whole = size <= bytes.n;
    bytes = slice_head(bytes, whole ? (size_t)size : bytes.n);
    if (bytes.n > z->budget->inflated) {
        z->budget->limits_met |= ARCHIVE_LIMIT_INFLATED;
        whole = false;
    } else {
        z->budget->inflated -= bytes.n;
        whole = (bytes.n == 0 || z->events->data(z->context, bytes)) && whole;
    }
    z->events->end(z->context, whole);
    return bytes.n;
}

/* Tells one entry; returns where its data ends, as far as that is known. */
static size_t read_entry(struct zip *z, const struct header *h)
{
    const struct header *central = central_of(z, h->at);
    uint64_t size = h->size;
    if ((h->flags & FLAG_SIZES_LATER) != 0 && central != NULL) {
        size = central->size;
    }
    struct slice rest = slice_from(z->file, h->end);
    size_t skip = size < rest.n ? (size_t)size : 0;
    struct archive_file file = {.name = slice_head(h->name, ARCHIVE_NAME_MAX),
                                .charset = charset_of(h),
                                .is_encrypted = (h->flags & FLAG_ENCRYPTED) != 0};
    tell_names(z, h);
    if (file.is_encrypted ||
        (h->method != METHOD_STORED && h->method != METHOD_DEFLATED)) {
        if (file.is_encrypted) {
            (void)z->events->begin(z->context, &file);
        }
        return h->end + skip;
    }
    if (!z->events->begin(z->context, &file)) {
        return h->end + skip;
    }
    if (h->method == METHOD_STORED) {
        return h->end + give_stored(z, rest, size);
    }
    bool whole = false;
    size_t used = inflate_stream(z->budget, rest, INFLATE_RAW, z->events->data,
                                 z->context, &whole);
    z->events->end(z->context, whole);
    return h->end + (whole ? used : skip);
}

static void visit(struct zip *z, size_t at, size_t *retend)
{
    struct header h;
    if (!read_local(z->file, at, &h)) {
        return;
    }
    if (!archive_budget_entry(z->budget)) {
        *retend = z->file.n;
        return;
    }
    *retend = read_entry(z, &h);
}

static int by_size(const void *a, const void *b)
{
    const size_t *x = a;
    const size_t *y = b;
    return (*x > *y) - (*x < *y);
}

/* Local headers one after the other, as those read that do not look at the directory. */
static void walk_locals(struct zip *z, size_t max)
{
    size_t at = 0;
    while ((at = find_signature(z->file, at, SLICE_LIT("PK\3\4"))) < z->file.n) {
        size_t end = at + 4;
        if (z->nvisited < max) {
            z->visited[z->nvisited++] = at;
        }
        visit(z, at, &end);
        at = end > at + 4 ? end : at + 4;
    }
}

/* Entries that only the directory points at, and names that only it has. */
static void walk_directory(struct zip *z)
{
    for (size_t i = 0; i < z->ncentral; i++) {
        const struct header *h = &z->central[i];
        tell_names(z, h);
        size_t end = 0;
        bool is_new = z->nvisited == 0 || bsearch(&h->at, z->visited, z->nvisited,
                                                  sizeof(*z->visited), by_size) == NULL;
        if ((i > 0 && h->at == h[-1].at) || !is_new) {
            continue;
        }
        if (slice_has_prefix(slice_from(z->file, h->at), SLICE_LIT("PK\3\4"))) {
            visit(z, h->at, &end);
        }
    }
}

void zip_read(struct slice file, struct archive_budget *budget,
              const struct archive_events *events, void *context)
{
    struct zip z = {
        .file = file, .budget = budget, .events = events, .context = context};
    size_t max = budget->entries;
    if (read_directory(&z)) {
        walk_locals(&z, max);
        walk_directory(&z);
    }
    free(z.central);
    free(z.visited);
}
