/*
 * test_statedir - the state folder: refused where strangers may write; only files that root left in
 * it are given to its owner.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/file.h"
#include "core/base/statedir.h"
#include "core/base/statedir_try.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum { MAIL = 8, NEWS = 9 };

static char *in(const struct tempdir *t, const char *name)
{
    static char paths[8][TEMPDIR_PATH];
    static unsigned next;
    char *path = paths[next++ % 8];

    snprintf(path, TEMPDIR_PATH, "%s/%s", t->path, name);
    return path;
}

static void put(const struct tempdir *t, const char *name, mode_t mode)
{
    assert_int_equal(file_write_atomic(in(t, name), SLICE_LIT("x\n"), mode, NULL),
                     ERR_OK);
}

static void assert_is(const struct tempdir *t, const char *name, uid_t uid, gid_t gid,
                      mode_t mode)
{
    struct stat st;

    assert_int_equal(lstat(in(t, name), &st), 0);
    if (st.st_uid != uid || st.st_gid != gid || (st.st_mode & 07777) != mode) {
        fail_msg("%s: %u:%u %o", name, st.st_uid, st.st_gid, st.st_mode & 07777);
    }
}

static void test_check__strangers_may_write__refused(void **state)
{
    const struct tempdir *t = *state;
    struct errinfo why = {.code = ERR_OK};
    char *keys = in(t, "s/keys");

    assert_int_equal(statedir_check(in(t, "s"), &why), ERR_OK); /* not there */
    assert_int_equal(statedir_make(in(t, "s"), &why), ERR_OK);
    assert_int_equal(statedir_make(in(t, "s"), &why), ERR_OK);
    assert_int_equal(mkdir(keys, 0750), 0);
    assert_int_equal(statedir_check(in(t, "s"), &why), ERR_OK);
    assert_int_equal(chmod(keys, 0757), 0);
    assert_int_equal(statedir_check(in(t, "s"), &why), ERR_DENIED);
    assert_non_null(strstr(why.text, "chmod o-w"));
    assert_string_equal(why.source, keys);
    assert_int_equal(chmod(keys, 0750), 0);
    assert_int_equal(chmod(in(t, "s"), 01777), 0); /* as /tmp */
    assert_int_equal(statedir_make(in(t, "s"), &why), ERR_DENIED);
}

static void test_settle__root_left_files__given_to_the_owner_of_their_folder(
    void **state)
{
    const struct tempdir *t = *state;

    if (geteuid() != 0) {
        skip();
    }
    assert_int_equal(mkdir(in(t, "lists"), 0750), 0);
    assert_int_equal(mkdir(in(t, "lists/phish"), 0700), 0);
    assert_int_equal(mkdir(in(t, "peers"), 0750), 0);
    assert_int_equal(mkdir(in(t, "other"), 0750), 0);
    put(t, "lists/phish/CURRENT", 0600);
    put(t, "lists/phish/theirs", 0600);
    put(t, "lists/phish/twice", 0600);
    put(t, "peers/identity.key", 0600);
    put(t, "other/file", 0600);
    assert_int_equal(chown(in(t, "lists/phish/theirs"), 3, 3), 0);
    assert_int_equal(link(in(t, "lists/phish/twice"), in(t, "elsewhere")), 0);
    assert_int_equal(symlink(in(t, "other/file"), in(t, "lists/link")), 0);
    statedir_settle(t->path); /* nobody else is known: nothing */
    assert_is(t, "lists/phish/CURRENT", 0, 0, 0600);
    assert_int_equal(chown(t->path, MAIL, NEWS), 0);
    assert_int_equal(chown(in(t, "peers"), NEWS, MAIL), 0);
    statedir_settle(t->path);
    assert_is(t, "lists", MAIL, NEWS, 02750);
    assert_is(t, "lists/phish", MAIL, NEWS, 02750);
    assert_is(t, "lists/phish/CURRENT", MAIL, NEWS, 0640);
    assert_is(t, "lists/phish/theirs", 3, 3, 0600);
    assert_is(t, "lists/phish/twice", 0, 0, 0600); /* it has a name elsewhere */
    assert_is(t, "peers", NEWS, MAIL, 0750);
    assert_is(t, "peers/identity.key", NEWS, MAIL, 0600); /* a secret stays one */
    assert_is(t, "other", 0, 0, 0750);
    assert_is(t, "other/file", 0, 0, 0600);
}

struct seen {
    unsigned n;
    char what[1024];
    char mend[1024];
    char all[8192]; /* what was said so far */
};

static void on_trouble(void *context, const char *what, const char *mend)
{
    struct seen *s = context;

    s->n++;
    strncat(s->all, what, sizeof(s->all) - strlen(s->all) - 1);
    snprintf(s->what, sizeof(s->what), "%s", what);
    snprintf(s->mend, sizeof(s->mend), "%s", mend);
}

static void test_try__as_the_user__names_the_file_and_what_mends_it(void **state)
{
    const struct tempdir *t = *state;
    struct statedir_use use = {
        .dir = t->path, .config_file = "", .service = STATEDIR_GILLNETD};
    struct seen seen = {.n = 0};

    if (geteuid() != 0) {
        skip();
    }
    assert_int_equal(mkdir(in(t, "lists"), 0750), 0);
    assert_int_equal(mkdir(in(t, "lists/phish"), 0750), 0);
    assert_int_equal(mkdir(in(t, "counts"), 0750), 0);
    put(t, "lists/phish/CURRENT", 0640);
    put(t, "counts/x", 0640);
    assert_false(statedir_user(t->path, STATEDIR_GILLNETD, 0, &use.user)); /* root */
    assert_int_equal(chown(t->path, MAIL, MAIL), 0);
    statedir_settle(t->path);
    assert_true(statedir_user(t->path, STATEDIR_GILLNETD, 0, &use.user));
    assert_string_equal(use.user.name, "mail");
    assert_int_equal(statedir_try(&use, on_trouble, &seen, NULL), ERR_OK);
    assert_int_equal(seen.n, 0);
    assert_int_equal(chown(in(t, "counts/x"), 0, MAIL), 0); /* to be read only */
    assert_int_equal(chown(in(t, "lists/phish/CURRENT"), 0, 0), 0);
    assert_int_equal(statedir_try(&use, on_trouble, &seen, NULL), ERR_OK);
    assert_int_equal(seen.n, 2);
    assert_non_null(strstr(seen.what, "may not write to "));
    assert_non_null(strstr(seen.what, "/counts/x: Permission denied"));
    assert_non_null(strstr(seen.mend, "chown -R mail:mail "));
    /* the configuration has a command of its own */
    assert_int_equal(mkdir(in(t, "etc"), 0755), 0);
    put(t, "etc/gillnet.conf", 0600);
    use.config_file = in(t, "etc/gillnet.conf");
    assert_int_equal(statedir_try(&use, on_trouble, &seen, NULL), ERR_OK);
    assert_int_equal(seen.n, 5);
    assert_non_null(strstr(seen.all, "may not read "));
    assert_non_null(strstr(seen.all, "/etc/gillnet.conf: Permission denied"));
    /* the process of this test: its ids and groups */
    assert_true(trial_user_of_process((uint64_t)getpid(), &use.user));
    assert_int_equal(use.user.uid, geteuid());
    assert_int_equal(use.user.gid, getegid());
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, tempdir_setup, tempdir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_check__strangers_may_write__refused),
        TEST(test_settle__root_left_files__given_to_the_owner_of_their_folder),
        TEST(test_try__as_the_user__names_the_file_and_what_mends_it),
    };
    return base_init() == ERR_OK ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
