/* test_feed_credentials - credentials for a feed's server: in the address, in files of passwords
 * and of header fields. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "core/base/secret_file.h"
#include "core/hub/fetch/feed_credentials.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum { TEXT_MAX = SECRET_FILE_MAX + 1024 };

struct fixture {
    struct tempdir *dir;
    struct config_feed feed;
    char url[1024];
    char user[FEED_USER_MAX + 8];
    char password_file[128];
    char headers_file[128];
    char name[8];
    struct feed_credentials secret;
    struct errinfo why;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    assert_non_null(f);
    assert_int_equal(tempdir_setup((void **)&f->dir), 0);
    (void)snprintf(f->url, sizeof(f->url), "https://feeds.example/f");
    (void)snprintf(f->name, sizeof(f->name), "phish");
    f->feed = (struct config_feed){.name = f->name,
                                   .url = f->url,
                                   .user = f->user,
                                   .password_file = f->password_file,
                                   .headers_file = f->headers_file};
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    feed_credentials_forget(&f->secret);
    (void)tempdir_teardown((void **)&f->dir);
    free(f);
    return 0;
}

static enum err read_secret(struct fixture *f)
{
    feed_credentials_forget(&f->secret);
    f->why = (struct errinfo){.code = ERR_OK};
    return feed_credentials_read(&f->feed, &f->secret, &f->why);
}

static void put(struct fixture *f, char path[128], const char *name, struct slice text,
                mode_t mode)
{
    (void)snprintf(path, 128, "%s/%s", f->dir->path, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, text.p, text.n), (ssize_t)text.n);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static void put_password(struct fixture *f, struct slice text)
{
    put(f, f->password_file, "password", text, 0640);
}

static void put_headers(struct fixture *f, struct slice text)
{
    put(f, f->headers_file, "headers", text, 0640);
}

/* n times c behind what is there. */
static void add_chars(struct buf *b, char c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        buf_add_char(b, c);
    }
}

/* ---- the address ---- */

static void test_address__with_user_and_password__then_decoded(void **state)
{
    static const struct {
        const char *url;
        const char *user;
        const char *password;
    } rows[] = {
        {"https://feeds.example/f", "", ""},
        {"https://me@feeds.example/f", "me", ""},
        {"https://me:pw@feeds.example/f", "me", "pw"},
        {"https://me:@feeds.example/f", "me", ""},
        {"https://a%40b.example:p%3aw%2F%25@feeds.example/f", "a@b.example", "p:w/%"},
        {"https://m%C3%A9:%F0%9F%94%91@feeds.example/f", "m\xc3\xa9",
         "\xf0\x9f\x94\x91"},
        {"https://a+b:c+d@feeds.example/f", "a+b", "c+d"},
        {"https://feeds.example/me:pw@f", "", ""},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        (void)snprintf(f->url, sizeof(f->url), "%s", rows[i].url);
        assert_int_equal(read_secret(f), ERR_OK);
        assert_string_equal(f->secret.user, rows[i].user);
        assert_string_equal(f->secret.password, rows[i].password);
        assert_int_equal(f->secret.nheaders, 0);
    }
}

static void test_address__of_more_than_fits__then_said(void **state)
{
    struct fixture *f = *state;
    struct buf b;

    buf_init(&b, sizeof(f->url));
    for (size_t n = FEED_USER_MAX - 1; n <= FEED_USER_MAX; n++) {
        for (int of_user = 0; of_user < 2; of_user++) {
            buf_clear(&b);
            buf_add_str(&b, of_user ? "https://" : "https://me:");
            add_chars(&b, 'x', n);
            buf_add_str(&b, of_user ? ":pw@feeds.example/f" : "@feeds.example/f");
            (void)snprintf(f->url, sizeof(f->url), "%s", b.p);
            if (n < FEED_USER_MAX) {
                assert_int_equal(read_secret(f), ERR_OK);
                assert_int_equal(strlen(of_user ? f->secret.user : f->secret.password),
                                 n);
            } else {
                assert_int_equal(read_secret(f), ERR_SYNTAX);
                assert_string_equal(f->why.source, "phish");
                assert_null(strstr(f->why.text, "xxx"));
            }
        }
    }
    buf_fini(&b);
}

static void test_address__with_what_no_password_has__then_said(void **state)
{
    static const char *const rows[] = {"https://me:a%00b@feeds.example/f",
                                       "https://me:a%0ab@feeds.example/f",
                                       "https://m%0de:pw@feeds.example/f"};
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        (void)snprintf(f->url, sizeof(f->url), "%s", rows[i]);
        assert_int_equal(read_secret(f), ERR_SYNTAX);
    }
}

/* ---- the configuration ---- */

static void test_user__of_the_configuration__then_before_that_of_the_address(
    void **state)
{
    struct fixture *f = *state;

    (void)snprintf(f->url, sizeof(f->url), "https://me:pw@feeds.example/f");
    (void)snprintf(f->user, sizeof(f->user), "you");
    assert_int_equal(read_secret(f), ERR_OK);
    assert_string_equal(f->secret.user, "you");
    assert_string_equal(f->secret.password, "pw");
    put_password(f, SLICE_LIT("other\n"));
    assert_int_equal(read_secret(f), ERR_OK);
    assert_string_equal(f->secret.password, "other");
    memset(f->user, 'x', FEED_USER_MAX - 1);
    assert_int_equal(read_secret(f), ERR_OK);
    memset(f->user, 'x', FEED_USER_MAX);
    assert_int_equal(read_secret(f), ERR_LIMIT);
}

static void test_password__of_a_file__then_its_first_line(void **state)
{
    const struct {
        struct slice text;
        const char *password; /* NULL: refused */
    } rows[] = {
        {SLICE_LIT("pw"), "pw"},
        {SLICE_LIT("pw\n"), "pw"},
        {SLICE_LIT(" a b:c#\t\r\nnext\n"), "a b:c#"},
        {SLICE_LIT(""), NULL},
        {SLICE_LIT("\npw\n"), NULL},
        {SLICE_LIT(" \r\n"), NULL},
        {SLICE_LIT("p\0w\n"), NULL},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        put_password(f, rows[i].text);
        if (rows[i].password != NULL) {
            assert_int_equal(read_secret(f), ERR_OK);
            assert_string_equal(f->secret.password, rows[i].password);
        } else {
            assert_int_equal(read_secret(f), ERR_SYNTAX);
            assert_string_equal(f->why.source, f->password_file);
        }
    }
}

static void test_password__of_more_than_fits__then_refused(void **state)
{
    struct fixture *f = *state;
    struct buf b;

    buf_init(&b, TEXT_MAX);
    add_chars(&b, 'x', FEED_USER_MAX - 1);
    put_password(f, buf_slice(&b));
    assert_int_equal(read_secret(f), ERR_OK);
    add_chars(&b, 'x', 1);
    put_password(f, buf_slice(&b));
    assert_int_equal(read_secret(f), ERR_SYNTAX);
    add_chars(&b, '\n', SECRET_FILE_MAX);
    put_password(f, buf_slice(&b));
    assert_int_not_equal(read_secret(f), ERR_OK);
    buf_fini(&b);
}

/* ---- header fields ---- */

static void test_headers__with_comments_and_any_line_end__then_the_fields(void **state)
{
    struct fixture *f = *state;

    put_headers(f,
                SLICE_LIT("# key\r\nAuth-Key: a b:c\r\n\r\n\nX-Empty:\n#X: no\nY:z"));
    assert_int_equal(read_secret(f), ERR_OK);
    assert_int_equal(f->secret.nheaders, 3);
    assert_string_equal(f->secret.header[0], "Auth-Key: a b:c");
    assert_string_equal(f->secret.header[1], "X-Empty:");
    assert_string_equal(f->secret.header[2], "Y:z");
    put_headers(f, SLICE_LIT(""));
    assert_int_equal(read_secret(f), ERR_OK);
    assert_int_equal(f->secret.nheaders, 0);
}

static void test_headers__with_a_line_that_is_none__then_its_number(void **state)
{
    const struct {
        struct slice text;
        unsigned line; /* 0: the file as a whole */
    } rows[] = {
        {SLICE_LIT("secret\n"), 1},
        {SLICE_LIT("A: b\n: c\n"), 2},
        {SLICE_LIT("A: b\r\n\r\nB c: d\r\n"), 3},
        {SLICE_LIT("#\nA: b\n folded\n"), 3},
        {SLICE_LIT("A : b\n"), 1},
        {SLICE_LIT("A\t: b\n"), 1},
        {SLICE_LIT("A: b\0\nB: c\n"), 0},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        put_headers(f, rows[i].text);
        assert_int_equal(read_secret(f), ERR_SYNTAX);
        assert_int_equal(f->why.line, rows[i].line);
        assert_string_equal(f->why.source, f->headers_file);
        assert_null(strstr(f->why.text, "secret"));
    }
}

static void test_headers__of_more_than_fit__then_refused(void **state)
{
    struct fixture *f = *state;
    struct buf b;

    buf_init(&b, TEXT_MAX);
    for (int i = 0; i < FEED_HEADERS_MAX; i++) {
        buf_printf(&b, "X-%d: y\n", i);
    }
    put_headers(f, buf_slice(&b));
    assert_int_equal(read_secret(f), ERR_OK);
    assert_int_equal(f->secret.nheaders, FEED_HEADERS_MAX);
    buf_add_str(&b, "# no more\n");
    put_headers(f, buf_slice(&b));
    assert_int_equal(read_secret(f), ERR_OK);
    buf_add_str(&b, "One: more\n");
    put_headers(f, buf_slice(&b));
    assert_int_equal(read_secret(f), ERR_SYNTAX);
    assert_int_equal(f->why.line, FEED_HEADERS_MAX + 2);
    buf_clear(&b);
    buf_add_str(&b, "X: ");
    add_chars(&b, 'y', SECRET_FILE_MAX - b.n);
    put_headers(f, buf_slice(&b));
    assert_int_equal(read_secret(f), ERR_OK);
    add_chars(&b, 'y', 1);
    put_headers(f, buf_slice(&b));
    assert_int_not_equal(read_secret(f), ERR_OK);
    assert_string_equal(f->why.source, f->headers_file);
    buf_fini(&b);
}

/* ---- the files, and the end ---- */

static void test_files__that_others_may_read_or_change__then_refused(void **state)
{
    struct fixture *f = *state;

    for (unsigned mode = 0600; mode <= 0677; mode++) {
        bool is_ours = (mode & 07) == 0;

        put(f, f->password_file, "password", SLICE_LIT("pw\n"), mode);
        assert_int_equal(read_secret(f), is_ours ? ERR_OK : ERR_DENIED);
        f->password_file[0] = '\0';
        put(f, f->headers_file, "headers", SLICE_LIT("A: b\n"), mode);
        assert_int_equal(read_secret(f), is_ours ? ERR_OK : ERR_DENIED);
        if (!is_ours) {
            assert_string_equal(f->why.source, f->headers_file);
            assert_non_null(strstr(f->why.text, "chmod 640"));
        }
        f->headers_file[0] = '\0';
    }
}

static void test_files__that_are_not_there__then_named(void **state)
{
    struct fixture *f = *state;

    (void)snprintf(f->password_file, 128, "%s/none", f->dir->path);
    assert_int_equal(read_secret(f), ERR_NOT_FOUND);
    assert_string_equal(f->why.source, f->password_file);
    (void)snprintf(f->headers_file, 128, "%s/no-headers", f->dir->path);
    f->password_file[0] = '\0';
    assert_int_equal(read_secret(f), ERR_NOT_FOUND);
    assert_string_equal(f->why.source, f->headers_file);
}

static void test_forget__when_read_or_not__then_nothing_is_left(void **state)
{
    static const struct feed_credentials none;
    struct fixture *f = *state;

    (void)snprintf(f->url, sizeof(f->url), "https://me:pw@feeds.example/f");
    put_headers(f, SLICE_LIT("A: b\n"));
    assert_int_equal(read_secret(f), ERR_OK);
    feed_credentials_forget(&f->secret);
    assert_memory_equal(f->secret.user, none.user, sizeof(none.user));
    assert_memory_equal(f->secret.password, none.password, sizeof(none.password));
    assert_null(f->secret.text.p);
    put_headers(f, SLICE_LIT("no field\n")); /* what was read before it failed */
    assert_int_equal(read_secret(f), ERR_SYNTAX);
    feed_credentials_forget(&f->secret);
    assert_memory_equal(f->secret.password, none.password, sizeof(none.password));
    assert_null(f->secret.text.p);
}

int main(void)
{
#define ONE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    static const struct CMUnitTest tests[] = {
        ONE(test_address__with_user_and_password__then_decoded),
        ONE(test_address__of_more_than_fits__then_said),
        ONE(test_address__with_what_no_password_has__then_said),
        ONE(test_user__of_the_configuration__then_before_that_of_the_address),
        ONE(test_password__of_a_file__then_its_first_line),
        ONE(test_password__of_more_than_fits__then_refused),
        ONE(test_headers__with_comments_and_any_line_end__then_the_fields),
        ONE(test_headers__with_a_line_that_is_none__then_its_number),
        ONE(test_headers__of_more_than_fit__then_refused),
        ONE(test_files__that_others_may_read_or_change__then_refused),
        ONE(test_files__that_are_not_there__then_named),
        ONE(test_forget__when_read_or_not__then_nothing_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
