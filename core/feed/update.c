/*
 * update - the folder of a feed, and an update from the body to the list.
 */

#include "core/base/clock.h"
#include "core/base/dir_walk.h"
#include "core/base/log.h"
#include "core/feed/update_internal.h"

enum { FEED_DIR_MODE = 02750, STATE_BYTES_MAX = 1 << 20, NUMBER_DIGITS = 20 };

void update_show(const struct feed_update *s, const char *what, double share)
{
    if (s->progress) {
        s->progress(s->context, what, share);
    }
}

uint64_t update_now_s(void)
{
    return clock_wall_us() / 1000000;
}

enum err update_file(const struct feed_update *s, const char *what, uint64_t number,
                     char ret[FILE_PATH_MAX], struct errinfo *reterr)
{
    return path_make(ret, reterr, "%s/%s.%" PRIu64, s->dir, what, number);
}

/* ---- the folder ---- */

enum err update_save(struct feed_update *s, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct buf b;
    buf_init(&b, STATE_BYTES_MAX);
    (void)snprintf(s->saved.list, sizeof(s->saved.list), "%s", s->list);
    enum err e = file_path(path, "%s/state.json", s->dir);
    THEN(e, saved_print(&s->saved, &b));
    if (e != ERR_OK) {
        (void)errinfo_set(reterr, e, s->dir, 0, "the state of the feed cannot be kept");
    } else {
        e = file_write_atomic(path, buf_slice(&b), FEED_SET_FILE_MODE, reterr);
    }
    buf_fini(&b);
    return e;
}

/* The number of "set.7"; 0: it is another file. */
static uint64_t version_number(const char *name)
{
    static const char *const kinds[] = {"set.", "body.", "changes."};
    for (size_t i = 0; i < LENGTH(kinds); i++) {
        size_t n = strlen(kinds[i]);
        if (strncmp(name, kinds[i], n) == 0 && strlen(name) <= n + NUMBER_DIGITS) {
            return strtoull(name + n, NULL, 10);
        }
    }
    return 0;
}

static bool is_needed(const struct feed_update *s, const char *name)
{
    uint64_t number = version_number(name);
    if (number == 0) {
        return true;
    }
    if (s->saved.pending.version.number == number) {
        return true;
    }
    return strncmp(name, "changes.", 8) != 0 && update_version_find(s, number);
}

/* The highest number in the folder; sweeps: removes files that are no longer needed. */
static uint64_t look_through(const struct feed_update *s, bool sweeps)
{
    uint64_t highest = 0;
    struct dir_walk w = dir_walk_begin(s->dir, DIR_OPTIONAL);
    while (dir_walk_next(&w)) {
        uint64_t number = version_number(w.name);
        highest = number > highest ? number : highest;
        if (sweeps && !is_needed(s, w.name)) {
            (void)unlinkat(dirfd(w.dir), w.name, 0);
        }
    }
    (void)dir_walk_end(&w, ERR_OK, NULL);
    return highest;
}

void update_sweep(const struct feed_update *s)
{
    (void)file_sweep_temps(s->dir, NULL);
    if (!s->saved.is_lost) {
        (void)look_through(s, true);
    }
}

/* The state is unreadable: the versions on disk no longer count, but the list does. */
static void state_lost(struct feed_update *s, const char *path)
{
    struct errinfo why;
    (void)errinfo_set(&why, ERR_CORRUPT, path, 0,
                      "the state of the feed is damaged; its entries stay listed, and "
                      "its next update begins anew from what the list holds");
    log_errinfo("feeds", &why);
    s->saved = (struct update_saved){.last = look_through(s, false), .is_lost = true};
}

static enum err state_load(struct feed_update *s, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct buf b;
    enum err e = path_make(path, reterr, "%s/state.json", s->dir);
    buf_init(&b, STATE_BYTES_MAX);
    THEN(e, file_read(path, &b, reterr));
    if (e == ERR_LIMIT ||
        (e == ERR_OK && saved_parse(buf_slice(&b), &s->saved) != ERR_OK)) {
        state_lost(s, path);
        e = ERR_OK;
    } else if (e == ERR_NOT_FOUND) {
        e = ERR_OK;
        if (look_through(s, false) > 0) {
            state_lost(s, path);
        }
    }
    buf_fini(&b);
    return e;
}

static enum err folder_make(struct feed_update *s, struct errinfo *reterr)
{
    char feeds[FILE_PATH_MAX];
    char lock[FILE_PATH_MAX];
    enum err e = path_make(feeds, reterr, "%s/feeds", s->config->state_dir);
    THEN(e, path_make(s->dir, reterr, "%s/%s", feeds, s->feed->name));
    THEN(e, path_make(s->incoming, reterr, "%s/incoming.body", s->dir));
    THEN(e, path_make(lock, reterr, "%s/LOCK", s->dir));
    THEN(e, file_make_dir(feeds, FEED_DIR_MODE, reterr));
    THEN(e, file_make_dir(s->dir, FEED_DIR_MODE, reterr));
    THEN(e, filelock_take(&s->lock, lock, reterr));
    if (e == ERR_LOCKED) {
        e = errinfo_set(reterr, e, lock, 0,
                        "another process works on this feed; wait for it");
    }
    return e;
}

enum err update_open(const struct update_options *options, struct feed_update **ret,
                     struct errinfo *reterr)
{
    struct feed_update *s = calloc(1, sizeof(*s));
    if (!s) {
        return errinfo_nomem(reterr, options->feed->name);
    }
    s->config = options->config;
    s->feed = options->feed;
    s->list = options->feed->list;
    s->keys = options->keys;
    s->progress = options->progress;
    s->context = options->context;
    s->lock.fd = -1;
    enum err e = folder_make(s, reterr);
    THEN(e, state_load(s, reterr));
    if (e != ERR_OK) {
        update_close(&s);
        return e;
    }
    (void)unlink(
        s->incoming); /* of one that was killed; never of an update under way */
    update_sweep(s);
    *ret = s;
    return ERR_OK;
}

void update_close(struct feed_update **s)
{
    if (*s) {
        filelock_drop(&(*s)->lock);
        free(*s);
    }
    *s = NULL;
}

enum err update_note_failures(struct feed_update *s, unsigned failures,
                              const char *trouble, struct errinfo *reterr)
{
    struct update_state *w = &s->saved.shown;

    if (w->failures == failures && strcmp(w->trouble, trouble) == 0) {
        return ERR_OK;
    }
    w->failures = failures;
    (void)snprintf(w->trouble, sizeof(w->trouble), "%s", trouble);
    return update_save(s, reterr);
}

void update_get_state(const struct feed_update *s, struct update_state *ret)
{
    *ret = s->saved.shown;
}

const char *update_incoming(const struct feed_update *s)
{
    return s->incoming;
}

/* ---- an update ---- */

struct update {
    struct feed_update *s;
    const struct update_body *body;
    update_line_fn *on_line;
    void *context;
    struct update_report *report;
    struct feed_exclude *guard;
    struct list_reader *reader; /* NULL: there is no list yet */
    struct hashkey key;
    struct feed_set old;
    struct intake intake;
    struct compare compare;
    uint64_t number; /* of the version to come */
};

/* The last good set and, where it does not say all, the list itself. */
static enum err open_old(struct update *u, struct errinfo *reterr)
{
    struct feed_update *s = u->s;
    struct errinfo why = {.code = ERR_OK};
    enum err e = update_list_open(s, &u->reader, &u->key, reterr);
    if (e != ERR_OK) {
        return e;
    }
    e = update_set_open(s, s->saved.shown.version, &u->key, &u->old, &why);
    if (e != ERR_OK && e != ERR_CORRUPT && e != ERR_NOT_FOUND && e != ERR_VERSION) {
        return errinfo_set(reterr, e, why.source, 0, "%s", why.text);
    }
    if (e != ERR_OK && !s->saved.is_lost) {
        log_errinfo("feeds", &why);
        s->saved.is_lost = true;
    }
    return ERR_OK;
}

static bool wants_walk(const struct update *u)
{
    const struct update_saved *d = &u->s->saved;
    bool is_old = update_now_s() >= d->compared_s + UPDATE_COMPARE_S;
    return u->reader &&
           (u->s->saved.is_lost || d->is_silent || (d->shown.version != 0 && is_old));
}

/* Sorted entries against what there was; *set and *changes are closed either way. */
static enum err compare_with_list(struct update *u, struct errinfo *reterr)
{
    struct feed_update *s = u->s;
    char set_path[FILE_PATH_MAX];
    char changes_path[FILE_PATH_MAX];
    struct feed_set_out set;
    struct feed_diff_out changes;
    struct mirror_iter *walk = NULL;
    enum err e = update_file(s, "set", u->number, set_path, reterr);
    THEN(e, update_file(s, "changes", u->number, changes_path, reterr));
    if (e == ERR_OK && wants_walk(u)) {
        e = mirror_iter_of_reader(u->reader, update_now_s(), &walk, reterr);
    }
    if (e != ERR_OK) {
        return e;
    }
    const struct set_kind kind = {u->key.id, stage_url_match(s)};
    e = feed_set_out_open(&set, set_path, &kind, reterr);
    enum err opened =
        feed_diff_out_open(&changes, changes_path, e == ERR_OK ? reterr : NULL);
    u->compare = (struct compare){.stage = s,
                                  .fresh = u->intake.sorter,
                                  .old = &u->old,
                                  .walk = walk,
                                  .walk_leaves = s->saved.is_lost,
                                  .lists_all = !u->reader || s->saved.is_silent,
                                  .keep_s = s->feed->keep_s,
                                  .guard = u->guard,
                                  .set = &set,
                                  .changes = &changes};
    THEN(e, opened);
    THEN(e, compare_run(&u->compare, reterr));
    THEN(e, feed_set_out_commit(&set, reterr));
    THEN(e, feed_diff_out_commit(&changes, reterr));
    feed_set_out_abort(&set);
    feed_diff_out_abort(&changes);
    u->compare.set = NULL;
    u->compare.changes = NULL;
    if (walk && e == ERR_OK) {
        s->saved.compared_s = update_now_s();
    }
    mirror_iter_free(&walk);
    return e;
}

/* Everything that happens before the list is touched. */
static enum err examine(struct update *u, struct errinfo *reterr)
{
    struct feed_update *s = u->s;
    enum err e = feed_exclude_new(s->config, s->feed, s->keys, &u->guard, reterr);
    THEN(e, open_old(u, reterr));
    if (e != ERR_OK) {
        return e;
    }
    u->number = s->saved.last + 1;
    u->intake = (struct intake){.stage = s,
                                .guard = u->guard,
                                .key = u->key,
                                .on_line = u->on_line,
                                .context = u->context};
    e = intake_read(&u->intake, s->incoming, reterr);
    struct update_refusal *refusal = &u->report->refusal;
    u->report->counts = u->intake.counts;
    u->report->left_out = u->intake.left_out;
    if (e == ERR_OK) {
        update_check(s, &u->intake, NULL, u->guard, u->body->is_by_hand, refusal);
    }
    if (e == ERR_OK && refusal->reason[0] == '\0') {
        e = compare_with_list(u, reterr);
        if (e == ERR_OK) {
            update_check(s, &u->intake, &u->compare, u->guard, u->body->is_by_hand,
                         refusal);
        }
    }
    return e;
}

/* The body beside its set, durably. */
static enum err keep_body(const struct update *u, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    const struct feed_update *s = u->s;
    enum err e = update_file(s, "body", u->number, path, reterr);
    if (e != ERR_OK) {
        return e;
    }
    int fd = open(s->incoming, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0 || fsync(fd) != 0 || fchmod(fd, FEED_SET_FILE_MODE) != 0 ||
        rename(s->incoming, path) != 0) {
        e = errinfo_errno(reterr, s->incoming, "cannot be kept");
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return e == ERR_OK ? file_sync_dir(s->dir, reterr) : e;
}

static void note_good(struct update *u)
{
    struct update_state *w = &u->s->saved.shown;
    const struct update_body *b = u->body;
    w->good_s = update_now_s();
    w->format = u->intake.counts.format;
    w->refusal = (struct update_refusal){.at_s = 0};
    (void)snprintf(w->etag, sizeof(w->etag), "%s", b->etag ? b->etag : "");
    (void)snprintf(w->last_modified, sizeof(w->last_modified), "%s",
                   b->last_modified ? b->last_modified : "");
}

/* The version is unchanged, but the list may lack some of its entries. */
static enum err mend(struct update *u, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct feed_update *s = u->s;
    enum err e = update_file(s, "changes", u->number, path, reterr);
    THEN(e, update_apply(s, path, reterr));
    if (e == ERR_OK) {
        s->saved.is_silent = false;
        s->saved.shown.entries = u->compare.entries;
    }
    return e;
}

static enum err apply_update(struct update *u, struct errinfo *reterr)
{
    struct feed_update *s = u->s;
    const struct compare *c = &u->compare;
    struct update_pending p = {.version = {u->number, update_now_s(), c->entries},
                               .entered = c->entered};
    enum err e = ERR_OK;
    u->report->is_same = c->entered == 0 && c->left == 0 && c->changed == 0 &&
                         update_version_find(s, s->saved.shown.version);
    if (u->report->is_same) {
        e = mend(u, reterr);
    } else {
        e = keep_body(u, reterr);
        THEN(e, update_publish(s, &p, reterr));
    }
    if (e != ERR_OK) {
        return e;
    }
    s->saved.shown.is_pinned = false;
    note_good(u);
    return update_save(s, reterr);
}

/* One line for each entry that came or left, if the caller wants them. */
static enum err report_changes(struct update *u, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct feed_set fresh = {.n = 0};
    struct update_sides sides = {.from = &u->old,
                                 .from_number = u->s->saved.shown.version,
                                 .to = &fresh,
                                 .to_body = u->s->incoming,
                                 .key = u->key};
    enum err e = update_file(u->s, "set", u->number, path, reterr);
    THEN(e, feed_set_open(&fresh, path, reterr));
    THEN(e, update_tell(u->s, &sides, u->on_line, u->context, reterr));
    feed_set_close(&fresh);
    return e;
}

static enum err decide_update(struct update *u, struct errinfo *reterr)
{
    struct feed_update *s = u->s;
    struct update_state *w = &s->saved.shown;
    u->report->entries = w->entries;
    if (u->report->refusal.reason[0] != '\0') {
        if (u->body->only_checks) {
            return ERR_OK;
        }
        w->refusal = u->report->refusal;
        return update_save(s, reterr);
    }
    u->report->entered = u->compare.entered;
    u->report->left = u->compare.left;
    u->report->entries = u->compare.entries;
    enum err e = u->on_line ? report_changes(u, reterr) : ERR_OK;
    if (e != ERR_OK || u->body->only_checks) {
        return e;
    }
    if (w->is_pinned && !u->body->is_by_hand) {
        w->good_s = update_now_s();
        u->report->entries = w->entries;
        return update_save(s, reterr);
    }
    uint64_t begin_us = clock_mono_us();
    e = apply_update(u, reterr);
    u->report->apply_us = clock_mono_us() - begin_us;
    return e;
}

enum err update_update(struct feed_update *s, const struct update_body *body,
                       update_line_fn *on_line, void *context,
                       struct update_report *ret, struct errinfo *reterr)
{
    struct update u = {
        .s = s, .body = body, .on_line = on_line, .context = context, .report = ret};
    uint64_t begin_us = clock_mono_us();
    *ret = (struct update_report){.entries = s->saved.shown.entries};
    enum err e = update_settle(s, reterr);
    THEN(e, examine(&u, reterr));
    ret->check_us = clock_mono_us() - begin_us;
    THEN(e, decide_update(&u, reterr));
    sorter_free(&u.intake.sorter);
    feed_set_close(&u.old);
    list_reader_close(&u.reader);
    feed_exclude_free(&u.guard);
    (void)unlink(s->incoming);
    update_sweep(s);
    return e;
}
