/* test_local - files of this machine as a feed: which, in which order, and whether they changed. */
#include <errno.h>
#include <fcntl.h>
#include <time.h>

#include "core/base/file.h"
#include "core/feed/local.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum { NOBODY = 65534 };

struct fixture {
    struct tempdir *dir;
    struct config_feed feed;
    char url[128];
    char body[128];
    struct feed_local local;
    struct errinfo why;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    assert_non_null(f);
    assert_int_equal(tempdir_setup((void **)&f->dir), 0);
    assert_int_equal(mkdir(tempdir_file(f->dir, "in"), 0755), 0);
    (void)snprintf(f->url, sizeof(f->url), "file://%s/in", f->dir->path);
    (void)snprintf(f->body, sizeof(f->body), "%s/body", f->dir->path);
    f->feed = (struct config_feed){.url = f->url, .bytes = 1000, .expanded = 1000};
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    (void)tempdir_teardown((void **)&f->dir);
    free(f);
    return 0;
}

static const char *path_of(struct fixture *f, const char *name)
{
    char below[64];

    (void)snprintf(below, sizeof(below), "in/%s", name);
    return tempdir_file(f->dir, below);
}

static void put(struct fixture *f, const char *name, const char *text)
{
    int fd = open(path_of(f, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static enum err read_feed(struct fixture *f, const char *tag)
{
    return feed_local_read(&f->feed, tag, f->body, &f->local, &f->why);
}

static void assert_body(struct fixture *f, const char *text)
{
    struct buf b;

    buf_init(&b, 1 << 20);
    assert_int_equal(file_read(f->body, &b, NULL), ERR_OK);
    assert_string_equal(b.p != NULL ? b.p : "", text);
    buf_fini(&b);
}

/* It fails, names the place, and leaves no body. */
static void assert_fails(struct fixture *f, enum err e, const char *where)
{
    assert_int_equal(read_feed(f, ""), e);
    assert_non_null(strstr(f->why.source, where));
    assert_int_equal(access(f->body, F_OK), -1);
}

static void test_path__of_each_form__then_behind_the_scheme(void **state)
{
    (void)state;
    assert_string_equal(feed_local_path("file:///srv/a b%20c"), "/srv/a b%20c");
    assert_string_equal(feed_local_path("file:///"), "/");
    assert_null(feed_local_path("file:/srv/a"));
    assert_null(feed_local_path("FILE:///srv/a"));
    assert_null(feed_local_path("https://feeds.example/file:///a"));
    assert_null(feed_local_path("/srv/a"));
    assert_null(feed_local_path(""));
}

static void test_read__of_one_file__then_its_bytes(void **state)
{
    struct fixture *f = *state;
    char url[192];

    put(f, ".hidden", "a.example\nb.example");
    (void)snprintf(url, sizeof(url), "%s/.hidden", f->url); /* named: no matter */
    f->feed.url = url;
    assert_int_equal(read_feed(f, ""), ERR_OK);
    assert_false(f->local.is_same);
    assert_int_equal(f->local.bytes, 19);
    assert_body(f, "a.example\nb.example");
}

static void test_read__of_a_folder__then_by_name_and_whole_lines(void **state)
{
    struct fixture *f = *state;

    put(f, "b", "2");
    put(f, "a", "1\n");
    put(f, "B", "0");
    put(f, "c", "");
    put(f, ".d", "hidden");
    put(f, "e", "3");
    assert_int_equal(read_feed(f, ""), ERR_OK);
    assert_int_equal(f->local.bytes, 5);
    assert_body(f, "0\n1\n2\n3");
}

static void test_read__when_the_body_was_longer__then_made_anew(void **state)
{
    struct fixture *f = *state;

    put(f, "a", "1\n");
    assert_int_equal(
        file_write_atomic(f->body, SLICE_LIT("what was there\n"), 0600, NULL), ERR_OK);
    assert_int_equal(read_feed(f, ""), ERR_OK);
    assert_body(f, "1\n");
}

static void test_read__when_nothing_changed__then_same_and_nothing_written(void **state)
{
    struct fixture *f = *state;
    char tag[FEED_LOCAL_TAG_MAX];

    put(f, "a", "1\n");
    assert_int_equal(read_feed(f, ""), ERR_OK);
    assert_int_equal(strlen(f->local.tag), 65);
    memcpy(tag, f->local.tag, sizeof(tag));
    assert_int_equal(unlink(f->body), 0);
    assert_int_equal(read_feed(f, tag), ERR_OK);
    assert_true(f->local.is_same);
    assert_string_equal(f->local.tag, tag);
    assert_int_equal(f->local.bytes, 0);
    assert_int_equal(access(f->body, F_OK), -1);
    put(f, ".b", "hidden"); /* hidden files do not matter either */
    assert_int_equal(read_feed(f, tag), ERR_OK);
    assert_true(f->local.is_same);
}

/* Each alone: time, size, inode, a further file, another name, one file less. */
static void test_read__when_one_thing_changed__then_read(void **state)
{
    struct fixture *f = *state;
    const struct timespec once[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    const struct timespec later[2] = {{.tv_sec = 1000}, {1000, 1}};

    put(f, "a", "1\n");
    assert_int_equal(utimensat(AT_FDCWD, path_of(f, "a"), once, 0), 0);
    assert_int_equal(read_feed(f, ""), ERR_OK);
    for (int i = 0; i < 6; i++) {
        char tag[FEED_LOCAL_TAG_MAX];
        char former[TEMPDIR_PATH];

        memcpy(tag, f->local.tag, sizeof(tag));
        assert_int_equal(read_feed(f, tag), ERR_OK);
        assert_true(f->local.is_same);
        (void)snprintf(former, sizeof(former), "%s", path_of(f, "a"));
        switch (i) {
        case 0:
            assert_int_equal(utimensat(AT_FDCWD, former, later, 0), 0);
            break;
        case 1:
            assert_int_equal(truncate(former, 1), 0);
            assert_int_equal(utimensat(AT_FDCWD, former, later, 0), 0);
            break;
        case 2: /* while the former one is there, and has its number */
            assert_int_equal(rename(former, path_of(f, ".a")), 0);
            put(f, "a", "9");
            assert_int_equal(utimensat(AT_FDCWD, former, later, 0), 0);
            break;
        case 3:
            put(f, "b", "");
            break;
        case 4:
            assert_int_equal(rename(former, path_of(f, "c")), 0);
            break;
        default:
            assert_int_equal(unlink(path_of(f, "b")), 0);
            break;
        }
        assert_int_equal(read_feed(f, tag), ERR_OK);
        if (f->local.is_same) {
            fail_msg("change %d is not seen", i);
        }
    }
    assert_body(f, "9");
}

static void test_read__when_there_is_none__then_said(void **state)
{
    struct fixture *f = *state;

    assert_fails(f, ERR_NOT_FOUND, "in");
    put(f, ".a", "hidden");
    assert_fails(f, ERR_NOT_FOUND, "in");
    (void)strcpy(f->url, "file:///nonexistent/feed");
    assert_fails(f, ERR_NOT_FOUND, "/nonexistent/feed");
}

static void test_read__when_one_is_no_file__then_named(void **state)
{
    struct fixture *f = *state;

    put(f, "a", "1\n");
    assert_int_equal(mkdir(path_of(f, "b"), 0755), 0);
    assert_fails(f, ERR_CORRUPT, "in/b");
    assert_int_equal(rmdir(path_of(f, "b")), 0);
    assert_int_equal(mkfifo(path_of(f, "b"), 0644), 0); /* without a writer */
    assert_fails(f, ERR_CORRUPT, "in/b");
    assert_int_equal(unlink(path_of(f, "b")), 0);
    assert_int_equal(symlink("nowhere", path_of(f, "b")), 0);
    assert_fails(f, ERR_NOT_FOUND, "in/b");
    (void)strcpy(f->url, "file:///dev/zero");
    assert_fails(f, ERR_CORRUPT, "/dev/zero");
}

static void test_read__when_one_may_not_be_read__then_named(void **state)
{
    struct fixture *f = *state;
    bool is_root = geteuid() == 0;

    put(f, "a", "1\n");
    put(f, "b", "2\n");
    assert_int_equal(chmod(path_of(f, "b"), 0), 0);
    assert_int_equal(chmod(f->dir->path, 0777), 0);
    assert_true(!is_root || seteuid(NOBODY) == 0);
    assert_fails(f, ERR_DENIED, "in/b");
    assert_true(!is_root || seteuid(0) == 0);
    assert_int_equal(chmod(path_of(f, ""), 0), 0);
    assert_true(!is_root || seteuid(NOBODY) == 0);
    assert_fails(f, ERR_DENIED, "in");
    assert_true(!is_root || seteuid(0) == 0);
    assert_int_equal(chmod(path_of(f, ""), 0755), 0);
}

static void test_read__at_the_bounds__then_not_a_byte_more(void **state)
{
    struct fixture *f = *state;

    put(f, "a", "12345");
    put(f, "b", "789\n");
    f->feed.bytes = 9;
    f->feed.expanded = 10; /* with the end of the first file's line */
    assert_int_equal(read_feed(f, ""), ERR_OK);
    assert_int_equal(f->local.bytes, 9);
    assert_body(f, "12345\n789\n");
    assert_int_equal(unlink(f->body), 0);
    f->feed.expanded = 9;
    assert_fails(f, ERR_LIMIT, "in/b");
    f->feed.expanded = 5; /* where no room is left for the end of the line */
    assert_fails(f, ERR_LIMIT, "in/b");
    f->feed.expanded = 10;
    f->feed.bytes = 8;
    assert_fails(f, ERR_LIMIT, "in/b");
}

static void test_read__of_so_many_files__then_no_more(void **state)
{
    struct fixture *f = *state;
    char name[16];

    for (int i = 0; i < FEED_LOCAL_FILES_MAX; i++) {
        (void)snprintf(name, sizeof(name), "%04d", i);
        put(f, name, "");
    }
    assert_int_equal(read_feed(f, ""), ERR_OK);
    assert_int_equal(unlink(f->body), 0);
    put(f, ".hidden", "");
    assert_int_equal(read_feed(f, f->local.tag), ERR_OK);
    assert_true(f->local.is_same);
    put(f, "last", "");
    assert_fails(f, ERR_LIMIT, "in");
}

static void test_read__when_the_body_is_a_link__then_not_followed(void **state)
{
    struct fixture *f = *state;

    put(f, "a", "1\n");
    put(f, ".kept", "kept");
    assert_int_equal(symlink(path_of(f, ".kept"), f->body), 0);
    assert_int_not_equal(read_feed(f, ""), ERR_OK);
    (void)snprintf(f->body, sizeof(f->body), "%s", path_of(f, ".kept"));
    assert_body(f, "kept");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_path__of_each_form__then_behind_the_scheme),
#define ONE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
        ONE(test_read__of_one_file__then_its_bytes),
        ONE(test_read__of_a_folder__then_by_name_and_whole_lines),
        ONE(test_read__when_the_body_was_longer__then_made_anew),
        ONE(test_read__when_nothing_changed__then_same_and_nothing_written),
        ONE(test_read__when_one_thing_changed__then_read),
        ONE(test_read__when_there_is_none__then_said),
        ONE(test_read__when_one_is_no_file__then_named),
        ONE(test_read__when_one_may_not_be_read__then_named),
        ONE(test_read__at_the_bounds__then_not_a_byte_more),
        ONE(test_read__of_so_many_files__then_no_more),
        ONE(test_read__when_the_body_is_a_link__then_not_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
