/* test_api_auth - tokens of a file and who they are, local clients, and requests that another site's page made. */
#include <sys/resource.h>

#include "core/base/checksum.h"
#include "core/base/clock.h"
#include "core/hub/api/api_auth.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

enum { US_PER_S = 1000000, STRANGER = 65534 };

struct fixture {
    struct tempdir *dir;
    struct config config;
    struct api_tokens *tokens;
    char path[128];
    struct buf text;
    struct api_who who;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    assert_non_null(f);
    assert_int_equal(tempdir_setup((void **)&f->dir), 0);
    (void)snprintf(f->path, sizeof(f->path), "%s/tokens", f->dir->path);
    clock_set_for_test(UINT64_C(1700000000) * US_PER_S, US_PER_S);
    f->config.api.local_role = API_READ;
    f->tokens = api_tokens_new();
    assert_non_null(f->tokens);
    buf_init(&f->text, (size_t)2 * API_TOKENS_BYTES);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    api_tokens_free(&f->tokens);
    assert_null(f->tokens);
    buf_fini(&f->text);
    clock_unset_for_test();
    (void)tempdir_teardown((void **)&f->dir);
    free(f);
    return 0;
}

/* ---- the file ---- */

static void add_row(struct fixture *f, const char *name, const char *role,
                    const char *token)
{
    struct sha256 sum;
    char hash[SHA256_HEX + 1];

    assert_int_equal(sha256_init(&sum), ERR_OK);
    sha256_add(&sum, slice_str(token));
    sha256_final_hex(&sum, hash);
    buf_printf(&f->text, "%s %s %s\n", name, role, hash);
}

/* The text becomes the file, as an editor saves it; the text is empty then. */
static void save(struct fixture *f, mode_t mode)
{
    char fresh[160];

    (void)snprintf(fresh, sizeof(fresh), "%s.new", f->path);
    int fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, f->text.p, f->text.n), (ssize_t)f->text.n);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
    assert_int_equal(rename(fresh, f->path), 0);
    buf_clear(&f->text);
}

static void look(struct fixture *f)
{
    api_tokens_look(f->tokens, f->path);
}

static bool ask(struct fixture *f, const char *authorization, bool is_local)
{
    const struct http_request r = {.authorization = slice_str(authorization)};

    return api_who(f->tokens, &f->config, &r, is_local, false, &f->who);
}

static bool is_taken(struct fixture *f, const char *token)
{
    char field[128];

    (void)snprintf(field, sizeof(field), "Bearer %s", token);
    return ask(f, field, false);
}

static void assert_who(const struct fixture *f, enum api_role role, const char *name)
{
    assert_int_equal(f->who.role, role);
    assert_string_equal(f->who.name, name);
}

static void test_tokens__of_each_role__then_who_they_are(void **state)
{
    struct fixture *f = *state;

    buf_add_str(&f->text, "# who may what\n\n");
    add_row(f, "monitor", "read", "one");
    add_row(f, "mail_2", "report", "two");
    buf_add_str(&f->text, "   # more\n\t");
    add_row(f, "me", "admin", "three");
    add_row(f, "nobody", "none", "four");
    buf_add_str(&f->text, "\r\n");
    save(f, 0640);
    look(f);
    assert_true(is_taken(f, "one"));
    assert_who(f, API_READ, "monitor");
    assert_true(is_taken(f, "two"));
    assert_who(f, API_REPORT, "mail_2");
    assert_true(is_taken(f, "three"));
    assert_who(f, API_ADMIN, "me");
    assert_true(is_taken(f, "four"));
    assert_who(f, API_NONE, "nobody");
    assert_false(is_taken(f, "five"));
    assert_who(f, API_NONE, "anonymous");
}

static void test_tokens__in_lines_that_are_bad__then_only_those_are_left_out(
    void **state)
{
    static const char *const bad[] = {
        "one read %s more\n", "one  %s\n",     "one root %s\n", "one READ %s\n",
        "o,ne\" read %s\n",   "read %s\n",     "%s\n",          "one:read:%s\n",
        "one read x%s\n",     "one read %s0\n"};
    struct fixture *f = *state;

    for (size_t i = 0; i < LENGTH(bad); i++) {
        struct buf hash;

        add_row(f, "x", "read", "one");
        buf_init(&hash, SHA256_HEX);
        buf_add(&hash, slice_head(slice_from(buf_slice(&f->text), 7), SHA256_HEX));
        buf_clear(&f->text);
        add_row(f, "before", "read", "two");
        char line[160];
        const char *at = strstr(bad[i], "%s");
        (void)snprintf(line, sizeof(line), "%.*s%s%s", (int)(at - bad[i]), bad[i],
                       hash.p, at + 2);
        buf_add_str(&f->text, line);
        add_row(f, "behind", "admin", "three");
        save(f, 0600);
        look(f);
        if (is_taken(f, "one") || !is_taken(f, "two") || !is_taken(f, "three")) {
            fail_msg("%s", line);
        }
        buf_fini(&hash);
    }
}

static void test_token_name__at_its_bounds__then_as_it_says(void **state)
{
    char name[API_NAME_MAX + 2];

    (void)state;
    memset(name, 'a', sizeof(name));
    assert_true(api_token_name_is_valid(slice_of(name, 1)));
    assert_true(api_token_name_is_valid(slice_of(name, API_NAME_MAX)));
    assert_false(api_token_name_is_valid(slice_of(name, API_NAME_MAX + 1)));
    assert_false(api_token_name_is_valid(SLICE_NONE));
    assert_true(api_token_name_is_valid(SLICE_LIT("web-mail_1.example")));
    assert_false(api_token_name_is_valid(SLICE_LIT("a b")));
    assert_false(api_token_name_is_valid(SLICE_LIT("a\nb")));
    assert_false(api_token_name_is_valid(SLICE_LIT("a\0b")));
    assert_false(api_token_name_is_valid(SLICE_LIT("a\"b")));
    assert_false(api_token_name_is_valid(SLICE_LIT("m\xc3\xa9")));
}

static void test_tokens__that_are_too_many__then_the_first_of_them(void **state)
{
    struct fixture *f = *state;
    char name[API_NAME_MAX + 1];

    for (int i = 0; i <= API_TOKENS_MAX; i++) {
        (void)snprintf(name, sizeof(name), "t%d", i);
        add_row(f, name, "read", name);
    }
    save(f, 0600);
    look(f);
    assert_true(is_taken(f, "t0"));
    (void)snprintf(name, sizeof(name), "t%d", API_TOKENS_MAX - 1);
    assert_true(is_taken(f, name));
    (void)snprintf(name, sizeof(name), "t%d", API_TOKENS_MAX);
    assert_false(is_taken(f, name));
}

static void test_tokens__of_a_file_too_long__then_none(void **state)
{
    struct fixture *f = *state;

    for (size_t over = 0; over < 2; over++) {
        add_row(f, "x", "read", "one");
        while (f->text.n < API_TOKENS_BYTES + over) {
            buf_add_char(&f->text, f->text.n % 64 == 0 ? '\n' : '#');
        }
        save(f, 0600);
        look(f);
        assert_true(is_taken(f, "one") == (over == 0));
    }
}

static void test_tokens__of_a_file_that_others_may_touch__then_none(void **state)
{
    struct fixture *f = *state;

    for (unsigned mode = 0600; mode <= 0677; mode++) {
        add_row(f, "x", "read", "one");
        save(f, mode);
        look(f);
        if (is_taken(f, "one") != ((mode & 027) == 0)) {
            fail_msg("%04o", mode);
        }
    }
    add_row(f, "x", "read", "one");
    save(f, 0600);
    look(f);
    assert_true(is_taken(f, "one"));
    assert_int_equal(chmod(f->path, 0644), 0); /* a change of its mode alone is seen */
    look(f);
    assert_false(is_taken(f, "one"));
    if (geteuid() == 0) {
        assert_int_equal(chmod(f->path, 0600), 0);
        assert_int_equal(chown(f->path, STRANGER, (gid_t)-1), 0);
        look(f);
        assert_false(is_taken(f, "one"));
    }
    assert_int_equal(unlink(f->path), 0);
    assert_int_equal(mkfifo(f->path, 0600), 0); /* which is not waited for */
    look(f);
    assert_false(is_taken(f, "one"));
}

static void test_tokens__when_the_file_changes__then_at_once(void **state)
{
    struct fixture *f = *state;

    look(f);
    assert_false(is_taken(f, "one"));
    add_row(f, "x", "read", "one");
    save(f, 0600);
    look(f);
    assert_true(is_taken(f, "one"));
    add_row(f, "x", "admin", "two"); /* as long as before */
    save(f, 0600);
    look(f);
    assert_false(is_taken(f, "one"));
    assert_true(is_taken(f, "two"));
    assert_int_equal(unlink(f->path), 0);
    look(f);
    assert_false(is_taken(f, "two"));
    add_row(f, "x", "read", "three");
    save(f, 0600);
    look(f);
    assert_true(is_taken(f, "three"));
}

static void test_tokens__when_a_read_failed_for_want_of_a_file__then_read_again(
    void **state)
{
    struct fixture *f = *state;
    struct rlimit limit;

    add_row(f, "x", "read", "one");
    save(f, 0600);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    const struct rlimit none = {.rlim_cur = 0, .rlim_max = limit.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    look(f);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_false(is_taken(f, "one"));
    look(f);
    assert_true(is_taken(f, "one"));
}

/* ---- who ---- */

static void test_who__without_a_token__then_local_or_nobody(void **state)
{
    struct fixture *f = *state;

    for (int role = API_NONE; role < API_ROLES; role++) {
        f->config.api.local_role = (enum api_role)role;
        assert_true(ask(f, "", true));
        assert_who(f, (enum api_role)role, "local");
        assert_true(ask(f, "", false));
        assert_who(f, API_NONE, "anonymous");
    }
    const struct http_request passed_on = {.is_passed_on = true};
    assert_true(api_who(f->tokens, &f->config, &passed_on, true, true, &f->who));
    assert_who(f, API_NONE, "anonymous");
}

static void test_who__by_another_hosts_name__then_not_local(void **state)
{
    static const struct {
        const char *host;
        const char *referer;
        bool is_local;
        bool is_local_unix;
    } rows[] = {
        {"", "", true, true},
        {"localhost", "", true, true},
        {"LOCALHOST:8896", "", true, true},
        {"127.0.0.1:8896", "http://127.0.0.1:8896/", true, true},
        {"127.1.2.3", "http://localhost/x?y", true, true},
        {"[::1]:8896", "http://[::1]:8896/", true, true},
        {"gillnet", "", false, true}, /* curl --unix-socket */
        {"mail.example", "", false, false},
        {"mail.example:443", "", false, false},
        {"192.0.2.1", "", false, false},
        {"127.evil.example", "", false, false},
        {"localhost.evil.example", "", false, false},
        {"[2001:db8::1]", "", false, true},
        {"127.0.0.1", "https://mail.example/", false, false},
        {"127.0.0.1", "https://127.0.0.1.evil.example/", false, false},
        {"localhost", "https://mail.example", false, false},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < LENGTH(rows); i++) {
        const struct http_request r = {.host = slice_str(rows[i].host),
                                       .referer = slice_str(rows[i].referer)};
        for (int is_unix = 0; is_unix < 2; is_unix++) {
            bool want = is_unix ? rows[i].is_local_unix : rows[i].is_local;
            assert_true(
                api_who(f->tokens, &f->config, &r, true, is_unix != 0, &f->who));
            if ((f->who.role == API_READ) != want) {
                fail_msg("%s %s %d", rows[i].host, rows[i].referer, is_unix);
            }
        }
    }
}

static void test_who__with_any_form_of_the_field__then_bearer_alone(void **state)
{
    static const struct {
        const char *field;
        bool is_taken;
    } rows[] = {
        {"Bearer one", true},      {"bearer one", true},   {"BEARER   one  ", true},
        {"Bearer\tone", false},    {"Bearer", false},      {"Bearer ", false},
        {"Bearerone", false},      {"Basic one", false},   {"one", false},
        {"Bearer one two", false}, {"Bearer ONE", false},  {"Bearer \"one\"", false},
        {"Token one", false},      {"XBearer one", false}, {"Bearer one,", false},
    };
    struct fixture *f = *state;

    add_row(f, "x", "admin", "one");
    save(f, 0600);
    look(f);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        bool near = ask(f, rows[i].field, true); /* a wrong token is not forgiven */
        bool far = ask(f, rows[i].field, false);

        if (near != rows[i].is_taken || far != near) {
            fail_msg("%s", rows[i].field);
        }
        assert_int_equal(f->who.role, far ? API_ADMIN : API_NONE);
    }
}

static void test_who__with_a_token_less_than_local__then_the_token(void **state)
{
    struct fixture *f = *state;

    f->config.api.local_role = API_ADMIN;
    add_row(f, "x", "read", "one");
    save(f, 0600);
    look(f);
    assert_true(ask(f, "Bearer one", true));
    assert_who(f, API_READ, "x");
}

/* ---- browsers ---- */

static bool is_foreign(struct fixture *f, const char *host, const char *origin,
                       const char *site, bool is_unix)
{
    const struct http_request r = {
        .host = slice_str(host), .origin = slice_str(origin), .site = slice_str(site)};
    return api_foreign(&f->config, &r, is_unix) != NULL;
}

static void test_foreign__by_the_name_in_host__then_ours_alone(void **state)
{
    static const char *const ours[] = {"",
                                       "localhost",
                                       "LocalHost:8896",
                                       "127.0.0.1",
                                       "127.0.0.1:8896",
                                       "192.0.2.7:80",
                                       "[::1]",
                                       "[::1]:8896",
                                       "[2001:db8::a]:1",
                                       "gillnet.example",
                                       "GILLNET.example:443"};
    static const char *const others[] = {"evil.example",
                                         "evil.example:8896",
                                         "localhost.evil.example",
                                         "localhost.",
                                         "x.gillnet.example",
                                         "gillnet.example.evil.example",
                                         "127.0.0.1.evil.example",
                                         "127-0-0-1.example:80",
                                         "xn--4gbrim",
                                         "[evil.example]",
                                         ":8896"};
    static char name[] = "gillnet.example";
    static char *names[] = {name};
    struct fixture *f = *state;

    f->config.api.names = (struct config_strings){.n = 1, .v = names};
    for (size_t i = 0; i < LENGTH(ours); i++) {
        if (is_foreign(f, ours[i], "", "", false)) {
            fail_msg("%s is ours", ours[i]);
        }
    }
    for (size_t i = 0; i < LENGTH(others); i++) {
        if (!is_foreign(f, others[i], "", "", false)) {
            fail_msg("%s is not ours", others[i]);
        }
        assert_false(is_foreign(f, others[i], "", "", true)); /* a Unix socket's */
    }
}

static void test_foreign__by_origin__then_only_the_same_one(void **state)
{
    static const struct {
        const char *origin;
        bool is_foreign;
    } rows[] = {
        {"", false},
        {"http://localhost:8896", false},
        {"https://LOCALHOST:8896", false},
        {"http://localhost", true},
        {"http://localhost:3000", true},
        {"http://127.0.0.1:8896", true},
        {"http://evil.example", true},
        {"http://localhost:8896.evil.example", true},
        {"http://evil.example://localhost:8896", true},
        {"null", true},
        {"localhost:8896", true},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < LENGTH(rows); i++) {
        bool by_unix = is_foreign(f, "localhost:8896", rows[i].origin, "", true);

        if (is_foreign(f, "localhost:8896", rows[i].origin, "", false) !=
                rows[i].is_foreign ||
            by_unix != rows[i].is_foreign) {
            fail_msg("%s", rows[i].origin);
        }
    }
    assert_true(is_foreign(f, "", "http://localhost", "", false));
}

static void test_foreign__by_fetch_site__then_cross_site_alone(void **state)
{
    static const char *const near[] = {"", "same-origin", "same-site", "none"};
    struct fixture *f = *state;

    for (size_t i = 0; i < LENGTH(near); i++) {
        assert_false(is_foreign(f, "localhost", "", near[i], false));
    }
    assert_true(is_foreign(f, "localhost", "", "cross-site", false));
    assert_true(is_foreign(f, "localhost", "", "Cross-Site", true));
    assert_true(is_foreign(f, "localhost", "http://localhost", "cross-site", false));
}

int main(void)
{
#define ONE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    static const struct CMUnitTest tests[] = {
        ONE(test_tokens__of_each_role__then_who_they_are),
        ONE(test_tokens__in_lines_that_are_bad__then_only_those_are_left_out),
        cmocka_unit_test(test_token_name__at_its_bounds__then_as_it_says),
        ONE(test_tokens__that_are_too_many__then_the_first_of_them),
        ONE(test_tokens__of_a_file_too_long__then_none),
        ONE(test_tokens__of_a_file_that_others_may_touch__then_none),
        ONE(test_tokens__when_the_file_changes__then_at_once),
        ONE(test_tokens__when_a_read_failed_for_want_of_a_file__then_read_again),
        ONE(test_who__without_a_token__then_local_or_nobody),
        ONE(test_who__by_another_hosts_name__then_not_local),
        ONE(test_who__with_any_form_of_the_field__then_bearer_alone),
        ONE(test_who__with_a_token_less_than_local__then_the_token),
        ONE(test_foreign__by_the_name_in_host__then_ours_alone),
        ONE(test_foreign__by_origin__then_only_the_same_one),
        ONE(test_foreign__by_fetch_site__then_cross_site_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
