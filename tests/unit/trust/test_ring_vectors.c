/* test_ring_vectors - the frozen manifest and token of tests/data/ring: made the same, and read the
 * same. */
#include <stdio.h>

#include "core/base/file.h"
#include "core/base/hash256.h"
#include "core/ring/trust/invite_internal.h"

#include "tests/unit/trust/identity_seed.h"
#include "tests/unit/unit.h"

enum { TEXT_MAX = 65536 };

/* Expected contents of the file; GILLNET_WRITE_VECTORS in the environment writes it (never for one
 * that is published). */
static void check_file(const char *name, struct slice want)
{
    char path[512];
    struct buf text;

    (void)snprintf(path, sizeof(path), "%s/tests/data/ring/%s", GILLNET_SOURCE_DIR,
                   name);
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
    if (getenv("GILLNET_WRITE_VECTORS") != NULL) {
        assert_int_equal(file_write_atomic(path, want, 0644, NULL), ERR_OK);
    }
    buf_init(&text, TEXT_MAX);
    assert_int_equal(file_read(path, &text, NULL), ERR_OK);
    if (!slice_eq(buf_slice(&text), want)) {
        print_error("%s should be:\n%.*s", name, SLICE_ARGS(want));
    }
    assert_true(slice_eq(buf_slice(&text), want));
    buf_fini(&text);
}

static void example_identity(const char *word, struct identity *ret)
{
    struct hash256 seed;
    hash256_of(slice_str(word), &seed);
    identity_of_seed(seed.b, ret);
}

static void fill_member(const char *name, const char *address,
                        struct manifest_member *ret)
{
    struct identity i;

    example_identity(name, &i);
    *ret = (struct manifest_member){.since_ms = 1800000000000u, .nkeys = 1};
    (void)snprintf(ret->name, sizeof(ret->name), "%s", name);
    (void)snprintf(ret->address, sizeof(ret->address), "%s", address);
    memcpy(ret->identity, i.public_key, OBJECT_KEY_BYTES);
    ret->origin = i.origin;
    ret->keys[0].binding = i.signing;
}

static void check_manifest(enum ring_kind kind, const char *file)
{
    struct manifest_member members[2];
    struct manifest m = {.version = 3,
                         .created_ms = 1800000000000u,
                         .expires_ms = 1807776000000u,
                         .threshold = 2,
                         .nadmins = 3,
                         .members = members,
                         .nmembers = 2,
                         .ring_keys = {{0x1f00aa02, 0}, {0x22b1c0de, 1800086400000u}},
                         .nring_keys = 2,
                         .kind = kind,
                         .default_cap = 10,
                         .quorum = 2,
                         .default_records_per_day = 50000000};
    static const char *const admins[] = {"admin-a", "admin-b", "admin-c"};
    struct manifest back;
    struct hash256 ring;
    struct buf text;

    hash256_of(SLICE_LIT("gillnet example ring"), &ring);
    memcpy(m.ring.b, ring.b, OBJECT_ID_BYTES);
    fill_member("one", "mx1.example:8894", &members[0]);
    fill_member("two", "[2001:db8::2]:8894", &members[1]);
    members[1].state = MEMBER_LEFT;
    members[1].cap = 5;
    buf_init(&text, TEXT_MAX);
    for (size_t i = 0; i < 3; i++) {
        struct identity a;
        example_identity(admins[i], &a);
        memcpy(m.admins[i], a.public_key, OBJECT_KEY_BYTES);
    }
    assert_int_equal(manifest_print(&m, &text), ERR_OK);
    for (size_t i = 0; i < 3; i += 2) {
        struct identity a;
        example_identity(admins[i], &a);
        assert_int_equal(manifest_sign(a.secret, &text, NULL), ERR_OK);
    }
    check_file(file, buf_slice(&text));
    assert_int_equal(manifest_parse(buf_slice(&text), &back, NULL), ERR_OK);
    assert_int_equal(back.kind, kind);
    assert_int_equal(manifest_may_replace(&back, NULL, NULL), ERR_OK);
    manifest_fini(&back);
    buf_fini(&text);
}

/* That of a federation is older than kinds: its bytes stay what they were. */
static void test_manifest__when_made_again__then_the_same(void **state)
{
    (void)state;
    check_manifest(RING_FEDERATION, "manifest.txt");
    check_manifest(RING_OWN, "manifest-own.txt");
}

static void add_hex(struct buf *b, const char *name, const uint8_t *bytes, size_t n)
{
    char hex[2 * OBJECT_SIGNATURE_BYTES + 1];
    hex_print(bytes, n, hex);
    buf_printf(b, "%s %s\n", name, hex);
}

/* Its own key opens it as long as nothing in it was exchanged. */
static void assert_sealed(const struct invite_token *t, uint8_t seal[INVITE_SEAL_BYTES],
                          const struct hashkey *want)
{
    struct hashkey key;
    struct invite_token x = *t;

    assert_int_equal(invite_token_open(&x, seal, &key), ERR_OK);
    assert_memory_equal(&key, want, sizeof(key));
    for (size_t i = 0; i < sizeof(x.sealed); i++) {
        x.sealed[i] ^= 1;
        assert_int_equal(invite_token_open(&x, seal, &key), ERR_KEY);
        x.sealed[i] ^= 1;
    }
    x.address[0] ^= 1;
    assert_int_equal(invite_token_open(&x, seal, &key), ERR_KEY);
    x = *t;
    x.server_key[0] ^= 1;
    assert_int_equal(invite_token_open(&x, seal, &key), ERR_KEY);
    x = *t;
    seal[31] ^= 1;
    assert_int_equal(invite_token_open(&x, seal, &key), ERR_KEY);
    seal[31] ^= 1;
}

static void test_token__when_made_again__then_the_same(void **state)
{
    struct identity inviter;
    struct identity joiner;
    struct invite_token t = {.address = "mx1.example:8894", .expires_s = 1800086400};
    uint8_t seal[INVITE_SEAL_BYTES];
    uint8_t bytes[HASHKEY_BYTES];
    struct hashkey key;
    struct buf token;
    struct buf text;

    (void)state;
    example_identity("one", &inviter);
    example_identity("two", &joiner);
    memcpy(t.server_key, inviter.signing.key, OBJECT_KEY_BYTES);
    for (unsigned i = 0; i < INVITE_SECRET_BYTES; i++) {
        t.secret[i] = (uint8_t)(0xa0 + i);
        t.id[i % INVITE_ID_BYTES] = (uint8_t)i;
        bytes[i] = (uint8_t)(0x10 + i);
    }
    keyring_key_of(bytes, &key);
    invite_seal_key(&inviter, t.id, seal);
    buf_init(&token, INVITE_TOKEN_MAX);
    buf_init(&text, TEXT_MAX);
    assert_int_equal(invite_token_print(&t, seal, &key, &token), ERR_OK);
    assert_sealed(&t, seal, &key);
    buf_printf(&text, "token %s\naddress %s\nexpires_s %lu\n", token.p, t.address,
               (unsigned long)t.expires_s);
    add_hex(&text, "server_key", t.server_key, OBJECT_KEY_BYTES);
    add_hex(&text, "id", t.id, INVITE_ID_BYTES);
    add_hex(&text, "secret", t.secret, INVITE_SECRET_BYTES);
    add_hex(&text, "seal", seal, INVITE_SEAL_BYTES);
    add_hex(&text, "ring_key", key.bytes, HASHKEY_BYTES);
    buf_printf(&text, "ring_key_id %08lx\n", (unsigned long)key.id);
    buf_add_str(&text, "\n");
    assert_int_equal(invite_request(&t, &joiner, "[2001:db8::2]:8894", &text), ERR_OK);
    check_file("token.txt", buf_slice(&text));
    buf_fini(&text);
    buf_fini(&token);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_manifest__when_made_again__then_the_same),
        cmocka_unit_test(test_token__when_made_again__then_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
