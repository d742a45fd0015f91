/* ole_crypt - encrypted documents of today: the package in EncryptedPackage, where a password of
 * the message opens it, or the one that Office tries by itself.
 * Source: MS-OFFCRYPTO 2.3.4.5 to 2.3.4.9 (standard), 2.3.4.10 to 2.3.4.15 (agile). */

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include "core/base/cursor.h"
#include "core/reader/document/ole_text.h"

enum {
    TRIES = 16, /* passwords */
    SPINS =
        1000000, /* rounds of a hash for each of them, at most; Office writes 100,000 */
    STANDARD_SPINS = 50000,
    HASH_MAX = 64,      /* bytes: of SHA-512 */
    KEY_MAX = 64,       /* bytes with what pads it */
    BLOCK = 16,         /* bytes: of AES */
    SEGMENT = 4096,     /* bytes that are encrypted together */
    PASSWORD_MAX = 255, /* characters */
    VALUE_MAX = 256,    /* bytes of a value in the description */
    PACKAGE_HEAD = 8
};

enum version { VERSION_AGILE = 0x00040004, VERSION_STANDARD = 0x0002 };

/* One way of encryption, and its values. */
struct crypt {
    bool is_agile;
    const EVP_MD *md;
    const EVP_MD *package_md;
    size_t nkey; /* bytes */
    uint32_t spins;
    char salt[VALUE_MAX];
    size_t nsalt;
    char package_salt[VALUE_MAX];
    size_t npackage_salt;
    char input[VALUE_MAX]; /* of the check of a password, encrypted */
    size_t ninput;
    char value[VALUE_MAX]; /* its hash, encrypted */
    size_t nvalue;
    char key[VALUE_MAX]; /* of the package, encrypted; agile alone */
    size_t ninner;
};

struct hash {
    unsigned char p[KEY_MAX];
    size_t n;
};

/* The hash of two texts, one behind the other. */
static bool hash_both(EVP_MD_CTX *context, const EVP_MD *md, struct slice a,
                      struct slice b, struct hash *ret)
{
    unsigned n = 0;

    const bool is_good = EVP_DigestInit_ex(context, md, NULL) == 1 &&
                         EVP_DigestUpdate(context, a.p, a.n) == 1 &&
                         EVP_DigestUpdate(context, b.p, b.n) == 1 &&
                         EVP_DigestFinal_ex(context, ret->p, &n) == 1;
    ret->n = n;
    return is_good;
}

static struct slice slice_of_hash(const struct hash *h)
{
    return slice_of(h->p, h->n);
}

static void write_u32(char to[4], uint32_t v)
{
    for (unsigned i = 0; i < 4; i++) {
        to[i] = (char)(v >> 8 * i & 0xff);
    }
}

/* The hash of a password, spun so that each try costs time. */
static bool spin(const struct crypt *k, EVP_MD_CTX *context, struct slice password,
                 struct hash *ret)
{
    bool is_good =
        hash_both(context, k->md, slice_of(k->salt, k->nsalt), password, ret);

    for (uint32_t i = 0; i < k->spins && is_good; i++) {
        char number[4];
        write_u32(number, i);
        const struct hash last = *ret;
        is_good = hash_both(context, k->md, slice_of(number, sizeof(number)),
                            slice_of_hash(&last), ret);
    }
    return is_good;
}

static const EVP_CIPHER *cipher_of(const struct crypt *k)
{
    switch (k->nkey) {
    case 16:
        return k->is_agile ? EVP_aes_128_cbc() : EVP_aes_128_ecb();
    case 24:
        return k->is_agile ? EVP_aes_192_cbc() : EVP_aes_192_ecb();
    default:
        return k->is_agile ? EVP_aes_256_cbc() : EVP_aes_256_ecb();
    }
}

/* Whole blocks of in; the rest is left out. False: it cannot be done. */
static bool decrypt(const struct crypt *k, const struct hash *key, struct slice salt,
                    struct slice in, struct buf *out)
{
    unsigned char iv[BLOCK];
    const size_t n = in.n / BLOCK * BLOCK;
    int nout = 0;

    memset(iv, 0x36, sizeof(iv));
    if (salt.n > 0) {
        memcpy(iv, salt.p, salt.n < sizeof(iv) ? salt.n : sizeof(iv));
    }
    buf_clear(out);
    unsigned char *to = (unsigned char *)buf_extend(out, n + BLOCK);
    EVP_CIPHER_CTX *context = to != NULL ? EVP_CIPHER_CTX_new() : NULL;
    const bool is_good =
        context != NULL && n > 0 && n <= INT32_MAX &&
        EVP_DecryptInit_ex(context, cipher_of(k), NULL, key->p, iv) == 1 &&
        EVP_CIPHER_CTX_set_padding(context, 0) == 1 &&
        EVP_DecryptUpdate(context, to, &nout, (const unsigned char *)in.p, (int)n) == 1;
    EVP_CIPHER_CTX_free(context);
    out->n = is_good ? (size_t)nout : 0;
    return is_good;
}

/* Agile: the key for one purpose, which a block of eight bytes tells. */
static bool agile_key(const struct crypt *k, EVP_MD_CTX *context,
                      const struct hash *spun, const char *purpose, struct hash *ret)
{
    const size_t nhash = spun->n;

    memset(ret->p, 0x36, sizeof(ret->p));
    return hash_both(context, k->md, slice_of(spun->p, nhash), slice_of(purpose, 8),
                     ret);
}

static bool is_same(struct slice a, struct slice b, size_t n)
{
    return n > 0 && a.n >= n && b.n >= n &&
           slice_eq(slice_head(a, n), slice_head(b, n));
}

static bool agile_open(const struct crypt *k, EVP_MD_CTX *context,
                       const struct hash *spun, struct hash *retkey)
{
    const struct slice salt = slice_of(k->salt, k->nsalt);
    struct hash key;
    struct hash hash;
    struct buf input;
    struct buf value;

    buf_init(&input, (size_t)2 * VALUE_MAX);
    buf_init(&value, (size_t)2 * VALUE_MAX);
    bool is_open =
        agile_key(k, context, spun, "\xfe\xa7\xd2\x76\x3b\x4b\x9e\x79", &key) &&
        decrypt(k, &key, salt, slice_of(k->input, k->ninput), &input) &&
        agile_key(k, context, spun, "\xd7\xaa\x0f\x6d\x30\x61\x34\x4e", &key) &&
        decrypt(k, &key, salt, slice_of(k->value, k->nvalue), &value) &&
        hash_both(context, k->md, slice_head(buf_slice(&input), k->nsalt), SLICE_NONE,
                  &hash) &&
        is_same(slice_of_hash(&hash), buf_slice(&value), hash.n);
    is_open = is_open &&
              agile_key(k, context, spun, "\x14\x6e\x0b\xe7\xab\xac\xd0\xd6", &key) &&
              decrypt(k, &key, salt, slice_of(k->key, k->ninner), &value) &&
              value.n >= k->nkey;
    if (is_open) {
        memcpy(retkey->p, value.p, k->nkey);
        retkey->n = k->nkey;
    }
    buf_fini(&value);
    buf_fini(&input);
    return is_open;
}

/* Standard: the key of everything. */
static bool standard_key(const struct crypt *k, EVP_MD_CTX *context,
                         const struct hash *spun, struct hash *ret)
{
    struct hash last;
    char pad[HASH_MAX];

    bool is_good =
        hash_both(context, k->md, slice_of_hash(spun), slice_of("\0\0\0\0", 4), &last);
    size_t n = 0;
    for (unsigned part = 0; part < 2 && is_good; part++) {
        struct hash half;
        memset(pad, part == 0 ? 0x36 : 0x5c, sizeof(pad));
        for (size_t i = 0; i < last.n; i++) {
            pad[i] = (char)((unsigned char)pad[i] ^ last.p[i]);
        }
        is_good =
            hash_both(context, k->md, slice_of(pad, sizeof(pad)), SLICE_NONE, &half);
        const size_t take = half.n < sizeof(ret->p) - n ? half.n : sizeof(ret->p) - n;
        memcpy(ret->p + n, half.p, take);
        n += take;
    }
    ret->n = n;
    return is_good;
}

static bool standard_open(const struct crypt *k, EVP_MD_CTX *context,
                          const struct hash *spun, struct hash *retkey)
{
    struct hash hash;
    struct buf input;
    struct buf value;

    buf_init(&input, (size_t)2 * VALUE_MAX);
    buf_init(&value, (size_t)2 * VALUE_MAX);
    const bool is_open =
        standard_key(k, context, spun, retkey) &&
        decrypt(k, retkey, SLICE_NONE, slice_of(k->input, k->ninput), &input) &&
        decrypt(k, retkey, SLICE_NONE, slice_of(k->value, k->nvalue), &value) &&
        hash_both(context, k->md, buf_slice(&input), SLICE_NONE, &hash) &&
        is_same(slice_of_hash(&hash), buf_slice(&value), hash.n);
    buf_fini(&value);
    buf_fini(&input);
    return is_open;
}

static bool open_with(const struct crypt *k, struct slice password, struct hash *retkey)
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    struct hash spun;
    const bool is_open =
        context != NULL && spin(k, context, password, &spun) &&
        (k->is_agile ? agile_open : standard_open)(k, context, &spun, retkey);

    EVP_MD_CTX_free(context);
    return is_open;
}

/* Converts UTF-8 to UTF-16, little-endian. False: the text is no UTF-8. */
static bool widen(struct slice utf8, struct buf *to)
{
    for (size_t i = 0; i < utf8.n;) {
        const unsigned char c = (unsigned char)utf8.p[i];
        const unsigned ntail = c < 0x80 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
        uint32_t point = ntail == 0 ? c : c & 0x3fU >> ntail;
        if (i + ntail >= utf8.n) {
            return false;
        }
        for (unsigned t = 1; t <= ntail; t++) {
            point = point << 6 | ((unsigned char)utf8.p[i + t] & 0x3f);
        }
        if (point >= 0x10000) {
            buf_add_u16(to, (uint16_t)(0xd800 + ((point - 0x10000) >> 10 & 0x3ff)));
            point = 0xdc00 + ((point - 0x10000) & 0x3ff);
        }
        buf_add_u16(to, (uint16_t)point);
        i += 1 + ntail;
    }
    return !buf_failed(to);
}

static bool try_password(const struct crypt *k, struct slice password,
                         struct hash *retkey)
{
    struct buf wide;

    buf_init(&wide, (size_t)2 * PASSWORD_MAX);
    const bool is_open =
        widen(password, &wide) && open_with(k, buf_slice(&wide), retkey);
    buf_fini(&wide);
    return is_open;
}

static bool find_key(struct ole *o, const struct crypt *k, struct hash *retkey)
{
    if (try_password(k, SLICE_LIT("VelvetSweatshop"), retkey)) {
        return true; /* nobody is asked for this one */
    }
    for (size_t i = 0; i < o->job->npasswords && i < TRIES; i++) {
        if (try_password(k, o->job->password[i], retkey)) {
            ole_keep(o, found_fact(o->f, RECORD_OPENED));
            return true;
        }
    }
    return false;
}

/* The segment of a number has its own beginning of the chain. */
static bool open_segment(const struct crypt *k, EVP_MD_CTX *context,
                         const struct hash *key, uint32_t number, struct slice in,
                         struct buf *out)
{
    struct hash iv = {.n = 0};
    char text[4];

    write_u32(text, number);
    return (!k->is_agile || hash_both(context, k->package_md,
                                      slice_of(k->package_salt, k->npackage_salt),
                                      slice_of(text, sizeof(text)), &iv)) &&
           decrypt(k, key, slice_of_hash(&iv), in, out);
}

static void give_package(struct ole *o, const struct crypt *k, const struct hash *key,
                         struct slice package)
{
    struct cursor c = cursor_of(package);
    uint64_t left = cursor_u64(&c);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    struct buf out;
    bool is_good = context != NULL;

    buf_init(&out, (size_t)2 * SEGMENT);
    ole_keep(o, found_file_begin(o->f, SLICE_NONE, SLICE_NONE));
    for (uint32_t i = 0; is_good && left > 0 && c.rest.n > 0 && !o->is_over; i++) {
        const struct slice in =
            cursor_bytes(&c, c.rest.n < SEGMENT ? c.rest.n : SEGMENT);
        is_good = open_segment(k, context, key, i, in, &out);
        const struct slice data = slice_head(buf_slice(&out), (size_t)left);
        left -= data.n;
        ole_keep(o, found_file_data(o->f, data));
    }
    ole_keep(o, found_file_end(o->f, is_good && left == 0));
    buf_fini(&out);
    EVP_MD_CTX_free(context);
}

static size_t copy_value(struct cursor *c, size_t n, char to[VALUE_MAX])
{
    const struct slice s = cursor_bytes(c, n <= VALUE_MAX ? n : SIZE_MAX);

    if (s.n > 0) {
        memcpy(to, s.p, s.n);
    }
    return s.n;
}

static bool read_standard(struct crypt *k, struct slice description)
{
    struct cursor c = cursor_of(slice_from(description, 8));
    struct cursor head = cursor_of(cursor_bytes(&c, cursor_u32(&c)));

    (void)cursor_u64(&head); /* flags, and a size that is not used */
    (void)cursor_u64(&head); /* AES, SHA-1: there is nothing else */
    k->nkey = cursor_u32(&head) / 8;
    k->spins = STANDARD_SPINS;
    k->md = EVP_sha1();
    k->nsalt = copy_value(&c, cursor_u32(&c), k->salt);
    k->ninput = copy_value(&c, BLOCK, k->input);
    (void)cursor_u32(&c);
    k->nvalue = copy_value(&c, (size_t)2 * BLOCK, k->value);
    return cursor_ok(&c) && cursor_ok(&head);
}

/* The value of an attribute of an element, without its quotes. */
static struct slice attribute(struct slice element, const char *name)
{
    struct slice rest = element;

    while (rest.n > 0) {
        rest = slice_from(rest, slice_find_slice(rest, slice_str(name)));
        const bool is_name = rest.n > 0 && rest.p > element.p && rest.p[-1] <= ' ';
        rest = slice_from(rest, strlen(name));
        if (is_name && slice_has_prefix(rest, SLICE_LIT("=\""))) {
            rest = slice_from(rest, 2);
            return slice_head(rest, slice_find(rest, '"'));
        }
    }
    return SLICE_NONE;
}

static struct slice element(struct slice xml, const char *name)
{
    const struct slice rest = slice_from(xml, slice_find_slice(xml, slice_str(name)));

    return slice_head(rest, slice_find(rest, '>'));
}

static size_t base64(struct slice text, char to[VALUE_MAX])
{
    unsigned char out[VALUE_MAX + 3];
    size_t npad = 0;

    if (text.n == 0 || text.n % 4 != 0 || text.n / 4 * 3 > VALUE_MAX) {
        return 0;
    }
    while (npad < 2 && text.p[text.n - 1 - npad] == '=') {
        npad++;
    }
    const int n = EVP_DecodeBlock(out, (const unsigned char *)text.p, (int)text.n);
    if (n < (int)npad) {
        return 0;
    }
    memcpy(to, out, (size_t)n - npad);
    return (size_t)n - npad;
}

static const EVP_MD *digest_of(struct slice name)
{
    static const struct {
        const char *name;
        const EVP_MD *(*hash)(void);
    } rows[] = {{"SHA1", EVP_sha1},
                {"SHA256", EVP_sha256},
                {"SHA384", EVP_sha384},
                {"SHA512", EVP_sha512},
                {"MD5", EVP_md5}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        if (slice_eq(name, slice_str(rows[i].name))) {
            return rows[i].hash();
        }
    }
    return NULL;
}

static uint64_t attribute_number(struct slice text)
{
    uint64_t v = 0;

    (void)slice_to_u64(text, 10, SPINS, &v);
    return v;
}

static bool read_agile(struct crypt *k, struct slice description)
{
    const struct slice xml = slice_from(description, 8);
    const struct slice package = element(xml, "<keyData");
    const struct slice key = element(xml, "encryptedKey ");

    k->is_agile = true;
    k->md = digest_of(attribute(key, "hashAlgorithm"));
    k->package_md = digest_of(attribute(package, "hashAlgorithm"));
    k->nkey = attribute_number(attribute(key, "keyBits")) / 8;
    k->spins = (uint32_t)attribute_number(attribute(key, "spinCount"));
    k->nsalt = base64(attribute(key, "saltValue"), k->salt);
    k->npackage_salt = base64(attribute(package, "saltValue"), k->package_salt);
    k->ninput = base64(attribute(key, "encryptedVerifierHashInput"), k->input);
    k->nvalue = base64(attribute(key, "encryptedVerifierHashValue"), k->value);
    k->ninner = base64(attribute(key, "encryptedKeyValue"), k->key);
    return k->md != NULL && k->package_md != NULL && k->spins > 0 && k->ninner > 0;
}

static bool read_description(struct crypt *k, struct slice description)
{
    struct cursor c = cursor_of(description);
    const uint32_t version = cursor_u32(&c);

    if (!cursor_ok(&c)) {
        return false;
    }
    return (version == VERSION_AGILE            ? read_agile(k, description)
            : version >> 16 == VERSION_STANDARD ? read_standard(k, description)
                                                : false) &&
           (k->nkey == 16 || k->nkey == 24 || k->nkey == 32);
}

void crypt_read(struct ole *o, const struct ole_folder *folder, struct slice bytes)
{
    struct crypt k = {.is_agile = false};
    struct ole_stream description;
    struct hash key;

    /* its file of settings cannot be opened here */
    (void)OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
    const bool is_known = ole_open(o, folder, "EncryptionInfo", &description) &&
                          read_description(&k, description.bytes);
    ole_close(&description);
    if (is_known && find_key(o, &k, &key)) {
        give_package(o, &k, &key, bytes);
    } else {
        ole_keep(o, found_fact(o->f, RECORD_ENCRYPTED));
    }
}
