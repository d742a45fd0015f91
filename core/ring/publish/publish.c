/* publish - the changes since the last publication, and the heads that name them. */
#include "core/ring/publish/publish.h"

#include "core/ring/publish/publish_internal.h"
#include "core/ring/trust/peer_file.h"

enum {
    HEADS_MODE = 0644,
    FOLDER_MODE = 0755,
    SECONDS_AN_HOUR = 3600,
    DELTA_SLACK = 64 << 10, /* small lists get no SNAP with each change */
    PROGRESS_EVERY = 4096,
    KEY_ARENA = 64 * 1024
};

static void report_progress(const struct publish *p, const char *stage, double share)
{
    if (p->o.progress) {
        p->o.progress(p->o.context, stage, share);
    }
}

/* ---- opening ---- */

static enum err make_folders(struct publish *p, struct errinfo *reterr)
{
    static const char *const below[] = {"", "/v1", "/v1/o", "/v1/s"};
    char dir[FILE_PATH_MAX];
    enum err e = path_make(dir, reterr, "%s/peers", p->o.state_dir);
    THEN(e, path_make(p->dir, reterr, "%s/publish", dir));
    THEN(e, path_make(p->place, reterr, "%s", p->o.place));
    THEN(e, peer_file_make_dir(dir, reterr));
    THEN(e, peer_file_make_dir(p->dir, reterr));
    for (size_t i = 0; e == ERR_OK && i < LENGTH(below); i++) {
        e = path_make(dir, reterr, "%s%s", p->place, below[i]);
        THEN(e, file_make_dir(dir, FOLDER_MODE, reterr));
    }
    return e;
}

static int compare_rows(const void *a, const void *b)
{
    const struct publish_row *x = a;
    const struct publish_row *y = b;
    return strcmp(x->head.stream.list, y->head.stream.list);
}

/* Reads heads: of the place (their rows are kept) or of STATE. */
static enum err take_heads(struct publish *p, const char *path, bool is_place,
                           struct errinfo *reterr)
{
    struct repository known;
    struct buf bytes;
    struct errinfo why;
    buf_init(&bytes, REPOSITORY_HEADS_BYTES);
    enum err e = file_read(path, &bytes, reterr);
    if (e == ERR_NOT_FOUND) {
        buf_fini(&bytes);
        return ERR_OK;
    }
    if (e == ERR_OK && repository_parse(buf_slice(&bytes), &known, &why) != ERR_OK) {
        e = errinfo_set(reterr, ERR_CORRUPT, path, 0,
                        "damaged: remove it and publish every list by name");
    }
    if (e != ERR_OK) {
        buf_fini(&bytes);
        return e;
    }
    if (!object_id_equal(&known.heartbeat.stream.origin, &p->o.self->origin)) {
        e = errinfo_set(reterr, ERR_EXISTS, path, 0,
                        "another publisher's heads; choose another folder");
    }
    bool is_verified = repository_verify(&known, buf_slice(&bytes), &p->o.self->origin,
                                         p->o.self->signing.key, &why) == ERR_OK;
    if (e == ERR_OK && (is_verified || !is_place)) {
        p->heads_seq =
            known.heartbeat.seq > p->heads_seq ? known.heartbeat.seq : p->heads_seq;
        p->heads_ms = known.heartbeat.created_ms > p->heads_ms
                          ? known.heartbeat.created_ms
                          : p->heads_ms;
    }
    for (size_t i = 0; e == ERR_OK && is_place && i < known.heads.n; i++) {
        p->row[p->nrows++] =
            (struct publish_row){.head = known.heads.v[i], .is_verified = is_verified};
    }
    repository_fini(&known);
    buf_fini(&bytes);
    return e;
}

static enum err open_all(struct publish *p, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = make_folders(p, reterr);
    THEN(e, peer_file_lock(p->dir, "LOCK", false, &p->lock, reterr));
    THEN(e, path_make(path, reterr, "%s/heads", p->dir));
    THEN(e, take_heads(p, path, false, reterr));
    THEN(e, path_make(path, reterr, "%s/v1/heads", p->place));
    return e == ERR_OK ? take_heads(p, path, true, reterr) : e;
}

enum err publish_open(const struct publish_options *options, struct publish **ret,
                      struct errinfo *reterr)
{
    struct publish *p = calloc(1, sizeof(*p));
    if (!p) {
        return errinfo_nomem(reterr, options->place);
    }
    p->o = *options;
    p->lock.fd = -1;
    enum err e = open_all(p, reterr);
    if (e != ERR_OK) {
        publish_close(&p);
        return e;
    }
    qsort(p->row, p->nrows, sizeof(p->row[0]), compare_rows);
    publish_note_streams(p);
    *ret = p;
    return ERR_OK;
}

void publish_close(struct publish **p)
{
    if (*p) {
        filelock_drop(&(*p)->lock);
        free(*p);
    }
    *p = NULL;
}

size_t publish_lists(const struct publish *p, const char *ret[REPOSITORY_LISTS_MAX])
{
    for (size_t i = 0; i < p->nrows; i++) {
        ret[i] = p->row[i].head.stream.list;
    }
    return p->nrows;
}

struct publish_row *publish_find_row(struct publish *p, const char *name)
{
    for (size_t i = 0; i < p->nrows; i++) {
        if (strcmp(p->row[i].head.stream.list, name) == 0) {
            return &p->row[i];
        }
    }
    return NULL;
}

/* ---- one list ---- */

static enum err open_publishing(struct publishing *x, struct errinfo *reterr)
{
    const struct publish *p = x->p;
    enum err e = path_make(x->dir, reterr, "%s/%s", p->dir, x->name);
    THEN(e, path_make(x->out, reterr, "%s/out", x->dir));
    THEN(e, peer_file_make_dir(x->dir, reterr));
    THEN(e, peer_file_make_dir(x->out, reterr));
    if (e == ERR_OK && !p->o.is_anew) {
        e = textfile_read(x->dir, "state", &x->state, reterr);
        x->has_state = e == ERR_OK;
        if (e == ERR_CORRUPT) {
            (void)errinfo_set(
                reterr, e, x->dir, 0,
                "the state of the last publication is damaged; publish with "
                "--anew");
        }
        e = e == ERR_NOT_FOUND ? ERR_OK : e;
    }
    return e;
}

/* Whether the place has objects that STATE does not know. Their places must not be signed again. */
static bool is_restored(const struct publishing *x)
{
    const struct publish_row *row = publish_find_row(x->p, x->name);
    struct hash256 hash;
    if (!row || row->is_ours) {
        return false;
    }
    const struct object *last = &x->state.object;
    const struct stream_key *shown = &row->head.stream;
    object_hash(slice_of(x->state.header, OBJECT_HEADER_BYTES), &hash);
    return shown->inc > last->stream.inc ||
           (shown->inc == last->stream.inc &&
            (row->head.seq > last->seq ||
             (row->head.seq == last->seq && !hash256_equal(&row->head.hash, &hash))));
}

/* Above the incarnations of the place and of STATE. */
static uint64_t new_incarnation(const struct publishing *x)
{
    const struct publish_row *row = publish_find_row(x->p, x->name);
    const uint64_t shown = row ? row->head.stream.inc : 0;
    const uint64_t known = x->state.object.stream.inc;
    return stream_next_inc(x->p->o.now_ms, shown > known ? shown : known);
}

/* The number of steps from `at` that fit one DELTA. */
static size_t cut(const struct textlist *steps, size_t at)
{
    size_t bytes = 0;
    size_t n = 0;
    while (at + n < steps->n) {
        bytes += textlist_cost(&steps->v[at + n]);
        if (bytes > TEXTLIST_DELTA_BYTES) {
            break;
        }
        n++;
    }
    return n;
}

static enum err add_deltas(struct publishing *x, const struct textlist *steps,
                           struct errinfo *reterr)
{
    enum err e = ERR_OK;
    for (size_t at = 0; e == ERR_OK && at < steps->n;) {
        struct textlist part = {.v = steps->v + at, .n = cut(steps, at)};
        report_progress(x->p, "pack", (double)at / (double)steps->n);
        e = publishing_add(x, &part, reterr);
        at += part.n;
    }
    x->result.steps += steps->n;
    return e;
}

static enum err add_changes(struct publishing *x, const struct textlist *entries,
                            struct errinfo *reterr)
{
    struct textlist first = {0};
    struct textlist second = {0};
    report_progress(x->p, "compare", -1);
    enum err e = textlist_diff(&x->state.list, entries, &first, &second);
    e = e == ERR_OK ? add_deltas(x, &first, reterr) : errinfo_nomem(reterr, x->name);
    THEN(e, add_deltas(x, &second, reterr));
    textlist_fini(&first);
    textlist_fini(&second);
    return e;
}

/* Adds a SNAP of the entries. with_chain: objects before it stay. */
static enum err add_snap(struct publishing *x, bool with_chain, struct errinfo *reterr)
{
    report_progress(x->p, "pack", -1);
    uint64_t before = x->state.number[PUBLISH_SNAP];
    enum err e = publishing_add(x, NULL, reterr);
    if (e == ERR_OK) {
        x->state.number[PUBLISH_FROM] =
            with_chain ? before : x->state.number[PUBLISH_SNAP];
    }
    return e;
}

static bool chain_is_long(const struct publishing *x)
{
    const uint64_t *number = x->state.number;
    return number[PUBLISH_DELTA_BYTES] > number[PUBLISH_SNAP_BYTES] / 2 + DELTA_SLACK ||
           x->state.object.seq - number[PUBLISH_SNAP] >= PUBLISH_CHAIN_MAX;
}

/* Signs and stages the changes; afterwards the state's list is `entries`, borrowed. */
static enum err bring(struct publishing *x, const struct textlist *entries,
                      struct errinfo *reterr)
{
    enum err e = ERR_OK;
    bool has_chain = false;
    if (x->has_state) {
        has_chain = publishing_is_whole(x) &&
                    x->state.object.key_id == object_key_id(x->p->o.self->signing.key);
        e = add_changes(x, entries, reterr);
    }
    textlist_fini(&x->state.list);
    x->state.list = (struct textlist){.v = entries->v, .n = entries->n};
    if (e == ERR_OK && (!has_chain || chain_is_long(x))) {
        e = add_snap(x, has_chain, reterr);
    }
    return e;
}

static enum err set_row(struct publishing *x, uint64_t keep, struct errinfo *reterr)
{
    struct publish *p = x->p;
    struct publish_row *row = publish_find_row(p, x->name);
    const uint64_t *number = x->state.number;
    if (!row && p->nrows == REPOSITORY_LISTS_MAX) {
        return errinfo_set(reterr, ERR_LIMIT, x->name, 0,
                           "one place holds at most %d lists", REPOSITORY_LISTS_MAX);
    }
    row = row ? row : &p->row[p->nrows++];
    *row = (struct publish_row){.head = {.stream = x->state.object.stream,
                                         .seq = x->state.object.seq,
                                         .from = number[PUBLISH_FROM],
                                         .snap_seq = number[PUBLISH_SNAP]},
                                .keep = keep,
                                .is_ours = true};
    object_hash(slice_of(x->state.header, OBJECT_HEADER_BYTES), &row->head.hash);
    memcpy(row->head.snap.b, &number[PUBLISH_SNAP_HASH], HASH256_BYTES);
    qsort(p->row, p->nrows, sizeof(p->row[0]), compare_rows);
    return ERR_OK;
}

static void begin_stream(struct publishing *x)
{
    uint64_t inc = new_incarnation(x);
    textfile_fini(&x->state);
    x->has_state = false;
    x->result.is_new = true;
    x->state.object.stream = (struct stream_key){
        .origin = x->p->o.self->origin, .inc = inc, .kind = OBJECT_TEXT};
    memcpy(x->state.object.stream.list, x->name, strnlen(x->name, OBJECT_NAME_BYTES));
}

static enum err publish_all(struct publishing *x, const struct textlist *entries,
                            struct errinfo *reterr)
{
    if (!x->has_state || is_restored(x)) {
        begin_stream(x);
    }
    stream_key_id(&x->state.object.stream, &x->id);
    uint64_t keep = x->state.number[PUBLISH_FROM];
    x->result.seq = x->state.object.seq;
    enum err e = publishing_sweep(x, reterr);
    if (e == ERR_OK) {
        e = publishing_deliver(x, reterr); /* objects that a crash left */
    }
    THEN(e, bring(x, entries, reterr));
    if (e == ERR_OK && x->result.objects > 0) {
        e = textfile_write(x->dir, "state", &x->state, reterr);
    }
    THEN(e, publishing_deliver(x, reterr));
    return e == ERR_OK ? set_row(x, keep, reterr) : e;
}

enum err publish_entries(struct publish *p, const char *name,
                         const struct textlist *entries, struct publish_result *ret,
                         struct errinfo *reterr)
{
    struct publishing x = {.p = p, .name = name};
    if (!list_name_is_valid(slice_str(name))) {
        return errinfo_set(reterr, ERR_SYNTAX, name, 0, "no name of a list");
    }
    enum err e = open_publishing(&x, reterr);
    THEN(e, publish_all(&x, entries, reterr));
    if (x.state.list.v == entries->v) {
        x.state.list = (struct textlist){0}; /* borrowed */
    }
    textfile_fini(&x.state);
    if (e != ERR_OK) {
        return e;
    }
    for (size_t i = 0; i < entries->n; i++) {
        if (entries->v[i].after == ENTRY_STANDS) {
            x.result.entries++;
        } else {
            x.result.revoked++;
        }
    }
    *ret = x.result;
    return ERR_OK;
}

/* ---- from a list ---- */

struct reading {
    const struct publish *p;
    struct textlist entries;
    struct arena *texts;
    struct arena *scratch; /* of one entry */
    uint64_t all;
    uint64_t seen;
    uint64_t without_text;
    enum err failed;
};

static bool read_entry(void *context, const struct list_provenance *e)
{
    struct reading *r = context;
    if (r->seen++ % PROGRESS_EVERY == 0) {
        report_progress(r->p, "read",
                        r->all == 0 ? -1 : (double)r->seen / (double)r->all);
    }
    if (e->text.n == 0) {
        r->without_text++;
        return true;
    }
    arena_reset(r->scratch);
    struct slice key = feature_entry_key(e->class_type, e->text, r->scratch);
    if (key.p == NULL) {
        r->without_text++; /* subscribers could not read it */
        return true;
    }
    struct list_record record = {
        .after = e->status == ENTRY_REVOKED ? ENTRY_TAKEN_BACK : ENTRY_STANDS,
        .type = e->class_type,
        .expiry_h =
            (uint32_t)(((uint64_t)e->expiry_s + SECONDS_AN_HOUR - 1) / SECONDS_AN_HOUR),
        .text = arena_copy(r->texts, key)};
    r->failed = record.text.p ? textlist_add(&r->entries, &record) : ERR_LIMIT;
    return r->failed == ERR_OK;
}

static enum err read_list(struct reading *r, const struct list_reader *list,
                          struct errinfo *reterr)
{
    struct list_stat stat;
    list_reader_stat(list, &stat);
    r->all = stat.entries + stat.revoked;
    r->texts = arena_new(2 * (size_t)TEXTLIST_BYTES_MAX);
    r->scratch = arena_new(KEY_ARENA);
    if (!r->texts || !r->scratch) {
        return errinfo_nomem(reterr, list_reader_name(list));
    }
    enum err e = list_reader_each(list, read_entry, r, reterr);
    if (e == ERR_OK && r->failed == ERR_LIMIT) {
        e = errinfo_set(reterr, ERR_LIMIT, list_reader_name(list), 0,
                        "a published list has at most %d entries and %d MiB of text; "
                        "split it",
                        TEXTLIST_ENTRIES_MAX, TEXTLIST_BYTES_MAX >> 20);
    } else if (e == ERR_OK && r->failed != ERR_OK) {
        e = errinfo_nomem(reterr, list_reader_name(list));
    }
    if (e == ERR_OK) {
        report_progress(r->p, "sort", -1);
        e = textlist_sort(&r->entries) == ERR_OK
                ? ERR_OK
                : errinfo_nomem(reterr, list_reader_name(list));
    }
    return e;
}

enum err publish_list(struct publish *p, const char *name, struct publish_result *ret,
                      struct errinfo *reterr)
{
    struct reading r = {.p = p};
    struct list_reader *list = NULL;
    enum err e =
        list_reader_open(p->o.state_dir, slice_str(name), p->o.keys, &list, reterr);
    THEN(e, read_list(&r, list, reterr));
    THEN(e, publish_entries(p, name, &r.entries, ret, reterr));
    if (e == ERR_OK) {
        ret->without_text = r.without_text;
    }
    textlist_fini(&r.entries);
    arena_free(&r.texts);
    arena_free(&r.scratch);
    list_reader_close(&list);
    return e;
}

/* ---- the heads ---- */

static enum err write_heads(const struct publish *p, struct slice heads,
                            struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    char key_path[FILE_PATH_MAX];
    struct buf key;
    struct buf old;
    enum err e = path_make(path, reterr, "%s/v1/heads", p->place);
    THEN(e, path_make(key_path, reterr, "%s/v1/key", p->place));
    if (e != ERR_OK) {
        return e;
    }
    buf_init(&key, REPOSITORY_KEY_BYTES);
    buf_init(&old, REPOSITORY_KEY_BYTES);
    repository_key_print(p->o.self, &key);
    e = buf_failed(&key) ? errinfo_nomem(reterr, p->place) : ERR_OK;
    if (e == ERR_OK && (file_read(key_path, &old, NULL) != ERR_OK ||
                        !slice_eq(buf_slice(&key), buf_slice(&old)))) {
        e = file_write_atomic(key_path, buf_slice(&key), HEADS_MODE, reterr);
    }
    buf_fini(&key);
    buf_fini(&old);
    THEN(e, peer_file_write(p->dir, "heads", heads, PEER_FILE_MODE, reterr));
    return e == ERR_OK ? file_write_atomic(path, heads, HEADS_MODE, reterr) : e;
}

enum err publish_commit(struct publish *p, struct errinfo *reterr)
{
    struct head rows[REPOSITORY_LISTS_MAX];
    for (size_t i = 0; i < p->nrows; i++) {
        rows[i] = p->row[i].head;
        if (!p->row[i].is_ours && !p->row[i].is_verified) {
            return errinfo_set(reterr, ERR_KEY, rows[i].stream.list, 0,
                               "published with a former key of this server, or not by "
                               "it; publish this list together with the others");
        }
    }
    uint64_t created = p->o.now_ms > p->heads_ms ? p->o.now_ms : p->heads_ms + 1;
    struct repository now = {
        .heads = {.version = p->heads_seq + 1, .v = rows, .n = p->nrows},
        .heartbeat = {.seq = p->heads_seq + 1,
                      .created_ms = created,
                      .expires_ms = created + p->o.valid_ms}};
    struct buf bytes;
    buf_init(&bytes, REPOSITORY_HEADS_BYTES);
    enum err e = repository_print(&now, p->o.self, &bytes);
    e = e == ERR_OK ? write_heads(p, buf_slice(&bytes), reterr)
                    : errinfo_nomem(reterr, p->place);
    buf_fini(&bytes);
    for (size_t i = 0; e == ERR_OK && i < p->nrows; i++) {
        struct object_id id;
        stream_key_id(&rows[i].stream, &id);
        if (p->row[i].keep > 0) {
            publish_remove_before(p, &id, p->row[i].keep);
        }
    }
    if (e == ERR_OK) {
        publish_sweep(p);
    }
    return e;
}
