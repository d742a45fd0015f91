/* report_listed - a list that names what people reported confirms them. */
#include <pthread.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/count/message.h"
#include "core/verdict/verdict.h"

#include "milter/report_request.h"
#include "milter/service.h"

enum { US_PER_S = 1000000, ARENA_BYTES = 65536, CHANGE_AGAIN_S = 5 };

static struct {
    pthread_mutex_t lock; /* guards: n, queue */
    size_t n;
    struct votes_listing queue[REPORT_LISTED_QUEUE];
    /* of the thread */
    uint64_t next_s;
    uint64_t changed_s; /* sum over the lists */
} own = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint64_t wall_s(void)
{
    return clock_wall_us() / US_PER_S;
}

/* ---- a message ---- */

static bool is_allowed(const struct listset *lists, const struct list_hits *hits,
                       struct slice value)
{
    bool is = false;

    for (size_t i = 0; i < hits->n && !is; i++) {
        is = hits->v[i].answer == LIST_CONFIRMED &&
             listset_config(lists, hits->v[i].list)->is_allow &&
             slice_eq(hits->v[i].value, value);
    }
    return is;
}

/* Lists of peers are left out: a peer that works with a liar could list what the liar reports. */
static bool proves(const struct listset *lists, const struct list_hits *hits,
                   const struct list_hit *hit)
{
    if (hit->answer != LIST_CONFIRMED || hit->list >= listset_count(lists) ||
        !report_is_proved_by(hit->report_type)) {
        return false;
    }
    const struct config_list *list = listset_config(lists, hit->list);

    return !list->is_allow && !list->shadow && list->weight > 0 &&
           !is_allowed(lists, hits, hit->value);
}

static void add_to_queue(const struct votes_listing *l)
{
    bool is_known = false;

    (void)pthread_mutex_lock(&own.lock);
    for (size_t i = 0; i < own.n && !is_known; i++) {
        is_known = digest_cmp(&own.queue[i].listed, &l->listed) == 0 &&
                   own.queue[i].digest[0] == l->digest[0];
    }
    if (!is_known && own.n < REPORT_LISTED_QUEUE) {
        own.queue[own.n++] = *l;
    }
    (void)pthread_mutex_unlock(&own.lock);
}

static void note_value(const struct votes_listing *entry, const struct config *config,
                       uint16_t type, struct slice value)
{
    const struct keyring *keys;
    struct votes *votes = reports_votes(service_reports(&keys));
    struct digest digest[KEYRING_MAX];
    struct votes_listing l = *entry;
    struct votes_item item = {.n = 0};

    count_digest(keys, config, type, value, digest);
    for (unsigned k = 0; k < keys->n; k++) {
        item.digest[item.n++] = report_digest(&digest[k]);
        l.digest[l.n++] = report_digest(&digest[k]);
    }
    if (votes_await_list(votes, &item, UINT64_MAX, wall_s())) {
        add_to_queue(&l);
    }
}

void report_listed_note(const struct config *config, const struct featureset *features,
                        const struct listset *lists, const struct list_hits *hits,
                        const struct verdict *v)
{
    const struct keyring *keys;
    struct votes *votes = reports_votes(service_reports(&keys));

    if (votes == NULL || v->allow != NULL || votes_count(votes) == 0) {
        return;
    }
    for (size_t i = 0; i < hits->n; i++) {
        const struct list_hit *hit = &hits->v[i];
        const struct feature *f = featureset_at(features, hit->feature);
        struct votes_listing l = {.listed = hit->digest};
        if (!proves(lists, hits, hit)) {
            continue;
        }
        (void)snprintf(l.list, sizeof(l.list), "%s",
                       list_reader_name(listset_reader(lists, hit->list)));
        note_value(&l, config, hit->report_type, hit->value);
        if (f->type != hit->report_type || !slice_eq(f->text, hit->value)) {
            note_value(&l, config, f->type, f->text);
        }
    }
}

/* ---- the thread ---- */

/* One list, as it is now. NULL: it is gone, or it cannot prove anything any longer. */
static const struct list_reader *find_list(const struct listset *lists,
                                           const char *name)
{
    for (size_t i = 0; i < listset_count(lists); i++) {
        const struct list_reader *r = listset_reader(lists, i);
        if (strcmp(list_reader_name(r), name) == 0) {
            return r;
        }
    }
    return NULL;
}

static bool take_one(struct votes_listing *ret)
{
    (void)pthread_mutex_lock(&own.lock);
    bool found = own.n > 0;

    if (found) {
        *ret = own.queue[--own.n];
    }
    (void)pthread_mutex_unlock(&own.lock);
    return found;
}

static bool keep_listing(struct reports *reports, struct votes_listing *l,
                         bool is_listed, uint64_t known_s)
{
    struct errinfo why = {.code = ERR_OK};

    if (reports_note_listed(reports, l, is_listed, known_s, &why) != ERR_OK) {
        log_errinfo("report", &why);
        return false;
    }
    log_info("event=report kind=%s list=%s", is_listed ? "listed" : "unlisted",
             l->list);
    return true;
}

static void settle(struct reports *reports, const struct listset *lists,
                   struct arena *arena, struct votes_listing *l)
{
    const struct list_reader *r = find_list(lists, l->list);
    struct votes_item item = {.n = (uint8_t)l->n};
    struct list_provenance from = {.first_seen_s = 0};

    memcpy(item.digest, l->digest, sizeof(item.digest));
    if (r != NULL &&
        list_reader_explain(r, &l->listed, wall_s(), arena, &from) == LIST_CONFIRMED &&
        votes_await_list(reports_votes(reports), &item, from.first_seen_s, wall_s())) {
        (void)keep_listing(reports, l, true, from.first_seen_s);
    }
    arena_reset(arena);
}

/* A person took the entry back, or an allow list has the value now. An expired entry
 * proves nothing. */
static bool is_taken_back(const struct listset *lists, const struct votes_listing *l)
{
    const struct list_reader *own_list = find_list(lists, l->list);
    bool is = own_list != NULL &&
              list_reader_confirm(own_list, &l->listed, wall_s()) == LIST_REVOKED;

    for (size_t i = 0; own_list != NULL && !is && i < listset_count(lists); i++) {
        const struct list_reader *r = listset_reader(lists, i);
        is = listset_config(lists, i)->is_allow &&
             list_reader_key(r)->id == list_reader_key(own_list)->id &&
             list_reader_confirm(r, &l->listed, wall_s()) == LIST_CONFIRMED;
    }
    return is;
}

static void review(struct reports *reports, const struct listset *lists)
{
    struct votes_listing l;

    for (size_t i = 0; votes_listing_at(reports_votes(reports), i, &l);) {
        bool is_gone = is_taken_back(lists, &l) && keep_listing(reports, &l, false, 0);
        i += is_gone ? 0 : 1; /* the next one takes its place */
    }
}

static bool is_time_to_review(const struct listset *lists)
{
    uint64_t mono_s = clock_mono_us() / US_PER_S;
    uint64_t changed_s = 0;

    for (size_t i = 0; i < listset_count(lists); i++) {
        changed_s += list_reader_changed_s(listset_reader(lists, i));
    }
    bool has_changed = changed_s != own.changed_s;
    if (mono_s < own.next_s && !has_changed) {
        return false;
    }
    /* changes have whole seconds: a second one may hide in the same */
    own.next_s = mono_s + (has_changed ? CHANGE_AGAIN_S : REPORT_LISTED_EVERY_S);
    own.changed_s = changed_s;
    return true;
}

void report_listed_take(void)
{
    const struct keyring *keys;
    struct reports *reports = service_reports(&keys);
    struct arena *arena = arena_new(ARENA_BYTES);
    struct votes_listing l;

    if (reports == NULL || arena == NULL) {
        arena_free(&arena);
        return;
    }
    const struct listset *lists = list_manager_acquire(service_lists());

    while (take_one(&l)) {
        settle(reports, lists, arena, &l);
    }
    if (is_time_to_review(lists)) {
        review(reports, lists);
    }
    list_manager_release(service_lists(), &lists);
    arena_free(&arena);
}
