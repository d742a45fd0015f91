/* manifest_body - the JSON of a manifest. Depth and number of values are bounded before the
 * library, which recurses and allocates, reads it. Every field is required (except "kind"), no
 * other one is allowed. */
#include <arpa/inet.h>
#include <jansson.h>

#include "core/base/hash256.h"
#include "core/ring/trust/trust_internal.h"

enum {
    DEPTH_MAX = 6,
    VALUES_MAX = 32768, /* commas, colons and brackets */
    RING_FIELDS = 11,
    MEMBER_FIELDS = 8,
    KEY_FIELDS = 5,
    RING_KEY_FIELDS = 2,
    CAP_MAX = 1000000,
    PORT_DIGITS = 5,
    PORT_MAX = 65535
};
static const uint64_t version_max = 1ull << 53;
static const uint64_t time_max_ms = 253402300799999ull; /* the end of year 9999 */
static const uint64_t records_max = 1000000000000ull;

static const char *const state_names[] = {
    [MEMBER_ACTIVE] = "active", [MEMBER_LEFT] = "left", [MEMBER_DROPPED] = "dropped"};

static const char *const kind_names[] = {
    [RING_FEDERATION] = "federation", [RING_OWN] = "own"};
static const char kind_field[] = "kind";

const char *member_state_name(enum member_state s)
{
    return state_names[s];
}

const char *ring_kind_name(enum ring_kind k)
{
    return kind_names[k];
}

bool ring_kind_by_name(struct slice name, enum ring_kind *ret)
{
    const int i = name_index(name, kind_names, LENGTH(kind_names));

    *ret = i >= 0 ? (enum ring_kind)i : *ret;
    return i >= 0;
}

/* ---- names and addresses ---- */

static bool is_port(struct slice s)
{
    uint64_t value = 0;

    return s.n <= PORT_DIGITS && slice_to_u64(s, 10, PORT_MAX, &value) && value > 0;
}

static bool is_host(struct slice s)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-";

    for (size_t i = 0; i < s.n; i++) {
        if (memchr(letters, s.p[i], sizeof(letters) - 1) == NULL) {
            return false;
        }
    }
    return s.n > 0 && s.p[0] != '-' && s.p[0] != '.';
}

static bool is_ipv6(struct slice s)
{
    char text[INET6_ADDRSTRLEN];
    struct in6_addr address;

    if (s.n == 0 || s.n >= sizeof(text)) {
        return false;
    }
    memcpy(text, s.p, s.n);
    text[s.n] = '\0';
    return strlen(text) == s.n && inet_pton(AF_INET6, text, &address) == 1;
}

bool manifest_address_is_valid(struct slice address)
{
    if (address.n == 0 || address.n > MANIFEST_ADDRESS_MAX) {
        return false;
    }
    if (address.p[0] == '[') {
        size_t end = slice_find(address, ']');
        return end + 1 < address.n && address.p[end + 1] == ':' &&
               is_ipv6(slice_of(address.p + 1, end - 1)) &&
               is_port(slice_from(address, end + 2));
    }
    size_t colon = slice_find(address, ':');
    return colon < address.n && is_host(slice_head(address, colon)) &&
           is_port(slice_from(address, colon + 1));
}

/* ---- reading ---- */

/* Fields of one object, with a sticky failure that names the first wrong one. */
struct fields {
    json_t *object;
    const char *what; /* "member", to say where */
    size_t number;    /* of it, from 1; 0: the only one */
    enum err failed;
    struct errinfo *reterr;
};

static void refuse_field(struct fields *f, const char *name, const char *why)
{
    if (f->failed != ERR_OK) {
        return;
    }
    if (f->number > 0) {
        f->failed = errinfo_set(f->reterr, ERR_SYNTAX, "manifest", 0,
                                "%s %zu: \"%s\" %s", f->what, f->number, name, why);
    } else {
        f->failed =
            errinfo_set(f->reterr, ERR_SYNTAX, "manifest", 0, "\"%s\" %s", name, why);
    }
}

static struct fields fields_of(json_t *object, const char *what, size_t number,
                               size_t n, struct errinfo *reterr)
{
    struct fields f = {object, what, number, ERR_OK, reterr};

    if (!json_is_object(object) || json_object_size(object) != n) {
        refuse_field(&f, number > 0 ? "it" : "manifest",
                     "is no object with exactly the fields of this version");
    }
    return f;
}

static uint64_t get_number(struct fields *f, const char *name, uint64_t least,
                           uint64_t most)
{
    const json_t *v = json_object_get(f->object, name);
    json_int_t n = json_is_integer(v) ? json_integer_value(v) : -1;

    if (n < 0 || (uint64_t)n < least || (uint64_t)n > most) {
        refuse_field(f, name, "must be a whole number within its bounds");
        return least;
    }
    return (uint64_t)n;
}

static struct slice json_slice(const json_t *v)
{
    return json_is_string(v) ? slice_of(json_string_value(v), json_string_length(v))
                             : SLICE_NONE;
}

static struct slice get_text(struct fields *f, const char *name)
{
    const json_t *v = json_object_get(f->object, name);

    if (!json_is_string(v)) {
        refuse_field(f, name, "must be a text");
    }
    return json_slice(v);
}

static void get_hex(struct fields *f, const char *name, uint8_t *ret, size_t n)
{
    if (!hex_parse(get_text(f, name), ret, n)) {
        refuse_field(f, name, "must be hexadecimal digits of the right number");
    }
}

static bool get_bool(struct fields *f, const char *name)
{
    const json_t *v = json_object_get(f->object, name);

    if (!json_is_boolean(v)) {
        refuse_field(f, name, "must be true or false");
    }
    return json_is_true(v);
}

static const json_t *get_array(struct fields *f, const char *name, size_t most)
{
    const json_t *v = json_object_get(f->object, name);

    if (!json_is_array(v) || json_array_size(v) == 0 || json_array_size(v) > most) {
        refuse_field(f, name, "must be an array of the allowed length");
        return NULL;
    }
    return v;
}

static void copy_text(struct slice s, char *ret)
{
    memcpy(ret, s.p, s.n);
    ret[s.n] = '\0';
}

static enum err parse_key(json_t *v, size_t number, struct manifest_key *k,
                          struct errinfo *reterr)
{
    struct fields f = fields_of(v, "a member's key", number, KEY_FIELDS, reterr);

    if (f.failed != ERR_OK) {
        return f.failed;
    }
    get_hex(&f, "key", k->binding.key, OBJECT_KEY_BYTES);
    k->binding.not_before_ms = get_number(&f, "not_before_ms", 0, time_max_ms);
    get_hex(&f, "signature", k->binding.signature, OBJECT_SIGNATURE_BYTES);
    k->until_ms = get_number(&f, "until_ms", 0, time_max_ms);
    k->is_revoked = get_bool(&f, "revoked");
    if (k->until_ms != 0 && k->until_ms < k->binding.not_before_ms) {
        refuse_field(&f, "until_ms", "lies before \"not_before_ms\"");
    }
    return f.failed;
}

static enum member_state get_state(struct fields *f)
{
    const int i = name_index(get_text(f, "state"), state_names, LENGTH(state_names));

    if (i < 0) {
        refuse_field(f, "state", "must be active, left or dropped");
    }
    return i < 0 ? MEMBER_DROPPED : (enum member_state)i;
}

static enum err parse_keys(struct fields *f, struct manifest_member *m)
{
    const json_t *keys = get_array(f, "keys", MANIFEST_KEYS_MAX);

    for (size_t i = 0; i < json_array_size(keys); i++) {
        enum err e = parse_key(json_array_get(keys, i), i + 1, &m->keys[i], f->reterr);
        if (e != ERR_OK) {
            return e;
        }
        if (!key_binding_holds(&m->keys[i].binding, m->identity)) {
            refuse_field(f, "keys",
                         "has a key that the member's identity did not sign");
        }
        m->nkeys++;
    }
    return f->failed;
}

static enum err parse_member(json_t *v, size_t number, struct manifest_member *m,
                             struct errinfo *reterr)
{
    struct fields f = fields_of(v, "member", number, MEMBER_FIELDS, reterr);

    if (f.failed != ERR_OK) {
        return f.failed;
    }
    struct slice name = get_text(&f, "name");
    struct slice address = get_text(&f, "address");
    if (manifest_name_is_valid(name)) {
        copy_text(name, m->name);
    } else {
        refuse_field(&f, "name", "must be up to 32 of a-z, 0-9, - and _");
    }
    if (address.n == 0) {
        m->address[0] = '\0';
    } else if (manifest_address_is_valid(address)) {
        copy_text(address, m->address);
    } else {
        refuse_field(&f, "address", "must be HOST:PORT or [IPV6]:PORT, or empty");
    }
    get_hex(&f, "identity", m->identity, OBJECT_KEY_BYTES);
    identity_origin(m->identity, &m->origin);
    m->state = get_state(&f);
    m->since_ms = get_number(&f, "since_ms", 0, time_max_ms);
    m->cap = get_number(&f, "cap", 0, CAP_MAX);
    m->records_per_day = get_number(&f, "records_per_day", 0, records_max);
    return f.failed == ERR_OK ? parse_keys(&f, m) : f.failed;
}

static enum err parse_ring_key(json_t *v, size_t number, struct manifest_ring_key *k,
                               struct errinfo *reterr)
{
    struct fields f = fields_of(v, "digest key", number, RING_KEY_FIELDS, reterr);

    if (f.failed == ERR_OK) {
        k->id = (uint32_t)get_number(&f, "id", 0, UINT32_MAX);
        k->from_ms = get_number(&f, "from_ms", 0, time_max_ms);
    }
    return f.failed;
}

static enum err parse_members(const json_t *members, struct manifest *m,
                              struct errinfo *reterr)
{
    enum err e = ERR_OK;

    m->members = calloc(json_array_size(members), sizeof(*m->members));
    if (m->members == NULL) {
        return errinfo_nomem(reterr, "manifest");
    }
    for (size_t i = 0; i < json_array_size(members) && e == ERR_OK; i++) {
        e = parse_member(json_array_get(members, i), i + 1, &m->members[i], reterr);
        m->nmembers++;
    }
    return e;
}

static enum err parse_arrays(struct fields *f, struct manifest *m)
{
    const json_t *admins = get_array(f, "admins", MANIFEST_ADMINS_MAX);
    const json_t *members = get_array(f, "members", MANIFEST_MEMBERS_MAX);
    const json_t *ring_keys = get_array(f, "ring_keys", MANIFEST_RING_KEYS_MAX);
    enum err e = f->failed;

    for (size_t i = 0; i < json_array_size(admins) && e == ERR_OK; i++) {
        if (!hex_parse(json_slice(json_array_get(admins, i)), m->admins[i],
                       OBJECT_KEY_BYTES)) {
            refuse_field(f, "admins", "must be public keys in hexadecimal digits");
            e = f->failed;
        }
        m->nadmins++;
    }
    THEN(e, parse_members(members, m, f->reterr));
    for (size_t i = 0; i < json_array_size(ring_keys) && e == ERR_OK; i++) {
        e = parse_ring_key(json_array_get(ring_keys, i), i + 1, &m->ring_keys[i],
                           f->reterr);
        m->nring_keys++;
    }
    return e;
}

static enum err parse_ring(json_t *root, struct manifest *m, struct errinfo *reterr)
{
    bool has_kind = json_object_get(root, kind_field) != NULL;
    struct fields f =
        fields_of(root, "manifest", 0, RING_FIELDS + (has_kind ? 1 : 0), reterr);

    if (f.failed != ERR_OK) {
        return f.failed;
    }
    if (has_kind && !ring_kind_by_name(get_text(&f, kind_field), &m->kind)) {
        refuse_field(&f, kind_field, "must be own or federation");
    }
    get_hex(&f, "ring", m->ring.b, OBJECT_ID_BYTES);
    m->version = get_number(&f, "version", 1, version_max);
    m->created_ms = get_number(&f, "created_ms", 0, time_max_ms);
    m->expires_ms = get_number(&f, "expires_ms", 0, time_max_ms);
    m->threshold = (unsigned)get_number(&f, "threshold", 1, MANIFEST_ADMINS_MAX);
    m->default_cap = get_number(&f, "default_cap", 1, CAP_MAX);
    m->quorum = (unsigned)get_number(&f, "quorum", 1, MANIFEST_MEMBERS_MAX);
    m->default_records_per_day =
        get_number(&f, "default_records_per_day", 1, records_max);
    enum err e = f.failed == ERR_OK ? parse_arrays(&f, m) : f.failed;
    if (e == ERR_OK && m->threshold > m->nadmins) {
        refuse_field(&f, "threshold", "is more than there are administrators");
        e = f.failed;
    }
    if (e == ERR_OK && m->expires_ms <= m->created_ms) {
        refuse_field(&f, "expires_ms", "does not lie after \"created_ms\"");
        e = f.failed;
    }
    return e;
}

/* ---- unique values ---- */

static enum err twice(const char *what, struct errinfo *reterr)
{
    return errinfo_set(reterr, ERR_SYNTAX, "manifest", 0, "%s is there twice", what);
}

/* Of two members at most MANIFEST_KEYS_MAX keys each. */
static bool share_a_key(const struct manifest_member *a,
                        const struct manifest_member *b)
{
    for (unsigned i = 0; i < a->nkeys; i++) {
        for (unsigned j = 0; j < b->nkeys; j++) {
            if ((a != b || i != j) && object_key_id(a->keys[i].binding.key) ==
                                          object_key_id(b->keys[j].binding.key)) {
                return true;
            }
        }
    }
    return false;
}

static enum err check_members(const struct manifest *m, struct errinfo *reterr)
{
    for (unsigned i = 0; i < m->nmembers; i++) {
        const struct manifest_member *a = &m->members[i];
        if (share_a_key(a, a)) {
            return twice("a signing key", reterr);
        }
        for (unsigned j = i + 1; j < m->nmembers; j++) {
            const struct manifest_member *b = &m->members[j];
            if (strcmp(a->name, b->name) == 0) {
                return twice("a member's name", reterr);
            }
            if (object_id_equal(&a->origin, &b->origin)) {
                return twice("a member's identity", reterr);
            }
            if (a->address[0] != '\0' && strcmp(a->address, b->address) == 0) {
                return twice("a member's address", reterr);
            }
            if (share_a_key(a, b)) {
                return twice("a signing key", reterr);
            }
        }
    }
    return ERR_OK;
}

static enum err check_keys(const struct manifest *m, struct errinfo *reterr)
{
    for (unsigned i = 0; i < m->nadmins; i++) {
        for (unsigned j = i + 1; j < m->nadmins; j++) {
            if (memcmp(m->admins[i], m->admins[j], OBJECT_KEY_BYTES) == 0) {
                return twice("an administrator's key", reterr);
            }
        }
    }
    for (unsigned i = 0; i < m->nring_keys; i++) {
        for (unsigned j = i + 1; j < m->nring_keys; j++) {
            if (m->ring_keys[i].id == m->ring_keys[j].id) {
                return twice("a digest key", reterr);
            }
        }
    }
    return ERR_OK;
}

/* ---- bounds before the library reads it ---- */

static enum err check_shape(struct slice body, struct errinfo *reterr)
{
    size_t depth = 0;
    size_t values = 0;
    bool in_text = false;

    for (size_t i = 0; i < body.n; i++) {
        char c = body.p[i];
        if (in_text) {
            i += c == '\\' ? 1 : 0;
            in_text = c != '"';
            continue;
        }
        in_text = c == '"';
        if (c == '{' || c == '[') {
            depth++;
        } else if ((c == '}' || c == ']') && depth > 0) {
            depth--;
        }
        values += c == ',' || c == ':' || c == '{' || c == '[' ? 1 : 0;
        if (depth > DEPTH_MAX || values > VALUES_MAX) {
            return errinfo_set(reterr, ERR_LIMIT, "manifest", 0,
                               "deeper than %d or more than %d values", DEPTH_MAX,
                               VALUES_MAX);
        }
    }
    return ERR_OK;
}

enum err manifest_body_parse(struct slice body, struct manifest *m,
                             struct errinfo *reterr)
{
    json_error_t why;
    enum err e = check_shape(body, reterr);

    if (e != ERR_OK) {
        return e;
    }
    json_t *root = json_loadb(body.p, body.n, JSON_REJECT_DUPLICATES, &why);
    if (root == NULL) {
        return errinfo_set(reterr, ERR_SYNTAX, "manifest", 2, "no JSON from byte %d on",
                           why.position);
    }
    e = parse_ring(root, m, reterr);
    json_decref(root);
    THEN(e, check_keys(m, reterr));
    return e == ERR_OK ? check_members(m, reterr) : e;
}

/* ---- printing: names, addresses and numbers need no escapes ---- */

static void print_hex(const uint8_t *bytes, size_t n, struct buf *ret)
{
    char hex[2 * OBJECT_SIGNATURE_BYTES + 1];

    hex_print(bytes, n, hex);
    buf_printf(ret, "\"%s\"", hex);
}

static void print_number(const char *name, uint64_t v, struct buf *ret)
{
    buf_printf(ret, ",\"%s\":%llu", name, (unsigned long long)v);
}

static void print_key(const struct manifest_key *k, struct buf *ret)
{
    buf_add_str(ret, "{\"key\":");
    print_hex(k->binding.key, OBJECT_KEY_BYTES, ret);
    print_number("not_before_ms", k->binding.not_before_ms, ret);
    buf_add_str(ret, ",\"signature\":");
    print_hex(k->binding.signature, OBJECT_SIGNATURE_BYTES, ret);
    print_number("until_ms", k->until_ms, ret);
    buf_printf(ret, ",\"revoked\":%s}", k->is_revoked ? "true" : "false");
}

static void print_member(const struct manifest_member *m, struct buf *ret)
{
    buf_printf(ret, "{\"name\":\"%s\",\"identity\":", m->name);
    print_hex(m->identity, OBJECT_KEY_BYTES, ret);
    buf_printf(ret, ",\"state\":\"%s\"", member_state_name(m->state));
    print_number("since_ms", m->since_ms, ret);
    buf_add_str(ret, ",\"keys\":[");
    for (unsigned i = 0; i < m->nkeys; i++) {
        buf_add_str(ret, i > 0 ? "," : "");
        print_key(&m->keys[i], ret);
    }
    buf_printf(ret, "],\"address\":\"%s\"", m->address);
    print_number("cap", m->cap, ret);
    print_number("records_per_day", m->records_per_day, ret);
    buf_add_char(ret, '}');
}

void manifest_body_print(const struct manifest *m, struct buf *ret)
{
    buf_add_str(ret, "{\"ring\":");
    print_hex(m->ring.b, OBJECT_ID_BYTES, ret);
    print_number("version", m->version, ret);
    print_number("created_ms", m->created_ms, ret);
    print_number("expires_ms", m->expires_ms, ret);
    print_number("threshold", m->threshold, ret);
    buf_add_str(ret, ",\"admins\":[");
    for (unsigned i = 0; i < m->nadmins; i++) {
        buf_add_str(ret, i > 0 ? "," : "");
        print_hex(m->admins[i], OBJECT_KEY_BYTES, ret);
    }
    buf_add_str(ret, "],\"members\":[");
    for (unsigned i = 0; i < m->nmembers; i++) {
        buf_add_str(ret, i > 0 ? "," : "");
        print_member(&m->members[i], ret);
    }
    buf_add_str(ret, "],\"ring_keys\":[");
    for (unsigned i = 0; i < m->nring_keys; i++) {
        buf_printf(ret, "%s{\"id\":%lu,\"from_ms\":%llu}", i > 0 ? "," : "",
                   (unsigned long)m->ring_keys[i].id,
                   (unsigned long long)m->ring_keys[i].from_ms);
    }
    buf_add_char(ret, ']');
    print_number("default_cap", m->default_cap, ret);
    print_number("quorum", m->quorum, ret);
    print_number("default_records_per_day", m->default_records_per_day, ret);
    if (m->kind != RING_FEDERATION) {
        buf_printf(ret, ",\"%s\":\"%s\"", kind_field, ring_kind_name(m->kind));
    }
    buf_add_char(ret, '}');
}
