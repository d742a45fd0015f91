/* contents - the table of contents and the checksums of a backup. */
#include "core/backup/contents.h"

#include "core/base/array.h"
#include "core/base/file.h"
#include "core/base/version.h"

enum {
    ARENA_MAX = 1 << 30,
    COMPONENT_MAX = 200,
    MODE_PRIVATE = 0600,
    MODE_GROUP = 0640,
    DECIMAL = 10
};
#define SUM_BETWEEN "  "

void contents_init(struct contents *c)
{
    *c = (struct contents){.arena = arena_new(ARENA_MAX)};
    (void)snprintf(c->version, sizeof(c->version), "%s", GILLNET_VERSION);
    memcpy(c->node, "-", 2);
}

void contents_fini(struct contents *c)
{
    free(c->v);
    arena_free(&c->arena);
    *c = (struct contents){.v = NULL};
}

/* ---- paths ---- */

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_';
}

/* Nothing that means anything to a file system or a shell, nothing hidden. */
static bool is_component(struct slice s)
{
    if (s.n == 0 || s.n > COMPONENT_MAX || !is_letter(s.p[0])) {
        return false;
    }
    for (size_t i = 0; i < s.n; i++) {
        if (!is_letter(s.p[i]) && s.p[i] != '-' && s.p[i] != '.') {
            return false;
        }
    }
    return true;
}

static bool ends_with(struct slice s, const char *end)
{
    const struct slice e = slice_str(end);
    return s.n >= e.n && slice_eq(slice_from(s, s.n - e.n), e);
}

static bool begins_with(struct slice s, const char *begin)
{
    return slice_has_prefix(s, slice_str(begin));
}

/* The last component. */
static struct slice leaf(struct slice path)
{
    size_t at = path.n;

    while (at > 0 && path.p[at - 1] != '/') {
        at--;
    }
    return slice_from(path, at);
}

bool contents_is_passing(struct slice path)
{
    const struct slice name = leaf(path);

    return slice_eq(name, SLICE_LIT("LOCK")) || ends_with(name, ".lock") ||
           ends_with(name, FILE_TEMP_SUFFIX) || ends_with(name, ".table") ||
           ends_with(name, ".stats") ||
           slice_eq(path, SLICE_LIT("peers/table/lock.mdb")) ||
           slice_eq(path, SLICE_LIT("peers/shared/totals")) ||
           slice_eq(path, SLICE_LIT("journal/pending")) ||
           slice_eq(path, SLICE_LIT("campaigns/table")) ||
           slice_eq(path, SLICE_LIT("users/table/lock.mdb")) ||
           begins_with(path, "users/table.new/") ||
           slice_eq(path, SLICE_LIT("peers/restored")) ||
           begins_with(path, "peers/shared/"); /* an old copy is of no use there */
}

static bool is_of_counts(struct slice path)
{
    return begins_with(path, "counts/runs/") || begins_with(path, "peers/counts/") ||
           begins_with(path, "journal/messages-") ||
           (begins_with(path, "counts/") && ends_with(path, ".wal"));
}

bool contents_takes(struct slice path, bool with_counts)
{
    static const char *const tops[] = {"keys",   "lists",   "feeds",    "peers",
                                       "counts", "reports", "identity", "journal",
                                       "users",  "changes", "tuning"};
    struct slice rest = path;
    bool is_known = false;
    unsigned depth = 0;

    if (path.n > CONTENTS_PATH_MAX) {
        return false;
    }
    if (path.n == 0 || path.p[path.n - 1] == '/') {
        return false;
    }
    while (rest.n > 0) {
        const struct slice name = slice_cut(&rest, '/');
        if (!is_component(name) || ++depth > CONTENTS_DEPTH_MAX) {
            return false;
        }
        for (size_t i = 0; depth == 1 && i < LENGTH(tops); i++) {
            is_known = is_known || slice_eq(name, slice_str(tops[i]));
        }
    }
    return is_known && depth > 1 && !contents_is_passing(path) &&
           (with_counts || !is_of_counts(path));
}

/* ---- building ---- */

enum err contents_add(struct contents *c, struct slice path, uint64_t size, mode_t mode,
                      struct errinfo *reterr)
{
    if (c->n == CONTENTS_FILES_MAX || size > CONTENTS_SIZE_MAX ||
        c->bytes > CONTENTS_SIZE_MAX - size) {
        return errinfo_set(reterr, ERR_LIMIT, CONTENTS_NAME, 0,
                           "more than %d files or %" PRIu64 " bytes",
                           CONTENTS_FILES_MAX, CONTENTS_SIZE_MAX);
    }
    const struct slice copy =
        c->arena == NULL ? SLICE_NONE : arena_copy(c->arena, path);
    if (copy.p == NULL ||
        !array_room(&c->v, &c->room, c->n + 1, CONTENTS_FILES_MAX, sizeof(*c->v))) {
        return errinfo_nomem(reterr, CONTENTS_NAME);
    }
    c->v[c->n++] = (struct contents_file){
        .path = copy.p,
        .size = size,
        .mode = (mode & MODE_GROUP) == MODE_GROUP ? MODE_GROUP : MODE_PRIVATE};
    c->bytes += size;
    return ERR_OK;
}

static int by_path(const void *a, const void *b)
{
    const struct contents_file *x = a;
    const struct contents_file *y = b;
    return strcmp(x->path, y->path);
}

void contents_sort(struct contents *c)
{
    size_t kept = 0;

    if (c->n > 1) {
        qsort(c->v, c->n, sizeof(*c->v), by_path);
    }
    for (size_t i = 0; i < c->n; i++) {
        if (kept == 0 || strcmp(c->v[kept - 1].path, c->v[i].path) != 0) {
            c->v[kept++] = c->v[i];
        } else {
            c->bytes -= c->v[i].size;
        }
    }
    c->n = kept;
}

/* ---- text ---- */

void contents_print(const struct contents *c, struct buf *ret)
{
    buf_printf(ret,
               "gillnet-backup %d\nversion %s\nnode %s\ntime %" PRIu64
               "\nshared %s\ncounts %s\nfiles %zu\n\n",
               CONTENTS_FORMAT, c->version, c->node, c->time_s,
               c->is_shared ? "yes" : "no", c->has_counts ? "yes" : "no", c->n);
    for (size_t i = 0; i < c->n; i++) {
        buf_printf(ret, "%04o %" PRIu64 " %s\n", (unsigned)c->v[i].mode, c->v[i].size,
                   c->v[i].path);
    }
}

/* A text that is read line by line. */
struct lines {
    struct slice rest;
    unsigned number;
    struct errinfo *err;
};

static bool next_line(struct lines *l, struct slice *ret)
{
    *ret = slice_cut(&l->rest, '\n');
    l->number += l->rest.p != NULL;
    return l->rest.p != NULL;
}

static enum err wrong(const struct lines *l, const char *what)
{
    return errinfo_set(l->err, ERR_SYNTAX, CONTENTS_NAME, l->number, "%s", what);
}

/* Decimal digits without leading zeros. */
static bool read_decimal(struct slice s, uint64_t *ret)
{
    return slice_to_u64(s, DECIMAL, UINT64_MAX, ret) && (s.n == 1 || *s.p != '0');
}

/* The next line is "word value". */
static bool read_word(struct lines *l, const char *word, struct slice *retvalue)
{
    struct slice line;
    const struct slice w = slice_str(word);

    if (!next_line(l, &line) || !begins_with(line, word) || line.n < w.n + 2 ||
        line.p[w.n] != ' ') {
        return false;
    }
    *retvalue = slice_from(line, w.n + 1);
    return true;
}

static bool read_yes(struct lines *l, const char *word, bool *ret)
{
    struct slice value;

    if (!read_word(l, word, &value)) {
        return false;
    }
    *ret = slice_eq(value, SLICE_LIT("yes"));
    return *ret || slice_eq(value, SLICE_LIT("no"));
}

static bool read_word_text(struct lines *l, const char *word, char *ret, size_t size)
{
    struct slice value;

    if (!read_word(l, word, &value) || value.n >= size) {
        return false;
    }
    for (size_t i = 0; i < value.n; i++) {
        if (value.p[i] < ' ' || value.p[i] > '~') {
            return false;
        }
    }
    memcpy(ret, value.p, value.n);
    ret[value.n] = '\0';
    return true;
}

static enum err read_head(struct lines *l, struct contents *c, uint64_t *retfiles)
{
    struct slice value = SLICE_NONE;
    uint64_t format = 0;

    if (!read_word(l, "gillnet-backup", &value) || !read_decimal(value, &format)) {
        return wrong(l, "this is no backup of gillnet");
    }
    if (format != CONTENTS_FORMAT) {
        return errinfo_set(
            l->err, ERR_VERSION, CONTENTS_NAME, l->number,
            "a backup of form %" PRIu64
            "; this gillnet reads form %d: use the version that wrote it",
            format, CONTENTS_FORMAT);
    }
    if (!read_word_text(l, "version", c->version, sizeof(c->version)) ||
        !read_word_text(l, "node", c->node, sizeof(c->node)) ||
        !read_word(l, "time", &value) || !read_decimal(value, &c->time_s) ||
        !read_yes(l, "shared", &c->is_shared) ||
        !read_yes(l, "counts", &c->has_counts) || !read_word(l, "files", &value) ||
        !read_decimal(value, retfiles) || !next_line(l, &value) || value.n != 0) {
        return wrong(l, "the head of the table of contents is damaged");
    }
    return ERR_OK;
}

static enum err read_row(struct lines *l, struct contents *c)
{
    struct slice line;
    uint64_t size = 0;

    if (!next_line(l, &line)) {
        return wrong(l, "the table of contents is cut off");
    }
    const struct slice mode = slice_cut(&line, ' ');
    const struct slice digits = slice_cut(&line, ' ');
    const bool is_group = slice_eq(mode, SLICE_LIT("0640"));
    if ((!is_group && !slice_eq(mode, SLICE_LIT("0600"))) ||
        !read_decimal(digits, &size)) {
        return wrong(l, "a line of the table of contents is damaged");
    }
    if (!contents_takes(line, true)) {
        return wrong(l, "it names a file that no state folder has");
    }
    if (c->n > 0 && slice_cmp(slice_str(c->v[c->n - 1].path), line) >= 0) {
        return wrong(l, "its files are out of order");
    }
    return contents_add(c, line, size, is_group ? MODE_GROUP : MODE_PRIVATE, l->err);
}

enum err contents_parse(struct slice text, struct contents *ret, struct errinfo *reterr)
{
    struct lines l = {.rest = text, .err = reterr};
    uint64_t n = 0;
    enum err e = read_head(&l, ret, &n);

    if (e == ERR_OK && n > CONTENTS_FILES_MAX) {
        e = errinfo_set(reterr, ERR_LIMIT, CONTENTS_NAME, l.number,
                        "more than %d files", CONTENTS_FILES_MAX);
    }
    for (uint64_t i = 0; e == ERR_OK && i < n; i++) {
        e = read_row(&l, ret);
    }
    return e == ERR_OK && l.rest.n > 0 ? wrong(&l, "more files than it says") : e;
}

/* ---- checksums ---- */

static void print_sum(struct buf *ret, const char *sha256, const char *path)
{
    buf_printf(ret, "%s" SUM_BETWEEN "%s\n", sha256, path);
}

void contents_print_sums(const struct contents *c, const char *manifest_sha256,
                         struct buf *ret)
{
    print_sum(ret, manifest_sha256, CONTENTS_NAME);
    for (size_t i = 0; i < c->n; i++) {
        print_sum(ret, c->v[i].sha256, c->v[i].path);
    }
}

static bool is_sum_of(struct slice line, const char *sha256, const char *path)
{
    const struct slice between = slice_head(slice_from(line, SHA256_HEX), 2);

    return slice_eq(slice_head(line, SHA256_HEX), slice_str(sha256)) &&
           slice_eq(between, SLICE_LIT(SUM_BETWEEN)) &&
           slice_eq(slice_from(line, SHA256_HEX + 2), slice_str(path));
}

enum err contents_check_sums(const struct contents *c, const char *manifest_sha256,
                             struct slice sums, struct errinfo *reterr)
{
    struct lines l = {.rest = sums, .err = reterr};
    struct slice line;

    for (size_t i = 0; i <= c->n; i++) {
        const char *path = i == 0 ? CONTENTS_NAME : c->v[i - 1].path;
        if (!next_line(&l, &line)) {
            return errinfo_set(reterr, ERR_CORRUPT, CONTENTS_SUMS, l.number,
                               "it is cut off: nothing says what %s should be", path);
        }
        if (!is_sum_of(line, i == 0 ? manifest_sha256 : c->v[i - 1].sha256, path)) {
            return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                               "damaged: its SHA-256 is not the one written down when "
                               "the backup was taken");
        }
    }
    return l.rest.n == 0 ? ERR_OK
                         : errinfo_set(reterr, ERR_CORRUPT, CONTENTS_SUMS, l.number,
                                       "it says more than there are files");
}
