#include "core/campaign/campaign_read.h"

#include "core/base/file.h"
#include "core/campaign/campaign_evidence.h"
#include "core/campaign/campaign_page.h"

_Static_assert((int)CAMPAIGN_DONES == (int)CAMPAIGN_DONE_COUNT, "one enum");
_Static_assert((int)CAMPAIGN_BARS == (int)PICTURE_BARS, "one picture");

enum {
    TRIES = 100,
    ID_DIGITS = CAMPAIGN_ID_SIZE - 1,
    HEX = 16,
    KEYS_JOIN = 10 /* in halves: the body of a short message is enough */
};
#define ID_MAX ((UINT64_C(1) << 48) - 1)

const char *campaign_done_name(enum campaign_done d)
{
    static const char *const names[CAMPAIGN_DONE_COUNT] = {"accepted", "marked", "held",
                                                           "refused"};
    return names[d];
}

void campaign_id_print(uint64_t id, char ret[CAMPAIGN_ID_SIZE])
{
    (void)snprintf(ret, CAMPAIGN_ID_SIZE, "%012" PRIx64, id & ID_MAX);
}

bool campaign_id_read(struct slice text, uint64_t *ret)
{
    return text.n == ID_DIGITS && slice_to_u64(text, HEX, ID_MAX, ret);
}

const struct campaign *campaign_find(const struct campaign_list *list, uint64_t id)
{
    for (size_t i = 0; i < list->n; i++) {
        if (list->v[i].id == id) {
            return &list->v[i];
        }
    }
    return NULL;
}

static bool has_key(const struct campaign *c, const struct campaign_item *key)
{
    size_t i = 0;

    while (i < c->nitems &&
           (c->items[i].digest != key->digest || c->items[i].type != key->type)) {
        i++;
    }
    return i < c->nitems;
}

const struct campaign *campaign_of_keys(const struct campaign_list *list,
                                        const struct campaign_item *keys, size_t n)
{
    const struct campaign *best = NULL;
    unsigned most = KEYS_JOIN - 1;

    for (size_t i = 0; i < list->n; i++) {
        unsigned sum = 0;
        for (size_t k = 0; k < n; k++) {
            const unsigned weight = evidence_weight(keys[k].type);
            sum += weight > 0 && has_key(&list->v[i], &keys[k]) ? weight : 0;
        }
        if (sum > most) {
            most = sum;
            best = &list->v[i];
        }
    }
    return best;
}

/* ---- reading ---- */

/* The memory of a list. */
struct copy {
    struct campaign campaign[CAMPAIGN_SLOTS];
    struct campaign_slot slot[CAMPAIGN_SLOTS];
    struct picture picture[CAMPAIGN_SLOTS];
    uint32_t place[CAMPAIGN_SLOTS]; /* in campaign, plus 1; 0: none */
    struct campaign_item item[CAMPAIGN_BUCKETS * CAMPAIGN_BUCKET_KEYS];
};

/* Acquire loads: a later look at seq stays behind all of them. */
static void copy_words(const void *from, size_t bytes, void *ret)
{
    for (size_t i = 0; i < bytes / sizeof(uint64_t); i++) {
        uint64_t word = atomic_load_explicit((const _Atomic uint64_t *)from + i,
                                             memory_order_acquire);
        memcpy((char *)ret + i * sizeof(word), &word, sizeof(word));
    }
}
_Static_assert(sizeof(struct campaign_slot) % sizeof(uint64_t) == 0 &&
                   sizeof(struct picture) % sizeof(uint64_t) == 0,
               "whole words");

/* Copies a slot of the file that may change meanwhile. False: it is not shown, or makes no
 * sense. */
static bool copy_slot(const struct campaign_page *p, uint32_t at, struct copy *c)
{
    const struct campaign_slot *from = &p->slot[at];
    struct campaign_slot *ret = &c->slot[at];

    for (unsigned i = 0; i < TRIES; i++) {
        uint32_t seq = atomic_load_explicit(&from->seq, memory_order_acquire);
        copy_words(from, sizeof(*from), ret);
        copy_words(&p->picture[at], sizeof(p->picture[at]), &c->picture[at]);
        if (seq % 2 == 0 &&
            seq == atomic_load_explicit(&from->seq, memory_order_relaxed)) {
            return ret->id != 0 && ret->messages > 1 &&
                   ret->nsubject <= sizeof(ret->subject) &&
                   ret->nsender <= sizeof(ret->sender);
        }
    }
    return false;
}

static void make_campaign(const struct copy *c, uint32_t at, struct campaign *ret)
{
    const struct campaign_slot *s = &c->slot[at];

    *ret = (struct campaign){.id = s->id,
                             .slot = at,
                             .first_s = s->first_s,
                             .last_s = s->last_s,
                             .messages = s->messages,
                             .score = (double)s->score / s->messages,
                             .networks = distinct_count(&s->networks),
                             .senders = distinct_count(&s->domains),
                             .subject = slice_of(s->subject, s->nsubject),
                             .sender = slice_of(s->sender, s->nsender)};
    for (unsigned i = 0; i < CAMPAIGN_DONES; i++) {
        ret->done[i] = s->done[i];
    }
    for (unsigned i = 0; i < PICTURE_BARS; i++) {
        ret->bar[i] = picture_messages(&c->picture[at], i);
    }
    ret->bar_s = picture_step_s(&c->picture[at]);
}

static int later_first(const void *left, const void *right)
{
    const struct campaign *a = left;
    const struct campaign *b = right;

    if (a->last_s != b->last_s) {
        return a->last_s > b->last_s ? -1 : 1;
    }
    return a->id > b->id ? -1 : a->id < b->id;
}

static size_t copy_campaigns(const struct campaign_page *p, struct copy *c)
{
    size_t n = 0;

    for (uint32_t i = 0; i < CAMPAIGN_SLOTS; i++) {
        if (copy_slot(p, i, c)) {
            make_campaign(c, i, &c->campaign[n++]);
        }
    }
    qsort(c->campaign, n, sizeof(c->campaign[0]), later_first);
    for (size_t i = 0; i < n; i++) {
        c->place[c->campaign[i].slot] = (uint32_t)i + 1;
    }
    return n;
}

/* The shown campaign of a key, or NULL. */
static struct campaign *campaign_of(struct copy *c, const struct campaign_key *k)
{
    uint32_t at = k->type != 0 && k->slot < CAMPAIGN_SLOTS ? c->place[k->slot] : 0;

    return at != 0 && c->slot[k->slot].generation == k->generation
               ? &c->campaign[at - 1]
               : NULL;
}

/* Gives each campaign its keys, side by side: counts them first. */
static void copy_items(const struct campaign_key *keys, size_t n, struct copy *c,
                       size_t ncampaigns)
{
    struct campaign_item *free_place = c->item;

    for (size_t i = 0; i < n; i++) {
        struct campaign *of = campaign_of(c, &keys[i]);
        if (of != NULL) {
            of->nitems++;
        }
    }
    for (size_t i = 0; i < ncampaigns; i++) {
        c->campaign[i].items = free_place;
        free_place += c->campaign[i].nitems;
        c->campaign[i].nitems = 0;
    }
    for (size_t i = 0; i < n; i++) {
        struct campaign *of = campaign_of(c, &keys[i]);
        if (of != NULL) {
            c->item[of->items - c->item + (ptrdiff_t)of->nitems++] =
                (struct campaign_item){.digest = keys[i].digest,
                                       .type = keys[i].type,
                                       .messages = keys[i].hits};
        }
    }
}

static enum err open_table(const char *state_dir, enum filemap_mode mode,
                           struct filemap *ret, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e =
        path_make(path, reterr, "%s/" CAMPAIGNS_DIR "/" CAMPAIGN_FILE, state_dir);

    THEN(e, filemap_open(ret, path, mode, reterr));
    const struct campaign_page *p = (const struct campaign_page *)(void *)ret->p;
    if (e == ERR_OK && (ret->n != sizeof(*p) || p->magic != CAMPAIGN_MAGIC ||
                        p->version != CAMPAIGN_VERSION)) {
        filemap_close(ret);
        e = errinfo_set(reterr, ERR_CORRUPT, path, 0,
                        "no table of campaigns of this version; gillnetd makes a new "
                        "one when it starts");
    }
    return e;
}

enum err campaigns_read(const char *state_dir, struct campaign_list *ret,
                        struct errinfo *reterr)
{
    struct filemap m = {.p = NULL};
    enum err e = open_table(state_dir, FILEMAP_READ, &m, reterr);
    size_t nkeys = (size_t)CAMPAIGN_BUCKETS * CAMPAIGN_BUCKET_KEYS;

    *ret = (struct campaign_list){.n = 0};
    if (e != ERR_OK) {
        return e == ERR_NOT_FOUND ? ERR_OK : e;
    }
    const struct campaign_page *p = (const struct campaign_page *)(void *)m.p;
    struct copy *c = calloc(1, sizeof(*c));
    struct campaign_key *keys = malloc(sizeof(p->key));
    if (c == NULL || keys == NULL) {
        free(c);
        e = errinfo_nomem(reterr, state_dir);
    } else {
        ret->key_id = p->key_id;
        ret->memory = c;
        ret->v = c->campaign;
        ret->n = copy_campaigns(p, c);
        /* copied first: keys that change meanwhile must be counted and given out alike */
        memcpy(keys, p->key, sizeof(p->key));
        copy_items(keys, nkeys, c, ret->n);
        e = filemap_check(&m, state_dir, reterr);
        if (e != ERR_OK) {
            campaign_list_fini(ret);
        }
    }
    free(keys);
    filemap_close(&m);
    return e;
}

void campaign_list_fini(struct campaign_list *list)
{
    free(list->memory);
    *list = (struct campaign_list){.n = 0};
}

/* ---- forgetting ---- */

static bool is_part_of_address(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           c == '.' || c == '_' || c == '-' || c == '+' || c == '@';
}

/* Whether the address stands in the text as a word of its own. */
static bool names(struct slice text, struct slice address)
{
    for (size_t i = 0; address.n > 0 && i + address.n <= text.n; i++) {
        if (slice_eq_nocase(slice_of(text.p + i, address.n), address) &&
            (i == 0 || !is_part_of_address(text.p[i - 1])) &&
            (i + address.n == text.n || !is_part_of_address(text.p[i + address.n]))) {
            return true;
        }
    }
    return false;
}

/* gillnetd may be changing the slot: at worst the sample of a new campaign is erased, too. */
static bool erase_sample(struct campaign_slot *s, struct slice address)
{
    size_t nsubject =
        s->nsubject < sizeof(s->subject) ? s->nsubject : sizeof(s->subject);
    size_t nsender = s->nsender < sizeof(s->sender) ? s->nsender : sizeof(s->sender);

    if (s->id == 0 || (!names(slice_of(s->subject, nsubject), address) &&
                       !names(slice_of(s->sender, nsender), address))) {
        return false;
    }
    s->nsubject = 0;
    s->nsender = 0;
    memset(s->subject, 0, sizeof(s->subject));
    memset(s->sender, 0, sizeof(s->sender));
    return true;
}

enum err campaigns_forget(const char *state_dir, struct slice address, uint64_t *retn,
                          struct errinfo *reterr)
{
    struct filemap m = {.p = NULL};
    enum err e = open_table(state_dir, FILEMAP_WRITE, &m, reterr);

    *retn = 0;
    if (e != ERR_OK) {
        return e == ERR_NOT_FOUND ? ERR_OK : e;
    }
    struct campaign_page *p = (struct campaign_page *)(void *)m.p;
    for (unsigned i = 0; i < CAMPAIGN_SLOTS; i++) {
        *retn += erase_sample(&p->slot[i], address);
    }
    e = filemap_check(&m, state_dir, reterr);
    filemap_close(&m);
    return e;
}
