/* example - objects that never change. */
#include "tests/unit/stream/example.h"

#include <openssl/evp.h>
#include <string.h>

static const char *const example_names[EXAMPLES] = {
    "delta-count", "snap-count",  "delta-list",          "snap-list", "delta-text",
    "snap-text",   "snap-member", "snap-member-revoked", "heartbeat", "proof"};

static const struct count_record example_counts[] = {
    {1, 1},
    {UINT64_C(0x0102030405060708), 127},
    {UINT64_C(0x8000000000000000), 128},
    {UINT64_MAX, UINT64_C(1) << 40},
};

static const struct list_record example_entries[] = {
    {.digest = {{0x00, 1}},
     .after = ENTRY_STANDS,
     .type = 20,
     .expiry_h = 0,
     .text = {"http://a.example/", 17}},
    {.digest = {{0x7f, 2}},
     .after = ENTRY_TAKEN_BACK,
     .type = 20,
     .expiry_h = 490000,
     .text = {"http://b.example/x?y=z", 22}},
    {.digest = {{0xff, 3}},
     .after = ENTRY_STANDS,
     .type = 300,
     .expiry_h = 500000,
     .text = {"\xc3\xa9\0\n", 4}},
};
enum {
    NCOUNTS = sizeof(example_counts) / sizeof(example_counts[0]),
    NENTRIES = sizeof(example_entries) / sizeof(example_entries[0]),
    TEXT_MAX = 1 << 16
};

static void hash_word(const char *word, struct hash256 *ret)
{
    hash256_of(slice_str(word), ret);
}

static void id_of_word(const char *word, struct object_id *ret)
{
    struct hash256 hash;
    hash_word(word, &hash);
    memcpy(ret->b, hash.b, OBJECT_ID_BYTES);
}

void example_secret(uint8_t ret[OBJECT_KEY_BYTES])
{
    struct hash256 hash;
    hash_word("gillnet example signing key", &hash);
    memcpy(ret, hash.b, OBJECT_KEY_BYTES);
}

bool example_public(uint8_t ret[OBJECT_KEY_BYTES])
{
    uint8_t secret[OBJECT_KEY_BYTES];
    size_t n = OBJECT_KEY_BYTES;
    example_secret(secret);
    EVP_PKEY *key =
        EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, secret, OBJECT_KEY_BYTES);
    bool is_done = key && EVP_PKEY_get_raw_public_key(key, ret, &n) == 1;
    EVP_PKEY_free(key);
    return is_done;
}

bool example_sign(const struct object *o, struct buf *ret)
{
    uint8_t secret[OBJECT_KEY_BYTES];
    example_secret(secret);
    buf_init(ret, OBJECT_HEADER_BYTES);
    return object_sign(o, secret, ret) == ERR_OK;
}

bool example_resign(char header[OBJECT_HEADER_BYTES])
{
    static const char domain[] = "gillnet-exchange/1";
    uint8_t secret[OBJECT_KEY_BYTES];
    char message[sizeof(domain) + OBJECT_SIGNED_BYTES];
    size_t n = OBJECT_SIGNATURE_BYTES;
    example_secret(secret);
    memcpy(message, domain, sizeof(domain));
    memcpy(message + sizeof(domain), header, OBJECT_SIGNED_BYTES);
    EVP_PKEY *key =
        EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, secret, OBJECT_KEY_BYTES);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool is_done =
        key && ctx && EVP_DigestSignInit(ctx, NULL, NULL, NULL, key) == 1 &&
        EVP_DigestSign(ctx, (unsigned char *)header + OBJECT_SIGNED_BYTES, &n,
                       (const unsigned char *)message, sizeof(message)) == 1;
    EVP_MD_CTX_free(ctx);
    EVP_PKEY_free(key);
    return is_done;
}

/* ---- roots ---- */

static bool is_filter(const struct object *o)
{
    return o->stream.kind == OBJECT_MEMBER || o->stream.kind == OBJECT_MEMBER_REVOKED;
}

bool example_root_holds(const struct object *o, struct slice raw, struct root *r)
{
    struct payload_reader reader;
    struct hash256 root;
    if (is_filter(o)) {
        hash256_of(raw, &root);
        return hash256_equal(&root, &o->root);
    }
    if (payload_reader_init(&reader, o->stream.kind, o->type == OBJECT_SNAP, o->records,
                            raw, NULL) != ERR_OK) {
        return false;
    }
    struct count_record count;
    struct list_record entry;
    uint64_t total = 0;
    while (payload_next_count(&reader, &count)) {
        root_add_counts(r, &o->ring, &count, 1);
        total += count.count;
    }
    while (payload_next_list(&reader, &entry)) {
        root_steps(r, &o->ring, o->stream.kind, &entry, 1);
    }
    root_print(r, &root);
    return hash256_equal(&root, &o->root) && total == o->total;
}

/* ---- making ---- */

static void set_root(struct object *o)
{
    struct root r = {{0}};
    for (size_t i = 0; i < NCOUNTS && o->stream.kind == OBJECT_COUNT; i++) {
        root_add_counts(&r, &o->ring, &example_counts[i], 1);
        o->total += example_counts[i].count;
    }
    for (size_t i = 0; i < NENTRIES && o->stream.kind != OBJECT_COUNT; i++) {
        root_steps(&r, &o->ring, o->stream.kind, &example_entries[i], 1);
    }
    root_print(&r, &o->root);
}

static void set_stream(enum example_kind which, struct stream_key *k)
{
    static const uint16_t kind[EXAMPLES] = {
        OBJECT_COUNT, OBJECT_COUNT,  OBJECT_LIST,           OBJECT_LIST, OBJECT_TEXT,
        OBJECT_TEXT,  OBJECT_MEMBER, OBJECT_MEMBER_REVOKED, OBJECT_NONE, OBJECT_NONE};
    id_of_word("gillnet example origin", &k->origin);
    k->inc = UINT64_C(0x0190000000000001);
    k->kind = kind[which];
    if (k->kind == OBJECT_COUNT) {
        k->start_s = 1800000000;
        k->len_s = OBJECT_BUCKET_S;
    } else if (k->kind != OBJECT_NONE) {
        memcpy(k->list, "bad-links", sizeof("bad-links"));
    }
    if (k->kind != OBJECT_TEXT && k->kind != OBJECT_NONE) {
        k->ring_key = UINT32_C(0x1f00aa02);
    }
}

static bool set_proof(struct slice packed, struct example *e)
{
    struct example one;
    struct buf other;
    bool is_done = example_make(EXAMPLE_DELTA_COUNT, packed, &one);
    one.o.created_ms++; /* the same place of the chain, other words */
    is_done = is_done && example_sign(&one.o, &other);
    if (is_done) {
        buf_add(&e->raw, buf_slice(&one.header));
        buf_add(&e->raw, buf_slice(&other));
        buf_fini(&other);
    }
    example_fini(&one);
    return is_done;
}

static bool set_raw(enum example_kind which, struct slice packed, struct example *e)
{
    switch (e->o.stream.kind) {
    case OBJECT_COUNT:
        payload_print_counts(example_counts, NCOUNTS, &e->raw);
        e->o.records = NCOUNTS;
        break;
    case OBJECT_LIST:
        payload_print_list(example_entries, NENTRIES, &e->raw);
        e->o.records = NENTRIES;
        break;
    case OBJECT_TEXT:
        payload_print_texts(example_entries, NENTRIES, &e->raw);
        e->o.records = NENTRIES;
        break;
    case OBJECT_NONE:
        if (which == EXAMPLE_PROOF) {
            e->o.records = 2;
            return set_proof(packed, e);
        }
        break;
    default: /* no filter: nobody opens it here */
        for (unsigned i = 0; i < 256; i++) {
            buf_add_u8(&e->raw, (uint8_t)i);
        }
        e->o.records = 7;
    }
    return !buf_failed(&e->raw);
}

/* The object after the DELTA of its stream. */
static bool set_prev(enum example_kind which, struct slice packed, struct object *o)
{
    struct example before;
    if (which != EXAMPLE_SNAP_COUNT && which != EXAMPLE_SNAP_LIST &&
        which != EXAMPLE_SNAP_TEXT) {
        return true;
    }
    bool is_done = example_make((enum example_kind)(which - 1), packed, &before);
    if (is_done) {
        object_hash(buf_slice(&before.header), &o->prev);
        o->seq = 2;
    }
    example_fini(&before);
    return is_done;
}

static void set_type(enum example_kind which, struct object *o)
{
    const bool is_delta = which == EXAMPLE_DELTA_COUNT || which == EXAMPLE_DELTA_LIST ||
                          which == EXAMPLE_DELTA_TEXT;
    o->type = is_delta                     ? OBJECT_DELTA
              : which == EXAMPLE_HEARTBEAT ? OBJECT_HEARTBEAT
              : which == EXAMPLE_PROOF     ? OBJECT_PROOF
                                           : OBJECT_SNAP;
    o->flags = which == EXAMPLE_SNAP_COUNT ? OBJECT_CLOSED : 0;
    o->seq = 1;
    o->created_ms = UINT64_C(1800000003000);
    o->expires_ms = which == EXAMPLE_HEARTBEAT ? UINT64_C(1800000018000) : 0;
}

bool example_make(enum example_kind which, struct slice packed, struct example *ret)
{
    uint8_t key[OBJECT_KEY_BYTES];
    *ret = (struct example){.name = example_names[which]};
    buf_init(&ret->raw, TEXT_MAX);
    buf_init(&ret->payload, TEXT_MAX);
    struct object *o = &ret->o;
    id_of_word("gillnet example ring", &o->ring);
    set_stream(which, &o->stream);
    set_type(which, o);
    bool is_done = example_public(key) && set_prev(which, packed, o) &&
                   set_raw(which, packed, ret);
    const bool is_packed = o->type == OBJECT_DELTA || which == EXAMPLE_SNAP_TEXT;
    if (is_packed && packed.n == 0) {
        is_done =
            is_done && payload_pack(buf_slice(&ret->raw), &ret->payload) == ERR_OK;
    } else {
        buf_add(&ret->payload, is_packed ? packed : buf_slice(&ret->raw));
    }
    o->key_id = object_key_id(key);
    o->raw_len = ret->raw.n;
    o->sent_len = ret->payload.n;
    hash256_of(buf_slice(&ret->payload), &o->payload);
    if (is_filter(o)) {
        o->root = o->payload;
    } else if (o->stream.kind != OBJECT_NONE) {
        set_root(o);
    }
    return is_done && example_sign(o, &ret->header);
}

void example_fini(struct example *e)
{
    buf_fini(&e->raw);
    buf_fini(&e->payload);
    buf_fini(&e->header);
}
