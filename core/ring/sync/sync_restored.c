/* sync_restored - this folder was put back from a backup: what was signed since is with the peers, and unknown here. */

#include "core/base/cursor.h"
#include "core/base/log.h"
#include "core/ring/sync/sync_modules.h"

enum { MARK_MAX = 64 };
#define MARK \
    "restored" /* `gillnet restore` writes it: first bucket whose counts are to be published */

/* Places of these were signed since: each list begins anew, whoever of the peers can be asked. */
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

static enum err note(struct sync *s, struct errinfo *reterr)
{
    struct table_txn *x = NULL;
    struct buf b;
    enum err e = table_begin(s->table, true, &x, reterr);
    if (e != ERR_OK) {
        return e;
    }
    buf_init(&b, sizeof(s->counts_from_s));
    buf_add_u64(&b, s->counts_from_s);
    e = buf_failed(&b) ? ERR_NOMEM : leave_lists(s, x);
    THEN(e, table_put(x, SLICE_LIT(MARK), buf_slice(&b)));
    buf_fini(&b);
    if (e != ERR_OK) {
        table_abort(&x);
        return errinfo_set(reterr, e, s->dir, 0, "cannot note that it was restored: %s",
                           err_text(e));
    }
    return table_commit(&x, reterr);
}

static void load(struct sync *s)
{
    struct table_txn *x = NULL;
    struct slice value;
    if (table_begin(s->table, false, &x, NULL) == ERR_OK &&
        table_get(x, SLICE_LIT(MARK), &value) == ERR_OK) {
        struct cursor c = cursor_of(value);
        s->counts_from_s = cursor_u64(&c);
    }
    table_abort(&x);
}

/* One number and the end of its line. */
static bool read_mark(struct buf *text, uint64_t *ret)
{
    char *end = NULL;
    buf_add_char(text, '\0');
    if (buf_failed(text) || text->p[0] < '0' || text->p[0] > '9') {
        return false;
    }
    errno = 0;
    *ret = strtoull(text->p, &end, 10);
    return errno == 0 && end[0] == '\n' && end[1] == '\0';
}

enum err sync_restored(struct sync *s, struct errinfo *reterr)
{
    char path[FILE_PATH_MAX];
    struct buf text;
    uint64_t from_s = 0;
    load(s);
    if (sync_path(s, path, MARK) != ERR_OK || access(path, F_OK) != 0) {
        return ERR_OK;
    }
    buf_init(&text, MARK_MAX);
    enum err e = file_read(path, &text, reterr);
    if (e == ERR_OK && !read_mark(&text, &from_s)) {
        e = errinfo_set(reterr, ERR_SYNTAX, path, 0,
                        "this is not what `gillnet restore` wrote; restore again");
    }
    buf_fini(&text);
    if (e == ERR_OK) {
        s->counts_from_s = from_s > s->counts_from_s ? from_s : s->counts_from_s;
        e = note(s, reterr);
    }
    if (e == ERR_OK && (unlink(path) != 0 || file_sync_dir(s->dir, reterr) != ERR_OK)) {
        e = errinfo_errno(reterr, path,
                          "cannot be removed"); /* done twice does no harm */
    }
    if (e == ERR_OK) {
        log_warn(
            "event=restored: lists that this server shares begin anew, counts from "
            "before the backup are not published again");
    }
    return e;
}
