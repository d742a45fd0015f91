/* test_invite - one redemption, and answers to hostile requests. */
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "core/ring/trust/invite.h"

#include "tests/unit/trust/identity_seed.h"
#include "tests/unit/trust/invite_sample.h"
#include "tests/unit/unit.h"

static void test_join__when_all_is_well__then_both_have_ring_and_key(void **state)
{
    struct tempdir *t = *state;
    struct server a;
    struct server b;
    struct buf response;
    struct invite_answer answer;
    struct keyring keys;
    struct stat st;

    set_time(T0);
    make_server(t, "a", &a);
    make_server(t, "b", &b);
    make_ring(&a, 0, 1);
    uint32_t own_key = b.keys.ring[0].id;
    assert_false(invite_is_open(a.dir));
    struct invite_token token = make_token(&a, "bee", T0 + 3600);
    assert_true(invite_is_open(a.dir));
    assert_string_equal(token.address, "127.0.0.1:1");
    assert_memory_equal(token.server_key, a.self.signing.key, OBJECT_KEY_BYTES);
    assert_int_equal(stat(tempdir_file(t, "a/peers/invites"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);

    assert_int_equal(redeem(&a, &b, &token, &response), ERR_OK);
    assert_int_equal(a.m.version, 2);
    assert_int_equal(manifest_find(&a.m, &b.self.origin)->state, MEMBER_ACTIVE);
    assert_int_equal(
        invite_accept(b.state, &token, &b.self, buf_slice(&response), &answer, NULL),
        ERR_OK);
    assert_true(answer.is_member);
    assert_string_equal(answer.name, "bee");
    assert_int_equal(answer.version, 2);
    assert_int_equal(keyring_load(b.state, &keys, NULL), ERR_OK);
    assert_int_equal(keys.n, 2);
    assert_int_equal(keys.ring[0].id, a.keys.ring[0].id);
    assert_memory_equal(keys.ring[0].bytes, a.keys.ring[0].bytes, HASHKEY_BYTES);
    assert_int_equal(keys.ring[1].id, own_key);
    assert_int_equal(stat(tempdir_file(t, "b/keys/digest.key"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(manifest_load(b.dir, &b.m, NULL), ERR_OK);
    assert_string_equal(b.m.text, a.m.text);
    /* the answer is the same when the connection broke and the request is repeated */
    assert_int_equal(
        invite_accept(b.state, &token, &b.self, buf_slice(&response), &answer, NULL),
        ERR_OK);
    buf_fini(&response);
    drop_server(&a);
    drop_server(&b);
}

static void test_redeem__when_used__then_only_its_user_gets_the_same_again(void **state)
{
    struct tempdir *t = *state;
    struct server a;
    struct server b;
    struct server c;

    set_time(T0);
    make_server(t, "a", &a);
    make_server(t, "b", &b);
    make_server(t, "c", &c);
    make_ring(&a, 0, 1);
    struct invite_token token = make_token(&a, "bee", T0 + 3600);
    assert_int_equal(redeem_only(&a, &b, &token), ERR_OK);
    assert_int_equal(redeem_only(&a, &c, &token), ERR_DENIED);
    assert_int_equal(redeem_only(&a, &b, &token), ERR_OK);
    assert_int_equal(a.m.version, 2); /* nothing was changed by it */
    set_time(T0 + 3600 + INVITE_ANSWER_S - 1);
    assert_int_equal(redeem_only(&a, &b, &token), ERR_OK);
    set_time(T0 + 3600 + INVITE_ANSWER_S);
    assert_int_equal(redeem_only(&a, &b, &token), ERR_DENIED);
    assert_false(invite_is_open(a.dir));
    drop_server(&a);
}

static void test_redeem__when_its_user_was_dropped_since__then_not_let_in_again(
    void **state)
{
    struct tempdir *t = *state;
    struct server a;
    struct server b;
    struct ring_outcome o;
    struct ring_state drop = {"bee", MEMBER_DROPPED, (uint64_t)T0 * 1000};

    set_time(T0);
    make_server(t, "a", &a);
    make_server(t, "b", &b);
    make_ring(&a, 0, 1);
    struct invite_token token = make_token(&a, "bee", T0 + 3600);
    assert_int_equal(redeem_only(&a, &b, &token), ERR_OK);
    assert_int_equal(ring_change(a.dir, ring_edit_state, &drop, &a.m, &o, NULL),
                     ERR_OK);
    assert_int_equal(redeem_only(&a, &b, &token), ERR_DENIED);
    /* a new invitation does, under its old name */
    token = make_token(&a, "bee", T0 + 3600);
    assert_int_equal(redeem_only(&a, &b, &token), ERR_OK);
    assert_int_equal(manifest_find(&a.m, &b.self.origin)->state, MEMBER_ACTIVE);
    assert_int_equal(a.m.nmembers, 2);
    drop_server(&a);
}

static void
test_redeem__when_the_ring_has_something_against_it__then_the_token_stays_good(
    void **state)
{
    struct tempdir *t = *state;
    struct server a;
    struct server b;
    struct ring_outcome o;
    struct ring_revocation leaked = {"bee", 0};
    struct ring_state drop = {"bee", MEMBER_DROPPED, (uint64_t)T0 * 1000};

    set_time(T0);
    make_server(t, "a", &a);
    make_server(t, "b", &b);
    make_ring(&a, 0, 1);
    struct invite_token token = make_token(&a, "bee", T0 + 3600);
    assert_int_equal(redeem_only(&a, &b, &token), ERR_OK);
    assert_int_equal(ring_change(a.dir, ring_edit_revoke, &leaked, &a.m, &o, NULL),
                     ERR_OK);
    assert_int_equal(ring_change(a.dir, ring_edit_state, &drop, &a.m, &o, NULL),
                     ERR_OK);
    token = make_token(&a, "bee", T0 + 3600);
    assert_int_equal(redeem_only(&a, &b, &token), ERR_EXISTS); /* the key is revoked */
    assert_int_equal(identity_rotate(b.dir, &b.self, NULL), ERR_OK);
    assert_int_equal(redeem_only(&a, &b, &token), ERR_OK);
    assert_int_equal(manifest_find(&a.m, &b.self.origin)->state, MEMBER_ACTIVE);
    drop_server(&a);
}

static void test_redeem__when_anything_is_wrong__then_denied_alike(void **state)
{
    struct tempdir *t = *state;
    struct server a;
    struct server b;

    set_time(T0);
    make_server(t, "a", &a);
    make_server(t, "b", &b);
    make_ring(&a, 0, 1);
    struct invite_token good = make_token(&a, "bee", T0 + 3600);
    struct invite_token x = good;
    x.secret[15] ^= 1;
    assert_int_equal(redeem_only(&a, &b, &x), ERR_DENIED);
    x = good;
    x.id[0] ^= 1;
    assert_int_equal(redeem_only(&a, &b, &x), ERR_DENIED);
    struct server liar = b; /* another's identity */
    liar.self.public_key[0] ^= 1;
    assert_int_equal(redeem_only(&a, &liar, &good), ERR_DENIED);
    liar = b; /* a key that its identity did not sign */
    liar.self.signing.key[0] ^= 1;
    assert_int_equal(redeem_only(&a, &liar, &good), ERR_DENIED);

    struct invite_server server = {a.dir, &a.self, &a.keys};
    struct buf request;
    struct buf response;
    buf_init(&request, INVITE_REQUEST_MAX);
    buf_init(&response, INVITE_RESPONSE_MAX);
    assert_int_equal(invite_request(&good, &b.self, "", &request), ERR_OK);
    /* somebody else's connection */
    assert_int_equal(invite_redeem(&server, a.self.signing.key, buf_slice(&request),
                                   &a.m, &response, NULL),
                     ERR_DENIED);
    for (size_t i = 0; i < request.n; i++) { /* every cut */
        assert_int_equal(invite_redeem(&server, b.self.signing.key,
                                       slice_head(buf_slice(&request), i), &a.m,
                                       &response, NULL),
                         ERR_SYNTAX);
    }
    buf_add_char(&request, '\n');
    assert_int_equal(invite_redeem(&server, b.self.signing.key, buf_slice(&request),
                                   &a.m, &response, NULL),
                     ERR_SYNTAX);
    assert_int_equal(response.n, 0);
    assert_int_equal(a.m.version, 1);

    set_time(T0 + 3599);
    assert_true(invite_is_open(a.dir));
    set_time(T0 + 3600);
    assert_false(invite_is_open(a.dir));
    assert_int_equal(redeem_only(&a, &b, &good), ERR_DENIED);
    set_time(T0);
    assert_int_equal(invite_withdraw(a.dir, "bee", NULL), ERR_OK);
    assert_int_equal(invite_withdraw(a.dir, "bee", NULL), ERR_NOT_FOUND);
    assert_int_equal(redeem_only(&a, &b, &good), ERR_DENIED);
    buf_fini(&request);
    buf_fini(&response);
    drop_server(&a);
}

static void test_redeem__when_the_manifest_has_expired__then_nobody_joins(void **state)
{
    struct tempdir *t = *state;
    struct server a;
    struct server b;
    struct ring_outcome o;

    set_time(T0);
    make_server(t, "a", &a);
    make_server(t, "b", &b);
    make_ring(&a, 0, 1);
    set_time(T0 + (MANIFEST_EXPIRY_DAYS - 1) * 86400);
    struct invite_token token =
        make_token(&a, "bee", T0 + (MANIFEST_EXPIRY_DAYS + 1) * 86400);
    set_time(T0 + MANIFEST_EXPIRY_DAYS * 86400);
    assert_int_equal(redeem_only(&a, &b, &token), ERR_TIMEOUT);
    assert_int_equal(a.m.version, 1);
    assert_int_equal(ring_change(a.dir, ring_edit_nothing, NULL, &a.m, &o, NULL),
                     ERR_OK);
    assert_int_equal(redeem_only(&a, &b, &token), ERR_OK);
    assert_int_equal(a.m.version, 3);
    drop_server(&a);
}

/* Eight processes show one token at once: one gets in. */
static void test_redeem__when_many_do_so_at_once__then_one_is_let_in(void **state)
{
    enum { N = 8 };
    struct tempdir *t = *state;
    struct server a;
    struct server b[N];
    pid_t pids[N];
    unsigned let_in = 0;

    set_time(T0);
    make_server(t, "a", &a);
    make_ring(&a, 0, 1);
    for (unsigned i = 0; i < N; i++) {
        char name[16];
        (void)snprintf(name, sizeof(name), "b%u", i);
        make_server(t, name, &b[i]);
    }
    struct invite_token token = make_token(&a, "bee", T0 + 3600);
    for (unsigned i = 0; i < N; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (pids[i] == 0) {
            enum err e = redeem_only(&a, &b[i], &token);
            _exit(e == ERR_OK ? 0 : e == ERR_DENIED ? 1 : 2);
        }
    }
    for (unsigned i = 0; i < N; i++) {
        int status = 0;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
        let_in += WEXITSTATUS(status) == 0 ? 1 : 0;
    }
    assert_int_equal(let_in, 1);
    manifest_fini(&a.m);
    assert_int_equal(manifest_load(a.dir, &a.m, NULL), ERR_OK);
    assert_int_equal(a.m.nmembers, 2);
    drop_server(&a);
}

static void test_redeem__when_a_crash_came_before_the_manifest__then_it_goes_on(
    void **state)
{
    struct tempdir *t = *state;
    struct server a;
    struct server b;
    struct stat st;
    struct manifest before;

    set_time(T0);
    make_server(t, "a", &a);
    make_server(t, "b", &b);
    make_ring(&a, 0, 1);
    struct invite_token token = make_token(&a, "bee", T0 + 3600);
    assert_int_equal(manifest_copy(&a.m, &before), ERR_OK);
    assert_int_equal(redeem_only(&a, &b, &token), ERR_OK);
    /* as if the disk had taken the invitation's use, but not the manifest */
    assert_int_equal(unlink(tempdir_file(t, "a/peers/manifest")), 0);
    manifest_fini(&a.m);
    a.m = before;
    assert_int_equal(manifest_store(a.dir, &a.m, NULL), ERR_OK);
    assert_int_equal(stat(tempdir_file(t, "a/peers/manifest"), &st), 0);
    assert_int_equal(redeem_only(&a, &b, &token), ERR_OK);
    assert_int_equal(a.m.nmembers, 2);
    drop_server(&a);
}

/* A ring whose two administrators must both sign; ret is the absent one. */
static void make_ring_of_two(struct server *a, struct identity *ret)
{
    struct manifest next;
    struct ring_outcome o;
    struct buf text;
    struct ring_admins admins;
    uint8_t list[2][OBJECT_KEY_BYTES];

    make_ring(a, 1, 1);
    memcpy(list, a->m.admins, sizeof(list));
    admins = (struct ring_admins){list, 2, 2};
    /* our signature alone is not enough for that version itself */
    assert_int_equal(ring_change(a->dir, ring_edit_admins, &admins, &a->m, &o, NULL),
                     ERR_OK);
    assert_false(o.is_in_force);
    identity_of_seed((const uint8_t[32]){1}, ret);
    assert_int_equal(ring_next(a->dir, &next, NULL), ERR_OK);
    buf_init(&text, MANIFEST_BYTES_MAX);
    buf_add(&text, slice_of(next.text, next.text_len));
    assert_int_equal(manifest_sign(ret->secret, &text, NULL), ERR_OK);
    assert_int_equal(ring_accept(a->dir, buf_slice(&text), &o, NULL), ERR_OK);
    assert_true(o.is_in_force);
    manifest_fini(&next);
    manifest_fini(&a->m);
    buf_fini(&text);
    assert_int_equal(manifest_load(a->dir, &a->m, NULL), ERR_OK);
    assert_int_equal(a->m.threshold, 2);
}

static void test_redeem__when_others_must_sign__then_it_waits_and_no_key_goes_out(
    void **state)
{
    struct tempdir *t = *state;
    struct server a;
    struct server b;
    struct buf response;
    struct invite_answer answer;
    struct keyring keys;
    struct manifest next;
    struct identity other;
    struct ring_outcome o;
    struct buf text;

    set_time(T0);
    make_server(t, "a", &a);
    make_server(t, "b", &b);
    make_ring_of_two(&a, &other);

    struct invite_token token = make_token(&a, "bee", T0 + 3600);
    char first[65536] = "";
    for (unsigned i = 0; i < 2; i++) { /* asking again does not undo what was signed */
        assert_int_equal(redeem(&a, &b, &token, &response), ERR_OK);
        assert_int_equal(slice_find_slice(buf_slice(&response), SLICE_LIT("seal")),
                         response.n);
        assert_int_equal(invite_accept(b.state, &token, &b.self, buf_slice(&response),
                                       &answer, NULL),
                         ERR_OK);
        assert_false(answer.is_member);
        assert_int_equal(answer.version, 3);
        buf_fini(&response);
        assert_int_equal(ring_next(a.dir, &next, NULL), ERR_OK);
        assert_true(next.text_len < sizeof(first));
        assert_true(i == 0 || strcmp(first, next.text) == 0);
        memcpy(first, next.text, next.text_len + 1);
        manifest_fini(&next);
        set_time(T0 + 1);
    }
    assert_int_equal(keyring_load(b.state, &keys, NULL), ERR_OK);
    assert_int_equal(keys.n, 1);
    buf_init(&text, MANIFEST_BYTES_MAX);
    assert_int_equal(ring_next(a.dir, &next, NULL), ERR_OK);
    assert_int_equal(manifest_signatures(&next, &a.m), 1);
    buf_add(&text, slice_of(next.text, next.text_len));
    assert_int_equal(manifest_sign(other.secret, &text, NULL), ERR_OK);
    assert_int_equal(ring_accept(a.dir, buf_slice(&text), &o, NULL), ERR_OK);
    assert_true(o.is_in_force);
    assert_int_equal(ring_accept(a.dir, buf_slice(&text), &o, NULL), ERR_EXISTS);
    manifest_fini(&next);
    manifest_fini(&a.m);
    assert_int_equal(manifest_load(a.dir, &a.m, NULL), ERR_OK);
    assert_int_equal(redeem(&a, &b, &token, &response), ERR_OK);
    assert_int_equal(
        invite_accept(b.state, &token, &b.self, buf_slice(&response), &answer, NULL),
        ERR_OK);
    assert_true(answer.is_member);
    buf_fini(&response);
    buf_fini(&text);
    drop_server(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_join__when_all_is_well__then_both_have_ring_and_key),
        IN_FOLDER(test_redeem__when_used__then_only_its_user_gets_the_same_again),
        IN_FOLDER(test_redeem__when_its_user_was_dropped_since__then_not_let_in_again),
        IN_FOLDER(
            test_redeem__when_the_ring_has_something_against_it__then_the_token_stays_good),
        IN_FOLDER(test_redeem__when_anything_is_wrong__then_denied_alike),
        IN_FOLDER(test_redeem__when_the_manifest_has_expired__then_nobody_joins),
        IN_FOLDER(test_redeem__when_many_do_so_at_once__then_one_is_let_in),
        IN_FOLDER(test_redeem__when_a_crash_came_before_the_manifest__then_it_goes_on),
        IN_FOLDER(
            test_redeem__when_others_must_sign__then_it_waits_and_no_key_goes_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
