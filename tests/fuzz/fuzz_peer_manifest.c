/* fuzz_peer_manifest - a manifest changed as the input says and signed well after that: what is accepted obeys every bound,
 * prints back to itself, and replaces another by the rules alone.
 *
 * Input: a byte of signers; then, when the next byte is even, changes (3 bytes each: offset 16 bits, new byte) of a
 * good body, else the rest is the body. */
#include <string.h>

#include "core/ring/trust/manifest.h"

#include "tests/fuzz/fuzz.h"
#include "tests/unit/trust/identity_seed.h"

enum { ADMINS = 3, TEXT_MAX = 2 * MANIFEST_BYTES_MAX };
static const char first_line[] = "gillnet-ring-manifest 1\n";

static void identity_number(uint8_t n, struct identity *ret)
{
    uint8_t seed[32] = {n, 0x5e};
    identity_of_seed(seed, ret);
}

/* Two members, three administrators, two of whom must sign. */
static void make_ring(struct manifest *m, struct manifest_member members[2])
{
    *m = (struct manifest){.version = 5,
                           .created_ms = 1,
                           .expires_ms = 2,
                           .threshold = 2,
                           .nadmins = ADMINS,
                           .members = members,
                           .nmembers = 2,
                           .ring_keys = {{7, 0}, {8, 9}},
                           .nring_keys = 2,
                           .default_cap = 10,
                           .quorum = 2,
                           .default_records_per_day = 1000};
    for (unsigned i = 0; i < ADMINS; i++) {
        struct identity admin;
        identity_number((uint8_t)(100 + i), &admin);
        memcpy(m->admins[i], admin.public_key, OBJECT_KEY_BYTES);
    }
    for (uint8_t i = 0; i < 2; i++) {
        struct identity id;
        identity_number(i, &id);
        members[i] = (struct manifest_member){.nkeys = 1};
        members[i].name[0] = (char)('a' + i);
        memcpy(members[i].address, i == 0 ? "[::1]:1" : "h:2", i == 0 ? 8 : 4);
        memcpy(members[i].identity, id.public_key, OBJECT_KEY_BYTES);
        members[i].origin = id.origin;
        members[i].keys[0].binding = id.signing;
    }
}

static void sign(uint8_t who, struct buf *text)
{
    for (unsigned i = 0; i < ADMINS + 2; i++) {
        if ((who & (1u << i)) != 0) {
            struct identity admin;
            identity_number((uint8_t)(100 + i), &admin);
            (void)manifest_sign(admin.secret, text, NULL); /* not of any form */
        }
    }
}

static void check_bounds(const struct manifest *m)
{
    FUZZ_CHECK(m->version >= 1 && m->expires_ms > m->created_ms);
    FUZZ_CHECK(m->nadmins >= 1 && m->nadmins <= MANIFEST_ADMINS_MAX);
    FUZZ_CHECK(m->threshold >= 1 && m->threshold <= m->nadmins);
    FUZZ_CHECK(m->nmembers >= 1 && m->nmembers <= MANIFEST_MEMBERS_MAX);
    FUZZ_CHECK(m->nring_keys >= 1 && m->nring_keys <= MANIFEST_RING_KEYS_MAX);
    for (unsigned i = 0; i < m->nmembers; i++) {
        const struct manifest_member *p = &m->members[i];
        const struct manifest_key *key = NULL;
        struct object_id origin;
        FUZZ_CHECK(manifest_name_is_valid(slice_str(p->name)));
        FUZZ_CHECK(p->address[0] == '\0' ||
                   manifest_address_is_valid(slice_str(p->address)));
        identity_origin(p->identity, &origin);
        FUZZ_CHECK(memcmp(&origin, &p->origin, sizeof(origin)) == 0);
        FUZZ_CHECK(manifest_find(m, &p->origin) == p);
        FUZZ_CHECK(manifest_find_name(m, slice_str(p->name)) == p);
        FUZZ_CHECK(p->nkeys >= 1 && p->nkeys <= MANIFEST_KEYS_MAX);
        for (unsigned j = 0; j < p->nkeys; j++) {
            uint64_t at = p->keys[j].binding.not_before_ms;
            uint64_t id = object_key_id(p->keys[j].binding.key);
            const struct manifest_member *found = manifest_find_key(m, id, at, &key);
            FUZZ_CHECK(key_binding_holds(&p->keys[j].binding, p->identity));
            FUZZ_CHECK(found == NULL || (found == p && key == &p->keys[j]));
            FUZZ_CHECK(found == NULL || !key->is_revoked);
        }
    }
}

/* What is printed from the fields has them again. */
static void check_printed(const struct manifest *m)
{
    struct manifest back;
    struct buf text;
    struct buf again;

    buf_init(&text, TEXT_MAX);
    buf_init(&again, TEXT_MAX);
    FUZZ_CHECK(manifest_print(m, &text) == ERR_OK);
    FUZZ_CHECK(manifest_parse(buf_slice(&text), &back, NULL) == ERR_OK);
    FUZZ_CHECK(manifest_print(&back, &again) == ERR_OK);
    FUZZ_CHECK(slice_eq(buf_slice(&text), buf_slice(&again)));
    manifest_fini(&back);
    buf_fini(&text);
    buf_fini(&again);
}

static void check_replacing(const struct manifest *m, const struct manifest *old)
{
    if (manifest_may_replace(m, old, NULL) == ERR_OK) {
        FUZZ_CHECK(m->version > old->version);
        FUZZ_CHECK(memcmp(&m->ring, &old->ring, sizeof(m->ring)) == 0);
        FUZZ_CHECK(manifest_signatures(m, old) >= old->threshold);
        FUZZ_CHECK(manifest_may_replace(old, m, NULL) != ERR_OK);
    }
    if (manifest_may_replace(m, NULL, NULL) == ERR_OK) {
        FUZZ_CHECK(manifest_signatures(m, m) >= m->threshold);
    }
    FUZZ_CHECK(manifest_may_replace(m, m, NULL) != ERR_OK);
}

static void change(struct buf *text, struct slice changes)
{
    for (; changes.n >= 3; changes = slice_from(changes, 3)) {
        const unsigned char *c = (const unsigned char *)changes.p;
        size_t at = (size_t)c[0] << 8 | c[1];
        text->p[at % text->n] = (char)c[2];
    }
}

/* What does not depend on the input: signatures take most of the time. */
struct ground {
    struct manifest old; /* in force; version 5 */
    struct buf next;     /* a good version 6, not signed */
};

static const struct ground *ground(void)
{
    static struct ground g;
    struct manifest_member members[2];
    struct manifest ring;
    struct buf text;

    if (g.old.text == NULL) {
        make_ring(&ring, members);
        buf_init(&text, TEXT_MAX);
        buf_init(&g.next, TEXT_MAX);
        FUZZ_CHECK(manifest_print(&ring, &text) == ERR_OK);
        sign(3, &text);
        FUZZ_CHECK(manifest_parse(buf_slice(&text), &g.old, NULL) == ERR_OK);
        ring.version = 6;
        FUZZ_CHECK(manifest_print(&ring, &g.next) == ERR_OK);
        buf_fini(&text);
    }
    return &g;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct ground *g = ground();
    struct manifest m;
    struct buf text;

    if (size < 2) {
        return 0;
    }
    struct slice rest = slice_of((const char *)data + 2, size - 2);
    buf_init(&text, TEXT_MAX);
    if (data[1] % 2 == 0) {
        buf_add(&text, buf_slice(&g->next));
        change(&text, rest);
    } else {
        buf_add_str(&text, first_line);
        buf_add(&text, rest);
        buf_add_char(&text, '\n');
    }
    sign(data[0], &text);
    if (manifest_parse(buf_slice(&text), &m, NULL) == ERR_OK) {
        check_bounds(&m);
        check_printed(&m);
        check_replacing(&m, &g->old);
        manifest_fini(&m);
    }
    buf_fini(&text);
    return 0;
}
