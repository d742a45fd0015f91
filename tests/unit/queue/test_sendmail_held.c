/*
 * test_sendmail_held - Sendmail's queue files, also damaged, and the folders of its queues.
 */
#include "core/quarantine/queue/sendmail_folders.h"
#include "core/quarantine/queue/sendmail_held.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/unit.h"

static const char file[] = "V8\nT1795833450\nK1795833450\nN0\nP60191\n"
                           "qgillnet: LIST_PHISH(5.0)\nFbs\n$_status [127.0.0.1]\n"
                           "S<alice@sender.example>\nrRFC822; bob@rcpt.example\n"
                           "RPFD:<bob@rcpt.example>\nRPFD:ann@rcpt.example\n"
                           "H?P?Return-Path: <\x81g>\n"
                           "H??Received: from x\n\tby y\n"
                           "H??Subject: q\nH??X-Gillnet-Score: 5.0\n.\n"
                           "H??Subject: behind the end\nqno\n";

static void test_envelope__quarantined__is_read(void **state)
{
    struct arena *arena = arena_new(1 << 16);
    struct held h;
    struct buf header;

    (void)state;
    assert_true(sendmail_held_read(slice_str(file), &h, arena));
    assert_int_equal(h.time_s, 1795833450);
    assert_true(slice_eq(h.reason, SLICE_LIT("gillnet: LIST_PHISH(5.0)")));
    assert_true(slice_eq(h.sender, SLICE_LIT("alice@sender.example")));
    assert_int_equal(h.nrcpt, 2);
    assert_true(slice_eq(h.rcpt[0], SLICE_LIT("bob@rcpt.example")));
    assert_true(slice_eq(h.rcpt[1], SLICE_LIT("ann@rcpt.example")));
    assert_true(slice_eq(h.subject, SLICE_LIT("q")));
    buf_init(&header, 1 << 16);
    sendmail_held_header(slice_str(file), &header);
    assert_string_equal(header.p, "Received: from x\n\tby y\nSubject: q\n"
                                  "X-Gillnet-Score: 5.0\n");
    buf_fini(&header);
    assert_int_equal(sendmail_held_data_folder(slice_str(file)).n, 0);
    assert_true(slice_eq(sendmail_held_data_folder(SLICE_LIT("V8\nd/var/q/df\n.\n")),
                         SLICE_LIT("/var/q/df")));
    arena_free(&arena);
}

static void test_envelope__cut_anywhere__is_read_or_refused(void **state)
{
    struct arena *arena = arena_new(1 << 20);

    (void)state;
    for (size_t n = 0; n < sizeof(file); n++) {
        struct held h;
        char *copy = n > 0 ? malloc(n) : NULL; /* its end is the end of the memory */

        if (n > 0) {
            assert_non_null(copy);
            memcpy(copy, file, n);
        }
        assert_int_equal(sendmail_held_read(slice_of(copy, n), &h, arena),
                         slice_find_slice(slice_of(copy, n), SLICE_LIT("\nq")) < n);
        free(copy);
    }
    arena_free(&arena);
}

static void test_envelope__strange_lines__do_no_harm(void **state)
{
    static const char *const files[] = {"",
                                        "\n\n",
                                        "q",
                                        " q",
                                        ".\nqx",
                                        "T-1\n",
                                        "T9999999999999999999999\n",
                                        "R\nR:\nS\nS<\n",
                                        "H\nH?\nH??\nH??:\n"};
    struct arena *arena = arena_new(1 << 20);

    (void)state;
    for (size_t i = 0; i < LENGTH(files); i++) {
        struct held h;

        assert_int_equal(sendmail_held_read(slice_str(files[i]), &h, arena),
                         files[i][0] == 'q');
        assert_int_equal(h.time_s, 0);
    }
    arena_free(&arena);
}

static void test_folders__of_a_cf__are_found(void **state)
{
    struct tempdir *t = *state;
    struct sendmail_folders *f = malloc(sizeof(*f));
    struct errinfo why;
    struct buf cf;

    assert_non_null(f);
    assert_int_equal(mkdir(tempdir_file(t, "q1"), 0700), 0);
    assert_int_equal(mkdir(tempdir_file(t, "q1/qf"), 0700), 0);
    assert_int_equal(mkdir(tempdir_file(t, "q1/df"), 0700), 0);
    assert_int_equal(mkdir(tempdir_file(t, "other"), 0700), 0);
    buf_init(&cf, 1 << 16);
    buf_printf(&cf,
               "#O QueueDirectory=/none\nO QueueDirectory=%s/q*\n"
               "Qslow, P=%s/other, F=f\nQgone, P=%s/gone\n",
               t->path, t->path, t->path);
    assert_int_equal(sendmail_folders_find(buf_slice(&cf), f, &why), ERR_OK);
    assert_int_equal(f->n, 2);
    assert_string_equal(f->v[0].path, tempdir_file(t, "q1"));
    assert_true(f->v[0].has_qf && f->v[0].has_df);
    assert_string_equal(f->v[1].path, tempdir_file(t, "other"));
    assert_false(f->v[1].has_qf || f->v[1].has_df);
    assert_int_equal(
        sendmail_folders_find(SLICE_LIT("O QueueDirectory=q\nQ\n"), f, &why),
        ERR_NOT_FOUND);
    buf_fini(&cf);
    free(f);
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, tempdir_setup, tempdir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_envelope__quarantined__is_read),
        cmocka_unit_test(test_envelope__cut_anywhere__is_read_or_refused),
        cmocka_unit_test(test_envelope__strange_lines__do_no_harm),
        TEST(test_folders__of_a_cf__are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
