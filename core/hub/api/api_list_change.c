#include "core/hub/api/api_list_change.h"

#include "core/base/clock.h"
#include "core/list/configured.h"
#include "core/list/entry_source.h"
#include "core/list/query.h"
#include "core/list/writer_change.h"
#include "core/message/feature/feature_json.h"
#include "core/telemetry/control_client.h"

enum { WHO_MAX = 64 };

/* One change of one list. */
struct change {
    struct slice value; /* as given */
    struct feature_entry entry;
    const char *list; /* name */
    bool was_listed;
};

static enum err parse(struct arena *arena, struct slice value, enum feature_type hint,
                      struct feature_entry *ret, struct errinfo *reterr)
{
    struct errinfo why = {.text = ""};
    enum err e = feature_entry_parse(value, hint, arena, ret, &why);

    return e == ERR_OK ? e
                       : errinfo_set(reterr, e, "", 0, "\"%.*s\": %s",
                                     (int)slice_head(value, 200).n, value.p,
                                     why.text[0] != '\0' ? why.text : err_text(e));
}

bool api_change_check(struct arena *arena, const struct slice *values, size_t n,
                      struct errinfo *reterr)
{
    bool ok = true;

    for (size_t i = 0; ok && i < n; i++) {
        struct feature_entry e;

        ok = parse(arena, values[i], FEATURE_NONE, &e, reterr) == ERR_OK;
    }
    return ok;
}

/* ---- writing ---- */

static enum err open_list(struct api_change *c, const char *name, bool create,
                          struct list_writer **ret, struct errinfo *reterr)
{
    const struct config_list *list = config_list_find(c->config, slice_str(name));
    struct keyring keys;
    const struct list_opening opening = {
        .config = c->config,
        .keys = &keys,
        .create = create,
        .wait = {.most_s = LIST_LOCK_WAIT_S, .stop = c->stop}};
    enum err e = create ? keyring_load_or_create(c->config->state_dir, &keys, reterr)
                        : keyring_load(c->config->state_dir, &keys, reterr);

    THEN(e, list_writer_open_configured(&opening, slice_str(name), ret, reterr));
    explicit_bzero(&keys, sizeof(keys));
    if (e == ERR_OK) {
        list_writer_set_ageing(
            *ret, &(struct list_ageing){list->period_s, list->inactive_after_s});
    }
    return e;
}

static void note_change(struct api_change *c, const struct change *v, bool is_revoke)
{
    (void)json_array_append_new(
        c->rows,
        json_pack("{s:o, s:s, s:o, s:s, s:s, s:b}", "value", json_text(v->value),
                  "list", v->list, "entry", json_text(v->entry.text), "type",
                  feature_type_name(v->entry.class_type), "status",
                  is_revoke ? "revoked" : "added", "was_listed", (int)v->was_listed));
}

/* Makes all changes of the list of v[0] and removes them from the array. */
static enum err write_list(struct api_change *c, struct change *v, size_t *n,
                           bool is_revoke, struct errinfo *reterr)
{
    const char *name = v[0].list;
    struct list_writer *w = NULL;
    char who[WHO_MAX];
    char source[LIST_SOURCE_MAX];
    size_t left = 0;
    enum err e = open_list(c, name, true, &w, reterr);

    (void)snprintf(who, sizeof(who), "api:%s", c->who);
    entry_source_make(who, c->reason, source);
    for (size_t i = 0; e == ERR_OK && i < *n; i++) {
        const struct list_change change = {.entry = v[i].entry,
                                           .is_revoke = is_revoke,
                                           .expiry_s = is_revoke ? 0 : c->expiry_s};

        if (strcmp(v[i].list, name) == 0) {
            v[i].was_listed = list_holds(w, &v[i].entry);
            e = list_stage(w, &change, slice_str(source), reterr);
        }
    }
    THEN(e, list_flush(w, reterr));
    list_writer_close(&w);
    for (size_t i = 0; e == ERR_OK && i < *n; i++) {
        if (strcmp(v[i].list, name) == 0) {
            note_change(c, &v[i], is_revoke);
        } else {
            v[left++] = v[i];
        }
    }
    *n = left;
    return e;
}

static enum err write_all(struct api_change *c, struct change *v, size_t n,
                          bool is_revoke, struct errinfo *reterr)
{
    enum err e = ERR_OK;

    while (e == ERR_OK && n > 0) {
        e = write_list(c, v, &n, is_revoke, reterr);
    }
    control_client_look(c->config->control_socket);
    return e;
}

/* ---- which lists ---- */

static enum err change_named(struct api_change *c, struct slice list,
                             const struct slice *values, size_t n, bool is_revoke,
                             struct errinfo *reterr)
{
    struct change *v = arena_array(c->arena, n, sizeof(*v));
    struct slice name = arena_copy(c->arena, list);
    enum err e = ERR_OK;

    if (v == NULL || name.p == NULL) {
        return errinfo_nomem(reterr, "");
    }
    for (size_t i = 0; e == ERR_OK && i < n; i++) {
        v[i] = (struct change){.value = values[i], .list = name.p};
        e = parse(c->arena, values[i], c->type, &v[i].entry, reterr);
    }
    return e == ERR_OK ? write_all(c, v, n, is_revoke, reterr) : e;
}

/* Whether the list holds the value itself: a URL also in its looser forms, all else by that very
 * name. */
static bool is_itself(const struct feature_entry *e, const struct query_match *m)
{
    uint16_t class_type = m->key->class_type;
    bool is_url = e->class_type == FEATURE_url &&
                  (class_type == FEATURE_url || class_type == FEATURE_url_exact ||
                   class_type == FEATURE_url_folded);

    return (m->answer == LIST_CONFIRMED || m->answer == LIST_POSSIBLE) &&
           (is_url || slice_eq(m->key->text, e->text));
}

/* Changes that are gathered. */
struct feed_diff {
    struct change *v;
    size_t n;
    size_t room;
};

static bool add_change(struct arena *arena, struct feed_diff *all,
                       const struct change *one)
{
    if (all->n == all->room) {
        struct change *more = arena_array(arena, all->room * 2 + 16, sizeof(*more));

        if (more == NULL) {
            return false;
        }
        if (all->n > 0) {
            memcpy(more, all->v, all->n * sizeof(*more));
        }
        all->v = more;
        all->room = all->room * 2 + 16;
    }
    all->v[all->n++] = *one;
    return true;
}

/* The changes that revoke one value. */
static enum err find_changes(struct api_change *c, const struct query_lists *lists,
                             struct slice value, struct feed_diff *all,
                             struct errinfo *reterr)
{
    struct feature_entry entry;
    struct query_result r = {.n = 0};
    enum err e = parse(c->arena, value, FEATURE_NONE, &entry, reterr);

    query_begin(c->ask, lists);
    THEN(e, query_add(c->ask, value, FEATURE_NONE, reterr));
    if (e == ERR_OK) {
        query_test(c->ask);
        e = query_answer(c->ask, 0, clock_wall_us() / 1000000, &r);
    }
    for (size_t i = 0; e == ERR_OK && i < r.n; i++) {
        const struct query_list *l = &lists->v[r.v[i].list];
        struct slice name = slice_str(list_reader_name(l->reader));
        struct change one = {.value = value,
                             .entry = {.class_type = r.v[i].key->class_type}};

        if (is_itself(&entry, &r.v[i]) && !l->voice.is_allow) {
            one.list = arena_copy(c->arena, name).p;
            one.entry.text = arena_copy(c->arena, r.v[i].key->text);
            e = add_change(c->arena, all, &one) && !arena_is_full(c->arena)
                    ? ERR_OK
                    : errinfo_nomem(reterr, "");
        }
    }
    return e;
}

enum err api_change_revoke(struct api_change *c, struct slice list,
                           const struct slice *values, size_t n, struct errinfo *reterr)
{
    struct feed_diff all = {.n = 0};
    enum err e = ERR_OK;

    if (list.n > 0) {
        return change_named(c, list, values, n, true, reterr);
    }
    const struct list_watcher_view *view = list_watcher_acquire(c->lists);

    for (size_t i = 0; e == ERR_OK && i < n; i++) {
        e = find_changes(c, &view->ask, values[i], &all, reterr);
    }
    list_watcher_release(c->lists, &view);
    return e == ERR_OK ? write_all(c, all.v, all.n, true, reterr) : e;
}

enum err api_change_add(struct api_change *c, struct slice list,
                        const struct slice *values, size_t n, struct errinfo *reterr)
{
    return change_named(c, list, values, n, false, reterr);
}
