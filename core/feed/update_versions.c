/*
 * update_versions - what happens without a new body: nothing new, silence, going back, differences, the end.
 */
#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "core/feed/update_internal.h"

/* ---- nothing new ---- */

enum err stage_unchanged(struct stage *s, struct errinfo *reterr)
{
    struct stage_saved *d = &s->saved;
    struct stage_report report;
    const struct stage_state was = d->shown;
    struct stage_body body = {.etag = was.etag,
                              .last_modified = was.last_modified,
                              .is_by_hand = true}; /* it was let in before */
    char path[FILE_PATH_MAX];
    uint64_t now_s = stage_now_s();
    enum err e = stage_settle(s, reterr);
    if (e != ERR_OK) {
        return e;
    }
    d->shown.good_s = now_s;
    bool is_whole =
        now_s < d->compared_s + STAGE_COMPARE_S && !d->is_silent && !s->saved.is_lost;
    if (is_whole || d->shown.version == 0 || d->shown.is_pinned) {
        return stage_save(s, reterr);
    }
    e = stage_file(s, "body", d->shown.version, path, reterr);
    if (e != ERR_OK) {
        return e;
    }
    (void)unlink(s->incoming);
    if (link(path, s->incoming) != 0) {
        return errinfo_errno(reterr, path, "cannot be compared with the list");
    }
    e = stage_update(s, &body, NULL, NULL, &report, reterr);
    if (e == ERR_OK) {
        d->compared_s = now_s; /* also where it was refused */
        e = stage_save(s, reterr);
    }
    return e;
}

/* ---- changes of a whole version ---- */

/* What c finds goes into the file at path. */
static enum err write_changes(struct stage *s, struct compare *c, const char *path,
                              struct errinfo *reterr)
{
    struct changes_out changes;
    enum err e = changes_out_open(&changes, path, reterr);
    c->stage = s;
    c->changes = &changes;
    e = e == ERR_OK ? compare_run(c, reterr) : e;
    e = e == ERR_OK ? changes_out_commit(&changes, reterr) : e;
    changes_out_abort(&changes);
    c->changes = NULL;
    return e;
}

enum err stage_leave(struct stage *s, uint64_t keep_s, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct list_reader *reader = NULL;
    struct list_walk *walk = NULL;
    struct hashkey key;
    struct set old = {.n = 0};
    struct compare c = {.keep_s = keep_s, .old = &old};
    if (file_path(path, "%s/incoming.changes", s->dir) != ERR_OK) {
        return errinfo_set(reterr, ERR_LIMIT, s->dir, 0, "the path is too long");
    }
    enum err e = stage_list_open(s, &reader, &key, reterr);
    if (e != ERR_OK || !reader) {
        return e;
    }
    if (s->saved.is_lost ||
        stage_set_open(s, s->saved.shown.version, &key, &old, NULL) != ERR_OK) {
        c.walk_leaves = true;
        e = list_walk_reader(reader, stage_now_s(), &walk, reterr);
        c.walk = walk;
    }
    e = e == ERR_OK ? write_changes(s, &c, path, reterr) : e;
    list_walk_free(&walk);
    list_reader_close(&reader);
    set_close(&old);
    e = e == ERR_OK ? stage_apply(s, path, reterr) : e;
    (void)unlink(path);
    return e;
}

enum err stage_expire_silent(struct stage *s, bool *retdid, struct errinfo *reterr)
{
    struct stage_saved *d = &s->saved;
    uint64_t after_s = s->feed->silent_after_s;
    *retdid = false;
    if (after_s == 0 || d->shown.good_s == 0 || d->is_silent || d->shown.version == 0 ||
        stage_now_s() < d->shown.good_s + after_s) {
        return ERR_OK;
    }
    enum err e = stage_settle(s, reterr);
    e = e == ERR_OK ? stage_leave(s, 0, reterr) : e;
    if (e != ERR_OK) {
        return e;
    }
    d->is_silent = true;
    d->shown.entries = 0;
    d->shown.etag[0] = '\0';
    d->shown.last_modified[0] = '\0';
    *retdid = true;
    return stage_save(s, reterr);
}

enum err stage_drop(const struct stage_options *options, struct errinfo *reterr)
{
    struct stage *s = NULL;
    enum err e = stage_open(options, &s, reterr);
    if (e != ERR_OK) {
        return e;
    }
    if (s->saved.list[0] != '\0') {
        s->list = s->saved.list;
    }
    e = stage_settle(s, reterr);
    if (e == ERR_OK && (s->saved.shown.version != 0 || s->saved.is_lost)) {
        e = stage_leave(s, options->feed->keep_s, reterr);
    }
    e = e == ERR_OK ? file_remove_tree(s->dir, reterr) : e;
    stage_close(&s);
    return e;
}

/* ---- going back ---- */

/* The version before the one that serves; 0: there is none. */
static uint64_t version_before(const struct stage *s, uint64_t number)
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
    struct set from;
    struct set to;
    struct intake intake;
};

static enum err look_back(struct stage *s, const struct stage_version *v,
                          struct going_back *g, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = stage_list_open(s, &g->reader, &g->key, reterr);
    e = e == ERR_OK ? stage_set_open(s, v->number, &g->key, &g->to, reterr) : e;
    e = e == ERR_OK
            ? stage_set_open(s, s->saved.shown.version, &g->key, &g->from, reterr)
            : e;
    e = e == ERR_OK ? stage_file(s, "body", v->number, path, reterr) : e;
    if (e != ERR_OK) {
        return e;
    }
    g->intake = (struct intake){.stage = s, .only = &g->to, .key = g->key};
    return intake_read(&g->intake, path, reterr);
}

static enum err go_back(struct stage *s, const struct stage_version *v,
                        struct stage_report *ret, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct going_back g = {.reader = NULL};
    struct stage_pending p = {.version = *v, .is_rollback = true};
    enum err e = look_back(s, v, &g, reterr);
    struct compare c = {.fresh = g.intake.sorter,
                        .old = &g.from,
                        .lists_all = !g.reader || s->saved.is_silent,
                        .keep_s = 0}; /* what the bad one brought goes at once */
    e = e == ERR_OK ? stage_file(s, "changes", v->number, path, reterr) : e;
    e = e == ERR_OK ? write_changes(s, &c, path, reterr) : e;
    sorter_free(&g.intake.sorter);
    set_close(&g.from);
    set_close(&g.to);
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
    return stage_publish(s, &p, reterr);
}

enum err stage_rollback(struct stage *s, uint64_t version, struct stage_report *ret,
                        struct errinfo *reterr)
{
    *ret = (struct stage_report){.entries = s->saved.shown.entries};
    enum err e = stage_settle(s, reterr);
    if (e != ERR_OK) {
        return e;
    }
    uint64_t number =
        version != 0 ? version : version_before(s, s->saved.shown.version);
    const struct stage_version *v = stage_version_find(s, number);
    if (!v || number == 0) {
        return errinfo_set(reterr, ERR_NOT_FOUND, s->dir, 0,
                           "there is no such version to go back to; `gillnet feed "
                           "list` says how many are kept (`versions` of the feed)");
    }
    struct stage_version to = *v;
    return go_back(s, &to, ret, reterr);
}

/* ---- differences ---- */

struct one_side {
    const struct set *set;
    const struct set *other;
    const char *body;
    enum stage_change change;
};

/* Tells the entries of a body that are in its set and not in the other. */
static enum err tell_side(struct stage *s, const struct one_side *side,
                          const struct hashkey *key, stage_line_fn *on_line,
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
        struct stage_line line = {
            .change = side->change, .class_type = entry.class_type, .text = entry.text};
        if (!set_has(side->other, &entry.digest)) {
            on_line(context, &line);
        }
    }
    sorter_free(&in.sorter);
    return e == ERR_OK ? ERR_OK
                       : errinfo_set(reterr, e, side->body, 0,
                                     "cannot read back the sorted entries");
}

enum err stage_tell(struct stage *s, const struct stage_sides *sides,
                    stage_line_fn *on_line, void *context, struct errinfo *reterr)
{
    char from_body[FILE_PATH_MAX];
    struct one_side entered = {sides->to, sides->from, sides->to_body, STAGE_ENTERED};
    struct one_side left = {sides->from, sides->to, from_body, STAGE_LEFT};
    enum err e = stage_file(s, "body", sides->from_number, from_body, reterr);
    e = e == ERR_OK ? tell_side(s, &entered, &sides->key, on_line, context, reterr) : e;
    return e == ERR_OK ? tell_side(s, &left, &sides->key, on_line, context, reterr) : e;
}

enum err stage_diff(struct stage *s, uint64_t from, uint64_t to, stage_line_fn *on_line,
                    void *context, struct errinfo *reterr)
{
    char to_body[FILE_PATH_MAX];
    struct list_reader *reader = NULL;
    struct set sets[2] = {{.n = 0}, {.n = 0}};
    struct stage_sides sides = {.from = &sets[0], .to = &sets[1], .to_body = to_body};
    to = to != 0 ? to : s->saved.shown.version;
    sides.from_number = from != 0 ? from : version_before(s, to);
    if (!stage_version_find(s, to) || !stage_version_find(s, sides.from_number)) {
        return errinfo_set(reterr, ERR_NOT_FOUND, s->feed->name, 0,
                           "there are no two such versions to compare; `gillnet feed "
                           "list` says how many are kept (`versions` of the feed)");
    }
    enum err e = stage_list_open(s, &reader, &sides.key, reterr);
    list_reader_close(&reader);
    e = e == ERR_OK ? stage_set_open(s, sides.from_number, &sides.key, &sets[0], reterr)
                    : e;
    e = e == ERR_OK ? stage_set_open(s, to, &sides.key, &sets[1], reterr) : e;
    e = e == ERR_OK ? stage_file(s, "body", to, to_body, reterr) : e;
    e = e == ERR_OK ? stage_tell(s, &sides, on_line, context, reterr) : e;
    set_close(&sets[0]);
    set_close(&sets[1]);
    return e;
}
