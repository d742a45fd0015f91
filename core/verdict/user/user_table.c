#include "core/verdict/user/user_table.h"

#include <pthread.h>
#include <sys/stat.h>

#include "core/base/file.h"
#include "core/store/table.h"

struct users_view {
    struct table *table;
    struct table_txn *txn;
    pthread_mutex_t use; /* guards: txn, which one thread may use at a time */
    size_t refs;         /* guarded by the lock of struct users */
    dev_t device;
    ino_t inode;
};

struct users {
    char dir[FILE_PATH_MAX];
    char file[FILE_PATH_MAX];
    pthread_mutex_t lock; /* guards: view and all refs */
    struct users_view *view;
};

static void view_free(struct users_view *v)
{
    if (v != NULL) {
        table_abort(&v->txn);
        table_close(&v->table);
        (void)pthread_mutex_destroy(&v->use);
        free(v);
    }
}

/* Takes away one reference. Returns the view if it was the last one. */
static struct users_view *drop(struct users_view *v)
{
    return v != NULL && --v->refs == 0 ? v : NULL;
}

struct users *users_new(const char *state_dir)
{
    struct users *u = calloc(1, sizeof(*u));

    if (u != NULL &&
        (path_make(u->dir, NULL, "%s/%s", state_dir, STATE_USERS_TABLE) != ERR_OK ||
         path_make(u->file, NULL, "%s/data.mdb", u->dir) != ERR_OK ||
         pthread_mutex_init(&u->lock, NULL) != 0)) {
        free(u);
        return NULL;
    }
    return u;
}

void users_free(struct users **u)
{
    if (*u != NULL) {
        view_free(drop((*u)->view));
        (void)pthread_mutex_destroy(&(*u)->lock);
        free(*u);
        *u = NULL;
    }
}

static enum err view_open(const struct users *u, const struct stat *st,
                          struct users_view **ret, struct errinfo *reterr)
{
    struct users_view *v = calloc(1, sizeof(*v));

    if (v == NULL || pthread_mutex_init(&v->use, NULL) != 0) {
        free(v);
        return errinfo_nomem(reterr, u->dir);
    }
    v->refs = 1;
    v->device = st->st_dev;
    v->inode = st->st_ino;
    enum err e = table_open(u->dir, false, USERS_TABLE_BYTES, &v->table, reterr);
    THEN(e, table_begin(v->table, false, &v->txn, reterr));
    if (e != ERR_OK) {
        view_free(v);
        return e;
    }
    *ret = v;
    return ERR_OK;
}

static bool is_newest(const struct users_view *now, const struct stat *st)
{
    return now != NULL && now->device == st->st_dev && now->inode == st->st_ino &&
           !table_is_damaged(now->table);
}

enum err users_refresh(struct users *u, struct errinfo *reterr)
{
    struct users_view *fresh = NULL;
    struct stat st;
    /* only this thread changes view */
    const struct users_view *now = u->view;
    bool is_there = stat(u->file, &st) == 0;

    if (!is_there && errno != ENOENT) {
        return errinfo_errno(reterr, u->file, "cannot read the settings of users");
    }
    if (is_there ? is_newest(now, &st) : now == NULL) {
        return ERR_OK;
    }
    enum err e = is_there ? view_open(u, &st, &fresh, reterr) : ERR_OK;
    if (e != ERR_OK) {
        return e;
    }
    (void)pthread_mutex_lock(&u->lock);
    struct users_view *old = drop(u->view);
    u->view = fresh;
    (void)pthread_mutex_unlock(&u->lock);
    view_free(old);
    return ERR_OK;
}

struct users_view *users_acquire(struct users *u)
{
    struct users_view *v = NULL;

    if (u == NULL) {
        return NULL;
    }
    (void)pthread_mutex_lock(&u->lock);
    v = u->view;
    if (v != NULL) {
        v->refs++;
    }
    (void)pthread_mutex_unlock(&u->lock);
    return v;
}

void users_release(struct users *u, struct users_view **view)
{
    if (*view == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&u->lock);
    struct users_view *last = drop(*view);
    (void)pthread_mutex_unlock(&u->lock);
    view_free(last);
    *view = NULL;
}

enum err users_find(struct users_view *view, struct slice name, struct slice *ret)
{
    (void)pthread_mutex_lock(&view->use);
    enum err e = table_get(view->txn, name, ret);
    (void)pthread_mutex_unlock(&view->use);
    return e == ERR_RANGE ? ERR_NOT_FOUND : e; /* too long for a key */
}

static bool count_entry(void *context, struct slice key, struct slice value,
                        bool is_damaged)
{
    size_t *n = context;

    (void)value;
    (void)is_damaged;
    *n += slice_find(key, '@') < key.n; /* the other entry is about the file */
    return true;
}

size_t users_count(struct users_view *view)
{
    size_t n = 0;

    (void)pthread_mutex_lock(&view->use);
    (void)table_each(view->txn, SLICE_NONE, count_entry, &n);
    (void)pthread_mutex_unlock(&view->use);
    return n;
}

enum err users_count_in_force(const char *state_dir, size_t *ret,
                              struct errinfo *reterr)
{
    struct users *users = users_new(state_dir);
    enum err e =
        users == NULL ? errinfo_nomem(reterr, state_dir) : users_refresh(users, reterr);
    struct users_view *view = e == ERR_OK ? users_acquire(users) : NULL;

    *ret = view == NULL ? 0 : users_count(view);
    users_release(users, &view);
    users_free(&users);
    return e;
}
