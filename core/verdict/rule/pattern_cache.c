/* pattern_cache - the file of compiled patterns. */
#include "core/verdict/rule/pattern_cache.h"

#include "core/base/cursor.h"
#include "core/base/file.h"
#include "core/base/keyring.h"

enum { CACHE_MODE = 0640 };

struct pattern_cache {
    size_t n;
    char bytes[]; /* the file */
};

/* ---- the sum ---- */

/* A prefix is a sound key for BLAKE2b. False: there are no keys. */
static bool keyed_sum(const char *state_dir, struct slice entries, struct hash256 *ret)
{
    struct keyring keys;
    uint8_t key[KEYRING_DERIVED_BYTES];

    if (keyring_load(state_dir, &keys, NULL) != ERR_OK) {
        return false;
    }
    keyring_derive(&keys.ring[0], PATTERN_CACHE_FILE, 0, key);
    const struct slice parts[] = {slice_of(key, sizeof(key)), entries};
    hash256_make(parts, LENGTH(parts), ret);
    return true;
}

/* ---- reading ---- */

/* Who wrote it could do all that we can. */
static bool is_of_friend(const struct stat *st)
{
    return S_ISREG(st->st_mode) && (st->st_uid == 0 || st->st_uid == geteuid()) &&
           (st->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

static struct pattern_cache *read_cache(int fd)
{
    struct pattern_cache *c = NULL;
    struct stat st;

    if (fstat(fd, &st) == 0 && is_of_friend(&st) && st.st_size >= HASH256_BYTES &&
        st.st_size <= PATTERN_CACHE_MAX) {
        c = malloc(sizeof(*c) + (size_t)st.st_size);
    }
    if (c != NULL) {
        c->n = (size_t)st.st_size;
        if (file_read_at(fd, 0, c->bytes, c->n) != c->n) {
            free(c);
            return NULL;
        }
    }
    return c;
}

static struct slice entries_of(const struct pattern_cache *c)
{
    return slice_from(slice_of(c->bytes, c->n), HASH256_BYTES);
}

struct pattern_cache *pattern_cache_read(const char *state_dir)
{
    struct pattern_cache *c = NULL;
    char path[FILE_PATH_MAX];
    struct hash256 is;
    struct hash256 said;
    int fd = -1;

    if (file_path(path, "%s/" PATTERN_CACHE_FILE, state_dir) == ERR_OK) {
        fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    }
    if (fd >= 0) {
        c = read_cache(fd);
        fd_close(&fd);
    }
    if (c != NULL) {
        memcpy(said.b, c->bytes, sizeof(said.b));
        if (!keyed_sum(state_dir, entries_of(c), &is) || !hash256_equal(&is, &said)) {
            pattern_cache_free(&c);
        }
    }
    return c;
}

void pattern_cache_free(struct pattern_cache **c)
{
    free(*c);
    *c = NULL;
}

struct slice pattern_cache_find(const struct pattern_cache *c,
                                const struct hash256 *name)
{
    struct cursor at = cursor_of(c != NULL ? entries_of(c) : slice_of(NULL, 0));

    while (!cursor_done(&at) && cursor_ok(&at)) {
        struct slice has = cursor_bytes(&at, HASH256_BYTES);
        struct slice bytes = cursor_bytes(&at, cursor_u32(&at));

        if (cursor_ok(&at) && slice_eq(has, slice_of(name->b, sizeof(name->b)))) {
            return bytes;
        }
    }
    return slice_of(NULL, 0);
}

/* ---- writing ---- */

void pattern_cache_add(struct buf *entries, const struct hash256 *name,
                       struct slice bytes)
{
    buf_add(entries, slice_of(name->b, sizeof(name->b)));
    buf_add_u32(entries, (uint32_t)bytes.n);
    buf_add(entries, bytes);
}

/* A file of root's is not given to the folder's owner, whom root does not trust; his group may
 * read it. */
static bool keep_owner(int fd, const char *state_dir)
{
    struct stat st;

    return geteuid() != 0 ||
           (stat(state_dir, &st) == 0 && fchown(fd, 0, st.st_gid) == 0);
}

bool pattern_cache_write(const char *state_dir, struct slice entries)
{
    struct file_out out;
    struct hash256 sum;
    char path[FILE_PATH_MAX];

    if (file_path(path, "%s/" PATTERN_CACHE_FILE, state_dir) != ERR_OK ||
        !keyed_sum(state_dir, entries, &sum) ||
        file_out_open(&out, path, CACHE_MODE, NULL) != ERR_OK) {
        return false;
    }
    if (!keep_owner(out.fd, state_dir)) {
        file_out_abort(&out);
        return false;
    }
    file_out_add(&out, slice_of(sum.b, sizeof(sum.b)));
    file_out_add(&out, entries);
    return file_out_commit(&out, NULL) == ERR_OK;
}
