/* test_unpack - compressed files, damaged ones, and the bound on the output. */
#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/slice.h"
#include "core/feed/unpack.h"

#include "tests/unit/unit.h"

enum { PACKED_MAX = 1 << 20, TEXT_LINES = 3000, LEFT = 1 << 20 };

static const int filters[] = {ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_XZ,
                              ARCHIVE_FILTER_ZSTD, ARCHIVE_FILTER_BZIP2};

/* Lines that no packer makes very small. */
static struct buf text_of(unsigned lines)
{
    struct buf b;
    unsigned x = 1;

    buf_init(&b, PACKED_MAX);
    for (unsigned i = 0; i < lines; i++) {
        x = x * 1103515245U + 12345U;
        buf_printf(&b, "http://evil%u.example/%x\n", i, x);
    }
    assert_false(buf_failed(&b));
    return b;
}

static void add_member(struct archive *a, const char *name, struct slice text)
{
    struct archive_entry *entry = archive_entry_new();
    bool is_folder = name[strlen(name) - 1] == '/';

    archive_entry_set_pathname(entry, name);
    archive_entry_set_filetype(entry, is_folder ? AE_IFDIR : AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, (la_int64_t)text.n);
    assert_int_equal(archive_write_header(a, entry), ARCHIVE_OK);
    assert_int_equal(archive_write_data(a, text.p, text.n), (la_ssize_t)text.n);
    archive_entry_free(entry);
}

static struct buf finish(struct archive *a, char *memory, const size_t *used)
{
    struct buf b;

    assert_int_equal(archive_write_close(a), ARCHIVE_OK);
    assert_int_equal(archive_write_free(a), ARCHIVE_OK);
    buf_init(&b, PACKED_MAX);
    buf_add(&b, slice_of(memory, *used));
    free(memory);
    return b;
}

static struct buf packed(int filter, struct slice text)
{
    struct archive *a = archive_write_new();
    char *memory = malloc(PACKED_MAX);
    size_t used = 0;

    assert_int_equal(archive_write_set_format_raw(a), ARCHIVE_OK);
    assert_int_equal(archive_write_add_filter(a, filter), ARCHIVE_OK);
    assert_int_equal(archive_write_open_memory(a, memory, PACKED_MAX, &used),
                     ARCHIVE_OK);
    add_member(a, "feed.txt", text);
    return finish(a, memory, &used);
}

/* A zip with these members, each of them the text; a folder ends in "/". */
static struct buf zipped(const char *const *names, size_t n, struct slice text,
                         const char *password)
{
    struct archive *a = archive_write_new();
    char *memory = malloc(PACKED_MAX);
    size_t used = 0;

    assert_int_equal(archive_write_set_format_zip(a), ARCHIVE_OK);
    if (password != NULL) {
        assert_int_equal(archive_write_set_options(a, "zip:encryption=traditional"),
                         ARCHIVE_OK);
        assert_int_equal(archive_write_set_passphrase(a, password), ARCHIVE_OK);
    }
    assert_int_equal(archive_write_open_memory(a, memory, PACKED_MAX, &used),
                     ARCHIVE_OK);
    for (size_t i = 0; i < n; i++) {
        bool is_folder = names[i][strlen(names[i]) - 1] == '/';

        add_member(a, names[i], is_folder ? SLICE_NONE : text);
    }
    return finish(a, memory, &used);
}

struct out {
    enum err e;
    uint64_t left;
    struct buf text;
    struct errinfo why;
};

/* Output for these bytes; the file is at its end, and the output is appended to a line. */
static struct out unpack(struct slice bytes, uint64_t left)
{
    struct out r = {.left = left};
    int from = memfd_create("from", MFD_CLOEXEC);
    int to = memfd_create("to", MFD_CLOEXEC);

    assert_int_equal(write(from, bytes.p, bytes.n), (ssize_t)bytes.n);
    assert_int_equal(write(to, "#\n", 2), 2);
    r.e = feed_unpack(from, "feed.gz", to, &r.left, &r.why);
    off_t n = lseek(to, 0, SEEK_END);
    assert_true(n >= 2);
    buf_init(&r.text, PACKED_MAX);
    char *p = buf_extend(&r.text, (size_t)n);
    assert_int_equal(pread(to, p, (size_t)n, 0), n);
    assert_memory_equal(p, "#\n", 2);
    assert_true(r.e == ERR_OK || strcmp(r.why.source, "feed.gz") == 0);
    close(from);
    close(to);
    return r;
}

static void assert_gives(struct slice bytes, struct slice text)
{
    struct out r = unpack(bytes, LEFT);

    if (r.e != ERR_OK) {
        fail_msg("%s", r.why.text);
    }
    assert_true(slice_eq(slice_from(buf_slice(&r.text), 2), text));
    assert_int_equal(r.left, LEFT - text.n);
    buf_fini(&r.text);
}

static void assert_fails(struct slice bytes, uint64_t left, enum err e)
{
    struct out r = unpack(bytes, left);

    assert_int_equal(r.e, e);
    assert_true(r.why.text[0] != '\0');
    assert_true(r.text.n - 2 <= left);
    assert_int_equal(r.left, left - (r.text.n - 2));
    buf_fini(&r.text);
}

static void test_unpack__when_packed_in_any_way__then_what_is_in_it(void **state)
{
    static const char *const one[] = {"feed.txt"};
    static const char *const in_folder[] = {"a/", "a/b/", "a/b/feed.txt", "c/"};
    struct buf text = text_of(TEXT_LINES);

    (void)state;
    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
        struct buf b = packed(filters[i], buf_slice(&text));

        assert_true(b.n < text.n);
        assert_gives(buf_slice(&b), buf_slice(&text));
        buf_fini(&b);
    }
    struct buf b = zipped(one, 1, buf_slice(&text), NULL);
    assert_gives(buf_slice(&b), buf_slice(&text));
    buf_fini(&b);
    b = zipped(in_folder, 4, buf_slice(&text), NULL);
    assert_gives(buf_slice(&b), buf_slice(&text));
    buf_fini(&b);
    buf_fini(&text);
}

static void test_unpack__when_packed_twice__then_one_layer_is_undone(void **state)
{
    struct buf text = text_of(10);
    struct buf once = packed(ARCHIVE_FILTER_XZ, buf_slice(&text));
    struct buf twice = packed(ARCHIVE_FILTER_GZIP, buf_slice(&once));

    (void)state;
    assert_gives(buf_slice(&twice), buf_slice(&once));
    buf_fini(&twice);
    buf_fini(&once);
    buf_fini(&text);
}

static void test_unpack__when_empty_inside__then_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
        struct buf b = packed(filters[i], SLICE_NONE);

        assert_gives(buf_slice(&b), SLICE_NONE);
        buf_fini(&b);
    }
}

static void test_unpack__when_parts_follow_each_other__then_all_of_them(void **state)
{
    struct buf text = text_of(10);
    struct buf twice;

    (void)state;
    buf_init(&twice, PACKED_MAX);
    buf_add(&twice, buf_slice(&text));
    buf_add(&twice, buf_slice(&text));
    for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
        struct buf b = packed(filters[i], buf_slice(&text));
        struct buf c;

        buf_init(&c, PACKED_MAX);
        buf_add(&c, buf_slice(&b));
        buf_add(&c, buf_slice(&b));
        assert_gives(buf_slice(&c), buf_slice(&twice));
        buf_fini(&c);
        buf_fini(&b);
    }
    buf_fini(&twice);
    buf_fini(&text);
}

static void test_unpack__when_a_zip_has_not_one_file__then_refused(void **state)
{
    static const char *const names[] = {"a/", "one.txt", "two.txt"};
    struct buf text = text_of(10);

    (void)state;
    for (size_t n = 0; n <= 3; n++) {
        struct buf b = zipped(names, n, buf_slice(&text), NULL);

        if (n != 2) {
            assert_fails(buf_slice(&b), LEFT, ERR_CORRUPT);
        } else {
            assert_gives(buf_slice(&b), buf_slice(&text));
        }
        buf_fini(&b);
    }
    buf_fini(&text);
}

static void test_unpack__when_encrypted__then_said(void **state)
{
    static const char *const one[] = {"feed.txt"};
    struct buf text = text_of(10);
    struct buf b = zipped(one, 1, buf_slice(&text), "infected");

    (void)state;
    assert_fails(buf_slice(&b), LEFT, ERR_UNSUPPORTED);
    buf_fini(&b);
    buf_fini(&text);
}

/* From where it is known on; b is given away. */
static void assert_cut_off(struct buf b, const char *what)
{
    for (size_t n = 6; n < b.n; n++) {
        struct out r = unpack(slice_head(buf_slice(&b), n), LEFT);

        if (r.e != ERR_CORRUPT) {
            fail_msg("%s cut at %zu of %zu: %d", what, n, b.n, r.e);
        }
        buf_fini(&r.text);
    }
    buf_fini(&b);
}

static void test_unpack__when_cut_off_anywhere__then_damaged(void **state)
{
    static const char *const one[] = {"feed.txt"};
    struct buf text = text_of(40);

    (void)state;
    assert_cut_off(packed(ARCHIVE_FILTER_GZIP, buf_slice(&text)), "gzip");
    assert_cut_off(packed(ARCHIVE_FILTER_XZ, buf_slice(&text)), "xz");
    assert_cut_off(packed(ARCHIVE_FILTER_ZSTD, buf_slice(&text)), "zstd");
    assert_cut_off(packed(ARCHIVE_FILTER_BZIP2, buf_slice(&text)), "bzip2");
    assert_cut_off(zipped(one, 1, buf_slice(&text), NULL), "zip");
    buf_fini(&text);
}

/* gzip's checksum is not compared (ADR 0043), and a frame of zstd has none. */
static void test_unpack__when_a_checksum_is_wrong__then_damaged(void **state)
{
    static const char *const one[] = {"feed.txt"};
    struct buf text = text_of(TEXT_LINES);
    struct buf rows[] = {packed(ARCHIVE_FILTER_XZ, buf_slice(&text)),
                         packed(ARCHIVE_FILTER_BZIP2, buf_slice(&text)),
                         zipped(one, 1, buf_slice(&text), NULL)};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        rows[i].p[rows[i].n / 2] ^= 0x10;
        assert_fails(buf_slice(&rows[i]), LEFT, ERR_CORRUPT);
        buf_fini(&rows[i]);
    }
    buf_fini(&text);
}

static void test_unpack__at_the_bound__then_exactly_so_many_bytes(void **state)
{
    static const char *const one[] = {"feed.txt"};
    struct buf text = text_of(TEXT_LINES);
    struct buf rows[] = {packed(ARCHIVE_FILTER_GZIP, buf_slice(&text)),
                         packed(ARCHIVE_FILTER_XZ, buf_slice(&text)),
                         packed(ARCHIVE_FILTER_ZSTD, buf_slice(&text)),
                         packed(ARCHIVE_FILTER_BZIP2, buf_slice(&text)),
                         zipped(one, 1, buf_slice(&text), NULL),
                         text_of(TEXT_LINES)};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct out r = unpack(buf_slice(&rows[i]), text.n);

        assert_int_equal(r.e, ERR_OK);
        assert_int_equal(r.left, 0);
        assert_int_equal(r.text.n - 2, text.n);
        buf_fini(&r.text);
        assert_fails(buf_slice(&rows[i]), text.n - 1, ERR_LIMIT);
        assert_fails(buf_slice(&rows[i]), 0, ERR_LIMIT);
        buf_fini(&rows[i]);
    }
    buf_fini(&text);
}

static void test_unpack__when_bytes_look_like_none__then_as_they_are(void **state)
{
    const struct slice rows[] = {
        SLICE_NONE,
        SLICE_LIT("\x1f"),
        SLICE_LIT("\x1f\x8c"),
        SLICE_LIT("\xfd\x37zXY\n"),
        SLICE_LIT("\xfd\x37zXZ"),
        SLICE_LIT("\x28\xb5\x2f"),
        SLICE_LIT("BZ"),
        SLICE_LIT("PK\x03"),
        SLICE_LIT("PKCS is no zip\n"),
        SLICE_LIT(" \x1f\x8b"),
        SLICE_LIT("a\0b"),
        SLICE_LIT("http://evil.example/\n"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_gives(rows[i], rows[i]);
    }
}

static void test_unpack__when_only_the_first_bytes_are_there__then_damaged(void **state)
{
    const struct slice rows[] = {
        SLICE_LIT("\x1f\x8b"),         SLICE_LIT("\xfd\x37zXZ\0"),
        SLICE_LIT("\x28\xb5\x2f\xfd"), SLICE_LIT("BZh"),
        SLICE_LIT("PK\x03\x04"),       SLICE_LIT("BZhello.example\n"),
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct out r = unpack(rows[i], LEFT);

        if (r.e != ERR_CORRUPT) {
            fail_msg("row %zu: %d, %zu bytes", i, r.e, r.text.n - 2);
        }
        buf_fini(&r.text);
    }
}

static void test_unpack__when_it_cannot_be_read_or_written__then_said(void **state)
{
    struct errinfo why;
    uint64_t left = LEFT;
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    int from = memfd_create("from", MFD_CLOEXEC);
    int folder = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    (void)state;
    assert_int_equal(write(from, "a\n", 2), 2);
    assert_int_equal(feed_unpack(from, "f", full, &left, &why), ERR_NOSPACE);
    assert_int_equal(feed_unpack(folder, "f", from, &left, &why), ERR_IO);
    close(folder);
    close(from);
    close(full);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unpack__when_packed_in_any_way__then_what_is_in_it),
        cmocka_unit_test(test_unpack__when_packed_twice__then_one_layer_is_undone),
        cmocka_unit_test(test_unpack__when_empty_inside__then_nothing),
        cmocka_unit_test(test_unpack__when_parts_follow_each_other__then_all_of_them),
        cmocka_unit_test(test_unpack__when_a_zip_has_not_one_file__then_refused),
        cmocka_unit_test(test_unpack__when_encrypted__then_said),
        cmocka_unit_test(test_unpack__when_cut_off_anywhere__then_damaged),
        cmocka_unit_test(test_unpack__when_a_checksum_is_wrong__then_damaged),
        cmocka_unit_test(test_unpack__at_the_bound__then_exactly_so_many_bytes),
        cmocka_unit_test(test_unpack__when_bytes_look_like_none__then_as_they_are),
        cmocka_unit_test(
            test_unpack__when_only_the_first_bytes_are_there__then_damaged),
        cmocka_unit_test(test_unpack__when_it_cannot_be_read_or_written__then_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
