/* ring - making, signing and accepting the versions of a manifest. */
#include "core/ring/trust/ring.h"

#include <openssl/crypto.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/random.h"
#include "core/ring/trust/peer_file.h"

static const char self_name[] = "self";
static const char next_name[] = "manifest.next";
static const uint64_t day_ms = 86400000;

enum {
    SELF_MAX = 512,
    HOST_MAX = 256,
    TEXT_MAX = MANIFEST_BYTES_MAX + 8192,
    US_PER_MS = 1000
};

/* ---- self ---- */

static void self_of_host(unsigned port, struct ring_self *ret)
{
    char host[HOST_MAX] = "";
    size_t n = 0;

    memset(ret, 0, sizeof(*ret));
    if (gethostname(host, sizeof(host) - 1) != 0) {
        host[0] = '\0';
    }
    for (size_t i = 0; host[i] != '\0' && host[i] != '.' && n < OBJECT_NAME_BYTES;
         i++) {
        char c = host[i];
        if (c >= 'A' && c <= 'Z') {
            c = (char)(c - 'A' + 'a');
        }
        bool is_good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (is_good || n > 0) {
            ret->name[n] = '-';
            if (is_good || c == '_') {
                ret->name[n] = c;
            }
            n++;
        }
    }
    if (n == 0) {
        (void)snprintf(ret->name, sizeof(ret->name), "server");
    }
    char address[HOST_MAX + 16];
    (void)snprintf(address, sizeof(address), "%s:%u", host, port);
    if (manifest_address_is_valid(slice_str(address))) {
        memcpy(ret->address, address, strlen(address) + 1);
    }
}

enum err ring_self_load(const char *dir, unsigned port, struct ring_self *ret,
                        struct errinfo *reterr)
{
    struct ring_self s = {.name = ""};
    struct buf text;

    if (!peer_file_is_there(dir, self_name)) {
        self_of_host(port, ret);
        return ERR_OK;
    }
    buf_init(&text, SELF_MAX);
    enum err e = peer_file_read(dir, self_name, &text, reterr);
    struct slice rest = buf_slice(&text);
    struct slice name = slice_cut(&rest, '\n');
    struct slice address = slice_cut(&rest, '\n');
    if (e == ERR_OK && slice_has_prefix(name, SLICE_LIT("name ")) &&
        slice_has_prefix(address, SLICE_LIT("address "))) {
        name = slice_from(name, 5);
        address = slice_from(address, 8);
    } else if (e == ERR_OK) {
        name = SLICE_NONE;
    }
    if (e == ERR_OK && (!manifest_name_is_valid(name) ||
                        (address.n > 0 && !manifest_address_is_valid(address)))) {
        e = errinfo_set(reterr, ERR_CORRUPT, dir, 0,
                        "the file self is damaged; replace it with `gillnet peer "
                        "init --name NAME --address HOST:PORT`");
    }
    if (e == ERR_OK && name.n > 0) {
        memcpy(s.name, name.p, name.n);
        if (address.n > 0) {
            memcpy(s.address, address.p, address.n);
        }
        *ret = s;
    }
    buf_fini(&text);
    return e;
}

enum err ring_self_store(const char *dir, const struct ring_self *s,
                         struct errinfo *reterr)
{
    struct buf text;

    if (!manifest_name_is_valid(slice_str(s->name))) {
        return errinfo_set(reterr, ERR_SYNTAX, "name", 0,
                           "use up to %d of a-z, 0-9, - and _, beginning with a letter "
                           "or digit",
                           OBJECT_NAME_BYTES);
    }
    if (s->address[0] != '\0' && !manifest_address_is_valid(slice_str(s->address))) {
        return errinfo_set(reterr, ERR_SYNTAX, "address", 0,
                           "write it as HOST:PORT or [IPV6]:PORT");
    }
    buf_init(&text, SELF_MAX);
    buf_printf(&text, "name %s\naddress %s\n", s->name, s->address);
    enum err e =
        peer_file_write(dir, self_name, buf_slice(&text), PEER_FILE_MODE, reterr);
    buf_fini(&text);
    return e;
}

/* ---- signing ---- */

/* One of the administrators' keys of either; old may be NULL. */
static bool is_admin_of(const struct manifest *m, const struct manifest *old,
                        const uint8_t key[OBJECT_KEY_BYTES])
{
    return manifest_is_admin(m, key) || (old != NULL && manifest_is_admin(old, key));
}

static size_t body_end(struct slice text)
{
    size_t first = slice_find(text, '\n') + 1;
    return first + slice_find(slice_from(text, first), '\n') + 1;
}

static bool has_body_of(const struct manifest *a, const struct manifest *b)
{
    struct slice x = slice_of(a->text, a->text_len);
    struct slice y = slice_of(b->text, b->text_len);

    return slice_eq(slice_head(x, body_end(x)), slice_head(y, body_end(y)));
}

/* A version has one text: two signed texts of one version would divide the ring. */
static enum err check_only_one(const char *dir, const struct manifest *m,
                               const struct manifest *old, struct errinfo *reterr)
{
    struct manifest next = {.version = 0};
    enum err e = ERR_OK;

    if (old != NULL && m->version <= old->version) {
        return errinfo_set(reterr, ERR_EXISTS, "manifest", 0,
                           "version %" PRIu64 " of the ring is in force here, and this "
                           "version %" PRIu64 " was made of an older one; where it was "
                           "made run `gillnet peer manifest discard`, and make the "
                           "change again when the version in force is there",
                           old->version, m->version);
    }
    if (ring_next(dir, &next, NULL) == ERR_OK) {
        if (object_id_equal(&next.ring, &m->ring) && next.version == m->version &&
            !has_body_of(&next, m)) {
            e = errinfo_set(reterr, ERR_EXISTS, "manifest", 0,
                            "another version %" PRIu64 " waits for signatures here; "
                            "see `gillnet peer manifest show --next`, and `gillnet "
                            "peer manifest discard` to give it up",
                            m->version);
        }
        manifest_fini(&next);
    }
    return e;
}

enum err ring_sign(const char *dir, const char *key_file, const struct manifest *m,
                   const struct manifest *old, struct buf *text, struct errinfo *reterr)
{
    uint8_t secret[OBJECT_KEY_BYTES];
    uint8_t key[OBJECT_KEY_BYTES];
    enum err e = check_only_one(dir, m, old, reterr);

    THEN(e, ring_admin_key(dir, key_file, false, secret, key, reterr));
    if (e == ERR_OK && old != NULL && !is_admin_of(m, old, key)) {
        e = errinfo_set(reterr, ERR_DENIED, key_file != NULL ? key_file : dir, 0,
                        "the administrator's key here (%s) is none of this ring's "
                        "administrators; sign with one of their keys",
                        key_file != NULL ? "--admin-key" : "admin.key");
    }
    THEN(e, manifest_sign(secret, text, reterr));
    OPENSSL_cleanse(secret, sizeof(secret));
    return e;
}

/* Signs if this server has the key of an administrator. */
static enum err sign_here(const char *dir, const struct manifest *new,
                          const struct manifest *old, struct buf *text,
                          struct errinfo *reterr)
{
    uint8_t secret[OBJECT_KEY_BYTES];
    uint8_t key[OBJECT_KEY_BYTES];
    enum err e = ring_admin_key(dir, NULL, false, secret, key, reterr);

    if (e == ERR_OK && is_admin_of(new, old, key)) {
        e = manifest_sign(secret, text, reterr);
    }
    OPENSSL_cleanse(secret, sizeof(secret));
    return e == ERR_NOT_FOUND ? ERR_OK : e;
}

/* ---- the version that waits ---- */

enum err ring_discard(const char *dir, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];

    enum err e = path_make(path, reterr, "%s/%s", dir, next_name);
    if (e == ERR_OK && unlink(path) != 0 && errno != ENOENT) {
        e = errinfo_errno(reterr, path, "cannot remove the file");
    }
    return e;
}

enum err ring_next(const char *dir, struct manifest *ret, struct errinfo *reterr)
{
    struct buf text;

    if (!peer_file_is_there(dir, next_name)) {
        return errinfo_set(reterr, ERR_NOT_FOUND, dir, 0,
                           "no change of the ring waits for signatures here");
    }
    buf_init(&text, MANIFEST_BYTES_MAX);
    enum err e = peer_file_read(dir, next_name, &text, reterr);
    THEN(e, manifest_parse(buf_slice(&text), ret, reterr));
    buf_fini(&text);
    return e;
}

/* Puts m in force if it has enough signatures, else stores it to wait. */
static enum err place_version(const char *dir, const struct manifest *m,
                              const struct manifest *old, struct ring_outcome *ret,
                              struct errinfo *reterr)
{
    unsigned of_old = old != NULL ? manifest_signatures(m, old) : 0;
    unsigned of_new = manifest_signatures(m, m);
    bool lacks_old = old != NULL && of_old < old->threshold;
    enum err e = ERR_OK;

    ret->version = m->version;
    ret->signatures = lacks_old ? of_old : of_new;
    ret->needed = lacks_old ? old->threshold : m->threshold;
    ret->is_in_force = false;
    if (lacks_old || of_new < m->threshold) {
        return peer_file_write(dir, next_name, slice_of(m->text, m->text_len),
                               PEER_FILE_MODE, reterr);
    }
    e = manifest_may_replace(m, old, reterr);
    THEN(e, manifest_store(dir, m, reterr));
    THEN(e, ring_discard(dir, reterr));
    ret->is_in_force = e == ERR_OK;
    return e;
}

/* Prints and signs draft, and reads the text back, so that the checks see the text of others. */
static enum err make_version(const char *dir, const struct manifest *draft,
                             const struct manifest *old, struct manifest *ret,
                             struct errinfo *reterr)
{
    struct buf text;

    buf_init(&text, TEXT_MAX);
    enum err e = manifest_print(draft, &text);
    if (e == ERR_OK) {
        e = sign_here(dir, draft, old, &text, reterr);
    } else {
        e = errinfo_set(reterr, ERR_LIMIT, "ring", 0,
                        "the manifest would be larger than %d bytes",
                        MANIFEST_BYTES_MAX);
    }
    THEN(e, manifest_parse(buf_slice(&text), ret, reterr));
    buf_fini(&text);
    return e;
}

static bool is_next_of(const struct manifest *next, const struct manifest *m)
{
    return next->version == m->version + 1 && object_id_equal(&next->ring, &m->ring);
}

/* A further change is made to the version that waits, so that no change is lost. */
static enum err make_draft(const char *dir, const struct manifest *from,
                           struct manifest *ret, struct errinfo *reterr)
{
    struct manifest next = {.version = 0};

    if (ring_next(dir, &next, NULL) == ERR_OK) {
        if (is_next_of(&next, from)) {
            *ret = next;
            return ERR_OK;
        }
        manifest_fini(&next);
    }
    return manifest_copy(from, ret) == ERR_OK ? ERR_OK : errinfo_nomem(reterr, "ring");
}

static void set_times(struct manifest *m)
{
    m->created_ms = clock_wall_us() / US_PER_MS;
    m->expires_ms = m->created_ms + MANIFEST_EXPIRY_DAYS * day_ms;
}

enum err ring_change(const char *dir, ring_edit_fn *edit, void *context,
                     struct manifest *io, struct ring_outcome *ret,
                     struct errinfo *reterr)
{
    struct manifest draft = {.version = 0};
    struct manifest new = {.version = 0};
    enum err e = make_draft(dir, io, &draft, reterr);

    THEN(e, edit(&draft, context, reterr));
    if (e == ERR_OK) {
        draft.version = io->version + 1;
        set_times(&draft);
        e = make_version(dir, &draft, io, &new, reterr);
    }
    THEN(e, place_version(dir, &new, io, ret, reterr));
    manifest_fini(&draft);
    if (e == ERR_OK && ret->is_in_force) {
        manifest_fini(io);
        *io = new;
    } else {
        manifest_fini(&new);
    }
    return e;
}

enum err ring_create(const char *dir, const struct manifest *m,
                     struct ring_outcome *ret, struct errinfo *reterr)
{
    struct manifest draft = *m;
    struct manifest new = {.version = 0};

    if (peer_file_is_there(dir, "manifest")) {
        return errinfo_set(
            reterr, ERR_EXISTS, dir, 0,
            "this server is in a ring already; `gillnet peer list` shows "
            "its members");
    }
    random_bytes(draft.ring.b, sizeof(draft.ring.b));
    draft.version = 1;
    set_times(&draft);
    enum err e = make_version(dir, &draft, NULL, &new, reterr);
    THEN(e, place_version(dir, &new, NULL, ret, reterr));
    manifest_fini(&new);
    return e;
}

/* ---- manifests from elsewhere ---- */

/* ret: the common body with the signatures of both. */
static enum err join_signatures(const struct manifest *a, const struct manifest *b,
                                struct manifest *ret, struct errinfo *reterr)
{
    struct slice x = slice_of(a->text, a->text_len);
    struct slice y = slice_of(b->text, b->text_len);
    size_t end = body_end(x);
    struct buf text;

    if (!has_body_of(a, b)) {
        return errinfo_set(
            reterr, ERR_EXISTS, "manifest", 0,
            "another change waits for signatures here; see `gillnet peer "
            "manifest show --next`, and `gillnet peer manifest discard` "
            "to give it up");
    }
    buf_init(&text, TEXT_MAX);
    buf_add(&text, x);
    struct slice lines = slice_from(y, end);
    while (lines.n > 0) {
        struct slice line = slice_cut(&lines, '\n');
        if (slice_find_slice(x, line) == x.n) {
            buf_add(&text, line);
            buf_add_char(&text, '\n');
        }
    }
    enum err e = manifest_parse(buf_slice(&text), ret, reterr);
    buf_fini(&text);
    return e;
}

/* A first manifest, or one for a damaged file, must have this server as a member. */
static enum err check_membership(const char *dir, const struct manifest *m,
                                 struct errinfo *reterr)
{
    struct identity self;
    enum err e = identity_load(dir, &self, reterr);

    if (e == ERR_OK) {
        if (manifest_find(m, &self.origin) == NULL) {
            e = errinfo_set(reterr, ERR_DENIED, "manifest", 0,
                            "this server is no member of that ring; join it with a "
                            "token: `gillnet peer join TOKEN`");
        }
        identity_wipe(&self);
    }
    return e;
}

static enum err accept_over(const char *dir, const struct manifest *m,
                            const struct manifest *old, struct ring_outcome *ret,
                            struct errinfo *reterr)
{
    struct manifest next = {.version = 0};
    struct manifest both = {.version = 0};
    bool is_enough = manifest_signatures(m, m) >= m->threshold &&
                     (old == NULL || manifest_signatures(m, old) >= old->threshold);

    if (old != NULL &&
        (!object_id_equal(&m->ring, &old->ring) || m->version <= old->version)) {
        return manifest_may_replace(m, old, reterr); /* says why not */
    }
    if (is_enough || ring_next(dir, &next, NULL) != ERR_OK) {
        return place_version(dir, m, old, ret, reterr);
    }
    enum err e = ERR_OK;
    if (old != NULL && next.version <= old->version) {
        e = place_version(dir, m, old, ret,
                          reterr); /* the one that waited is too old */
    } else {
        e = join_signatures(&next, m, &both, reterr);
        if (e == ERR_OK) {
            e = place_version(dir, &both, old, ret, reterr);
            manifest_fini(&both);
        }
    }
    manifest_fini(&next);
    return e;
}

enum err ring_accept(const char *dir, struct slice text, struct ring_outcome *ret,
                     struct errinfo *reterr)
{
    struct manifest m = {.version = 0};
    struct manifest old = {.version = 0};
    enum err e = manifest_parse(text, &m, reterr);

    if (e != ERR_OK) {
        return e;
    }
    enum err there = manifest_load(dir, &old, NULL);
    if (there == ERR_OK) {
        e = accept_over(dir, &m, &old, ret, reterr);
        manifest_fini(&old);
    } else if (there == ERR_NOT_FOUND || there == ERR_SYNTAX || there == ERR_CORRUPT) {
        e = check_membership(dir, &m, reterr);
        THEN(e, accept_over(dir, &m, NULL, ret, reterr));
    } else {
        e = manifest_load(dir, &old, reterr); /* says why it cannot be read */
    }
    manifest_fini(&m);
    return e;
}

/* ---- the next signing key ---- */

static bool lists_key(const struct manifest *m, const struct object_id *origin,
                      const uint8_t key[OBJECT_KEY_BYTES])
{
    const struct manifest_member *member = manifest_find(m, origin);

    const struct manifest_key *k = member != NULL ? manifest_key_of(member, key) : NULL;
    return k != NULL && !k->is_revoked;
}

enum err ring_turn_identity(const char *dir, const struct manifest *m,
                            struct identity *io, uint64_t now_ms, bool *retchanged,
                            struct errinfo *reterr)
{
    struct key_binding next = {.not_before_ms = 0};
    enum err e = identity_prepared(dir, io, &next, reterr);

    *retchanged = false;
    if (e == ERR_NOT_FOUND || (e == ERR_OK && (next.not_before_ms > now_ms ||
                                               !lists_key(m, &io->origin, next.key)))) {
        return ERR_OK;
    }
    if (e == ERR_OK) {
        e = identity_rotate(dir, io, reterr);
        *retchanged = e == ERR_OK;
    }
    return e;
}
