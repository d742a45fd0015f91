/*
 * update_versions - what happens without a new body: nothing new, silence, going back, differences,
 * the end.
 */

#include "core/feed/update_internal.h"

/* ---- nothing new ---- */

enum err update_unchanged(struct feed_update *s, struct errinfo *reterr)
{
    struct update_saved *d = &s->saved;
    struct update_report report;
    const struct update_state was = d->shown;
    struct update_body body = {.etag = was.etag,
                               .last_modified = was.last_modified,
                               .is_by_hand = true}; /* it was let in before */
    char path[FILE_PATH_MAX];
    uint64_t now_s = update_now_s();
    enum err e = update_settle(s, reterr);
    if (e != ERR_OK) {
        return e;
    }
    d->shown.good_s = now_s;
    bool is_whole =
        now_s < d->compared_s + UPDATE_COMPARE_S && !d->is_silent && !s->saved.is_lost;
    if (is_whole || d->shown.version == 0 || d->shown.is_pinned) {
        return update_save(s, reterr);
    }
    e = update_file(s, "body", d->shown.version, path, reterr);
    if (e != ERR_OK) {
        return e;
    }
    (void)unlink(s->incoming);
    if (link(path, s->incoming) != 0) {
        return errinfo_errno(reterr, path, "cannot be compared with the list");
    }
    e = update_update(s, &body, NULL, NULL, &report, reterr);
    if (e == ERR_OK) {
        d->compared_s = now_s; /* also where it was refused */
        e = update_save(s, reterr);
    }
    return e;
}

/* ---- changes of a whole version ---- */

/* Writes the changes that c finds to the file at path. */
static enum err write_changes(struct feed_update *s, struct compare *c,
                              const char *path, struct errinfo *reterr)
{
    struct feed_diff_out changes;
    enum err e = feed_diff_out_open(&changes, path, reterr);
    c->stage = s;
    c->changes = &changes;
    THEN(e, compare_run(c, reterr));
    THEN(e, feed_diff_out_commit(&changes, reterr));
    feed_diff_out_abort(&changes);
    c->changes = NULL;
    return e;
}

enum err update_leave(struct feed_update *s, uint64_t keep_s, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct list_reader *reader = NULL;
    struct mirror_iter *walk = NULL;
    struct hashkey key;
    struct feed_set old = {.n = 0};
    struct compare c = {.keep_s = keep_s, .old = &old};
    enum err e = path_make(path, reterr, "%s/incoming.changes", s->dir);
    THEN(e, update_list_open(s, &reader, &key, reterr));
    if (e != ERR_OK || !reader) {
        return e;
    }
    if (s->saved.is_lost ||
        update_set_open(s, s->saved.shown.version, &key, &old, NULL) != ERR_OK) {
        c.walk_leaves = true;
        e = mirror_iter_of_reader(reader, update_now_s(), &walk, reterr);
        c.walk = walk;
    }
    THEN(e, write_changes(s, &c, path, reterr));
    mirror_iter_free(&walk);
    list_reader_close(&reader);
    feed_set_close(&old);
    THEN(e, update_apply(s, path, reterr));
    (void)unlink(path);
    return e;
}

enum err update_expire_silent(struct feed_update *s, bool *retdid,
                              struct errinfo *reterr)
{
    struct update_saved *d = &s->saved;
    uint64_t after_s = s->feed->silent_after_s;
    *retdid = false;
    if (after_s == 0 || d->shown.good_s == 0 || d->is_silent || d->shown.version == 0 ||
        update_now_s() < d->shown.good_s + after_s) {
        return ERR_OK;
    }
    enum err e = update_settle(s, reterr);
    THEN(e, update_leave(s, 0, reterr));
    if (e != ERR_OK) {
        return e;
    }
    d->is_silent = true;
    d->shown.entries = 0;
    d->shown.etag[0] = '\0';
    d->shown.last_modified[0] = '\0';
    *retdid = true;
    return update_save(s, reterr);
}

enum err update_drop(const struct update_options *options, struct errinfo *reterr)
{
    struct feed_update *s = NULL;
    enum err e = update_open(options, &s, reterr);
    if (e != ERR_OK) {
        return e;
    }
    if (s->saved.list[0] != '\0') {
        s->list = s->saved.list;
    }
    e = update_settle(s, reterr);
    if (e == ERR_OK && (s->saved.shown.version != 0 || s->saved.is_lost)) {
        e = update_leave(s, options->feed->keep_s, reterr);
    }
    THEN(e, file_remove_tree(s->dir, reterr));
    update_close(&s);
    return e;
}

/* ---- going back ---- */

/* The version before the one that serves; 0: there is none. */
static uint64_t version_before(const struct feed_update *s, uint64_t number)
{
    uint64_t before = 0;
    for (size_t i = 0; i < s->saved.nversions; i++) {
        uint64_t v = s->saved.version[i].number;
        before = v < number && v > before ? v : before;
    }
    return before;
}

/* Both sets open, and the entries of the one to go back to. */
struct going_back {
    struct list_reader *reader;
    struct hashkey key;
    struct feed_set from;
    struct feed_set to;
    struct intake intake;
};

static enum err look_back(struct feed_update *s, const struct update_version *v,
                          struct going_back *g, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = update_list_open(s, &g->reader, &g->key, reterr);
    THEN(e, update_set_open(s, v->number, &g->key, &g->to, reterr));
    THEN(e, update_set_open(s, s->saved.shown.version, &g->key, &g->from, reterr));
    THEN(e, update_file(s, "body", v->number, path, reterr));
    if (e != ERR_OK) {
        return e;
    }
    g->intake = (struct intake){.stage = s, .only = &g->to, .key = g->key};
    return intake_read(&g->intake, path, reterr);
}

static enum err go_back(struct feed_update *s, const struct update_version *v,
                        struct update_report *ret, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct going_back g = {.reader = NULL};
    struct update_pending p = {.version = *v, .is_rollback = true};
    enum err e = look_back(s, v, &g, reterr);
    struct compare c = {.fresh = g.intake.sorter,
                        .old = &g.from,
                        .lists_all = !g.reader || s->saved.is_silent,
                        .keep_s = 0}; /* what the bad one brought goes at once */
    THEN(e, update_file(s, "changes", v->number, path, reterr));
    THEN(e, write_changes(s, &c, path, reterr));
    sorter_free(&g.intake.sorter);
    feed_set_close(&g.from);
    feed_set_close(&g.to);
    list_reader_close(&g.reader);
    if (e != ERR_OK) {
        return e;
    }
    ret->counts = g.intake.counts;
    ret->entries = c.entries;
    ret->entered = c.entered;
    ret->left = c.left;
    s->saved.shown.etag[0] = '\0'; /* they are of another body */
    s->saved.shown.last_modified[0] = '\0';
    return update_publish(s, &p, reterr);
}

enum err update_rollback(struct feed_update *s, uint64_t version,
                         struct update_report *ret, struct errinfo *reterr)
{
    *ret = (struct update_report){.entries = s->saved.shown.entries};
    enum err e = update_settle(s, reterr);
    if (e != ERR_OK) {
        return e;
    }
    uint64_t number =
        version != 0 ? version : version_before(s, s->saved.shown.version);
    const struct update_version *v = update_version_find(s, number);
    if (!v || number == 0) {
        return errinfo_set(reterr, ERR_NOT_FOUND, s->dir, 0,
                           "there is no such version to go back to; `gillnet feed "
                           "list` says how many are kept (`versions` of the feed)");
    }
    struct update_version to = *v;
    return go_back(s, &to, ret, reterr);
}

/* ---- differences ---- */

struct one_side {
    const struct feed_set *set;
    const struct feed_set *other;
    const char *body;
    enum update_change change;
};

/* Tells the entries of a body that are in its set and not in the other. */
static enum err tell_side(struct feed_update *s, const struct one_side *side,
                          const struct hashkey *key, update_line_fn *on_line,
                          void *context, struct errinfo *reterr)
{
    struct intake in = {.stage = s, .only = side->set, .key = *key};
    struct intake_entry entry = {.class_type = 0};
    bool has = false;
    enum err e = side->set->n > 0 ? intake_read(&in, side->body, reterr) : ERR_OK;
    if (e != ERR_OK || !in.sorter) {
        return e;
    }
    while (intake_next(in.sorter, &entry, &has, &e)) {
        struct update_line line = {
            .change = side->change, .class_type = entry.class_type, .text = entry.text};
        if (!feed_set_has(side->other, &entry.digest)) {
            on_line(context, &line);
        }
    }
    sorter_free(&in.sorter);
    return e == ERR_OK ? ERR_OK
                       : errinfo_set(reterr, e, side->body, 0,
                                     "cannot read back the sorted entries");
}

enum err update_tell(struct feed_update *s, const struct update_sides *sides,
                     update_line_fn *on_line, void *context, struct errinfo *reterr)
{
    char from_body[FILE_PATH_MAX];
    struct one_side entered = {sides->to, sides->from, sides->to_body, UPDATE_ENTERED};
    struct one_side left = {sides->from, sides->to, from_body, UPDATE_LEFT};
    enum err e = update_file(s, "body", sides->from_number, from_body, reterr);
    THEN(e, tell_side(s, &entered, &sides->key, on_line, context, reterr));
    return e == ERR_OK ? tell_side(s, &left, &sides->key, on_line, context, reterr) : e;
}

enum err update_diff(struct feed_update *s, uint64_t from, uint64_t to,
                     update_line_fn *on_line, void *context, struct errinfo *reterr)
{
    char to_body[FILE_PATH_MAX];
    struct list_reader *reader = NULL;
    struct feed_set sets[2] = {{.n = 0}, {.n = 0}};
    struct update_sides sides = {.from = &sets[0], .to = &sets[1], .to_body = to_body};
    to = to != 0 ? to : s->saved.shown.version;
    sides.from_number = from != 0 ? from : version_before(s, to);
    if (!update_version_find(s, to) || !update_version_find(s, sides.from_number)) {
        return errinfo_set(reterr, ERR_NOT_FOUND, s->feed->name, 0,
                           "there are no two such versions to compare; `gillnet feed "
                           "list` says how many are kept (`versions` of the feed)");
    }
    enum err e = update_list_open(s, &reader, &sides.key, reterr);
    list_reader_close(&reader);
    THEN(e, update_set_open(s, sides.from_number, &sides.key, &sets[0], reterr));
    THEN(e, update_set_open(s, to, &sides.key, &sets[1], reterr));
    THEN(e, update_file(s, "body", to, to_body, reterr));
    THEN(e, update_tell(s, &sides, on_line, context, reterr));
    feed_set_close(&sets[0]);
    feed_set_close(&sets[1]);
    return e;
}
