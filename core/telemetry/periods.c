#include "core/telemetry/periods.h"

#include <pthread.h>

#include "core/base/file.h"
#include "core/base/file_internal.h"
#include "core/base/log.h"
#include "core/telemetry/history_page.h"

#define PERIODS_MAGIC UINT64_C(0x31444f4952455047) /* "GPERIOD1" */

enum {
    PERIODS_MODE = 0640,
    SLOTS = 768,      /* of each ring: more than any reader wants */
    NUMBERS_MAX = 64, /* of a file of any release */
    SLOTS_MAX = 1 << 14
};

_Static_assert((int)SLOTS > (int)PERIOD_HOURS && (int)SLOTS > (int)PERIOD_DAYS &&
                   (int)HISTORY_NUMBERS <= (int)NUMBERS_MAX,
               "slots that no reader wants");
_Static_assert((int)PERIOD_DAYS <= (int)PERIOD_BUCKETS_MAX &&
                   (int)HISTORY_BUCKETS <= (int)PERIOD_BUCKETS_MAX,
               "the longest period");

/* Native byte order and words, as in history_page.h. Hours and then days follow the head. A slot is
 * a stamp and its numbers. */
struct head {
    uint64_t magic;
    uint32_t bytes;   /* of the file */
    uint32_t numbers; /* of a slot */
    uint32_t hours;   /* slots */
    uint32_t days;
    uint64_t spare[5];
};

struct periods {
    struct head head;
    struct history_slot hour[SLOTS];
    struct history_slot day[SLOTS];
};

/* As in stats.c: never unmapped, a thread may just be adding to it. */
static struct periods early;
static _Atomic(struct periods *) current = &early;
static struct filemap mapped = {.fd = -1}; /* of the thread that opens and keeps */
static char mapped_path[FILE_PATH_MAX];

static const struct {
    const char *name;
    uint64_t bucket_s;
    size_t n;
} table[PERIOD_COUNT] = {
    [PERIOD_DAY] = {"day", HISTORY_BUCKET_S, HISTORY_BUCKETS},
    [PERIOD_WEEK] = {"week", HISTORY_HOUR_S, 7 * 24 + 1},
    [PERIOD_MONTH] = {"month", HISTORY_HOUR_S, PERIOD_HOURS},
    [PERIOD_YEAR] = {"year", HISTORY_DAY_S, 366 + 1},
    [PERIOD_YEARS] = {"years", HISTORY_DAY_S, PERIOD_DAYS},
};

const char *period_name(enum period p)
{
    return table[p].name;
}

bool period_find(struct slice name, enum period *ret)
{
    for (unsigned p = 0; p < PERIOD_COUNT; p++) {
        if (slice_eq(name, slice_str(table[p].name))) {
            *ret = (enum period)p;
            return true;
        }
    }
    return false;
}

uint64_t period_bucket_s(enum period p)
{
    return table[p].bucket_s;
}

size_t period_buckets(enum period p)
{
    return table[p].n;
}

void periods_message(uint64_t now_s, const uint64_t number[HISTORY_NUMBERS])
{
    /* acquire: partner of the release in begin_periods */
    struct periods *p = atomic_load_explicit(&current, memory_order_acquire);

    history_slot_add(p->hour, SLOTS, now_s / HISTORY_HOUR_S, number);
    history_slot_add(p->day, SLOTS, now_s / HISTORY_DAY_S, number);
}

/* ---- the file of any release ---- */

/* Slots of a file: words, of which the first is the stamp. */
struct slots {
    const uint64_t *words;
    size_t n;
    size_t numbers;
};

static bool is_sound(const struct head *h, uint64_t size)
{
    return h->numbers >= 1 && h->numbers <= NUMBERS_MAX && h->hours >= 1 &&
           h->hours <= SLOTS_MAX && h->days >= 1 && h->days <= SLOTS_MAX &&
           h->bytes == sizeof(*h) + ((uint64_t)h->hours + h->days) *
                                        (1 + (uint64_t)h->numbers) * sizeof(uint64_t) &&
           size >= h->bytes;
}

static void take_slot(const uint64_t *words, size_t numbers, struct history_slot *to)
{
    if (to->stamp > words[0]) {
        return; /* of a longer ring two may have the same place: the newer one */
    }
    to->stamp = words[0];
    for (size_t i = 0; i < HISTORY_NUMBERS; i++) {
        to->number[i] = i < numbers ? words[1 + i] : 0;
    }
}

/* A slot whose stamp belongs elsewhere is damaged. */
static void take_ring(struct slots from, struct history_slot *ring)
{
    for (size_t i = 0; i < from.n; i++) {
        const uint64_t *words = from.words + i * (1 + from.numbers);
        if (words[0] != 0 && words[0] % from.n == i) {
            take_slot(words, from.numbers, &ring[words[0] % SLOTS]);
        }
    }
}

static enum err take_rings(int fd, uint64_t size, const char *path, struct periods *ret,
                           struct errinfo *reterr)
{
    struct head h = {.magic = 0};
    enum err e = ERR_OK;

    if (file_read_at(fd, 0, &h, sizeof(h)) != sizeof(h) || h.magic != PERIODS_MAGIC ||
        !is_sound(&h, size)) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "this is not a file of gillnet's hours and days");
    }
    size_t n = h.bytes - sizeof(h);
    uint64_t *words = malloc(n);
    if (words == NULL) {
        return errinfo_nomem(reterr, path);
    }
    if (file_read_at(fd, sizeof(h), words, n) == n) {
        struct slots hours = {words, h.hours, h.numbers};
        struct slots days = {words + h.hours * (1 + (size_t)h.numbers), h.days,
                             h.numbers};
        take_ring(hours, ret->hour);
        take_ring(days, ret->day);
    } else {
        e = errinfo_set(reterr, ERR_CORRUPT, path, 0,
                        "the file of hours and days is cut off");
    }
    free(words);
    return e;
}

/* The file's numbers; *ret is the caller's to free. Reads instead of mapping: a truncated file must
 * not kill the reader. */
static enum err read_periods(const char *path, struct periods **ret,
                             struct errinfo *reterr)
{
    int fd = -1;
    uint64_t size = 0;
    enum err e = file_sys_open_regular(path, O_RDONLY, &fd, &size, reterr);

    if (e != ERR_OK) {
        return e;
    }
    struct periods *p = calloc(1, sizeof(*p));
    e = p != NULL ? take_rings(fd, size, path, p, reterr) : errinfo_nomem(reterr, path);
    (void)close(fd);
    if (e != ERR_OK) {
        free(p);
        return e;
    }
    *ret = p;
    return ERR_OK;
}

/* ---- opening ---- */

/* Adds the ten minutes of the page of history. Without a page there are none. */
static void take_history(struct periods *p, const char *history_path)
{
    struct history_page *page = NULL;

    if (history_page_read_buckets(history_path, &page, NULL) != ERR_OK) {
        return;
    }
    for (unsigned i = 0; i < HISTORY_BUCKET_SLOTS; i++) {
        uint64_t number[HISTORY_NUMBERS];
        uint64_t stamp = page->bucket[i].stamp;
        if (stamp != 0 && stamp % HISTORY_BUCKET_SLOTS == i) {
            history_slot_read(page->bucket, HISTORY_BUCKET_SLOTS, stamp, number);
            history_slot_add(p->hour, SLOTS,
                             stamp / (HISTORY_HOUR_S / HISTORY_BUCKET_S), number);
            history_slot_add(p->day, SLOTS, stamp / (HISTORY_DAY_S / HISTORY_BUCKET_S),
                             number);
        }
    }
    free(page);
}

static void fill_head(void *context, void *p)
{
    struct periods *file = p;

    (void)context;
    file->head = (struct head){.magic = PERIODS_MAGIC,
                               .bytes = sizeof(*file),
                               .numbers = HISTORY_NUMBERS,
                               .hours = SLOTS,
                               .days = SLOTS};
}

static void begin_periods(void *context, void *p)
{
    struct periods *file = p;

    /* No other thread has these pages yet, so their atomic numbers are copied as bytes. */
    memcpy((void *)file, context, sizeof(*file));
    fill_head(NULL, file);
    atomic_store_explicit(&current, file, memory_order_release);
}

void periods_close(void)
{
    fd_close(&mapped.fd); /* the file stays mapped */
    mapped.p = NULL;
    if (atomic_load_explicit(&current, memory_order_relaxed) != &early) {
        memset((void *)&early, 0, sizeof(early));
        atomic_store_explicit(&current, &early, memory_order_release);
    }
}

enum err periods_open(const char *path, const char *history_path,
                      struct errinfo *reterr)
{
    struct periods *last = NULL;
    struct errinfo why = {.code = ERR_OK};

    periods_close();
    if (read_periods(path, &last, &why) != ERR_OK) {
        if (why.code != ERR_NOT_FOUND) {
            log_errinfo("periods", &why); /* another one replaces it */
        }
        last = calloc(1, sizeof(*last));
        if (last == NULL) {
            return errinfo_nomem(reterr, path);
        }
        take_history(last, history_path);
    }
    const struct filemap_new fresh = {sizeof(*last), PERIODS_MODE, begin_periods, last};
    enum err e = path_make(mapped_path, reterr, "%s", path);
    THEN(e, filemap_make(&mapped, path, &fresh, reterr));
    if (e != ERR_OK) {
        periods_close();
    }
    free(last);
    return e;
}

void periods_keep(void)
{
    const struct filemap_new fresh = {sizeof(struct periods), PERIODS_MODE, fill_head,
                                      NULL};

    (void)filemap_mend(&mapped, mapped_path, "numbers of hours and days", &fresh);
}

/* ---- reading ---- */

void period_view_init(struct period_view *v, enum period p, uint64_t now_s)
{
    uint64_t first = now_s / table[p].bucket_s + 1 - table[p].n;

    memset(v, 0, sizeof(*v));
    v->period = p;
    v->n = table[p].n;
    for (size_t i = 0; i < v->n; i++) {
        v->bucket[i].at_s = (first + i) * table[p].bucket_s;
    }
}

static void fill_view(const struct history_slot *ring, unsigned nslots,
                      struct period_view *v)
{
    for (size_t i = 0; i < v->n; i++) {
        struct history_bucket *b = &v->bucket[i];
        history_slot_read(ring, nslots, b->at_s / table[v->period].bucket_s, b->number);
    }
}

static enum err read_day(const char *path, struct period_view *ret,
                         struct errinfo *reterr)
{
    struct history_page *page = NULL;
    enum err e = history_page_read_buckets(path, &page, reterr);

    if (e == ERR_OK) {
        fill_view(page->bucket, HISTORY_BUCKET_SLOTS, ret);
        free(page);
    }
    return e;
}

static enum err read_long(const char *path, struct period_view *ret,
                          struct errinfo *reterr)
{
    struct periods *p = NULL;
    enum err e = read_periods(path, &p, reterr);

    if (e == ERR_OK) {
        fill_view(table[ret->period].bucket_s == HISTORY_HOUR_S ? p->hour : p->day,
                  SLOTS, ret);
        free(p);
    }
    return e;
}

enum err period_read(const char *state_dir, enum period p, uint64_t now_s,
                     struct period_view *ret, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];

    period_view_init(ret, p, now_s);
    enum err e = path_make(path, reterr, "%s/%s", state_dir,
                           p == PERIOD_DAY ? STATE_HISTORY_FILE : STATE_PERIODS_FILE);
    if (e == ERR_OK) {
        e = p == PERIOD_DAY ? read_day(path, ret, reterr)
                            : read_long(path, ret, reterr);
    }
    return e;
}

void period_sum(const struct period_view *v, uint64_t ret[HISTORY_NUMBERS])
{
    memset(ret, 0, HISTORY_NUMBERS * sizeof(ret[0]));
    for (size_t i = 0; i < v->n; i++) {
        for (unsigned n = 0; n < HISTORY_NUMBERS; n++) {
            ret[n] += v->bucket[i].number[n];
        }
    }
}
