/*
 * test_file - the old file or the new one, never something else; links, limits, locks.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/file.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

static void assert_content(const char *path, struct slice want)
{
    struct buf b;
    buf_init(&b, 64 << 20);
    assert_int_equal(file_read(path, &b, NULL), ERR_OK);
    assert_true(slice_eq(buf_slice(&b), want));
    buf_fini(&b);
}

static unsigned count_files(const char *dir)
{
    unsigned n = 0;
    DIR *d = opendir(dir);
    assert_non_null(d);
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
    for (const struct dirent *e = readdir(d); e; e = readdir(d)) {
        n += e->d_name[0] != '.';
    }
    (void)closedir(d);
    return n;
}

static void test_path__around_the_limit__is_told(void **state)
{
    (void)state;
    char dst[FILE_PATH_MAX];
    char name[FILE_PATH_MAX + 1];
    memset(name, 'a', sizeof(name));
    name[FILE_PATH_MAX - 1] = '\0';
    assert_int_equal(file_path(dst, "%s", name), ERR_OK);
    name[FILE_PATH_MAX - 1] = 'a';
    name[FILE_PATH_MAX] = '\0';
    assert_int_equal(file_path(dst, "%s", name), ERR_LIMIT);
    struct errinfo why = {.text = ""};
    assert_int_equal(path_make(dst, &why, "%s", name), ERR_LIMIT);
    assert_string_equal(why.text, "the path is too long");
    assert_memory_equal(why.source, name, sizeof(why.source) - 1);
    assert_int_equal(path_make(dst, &why, "%s/%d", "a", 1), ERR_OK);
    assert_string_equal(dst, "a/1");
}

static void test_open_file__bytes_at_offsets__are_written_and_read(void **state)
{
    struct tempdir *t = *state;
    char b[8] = "";
    int fd = open(tempdir_file(t, "f"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    assert_true(file_write_all(fd, SLICE_LIT("abc")));
    assert_true(file_write_all(fd, SLICE_LIT("def")));
    assert_true(file_write_all(fd, SLICE_NONE));
    assert_true(file_write_at(fd, 2, SLICE_LIT("CD")));
    assert_int_equal(file_read_at(fd, 1, b, 4), 4);
    assert_memory_equal(b, "bCDe", 4);
    errno = EIO;
    assert_int_equal(file_read_at(fd, 4, b, sizeof(b)), 2);
    assert_int_equal(errno, 0);
    assert_memory_equal(b, "ef", 2);
    fd_close(&fd);
    assert_int_equal(fd, -1);
    fd_close(&fd);
    assert_int_equal(file_read_at(fd, 0, b, 1), 0);
    assert_int_equal(errno, EBADF);
    assert_false(file_write_all(fd, SLICE_LIT("a")));
    assert_int_equal(errno, EBADF);
}

static void test_read__around_the_cap__is_told(void **state)
{
    struct tempdir *t = *state;
    const char *path = tempdir_file(t, "f");
    assert_int_equal(file_write_atomic(path, SLICE_LIT("12345"), 0640, NULL), ERR_OK);
    for (size_t cap = 4; cap <= 6; cap++) {
        struct buf b;
        struct errinfo info;
        buf_init(&b, cap);
        assert_int_equal(file_read(path, &b, &info), cap < 5 ? ERR_LIMIT : ERR_OK);
        buf_fini(&b);
    }
}

static void test_read__not_a_plain_file__is_refused_at_once(void **state)
{
    struct tempdir *t = *state;
    struct buf b;
    struct errinfo info;
    buf_init(&b, 100);
    assert_int_equal(file_read(tempdir_file(t, "none"), &b, &info), ERR_NOT_FOUND);
    assert_string_equal(info.source, t->file);
    assert_int_equal(file_read(t->path, &b, &info), ERR_CORRUPT);
    assert_int_equal(mkfifo(tempdir_file(t, "fifo"), 0600), 0);
    assert_int_equal(file_read(t->file, &b, &info), ERR_CORRUPT);
    assert_int_equal(symlink("/etc/passwd", tempdir_file(t, "link")), 0);
    assert_int_equal(file_read(t->file, &b, &info), ERR_DENIED);
    assert_non_null(strstr(info.text, "symbolic link"));
    buf_fini(&b);
}

static void test_write_atomic__link_in_place__is_replaced_not_followed(void **state)
{
    struct tempdir *t = *state;
    struct stat st;
    assert_int_equal(
        file_write_atomic(tempdir_file(t, "victim"), SLICE_LIT("v"), 0640, NULL),
        ERR_OK);
    assert_int_equal(symlink("victim", tempdir_file(t, "f")), 0);
    mode_t old = umask(077);
    assert_int_equal(file_write_atomic(t->file, SLICE_LIT("new"), 0644, NULL), ERR_OK);
    (void)umask(old);
    assert_int_equal(lstat(t->file, &st), 0);
    assert_true(S_ISREG(st.st_mode));
    assert_int_equal(st.st_mode & 0777, 0644);
    assert_content(t->file, SLICE_LIT("new"));
    assert_content(tempdir_file(t, "victim"), SLICE_LIT("v"));
    assert_int_equal(count_files(t->path), 2);
}

static void test_write_atomic__socket_in_place__is_refused_and_stays(void **state)
{
    struct tempdir *t = *state;
    struct stat st;
    struct errinfo info;
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int n = snprintf(a.sun_path, sizeof(a.sun_path), "%s", tempdir_file(t, "sock"));
    assert_true(n > 0 && (size_t)n < sizeof(a.sun_path));
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (const struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(file_write_atomic(t->file, SLICE_LIT("x"), 0640, &info),
                     ERR_CORRUPT);
    assert_string_equal(info.source, t->file);
    assert_int_equal(file_allocate(t->file, 10, 0640, &info), ERR_CORRUPT);
    assert_int_equal(lstat(t->file, &st), 0);
    assert_true(S_ISSOCK(st.st_mode));
    assert_int_equal(count_files(t->path), 1);
    (void)close(fd);
}

static void test_out__sizes_around_the_buffer__arrive_whole(void **state)
{
    struct tempdir *t = *state;
    enum { BUFFER = 256 * 1024, MOST = 3 * BUFFER };
    static char bytes[MOST];
    for (size_t i = 0; i < MOST; i++) {
        bytes[i] = (char)(unsigned char)(i * 31 % 251);
    }
    static const size_t pieces[] = {1, 1000, BUFFER - 1, BUFFER, BUFFER + 1, MOST};
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        struct file_out f;
        struct errinfo info;
        size_t total = pieces[i] == 1 ? 1000 : MOST;
        assert_int_equal(file_out_open(&f, tempdir_file(t, "f"), 0640, &info), ERR_OK);
        for (size_t at = 0; at < total; at += pieces[i]) {
            size_t n = total - at < pieces[i] ? total - at : pieces[i];
            file_out_add(&f, slice_of(bytes + at, n));
        }
        assert_int_equal(f.written, total);
        assert_int_equal(file_out_commit(&f, &info), ERR_OK);
        assert_content(t->file, slice_of(bytes, total));
        file_out_abort(&f); /* after a commit: nothing */
        assert_content(t->file, slice_of(bytes, total));
    }
    assert_int_equal(count_files(t->path), 1);
}

static void test_put_at__inside_and_outside__is_told(void **state)
{
    struct tempdir *t = *state;
    static const struct {
        uint64_t offset;
        enum err want;
        const char *content;
    } rows[] = {{0, ERR_OK, "XYcdef"}, {3, ERR_OK, "abcXYf"},
                {4, ERR_OK, "abcdXY"}, {5, ERR_RANGE, NULL},
                {7, ERR_RANGE, NULL},  {UINT64_MAX, ERR_RANGE, NULL}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct file_out f;
        (void)unlink(tempdir_file(t, "f"));
        assert_int_equal(file_out_open(&f, t->file, 0640, NULL), ERR_OK);
        file_out_add(&f, SLICE_LIT("abcdef"));
        file_out_put_at(&f, rows[i].offset, SLICE_LIT("XY"));
        assert_int_equal(file_out_commit(&f, NULL), rows[i].want);
        if (rows[i].content) {
            assert_content(t->file, slice_str(rows[i].content));
        } else {
            assert_int_equal(count_files(t->path), 0);
        }
    }
}

static void test_abort__old_file__stays(void **state)
{
    struct tempdir *t = *state;
    struct file_out f;
    assert_int_equal(
        file_write_atomic(tempdir_file(t, "f"), SLICE_LIT("old"), 0640, NULL), ERR_OK);
    assert_int_equal(file_out_open(&f, t->file, 0640, NULL), ERR_OK);
    file_out_add(&f, SLICE_LIT("new"));
    file_out_abort(&f);
    file_out_abort(&f);
    file_out_add(&f, SLICE_LIT("late"));
    assert_int_equal(file_out_commit(&f, NULL), ERR_IO);
    assert_content(t->file, SLICE_LIT("old"));
    assert_int_equal(count_files(t->path), 1);
}

static void test_out__killed_in_the_middle__old_file_stays_and_sweep_cleans(
    void **state)
{
    struct tempdir *t = *state;
    const char *path = tempdir_file(t, "f");
    static char big[600 * 1024];
    assert_int_equal(file_write_atomic(path, SLICE_LIT("old"), 0640, NULL), ERR_OK);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct file_out f;
        if (file_out_open(&f, path, 0640, NULL) == ERR_OK) {
            file_out_add(&f, slice_of(big, sizeof(big)));
        }
        _exit(f.fd >= 0 ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_content(path, SLICE_LIT("old"));
    assert_int_equal(count_files(t->path), 2);
    assert_int_equal(mkdir(tempdir_file(t, "folder.tmp"), 0700), 0);
    assert_int_equal(file_sweep_old_temps(t->path, 3600, NULL), ERR_OK);
    assert_int_equal(count_files(t->path), 3); /* it may still be written */
    assert_int_equal(file_sweep_temps(t->path, NULL), ERR_OK);
    assert_content(tempdir_file(t, "f"), SLICE_LIT("old"));
    assert_int_equal(count_files(t->path), 2);
    assert_int_equal(file_sweep_temps(tempdir_file(t, "none"), NULL), ERR_NOT_FOUND);
}

static void test_out__file_size_limit__fails_and_leaves_the_old_file(void **state)
{
    struct tempdir *t = *state;
    static char big[600 * 1024];
    struct errinfo info;
    assert_int_equal(
        file_write_atomic(tempdir_file(t, "f"), SLICE_LIT("old"), 0640, NULL), ERR_OK);
    struct rlimit old;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    struct rlimit small = {UINT64_C(100) * 1024, old.rlim_max};
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    enum err e = file_write_atomic(t->file, slice_of(big, sizeof(big)), 0640, &info);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(e, ERR_LIMIT);
    assert_content(t->file, SLICE_LIT("old"));
    assert_int_equal(count_files(t->path), 1);
}

static void test_full_disk__write_and_allocate__say_so_and_leave_the_old(void **state)
{
    struct tempdir *t = *state;
    static char big[2 * 1024 * 1024];
    struct errinfo info;
    if (geteuid() != 0 || mount("none", t->path, "tmpfs", 0, "size=1m") != 0) {
        skip();
    }
    enum err first =
        file_write_atomic(tempdir_file(t, "f"), SLICE_LIT("old"), 0640, NULL);
    enum err write =
        file_write_atomic(t->file, slice_of(big, sizeof(big)), 0640, &info);
    bool says = strstr(info.text, "disk is full") != NULL;
    enum err alloc = file_allocate(t->file, sizeof(big), 0640, &info);
    struct buf b;
    buf_init(&b, 100);
    enum err read = file_read(t->file, &b, NULL);
    bool is_old = slice_eq(buf_slice(&b), SLICE_LIT("old"));
    unsigned files = count_files(t->path);
    buf_fini(&b);
    (void)umount(t->path); /* before any assertion: nothing stays mounted */
    assert_int_equal(first, ERR_OK);
    assert_int_equal(write, ERR_NOSPACE);
    assert_true(says);
    assert_int_equal(alloc, ERR_NOSPACE);
    assert_int_equal(read, ERR_OK);
    assert_true(is_old);
    assert_int_equal(files, 1);
}

static void test_map__each_mode__shows_the_bytes(void **state)
{
    struct tempdir *t = *state;
    static const enum filemap_mode modes[] = {FILEMAP_READ, FILEMAP_WRITE,
                                              FILEMAP_COPY};
    assert_int_equal(
        file_write_atomic(tempdir_file(t, "f"), SLICE_LIT("abc"), 0640, NULL), ERR_OK);
    for (size_t i = 0; i < 3; i++) {
        struct filemap m;
        assert_int_equal(filemap_open(&m, t->file, modes[i], NULL), ERR_OK);
        assert_int_equal(m.n, 3);
        assert_memory_equal(m.p, "abc", 3);
        filemap_close(&m);
        assert_null(m.p);
        filemap_close(&m);
    }
    struct filemap m;
    assert_int_equal(filemap_open(&m, t->file, FILEMAP_WRITE, NULL), ERR_OK);
    m.p[0] = 'X';
    filemap_close(&m);
    assert_content(t->file, SLICE_LIT("Xbc"));
    assert_int_equal(filemap_open(&m, t->file, FILEMAP_COPY, NULL), ERR_OK);
    assert_int_equal(truncate(t->file, 0), 0);
    assert_memory_equal(m.p, "Xbc", 3); /* a copy does not care */
    filemap_close(&m);
    assert_int_equal(filemap_open(&m, t->file, FILEMAP_READ, NULL), ERR_OK);
    assert_int_equal(m.n, 0);
    filemap_close(&m);
    assert_int_equal(filemap_open(&m, tempdir_file(t, "none"), FILEMAP_READ, NULL),
                     ERR_NOT_FOUND);
}

static void fill_page(void *context, void *p)
{
    memcpy(p, context, 3);
}

static void test_map_make__file_in_place__is_replaced_by_the_filled_one(void **state)
{
    struct tempdir *t = *state;
    const char *path = tempdir_file(t, "page");
    struct filemap m;
    char text[] = "abc";
    const struct filemap_new fresh = {4, 0600, fill_page, text};

    assert_int_equal(file_write_atomic(path, SLICE_LIT("old"), 0600, NULL), ERR_OK);
    assert_int_equal(filemap_make(&m, path, &fresh, NULL), ERR_OK);
    assert_content(path, SLICE_LIT("abc\0"));
    m.p[3] = 'd';
    assert_content(path, SLICE_LIT("abcd"));
    filemap_close(&m);
    assert_int_equal(filemap_make(&m, tempdir_file(t, "none/page"), &fresh, NULL),
                     ERR_NOT_FOUND);
    assert_null(m.p);
}

static void test_allocate__size__is_really_there_and_zero(void **state)
{
    struct tempdir *t = *state;
    struct stat st;
    assert_int_equal(
        file_write_atomic(tempdir_file(t, "f"), SLICE_LIT("old"), 0640, NULL), ERR_OK);
    assert_int_equal(file_allocate(t->file, 1 << 20, 0600, NULL), ERR_OK);
    assert_int_equal(stat(t->file, &st), 0);
    assert_int_equal(st.st_size, 1 << 20);
    assert_true(st.st_blocks * 512 >= 1 << 20);
    struct filemap m;
    assert_int_equal(filemap_open(&m, t->file, FILEMAP_READ, NULL), ERR_OK);
    for (size_t i = 0; i < m.n; i++) {
        assert_int_equal(m.p[i], 0);
    }
    filemap_close(&m);
    assert_int_equal(file_allocate(t->file, 0, 0600, NULL), ERR_OK);
    assert_int_equal(file_allocate(t->file, UINT64_MAX, 0600, NULL), ERR_LIMIT);
    assert_int_equal(count_files(t->path), 1);
}

static void test_make_dir__twice_and_over_a_file__is_told(void **state)
{
    struct tempdir *t = *state;
    struct stat st;
    mode_t old = umask(077);
    assert_int_equal(chmod(t->path, 02755), 0);
    assert_int_equal(file_make_dir(tempdir_file(t, "d"), 0750, NULL), ERR_OK);
    (void)umask(old);
    assert_int_equal(file_make_dir(t->file, 0750, NULL), ERR_OK);
    assert_int_equal(stat(t->file, &st), 0);
    assert_int_equal(st.st_mode & 07777, 02750); /* the group bit of the parent stays */
    assert_int_equal(
        file_write_atomic(tempdir_file(t, "f"), SLICE_LIT("x"), 0640, NULL), ERR_OK);
    assert_int_equal(file_make_dir(t->file, 0750, NULL), ERR_EXISTS);
    assert_int_equal(file_make_dir(tempdir_file(t, "a/b"), 0750, NULL), ERR_NOT_FOUND);
}

static void
test_exchange_and_remove_tree__folders__the_new_one_stands_and_links_are_not_followed(
    void **state)
{
    struct tempdir *t = *state;
    char fresh[TEMPDIR_PATH];
    char outside[TEMPDIR_PATH];
    (void)snprintf(outside, sizeof(outside), "%s", tempdir_file(t, "outside"));
    assert_int_equal(file_write_atomic(outside, SLICE_LIT("kept"), 0640, NULL), ERR_OK);
    (void)snprintf(fresh, sizeof(fresh), "%s", tempdir_file(t, "fresh"));
    assert_int_equal(file_make_dir(fresh, 0750, NULL), ERR_OK);
    assert_int_equal(file_make_dir(tempdir_file(t, "old"), 0750, NULL), ERR_OK);
    assert_int_equal(symlink("../outside", tempdir_file(t, "old/link")), 0);
    assert_int_equal(file_make_dir(tempdir_file(t, "old/sub"), 0750, NULL), ERR_OK);
    assert_int_equal(
        file_write_atomic(tempdir_file(t, "old/sub/f"), SLICE_LIT("old"), 0640, NULL),
        ERR_OK);
    assert_int_equal(
        file_write_atomic(tempdir_file(t, "fresh/f"), SLICE_LIT("new"), 0640, NULL),
        ERR_OK);
    assert_int_equal(file_exchange(fresh, tempdir_file(t, "old"), NULL), ERR_OK);
    assert_content(tempdir_file(t, "old/f"), SLICE_LIT("new"));
    assert_content(tempdir_file(t, "fresh/sub/f"), SLICE_LIT("old"));
    assert_int_equal(file_remove_tree(fresh, NULL), ERR_OK);
    assert_int_not_equal(access(fresh, F_OK), 0);
    assert_content(outside, SLICE_LIT("kept"));
    assert_int_equal(file_remove_tree(fresh, NULL), ERR_OK);
    assert_int_equal(file_exchange(fresh, tempdir_file(t, "old"), NULL), ERR_NOT_FOUND);
    assert_content(tempdir_file(t, "old/f"), SLICE_LIT("new"));
}

static void test_lock__second_taker__is_refused_until_dropped(void **state)
{
    struct tempdir *t = *state;
    struct filelock a;
    struct filelock b;
    struct errinfo info;
    assert_int_equal(filelock_take(&a, tempdir_file(t, "LOCK"), &info), ERR_OK);
    assert_int_equal(filelock_take(&b, t->file, &info), ERR_LOCKED);
    assert_int_equal(info.line, 0); /* it is about no line */
    assert_int_equal(b.fd, -1);
    filelock_drop(&a);
    filelock_drop(&a);
    assert_int_equal(filelock_take(&b, t->file, &info), ERR_OK);
    filelock_drop(&b);
    assert_int_equal(symlink("LOCK", tempdir_file(t, "link")), 0);
    assert_int_equal(filelock_take(&b, t->file, &info), ERR_DENIED);
}

static void test_lock__root_makes_it__belongs_to_the_owner_of_a_folder_with_group(
    void **state)
{
    enum { FIRST_USER = 1, GROUP = 9 };
    struct tempdir *t = *state;
    struct filelock lock;
    struct stat st;

    if (geteuid() != 0) {
        skip();
    }
    assert_int_equal(chown(t->path, FIRST_USER, GROUP), 0);
    assert_int_equal(filelock_take(&lock, tempdir_file(t, "A"), NULL), ERR_OK);
    filelock_drop(&lock);
    assert_int_equal(stat(t->file, &st), 0);
    assert_int_equal(st.st_uid, 0);
    assert_int_equal(chmod(t->path, 02750), 0);
    assert_int_equal(filelock_take(&lock, tempdir_file(t, "B"), NULL), ERR_OK);
    filelock_drop(&lock);
    assert_int_equal(stat(t->file, &st), 0);
    assert_int_equal(st.st_uid, FIRST_USER);
    assert_int_equal(st.st_gid, GROUP);
}

static void test_lock__holder_dies__is_free(void **state)
{
    struct tempdir *t = *state;
    struct filelock l;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        _exit(filelock_take(&l, tempdir_file(t, "LOCK"), NULL) == ERR_OK ? 0 : 1);
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_int_equal(filelock_take(&l, tempdir_file(t, "LOCK"), NULL), ERR_OK);
    filelock_drop(&l);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, tempdir_setup, tempdir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_path__around_the_limit__is_told),
        TEST(test_open_file__bytes_at_offsets__are_written_and_read),
        TEST(test_read__around_the_cap__is_told),
        TEST(test_read__not_a_plain_file__is_refused_at_once),
        TEST(test_write_atomic__link_in_place__is_replaced_not_followed),
        TEST(test_write_atomic__socket_in_place__is_refused_and_stays),
        TEST(test_out__sizes_around_the_buffer__arrive_whole),
        TEST(test_put_at__inside_and_outside__is_told),
        TEST(test_abort__old_file__stays),
        TEST(test_out__killed_in_the_middle__old_file_stays_and_sweep_cleans),
        TEST(test_out__file_size_limit__fails_and_leaves_the_old_file),
        TEST(test_full_disk__write_and_allocate__say_so_and_leave_the_old),
        TEST(test_map__each_mode__shows_the_bytes),
        TEST(test_map_make__file_in_place__is_replaced_by_the_filled_one),
        TEST(test_allocate__size__is_really_there_and_zero),
        TEST(test_make_dir__twice_and_over_a_file__is_told),
        TEST(
            test_exchange_and_remove_tree__folders__the_new_one_stands_and_links_are_not_followed),
        TEST(test_lock__second_taker__is_refused_until_dropped),
        TEST(test_lock__root_makes_it__belongs_to_the_owner_of_a_folder_with_group),
        TEST(test_lock__holder_dies__is_free),
    };
    return base_init() == ERR_OK ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
