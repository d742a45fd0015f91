#include "core/report/reports.h"

#include <pthread.h>

#include "core/base/clock.h"
#include "core/report/report_peers.h"

enum { US_PER_S = 1000000, TEACH_US = 50000 /* at once, with the lock */ };
#define TEACH_WEIGHT ((double)LEARNER_REPORT) /* of a fully trusted report */

struct reports {
    pthread_mutex_t lock; /* of writing */
    struct report_log *log;
    struct votes *votes;
    struct report_peers *peers;
    struct hashkey key; /* of reporters: the ring's */
    char state_dir[FILE_PATH_MAX];
    struct learner *learner; /* of the last reports_teach; NULL: none */
    uint64_t taught;         /* entries up to this number */
};

static uint64_t now_s(void)
{
    return clock_wall_us() / US_PER_S;
}

struct noting {
    struct votes *votes;
    struct report_peers *peers;
};

static bool note_entry(void *context, const struct report *r)
{
    struct noting *n = context;

    report_peers_until(n->peers, r->time_s);
    votes_note(n->votes, r);
    return true;
}

/* Makes the votes from the log and the other servers. *retpeers may be NULL. */
static enum err read_votes(const struct reports_options *o, struct votes **ret,
                           struct report_peers **retpeers, struct errinfo *reterr)
{
    struct noting n = {.votes = votes_new(&o->keys->ring[0])};
    enum err e = ERR_OK;

    *ret = n.votes;
    n.peers = n.votes != NULL ? report_peers_new(o->state_dir, o->keys, n.votes) : NULL;
    if (n.peers == NULL) {
        return errinfo_nomem(reterr, o->state_dir);
    }
    report_peers_look(n.peers, o->config, now_s());
    e = report_log_each(o->state_dir, note_entry, &n, NULL, reterr);
    report_peers_until(n.peers, UINT64_MAX);
    if (retpeers != NULL) {
        *retpeers = n.peers;
    } else {
        report_peers_free(&n.peers);
    }
    return e;
}

enum err reports_open(const struct reports_options *options, struct reports **ret,
                      struct errinfo *reterr)
{
    struct reports *r = calloc(1, sizeof(*r));

    *ret = NULL;
    if (r == NULL) {
        return errinfo_nomem(reterr, options->state_dir);
    }
    r->key = options->keys->ring[0];
    (void)pthread_mutex_init(&r->lock, NULL);
    enum err e = path_make(r->state_dir, reterr, "%s", options->state_dir);
    THEN(e, report_log_open(options->state_dir, &r->log, reterr));
    THEN(e, read_votes(options, &r->votes, &r->peers, reterr));
    if (e != ERR_OK) {
        reports_close(&r);
        return e;
    }
    reports_age(r, options->keep_s);
    *ret = r;
    return ERR_OK;
}

enum err reports_view(const struct reports_options *options, struct votes **ret,
                      struct errinfo *reterr)
{
    return read_votes(options, ret, NULL, reterr);
}

struct reports_follower {
    pthread_mutex_t lock; /* guards: all below */
    struct keyring keys;  /* a copy */
    struct report_log_place place;
    struct report_peers *peers;
    struct votes *votes; /* NULL: nothing was read */
    uint64_t entries;
};

struct reports_follower *reports_follower_new(void)
{
    struct reports_follower *f = calloc(1, sizeof(*f));
    if (f != NULL) {
        (void)pthread_mutex_init(&f->lock, NULL);
    }
    return f;
}

void reports_follower_free(struct reports_follower **f)
{
    if (*f != NULL) {
        report_peers_free(&(*f)->peers);
        votes_free(&(*f)->votes);
        explicit_bzero(&(*f)->keys, sizeof((*f)->keys));
        (void)pthread_mutex_destroy(&(*f)->lock);
        free(*f);
        *f = NULL;
    }
}

static bool note_followed(void *context, const struct report *r)
{
    struct reports_follower *f = context;
    report_peers_until(f->peers, r->time_s);
    votes_note(f->votes, r);
    f->entries++;
    return true;
}

/* From the beginning, as with another key. */
static enum err begin_again(struct reports_follower *f, const struct reports_options *o,
                            struct errinfo *reterr)
{
    report_peers_free(&f->peers);
    votes_free(&f->votes);
    f->place = (struct report_log_place){.file = 0};
    f->keys = *o->keys;
    f->votes = votes_new(&f->keys.ring[0]);
    f->peers =
        f->votes != NULL ? report_peers_new(o->state_dir, &f->keys, f->votes) : NULL;
    if (f->peers == NULL) {
        return errinfo_nomem(reterr, o->state_dir);
    }
    report_peers_look(f->peers, o->config, now_s());
    return ERR_OK;
}

enum err reports_follower_votes(struct reports_follower *f,
                                const struct reports_options *options,
                                struct votes **ret, struct errinfo *reterr)
{
    const char *dir = options->state_dir;
    enum err e = ERR_OK;

    (void)pthread_mutex_lock(&f->lock);
    if (f->votes == NULL || memcmp(&f->keys.ring[0], &options->keys->ring[0],
                                   sizeof(f->keys.ring[0])) != 0) {
        e = begin_again(f, options, reterr);
    }
    THEN(e, report_log_follow(dir, &f->place, note_followed, f, reterr));
    if (e == ERR_RANGE) {
        e = begin_again(f, options, reterr);
        THEN(e, report_log_follow(dir, &f->place, note_followed, f, reterr));
    }
    if (e != ERR_OK) { /* what was read may have a gap */
        report_peers_free(&f->peers);
        votes_free(&f->votes);
        (void)pthread_mutex_unlock(&f->lock);
        return e;
    }
    report_peers_until(f->peers, UINT64_MAX);
    report_peers_look(f->peers, options->config, now_s());
    report_peers_until(f->peers, UINT64_MAX);
    *ret = f->votes;
    return ERR_OK;
}

void reports_follower_release(struct reports_follower *f)
{
    (void)pthread_mutex_unlock(&f->lock);
}

uint64_t reports_follower_entries(struct reports_follower *f)
{
    (void)pthread_mutex_lock(&f->lock);
    uint64_t n = f->entries;
    (void)pthread_mutex_unlock(&f->lock);
    return n;
}

void reports_called(void *context, const struct digest digest[KEYRING_MAX],
                    uint64_t from_s, uint64_t to_s, struct count_called *ret)
{
    static const struct digest none;
    struct votes_item item = {.n = 0};
    struct votes_called called;

    while (item.n < KEYRING_MAX && digest_cmp(&digest[item.n], &none) != 0) {
        item.digest[item.n] = report_digest(&digest[item.n]);
        item.n++;
    }
    votes_called(context, &item, from_s, to_s, &called);
    *ret = (struct count_called){called.spam, called.good, called.is_cleared};
}

void reports_close(struct reports **r)
{
    if (*r != NULL) {
        report_peers_free(&(*r)->peers);
        votes_free(&(*r)->votes);
        report_log_close(&(*r)->log);
        (void)pthread_mutex_destroy(&(*r)->lock);
        free(*r);
        *r = NULL;
    }
}

struct votes *reports_votes(struct reports *r)
{
    return r != NULL ? r->votes : NULL;
}

/* ---- the model ---- */

struct teaching {
    struct reports *reports;
    struct learner *learner;
    uint64_t applied;
    uint64_t until_us; /* then the others get the lock */
    bool has_failed;
    bool is_stopped;
};

static void unteach(struct teaching *t, uint64_t number)
{
    enum err e = number != 0 ? learner_remove(t->learner, number) : ERR_OK;

    t->has_failed = t->has_failed || (e != ERR_OK && e != ERR_NOT_FOUND);
}

static void teach_report(struct teaching *t, const struct report *v)
{
    struct votes *votes = t->reports->votes;
    struct votes_report last;
    bool is_trap = slice_eq(v->reporter, SLICE_LIT(REPORT_TRAP));

    unteach(t, v->replaces);
    if (v->vector.n == 0 || v->number <= t->applied ||
        !votes_standing(votes, v->reporter, v->message, &last) ||
        last.number != v->number || !last.is_counted) {
        return;
    }
    const struct learner_example e = {
        .number = v->number,
        .is_spam = v->is_spam,
        .weight = (float)(TEACH_WEIGHT * votes_lesson(votes, v->reporter, v->time_s)),
        .source = is_trap ? LEARNER_TRAP : LEARNER_REPORTED,
        .vector = v->vector};
    enum err taught = learner_add(t->learner, &e);

    t->has_failed = t->has_failed || taught == ERR_NOMEM || taught == ERR_IO;
}

static bool teach_entry(void *context, const struct report *v)
{
    struct teaching *t = context;
    struct votes_report of;

    if (v->number <= t->reports->taught) {
        return true;
    }
    if (v->entry == REPORT_GIVEN) {
        teach_report(t, v);
    } else if (v->entry == REPORT_UNDONE && votes_find(t->reports->votes, v->id, &of)) {
        unteach(t, of.number);
    }
    if (!t->has_failed) {
        t->reports->taught = v->number;
    }
    t->is_stopped = t->has_failed || clock_mono_us() >= t->until_us;
    return !t->is_stopped;
}

/* Teaches an entry that was just written, if all before it are taught. */
static void teach_fresh(struct reports *r, const struct report *v)
{
    struct teaching t = {.reports = r, .learner = r->learner};

    if (r->learner != NULL && r->taught + 1 == v->number) {
        (void)teach_entry(&t, v);
    }
}

bool reports_teach(struct reports *r, struct learner *learner)
{
    struct teaching t = {
        .reports = r, .learner = learner, .until_us = clock_mono_us() + TEACH_US};

    pthread_mutex_lock(&r->lock);
    if (learner == NULL) {
        r->learner = NULL;
        pthread_mutex_unlock(&r->lock);
        return true;
    }
    if (r->learner !=
        learner) { /* a learner that was opened again has what it wrote down */
        r->learner = learner;
        r->taught = 0;
    }
    t.applied = learner_applied(learner);
    report_log_skip(r->log, t.applied);
    uint64_t last = report_log_last(r->log);
    if (r->taught < last) {
        (void)report_log_each(r->state_dir, teach_entry, &t, NULL, NULL);
    }
    if (!t.is_stopped) {
        r->taught = last; /* also where numbers were skipped */
    }
    bool is_done = r->taught >= last;
    pthread_mutex_unlock(&r->lock);
    return is_done;
}

/* ---- giving ---- */

static void look(struct reports *r, const struct report *v, struct votes_opinion *ret)
{
    struct votes_item items[REPORT_ITEMS_MAX];

    for (size_t i = 0; i < v->nitems; i++) {
        items[i] = (struct votes_item){
            .digest = {v->items[i].digest}, .n = 1, .proof = v->items[i].proof};
    }
    votes_judge(r->votes, items, v->nitems, 0, v->time_s, ret);
}

static void count_own(const struct report *v, struct reports_outcome *ret)
{
    for (size_t i = 0; i < v->nitems; i++) {
        ret->votes += v->items[i].proof != REPORT_NO_PROOF;
    }
}

/* Whether the reporter said it before. An opposite report that holds is replaced. */
static bool is_again(struct reports *r, struct report *v, struct reports_outcome *ret)
{
    struct votes_report former;
    struct votes_opinion now;

    if (!votes_standing(r->votes, v->reporter, v->message, &former)) {
        return false;
    }
    if (former.is_spam != v->is_spam) {
        ret->replaced = former.id;
        v->replaces = former.number;
        return false;
    }
    look(r, v, &now);
    ret->id = former.id;
    ret->is_again = true;
    ret->before = now.standing;
    ret->after = now.standing;
    ret->is_counted = former.is_counted;
    return true;
}

static enum err keep_report(struct reports *r, struct report *v,
                            struct reports_outcome *ret, struct errinfo *reterr)
{
    struct votes_opinion before;
    struct votes_opinion after;
    struct votes_report kept = {.is_counted = false};

    look(r, v, &before);
    enum err e = report_log_add(r->log, v, 1, reterr);
    if (e != ERR_OK) {
        return e;
    }
    votes_note(r->votes, v);
    teach_fresh(r, v);
    look(r, v, &after);
    (void)votes_find(r->votes, v->id, &kept);
    ret->id = v->id;
    ret->is_counted = kept.is_counted;
    ret->before = before.standing;
    ret->after = after.standing;
    bool decides = after.standing == (v->is_spam ? STANDING_SPAM : STANDING_HAM);
    ret->overruled = decides ? (v->is_spam ? after.nham : after.nspam) : 0;
    return ERR_OK;
}

enum err reports_give(struct reports *r, struct report *v, struct reports_outcome *ret,
                      struct errinfo *reterr)
{
    enum err e = ERR_OK;

    *ret = (struct reports_outcome){.id = 0};
    v->entry = REPORT_GIVEN;
    count_own(v, ret);
    pthread_mutex_lock(&r->lock);
    if (!is_again(r, v, ret)) {
        e = keep_report(r, v, ret, reterr);
    }
    ret->trust = votes_trust(r->votes, v->reporter, v->time_s);
    pthread_mutex_unlock(&r->lock);
    return e;
}

/* ---- afterwards ---- */

static enum err not_found(struct errinfo *reterr)
{
    return errinfo_set(reterr, ERR_NOT_FOUND, "report", 0,
                       "there is no report with this id; `gillnet report list` shows "
                       "those there are");
}

enum err reports_note_changed(struct reports *r, uint64_t id, struct slice changed,
                              struct errinfo *reterr)
{
    struct votes_report of;
    struct report *entry = calloc(1, sizeof(*entry));

    if (entry == NULL || changed.n > REPORT_CHANGED_MAX) {
        free(entry);
        return errinfo_nomem(reterr, "report");
    }
    entry->entry = REPORT_CHANGED;
    entry->id = id;
    entry->time_s = now_s();
    entry->changed = changed;
    pthread_mutex_lock(&r->lock);
    enum err e = votes_find(r->votes, id, &of)
                     ? report_log_add(r->log, entry, 1, reterr)
                     : not_found(reterr);
    if (e == ERR_OK) {
        teach_fresh(r, entry);
    }
    pthread_mutex_unlock(&r->lock);
    free(entry);
    return e;
}

/* Writes the entry, then tells votes and model. The lock is held. */
static enum err add_entry(struct reports *r, struct report *entry,
                          struct errinfo *reterr)
{
    enum err e = report_log_add(r->log, entry, 1, reterr);

    if (e == ERR_OK) {
        votes_note(r->votes, entry);
        teach_fresh(r, entry);
    }
    return e;
}

enum err reports_note_listed(struct reports *r, struct votes_listing *l, bool is_listed,
                             uint64_t known_s, struct errinfo *reterr)
{
    struct report *entry = calloc(1, sizeof(*entry));

    if (entry == NULL) {
        return errinfo_nomem(reterr, "report");
    }
    l->time_s = now_s();
    entry->entry = REPORT_LISTED;
    entry->is_spam = is_listed;
    entry->time_s = l->time_s;
    entry->known_s = known_s;
    entry->listed = l->listed;
    entry->way = slice_str(l->list);
    for (unsigned k = 0; k < l->n; k++) {
        entry->items[entry->nitems++] = (struct report_item){.digest = l->digest[k]};
    }
    pthread_mutex_lock(&r->lock);
    enum err e = add_entry(r, entry, reterr);
    pthread_mutex_unlock(&r->lock);
    free(entry);
    return e;
}

struct finding {
    uint64_t id;
    struct buf *ret;
};

static bool find_changed(void *context, const struct report *r)
{
    struct finding *f = context;

    if (r->entry == REPORT_CHANGED && r->id == f->id) {
        buf_add(f->ret, r->changed);
        buf_add_char(f->ret, '\n');
    }
    return true;
}

static enum err may_undo(struct reports *r, uint64_t id, struct slice by,
                         struct errinfo *reterr)
{
    struct votes_report of;

    if (!votes_find(r->votes, id, &of)) {
        return not_found(reterr);
    }
    if (of.is_undone) {
        return errinfo_set(reterr, ERR_EXISTS, "report", 0, "it was undone before");
    }
    return slice_eq(by, SLICE_LIT(REPORT_ADMINISTRATOR)) ||
                   of.reporter == trust_reporter(&r->key, by)
               ? ERR_OK
               : errinfo_set(reterr, ERR_DENIED, "report", 0,
                             "another reporter gave it; only that one and the "
                             "administrator can undo it");
}

enum err reports_undo(struct reports *r, uint64_t id, struct slice by,
                      struct buf *retchanged, struct errinfo *reterr)
{
    struct finding f = {id, retchanged};
    struct report *entry = calloc(1, sizeof(*entry));

    if (entry == NULL) {
        return errinfo_nomem(reterr, "report");
    }
    entry->entry = REPORT_UNDONE;
    entry->id = id;
    entry->time_s = now_s();
    entry->reporter = by;
    pthread_mutex_lock(&r->lock);
    enum err e = may_undo(r, id, by, reterr);
    THEN(e, report_log_each(r->state_dir, find_changed, &f, NULL, reterr));
    THEN(e, add_entry(r, entry, reterr));
    pthread_mutex_unlock(&r->lock);
    free(entry);
    return e;
}

void reports_look_at_peers(struct reports *r, const struct config *config)
{
    pthread_mutex_lock(&r->lock);
    report_peers_look(r->peers, config, now_s());
    report_peers_until(r->peers, UINT64_MAX);
    pthread_mutex_unlock(&r->lock);
}

void reports_age(struct reports *r, uint64_t keep_s)
{
    uint64_t now = now_s();

    pthread_mutex_lock(&r->lock);
    votes_age(r->votes, now, now > keep_s ? now - keep_s : 0);
    (void)report_log_trim(r->log, now, keep_s);
    pthread_mutex_unlock(&r->lock);
}
