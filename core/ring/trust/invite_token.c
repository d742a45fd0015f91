/* invite_token - tokens, requests and answers as bytes. */
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>

#include "core/base/cursor.h"
#include "core/ring/trust/invite_internal.h"

/* A token is "gnp1-" and the base64url form of: u32 expiry, server key, id, secret, u8 length of
 * the address, the address, the sealed digest key, and 4 bytes of the hash of all of these, which
 * show that a letter was lost. */
enum {
    CHECK_BYTES = 4,
    FIXED_BYTES = 4 + OBJECT_KEY_BYTES + INVITE_ID_BYTES + INVITE_SECRET_BYTES + 1 +
                  INVITE_SEALED_BYTES + CHECK_BYTES,
    RAW_MAX = FIXED_BYTES + MANIFEST_ADDRESS_MAX,
    NONCE_BYTES = 12,
    TAG_BYTES = INVITE_SEALED_BYTES - HASHKEY_BYTES,
    NUMBER_DIGITS = 15,
    SEXTETS = 4,
    BITS = 6
};
static const char prefix[] = "gnp1-";
static const char any_prefix[] = "gnp";
static const char letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static struct slice bytes_of(const uint8_t *p, size_t n)
{
    return slice_of(p, n);
}

/* ---- base64url without padding ---- */

static void print_letters(struct slice raw, struct buf *ret)
{
    uint32_t held = 0;
    unsigned nbits = 0;

    for (size_t i = 0; i < raw.n; i++) {
        held = held << 8 | (unsigned char)raw.p[i];
        nbits += 8;
        while (nbits >= BITS) {
            nbits -= BITS;
            buf_add_char(ret, letters[held >> nbits & 63]);
        }
    }
    if (nbits > 0) {
        buf_add_char(ret, letters[held << (BITS - nbits) & 63]);
    }
}

/* Accepts the canonical form only. False: other letters, too long, or bits left over. */
static bool parse_letters(struct slice text, uint8_t ret[RAW_MAX], size_t *retn)
{
    uint32_t held = 0;
    unsigned nbits = 0;
    size_t n = 0;

    for (size_t i = 0; i < text.n; i++) {
        const char *at = text.p[i] != '\0' ? strchr(letters, text.p[i]) : NULL;
        if (at == NULL) {
            return false;
        }
        held = held << BITS | (uint32_t)(at - letters);
        nbits += BITS;
        if (nbits >= 8) {
            nbits -= 8;
            if (n == RAW_MAX) {
                return false;
            }
            ret[n++] = (uint8_t)(held >> nbits);
        }
    }
    *retn = n;
    return text.n % SEXTETS != 1 && (held & ((1u << nbits) - 1)) == 0;
}

/* ---- the seal ---- */

void invite_seal_key(const struct identity *self, const uint8_t id[INVITE_ID_BYTES],
                     uint8_t ret[INVITE_SEAL_BYTES])
{
    struct hash256 hash;
    struct slice parts[] = {bytes_of(self->secret, OBJECT_KEY_BYTES),
                            SLICE_LIT("gillnet-invite-seal/1\0"),
                            bytes_of(id, INVITE_ID_BYTES)};

    hash256_make(parts, LENGTH(parts), &hash);
    memcpy(ret, hash.b, INVITE_SEAL_BYTES);
    OPENSSL_cleanse(&hash, sizeof(hash));
}

void invite_secret_hash(const uint8_t id[INVITE_ID_BYTES],
                        const uint8_t secret[INVITE_SECRET_BYTES], struct hash256 *ret)
{
    struct slice parts[] = {SLICE_LIT("gillnet-invite-secret/1\0"),
                            bytes_of(id, INVITE_ID_BYTES),
                            bytes_of(secret, INVITE_SECRET_BYTES)};

    hash256_make(parts, LENGTH(parts), ret);
}

/* The bytes before the sealed key. The seal covers them, so no part can be exchanged. */
static void print_open_part(const struct invite_token *t, struct buf *ret)
{
    buf_add_u32(ret, t->expires_s);
    buf_add(ret, bytes_of(t->server_key, OBJECT_KEY_BYTES));
    buf_add(ret, bytes_of(t->id, INVITE_ID_BYTES));
    buf_add(ret, bytes_of(t->secret, INVITE_SECRET_BYTES));
    buf_add_u8(ret, (uint8_t)strlen(t->address));
    buf_add_str(ret, t->address);
}

/* ChaCha20-Poly1305. The nonce is zeros: each key seals one thing. */
static bool seal_or_open(bool is_seal, const uint8_t seal[INVITE_SEAL_BYTES],
                         struct slice open_part, uint8_t key[HASHKEY_BYTES],
                         uint8_t sealed[INVITE_SEALED_BYTES])
{
    static const uint8_t nonce[NONCE_BYTES];
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    uint8_t *tag = sealed + HASHKEY_BYTES;
    int n = 0;
    int rest = 0;
    bool ok = ctx != NULL &&
              EVP_CipherInit_ex(ctx, EVP_chacha20_poly1305(), NULL, seal, nonce,
                                is_seal ? 1 : 0) == 1 &&
              EVP_CipherUpdate(ctx, NULL, &n, (const unsigned char *)open_part.p,
                               (int)open_part.n) == 1;

    if (ok && is_seal) {
        ok = EVP_CipherUpdate(ctx, sealed, &n, key, HASHKEY_BYTES) == 1 &&
             EVP_CipherFinal_ex(ctx, sealed + n, &rest) == 1 &&
             EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_GET_TAG, TAG_BYTES, tag) == 1;
    } else if (ok) {
        ok = EVP_CipherUpdate(ctx, key, &n, sealed, HASHKEY_BYTES) == 1 &&
             EVP_CIPHER_CTX_ctrl(ctx, EVP_CTRL_AEAD_SET_TAG, TAG_BYTES, tag) == 1 &&
             EVP_CipherFinal_ex(ctx, key + n, &rest) == 1;
    }
    EVP_CIPHER_CTX_free(ctx);
    ERR_clear_error();
    return ok;
}

enum err invite_token_print(struct invite_token *t,
                            const uint8_t seal[INVITE_SEAL_BYTES],
                            const struct hashkey *key, struct buf *ret)
{
    struct buf raw;
    struct hash256 check;
    uint8_t plain[HASHKEY_BYTES];

    buf_init(&raw, RAW_MAX);
    print_open_part(t, &raw);
    memcpy(plain, key->bytes, sizeof(plain));
    bool ok = !buf_failed(&raw) &&
              seal_or_open(true, seal, buf_slice(&raw), plain, t->sealed);
    OPENSSL_cleanse(plain, sizeof(plain));
    buf_add(&raw, bytes_of(t->sealed, INVITE_SEALED_BYTES));
    hash256_of(buf_slice(&raw), &check);
    buf_add(&raw, bytes_of(check.b, CHECK_BYTES));
    buf_add_str(ret, prefix);
    print_letters(buf_slice(&raw), ret);
    ok = ok && !buf_failed(&raw) && !buf_failed(ret);
    buf_fini(&raw);
    return ok ? ERR_OK : ERR_NOMEM;
}

enum err invite_token_open(const struct invite_token *t,
                           const uint8_t seal[INVITE_SEAL_BYTES], struct hashkey *ret)
{
    struct buf raw;
    uint8_t key[HASHKEY_BYTES];
    uint8_t sealed[INVITE_SEALED_BYTES];

    buf_init(&raw, RAW_MAX);
    print_open_part(t, &raw);
    memcpy(sealed, t->sealed, sizeof(sealed));
    bool ok =
        !buf_failed(&raw) && seal_or_open(false, seal, buf_slice(&raw), key, sealed);
    if (ok) {
        keyring_key_of(key, ret);
    }
    OPENSSL_cleanse(key, sizeof(key));
    buf_fini(&raw);
    return ok ? ERR_OK : ERR_KEY;
}

/* ---- reading a token ---- */

static bool parse_raw(struct slice raw, struct invite_token *ret)
{
    struct hash256 check;

    if (raw.n < FIXED_BYTES) {
        return false;
    }
    hash256_of(slice_head(raw, raw.n - CHECK_BYTES), &check);
    if (memcmp(check.b, raw.p + raw.n - CHECK_BYTES, CHECK_BYTES) != 0) {
        return false;
    }
    struct cursor c = cursor_of(slice_head(raw, raw.n - CHECK_BYTES));
    ret->expires_s = cursor_u32(&c);
    cursor_copy(&c, ret->server_key, OBJECT_KEY_BYTES);
    cursor_copy(&c, ret->id, INVITE_ID_BYTES);
    cursor_copy(&c, ret->secret, INVITE_SECRET_BYTES);
    struct slice address = cursor_bytes(&c, cursor_u8(&c));
    cursor_copy(&c, ret->sealed, INVITE_SEALED_BYTES);
    if (!cursor_done(&c) || !manifest_address_is_valid(address)) {
        return false;
    }
    memcpy(ret->address, address.p, address.n);
    ret->address[address.n] = '\0';
    return true;
}

enum err invite_parse(struct slice token, struct invite_token *ret,
                      struct errinfo *reterr)
{
    struct invite_token t = {.expires_s = 0};
    uint8_t raw[RAW_MAX];
    size_t n = 0;
    struct slice text = slice_trim(token);

    if (text.n <= INVITE_TOKEN_MAX && slice_has_prefix(text, slice_str(any_prefix)) &&
        !slice_has_prefix(text, slice_str(prefix))) {
        return errinfo_set(
            reterr, ERR_VERSION, "token", 0,
            "it was made by a later version of gillnet; update this one");
    }
    if (text.n > INVITE_TOKEN_MAX || !slice_has_prefix(text, slice_str(prefix)) ||
        !parse_letters(slice_from(text, sizeof(prefix) - 1), raw, &n) ||
        !parse_raw(bytes_of(raw, n), &t)) {
        OPENSSL_cleanse(raw, sizeof(raw));
        return errinfo_set(reterr, ERR_SYNTAX, "token", 0,
                           "this is no whole token; copy the line that `gillnet peer "
                           "invite` printed, from gnp1- to its end");
    }
    OPENSSL_cleanse(raw, sizeof(raw));
    *ret = t;
    return ERR_OK;
}

/* ---- request and answer: lines "word value" in a fixed order ---- */

static void print_line(const char *word, const uint8_t *bytes, size_t n,
                       struct buf *ret)
{
    char hex[2 * OBJECT_SIGNATURE_BYTES + 1];

    hex_print(bytes, n, hex);
    buf_printf(ret, "%s %s\n", word, hex);
}

enum err invite_request(const struct invite_token *t, const struct identity *self,
                        const char *address, struct buf *ret)
{
    buf_add_str(ret, "gillnet-join 1\n");
    print_line("id", t->id, INVITE_ID_BYTES, ret);
    print_line("secret", t->secret, INVITE_SECRET_BYTES, ret);
    print_line("identity", self->public_key, OBJECT_KEY_BYTES, ret);
    print_line("key", self->signing.key, OBJECT_KEY_BYTES, ret);
    buf_printf(ret, "not_before_ms %" PRIu64 "\n", self->signing.not_before_ms);
    print_line("signature", self->signing.signature, OBJECT_SIGNATURE_BYTES, ret);
    buf_printf(ret, "address %s\n", address);
    return buf_failed(ret) ? ERR_NOMEM : ERR_OK;
}

/* The value of the next line, which must begin with the word; else *ok is false. */
static struct slice take_line_value(struct slice *rest, const char *word, bool *ok)
{
    size_t end = slice_find(*rest, '\n');
    struct slice line = slice_head(*rest, end);
    size_t n = strlen(word);

    if (end == rest->n || line.n <= n || line.p[n] != ' ' ||
        !slice_has_prefix(line, slice_str(word))) {
        *ok = false;
        return SLICE_NONE;
    }
    *rest = slice_from(*rest, end + 1);
    return slice_from(line, n + 1);
}

static void take_hex(struct slice *rest, const char *word, uint8_t *ret, size_t n,
                     bool *ok)
{
    struct slice value = take_line_value(rest, word, ok);

    *ok = *ok && hex_parse(value, ret, n);
}

static uint64_t take_number(struct slice *rest, const char *word, bool *ok)
{
    struct slice value = take_line_value(rest, word, ok);
    uint64_t n = 0;

    *ok = *ok && value.n <= NUMBER_DIGITS && (value.n == 1 || value.p[0] != '0') &&
          slice_to_u64(value, 10, UINT64_MAX, &n);
    return n;
}

static void take_name(struct slice *rest, char ret[OBJECT_NAME_BYTES + 1], bool *ok)
{
    struct slice name = take_line_value(rest, "name", ok);

    *ok = *ok && manifest_name_is_valid(name);
    if (*ok) {
        memcpy(ret, name.p, name.n);
        ret[name.n] = '\0';
    }
}

enum err invite_request_parse(struct slice bytes, struct invite_request *ret)
{
    struct invite_request r = {.address = ""};
    bool ok = bytes.n <= INVITE_REQUEST_MAX;
    struct slice rest = bytes;

    ok = ok && slice_eq(take_line_value(&rest, "gillnet-join", &ok), SLICE_LIT("1"));
    take_hex(&rest, "id", r.id, INVITE_ID_BYTES, &ok);
    take_hex(&rest, "secret", r.secret, INVITE_SECRET_BYTES, &ok);
    take_hex(&rest, "identity", r.identity, OBJECT_KEY_BYTES, &ok);
    take_hex(&rest, "key", r.binding.key, OBJECT_KEY_BYTES, &ok);
    r.binding.not_before_ms = take_number(&rest, "not_before_ms", &ok);
    take_hex(&rest, "signature", r.binding.signature, OBJECT_SIGNATURE_BYTES, &ok);
    struct slice address = take_line_value(&rest, "address", &ok);
    ok = ok && rest.n == 0 && (address.n == 0 || manifest_address_is_valid(address));
    if (!ok) {
        return ERR_SYNTAX;
    }
    if (address.n > 0) {
        memcpy(r.address, address.p, address.n);
    }
    *ret = r;
    return ERR_OK;
}

void invite_response_print(const struct invite_response *r, struct buf *ret)
{
    if (!r->is_member) {
        buf_printf(ret, "gillnet-waiting 1\nname %s\nversion %" PRIu64 "\n", r->name,
                   r->version);
        return;
    }
    buf_printf(ret, "gillnet-joined 1\nname %s\n", r->name);
    print_line("seal", r->seal, INVITE_SEAL_BYTES, ret);
    buf_add(ret, r->manifest);
}

enum err invite_response_parse(struct slice bytes, struct invite_response *ret)
{
    struct invite_response r = {.is_member = false};
    struct slice rest = bytes;
    bool ok = bytes.n <= INVITE_RESPONSE_MAX;

    r.is_member = slice_has_prefix(bytes, SLICE_LIT("gillnet-joined "));
    ok = ok &&
         slice_eq(take_line_value(
                      &rest, r.is_member ? "gillnet-joined" : "gillnet-waiting", &ok),
                  SLICE_LIT("1"));
    take_name(&rest, r.name, &ok);
    if (r.is_member) {
        take_hex(&rest, "seal", r.seal, INVITE_SEAL_BYTES, &ok);
        r.manifest = rest;
    } else {
        r.version = take_number(&rest, "version", &ok);
        ok = ok && rest.n == 0;
    }
    if (!ok) {
        return ERR_SYNTAX;
    }
    *ret = r;
    return ERR_OK;
}
