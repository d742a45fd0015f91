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
};

enum err count_view_open(const char *state_dir, const struct keyring *keys,
                         struct count_view **ret, struct errinfo *reterr)
{
    char runs[FILE_PATH_MAX];
    struct count_view *v = calloc(1, sizeof(*v));

    if (v == NULL) {
        return errinfo_set(reterr, ERR_NOMEM, state_dir, 0, "out of memory");
    }
    v->keys = *keys;
    enum err e = file_path(v->dir, "%s/counts", state_dir);
    e = e != ERR_OK ? e : file_path(runs, "%s/runs", v->dir);
    if (e == ERR_OK && access(runs, F_OK) != 0) {
        e = errinfo_set(reterr, ERR_NOT_FOUND, runs, 0, "nothing was counted yet");
    }
    THEN(e, runset_open(runs, NULL, NULL, &v->runset, reterr));
    if (e != ERR_OK) {
        count_view_close(&v);
        return e;
    }
    e = remote_open(state_dir, keys, &v->remote, reterr);
    if (e != ERR_OK) {
        count_view_close(&v);
        return e;
    }
    *ret = v;
    return ERR_OK;
}

void count_view_close(struct count_view **v)
{
    if (*v != NULL) {
        runset_close(&(*v)->runset);
        remote_close(&(*v)->remote);
        free(*v);
        *v = NULL;
    }
}

void count_view_exact(struct count_view *v, const struct digest digest[KEYRING_MAX],
                      struct count_history *ret)
{
    uint64_t keys[KEYRING_MAX] = {0};
    uint32_t ids[KEYRING_MAX] = {0};
    uint64_t count = 0;
    uint64_t start_s = 0;
    struct errinfo why = {.code = ERR_OK};

    for (unsigned i = 0; i < v->keys.n; i++) {
        keys[i] = count_key64(&digest[i]);
        ids[i] = v->keys.ring[i].id;
    }
    /* a bucket that becomes a run between the two is missed by one look, not seen twice */
    enum err e = live_peek(v->dir, keys[0], &count, &start_s, &why);
    uint64_t now = clock_wall_us() / 1000000 / COUNT_BUCKET_S;
    if (e == ERR_OK && start_s / COUNT_BUCKET_S > now) {
        now = start_s / COUNT_BUCKET_S;
    }
    runset_history(v->runset, keys, ids, v->keys.n, now, ret);
    if (e == ERR_OK && count > 0) {
        count_history_add(ret, start_s, count);
    }
}

void count_view_shares(struct count_view *v, const struct digest digest[KEYRING_MAX],
                       struct count_breakdown *ret)
{
    uint64_t keys[KEYRING_MAX] = {0};
    uint32_t ids[KEYRING_MAX] = {0};

    if (!count_breakdown_init(ret, 0)) {
        return;
    }
    for (unsigned i = 0; i < v->keys.n; i++) {
        keys[i] = count_key64(&digest[i]);
        ids[i] = v->keys.ring[i].id;
    }
    count_view_exact(v, digest, &ret->v[0].history);
    uint64_t now = ret->v[0].history.now;
    remote_refresh(v->remote, now, NULL, NULL);
    remote_ask(v->remote, keys, ids, v->keys.n, now, ret);
}
