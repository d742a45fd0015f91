/* shared_totals - a mapped table in sets, with a number in each entry that says when it changes. */
#include "core/count/shared_totals.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "core/base/clock.h"
#include "core/base/file.h"
#include "core/count/live_format.h"

#define TOTALS_MAGIC UINT64_C(0x31544f544853474e) /* "NGSHTOT1" */

enum {
    TOTALS_VERSION = 2,
    HEADER_BYTES = 4096,
    LINE_BYTES = 64,
    ENTRY_BYTES = 256,
    ENTRY_WORDS = 31,
    VALUE_WORDS = sizeof(struct shared_total) / sizeof(uint64_t),
    READ_TRIES = 4,
    MESSAGES_OF_SET = 4 * SHARED_TOTALS_WAYS,
    KIND_BITS = 16,
    SKEW_S = 2, /* that a clock may be set back between two answers */
    DIR_MODE = 02750,
    FILE_MODE = 0640
};

_Static_assert(sizeof(struct shared_total) % sizeof(uint64_t) == 0 &&
                   (int)VALUE_WORDS <= (int)ENTRY_WORDS,
               "an entry is stored as words");
_Static_assert((int)SHARED_TOTALS_SETS_MAX <= 1 << KIND_BITS,
               "a set is of the bits below those of the tag");

struct header {
    uint64_t magic;
    uint32_t version;
    uint32_t key_id;
    _Atomic uint64_t nsets;
    uint64_t boot_kind;
    uint64_t boot_id;
    uint64_t boot_since_us;
    _Atomic uint64_t beat_s;
};

struct entry {
    _Atomic uint64_t number; /* odd while it changes; 0: empty */
    _Atomic uint64_t word[ENTRY_WORDS];
};

_Static_assert(sizeof(struct entry) == ENTRY_BYTES, "entries lie side by side");

struct shared_totals {
    struct filemap map;
    struct header *header;
    _Atomic uint32_t (*tag)[SHARED_TOTALS_WAYS]; /* of each set; 0: no entry */
    struct entry (*entry)[SHARED_TOTALS_WAYS];
    uint64_t nsets; /* as it was when the file was mapped */
    uint32_t key_id;
    uint64_t device;
    uint64_t inode;
    char path[FILE_PATH_MAX];
};

uint64_t shared_totals_sets(uint64_t messages_per_day)
{
    uint64_t n = SHARED_TOTALS_SETS_MIN;

    while (n < SHARED_TOTALS_SETS_MAX && n * MESSAGES_OF_SET < messages_per_day) {
        n *= 2;
    }
    return n;
}

static uint64_t file_bytes(uint64_t nsets)
{
    return HEADER_BYTES +
           nsets * (LINE_BYTES + (uint64_t)SHARED_TOTALS_WAYS * ENTRY_BYTES);
}

/* ---- opening ---- */

static enum err refuse_totals(const struct shared_totals *t, enum err e,
                              const char *why, struct errinfo *reterr)
{
    return errinfo_set(reterr, e, t->path, 0, "%s", why);
}

/* Looks at the header once, and takes the size from it. */
static enum err check_header(struct shared_totals *t, uint32_t key_id,
                             struct errinfo *reterr)
{
    const struct header *h = (const struct header *)(const void *)t->map.p;

    if (h == NULL || t->map.n < HEADER_BYTES || h->magic != TOTALS_MAGIC ||
        h->version != TOTALS_VERSION) {
        return refuse_totals(t, ERR_CORRUPT,
                             "this is no file of totals of this version", reterr);
    }
    /* one look: another user may change it at any time */
    uint64_t nsets = atomic_load_explicit(&h->nsets, memory_order_relaxed);
    if (nsets < SHARED_TOTALS_SETS_MIN || nsets > SHARED_TOTALS_SETS_MAX ||
        (nsets & (nsets - 1)) != 0 || t->map.n != file_bytes(nsets)) {
        return refuse_totals(t, ERR_CORRUPT, "the size of this file of totals is wrong",
                             reterr);
    }
    if (h->key_id != key_id) {
        return refuse_totals(t, ERR_KEY, "these totals are of another digest key",
                             reterr);
    }
    t->nsets = nsets;
    t->key_id = key_id;
    return ERR_OK;
}

/* Only the writer asks: gillnetd may not see the name of the boot. A page that was on its way to
 * the disk when the power failed may be of any time. */
static bool is_of_boot(const struct shared_totals *t)
{
    const struct live_boot then = {(uint32_t)t->header->boot_kind, t->header->boot_id,
                                   t->header->boot_since_us};
    const struct live_boot now = live_boot_now();

    return live_boot_is_same(&then, &now);
}

static void set_parts(struct shared_totals *t)
{
    unsigned char *p = t->map.p;

    t->header = (struct header *)(void *)p;
    t->tag = (void *)(p + HEADER_BYTES);
    t->entry = (void *)(p + HEADER_BYTES + t->nsets * LINE_BYTES);
}

static enum err make_path(struct shared_totals *t, const char *state_dir,
                          struct errinfo *reterr)
{
    return path_make(t->path, reterr, "%s/peers/shared/totals", state_dir);
}

/* Maps the file, whose size the mapping has. */
static enum err map_file(struct shared_totals *t, enum filemap_mode mode,
                         uint32_t key_id, struct errinfo *reterr)
{
    struct stat st;

    if (stat(t->path, &st) != 0) {
        return errno == ENOENT
                   ? refuse_totals(t, ERR_NOT_FOUND, "there is no such file", reterr)
                   : errinfo_errno(reterr, t->path, "cannot look at it");
    }
    t->device = (uint64_t)st.st_dev;
    t->inode = (uint64_t)st.st_ino;
    enum err e = filemap_open(&t->map, t->path, mode, reterr);
    THEN(e, check_header(t, key_id, reterr));
    if (e == ERR_OK) {
        set_parts(t);
    }
    return e;
}

enum err shared_totals_open(const char *state_dir, uint32_t key_id,
                            struct shared_totals **ret, struct errinfo *reterr)
{
    struct shared_totals *t = calloc(1, sizeof(*t));

    if (t == NULL) {
        return errinfo_nomem(reterr, state_dir);
    }
    enum err e = make_path(t, state_dir, reterr);
    THEN(e, map_file(t, FILEMAP_READ, key_id, reterr));
    if (e != ERR_OK) {
        shared_totals_close(&t);
        return e;
    }
    *ret = t;
    return ERR_OK;
}

void shared_totals_close(struct shared_totals **t)
{
    if (*t != NULL) {
        filemap_close(&(*t)->map);
        free(*t);
        *t = NULL;
    }
}

bool shared_totals_is_replaced(const struct shared_totals *t)
{
    struct stat st;

    return stat(t->path, &st) != 0 || (uint64_t)st.st_dev != t->device ||
           (uint64_t)st.st_ino != t->inode;
}

struct fresh {
    uint64_t nsets;
    uint32_t key_id;
};

static void fill_header(void *context, void *p)
{
    const struct fresh *f = context;
    const struct live_boot boot = live_boot_now();
    struct header *h = p;

    h->magic = TOTALS_MAGIC;
    h->version = TOTALS_VERSION;
    h->key_id = f->key_id;
    atomic_store_explicit(&h->nsets, f->nsets, memory_order_relaxed);
    h->boot_kind = boot.kind;
    h->boot_id = boot.id;
    h->boot_since_us = boot.since_us;
}

static enum err make_file(const struct shared_totals *t, struct fresh *fresh,
                          struct errinfo *reterr)
{
    const struct filemap_new file = {.size = file_bytes(fresh->nsets),
                                     .mode = FILE_MODE,
                                     .fill = fill_header,
                                     .context = fresh};
    struct filemap map = {.p = NULL};
    enum err e = filemap_make(&map, t->path, &file, reterr);

    filemap_close(&map);
    return e;
}

/* A writer that was killed may have left an entry half written. */
static void drop_halves(struct shared_totals *t)
{
    for (uint64_t set = 0; set < t->nsets; set++) {
        for (unsigned i = 0; i < SHARED_TOTALS_WAYS; i++) {
            if (atomic_load(&t->tag[set][i]) != 0 &&
                atomic_load(&t->entry[set][i].number) % 2 == 1) {
                atomic_store(&t->tag[set][i], 0);
                atomic_fetch_add(&t->entry[set][i].number, 1);
            }
        }
    }
}

static enum err make_folder(const char *state_dir, struct errinfo *reterr)
{
    char dir[FILE_PATH_MAX];
    enum err e = path_make(dir, reterr, "%s/peers/shared", state_dir);

    return e != ERR_OK ? e : file_make_dir(dir, DIR_MODE, reterr);
}

enum err shared_totals_make(const char *state_dir, uint64_t nsets, uint32_t key_id,
                            struct shared_totals **ret, struct errinfo *reterr)
{
    struct fresh fresh = {nsets, key_id};
    struct shared_totals *t = calloc(1, sizeof(*t));

    if (t == NULL) {
        return errinfo_nomem(reterr, state_dir);
    }
    enum err e = make_path(t, state_dir, reterr);
    THEN(e, make_folder(state_dir, reterr));
    if (e == ERR_OK && (map_file(t, FILEMAP_WRITE, key_id, NULL) != ERR_OK ||
                        t->nsets != nsets || !is_of_boot(t))) {
        filemap_close(&t->map);
        e = make_file(t, &fresh, reterr);
        THEN(e, map_file(t, FILEMAP_WRITE, key_id, reterr));
    }
    if (e != ERR_OK) {
        shared_totals_close(&t);
        return e;
    }
    drop_halves(t);
    *ret = t;
    return ERR_OK;
}

/* ---- places ---- */

/* Keys are keyed digests: their bits are as good as a hash, but the lowest 16 say what kind of key
 * it is (distinct_log.h). */
static uint64_t set_of(const struct shared_totals *t, uint64_t key)
{
    return key >> KIND_BITS & (t->nsets - 1);
}

static uint32_t tag_of(uint64_t key)
{
    uint32_t tag = (uint32_t)(key >> 32);

    return tag != 0 ? tag : 1;
}

void shared_totals_prefetch(const struct shared_totals *t, uint64_t key)
{
    __builtin_prefetch(&t->tag[set_of(t, key)]);
}

static bool has_tag(const struct shared_totals *t, uint64_t set, unsigned way,
                    uint64_t key)
{
    /* relaxed: the entry says itself if it is whole and of this key */
    return atomic_load_explicit(&t->tag[set][way], memory_order_relaxed) == tag_of(key);
}

void shared_totals_prefetch_entry(const struct shared_totals *t, uint64_t key)
{
    uint64_t set = set_of(t, key);

    for (unsigned i = 0; i < SHARED_TOTALS_WAYS; i++) {
        if (has_tag(t, set, i, key)) {
            const char *entry = (const char *)&t->entry[set][i];
            for (size_t at = 0; at < ENTRY_BYTES; at += LINE_BYTES) {
                __builtin_prefetch(entry + at);
            }
        }
    }
}

/* ---- one entry ---- */

/* A reader whose acquire load sees a word of this put (a release store) sees the odd number before
 * it, too. So a reader that sees the same even number twice has read the words of one put. */
static void write_entry(struct entry *e, const struct shared_total *from)
{
    uint64_t words[VALUE_WORDS];
    uint64_t number = atomic_load_explicit(&e->number, memory_order_relaxed);

    memcpy(words, from, sizeof(words));
    atomic_store_explicit(&e->number, number + 1, memory_order_relaxed);
    for (unsigned i = 0; i < VALUE_WORDS; i++) {
        atomic_store_explicit(&e->word[i], words[i], memory_order_release);
    }
    atomic_store_explicit(&e->number, number + 2, memory_order_release);
}

static bool read_whole_entry(struct entry *e, struct shared_total *ret)
{
    uint64_t words[VALUE_WORDS];

    for (unsigned tries = 0; tries < READ_TRIES; tries++) {
        uint64_t before = atomic_load_explicit(&e->number, memory_order_acquire);
        for (unsigned i = 0; i < VALUE_WORDS; i++) {
            words[i] = atomic_load_explicit(&e->word[i], memory_order_acquire);
        }
        uint64_t after = atomic_load_explicit(&e->number, memory_order_relaxed);
        if (before == after && before % 2 == 0) {
            memcpy(ret, words, sizeof(*ret));
            return true;
        }
    }
    return false;
}

/* The entry of key to *ret; SHARED_TOTALS_WAYS: none. */
static unsigned find_total(const struct shared_totals *t, uint64_t key,
                           struct shared_total *ret)
{
    uint64_t set = set_of(t, key);

    for (unsigned i = 0; i < SHARED_TOTALS_WAYS; i++) {
        if (has_tag(t, set, i, key) && read_whole_entry(&t->entry[set][i], ret) &&
            ret->key == key) {
            return i;
        }
    }
    return SHARED_TOTALS_WAYS;
}

bool shared_totals_read(const struct shared_totals *t, uint64_t key,
                        struct shared_total *ret)
{
    return find_total(t, key, ret) < SHARED_TOTALS_WAYS;
}

bool shared_totals_find(const struct shared_totals *t, uint64_t key,
                        struct shared_total *ret)
{
    if (find_total(t, key, ret) < SHARED_TOTALS_WAYS) {
        return true;
    }
    *ret = (struct shared_total){.key = key, .own = SHARED_OWN_UNKNOWN};
    return false;
}

static unsigned oldest_of(const struct shared_totals *t, uint64_t set)
{
    uint32_t least = UINT32_MAX;
    unsigned oldest = 0;

    for (unsigned i = 0; i < SHARED_TOTALS_WAYS; i++) {
        struct shared_total e;
        if (atomic_load_explicit(&t->tag[set][i], memory_order_relaxed) == 0 ||
            !read_whole_entry(&t->entry[set][i], &e)) {
            return i;
        }
        if (e.heard_s < least) {
            least = e.heard_s;
            oldest = i;
        }
    }
    return oldest;
}

void shared_totals_put(struct shared_totals *t, const struct shared_total *entry)
{
    uint64_t set = set_of(t, entry->key);
    struct shared_total old;
    unsigned at = find_total(t, entry->key, &old);

    at = at < SHARED_TOTALS_WAYS ? at : oldest_of(t, set);
    write_entry(&t->entry[set][at], entry);
    atomic_store_explicit(&t->tag[set][at], tag_of(entry->key), memory_order_relaxed);
}

/* ---- the time ---- */

/* A file that was cut is made again: readers see another file, and map it. Entries of lost pages
 * are empty until the store answers about them. */
static void keep_file(struct shared_totals *t)
{
    struct fresh fresh = {t->nsets, t->key_id};
    const struct filemap_new file = {
        .size = t->map.n, .mode = FILE_MODE, .fill = fill_header, .context = &fresh};
    struct stat st;

    if (filemap_is_damaged(&t->map) &&
        filemap_mend(&t->map, t->path, "some totals of the shared store", &file) &&
        stat(t->path, &st) == 0) {
        t->device = (uint64_t)st.st_dev;
        t->inode = (uint64_t)st.st_ino;
        drop_halves(t);
    }
}

void shared_totals_beat(struct shared_totals *t, uint64_t now_s)
{
    keep_file(t);
    atomic_store_explicit(&t->header->beat_s, now_s, memory_order_relaxed);
}

uint64_t shared_totals_age(const struct shared_totals *t, uint64_t now_s)
{
    uint64_t beat_s = atomic_load_explicit(&t->header->beat_s, memory_order_relaxed);

    if (beat_s == 0 || beat_s > now_s + SKEW_S) {
        return UINT64_MAX;
    }
    return now_s > beat_s ? now_s - beat_s : 0;
}
