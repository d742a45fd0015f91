/*
 * test_bundle - a backup written and read again; archives that are not what their table says.
 */
#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/backup/bundle.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

#define HEAD                                                                        \
    "gillnet-backup 1\nversion 0.1.0\nnode one 0011\ntime 1790000000\nshared yes\n" \
    "counts no\nfiles "

enum { BLOCK = 1 << 20, LARGE = 3 * BLOCK + 1 };

/* ---- archives by hand ---- */

struct piece {
    const char *path;
    const char *bytes;
    mode_t type; /* 0: a plain file */
};

static void add_piece(struct archive *a, const struct piece *p)
{
    struct archive_entry *e = archive_entry_new();

    archive_entry_set_pathname(e, p->path);
    archive_entry_set_filetype(e, p->type != 0 ? p->type : AE_IFREG);
    archive_entry_set_perm(e, 0600);
    if (p->type == AE_IFLNK) {
        archive_entry_set_symlink(e, p->bytes);
    } else {
        archive_entry_set_size(e, (la_int64_t)strlen(p->bytes));
    }
    assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
    if (p->type == 0) {
        (void)archive_write_data(a, p->bytes, strlen(p->bytes));
    }
    archive_entry_free(e);
}

static int archive_of(const struct piece *v, size_t n)
{
    int fd = memfd_create("bundle", MFD_CLOEXEC);
    struct archive *a = archive_write_new();

    assert_int_equal(archive_write_add_filter_zstd(a), ARCHIVE_OK);
    assert_int_equal(archive_write_set_format_pax(a), ARCHIVE_OK);
    assert_int_equal(archive_write_open_fd(a, fd), ARCHIVE_OK);
    for (size_t i = 0; i < n && v[i].path != NULL; i++) {
        add_piece(a, &v[i]);
    }
    assert_int_equal(archive_write_close(a), ARCHIVE_OK);
    (void)archive_write_free(a);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

/* ---- what a reader was given ---- */

struct taken {
    unsigned nbegun;
    unsigned nopened;
    unsigned nclosed;
    unsigned nshown;
    double share; /* the last one */
    enum err e;   /* of the next call of open */
    char paths[512];
    struct buf bytes;
};

static enum err on_begin(void *context, const struct contents *c,
                         struct errinfo *reterr)
{
    struct taken *t = context;

    (void)reterr;
    t->nbegun += c->n > 0;
    return ERR_OK;
}

static enum err on_open(void *context, const struct contents_file *f,
                        struct errinfo *reterr)
{
    struct taken *t = context;
    const size_t n = strlen(t->paths);

    (void)reterr;
    (void)snprintf(t->paths + n, sizeof(t->paths) - n, "%s ", f->path);
    t->nopened++;
    return t->e;
}

static enum err on_bytes(void *context, struct slice bytes, struct errinfo *reterr)
{
    struct taken *t = context;

    (void)reterr;
    buf_add(&t->bytes, bytes);
    return buf_failed(&t->bytes) ? ERR_NOMEM : ERR_OK;
}

static enum err on_close(void *context, struct errinfo *reterr)
{
    struct taken *t = context;

    (void)reterr;
    t->nclosed++;
    return ERR_OK;
}

static void on_progress(void *context, const char *what, double share)
{
    struct taken *t = context;

    assert_true(what[0] != '\0' && share >= t->share && share <= 1);
    t->share = share;
    t->nshown++;
}

static enum err read_bundle(int fd, struct taken *t, struct errinfo *retwhy)
{
    const struct bundle_taker taker = {.begin = on_begin,
                                       .open = on_open,
                                       .bytes = on_bytes,
                                       .close = on_close,
                                       .progress = on_progress,
                                       .context = t};
    struct contents c;

    buf_init(&t->bytes, 8 << 20);
    contents_init(&c);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    enum err e = bundle_read(fd, "x.backup", &taker, &c, retwhy);
    contents_fini(&c);
    return e;
}

/* ---- written and read ---- */

static void put(struct tempdir *t, const char *name, struct slice bytes)
{
    assert_int_equal(file_write_atomic(tempdir_file(t, name), bytes, 0640, NULL),
                     ERR_OK);
}

static enum err to_fd(void *context, struct slice bytes)
{
    return file_write_all(*(const int *)context, bytes) ? ERR_OK : ERR_NOSPACE;
}

static enum err to_nowhere(void *context, struct slice bytes)
{
    (void)context;
    (void)bytes;
    return ERR_NOSPACE;
}

/* A snapshot with a file of no bytes, a small one and one of several reads. */
static void snapshot_of(struct tempdir *t, struct snapshot *ret, char *large)
{
    assert_int_equal(mkdir(tempdir_file(t, "keys"), 0750), 0);
    assert_int_equal(mkdir(tempdir_file(t, "feeds"), 0750), 0);
    for (size_t i = 0; i < LARGE; i++) {
        large[i] = (char)(i % 251);
    }
    put(t, "keys/digest.key", SLICE_LIT("secret"));
    put(t, "feeds/a", SLICE_NONE);
    put(t, "feeds/b", slice_of(large, LARGE));
    assert_int_equal(snapshot_open(t->path, true, ret, NULL), ERR_OK);
    assert_int_equal(snapshot_take(ret, "feeds", NULL), ERR_OK);
    assert_int_equal(snapshot_take(ret, "keys", NULL), ERR_OK);
}

static void test_bundle__written__is_read_as_it_was(void **state)
{
    struct tempdir *t = *state;
    struct snapshot s;
    struct taken got = {.nopened = 0};
    struct errinfo why = {.code = ERR_OK};
    int fd = memfd_create("bundle", MFD_CLOEXEC);
    char *large = malloc(LARGE);

    assert_non_null(large);
    snapshot_of(t, &s, large);
    assert_int_equal(bundle_write(&s, to_fd, &fd, NULL, NULL, &why), ERR_OK);
    assert_int_equal(read_bundle(fd, &got, &why), ERR_OK);
    assert_string_equal(got.paths, "feeds/a feeds/b keys/digest.key ");
    assert_int_equal(got.nbegun, 1);
    assert_int_equal(got.nopened, 3);
    assert_int_equal(got.nclosed, 3);
    assert_int_equal(got.nshown, 3);
    assert_true(got.share > 0.9 && got.share < 1); /* the key is missing then */
    assert_int_equal(got.bytes.n, LARGE + 6);
    assert_memory_equal(got.bytes.p, large, LARGE);
    buf_fini(&got.bytes);
    /* nobody takes the files; they are still verified */
    const struct bundle_taker none = {.context = NULL};
    struct contents c;
    contents_init(&c);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    assert_int_equal(bundle_read(fd, "x.backup", &none, &c, &why), ERR_OK);
    assert_int_equal(c.n, 3);
    contents_fini(&c);
    got = (struct taken){.e = ERR_NOSPACE};
    assert_int_equal(read_bundle(fd, &got, &why), ERR_NOSPACE);
    assert_int_equal(got.nopened, 1);
    assert_int_equal(got.nclosed, 0);
    buf_fini(&got.bytes);
    snapshot_close(&s);
    (void)close(fd);
    free(large);
}

static void test_bundle__nowhere_to_write__is_told(void **state)
{
    struct tempdir *t = *state;
    struct snapshot s;
    struct errinfo why = {.code = ERR_OK};
    char *large = malloc(LARGE);

    assert_non_null(large);
    snapshot_of(t, &s, large);
    assert_int_equal(bundle_write(&s, to_nowhere, NULL, NULL, NULL, &why), ERR_NOSPACE);
    assert_int_equal(why.line, 0);
    snapshot_close(&s);
    free(large);
}

/* A bit changed anywhere, or the end missing. */
static void test_bundle__damaged_anywhere__is_refused(void **state)
{
    struct tempdir *t = *state;
    struct snapshot s;
    struct errinfo why = {.code = ERR_OK};
    int fd = memfd_create("bundle", MFD_CLOEXEC);

    assert_int_equal(mkdir(tempdir_file(t, "keys"), 0750), 0);
    put(t, "keys/digest.key", SLICE_LIT("secret"));
    assert_int_equal(snapshot_open(t->path, true, &s, NULL), ERR_OK);
    assert_int_equal(snapshot_take(&s, "keys", NULL), ERR_OK);
    assert_int_equal(bundle_write(&s, to_fd, &fd, NULL, NULL, &why), ERR_OK);
    const off_t n = lseek(fd, 0, SEEK_END);
    for (off_t i = 0; i < n; i++) {
        struct taken got = {.nopened = 0};
        char byte = '\0';
        assert_int_equal(pread(fd, &byte, 1, i), 1);
        const char other = (char)(byte ^ 0x10);
        assert_int_equal(pwrite(fd, &other, 1, i), 1);
        if (read_bundle(fd, &got, &why) == ERR_OK) { /* a bit without a meaning */
            assert_true(slice_eq(buf_slice(&got.bytes), SLICE_LIT("secret")));
        }
        buf_fini(&got.bytes);
        assert_int_equal(pwrite(fd, &byte, 1, i), 1);
    }
    for (off_t i = n; i-- > 0;) {
        struct taken got = {.nopened = 0};
        assert_int_equal(ftruncate(fd, i), 0);
        assert_int_not_equal(read_bundle(fd, &got, &why), ERR_OK);
        assert_int_equal(why.line, 0);
        buf_fini(&got.bytes);
    }
    snapshot_close(&s);
    (void)close(fd);
}

/* ---- not what the table says ---- */

static void test_read__archive_by_hand__is_refused_for_what_is_wrong(void **state)
{
#define ONE HEAD "1\n\n0600 6 keys/digest.key\n"
    static const struct {
        struct piece v[4];
        enum err code;
        const char *why;
    } rows[] = {
        {{{NULL, NULL, 0}}, ERR_CORRUPT, "MANIFEST is missing"},
        {{{"keys/digest.key", "secret", 0}}, ERR_CORRUPT, "MANIFEST is expected"},
        {{{"MANIFEST", "hello\n", 0}}, ERR_SYNTAX, ""},
        {{{"MANIFEST", "", AE_IFIFO}}, ERR_CORRUPT, "MANIFEST is no plain file"},
        {{{"MANIFEST", "/etc/passwd", AE_IFLNK}}, ERR_CORRUPT, "is no plain file"},
        {{{"MANIFEST", ONE, 0}}, ERR_CORRUPT, "keys/digest.key is missing"},
        {{{"MANIFEST", ONE, 0}, {"keys/other.key", "secret", 0}},
         ERR_CORRUPT,
         "not keys/other.key"},
        {{{"MANIFEST", ONE, 0}, {"keys/digest.key", "secret1", 0}},
         ERR_CORRUPT,
         "another size"},
        {{{"MANIFEST", ONE, 0}, {"keys/digest.key", "secre", 0}},
         ERR_CORRUPT,
         "another size"},
        {{{"MANIFEST", ONE, 0}, {"keys/digest.key", "/etc/passwd", AE_IFLNK}},
         ERR_CORRUPT,
         "keys/digest.key is no plain file"},
        {{{"MANIFEST", ONE, 0}, {"keys/digest.key", "", AE_IFIFO}},
         ERR_CORRUPT,
         "keys/digest.key is no plain file"},
        {{{"MANIFEST", ONE, 0}, {"keys/digest.key", "secret", 0}},
         ERR_CORRUPT,
         "SHA256SUMS is missing"},
        {{{"MANIFEST", ONE, 0},
          {"keys/digest.key", "secret", 0},
          {"SHA256SUMS", "00  MANIFEST\n", 0}},
         ERR_CORRUPT,
         "MANIFEST"},
        {{{"MANIFEST", ONE, 0},
          {"keys/digest.key", "secret", 0},
          {"SHA256SUMS", "", 0},
          {"keys/more.key", "", 0}},
         ERR_CORRUPT,
         "more than its table of contents"},
    };
#undef ONE
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct taken got = {.nopened = 0};
        struct errinfo why = {.code = ERR_OK};
        int fd = archive_of(rows[i].v, LENGTH(rows[i].v));
        enum err e = read_bundle(fd, &got, &why);
        if (e != rows[i].code || strstr(why.text, rows[i].why) == NULL ||
            why.line != 0 || strcmp(why.source, "x.backup") != 0) {
            fail_msg("row %zu: %s:%u: %s", i, why.source, why.line, why.text);
        }
        buf_fini(&got.bytes);
        (void)close(fd);
    }
}

enum { TAR_BLOCK = 512 };

/* A block of GNU tar's old form. It says that the file has `size` bytes; `stored` follow. */
static void tar_header(const char *path, char type, size_t size, size_t stored,
                       char ret[TAR_BLOCK])
{
    unsigned sum = 0;

    memset(ret, 0, TAR_BLOCK);
    (void)snprintf(ret, 100, "%s", path);
    (void)snprintf(ret + 100, 8, "%07o", 0600);
    (void)snprintf(ret + 124, 12, "%011zo", stored);
    (void)snprintf(ret + 136, 12, "%011o", 1);
    memset(ret + 148, ' ', 8);
    ret[156] = type;
    memcpy(ret + 257, "ustar  ", 8);
    if (type == 'S') { /* a file with holes: its one part, and its size */
        (void)snprintf(ret + 386, 12, "%011o", 0);
        (void)snprintf(ret + 398, 12, "%011zo", stored);
        (void)snprintf(ret + 483, 12, "%011zo", size);
    }
    for (unsigned i = 0; i < TAR_BLOCK; i++) {
        sum += (unsigned char)ret[i];
    }
    (void)snprintf(ret + 148, 8, "%06o", sum);
}

/* Its part ends behind its end. */
static void test_read__a_file_with_holes_has_more_than_it_says__is_refused(void **state)
{
    static const char table[] = HEAD "1\n\n0600 6 keys/digest.key\n";
    char bytes[4 * TAR_BLOCK] = "";
    struct taken got = {.nopened = 0};
    struct errinfo why = {.code = ERR_OK};
    int fd = memfd_create("bundle", MFD_CLOEXEC);

    (void)state;
    tar_header("MANIFEST", '0', sizeof(table) - 1, sizeof(table) - 1, bytes);
    memcpy(bytes + TAR_BLOCK, table, sizeof(table));
    tar_header("keys/digest.key", 'S', 6, 10, bytes + 2 * (size_t)TAR_BLOCK);
    memcpy(bytes + 3 * (size_t)TAR_BLOCK, "secretmore", 10);
    assert_int_equal(write(fd, bytes, sizeof(bytes)), (ssize_t)sizeof(bytes));
    assert_int_equal(read_bundle(fd, &got, &why), ERR_CORRUPT);
    assert_string_equal(why.text, "keys/digest.key is longer than it says");
    assert_int_equal(got.bytes.n, 0);
    buf_fini(&got.bytes);
    (void)close(fd);
}

static void test_read__no_archive__is_refused(void **state)
{
    struct taken got = {.nopened = 0};
    struct errinfo why = {.code = ERR_OK};
    int fd = memfd_create("bundle", MFD_CLOEXEC);

    (void)state;
    assert_int_equal(write(fd, "hello\n", 6), 6);
    assert_int_equal(read_bundle(fd, &got, &why), ERR_CORRUPT);
    assert_int_equal(why.line, 0);
    buf_fini(&got.bytes);
    (void)close(fd);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, tempdir_setup, tempdir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_bundle__written__is_read_as_it_was),
        TEST(test_bundle__nowhere_to_write__is_told),
        TEST(test_bundle__damaged_anywhere__is_refused),
        cmocka_unit_test(test_read__archive_by_hand__is_refused_for_what_is_wrong),
        cmocka_unit_test(
            test_read__a_file_with_holes_has_more_than_it_says__is_refused),
        cmocka_unit_test(test_read__no_archive__is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
