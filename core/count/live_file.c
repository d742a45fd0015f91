/* live_file - headers, names and boots of the running bucket's files. */

#include "core/base/checksum.h"
#include "core/base/cursor.h"
#include "core/count/live_format.h"
#include "core/count/runset_internal.h"

enum {
    BOOT_NAMED = 1,
    BOOT_BY_TIME = 2,
    HEX_DIGITS = 16,
    START_DIGITS = 10,
    GENERATIONS_MAX = 64
};
#define BOOT_ID_FILE      "/proc/sys/kernel/random/boot_id"
#define BOOT_TOLERANCE_US ((uint64_t)2000000)
#define SLOTS_MAX         (UINT64_C(1) << 40)

/* ---- boots ---- */

static const char *boot_name_for_test;

void live_set_boot_for_test(const char *name)
{
    boot_name_for_test = name;
}

static uint64_t time_of(clockid_t clock)
{
    struct timespec ts = {0};
    (void)clock_gettime(clock, &ts); /* both clocks are there on every Linux */
    return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

/* gillnetd's service does not see the file (ProcSubset=pid): then the moment of the boot is as good
 * a name, as long as nobody sets the clock; if somebody does, the journal serves. */
struct live_boot live_boot_now(void)
{
    struct live_boot boot = {.kind = BOOT_NAMED};
    struct buf text;
    buf_init(&text, 256);
    if (boot_name_for_test) {
        boot.id = checksum64(slice_str(boot_name_for_test));
    } else if (file_read(BOOT_ID_FILE, &text, NULL) == ERR_OK && text.n > 0) {
        boot.id = checksum64(buf_slice(&text));
    } else {
        boot.kind = BOOT_BY_TIME;
        boot.since_us = time_of(CLOCK_BOOTTIME);
        boot.id = time_of(CLOCK_REALTIME) - boot.since_us;
    }
    buf_fini(&text);
    return boot;
}

bool live_boot_is_same(const struct live_boot *then, const struct live_boot *now)
{
    if (then->kind != now->kind) {
        return false;
    }
    if (then->kind == BOOT_NAMED) {
        return then->id == now->id;
    }
    uint64_t apart = then->id > now->id ? then->id - now->id : now->id - then->id;
    return apart <= BOOT_TOLERANCE_US && now->since_us >= then->since_us;
}

/* ---- headers ---- */

void live_header_print(const struct live_header *h, struct buf *ret)
{
    static const char zeros[LIVE_HEADER];
    buf_add_u64(ret, LIVE_TABLE_MAGIC);
    buf_add_u32(ret, LIVE_VERSION);
    buf_add_u32(ret, h->state);
    pair_log_id_print(&h->id, ret);
    buf_add_u32(ret, h->nshards);
    buf_add_u32(ret, h->generation);
    buf_add_u64(ret, h->per_shard);
    buf_add_u32(ret, h->boot.kind);
    buf_add_u64(ret, h->boot.id);
    buf_add_u64(ret, h->boot.since_us);
    buf_add(ret, slice_of(zeros, LIVE_HEADER - LIVE_SUM - ret->n));
    buf_add_u64(ret, checksum64(buf_slice(ret)));
}

static enum err another_version(const char *path, uint32_t version,
                                struct errinfo *reterr)
{
    return errinfo_set(reterr, ERR_UNSUPPORTED, path, 0,
                       "counts in a format (%" PRIu32 ") of another version of "
                       "gillnet; start that version once so that it saves them, or "
                       "remove the file, then they are lost",
                       version);
}

static bool header_is_possible(const struct live_header *h, uint64_t size)
{
    return h->nshards > 0 && h->nshards <= LIVE_SHARDS_MAX &&
           (h->nshards & (h->nshards - 1)) == 0 && h->per_shard > 0 &&
           h->per_shard <= SLOTS_MAX &&
           size == LIVE_DATA_AT + h->nshards * h->per_shard * sizeof(struct live_slot);
}

/* One of the two copies. */
static enum err copy_read(struct slice bytes, const char *path, struct live_header *ret,
                          struct errinfo *reterr)
{
    struct slice summed = slice_head(bytes, LIVE_HEADER - LIVE_SUM);
    struct cursor sum = cursor_of(slice_from(bytes, summed.n));
    struct cursor c = cursor_of(bytes);
    if (cursor_u64(&c) != LIVE_TABLE_MAGIC || cursor_u64(&sum) != checksum64(summed)) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "the running table is damaged (its header)");
    }
    uint32_t version = cursor_u32(&c);
    if (version != LIVE_VERSION) {
        return another_version(path, version, reterr);
    }
    struct live_header h = {.state = cursor_u32(&c)};
    h.id = pair_log_id_parse(&c);
    h.nshards = cursor_u32(&c);
    h.generation = cursor_u32(&c);
    h.per_shard = cursor_u64(&c);
    h.boot.kind = cursor_u32(&c);
    h.boot.id = cursor_u64(&c);
    h.boot.since_us = cursor_u64(&c);
    *ret = h;
    return ERR_OK;
}

static bool is_zeros(struct slice s)
{
    return s.n == 0 || (s.p[0] == 0 && memcmp(s.p, s.p + 1, s.n - 1) == 0);
}

enum err live_header_read(struct slice bytes, uint64_t size, const char *path,
                          struct live_header *ret, struct errinfo *reterr)
{
    struct live_header h = {.state = 0};
    if (bytes.n != LIVE_DATA_AT) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "the running table is cut short");
    }
    if (is_zeros(bytes)) {
        return ERR_NOT_FOUND;
    }
    enum err e = copy_read(slice_head(bytes, LIVE_HEADER), path, &h, reterr);
    if (e == ERR_CORRUPT) {
        e = copy_read(slice_from(bytes, LIVE_HEADER), path, &h, reterr);
    }
    if (e == ERR_OK && !header_is_possible(&h, size)) {
        return errinfo_set(reterr, ERR_CORRUPT, path, 0,
                           "the running table is not as long as its header says");
    }
    if (e == ERR_OK) {
        *ret = h;
    }
    return e;
}

const struct pair_log_form live_journal_form = {
    .magic = UINT64_C(0x314c4e4a434e4747), /* "GGNCJNL1" */
    .record_magic = 0x524a4e47,            /* "GNJR" */
    .pairs_max = UINT32_MAX,
    .is_dense = true};

enum err live_journal_begin(struct pair_log *l, struct pair_log_place *ret,
                            struct errinfo *reterr)
{
    uint32_t version = 0;
    enum err e = pair_log_begin(l, &live_journal_form, ret, &version, reterr);

    if (e == ERR_VERSION) {
        return another_version(l->path, version, reterr);
    }
    if (e == ERR_CORRUPT) {
        return errinfo_set(reterr, e, l->path, 0,
                           "the write-ahead log of the running table is damaged");
    }
    return e;
}

/* ---- names ---- */

enum err live_table_path(char dst[FILE_PATH_MAX], const char *dir,
                         const struct run_id *id, uint32_t generation)
{
    return file_path(dst, "%s/live.%0*" PRIu64 "-%016" PRIx64 ".%" PRIu32 ".table", dir,
                     START_DIGITS, id->start_s, id->inc, generation);
}

enum err live_journal_path(char dst[FILE_PATH_MAX], const char *dir,
                           const struct run_id *id)
{
    return file_path(dst, "%s/live.%0*" PRIu64 "-%016" PRIx64 ".wal", dir, START_DIGITS,
                     id->start_s, id->inc);
}

struct live_name live_name_parse(struct slice name)
{
    const struct live_name other = {.kind = LIVE_OTHER};
    struct live_name n = other;
    uint64_t generation = 0;
    if (!slice_has_prefix(name, SLICE_LIT("live."))) {
        return other;
    }
    name = slice_from(name, sizeof("live.") - 1);
    if (!runset_cut_number(&name, 10, 1, 19, '-', &n.start_s) ||
        !runset_cut_number(&name, 16, 1, HEX_DIGITS, '.', &n.inc)) {
        return other;
    }
    if (slice_eq(name, SLICE_LIT("wal"))) {
        n.kind = LIVE_JOURNAL;
        return n;
    }
    if (!runset_cut_number(&name, 10, 1, 2, '.', &generation) ||
        generation >= GENERATIONS_MAX || !slice_eq(name, SLICE_LIT("table"))) {
        return other;
    }
    n.kind = LIVE_TABLE;
    n.generation = (uint32_t)generation;
    return n;
}
