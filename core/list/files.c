/*
 * files - names with at least eight digits, so that a listing sorts; CURRENT names the levels.
 */
#include "core/list/files.h"

#include "core/base/checksum.h"
#include "core/base/cursor.h"
#include "core/base/dir_walk.h"
#include "core/list/list.h"
#include "core/list/segment.h"

enum {
    CURRENT_VERSION = 3,
    CURRENT_BYTES_MAX = 4096,
    CURRENT_SUM_BYTES = 8,
    DIGITS_MIN = 8,
    DIGITS_MAX = 19
};
#define CURRENT_MAGIC SLICE_LIT("GNLISTC1")

static const char *const prefixes[] = {
    [LIST_FILE_LOG] = "log.",         [LIST_FILE_INDEX] = "index.",
    [LIST_FILE_INDEX_SUM] = "index.", [LIST_FILE_BASE] = "base.",
    [LIST_FILE_RECENT] = "memtable.", [LIST_FILE_FRONT] = "front.",
    [LIST_FILE_SPAM] = "spam.",       [LIST_FILE_REVOKED] = "revoked.",
};

bool list_name_is_valid(struct slice name)
{
    if (name.n == 0 || name.n > LIST_NAME_MAX || name.p[0] == '_' || name.p[0] == '-') {
        return false;
    }
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool fits =
            (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
        if (!fits) {
            return false;
        }
    }
    return true;
}

bool list_name_is_taken(struct slice name)
{
    return slice_eq(name, SLICE_LIT(LIST_VOTES)) ||
           slice_eq(name, SLICE_LIT(LIST_SUMMARY));
}

enum err list_dir_path(char dst[FILE_PATH_MAX], const char *state_dir,
                       struct slice name, struct errinfo *reterr)
{
    if (!list_name_is_valid(name)) {
        return errinfo_set(
            reterr, ERR_SYNTAX, "", 0,
            "not a list name; use 1 to %d of a-z, 0-9, _ and -, beginning "
            "with a letter or digit",
            LIST_NAME_MAX);
    }
    return path_make(dst, reterr, "%s/lists/%.*s", state_dir, SLICE_ARGS(name));
}

enum err list_file_path(char dst[FILE_PATH_MAX], const char *dir, enum list_file kind,
                        uint64_t number, struct errinfo *reterr)
{
    return path_make(dst, reterr, "%s/%s%0*" PRIu64 "%s", dir, prefixes[kind],
                     DIGITS_MIN, number, kind == LIST_FILE_INDEX_SUM ? ".sum" : "");
}

bool file_mark_eq(const struct file_mark *a, const struct file_mark *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           a->changed.tv_sec == b->changed.tv_sec &&
           a->changed.tv_nsec == b->changed.tv_nsec;
}

struct file_mark file_mark_of(const char *path)
{
    struct stat st;
    if (lstat(path, &st) != 0) {
        return (struct file_mark){0};
    }
    return (struct file_mark){st.st_dev, st.st_ino, st.st_size, st.st_ctim};
}

struct file_mark file_mark_in(const char *dir, const char *name)
{
    char path[FILE_PATH_MAX];
    return path_make(path, NULL, "%s/%s", dir, name) == ERR_OK ? file_mark_of(path)
                                                               : (struct file_mark){0};
}

struct file_mark list_file_mark(const char *dir, enum list_file kind, uint64_t number)
{
    char path[FILE_PATH_MAX];
    return list_file_path(path, dir, kind, number, NULL) == ERR_OK
               ? file_mark_of(path)
               : (struct file_mark){0};
}

bool list_file_is_same(const struct file_mark *mark, const char *dir,
                       enum list_file kind, uint64_t number)
{
    struct file_mark now = list_file_mark(dir, kind, number);
    return file_mark_eq(&now, mark);
}

enum list_file list_file_parse(struct slice name, uint64_t *retnumber)
{
    for (unsigned kind = 0; kind < LIST_FILE_OTHER; kind++) {
        struct slice prefix = slice_str(prefixes[kind]);
        if (!slice_has_prefix(name, prefix)) {
            continue;
        }
        struct slice digits = slice_from(name, prefix.n);
        if (kind == LIST_FILE_INDEX_SUM) {
            if (!slice_has_suffix_nocase(digits, SLICE_LIT(".sum"))) {
                continue;
            }
            digits.n -= 4;
        }
        bool is_as_printed =
            digits.n == DIGITS_MIN || (digits.n > DIGITS_MIN && *digits.p != '0');
        if (is_as_printed && digits.n <= DIGITS_MAX &&
            slice_to_u64(digits, 10, UINT64_MAX, retnumber)) {
            return (enum list_file)kind;
        }
    }
    return LIST_FILE_OTHER;
}

enum err list_files_each(const char *dir, list_file_fn *on_file, void *context,
                         struct errinfo *reterr)
{
    struct dir_walk w = dir_walk_begin(dir, DIR_NEEDED);
    enum err e = ERR_OK;
    while (e == ERR_OK && dir_walk_next(&w)) {
        uint64_t number = 0;
        enum list_file kind = list_file_parse(slice_str(w.name), &number);
        if (kind != LIST_FILE_OTHER) {
            e = on_file(context, kind, number);
        }
    }
    return dir_walk_end(&w, e, reterr);
}

void current_print(const struct list_current *c, struct buf *ret)
{
    buf_add(ret, CURRENT_MAGIC);
    buf_add_u32(ret, CURRENT_VERSION);
    buf_add_u32(ret, c->key_id);
    buf_add_u64(ret, c->generation);
    buf_add_u32(ret, c->tail);
    buf_add_u32(ret, c->nlevels);
    buf_add_u64(ret, c->created_s);
    buf_add_u64(ret, c->updated_s);
    buf_add_u64(ret, c->listed);
    buf_add_u64(ret, c->revoked);
    buf_add_u64(ret, c->period_s);
    buf_add_u64(ret, c->member_spam);
    buf_add_u64(ret, c->member_revoked);
    for (unsigned i = 0; i < FEATURE_CLASSES_WORDS; i++) {
        buf_add_u64(ret, c->classes.word[i]);
    }
    buf_add_u32(ret, c->form);
    buf_add_u32(ret, c->url_match);
    for (uint32_t i = 0; i < c->nlevels; i++) {
        buf_add_u64(ret, c->level[i].number);
        buf_add_u64(ret, c->level[i].entries);
        buf_add_u64(ret, c->level[i].period_s);
        buf_add_u32(ret, c->level[i].first);
        buf_add_u32(ret, c->level[i].last);
    }
    buf_add_u64(ret, checksum64(buf_slice(ret)));
}

static void levels_parse(struct cursor *in, struct list_current *c)
{
    for (uint32_t i = 0; i < c->nlevels && i < LIST_LEVELS_MAX; i++) {
        struct list_level *l = &c->level[i];
        l->number = cursor_u64(in);
        l->entries = cursor_u64(in);
        l->period_s = cursor_u64(in);
        l->first = cursor_u32(in);
        l->last = cursor_u32(in);
    }
}

enum err current_parse(struct slice bytes, const char *path, struct list_current *ret,
                       struct errinfo *reterr)
{
    struct list_current c = {0};
    if (!slice_has_prefix(bytes, CURRENT_MAGIC) ||
        bytes.n < CURRENT_MAGIC.n + CURRENT_SUM_BYTES) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "not a record of a list (damaged)");
    }
    struct slice summed = slice_head(bytes, bytes.n - CURRENT_SUM_BYTES);
    struct cursor sum = cursor_of(slice_from(bytes, summed.n));
    if (cursor_u64(&sum) != checksum64(summed)) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "the record is damaged (its checksum is wrong)");
    }
    struct cursor in = cursor_of(slice_from(summed, CURRENT_MAGIC.n));
    uint32_t version = cursor_u32(&in);
    if (version != CURRENT_VERSION) {
        return errinfo_set(reterr, ERR_VERSION, path, 0,
                           "written by another version of gillnet (format %" PRIu32
                           "); use that version, or rebuild the list with this one",
                           version);
    }
    c.key_id = cursor_u32(&in);
    c.generation = cursor_u64(&in);
    c.tail = cursor_u32(&in);
    c.nlevels = cursor_u32(&in);
    c.created_s = cursor_u64(&in);
    c.updated_s = cursor_u64(&in);
    c.listed = cursor_u64(&in);
    c.revoked = cursor_u64(&in);
    c.period_s = cursor_u64(&in);
    c.member_spam = cursor_u64(&in);
    c.member_revoked = cursor_u64(&in);
    for (unsigned i = 0; i < FEATURE_CLASSES_WORDS; i++) {
        c.classes.word[i] = cursor_u64(&in);
    }
    c.form = cursor_u32(&in);
    c.url_match = cursor_u32(&in);
    levels_parse(&in, &c);
    if (!cursor_done(&in) || c.nlevels > LIST_LEVELS_MAX || c.tail == 0 ||
        c.generation == 0 || c.form > LIST_FORM || c.url_match > URL_MATCH_FOLDED) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "the record is damaged (its numbers are impossible)");
    }
    *ret = c;
    return ERR_OK;
}

enum err current_read(const char *dir, const char *file, struct list_current *ret,
                      struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = path_make(path, reterr, "%s/%s", dir, file);
    if (e != ERR_OK) {
        return e;
    }
    struct buf bytes;
    buf_init(&bytes, CURRENT_BYTES_MAX);
    e = file_read(path, &bytes, reterr);
    if (e == ERR_LIMIT) {
        e = errinfo_set(reterr, ERR_CORRUPT, path, 0,
                        "far too long for a record of a list (damaged)");
    }
    THEN(e, current_parse(buf_slice(&bytes), path, ret, reterr));
    buf_fini(&bytes);
    return e;
}

enum err current_write(const char *dir, const char *file, const struct list_current *c,
                       struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct buf bytes;
    buf_init(&bytes, CURRENT_BYTES_MAX);
    current_print(c, &bytes);
    enum err e = buf_failed(&bytes) ? errinfo_nomem(reterr, dir)
                                    : path_make(path, reterr, "%s/%s", dir, file);
    THEN(e, file_write_atomic(path, buf_slice(&bytes), LIST_FILE_MODE, reterr));
    buf_fini(&bytes);
    return e;
}

/* Whether segment number is there and not an import's. One whose head is damaged counts: an
 * import's is whole from its first moment. */
static bool is_tail_segment(const char *dir, uint32_t number)
{
    char path[FILE_PATH_MAX];
    char head[SEGMENT_HEADER_BYTES];
    struct segment_header h;
    if (list_file_path(path, dir, LIST_FILE_LOG, number, NULL) != ERR_OK) {
        return false;
    }
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) {
        return false;
    }
    ssize_t n = pread(fd, head, sizeof(head), 0);
    (void)close(fd);
    return n != (ssize_t)sizeof(head) ||
           segment_header_parse(slice_of(head, sizeof(head)), path, &h, NULL) !=
               ERR_OK ||
           h.kind == SEGMENT_TAIL;
}

uint32_t list_tail_last(const char *dir, uint32_t tail)
{
    while (tail < UINT32_MAX - 1 && is_tail_segment(dir, tail + 1)) {
        tail++;
    }
    return tail;
}

enum err current_key(const struct list_current *c, const struct keyring *keys,
                     const char *dir, struct hashkey *ret, struct errinfo *reterr)
{
    const struct hashkey *key = keyring_find(keys, c->key_id);
    if (!key) {
        return errinfo_set(
            reterr, ERR_KEY, dir, 0,
            "made with the digest key %08" PRIx32 ", which keys/digest.key does "
            "not hold; put that key back, or remove the list and import it "
            "again",
            c->key_id);
    }
    *ret = *key;
    return ERR_OK;
}
