/*
 * ring_sample - rings with members of known keys and three administrators; two must sign.
 */
#ifndef TESTS_UNIT_TRUST_RING_SAMPLE_H
#define TESTS_UNIT_TRUST_RING_SAMPLE_H

#include <stdio.h>

#include "core/ring/trust/manifest.h"

#include "tests/unit/trust/identity_seed.h"
#include "tests/unit/unit.h"

enum { ADMINS = 3, NOW = 1000000 };

static inline void make_identity(unsigned number, struct identity *ret)
{
    uint8_t seed[32] = {(uint8_t)number, (uint8_t)(number >> 8), 0xaa};
    identity_of_seed(seed, ret);
}

/* Administrators' keys are the identities 1000, 1001, 1002. */
static inline void admin_secret(unsigned number, uint8_t ret[OBJECT_KEY_BYTES])
{
    struct identity i;
    make_identity(1000 + number, &i);
    memcpy(ret, i.secret, OBJECT_KEY_BYTES);
}

static inline void add_member(struct manifest *m, unsigned number)
{
    struct identity i;
    struct manifest_member *p = &m->members[m->nmembers++];

    make_identity(number, &i);
    *p = (struct manifest_member){.state = MEMBER_ACTIVE, .since_ms = NOW, .nkeys = 1};
    (void)snprintf(p->name, sizeof(p->name), "m%u", number);
    (void)snprintf(p->address, sizeof(p->address), "10.0.%u.%u:8896", number / 256,
                   number % 256);
    memcpy(p->identity, i.public_key, OBJECT_KEY_BYTES);
    p->origin = i.origin;
    p->keys[0].binding = i.signing;
}

/* A ring of n members and three administrators, two must sign; without text. */
static inline struct manifest make_ring(unsigned n)
{
    struct manifest m = {.version = 1,
                         .created_ms = NOW,
                         .expires_ms = NOW + 1,
                         .threshold = 2,
                         .nadmins = ADMINS,
                         .ring_keys = {{7, 0}},
                         .nring_keys = 1,
                         .default_cap = 10,
                         .quorum = 2,
                         .default_records_per_day = 1000};
    memset(&m.ring, 0x11, sizeof(m.ring));
    for (unsigned i = 0; i < ADMINS; i++) {
        struct identity a;
        make_identity(1000 + i, &a);
        memcpy(m.admins[i], a.public_key, OBJECT_KEY_BYTES);
    }
    m.members = calloc(n + 1, sizeof(*m.members));
    assert_non_null(m.members);
    for (unsigned i = 0; i < n; i++) {
        add_member(&m, i);
    }
    return m;
}

/* Text of m signed by the administrators whose bits are set. */
static inline void print_signed(const struct manifest *m, unsigned who, struct buf *ret)
{
    buf_init(ret, (size_t)4 * MANIFEST_BYTES_MAX);
    assert_int_equal(manifest_print(m, ret), ERR_OK);
    for (unsigned i = 0; i < 8; i++) {
        if (who & (1u << i)) {
            uint8_t secret[OBJECT_KEY_BYTES];
            admin_secret(i, secret);
            assert_int_equal(manifest_sign(secret, ret, NULL), ERR_OK);
        }
    }
}

static inline struct manifest parsed(const struct manifest *m, unsigned who)
{
    struct manifest ret;
    struct errinfo why = {.code = ERR_OK};
    struct buf text;

    print_signed(m, who, &text);
    enum err e = manifest_parse(buf_slice(&text), &ret, &why);
    if (e != ERR_OK) {
        print_error("%s\n", why.text);
    }
    assert_int_equal(e, ERR_OK);
    buf_fini(&text);
    return ret;
}

#endif
