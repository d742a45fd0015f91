/* search - a record counts where the list's state of its digest stands at that very record. */
#include "core/list/search.h"

#include "core/list/reader.h"

struct walk {
    const struct list_reader *r;
    const struct list_search *search;
    struct merged_index levels;
    struct list_searched *ret;
    bool is_stopped;
};

/* The host of an entry; empty for classes without a name. */
static struct slice text_host(uint16_t class_type, struct slice text)
{
    size_t n = 0;
    switch (class_type) {
    case FEATURE_domain:
    case FEATURE_host:
        return text;
    case FEATURE_address:
    case FEATURE_text_address:
        n = text.n;
        while (n > 0 && text.p[n - 1] != '@') {
            n--;
        }
        return slice_from(text, n);
    case FEATURE_url:
    case FEATURE_url_exact:
    case FEATURE_url_folded:
    case FEATURE_url_template:
    case FEATURE_url_expression:
        while (n < text.n && text.p[n] != '/' && text.p[n] != '?' && text.p[n] != ':') {
            n++;
        }
        return slice_head(text, n);
    default:
        return SLICE_NONE;
    }
}

/* True if this record is the current state of its digest and lists it. */
static bool is_in_force(const struct walk *w, const struct log_record *rec,
                        struct index_record *ret)
{
    return memtable_state(&w->r->recent, &w->levels, &rec->digest, ret) == ERR_OK &&
           ret->segment == rec->segment && ret->offset == rec->offset &&
           ret->status == ENTRY_LISTED && !entry_is_expired(ret, w->search->now_s);
}

static void look_at(struct walk *w, const struct log_record *rec)
{
    const struct list_search *s = w->search;
    struct slice host = text_host(rec->class_type, rec->text);
    struct index_record state;
    for (size_t i = 0; host.n > 0 && i < s->n && !w->is_stopped; i++) {
        bool is_itself =
            (rec->class_type == FEATURE_domain || rec->class_type == FEATURE_host) &&
            host.n == s->names[i].n;
        if (is_itself || !slice_is_at_or_below(host, s->names[i]) ||
            !is_in_force(w, rec, &state)) {
            continue;
        }
        struct list_provenance from = entry_shown(&rec->digest, &state);
        from.text = rec->text;
        w->is_stopped = !s->on_found(s->context, i, &from);
    }
}

static void walk_segment(struct walk *w, const struct segment *s, uint32_t number)
{
    struct segment_scan scan = segment_scan_all(s, number);
    enum segment_found found = SEGMENT_RECORD;
    while (!w->is_stopped && found != SEGMENT_END && found != SEGMENT_TORN) {
        struct log_record rec;
        found = segment_next(&scan, &rec);
        if (found != SEGMENT_RECORD || rec.kind == RECORD_SOURCE) {
            continue;
        }
        if (rec.text.n == 0) {
            w->ret->without_text++;
        } else {
            look_at(w, &rec);
        }
    }
}

enum err list_search(const struct list_reader *r, const struct list_search *s,
                     struct list_searched *ret, struct errinfo *reterr)
{
    struct walk w = {.r = r,
                     .search = s,
                     .levels = levels_stack(r->level, r->current.nlevels),
                     .ret = ret};
    uint64_t left = SEARCH_BYTES_MAX;
    *ret = (struct list_searched){0};
    for (uint32_t n = list_tail_last(r->dir, r->current.tail);
         n > 0 && !w.is_stopped && !ret->is_cut; n--) {
        struct segment segment;
        enum err e = segment_open(r->dir, n, &segment, NULL, reterr);
        if (e == ERR_NOT_FOUND) {
            continue; /* reported by verify */
        }
        if (e != ERR_OK) {
            return e;
        }
        ret->is_cut = segment.map.n > left;
        left -= ret->is_cut ? 0 : segment.map.n;
        if (!ret->is_cut) {
            walk_segment(&w, &segment, n);
        }
        segment_close(&segment);
    }
    return ERR_OK;
}
