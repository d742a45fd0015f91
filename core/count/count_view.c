/* count_view - another process's look at the counts on disk. */

#include "core/base/clock.h"
#include "core/count/count_internal.h"

const char *count_window_name(unsigned w)
{
    static const char *const names[COUNT_WINDOWS] = {"10m", "1h", "1d", "14d"};

    return w < COUNT_WINDOWS ? names[w] : "unknown";
}

struct count_view {
    char dir[FILE_PATH_MAX];
    struct keyring keys;
    struct runset *runset;
    struct remote *remote;
    struct shared_totals *shared; /* NULL: none */
};

enum err count_view_open(const char *state_dir, const struct keyring *keys,
                         bool has_store, struct count_view **ret,
                         struct errinfo *reterr)
{
    char runs[FILE_PATH_MAX];
    struct count_view *v = calloc(1, sizeof(*v));

    if (v == NULL) {
        return errinfo_nomem(reterr, state_dir);
    }
    v->keys = *keys;
    enum err e = path_make(v->dir, reterr, "%s/counts", state_dir);
    THEN(e, path_make(runs, reterr, "%s/runs", v->dir));
    if (e == ERR_OK && access(runs, F_OK) != 0) {
        e = errinfo_set(reterr, ERR_NOT_FOUND, runs, 0, "nothing was counted yet");
    }
    THEN(e, runset_open(runs, NULL, NULL, &v->runset, reterr));
    THEN(e, remote_open(state_dir, keys, &v->remote, reterr));
    if (e != ERR_OK) {
        count_view_close(&v);
        return e;
    }
    if (has_store) { /* without the file, or the store, there are no totals */
        (void)shared_totals_open(state_dir, keys->ring[0].id, &v->shared, NULL);
    }
    *ret = v;
    return ERR_OK;
}

void count_view_close(struct count_view **v)
{
    if (*v != NULL) {
        runset_close(&(*v)->runset);
        remote_close(&(*v)->remote);
        shared_totals_close(&(*v)->shared);
        free(*v);
        *v = NULL;
    }
}

void count_view_exact(struct count_view *v, const struct digest digest[KEYRING_MAX],
                      struct count_history *ret)
{
    const struct count_keys k = count_keys_of(&v->keys, digest);
    uint64_t count = 0;
    uint64_t start_s = 0;
    struct errinfo why = {.code = ERR_OK};

    /* a bucket that becomes a run between the two is missed by one look, not seen twice */
    enum err e = live_peek(v->dir, k.key[0], &count, &start_s, &why);
    uint64_t now = clock_wall_us() / 1000000 / COUNT_BUCKET_S;
    if (e == ERR_OK && start_s / COUNT_BUCKET_S > now) {
        now = start_s / COUNT_BUCKET_S;
    }
    runset_history(v->runset, k.key, k.id, k.n, now, ret);
    if (e == ERR_OK && count > 0) {
        count_history_add(ret, start_s, count);
    }
}

void count_view_shares(struct count_view *v, const struct digest digest[KEYRING_MAX],
                       struct count_breakdown *ret)
{
    if (!count_breakdown_init(ret, 0)) {
        return;
    }
    const struct count_keys k = count_keys_of(&v->keys, digest);
    count_view_exact(v, digest, &ret->v[0].history);
    uint64_t now = ret->v[0].history.now;
    remote_refresh(v->remote, now, NULL, NULL);
    remote_ask(v->remote, k.key, k.id, k.n, now, ret);
    count_shared_add(v->shared, &k, ret);
}
