/*
 * list_manager - the current snapshot, its pins, and the faults of lists.
 */
#include <assert.h>
#include <pthread.h>

#include "core/base/array.h"
#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/log.h"
#include "core/list/configured.h"
#include "core/list/list_manager_internal.h"
#include "core/telemetry/stats.h"

/* ---- sets ---- */

static struct listset *set_new(size_t size)
{
    struct listset *s = calloc(1, sizeof(*s));
    struct listset_pin *pin = calloc(1, sizeof(*pin));
    struct listset_item *item = calloc(size + 1, sizeof(*item));
    if (!s || !pin || !item) {
        free(s);
        free(pin);
        free(item);
        return NULL;
    }
    pin->refs = 1; /* the manager's own */
    pin->set = s;
    s->pin = pin;
    s->item = item;
    return s;
}

/* Frees a set without pins, and the readers that no other set has. */
static void set_free(struct list_manager *h, struct listset *s)
{
    for (size_t i = 0; i < s->n; i++) {
        struct shared_reader *shared = s->item[i].shared;
        pthread_mutex_lock(&h->mutex);
        bool is_last = --shared->refs == 0;
        pthread_mutex_unlock(&h->mutex);
        if (is_last) {
            list_reader_close(&shared->reader);
            free(shared);
        }
    }
    config_release(&s->config);
    free(s->item);
    free(s->pin);
    free(s);
}

/* Drops one reference; the last puts the set on the retire list. With the mutex held. */
static void unpin(struct list_manager *h, struct listset_pin *pin)
{
    assert(pin->refs > 0);
    if (--pin->refs == 0) {
        pin->next = h->retired;
        h->retired = pin;
    }
}

const struct listset *list_manager_acquire(struct list_manager *h)
{
    pthread_mutex_lock(&h->mutex);
    struct listset *s = h->current;
    s->pin->refs++;
    pthread_mutex_unlock(&h->mutex);
    return s;
}

void list_manager_release(struct list_manager *h, const struct listset **s)
{
    if (*s) {
        pthread_mutex_lock(&h->mutex);
        unpin(h, (*s)->pin);
        pthread_mutex_unlock(&h->mutex);
    }
    *s = NULL;
}

static void replace_current(struct list_manager *h, struct listset *fresh)
{
    pthread_mutex_lock(&h->mutex);
    struct listset *former = h->current;
    h->current = fresh;
    unpin(h, former->pin);
    pthread_mutex_unlock(&h->mutex);
    stats_add(STAT_list_swaps, 1);
}

void list_manager_free_retired(struct list_manager *h)
{
    pthread_mutex_lock(&h->mutex);
    struct listset_pin *pin = h->retired;
    h->retired = NULL;
    pthread_mutex_unlock(&h->mutex);
    while (pin) {
        struct listset_pin *next = pin->next;
        set_free(h, pin->set);
        pin = next;
    }
}

struct list_manager *list_manager_new(const char *state_dir, const struct keyring *keys)
{
    struct list_manager *h = calloc(1, sizeof(*h));
    if (!h) {
        return NULL;
    }
    if (keys) {
        h->keys = *keys;
        h->has_keys = true;
    }
    h->state_dir = strdup(state_dir);
    h->ring_mark = file_mark_in(state_dir, "keys/digest.key");
    h->node_mark = file_mark_in(state_dir, "keys/filter.key");
    h->current = set_new(0);
    h->arena = arena_new(NAMES_ARENA_BYTES);
    if (h->current) {
        /* until a refresh has seen the lists */
        h->current->fault = keys ? LIST_FAULT_LISTS : LIST_FAULT_KEYS_UNREADABLE;
    }
    if (!h->state_dir || !h->current || !h->arena ||
        pthread_mutex_init(&h->mutex, NULL) != 0) {
        if (h->current) {
            set_free(h, h->current);
        }
        arena_free(&h->arena);
        free(h->state_dir);
        free(h);
        return NULL;
    }
    return h;
}

void list_manager_free(struct list_manager **h)
{
    if (*h) {
        list_manager_free_retired(*h);
        set_free(*h, (*h)->current);
        pthread_mutex_destroy(&(*h)->mutex);
        arena_free(&(*h)->arena);
        origins_fini(&(*h)->peers.origins);
        free((*h)->trouble);
        free((*h)->state_dir);
        free(*h);
    }
    *h = NULL;
}

void list_manager_set_stats(struct list_manager *h, struct lookup_stats *hits)
{
    h->hits = hits;
}

void list_manager_set_lines(struct list_manager *h, struct line_client *lines)
{
    h->lines = lines;
}

/* ---- trouble ---- */

static struct trouble *trouble_find(struct list_manager *h, struct slice name)
{
    for (size_t i = 0; i < h->ntrouble; i++) {
        if (slice_eq(slice_str(h->trouble[i].name), name)) {
            return &h->trouble[i];
        }
    }
    return NULL;
}

static struct trouble *trouble_add(struct list_manager *h, struct slice name)
{
    struct trouble *t = trouble_find(h, name);
    if (t) {
        return t;
    }
    if (!array_room(&h->trouble, &h->trouble_size, h->ntrouble + 1, SIZE_MAX,
                    sizeof(*h->trouble))) {
        return NULL;
    }
    t = &h->trouble[h->ntrouble++];
    *t = (struct trouble){0};
    memcpy(t->name, name.p, name.n);
    return t;
}

static void tell_fault(const char *name, const char *text)
{
    char key[LABEL_MAX + 8];
    (void)snprintf(key, sizeof(key), "list:%s", name);
    stats_fault(key, text);
}

/* Reports text once. */
static void trouble_say(struct trouble *t, const char *text)
{
    t->is_present = true;
    if (strncmp(t->text, text, sizeof(t->text) - 1) == 0) {
        return;
    }
    (void)snprintf(t->text, sizeof(t->text), "%s", text);
    tell_fault(t->name, t->text);
    struct errinfo info;
    errinfo_set(&info, ERR_CORRUPT, t->name, 0, "%s", t->text);
    log_errinfo("list_fault", &info);
}

/* Removes the faults that this refresh did not find. */
static void trouble_sweep(struct list_manager *h)
{
    size_t kept = 0;
    for (size_t i = 0; i < h->ntrouble; i++) {
        if (h->trouble[i].is_present) {
            h->trouble[kept++] = h->trouble[i];
            continue;
        }
        tell_fault(h->trouble[i].name, NULL);
        log_info("event=list_recovered list=%s", h->trouble[i].name);
    }
    h->ntrouble = kept;
}

/* ---- refresh ---- */

static bool item_has_origin(const struct listset_item *item,
                            const struct origin_row *origin)
{
    return origin ? item->origin_name[0] != '\0' &&
                        memcmp(item->origin, origin->origin, ORIGIN_BYTES) == 0
                  : item->origin_name[0] == '\0';
}

static const struct listset_item *item_find(const struct listset *s, struct slice name,
                                            const struct origin_row *origin)
{
    for (size_t i = 0; i < s->n; i++) {
        if (item_has_origin(&s->item[i], origin) &&
            slice_eq(slice_str(list_reader_name(s->item[i].shared->reader)), name)) {
            return &s->item[i];
        }
    }
    return NULL;
}

static unsigned key_index(struct listset *s, const struct hashkey *key)
{
    for (unsigned i = 0; i < s->nkeys; i++) {
        if (s->key[i].id == key->id) {
            return i;
        }
    }
    s->key[s->nkeys] = *key; /* readers have keys of one keyring only */
    return s->nkeys++;
}

/* The rows of the list and of each of its periods: one that is never hit needs a row, too, to
 * tell since when it was not. */
static struct lookup_stats_row *rows_make(struct list_manager *h,
                                          const struct list_reader *r)
{
    struct reader_part part[READER_PARTS_MAX];
    struct slice name = slice_str(list_reader_name(r));
    uint64_t now_s = clock_wall_us() / 1000000;
    size_t n = list_reader_parts(r, part, READER_PARTS_MAX);
    for (size_t i = 0; i < n; i++) {
        if (part[i].period != LOOKUP_STATS_WHOLE) {
            (void)lookup_stats_row(h->hits, name, part[i].period, now_s);
        }
    }
    if (r->current.period_s != LOOKUP_STATS_WHOLE) {
        (void)lookup_stats_row(h->hits, name, r->current.period_s, now_s);
    }
    return lookup_stats_row(h->hits, name, LOOKUP_STATS_WHOLE, now_s);
}

static void set_add(struct list_manager *h, struct listset *s,
                    struct shared_reader *shared, const struct list_place *place)
{
    struct listset_item *item = &s->item[s->n++];
    item->shared = shared;
    item->config = place->config;
    item->weight = place->weight;
    if (place->origin) {
        memcpy(item->origin, place->origin->origin, ORIGIN_BYTES);
        item->owner = place->owner;
        item->may_revoke = place->origin->is_same_owner && place->weight > 0;
        memcpy(item->origin_name, place->origin->name, sizeof(item->origin_name));
    } else {
        s->nown++;
    }
    item->key = key_index(s, list_reader_key(shared->reader));
    item->takes_all = item->config->types.n == 0;
    item->types = list_named_types(item->config);
    if (h->hits && !place->origin) { /* lists of peers are not counted */
        item->row = rows_make(h, shared->reader);
    }
    pthread_mutex_lock(&h->mutex);
    shared->refs++;
    pthread_mutex_unlock(&h->mutex);
}

/* Opens a list. NULL: not possible, which is reported and remembered, or the list is being
 * created. */
static struct shared_reader *reader_open(struct list_manager *h,
                                         const struct list_place *place,
                                         const struct reader_opening *how)
{
    struct slice label = slice_str(place->label);
    struct trouble *known = trouble_find(h, label);
    struct errinfo info = {0};
    if (known && known->could_not_open && clock_mono_us() < known->retry_mono_us) {
        struct file_mark now = list_current_mark(place->state_dir, place->name);
        if (file_mark_eq(&now, &known->mark)) {
            known->is_present = true;
            return NULL;
        }
    }
    struct file_mark mark = list_current_mark(place->state_dir, place->name);
    struct shared_reader *shared = calloc(1, sizeof(*shared));
    enum err e = shared ? list_reader_open_held(place->state_dir, place->name, &h->keys,
                                                how, &shared->reader, &info)
                        : errinfo_nomem(&info, "");
    if (e == ERR_OK && shared) {
        shared->cache = place->cache;
        shared->hold = how->hold;
        list_reader_set_cache(shared->reader, place->cache);
        return shared;
    }
    free(shared);
    struct trouble *t = e == ERR_NOT_FOUND ? NULL : trouble_add(h, label);
    if (t) {
        char text[ERRINFO_TEXT_MAX];
        t->could_not_open = true;
        t->is_denied = e == ERR_DENIED;
        t->is_peers = place->origin != NULL;
        t->mark = mark;
        t->retry_mono_us = clock_mono_us() + RETRY_US;
        trouble_say(t, errinfo_format(&info, text, sizeof(text)));
    }
    return NULL;
}

/* The fault of a reader in use. */
static void note_fault(struct list_manager *h, const struct list_place *place,
                       const struct list_reader *r)
{
    const char *text = list_reader_fault(r);
    struct trouble *t = text ? trouble_add(h, slice_str(place->label)) : NULL;
    if (t &&
        !t->is_present) { /* else a newer generation that does not open was just reported */
        t->could_not_open = t->is_denied = false;
        t->is_peers = place->origin != NULL;
        trouble_say(t, text);
    }
}

/* A key that was put into keys/digest.key serves the lists made with it without a restart. Files
 * that cannot be read leave the keys as they are. */
static void refresh_keys(struct list_manager *h)
{
    struct file_mark ring = file_mark_in(h->state_dir, "keys/digest.key");
    struct file_mark node = file_mark_in(h->state_dir, "keys/filter.key");
    if (file_mark_eq(&ring, &h->ring_mark) && file_mark_eq(&node, &h->node_mark)) {
        return;
    }
    h->ring_mark = ring;
    h->node_mark = node;
    struct keyring fresh;
    struct errinfo info;
    if (keyring_load(h->state_dir, &fresh, &info) != ERR_OK) {
        char text[ERRINFO_TEXT_MAX];
        stats_fault("keys", errinfo_format(&info, text, sizeof(text)));
        log_errinfo("keys", &info);
        return;
    }
    h->keys = fresh;
    h->has_keys = true;
    stats_fault("keys", NULL);
    log_info("event=keys_read ring_keys=%u", (unsigned)fresh.n);
    for (size_t i = 0; i < h->ntrouble; i++) {
        h->trouble[i].retry_mono_us = 0;
    }
}

/* Logs once that a list is in another form than configured. */
static void say_form(const struct list_place *place, const struct shared_reader *old,
                     const struct list_reader *r)
{
    if (!old && !place->origin &&
        !list_reader_is_formed(r, (enum url_match)place->config->url_match)) {
        log_info(
            "event=list_form list=%s url_match=%s text=\"the list is in another form; "
            "gillnet hub, the next change or gillnet list rebuild rewrites it\"",
            place->label,
            list_url_match_name((enum list_url_match)place->config->url_match));
    }
}

/* Lists of peers are never so large that their filters have to be elsewhere. */
static enum bloomfile_hold hold_of(const struct refresh *x,
                                   const struct list_place *place)
{
    switch (place->config->filter_memory) {
    case FILTER_STORE:
        return x->h->lines && !place->origin ? BLOOMFILE_REMOTE : BLOOMFILE_MAP;
    case FILTER_MAP:
        return BLOOMFILE_MAP;
    case FILTER_COPY:
        break;
    }
    return BLOOMFILE_COPY;
}

/* Adds one list to the new set: the open reader, or a new one if its files changed. A list whose
 * key was removed is left out, because a set has room for the keys of one keyring. */
void refresh_list(struct refresh *x, const struct list_place *place)
{
    const struct listset_item *was = item_find(x->former, place->name, place->origin);
    struct shared_reader *old = was ? was->shared : NULL;
    struct shared_reader *shared = old;
    if (x->fresh->n == x->room) {
        return; /* created after the folder was listed; the next refresh adds it */
    }
    if (shared && !keyring_find(&x->h->keys, list_reader_key(shared->reader)->id)) {
        shared = NULL;
    }
    enum bloomfile_hold hold = hold_of(x, place);
    if (!shared || shared->cache != place->cache || shared->hold != hold ||
        shared->is_distrusted || list_reader_is_stale(shared->reader)) {
        /* a list with damage found by the scrub shares no level with its former reader */
        struct reader_opening how = {
            .other = old && !old->is_distrusted ? old->reader : NULL, .hold = hold};
        struct shared_reader *fresh = reader_open(x->h, place, &how);
        if (fresh) {
            say_form(place, old, fresh->reader);
            shared = fresh;
            x->is_changed = true;
        }
    }
    if (!shared) {
        return;
    }
    note_fault(x->h, place, shared->reader);
    set_add(x->h, x->fresh, shared, place);
}

static void refresh_own(struct refresh *x, struct slice name,
                        const struct config_list *config)
{
    struct list_place place = {.state_dir = x->h->state_dir,
                               .name = name,
                               .config = config,
                               .weight = 1.0,
                               .cache = x->fresh->config->limits.confirm_cache};
    (void)snprintf(place.label, sizeof(place.label), "%.*s", SLICE_ARGS(name));
    refresh_list(x, &place);
}

void list_manager_reopen(struct list_manager *h, struct slice name)
{
    const struct listset_item *item = item_find(h->current, name, NULL);
    if (item) {
        item->shared->is_distrusted = true;
    }
}

static size_t own_troubles(const struct list_manager *h)
{
    size_t n = 0;
    for (size_t i = 0; i < h->ntrouble; i++) {
        n += !h->trouble[i].is_peers;
    }
    return n;
}

static void tell_numbers(const struct list_manager *h, const struct listset *s)
{
    uint64_t entries = 0;
    for (size_t i = 0; i < s->nown; i++) {
        entries +=
            memtable_numbers_get(&s->item[i].shared->reader->recent).totals.listed;
    }
    stats_set(STAT_lists, s->nown);
    stats_set(STAT_list_entries, entries);
    stats_set(STAT_lists_failed, own_troubles(h));
}

/* The names of all lists. If the folder of lists disappears (unmounted, moved away), the lists stay
 * in use. */
static enum err names_find(struct list_manager *h, struct slice **ret, size_t *retn,
                           struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    arena_reset(h->arena);
    enum err e = list_names(h->state_dir, h->arena, ret, retn, reterr);
    if (e != ERR_OK || *retn > 0 || h->current->nown == 0) {
        return e;
    }
    if (file_path(path, "%s/lists", h->state_dir) == ERR_OK &&
        access(path, F_OK) != 0 && errno == ENOENT) {
        return errinfo_set(reterr, ERR_NOT_FOUND, path, 0,
                           "the folder of lists is gone; put it back (is the disk "
                           "mounted?), or restart gillnetd to go on without lists");
    }
    return ERR_OK;
}

static enum list_fault own_fault(const struct list_manager *h)
{
    for (size_t i = 0; i < h->ntrouble; i++) {
        if (!h->trouble[i].is_peers && h->trouble[i].is_denied) {
            return LIST_FAULT_LIST_UNREADABLE;
        }
    }
    return own_troubles(h) > 0 ? LIST_FAULT_LISTS : LIST_FAULT_NONE;
}

enum err list_manager_refresh(struct list_manager *h, const struct config *config,
                              struct errinfo *reterr)
{
    struct slice *names = NULL;
    size_t n = 0;
    enum err e = names_find(h, &names, &n, reterr);
    if (e != ERR_OK) {
        if (e == ERR_DENIED) {
            h->current->fault = LIST_FAULT_LISTS_UNREADABLE;
        }
        return e;
    }
    refresh_keys(h);
    if (!h->has_keys) {
        return ERR_OK; /* reported when they were read */
    }
    size_t npeers = peers_look(h);
    struct refresh x = {.h = h, .former = h->current, .room = n + npeers};
    x.fresh = set_new(x.room);
    if (!x.fresh) {
        return errinfo_nomem(reterr, h->state_dir);
    }
    x.fresh->config = config_acquire(config);
    x.fresh->hits = h->hits;
    x.fresh->lines = h->lines;
    for (size_t i = 0; i < h->ntrouble; i++) {
        h->trouble[i].is_present = false;
    }
    for (size_t i = 0; i < n && i < LISTSET_MAX; i++) {
        const struct config_list *c = config_list_find(config, names[i]);
        if (c->enabled) {
            refresh_own(&x, names[i], c);
        }
    }
    if (npeers > 0) {
        peers_refresh(&x, config);
    }
    trouble_sweep(h);
    x.fresh->fault = (int)own_fault(h);
    x.is_changed = x.is_changed || x.fresh->n != x.former->n ||
                   x.fresh->fault != x.former->fault ||
                   x.former->config != x.fresh->config ||
                   x.former->hits != x.fresh->hits || x.former->lines != x.fresh->lines;
    tell_numbers(h, x.fresh);
    if (x.is_changed) {
        replace_current(h, x.fresh);
    } else {
        set_free(h, x.fresh);
    }
    return ERR_OK;
}
