/* test_identity - keys, their files and rights, bindings, certificates, rotation. */
#include <errno.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include "core/base/file.h"
#include "core/base/hash256.h"
#include "core/ring/stream/signature.h"
#include "core/ring/trust/peer_file.h"
#include "core/ring/trust/peer_identity.h"

#include "tests/unit/tempdir.h"
#include "tests/unit/trust/identity_seed.h"
#include "tests/unit/unit.h"

static unsigned mode_of(struct tempdir *t, const char *name)
{
    struct stat st;
    assert_int_equal(stat(tempdir_file(t, name), &st), 0);
    return (unsigned)st.st_mode & 0777u;
}

static void read_text(struct tempdir *t, const char *name, struct buf *ret)
{
    buf_init(ret, 1 << 20);
    assert_int_equal(file_read(tempdir_file(t, name), ret, NULL), ERR_OK);
}

static void assert_same_identity(const struct identity *a, const struct identity *b)
{
    assert_memory_equal(&a->origin, &b->origin, sizeof(a->origin));
    assert_memory_equal(a->public_key, b->public_key, OBJECT_KEY_BYTES);
    assert_memory_equal(a->secret, b->secret, OBJECT_KEY_BYTES);
    assert_memory_equal(a->signing.key, b->signing.key, OBJECT_KEY_BYTES);
    assert_memory_equal(a->signing.signature, b->signing.signature,
                        OBJECT_SIGNATURE_BYTES);
    assert_int_equal(a->signing.not_before_ms, b->signing.not_before_ms);
    assert_memory_equal(a->signing_secret, b->signing_secret, OBJECT_KEY_BYTES);
}

static void test_create__when_done_twice__then_the_first_stays(void **state)
{
    struct tempdir *t = *state;
    struct identity a;
    struct identity b;
    struct errinfo why = {.code = ERR_OK};

    assert_int_equal(identity_load(t->path, &a, &why), ERR_NOT_FOUND);
    assert_non_null(strstr(why.text, "gillnet peer init"));
    assert_int_equal(identity_create(t->path, &a, NULL), ERR_OK);
    assert_true(key_binding_holds(&a.signing, a.public_key));
    assert_int_equal(identity_create(t->path, &b, &why), ERR_EXISTS);
    assert_int_equal(identity_load(t->path, &b, NULL), ERR_OK);
    assert_same_identity(&a, &b);
    assert_memory_not_equal(a.secret, a.signing_secret, OBJECT_KEY_BYTES);
}

static void test_create__when_done__then_nobody_else_may_read(void **state)
{
    struct tempdir *t = *state;
    struct identity a;
    char dir[TEMPDIR_PATH];
    mode_t before = umask(0);

    (void)snprintf(dir, sizeof(dir), "%s/peers", t->path);
    assert_int_equal(identity_create(dir, &a, NULL), ERR_OK);
    (void)umask(before);
    assert_int_equal(mode_of(t, "peers"), 0750);
    assert_int_equal(mode_of(t, "peers/identity.key"), 0600);
    assert_int_equal(mode_of(t, "peers/signing.key"), 0600);
    assert_int_equal(mode_of(t, "peers/cert.pem"), 0600);
}

static void test_load__when_a_key_file_is_wrong__then_it_says_which(void **state)
{
    static const struct {
        const char *name;
        const char *text; /* NULL: only the rights change */
        mode_t mode;
        enum err want;
    } rows[] = {
        {"identity.key", NULL, 0640, ERR_DENIED},
        {"signing.key", NULL, 0604, ERR_DENIED},
        {"identity.key", "", 0600, ERR_CORRUPT},
        {"signing.key", "", 0600, ERR_CORRUPT},
        {"signing.key",
         "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", 0600,
         ERR_CORRUPT},
        /* a key of another kind: X25519 */
        {"identity.key",
         "-----BEGIN PRIVATE KEY-----\n"
         "MC4CAQAwBQYDK2VuBCIEIDBAQUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVpbXF1e\n"
         "-----END PRIVATE KEY-----\n",
         0600, ERR_CORRUPT},
    };
    struct tempdir *t = *state;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct identity a;
        struct errinfo why = {.code = ERR_OK};
        char dir[TEMPDIR_PATH];
        char path[2 * TEMPDIR_PATH];

        (void)snprintf(dir, sizeof(dir), "%s/%zu", t->path, i);
        (void)snprintf(path, sizeof(path), "%s/%s", dir, rows[i].name);
        assert_int_equal(identity_create(dir, &a, NULL), ERR_OK);
        if (rows[i].text != NULL) {
            assert_int_equal(
                file_write_atomic(path, slice_str(rows[i].text), rows[i].mode, NULL),
                ERR_OK);
        }
        assert_int_equal(chmod(path, rows[i].mode), 0);
        assert_int_equal(identity_load(dir, &a, &why), rows[i].want);
        assert_non_null(strstr(why.source, rows[i].name));
    }
}

static void test_load__when_another_signing_key_was_put_there__then_refused(
    void **state)
{
    struct tempdir *t = *state;
    struct identity a;
    struct buf key;
    struct buf cert;
    char one[TEMPDIR_PATH];
    char two[TEMPDIR_PATH];

    (void)snprintf(one, sizeof(one), "%s/1", t->path);
    (void)snprintf(two, sizeof(two), "%s/2", t->path);
    assert_int_equal(identity_create(one, &a, NULL), ERR_OK);
    assert_int_equal(identity_create(two, &a, NULL), ERR_OK);
    /* the key of one with the certificate of the other */
    read_text(t, "1/identity.key", &key);
    read_text(t, "2/cert.pem", &cert);
    buf_add(&key, buf_slice(&cert));
    assert_int_equal(file_write_atomic(tempdir_file(t, "1/signing.key"),
                                       buf_slice(&key), 0600, NULL),
                     ERR_OK);
    assert_int_equal(identity_load(one, &a, NULL), ERR_CORRUPT);
    buf_fini(&key);
    buf_fini(&cert);
}

static void test_load__when_a_crash_left_an_old_certificate__then_it_is_mended(
    void **state)
{
    struct tempdir *t = *state;
    struct identity a;
    struct buf good;
    struct buf mended;

    assert_int_equal(identity_create(t->path, &a, NULL), ERR_OK);
    read_text(t, "cert.pem", &good);
    assert_int_equal(unlink(tempdir_file(t, "cert.pem")), 0);
    assert_int_equal(identity_load(t->path, &a, NULL), ERR_OK);
    read_text(t, "cert.pem", &mended);
    assert_true(slice_eq(buf_slice(&good), buf_slice(&mended)));
    buf_fini(&good);
    buf_fini(&mended);
}

static void test_cert__when_made__then_it_is_what_tls_wants(void **state)
{
    struct tempdir *t = *state;
    struct identity a;
    struct buf pem;
    uint8_t key[OBJECT_KEY_BYTES];
    size_t n = sizeof(key);
    char cn[64];
    char want[2 * OBJECT_ID_BYTES + 1];

    assert_int_equal(identity_create(t->path, &a, NULL), ERR_OK);
    read_text(t, "cert.pem", &pem);
    BIO *bio = BIO_new_mem_buf(pem.p, (int)pem.n);
    X509 *cert = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    assert_non_null(cert);
    assert_int_equal(X509_get_version(cert), 2);
    assert_int_equal(X509_verify(cert, X509_get0_pubkey(cert)), 1);
    assert_int_equal(EVP_PKEY_get_raw_public_key(X509_get0_pubkey(cert), key, &n), 1);
    assert_memory_equal(key, a.signing.key, sizeof(key));
    assert_int_equal(X509_get_extended_key_usage(cert),
                     XKU_SSL_SERVER | XKU_SSL_CLIENT);
    assert_int_equal(X509_get_key_usage(cert), KU_DIGITAL_SIGNATURE);
    assert_int_equal(X509_check_ca(cert), 0);
    assert_true(X509_NAME_get_text_by_NID(X509_get_subject_name(cert), NID_commonName,
                                          cn, sizeof(cn)) > 0);
    hex_print(a.origin.b, OBJECT_ID_BYTES, want);
    assert_string_equal(cn, want);
    X509_free(cert);
    BIO_free(bio);
    buf_fini(&pem);
}

static void test_rotate__when_a_key_was_prepared__then_it_is_that_one(void **state)
{
    struct tempdir *t = *state;
    struct identity a;
    struct identity before;
    struct identity after;
    struct key_binding next;
    struct key_binding again;

    assert_int_equal(identity_create(t->path, &a, NULL), ERR_OK);
    before = a;
    assert_int_equal(identity_prepared(t->path, &a, &next, NULL), ERR_NOT_FOUND);
    assert_int_equal(identity_prepare(t->path, &a, 1900000000999u, &next, NULL),
                     ERR_OK);
    assert_int_equal(next.not_before_ms, 1900000000000u);
    assert_true(key_binding_holds(&next, a.public_key));
    assert_int_equal(mode_of(t, "signing.next"), 0600);
    assert_int_equal(identity_prepared(t->path, &a, &again, NULL), ERR_OK);
    assert_memory_equal(&again, &next, sizeof(next));
    assert_int_equal(identity_load(t->path, &a, NULL), ERR_OK);
    assert_same_identity(&a, &before);

    assert_int_equal(identity_rotate(t->path, &a, NULL), ERR_OK);
    assert_memory_equal(&a.signing, &next, sizeof(next));
    assert_memory_equal(&a.origin, &before.origin, sizeof(a.origin));
    assert_int_equal(identity_load(t->path, &after, NULL), ERR_OK);
    assert_same_identity(&a, &after);
    assert_int_equal(identity_prepared(t->path, &a, &again, NULL), ERR_NOT_FOUND);

    assert_int_equal(identity_rotate(t->path, &a, NULL), ERR_OK);
    assert_memory_not_equal(a.signing.key, next.key, OBJECT_KEY_BYTES);
    assert_true(key_binding_holds(&a.signing, before.public_key));
}

static void test_binding__when_one_bit_changes__then_it_does_not_hold(void **state)
{
    static const uint8_t seed[32] = {7};
    struct identity a;
    struct identity b;

    (void)state;
    identity_of_seed(seed, &a);
    identity_of_seed((const uint8_t[32]){8}, &b);
    assert_true(key_binding_holds(&a.signing, a.public_key));
    assert_false(key_binding_holds(&a.signing, b.public_key));
    struct key_binding x = a.signing;
    x.not_before_ms ^= 1;
    assert_false(key_binding_holds(&x, a.public_key));
    x = a.signing;
    x.key[31] ^= 1;
    assert_false(key_binding_holds(&x, a.public_key));
    x = a.signing;
    x.signature[0] ^= 1;
    assert_false(key_binding_holds(&x, a.public_key));
}

static void test_sign__when_the_domain_differs__then_it_is_wrong(void **state)
{
    static const uint8_t seed[32] = {1, 2, 3};
    struct identity a;
    uint8_t signature[OBJECT_SIGNATURE_BYTES];
    char large[4096];
    struct slice texts[] = {SLICE_LIT(""), SLICE_LIT("x"), slice_of(large, 500),
                            slice_of(large, sizeof(large))};

    (void)state;
    memset(large, 'a', sizeof(large));
    identity_of_seed(seed, &a);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_int_equal(
            signature_make(a.signing_secret, "gillnet-a/1", texts[i], signature),
            ERR_OK);
        assert_true(signature_holds(a.signing.key, "gillnet-a/1", texts[i], signature));
        assert_false(
            signature_holds(a.signing.key, "gillnet-b/1", texts[i], signature));
        assert_false(signature_holds(a.public_key, "gillnet-a/1", texts[i], signature));
        signature[63] ^= 0x20;
        assert_false(
            signature_holds(a.signing.key, "gillnet-a/1", texts[i], signature));
    }
}

/* Frozen: another implementation must come to the same. */
static void test_seed__when_it_is_zeros__then_origin_and_binding_are_these(void **state)
{
    static const uint8_t seed[32] = {0};
    struct identity a;
    char hex[2 * OBJECT_SIGNATURE_BYTES + 1];

    (void)state;
    identity_of_seed(seed, &a);
    hex_print(a.origin.b, OBJECT_ID_BYTES, hex);
    assert_string_equal(hex, "73804c2d1285d2aa6382e0b3f37d357b");
    hex_print(a.signing.signature, 16, hex);
    assert_string_equal(hex, "ad71d8d11be072236f5b6ca5b1684bca");
}

static void test_wipe__when_done__then_no_secret_is_left(void **state)
{
    static const uint8_t zeros[OBJECT_KEY_BYTES];
    static const uint8_t seed[32] = {9};
    struct identity a;

    (void)state;
    identity_of_seed(seed, &a);
    identity_wipe(&a);
    assert_memory_equal(a.secret, zeros, sizeof(zeros));
    assert_memory_equal(a.signing_secret, zeros, sizeof(zeros));
}

#define IN_FOLDER(name) \
    cmocka_unit_test_setup_teardown(name, tempdir_setup, tempdir_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_create__when_done_twice__then_the_first_stays),
        IN_FOLDER(test_create__when_done__then_nobody_else_may_read),
        IN_FOLDER(test_load__when_a_key_file_is_wrong__then_it_says_which),
        IN_FOLDER(test_load__when_another_signing_key_was_put_there__then_refused),
        IN_FOLDER(test_load__when_a_crash_left_an_old_certificate__then_it_is_mended),
        IN_FOLDER(test_cert__when_made__then_it_is_what_tls_wants),
        IN_FOLDER(test_rotate__when_a_key_was_prepared__then_it_is_that_one),
        cmocka_unit_test(test_binding__when_one_bit_changes__then_it_does_not_hold),
        cmocka_unit_test(test_sign__when_the_domain_differs__then_it_is_wrong),
        cmocka_unit_test(
            test_seed__when_it_is_zeros__then_origin_and_binding_are_these),
        cmocka_unit_test(test_wipe__when_done__then_no_secret_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
