/* remote_stream - peers' open buckets, read as the hub appends to them. */
#include "core/base/array.h"
#include "core/base/dir_walk.h"
#include "core/base/hash256.h"
#include "core/base/log.h"
#include "core/count/remote_internal.h"

enum { PAIRS_KEPT = 1 << 16, HEX_ORIGIN = 2 * RUN_ORIGIN_BYTES };

/* ---- which there are ---- */

struct remote_stream *remote_stream_of(const struct remote *r, const struct run_id *id)
{
    for (size_t i = 0; i < r->nstreams; i++) {
        if (runset_id_cmp(&r->streams[i]->id, id) == 0) {
            return r->streams[i];
        }
    }
    return NULL;
}

static bool is_of_origin(const struct remote_stream *s,
                         const uint8_t origin[RUN_ORIGIN_BYTES])
{
    return s != NULL && memcmp(s->id.origin, origin, RUN_ORIGIN_BYTES) == 0;
}

static size_t streams_of(const struct remote *r, const uint8_t origin[RUN_ORIGIN_BYTES])
{
    size_t n = 0;

    for (size_t i = 0; i < r->nstreams; i++) {
        n += is_of_origin(r->streams[i], origin);
    }
    return n;
}

static void say_too_many(struct remote *r)
{
    (void)__atomic_fetch_add(&r->nunreadable, 1, __ATOMIC_RELAXED);
    if (!r->is_said) {
        r->is_said = true;
        log_warn("event=peer-counts dir=%s: more open streams than %d of one server or "
                 "%d of all; those beyond are left out until they are closed",
                 r->dir, REMOTE_STREAMS_OF_ORIGIN, REMOTE_STREAMS_MAX);
    }
}

static bool has_run(const struct remote *r, const struct run_id *id)
{
    if (r->runset == NULL) {
        return false;
    }
    struct runset_list *list = runset_pin(r->runset);
    const struct runset_entry *e = runset_find(list, id);
    bool is_there = e != NULL && e->run != NULL;
    runset_unpin(r->runset, &list);
    return is_there;
}

static void take_name(struct remote *r, const struct run_id *id)
{
    struct remote_stream *s = remote_stream_of(r, id);

    if (s != NULL) {
        s->is_seen = true;
        return;
    }
    if (keyring_find(&r->keys, id->key_id) == NULL || has_run(r, id)) {
        return;
    }
    if (r->nstreams == REMOTE_STREAMS_MAX ||
        streams_of(r, id->origin) >= REMOTE_STREAMS_OF_ORIGIN) {
        say_too_many(r);
        return;
    }
    s = calloc(1, sizeof(*s));
    if (s == NULL) {
        return; /* tried again when the folder changes */
    }
    s->id = *id;
    s->is_seen = true;
    tally_init(&s->counts);
    pthread_rwlock_wrlock(&r->lock);
    r->streams[r->nstreams++] = s;
    pthread_rwlock_unlock(&r->lock);
}

static void set_seen(struct remote *r, const uint8_t origin[RUN_ORIGIN_BYTES], bool is)
{
    for (size_t i = 0; i < r->nstreams; i++) {
        if (is_of_origin(r->streams[i], origin)) {
            r->streams[i]->is_seen = is;
        }
    }
}

static void list_folder(struct remote *r, const char *path,
                        const uint8_t origin[RUN_ORIGIN_BYTES])
{
    struct dir_walk w = dir_walk_begin(path, DIR_OPTIONAL);

    set_seen(r, origin, false);
    while (dir_walk_next(&w)) {
        struct run_id id = {.inc = 0};
        memcpy(id.origin, origin, sizeof(id.origin));
        if (stream_name_parse(slice_str(w.name), &id)) {
            take_name(r, &id);
        }
    }
    (void)dir_walk_end(&w, ERR_OK, NULL);
}

/* Folders of servers that are not members are ignored. */
void remote_list_streams(struct remote *r)
{
    for (size_t i = 0; i < r->nstreams; i++) {
        if (!remote_has_say(r, r->streams[i]->id.origin)) {
            r->streams[i]->is_seen = false;
        }
    }
    __atomic_store_n(&r->nunreadable, 0, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < r->origins.n; i++) {
        const struct origin_row *row = &r->origins.v[i];
        char hex[HEX_ORIGIN + 1];
        char path[FILE_PATH_MAX];
        hex_print(row->origin, ORIGIN_BYTES, hex);
        if (count_has_say(&r->origins, row) &&
            file_path(path, "%s/%s", r->dir, hex) == ERR_OK &&
            remote_has_changed(path, &r->folder_sign[i])) {
            list_folder(r, path, row->origin);
            r->has_changed = true;
        }
    }
}

void remote_mark_closed(struct remote *r)
{
    for (size_t i = 0; r->has_changed && i < r->nstreams; i++) {
        struct remote_stream *s = r->streams[i];
        s->has_run = s->has_run || has_run(r, &s->id);
        if (!s->has_run && !s->is_seen && s->counts.n > 0) {
            r->wants_rebuild = true;
        }
    }
}

void remote_drop_streams(struct remote *r)
{
    size_t kept = 0;

    pthread_rwlock_wrlock(&r->lock);
    for (size_t i = 0; i < r->nstreams; i++) {
        struct remote_stream *s = r->streams[i];
        if (s->is_seen && !s->has_run) {
            r->streams[kept++] = s;
            continue;
        }
        tally_fini(&s->counts);
        free(s);
    }
    r->nstreams = kept;
    pthread_rwlock_unlock(&r->lock);
}

/* ---- what they say ---- */

static void on_pair(void *context, const struct run_record *record)
{
    struct remote_pairs *p = context;

    p->is_over =
        p->is_over || !array_room(&p->v, &p->room, p->n + 1,
                                  2 * (size_t)REMOTE_KEYS_OF_ORIGIN, sizeof(p->v[0]));
    if (!p->is_over) {
        p->v[p->n++] = *record;
    }
}

static bool has_key_room(const struct remote *r, const struct remote_stream *s,
                         size_t more)
{
    size_t all = more;
    size_t own = more;

    for (size_t i = 0; i < r->nstreams; i++) {
        const struct remote_stream *x = r->streams[i];
        all += x->counts.n;
        own += is_of_origin(x, s->id.origin) ? x->counts.n : 0;
    }
    return own <= REMOTE_KEYS_OF_ORIGIN && all <= REMOTE_KEYS_MAX;
}

static void mark_unreadable(struct remote *r, struct remote_stream *s, const char *path,
                            const struct errinfo *why)
{
    pthread_rwlock_wrlock(&r->lock);
    s->is_unreadable = true;
    pthread_rwlock_unlock(&r->lock);
    remote_complain(path, why);
}

/* Counts the pairs that were read. False: there is no room for them. */
static bool take_pairs(struct remote *r, struct remote_stream *s)
{
    const struct remote_pairs *p = &r->pairs;
    bool ok = !p->is_over && has_key_room(r, s, p->n);

    pthread_rwlock_wrlock(&r->lock);
    for (size_t i = 0; ok && i < p->n; i++) {
        ok = tally_add(&s->counts, p->v[i].key, p->v[i].count);
    }
    pthread_rwlock_unlock(&r->lock);
    return ok;
}

static bool open_stream(struct remote *r, struct remote_stream *s, const char *path)
{
    struct errinfo why;
    enum err e = stream_reader_open(path, &s->reader, &why);

    if (e == ERR_OK && runset_id_cmp(&s->reader.id, &s->id) != 0) {
        e = errinfo_set(&why, ERR_CORRUPT, path, 0,
                        "a stream of another time or server than its name says");
    }
    s->is_open = e == ERR_OK;
    if (e != ERR_OK && e != ERR_NOT_FOUND) {
        mark_unreadable(r, s, path, &why);
    }
    return s->is_open;
}

/* The hub rewrote the file: the counts of the old file must be removed. */
static void begin_anew(struct remote *r, struct remote_stream *s)
{
    pthread_rwlock_wrlock(&r->lock);
    r->wants_rebuild = r->wants_rebuild || s->counts.n > 0;
    tally_fini(&s->counts);
    s->is_unreadable = false;
    pthread_rwlock_unlock(&r->lock);
    s->is_open = false;
}

/* Whether there is something to read. */
static bool is_wanted(struct remote *r, struct remote_stream *s, const char *path)
{
    struct stat st;

    if (lstat(path, &st) != 0) {
        return false;
    }
    if (s->is_open && (uint64_t)st.st_ino != s->reader.inode) {
        begin_anew(r, s);
    }
    return !s->is_unreadable && (!s->is_open || (uint64_t)st.st_size != s->reader.at);
}

static void read_stream(struct remote *r, struct remote_stream *s, remote_fn *fn,
                        void *context)
{
    char path[FILE_PATH_MAX];
    struct errinfo why = {.code = ERR_OK};
    struct remote_pairs *p = &r->pairs;

    if (stream_path(path, r->dir, &s->id) != ERR_OK || !is_wanted(r, s, path) ||
        (!s->is_open && !open_stream(r, s, path))) {
        return;
    }
    p->n = 0;
    p->is_over = false;
    enum err e = stream_reader_next(&s->reader, path, on_pair, p, &why);
    if (!take_pairs(r, s)) {
        e = errinfo_set(&why, ERR_LIMIT, path, 0,
                        "more keys than the open streams of peers may have here");
    }
    if (e == ERR_CORRUPT && !s->was_anew) {
        /* a rewritten file may have the inode of the old one: read it again from its beginning */
        begin_anew(r, s);
        s->was_anew = true;
        return;
    }
    if (e != ERR_OK && e != ERR_NOT_FOUND) {
        mark_unreadable(r, s, path, &why);
    }
    if (p->n > 0 && e != ERR_LIMIT && fn != NULL) {
        qsort(p->v, p->n, sizeof(p->v[0]), array_u64_cmp);
        fn(context, s->id.start_s / COUNT_BUCKET_S, p->v, p->n);
    }
}

void remote_read_streams(struct remote *r, remote_fn *fn, void *context)
{
    for (size_t i = 0; i < r->nstreams; i++) {
        struct remote_stream *s = r->streams[i];
        /* a peer's clock may be ahead: its bucket waits until this server reaches it */
        if (s->is_seen && !s->has_run && s->id.start_s / COUNT_BUCKET_S <= r->now) {
            read_stream(r, s, fn, context);
        }
    }
    if (r->pairs.room > PAIRS_KEPT) {
        free(r->pairs.v);
        r->pairs = (struct remote_pairs){.n = 0};
    }
}
