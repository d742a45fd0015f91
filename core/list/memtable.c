/*
 * memtable - layout: one page of header, filter lines, slots.
 */
#include "core/list/memtable.h"

#include <pthread.h>

#include "core/base/checksum.h"
#include "core/base/cursor.h"
#include "core/base/pages.h"
#include "core/base/random.h"
#include "core/list/files.h"

enum {
    RECENT_VERSION = 3,
    RECENT_K = 9,
    HEADER_BYTES = 4096,
    IDS_BYTES = 56, /* the constant part, then its checksum */
    NUMBERS_AT = 128,
    CURRENT_AT = 256, /* length u32, then the copy of CURRENT */
    CURRENT_MAX = HEADER_BYTES - CURRENT_AT - 4,
    LINES_AT = HEADER_BYTES,
    BOOT_BYTES = 16,
    ENTRIES_PER_SLOT = 64 /* see memtable_slots_for */
};
#define RECENT_MAGIC SLICE_LIT("GNRECNT1")
#define BOOT_ID_FILE "/proc/sys/kernel/random/boot_id"

_Static_assert((MEMTABLE_SLOTS_MIN & (MEMTABLE_SLOTS_MIN - 1)) == 0, "a power of two");

enum number_word {
    NUMBER_TAIL,
    NUMBER_UPDATED,
    NUMBER_LISTED,
    NUMBER_REVOKED,
    NUMBER_CLASSES /* and the words after it */
};

uint32_t memtable_slots_for(uint64_t entries)
{
    uint32_t slots = MEMTABLE_SLOTS_MIN;
    while (slots < MEMTABLE_SLOTS_MAX && slots < entries / ENTRIES_PER_SLOT) {
        slots *= 2;
    }
    return slots;
}

static uint32_t lines_of(uint32_t slots)
{
    return slots / MEMTABLE_SLOTS_PER_LINE;
}

static size_t slots_at(uint32_t slots)
{
    return LINES_AT + (size_t)lines_of(slots) * BLOOM_LINE_BYTES;
}

static size_t image_bytes(uint32_t slots)
{
    return slots_at(slots) + (size_t)slots * EXACT_SLOT_BYTES;
}

static pthread_once_t boot_once = PTHREAD_ONCE_INIT;
static char boot_name[BOOT_BYTES];

/* Adds the hexadecimal digits of text. */
static void add_digits(struct buf *b, const char *text)
{
    for (; text != NULL && *text != '\0'; text++) {
        if (strchr("0123456789abcdef", *text) != NULL) {
            buf_add_char(b, *text);
        }
    }
}

/* If a unit hides the file (ProcSubset=pid), GILLNET_BOOT_ID has the name (%b of systemd). Without
 * both the name is random, so that other processes build their images again. */
static void find_boot(void)
{
    struct buf text;
    struct buf digits;
    uint64_t half[2] = {0, 1};

    buf_init(&text, 256);
    buf_init(&digits, 256);
    if (file_read(BOOT_ID_FILE, &text, NULL) == ERR_OK) {
        buf_add_char(&text, '\0');
        add_digits(&digits, buf_failed(&text) ? NULL : text.p);
    } else {
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): nobody here changes the environment */
        add_digits(&digits, getenv("GILLNET_BOOT_ID"));
    }
    if (digits.n > 0) {
        half[0] = checksum64(buf_slice(&digits));
    } else {
        random_bytes(half, sizeof(half));
    }
    memcpy(boot_name, half, BOOT_BYTES);
    buf_fini(&digits);
    buf_fini(&text);
}

/* The name of this boot. */
static void boot_id(char ret[BOOT_BYTES])
{
    (void)pthread_once(&boot_once, find_boot);
    memcpy(ret, boot_name, BOOT_BYTES);
}

static void ids_print(const struct memtable_ids *ids, uint32_t slots, struct buf *ret)
{
    char boot[BOOT_BYTES];
    boot_id(boot);
    buf_add(ret, RECENT_MAGIC);
    buf_add_u32(ret, RECENT_VERSION);
    buf_add_u32(ret, ids->key_id);
    buf_add_u64(ret, ids->generation);
    buf_add_u32(ret, ids->tail);
    buf_add_u32(ret, slots);
    buf_add_u32(ret, lines_of(slots));
    buf_add_u32(ret, RECENT_K);
    buf_add(ret, slice_of(boot, BOOT_BYTES));
    buf_add_u64(ret, checksum64(buf_slice(ret)));
}

struct head {
    struct memtable_ids ids;
    uint32_t slots;
    struct slice boot;
};

static bool slots_are_possible(uint32_t slots)
{
    return slots >= MEMTABLE_SLOTS_MIN && slots <= MEMTABLE_SLOTS_MAX &&
           (slots & (slots - 1)) == 0;
}

static enum err head_parse(struct slice head, const char *path, struct head *ret,
                           struct errinfo *reterr)
{
    struct cursor c = cursor_of(head);
    struct slice magic = cursor_bytes(&c, RECENT_MAGIC.n);
    uint32_t version = cursor_u32(&c);
    struct memtable_ids ids = {0};
    ids.key_id = cursor_u32(&c);
    ids.generation = cursor_u64(&c);
    ids.tail = cursor_u32(&c);
    uint32_t slots = cursor_u32(&c);
    uint32_t lines = cursor_u32(&c);
    uint32_t k = cursor_u32(&c);
    struct slice boot = cursor_bytes(&c, BOOT_BYTES);
    uint64_t sum = cursor_u64(&c);
    if (!cursor_ok(&c) || !slice_eq(magic, RECENT_MAGIC) ||
        sum != checksum64(slice_head(head, IDS_BYTES))) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0, "the recent table is damaged");
    }
    if (version != RECENT_VERSION || !slots_are_possible(slots) ||
        lines != lines_of(slots) || k != RECENT_K) {
        return errinfo_set(reterr, ERR_VERSION, path, 0,
                           "a recent table of another version of gillnet");
    }
    *ret = (struct head){ids, slots, boot};
    return ERR_OK;
}

/* Points table, filter and ids into the image. */
static void image_attach(struct memtable *r, const struct memtable_ids *ids,
                         uint32_t slots, const struct hashkey *node)
{
    void *lines = r->map.p + LINES_AT;
    void *table = r->map.p + slots_at(slots);
    r->delta = (struct bloom){.words = lines,
                              .nlines = lines_of(slots),
                              .layout = BLOOM_ONE_LINE,
                              .k = RECENT_K};
    bloom_key(&r->delta, node);
    r->table = (struct exact_table){.words = table, .capacity = slots};
    r->ids = *ids;
    r->slots = slots;
}

enum err memtable_new(const struct memtable_ids *ids, const struct hashkey *node,
                      uint32_t slots, struct memtable *ret, struct errinfo *reterr)
{
    struct memtable r = {0};
    void *p = pages_new(image_bytes(slots));
    if (p == NULL) {
        return errinfo_errno(reterr, "", "no memory for a recent table");
    }
    r.map = (struct filemap){.p = p, .n = image_bytes(slots), .fd = -1};
    struct buf head;
    buf_init(&head, HEADER_BYTES);
    ids_print(ids, slots, &head);
    if (buf_failed(&head)) {
        buf_fini(&head);
        filemap_close(&r.map);
        return errinfo_nomem(reterr, "");
    }
    memcpy(p, head.p, head.n);
    buf_fini(&head);
    image_attach(&r, ids, slots, node);
    *ret = r;
    return ERR_OK;
}

/* Counts the slots; every one must be whole and known to the filter. */
static enum err slots_check(struct memtable *r, const char *path,
                            struct errinfo *reterr)
{
    for (uint64_t i = 0; i < r->slots; i++) {
        struct digest d;
        struct exact_value v;
        enum err e = exact_at(&r->table, i, &d, &v);
        if (e == ERR_NOT_FOUND) {
            continue;
        }
        if (e != ERR_OK || !bloom_test(&r->delta, &d) ||
            exact_get(&r->table, &d, &v) != ERR_OK) {
            return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                               "slot %" PRIu64 " of the recent table is damaged", i);
        }
        r->used++;
    }
    return ERR_OK;
}

static enum err image_check(struct memtable *r, const struct memtable_ids *want,
                            uint32_t *retslots, const char *path,
                            struct errinfo *reterr)
{
    const void *bytes = r->map.p;
    struct head h = {0};
    char now[BOOT_BYTES];
    enum err e = head_parse(slice_of(bytes, r->map.n < HEADER_BYTES ? 0 : HEADER_BYTES),
                            path, &h, reterr);
    if (e != ERR_OK) {
        return e;
    }
    if (r->map.n != image_bytes(h.slots)) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "the recent table is %zu bytes long instead of %zu",
                           r->map.n, image_bytes(h.slots));
    }
    struct memtable_ids ids = h.ids;
    if (ids.generation != want->generation || ids.tail != want->tail ||
        ids.key_id != want->key_id) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "the recent table belongs to another generation");
    }
    boot_id(now);
    if (!slice_eq(h.boot, slice_of(now, BOOT_BYTES))) {
        return errinfo_set(reterr, ERR_RANGE, path, 0,
                           "the recent table was left by another boot of the machine");
    }
    *retslots = h.slots;
    return ERR_OK;
}

/* True if the log is longer than the image covers: the writer was killed, or is, between the two,
 * and a slot can be partly written. */
static bool is_unfinished(const char *dir, const struct memtable *r)
{
    char path[FILE_PATH_MAX];
    struct stat st;
    struct memtable_numbers n = memtable_numbers_get(r);
    return list_file_path(path, dir, LIST_FILE_LOG, n.segment, NULL) == ERR_OK &&
           lstat(path, &st) == 0 && st.st_size > (off_t)n.tail_bytes;
}

enum err memtable_open(const char *dir, const struct memtable_ids *ids,
                       const struct hashkey *node, enum filemap_mode mode,
                       struct memtable *ret, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct memtable r = {0};
    enum err e = list_file_path(path, dir, LIST_FILE_RECENT, ids->generation, reterr);
    THEN(e, filemap_open(&r.map, path, mode, reterr));
    if (e != ERR_OK) {
        return e;
    }
    uint32_t slots = 0;
    e = image_check(&r, ids, &slots, path, reterr);
    if (e == ERR_OK) {
        image_attach(&r, ids, slots, node);
        e = slots_check(&r, path, reterr);
        /* slots of a page that could not be read look empty to a writer */
        THEN(e, filemap_check(&r.map, path, reterr));
        if (e == ERR_CORRUPT && is_unfinished(dir, &r)) {
            e = errinfo_set(reterr, ERR_RANGE, path, 0,
                            "the recent table was left unfinished by a killed writer");
        }
    }
    if (e != ERR_OK) {
        memtable_close(&r);
        return e;
    }
    *ret = r;
    return ERR_OK;
}

void memtable_close(struct memtable *r)
{
    filemap_close(&r->map);
    *r = (struct memtable){0};
}

enum err memtable_save(const struct memtable *r, const char *dir,
                       struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    const void *bytes = r->map.p;
    enum err e = list_file_path(path, dir, LIST_FILE_RECENT, r->ids.generation, reterr);
    THEN(e, file_write_atomic(path, slice_of(bytes, r->map.n), LIST_FILE_MODE, reterr));
    return e;
}

void memtable_keep_current(struct memtable *r, const struct list_current *c)
{
    struct buf b;
    buf_init(&b, CURRENT_MAX);
    current_print(c, &b);
    uint32_t n = buf_failed(&b) ? 0 : (uint32_t)b.n;
    memcpy(r->map.p + CURRENT_AT, &n, sizeof(n));
    if (n > 0) {
        memcpy(r->map.p + CURRENT_AT + sizeof(n), b.p, n);
    }
    buf_fini(&b);
    recent_classes_join(r, &c->classes);
}

/* The copy in a header whose ids are generation's. */
static enum err current_copy(struct slice head, const char *path, uint64_t generation,
                             struct list_current *ret, struct errinfo *reterr)
{
    struct head h = {0};
    enum err e = head_parse(head, path, &h, reterr);
    if (e != ERR_OK) {
        return e;
    }
    struct cursor c = cursor_of(slice_from(head, CURRENT_AT));
    uint32_t n = cursor_u32(&c);
    struct slice copy = cursor_bytes(&c, n);
    struct list_current current = {0};
    e = cursor_ok(&c) ? current_parse(copy, path, &current, reterr)
                      : errinfo_set(reterr, ERR_CORRUPT, path, 0, "no copy of CURRENT");
    if (e == ERR_OK && (current.generation != generation ||
                        h.ids.generation != generation || h.ids.tail != current.tail)) {
        e = errinfo_set(reterr, ERR_CORRUPT, path, 0,
                        "it belongs to another generation");
    }
    if (e == ERR_OK) {
        *ret = current;
    }
    return e;
}

enum err memtable_peek(const char *dir, uint64_t generation, struct list_current *ret,
                       struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = list_file_path(path, dir, LIST_FILE_RECENT, generation, reterr);
    struct buf bytes;
    buf_init(&bytes, image_bytes(MEMTABLE_SLOTS_MAX));
    THEN(e, file_read(path, &bytes, reterr));
    THEN(e, current_copy(slice_head(buf_slice(&bytes), HEADER_BYTES), path, generation,
                         ret, reterr));
    buf_fini(&bytes);
    return e;
}

enum err memtable_get(const struct memtable *r, const struct digest *d,
                      struct index_record *ret)
{
    struct exact_value v;
    enum err e = exact_get(&r->table, d, &v);
    if (e == ERR_OK) {
        *ret = entry_unpack(&v);
    }
    return e;
}

enum err memtable_state(const struct memtable *r, const struct merged_index *levels,
                        const struct digest *d, struct index_record *ret)
{
    enum err e = memtable_get(r, d, ret);
    return e == ERR_NOT_FOUND ? merged_index_get(levels, d, ret, NULL) : e;
}

uint64_t memtable_capacity(const struct memtable *r)
{
    return (uint64_t)r->slots * 7 / 10;
}

static int compare_entries(const void *a, const void *b)
{
    const struct memtable_entry *x = a;
    const struct memtable_entry *y = b;
    return digest_cmp(&x->digest, &y->digest);
}

static enum err say_damaged(struct errinfo *reterr)
{
    return errinfo_set(reterr, ERR_CORRUPT, "", 0,
                       "the recent table is damaged; open the list again: it is then "
                       "rebuilt from the log");
}

enum err memtable_sorted(const struct memtable *r, struct memtable_entry **ret,
                         size_t *retn, struct errinfo *reterr)
{
    struct memtable_entry *v = calloc(memtable_capacity(r) + 1, sizeof(*v));
    size_t n = 0;
    if (!v) {
        return errinfo_nomem(reterr, "");
    }
    /* a writer beside us may add entries meanwhile: as many as there is room for */
    for (uint64_t i = 0; i < r->slots && n <= memtable_capacity(r); i++) {
        struct exact_value value;
        enum err e = exact_at(&r->table, i, &v[n].digest, &value);
        if (e == ERR_CORRUPT) {
            free(v);
            return say_damaged(reterr);
        }
        if (e == ERR_OK) {
            v[n++].record = entry_unpack(&value);
        }
    }
    if (filemap_is_damaged(&r->map)) { /* slots of lost pages look empty to a writer */
        free(v);
        return say_damaged(reterr);
    }
    qsort(v, n, sizeof(*v), compare_entries);
    *ret = v;
    *retn = n;
    return ERR_OK;
}

static uint64_t *number_words(const struct memtable *r)
{
    void *p = r->map.p + NUMBERS_AT;
    return p;
}

/* A reader that finds an entry finds its class, because put_class comes first. */
struct feature_classes recent_classes(const struct memtable *r)
{
    const uint64_t *w = number_words(r) + NUMBER_CLASSES;
    struct feature_classes c;
    for (unsigned i = 0; i < FEATURE_CLASSES_WORDS; i++) {
        c.word[i] = __atomic_load_n(&w[i], __ATOMIC_ACQUIRE);
    }
    return c;
}

void recent_classes_join(struct memtable *r, const struct feature_classes *more)
{
    uint64_t *w = number_words(r) + NUMBER_CLASSES;
    for (unsigned i = 0; i < FEATURE_CLASSES_WORDS; i++) {
        if ((__atomic_load_n(&w[i], __ATOMIC_RELAXED) | more->word[i]) !=
            __atomic_load_n(&w[i], __ATOMIC_RELAXED)) {
            (void)__atomic_fetch_or(&w[i], more->word[i], __ATOMIC_RELEASE);
        }
    }
}

static void put_class(struct memtable *r, const struct index_record *rec)
{
    struct feature_classes one = {{0}};
    if (rec->expiry_s != ENTRY_GONE_S) {
        feature_classes_add(&one, rec->class_type);
        recent_classes_join(r, &one);
    }
}

enum err memtable_put(struct memtable *r, const struct digest *d,
                      const struct index_record *rec)
{
    struct exact_value v = entry_pack(rec);
    struct exact_value old;
    bool is_new = false;
    if (r->used >= memtable_capacity(r) && exact_get(&r->table, d, &old) != ERR_OK) {
        return ERR_NOSPACE;
    }
    put_class(r, rec);
    enum err e = exact_put(&r->table, d, &v, &is_new);
    if (e != ERR_OK) {
        return e;
    }
    r->used += is_new;
    bloom_add(&r->delta,
              d); /* after the slot: a reader that sees the bits finds the entry */
    return ERR_OK;
}

/* The tail's end is loaded first and stored last (acquire, release): a reader that sees it sees
 * every entry that it covers. The other numbers are only shown. */
struct memtable_numbers memtable_numbers_get(const struct memtable *r)
{
    const uint64_t *w = number_words(r);
    struct memtable_numbers n = {0};
    uint64_t tail = __atomic_load_n(&w[NUMBER_TAIL], __ATOMIC_ACQUIRE);
    n.segment = (uint32_t)(tail >> 32);
    n.tail_bytes = (uint32_t)(tail & UINT32_MAX);
    n.updated_s = __atomic_load_n(&w[NUMBER_UPDATED], __ATOMIC_RELAXED);
    n.totals.listed = __atomic_load_n(&w[NUMBER_LISTED], __ATOMIC_RELAXED);
    n.totals.revoked = __atomic_load_n(&w[NUMBER_REVOKED], __ATOMIC_RELAXED);
    return n;
}

void memtable_numbers_set(struct memtable *r, const struct memtable_numbers *n)
{
    uint64_t *w = number_words(r);
    __atomic_store_n(&w[NUMBER_UPDATED], n->updated_s, __ATOMIC_RELAXED);
    __atomic_store_n(&w[NUMBER_LISTED], n->totals.listed, __ATOMIC_RELAXED);
    __atomic_store_n(&w[NUMBER_REVOKED], n->totals.revoked, __ATOMIC_RELAXED);
    __atomic_store_n(&w[NUMBER_TAIL], (uint64_t)n->segment << 32 | n->tail_bytes,
                     __ATOMIC_RELEASE);
}

/* Folds one record of a tail over what the image, else the base, knows. */
static enum err replay_record(struct memtable *r, const struct log_record *rec,
                              const struct merged_index *base,
                              struct memtable_numbers *n)
{
    struct index_record state = {0};
    bool has = memtable_get(r, &rec->digest, &state) == ERR_OK;
    if (!has) {
        has = merged_index_get(base, &rec->digest, &state, NULL) == ERR_OK;
    }
    struct index_record before = state;
    if (rec->time_s > n->updated_s) {
        n->updated_s = rec->time_s;
    }
    if (!entry_fold(&state, has, rec)) {
        return ERR_OK;
    }
    enum err e = memtable_put(r, &rec->digest, &state);
    if (e == ERR_OK) {
        entry_count(&n->totals, &before, has, &state);
    }
    return e;
}

enum err memtable_replay(struct memtable *r, struct segment_scan scan,
                         const struct merged_index *base, struct memtable_numbers start,
                         size_t *retgood, unsigned *retdamage)
{
    struct memtable_numbers n = start;
    size_t good = scan.at;
    unsigned damage = 0;
    struct log_record rec;
    for (;;) {
        enum segment_found found = segment_next(&scan, &rec);
        if (found == SEGMENT_END || found == SEGMENT_TORN) {
            break;
        }
        if (found == SEGMENT_DAMAGE) {
            damage++;
            continue;
        }
        good = scan.at;
        if (rec.kind == RECORD_SOURCE) {
            continue;
        }
        enum err e = replay_record(r, &rec, base, &n);
        if (e != ERR_OK) {
            return e;
        }
    }
    n.segment = scan.number;
    n.tail_bytes =
        (uint32_t)good; /* a tail is not much longer than ACTIVE_SEGMENT_BYTES_MAX */
    memtable_numbers_set(r, &n);
    *retgood = good;
    *retdamage = damage;
    return ERR_OK;
}
