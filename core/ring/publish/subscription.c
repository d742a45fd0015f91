/* subscription - heads of several places: the checks, and which of them count. */
#include "core/ring/publish/subscription.h"

#include "core/base/dir_walk.h"
#include "core/ring/publish/subscription_internal.h"
#include "core/ring/trust/peer_file.h"

static const char *const answers[SUBSCRIPTION_ANSWERS] = {
    [SUBSCRIPTION_NEWER] = "newer",     [SUBSCRIPTION_SAME] = "same",
    [SUBSCRIPTION_OLDER] = "older",     [SUBSCRIPTION_KEY] = "key",
    [SUBSCRIPTION_REFUSED] = "refused",
};

const char *subscription_answer_name(enum subscription_answer a)
{
    return answers[a];
}

/* ---- life ---- */

static enum err subscription_path(char ret[FILE_PATH_MAX], const char *state_dir,
                                  const char *name, struct errinfo *reterr)
{
    return path_make(ret, reterr, "%s/peers/subscriptions/%s", state_dir, name);
}

static enum err make_folders(const char *state_dir, const char *dir,
                             struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = path_make(path, reterr, "%s/peers", state_dir);
    THEN(e, peer_file_make_dir(path, reterr));
    THEN(e, path_make(path, reterr, "%s/peers/subscriptions", state_dir));
    THEN(e, peer_file_make_dir(path, reterr));
    return e == ERR_OK ? peer_file_make_dir(dir, reterr) : e;
}

/* Removes the files of a subscription's folder except those that `keep` accepts. */
typedef bool keep_fn(const void *context, const char *name);
static enum err remove_files(const char *dir, keep_fn *keep, const void *context,
                             struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = ERR_OK;
    struct dir_walk w = dir_walk_begin(dir, DIR_OPTIONAL);
    while (e == ERR_OK && dir_walk_next(&w)) {
        if (w.name[0] != '.' && !(keep && keep(context, w.name)) &&
            path_make(path, NULL, "%s/%s", dir, w.name) == ERR_OK &&
            unlink(path) != 0) {
            e = errinfo_errno(reterr, path, "cannot remove the file");
        }
    }
    return dir_walk_end(&w, e, reterr);
}

static enum err drop_all(const char *dir, const char *name,
                         const uint8_t key[OBJECT_KEY_BYTES], struct peerlists *lists,
                         struct errinfo *reterr)
{
    struct object_id place;
    subscription_place(name, key, &place);
    enum err e = peerlists_drop(lists, &place, reterr);
    return e == ERR_OK ? remove_files(dir, NULL, NULL, reterr) : e;
}

enum err subscription_drop(const char *state_dir, const char *name,
                           struct peerlists *lists, struct errinfo *reterr)
{
    char dir[FILE_PATH_MAX];
    uint8_t key[OBJECT_KEY_BYTES];
    struct seen seen;
    enum err e = subscription_path(dir, state_dir, name, reterr);
    if (e == ERR_OK) {
        e = seen_read(dir, key, &seen, reterr);
        e = e == ERR_NOT_FOUND ? remove_files(dir, NULL, NULL, reterr)
            : e == ERR_OK      ? drop_all(dir, name, key, lists, reterr)
                               : e;
    }
    if (e == ERR_OK && rmdir(dir) != 0 && errno != ENOENT) {
        e = errinfo_errno(reterr, dir, "cannot remove the folder");
    }
    return e;
}

/* Files of followed lists, and the other files of the folder. */
static bool is_of_now(const void *context, const char *name)
{
    const struct subscription *s = context;
    const char *dot = strchr(name, '.');
    if (!dot || strcmp(dot, ".part") == 0) {
        return true;
    }
    for (size_t i = 0; i < s->nfollow; i++) {
        if (slice_eq(slice_of(name, (size_t)(dot - name)),
                     slice_str(s->follow[i].map.ours))) {
            return true;
        }
    }
    return false;
}

/* Drops all lists after one is no longer followed; follow_recover makes the others again. */
static enum err forget_lists(struct subscription *s, struct errinfo *reterr)
{
    enum err e = peerlists_drop(s->lists, &s->kept_as, reterr);
    return e == ERR_OK ? remove_files(s->dir, is_of_now, s, reterr) : e;
}

static bool has_others(const struct subscription *s)
{
    bool found = false;
    struct dir_walk w = dir_walk_begin(s->dir, DIR_OPTIONAL);
    while (!found && dir_walk_next(&w)) {
        found = w.name[0] != '.' && !is_of_now(s, w.name);
    }
    (void)dir_walk_end(&w, ERR_OK, NULL);
    return found;
}

static enum err load_seen(struct subscription *s, struct errinfo *reterr)
{
    uint8_t key[OBJECT_KEY_BYTES];
    enum err e = seen_read(s->dir, key, &s->seen, reterr);
    if (e == ERR_NOT_FOUND) {
        /* `seen` is written before anything is taken, so other files are remains */
        s->seen = (struct seen){.seq = 0};
        return remove_files(s->dir, NULL, NULL, reterr);
    }
    if (e == ERR_OK && memcmp(key, s->key, sizeof(key)) != 0) {
        s->seen = (struct seen){.seq = 0};
        return drop_all(s->dir, s->name, key, s->lists, reterr);
    }
    s->has_key = e == ERR_OK;
    return e;
}

static enum err open_all(struct subscription *s, const char *state_dir,
                         struct errinfo *reterr)
{
    enum err e = make_folders(state_dir, s->dir, reterr);
    THEN(e, file_sweep_temps(s->dir, reterr));
    THEN(e, load_seen(s, reterr));
    if (e == ERR_OK && has_others(s)) {
        e = forget_lists(s, reterr);
    }
    for (size_t i = 0; e == ERR_OK && i < s->nfollow; i++) {
        e = follow_recover(s, &s->follow[i], reterr);
    }
    return e;
}

enum err subscription_open(const struct subscription_options *options,
                           struct peerlists *lists, const struct keyring *keys,
                           struct subscription **ret, struct errinfo *reterr)
{
    struct subscription *s = calloc(1, sizeof(*s));
    if (!s) {
        return errinfo_nomem(reterr, options->name);
    }
    (void)snprintf(s->name, sizeof(s->name), "%s", options->name);
    memcpy(s->key, options->key, sizeof(s->key));
    identity_origin(s->key, &s->origin);
    subscription_place(s->name, s->key, &s->kept_as);
    s->lists = lists;
    s->keys = keys;
    s->most_entries = options->most_entries;
    s->most_change = options->most_change;
    enum err e = subscription_path(s->dir, options->state_dir, options->name, reterr);
    if (e == ERR_OK && options->nmaps > REPOSITORY_LISTS_MAX) {
        e = errinfo_set(reterr, ERR_LIMIT, options->name, 0, "more than %d lists",
                        REPOSITORY_LISTS_MAX);
    }
    for (size_t i = 0; e == ERR_OK && i < options->nmaps; i++) {
        s->follow[s->nfollow++].map = options->maps[i];
    }
    THEN(e, open_all(s, options->state_dir, reterr));
    if (e != ERR_OK) {
        subscription_close(&s);
        return e;
    }
    *ret = s;
    return ERR_OK;
}

void subscription_close(struct subscription **s)
{
    if (*s) {
        work_end(&(*s)->work);
        free(*s);
    }
    *s = NULL;
}

void subscription_place(const char *name, const uint8_t key[OBJECT_KEY_BYTES],
                        struct object_id *ret)
{
    const struct slice parts[] = {SLICE_LIT("gillnet-subscription/1\0"),
                                  slice_of(key, OBJECT_KEY_BYTES), slice_str(name)};
    struct hash256 hash;
    hash256_make(parts, LENGTH(parts), &hash);
    memcpy(ret->b, hash.b, OBJECT_ID_BYTES);
}

/* ---- heads ---- */

void subscription_begin(struct subscription *s, uint64_t now_ms)
{
    s->now_ms = now_ms;
    s->was_heard = false;
    s->was_outdated = false;
    s->is_answered = false;
    s->refused = (struct errinfo){.code = ERR_OK};
    work_end(&s->work);
    for (size_t i = 0; i < s->nfollow; i++) {
        s->follow[i].is_given_up = false;
    }
}

static enum err refuse_heads(struct errinfo *reterr, enum err e, const char *why)
{
    return errinfo_set(reterr, e, "v1/heads", 0, "%s", why);
}

const struct head *heads_find(const struct head *rows, size_t n, const char *list)
{
    for (size_t i = 0; i < n; i++) {
        if (strcmp(rows[i].stream.list, list) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

/* A stream must continue the part that was taken. */
static enum err check_row(const struct follow *f, const struct head *row,
                          struct errinfo *reterr)
{
    if (!row || !f->is_known || row->stream.inc > f->stream.inc) {
        return ERR_OK;
    }
    if (row->stream.inc < f->stream.inc || row->seq < f->seq) {
        return refuse_heads(
            reterr, ERR_RANGE,
            "a rollback: a list has gone back behind what was taken of it");
    }
    if (row->seq == f->seq && !hash256_equal(&row->hash, &f->hash)) {
        return refuse_heads(reterr, ERR_RANGE,
                            "a fork: the publisher signed two histories of a list");
    }
    return ERR_OK;
}

static enum err check_time(const struct subscription *s, const struct repository *p,
                           uint64_t not_before_ms, struct errinfo *reterr)
{
    const struct object *beat = &p->heartbeat;
    if (beat->created_ms > s->now_ms + (uint64_t)SUBSCRIPTION_SKEW_S * 1000) {
        return refuse_heads(reterr, ERR_RANGE,
                            "they come from the future; check both clocks");
    }
    if (beat->created_ms < not_before_ms) {
        return refuse_heads(reterr, ERR_KEY, "signed with a key that was not yet good");
    }
    if (beat->expires_ms < s->now_ms) {
        return refuse_heads(
            reterr, ERR_TIMEOUT,
            "they have expired: nothing was published for long, or somebody "
            "keeps newer ones back");
    }
    return ERR_OK;
}

static enum err check_newer(const struct subscription *s, const struct repository *p,
                            struct errinfo *reterr)
{
    const struct heads *h = &p->heads;
    if (p->heartbeat.seq <= s->seen.seq) {
        return refuse_heads(
            reterr, ERR_RANGE,
            "a rollback: made later, but with a lower number than those seen");
    }
    for (size_t i = 0; i < s->nfollow; i++) {
        const struct follow *f = &s->follow[i];
        enum err e = check_row(f, heads_find(h->v, h->n, f->map.theirs), reterr);
        if (e != ERR_OK) {
            return e;
        }
    }
    return ERR_OK;
}

static void keep_rows(struct subscription *s, unsigned place,
                      const struct repository *p)
{
    s->nrows = p->heads.n;
    memcpy(s->rows, p->heads.v, p->heads.n * sizeof(s->rows[0]));
    s->place = place;
    s->has_heads = true;
    s->was_heard = true;
}

/* Stores the heads before any object of them is taken. */
static enum err adopt(struct subscription *s, unsigned place,
                      const struct repository *p, const struct hash256 *hash,
                      const struct key_binding *binding, struct errinfo *reterr)
{
    struct seen before = s->seen;
    bool had_key = s->has_key;
    s->seen = (struct seen){.binding = *binding,
                            .created_ms = p->heartbeat.created_ms,
                            .expires_ms = p->heartbeat.expires_ms,
                            .seq = p->heartbeat.seq,
                            .heads = *hash};
    s->has_key = true;
    enum err e = seen_write(s, reterr);
    if (e != ERR_OK) {
        s->seen = before;
        s->has_key = had_key;
        return e;
    }
    keep_rows(s, place, p);
    return ERR_OK;
}

static enum subscription_answer judge_heads(struct subscription *s, unsigned place,
                                            const struct repository *p,
                                            struct slice bytes,
                                            const struct key_binding *binding,
                                            struct errinfo *reterr)
{
    struct hash256 hash;
    hash256_of(bytes, &hash);
    enum err e = repository_verify(p, bytes, &s->origin, binding->key, reterr);
    if (e == ERR_OK && p->heartbeat.created_ms < s->seen.created_ms) {
        s->was_outdated = true;
        return SUBSCRIPTION_OLDER;
    }
    THEN(e, check_time(s, p, binding->not_before_ms, reterr));
    if (e == ERR_OK && p->heartbeat.created_ms == s->seen.created_ms) {
        if (hash256_equal(&hash, &s->seen.heads)) {
            keep_rows(s, s->has_heads ? s->place : place, p);
            return SUBSCRIPTION_SAME;
        }
        e = refuse_heads(reterr, ERR_RANGE,
                         "a fork: the publisher signed two heads for one moment");
    }
    THEN(e, check_newer(s, p, reterr));
    THEN(e, adopt(s, place, p, &hash, binding, reterr));
    return e == ERR_OK ? SUBSCRIPTION_NEWER : SUBSCRIPTION_REFUSED;
}

/* The known key with this id; NULL: unknown. */
static const struct key_binding *binding_of(const struct subscription *s,
                                            uint64_t key_id)
{
    if (s->has_key && object_key_id(s->seen.binding.key) == key_id) {
        return &s->seen.binding;
    }
    return s->has_offered && object_key_id(s->offered.key) == key_id ? &s->offered
                                                                     : NULL;
}

enum subscription_answer subscription_hear(struct subscription *s, unsigned place,
                                           struct slice heads, struct errinfo *reterr)
{
    struct repository p;
    struct errinfo why = {.code = ERR_OK};
    enum subscription_answer answer = SUBSCRIPTION_REFUSED;
    if (repository_parse(heads, &p, &why) == ERR_OK) {
        const struct key_binding *found = binding_of(s, p.key_id);
        if (found) {
            struct key_binding binding = *found;
            answer = judge_heads(s, place, &p, heads, &binding, &why);
        } else if (s->is_answered) {
            (void)refuse_heads(&why, ERR_KEY,
                               "signed with another key than v1/key names");
        } else {
            answer = SUBSCRIPTION_KEY;
        }
        repository_fini(&p);
    }
    s->is_answered = false;
    if (answer == SUBSCRIPTION_REFUSED) {
        s->refused = why;
        *reterr = why;
    }
    return answer;
}

void subscription_hear_same(struct subscription *s, unsigned place)
{
    s->was_heard = s->was_heard || (s->has_heads && s->place == place);
}

enum err subscription_key(struct subscription *s, struct slice key,
                          struct errinfo *reterr)
{
    struct key_binding b;
    struct errinfo why = {.code = ERR_OK};
    enum err e = repository_key_parse(key, s->key, &b, &why);
    if (e == ERR_OK && s->has_key && b.not_before_ms < s->seen.binding.not_before_ms) {
        e = errinfo_set(
            &why, ERR_RANGE, "v1/key", 0,
            "a former key of the publisher: a mirror that lags behind, or a "
            "rollback");
    }
    if (e != ERR_OK) {
        s->refused = why;
        *reterr = why;
        return e;
    }
    s->offered = b;
    s->has_offered = true;
    s->is_answered = true;
    return ERR_OK;
}

/* ---- the end of a round ---- */

static enum err check_heads(const struct subscription *s, struct errinfo *reterr)
{
    if (s->seen.seq > 0 && s->seen.expires_ms < s->now_ms) {
        return refuse_heads(
            reterr, ERR_TIMEOUT,
            "the newest heads have expired: nothing was published for long, "
            "or somebody keeps newer ones back");
    }
    if (s->refused.code != ERR_OK && !s->was_heard) {
        *reterr = s->refused;
        return s->refused.code;
    }
    if (!s->was_heard && s->was_outdated) {
        return refuse_heads(
            reterr, ERR_RANGE,
            "a rollback: every place that answers has older heads than those "
            "seen");
    }
    return ERR_OK;
}

enum err subscription_end(struct subscription *s, struct errinfo *reterr)
{
    work_end(&s->work);
    enum err e = check_heads(s, reterr);
    for (size_t i = 0; e == ERR_OK && i < s->nfollow && s->has_heads; i++) {
        const struct follow *f = &s->follow[i];
        if (!heads_find(s->rows, s->nrows, f->map.theirs)) {
            e = errinfo_set(reterr, ERR_NOT_FOUND, f->map.theirs, 0,
                            "the publisher does not publish this list");
        } else if (f->why.code != ERR_OK) {
            *reterr = f->why;
            e = f->why.code;
        }
    }
    return e;
}

void subscription_stat(const struct subscription *s, struct subscription_stat *ret)
{
    *ret = (struct subscription_stat){.heads_ms = s->seen.created_ms,
                                      .expires_ms = s->seen.expires_ms,
                                      .publications = s->seen.seq,
                                      .lists = s->nfollow,
                                      .is_complete = s->has_heads};
    for (size_t i = 0; i < s->nfollow; i++) {
        const struct follow *f = &s->follow[i];
        const struct head *row = heads_find(s->rows, s->nrows, f->map.theirs);
        ret->entries += f->entries;
        ret->refused += f->refused;
        ret->is_complete = ret->is_complete && row && f->is_known &&
                           stream_key_equal(&row->stream, &f->stream) &&
                           row->seq == f->seq;
    }
}
