/* live - slots by the key's order, so that what is probed lies together and sealing hardly
 * sorts. */
#include "core/count/live.h"

#include <sys/mman.h>

#include "core/base/array.h"
#include "core/base/pages.h"
#include "core/count/live_internal.h"
#include "core/count/runset.h"

enum { FULL_NUM = 7, FULL_DEN = 8 }; /* how full a shard may be */

__extension__ typedef unsigned __int128 live_u128;

unsigned live_shard_of(uint64_t key, unsigned nshards)
{
    return (unsigned)(((live_u128)key * nshards) >> 64);
}

uint64_t live_slot_of(uint64_t key, unsigned nshards, uint64_t per_shard)
{
    uint64_t inside = key * nshards; /* the bits below the shard's */
    return (uint64_t)(((live_u128)inside * per_shard) >> 64);
}

/* ---- tables ---- */

static void table_free(struct live_table **table)
{
    struct live_table *t = *table;
    if (!t) {
        return;
    }
    if (t->file.p != NULL) {
        filemap_close(&t->file);
    } else {
        pages_free(t->map, t->map_bytes);
    }
    pages_free(t->shadow, t->shadow_bytes);
    free(t);
    *table = NULL;
}

/* Writes both headers through the mapping, one after the other: at each instant one is whole. */
static enum err header_store(struct live_table *t)
{
    struct buf b;
    buf_init(&b, LIVE_HEADER);
    live_header_print(&t->header, &b);
    enum err e = buf_failed(&b) ? ERR_NOMEM : ERR_OK;
    if (e == ERR_OK) {
        memcpy(t->map, b.p, LIVE_HEADER);
        memcpy(t->map + LIVE_HEADER, b.p, LIVE_HEADER);
    }
    buf_fini(&b);
    return e;
}

/* The table's file, allocated in full and mapped. */
static enum err table_map(const struct live *l, struct live_table *t,
                          struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    if (l->dir[0] == '\0') {
        return ERR_UNSUPPORTED; /* as asked for */
    }
    if (live_table_path(path, l->dir, &l->id, t->header.generation) != ERR_OK) {
        return errinfo_set(reterr, ERR_LIMIT, l->dir, 0, "the path is too long");
    }
    enum err e = file_allocate(path, t->map_bytes, LIVE_FILE_MODE, reterr);
    if (e != ERR_OK) {
        return e;
    }
    e = filemap_open(&t->file, path, FILEMAP_WRITE, reterr);
    if (e == ERR_OK && t->file.n != t->map_bytes) {
        filemap_close(&t->file);
        e = errinfo_set(reterr, ERR_CORRUPT, path, 0,
                        "somebody changed the size of the running table");
    }
    if (e != ERR_OK) {
        (void)unlink(path);
        return e;
    }
    t->map = t->file.p;
    return ERR_OK;
}

/* On a disk that refuses: in memory, *retdisk says why. */
static enum err table_new(const struct live *l, uint32_t generation, uint64_t per_shard,
                          struct live_table **ret, enum err *retdisk,
                          struct errinfo *reterr)
{
    struct live_table *t = calloc(1, sizeof(*t));
    if (!t) {
        return errinfo_nomem(reterr, l->dir);
    }
    t->per_shard = per_shard;
    t->map_bytes = LIVE_DATA_AT + l->nshards * per_shard * sizeof(struct live_slot);
    t->header = (struct live_header){l->id,      LIVE_RUNNING, l->nshards,
                                     generation, per_shard,    live_boot_now()};
    t->shadow_bytes = l->nshards * per_shard * sizeof(*t->shadow);
    t->shadow = pages_new(t->shadow_bytes);
    *retdisk = table_map(l, t, reterr);
    if (!t->map) {
        t->map = pages_new(t->map_bytes);
    }
    if (!t->map || !t->shadow || header_store(t) != ERR_OK) {
        table_free(&t);
        return errinfo_nomem(reterr, l->dir);
    }
    void *slots = t->map + LIVE_DATA_AT;
    t->slots = slots;
    *ret = t;
    return ERR_OK;
}

/* ---- life ---- */

void live_set_volatile(struct live *l)
{
    __atomic_store_n(&l->is_volatile, true, __ATOMIC_RELAXED);
}

enum err live_new(const char *dir, const struct run_id *id, unsigned nshards,
                  uint64_t slots, struct live **ret, struct errinfo *reterr)
{
    size_t n = strlen(dir) + 1;
    size_t room = (sizeof(struct live) + n + LIVE_CACHE_LINE - 1) / LIVE_CACHE_LINE *
                  LIVE_CACHE_LINE;
    struct live *l = aligned_alloc(LIVE_CACHE_LINE, room);
    if (!l) {
        return errinfo_nomem(reterr, dir);
    }
    memset(l, 0, room);
    memcpy(l->dir, dir, n);
    l->id = *id;
    l->nshards = nshards;
    l->journal.fd = -1;
    uint64_t per_shard = slots / nshards + (slots % nshards != 0);
    enum err disk = ERR_OK;
    enum err e =
        table_new(l, 0, per_shard > 8 ? per_shard : 8, &l->table, &disk, reterr);
    if (e != ERR_OK) {
        free(l);
        return e;
    }
    for (unsigned i = 0; i < nshards; i++) {
        l->shard[i].table = l->table;
    }
    l->slots = l->table->per_shard * nshards;
    if (disk == ERR_OK) {
        disk = live_journal_open(l, reterr);
    }
    if (disk != ERR_OK) {
        live_set_volatile(l);
    }
    *ret = l;
    return ERR_OK;
}

/* Those of generations first to last; a table in memory has none. */
static void remove_tables(const struct live *l, uint32_t first, uint32_t end)
{
    char path[FILE_PATH_MAX];
    for (uint32_t g = first; g < end; g++) {
        if (live_table_path(path, l->dir, &l->id, g) == ERR_OK) {
            (void)unlink(path);
        }
    }
}

static void remove_files(const struct live *l)
{
    char path[FILE_PATH_MAX];
    if (l->dir[0] == '\0') {
        return;
    }
    if (live_journal_path(path, l->dir, &l->id) == ERR_OK) {
        (void)unlink(path);
    }
    remove_tables(l, l->first_kept, l->generation + 1);
}

void live_free(struct live **live, bool remove)
{
    struct live *l = *live;
    if (!l) {
        return;
    }
    live_journal_close(l);
    if (remove) {
        remove_files(l);
    }
    table_free(&l->next);
    table_free(&l->table);
    free(l);
    *live = NULL;
}

void live_forget(struct live *l)
{
    live_journal_close(l);
    remove_files(l);
}

const struct run_id *live_id(const struct live *l)
{
    return &l->id;
}

bool live_is_volatile(const struct live *l)
{
    return __atomic_load_n(&l->is_volatile, __ATOMIC_RELAXED);
}

static uint64_t used_of(const struct live *l, unsigned shard)
{
    return __atomic_load_n(&l->shard[shard].used, __ATOMIC_RELAXED);
}

size_t live_used(const struct live *l)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < l->nshards; i++) {
        n += used_of(l, i);
    }
    return (size_t)n;
}

size_t live_slots(const struct live *l)
{
    return (size_t)__atomic_load_n(&l->slots, __ATOMIC_RELAXED);
}

/* ---- with the shard's lock ---- */

/* Where a key's search begins, and the shard's slots. */
struct probe {
    struct live_slot *slots;
    uint64_t n;
    uint64_t at;
};

static struct probe probe_of(const struct live_table *t, unsigned shard,
                             unsigned nshards, uint64_t key)
{
    return (struct probe){t->slots + shard * t->per_shard, t->per_shard,
                          live_slot_of(key, nshards, t->per_shard)};
}

/* The key's slot, or the free one where it would go; a shard is never full. */
static struct live_slot *find_slot(struct probe p, uint64_t key)
{
    while (p.slots[p.at].key != key && p.slots[p.at].key != 0) {
        p.at = p.at + 1 < p.n ? p.at + 1 : 0;
    }
    return p.slots + p.at;
}

void live_prefetch(const struct live *l, unsigned shard, uint64_t key)
{
    const struct live_table *t =
        __atomic_load_n(&l->shard[shard].table, __ATOMIC_ACQUIRE);
    struct probe p = probe_of(t, shard, l->nshards, key);
    __builtin_prefetch(&p.slots[p.at], 1);
    __builtin_prefetch(&l->shard[shard].used, 1);
}

/* A new key's count first, then the key that makes it count: a kill between leaves a free slot.
 * Partner: the recovery, and live_peek of another process. */
static void occupy(struct live_slot *s, uint64_t key, uint64_t count)
{
    s->count = count;
    __atomic_store_n(&s->key, key, __ATOMIC_RELEASE);
}

bool live_add(struct live *l, unsigned shard, uint64_t key, uint64_t amount,
              uint64_t *retcount)
{
    struct live_shard *sh = &l->shard[shard];
    struct live_slot *s = find_slot(probe_of(sh->table, shard, l->nshards, key), key);
    if (s->key == key) {
        uint64_t count = s->count + amount;
        count = count < amount ? UINT64_MAX : count;
        __atomic_store_n(&s->count, count, __ATOMIC_RELAXED);
        *retcount = count;
        return true;
    }
    uint64_t used = sh->used;
    if (used + 1 > sh->table->per_shard / FULL_DEN * FULL_NUM) {
        return false;
    }
    occupy(s, key, amount);
    __atomic_store_n(&sh->used, used + 1, __ATOMIC_RELAXED);
    *retcount = amount;
    return true;
}

uint64_t live_get(const struct live *l, unsigned shard, uint64_t key)
{
    const struct live_table *t = l->shard[shard].table;
    const struct live_slot *s = find_slot(probe_of(t, shard, l->nshards, key), key);
    return s->key == key ? s->count : 0;
}

void live_each(const struct live *l, unsigned shard, live_each_fn *fn, void *context)
{
    const struct live_table *t = l->shard[shard].table;
    const struct live_slot *slots = t->slots + shard * t->per_shard;
    for (uint64_t i = 0; i < t->per_shard; i++) {
        if (slots[i].key != 0) {
            fn(context, slots[i].key, slots[i].count);
        }
    }
}

/* ---- growing ---- */

bool live_wants_room(const struct live *l)
{
    uint64_t half = live_slots(l) / l->nshards / 2;
    for (unsigned i = 0; i < l->nshards; i++) {
        if (used_of(l, i) >= half) {
            return true;
        }
    }
    return false;
}

enum err live_grow_begin(struct live *l, struct errinfo *reterr)
{
    enum err disk = ERR_OK;
    enum err e = table_new(l, l->generation + 1, l->table->per_shard * 2, &l->next,
                           &disk, reterr);
    if (e != ERR_OK) {
        return e;
    }
    if (disk != ERR_OK) {
        live_set_volatile(l);
    }
    l->generation++;
    return ERR_OK;
}

void live_grow_shard(struct live *l, unsigned shard)
{
    const struct live_table *from = l->shard[shard].table;
    const uint64_t first = shard * from->per_shard;
    uint64_t used = 0;
    for (uint64_t i = first; i < first + from->per_shard; i++) {
        const struct live_slot *old = &from->slots[i];
        if (old->key == 0) {
            continue;
        }
        struct live_slot *s =
            find_slot(probe_of(l->next, shard, l->nshards, old->key), old->key);
        /* twice in a table of which pages were lost: the search for the key ended there */
        bool is_there = s->key == old->key;
        used += !is_there;
        l->next->shadow[s - l->next->slots] = from->shadow[i];
        occupy(s, old->key, is_there ? s->count + old->count : old->count);
    }
    __atomic_store_n(&l->shard[shard].used, used, __ATOMIC_RELAXED);
    /* partner: live_prefetch, which has no lock */
    __atomic_store_n(&l->shard[shard].table, l->next, __ATOMIC_RELEASE);
}

/* A table in memory leaves its predecessor's file: after a kill that is still better than
 * nothing. */
void live_grow_end(struct live *l)
{
    struct live_table *old = l->table;
    l->table = l->next;
    l->next = NULL;
    __atomic_store_n(&l->slots, l->table->per_shard * l->nshards, __ATOMIC_RELAXED);
    if (l->table->file.p != NULL) {
        remove_tables(l, l->first_kept, l->generation);
        l->first_kept = l->generation;
    }
    table_free(&old);
}

/* ---- damage ---- */

bool live_is_damaged(const struct live *l)
{
    return filemap_is_damaged(&l->table->file);
}

enum err live_mend_begin(struct live *l, struct run_record **retlogged, size_t *retn,
                         struct errinfo *reterr)
{
    *retlogged = NULL;
    *retn = 0;
    enum err e = live_logged(l->dir, &l->id, retlogged, retn, reterr);
    if (e == ERR_NOT_FOUND || e == ERR_CORRUPT) {
        e = ERR_OK; /* what is left of the table serves */
    }
    return e == ERR_OK ? live_grow_begin(l, reterr) : e;
}

void live_mend_shard(struct live *l, unsigned shard, const struct run_record *logged,
                     size_t n)
{
    live_grow_shard(l, shard);
    for (size_t i = 0; i < n; i++) {
        uint64_t now = 0;
        /* counts only grow: a smaller one began again at 0 in a lost page */
        if (live_shard_of(logged[i].key, l->nshards) == shard &&
            live_get(l, shard, logged[i].key) < logged[i].count) {
            (void)live_add(l, shard, logged[i].key, logged[i].count, &now);
        }
    }
}

/* ---- the end of the bucket ---- */

struct gather {
    struct live_slot *slots;
    size_t n;
};

static void gather_one(void *context, uint64_t key, uint64_t count)
{
    struct gather *g = context;
    g->slots[g->n++] = (struct live_slot){key, count};
}

/* Shards are in order of key; within one they are sorted. */
static enum err write_shards(const struct live *l, struct run_writer *w)
{
    for (unsigned i = 0; i < l->nshards; i++) {
        struct gather g = {NULL, 0};
        g.slots = malloc(used_of(l, i) * sizeof(*g.slots) + 1);
        if (!g.slots) {
            return ERR_NOMEM;
        }
        live_each(l, i, gather_one, &g);
        qsort(g.slots, g.n, sizeof(*g.slots), array_u64_cmp);
        for (size_t k = 0; k < g.n; k++) {
            struct run_record record = {g.slots[k].key, g.slots[k].count};
            run_writer_add(w, &record);
        }
        free(g.slots);
    }
    return ERR_OK;
}

enum err live_seal(const struct live *l, const char *runs_dir, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct run_writer *w = NULL;
    if (live_used(l) == 0) {
        return ERR_NOT_FOUND;
    }
    enum err e = runset_path(runs_dir, &l->id, path, reterr);
    THEN(e, run_writer_new(path, &l->id, &w, reterr));
    if (e != ERR_OK) {
        return e;
    }
    e = write_shards(l, w);
    if (e != ERR_OK) {
        run_writer_abort(&w);
        return errinfo_set(reterr, e, path, 0, "no memory to sort the counts");
    }
    e = run_writer_commit(&w, reterr);
    if (e == ERR_OK && l->table->file.p != NULL) {
        l->table->header.state = LIVE_SEALED;
        (void)header_store(l->table); /* who peeks would count it twice for a moment */
    }
    return e;
}
