/* manifest - text, signatures, the rules of replacement, and the file. */
#include "core/ring/trust/manifest.h"

#include "core/base/file.h"
#include "core/base/hash256.h"
#include "core/ring/stream/signature.h"
#include "core/ring/trust/peer_file.h"
#include "core/ring/trust/trust_internal.h"
#include "core/store/origins.h"

static const char first_line[] = "gillnet-ring-manifest 1";
static const char first_words[] = "gillnet-ring-manifest ";
static const char signature_word[] = "signature ";
static const char manifest_domain[] = "gillnet-manifest/1";
static const char file_name[] = "manifest";
static const char old_name[] = "manifest.old";

enum { SIGNATURES_MAX = 2 * MANIFEST_ADMINS_MAX };

void manifest_fini(struct manifest *m)
{
    free(m->members);
    free(m->text);
    m->members = NULL;
    m->nmembers = 0;
    m->text = NULL;
    m->text_len = 0;
}

enum err manifest_copy(const struct manifest *m, struct manifest *ret)
{
    struct manifest copy = *m;

    copy.members = calloc(m->nmembers > 0 ? m->nmembers : 1, sizeof(*copy.members));
    copy.text = m->text != NULL ? malloc(m->text_len + 1) : NULL;
    if (copy.members == NULL || (m->text != NULL && copy.text == NULL)) {
        free(copy.members);
        free(copy.text);
        return ERR_NOMEM;
    }
    if (m->nmembers > 0) {
        memcpy(copy.members, m->members, m->nmembers * sizeof(*copy.members));
    }
    if (m->text != NULL) {
        memcpy(copy.text, m->text, m->text_len);
        copy.text[m->text_len] = '\0';
    }
    *ret = copy;
    return ERR_OK;
}

/* ---- text and signatures ---- */

struct signature {
    uint8_t key[OBJECT_KEY_BYTES];
    uint8_t bytes[OBJECT_SIGNATURE_BYTES];
};

static enum err malformed(unsigned line, const char *why, struct errinfo *reterr)
{
    return errinfo_set(reterr, ERR_SYNTAX, "manifest", line, "%s", why);
}

/* The line of the body, and the lines after it. */
static enum err split_text(struct slice text, struct slice *retbody,
                           struct slice *retrest, struct errinfo *reterr)
{
    if (text.n > MANIFEST_BYTES_MAX) {
        return errinfo_set(reterr, ERR_LIMIT, "manifest", 0, "longer than %d bytes",
                           MANIFEST_BYTES_MAX);
    }
    if (text.n == 0 || text.p[text.n - 1] != '\n') {
        return malformed(0, "it does not end with a line", reterr);
    }
    struct slice rest = slice_head(text, text.n - 1);
    struct slice first = slice_cut(&rest, '\n');
    if (!slice_eq(first, slice_str(first_line))) {
        return slice_has_prefix(first, slice_str(first_words))
                   ? errinfo_set(reterr, ERR_VERSION, "manifest", 1,
                                 "made by a later version of gillnet; update this one")
                   : malformed(1, "this is no manifest of a ring", reterr);
    }
    *retbody = slice_cut(&rest, '\n');
    *retrest = rest;
    return ERR_OK;
}

static bool parse_signature(struct slice line, struct signature *ret)
{
    size_t lead = sizeof(signature_word) - 1;
    size_t key_end = lead + 2 * (size_t)OBJECT_KEY_BYTES;

    return slice_has_prefix(line, slice_str(signature_word)) && line.n > key_end &&
           line.p[key_end] == ' ' &&
           hex_parse(slice_of(line.p + lead, key_end - lead), ret->key,
                     OBJECT_KEY_BYTES) &&
           hex_parse(slice_from(line, key_end + 1), ret->bytes, OBJECT_SIGNATURE_BYTES);
}

/* Reads the lines of signatures. Each must be right and of another key. */
static enum err read_signatures(struct slice body, struct slice lines,
                                struct signature ret[SIGNATURES_MAX], unsigned *retn,
                                struct errinfo *reterr)
{
    unsigned n = 0;

    while (lines.p != NULL) {
        struct slice line = slice_cut(&lines, '\n');
        unsigned number = n + 3;
        if (n == SIGNATURES_MAX) {
            return errinfo_set(reterr, ERR_LIMIT, "manifest", number,
                               "more than %d signatures", SIGNATURES_MAX);
        }
        if (!parse_signature(line, &ret[n])) {
            return malformed(number, "this is no line \"signature KEY SIGNATURE\"",
                             reterr);
        }
        for (unsigned i = 0; i < n; i++) {
            if (memcmp(ret[i].key, ret[n].key, OBJECT_KEY_BYTES) == 0) {
                return malformed(number, "the same key signed twice", reterr);
            }
        }
        if (!signature_holds(ret[n].key, manifest_domain, body, ret[n].bytes)) {
            return malformed(number, "the signature is wrong", reterr);
        }
        n++;
    }
    *retn = n;
    return ERR_OK;
}

static enum err keep_text(struct slice text, struct manifest *m, struct errinfo *reterr)
{
    m->text = malloc(text.n + 1);
    if (m->text == NULL) {
        return errinfo_nomem(reterr, "manifest");
    }
    memcpy(m->text, text.p, text.n);
    m->text[text.n] = '\0';
    m->text_len = text.n;
    return ERR_OK;
}

enum err manifest_parse(struct slice text, struct manifest *ret, struct errinfo *reterr)
{
    struct manifest m = {.version = 0};
    struct signature signatures[SIGNATURES_MAX];
    struct slice body = SLICE_NONE;
    struct slice rest = SLICE_NONE;
    unsigned n = 0;
    enum err e = split_text(text, &body, &rest, reterr);

    THEN(e, read_signatures(body, rest, signatures, &n, reterr));
    THEN(e, manifest_body_parse(body, &m, reterr));
    THEN(e, keep_text(text, &m, reterr));
    if (e != ERR_OK) {
        manifest_fini(&m);
        return e;
    }
    *ret = m;
    return ERR_OK;
}

enum err manifest_print(const struct manifest *m, struct buf *ret)
{
    buf_printf(ret, "%s\n", first_line);
    manifest_body_print(m, ret);
    buf_add_char(ret, '\n');
    return buf_failed(ret) ? ERR_NOMEM : ERR_OK;
}

enum err manifest_sign(const uint8_t secret[OBJECT_KEY_BYTES], struct buf *text,
                       struct errinfo *reterr)
{
    struct signature there[SIGNATURES_MAX];
    struct signature new = {.key = {0}};
    char key[2 * OBJECT_KEY_BYTES + 1];
    char signature[2 * OBJECT_SIGNATURE_BYTES + 1];
    struct slice body = SLICE_NONE;
    struct slice rest = SLICE_NONE;
    unsigned n = 0;
    enum err e = split_text(buf_slice(text), &body, &rest, reterr);

    THEN(e, read_signatures(body, rest, there, &n, reterr));
    if (e != ERR_OK) {
        return e;
    }
    identity_public_of(secret, new.key);
    for (unsigned i = 0; i < n; i++) {
        if (memcmp(there[i].key, new.key, OBJECT_KEY_BYTES) == 0) {
            return errinfo_set(reterr, ERR_EXISTS, "manifest", i + 3,
                               "this key has signed it already");
        }
    }
    if (n == SIGNATURES_MAX) {
        return errinfo_set(reterr, ERR_LIMIT, "manifest", 0,
                           "there are %d signatures already", SIGNATURES_MAX);
    }
    e = signature_make(secret, manifest_domain, body, new.bytes);
    hex_print(new.key, sizeof(new.key), key);
    hex_print(new.bytes, sizeof(new.bytes), signature);
    if (e == ERR_OK) {
        buf_printf(text, "%s%s %s\n", signature_word, key, signature);
    }
    return e == ERR_OK && !buf_failed(text) ? ERR_OK
                                            : errinfo_nomem(reterr, "manifest");
}

bool manifest_is_admin(const struct manifest *m, const uint8_t key[OBJECT_KEY_BYTES])
{
    for (unsigned i = 0; i < m->nadmins; i++) {
        if (memcmp(m->admins[i], key, OBJECT_KEY_BYTES) == 0) {
            return true;
        }
    }
    return false;
}

unsigned manifest_signatures(const struct manifest *m, const struct manifest *of)
{
    struct signature signature;
    struct slice rest = slice_of(m->text, m->text_len > 0 ? m->text_len - 1 : 0);
    unsigned n = 0;

    (void)slice_cut(&rest, '\n');
    (void)slice_cut(&rest, '\n');
    while (rest.p != NULL) {
        n += parse_signature(slice_cut(&rest, '\n'), &signature) &&
                     manifest_is_admin(of, signature.key)
                 ? 1
                 : 0;
    }
    return n;
}

/* ---- replacement ---- */

/* Whether a key that is revoked in old is good in m. */
static bool forgives_a_key(const struct manifest *m, const struct manifest_member *old)
{
    const struct manifest_member *now = manifest_find(m, &old->origin);

    for (unsigned i = 0; now != NULL && i < old->nkeys; i++) {
        const struct manifest_key *k = manifest_key_of(now, old->keys[i].binding.key);
        if (old->keys[i].is_revoked && k != NULL && !k->is_revoked) {
            return true;
        }
    }
    return false;
}

static enum err check_signatures(const struct manifest *m, const struct manifest *of,
                                 const char *whose, struct errinfo *reterr)
{
    unsigned n = manifest_signatures(m, of);

    if (n >= of->threshold) {
        return ERR_OK;
    }
    return errinfo_set(reterr, ERR_DENIED, "manifest", 0,
                       "version %llu has %u of the %u signatures that the "
                       "administrators of the %s version must give; let another one "
                       "run `gillnet peer manifest sign FILE`",
                       (unsigned long long)m->version, n, of->threshold, whose);
}

static bool has_same_text(const struct manifest *a, const struct manifest *b)
{
    return a->text != NULL && b->text != NULL &&
           slice_eq(slice_of(a->text, a->text_len), slice_of(b->text, b->text_len));
}

static enum err check_newer(const struct manifest *m, const struct manifest *old,
                            struct errinfo *reterr)
{
    if (!object_id_equal(&m->ring, &old->ring)) {
        return errinfo_set(reterr, ERR_DENIED, "manifest", 0, "it is of another ring");
    }
    if (m->version > old->version) {
        return ERR_OK;
    }
    if (m->version == old->version && !has_same_text(m, old)) {
        return errinfo_set(reterr, ERR_EXISTS, "manifest", 0,
                           "another version %llu is in force here; make the change "
                           "again on top of that",
                           (unsigned long long)m->version);
    }
    return errinfo_set(reterr, ERR_EXISTS, "manifest", 0,
                       "version %llu is not newer than version %llu, which is in force",
                       (unsigned long long)m->version,
                       (unsigned long long)old->version);
}

enum err manifest_may_replace(const struct manifest *m, const struct manifest *old,
                              struct errinfo *reterr)
{
    enum err e = old != NULL ? check_newer(m, old, reterr) : ERR_OK;

    if (e == ERR_OK && old != NULL) {
        e = check_signatures(m, old, "former", reterr);
    }
    THEN(e, check_signatures(m, m, "new", reterr));
    for (unsigned i = 0; e == ERR_OK && old != NULL && i < old->nmembers; i++) {
        if (forgives_a_key(m, &old->members[i])) {
            e = errinfo_set(reterr, ERR_DENIED, "manifest", 0,
                            "a revoked key of member \"%s\" is trusted again; a key "
                            "stays revoked, let the member take a new one",
                            old->members[i].name);
        }
    }
    return e;
}

/* ---- the file ---- */

static enum err load_file(const char *dir, const char *name, struct manifest *ret,
                          struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct errinfo why = {.code = ERR_OK};
    struct buf text;

    buf_init(&text, MANIFEST_BYTES_MAX);
    enum err e = peer_file_read(dir, name, &text, reterr);
    THEN(e, path_make(path, reterr, "%s/%s", dir, name));
    if (e == ERR_OK) {
        e = manifest_parse(buf_slice(&text), ret, &why);
        if (e == ERR_OK && manifest_signatures(ret, ret) < ret->threshold) {
            e = errinfo_set(&why, ERR_CORRUPT, "", 0, "signatures are missing");
            manifest_fini(ret);
        }
        if (e != ERR_OK) {
            e = errinfo_set(reterr, e, path, why.line,
                            "%s; restore the file from manifest.old or take it from "
                            "another member: `gillnet peer manifest accept FILE`",
                            why.text);
        }
    }
    buf_fini(&text);
    return e;
}

enum err manifest_load(const char *dir, struct manifest *ret, struct errinfo *reterr)
{
    enum err e = load_file(dir, file_name, ret, reterr);

    if (e == ERR_NOT_FOUND) {
        return errinfo_set(reterr, ERR_NOT_FOUND, dir, 0,
                           "this server is in no ring; make one with `gillnet peer "
                           "ring create`, or join one with `gillnet peer join TOKEN`");
    }
    return e;
}

enum err manifest_store(const char *dir, const struct manifest *m,
                        struct errinfo *reterr)
{
    struct manifest there = {.version = 0};
    struct slice text = slice_of(m->text, m->text_len);
    enum err e = manifest_load(dir, &there, NULL);

    if (e == ERR_OK) {
        struct slice old = slice_of(there.text, there.text_len);
        bool is_same = has_same_text(&there, m);
        if (!is_same && there.version >= m->version &&
            object_id_equal(&there.ring, &m->ring)) {
            e = check_newer(m, &there, reterr);
        } else if (!is_same) {
            e = peer_file_write(dir, old_name, old, PEER_FILE_MODE, reterr);
        }
        manifest_fini(&there);
        if (e != ERR_OK || is_same) {
            return e;
        }
    } else if (e != ERR_NOT_FOUND && e != ERR_SYNTAX && e != ERR_CORRUPT) {
        return manifest_load(dir, &there, reterr); /* fills reterr */
    }
    return peer_file_write(dir, file_name, text, PEER_FILE_MODE, reterr);
}

/* ---- members and keys ---- */

const struct manifest_member *manifest_find(const struct manifest *m,
                                            const struct object_id *origin)
{
    for (unsigned i = 0; i < m->nmembers; i++) {
        if (object_id_equal(&m->members[i].origin, origin)) {
            return &m->members[i];
        }
    }
    return NULL;
}

const struct manifest_member *manifest_find_name(const struct manifest *m,
                                                 struct slice name)
{
    for (unsigned i = 0; i < m->nmembers; i++) {
        if (slice_eq(slice_str(m->members[i].name), name)) {
            return &m->members[i];
        }
    }
    return NULL;
}

static bool is_good_at(const struct manifest_key *k, uint64_t created_ms)
{
    return !k->is_revoked && k->binding.not_before_ms <= created_ms &&
           (k->until_ms == 0 || created_ms < k->until_ms);
}

const struct manifest_key *manifest_key_by_id(const struct manifest_member *member,
                                              uint64_t key_id)
{
    for (unsigned i = 0; i < member->nkeys; i++) {
        if (object_key_id(member->keys[i].binding.key) == key_id) {
            return &member->keys[i];
        }
    }
    return NULL;
}

const struct manifest_key *manifest_key_of(const struct manifest_member *member,
                                           const uint8_t key[OBJECT_KEY_BYTES])
{
    for (unsigned i = 0; i < member->nkeys; i++) {
        if (memcmp(member->keys[i].binding.key, key, OBJECT_KEY_BYTES) == 0) {
            return &member->keys[i];
        }
    }
    return NULL;
}

bool manifest_has_ring_key(const struct manifest *m, uint32_t id)
{
    for (unsigned i = 0; i < m->nring_keys; i++) {
        if (m->ring_keys[i].id == id) {
            return true;
        }
    }
    return false;
}

const struct manifest_member *manifest_find_key(const struct manifest *m,
                                                uint64_t key_id, uint64_t created_ms,
                                                const struct manifest_key **retkey)
{
    for (unsigned i = 0; i < m->nmembers; i++) {
        const struct manifest_key *k = manifest_key_by_id(&m->members[i], key_id);
        if (k != NULL) {
            *retkey = is_good_at(k, created_ms) ? k : *retkey;
            return is_good_at(k, created_ms) ? &m->members[i] : NULL;
        }
    }
    return NULL;
}

uint64_t manifest_cap(const struct manifest *m, const struct manifest_member *member)
{
    uint64_t of_ring = m->kind == RING_OWN ? ORIGIN_NO_CAP : m->default_cap;

    return member->cap > 0 ? member->cap : of_ring;
}
