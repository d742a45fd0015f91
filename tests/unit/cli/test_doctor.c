/* test_doctor - each check of `gillnet doctor` seen good and bad, with MTAs that are files. */
#include <jansson.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sysexits.h>

#include "core/base/clock.h"
#include "core/base/statedir.h"
#include "core/reader/wire/records.h"

#include "tests/unit/cli/liststate.h"

/* A postconf that answers from three files beside it. */
static const char fake_postconf[] = "#!/bin/sh\n"
                                    "[ \"$1\" = -c ] && shift 2\n"
                                    "[ \"$1 $2\" = '-x -P' ] && exec cat %s/options\n"
                                    "case $1 in\n"
                                    "-x) cat %s/main;;\n"
                                    "-F) cat %s/services;;\n"
                                    "-P) cat %s/options;;\n"
                                    "esac\n";

static const char conf_text[] =
    "state_dir = \"%s/state\"; shipped_rules = false; socket = \"unix:%s/q/g/sock\";\n";

static void make_postfix(const char *main, const char *chroot, const char *options)
{
    char services[256];

    clirun_put("postconf", fake_postconf, 0755);
    clirun_put("main", main, 0600);
    clirun_put("options", options, 0600);
    snprintf(services, sizeof(services),
             "127.0.0.1:25/inet/chroot = %s\n127.0.0.1:25/inet/command = smtpd -v\n"
             "sub/inet/chroot = n\nsub/inet/command = smtpd\n",
             chroot);
    clirun_put("services", services, 0600);
}

static int listen_at(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    assert_true(fd >= 0);
    snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
    assert_int_equal(bind(fd, (const struct sockaddr *)&a, sizeof(a)), 0);
    assert_int_equal(listen(fd, 16), 0);
    return fd;
}

static int doctor(const char *conf)
{
    return CLIRUN("doctor", "-c", conf, "--postconf", clirun_path("postconf"),
                  "--sendmail-cf", clirun_path("sendmail.cf"));
}

static void make_folders(void)
{
    assert_int_equal(mkdir(clirun_path("q"), 0755), 0);
    assert_int_equal(mkdir(clirun_path("q/g"), 0755), 0);
    clirun_put("sendmail.cf",
               "Xg, S=local:%s/q/g/sock, T=E:5m\nO InputMailFilters=a,g\n", 0600);
}

static void test_doctor__when_postfix_is_set_well__then_ok(void **state)
{
    const char *conf = clirun_put("a.conf", conf_text, 0600);

    (void)state;
    make_folders();
    make_postfix("smtpd_milters = inet:a:1, { unix:g/sock, default_action=accept }\n"
                 "non_smtpd_milters = unix:/g/sock\nmilter_default_action = tempfail\n"
                 "milter_protocol = 6\nsmtpd_forbid_bare_newline = normalize\n"
                 "queue_directory = %s/q\n",
                 "y", "");
    doctor(conf);
    assert_has(clirun_out, "ok    postfix smtpd_milters: names");
    assert_has(clirun_out, "ok    postfix non_smtpd_milters: names");
    assert_has(clirun_out, "ok    postfix milter_default_action: accept");
    assert_has(clirun_out, "ok    postfix smuggling: ");
    assert_has(clirun_out, "ok    sendmail: filter g is gillnetd");
    assert_null(strstr(clirun_out, "milter_protocol"));
    assert_null(strstr(clirun_out, "mta:"));
}

static void test_doctor__when_postfix_is_set_badly__then_what_to_do(void **state)
{
    const char *conf = clirun_put("a.conf", conf_text, 0600);

    (void)state;
    make_folders();
    make_postfix("smtpd_milters = unix:/other\nnon_smtpd_milters =\n"
                 "milter_default_action = tempfail\nmilter_protocol = 2\n"
                 "smtpd_forbid_bare_newline = no\nqueue_directory = %s/q\n",
                 "y", "");
    assert_int_equal(doctor(conf), CLI_HIT);
    assert_has(clirun_out, "fail  postfix smtpd_milters: does not name");
    assert_has(
        clirun_out,
        "postconf -e 'gillnet_milter = { unix:g/sock, default_action=accept, content_timeout=30s }'");
    assert_has(clirun_out, "warn  postfix non_smtpd_milters: ");
    assert_has(clirun_out, "warn  postfix milter_default_action: tempfail");
    assert_has(clirun_out, "warn  postfix milter_protocol: 2");
    assert_has(clirun_out, "warn  postfix smuggling: smtpd_forbid_bare_newline = no");
    assert_has(clirun_out, "smtpd_forbid_bare_newline = normalize");
}

static void test_doctor__when_smtpd_is_chrooted__then_the_path_is_its_own(void **state)
{
    static const struct {
        const char *milter;
        const char *chroot;
        const char *expected;
    } rows[] = {
        {"unix:%s/q/g/sock", "y", "fail  postfix smtpd_milters: smtpd is chrooted in "},
        {"unix:%s/q/g/sock", "n", "ok    postfix smtpd_milters: "},
        {"unix:%s/q/g/sock", "-", "ok    postfix smtpd_milters: "},
        {"unix:/g/sock", "y", "ok    postfix smtpd_milters: "},
        {"unix:/g/sock", "n", "fail  postfix smtpd_milters: does not name"},
        {"unix:g/sock", "n", "ok    postfix smtpd_milters: "},
        {"unix:g/sock", "y", "ok    postfix smtpd_milters: "},
    };
    const char *conf = clirun_put("a.conf", conf_text, 0600);

    (void)state;
    make_folders();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char main[512];

        snprintf(main, sizeof(main), "smtpd_milters = %s\nqueue_directory = %%s/q\n",
                 rows[i].milter);
        make_postfix(main, rows[i].chroot, "");
        doctor(conf);
        assert_has(clirun_out, rows[i].expected);
    }
}

static void test_doctor__when_sendmail_is_there__then_its_own_user_must_connect(
    void **state)
{
    const char *conf = clirun_put("a.conf", conf_text, 0600);
    int fd = -1;

    (void)state;
    make_folders();
    fd = listen_at(clirun_path("q/g/sock"));
    doctor(conf); /* root asks the milter; smmsp only hands mail in */
    assert_null(strstr(clirun_out, "socket as smmsp"));
    assert_null(strstr(clirun_out, "socket as root"));
    clirun_put("sendmail.cf", "Xg, S=local:%s/q/g/sock\nO RunAsUser=nobody:nogroup\n",
               0600);
    doctor(conf);
    assert_has(clirun_out, "socket as nobody: ");
    close(fd);
}

static void test_doctor__when_allow_has_no_proof__then_warned(void **state)
{
    const char *conf = clirun_put(
        "a.conf",
        "state_dir = \"%s/state\"; shipped_rules = false; socket = \"unix:%s/q/g/sock\";\n"
        "allow = { domains = [ \"a.example\" ]; };\n",
        0600);

    (void)state;
    doctor(conf);
    assert_has(clirun_out,
               "warn  configuration: allow.domains and allow.addresses let no");
    assert_has(clirun_out, "OpenDKIM and OpenDMARC");
}

/* The advice for a chroot leads to settings that are good. */
static void test_doctor__when_a_chroot_hides_the_socket__then_setup_not_its_path(
    void **state)
{
    const char *conf = clirun_put(
        "a.conf",
        "state_dir = \"%s/state\"; shipped_rules = false; socket = \"unix:/run/x.sock\";\n",
        0600);

    (void)state;
    make_folders();
    make_postfix("smtpd_milters =\nqueue_directory = %s/q\n", "y", "");
    doctor(conf);
    assert_has(clirun_out, "- gillnet setup postfix (it lets gillnetd listen on unix:");
    assert_null(strstr(clirun_out, "unix:/run/x.sock, default_action"));
}

static void test_doctor__when_a_service_names_the_socket__then_ok(void **state)
{
    const char *conf = clirun_put("a.conf", conf_text, 0600);

    (void)state;
    make_folders();
    make_postfix("smtpd_milters =\nqueue_directory = %s/q\n", "n",
                 "127.0.0.1:25/inet/smtpd_milters = unix:%s/q/g/sock\n");
    doctor(conf);
    assert_has(clirun_out, "ok    postfix smtpd_milters: ");
}

static void test_doctor__when_postconf_is_odd__then_warned(void **state)
{
    const char *conf = clirun_put("a.conf", conf_text, 0600);

    (void)state;
    make_folders();
    clirun_put("postconf", "#!/bin/sh\nexit 3\n", 0755);
    doctor(conf);
    assert_has(clirun_out, "warn  postfix: ");
    clirun_put("postconf", "not a program", 0755);
    doctor(conf);
    assert_has(clirun_out, "warn  postfix: ");
    clirun_put("postconf", "#!/bin/sh\nyes\n", 0755); /* no end */
    doctor(conf);
    assert_has(clirun_out, "warn  postfix: ");
    assert_int_equal(unlink(clirun_path("postconf")), 0);
    doctor(conf);
    assert_has(clirun_out, "fail  postfix: ");
}

static void test_doctor__when_sendmail_differs__then_what_to_do(void **state)
{
    static const struct {
        const char *cf;
        const char *expected;
    } rows[] = {
        {"Xg, S=local:%s/q/g/sock\nO InputMailFilters=g\n", "ok    sendmail: "},
        {"Xg,S=unix:%s/q/g/sock,F=R\nO InputMailFilters=x, g\n", "ok    sendmail: "},
        {"Xg, S=local:%s/q/g/sock\n", "fail  sendmail: filter g is defined but"},
        {"Xg, S=local:%s/q/g/sock\nO InputMailFilters=gg\n",
         "fail  sendmail: filter g is"},
        {"Xg, S=local:/other\nO InputMailFilters=g\n", "fail  sendmail: no filter"},
        {"Xg, S=local:%s/q/g/sock, F=T\nO InputMailFilters=g\n",
         "warn  sendmail: with F=T"},
        {"", "fail  sendmail: no filter of sendmail.cf"},
        {"X", "fail  sendmail: no filter of sendmail.cf"},
    };
    const char *conf = clirun_put("a.conf", conf_text, 0600);

    (void)state;
    make_folders();
    make_postfix("queue_directory = %s/q\n", "n", "");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        clirun_put("sendmail.cf", rows[i].cf, 0600);
        doctor(conf);
        assert_has(clirun_out, rows[i].expected);
    }
    assert_has(clirun_out, "INPUT_MAIL_FILTER(`gillnet', `S=local:");
}

static void test_doctor__when_state_is_well__then_ok(void **state)
{
    const char *conf = clirun_put("a.conf", conf_text, 0600);

    (void)state;
    make_folders();
    liststate_make(clirun_path("state"), "phish");
    doctor(conf);
    assert_has(clirun_out, "ok    configuration: ");
    assert_has(clirun_out, "ok    state folder: ");
    assert_has(clirun_out, "  disk: ");
    assert_has(clirun_out, "ok    keys: 1 digest key and");
    assert_has(clirun_out, "ok    list phish: 1 entries");
}

static void test_doctor__when_rights_are_open__then_fail(void **state)
{
    const char *conf = clirun_put("a.conf", conf_text, 0666);

    (void)state;
    make_folders();
    liststate_make(clirun_path("state"), "phish");
    chmod(clirun_path("state"), 0777);
    chmod(clirun_path("state/keys/digest.key"), 0644);
    assert_int_equal(doctor(conf), CLI_HIT);
    assert_has(clirun_out, "/a.conf (mode 0666)");
    assert_has(clirun_out, "/state (mode 0777)");
    assert_has(clirun_out, "everybody may read the secret key");
    assert_null(strstr(clirun_out, "ok    state folder"));
}

/* As after an import by root, before the folder was given to gillnetd's user. */
static void test_doctor__when_the_folders_owner_may_not_read__then_fail(void **state)
{
    const char *conf = clirun_put("a.conf", conf_text, 0600);

    (void)state;
    if (geteuid() != 0) {
        skip();
    }
    make_folders();
    liststate_make(clirun_path("state"), "phish");
    assert_int_equal(chown(clirun_path("state"), 8, 8), 0);
    doctor(conf);
    assert_has(clirun_out, "gillnetd runs as mail, who may not read ");
    assert_has(clirun_out, "chmod o+x "); /* the folder around it */
    assert_int_equal(chmod(clirun_path(""), 0755), 0);
    doctor(conf);
    assert_has(clirun_out, "/a.conf: Permission denied - chgrp mail ");
    assert_int_equal(chmod(conf, 0644), 0);
    doctor(conf);
    assert_null(strstr(clirun_out, "a.conf: Permission"));
    assert_has(clirun_out, "/state/keys: Permission denied - chown -R mail:mail ");
    assert_has(clirun_out, "/state/lists: Permission denied - chown -R mail:mail ");
    assert_null(strstr(clirun_out, "ok    state folder"));
    statedir_settle(clirun_path("state"));
    doctor(conf);
    assert_null(strstr(clirun_out, "who may not"));
    /* one file deep in a list, whose folders may be read */
    assert_int_equal(chown(clirun_path("state/lists/phish/CURRENT"), 0, 0), 0);
    assert_int_equal(chmod(clirun_path("state/lists/phish/CURRENT"), 0600), 0);
    doctor(conf);
    assert_has(clirun_out, "who may not read ");
    assert_has(clirun_out, "/state/lists/phish/CURRENT: Permission denied");
}

static void test_doctor__when_lists_are_bad__then_named(void **state)
{
    const char *conf = clirun_put(
        "a.conf",
        "state_dir = \"%s/state\"; shipped_rules = false; socket = \"unix:/x\";\n"
        "lists = ( { name = \"gone\"; }, { name = \"phish\"; "
        "max_age = \"1h\"; } );\n"
        "rules = ( { name = \"r\"; all = ( { list = \"phish\"; }, { list = \"phsih\"; "
        "} ); } );",
        0600);

    (void)state;
    make_folders();
    liststate_make(clirun_path("state"), "phish");
    clock_set_for_test(clock_wall_us() + UINT64_C(172800000000), 1);
    doctor(conf);
    clock_unset_for_test();
    assert_has(clirun_out, "warn  list phish: last changed 4");
    assert_has(clirun_out, "warn  lists: the configuration names list gone");
    assert_has(clirun_out, "a.conf:3: rule r names list phsih, which does not exist");
    assert_null(strstr(clirun_out, "names list phish"));
    clirun_put("state/lists/phish/CURRENT", "nonsense", 0600);
    assert_int_equal(doctor(conf), CLI_HIT);
    assert_has(clirun_out, "fail  list phish: ");
}

static void test_doctor__when_the_socket_is_there__then_asked(void **state)
{
    const char *conf = clirun_put("a.conf", conf_text, 0600);
    int fd = -1;

    (void)state;
    make_folders();
    doctor(conf);
    assert_has(clirun_out, "fail  socket: ");
    fd = listen_at(clirun_path("q/g/sock"));
    doctor(conf);
    assert_has(clirun_out, "ok    socket: ");
    close(fd);
    doctor(conf);
    assert_has(clirun_out, "fail  socket: nobody listens on ");
    assert_int_equal(unlink(clirun_path("q/g/sock")), 0);
    clirun_put("q/g/sock", "", 0600);
    doctor(conf);
    assert_has(clirun_out, "is not a socket");
}

static void test_doctor__when_the_socket_is_inet__then_asked(void **state)
{
    const char *conf = NULL;
    char text[256];
    struct sockaddr_storage a = {.ss_family = AF_INET};
    socklen_t n = sizeof(a);
    unsigned char bytes[4];
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    (void)state;
    assert_int_equal(listen(fd, 4), 0); /* any free port */
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &n), 0);
    memcpy(bytes, &a, sizeof(bytes));
    snprintf(
        text, sizeof(text),
        "socket = \"inet:%u@0.0.0.0\"; state_dir = \"%%s/state\"; shipped_rules = false;",
        bytes[2] * 256U + bytes[3]);
    conf = clirun_put("a.conf", text, 0600);
    doctor(conf);
    assert_has(clirun_out, "ok    socket: localhost port ");
    assert_has(clirun_out, "warn  socket: gillnetd listens on every address");
    close(fd);
    doctor(conf);
    assert_has(clirun_out, "fail  socket: localhost port ");
}

static void test_doctor__when_the_mta_may_not_connect__then_fail(void **state)
{
    static const struct {
        mode_t folder;
        mode_t socket;
        const char *expected;
    } rows[] = {
        {0755, 0666, "ok    socket as daemon: "},
        {0755, 0660, "fail  socket as daemon: "},
        {0700, 0666, "fail  socket as daemon: "},
        {0711, 0666, "ok    socket as daemon: "},
    };
    const char *conf = clirun_put("a.conf", conf_text, 0600);
    int fd = -1;

    (void)state;
    make_folders();
    chmod(clirun_dir, 0755);
    fd = listen_at(clirun_path("q/g/sock"));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        chmod(clirun_path("q/g/sock"), rows[i].socket);
        chmod(clirun_path("q/g"), rows[i].folder);
        CLIRUN("doctor", "-c", conf, "--mta-user", "daemon");
        assert_has(clirun_out, rows[i].expected);
    }
    CLIRUN("doctor", "-c", conf, "--mta-user", "no-such-user");
    assert_has(clirun_out, "fail  socket: there is no user no-such-user");
    close(fd);
}

/* A gillnet-reader for one connection: answers, and closes. Returns its process. */
static pid_t answer_once(int fd, struct slice records)
{
    char request[256];
    const pid_t pid = fork();

    if (pid == 0) {
        const int c = accept(fd, NULL, NULL);
        ssize_t n = read(c, request, sizeof(request));

        n = n > 0 ? write(c, records.p, records.n) : 0;
        _exit(n > 0 ? 0 : 1);
    }
    return pid;
}

static const char reader_conf[] = "state_dir = \"%s/state\"; shipped_rules = false; "
                                  "socket = \"unix:%s/q/g/sock\"; "
                                  "reader = { socket = \"%s/reader\"; };";

static void check_answer(const char *conf, struct slice records, const char *expected)
{
    const char *path = clirun_path("reader");
    const int fd = listen_at(path);

    chmod(path, 0666);
    const pid_t pid = answer_once(fd, records);
    doctor(conf);
    assert_has(clirun_out, expected);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    close(fd);
    unlink(path);
}

static void test_doctor__when_the_reader_is_there__then_asked(void **state)
{
    static const char ready_and_end[16] = {RECORD_READY, [8] = RECORD_END};
    const char *conf = clirun_put("a.conf", reader_conf, 0600);
    int fd = -1;

    (void)state;
    chmod(clirun_dir, 0755);
    doctor(conf);
    assert_has(clirun_out, "warn  reader: ");
    assert_has(clirun_out, "install the package gillnet-reader");
    check_answer(conf, slice_of(ready_and_end, sizeof(ready_and_end)),
                 "ok    reader: ");
    check_answer(conf, SLICE_LIT("HTTP/1.1 400 Bad Request"), "fail  reader: ");
    check_answer(conf, slice_of(ready_and_end, 8), "fail  reader: what answers at ");

    fd = listen_at(clirun_path("reader"));
    chmod(clirun_path("reader"), 0666);
    close(fd);
    doctor(conf);
    assert_has(clirun_out, "fail  reader: nobody answers at ");
}

static void test_doctor__when_nobody_asks_the_reader__then_nothing(void **state)
{
    char text[512];

    (void)state;
    snprintf(text, sizeof(text), "%s limits = { reader = \"0s\"; };", reader_conf);
    doctor(clirun_put("a.conf", text, 0600));
    assert_null(strstr(clirun_out, "reader: "));
}

static void test_doctor__when_json__then_each_line_parses(void **state)
{
    const char *conf = clirun_put("a.conf", conf_text, 0600);
    unsigned n = 0;

    (void)state;
    make_folders();
    assert_int_equal(CLIRUN("doctor", "--json", "-c", conf), CLI_HIT);
    for (char *line = clirun_out; *line != '\0'; n++) {
        char *end = strchr(line, '\n');
        json_t *o = json_loadb(line, (size_t)(end - line), 0, NULL);

        assert_true(json_is_string(json_object_get(o, "check")));
        assert_true(json_is_string(json_object_get(o, "status")));
        assert_true(json_is_string(json_object_get(o, "detail")));
        assert_true(json_is_string(json_object_get(o, "advice")));
        json_decref(o);
        line = end + 1;
    }
    assert_true(n >= 4);
}

static void test_doctor__when_the_configuration_is_bad__then_only_that(void **state)
{
    const char *conf = clirun_put("a.conf", "nonsense = 1;", 0600);

    (void)state;
    assert_int_equal(doctor(conf), CLI_HIT);
    assert_has(clirun_out, "fail  configuration: ");
    assert_has(clirun_err, "nonsense");
    assert_ptr_equal(strchr(clirun_out, '\n')[1], '\0');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, clirun_setup, clirun_teardown)
        TEST(test_doctor__when_postfix_is_set_well__then_ok),
        TEST(test_doctor__when_postfix_is_set_badly__then_what_to_do),
        TEST(test_doctor__when_smtpd_is_chrooted__then_the_path_is_its_own),
        TEST(test_doctor__when_sendmail_is_there__then_its_own_user_must_connect),
        TEST(test_doctor__when_allow_has_no_proof__then_warned),
        TEST(test_doctor__when_a_chroot_hides_the_socket__then_setup_not_its_path),
        TEST(test_doctor__when_a_service_names_the_socket__then_ok),
        TEST(test_doctor__when_postconf_is_odd__then_warned),
        TEST(test_doctor__when_sendmail_differs__then_what_to_do),
        TEST(test_doctor__when_state_is_well__then_ok),
        TEST(test_doctor__when_rights_are_open__then_fail),
        TEST(test_doctor__when_the_folders_owner_may_not_read__then_fail),
        TEST(test_doctor__when_lists_are_bad__then_named),
        TEST(test_doctor__when_the_socket_is_there__then_asked),
        TEST(test_doctor__when_the_socket_is_inet__then_asked),
        TEST(test_doctor__when_the_mta_may_not_connect__then_fail),
        TEST(test_doctor__when_the_reader_is_there__then_asked),
        TEST(test_doctor__when_nobody_asks_the_reader__then_nothing),
        TEST(test_doctor__when_json__then_each_line_parses),
        TEST(test_doctor__when_the_configuration_is_bad__then_only_that),
#undef TEST
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
