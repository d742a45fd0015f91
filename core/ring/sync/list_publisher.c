/* list_publisher - steps are the difference between two walks, or between two look-ups for each
 * digest of the log. */
#include "core/ring/sync/list_publisher.h"

#include "core/base/clock.h"
#include "core/base/hash256.h"
#include "core/base/log.h"
#include "core/list/changes_poll.h"
#include "core/message/feature/feature.h"
#include "core/ring/sync/list_publisher_internal.h"

enum { NAMES_ARENA = 128 * 1024, CHANGES_MAX = 200000, HOUR_S = 3600 };

/* ---- one digest ---- */

static uint32_t hours_of(uint32_t expiry_s)
{
    return expiry_s / HOUR_S + (expiry_s % HOUR_S != 0);
}

static struct list_record wanted(const struct mirror_entry *own,
                                 const struct list_record *held, bool has_one_owner)
{
    struct list_record w = {.digest = own->digest,
                            .after = own->status,
                            .type = own->class_type,
                            .expiry_h = hours_of(own->expiry_s)};
    if (own->status == ENTRY_TAKEN_BACK && held->after == ENTRY_ABSENT) {
        /* to peers of other owners a revocation is useless if they never had the entry */
        w.after = has_one_owner ? ENTRY_TAKEN_BACK : ENTRY_ABSENT;
        w.expiry_h = 0;
    } else if (own->status == ENTRY_TAKEN_BACK) {
        w.type = held->type;
        w.expiry_h = held->expiry_h;
    }
    return w;
}

/* Whether peers may keep the expiry that they hold. */
static bool may_keep_expiry(uint32_t known_h, uint32_t wanted_h, uint64_t now_s)
{
    if (known_h == wanted_h) {
        return true;
    }
    bool is_sooner = wanted_h != 0 && (known_h == 0 || wanted_h < known_h);
    return !is_sooner && (uint64_t)known_h * HOUR_S > now_s + LIST_PUBLISHER_RENEW_S;
}

enum list_publisher_step list_publisher_step_make(const struct mirror_entry *own,
                                                  const struct list_record *held,
                                                  bool has_one_owner, uint64_t now_s,
                                                  struct list_record *ret)
{
    struct list_record w = wanted(own, held, has_one_owner);
    struct list_record step = *held;
    step.before = held->after;
    step.after = w.after;
    if (w.after == ENTRY_STANDS && held->after != ENTRY_ABSENT &&
        (w.type != held->type || !may_keep_expiry(held->expiry_h, w.expiry_h, now_s))) {
        step.after = ENTRY_ABSENT; /* the next object brings the new entry */
        *ret = step;
        return LIST_PUBLISHER_STEP_AGAIN;
    }
    if (held->after == ENTRY_ABSENT) {
        step.type = w.type;
        step.expiry_h = w.expiry_h;
    }
    step.digest = own->digest;
    *ret = step;
    return step.before == step.after ? LIST_PUBLISHER_STEP_NONE
                                     : LIST_PUBLISHER_STEP_ONE;
}

/* ---- gathering ---- */

static void add_step(struct list_publisher *x, struct shared_list *l,
                     const struct mirror_entry *own, const struct list_record *held)
{
    enum list_publisher_step s = list_publisher_step_make(
        own, held, sync_has_one_owner(x->sync), x->now_s, &x->step[x->nsteps]);
    x->nsteps += s != LIST_PUBLISHER_STEP_NONE;
    l->is_again = l->is_again || s == LIST_PUBLISHER_STEP_AGAIN;
}

static enum err publish_steps(struct list_publisher *x, struct shared_list *l,
                              struct errinfo *reterr)
{
    enum err e = x->nsteps == 0
                     ? ERR_OK
                     : sync_publish_list(x->sync, l->name, x->step, x->nsteps, reterr);
    x->nsteps = 0;
    return e;
}

/* ---- the whole list ---- */

struct both {
    struct mirror_iter *own;  /* NULL: nothing is shared */
    struct mirror_iter *held; /* NULL: nothing was published */
    struct mirror_entry o;
    struct list_record h;
    bool has_own;
    bool has_held;
    enum err failed;
};

static void next_own(struct both *b)
{
    enum err e = ERR_OK;
    b->has_own = b->own && mirror_iter_next(b->own, &b->o, &e);
    b->failed = b->failed == ERR_OK ? e : b->failed;
}

static void next_held(struct both *b)
{
    enum err e = ERR_OK;
    struct mirror_entry held;
    b->has_held = b->held && mirror_iter_next(b->held, &held, &e);
    if (b->has_held) {
        b->h = peerlist_record(&held);
    }
    b->failed = b->failed == ERR_OK ? e : b->failed;
}

static enum err both_open(struct list_publisher *x, const struct shared_list *l,
                          struct both *b, struct errinfo *reterr)
{
    struct stream_key k;
    enum err e = ERR_OK;
    if (l->wants_entries && l->reader) {
        e = mirror_iter_of_reader(l->reader, x->now_s, &b->own, reterr);
    }
    if (e == ERR_OK && sync_own_stream(x->sync, OBJECT_LIST, l->name, &k)) {
        e = peerlist_walk(sync_lists(x->sync), &k, &b->held, reterr);
    }
    if (e == ERR_OK) {
        next_own(b);
        next_held(b);
    }
    return e;
}

/* Walks both until as many steps as fit are gathered. */
static void both_walk(struct list_publisher *x, struct shared_list *l, struct both *b)
{
    while ((b->has_own || b->has_held) && x->nsteps < LIST_PUBLISHER_STEPS_MAX) {
        int order = !b->has_own    ? 1
                    : !b->has_held ? -1
                                   : digest_cmp(&b->o.digest, &b->h.digest);
        struct mirror_entry none = {.digest = b->h.digest};
        struct list_record absent = {.digest = b->o.digest};
        add_step(x, l, order <= 0 ? &b->o : &none, order >= 0 ? &b->h : &absent);
        if (order <= 0) {
            next_own(b);
        }
        if (order >= 0) {
            next_held(b);
        }
    }
}

static enum err compare_list(struct list_publisher *x, struct shared_list *l,
                             struct errinfo *reterr)
{
    struct both b = {.failed = ERR_OK};
    struct list_position end = {.segment = 0};
    struct stream_key k;
    if (l->reader) {
        list_changes_end(l->reader, &end);
    }
    l->is_again = false;
    x->nsteps = 0;
    bool goes_on = sync_own_stream(x->sync, OBJECT_LIST, l->name, &k);
    enum err e = both_open(x, l, &b, reterr);
    if (e == ERR_OK) {
        both_walk(x, l, &b);
    }
    bool is_whole = !b.has_own && !b.has_held;
    if (e == ERR_OK && b.failed != ERR_OK) {
        e = errinfo_set(reterr, b.failed, l->name, 0, "the list is damaged");
    }
    mirror_iter_free(&b.own);
    mirror_iter_free(&b.held);
    if (e == ERR_OK && x->nsteps == 0 && !goes_on) {
        /* an older incarnation, if there is one, ends with the empty list */
        e = sync_publish_list(x->sync, l->name, NULL, 0, reterr) == ERR_OK ? ERR_OK
                                                                           : ERR_EXISTS;
    } else {
        THEN(e, publish_steps(x, l, reterr));
    }
    if (e == ERR_OK && is_whole && !l->is_again) {
        l->position = end;
        l->is_compared = true;
        l->compare_s = x->now_s + LIST_PUBLISHER_COMPARE_S;
    }
    return e;
}

/* ---- what changed ---- */

static void note_digest(void *context, const struct digest *d)
{
    struct list_publisher *x = context;
    x->changed[x->nchanged++] = *d;
}

static int by_digest(const void *a, const void *b)
{
    return digest_cmp(a, b);
}

static enum err step_of(struct list_publisher *x, struct shared_list *l,
                        const struct stream_key *k, const struct digest *d,
                        struct errinfo *reterr)
{
    struct list_record held = {.digest = *d};
    struct mirror_entry own = {.digest = *d};
    enum err e = peerlist_get(sync_lists(x->sync), k, &held, reterr);
    THEN(e, mirror_get_of_reader(l->reader, x->now_s, &own, reterr));
    if (e == ERR_OK) {
        add_step(x, l, &own, &held);
    }
    return e;
}

static enum err follow(struct list_publisher *x, struct shared_list *l,
                       struct errinfo *reterr)
{
    struct stream_key k;
    struct list_position at = l->position;
    if (!sync_own_stream(x->sync, OBJECT_LIST, l->name, &k)) {
        l->is_compared =
            false; /* nothing was published yet, or a new incarnation begins */
        return ERR_OK;
    }
    x->nchanged = 0;
    x->nsteps = 0;
    l->is_again = false;
    enum err e = list_changes(l->reader, &at, CHANGES_MAX, note_digest, x, reterr);
    if (e == ERR_NOT_FOUND) {
        l->is_compared = false;
        return ERR_OK;
    }
    qsort(x->changed, x->nchanged, sizeof(*x->changed), by_digest);
    for (size_t i = 0; e == ERR_OK && i < x->nchanged; i++) {
        if (i == 0 || digest_cmp(&x->changed[i], &x->changed[i - 1]) != 0) {
            e = step_of(x, l, &k, &x->changed[i], reterr);
        }
    }
    THEN(e, publish_steps(x, l, reterr));
    if (e == ERR_OK && !l->is_again) { /* else the same part of the log is read again */
        l->position = at;
    }
    return e;
}

/* ---- one list ---- */

/* Chooses the key of its digests. False: the ring does not have it, so no peer can use them. */
static bool look_at_key(struct list_publisher *x, struct shared_list *l)
{
    uint32_t id = l->reader ? list_reader_key(l->reader)->id : 0;
    bool is_ours = id == 0 || sync_is_ring_key(x->sync, id);
    if (!is_ours && l->foreign_key != id) {
        log_warn("event=share list=%s state=left-out: its entries are kept under key "
                 "%08" PRIx32
                 " of this server, which the ring does not have, so others "
                 "could not look them up; to share it: `gillnet list rekey %s`",
                 l->name, id, l->name);
    }
    l->foreign_key = is_ours ? 0 : id;
    sync_use_list_key(x->sync, is_ours ? id : 0);
    return is_ours;
}

static enum err tick_entries(struct list_publisher *x, struct shared_list *l,
                             bool is_changed, struct errinfo *reterr)
{
    if (!l->is_compared || x->now_s >= l->compare_s) {
        l->is_compared = false;
        enum err e = compare_list(x, l, reterr);
        return e == ERR_OK && l->is_again ? compare_list(x, l, reterr) : e;
    }
    if (!l->wants_entries || !l->reader || !(is_changed || l->position.has_more)) {
        return ERR_OK;
    }
    enum err e = follow(x, l, reterr);
    /* a second time for entries that the first only removed */
    return e == ERR_OK && l->is_again && l->is_compared ? follow(x, l, reterr) : e;
}

static enum err tick_list(struct list_publisher *x, struct shared_list *l,
                          const struct config *config, struct errinfo *reterr)
{
    struct slice name = slice_str(l->name);
    const struct config_list *c = config_list_find(config, name);
    enum list_share share = c->is_allow ? LIST_SHARE_NO : c->share;
    bool was = l->wants_entries;
    bool is_changed = false;
    if (sync_is_busy_with(x->sync, l->name)) {
        return ERR_OK; /* a later call sees the change */
    }
    if (!l->is_ours) { /* deleted or not shared: all its entries are removed at the peers */
        list_reader_close(&l->reader);
    } else if (share != LIST_SHARE_NO) {
        enum err e = list_changes_poll(x->state_dir, name, x->keys, &l->reader,
                                       &l->seen, reterr);
        if (e != ERR_OK) {
            return e;
        }
        is_changed = l->seen.is_changed;
    }
    share = look_at_key(x, l) ? share : LIST_SHARE_NO;
    l->wants_entries = share == LIST_SHARE_ENTRIES;
    l->wants_filters = share == LIST_SHARE_FILTERS;
    if (l->wants_entries != was) {
        l->is_compared = false;
    }
    l->is_dirty = l->is_dirty || is_changed;
    struct stream_key k;
    bool is_out = sync_own_stream(x->sync, OBJECT_LIST, l->name, &k);
    enum err e = ERR_OK;
    if (l->wants_entries || is_out) {
        e = tick_entries(x, l, is_changed, reterr);
    }
    enum err filters = list_publisher_filters(x, l, e == ERR_OK ? reterr : NULL);
    return e == ERR_OK ? filters : e;
}

/* ---- all lists ---- */

static struct shared_list *list_find(struct list_publisher *x, struct slice name)
{
    struct shared_list *l = NULL;
    for (size_t i = 0; i < x->n; i++) {
        if (slice_eq(slice_str(x->list[i].name), name)) {
            return &x->list[i];
        }
    }
    if (x->n < LIST_PUBLISHER_LISTS_MAX) {
        l = &x->list[x->n++];
        memcpy(l->name, name.p, name.n);
    }
    return l;
}

/* Finds the lists that the configuration shares, and those that were published. */
static enum err lists_find(struct list_publisher *x, const struct config *config,
                           struct errinfo *reterr)
{
    struct slice *names = NULL;
    size_t n = 0;
    for (size_t i = 0; i < x->n; i++) {
        x->list[i].is_ours = false;
    }
    arena_reset(x->arena);
    enum err e = list_names(x->state_dir, x->arena, &names, &n, reterr);
    for (size_t i = 0; e == ERR_OK && i < n; i++) {
        bool is_shared = config_list_find(config, names[i])->share != LIST_SHARE_NO;
        struct shared_list *l = is_shared ? list_find(x, names[i]) : NULL;
        if (is_shared && !l) {
            e = errinfo_set(reterr, ERR_LIMIT, "lists", 0,
                            "only %d lists can be shared; %.*s is not",
                            LIST_PUBLISHER_LISTS_MAX, SLICE_ARGS(names[i]));
        } else if (l) {
            l->is_ours = true;
        }
    }
    if (e != ERR_OK || x->has_mirrors) {
        return e;
    }
    arena_reset(x->arena);
    e = list_names(x->mirror_dir, x->arena, &names, &n, reterr);
    for (size_t i = 0; e == ERR_OK && i < n; i++) {
        (void)list_find(x, names[i]);
    }
    x->has_mirrors = e == ERR_OK;
    return e;
}

enum err list_publisher_tick(struct list_publisher *x, const struct config *config,
                             struct errinfo *reterr)
{
    struct errinfo first = {.code = ERR_OK};
    struct errinfo why;
    x->now_s = clock_wall_us() / 1000000;
    if (list_publisher_guard(x, config, &why) != ERR_OK) {
        first = why;
    }
    if (lists_find(x, config, &why) != ERR_OK && first.code == ERR_OK) {
        first = why;
    }
    for (size_t i = 0; i < x->n; i++) {
        enum err e = tick_list(x, &x->list[i], config, &why);
        if (e == ERR_EXISTS) {
            x->list[i].is_compared =
                false; /* an object that was signed before went first */
        } else if (e != ERR_OK) {
            x->list[i].is_compared = false;
            first = first.code == ERR_OK ? why : first;
        }
    }
    return first.code == ERR_OK
               ? ERR_OK
               : errinfo_set(reterr, first.code, first.source, 0, "%s", first.text);
}

bool list_publisher_is_settled(const struct list_publisher *x)
{
    for (size_t i = 0; i < x->n; i++) {
        const struct shared_list *l = &x->list[i];
        if ((l->wants_entries && (!l->is_compared || l->position.has_more)) ||
            (l->wants_filters && l->is_dirty)) {
            return false;
        }
    }
    return true;
}

enum err list_publisher_new(struct sync *s, const char *state_dir,
                            const struct keyring *keys, const struct object_id *self,
                            struct list_publisher **ret, struct errinfo *reterr)
{
    struct list_publisher *x = calloc(1, sizeof(*x));
    if (x) {
        x->step = calloc(LIST_PUBLISHER_STEPS_MAX, sizeof(*x->step));
        x->changed = calloc(CHANGES_MAX, sizeof(*x->changed));
        x->arena = arena_new(NAMES_ARENA);
    }
    if (!x || !x->step || !x->changed || !x->arena) {
        list_publisher_free(&x);
        return errinfo_nomem(reterr, state_dir);
    }
    x->sync = s;
    x->keys = keys;
    enum err e = path_make(x->state_dir, reterr, "%s", state_dir);
    THEN(e, path_make(x->mirror_dir, reterr, "%s/peers/lists/%s", state_dir,
                      object_id_hex(self).digits));
    if (e != ERR_OK) {
        list_publisher_free(&x);
        return e;
    }
    *ret = x;
    return ERR_OK;
}

void list_publisher_free(struct list_publisher **x)
{
    if (*x) {
        for (size_t i = 0; i < (*x)->n; i++) {
            list_reader_close(&(*x)->list[i].reader);
        }
        config_release(&(*x)->config);
        free((*x)->step);
        free((*x)->changed);
        arena_free(&(*x)->arena);
        free(*x);
    }
    *x = NULL;
}
