/* keyring - key files: read with care, made once. */
#include "core/base/keyring.h"

#include <sodium.h>

#include "core/base/cursor.h"
#include "core/base/file.h"
#include "core/base/file_internal.h"
#include "core/base/random.h"
#include "core/base/statedir.h"

enum {
    KEY_FILE_MAX = 4096,
    KEY_HEX = 2 * HASHKEY_BYTES,
    KEY_MODE = 0640,
    KEY_DIR_MODE = 0750,
    MODE_REFUSED = 0027 /* no group write, nothing for others */
};

static void key_id(struct hashkey *key)
{
    uint8_t hash[crypto_generichash_BYTES];
    _Static_assert(sizeof(hash) == 32, "the id is cut from BLAKE2b-256");
    (void)crypto_generichash(hash, sizeof(hash), key->bytes, HASHKEY_BYTES, NULL, 0);
    struct cursor c = cursor_of(slice_of((const char *)hash, sizeof(hash)));
    key->id = cursor_u32(&c);
}

/* Reads a key file into text, refusing one that others may read or change. */
static enum err read_key_file(const char *path, char text[KEY_FILE_MAX], size_t *retn,
                              struct errinfo *reterr)
{
    int fd = -1;
    uint64_t size = 0;
    enum err e = file_sys_open_regular(path, O_RDONLY, &fd, &size, reterr);
    if (e != ERR_OK) {
        return e;
    }
    struct stat st;
    ssize_t n = 0;
    if (fstat(fd, &st) != 0) {
        e = file_sys_fail(reterr, path, "cannot examine the key file");
    } else if (st.st_mode & MODE_REFUSED) {
        e = errinfo_set(reterr, ERR_DENIED, path, 0,
                        "the rights %03o let others read or change this secret key; "
                        "set them with: chmod 640",
                        (unsigned)st.st_mode & 0777u);
    } else if (size >= KEY_FILE_MAX) {
        e = errinfo_set(reterr, ERR_LIMIT, path, 0,
                        "the key file is larger than %d bytes", KEY_FILE_MAX - 1);
    } else {
        n = file_sys_read(fd, text, KEY_FILE_MAX);
        if (n < 0) {
            e = file_sys_fail(reterr, path, "cannot read the key file");
        }
    }
    (void)close(fd);
    *retn = n > 0 ? (size_t)n : 0;
    return e;
}

void keyring_key_of(const uint8_t bytes[HASHKEY_BYTES], struct hashkey *ret)
{
    memcpy(ret->bytes, bytes, HASHKEY_BYTES);
    key_id(ret);
}

static enum err parse_key(struct slice line, unsigned number, const char *path,
                          struct hashkey *ret, struct errinfo *reterr)
{
    size_t n = 0;
    if (line.n != KEY_HEX ||
        sodium_hex2bin(ret->bytes, HASHKEY_BYTES, line.p, line.n, NULL, &n, NULL) !=
            0 ||
        n != HASHKEY_BYTES) {
        return errinfo_set(reterr, ERR_SYNTAX, path, number,
                           "a key is %d hexadecimal digits on a line of its own",
                           KEY_HEX);
    }
    key_id(ret);
    return ERR_OK;
}

/* Between 1 and max keys from the file. */
static enum err parse_keys(struct slice text, const char *path, unsigned max,
                           struct hashkey *ret, unsigned *retn, struct errinfo *reterr)
{
    unsigned number = 0;
    unsigned n = 0;
    while (text.p) {
        struct slice line = slice_trim(slice_cut(&text, '\n'));
        number++;
        if (line.n == 0 || line.p[0] == '#') {
            continue;
        }
        if (n == max) {
            return errinfo_set(reterr, ERR_LIMIT, path, number,
                               "more than %u key%s in this file; remove the oldest",
                               max, max == 1 ? "" : "s");
        }
        enum err e = parse_key(line, number, path, &ret[n], reterr);
        if (e != ERR_OK) {
            return e;
        }
        for (unsigned i = 0; i < n; i++) {
            if (ret[i].id == ret[n].id) {
                return errinfo_set(reterr, ERR_EXISTS, path, number,
                                   "this key is in the file already; remove one");
            }
        }
        n++;
    }
    if (n == 0) {
        return errinfo_set(reterr, ERR_SYNTAX, path, 0,
                           "no key in this file; restore it from a copy (lists made "
                           "with the lost key cannot be used without it)");
    }
    *retn = n;
    return ERR_OK;
}

static enum err load_file(const char *path, unsigned max, struct hashkey *ret,
                          unsigned *retn, struct errinfo *reterr)
{
    char text[KEY_FILE_MAX];
    size_t n = 0;
    enum err e = read_key_file(path, text, &n, reterr);
    THEN(e, parse_keys(slice_of(text, n), path, max, ret, retn, reterr));
    sodium_memzero(text, sizeof(text));
    return e;
}

static enum err key_paths(const char *state_dir, char ring[FILE_PATH_MAX],
                          char node[FILE_PATH_MAX], struct errinfo *reterr)
{
    enum err e = path_make(ring, reterr, "%s/keys/digest.key", state_dir);
    return THEN(e, path_make(node, reterr, "%s/keys/filter.key", state_dir));
}

enum err keyring_load(const char *state_dir, struct keyring *ret,
                      struct errinfo *reterr)
{
    char ring[FILE_PATH_MAX];
    char node[FILE_PATH_MAX];
    struct keyring k = {.n = 0};
    unsigned nnode = 0;
    enum err e = key_paths(state_dir, ring, node, reterr);
    THEN(e, load_file(ring, KEYRING_MAX, k.ring, &k.n, reterr));
    THEN(e, load_file(node, 1, &k.node, &nnode, reterr));
    if (e == ERR_OK) {
        *ret = k;
    }
    sodium_memzero(&k, sizeof(k));
    return e;
}

/* Fills a new temporary file with one random key, durably. False: errno. */
static bool write_temp_key(int fd, const char *comment)
{
    uint8_t key[HASHKEY_BYTES];
    char hex[KEY_HEX + 1];
    random_bytes(key, sizeof(key));
    sodium_bin2hex(hex, sizeof(hex), key, sizeof(key));
    hex[KEY_HEX] = '\n';
    const bool is_written = file_write_all(fd, slice_str(comment)) &&
                            file_write_all(fd, slice_of(hex, sizeof(hex))) &&
                            fchmod(fd, KEY_MODE) == 0 && fsync(fd) == 0;
    sodium_memzero(key, sizeof(key));
    sodium_memzero(hex, sizeof(hex));
    return is_written;
}

/* Makes the file with a random key unless it exists. link() never replaces a file: of two processes
 * one wins, and both then read its key. */
static enum err create_file(const char *path, const char *comment,
                            struct errinfo *reterr)
{
    char temp[FILE_PATH_MAX];
    struct stat st;
    if (lstat(path, &st) == 0) {
        return ERR_OK;
    }
    uint64_t name = 0;
    random_bytes(&name, sizeof(name));
    enum err e = path_make(temp, reterr, "%s.%016" PRIx64 FILE_TEMP_SUFFIX, path, name);
    if (e != ERR_OK) {
        return e;
    }
    int fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        return file_sys_fail(reterr, path, "cannot make the key file");
    }
    if (!write_temp_key(fd, comment)) {
        e = file_sys_fail(reterr, path, "cannot write the key file");
    } else if (link(temp, path) != 0 && errno != EEXIST) {
        e = file_sys_fail(reterr, path, "cannot put the key file in place");
    }
    (void)close(fd);
    (void)unlink(temp);
    return e;
}

enum err keyring_load_or_create(const char *state_dir, struct keyring *ret,
                                struct errinfo *reterr)
{
    char ring[FILE_PATH_MAX];
    char node[FILE_PATH_MAX];
    char dir[FILE_PATH_MAX];
    enum err e = statedir_check(state_dir, reterr);
    if (e != ERR_OK) {
        return e;
    }
    e = keyring_load(state_dir, ret, reterr);
    if (e != ERR_NOT_FOUND) {
        return e;
    }
    e = key_paths(state_dir, ring, node, reterr);
    THEN(e, path_make(dir, reterr, "%s/keys", state_dir));
    THEN(e, statedir_make(state_dir, reterr));
    THEN(e, file_make_dir(dir, KEY_DIR_MODE, reterr));
    THEN(e, create_file(ring, "# digest key of this gillnet installation: secret\n",
                        reterr));
    THEN(e, create_file(node, "# filter key of this server: secret, stays here\n",
                        reterr));
    THEN(e, file_sync_dir(dir, reterr));
    THEN(e, file_sync_dir(state_dir, reterr));
    return THEN(e, keyring_load(state_dir, ret, reterr));
}

/* For the reader of the file: gillnetd may be another user than the one who writes. */
static enum err keep_owner(int fd, const char *path, struct errinfo *reterr)
{
    struct stat st;
    if (geteuid() == 0 && stat(path, &st) == 0 &&
        fchown(fd, st.st_uid, st.st_gid) != 0) {
        return file_sys_fail(reterr, path, "cannot give the key file to its user");
    }
    return ERR_OK;
}

enum err keyring_store_ring(const char *state_dir, const struct hashkey *v, unsigned n,
                            struct errinfo *reterr)
{
    static const char comment[] =
        "# digest keys of this gillnet installation: secret; the first is used for what is "
        "new\n";
    char path[FILE_PATH_MAX];
    char node[FILE_PATH_MAX];
    char hex[KEY_HEX + 1];
    struct file_out out;
    enum err e = key_paths(state_dir, path, node, reterr);
    if (e == ERR_OK && (n == 0 || n > KEYRING_MAX)) {
        e = errinfo_set(reterr, ERR_RANGE, path, 0, "there can be 1 to %d digest keys",
                        KEYRING_MAX);
    }
    THEN(e, file_out_open(&out, path, KEY_MODE, reterr));
    if (e != ERR_OK) {
        return e;
    }
    e = keep_owner(out.fd, path, reterr);
    if (e != ERR_OK) {
        file_out_abort(&out);
        return e;
    }
    file_out_add(&out, slice_str(comment));
    for (unsigned i = 0; i < n; i++) {
        sodium_bin2hex(hex, sizeof(hex), v[i].bytes, HASHKEY_BYTES);
        hex[KEY_HEX] = '\n';
        file_out_add(&out, slice_of(hex, sizeof(hex)));
    }
    sodium_memzero(hex, sizeof(hex));
    return file_out_commit(&out, reterr);
}

const struct hashkey *keyring_find(const struct keyring *k, uint32_t id)
{
    for (unsigned i = 0; i < k->n && i < KEYRING_MAX; i++) {
        if (k->ring[i].id == id) {
            return &k->ring[i];
        }
    }
    return NULL;
}

void keyring_derive(const struct hashkey *key, const char *purpose, uint64_t number,
                    uint8_t ret[KEYRING_DERIVED_BYTES])
{
    crypto_generichash_state state;
    uint8_t le[8];
    for (size_t i = 0; i < sizeof(le); i++) {
        le[i] = (uint8_t)(number >> (8 * i));
    }
    (void)crypto_generichash_init(&state, key->bytes, HASHKEY_BYTES,
                                  KEYRING_DERIVED_BYTES);
    (void)crypto_generichash_update(&state, le, sizeof(le));
    (void)crypto_generichash_update(&state, (const uint8_t *)purpose, strlen(purpose));
    (void)crypto_generichash_final(&state, ret, KEYRING_DERIVED_BYTES);
}
