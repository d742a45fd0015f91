/*
 * invite_sample - servers in folders of their own, one of which has a ring and invites.
 */
#ifndef TESTS_UNIT_TRUST_INVITE_SAMPLE_H
#define TESTS_UNIT_TRUST_INVITE_SAMPLE_H

#include <stdio.h>

#include "core/base/clock.h"
#include "core/ring/trust/invite.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/trust/identity_seed.h"
#include "tests/unit/unit.h"

enum { T0 = 1800000000 }; /* seconds since 1970 */
static inline void set_time(uint64_t s)
{
    clock_set_for_test(s * 1000000, s * 1000000);
}

/* One server: a state folder with keys and an identity. */
struct server {
    char state[TEMPDIR_PATH];
    char dir[TEMPDIR_PATH + 8];
    struct identity self;
    struct keyring keys;
    struct manifest m;
};

static inline void make_server(struct tempdir *t, const char *name, struct server *ret)
{
    *ret = (struct server){.state = ""};
    (void)snprintf(ret->state, sizeof(ret->state), "%s/%s", t->path, name);
    (void)snprintf(ret->dir, sizeof(ret->dir), "%s/%s/peers", t->path, name);
    assert_int_equal(keyring_load_or_create(ret->state, &ret->keys, NULL), ERR_OK);
    assert_int_equal(identity_create(ret->dir, &ret->self, NULL), ERR_OK);
}

static inline void drop_server(struct server *s)
{
    manifest_fini(&s->m);
}

/* A ring of one; extra administrators: that many more, whose keys nobody here has. */
static inline void make_ring(struct server *s, unsigned extra, unsigned threshold)
{
    struct manifest_member own = {
        .name = "a", .state = MEMBER_ACTIVE, .nkeys = 1, .address = "127.0.0.1:1"};
    struct manifest m = {.threshold = threshold,
                         .nadmins = 1 + extra,
                         .members = &own,
                         .nmembers = 1,
                         .nring_keys = 1,
                         .default_cap = 10,
                         .quorum = 2,
                         .default_records_per_day = 1000};
    struct ring_outcome o;
    uint8_t secret[OBJECT_KEY_BYTES];

    assert_int_equal(ring_admin_key(s->dir, NULL, true, secret, m.admins[0], NULL),
                     ERR_OK);
    for (unsigned i = 0; i < extra; i++) {
        struct identity other;
        uint8_t seed[32] = {(uint8_t)(i + 1)};
        identity_of_seed(seed, &other);
        memcpy(m.admins[i + 1], other.public_key, OBJECT_KEY_BYTES);
    }
    memcpy(own.identity, s->self.public_key, OBJECT_KEY_BYTES);
    own.origin = s->self.origin;
    own.keys[0].binding = s->self.signing;
    m.ring_keys[0].id = s->keys.ring[0].id;
    assert_int_equal(ring_create(s->dir, &m, &o, NULL), ERR_OK);
    assert_true(o.is_in_force);
    assert_int_equal(manifest_load(s->dir, &s->m, NULL), ERR_OK);
}

static inline struct invite_token make_token(struct server *s, const char *name,
                                             uint64_t expires_s)
{
    struct invite_server server = {s->dir, &s->self, &s->keys};
    struct invite_token t;
    struct buf text;

    buf_init(&text, INVITE_TOKEN_MAX);
    assert_int_equal(invite_make(&server, &s->m, name, expires_s, &text, NULL), ERR_OK);
    assert_true(text.n < 200); /* short */
    assert_int_equal(invite_parse(buf_slice(&text), &t, NULL), ERR_OK);
    buf_fini(&text);
    return t;
}

static inline enum err redeem(struct server *a, struct server *b,
                              const struct invite_token *t, struct buf *response)
{
    struct invite_server server = {a->dir, &a->self, &a->keys};
    struct buf request;
    struct errinfo why = {.code = ERR_OK};

    buf_init(&request, INVITE_REQUEST_MAX);
    buf_init(response, INVITE_RESPONSE_MAX);
    assert_int_equal(invite_request(t, &b->self, "", &request), ERR_OK);
    enum err e = invite_redeem(&server, b->self.signing.key, buf_slice(&request), &a->m,
                               response, &why);
    if (e == ERR_DENIED) { /* nobody learns what was wrong */
        assert_string_equal(why.text,
                            "the token is not valid here, or no longer valid; ask "
                            "for a new invitation");
        assert_int_equal(response->n, 0);
    }
    buf_fini(&request);
    return e;
}

static inline enum err redeem_only(struct server *a, struct server *b,
                                   const struct invite_token *t)
{
    struct buf response;
    enum err e = redeem(a, b, t, &response);
    buf_fini(&response);
    return e;
}

static inline int clock_teardown(void **state)
{
    clock_unset_for_test();
    return tempdir_teardown(state);
}

#define IN_FOLDER(name) \
    cmocka_unit_test_setup_teardown(name, tempdir_setup, clock_teardown)

#endif
