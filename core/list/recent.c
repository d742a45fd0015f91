/*
 * recent - layout: one page of header, RECENT_LINES filter lines, RECENT_SLOTS slots.
 */
#include "core/list/recent.h"

#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "core/base/checksum.h"
#include "core/base/cursor.h"
#include "core/list/files.h"

enum {
    RECENT_VERSION = 1,
    RECENT_K = 9,
    HEADER_BYTES = 4096,
    IDS_BYTES = 56, /* the constant part, then its checksum */
    NUMBERS_AT = 128,
    LINES_AT = HEADER_BYTES,
    SLOTS_AT = LINES_AT + RECENT_LINES * BLOOM_LINE_BYTES,
    IMAGE_BYTES = SLOTS_AT + RECENT_SLOTS * EXACT_SLOT_BYTES,
    BOOT_BYTES = 16
};
#define RECENT_MAGIC SLICE_LIT("GNRECNT1")
#define BOOT_ID_FILE "/proc/sys/kernel/random/boot_id"

_Static_assert((RECENT_SLOTS & (RECENT_SLOTS - 1)) == 0, "a power of two");

enum number_word { NUMBER_TAIL, NUMBER_UPDATED, NUMBER_LISTED, NUMBER_REVOKED };

/* A name of this boot; without /proc one that no file has, so that images are built anew. */
static void boot_id(char ret[BOOT_BYTES])
{
    struct buf text;
    buf_init(&text, 256);
    uint64_t half[2] = {0, 0};
    if (file_read(BOOT_ID_FILE, &text, NULL) == ERR_OK && text.n > 0) {
        half[0] = checksum64(buf_slice(&text));
        half[1] = 1;
    }
    memcpy(ret, half, BOOT_BYTES);
    buf_fini(&text);
}

static void ids_print(const struct recent_ids *ids, struct buf *ret)
{
    char boot[BOOT_BYTES];
    boot_id(boot);
    buf_add(ret, RECENT_MAGIC);
    buf_add_u32(ret, RECENT_VERSION);
    buf_add_u32(ret, ids->key_id);
    buf_add_u64(ret, ids->generation);
    buf_add_u32(ret, ids->tail);
    buf_add_u32(ret, RECENT_SLOTS);
    buf_add_u32(ret, RECENT_LINES);
    buf_add_u32(ret, RECENT_K);
    buf_add(ret, slice_of(boot, BOOT_BYTES));
    buf_add_u64(ret, checksum64(buf_slice(ret)));
}

static enum err ids_parse(struct slice head, const char *path, struct recent_ids *ret,
                          struct slice *retboot, struct errinfo *reterr)
{
    struct cursor c = cursor_of(head);
    struct slice magic = cursor_bytes(&c, RECENT_MAGIC.n);
    uint32_t version = cursor_u32(&c);
    struct recent_ids ids = {0};
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
    if (version != RECENT_VERSION || slots != RECENT_SLOTS || lines != RECENT_LINES ||
        k != RECENT_K) {
        return errinfo_set(reterr, ERR_VERSION, path, 0,
                           "a recent table of another version of gillnet");
    }
    *ret = ids;
    *retboot = boot;
    return ERR_OK;
}

/* Points table, filter and ids into the image. */
static void image_attach(struct recent *r, const struct recent_ids *ids,
                         const struct hashkey *node)
{
    void *lines = r->map.p + LINES_AT;
    void *slots = r->map.p + SLOTS_AT;
    r->delta = (struct bloom){.words = lines,
                              .nlines = RECENT_LINES,
                              .layout = BLOOM_ONE_LINE,
                              .k = RECENT_K};
    bloom_key(&r->delta, node);
    r->table = (struct exact_table){.words = slots, .capacity = RECENT_SLOTS};
    r->ids = *ids;
}

enum err recent_new(const struct recent_ids *ids, const struct hashkey *node,
                    struct recent *ret, struct errinfo *reterr)
{
    struct recent r = {0};
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    /* cppcheck-suppress invalidFunctionArg ; -1 is what anonymous memory takes */
    void *p = mmap(NULL, IMAGE_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (p == MAP_FAILED) {
        return errinfo_errno(reterr, "", "no memory for a recent table");
    }
    r.map = (struct filemap){.p = p, .n = IMAGE_BYTES};
    struct buf head;
    buf_init(&head, HEADER_BYTES);
    ids_print(ids, &head);
    if (buf_failed(&head)) {
        buf_fini(&head);
        filemap_close(&r.map);
        return errinfo_set(reterr, ERR_NOMEM, "", 0, "no memory for a recent table");
    }
    memcpy(p, head.p, head.n);
    buf_fini(&head);
    image_attach(&r, ids, node);
    *ret = r;
    return ERR_OK;
}

/* Counts the slots; every one must be whole and known to the filter. */
static enum err slots_check(struct recent *r, const char *path, struct errinfo *reterr)
{
    for (uint64_t i = 0; i < RECENT_SLOTS; i++) {
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

static enum err image_check(struct recent *r, const struct recent_ids *want,
                            const char *path, struct errinfo *reterr)
{
    const void *bytes = r->map.p;
    struct recent_ids ids = {0};
    struct slice boot = SLICE_NONE;
    char now[BOOT_BYTES];
    if (r->map.n != IMAGE_BYTES) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "the recent table is %zu bytes long instead of %d", r->map.n,
                           IMAGE_BYTES);
    }
    enum err e = ids_parse(slice_of(bytes, HEADER_BYTES), path, &ids, &boot, reterr);
    if (e != ERR_OK) {
        return e;
    }
    if (ids.generation != want->generation || ids.tail != want->tail ||
        ids.key_id != want->key_id) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "the recent table belongs to another generation");
    }
    boot_id(now);
    if (!slice_eq(boot, slice_of(now, BOOT_BYTES)) || now[BOOT_BYTES / 2] == 0) {
        return errinfo_set(reterr, ERR_RANGE, path, 0,
                           "the recent table was left by another boot of the machine");
    }
    return ERR_OK;
}

enum err recent_open(const char *dir, const struct recent_ids *ids,
                     const struct hashkey *node, enum filemap_mode mode,
                     struct recent *ret, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct recent r = {0};
    enum err e = list_file_path(path, dir, LIST_FILE_RECENT, ids->generation, reterr);
    if (e == ERR_OK) {
        e = filemap_open(&r.map, path, mode, reterr);
    }
    if (e != ERR_OK) {
        return e;
    }
    e = image_check(&r, ids, path, reterr);
    if (e == ERR_OK) {
        image_attach(&r, ids, node);
        e = slots_check(&r, path, reterr);
    }
    if (e != ERR_OK) {
        recent_close(&r);
        return e;
    }
    *ret = r;
    return ERR_OK;
}

void recent_close(struct recent *r)
{
    filemap_close(&r->map);
    *r = (struct recent){0};
}

enum err recent_save(const struct recent *r, const char *dir, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = list_file_path(path, dir, LIST_FILE_RECENT, r->ids.generation, reterr);
    if (e != ERR_OK) {
        return e;
    }
    const void *bytes = r->map.p;
    return file_write_atomic(path, slice_of(bytes, IMAGE_BYTES), LIST_FILE_MODE,
                             reterr);
}

enum err recent_peek(const char *dir, uint64_t generation, struct recent_ids *ret,
                     struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct slice boot = SLICE_NONE;
    struct recent_ids ids = {0};
    enum err e = list_file_path(path, dir, LIST_FILE_RECENT, generation, reterr);
    if (e != ERR_OK) {
        return e;
    }
    struct buf bytes;
    buf_init(&bytes, IMAGE_BYTES);
    e = file_read(path, &bytes, reterr);
    if (e == ERR_OK) {
        e = ids_parse(buf_slice(&bytes), path, &ids, &boot, reterr);
    }
    buf_fini(&bytes);
    if (e == ERR_OK && ids.generation != generation) {
        e = errinfo_set(reterr, ERR_CORRUPT, path, 0,
                        "it belongs to another generation");
    }
    if (e == ERR_OK) {
        *ret = ids;
    }
    return e;
}

enum err recent_get(const struct recent *r, const struct digest *d,
                    struct index_record *ret)
{
    struct exact_value v;
    enum err e = exact_get(&r->table, d, &v);
    if (e == ERR_OK) {
        *ret = entry_unpack(&v);
    }
    return e;
}

bool recent_is_full(const struct recent *r)
{
    return r->used >= RECENT_ENTRIES_MAX;
}

enum err recent_put(struct recent *r, const struct digest *d,
                    const struct index_record *rec)
{
    struct exact_value v = entry_pack(rec);
    struct exact_value old;
    bool is_new = false;
    if (recent_is_full(r) && exact_get(&r->table, d, &old) != ERR_OK) {
        return ERR_NOSPACE;
    }
    enum err e = exact_put(&r->table, d, &v, &is_new);
    if (e != ERR_OK) {
        return e;
    }
    r->used += is_new;
    bloom_add(&r->delta, d); /* after the slot: who sees the bits finds the entry */
    return ERR_OK;
}

static uint64_t *number_words(const struct recent *r)
{
    void *p = r->map.p + NUMBERS_AT;
    return p;
}

/* The tail's size is loaded first and stored last (acquire, release): who sees it sees every
 * entry that it covers. The other numbers are only shown. */
struct recent_numbers recent_numbers_get(const struct recent *r)
{
    const uint64_t *w = number_words(r);
    struct recent_numbers n = {0};
    n.tail_bytes = __atomic_load_n(&w[NUMBER_TAIL], __ATOMIC_ACQUIRE);
    n.updated_s = __atomic_load_n(&w[NUMBER_UPDATED], __ATOMIC_RELAXED);
    n.totals.listed = __atomic_load_n(&w[NUMBER_LISTED], __ATOMIC_RELAXED);
    n.totals.revoked = __atomic_load_n(&w[NUMBER_REVOKED], __ATOMIC_RELAXED);
    return n;
}

void recent_numbers_set(struct recent *r, const struct recent_numbers *n)
{
    uint64_t *w = number_words(r);
    __atomic_store_n(&w[NUMBER_UPDATED], n->updated_s, __ATOMIC_RELAXED);
    __atomic_store_n(&w[NUMBER_LISTED], n->totals.listed, __ATOMIC_RELAXED);
    __atomic_store_n(&w[NUMBER_REVOKED], n->totals.revoked, __ATOMIC_RELAXED);
    __atomic_store_n(&w[NUMBER_TAIL], n->tail_bytes, __ATOMIC_RELEASE);
}

/* Folds one record of a tail over what the image, else the base, knows. */
static enum err replay_record(struct recent *r, const struct log_record *rec,
                              const struct index *base, struct recent_numbers *n)
{
    struct index_record state = {0};
    bool has = recent_get(r, &rec->digest, &state) == ERR_OK;
    if (!has && base) {
        has = index_get(base, &rec->digest, &state) == ERR_OK;
    }
    struct index_record before = state;
    if (rec->time_s > n->updated_s) {
        n->updated_s = rec->time_s;
    }
    if (!entry_fold(&state, has, rec)) {
        return ERR_OK;
    }
    enum err e = recent_put(r, &rec->digest, &state);
    if (e == ERR_OK) {
        entry_count(&n->totals, &before, has, &state);
    }
    return e;
}

enum err recent_replay(struct recent *r, struct segment_scan scan,
                       const struct index *base, struct recent_numbers start,
                       size_t *retgood, unsigned *retdamage)
{
    struct recent_numbers n = start;
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
    n.tail_bytes = good;
    recent_numbers_set(r, &n);
    *retgood = good;
    *retdamage = damage;
    return ERR_OK;
}
