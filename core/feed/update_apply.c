/*
 * update_apply - applies a version to the list. The order on disk: set, body and changes; the mark
 * that they must be applied; the list; the mark that they are.
 */

#include "core/base/log.h"
#include "core/feed/update_internal.h"
#include "core/list/configured.h"

enum url_match stage_url_match(const struct feed_update *s)
{
    return (enum url_match)config_list_find(s->config, slice_str(s->list))->url_match;
}

/* Opening the list for writing rebuilds it in its configured form. */
static enum err make_formed(const struct feed_update *s, struct errinfo *reterr)
{
    const struct list_opening opening = {
        .config = s->config, .keys = s->keys, .wait = {.most_s = LIST_LOCK_WAIT_S}};
    struct list_writer *w = NULL;
    enum err e = list_writer_open_configured(&opening, slice_str(s->list), &w, reterr);
    list_writer_close(&w);
    return e;
}

enum err update_list_open(const struct feed_update *s, struct list_reader **ret,
                          struct hashkey *retkey, struct errinfo *reterr)
{
    struct errinfo why = {.code = ERR_OK};
    const char *state_dir = s->config->state_dir;
    *ret = NULL;
    *retkey = s->keys->ring[0];
    enum err e = list_reader_open(state_dir, slice_str(s->list), s->keys, ret, &why);
    if (e == ERR_OK && !list_reader_is_formed(*ret, stage_url_match(s))) {
        list_reader_close(ret);
        e = make_formed(s, &why);
        THEN(e, list_reader_open(state_dir, slice_str(s->list), s->keys, ret, &why));
    }
    if (e == ERR_NOT_FOUND) {
        return ERR_OK;
    }
    if (e != ERR_OK) {
        return errinfo_set(reterr, e, why.source, 0, "%s", why.text);
    }
    *retkey = *list_reader_key(*ret);
    return ERR_OK;
}

enum err update_apply(struct feed_update *s, const char *path, struct errinfo *reterr)
{
    const struct list_opening opening = {.config = s->config,
                                         .keys = s->keys,
                                         .create = true,
                                         .wait = {.most_s = LIST_LOCK_WAIT_S}};
    struct list_writer *w = NULL;
    struct refresh_result done;
    struct feed_diff c;
    char source[LIST_SOURCE_MAX];
    enum err e = feed_diff_open(&c, path, reterr);
    if (e != ERR_OK || c.n == 0) {
        feed_diff_close(&c);
        return e;
    }
    (void)snprintf(source, sizeof(source), "feed:%s", s->feed->name);
    update_show(s, "waiting for the list", -1.0);
    e = list_writer_open_configured(&opening, slice_str(s->list), &w, reterr);
    if (e == ERR_OK) {
        struct refresh_input in = {.next = feed_diff_next,
                                   .context = &c,
                                   .n = c.n,
                                   .source = slice_str(source),
                                   .progress = s->progress,
                                   .progress_context = s->context};
        update_show(s, "applying", -1.0);
        e = list_refresh(w, &in, &done, reterr);
    }
    list_writer_close(&w);
    feed_diff_close(&c);
    return e;
}

enum err update_set_open(const struct feed_update *s, uint64_t number,
                         const struct hashkey *key, struct feed_set *ret,
                         struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    *ret = (struct feed_set){.n = 0};
    if (number == 0) {
        return ERR_OK;
    }
    enum err e = update_file(s, "set", number, path, reterr);
    THEN(e, feed_set_open(ret, path, reterr));
    if (e == ERR_OK &&
        (ret->key_id != key->id || ret->form != set_form(stage_url_match(s)))) {
        feed_set_close(ret);
        e = errinfo_set(
            reterr, ERR_CORRUPT, path, 0,
            "this version was made with another digest key or url_match than "
            "the list");
    }
    return e;
}

/* ---- versions ---- */

const struct update_version *update_version_find(const struct feed_update *s,
                                                 uint64_t number)
{
    for (size_t i = 0; i < s->saved.nversions; i++) {
        if (s->saved.version[i].number == number) {
            return &s->saved.version[i];
        }
    }
    return NULL;
}

/* The oldest go; the one that serves stays. */
static void drop_old(struct feed_update *s)
{
    struct update_saved *d = &s->saved;
    size_t most = s->feed->versions;
    if (most == 0 || most > UPDATE_VERSIONS_MAX - 1) {
        most = UPDATE_VERSIONS_MAX - 1;
    }
    for (size_t i = 0; d->nversions > most && i < d->nversions;) {
        if (d->version[i].number == d->shown.version) {
            i++;
            continue;
        }
        d->nversions--;
        memmove(&d->version[i], &d->version[i + 1],
                (d->nversions - i) * sizeof(d->version[0]));
    }
}

/* The list holds what was pending. */
static enum err finish_apply(struct feed_update *s, struct errinfo *reterr)
{
    struct update_saved *d = &s->saved;
    const struct update_pending p = d->pending;
    if (!update_version_find(s, p.version.number)) {
        d->version[d->nversions++] = p.version;
    }
    d->shown.version = p.version.number;
    d->shown.entries = p.version.entries;
    d->shown.changed_s = p.version.at_s;
    d->shown.added_total += p.entered;
    d->shown.is_pinned = p.is_rollback;
    d->pending = (struct update_pending){.is_rollback = false};
    d->is_silent = false;
    s->saved.is_lost = false;
    drop_old(s);
    d->shown.versions = d->nversions;
    enum err e = update_save(s, reterr);
    if (e == ERR_OK) {
        update_sweep(s);
    }
    return e;
}

enum err update_publish(struct feed_update *s, const struct update_pending *p,
                        struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    s->saved.pending = *p;
    if (p->version.number > s->saved.last) {
        s->saved.last = p->version.number;
    }
    enum err e = update_file(s, "changes", p->version.number, path, reterr);
    THEN(e, update_save(s, reterr));
    THEN(e, update_apply(s, path, reterr));
    return e == ERR_OK ? finish_apply(s, reterr) : e;
}

static bool is_version_whole(const char *path)
{
    struct refresh_item item;
    struct feed_diff c;
    enum err e = feed_diff_open(&c, path, NULL);
    while (e == ERR_OK && feed_diff_next(&c, &item, &e)) {
    }
    feed_diff_close(&c);
    return e == ERR_OK;
}

/* The feed has another list than before: its entries leave the former one, and the next good body
 * lists all of them in the new. */
static enum err move(struct feed_update *s, struct errinfo *reterr)
{
    char former[LIST_NAME_MAX + 1];
    (void)snprintf(former, sizeof(former), "%s", s->saved.list);
    s->list = former;
    enum err e = update_leave(s, s->feed->keep_s, reterr);
    s->list = s->feed->list;
    if (e != ERR_OK) {
        return e;
    }
    s->saved.is_silent = true;
    s->saved.shown.etag[0] = '\0';
    s->saved.shown.last_modified[0] = '\0';
    return update_save(s, reterr);
}

static enum err complete(struct feed_update *s, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e =
        update_file(s, "changes", s->saved.pending.version.number, path, reterr);
    if (e == ERR_OK && is_version_whole(path)) {
        e = update_apply(s, path, reterr);
        return e == ERR_OK ? finish_apply(s, reterr) : e;
    }
    log_warn("event=feeds feed=%s: the changes of an update that was broken off are "
             "damaged; the next one compares with the list itself",
             s->feed->name);
    s->saved.pending = (struct update_pending){.is_rollback = false};
    s->saved.is_lost = true;
    return e;
}

enum err update_settle(struct feed_update *s, struct errinfo *reterr)
{
    enum err e = ERR_OK;
    if (s->saved.list[0] != '\0' && strcmp(s->saved.list, s->list) != 0) {
        e = move(s, reterr);
    }
    return e == ERR_OK && s->saved.pending.version.number != 0 ? complete(s, reterr)
                                                               : e;
}
