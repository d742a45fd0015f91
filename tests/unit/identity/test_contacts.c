/*
 * test_contacts - what was learnt is found, exactly, for its time, after folds and after kill -9.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/base.h"
#include "core/base/clock.h"
#include "core/base/dir_walk.h"
#include "core/base/file.h"
#include "core/verdict/identity/contacts.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

#define DAY_US ((uint64_t)86400 * 1000000)
#define START  (20000 * DAY_US)

struct site {
    char dir[64];
    struct keyring keys;
    struct contacts *store;
};

static struct contacts *open_store(struct site *s)
{
    struct contacts *c = NULL;
    struct errinfo why = {.code = ERR_OK};
    if (contacts_open(s->dir, &s->keys, &c, &why) != ERR_OK) {
        fail_msg("%s: %s", why.source, why.text);
    }
    return c;
}

static int set_up(void **state)
{
    static struct site s;
    struct errinfo why;
    s = (struct site){.store = NULL};
    assert_true(tempdir_make_fast(s.dir));
    assert_int_equal(keyring_load_or_create(s.dir, &s.keys, &why), ERR_OK);
    clock_set_for_test(START, START);
    s.store = open_store(&s);
    *state = &s;
    return 0;
}

static int tear_down(void **state)
{
    struct site *s = *state;
    contacts_close(&s->store);
    clock_unset_for_test();
    assert_int_equal(file_remove_tree(s->dir, NULL), ERR_OK);
    return 0;
}

static void send(struct contacts *c, const char *from, const char *rcpt, const char *id)
{
    const struct slice to = slice_str(rcpt);
    const struct contacts_sent sent = {
        .from = slice_str(from), .rcpt = &to, .nrcpt = 1, .message_id = slice_str(id)};
    assert_int_equal(contacts_learn_sent(c, &sent), ERR_OK);
}

static bool wrote(struct contacts *c, const char *ours, const char *theirs)
{
    return contacts_wrote(c, slice_str(ours), slice_str(theirs));
}

static bool sent_id(struct contacts *c, const char *id, const char *theirs)
{
    return contacts_sent_id(c, slice_str(id), slice_str(theirs));
}

static void fold(struct contacts *c)
{
    struct errinfo why = {.code = ERR_OK};
    if (contacts_fold(c, &why) != ERR_OK) {
        fail_msg("%s: %s", why.source, why.text);
    }
}

/* ---- what is found ---- */

static void assert_known(struct contacts *c)
{
    assert_true(wrote(c, "ann@our.example", "Bob@their.example"));
    assert_true(wrote(c, "eve@our.example", "bob@their.example")); /* of one domain */
    assert_false(wrote(c, "ann@other.example", "bob@their.example"));
    assert_false(wrote(c, "ann@our.example", "bab@their.example"));
    assert_false(wrote(c, "bob@their.example", "ann@our.example"));
    assert_true(sent_id(c, "1@our.example", "bob@their.example"));
    assert_false(sent_id(c, "1@our.example", "carl@their.example"));
    assert_false(sent_id(c, "2@our.example", "bob@their.example"));
    assert_true(contacts_has_domain(c, SLICE_LIT("their.example")));
    assert_false(contacts_has_domain(c, SLICE_LIT("our.example")));
}

static void test_contacts_learn__sent_mail__is_found_before_and_after_a_fold(
    void **state)
{
    struct site *s = *state;
    send(s->store, "ann@our.example", "bob@mail.their.example", "0@our.example");
    send(s->store, "Ann@our.example", "bob@their.example", "1@our.example");
    assert_known(s->store);
    fold(s->store);
    assert_known(s->store);
    fold(s->store);
    assert_known(s->store);
}

static void test_contacts_open__after_close__finds_what_was_in_the_log(void **state)
{
    struct site *s = *state;
    send(s->store, "ann@our.example", "bob@their.example", "1@our.example");
    contacts_close(&s->store);
    s->store = open_store(s);
    assert_known(s->store);
    fold(s->store);
    contacts_close(&s->store);
    s->store = open_store(s);
    assert_known(s->store);
}

static void test_contacts_view__beside_the_owner__sees_log_and_run(void **state)
{
    struct site *s = *state;
    struct contacts *view = NULL;
    send(s->store, "ann@our.example", "bob@their.example", "1@our.example");
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(contacts_view(s->dir, &s->keys, &view, NULL), ERR_OK);
        assert_known(view);
        contacts_close(&view);
        fold(s->store);
    }
}

static void test_contacts_learn__a_known_list__makes_no_correspondent(void **state)
{
    struct site *s = *state;
    assert_int_equal(contacts_learn_list(s->store, SLICE_LIT("talk@list.example")),
                     ERR_OK);
    send(s->store, "ann@our.example", "talk@list.example", "1@our.example");
    assert_false(wrote(s->store, "ann@our.example", "talk@list.example"));
    assert_false(sent_id(s->store, "1@our.example", "talk@list.example"));
}

/* As when one gillnetd hands over to the next: each has its log. */
static void test_contacts_fold__another_log_is_in_use__is_read_and_stays(void **state)
{
    struct site *s = *state;
    struct contacts *old = s->store;
    send(old, "ann@our.example", "bob@their.example", "");
    s->store = open_store(s);
    fold(s->store);
    assert_true(wrote(s->store, "ann@our.example", "bob@their.example"));
    send(old, "ann@our.example", "carl@their.example",
         ""); /* into the log that was read */
    contacts_close(&old);
    fold(s->store);
    contacts_close(&s->store);
    s->store = open_store(s);
    assert_true(wrote(s->store, "ann@our.example", "bob@their.example"));
    assert_true(wrote(s->store, "ann@our.example", "carl@their.example"));
}

/* ---- time and room ---- */

static void test_contacts__its_days_are_over__is_forgotten(void **state)
{
    struct site *s = *state;
    send(s->store, "ann@our.example", "bob@their.example", "1@our.example");
    clock_advance_us(60 * DAY_US);
    assert_true(sent_id(s->store, "1@our.example", "bob@their.example"));
    clock_advance_us(DAY_US);
    assert_false(sent_id(s->store, "1@our.example", "bob@their.example"));
    clock_advance_us(119 * DAY_US);
    assert_true(wrote(s->store, "ann@our.example", "bob@their.example"));
    fold(s->store);
    assert_true(wrote(s->store, "ann@our.example", "bob@their.example"));
    clock_advance_us(8 * DAY_US);
    assert_false(wrote(s->store, "ann@our.example", "bob@their.example"));
    fold(s->store);
    struct contacts_numbers n;
    contacts_numbers(s->store, &n);
    assert_int_equal(n.folded, 0);
}

static void test_contacts_learn__written_to_again__stays_for_its_time_from_then(
    void **state)
{
    struct site *s = *state;
    send(s->store, "ann@our.example", "bob@their.example", "");
    fold(s->store);
    clock_advance_us(100 * DAY_US);
    send(s->store, "ann@our.example", "bob@their.example", "");
    clock_advance_us(100 * DAY_US);
    assert_true(wrote(s->store, "ann@our.example", "bob@their.example"));
    fold(s->store);
    assert_true(wrote(s->store, "ann@our.example", "bob@their.example"));
}

static void test_contacts_learn__the_same_day_again__writes_nothing(void **state)
{
    struct site *s = *state;
    struct contacts_numbers before;
    struct contacts_numbers after;
    send(s->store, "ann@our.example", "bob@their.example", "1@our.example");
    contacts_numbers(s->store, &before);
    send(s->store, "ann@our.example", "bob@their.example", "1@our.example");
    contacts_numbers(s->store, &after);
    assert_int_equal(before.bytes, after.bytes);
}

/* Far more pairs than one block: none is missed, and a hundred thousand others are not found. */
static void test_contacts__many__no_answer_is_wrong(void **state)
{
    enum { MANY = 3000, OTHERS = 100000 };
    struct site *s = *state;
    char rcpt[64];
    for (unsigned i = 0; i < MANY; i++) {
        (void)snprintf(rcpt, sizeof(rcpt), "p%u@their%u.example", i, i % 7);
        send(s->store, "ann@our.example", rcpt, "");
        if (i == MANY / 2) {
            fold(s->store);
        }
    }
    fold(s->store);
    for (unsigned i = 0; i < OTHERS; i++) {
        (void)snprintf(rcpt, sizeof(rcpt), "p%u@their%u.example", i, i % 7);
        assert_true(wrote(s->store, "ann@our.example", rcpt) == (i < MANY));
    }
}

/* ---- damage ---- */

static void damage(const struct site *s, const char *prefix, off_t from_end)
{
    char folder[128];
    char path[FILE_PATH_MAX] = "";
    (void)snprintf(folder, sizeof(folder), "%s/" CONTACTS_DIR, s->dir);
    struct dir_walk w = dir_walk_begin(folder, DIR_NEEDED);
    while (dir_walk_next(&w)) {
        if (strncmp(w.name, prefix, strlen(prefix)) == 0) {
            assert_int_equal(path_make(path, NULL, "%s/%s", folder, w.name), ERR_OK);
        }
    }
    assert_int_equal(dir_walk_end(&w, ERR_OK, NULL), ERR_OK);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    char c = 0;
    assert_int_equal(pread(fd, &c, 1, st.st_size - from_end), 1);
    c = (char)~c;
    assert_int_equal(pwrite(fd, &c, 1, st.st_size - from_end), 1);
    (void)close(fd);
}

static void test_contacts_open__a_damaged_record__the_others_serve(void **state)
{
    struct site *s = *state;
    send(s->store, "ann@our.example", "bob@their.example", "");
    send(s->store, "ann@our.example", "carl@their.example", "");
    contacts_close(&s->store);
    damage(s, "log.", 20); /* the pair of addresses of the second */
    s->store = open_store(s);
    assert_true(wrote(s->store, "ann@our.example", "bob@their.example"));
    assert_true(
        wrote(s->store, "ann@our.example", "carl@their.example")); /* of the domain */
}

static void test_contacts_open__a_torn_record__is_not_there(void **state)
{
    struct site *s = *state;
    char path[128];
    send(s->store, "ann@our.example", "bob@their.example", "");
    contacts_close(&s->store);
    (void)snprintf(path, sizeof(path), "%s/" CONTACTS_DIR "/log.1", s->dir);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(truncate(path, st.st_size - 5), 0);
    s->store = open_store(s);
    assert_true(wrote(s->store, "ann@our.example", "bob@their.example"));
    assert_false(contacts_has_domain(s->store, SLICE_LIT("their.example")));
}

static void test_contacts_open__a_damaged_log__is_refused_by_name(void **state)
{
    struct site *s = *state;
    struct errinfo why = {.code = ERR_OK};
    contacts_close(&s->store);
    damage(s, "log.", 16);
    assert_int_equal(contacts_open(s->dir, &s->keys, &s->store, &why), ERR_CORRUPT);
    assert_non_null(strstr(why.source, "/log.1"));
    assert_non_null(strstr(why.text, "move it away"));
}

static void test_contacts_learn__no_disk__serves_and_says_so(void **state)
{
    struct site *s = *state;
    const struct slice to = SLICE_LIT("bob@their.example");
    const struct contacts_sent sent = {
        .from = SLICE_LIT("ann@our.example"), .rcpt = &to, .nrcpt = 1};
    struct rlimit was;
    struct contacts_numbers n;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    const struct rlimit none = {.rlim_cur = 16, .rlim_max = was.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    assert_int_not_equal(contacts_learn_sent(s->store, &sent), ERR_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    assert_true(wrote(s->store, "ann@our.example", "bob@their.example"));
    contacts_numbers(s->store, &n);
    assert_true(n.is_volatile);
    fold(s->store);
    contacts_close(&s->store);
    s->store = open_store(s);
    assert_true(wrote(s->store, "ann@our.example", "bob@their.example"));
}

/* ---- kill -9 ---- */

static void on_nothing(void)
{
}

/* Learns one recipient after the other, folds at times, and writes the number of each to the pipe once
 * it was acknowledged. */
static _Noreturn void learn_until_killed(struct site *s, unsigned first, int out)
{
    static const struct contacts_hooks hooks = {.on_tick = on_nothing};
    struct contacts *c = NULL;
    char rcpt[64];
    struct errinfo why = {.code = ERR_OK};
    if (contacts_open(s->dir, &s->keys, &c, &why) != ERR_OK ||
        contacts_start(c, &hooks, &why) != ERR_OK) {
        (void)fprintf(stderr, "%s: %s\n", why.source, why.text);
        _exit(1);
    }
    for (unsigned i = first;; i++) {
        struct slice to = SLICE_NONE;
        (void)snprintf(rcpt, sizeof(rcpt), "p%u@their.example", i);
        to = slice_str(rcpt);
        const struct contacts_sent sent = {
            .from = SLICE_LIT("ann@our.example"), .rcpt = &to, .nrcpt = 1};
        if (contacts_learn_sent(c, &sent) != ERR_OK ||
            write(out, &i, sizeof(i)) != (ssize_t)sizeof(i)) {
            _exit(1);
        }
        if (i % 500 == 499) { /* the thread folds only once an hour or so */
            (void)contacts_fold(c, NULL);
        }
    }
}

/* How many the child acknowledged in all. */
static unsigned kill_at_random(struct site *s, unsigned first)
{
    int pipes[2];
    unsigned i = 0;
    unsigned next = first;
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)close(pipes[0]);
        learn_until_killed(s, first, pipes[1]);
    }
    (void)close(pipes[1]);
    usleep((useconds_t)(rand() % 20000));
    assert_int_equal(kill(child, SIGKILL), 0);
    while (read(pipes[0], &i, sizeof(i)) == (ssize_t)sizeof(i)) {
        next = i + 1;
    }
    (void)close(pipes[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    return next;
}

static void test_contacts__kill_9_at_random_points__nothing_acknowledged_is_lost(
    void **state)
{
    enum { LATELY = 5000 };
    struct site *s = *state;
    const char *wanted = getenv("GILLNET_KILLS");
    const unsigned kills = wanted != NULL ? (unsigned)strtoul(wanted, NULL, 10) : 30;
    unsigned n = 0;
    char rcpt[64];
    clock_unset_for_test();
    contacts_close(&s->store);
    for (unsigned k = 0; k < kills; k++) {
        struct contacts *view = NULL;
        struct errinfo why = {.code = ERR_OK};
        n = kill_at_random(s, n);
        if (contacts_view(s->dir, &s->keys, &view, &why) != ERR_OK) {
            fail_msg("%s: %s", why.source, why.text);
        }
        /* the last thousands after each kill, and all of them after the last one */
        for (unsigned i = k + 1 == kills || n < LATELY ? 0 : n - LATELY; i < n; i++) {
            (void)snprintf(rcpt, sizeof(rcpt), "p%u@their.example", i);
            if (!contacts_wrote(view, SLICE_LIT("ann@our.example"), slice_str(rcpt))) {
                fail_msg("kill %u: %s of %u is lost", k, rcpt, n);
            }
        }
        contacts_close(&view);
    }
    assert_true(n > kills);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_contacts_learn__sent_mail__is_found_before_and_after_a_fold),
        TEST(test_contacts_open__after_close__finds_what_was_in_the_log),
        TEST(test_contacts_view__beside_the_owner__sees_log_and_run),
        TEST(test_contacts_learn__a_known_list__makes_no_correspondent),
        TEST(test_contacts_fold__another_log_is_in_use__is_read_and_stays),
        TEST(test_contacts__its_days_are_over__is_forgotten),
        TEST(test_contacts_learn__written_to_again__stays_for_its_time_from_then),
        TEST(test_contacts_learn__the_same_day_again__writes_nothing),
        TEST(test_contacts__many__no_answer_is_wrong),
        TEST(test_contacts_open__a_damaged_record__the_others_serve),
        TEST(test_contacts_open__a_torn_record__is_not_there),
        TEST(test_contacts_open__a_damaged_log__is_refused_by_name),
        TEST(test_contacts_learn__no_disk__serves_and_says_so),
        TEST(test_contacts__kill_9_at_random_points__nothing_acknowledged_is_lost),
    };
    if (base_init() != ERR_OK) {
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
