/*
 * unpack_archive - the entries of an archive become records.
 *
 * The first pass gives out what anybody can read, in the archive's order, and all other names. Then
 * each password has a pass over the entries that are still encrypted. Such an entry is held until
 * its sum is right: a wrong password passes the check of a zip's head once in 256 times.
 */
#include <locale.h>

#include "core/reader/unpack/unpack_internal.h"

struct unpack {
    const struct reader_job *job;
    struct found *found;
    uint8_t *opened; /* a bit for each entry by its number */
    uint32_t nentries;
    uint32_t nencrypted; /* of them */
    uint32_t nopened;    /* of these: by a password */
    uint64_t ntried;     /* bytes of encrypted entries that were read */
    bool may_try;        /* the library knows how this format encrypts */
    bool is_over;        /* enough is found */
};

enum entry_result { ENTRY_NEXT, ENTRY_LAST };

void unpack_warm(void)
{
    static locale_t utf8;

    if (utf8 == 0) {
        utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", 0);
    }
    if (utf8 != 0) {
        (void)uselocale(utf8);
    }
}

static bool is_opened(const struct unpack *u, uint32_t i)
{
    return (u->opened[i / 8] & (1U << (i % 8))) != 0;
}

static bool give_bytes(void *context, struct slice bytes)
{
    struct unpack *u = context;
    return found_file_data(u->found, bytes);
}

static enum entry_result after(struct unpack *u, enum unpack_read how)
{
    if (how == UNPACK_PART || how == UNPACK_LOST) {
        (void)found_fact(u->found, RECORD_DAMAGED);
    }
    u->is_over = u->is_over || how == UNPACK_STOP;
    return how == UNPACK_WHOLE || how == UNPACK_PART ? ENTRY_NEXT : ENTRY_LAST;
}

static enum entry_result give_plain_file(struct unpack *u, struct unpack_source *s,
                                         struct slice name)
{
    enum unpack_read how = UNPACK_STOP;

    if (found_file_begin(u->found, name, SLICE_NONE)) {
        how = unpack_bytes(s, give_bytes, u);
        if (!found_file_end(u->found, how == UNPACK_WHOLE)) {
            how = UNPACK_STOP;
        }
    }
    if (s->is_over) {
        how = UNPACK_STOP;
    }
    return after(u, how);
}

/* An encrypted entry that is read with a password before anything of it is given out. */
struct held {
    struct unpack *unpack;
    struct buf bytes;
};

static bool hold_bytes(void *context, struct slice bytes)
{
    struct held *h = context;

    h->unpack->ntried += bytes.n;
    buf_add(&h->bytes, bytes);
    if (buf_failed(&h->bytes)) {
        (void)found_fact(h->unpack->found, RECORD_BYTES);
    }
    return !buf_failed(&h->bytes) &&
           h->unpack->ntried / UNPACK_TRIED_FACTOR <= h->unpack->job->limits.bytes;
}

static bool give_held(struct unpack *u, struct slice name, struct slice bytes)
{
    /* a file of no bytes has the right sum with any password */
    return (bytes.n == 0 || found_fact(u->found, RECORD_OPENED)) &&
           found_file_begin(u->found, name, SLICE_NONE) &&
           found_file_data(u->found, bytes) && found_file_end(u->found, true);
}

/* Reads the current entry with the source's password. Returns whether it was the right one. */
static bool open_entry(struct unpack *u, struct unpack_source *s, struct slice name)
{
    struct held h = {.unpack = u};

    buf_init(&h.bytes, (size_t)found_room(u->found));
    const bool is_right = unpack_bytes(s, hold_bytes, &h) == UNPACK_WHOLE;
    if (is_right) {
        u->is_over = !give_held(u, name, buf_slice(&h.bytes));
    }
    buf_fini(&h.bytes);
    return is_right;
}

static void try_password(struct unpack *u, struct slice password)
{
    struct unpack_source s;
    struct archive_entry *entry;
    char text[FOUND_NAME_MAX];
    unsigned nmisses = 0;

    if (unpack_open(&s, u->job, u->found, UNPACK_ARCHIVE, password) == UNPACK_OPEN) {
        for (uint32_t i = 0; i < u->nentries && nmisses < UNPACK_MISSES && !u->is_over;
             i++) {
            const int status = archive_read_next_header(s.formats, &entry);
            if (status == ARCHIVE_EOF || status < ARCHIVE_WARN) {
                break;
            }
            if (is_opened(u, i) || unpack_kind(&s, entry) != UNPACK_ENCRYPTED) {
                continue;
            }
            if (open_entry(u, &s, unpack_name(&s, entry, text))) {
                u->opened[i / 8] |= (uint8_t)(1U << (i % 8));
                u->nopened++;
            } else {
                nmisses++;
            }
        }
    }
    unpack_close(&s);
}

static void try_passwords(struct unpack *u)
{
    const struct reader_job *job = u->job;

    u->opened = calloc(u->nentries / 8 + 1, 1);
    for (size_t i = 0;
         u->opened != NULL && i < job->npasswords && u->nopened < u->nencrypted &&
         !u->is_over && u->ntried / UNPACK_TRIED_FACTOR <= job->limits.bytes;
         i++) {
        if (job->password[i].n > 0) {
            try_password(u, job->password[i]);
        }
    }
    free(u->opened);
}

/* Notes why nothing more can be read. Returns false if the file is no archive: for the library, two
 * bytes are the mark of a cpio. */
static bool give_up(struct unpack *u, const struct unpack_source *s)
{
    const int format = archive_format(s->formats) & ARCHIVE_FORMAT_BASE_MASK;

    if (s->is_over) {
        return true;
    }
    if (format == ARCHIVE_FORMAT_CPIO && (u->nentries == 0 || s->stream != NULL)) {
        return false;
    }
    const bool is_sealed =
        archive_read_has_encrypted_entries(s->formats) > 0 ||
        (s->stream == NULL && unpack_rar5_is_encrypted(u->job->bytes, 0));
    (void)found_fact(u->found, is_sealed ? RECORD_ENCRYPTED : RECORD_DAMAGED);
    return true;
}

static enum entry_result give_entry(struct unpack *u, struct unpack_source *s,
                                    struct archive_entry *entry)
{
    char text[FOUND_NAME_MAX];
    const struct slice name = unpack_name(s, entry, text);
    const enum unpack_kind kind = unpack_kind(s, entry);

    u->nentries++;
    if (kind == UNPACK_FILE) {
        return give_plain_file(u, s, name);
    }
    u->nencrypted += kind == UNPACK_ENCRYPTED;
    u->is_over = !found_name(u->found, name);
    return u->is_over ? ENTRY_LAST : ENTRY_NEXT;
}

/* Gives out all that needs no password. False: the file is no archive. */
static bool give_plain(struct unpack *u, struct unpack_source *s)
{
    struct archive_entry *entry;
    enum entry_result result = ENTRY_NEXT;

    while (result == ENTRY_NEXT) {
        const int status = archive_read_next_header(s->formats, &entry);
        if (status == ARCHIVE_EOF) {
            /* the library takes a block of zeros for the end of a tar */
            return u->nentries > 0 || (archive_format(s->formats) &
                                       ARCHIVE_FORMAT_BASE_MASK) != ARCHIVE_FORMAT_TAR;
        }
        if (status < ARCHIVE_WARN) {
            return give_up(u, s);
        }
        result = give_entry(u, s, entry);
    }
    return true;
}

/* A compressed file of no bytes. */
static void give_empty(struct unpack *u, const struct unpack_source *s)
{
    char text[FOUND_NAME_MAX];

    (void)(found_file_begin(u->found, unpack_lone_name(s, text), SLICE_NONE) &&
           found_file_end(u->found, true));
}

enum pass { PASS_DONE, PASS_STRANGE, PASS_STRANGE_STREAM };

static enum pass plain_pass(struct unpack *u, enum unpack_as as)
{
    struct unpack_source s;
    enum pass result = PASS_DONE;

    switch (unpack_open(&s, u->job, u->found, as, SLICE_NONE)) {
    case UNPACK_OPEN:
        if (s.stream != NULL && unpack_stream_is_empty(s.stream)) {
            give_empty(u, &s);
        } else if (!give_plain(u, &s)) {
            result = s.stream != NULL ? PASS_STRANGE_STREAM : PASS_STRANGE;
        }
        u->may_try = (archive_format(s.formats) & ARCHIVE_FORMAT_BASE_MASK) ==
                     ARCHIVE_FORMAT_ZIP;
        break;
    case UNPACK_STRANGE:
        result = PASS_STRANGE;
        break;
    case UNPACK_BROKEN:
        if (!s.is_over) {
            (void)found_fact(u->found, RECORD_DAMAGED);
        }
        break;
    }
    unpack_close(&s);
    return result;
}

void unpack_read(const struct reader_job *job, struct found *f)
{
    struct unpack u = {.job = job, .found = f};

    unpack_warm();
    switch (plain_pass(&u, UNPACK_ARCHIVE)) {
    case PASS_DONE:
        break;
    case PASS_STRANGE:
        (void)found_fact(f, RECORD_UNKNOWN);
        break;
    case PASS_STRANGE_STREAM: /* it is compressed, but no archive */
        (void)plain_pass(&u, UNPACK_LONE);
        break;
    }
    if (u.may_try && u.nencrypted > 0 && !u.is_over) {
        try_passwords(&u);
    }
    if (u.nencrypted > u.nopened) {
        (void)found_fact(f, RECORD_ENCRYPTED);
    }
}
