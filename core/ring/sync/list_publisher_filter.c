/* list_publisher_filter - filters of own lists, and names that peers' filters may not hold. */

#include "core/list/peer_filter.h"
#include "core/message/feature/feature.h"
#include "core/ring/sync/list_publisher_internal.h"

static uint16_t filter_kind(bool is_revoked)
{
    return is_revoked ? OBJECT_MEMBER_REVOKED : OBJECT_MEMBER;
}

/* ---- one filter ---- */

static enum err publish_file(struct list_publisher *x, const struct shared_list *l,
                             bool is_revoked, const char *path, struct errinfo *reterr)
{
    struct buf file;
    buf_init(&file, OBJECT_SNAP_MAX);
    enum err e = file_read(path, &file, reterr);
    THEN(e,
         sync_publish_member(x->sync, l->name, is_revoked, buf_slice(&file), reterr));
    buf_fini(&file);
    return e;
}

/* of: the list's reader; NULL: an empty filter. */
static enum err publish_filter(struct list_publisher *x, const struct shared_list *l,
                               const struct list_reader *of, bool is_revoked,
                               struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    uint64_t entries = 0;
    enum err e =
        path_make(path, reterr, "%s/peers/lists/.share" FILE_TEMP_SUFFIX, x->state_dir);
    THEN(e, of ? list_member_make(of, is_revoked, path, &entries, reterr)
               : list_member_empty(&x->keys->ring[0], is_revoked, path, reterr));
    THEN(e, publish_file(x, l, is_revoked, path, reterr));
    (void)unlink(path);
    return e;
}

/* Time and number of entries of the published filter. False: no filter is published. */
static bool look_at_filter(struct list_publisher *x, const struct shared_list *l,
                           bool is_revoked, uint64_t *retcreated_s,
                           uint64_t *retentries)
{
    struct stream_key k;
    return sync_own_stream(x->sync, filter_kind(is_revoked), l->name, &k) &&
           peermember_peek(sync_lists(x->sync), &k, retcreated_s, retentries, NULL) ==
               ERR_OK;
}

/* Whether the published filter is newer than the list; only this tells it after a start. */
static bool is_known(struct list_publisher *x, const struct shared_list *l,
                     bool is_revoked)
{
    uint64_t created_s = 0;
    uint64_t entries = 0;
    return look_at_filter(x, l, is_revoked, &created_s, &entries) &&
           created_s > l->seen.updated_s;
}

static enum err give_filters(struct list_publisher *x, struct shared_list *l,
                             struct errinfo *reterr)
{
    enum err e = ERR_OK;
    for (int revoked = 0; e == ERR_OK && revoked < 2; revoked++) {
        struct stream_key k;
        uint64_t totals[2];
        list_reader_totals(l->reader, &totals[0], &totals[1]);
        bool is_needed = !revoked || totals[1] > 0 ||
                         sync_own_stream(x->sync, filter_kind(true), l->name, &k);
        bool is_first = !l->has_published[revoked];
        if (is_needed && !(is_first && is_known(x, l, revoked))) {
            e = publish_filter(x, l, l->reader, revoked, reterr);
        }
        l->has_published[revoked] = e == ERR_OK;
    }
    l->filter_s = x->now_s + LIST_PUBLISHER_FILTER_S;
    l->is_dirty = l->is_dirty && e != ERR_OK;
    return e;
}

/* They are no longer shared: publishes empty ones in their place, once. */
static enum err take_filters(struct list_publisher *x, struct shared_list *l,
                             struct errinfo *reterr)
{
    enum err e = ERR_OK;
    for (int revoked = 0; e == ERR_OK && revoked < 2; revoked++) {
        uint64_t created_s = 0;
        uint64_t entries = 0;
        if (look_at_filter(x, l, revoked, &created_s, &entries) && entries > 0) {
            e = publish_filter(x, l, NULL, revoked, reterr);
        }
    }
    return e;
}

enum err list_publisher_filters(struct list_publisher *x, struct shared_list *l,
                                struct errinfo *reterr)
{
    if (!l->wants_filters || !l->reader) {
        return take_filters(x, l, reterr);
    }
    if (!l->is_dirty || x->now_s < l->filter_s) {
        return ERR_OK;
    }
    return give_filters(x, l, reterr);
}

/* ---- protected names ---- */

static size_t add_names(const struct config_strings *names, const struct hashkey *key,
                        struct digest *ret)
{
    static const uint16_t types[] = {FEATURE_domain, FEATURE_host, FEATURE_address};
    size_t n = 0;
    for (size_t i = 0; i < names->n; i++) {
        for (size_t t = 0; t < LENGTH(types); t++) {
            digest_make(key, types[t], slice_str(names->v[i]), &ret[n++]);
        }
    }
    return n;
}

enum err list_publisher_guard(struct list_publisher *x, const struct config *config,
                              struct errinfo *reterr)
{
    const struct hashkey *key = &x->keys->ring[0];
    if (x->config == config && x->guard_key == key->id) {
        return ERR_OK;
    }
    size_t most = 3 * (config->protected_domains.n + config->allow_domains.n +
                       config->allow_addresses.n);
    struct digest *v = calloc(most + 1, sizeof(*v));
    enum err e = ERR_NOMEM;
    if (v) {
        size_t n = add_names(&config->protected_domains, key, v);
        n += add_names(&config->allow_domains, key, v + n);
        n += add_names(&config->allow_addresses, key, v + n);
        e = peerlists_guard(sync_lists(x->sync), v, n);
    }
    free(v);
    if (e != ERR_OK) {
        return errinfo_nomem(reterr, "protected");
    }
    config_release(&x->config);
    x->config = config_acquire(config);
    x->guard_key = key->id;
    return ERR_OK;
}
