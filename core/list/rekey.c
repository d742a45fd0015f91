/*
 * rekey - read from the one folder, write into another, exchange them.
 */
#include "core/list/rekey.h"

#include "core/base/file.h"
#include "core/feature/feature.h"
#include "core/list/change.h"

#define REKEY_FOLDER ".rekey" /* in STATE/lists: no list has such a name */

struct rekey {
    struct list_writer *fresh;
    const struct list_rekeying *how;
    struct list_rekeyed done;
    uint64_t total;
    uint64_t updated_s;
    enum err failed;
    struct errinfo *why;
};

static void tell(const struct rekey *x)
{
    enum { EVERY = 65536 };
    uint64_t n = x->done.listed + x->done.revoked + x->done.without_text;
    if (x->how->progress && n % EVERY == 0 && x->total > 0) {
        x->how->progress(x->how->context, "making digests",
                         n < x->total ? (double)n / (double)x->total : 1);
    }
}

static bool take(void *context, const struct list_provenance *e)
{
    struct rekey *x = context;
    struct list_writer *w = x->fresh;
    bool is_listed = e->status == ENTRY_LISTED;
    struct log_record r = {.kind = !is_listed       ? RECORD_REVOKE
                                   : e->is_explicit ? RECORD_ADD
                                                    : RECORD_IMPORT,
                           .class_type = e->class_type,
                           .time_s = e->first_seen_s,
                           .expiry_s = e->expiry_s,
                           .text = e->text};
    if (e->text.n == 0) {
        x->done.without_text++;
        if (!x->how->drops_textless) {
            x->failed = errinfo_set(
                x->why, ERR_UNSUPPORTED, w->name, 0,
                "there are entries whose text was not kept (keep_text = false): their "
                "digests cannot be made anew; import the list again under another name, "
                "or leave them out with --drop-textless");
        }
        tell(x);
        return x->failed == ERR_OK;
    }
    digest_make(&w->key, e->class_type, e->text, &r.digest);
    x->failed = change_again(w, &r, slice_str(e->source), x->why);
    w->pending_s = x->updated_s; /* the list did not change */
    x->done.listed += is_listed;
    x->done.revoked += !is_listed;
    tell(x);
    return x->failed == ERR_OK;
}

static enum err fill(struct list_writer *w, struct rekey *x)
{
    struct list_reader *r = NULL;
    struct list_peer_filter spam;
    struct list_peer_filter revoked;
    struct list_stat s;
    enum err e =
        list_reader_open(x->how->state_dir, slice_str(w->name), &w->keys, &r, x->why);
    if (e != ERR_OK) {
        return e;
    }
    if (list_reader_fault(r)) {
        e = errinfo_set(x->why, ERR_CORRUPT, w->dir, 0,
                        "%s; run `gillnet list rebuild` first", list_reader_fault(r));
        list_reader_close(&r);
        return e;
    }
    list_reader_peers(r, &spam, &revoked);
    x->done.had_filters = spam.entries > 0 || revoked.entries > 0;
    list_reader_stat(r, &s);
    x->total = s.entries + s.revoked;
    x->updated_s = s.updated_s;
    e = list_reader_each(r, take, x, x->why);
    list_reader_close(&r);
    e = x->failed != ERR_OK ? x->failed : e;
    return e == ERR_OK ? writer_settled(x->fresh, x->why) : e;
}

static void set_as(const struct list_writer *w, struct list_writer *fresh)
{
    list_writer_set_keep_text(fresh, w->keep_text);
    list_writer_set_filter(fresh, &w->filter);
    list_writer_set_ageing(fresh, &w->ageing);
}

enum err list_rekey(struct list_writer *w, const struct list_rekeying *how,
                    struct list_rekeyed *ret, struct errinfo *reterr)
{
    char folder[FILE_PATH_MAX];
    char fresh[FILE_PATH_MAX];
    struct rekey x = {.how = how, .why = reterr, .failed = ERR_OK};
    if (file_path(folder, "%s/lists/" REKEY_FOLDER, how->state_dir) != ERR_OK ||
        file_path(fresh, "%s/lists/%s", folder, w->name) != ERR_OK) {
        return errinfo_set(reterr, ERR_LIMIT, how->state_dir, 0,
                           "the path is too long; choose a shorter state_dir");
    }
    enum err e = writer_check(w, reterr);
    e = e == ERR_OK ? writer_settled(w, reterr) : e;
    e = e == ERR_OK ? file_remove_tree(folder, reterr) : e; /* of one that was killed */
    e = e == ERR_OK ? file_make_dir(folder, LIST_DIR_MODE, reterr) : e;
    e = e == ERR_OK ? list_writer_open(folder, slice_str(w->name), &w->keys, true,
                                       &x.fresh, reterr)
                    : e;
    if (e == ERR_OK) {
        set_as(w, x.fresh);
        e = fill(w, &x);
    }
    list_writer_close(&x.fresh);
    if (e == ERR_OK) {
        writer_close_generation(w);
        w->state = WRITER_STOPPED;
        e = file_exchange(fresh, w->dir, reterr);
    }
    *ret = x.done;
    enum err removed = file_remove_tree(folder, e == ERR_OK ? reterr : NULL);
    return e == ERR_OK ? removed : e;
}
