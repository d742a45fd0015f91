/*
 * peerlist_files - one folder for each origin, a few lists open at a time.
 */
#include "core/base/dir_walk.h"
#include "core/list/files.h"
#include "core/list/peer_filter.h"
#include "core/ring/sync/peerlist_internal.h"

enum {
    OWNER_BYTES = 12, /* incarnation and key */
    OWNER_TEXT_MAX = 128,
    LOG_RECORD_BYTES = 48, /* of an entry in the log, about */
    LOG_TIMES = 4          /* as much log as entries need is kept beside the slack */
};
#define OWNER_MAGIC "gillnet-peer-list 1 "

/* Each side has its own names for unfinished work, so neither removes the other's. */
static const char renew_ring[] = "renew";
static const char drop_ring[] = ".drop-";
static const char renew_subscribed[] = "renew-subscribed";
static const char drop_subscribed[] = ".subscribed-drop-";

/* ---- paths ---- */

enum err origin_path(const struct peerlists *p, const struct object_id *origin,
                     char ret[FILE_PATH_MAX], struct errinfo *reterr)
{
    return path_make(ret, reterr, "%s/%s", p->dir, object_id_hex(origin).digits);
}

/* ---- the stream in a folder ---- */

static const char *owner_suffix(uint16_t kind)
{
    return kind == OBJECT_MEMBER           ? "spam"
           : kind == OBJECT_MEMBER_REVOKED ? "revoked"
                                           : "entries";
}

static enum err owner_path(const struct peerlists *p, const struct stream_key *k,
                           char ret[FILE_PATH_MAX], struct errinfo *reterr)
{
    return path_make(ret, reterr, "%s/%s/%s.%s", p->dir,
                     object_id_hex(&k->origin).digits, k->list, owner_suffix(k->kind));
}

bool owner_is(const struct owner *o, const struct stream_key *k)
{
    return o->is_there && o->inc == k->inc && o->ring_key == k->ring_key;
}

enum err owner_read(const struct peerlists *p, const struct stream_key *k,
                    struct owner *ret, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    uint8_t bytes[OWNER_BYTES];
    struct buf text;
    *ret = (struct owner){.is_there = false};
    enum err e = owner_path(p, k, path, reterr);
    if (e != ERR_OK) {
        return e;
    }
    buf_init(&text, OWNER_TEXT_MAX);
    e = file_read(path, &text, reterr);
    struct slice s = slice_trim(buf_slice(&text));
    struct slice magic = SLICE_LIT(OWNER_MAGIC);
    if (e == ERR_OK && slice_has_prefix(s, magic) &&
        hex_parse(slice_from(s, magic.n), bytes, OWNER_BYTES)) {
        ret->is_there = true;
        memcpy(&ret->inc, bytes, sizeof(ret->inc));
        memcpy(&ret->ring_key, bytes + sizeof(ret->inc), sizeof(ret->ring_key));
    }
    buf_fini(&text);
    /* a malformed file was never written whole: the next object replaces the list */
    return e == ERR_NOT_FOUND ? ERR_OK : e;
}

enum err owner_write(const struct peerlists *p, const struct stream_key *k,
                     struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    char hex[2 * OWNER_BYTES + 1];
    uint8_t bytes[OWNER_BYTES];
    struct buf text;
    enum err e = owner_path(p, k, path, reterr);
    if (e != ERR_OK) {
        return e;
    }
    memcpy(bytes, &k->inc, sizeof(k->inc));
    memcpy(bytes + sizeof(k->inc), &k->ring_key, sizeof(k->ring_key));
    hex_print(bytes, OWNER_BYTES, hex);
    buf_init(&text, OWNER_TEXT_MAX);
    buf_printf(&text, OWNER_MAGIC "%s\n", hex);
    e = file_write_atomic(path, buf_slice(&text), LIST_FILE_MODE, reterr);
    buf_fini(&text);
    return e;
}

enum err peerlist_forget(struct peerlists *p, const struct stream_key *k,
                         struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = owner_path(p, k, path, reterr);
    if (e == ERR_OK && unlink(path) != 0 && errno != ENOENT) {
        e = errinfo_errno(reterr, path, "cannot remove");
    }
    return e;
}

static unsigned count_lists(const char *folder)
{
    char path[FILE_PATH_MAX];
    unsigned n = 0;
    if (path_make(path, NULL, "%s/lists", folder) != ERR_OK) {
        return 0;
    }
    struct dir_walk w = dir_walk_begin(path, DIR_OPTIONAL);
    while (dir_walk_next(&w)) {
        n += list_name_is_valid(slice_str(w.name));
    }
    (void)dir_walk_end(&w, ERR_OK, NULL);
    return n;
}

enum err owner_may_become(const struct peerlists *p, const struct owner *o,
                          const struct stream_key *k, struct errinfo *reterr)
{
    char folder[FILE_PATH_MAX];
    char list[FILE_PATH_MAX];
    if (o->is_there && k->inc < o->inc) {
        return errinfo_set(reterr, ERR_RANGE, k->list, 0,
                           "a newer incarnation of the list is held");
    }
    enum err e = origin_path(p, &k->origin, folder, reterr);
    if (e == ERR_OK &&
        path_make(list, NULL, "%s/lists/%s", folder, k->list) == ERR_OK &&
        access(list, F_OK) != 0 && count_lists(folder) >= PEERLIST_LISTS_MAX) {
        e = errinfo_set(reterr, ERR_LIMIT, k->list, 0,
                        "the origin has %d lists already, as many as it may",
                        PEERLIST_LISTS_MAX);
    }
    return e;
}

/* ---- open lists ---- */

void held_settle(const struct peerlists *p, const struct held *h)
{
    if (p->pinned == h && p->wait) {
        p->wait(p->wait_context);
    }
}

void held_close(struct held *h)
{
    list_writer_close(&h->w);
    *h = (struct held){.w = NULL};
}

static struct held *held_find(struct peerlists *p, const struct stream_key *k)
{
    for (unsigned i = 0; i < PEERLIST_OPEN_MAX; i++) {
        struct held *h = &p->held[i];
        if (h->w && object_id_equal(&h->origin, &k->origin) &&
            strcmp(h->list, k->list) == 0) {
            return h;
        }
    }
    return NULL;
}

/* A free place. If there is none, the list that was unused for longest is closed. */
static struct held *held_place(struct peerlists *p)
{
    struct held *oldest = &p->held[0];
    for (unsigned i = 0; i < PEERLIST_OPEN_MAX && oldest->w; i++) {
        if (!p->held[i].w || p->held[i].used < oldest->used) {
            oldest = &p->held[i];
        }
    }
    held_settle(p, oldest);
    held_close(oldest);
    return oldest;
}

static enum err list_remove(const char *folder, const char *list,
                            struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = path_make(path, reterr, "%s/lists/%s", folder, list);
    return e == ERR_OK ? file_remove_tree(path, reterr) : e;
}

static enum err held_make(struct peerlists *p, const struct stream_key *k,
                          struct held *h, struct errinfo *reterr)
{
    char folder[FILE_PATH_MAX];
    struct slice list = slice_str(k->list);
    struct list_writer *w = NULL;
    enum err e = origin_path(p, &k->origin, folder, reterr);
    THEN(e, file_make_dir(folder, LIST_DIR_MODE, reterr));
    THEN(e, mirror_open(folder, list, p->keys, k->ring_key, &w, reterr));
    bool is_foreign = w ? list_writer_key(w) != k->ring_key
                        : e == ERR_KEY && keyring_find(p->keys, k->ring_key);
    if (is_foreign) { /* its key is gone, so its digests are useless */
        list_writer_close(&w);
        e = list_remove(folder, k->list, reterr);
        THEN(e, mirror_open(folder, list, p->keys, k->ring_key, &w, reterr));
    }
    if (e == ERR_OK) {
        h->w = w;
        h->origin = k->origin;
        memcpy(h->list, k->list, sizeof(h->list));
    }
    return e;
}

enum err held_open(struct peerlists *p, const struct stream_key *k, struct held **ret,
                   struct errinfo *reterr)
{
    struct held *h = held_find(p, k);
    enum err e = ERR_OK;
    if (h && list_writer_key(h->w) != k->ring_key) {
        held_settle(p, h);
        held_close(h);
        h = NULL;
    }
    if (!h) {
        h = held_place(p);
        e = held_make(p, k, h, reterr);
    }
    if (e == ERR_OK) {
        h->used = ++p->clock;
        *ret = h;
    }
    return e;
}

/* ---- rewriting a list ---- */

static bool walk_step(void *context, struct mirror_entry *ret)
{
    enum err e = ERR_OK;
    return mirror_iter_next(context, ret, &e);
}

/* Links the filter into the new list; the old list is removed later. */
static enum err copy_filter(const struct list_writer *from, struct list_writer *to,
                            const char *folder, bool is_revoked, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    char temp[FILE_PATH_MAX];
    enum err e = list_member_path(from, is_revoked, path, reterr);
    if (e == ERR_NOT_FOUND) {
        return ERR_OK;
    }
    THEN(e, path_make(temp, reterr, "%s/filter", folder));
    if (e == ERR_OK && link(path, temp) != 0) {
        e = errinfo_errno(reterr, temp, "cannot link a peer's filter");
    }
    return e == ERR_OK ? list_member_replace(to, is_revoked, temp, reterr) : e;
}

static enum err renew_into(struct peerlists *p, struct held *h, const char *folder,
                           const char *name, struct errinfo *reterr)
{
    struct list_writer *fresh = NULL;
    struct mirror_iter *walk = NULL;
    char source[LIST_SOURCE_MAX];
    (void)snprintf(source, sizeof(source), "peer:%s", name);
    enum err e = mirror_open(folder, slice_str(h->list), p->keys, list_writer_key(h->w),
                             &fresh, reterr);
    THEN(e, mirror_iter_new(h->w, &walk, reterr));
    THEN(e, mirror_apply(fresh, walk_step, walk, mirror_count(h->w), slice_str(source),
                         reterr));
    if (e == ERR_OK && mirror_count(fresh) != mirror_count(h->w)) {
        e = errinfo_set(reterr, ERR_CORRUPT, folder, 0, "a peer's list is damaged");
    }
    for (int revoked = 0; e == ERR_OK && revoked < 2; revoked++) {
        e = copy_filter(h->w, fresh, folder, revoked, reterr);
    }
    mirror_iter_free(&walk);
    list_writer_close(&fresh);
    return e;
}

enum err held_renew(struct peerlists *p, struct held *h, const char *name,
                    struct errinfo *reterr)
{
    char folder[FILE_PATH_MAX];
    char renew[FILE_PATH_MAX];
    char fresh[FILE_PATH_MAX];
    char place[FILE_PATH_MAX];
    h->changes = 0;
    uint64_t needs = mirror_count(h->w) * LOG_RECORD_BYTES * LOG_TIMES;
    if (list_writer_log_bytes(h->w) <= needs + PEERLIST_LOG_SLACK) {
        return ERR_OK;
    }
    enum err e = origin_path(p, &h->origin, folder, reterr);
    THEN(e, path_make(renew, reterr, "%s/%s", folder, p->renew));
    THEN(e, path_make(fresh, reterr, "%s/lists/%s", renew, h->list));
    THEN(e, path_make(place, reterr, "%s/lists/%s", folder, h->list));
    THEN(e, file_remove_tree(renew, reterr));
    THEN(e, file_make_dir(renew, LIST_DIR_MODE, reterr));
    THEN(e, renew_into(p, h, renew, name, reterr));
    if (e == ERR_OK) {
        held_close(h);
        e = file_exchange(fresh, place, reterr);
    }
    enum err removed = file_remove_tree(renew, e == ERR_OK ? reterr : NULL);
    return e == ERR_OK ? removed : e;
}

/* ---- begin and end ---- */

/* Removes the remains of a removal or of a rewritten list after a crash. */
static enum err sweep_lists(const struct peerlists *p, const char *dir,
                            struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = ERR_OK;
    struct dir_walk w = dir_walk_begin(dir, DIR_NEEDED);
    while (e == ERR_OK && dir_walk_next(&w)) {
        struct slice name = slice_str(w.name);
        bool is_dropped = slice_has_prefix(name, slice_str(p->drop));
        bool is_origin = name.n == 2 * (size_t)OBJECT_ID_BYTES;
        if (is_dropped || is_origin) {
            e = is_dropped ? path_make(path, reterr, "%s/%s", dir, w.name)
                           : path_make(path, reterr, "%s/%s/%s", dir, w.name, p->renew);
            THEN(e, file_remove_tree(path, reterr));
        }
    }
    return dir_walk_end(&w, e, reterr);
}

static enum err open_as(bool is_subscribed, const char *dir, const struct keyring *keys,
                        struct peerlists **ret, struct errinfo *reterr)
{
    struct peerlists *p = calloc(1, sizeof(*p));
    if (!p) {
        return errinfo_nomem(reterr, dir);
    }
    p->keys = keys;
    p->renew = is_subscribed ? renew_subscribed : renew_ring;
    p->drop = is_subscribed ? drop_subscribed : drop_ring;
    enum err e = path_make(p->dir, reterr, "%s", dir);
    THEN(e, file_make_dir(dir, LIST_DIR_MODE, reterr));
    THEN(e, sweep_lists(p, dir, reterr));
    if (e != ERR_OK) {
        peerlists_close(&p);
        return e;
    }
    *ret = p;
    return ERR_OK;
}

enum err peerlists_open(const char *dir, const struct keyring *keys,
                        struct peerlists **ret, struct errinfo *reterr)
{
    return open_as(false, dir, keys, ret, reterr);
}

enum err peerlists_open_subscribed(const char *dir, const struct keyring *keys,
                                   struct peerlists **ret, struct errinfo *reterr)
{
    return open_as(true, dir, keys, ret, reterr);
}

void peerlists_wait_by(struct peerlists *p, peerlist_wait_fn *wait, void *context)
{
    p->wait = wait;
    p->wait_context = context;
}

void peerlists_close(struct peerlists **p)
{
    if (*p) {
        for (unsigned i = 0; i < PEERLIST_OPEN_MAX; i++) {
            held_close(&(*p)->held[i]);
        }
        free((*p)->guarded);
        free(*p);
    }
    *p = NULL;
}

enum err peerlists_guard(struct peerlists *p, const struct digest *v, size_t n)
{
    struct digest *copy = calloc(n + 1, sizeof(*copy));
    if (!copy) {
        return ERR_NOMEM;
    }
    if (n > 0) {
        memcpy(copy, v, n * sizeof(*copy));
    }
    free(p->guarded);
    p->guarded = copy;
    p->nguarded = n;
    return ERR_OK;
}

enum err peerlists_drop(struct peerlists *p, const struct object_id *origin,
                        struct errinfo *reterr)
{
    char folder[FILE_PATH_MAX];
    char gone[FILE_PATH_MAX];
    for (unsigned i = 0; i < PEERLIST_OPEN_MAX; i++) {
        if (p->held[i].w && object_id_equal(&p->held[i].origin, origin)) {
            held_settle(p, &p->held[i]);
            held_close(&p->held[i]);
        }
    }
    enum err e = origin_path(p, origin, folder, reterr);
    THEN(e, path_make(gone, reterr, "%s/%s%s", p->dir, p->drop,
                      object_id_hex(origin).digits));
    THEN(e, file_remove_tree(gone, reterr));
    if (e != ERR_OK) {
        return e;
    }
    if (rename(folder, gone) != 0) { /* it disappears for readers at once */
        return errno == ENOENT
                   ? ERR_OK
                   : errinfo_errno(reterr, folder, "cannot remove what a peer listed");
    }
    e = file_sync_dir(p->dir, reterr);
    return e == ERR_OK ? file_remove_tree(gone, reterr) : e;
}
