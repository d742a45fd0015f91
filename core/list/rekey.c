/*
 * rekey - read from the one folder, write into another, exchange them.
 */
#include "core/list/rekey.h"

#include "core/base/file.h"
#include "core/list/mirror.h"
#include "core/list/peer_filter.h"
#include "core/list/segment.h"
#include "core/list/writer_change.h"
#include "core/message/feature/feature.h"

enum { TEXT_ARENA = 64 * 1024 };

#define REKEY_FOLDER ".rekey." /* and the list's: no list has such a name */

/* State of a rewrite. */
struct remake {
    struct list_writer *fresh;
    const char *state_dir;
    const struct list_current
        *former; /* NULL: under another key; else in another form */
    enum url_match url_match;
    const atomic_bool *stop;
    list_progress_fn *progress;
    void *context;
    bool drops_textless;
    struct arena *arena;
    struct list_rekeyed done;
    uint64_t total;
    uint64_t updated_s;
    enum err failed;
    struct errinfo *why;
};

static void rekey_progress(const struct remake *x)
{
    enum { EVERY = 65536 };
    uint64_t n = x->done.listed + x->done.revoked;
    if (x->progress && n % EVERY == 0 && x->total > 0) {
        x->progress(x->context, "making digests",
                    n < x->total ? (double)n / (double)x->total : 1);
    }
}

/* True if the text of an entry must be read again: its class comes from the former url_match, or
 * the rule for its class changed since the former form. */
static bool is_read_anew(const struct remake *x, uint16_t class_type)
{
    bool is_former = x->former->form == LIST_FORM_FORMER;
    enum url_match match = (enum url_match)x->former->url_match;
    switch (class_type) {
    case FEATURE_url_exact:
        return is_former || match == URL_MATCH_EXACT;
    case FEATURE_url:
        return is_former || match == URL_MATCH_NORMAL;
    case FEATURE_url_folded:
        return !is_former && match == URL_MATCH_FOLDED;
    case FEATURE_address:
    case FEATURE_text_address:
        return is_former;
    default:
        return false;
    }
}

/* Sets class, digest and text of an entry in its new form. */
static void read_anew(struct remake *x, const struct list_provenance *e,
                      struct log_record *r)
{
    bool is_address =
        e->class_type == FEATURE_address || e->class_type == FEATURE_text_address;
    struct feature_entry entry;
    struct writer_entry own;
    arena_reset(x->arena);
    if (is_read_anew(x, e->class_type) &&
        feature_entry_parse(e->text,
                            is_address ? (enum feature_type)e->class_type : FEATURE_url,
                            x->arena, &entry, NULL) == ERR_OK &&
        writer_entry_of(x->fresh, &entry, &own, NULL) == ERR_OK) {
        r->class_type = own.class_type;
        r->digest = own.digest;
        r->text = own.text;
    }
}

/* The digest of an entry under another key; false: there is none. */
static bool make_digest(struct remake *x, const struct list_provenance *e,
                        struct digest *ret)
{
    arena_reset(x->arena);
    struct slice key = feature_entry_key(e->class_type, e->text, x->arena);
    if (key.p == NULL) {
        return false;
    }
    digest_make(&x->fresh->key, e->class_type, key, ret);
    return true;
}

/* False: the entry cannot be taken over. */
static bool take_digest(struct remake *x, const struct list_provenance *e,
                        struct log_record *r)
{
    x->done.without_text += e->text.n == 0;
    if (x->former) {
        r->digest = e->digest;
        if (e->text.n > 0) {
            read_anew(x, e, r);
        }
        return true;
    }
    if (e->text.n > 0) {
        return make_digest(x, e, &r->digest);
    }
    if (!x->drops_textless) {
        x->failed = errinfo_set(
            x->why, ERR_UNSUPPORTED, x->fresh->name, 0,
            "there are entries whose text was not kept (keep_text = false): their "
            "digests cannot be computed; import the list again under another name, "
            "or leave them out with --drop-textless");
    }
    return false;
}

static bool rekey_entry(void *context, const struct list_provenance *e)
{
    struct remake *x = context;
    struct list_writer *w = x->fresh;
    bool is_listed = e->status == ENTRY_LISTED;
    struct log_record r = {.kind = !is_listed       ? RECORD_REVOKE
                                   : e->is_explicit ? RECORD_ADD
                                                    : RECORD_IMPORT,
                           .class_type = e->class_type,
                           .time_s = e->first_seen_s,
                           .expiry_s = e->expiry_s,
                           .text = e->text};
    if (x->stop && atomic_load(x->stop)) {
        x->failed = errinfo_set(x->why, ERR_TIMEOUT, w->name, 0, "stopped");
        return false;
    }
    if (!take_digest(x, e, &r)) {
        return x->failed == ERR_OK;
    }
    x->failed = change_again(w, &r, slice_str(e->source), x->why);
    w->pending_s = x->updated_s; /* the list did not change */
    x->done.listed += is_listed;
    x->done.revoked += !is_listed;
    rekey_progress(x);
    return x->failed == ERR_OK;
}

static enum err fill_fresh(struct list_writer *w, struct remake *x)
{
    struct list_reader *r = NULL;
    struct list_peer_filter spam;
    struct list_peer_filter revoked;
    struct list_stat s;
    enum err e =
        list_reader_open(x->state_dir, slice_str(w->name), &w->keys, &r, x->why);
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
    e = list_reader_each(r, rekey_entry, x, x->why);
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

/* The filters of peers, which only hint, into the new list. */
static enum err take_members(const struct list_writer *w, struct remake *x)
{
    char spam[FILE_PATH_MAX];
    char revoked[FILE_PATH_MAX];
    char *paths[2] = {NULL};
    size_t n = 0;
    struct peer_filter_shapes shapes;
    if (w->current.member_spam != 0 &&
        list_member_path(w, false, spam, NULL) == ERR_OK) {
        paths[n++] = spam;
    }
    if (w->current.member_revoked != 0 &&
        list_member_path(w, true, revoked, NULL) == ERR_OK) {
        paths[n++] = revoked;
    }
    return n > 0 ? list_member_merge(x->fresh, n, paths, &shapes, x->why) : ERR_OK;
}

/* Opens the new list beside the old one, whose lock is held. */
static enum err fresh_open(struct list_writer *w, struct remake *x, const char *folder)
{
    uint32_t key = x->former ? w->key.id : w->keys.ring[0].id;
    enum err e =
        mirror_open(folder, slice_str(w->name), &w->keys, key, &x->fresh, x->why);
    if (e == ERR_OK) {
        x->fresh->is_exact = false;
        set_as(w, x->fresh);
        x->fresh->current.url_match = (uint32_t)x->url_match;
        e = current_write(x->fresh->dir, LIST_CURRENT, &x->fresh->current, x->why);
    }
    return e;
}

static enum err remake(struct list_writer *w, struct remake *x)
{
    char folder[FILE_PATH_MAX];
    char fresh[FILE_PATH_MAX];
    x->arena = arena_new(TEXT_ARENA);
    enum err e = x->arena ? writer_check(w, x->why) : errinfo_nomem(x->why, w->dir);
    THEN(e, path_make(folder, x->why, "%s/lists/" REKEY_FOLDER "%s", x->state_dir,
                      w->name));
    THEN(e, path_make(fresh, x->why, "%s/lists/%s", folder, w->name));
    THEN(e, writer_settled(w, x->why));
    THEN(e, file_remove_tree(folder, x->why)); /* of one that was killed */
    THEN(e, file_make_dir(folder, LIST_DIR_MODE, x->why));
    THEN(e, fresh_open(w, x, folder));
    THEN(e, fill_fresh(w, x));
    e = e == ERR_OK && x->former ? take_members(w, x) : e;
    list_writer_close(&x->fresh);
    if (e == ERR_OK) {
        writer_close_generation(w);
        w->state = WRITER_STOPPED;
        e = file_exchange(fresh, w->dir, x->why);
    }
    arena_free(&x->arena);
    enum err removed = file_remove_tree(folder, e == ERR_OK ? x->why : NULL);
    return e == ERR_OK ? removed : e;
}

enum url_match list_writer_url_match(const struct list_writer *w)
{
    return (enum url_match)w->current.url_match;
}

enum err list_rekey(struct list_writer *w, const struct list_rekeying *how,
                    struct list_rekeyed *ret, struct errinfo *reterr)
{
    struct remake x = {.state_dir = how->state_dir,
                       .url_match = list_writer_url_match(w),
                       .progress = how->progress,
                       .context = how->context,
                       .drops_textless = how->drops_textless,
                       .why = reterr};
    enum err e = remake(w, &x);
    *ret = x.done;
    return e;
}

/* Rewrites the list of w with the digests of LIST_FORM. */
static enum err remake_form(struct list_writer *w, const struct list_reforming *how,
                            enum url_match match, struct list_rekeyed *ret,
                            struct errinfo *reterr)
{
    struct list_current former = w->current;
    struct remake x = {.state_dir = how->state_dir,
                       .former = &former,
                       .url_match = match,
                       .stop = how->stop,
                       .progress = how->progress,
                       .context = how->context,
                       .why = reterr};
    enum err e = remake(w, &x);
    *ret = x.done;
    return e;
}

enum err list_reform(struct list_writer *w, const struct list_reforming *how,
                     bool *retremade, struct list_rekeyed *ret, struct errinfo *reterr)
{
    struct list_current *c = &w->current;
    *retremade = false;
    *ret = (struct list_rekeyed){0};
    if (w->state != WRITER_READY ||
        (c->form == LIST_FORM && c->url_match == (uint32_t)how->url_match)) {
        return ERR_OK; /* or damaged: it serves as it is until it is rebuilt */
    }
    if (mirror_is_empty(w) && c->member_spam == 0) {
        c->form = LIST_FORM;
        c->url_match = (uint32_t)how->url_match;
        return current_write(w->dir, LIST_CURRENT, c, reterr);
    }
    enum err e = remake_form(w, how, how->url_match, ret, reterr);
    *retremade = e == ERR_OK;
    return e;
}

/* ---- a log that says the same thing again and again ---- */

/* Bytes that a record has in the mean, by the first of the longest segment. */
static uint64_t record_bytes(const struct list_writer *w)
{
    enum { SAMPLE = 4096 };
    struct segment s;
    struct log_record r;
    uint64_t longest = 0;
    uint32_t number = w->tail.number;
    size_t n = 0;
    for (uint32_t i = 1; i <= w->tail.number; i++) {
        uint64_t bytes = (uint64_t)list_file_mark(w->dir, LIST_FILE_LOG, i).size;
        number = bytes > longest ? i : number;
        longest = bytes > longest ? bytes : longest;
    }
    if (segment_open(w->dir, number, &s, NULL, NULL) != ERR_OK) {
        return RECORD_BYTES_MAX;
    }
    struct segment_scan scan = segment_scan_all(&s, number);
    while (n < SAMPLE && segment_next(&scan, &r) == SEGMENT_RECORD) {
        n++;
    }
    uint64_t mean = n > 0 ? scan.at / n + 1 : RECORD_BYTES_MAX;
    segment_close(&s);
    return mean;
}

static bool is_log_long(const struct list_writer *w)
{
    uint64_t bytes = list_writer_log_bytes(w);
    return bytes > LIST_LOG_SLACK &&
           bytes - LIST_LOG_SLACK > LIST_LOG_TIMES * mirror_count(w) * record_bytes(w);
}

enum err list_shorten_log(struct list_writer *w, const struct list_reforming *how,
                          bool *retremade, struct list_rekeyed *ret,
                          struct errinfo *reterr)
{
    *retremade = false;
    *ret = (struct list_rekeyed){0};
    if (w->state != WRITER_READY || w->current.period_s != 0 ||
        w->current.form != LIST_FORM || writer_levels_check(w, NULL) != ERR_OK ||
        !is_log_long(w)) {
        return ERR_OK;
    }
    enum err e = remake_form(w, how, list_writer_url_match(w), ret, reterr);
    *retremade = e == ERR_OK;
    return e;
}
