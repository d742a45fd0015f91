/*
 * peer_filter_merge - filters of peers come into a list: new files, then the CURRENT that names
 * them.
 */

#include "core/filter/bloomfile_merge.h"
#include "core/list/commit.h"
#include "core/list/peer_filter.h"
#include "core/list/writer.h"

/* The new filter of one role. */
struct growing {
    enum list_file kind;
    uint64_t number; /* in CURRENT; 0: there is none */
    struct bloomfile filter;
    bool is_open;
    bool is_changed;
};

/* The list's folder and digest key. */
struct ground {
    const char *dir;
    const struct hashkey *key;
};

static enum err grow_open(const struct ground *w, struct growing *g,
                          struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    if (g->is_open || g->number == 0) {
        return ERR_OK;
    }
    enum err e = list_file_path(path, w->dir, g->kind, g->number, reterr);
    THEN(e, bloomfile_take(&g->filter, path, w->key, reterr));
    g->is_open = e == ERR_OK;
    return e;
}

/* The first filter of a role gives the list its shape, the others must fit it. */
static enum err grow_file(const struct ground *w, struct growing *g, const char *path,
                          struct errinfo *reterr)
{
    enum err e = grow_open(w, g, reterr);
    if (e != ERR_OK) {
        return e;
    }
    if (g->is_open) {
        e = bloomfile_merge_file(&g->filter, path, w->key, reterr);
    } else {
        e = bloomfile_take(&g->filter, path, w->key, reterr);
        g->is_open = e == ERR_OK;
    }
    g->is_changed = g->is_changed || e == ERR_OK;
    return e;
}

static enum err grow_all(const struct ground *w, struct growing *spam,
                         struct growing *revoked, size_t n, char *const *paths,
                         struct errinfo *reterr)
{
    enum err e = ERR_OK;
    for (size_t i = 0; e == ERR_OK && i < n; i++) {
        struct bloomfile_shape shape;
        e = bloomfile_peek(paths[i], "get it again from its maker", &shape, reterr);
        if (e == ERR_OK) {
            bool is_revoked = shape.facts.role == BLOOMFILE_REVOKED;
            e = grow_file(w, is_revoked ? revoked : spam, paths[i], reterr);
        }
    }
    return e;
}

static enum err grow_write(const struct list_writer *w, struct growing *g,
                           uint64_t number, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    if (!g->is_changed) {
        return ERR_OK;
    }
    g->number = number;
    g->filter.facts.generation = number;
    enum err e = list_file_path(path, w->dir, g->kind, number, reterr);
    return e == ERR_OK ? bloomfile_write(&g->filter, path, reterr) : e;
}

static void forget(const struct list_writer *w, const struct growing *g)
{
    char path[FILE_PATH_MAX];
    if (g->is_changed &&
        list_file_path(path, w->dir, g->kind, g->number, NULL) == ERR_OK) {
        (void)unlink(path);
    }
}

enum err member_name(struct list_writer *w, const struct list_current *c,
                     struct errinfo *reterr)
{
    enum err e = list_commit_current(w, c, reterr);
    if (e == ERR_OK) {
        w->current = *c;
        writer_clean(w);
    }
    return e;
}

static enum err grow_publish(struct list_writer *w, struct growing *spam,
                             struct growing *revoked, struct errinfo *reterr)
{
    struct list_current c = w->current;
    uint64_t last = c.member_spam > c.member_revoked ? c.member_spam : c.member_revoked;
    enum err e = grow_write(w, spam, last + 1, reterr);
    THEN(e, grow_write(w, revoked, last + 1, reterr));
    if (e == ERR_OK) {
        c.member_spam = spam->number;
        c.member_revoked = revoked->number;
        return member_name(w, &c, reterr);
    }
    forget(w, spam);
    forget(w, revoked);
    return e;
}

enum err list_member_merge(struct list_writer *w, size_t n, char *const *paths,
                           struct peer_filter_shapes *ret, struct errinfo *reterr)
{
    struct growing spam = {.kind = LIST_FILE_SPAM};
    struct growing revoked = {.kind = LIST_FILE_REVOKED};
    enum err e = writer_check(w, reterr);
    THEN(e, writer_settled(w, reterr));
    if (e != ERR_OK) {
        return e;
    }
    spam.number = w->current.member_spam;
    revoked.number = w->current.member_revoked;
    e = grow_all(&(struct ground){w->dir, &w->key}, &spam, &revoked, n, paths, reterr);
    THEN(e, grow_publish(w, &spam, &revoked, reterr));
    *ret = (struct peer_filter_shapes){
        .has_spam = spam.is_changed,
        .has_revoked = revoked.is_changed,
        .spam = bloomfile_shape_of(&spam.filter),
        .revoked = bloomfile_shape_of(&revoked.filter),
    };
    bloomfile_close(&spam.filter);
    bloomfile_close(&revoked.filter);
    return e;
}

enum err list_member_check(const struct hashkey *key, size_t n, char *const *paths,
                           struct errinfo *reterr)
{
    struct growing spam = {.kind = LIST_FILE_SPAM};
    struct growing revoked = {.kind = LIST_FILE_REVOKED};
    enum err e = grow_all(&(struct ground){"", key}, &spam, &revoked, n, paths, reterr);
    bloomfile_close(&spam.filter);
    bloomfile_close(&revoked.filter);
    return e;
}

struct newest {
    const char *dir;
    uint64_t spam;
    uint64_t revoked;
};

static enum err newest_file(void *context, enum list_file kind, uint64_t number)
{
    struct newest *n = context;
    uint64_t *best = kind == LIST_FILE_SPAM      ? &n->spam
                     : kind == LIST_FILE_REVOKED ? &n->revoked
                                                 : NULL;
    char path[FILE_PATH_MAX];
    struct bloomfile_shape shape;
    if (best && number > *best &&
        list_file_path(path, n->dir, kind, number, NULL) == ERR_OK &&
        bloomfile_peek(path, NULL, &shape, NULL) == ERR_OK) {
        *best = number;
    }
    return ERR_OK;
}

void peer_filter_find(const char *dir, uint64_t *retspam, uint64_t *retrevoked)
{
    struct newest n = {.dir = dir};
    (void)list_files_each(dir, newest_file, &n, NULL);
    *retspam = n.spam;
    *retrevoked = n.revoked;
}
