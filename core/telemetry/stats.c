#include "core/telemetry/stats.h"

#include <pthread.h>
#include <stdatomic.h>

#include "core/base/file.h"
#include "core/base/file_internal.h"
#include "core/base/slice.h"
#include "core/telemetry/stats_page.h"

enum { FAULT_KEY_MAX = 64, STATS_MODE = 0644 };

_Static_assert(STATS_FAULT_TEXT % sizeof(uint64_t) == 0, "texts are stored as words");
_Static_assert(sizeof(struct stats_page) % STATS_PAGE_UNIT == 0, "whole pages");
_Static_assert((int)STAT_COUNT <= (int)STATS_VALUES_MAX, "raise STATS_VALUES_MAX");

enum stat_kind { KIND_COUNTER, KIND_GAUGE };

static const struct {
    const char *name;
    const char *help;
    enum stat_kind kind;
} table[STAT_COUNT] = {
#define STAT(name, kind, help) {#name, help, KIND_##kind},
#include "core/telemetry/stats.def"
#undef STAT
};

/* The numbers live in `early` while no page is open. A page is never unmapped, not even by
 * stats_close: a thread may just be counting in it. That costs two pages of addresses for each
 * stats_open, which a program calls once.
 * Release where it is set, acquire in every reader: the new page's contents come first. */
static struct stats_page early;
static _Atomic(struct stats_page *) current = &early;

/* guards: the change of current, faults, the fault area of the page, mapped, kept */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
    struct filemap map;
    char path[FILE_PATH_MAX];
    uint64_t value[STAT_COUNT]; /* as of the last stats_keep, should the file be cut */
} kept = {.map = {.fd = -1}};

static struct {
    char key[FAULT_KEY_MAX]; /* empty: free */
    char text[STATS_FAULT_TEXT];
} faults[STATS_FAULTS_MAX];

static struct stats_page *page_now(void)
{
    return atomic_load_explicit(&current, memory_order_acquire);
}

/* Relaxed: a counter orders nothing else; its readers want each number, not a moment. */
void stats_add(enum stat_id id, uint64_t n)
{
    atomic_fetch_add_explicit(&page_now()->value[id], n, memory_order_relaxed);
}

void stats_sub(enum stat_id id, uint64_t n)
{
    atomic_fetch_sub_explicit(&page_now()->value[id], n, memory_order_relaxed);
}

void stats_set(enum stat_id id, uint64_t v)
{
    atomic_store_explicit(&page_now()->value[id], v, memory_order_relaxed);
}

uint64_t stats_get(enum stat_id id)
{
    return atomic_load_explicit(&page_now()->value[id], memory_order_relaxed);
}

const char *stats_name(enum stat_id id)
{
    return table[id].name;
}

const char *stats_help(enum stat_id id)
{
    return table[id].help;
}

bool stats_is_counter(enum stat_id id)
{
    return table[id].kind == KIND_COUNTER;
}

/* Stores the texts of all faults. The sequence number is odd meanwhile, so that a reader of the
 * page knows to look again; the fences pair with those of the reader. */
static void publish_faults(struct stats_page *page)
{
    uint32_t seq = atomic_load_explicit(&page->fault_seq, memory_order_relaxed);
    seq |= 1u; /* a page is only taken over with an even number, but be sure */
    atomic_store_explicit(&page->fault_seq, seq, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    uint32_t n = 0;
    for (unsigned i = 0; i < STATS_FAULTS_MAX; i++) {
        if (!faults[i].key[0]) {
            continue;
        }
        for (unsigned w = 0; w < STATS_FAULT_WORDS; w++) {
            uint64_t word = 0;
            memcpy(&word, faults[i].text + w * sizeof(word), sizeof(word));
            atomic_store_explicit(&page->fault[n][w], word, memory_order_relaxed);
        }
        n++;
    }
    atomic_store_explicit(&page->nfaults, n, memory_order_relaxed);
    atomic_store_explicit(&page->fault_seq, seq + 1, memory_order_release);
}

/* The place of key, or a free one, or STATS_FAULTS_MAX. */
static unsigned fault_slot(const char *key)
{
    unsigned slot = STATS_FAULTS_MAX;
    for (unsigned i = 0; i < STATS_FAULTS_MAX; i++) {
        if (strncmp(faults[i].key, key, FAULT_KEY_MAX - 1) == 0) {
            return i;
        }
        if (!faults[i].key[0] && slot == STATS_FAULTS_MAX) {
            slot = i;
        }
    }
    return slot;
}

static void fill_fault(unsigned slot, const char *key, const char *text)
{
    char line[STATS_FAULT_TEXT] = "";
    (void)snprintf(line, sizeof(line), "%s: %s", key, text);
    for (char *p = line; *p; p++) {
        if ((unsigned char)*p < ' ' || *p == 0x7f) {
            *p = ' '; /* one line of text each */
        }
    }
    (void)snprintf(faults[slot].key, FAULT_KEY_MAX, "%s", key);
    memset(faults[slot].text, 0, STATS_FAULT_TEXT);
    memcpy(faults[slot].text, line, strlen(line));
}

void stats_fault(const char *key, const char *text)
{
    if (!key[0]) {
        return;
    }
    (void)pthread_mutex_lock(&lock);
    unsigned slot = fault_slot(key);
    if (slot < STATS_FAULTS_MAX) {
        if (text) {
            fill_fault(slot, key, text);
        } else {
            faults[slot].key[0] = '\0';
        }
        publish_faults(page_now());
    }
    (void)pthread_mutex_unlock(&lock);
}

static void fill_head(struct stats_page *page)
{
    page->magic = STATS_MAGIC;
    page->version = STATS_VERSION;
    page->nvalues = STAT_COUNT;
    page->faults_max = STATS_FAULTS_MAX;
    page->fault_text = STATS_FAULT_TEXT;
}

/* Fills a new page: the counters of the last run plus those of this process, and its gauges. */
static void fill_page(struct stats_page *page, const struct stats_view *last)
{
    fill_head(page);
    for (unsigned i = 0; i < STAT_COUNT; i++) {
        uint64_t v = stats_get((enum stat_id)i);
        if (table[i].kind == KIND_COUNTER) {
            v += last->value[i];
        }
        atomic_store_explicit(&page->value[i], v, memory_order_relaxed);
    }
    publish_faults(page);
}

/* The page counts from now on. */
static void begin_page(void *last, void *p)
{
    struct stats_page *page = p;
    fill_page(page, last);
    atomic_store_explicit(&current, page, memory_order_release);
}

static void close_locked(void)
{
    fd_close(&kept.map.fd); /* the page stays mapped */
    kept.map.p = NULL;
    for (unsigned i = 0; i < STAT_COUNT; i++) {
        atomic_store_explicit(&early.value[i], 0, memory_order_relaxed);
    }
    atomic_store_explicit(&current, &early, memory_order_release);
}

static void copy_values(void)
{
    for (unsigned i = 0; i < STAT_COUNT; i++) {
        kept.value[i] = stats_get((enum stat_id)i);
    }
}

enum err stats_open(const char *path, struct errinfo *reterr)
{
    (void)pthread_mutex_lock(&lock);
    if (page_now() != &early) {
        close_locked();
    }
    struct stats_view last;
    if (stats_read(path, &last, NULL) != ERR_OK) {
        memset(&last, 0, sizeof(last)); /* counters start at 0 */
    }
    const struct filemap_new fresh = {sizeof(struct stats_page), STATS_MODE, begin_page,
                                      &last};
    enum err e = path_make(kept.path, reterr, "%s", path);
    THEN(e, filemap_make(&kept.map, path, &fresh, reterr));
    if (e != ERR_OK) {
        close_locked();
    }
    copy_values();
    (void)pthread_mutex_unlock(&lock);
    return e;
}

/* A value that fell was in a lost page, and has been counted from 0 since. */
static void mend_page(void *context, void *p)
{
    struct stats_page *page = p;

    (void)context;
    fill_head(page);
    for (unsigned i = 0; i < STAT_COUNT; i++) {
        uint64_t v = atomic_load_explicit(&page->value[i], memory_order_relaxed);
        if (table[i].kind == KIND_COUNTER && v < kept.value[i]) {
            v += kept.value[i];
        } else if (table[i].kind == KIND_GAUGE && v == 0) {
            v = kept.value[i];
        }
        atomic_store_explicit(&page->value[i], v, memory_order_relaxed);
    }
    publish_faults(page);
}

void stats_keep(void)
{
    const struct filemap_new fresh = {sizeof(struct stats_page), STATS_MODE, mend_page,
                                      NULL};

    (void)pthread_mutex_lock(&lock);
    if (filemap_mend(&kept.map, kept.path, "counts of the last second", &fresh)) {
        copy_values();
    }
    (void)pthread_mutex_unlock(&lock);
}

void stats_close(void)
{
    (void)pthread_mutex_lock(&lock);
    close_locked();
    (void)pthread_mutex_unlock(&lock);
}
