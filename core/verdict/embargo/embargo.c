#include "core/verdict/embargo/embargo.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "core/telemetry/stats.h"
#include "core/verdict/embargo/embargo_keys.h"
#include "core/verdict/embargo/embargo_store.h"

enum { HOUR_S = 3600, RETRY_OPEN_US = 60 * 1000000, DETAIL = 64 };

struct embargo {
    struct hashkey key;
    char path[FILE_PATH_MAX];
    pthread_mutex_t lock; /* guards: all below */
    struct embargo_store *store;
    uint64_t tried_us; /* to open it; 0: not yet */
};

struct embargo *embargo_new(const char *state_dir, const struct hashkey *key)
{
    struct embargo *e = calloc(1, sizeof(*e));

    if (e == NULL ||
        file_path(e->path, "%s/%s", state_dir, STATE_EMBARGO_FILE) != ERR_OK) {
        free(e);
        return NULL;
    }
    e->key = *key;
    (void)pthread_mutex_init(&e->lock, NULL);
    return e;
}

void embargo_free(struct embargo **e)
{
    if (*e != NULL) {
        embargo_store_close(&(*e)->store);
        (void)pthread_mutex_destroy(&(*e)->lock);
        free(*e);
        *e = NULL;
    }
}

/* ---- the store; with the lock ---- */

static void report(const struct errinfo *why)
{
    char text[ERRINFO_SOURCE_MAX + ERRINFO_TEXT_MAX + 16];

    log_errinfo("embargo", why);
    stats_fault("embargo", errinfo_format(why, text, sizeof(text)));
}

static bool has_store(struct embargo *e)
{
    struct errinfo why;
    uint64_t now_us = clock_mono_us();

    if (e->store != NULL) {
        return true;
    }
    if (e->tried_us != 0 && now_us < e->tried_us + RETRY_OPEN_US) {
        return false;
    }
    e->tried_us = now_us;
    if (embargo_store_open(e->path, &e->store, &why) != ERR_OK) {
        report(&why);
        return false;
    }
    stats_fault("embargo", NULL);
    return true;
}

/* False: the memory is full or broken. */
static bool remember(struct embargo *e, const uint64_t *key, size_t n,
                     struct embargo_entry entry, uint64_t now_s)
{
    for (size_t i = 0; i < n; i++) {
        entry.key = key[i];
        enum err failed = embargo_store_put(e->store, &entry, (uint32_t)now_s);
        if (failed != ERR_OK) {
            stats_add(STAT_embargo_full, 1);
            return false;
        }
    }
    return true;
}

static struct embargo_entry entry_for(uint64_t time_s, uint64_t keep_s, bool is_back)
{
    uint64_t hours = (keep_s + HOUR_S - 1) / HOUR_S;

    return (struct embargo_entry){
        .time_s = (uint32_t)time_s,
        .hours = (uint16_t)(hours < EMBARGO_HOURS_MAX ? hours : EMBARGO_HOURS_MAX),
        .is_back = is_back};
}

/* The oldest entry of these keys. */
static bool find_oldest(const struct embargo *e, const uint64_t *key, size_t n,
                        uint64_t now_s, struct embargo_entry *ret)
{
    bool is_found = false;

    for (size_t i = 0; i < n; i++) {
        struct embargo_entry one;
        if (embargo_store_find(e->store, key[i], (uint32_t)now_s, &one) != ERR_OK) {
            continue;
        }
        bool was_back = is_found && ret->is_back;
        if (!is_found || one.time_s < ret->time_s) {
            *ret = one;
        }
        ret->is_back = was_back || one.is_back;
        is_found = true;
    }
    return is_found;
}

/* ---- which messages ---- */

static uint64_t own_amount(const struct embargo_case *c)
{
    return c->config->count.unit == COUNT_UNIT_DELIVERIES && c->ndeliveries > 0
               ? c->ndeliveries
               : 1;
}

/* Not counted in 14 days before this message. The sketch never counts too low, so what is called
 * new is new. */
static bool is_first_seen(const struct embargo_case *c, enum feature_type type)
{
    const struct message_counts *counts = c->context->counts;

    for (size_t i = 0; counts != NULL && i < counts->n; i++) {
        if (counts->v[i].feature->type == type) {
            return counts->v[i].value.w[COUNT_14D] <= own_amount(c);
        }
    }
    return false;
}

static bool is_first_contact(const struct embargo_case *c)
{
    const struct identity *i = c->context->identity;

    return identity_has(i, IDENTITY_first_contact) ||
           is_first_seen(c, FEATURE_from_domain) ||
           (!identity_has(i, IDENTITY_proved) && is_first_seen(c, FEATURE_client_net));
}

static bool is_exempt(const struct embargo_case *c, const struct verdict *v)
{
    const struct identity *i = c->context->identity;

    return v->allow != NULL || c->context->is_trusted_network ||
           c->context->is_authenticated || c->context->is_outgoing ||
           identity_has(i, IDENTITY_correspondent) ||
           identity_has(i, IDENTITY_answer) || identity_has(i, IDENTITY_newsletter);
}

static bool is_grey(const struct embargo_case *c, const struct verdict *v)
{
    return v->action < ACTION_DEFER && v->score >= c->config->embargo.threshold;
}

/* ---- one message ---- */

void embargo_recall(struct embargo *e, const struct embargo_case *c,
                    struct embargo_recall *ret)
{
    struct embargo_entry oldest = {.key = 0};

    *ret = (struct embargo_recall){.ncopies = 0};
    if (e == NULL || c->config->embargo.threshold == HUGE_VAL) {
        return;
    }
    size_t n = embargo_copies(&e->key, c, ret->copy);
    pthread_mutex_lock(&e->lock);
    if (n > 0 && has_store(e)) {
        ret->ncopies = n;
        ret->was_answered = find_oldest(e, ret->copy, n, c->now_s, &oldest);
    }
    pthread_mutex_unlock(&e->lock);
    if (ret->was_answered) {
        ret->was_back = oldest.is_back;
        ret->time_s = oldest.time_s;
    }
}

bool embargo_is_retry(const struct embargo_recall *r)
{
    return r->was_answered && !r->was_back;
}

/* It came back. From embargo.time on its kind is known. */
static void welcome(struct embargo *e, const struct embargo_case *c,
                    const struct embargo_recall *r)
{
    const struct config_embargo *o = &c->config->embargo;
    uint64_t kind[EMBARGO_KINDS_MAX];
    size_t nnew;

    (void)remember(e, r->copy, r->ncopies, entry_for(r->time_s, o->keep_s, true),
                   c->now_s);
    if (c->now_s >= r->time_s + o->time_s) {
        (void)embargo_kinds(&e->key, c, kind, &nnew);
        (void)remember(e, kind, nnew, entry_for(c->now_s, o->known_s, true), c->now_s);
    }
}

static void show_delay(const char *name, const char *words, uint64_t seconds,
                       struct arena *arena, struct verdict *v)
{
    char text[DETAIL];

    (void)snprintf(text, sizeof(text), "%s %" PRIu64 " s", words, seconds);
    verdict_add_word(v, "", name, arena_copy(arena, slice_str(text)));
}

/* Whether it shall be answered 451; then that is remembered, the copies first: without them a
 * second 451 would be possible. */
static bool hold_message(struct embargo *e, const struct embargo_case *c,
                         const struct embargo_recall *r)
{
    const struct config_embargo *o = &c->config->embargo;
    uint64_t kind[EMBARGO_KINDS_MAX];
    size_t nnew;
    size_t n = embargo_kinds(&e->key, c, kind, &nnew);
    struct embargo_entry first = {.key = 0};

    /* the copies again: the same one may have come on another connection meanwhile */
    if (n == 0 || find_oldest(e, r->copy, r->ncopies, c->now_s, &first)) {
        return false;
    }
    bool is_known = find_oldest(e, kind, n, c->now_s, &first);
    if (is_known && (first.is_back || c->now_s >= first.time_s + o->time_s)) {
        (void)remember(e, kind, nnew, entry_for(c->now_s, o->known_s, true), c->now_s);
        return false;
    }
    struct embargo_entry entry = entry_for(c->now_s, o->keep_s, false);
    if ((!is_known && !is_first_contact(c)) ||
        !remember(e, r->copy, r->ncopies, entry, c->now_s)) {
        return false;
    }
    entry.time_s = is_known ? first.time_s : entry.time_s;
    return remember(e, kind, nnew, entry, c->now_s);
}

void embargo_judge(struct embargo *e, const struct embargo_case *c,
                   const struct embargo_recall *r, struct arena *arena,
                   struct verdict *v)
{
    uint64_t time_s = c->config->embargo.time_s;

    if (r->ncopies == 0) {
        return;
    }
    if (r->was_answered) {
        uint64_t after_s = c->now_s > r->time_s ? c->now_s - r->time_s : 0;
        show_delay("EMBARGOED", "came back after", after_s, arena, v);
    } else if (is_exempt(c, v) || !is_grey(c, v)) {
        return;
    }
    pthread_mutex_lock(&e->lock);
    if (embargo_is_retry(r)) {
        welcome(e, c, r);
        stats_add(STAT_embargo_returned, 1);
    } else if (!r->was_answered) {
        v->is_embargoed = hold_message(e, c, r);
    }
    pthread_mutex_unlock(&e->lock);
    if (v->is_embargoed) {
        stats_add(STAT_embargoed, 1);
        show_delay("EMBARGO", "first contact, for", time_s, arena, v);
    }
}
