/* repository - names and texts of a place, and the signature of its heads. */
#include "core/ring/publish/repository.h"

enum { DECIMAL_DIGITS = 19 };

void repository_path(char kind, const struct object_id *stream, uint64_t seq,
                     char ret[REPOSITORY_PATH_MAX])
{
    (void)snprintf(ret, REPOSITORY_PATH_MAX, "v1/%c/%s/%" PRIu64, kind,
                   object_id_hex(stream).digits, seq);
}

/* ---- the key ---- */

static void add_hex(struct buf *b, const char *name, const uint8_t *bytes, size_t n)
{
    char hex[2 * OBJECT_SIGNATURE_BYTES + 1];
    hex_print(bytes, n, hex);
    buf_printf(b, "%s %s\n", name, hex);
}

void repository_key_print(const struct identity *self, struct buf *ret)
{
    buf_add_str(ret, "gillnet-publisher 1\n");
    add_hex(ret, "identity", self->public_key, OBJECT_KEY_BYTES);
    add_hex(ret, "key", self->signing.key, OBJECT_KEY_BYTES);
    buf_printf(ret, "from %" PRIu64 "\n", self->signing.not_before_ms);
    add_hex(ret, "signature", self->signing.signature, OBJECT_SIGNATURE_BYTES);
}

/* The value in the next line, which must begin with "NAME "; else the empty slice. */
static struct slice value_of(struct slice *text, const char *name)
{
    struct slice line = slice_cut(text, '\n');
    struct slice key = slice_cut(&line, ' ');
    return slice_eq(key, slice_str(name)) && line.p ? line : SLICE_NONE;
}

static bool read_decimal(struct slice text, uint64_t *ret)
{
    return text.n <= DECIMAL_DIGITS && slice_to_u64(text, 10, UINT64_MAX, ret) &&
           (text.n == 1 || text.p[0] != '0');
}

enum err repository_key_parse(struct slice text,
                              const uint8_t identity[OBJECT_KEY_BYTES],
                              struct key_binding *ret, struct errinfo *reterr)
{
    struct key_binding b;
    uint8_t whose[OBJECT_KEY_BYTES];
    bool is_good =
        slice_eq(value_of(&text, "gillnet-publisher"), SLICE_LIT("1")) &&
        hex_parse(value_of(&text, "identity"), whose, sizeof(whose)) &&
        hex_parse(value_of(&text, "key"), b.key, sizeof(b.key)) &&
        read_decimal(value_of(&text, "from"), &b.not_before_ms) &&
        hex_parse(value_of(&text, "signature"), b.signature, sizeof(b.signature)) &&
        text.n == 0;
    if (!is_good) {
        return errinfo_set(reterr, ERR_SYNTAX, "v1/key", 0,
                           "this is not the key of a publisher");
    }
    if (memcmp(whose, identity, OBJECT_KEY_BYTES) != 0) {
        return errinfo_set(reterr, ERR_KEY, "v1/key", 0,
                           "the key is of another publisher than the one configured");
    }
    if (!key_binding_holds(&b, identity)) {
        return errinfo_set(reterr, ERR_KEY, "v1/key", 0,
                           "the publisher's identity did not sign this key");
    }
    *ret = b;
    return ERR_OK;
}

/* ---- the heads ---- */

void repository_fini(struct repository *p)
{
    heads_fini(&p->heads);
    *p = (struct repository){.key_id = 0};
}

enum err repository_print(const struct repository *p, const struct identity *self,
                          struct buf *ret)
{
    struct heads h = p->heads;
    struct object o = p->heartbeat;
    struct buf rows;
    struct buf header;
    buf_init(&rows, REPOSITORY_HEADS_BYTES);
    buf_init(&header, OBJECT_HEADER_BYTES);
    h.nheartbeats = 0;
    heads_print(&h, &rows);
    bool is_made = !buf_failed(&rows);
    if (is_made) {
        o.type = OBJECT_HEARTBEAT;
        o.flags = 0;
        o.key_id = object_key_id(self->signing.key);
        o.stream = (struct stream_key){.origin = self->origin};
        /* the signature does not cover the number of heartbeats, which is 1 */
        hash256_of(slice_head(buf_slice(&rows), rows.n - 4), &o.root);
        hash256_of(SLICE_NONE, &o.payload);
        is_made = object_sign(&o, self->signing_secret, &header) == ERR_OK;
    }
    if (is_made) {
        struct slice one = buf_slice(&header);
        h.heartbeats = &one;
        h.nheartbeats = 1;
        heads_print(&h, ret);
    }
    buf_fini(&rows);
    buf_fini(&header);
    return is_made && !buf_failed(ret) ? ERR_OK : ERR_NOMEM;
}

static enum err refuse_repository(struct errinfo *reterr, enum err code,
                                  const char *why)
{
    return errinfo_set(reterr, code, "v1/heads", 0, "%s", why);
}

enum err repository_parse(struct slice bytes, struct repository *ret,
                          struct errinfo *reterr)
{
    struct repository p = {.key_id = 0};
    enum err e = bytes.n <= REPOSITORY_HEADS_BYTES
                     ? heads_parse(bytes, &p.heads, reterr)
                     : refuse_repository(reterr, ERR_LIMIT,
                                         "the file is larger than any can be");
    if (e != ERR_OK) {
        return e;
    }
    if (p.heads.nheartbeats != 1 || !p.heads.heartbeats) {
        e = refuse_repository(reterr, ERR_SYNTAX, "there must be one heartbeat");
    } else {
        e = object_parse(p.heads.heartbeats[0], &p.heartbeat, reterr);
    }
    if (e == ERR_OK &&
        (p.heartbeat.type != OBJECT_HEARTBEAT || p.heads.version != p.heartbeat.seq)) {
        e = refuse_repository(reterr, ERR_SYNTAX,
                              "the heartbeat is not of these heads");
    }
    if (e != ERR_OK) {
        repository_fini(&p);
        return e;
    }
    p.key_id = p.heartbeat.key_id;
    *ret = p;
    return ERR_OK;
}

static enum err verify_streams(const struct repository *p, struct errinfo *reterr)
{
    const struct heads *h = &p->heads;
    for (size_t i = 0; i < h->n; i++) {
        const struct stream_key *k = &h->v[i].stream;
        if (k->kind != OBJECT_TEXT ||
            !object_id_equal(&k->origin, &p->heartbeat.stream.origin)) {
            return refuse_repository(
                reterr, ERR_SYNTAX,
                "a stream is not one of texts, or of another publisher");
        }
        for (size_t j = 0; j < i; j++) {
            if (strcmp(h->v[j].stream.list, k->list) == 0) {
                return refuse_repository(reterr, ERR_SYNTAX, "a list is there twice");
            }
        }
    }
    return ERR_OK;
}

enum err repository_verify(const struct repository *p, struct slice bytes,
                           const struct object_id *origin,
                           const uint8_t key[OBJECT_KEY_BYTES], struct errinfo *reterr)
{
    struct hash256 root;
    size_t n = bytes.n - OBJECT_HEADER_BYTES - 4; /* one heartbeat and its count */
    if (!object_id_equal(&p->heartbeat.stream.origin, origin)) {
        return refuse_repository(reterr, ERR_KEY,
                                 "these are the heads of another publisher");
    }
    if (p->key_id != object_key_id(key) ||
        !object_is_signed_by(p->heads.heartbeats[0], key)) {
        return refuse_repository(reterr, ERR_KEY,
                                 "the signature is not the publisher's");
    }
    hash256_of(slice_head(bytes, n), &root);
    if (!hash256_equal(&root, &p->heartbeat.root)) {
        return refuse_repository(reterr, ERR_KEY, "the signature is of other heads");
    }
    return verify_streams(p, reterr);
}
