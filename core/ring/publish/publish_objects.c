/* publish_objects - objects of a publisher: signed, staged in STATE, moved into the place. */
#include "core/base/dir_walk.h"
#include "core/ring/publish/publish_internal.h"
#include "core/ring/trust/peer_file.h"

enum { PLACE_FILE_MODE = 0644, PLACE_FOLDER_MODE = 0755, NAME_MAX_BYTES = 40 };

/* ---- signing ---- */

static void next_root(const struct publishing *x, const struct textlist *steps,
                      struct hash256 *ret)
{
    const struct object_id no_ring = {{0}};
    struct root root;
    if (!steps) {
        textlist_root(&x->state.list, &no_ring, ret);
        return;
    }
    root_parse(&x->state.object.root, &root);
    root_steps(&root, &no_ring, OBJECT_TEXT, steps->v, steps->n);
    root_print(&root, ret);
}

static enum err stage(const struct publishing *x, uint64_t seq, char kind,
                      struct slice bytes, struct errinfo *reterr)
{
    char name[NAME_MAX_BYTES];
    (void)snprintf(name, sizeof(name), "%" PRIu64 ".%c", seq, kind);
    return peer_file_write(x->out, name, bytes, PEER_FILE_MODE, reterr);
}

static void account(struct publishing *x, const struct object *o, struct slice header)
{
    uint64_t *number = x->state.number;
    struct hash256 hash;
    x->state.object = *o;
    memcpy(x->state.header, header.p, OBJECT_HEADER_BYTES);
    if (o->type == OBJECT_SNAP) {
        object_hash(header, &hash);
        number[PUBLISH_SNAP_BEFORE] = number[PUBLISH_SNAP];
        number[PUBLISH_SNAP] = o->seq;
        number[PUBLISH_SNAP_BYTES] = o->sent_len;
        number[PUBLISH_DELTA_BYTES] = 0;
        memcpy(&number[PUBLISH_SNAP_HASH], hash.b, HASH256_BYTES);
    } else {
        number[PUBLISH_DELTA_BYTES] += o->sent_len;
    }
    x->result.objects++;
    x->result.bytes += OBJECT_HEADER_BYTES + o->sent_len;
    x->result.seq = o->seq;
}

static enum err sign_and_stage(struct publishing *x, struct object *o,
                               struct slice payload, struct errinfo *reterr)
{
    struct buf all;
    buf_init(&all, (size_t)TEXTLIST_PACKED_MAX + OBJECT_HEADER_BYTES);
    enum err e = object_sign(o, x->p->o.self->signing_secret, &all);
    buf_add(&all, payload);
    if (e != ERR_OK || buf_failed(&all)) {
        buf_fini(&all);
        return errinfo_nomem(reterr, x->name);
    }
    struct slice header = slice_head(buf_slice(&all), OBJECT_HEADER_BYTES);
    struct object check;
    /* an object that subscribers would refuse is not published */
    e = object_parse(header, &check, reterr);
    THEN(e, stage(x, o->seq, 'o', o->type == OBJECT_SNAP ? header : buf_slice(&all),
                  reterr));
    if (e == ERR_OK && o->type == OBJECT_SNAP) {
        e = stage(x, o->seq, 's', buf_slice(&all), reterr);
    }
    if (e == ERR_OK) {
        account(x, o, header);
    }
    buf_fini(&all);
    return e;
}

enum err publishing_add(struct publishing *x, const struct textlist *steps,
                        struct errinfo *reterr)
{
    const struct object *last = &x->state.object;
    const struct textlist *records = steps ? steps : &x->state.list;
    struct object o = {.type = steps ? OBJECT_DELTA : OBJECT_SNAP,
                       .key_id = object_key_id(x->p->o.self->signing.key),
                       .stream = last->stream,
                       .seq = last->seq + 1,
                       .base_seq = steps ? last->seq : 0,
                       .records = records->n,
                       .created_ms = x->p->o.now_ms};
    struct buf packed;
    buf_init(&packed, TEXTLIST_PACKED_MAX);
    enum err e = textlist_pack(records, &packed, &o.raw_len);
    if (e != ERR_OK) {
        buf_fini(&packed);
        return errinfo_nomem(reterr, x->name);
    }
    o.sent_len = packed.n;
    hash256_of(buf_slice(&packed), &o.payload);
    if (last->seq > 0) {
        object_hash(slice_of(x->state.header, OBJECT_HEADER_BYTES), &o.prev);
    }
    next_root(x, steps, &o.root);
    if (!steps && last->seq > 0 && !hash256_equal(&o.root, &last->root)) {
        e = errinfo_set(reterr, ERR_CORRUPT, x->dir, 0,
                        "the state of the publication is damaged; publish with "
                        "--anew");
    } else {
        e = sign_and_stage(x, &o, buf_slice(&packed), reterr);
    }
    buf_fini(&packed);
    return e;
}

/* ---- staged files ---- */

typedef enum err staged_fn(struct publishing *x, const char *name, uint64_t seq,
                           char kind, struct errinfo *reterr);

static bool staged_name(const char *name, uint64_t *retseq, char *retkind)
{
    struct slice kind = slice_str(name);
    struct slice number = slice_cut(&kind, '.');
    if (kind.n != 1 || (kind.p[0] != 'o' && kind.p[0] != 's')) {
        return false;
    }
    *retkind = kind.p[0];
    return slice_to_u64(number, 10, UINT64_MAX, retseq);
}

static enum err each_staged(struct publishing *x, staged_fn *fn, struct errinfo *reterr)
{
    enum err e = ERR_OK;
    struct dir_walk w = dir_walk_begin(x->out, DIR_NEEDED);
    while (e == ERR_OK && dir_walk_next(&w)) {
        uint64_t seq = 0;
        char kind = 0;
        if (staged_name(w.name, &seq, &kind)) {
            e = fn(x, w.name, seq, kind, reterr);
        }
    }
    return dir_walk_end(&w, e, reterr);
}

static enum err remove_staged(const struct publishing *x, const char *name,
                              struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    enum err e = path_make(path, reterr, "%s/%s", x->out, name);
    if (e == ERR_OK && unlink(path) != 0) {
        e = errinfo_errno(reterr, path, "cannot remove the file");
    }
    return e;
}

static enum err sweep_one(struct publishing *x, const char *name, uint64_t seq,
                          char kind, struct errinfo *reterr)
{
    (void)kind;
    return seq > x->state.object.seq ? remove_staged(x, name, reterr) : ERR_OK;
}

enum err publishing_sweep(struct publishing *x, struct errinfo *reterr)
{
    enum err e = file_sweep_temps(x->out, reterr);
    return e == ERR_OK ? each_staged(x, sweep_one, reterr) : e;
}

/* ---- the place ---- */

static enum err deliver_one(struct publishing *x, const char *name, uint64_t seq,
                            char kind, struct errinfo *reterr)
{
    char from[FILE_PATH_MAX];
    char to[FILE_PATH_MAX];
    char path[REPOSITORY_PATH_MAX];
    struct buf bytes;
    repository_path(kind, &x->id, seq, path);
    enum err e = path_make(from, reterr, "%s/%s", x->out, name);
    THEN(e, path_make(to, reterr, "%s/%s", x->p->place, path));
    buf_init(&bytes, (size_t)TEXTLIST_PACKED_MAX + OBJECT_HEADER_BYTES);
    THEN(e, file_read(from, &bytes, reterr));
    THEN(e, file_write_atomic(to, buf_slice(&bytes), PLACE_FILE_MODE, reterr));
    buf_fini(&bytes);
    return e == ERR_OK ? remove_staged(x, name, reterr) : e;
}

/* PLACE/v1/KIND/STREAM */
static enum err make_folder(const struct publishing *x, char kind,
                            struct errinfo *reterr)
{
    char dir[FILE_PATH_MAX];
    enum err e = path_make(dir, reterr, "%s/v1/%c/%s", x->p->place, kind,
                           object_id_hex(&x->id).digits);
    return e == ERR_OK ? file_make_dir(dir, PLACE_FOLDER_MODE, reterr) : e;
}

enum err publishing_deliver(struct publishing *x, struct errinfo *reterr)
{
    enum err e = make_folder(x, 'o', reterr);
    THEN(e, make_folder(x, 's', reterr));
    return e == ERR_OK ? each_staged(x, deliver_one, reterr) : e;
}

static bool is_delivered(const struct publishing *x, uint64_t seq, char kind)
{
    char file[FILE_PATH_MAX];
    char path[REPOSITORY_PATH_MAX];
    struct stat st;
    repository_path(kind, &x->id, seq, path);
    return path_make(file, NULL, "%s/%s", x->p->place, path) == ERR_OK &&
           stat(file, &st) == 0 && S_ISREG(st.st_mode);
}

bool publishing_is_whole(const struct publishing *x)
{
    const uint64_t *number = x->state.number;
    bool is_whole = is_delivered(x, number[PUBLISH_SNAP], 's');
    for (uint64_t seq = number[PUBLISH_FROM]; is_whole && seq <= x->state.object.seq;
         seq++) {
        is_whole = is_delivered(x, seq, 'o');
    }
    return is_whole;
}

void publish_remove_files(const char *dir, uint64_t keep)
{
    struct dir_walk w = dir_walk_begin(dir, DIR_OPTIONAL);
    while (dir_walk_next(&w)) {
        char path[FILE_PATH_MAX];
        uint64_t seq = 0;
        if (slice_to_u64(slice_str(w.name), 10, UINT64_MAX, &seq) && seq < keep &&
            path_make(path, NULL, "%s/%s", dir, w.name) == ERR_OK) {
            (void)unlink(path); /* a file that stays is harmless */
        }
    }
    (void)dir_walk_end(&w, ERR_OK, NULL);
}

void publish_remove_before(const struct publish *p, const struct object_id *stream,
                           uint64_t keep)
{
    for (const char *kind = "os"; *kind; kind++) {
        char dir[FILE_PATH_MAX];
        if (path_make(dir, NULL, "%s/v1/%c/%s", p->place, *kind,
                      object_id_hex(stream).digits) == ERR_OK) {
            publish_remove_files(dir, keep);
        }
    }
}
