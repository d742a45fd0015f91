/*
 * contacts_file - logs of the store, and opening what was folded.
 *
 * A log is records of 16 bytes, little-endian: key u64, value u32, checksum u32 of these 12 bytes.
 * The first one is the header: magic, version. A record that the file ends within is not there; a
 * damaged one is left out.
 */
#include <sys/file.h>

#include "core/base/array.h"
#include "core/base/checksum.h"
#include "core/base/dir_walk.h"
#include "core/base/le.h"
#include "core/verdict/identity/contacts_internal.h"

enum {
    VERSION = 1,
    SUMMED = 12, /* bytes before the checksum */
    BATCH_MAX = 256,
    LOG_MODE = 0640,
    TRIES = 16,
    READ_RECORDS = 4096,
    DECIMAL = 10,
    YOUNG_S = 60
};
static const uint64_t log_magic = 0x31306361746e6f63; /* "contac01" */
static const double filter_error = 0.001;

/* ---- names ---- */

enum err contacts_path(char dst[FILE_PATH_MAX], const char *dir, const char *prefix,
                       uint64_t number, struct errinfo *reterr)
{
    return path_make(dst, reterr, "%s/%s.%" PRIu64, dir, prefix, number);
}

/* The number behind "PREFIX."; 0: another name. */
static uint64_t file_number(const char *name, const char *prefix)
{
    size_t n = strlen(prefix);
    uint64_t number = 0;

    if (strncmp(name, prefix, n) != 0 || name[n] != '.' ||
        !slice_to_u64(slice_str(name + n + 1), DECIMAL, UINT64_MAX - 1, &number)) {
        return 0;
    }
    return number;
}

enum err contacts_files(const char *dir, const char *prefix,
                        uint64_t ret[CONTACTS_FILES], size_t *retn,
                        struct errinfo *reterr)
{
    struct dir_walk w = dir_walk_begin(dir, DIR_OPTIONAL);
    enum err e = ERR_OK;

    *retn = 0;
    while (e == ERR_OK && dir_walk_next(&w)) {
        uint64_t number = file_number(w.name, prefix);
        if (number == 0) {
            continue;
        }
        if (*retn == CONTACTS_FILES) {
            e = errinfo_set(reterr, ERR_LIMIT, dir, 0,
                            "more than %d files %s.N: gillnetd folds them while it "
                            "runs; see its log for why it does not",
                            CONTACTS_FILES, prefix);
        } else {
            ret[(*retn)++] = number;
        }
    }
    e = dir_walk_end(&w, e, reterr);
    qsort(ret, *retn, sizeof(ret[0]), array_u64_cmp);
    return e;
}

/* ---- logs ---- */

static void put_record(uint8_t dst[CONTACT_RECORD], uint64_t key, uint32_t value)
{
    le_put(dst, key, sizeof(key));
    le_put(dst + sizeof(key), value, sizeof(value));
    le_put(dst + SUMMED, checksum32(slice_of(dst, SUMMED)), sizeof(uint32_t));
}

static bool get_record(const uint8_t *p, struct contact_entry *ret)
{
    *ret = (struct contact_entry){
        le_get(p, sizeof(ret->key)),
        (uint32_t)le_get(p + sizeof(ret->key), sizeof(ret->value))};
    return le_get(p + SUMMED, sizeof(uint32_t)) == checksum32(slice_of(p, SUMMED));
}

static enum err begin_log(const char *path, int fd, struct errinfo *reterr)
{
    uint8_t header[CONTACT_RECORD];

    put_record(header, log_magic, VERSION);
    if (flock(fd, LOCK_EX) != 0) {
        return errinfo_errno(reterr, path, "cannot lock the log of correspondents");
    }
    return file_write_all(fd, slice_of(header, sizeof(header)))
               ? ERR_OK
               : errinfo_errno(reterr, path, "cannot write the log of correspondents");
}

enum err contacts_log_make(const char *dir, int *retfd, uint64_t *retnumber,
                           struct errinfo *reterr)
{
    uint64_t number[CONTACTS_FILES];
    char path[FILE_PATH_MAX];
    size_t n = 0;
    enum err e = contacts_files(dir, "log", number, &n, reterr);
    uint64_t next = n > 0 ? number[n - 1] + 1 : 1;

    *retfd = -1;
    for (unsigned i = 0; e == ERR_OK && *retfd < 0 && i < TRIES; i++, next++) {
        THEN(e, contacts_path(path, dir, "log", next, reterr));
        *retfd = e == ERR_OK ? open(path,
                                    O_WRONLY | O_APPEND | O_CREAT | O_EXCL |
                                        O_NOFOLLOW | O_CLOEXEC | O_NOCTTY,
                                    LOG_MODE)
                             : -1;
        if (e == ERR_OK && *retfd < 0 && errno != EEXIST) {
            e = errinfo_errno(reterr, path, "cannot make the log of correspondents");
        }
        *retnumber = next;
    }
    if (e == ERR_OK && *retfd < 0) {
        e = errinfo_set(reterr, ERR_EXISTS, dir, 0, "cannot find a number for a log");
    }
    THEN(e, begin_log(path, *retfd, reterr));
    if (e != ERR_OK && *retfd >= 0) {
        (void)unlink(path);
        fd_close(retfd);
    }
    return e;
}

bool contacts_log_append(int fd, uint64_t size, const struct contact_entry *v, size_t n)
{
    uint8_t bytes[BATCH_MAX * CONTACT_RECORD];

    for (size_t i = 0; i < n && i < BATCH_MAX; i++) {
        put_record(bytes + i * CONTACT_RECORD, v[i].key, v[i].value);
    }
    if (n <= BATCH_MAX && file_write_all(fd, slice_of(bytes, n * CONTACT_RECORD))) {
        return true;
    }
    (void)!ftruncate(fd, (off_t)size);
    return false;
}

/* Its process may be about to lock it and to write its header. */
static bool is_young(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && time(NULL) - st.st_mtime < YOUNG_S;
}

static enum err read_header(int fd, const char *path, struct errinfo *reterr)
{
    uint8_t bytes[CONTACT_RECORD];
    struct contact_entry header;

    if (file_read_at(fd, 0, bytes, sizeof(bytes)) < sizeof(bytes)) {
        return errno == 0 ? ERR_NOT_FOUND /* its process ended before it wrote any */
                          : errinfo_errno(reterr, path, "cannot be read");
    }
    if (!get_record(bytes, &header) || header.key != log_magic) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "this is no log of correspondents, or its begin is damaged; "
                           "move it away, and gillnetd goes on without it");
    }
    return header.value == VERSION
               ? ERR_OK
               : errinfo_set(reterr, ERR_VERSION, path, 0,
                             "another version of gillnet wrote it: use that version");
}

static enum err read_records(int fd, const char *path, contacts_entry_fn *fn,
                             void *context, struct errinfo *reterr)
{
    uint8_t *bytes = malloc((size_t)READ_RECORDS * CONTACT_RECORD);
    uint64_t at = CONTACT_RECORD;
    size_t n = 0;
    int failed = 0; /* errno of reading */
    bool goes_on = true;

    if (bytes == NULL) {
        return errinfo_nomem(reterr, path);
    }
    do {
        n = file_read_at(fd, at, bytes, (size_t)READ_RECORDS * CONTACT_RECORD);
        failed = n < (size_t)READ_RECORDS * CONTACT_RECORD ? errno : 0;
        at += n;
        for (size_t i = 0; goes_on && i + CONTACT_RECORD <= n; i += CONTACT_RECORD) {
            struct contact_entry entry;
            if (get_record(bytes + i, &entry) && entry.key != 0 && entry.value != 0) {
                goes_on = fn(context, &entry);
            }
        }
    } while (goes_on && n == (size_t)READ_RECORDS * CONTACT_RECORD);
    free(bytes);
    errno = failed;
    return failed != 0 ? errinfo_errno(reterr, path, "cannot be read") : ERR_OK;
}

enum err contacts_log_read(const char *dir, uint64_t number, contacts_entry_fn *fn,
                           void *context, bool *retlocked, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = contacts_path(path, dir, "log", number, reterr);
    int fd =
        e == ERR_OK ? open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY) : -1;

    if (e != ERR_OK || fd < 0) {
        return e != ERR_OK       ? e
               : errno == ENOENT ? ERR_NOT_FOUND
                                 : errinfo_errno(reterr, path, "cannot be read");
    }
    *retlocked = flock(fd, LOCK_SH | LOCK_NB) != 0;
    e = read_header(fd, path, reterr);
    if (e == ERR_OK) {
        e = read_records(fd, path, fn, context, reterr);
    } else if (e == ERR_NOT_FOUND) {
        *retlocked = *retlocked || is_young(fd);
        e = ERR_OK;
    }
    fd_close(&fd);
    return e;
}

/* ---- what was folded ---- */

static bool fill_filter(struct contacts_known *k)
{
    struct run_cursor c;
    struct run_record r;
    enum err e = ERR_OK;

    run_cursor_init(&c, k->run, 1, UINT64_MAX);
    while ((e = run_cursor_next(&c, &r)) == ERR_OK) {
        struct digest d;
        memcpy(d.b, &r.key, sizeof(r.key));
        memcpy(d.b + sizeof(r.key), &r.key, sizeof(r.key));
        bloom_add(&k->filter, &d);
    }
    return e == ERR_NOT_FOUND;
}

/* There is no filter without memory, or if a block is damaged: then each look-up reads the run. */
static void make_filter(struct contacts_known *k, const struct hashkey *key)
{
    uint64_t n = run_records(k->run);
    struct bloom *b = &k->filter;

    b->layout = BLOOM_ONE_LINE;
    if (bloom_size(b->layout, n > 0 ? n : 1, filter_error, &b->nlines, &b->k) !=
        ERR_OK) {
        return;
    }
    b->words = aligned_alloc(BLOOM_LINE_BYTES, b->nlines * BLOOM_LINE_BYTES);
    if (b->words == NULL) {
        return;
    }
    memset(b->words, 0, b->nlines * BLOOM_LINE_BYTES);
    bloom_key(b, key);
    if (!fill_filter(k)) {
        free(b->words);
        b->words = NULL;
    }
}

enum err contacts_known_open(const char *dir, uint64_t number,
                             const struct hashkey *key, struct contacts_known **ret,
                             struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct contacts_known *k = calloc(1, sizeof(*k));

    if (k == NULL) {
        return errinfo_nomem(reterr, dir);
    }
    enum err e = contacts_path(path, dir, "known", number, reterr);
    THEN(e, run_open(path, &k->run, reterr));
    if (e != ERR_OK) {
        free(k);
        return e;
    }
    k->number = number;
    k->refs = 1;
    if (key != NULL) {
        make_filter(k, key);
    }
    *ret = k;
    return ERR_OK;
}

void contacts_known_free(struct contacts_known *k)
{
    if (k != NULL) {
        run_close(&k->run);
        free(k->filter.words);
        free(k);
    }
}
