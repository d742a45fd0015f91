/* sync - opening and closing of a server's streams. */
#include "core/ring/sync/sync.h"

#include <stdarg.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/random.h"
#include "core/ring/sync/peerlist.h"
#include "core/ring/sync/sync_modules.h"

enum { VERSION_BITS = 32 };

const char *sync_result_name(enum sync_result r)
{
    static const char *const names[SYNC_RESULTS] = {
        [SYNC_APPLIED] = "applied", [SYNC_DUPLICATE] = "duplicate",
        [SYNC_GAP] = "gap",         [SYNC_FORK] = "fork",
        [SYNC_OLD] = "old",         [SYNC_FUTURE] = "future",
        [SYNC_QUOTA] = "quota",     [SYNC_UNKNOWN] = "unknown",
        [SYNC_REVOKED] = "revoked", [SYNC_SIGNATURE] = "signature",
        [SYNC_PAYLOAD] = "payload", [SYNC_ROOT] = "root",
        [SYNC_FILTER] = "filter",   [SYNC_MALFORMED] = "malformed",
        [SYNC_VERSION] = "version", [SYNC_TROUBLE] = "trouble",
    };
    return (unsigned)r < SYNC_RESULTS ? names[r] : "?";
}

uint64_t sync_now_ms(void)
{
    return clock_wall_us() / 1000;
}

bool sync_is_self(const struct sync *s, const struct object_id *origin)
{
    return object_id_equal(&s->self->origin, origin);
}

uint64_t sync_bump(struct sync *s)
{
    return ++s->version;
}

enum err sync_path(const struct sync *s, char ret[FILE_PATH_MAX],
                   struct errinfo *reterr, const char *format, ...)
{
    char name[FILE_PATH_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(name, sizeof(name), format,
                    args); /* cut off, it is too long below */
    va_end(args);
    return path_make(ret, reterr, "%s/%s", s->dir, name);
}

uint64_t sync_fresh_inc(const struct sync *s)
{
    const struct origin *self = sync_origin(s, &s->self->origin);
    uint64_t newest = s->inc;
    for (const struct stream *st = self ? self->streams : NULL; st;
         st = st->of_origin) {
        newest = st->key.inc > newest ? st->key.inc : newest;
    }
    return stream_next_inc(sync_now_ms(), newest);
}

static enum err make_folders(struct sync *s, struct errinfo *reterr)
{
    static const char *const names[] = {"objects",       "counts", "counts/runs",
                                        "counts/merged", "own",    "own/runs",
                                        "lists"};
    enum err e = file_make_dir(s->dir, SYNC_DIR_MODE, reterr);
    for (unsigned i = 0; i < LENGTH(names) && e == ERR_OK; i++) {
        char path[FILE_PATH_MAX];
        e = sync_path(s, path, reterr, "%s", names[i]);
        THEN(e, file_make_dir(path, SYNC_DIR_MODE, reterr));
    }
    return e == ERR_OK ? file_sync_dir(s->dir, reterr) : e;
}

/* Removes files that stopped writers of runs left. */
static enum err sweep_runs(struct sync *s, struct errinfo *reterr)
{
    static const char *const names[] = {"counts/runs", "counts/merged", "own/runs"};
    enum err e = ERR_OK;
    for (unsigned i = 0; i < LENGTH(names) && e == ERR_OK; i++) {
        char path[FILE_PATH_MAX];
        e = sync_path(s, path, reterr, "%s", names[i]);
        THEN(e, file_sweep_temps(path, reterr));
    }
    return e;
}

static enum err open_table(struct sync *s, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct table_txn *x = NULL;
    enum err e = sync_path(s, path, reterr, "table");
    THEN(e, table_open(path, true, SYNC_TABLE_MAX, &s->table, reterr));
    THEN(e, table_begin(s->table, false, &x, reterr));
    if (e == ERR_OK) {
        s->nsigned = sync_get_number(x, "self");
    }
    table_abort(&x);
    return e;
}

static enum err open_lists(struct sync *s, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = sync_path(s, path, reterr, "lists");
    return e == ERR_OK ? peerlists_open(path, s->keys, &s->lists, reterr) : e;
}

/* Applies stored objects. A damaged or incomplete stream is fetched again. */
static void recover_streams(struct sync *s)
{
    for (unsigned i = 0; i < s->norigins; i++) {
        struct stream *next = NULL;
        for (struct stream *st = s->origins[i]->streams; st; st = next) {
            struct errinfo why;
            next = st->of_origin;
            enum err e = st->key.kind == OBJECT_COUNT ? sync_count_recover(s, st, &why)
                                                      : sync_catch_up(s, st, &why);
            if (e == ERR_OK) {
                continue;
            }
            log_errinfo("peers", &why);
            if (e != ERR_NOT_FOUND && e != ERR_CORRUPT && e != ERR_SYNTAX) {
                continue;
            }
            log_warn("event=peers state=again: that stream is fetched again");
            if (st->key.kind == OBJECT_COUNT) {
                sync_count_remove(s, st);
            } else if (peerlist_forget(s->lists, &st->key, &why) != ERR_OK) {
                log_errinfo("peers", &why);
                continue;
            }
            (void)sync_erase(s, st, false, NULL);
        }
    }
}

static uint64_t newest_bucket(const struct sync *s)
{
    uint64_t newest_s = 0;
    for (size_t i = 0; i < s->nslots; i++) {
        for (const struct stream *st = s->slots[i]; st; st = st->next) {
            newest_s = st->key.start_s > newest_s ? st->key.start_s : newest_s;
        }
    }
    return newest_s / OBJECT_BUCKET_S;
}

static enum err open_all(struct sync *s, const struct sync_options *options,
                         struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = make_folders(s, reterr);
    THEN(e, sync_path(s, path, reterr, "LOCK"));
    THEN(e, filelock_take(&s->lock, path, reterr));
    THEN(e, sweep_runs(s, reterr));
    THEN(e, manifest_copy(options->manifest, &s->manifest));
    THEN(e, open_table(s, reterr));
    THEN(e, open_lists(s, reterr));
    if (e == ERR_OK) {
        sync_work_init(s);
    }
    THEN(e, sync_trust(s, reterr));
    THEN(e, sync_load_streams(s, reterr));
    THEN(e, sync_restored(s, reterr));
    THEN(e, sync_trust(s, reterr)); /* streams of revoked keys */
    THEN(e, sync_count_leave(s, reterr));
    THEN(e, sync_finish_objects(s, reterr));
    if (e == ERR_OK) {
        recover_streams(s);
        bucket_clock_init(&s->period, newest_bucket(s), false, clock_wall_us(),
                          clock_boot_us());
        s->inc = sync_fresh_inc(s);
    }
    return e;
}

enum err sync_open(const struct sync_options *options, struct sync **ret,
                   struct errinfo *reterr)
{
    uint32_t session = 0;
    struct sync *s = calloc(1, sizeof(*s));
    if (!s) {
        return errinfo_nomem(reterr, options->state_dir);
    }
    s->self = options->self;
    s->keys = options->keys;
    s->has_store = options->has_store;
    s->lock.fd = -1;
    random_bytes(&session, sizeof(session));
    s->version = (uint64_t)(session | 1U) << VERSION_BITS;
    s->opened_ms = sync_now_ms();
    enum err e = path_make(s->state_dir, reterr, "%s", options->state_dir);
    THEN(e, path_make(s->dir, reterr, "%s/peers", options->state_dir));
    THEN(e, open_all(s, options, reterr));
    if (e != ERR_OK) {
        sync_close(&s);
        return e;
    }
    *ret = s;
    return ERR_OK;
}

void sync_close(struct sync **sp)
{
    struct sync *s = *sp;
    if (!s) {
        return;
    }
    sync_work_fini(s);
    for (unsigned i = 0; i < s->norigins; i++) {
        while (s->origins[i]->streams) {
            sync_forget(s, s->origins[i]->streams);
        }
        free(s->origins[i]);
    }
    free(s->origins);
    free(s->slots);
    sync_forget_published(s, 0);
    buf_fini(&s->made.bytes);
    peerlists_close(&s->lists);
    table_close(&s->table);
    manifest_fini(&s->manifest);
    filelock_drop(&s->lock);
    free(s);
    *sp = NULL;
}

enum err sync_set_manifest(struct sync *s, const struct manifest *m,
                           struct errinfo *reterr)
{
    struct manifest copy = {.version = 0};
    enum err e = manifest_copy(m, &copy);
    if (e != ERR_OK) {
        return errinfo_nomem(reterr, s->dir);
    }
    struct manifest old = s->manifest;
    s->manifest = copy;
    e = sync_trust(s, reterr);
    manifest_fini(&old);
    s->next_heartbeat_ms = 0;
    return e;
}
