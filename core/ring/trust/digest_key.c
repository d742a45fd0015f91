/* digest_key - the ring's secret key between members and in keys/digest.key. */
#include "core/ring/trust/digest_key.h"

#include <openssl/crypto.h>

#include "core/base/arena.h"
#include "core/base/file.h"
#include "core/base/hash256.h"
#include "core/list/files.h"
#include "core/list/list.h"

enum { NAMES_ARENA = 256 * 1024 };
static const char line_word[] = "gillnet-ring-key 1 ";

enum err digest_key_print(const struct keyring *keys, uint32_t id, struct buf *ret)
{
    const struct hashkey *key = keyring_find(keys, id);
    char hex[2 * HASHKEY_BYTES + 1];

    if (key == NULL) {
        return ERR_NOT_FOUND;
    }
    hex_print(key->bytes, HASHKEY_BYTES, hex);
    buf_printf(ret, "%s%s\n", line_word, hex);
    OPENSSL_cleanse(hex, sizeof(hex));
    return buf_failed(ret) ? ERR_NOMEM : ERR_OK;
}

enum err digest_key_parse(struct slice line, uint32_t id, struct hashkey *ret,
                          struct errinfo *reterr)
{
    uint8_t bytes[HASHKEY_BYTES];
    size_t lead = sizeof(line_word) - 1;

    if (line.n != lead + 2 * (size_t)HASHKEY_BYTES + 1 || line.p[line.n - 1] != '\n' ||
        !slice_has_prefix(line, slice_str(line_word)) ||
        !hex_parse(slice_of(line.p + lead, line.n - lead - 1), bytes, HASHKEY_BYTES)) {
        return errinfo_set(reterr, ERR_SYNTAX, "digest key", 0,
                           "this is no digest key");
    }
    keyring_key_of(bytes, ret);
    OPENSSL_cleanse(bytes, sizeof(bytes));
    if (ret->id != id) {
        return errinfo_set(reterr, ERR_KEY, "digest key", 0,
                           "key %08" PRIx32 " came where %08" PRIx32 " was asked for",
                           ret->id, id);
    }
    return ERR_OK;
}

/* ---- room in keys/digest.key ---- */

/* A list that cannot be read without the key: its name is copied. */
static enum err find_list_of_key(const char *state_dir, uint32_t id,
                                 char ret[LIST_NAME_MAX + 1], struct errinfo *reterr)
{
    struct arena *arena = arena_new(NAMES_ARENA);
    struct slice *names = NULL;
    size_t n = 0;
    enum err e = ERR_NOMEM;

    ret[0] = '\0';
    if (arena != NULL) {
        e = list_names(state_dir, arena, &names, &n, reterr);
    }
    for (size_t i = 0; e == ERR_OK && i < n && ret[0] == '\0'; i++) {
        char dir[FILE_PATH_MAX];
        struct list_current current;
        e = path_make(dir, reterr, "%s/lists/%.*s", state_dir, SLICE_ARGS(names[i]));
        if (e == ERR_OK &&
            (current_read(dir, LIST_CURRENT, &current, NULL) != ERR_OK ||
             current.key_id == id)) { /* a list that cannot be read may need it */
            memcpy(ret, names[i].p, names[i].n);
            ret[names[i].n] = '\0';
        }
    }
    arena_free(&arena);
    return e;
}

static enum err check_leaving_key(const char *state_dir, const struct hashkey *leaving,
                                  struct errinfo *reterr)
{
    char list[LIST_NAME_MAX + 1];
    enum err e = find_list_of_key(state_dir, leaving->id, list, reterr);

    if (e != ERR_OK || list[0] == '\0') {
        return e;
    }
    return errinfo_set(
        reterr, ERR_LIMIT, list, 0,
        "this list was made with digest key %08" PRIx32
        ", and keys/digest.key has no room for a third key; run `gillnet list rekey %s`, "
        "then try again",
        leaving->id, list);
}

enum err digest_key_put(const char *state_dir, const struct hashkey *key, bool is_first,
                        struct errinfo *reterr)
{
    struct keyring keys;
    struct hashkey v[KEYRING_MAX];
    enum err e = keyring_load_or_create(state_dir, &keys, reterr);

    if (e != ERR_OK) {
        return e;
    }
    unsigned place = is_first ? 0 : 1;
    bool is_there = keyring_find(&keys, key->id) != NULL;
    if (is_there && (keys.n == 1 || keys.ring[place].id == key->id)) {
        OPENSSL_cleanse(&keys, sizeof(keys));
        return ERR_OK;
    }
    if (!is_there && keys.n == KEYRING_MAX) {
        e = check_leaving_key(state_dir, &keys.ring[1], reterr);
    }
    if (e == ERR_OK) {
        v[place] = *key;
        v[1 - place] = is_there ? keys.ring[place] : keys.ring[0];
        e = keyring_store_ring(state_dir, v, KEYRING_MAX, reterr);
    }
    OPENSSL_cleanse(v, sizeof(v));
    OPENSSL_cleanse(&keys, sizeof(keys));
    return e;
}

/* ---- the key in force ---- */

uint32_t digest_key_in_force(const struct manifest *m, uint64_t now_ms)
{
    const struct manifest_ring_key *best = &m->ring_keys[0];

    for (unsigned i = 1; i < m->nring_keys; i++) {
        const struct manifest_ring_key *k = &m->ring_keys[i];
        bool is_good = k->from_ms <= now_ms;
        bool was_good = best->from_ms <= now_ms;
        if (is_good ? !was_good || k->from_ms >= best->from_ms
                    : !was_good && k->from_ms < best->from_ms) {
            best = k;
        }
    }
    return best->id;
}

bool digest_key_wanted(const struct manifest *m, const struct keyring *keys,
                       uint64_t now_ms, uint32_t *retid)
{
    uint32_t current = digest_key_in_force(m, now_ms);

    for (unsigned i = 0; i < m->nring_keys; i++) {
        const struct manifest_ring_key *k = &m->ring_keys[i];
        if ((k->id == current || k->from_ms > now_ms) &&
            keyring_find(keys, k->id) == NULL) {
            *retid = k->id;
            return true;
        }
    }
    return false;
}

enum err digest_key_turn(const char *state_dir, const struct manifest *m,
                         const struct keyring *keys, uint64_t now_ms, bool *retchanged,
                         struct errinfo *reterr)
{
    const struct hashkey *key = keyring_find(keys, digest_key_in_force(m, now_ms));
    enum err e = ERR_OK;

    if (key == NULL || keys->ring[0].id == key->id) {
        *retchanged = false;
        return ERR_OK;
    }
    e = digest_key_put(state_dir, key, true, reterr);
    *retchanged = e == ERR_OK;
    return e;
}
