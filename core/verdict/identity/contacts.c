#include "core/verdict/identity/contacts.h"

#include "core/base/clock.h"
#include "core/base/thread.h"
#include "core/message/url/host.h"
#include "core/verdict/identity/contacts_internal.h"
#include "core/verdict/identity/proof.h"

enum {
    DIGEST_TYPE = 0x6300, /* and the kind: apart from all types of features */
    VALUE_MAX = 2048,
    BATCH = 256, /* entries of one write */
    DAY_S = 86400,
    US_PER_S = 1000000,
    OPEN_TRIES = 10,
    DIR_MODE = 02750
};

/* ---- entries ---- */

uint32_t contact_today(void)
{
    return (uint32_t)(clock_wall_us() / US_PER_S / DAY_S);
}

bool contact_is_over(uint64_t value, uint32_t day)
{
    uint64_t keep = value % CONTACT_KINDS == CONTACT_MESSAGE
                        ? CONTACTS_MESSAGE_DAYS
                        : CONTACTS_DAYS + CONTACT_REFRESH_DAYS;
    return value / CONTACT_KINDS + keep < day;
}

bool contact_put(struct tally *t, uint64_t key, uint64_t value)
{
    uint64_t *at = tally_find(t, key);

    if (at == NULL) {
        return tally_used(t) < CONTACTS_MOST_RECENT && tally_add(t, key, value);
    }
    *at = value > *at ? value : *at;
    return true;
}

static void add_lower(char *dst, struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        dst[i] = s.p[i];
        if (s.p[i] >= 'A' && s.p[i] <= 'Z') {
            dst[i] = (char)(s.p[i] - 'A' + 'a');
        }
    }
}

/* The key of (a, b) under one digest key; b may be empty. Message-IDs keep their case. */
static uint64_t contact_key(const struct hashkey *ring, enum contact_kind kind,
                            struct slice a, struct slice b)
{
    char bytes[VALUE_MAX];
    struct digest d;
    uint64_t key = 0;

    a = slice_head(a, VALUE_MAX / 2 - 1);
    b = slice_head(b, VALUE_MAX / 2);
    if (kind == CONTACT_MESSAGE && a.n > 0) {
        memcpy(bytes, a.p, a.n);
    } else {
        add_lower(bytes, a);
    }
    bytes[a.n] = '\0';
    add_lower(bytes + a.n + 1, b);
    digest_make(ring, (uint16_t)(DIGEST_TYPE + (int)kind),
                slice_of(bytes, a.n + 1 + b.n), &d);
    for (size_t i = 0; i < sizeof(key); i++) {
        key = key << 8 | d.b[i];
    }
    return key != 0 ? key : 1;
}

/* ---- looking up ---- */

static struct contacts_known *known_acquire(struct contacts *c)
{
    struct contacts_known *k = c->known;
    if (k != NULL) {
        k->refs++;
    }
    return k;
}

static void known_release(struct contacts *c, struct contacts_known *k)
{
    if (k == NULL) {
        return;
    }
    pthread_mutex_lock(&c->lock);
    bool is_last = --k->refs == 0;
    pthread_mutex_unlock(&c->lock);
    if (is_last) {
        contacts_known_free(k);
    }
}

static uint64_t value_in(const struct contacts_known *k, uint64_t key)
{
    uint64_t value = 0;
    struct digest d;

    if (k == NULL) {
        return 0;
    }
    memcpy(d.b, &key, sizeof(key));
    memcpy(d.b + sizeof(key), &key, sizeof(key));
    if (k->filter.words != NULL && !bloom_test(&k->filter, &d)) {
        return 0;
    }
    return run_get(k->run, key, &value) == ERR_OK ? value : 0;
}

/* The value of a key, or 0. */
static uint64_t value_of(struct contacts *c, uint64_t key)
{
    pthread_mutex_lock(&c->lock);
    uint64_t value = tally_get(&c->recent, key);
    value = value != 0 ? value : tally_get(&c->frozen, key);
    struct contacts_known *k = value == 0 ? known_acquire(c) : NULL;
    pthread_mutex_unlock(&c->lock);
    if (value == 0) {
        value = value_in(k, key);
        known_release(c, k);
    }
    return value;
}

static bool has(struct contacts *c, enum contact_kind kind, struct slice a,
                struct slice b)
{
    const uint32_t today = contact_today();

    for (unsigned i = 0; i < c->keys->n; i++) {
        uint64_t value = value_of(c, contact_key(&c->keys->ring[i], kind, a, b));
        if (value != 0 && value % CONTACT_KINDS == (uint64_t)kind &&
            !contact_is_over(value, today)) {
            return true;
        }
    }
    return false;
}

bool contacts_wrote(struct contacts *c, struct slice ours, struct slice theirs)
{
    return has(c, CONTACT_PERSON, ours, theirs) ||
           has(c, CONTACT_SITE, proof_domain_of(ours), theirs);
}

bool contacts_sent_id(struct contacts *c, struct slice message_id, struct slice theirs)
{
    return has(c, CONTACT_MESSAGE, message_id, theirs);
}

bool contacts_has_domain(struct contacts *c, struct slice domain)
{
    return has(c, CONTACT_DOMAIN, domain, SLICE_NONE);
}

/* ---- learning ---- */

static struct slice organisation_of(struct slice domain)
{
    struct slice registrable = host_registrable(domain);
    return registrable.n > 0 ? registrable : domain;
}

/* Entries of one message that are not written yet. */
struct batch {
    struct contacts *c;
    uint32_t today;
    size_t n;
    enum err result;
    struct contact_entry v[BATCH];
};

/* In memory they are from here on, whether the disk took them or not. */
static void flush(struct batch *b)
{
    struct contacts *c = b->c;

    if (b->n == 0) {
        return;
    }
    pthread_mutex_lock(&c->lock);
    if (c->log >= 0 && !c->is_volatile) {
        c->is_volatile = !contacts_log_append(c->log, c->log_bytes, b->v, b->n);
        c->log_bytes += c->is_volatile ? 0 : b->n * CONTACT_RECORD;
        c->is_dirty = true;
    }
    b->result = c->is_volatile || c->log < 0 ? ERR_IO : b->result;
    for (size_t i = 0; i < b->n; i++) {
        if (!contact_put(&c->recent, b->v[i].key, b->v[i].value)) {
            c->dropped++;
            b->result = ERR_NOMEM;
        }
    }
    pthread_mutex_unlock(&c->lock);
    b->n = 0;
}

/* Not again what was learnt these days. */
static void learn_entry(struct batch *b, enum contact_kind kind, struct slice x,
                        struct slice y)
{
    const uint64_t key = contact_key(&b->c->keys->ring[0], kind, x, y);
    const uint64_t before = value_of(b->c, key);
    const uint64_t day = before / CONTACT_KINDS;

    if (before % CONTACT_KINDS == (uint64_t)kind && day <= b->today &&
        day + CONTACT_REFRESH_DAYS > b->today) {
        return;
    }
    b->v[b->n++] =
        (struct contact_entry){key, b->today * CONTACT_KINDS + (uint32_t)kind};
    if (b->n == BATCH) {
        flush(b);
    }
}

enum err contacts_learn_sent(struct contacts *c, const struct contacts_sent *sent)
{
    struct batch b = {.c = c, .today = contact_today(), .result = ERR_OK};
    const struct slice site = proof_domain_of(sent->from);

    for (size_t i = 0; i < sent->nrcpt; i++) {
        const struct slice rcpt = sent->rcpt[i];
        if (has(c, CONTACT_LIST, rcpt, SLICE_NONE)) {
            continue;
        }
        learn_entry(&b, CONTACT_PERSON, sent->from, rcpt);
        learn_entry(&b, CONTACT_SITE, site, rcpt);
        learn_entry(&b, CONTACT_DOMAIN, organisation_of(proof_domain_of(rcpt)),
                    SLICE_NONE);
        if (sent->message_id.n > 0) {
            learn_entry(&b, CONTACT_MESSAGE, sent->message_id, rcpt);
        }
    }
    flush(&b);
    return b.result;
}

static enum err learn_one(struct contacts *c, enum contact_kind kind, struct slice text)
{
    struct batch b = {.c = c, .today = contact_today(), .result = ERR_OK};

    learn_entry(&b, kind, text, SLICE_NONE);
    flush(&b);
    return b.result;
}

enum err contacts_learn_domain(struct contacts *c, struct slice domain)
{
    return learn_one(c, CONTACT_DOMAIN, domain);
}

enum err contacts_learn_list(struct contacts *c, struct slice address)
{
    return learn_one(c, CONTACT_LIST, address);
}

/* ---- opening ---- */

static bool on_entry(void *context, const struct contact_entry *entry)
{
    struct contacts *c = context;

    if (!contact_put(&c->recent, entry->key, entry->value)) {
        c->dropped++;
    }
    return true;
}

/* A log that went meanwhile was folded: the known file that is opened after it has its entries. */
static enum err read_logs(struct contacts *c, struct errinfo *reterr)
{
    uint64_t number[CONTACTS_FILES];
    size_t n = 0;
    enum err e = contacts_files(c->dir, "log", number, &n, reterr);

    for (size_t i = 0; e == ERR_OK && i < n; i++) {
        bool is_locked = false;
        e = contacts_log_read(c->dir, number[i], on_entry, c, &is_locked, reterr);
        e = e == ERR_NOT_FOUND ? ERR_OK : e;
    }
    return e;
}

static enum err open_known(struct contacts *c, struct errinfo *reterr)
{
    uint64_t number[CONTACTS_FILES];
    size_t n = 0;
    enum err e = contacts_files(c->dir, "known", number, &n, reterr);

    return e == ERR_OK && n > 0
               ? contacts_known_open(c->dir, number[n - 1],
                                     c->is_view ? NULL : &c->keys->node, &c->known,
                                     reterr)
               : e;
}

static enum err read_files(struct contacts *c, struct errinfo *reterr)
{
    enum err e = ERR_NOT_FOUND;

    for (unsigned i = 0; e == ERR_NOT_FOUND && i < OPEN_TRIES; i++) {
        e = read_logs(c, reterr);
        THEN(e, open_known(c, reterr));
    }
    return e;
}

static enum err make_contacts(const char *state_dir, const struct keyring *keys,
                              struct contacts **ret, struct errinfo *reterr)
{
    struct contacts *c = calloc(1, sizeof(*c));

    if (c == NULL) {
        return errinfo_nomem(reterr, state_dir);
    }
    c->keys = keys;
    c->log = -1;
    c->folding.fd = -1;
    tally_init(&c->recent);
    tally_init(&c->frozen);
    (void)pthread_mutex_init(&c->lock, NULL);
    (void)pthread_cond_init(&c->changed, NULL);
    enum err e = path_make(c->dir, reterr, "%s/" CONTACTS_DIR, state_dir);
    if (e != ERR_OK) {
        contacts_close(&c);
    }
    *ret = c;
    return e;
}

enum err contacts_view(const char *state_dir, const struct keyring *keys,
                       struct contacts **ret, struct errinfo *reterr)
{
    enum err e = make_contacts(state_dir, keys, ret, reterr);

    if (e == ERR_OK) {
        (*ret)->is_view = true;
        e = read_files(*ret, reterr);
    }
    if (e != ERR_OK) {
        contacts_close(ret);
    }
    return e;
}

enum err contacts_open(const char *state_dir, const struct keyring *keys,
                       struct contacts **ret, struct errinfo *reterr)
{
    enum err e = make_contacts(state_dir, keys, ret, reterr);
    struct contacts *c = *ret;

    THEN(e, file_make_dir(c->dir, DIR_MODE, reterr));
    THEN(e, contacts_log_make(c->dir, &c->log, &c->log_number, reterr));
    if (e == ERR_OK) {
        c->log_bytes = CONTACT_RECORD;
        e = read_files(c, reterr);
    }
    if (e != ERR_OK) {
        contacts_close(ret);
    }
    return e;
}

enum err contacts_start(struct contacts *c, const struct contacts_hooks *hooks,
                        struct errinfo *reterr)
{
    c->hooks = *hooks;
    if (thread_start(&c->thread, contacts_run, c) != 0) {
        return errinfo_set(reterr, ERR_NOMEM, c->dir, 0,
                           "a thread cannot be started; raise TasksMax or the user's "
                           "limit of processes");
    }
    c->has_thread = true;
    return ERR_OK;
}

void contacts_close(struct contacts **pc)
{
    struct contacts *c = *pc;

    *pc = NULL;
    if (c == NULL) {
        return;
    }
    if (c->has_thread) {
        pthread_mutex_lock(&c->lock);
        c->ends = true;
        pthread_cond_signal(&c->changed);
        pthread_mutex_unlock(&c->lock);
        pthread_join(c->thread, NULL);
    }
    if (c->log >= 0) {
        (void)fdatasync(c->log);
    }
    fd_close(&c->log);
    filelock_drop(&c->folding);
    tally_fini(&c->recent);
    tally_fini(&c->frozen);
    contacts_known_free(c->known);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

void contacts_numbers(struct contacts *c, struct contacts_numbers *ret)
{
    pthread_mutex_lock(&c->lock);
    *ret = (struct contacts_numbers){.recent = tally_used(&c->recent) +
                                               tally_used(&c->frozen),
                                     .dropped = c->dropped,
                                     .bytes = c->log_bytes,
                                     .is_volatile = c->is_volatile};
    if (c->known != NULL) {
        ret->folded = run_records(c->known->run);
        ret->bytes += run_bytes(c->known->run);
    }
    pthread_mutex_unlock(&c->lock);
}
