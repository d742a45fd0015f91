/* test_invite_token - tokens, and hostile answers. */
#include <stdio.h>

#include "core/ring/trust/invite.h"
#include "core/ring/trust/invite_internal.h"

#include "tests/unit/trust/invite_sample.h"
#include "tests/unit/unit.h"

static void test_make__when_it_cannot_be__then_refused(void **state)
{
    struct tempdir *t = *state;
    struct server a;
    struct buf text;

    set_time(T0);
    make_server(t, "a", &a);
    make_ring(&a, 0, 1);
    struct invite_server server = {a.dir, &a.self, &a.keys};
    buf_init(&text, INVITE_TOKEN_MAX);
    assert_int_equal(invite_make(&server, &a.m, "a", T0 + 1, &text, NULL), ERR_EXISTS);
    assert_int_equal(invite_make(&server, &a.m, "B", T0 + 1, &text, NULL), ERR_SYNTAX);
    assert_int_equal(invite_make(&server, &a.m, "b", T0, &text, NULL), ERR_RANGE);
    assert_int_equal(
        invite_make(&server, &a.m, "b", T0 + INVITE_EXPIRY_MAX_S + 1, &text, NULL),
        ERR_RANGE);
    set_time(T0 + MANIFEST_EXPIRY_DAYS * 86400);
    assert_int_equal(invite_make(&server, &a.m, "b", T0 + 100 * 86400, &text, NULL),
                     ERR_TIMEOUT);
    set_time(T0);
    a.m.members[0].address[0] = '\0';
    assert_int_equal(invite_make(&server, &a.m, "b", T0 + 1, &text, NULL),
                     ERR_NOT_FOUND);
    buf_fini(&text);
    drop_server(&a);
}

static void test_make__when_there_are_as_many_as_allowed__then_no_more(void **state)
{
    struct tempdir *t = *state;
    struct server a;
    struct buf text;
    char name[16];

    set_time(T0);
    make_server(t, "a", &a);
    make_ring(&a, 0, 1);
    for (unsigned i = 0; i < INVITES_MAX; i++) {
        (void)snprintf(name, sizeof(name), "b%u", i);
        (void)make_token(&a, name, T0 + 60);
    }
    struct invite_server server = {a.dir, &a.self, &a.keys};
    buf_init(&text, INVITE_TOKEN_MAX);
    assert_int_equal(invite_make(&server, &a.m, "more", T0 + 60, &text, NULL),
                     ERR_LIMIT);
    buf_fini(&text);
    (void)make_token(&a, "b7", T0 + 60); /* in the place of the other for b7 */
    set_time(T0 + 60);
    (void)make_token(&a, "more", T0 + 120);
    struct invite_row rows[INVITES_MAX];
    assert_int_equal(invite_rows(a.dir, rows), 1);
    assert_string_equal(rows[0].name, "more");
    drop_server(&a);
}

/* ---- tokens ---- */

static void test_parse__when_a_letter_is_lost_or_changed__then_refused(void **state)
{
    struct tempdir *t = *state;
    struct server a;
    struct invite_token token;
    struct buf text;

    set_time(T0);
    make_server(t, "a", &a);
    make_ring(&a, 0, 1);
    struct invite_server server = {a.dir, &a.self, &a.keys};
    buf_init(&text, INVITE_TOKEN_MAX);
    assert_int_equal(invite_make(&server, &a.m, "b", T0 + 1, &text, NULL), ERR_OK);
    for (size_t i = 0; i < text.n; i++) {
        assert_int_not_equal(
            invite_parse(slice_head(buf_slice(&text), i), &token, NULL), ERR_OK);
        char was = text.p[i];
        text.p[i] = was == 'A' ? 'B' : 'A';
        assert_int_not_equal(invite_parse(buf_slice(&text), &token, NULL), ERR_OK);
        text.p[i] = '\0';
        assert_int_not_equal(invite_parse(buf_slice(&text), &token, NULL), ERR_OK);
        text.p[i] = was;
    }
    assert_int_equal(invite_parse(buf_slice(&text), &token, NULL), ERR_OK);
    assert_int_equal(invite_parse(SLICE_LIT("gnp2-AAAA"), &token, NULL), ERR_VERSION);
    buf_add_str(&text, "\n");
    assert_int_equal(invite_parse(buf_slice(&text), &token, NULL), ERR_OK);
    buf_add_str(&text, "A");
    assert_int_equal(invite_parse(buf_slice(&text), &token, NULL), ERR_SYNTAX);
    buf_fini(&text);
    drop_server(&a);
}

/* ---- answers of a liar ---- */

static void test_accept__when_the_answer_is_not_of_that_ring__then_nothing_is_taken(
    void **state)
{
    struct tempdir *t = *state;
    struct server a;
    struct server b;
    struct server evil;
    struct buf good;
    struct invite_answer answer;
    struct keyring keys;

    set_time(T0);
    make_server(t, "a", &a);
    make_server(t, "b", &b);
    make_server(t, "evil", &evil);
    make_ring(&a, 0, 1);
    make_ring(&evil, 0, 1);
    struct invite_token token = make_token(&a, "bee", T0 + 3600);
    struct invite_token other = make_token(&evil, "bee", T0 + 3600);
    assert_int_equal(redeem(&a, &b, &token, &good), ERR_OK);
    /* the answer to another token: inviter is no member */
    assert_int_equal(
        invite_accept(b.state, &other, &b.self, buf_slice(&good), &answer, NULL),
        ERR_DENIED);
    /* one that only lacks the pinned server among its members */
    struct invite_token strange = token;
    struct buf text;
    uint8_t seal[INVITE_SEAL_BYTES];
    buf_init(&text, INVITE_TOKEN_MAX);
    memcpy(strange.server_key, evil.self.signing.key, OBJECT_KEY_BYTES);
    invite_seal_key(&a.self, token.id, seal);
    assert_int_equal(invite_token_print(&strange, seal, &a.keys.ring[0], &text),
                     ERR_OK);
    assert_int_equal(
        invite_accept(b.state, &strange, &b.self, buf_slice(&good), &answer, NULL),
        ERR_DENIED);
    buf_fini(&text);
    /* to another server */
    assert_int_equal(
        invite_accept(b.state, &token, &evil.self, buf_slice(&good), &answer, NULL),
        ERR_DENIED);
    /* a sealing key that does not open it */
    struct buf wrong;
    buf_init(&wrong, INVITE_RESPONSE_MAX);
    buf_add(&wrong, buf_slice(&good));
    size_t at = slice_find_slice(buf_slice(&wrong), SLICE_LIT("seal ")) + 5;
    wrong.p[at] = wrong.p[at] == '0' ? '1' : '0';
    assert_int_equal(
        invite_accept(b.state, &token, &b.self, buf_slice(&wrong), &answer, NULL),
        ERR_DENIED);
    for (size_t i = 0; i < good.n; i++) {
        assert_int_not_equal(invite_accept(b.state, &token, &b.self,
                                           slice_head(buf_slice(&good), i), &answer,
                                           NULL),
                             ERR_OK);
    }
    /* the manifest has expired when it comes */
    set_time(T0 + 91 * 86400);
    assert_int_equal(
        invite_accept(b.state, &token, &b.self, buf_slice(&good), &answer, NULL),
        ERR_TIMEOUT);
    assert_int_equal(manifest_load(b.dir, &b.m, NULL), ERR_NOT_FOUND);
    assert_int_equal(keyring_load(b.state, &keys, NULL), ERR_OK);
    assert_int_equal(keys.n, 1);
    /* in one ring already */
    set_time(T0);
    assert_int_equal(redeem_only(&evil, &a, &other), ERR_OK);
    struct buf second;
    assert_int_equal(redeem(&evil, &a, &other, &second), ERR_OK);
    assert_int_equal(
        invite_accept(a.state, &other, &a.self, buf_slice(&second), &answer, NULL),
        ERR_EXISTS);
    assert_int_equal(keyring_load(a.state, &keys, NULL), ERR_OK);
    assert_int_equal(keys.n, 1);
    buf_fini(&second);
    buf_fini(&wrong);
    buf_fini(&good);
    drop_server(&a);
    drop_server(&evil);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_make__when_it_cannot_be__then_refused),
        IN_FOLDER(test_make__when_there_are_as_many_as_allowed__then_no_more),
        IN_FOLDER(test_parse__when_a_letter_is_lost_or_changed__then_refused),
        IN_FOLDER(
            test_accept__when_the_answer_is_not_of_that_ring__then_nothing_is_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
