/* test_ring - edits of a manifest, and changes that must wait for other administrators. */
#include <sched.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/ring/trust/ring.h"

#include "tests/unit/trust/identity_seed.h"
#include "tests/unit/trust/invite_sample.h"
#include "tests/unit/unit.h"

static const uint64_t day_ms = 86400000;

static void make_binding(unsigned n, uint64_t not_before_ms, struct ring_join *ret,
                         struct identity *retid)
{
    uint8_t seed[32] = {(uint8_t)n, 0x77};
    identity_of_seed(seed, retid);
    retid->signing.not_before_ms = not_before_ms;
    *ret = (struct ring_join){.name = "x",
                              .address = "",
                              .identity = retid->public_key,
                              .binding = retid->signing,
                              .now_ms = 5};
}

static void test_join__when_name_address_or_place_is_taken__then_refused(void **state)
{
    struct manifest m = {.version = 1};
    struct identity i[3];
    struct ring_join j[3];

    (void)state;
    for (unsigned n = 0; n < 3; n++) {
        make_binding(n, 0, &j[n], &i[n]);
    }
    j[0].address = "h:1";
    assert_int_equal(ring_edit_join(&m, &j[0], NULL), ERR_OK);
    assert_int_equal(ring_edit_join(&m, &j[1], NULL), ERR_EXISTS);
    j[1].name = "y";
    j[1].address = "h:1";
    assert_int_equal(ring_edit_join(&m, &j[1], NULL), ERR_EXISTS);
    manifest_fini(&m);
    m = (struct manifest){.version = 1};
    assert_int_equal(ring_edit_join(&m, &j[0], NULL), ERR_OK);
    j[1].address = "h:2";
    assert_int_equal(ring_edit_join(&m, &j[1], NULL), ERR_OK);
    assert_int_equal(m.nmembers, 2);
    /* the same server again, by another name */
    j[0].name = "z";
    assert_int_equal(ring_edit_join(&m, &j[0], NULL), ERR_OK);
    assert_int_equal(m.nmembers, 2);
    assert_string_equal(m.members[0].name, "z");
    while (m.nmembers < MANIFEST_MEMBERS_MAX) {
        char name[16];
        (void)snprintf(name, sizeof(name), "m%u", m.nmembers);
        make_binding(m.nmembers + 10, 0, &j[2], &i[2]);
        i[2].public_key[31] = (uint8_t)(m.nmembers >> 8);
        j[2].name = name;
        assert_int_equal(ring_edit_join(&m, &j[2], NULL), ERR_OK);
    }
    make_binding(7, 0, &j[2], &i[2]);
    i[2].public_key[0] ^= 0xff;
    j[2].name = "more";
    assert_int_equal(ring_edit_join(&m, &j[2], NULL), ERR_LIMIT);
    manifest_fini(&m);
}

static void test_join__when_a_dropped_one_has_name_and_address__then_it_gives_them_up(
    void **state)
{
    struct manifest m = {.version = 1};
    struct identity i[2];
    struct ring_join j[2];
    struct ring_state drop = {"x", MEMBER_DROPPED, 7};

    (void)state;
    for (unsigned n = 0; n < 2; n++) {
        make_binding(n, 0, &j[n], &i[n]);
        j[n].address = "h:1";
    }
    assert_int_equal(ring_edit_join(&m, &j[0], NULL), ERR_OK);
    assert_int_equal(ring_edit_state(&m, &drop, NULL), ERR_OK);
    assert_int_equal(ring_edit_join(&m, &j[1], NULL), ERR_OK);
    assert_int_equal(m.nmembers, 2);
    assert_int_equal(m.members[0].state, MEMBER_DROPPED);
    assert_memory_equal(m.members[0].name, "gone-", 5);
    assert_true(manifest_name_is_valid(slice_str(m.members[0].name)));
    assert_string_equal(m.members[0].address, "");
    assert_string_equal(m.members[1].name, "x");
    assert_string_equal(m.members[1].address, "h:1");
    /* it comes back, by another name: the address is another's now */
    j[0].name = "y";
    assert_int_equal(ring_edit_join(&m, &j[0], NULL), ERR_EXISTS);
    j[0].address = "h:2";
    assert_int_equal(ring_edit_join(&m, &j[0], NULL), ERR_OK);
    assert_int_equal(m.nmembers, 2);
    manifest_fini(&m);
}

static void test_rotate__when_done_often__then_old_keys_are_forgotten_in_time(
    void **state)
{
    struct manifest m = {.version = 1};
    struct identity i;
    struct ring_join join;
    struct ring_rotation r = {.now_ms = 100};

    (void)state;
    make_binding(1, 0, &join, &i);
    assert_int_equal(ring_edit_join(&m, &join, NULL), ERR_OK);
    r.origin = i.origin;
    for (unsigned n = 1; n <= MANIFEST_KEYS_MAX; n++) {
        r.binding = i.signing;
        r.binding.key[0] = (uint8_t)(i.signing.key[0] + n);
        r.until_ms = 200 + n;
        assert_int_equal(ring_edit_rotate(&m, &r, NULL),
                         n < MANIFEST_KEYS_MAX ? ERR_OK : ERR_LIMIT);
    }
    assert_int_equal(m.members[0].nkeys, MANIFEST_KEYS_MAX);
    /* each ends once, when its successor came */
    assert_int_equal(m.members[0].keys[0].until_ms, 201);
    assert_int_equal(m.members[0].keys[1].until_ms, 202);
    r.now_ms = 201 + RING_KEY_KEEP_DAYS * day_ms;
    assert_int_equal(ring_edit_rotate(&m, &r, NULL), ERR_LIMIT);
    r.now_ms++;
    assert_int_equal(ring_edit_rotate(&m, &r, NULL), ERR_OK);
    assert_int_equal(m.members[0].keys[MANIFEST_KEYS_MAX - 1].until_ms, 0);
    /* one that leaked: all that were before are revoked, and cannot come back */
    struct key_binding leaked = r.binding;
    r.now_ms += RING_KEY_KEEP_DAYS * day_ms * 2;
    r.is_leaked = true;
    r.until_ms = r.now_ms;
    r.binding.key[5] ^= 1;
    assert_int_equal(ring_edit_rotate(&m, &r, NULL), ERR_OK);
    for (unsigned k = 0; k < m.members[0].nkeys; k++) {
        bool is_new = m.members[0].keys[k].until_ms == 0;
        assert_int_equal(m.members[0].keys[k].is_revoked, !is_new);
    }
    r.is_leaked = false;
    r.binding = leaked;
    assert_int_equal(ring_edit_rotate(&m, &r, NULL), ERR_EXISTS);
    r.origin.b[0] ^= 1;
    assert_int_equal(ring_edit_rotate(&m, &r, NULL), ERR_NOT_FOUND);
    manifest_fini(&m);
}

static void test_rotate__when_a_key_was_replaced_before_its_time__then_it_goes(
    void **state)
{
    struct manifest m = {.version = 1};
    struct identity i;
    struct ring_join join;

    (void)state;
    make_binding(1, 0, &join, &i);
    assert_int_equal(ring_edit_join(&m, &join, NULL), ERR_OK);
    struct ring_rotation r = {.origin = i.origin, .now_ms = 100, .until_ms = 300};
    for (unsigned n = 1; n < 10; n++) {
        r.binding = i.signing;
        r.binding.key[0] = (uint8_t)(i.signing.key[0] + n);
        r.binding.not_before_ms = 200;
        assert_int_equal(ring_edit_rotate(&m, &r, NULL), ERR_OK);
        assert_int_equal(m.members[0].nkeys, 2);
    }
    manifest_fini(&m);
}

static void test_ring_key__when_changed_twice__then_the_second_must_wait(void **state)
{
    struct manifest m = {.nring_keys = 1, .ring_keys = {{1, 0}}};
    struct manifest_ring_key k = {2, 1000};

    (void)state;
    assert_int_equal(ring_edit_ring_key(&m, &k, NULL), ERR_OK);
    k = (struct manifest_ring_key){2, 5000};
    assert_int_equal(ring_edit_ring_key(&m, &k, NULL), ERR_EXISTS);
    k = (struct manifest_ring_key){3, 1000 + RING_KEY_KEEP_DAYS * day_ms};
    assert_int_equal(ring_edit_ring_key(&m, &k, NULL), ERR_LIMIT);
    k.from_ms++;
    assert_int_equal(ring_edit_ring_key(&m, &k, NULL), ERR_OK);
    assert_int_equal(m.nring_keys, 2);
    assert_int_equal(m.ring_keys[0].id, 2);
    assert_int_equal(m.ring_keys[1].id, 3);
}

static void test_admins__when_the_numbers_do_not_fit__then_refused(void **state)
{
    static const struct {
        unsigned n;
        unsigned threshold;
        enum err want;
    } rows[] = {{0, 0, ERR_RANGE}, {1, 0, ERR_RANGE},  {1, 1, ERR_OK},
                {1, 2, ERR_RANGE}, {16, 16, ERR_OK},   {17, 1, ERR_RANGE},
                {3, 2, ERR_OK},    {16, 17, ERR_RANGE}};
    uint8_t keys[17][OBJECT_KEY_BYTES] = {{0}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct manifest m = {.version = 1};
        struct ring_admins a = {keys, rows[i].n, rows[i].threshold};
        assert_int_equal(ring_edit_admins(&m, &a, NULL), rows[i].want);
    }
}

/* ---- two of three ---- */

static void sign_with(unsigned n, struct buf *text)
{
    uint8_t seed[32] = {(uint8_t)n};
    struct identity admin;
    identity_of_seed(seed, &admin);
    assert_int_equal(manifest_sign(admin.secret, text, NULL), ERR_OK);
}

static void read_next(const struct server *a, struct buf *ret)
{
    struct manifest next;
    assert_int_equal(ring_next(a->dir, &next, NULL), ERR_OK);
    buf_clear(ret);
    buf_add(ret, slice_of(next.text, next.text_len));
    manifest_fini(&next);
}

/* The ring of a with three administrators, two must sign; version 2. */
static void make_two_of_three(struct server *a, struct buf *text)
{
    struct ring_outcome o;
    struct ring_admins admins;
    uint8_t list[3][OBJECT_KEY_BYTES];

    make_ring(a, 2, 1);
    memcpy(list, a->m.admins, sizeof(list));
    admins = (struct ring_admins){list, 3, 2};
    assert_int_equal(ring_change(a->dir, ring_edit_admins, &admins, &a->m, &o, NULL),
                     ERR_OK);
    assert_false(o.is_in_force);
    assert_int_equal(o.signatures, 1);
    assert_int_equal(o.needed, 2);
    read_next(a, text);
    sign_with(2, text);
    assert_int_equal(ring_accept(a->dir, buf_slice(text), &o, NULL), ERR_OK);
    assert_true(o.is_in_force);
    manifest_fini(&a->m);
    assert_int_equal(manifest_load(a->dir, &a->m, NULL), ERR_OK);
    assert_int_equal(a->m.version, 2);
    assert_int_equal(ring_next(a->dir, &a->m, NULL), ERR_NOT_FOUND);
}

static void test_change__when_two_of_three_must_sign__then_in_force_with_the_second(
    void **state)
{
    struct tempdir *t = *state;
    struct server a;
    struct ring_outcome o;
    struct buf text;
    struct buf early;
    struct ring_address edit;

    set_time(T0);
    make_server(t, "a", &a);
    buf_init(&text, MANIFEST_BYTES_MAX);
    buf_init(&early, MANIFEST_BYTES_MAX);
    make_two_of_three(&a, &text);
    edit = (struct ring_address){a.self.origin, "h:1"};
    assert_int_equal(ring_change(a.dir, ring_edit_address, &edit, &a.m, &o, NULL),
                     ERR_OK);
    assert_false(o.is_in_force);
    assert_int_equal(a.m.version, 2);
    /* a second change before the first has its signatures: one version holds both */
    read_next(&a, &early);
    assert_int_equal(ring_change(a.dir, ring_edit_nothing, NULL, &a.m, &o, NULL),
                     ERR_OK);
    assert_int_equal(o.version, 3);
    set_time(T0 + 1);
    assert_int_equal(ring_change(a.dir, ring_edit_nothing, NULL, &a.m, &o, NULL),
                     ERR_OK);
    /* so that a signature to the former text does not count */
    sign_with(1, &early);
    assert_int_equal(ring_accept(a.dir, buf_slice(&early), &o, NULL), ERR_OK);
    assert_true(o.is_in_force); /* two of three signed that text: it is as good */
    manifest_fini(&a.m);
    assert_int_equal(manifest_load(a.dir, &a.m, NULL), ERR_OK);
    assert_string_equal(a.m.members[0].address, "h:1");

    /* signatures that come one by one, without ours */
    assert_int_equal(unlink(tempdir_file(t, "a/peers/admin.key")), 0);
    assert_int_equal(ring_change(a.dir, ring_edit_nothing, NULL, &a.m, &o, NULL),
                     ERR_OK);
    assert_int_equal(o.signatures, 0);
    read_next(&a, &text);
    buf_clear(&early);
    buf_add(&early, buf_slice(&text));
    sign_with(1, &text);
    sign_with(2, &early);
    assert_int_equal(ring_accept(a.dir, buf_slice(&text), &o, NULL), ERR_OK);
    assert_false(o.is_in_force);
    assert_int_equal(o.signatures, 1);
    assert_int_equal(ring_accept(a.dir, buf_slice(&text), &o, NULL), ERR_OK);
    assert_int_equal(o.signatures, 1); /* the same again is not another */
    assert_int_equal(ring_accept(a.dir, buf_slice(&early), &o, NULL), ERR_OK);
    assert_true(o.is_in_force);
    assert_int_equal(o.version, 4);
    buf_fini(&text);
    buf_fini(&early);
    drop_server(&a);
}

/* A change of now that the administrator's key here does not sign. */
static void change_unsigned(struct tempdir *t, struct server *a)
{
    struct ring_outcome o;
    char key[FILE_PATH_MAX];

    (void)snprintf(key, sizeof(key), "%s", tempdir_file(t, "a/peers/admin.key"));
    assert_int_equal(rename(key, tempdir_file(t, "a/peers/elsewhere")), 0);
    assert_int_equal(ring_change(a->dir, ring_edit_nothing, NULL, &a->m, &o, NULL),
                     ERR_OK);
    assert_int_equal(o.signatures, 0);
    assert_int_equal(rename(tempdir_file(t, "a/peers/elsewhere"), key), 0);
}

static enum err sign_again(const struct server *a, const struct manifest *m)
{
    struct buf text;

    buf_init(&text, MANIFEST_BYTES_MAX);
    buf_add(&text, slice_of(m->text, m->text_len));
    enum err e = ring_sign(a->dir, NULL, m, &a->m, &text, NULL);
    buf_fini(&text);
    return e;
}

static void test_sign__when_another_of_that_number_is_there__then_refused(void **state)
{
    struct tempdir *t = *state;
    struct server a;
    struct ring_outcome o;
    struct buf text;
    struct manifest stale;

    set_time(T0);
    make_server(t, "a", &a);
    buf_init(&text, MANIFEST_BYTES_MAX);
    make_two_of_three(&a, &text);
    change_unsigned(t, &a);
    assert_int_equal(ring_next(a.dir, &stale, NULL), ERR_OK);
    assert_int_equal(stale.version, 3);
    assert_int_equal(sign_again(&a, &stale), ERR_OK);
    set_time(T0 + 1);
    change_unsigned(t, &a); /* version 3 once more, and another */
    assert_int_equal(sign_again(&a, &stale), ERR_EXISTS);
    /* or in force */
    read_next(&a, &text);
    sign_with(1, &text);
    sign_with(2, &text);
    assert_int_equal(ring_accept(a.dir, buf_slice(&text), &o, NULL), ERR_OK);
    assert_true(o.is_in_force);
    manifest_fini(&a.m);
    assert_int_equal(manifest_load(a.dir, &a.m, NULL), ERR_OK);
    assert_int_equal(sign_again(&a, &stale), ERR_EXISTS);
    manifest_fini(&stale);
    buf_fini(&text);
    drop_server(&a);
}

static void test_change__when_one_would_rule_alone_again__then_two_must_sign_that(
    void **state)
{
    struct tempdir *t = *state;
    struct server a;
    struct ring_outcome o;
    struct buf text;
    uint8_t own[1][OBJECT_KEY_BYTES];

    set_time(T0);
    make_server(t, "a", &a);
    buf_init(&text, MANIFEST_BYTES_MAX);
    make_two_of_three(&a, &text);
    memcpy(own, a.m.admins[0], sizeof(own));
    struct ring_admins alone = {own, 1, 1};
    assert_int_equal(ring_change(a.dir, ring_edit_admins, &alone, &a.m, &o, NULL),
                     ERR_OK);
    assert_false(o.is_in_force);
    assert_int_equal(o.signatures, 1);
    assert_int_equal(o.needed, 2);
    assert_int_equal(a.m.version, 2);
    buf_fini(&text);
    drop_server(&a);
}

static void test_accept__when_it_is_a_rollback_or_a_strangers__then_refused(
    void **state)
{
    struct tempdir *t = *state;
    struct server a;
    struct server b;
    struct ring_outcome o;
    struct buf old;
    struct errinfo why = {.code = ERR_OK};

    set_time(T0);
    make_server(t, "a", &a);
    make_server(t, "b", &b);
    make_ring(&a, 0, 1);
    make_ring(&b, 0, 1);
    buf_init(&old, MANIFEST_BYTES_MAX);
    buf_add(&old, slice_of(a.m.text, a.m.text_len));
    assert_int_equal(ring_change(a.dir, ring_edit_nothing, NULL, &a.m, &o, NULL),
                     ERR_OK);
    assert_int_equal(a.m.version, 2);
    assert_int_equal(ring_accept(a.dir, buf_slice(&old), &o, &why), ERR_EXISTS);
    assert_int_equal(ring_accept(a.dir, slice_of(b.m.text, b.m.text_len), &o, &why),
                     ERR_DENIED);
    /* a damaged file is mended by one that knows this server, and by no other */
    assert_int_equal(unlink(tempdir_file(t, "a/peers/manifest")), 0);
    assert_int_equal(ring_accept(a.dir, slice_of(b.m.text, b.m.text_len), &o, &why),
                     ERR_DENIED);
    assert_non_null(strstr(why.text, "gillnet peer join"));
    assert_int_equal(ring_accept(a.dir, slice_of(a.m.text, a.m.text_len), &o, &why),
                     ERR_OK);
    assert_true(o.is_in_force);
    buf_fini(&old);
    drop_server(&a);
    drop_server(&b);
}

static void test_turn__when_the_ring_knows_the_key_and_it_is_time__then_it_is_used(
    void **state)
{
    struct tempdir *t = *state;
    struct server a;
    struct ring_outcome o;
    bool changed = true;
    uint64_t now_ms = (uint64_t)T0 * 1000;

    set_time(T0);
    make_server(t, "a", &a);
    make_ring(&a, 0, 1);
    struct identity before = a.self;
    assert_int_equal(ring_turn_identity(a.dir, &a.m, &a.self, now_ms, &changed, NULL),
                     ERR_OK);
    assert_false(changed);
    struct ring_rotation r = {
        .origin = a.self.origin, .until_ms = now_ms + 9000, .now_ms = now_ms};
    assert_int_equal(identity_prepare(a.dir, &a.self, now_ms + 5000, &r.binding, NULL),
                     ERR_OK);
    /* the ring does not know it yet */
    assert_int_equal(
        ring_turn_identity(a.dir, &a.m, &a.self, now_ms + 6000, &changed, NULL),
        ERR_OK);
    assert_false(changed);
    assert_int_equal(ring_change(a.dir, ring_edit_rotate, &r, &a.m, &o, NULL), ERR_OK);
    assert_int_equal(
        ring_turn_identity(a.dir, &a.m, &a.self, now_ms + 4999, &changed, NULL),
        ERR_OK);
    assert_false(changed);
    assert_int_equal(
        ring_turn_identity(a.dir, &a.m, &a.self, now_ms + 5000, &changed, NULL),
        ERR_OK);
    assert_true(changed);
    assert_memory_equal(a.self.signing.key, r.binding.key, OBJECT_KEY_BYTES);
    const struct manifest_key *key = NULL;
    uint64_t old = object_key_id(before.signing.key);
    assert_non_null(manifest_find_key(&a.m, old, now_ms + 8999, &key));
    assert_null(manifest_find_key(&a.m, old, now_ms + 9000, &key));
    drop_server(&a);
}

static void test_self__when_stored__then_back__and_of_the_host_without(void **state)
{
    struct tempdir *t = *state;
    struct ring_self s;
    struct ring_self bad = {"A", ""};

    assert_int_equal(ring_self_load(t->path, 99, &s, NULL), ERR_OK);
    assert_true(manifest_name_is_valid(slice_str(s.name)));
    assert_int_equal(
        ring_self_store(t->path, &(struct ring_self){"me", "[::1]:5"}, NULL), ERR_OK);
    assert_int_equal(ring_self_load(t->path, 99, &s, NULL), ERR_OK);
    assert_string_equal(s.name, "me");
    assert_string_equal(s.address, "[::1]:5");
    assert_int_equal(ring_self_store(t->path, &bad, NULL), ERR_SYNTAX);
    assert_int_equal(ring_self_store(t->path, &(struct ring_self){"me", "x"}, NULL),
                     ERR_SYNTAX);
    assert_int_equal(ring_self_store(t->path, &(struct ring_self){"me", ""}, NULL),
                     ERR_OK);
    assert_int_equal(ring_self_load(t->path, 99, &s, NULL), ERR_OK);
    assert_string_equal(s.address, "");
}

/* As a child in a name space of its own, whose host has this name. True: it got the name. */
static bool names_itself(const char *dir, const char *host, const char *name)
{
    int status = 0;
    const pid_t pid = fork();

    if (pid == 0) {
        struct ring_self s;
        _exit(unshare(CLONE_NEWUTS) == 0 && sethostname(host, strlen(host)) == 0 &&
                      ring_self_load(dir, 99, &s, NULL) == ERR_OK &&
                      strcmp(s.name, name) == 0
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void test_self__of_a_host__is_its_first_label_as_a_name(void **state)
{
    static const char *const rows[][2] = {
        {"mail", "mail"},
        {"Mail-1.example", "mail-1"},
        {"-x_y z", "x_y-z"},
        {"_\xc3\xa4.b", "server"},
        {".", "server"},
        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"},
    };
    struct tempdir *t = *state;

    if (geteuid() != 0) {
        skip();
    }
    for (size_t i = 0; i < LENGTH(rows); i++) {
        if (!names_itself(t->path, rows[i][0], rows[i][1])) {
            fail_msg("%s: not %s", rows[i][0], rows[i][1]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            test_join__when_a_dropped_one_has_name_and_address__then_it_gives_them_up),
        cmocka_unit_test(test_join__when_name_address_or_place_is_taken__then_refused),
        cmocka_unit_test(
            test_rotate__when_done_often__then_old_keys_are_forgotten_in_time),
        cmocka_unit_test(
            test_rotate__when_a_key_was_replaced_before_its_time__then_it_goes),
        cmocka_unit_test(test_ring_key__when_changed_twice__then_the_second_must_wait),
        cmocka_unit_test(test_admins__when_the_numbers_do_not_fit__then_refused),
        IN_FOLDER(
            test_change__when_two_of_three_must_sign__then_in_force_with_the_second),
        IN_FOLDER(
            test_change__when_one_would_rule_alone_again__then_two_must_sign_that),
        IN_FOLDER(test_sign__when_another_of_that_number_is_there__then_refused),
        IN_FOLDER(test_accept__when_it_is_a_rollback_or_a_strangers__then_refused),
        IN_FOLDER(
            test_turn__when_the_ring_knows_the_key_and_it_is_time__then_it_is_used),
        IN_FOLDER(test_self__when_stored__then_back__and_of_the_host_without),
        IN_FOLDER(test_self__of_a_host__is_its_first_label_as_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
