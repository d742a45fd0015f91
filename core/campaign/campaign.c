#include "core/campaign/campaign.h"

#include <pthread.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/base/utf8.h"
#include "core/campaign/campaign_evidence.h"
#include "core/campaign/campaign_page.h"
#include "core/campaign/campaign_read.h"

enum {
    FOLDER_MODE = 02750,
    FILE_MODE = 0640,
    CANDIDATES = EVIDENCE_MAX,
    KEYS_MAX = 32,       /* of a campaign, so that it cannot drift for ever */
    KEYS_OF_EPOCH = 16,  /* more, when its keys of the old epoch end */
    CORE_SHARE = 3,      /* a key in fewer than a third of the messages counts half */
    YOUNG_MESSAGES = 3,  /* of a campaign in which every key counts in full */
    STRANGERS_FREE = 2,  /* a key counts no longer after 2 messages of others, */
    STRANGERS_SHARE = 8, /* and 2 more for each 8 messages of its campaign */
    SWEPT_SLOTS = 8,     /* by a tick: all in less than an hour of ticks each second */
    SWEPT_BUCKETS = 10,
    ID_TIME_SHIFT = 16,
    US_PER_MS = 1000,
    WAIT_US = 100 * US_PER_MS, /* that one message waits at most for the disk */
    REST_US = 5000 * US_PER_MS /* before another one waits, or opens the file */
};

struct campaigns {
    char state_dir[FILE_PATH_MAX];
    const struct keyring *keys;
    pthread_mutex_t lock; /* guards: map, the mapped file */
    struct filelock held;
    struct filemap map;
    struct campaign_page *page;      /* NULL: not open */
    _Atomic uint64_t rests_until_us; /* nobody waits or opens before */
};

/* ---- the file ---- */

static bool is_page(const struct filemap *m)
{
    const struct campaign_page *p = (const struct campaign_page *)(const void *)m->p;
    return m->n == sizeof(*p) && p->magic == CAMPAIGN_MAGIC &&
           p->version == CAMPAIGN_VERSION;
}

static void begin_table(void *context, void *p)
{
    const struct campaigns *c = context;
    struct campaign_page *page = p;

    page->magic = CAMPAIGN_MAGIC;
    page->version = CAMPAIGN_VERSION;
    page->key_id = c->keys->ring[0].id;
}

static void mend_table(void *context, void *p)
{
    begin_table(context, p);
    slots_mend(p);
}

/* Maps the file; makes it if there is none of this version. */
static enum err map_page(struct campaigns *c, const char *path, struct errinfo *reterr)
{
    const struct filemap_new fresh = {sizeof(struct campaign_page), FILE_MODE,
                                      begin_table, c};
    enum err e = filemap_open(&c->map, path, FILEMAP_WRITE, reterr);

    if (e == ERR_OK && !is_page(&c->map)) {
        filemap_close(&c->map);
        e = ERR_CORRUPT;
    }
    return e == ERR_OK ? ERR_OK : filemap_make(&c->map, path, &fresh, reterr);
}

/* Removes the keys under another digest key, which no message has now. */
static void renew_keys(struct campaign_page *p, uint32_t key_id)
{
    if (p->key_id == key_id) {
        return;
    }
    memset(p->key, 0, sizeof(p->key));
    for (unsigned i = 0; i < CAMPAIGN_SLOTS; i++) {
        p->slot[i].nkeys = 0;
    }
    p->key_id = key_id;
}

static enum err open_page(struct campaigns *c, struct errinfo *reterr)
{
    char dir[FILE_PATH_MAX];
    char path[FILE_PATH_MAX];
    enum err e = path_make(dir, reterr, "%s/" CAMPAIGNS_DIR, c->state_dir);

    THEN(e, file_make_dir(dir, FOLDER_MODE, reterr));
    THEN(e, path_make(path, reterr, "%s/" CAMPAIGN_LOCK, dir));
    THEN(e, filelock_take(&c->held, path, reterr));
    THEN(e, path_make(path, reterr, "%s/" CAMPAIGN_FILE, dir));
    THEN(e, map_page(c, path, reterr));
    if (e != ERR_OK) {
        filelock_drop(&c->held);
        return e;
    }
    c->page = (struct campaign_page *)(void *)c->map.p;
    renew_keys(c->page, c->keys->ring[0].id);
    slots_mend(c->page);
    return ERR_OK;
}

enum err campaigns_open(const char *state_dir, const struct keyring *keys,
                        struct campaigns **ret, struct errinfo *reterr)
{
    struct campaigns *c = calloc(1, sizeof(*c));

    *ret = c;
    if (c == NULL) {
        return errinfo_nomem(reterr, state_dir);
    }
    c->keys = keys;
    c->held.fd = -1;
    (void)pthread_mutex_init(&c->lock, NULL);
    (void)snprintf(c->state_dir, sizeof(c->state_dir), "%s", state_dir);
    enum err e = open_page(c, reterr);
    if (e != ERR_OK) {
        c->rests_until_us = clock_mono_us() + REST_US;
    }
    return e;
}

void campaigns_close(struct campaigns **c)
{
    if (*c != NULL) {
        filemap_close(&(*c)->map);
        filelock_drop(&(*c)->held);
        (void)pthread_mutex_destroy(&(*c)->lock);
        free(*c);
    }
    *c = NULL;
}

/* Takes the lock of an open file. False: the message is not added. */
static bool enter(struct campaigns *c)
{
    struct timespec until;
    uint64_t now = clock_mono_us();
    uint64_t rests = atomic_load_explicit(&c->rests_until_us, memory_order_relaxed);
    bool is_in = pthread_mutex_trylock(&c->lock) == 0;

    if (!is_in && now >= rests) {
        (void)clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += (long)WAIT_US * 1000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        is_in = pthread_mutex_timedlock(&c->lock, &until) == 0;
    }
    if (is_in && c->page == NULL && now >= rests) {
        (void)open_page(c, NULL);
    }
    if (is_in && c->page != NULL) {
        return true;
    }
    if (is_in) {
        pthread_mutex_unlock(&c->lock);
    }
    if (now >= rests) {
        atomic_store_explicit(&c->rests_until_us, now + REST_US, memory_order_relaxed);
    }
    return false;
}

/* ---- the campaign of a message ---- */

/* Campaigns that have keys of a message, and their sums. */
struct candidates {
    size_t n;
    uint16_t slot[CANDIDATES];
    unsigned sum[CANDIDATES];
};

static void vote(struct candidates *v, uint16_t slot, unsigned weight)
{
    size_t i = 0;

    while (i < v->n && v->slot[i] != slot) {
        i++;
    }
    if (i == v->n) {
        v->slot[v->n] = slot;
        v->sum[v->n++] = 0;
    }
    v->sum[i] += weight;
}

static unsigned worth(const struct campaign_page *p, const struct campaign_key *k,
                      unsigned weight)
{
    const struct campaign_slot *s = &p->slot[k->slot];
    unsigned most = STRANGERS_FREE * (1U + k->hits / STRANGERS_SHARE);

    if (k->strangers >= most) {
        return 0;
    }
    bool is_rare = k->hits < UINT8_MAX && s->messages > YOUNG_MESSAGES &&
                   (uint32_t)k->hits * CORE_SHARE < s->messages;
    return is_rare ? weight / 2 : weight;
}

/* The entries of the keys of a message; NULL: none. */
struct found {
    struct campaign_key *at[EVIDENCE_MAX];
};

/* Looks up the keys of one epoch, or those without one. */
static void look_up(struct campaign_page *p, const struct evidence *e,
                    enum evidence_epoch epoch, uint64_t now_s, struct found *f)
{
    for (size_t i = 0; i < e->n; i++) {
        if (e->v[i].epoch == epoch) {
            f->at[i] = key_find(p, e->v[i].digest, now_s);
        }
    }
}

/* The slot that the message joins by its keys without those of one epoch; NULL: none. */
static struct campaign_slot *choose_campaign(struct campaign_page *p,
                                             const struct evidence *e,
                                             const struct found *f,
                                             enum evidence_epoch without)
{
    struct candidates v = {.n = 0};
    struct campaign_slot *best = NULL;
    unsigned most = CAMPAIGN_JOIN - 1;

    for (size_t i = 0; i < e->n; i++) {
        const struct campaign_key *at = e->v[i].epoch == without ? NULL : f->at[i];
        if (at != NULL) {
            vote(&v, at->slot, worth(p, at, e->v[i].weight));
        }
    }
    for (size_t i = 0; i < v.n; i++) {
        struct campaign_slot *s = &p->slot[v.slot[i]];
        if (v.sum[i] > most ||
            (best != NULL && v.sum[i] == most && s->messages > best->messages)) {
            most = v.sum[i];
            best = s;
        }
    }
    return best;
}

static void count_byte(uint8_t *n)
{
    if (*n < UINT8_MAX) {
        (*n)++;
    }
}

/* Notes the keys of a message that is in the campaign now. */
static void note_keys(struct campaign_page *p, struct campaign_slot *s,
                      const struct evidence *e, const struct found *f, unsigned most,
                      uint64_t now_s)
{
    for (size_t i = 0; i < e->n; i++) {
        const struct evidence_key *k = &e->v[i];
        struct campaign_key *at = f->at[i];
        /* its place may have been given away meanwhile */
        if (at != NULL && !key_is(p, at, k->digest, now_s)) {
            at = NULL;
        }
        if (at == NULL && k->epoch != EVIDENCE_OLD && s->nkeys < most) {
            key_add(p, s, k->digest, k->type, now_s);
        } else if (at != NULL && at->slot == s - p->slot) {
            key_touch(at, now_s);
        } else if (at != NULL) {
            count_byte(&at->strangers);
        }
    }
}

/* ---- the sample ---- */

/* The bytes of text that fit, without half a character. */
static uint8_t keep_text(char *to, size_t most, struct slice text)
{
    size_t n = 0;

    while (n < text.n) {
        size_t step = utf8_length((const unsigned char *)text.p + n, text.n - n);
        step = step == 0 ? 1 : step;
        if (n + step > most) {
            break;
        }
        n += step;
    }
    memcpy(to, text.p, n);
    return (uint8_t)n;
}

static void begin_slot(struct campaign_page *p, struct campaign_slot *s,
                       const struct evidence *e, const struct campaign_message *m)
{
    s->id = m->now_s << ID_TIME_SHIFT | (uint16_t)p->serial++;
    s->first_s = (uint32_t)m->now_s;
    if (m->config->journal.subjects && e->subject.n > 0) {
        s->nsubject = keep_text(s->subject, sizeof(s->subject), e->subject);
    }
    if (m->config->journal.addresses && e->sender.n > 0) {
        s->nsender = keep_text(s->sender, sizeof(s->sender), e->sender);
    }
}

static enum campaign_done done_of(enum action action)
{
    switch (action) {
    case ACTION_ACCEPT:
        return CAMPAIGN_ACCEPTED;
    case ACTION_HEADER:
        return CAMPAIGN_MARKED;
    case ACTION_QUARANTINE:
        return CAMPAIGN_HELD;
    default:
        return CAMPAIGN_REFUSED;
    }
}

static void count_in(struct campaign_page *p, struct campaign_slot *s,
                     const struct evidence *e, const struct campaign_message *m)
{
    uint32_t now_s = (uint32_t)m->now_s;

    s->last_s = now_s > s->last_s ? now_s : s->last_s;
    s->messages += s->messages < UINT32_MAX;
    s->done[done_of(m->action)] += s->messages < UINT32_MAX;
    s->score += (float)m->score;
    picture_add(&p->picture[s - p->slot], now_s > s->first_s ? now_s - s->first_s : 0,
                s->messages);
    if (e->network != 0) {
        distinct_add(&s->networks, e->network);
    }
    if (e->domain != 0) {
        distinct_add(&s->domains, e->domain);
    }
}

/* ---- gillnetd's side ---- */

static uint64_t add_message(struct campaign_page *p, const struct evidence *e,
                            const struct campaign_message *m)
{
    unsigned most = KEYS_MAX;
    struct found f = {{NULL}};

    for (size_t i = 0; i < e->n; i++) {
        key_prefetch(p, e->v[i].digest);
    }
    look_up(p, e, EVIDENCE_ALWAYS, m->now_s, &f);
    look_up(p, e, EVIDENCE_NEW, m->now_s, &f);
    struct campaign_slot *s = choose_campaign(p, e, &f, EVIDENCE_OLD);
    if (s == NULL) {
        look_up(p, e, EVIDENCE_OLD, m->now_s, &f);
        s = choose_campaign(p, e, &f, EVIDENCE_NEW);
        most += KEYS_OF_EPOCH;
    }
    bool is_new = s == NULL;
    if (is_new) {
        s = slot_take(p, m->now_s);
    }
    slot_begin(s);
    if (is_new) {
        begin_slot(p, s, e, m);
    }
    count_in(p, s, e, m);
    slot_end(s);
    note_keys(p, s, e, &f, most, m->now_s);
    if (s->messages == 2) {
        slot_show(p, s, m->now_s);
    }
    return s->id;
}

uint64_t campaigns_add(struct campaigns *c, const struct campaign_message *m)
{
    struct evidence e;
    uint64_t id = 0;

    if (c == NULL || m->now_s >= UINT32_MAX) {
        return 0;
    }
    const struct evidence_case of = {m->config, c->keys, m->features, m->counts};
    evidence_make(&of, &e);
    if (e.n > 0 && enter(c)) {
        id = add_message(c->page, &e, m);
        pthread_mutex_unlock(&c->lock);
    }
    return id;
}

/* With the lock held. Slots and keys of lost pages are empty. */
static void keep_page(struct campaigns *c)
{
    const struct filemap_new fresh = {sizeof(struct campaign_page), FILE_MODE,
                                      mend_table, c};
    char path[FILE_PATH_MAX];

    if (path_make(path, NULL, "%s/" CAMPAIGNS_DIR "/" CAMPAIGN_FILE, c->state_dir) ==
        ERR_OK) {
        (void)filemap_mend(&c->map, path, "some campaigns", &fresh);
    }
}

void campaigns_tick(struct campaigns *c, uint64_t now_s)
{
    if (c != NULL && enter(c)) {
        keep_page(c);
        slots_sweep(c->page, SWEPT_SLOTS, now_s);
        keys_sweep(c->page, SWEPT_BUCKETS, now_s);
        pthread_mutex_unlock(&c->lock);
    }
}

uint64_t campaigns_count(struct campaigns *c)
{
    uint64_t n = 0;

    if (c != NULL && enter(c)) {
        n = c->page->shown;
        pthread_mutex_unlock(&c->lock);
    }
    return n;
}
