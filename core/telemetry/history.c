#include "core/telemetry/history.h"

#include <pthread.h>

#include "core/base/checksum.h"
#include "core/base/file.h"
#include "core/base/file_internal.h"
#include "core/base/log.h"
#include "core/telemetry/history_page.h"
#include "core/telemetry/periods.h"

enum {
    HISTORY_MODE = 0640,
    ROWS_USED = HISTORY_SYMBOLS - HISTORY_SYMBOLS / 8, /* searches stay short */
    US_NS = 1000
};
/* Scores are kept by halves from -5 on. */
static const double score_first = -5.0;
static const double score_step = 0.5;

_Static_assert((HISTORY_SYMBOLS & (HISTORY_SYMBOLS - 1)) == 0, "a power of two");
_Static_assert((int)HISTORY_BUCKET_SLOTS > (int)HISTORY_BUCKETS &&
                   (int)HISTORY_HOUR_SLOTS > (int)HISTORY_HOURS,
               "slots that no reader wants");

const uint32_t history_time_us[HISTORY_TIMES - 1] = {
    1,      2,      5,       10,      25,      50,      100,   250,
    500,    1000,   2500,    5000,    10000,   25000,   50000, 100000,
    250000, 500000, 1000000, 2500000, 5000000, 10000000};

/* As in stats.c: the page is never unmapped, a thread may just be counting in it. Release where it
 * is set, acquire in every reader: the new page's contents come first. */
static struct history_page early;
static _Atomic(struct history_page *) current = &early;
static _Atomic uint64_t key_floor = HISTORY_KEY_LEAST;

/* guards: the change of current, emptying of slots, making of rows, keys, nrows, mapped */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned nrows;
static struct filemap mapped = {.fd = -1};
static char mapped_path[FILE_PATH_MAX];

static struct history_page *page_now(void)
{
    return atomic_load_explicit(&current, memory_order_acquire);
}

/* Relaxed, as all numbers here: they order nothing, a reader wants each and not a moment. */
static void add_relaxed(_Atomic uint64_t *to, uint64_t n)
{
    atomic_fetch_add_explicit(to, n, memory_order_relaxed);
}

const char *history_number_name(enum history_number n)
{
    static const char *const names[HISTORY_NUMBERS] = {
        "messages", "accept",  "header",  "quarantine", "defer",
        "reject",   "discard", "skipped", "on_error",   "bytes"};
    return names[n];
}

const char *history_stage_name(enum history_stage s)
{
    static const char *const names[HISTORY_STAGES] = {"parse",   "lookup",  "count",
                                                      "verdict", "message", "url"};
    return names[s];
}

double history_score_edge(unsigned i)
{
    return score_first + score_step * i;
}

/* ---- ten minutes and hours ---- */

/* The stamp is 0 meanwhile, as in history_slot.c. */
static void empty_hour(struct history_hour *h, uint64_t stamp)
{
    pthread_mutex_lock(&lock);
    if (atomic_load_explicit(&h->stamp, memory_order_relaxed) != stamp) {
        atomic_store_explicit(&h->stamp, 0, memory_order_relaxed);
        for (unsigned i = 0; i < HISTORY_SCORES; i++) {
            atomic_store_explicit(&h->score[i], 0, memory_order_release);
        }
        for (unsigned i = 0; i <= HISTORY_OTHER; i++) {
            atomic_store_explicit(&h->symbol[i], 0, memory_order_release);
        }
        atomic_store_explicit(&h->stamp, stamp, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
}

static struct history_hour *hour_at(struct history_page *page, uint64_t now_s)
{
    uint64_t stamp = now_s / HISTORY_HOUR_S;
    struct history_hour *h = &page->hour[stamp % HISTORY_HOUR_SLOTS];
    /* acquire: partner of the release that ends the emptying */
    if (atomic_load_explicit(&h->stamp, memory_order_acquire) != stamp) {
        empty_hour(h, stamp);
    }
    return h;
}

static unsigned score_range(double score)
{
    double steps = (score - score_first) / score_step;
    if (!(steps >= 0)) {
        return 0;
    }
    return steps >= HISTORY_SCORES - 2 ? HISTORY_SCORES - 1 : (unsigned)steps + 1;
}

void history_message(uint64_t now_s, const uint64_t number[HISTORY_NUMBERS],
                     const double *score)
{
    struct history_page *page = page_now();

    history_slot_add(page->bucket, HISTORY_BUCKET_SLOTS, now_s / HISTORY_BUCKET_S,
                     number);
    periods_message(now_s, number);
    if (score != NULL) {
        add_relaxed(&hour_at(page, now_s)->score[score_range(*score)], 1);
    }
}

/* ---- times and URLs ---- */

void history_time(enum history_stage stage, uint64_t ns, uint64_t n)
{
    struct history_stage_times *t = &page_now()->time[stage];
    unsigned i = 0;

    while (i < HISTORY_TIMES - 1 && ns > (uint64_t)history_time_us[i] * US_NS) {
        i++;
    }
    add_relaxed(&t->count[i], n);
    add_relaxed(&t->sum_ns, ns * n);
}

void history_url_checks(unsigned status, uint64_t n)
{
    if (status < HISTORY_STATUSES && n > 0) {
        add_relaxed(&page_now()->url_checks[status], n);
    }
}

/* ---- symbols ---- */

/* The row of name, or the free one where it would be; HISTORY_OTHER: neither. */
static unsigned find_row(const struct history_page *page,
                         const char name[HISTORY_SYMBOL_NAME], bool *retfound)
{
    uint64_t at = checksum64(slice_of(name, HISTORY_SYMBOL_NAME));

    *retfound = false;
    for (unsigned step = 0; step < HISTORY_SYMBOLS; step++) {
        unsigned i = (unsigned)(at + step) & (HISTORY_SYMBOLS - 1);
        const struct history_row *row = &page->row[i];
        /* acquire: partner of the release in make_row */
        if (atomic_load_explicit(&row->is_used, memory_order_acquire) != 1) {
            return i;
        }
        if (memcmp(row->name, name, HISTORY_SYMBOL_NAME) == 0) {
            *retfound = true;
            return i;
        }
    }
    return HISTORY_OTHER;
}

static unsigned make_row(struct history_page *page,
                         const char name[HISTORY_SYMBOL_NAME])
{
    bool is_found = false;
    unsigned i = find_row(page, name, &is_found);

    if (is_found) {
        return i;
    }
    if (i == HISTORY_OTHER || nrows == ROWS_USED) {
        return HISTORY_OTHER;
    }
    memcpy(page->row[i].name, name, HISTORY_SYMBOL_NAME);
    atomic_store_explicit(&page->row[i].is_used, 1, memory_order_release);
    nrows++;
    return i;
}

void history_symbol(uint64_t now_s, struct slice name)
{
    struct history_page *page = page_now();
    char padded[HISTORY_SYMBOL_NAME] = "";
    bool is_found = false;

    if (name.n == 0 || name.n >= sizeof(padded)) {
        return;
    }
    memcpy(padded, name.p, name.n);
    unsigned i = find_row(page, padded, &is_found);
    if (!is_found && i != HISTORY_OTHER) {
        pthread_mutex_lock(&lock);
        i = make_row(page, padded);
        pthread_mutex_unlock(&lock);
    }
    add_relaxed(&page->row[i].total, 1);
    atomic_store_explicit(&page->row[i].last_s, now_s, memory_order_relaxed);
    atomic_fetch_add_explicit(&hour_at(page, now_s)->symbol[i], 1,
                              memory_order_relaxed);
}

/* ---- keys ---- */

/* A key's count, reduced by the age of its last occurrence: 0 after a day. */
static uint64_t weight_now(const struct history_key *k, uint64_t now_s)
{
    uint64_t age = now_s > k->at_s ? now_s - k->at_s : 0;
    return age >= HISTORY_DAY_S ? 0
                                : k->day - k->day / HISTORY_DAY_S * age -
                                      k->day % HISTORY_DAY_S * age / HISTORY_DAY_S;
}

uint64_t history_key_floor(void)
{
    return atomic_load_explicit(&key_floor, memory_order_relaxed);
}

static bool is_same_key(const struct history_key *a, const struct history_key *b)
{
    return a->type == b->type && memcmp(a->digest, b->digest, sizeof(a->digest)) == 0;
}

/* The place of k, or that of the lightest one. */
static unsigned place_for(const struct history_page *page, const struct history_key *k,
                          uint64_t *retweight)
{
    unsigned lightest = 0;

    *retweight = UINT64_MAX;
    for (unsigned i = 0; i < HISTORY_KEYS; i++) {
        const struct history_key *have = &page->key[i];
        uint64_t weight = weight_now(have, k->at_s);
        if (have->day > 0 && is_same_key(have, k)) {
            *retweight = 0;
            return i;
        }
        if (weight < *retweight) {
            *retweight = weight;
            lightest = i;
        }
    }
    return lightest;
}

/* key_seq is odd while the key changes. The exchange keeps later stores behind it; the last store
 * makes it even. */
static void store_key(struct history_page *page, unsigned i,
                      const struct history_key *k)
{
    uint64_t seq = atomic_load_explicit(&page->key_seq, memory_order_relaxed) | 1u;

    (void)atomic_exchange_explicit(&page->key_seq, seq, memory_order_acq_rel);
    page->key[i] = *k;
    atomic_store_explicit(&page->key_seq, seq + 1, memory_order_release);
}

static void raise_floor(const struct history_page *page, uint64_t now_s)
{
    uint64_t least = UINT64_MAX;

    for (unsigned i = 0; i < HISTORY_KEYS; i++) {
        uint64_t weight = weight_now(&page->key[i], now_s);
        least = weight < least ? weight : least;
    }
    atomic_store_explicit(&key_floor,
                          least > HISTORY_KEY_LEAST ? least : HISTORY_KEY_LEAST,
                          memory_order_relaxed);
}

void history_key(const struct history_key *k)
{
    struct history_page *page = page_now();
    uint64_t weight = 0;

    if (k->day < HISTORY_KEY_LEAST || k->n > HISTORY_KEY_TEXT ||
        pthread_mutex_trylock(&lock) != 0) {
        return;
    }
    unsigned i = place_for(page, k, &weight);
    if (weight < k->day) {
        store_key(page, i, k);
    }
    raise_floor(page, k->at_s);
    pthread_mutex_unlock(&lock);
}

/* ---- opening ---- */

static void take_symbols(struct history_page *page, const struct history_page *last,
                         uint64_t now_s)
{
    /* Rows move only here, and the hours' numbers with them. */
    for (unsigned i = 0; i <= HISTORY_OTHER; i++) {
        const struct history_row *from = &last->row[i];
        uint64_t last_s = from->last_s;
        bool is_kept = last_s <= now_s && now_s - last_s < HISTORY_KEEP_S;
        unsigned at = HISTORY_OTHER;
        if (i < HISTORY_OTHER) {
            if (from->is_used != 1 || !is_kept || !history_name_is_sound(from->name)) {
                continue;
            }
            at = make_row(page, from->name);
        }
        page->row[at].total += from->total;
        page->row[at].last_s = last_s;
        for (unsigned h = 0; h < HISTORY_HOUR_SLOTS; h++) {
            page->hour[h].symbol[at] += last->hour[h].symbol[i];
        }
    }
}

static void take_keys(struct history_page *page, const struct history_page *last,
                      uint64_t now_s)
{
    for (unsigned i = 0; i < HISTORY_KEYS; i++) {
        const struct history_key *k = &last->key[i];
        if (k->n <= HISTORY_KEY_TEXT && k->at_s <= now_s &&
            now_s - k->at_s < HISTORY_DAY_S) {
            page->key[i] = *k;
        }
    }
}

/* Fills a new page from the page of the last run. Only numbers are copied; names are checked. */
static void fill_page(struct history_page *page, const struct history_page *last,
                      uint64_t now_s)
{
    page->magic = HISTORY_MAGIC;
    page->version = HISTORY_VERSION;
    page->bytes = sizeof(*page);
    nrows = 0;
    if (last == NULL) {
        return;
    }
    /* No other thread has these pages yet, so their atomic numbers are copied as bytes. */
    memcpy((void *)page->bucket, last->bucket, sizeof(page->bucket));
    memcpy((void *)page->time, last->time, sizeof(page->time));
    for (unsigned i = 0; i < HISTORY_HOUR_SLOTS; i++) {
        page->hour[i].stamp = last->hour[i].stamp;
        for (unsigned n = 0; n < HISTORY_SCORES; n++) {
            page->hour[i].score[n] = last->hour[i].score[n];
        }
    }
    for (unsigned i = 0; i < HISTORY_STATUSES; i++) {
        page->url_checks[i] = last->url_checks[i];
    }
    take_symbols(page, last, now_s);
    take_keys(page, last, now_s);
}

struct beginning {
    const struct history_page *last;
    uint64_t now_s;
};

static void begin_page(void *context, void *p)
{
    const struct beginning *b = context;
    struct history_page *page = p;
    fill_page(page, b->last, b->now_s);
    raise_floor(page, b->now_s);
    atomic_store_explicit(&current, page, memory_order_release);
}

static void close_locked(void)
{
    fd_close(&mapped.fd); /* the page stays mapped */
    mapped.p = NULL;
    if (page_now() != &early) {
        memset((void *)&early, 0, sizeof(early));
        nrows = 0;
        atomic_store_explicit(&current, &early, memory_order_release);
        raise_floor(&early, 0);
    }
}

enum err history_open(const char *path, uint64_t now_s, struct errinfo *reterr)
{
    struct history_page *last = NULL;
    struct errinfo why = {.code = ERR_OK};

    pthread_mutex_lock(&lock);
    close_locked();
    if (history_page_read(path, &last, &why) != ERR_OK && why.code != ERR_NOT_FOUND) {
        log_errinfo("history", &why); /* an empty one replaces it */
    }
    struct beginning b = {last, now_s};
    const struct filemap_new fresh = {sizeof(struct history_page), HISTORY_MODE,
                                      begin_page, &b};
    enum err e = path_make(mapped_path, reterr, "%s", path);
    THEN(e, filemap_make(&mapped, path, &fresh, reterr));
    if (e != ERR_OK) {
        close_locked();
    }
    pthread_mutex_unlock(&lock);
    free(last);
    return e;
}

/* The rest of a damaged page is as little trusted as a page of the last run. */
static void mend_page(void *context, void *p)
{
    const uint64_t *now_s = context;
    struct history_page *rest = malloc(sizeof(*rest));

    if (rest != NULL) {
        memcpy((void *)rest, p, sizeof(*rest));
    }
    memset(p, 0, sizeof(*rest));
    fill_page(p, rest, *now_s);
    raise_floor(p, *now_s);
    free(rest);
}

void history_keep(uint64_t now_s)
{
    const struct filemap_new fresh = {sizeof(struct history_page), HISTORY_MODE,
                                      mend_page, &now_s};

    pthread_mutex_lock(&lock);
    (void)filemap_mend(&mapped, mapped_path, "numbers of the last day", &fresh);
    pthread_mutex_unlock(&lock);
    periods_keep();
}

void history_close(void)
{
    pthread_mutex_lock(&lock);
    close_locked();
    pthread_mutex_unlock(&lock);
}
