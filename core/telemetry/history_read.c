/* history_read - the page as another process sees it. */

#include "core/base/file.h"
#include "core/base/file_internal.h"
#include "core/telemetry/history_page.h"

/* Tries, a millisecond apart, to meet the keys while they do not change; a writer that was killed
 * in the middle leaves the number odd for ever, and then they are taken as they are. */
enum { KEY_TRIES = 50, KEY_WAIT_NS = 1000000 };

bool history_name_is_sound(const char name[HISTORY_SYMBOL_NAME])
{
    size_t n = strnlen(name, HISTORY_SYMBOL_NAME);

    for (size_t i = 0; i < n; i++) {
        bool is_letter = (name[i] >= 'A' && name[i] <= 'Z') || name[i] == '_' ||
                         (name[i] >= '0' && name[i] <= '9');
        if (!is_letter) {
            return false;
        }
    }
    return n > 0 && n < HISTORY_SYMBOL_NAME;
}

enum err history_page_check(const struct history_page *page, size_t n, const char *path,
                            struct errinfo *reterr)
{
    if (n < offsetof(struct history_page, spare) || page->magic != HISTORY_MAGIC) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "this is not a page of gillnet's history");
    }
    if (page->version != HISTORY_VERSION || page->bytes != sizeof(*page)) {
        return errinfo_set(reterr, ERR_VERSION, path, 0,
                           "a page of history of another version; use the programs of "
                           "one release");
    }
    if (n < sizeof(*page)) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "the page of history is cut off");
    }
    return ERR_OK;
}

/* Reads instead of mapping: a truncated file must not kill the reader. */
static enum err read_page(int fd, struct history_page *page, const char *path,
                          struct errinfo *reterr)
{
    size_t n = file_read_at(fd, 0, page, sizeof(*page));

    return n < sizeof(*page) && errno != 0
               ? file_sys_fail(reterr, path, "cannot read the page of history")
               : history_page_check(page, n, path, reterr);
}

/* Two reads with the same even number have the keys of one moment between them. */
static enum err read_settled(int fd, struct history_page *page, const char *path,
                             struct errinfo *reterr)
{
    enum err e = read_page(fd, page, path, reterr);

    for (int i = 0; i < KEY_TRIES && e == ERR_OK; i++) {
        uint64_t seq = page->key_seq;
        uint64_t after = 0;
        if (file_read_at(fd, offsetof(struct history_page, key_seq), &after,
                         sizeof(after)) == sizeof(after) &&
            after == seq && seq % 2 == 0) {
            break;
        }
        struct timespec wait = {.tv_nsec = KEY_WAIT_NS};
        (void)nanosleep(&wait, NULL);
        e = read_page(fd, page, path, reterr);
    }
    return e;
}

static enum err read_buckets(int fd, struct history_page *page, const char *path,
                             struct errinfo *reterr)
{
    const size_t part = offsetof(struct history_page, hour);
    size_t n = file_read_at(fd, 0, page, part);

    return history_page_check(page, n < part ? n : sizeof(*page), path, reterr);
}

typedef enum err read_part_fn(int fd, struct history_page *page, const char *path,
                              struct errinfo *reterr);

static enum err read_copy(const char *path, read_part_fn *read_part,
                          struct history_page **ret, struct errinfo *reterr)
{
    int fd = -1;
    uint64_t size = 0;
    enum err e = file_sys_open_regular(path, O_RDONLY, &fd, &size, reterr);

    if (e != ERR_OK) {
        return e;
    }
    struct history_page *page = calloc(1, sizeof(*page));
    e = page == NULL ? errinfo_nomem(reterr, path) : read_part(fd, page, path, reterr);
    (void)close(fd);
    if (e != ERR_OK) {
        free(page);
        return e;
    }
    *ret = page;
    return ERR_OK;
}

enum err history_page_read(const char *path, struct history_page **ret,
                           struct errinfo *reterr)
{
    return read_copy(path, read_settled, ret, reterr);
}

enum err history_page_read_buckets(const char *path, struct history_page **ret,
                                   struct errinfo *reterr)
{
    return read_copy(path, read_buckets, ret, reterr);
}

/* ---- the view ---- */

/* page NULL: there is none. */
static void view_buckets(const struct history_page *page, uint64_t now_s,
                         struct history_view *ret)
{
    uint64_t now = now_s / HISTORY_BUCKET_S;

    for (unsigned i = 0; i < HISTORY_BUCKETS; i++) {
        struct history_bucket *b = &ret->bucket[i];
        uint64_t stamp = now + 1 - HISTORY_BUCKETS + i;
        b->at_s = stamp * HISTORY_BUCKET_S;
        if (page != NULL) {
            history_slot_read(page->bucket, HISTORY_BUCKET_SLOTS, stamp, b->number);
        }
    }
}

static bool is_of_day(const struct history_hour *h, uint64_t now_s)
{
    uint64_t now = now_s / HISTORY_HOUR_S;
    return h->stamp <= now && h->stamp + HISTORY_HOURS > now;
}

static int by_day(const void *a, const void *b)
{
    const struct history_symbol *x = a;
    const struct history_symbol *y = b;
    if (x->day != y->day) {
        return x->day < y->day ? 1 : -1;
    }
    return strcmp(x->name, y->name);
}

static void view_symbols(const struct history_page *page, uint64_t now_s,
                         struct history_view *ret)
{
    for (unsigned i = 0; i <= HISTORY_OTHER; i++) {
        const struct history_row *row = &page->row[i];
        struct history_symbol *s = &ret->symbol[ret->nsymbols];
        bool is_named = row->is_used == 1 && history_name_is_sound(row->name);
        if (row->total == 0 || (i < HISTORY_OTHER && !is_named)) {
            continue;
        }
        (void)snprintf(s->name, sizeof(s->name), "%.*s", HISTORY_SYMBOL_NAME - 1,
                       i < HISTORY_OTHER ? row->name : "other");
        s->total = row->total;
        for (unsigned h = 0; h < HISTORY_HOUR_SLOTS; h++) {
            s->day += is_of_day(&page->hour[h], now_s) ? page->hour[h].symbol[i] : 0;
        }
        ret->nsymbols++;
    }
    qsort(ret->symbol, ret->nsymbols, sizeof(ret->symbol[0]), by_day);
}

static int by_count(const void *a, const void *b)
{
    const struct history_key *x = a;
    const struct history_key *y = b;
    return x->day == y->day ? 0 : x->day < y->day ? 1 : -1;
}

static void view_keys(const struct history_page *page, uint64_t now_s,
                      struct history_view *ret)
{
    for (unsigned i = 0; i < HISTORY_KEYS; i++) {
        const struct history_key *k = &page->key[i];
        if (k->day > 0 && k->n <= HISTORY_KEY_TEXT && k->at_s + HISTORY_DAY_S > now_s) {
            ret->key[ret->nkeys++] = *k;
        }
    }
    qsort(ret->key, ret->nkeys, sizeof(ret->key[0]), by_count);
}

static void view_sums(const struct history_page *page, uint64_t now_s,
                      struct history_view *ret)
{
    for (unsigned h = 0; h < HISTORY_HOUR_SLOTS; h++) {
        for (unsigned i = 0; is_of_day(&page->hour[h], now_s) && i < HISTORY_SCORES;
             i++) {
            ret->score[i] += page->hour[h].score[i];
        }
    }
    for (unsigned s = 0; s < HISTORY_STAGES; s++) {
        struct history_times *t = &ret->time[s];
        for (unsigned i = 0; i < HISTORY_TIMES; i++) {
            t->count[i] = page->time[s].count[i];
            t->n += t->count[i];
        }
        t->sum_ns = page->time[s].sum_ns;
    }
    for (unsigned i = 0; i < HISTORY_STATUSES; i++) {
        ret->url_checks[i] = page->url_checks[i];
    }
}

enum err history_read(const char *path, uint64_t now_s, struct history_view *ret,
                      struct errinfo *reterr)
{
    struct history_page *page = NULL;
    enum err e = history_page_read(path, &page, reterr);

    memset(ret, 0, sizeof(*ret));
    view_buckets(page, now_s, ret);
    if (e != ERR_OK) {
        return e;
    }
    view_sums(page, now_s, ret);
    view_symbols(page, now_s, ret);
    view_keys(page, now_s, ret);
    free(page);
    return ERR_OK;
}
