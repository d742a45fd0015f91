/* sync_restored - after this folder was restored from a backup: objects that were signed since are
 * unknown here, but peers have them. */

#include "core/base/log.h"
#include "core/ring/sync/sync_modules.h"

enum { MARK_MAX = 64 };
/* Written by `gillnet restore`: the first bucket whose counts are published. */
#define MARK "restored"

/* Objects of these streams were signed since, so each list begins a new stream, even if no peer can
 * be reached. */
static enum err leave_lists(struct sync *s, struct table_txn *x)
{
    const struct origin *self = sync_origin(s, &s->self->origin);
    enum err e = ERR_OK;
    for (struct stream *st = self ? self->streams : NULL; e == ERR_OK && st;
         st = st->of_origin) {
        if (st->key.kind != OBJECT_COUNT && !st->is_left) {
            st->is_left = true;
            e = sync_put_cursor(x, st);
        }
    }
    return e;
}

static enum err note_restored(struct sync *s, struct errinfo *reterr)
{
    struct table_txn *x = NULL;
    enum err e = table_begin(s->table, true, &x, reterr);
    if (e != ERR_OK) {
        return e;
    }
    e = leave_lists(s, x);
    THEN(e, sync_put_number(x, MARK, s->counts_from_s));
    if (e != ERR_OK) {
        table_abort(&x);
        return errinfo_set(reterr, e, s->dir, 0, "cannot note that it was restored: %s",
                           err_text(e));
    }
    return table_commit(&x, reterr);
}

static void load_mark(struct sync *s)
{
    struct table_txn *x = NULL;
    if (table_begin(s->table, false, &x, NULL) == ERR_OK) {
        s->counts_from_s = sync_get_number(x, MARK);
    }
    table_abort(&x);
}

static bool read_mark(struct slice text, uint64_t *ret)
{
    const size_t n = slice_find(text, '\n');
    return n + 1 == text.n && slice_to_u64(slice_head(text, n), 10, UINT64_MAX, ret);
}

enum err sync_restored(struct sync *s, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct buf text;
    uint64_t from_s = 0;
    load_mark(s);
    if (sync_path(s, path, NULL, MARK) != ERR_OK || access(path, F_OK) != 0) {
        return ERR_OK;
    }
    buf_init(&text, MARK_MAX);
    enum err e = file_read(path, &text, reterr);
    if (e == ERR_OK && !read_mark(buf_slice(&text), &from_s)) {
        e = errinfo_set(reterr, ERR_SYNTAX, path, 0,
                        "this is not what `gillnet restore` wrote; restore again");
    }
    buf_fini(&text);
    if (e == ERR_OK) {
        s->counts_from_s = from_s > s->counts_from_s ? from_s : s->counts_from_s;
        e = note_restored(s, reterr);
    }
    if (e == ERR_OK && (unlink(path) != 0 || file_sync_dir(s->dir, reterr) != ERR_OK)) {
        e = errinfo_errno(reterr, path,
                          "cannot be removed"); /* a repetition is harmless */
    }
    if (e == ERR_OK) {
        log_warn(
            "event=restored: shared lists begin new streams, counts from before the "
            "backup are not published again");
    }
    return e;
}
