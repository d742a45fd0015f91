/*
 * ham_log - slots are taken in turn by an atomic number; a slot's checksum is written last.
 */
#include "core/telemetry/ham_log.h"

#include <stdatomic.h>

#include "core/base/checksum.h"
#include "core/base/file.h"

#define HAM_MAGIC UINT64_C(0x314c4e524a474e47) /* "GNGJRNL1" */
enum { HAM_VERSION = 1, HAM_MODE = 0640, FLAG_GOOD = 1 };
#define EVERY_US ((uint64_t)HAM_LOG_EVERY_S * 1000000)

/* Native byte order: the file never leaves the machine. */
struct slot {
    uint32_t sum; /* of the rest as far as it is in use */
    uint32_t time_s;
    uint64_t network;
    uint32_t flags;
    uint32_t n;
    uint64_t key[HAM_LOG_KEYS];
};

struct page {
    uint64_t magic;
    uint32_t version;
    uint32_t key_id;
    uint32_t nslots;
    uint32_t slot_bytes;
    _Atomic uint64_t next; /* messages ever added */
    uint64_t spare[3];
    struct slot slot[HAM_LOG_SLOTS];
};

struct ham_log {
    struct filemap map;
    struct page *page;
    uint32_t key_id;
    char path[FILE_PATH_MAX];
    _Atomic uint64_t due_us; /* when the next is due; see ham_log_wants */
};

uint64_t ham_log_key(const struct digest *d)
{
    uint64_t key = 0;
    memcpy(&key, d->b, sizeof(key));
    return key;
}

static uint32_t sum_of(const struct slot *s)
{
    const char *p = (const char *)s + sizeof(s->sum);
    size_t n = offsetof(struct slot, key) - sizeof(s->sum) + s->n * sizeof(s->key[0]);
    return checksum32(slice_of(p, n)) | 1; /* never that of zeros */
}

static bool is_whole(const struct slot *s)
{
    return s->sum != 0 && s->n <= HAM_LOG_KEYS && s->sum == sum_of(s);
}

/* ---- the file ---- */

static bool is_ours(const struct filemap *m)
{
    const struct page *p = (const struct page *)(const void *)m->p;
    return m->n == sizeof(*p) && p->magic == HAM_MAGIC && p->version == HAM_VERSION &&
           p->nslots == HAM_LOG_SLOTS && p->slot_bytes == sizeof(struct slot);
}

static void fill(void *key_id, void *page)
{
    struct page *p = page;
    p->magic = HAM_MAGIC;
    p->version = HAM_VERSION;
    p->key_id = *(const uint32_t *)key_id;
    p->nslots = HAM_LOG_SLOTS;
    p->slot_bytes = sizeof(struct slot);
}

enum err ham_log_open(const char *path, uint32_t key_id, struct ham_log **ret,
                      struct errinfo *reterr)
{
    struct filemap m = {0};
    enum err e = filemap_open(&m, path, FILEMAP_WRITE, NULL);
    const struct page *p = (const struct page *)(const void *)m.p;
    if (e != ERR_OK || !is_ours(&m) || p->key_id != key_id) {
        filemap_close(&m);
        const struct filemap_new fresh = {sizeof(struct page), HAM_MODE, fill, &key_id};
        e = filemap_make(&m, path, &fresh, reterr);
    }
    if (e != ERR_OK) {
        return e;
    }
    struct ham_log *j = calloc(1, sizeof(*j));
    if (!j) {
        filemap_close(&m);
        return errinfo_nomem(reterr, path);
    }
    j->map = m;
    j->page = (struct page *)(void *)m.p;
    j->key_id = key_id;
    (void)snprintf(j->path, sizeof(j->path), "%s", path);
    *ret = j;
    return ERR_OK;
}

void ham_log_close(struct ham_log **j)
{
    if (*j) {
        filemap_close(&(*j)->map);
        free(*j);
    }
    *j = NULL;
}

uint32_t ham_log_key_id(const struct ham_log *j)
{
    return j->key_id;
}

void ham_log_keep(struct ham_log *j)
{
    if (j != NULL) {
        const struct filemap_new fresh = {sizeof(struct page), HAM_MODE, fill,
                                          &j->key_id};
        (void)filemap_mend(&j->map, j->path, "samples of good mail", &fresh);
    }
}

/* ---- adding ---- */

/* Each message that is kept moves due_us on by the average distance; while it lies no further ahead
 * than a burst is long, the next may be kept (a leaky bucket). */
bool ham_log_wants(struct ham_log *j, uint64_t now_us)
{
    uint64_t due = atomic_load_explicit(&j->due_us, memory_order_relaxed);
    uint64_t next = 0;
    do {
        uint64_t from = due > now_us ? due : now_us;
        if (from - now_us >= HAM_LOG_BURST * EVERY_US) {
            return false;
        }
        next = from + EVERY_US;
    } while (!atomic_compare_exchange_weak_explicit(
        &j->due_us, &due, next, memory_order_relaxed, memory_order_relaxed));
    return true;
}

void ham_log_add(struct ham_log *j, const struct ham_log_message *m)
{
    /* relaxed: the number only divides the slots; a reader trusts a checksum, not an order */
    uint64_t at = atomic_fetch_add_explicit(&j->page->next, 1, memory_order_relaxed);
    struct slot s = {.time_s = m->time_s,
                     .network = m->network,
                     .flags = m->is_good ? FLAG_GOOD : 0,
                     .n = (uint32_t)(m->n < HAM_LOG_KEYS ? m->n : HAM_LOG_KEYS)};
    memcpy(s.key, m->key, s.n * sizeof(s.key[0]));
    s.sum = sum_of(&s);
    struct slot *to = &j->page->slot[at % HAM_LOG_SLOTS];
    memcpy(to, &s, offsetof(struct slot, key) + s.n * sizeof(s.key[0]));
}

/* ---- reading ---- */

enum err ham_log_read(const char *path, uint32_t since_s, ham_log_read_fn *fn,
                      void *context, uint32_t *retkey_id, struct errinfo *reterr)
{
    struct filemap m = {0};
    enum err e = filemap_open(&m, path, FILEMAP_READ, reterr);
    if (e != ERR_OK) {
        return e;
    }
    if (!is_ours(&m)) {
        filemap_close(&m);
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "not a ham log of this version of gillnetd");
    }
    const struct page *p = (const struct page *)(const void *)m.p;
    *retkey_id = p->key_id;
    for (size_t i = 0; i < HAM_LOG_SLOTS; i++) {
        struct slot s = p->slot[i]; /* a copy: it may change while it is looked at */
        if (!is_whole(&s) || s.time_s < since_s) {
            continue;
        }
        struct ham_log_message got = {.time_s = s.time_s,
                                      .is_good = (s.flags & FLAG_GOOD) != 0,
                                      .network = s.network,
                                      .n = s.n};
        memcpy(got.key, s.key, s.n * sizeof(s.key[0]));
        fn(context, &got);
    }
    e = filemap_check(&m, path, reterr);
    filemap_close(&m);
    return e;
}
